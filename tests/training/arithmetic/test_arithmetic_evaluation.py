import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from bayescaling.errors import InputError
from bayescaling.training.arithmetic import (
    TASKS,
    Addition,
    Or,
    Sorting,
    axes,
    default_cells,
    evaluate,
    evaluation,
    greedy,
    regions,
)
from bayescaling.training.arithmetic.evaluation import right
from bayescaling.training.arithmetic.learning import Objective
from bayescaling.training.arithmetic.models.positions import SCHEMES
from bayescaling.training.arithmetic.models.transformer import Configuration, Transformer
from bayescaling.training.arithmetic.plan import drawn
from bayescaling.training.arithmetic.problems.layout import EOS, EQUALS, PAD, Batch

CPU = torch.device("cpu")
SHAPES = {
    "standard": {"layers": 2},
    "injected": {"layers": 2, "injection": "every-layer"},
    "looped": {"recurrences": 2},
}
# Updates after which a model gets few sums of one digit right, some, and many.
MARKS = 40, 100, 240


class Oracle(torch.nn.Module):
    """Knows every answer of its problems, but for those that `wrong` selects, with the place of the error."""

    def __init__(self, task, cells, count, seed, wrong=lambda problem: None):
        super().__init__()
        self.answers, self.vocabulary = {}, task.vocabulary_size
        for cell in cells:
            for order, row in enumerate(task.cell(*cell, count, seed, CPU).tokens.tolist()):
                end = row.index(EOS) + 1
                equals = row.index(EQUALS) + 1
                answer, place = list(row[:end]), wrong((*cell, order))
                if place is not None:
                    place = min(equals + place, end - 1)
                    answer[place] = answer[place] - 1 if answer[place] != EOS else 5
                self.answers[tuple(row[:equals])] = answer

    def forward(self, tokens, recurrences=None):
        logits = torch.zeros(*tokens.shape, self.vocabulary)
        for problem, row in enumerate(tokens.tolist()):
            answer = self.answers[tuple(row[: row.index(EQUALS) + 1])]
            for place in range(min(len(row), len(answer) - 1)):
                # A wrong token is followed by nothing right.
                follows = row[: place + 1] == answer[: place + 1] or answer[place] != row[place]
                logits[problem, place, answer[place + 1] if follows else PAD] = 1
        return logits if recurrences != 1 else -logits


class Small(torch.nn.Module):
    """A causal layer that mixes running means of embeddings, at random: right now and then where answers are short."""

    def __init__(self, vocabulary, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = torch.nn.Embedding(vocabulary, 32)
        self.network = torch.nn.Sequential(torch.nn.Linear(96, 64), torch.nn.GELU(), torch.nn.Linear(64, vocabulary))

    def forward(self, tokens):
        x = self.embedding(tokens)
        mean = x.cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]
        return self.network(torch.cat([x, F.pad(x, (0, 0, 1, 0))[:, :-1], mean], -1))


def grid(side):
    return [(i, j) for i in range(1, side + 1) for j in range(1, side + 1)]


@pytest.mark.parametrize("name", TASKS)
def test_a_model_that_knows_everything_is_right_everywhere(name):
    task, cells = TASKS[name](3), grid(4)
    model = Oracle(task, cells, 10, 5)
    counts = evaluate(model, task, cells, count=10, seed=5, batch_tokens=300)
    assert counts["correct"].dims == ("length_a", "length_b") and counts["correct"].dtype == np.int64
    assert (counts["correct"] == counts["total"]).all()
    expected = [[min(i, j, 10) if name == "or" else 10 for j in range(1, 5)] for i in range(1, 5)]
    assert counts["total"].values.tolist() == expected
    assert counts["split"].values.tolist() == [
        ["id" if max(i, j) <= 3 else "ood" for j in range(1, 5)] for i in range(1, 5)
    ]


@pytest.mark.parametrize("batch_tokens", [1, 77, 10_000])
@pytest.mark.parametrize("multiple", [1, 16])
def test_counts_are_by_cell_and_no_matter_how_batches_are_cut(batch_tokens, multiple):
    task, cells = Addition(3), [(4, 1), (1, 1), (2, 6), (3, 3)]
    model = Oracle(task, cells, 9, 5, lambda problem: None if problem[2] < problem[0] + problem[1] else problem[2] % 3)
    counts = evaluate(model, task, cells, count=9, seed=5, batch_tokens=batch_tokens, multiple=multiple)
    assert counts["length_a"].values.tolist() == [1, 2, 3, 4] and counts["length_b"].values.tolist() == [1, 3, 6]
    assert counts["correct"].values.tolist() == [[2, 0, 0], [0, 0, 8], [0, 6, 0], [5, 0, 0]]
    assert counts["total"].values.tolist() == [[9, 0, 0], [0, 0, 9], [0, 9, 0], [9, 0, 0]]
    assert counts["split"].values.tolist() == [["id", "", ""], ["", "", "ood"], ["", "id", ""], ["ood", "", ""]]


def test_few_shapes_are_seen_where_widths_are_rounded():
    shapes, model = [], Small(22)

    def noted(tokens):
        shapes.append(tuple(tokens.shape))
        return model(tokens)

    task = Addition(5)
    evaluate(noted, task, grid(20), count=7, batch_tokens=4096, multiple=16)
    assert {width for _, width in shapes} == {16, 32, 48, 64}
    assert len(set(shapes)) == 4 and all(rows * (width + 1) <= 4096 for rows, width in shapes)
    shapes.clear()
    evaluate(noted, task, grid(20), count=7, batch_tokens=4096, multiple=1)
    exact = sum(7 * task.length(*cell) for cell in grid(20))
    assert sum(rows * (width + 1) for rows, width in shapes) < 1.05 * exact


def test_the_end_of_sorting_counts_if_that_is_wanted():
    """As many problems have a wrong end alone as those that only the option calls wrong."""
    for end_counts, correct in ((False, 4), (True, 3)):
        task = Sorting(3, end_counts=end_counts)
        model = Oracle(task, [(2, 2)], 4, 0, lambda problem: 99 if problem[2] == 1 else None)
        assert evaluate(model, task, [(2, 2)], count=4)["correct"].sum() == correct


def test_the_minimum_of_sorting_counts_by_itself():
    task, cells = Sorting(3, numbers=2), [(3, 2), (1, 4), (2, 2), (4, 5)]
    wrong = {0: 0, 1: 2, 2: 4, 3: None}
    model = Oracle(task, cells, 4, 0, lambda problem: wrong[problem[2]] if problem[0] == 3 else None)
    counts = evaluate(model, task, cells, count=4)
    where = {"length_a": 3, "length_b": 2}
    assert (counts["correct"].sel(where), counts["correct_minimum"].sel(where)) == (1, 3)
    assert counts["correct_minimum"].sum() == 15 and counts["correct"].sum() == 13
    assert [counts["axis"].sel(length_a=a, length_b=b).item() for a, b in cells] == ["numbers", "digits", "", "both"]


def test_intermediate_answers_of_a_looped_model():
    task, cells = Addition(2), grid(2)
    counts = evaluate(Oracle(task, cells, 5, 0), task, cells, count=5, recurrences=[1, 2, 4])
    assert counts["correct"].dims == ("recurrences", "length_a", "length_b") and counts["total"].dims[0] == "length_a"
    assert counts["recurrences"].values.tolist() == [1, 2, 4]
    assert counts["correct"].sum(("length_a", "length_b")).values.tolist() == [0, 20, 20]
    looped = Transformer(Configuration(22, 16, 2, 1, 3, injection="every-layer"), 0)
    every = evaluate(looped, task, cells, count=5, recurrences=[1, 3])
    assert (every["correct"].sel(recurrences=3) == evaluate(looped, task, cells, count=5)["correct"]).all()


def agreement(model, task, cells, count=60):
    """Share of right problems, after one pass and decoding were found to agree on each."""
    share = []
    for cell in cells:
        batch = task.cell(*cell, count, 3, CPU)
        decoded = greedy(model, batch)
        by_decoding = (decoded == batch.tokens).all(1)
        assert torch.equal(right(model, batch), by_decoding)
        question = ~batch.scored & (batch.tokens != PAD)
        assert torch.equal(decoded[question], batch.tokens[question])
        share.append(by_decoding.float().mean().item())
    counts = evaluate(model, task, cells, count=count, seed=3, batch_tokens=500)
    counted = [counts["correct"].sel(length_a=a, length_b=b).item() for a, b in cells]
    totals = [counts["total"].sel(length_a=a, length_b=b).item() for a, b in cells]
    if task.name != "or":
        assert [correct / count for correct in counted] == pytest.approx(share)
    assert all(correct <= total for correct, total in zip(counted, totals, strict=True))
    return share


@pytest.mark.parametrize("name", TASKS)
def test_one_pass_and_decoding_agree_on_a_model_at_random(name):
    task = TASKS[name](3)
    agreement(Small(task.vocabulary_size), task, grid(4), 20)


def trained(scheme, shape):
    """Models of sums of one digit each, at three times of their training."""
    configuration = Configuration(22, 32, 2, **({"layers": 1} | SHAPES[shape]), embedding=scheme, k_max=3)
    model, models, recurrences = Transformer(configuration, 1), [], configuration.recurrences
    optimiser = torch.optim.AdamW(model.parameters())
    for step in range(MARKS[-1]):
        draws = drawn(1, step, k_max=3, recurrences=recurrences)
        optimiser.param_groups[0]["lr"] = 5e-3 * min(1, (step + 1) / 30)
        optimiser.zero_grad()
        sum(Objective().losses(model, [(Addition(1).batch(1, step, 81, CPU), draws)])).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimiser.step()
        if step + 1 in MARKS:
            models.append(copy.deepcopy(model))
    return models


# Three of the schemes, each with one of the shapes; thorough tests have the other pairs.
PAIRS = [
    pytest.param(scheme, shape, id=f"{scheme}-{shape}", marks=[] if i == j else [pytest.mark.thorough])
    for i, scheme in enumerate(SCHEMES)
    for j, shape in enumerate(SHAPES)
]


@pytest.mark.parametrize("scheme, shape", PAIRS)
def test_one_pass_and_decoding_agree_on_every_kind_of_model(scheme, shape):
    shares = [agreement(model, Addition(1), [(1, 1), (2, 1), (2, 2), (5, 5)]) for model in trained(scheme, shape)]
    assert any(0 < share < 1 for shares_of_kind in shares for share in shares_of_kind) and shares[-1][0] > 0.3


def test_decoding_goes_wrong_where_the_model_does():
    task, cells = Addition(3), [(3, 2)]
    batch = task.cell(3, 2, 6, 0, CPU)
    model = Oracle(task, cells, 6, 0, lambda problem: problem[2] if problem[2] < 3 else None)
    decoded = greedy(model, batch)
    assert (decoded == batch.tokens).all(1).tolist() == [False] * 3 + [True] * 3
    equals = (batch.tokens == EQUALS).nonzero()[:, 1]
    for problem in range(3):
        wrong = int(equals[problem]) + 1 + problem
        assert torch.equal(decoded[problem, :wrong], batch.tokens[problem, :wrong])
        assert decoded[problem, wrong] != batch.tokens[problem, wrong]
    # Nothing comes after an end.
    early = Oracle(task, cells, 6, 0)
    early.answers = {question: [*question, EOS] for question in early.answers}
    assert ((greedy(early, batch) == EOS).sum(1) == 1).all()
    assert greedy(early, batch)[0].tolist() == [*batch.tokens[0, : equals[0] + 1].tolist(), EOS] + [PAD] * (
        batch.tokens.shape[1] - int(equals[0]) - 2
    )


def test_what_goes_out_of_float32_does_not_come_back():
    """Two tokens that are equal in bfloat16 differ by their float32 logits, and a tie takes the first."""
    batch = Batch(torch.tensor([[4, EQUALS, 5, EOS]]), torch.tensor([[False, False, True, True]]))
    logits = torch.zeros(1, 3, 22)
    logits[0, 1, 5], logits[0, 1, 4], logits[0, 2, EOS] = 1.0001, 1.0, 1
    assert right(lambda tokens: logits, batch).item()
    assert not right(lambda tokens: logits.bfloat16(), batch).item()


def test_a_module_is_judged_without_chance_and_left_as_it_was():
    seen = []

    class Noted(Small):
        def forward(self, tokens):
            seen.append(self.training or torch.is_grad_enabled())
            return super().forward(tokens)

    model, task = Noted(22), Addition(2)
    for mode in (True, False):
        model.train(mode)
        evaluate(model, task, [(1, 1)], count=3)
        greedy(model, task.cell(1, 1, 3, 0, CPU))
        right(model, task.cell(1, 1, 3, 0, CPU))
        assert model.training is mode
    assert not any(seen)


def test_regions_are_those_of_the_paper():
    cells = default_cells(Addition(20))
    split = regions(Addition(20), cells)
    assert {name: int((split == name).sum()) for name in ("id", "ood", "ood100")} == {
        "id": 400,
        "ood": 9600,
        "ood100": 60,
    }
    assert cells[-1] == (160, 160) and len(set(cells)) == len(cells) == 10_060
    assert regions(Addition(30), [(20, 20), (21, 1), (101, 3)]).tolist() == ["id", "id", "ood100"]
    assert regions(Addition(120), [(110, 110), (121, 1)]).tolist() == ["id", "ood100"]
    multiplication = default_cells(TASKS["multiplication"](15))
    assert len(multiplication) == 625 and (regions(TASKS["multiplication"](15), multiplication) == "ood").sum() == 400
    assert len(default_cells(Or(20))) == 1600
    sorting = Sorting(10)
    cells = default_cells(sorting)
    assert len(cells) == 900 and (regions(sorting, cells) == "id").sum() == 100
    axis = axes(sorting, cells)
    assert [(axis == name).sum() for name in ("", "digits", "numbers", "both")] == [100, 200, 200, 400]
    assert axes(Sorting(10, numbers=5), [(6, 10), (5, 11)]).tolist() == ["numbers", "digits"]


def test_the_cells_of_the_paper_are_the_default(monkeypatch):
    monkeypatch.setattr(evaluation, "default_cells", lambda task: ((1, 1), (9, 9)))
    counts = evaluate(Small(22), Addition(2))
    assert counts["total"].values.tolist() == [[100, 0], [0, 100]]


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        ([], {}, "there are no cells"),
        ([(1, 0)], {}, r"cell \(1, 0\): give whole numbers from 1"),
        ([(1, 2, 3)], {}, r"cell \(1, 2, 3\) is no pair"),
        ([(1, 2), (2, 2), (1, 2)], {}, r"cell \(1, 2\) is given twice"),
        ([(1, 1)], {"count": 0}, "count is 0; input should be greater than or equal to 1"),
        ([(1, 1)], {"batch_tokens": 0.5}, "batch_tokens is 0.5"),
        ([(1, 1)], {"multiple": -1}, "multiple is -1"),
    ],
)
def test_what_cannot_be_asked_is_refused(cells, options, message):
    with pytest.raises(InputError, match=message) as raised:
        evaluate(None, Addition(2), cells, **options)
    assert "\n" not in str(raised.value)
