import itertools
import math
import operator

import numpy as np
import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training.arithmetic import TASKS, Addition, Or, Sorting, decode, encode
from bayescaling.training.arithmetic.problems.digits import added, drawn, lengths, multiplied, ranked, subtracted
from bayescaling.training.arithmetic.problems.layout import DIGIT0, EOS, LABEL0, LABELS, PAD, SYMBOLS, room
from bayescaling.training.arithmetic.problems.sampling import strata
from bayescaling.training.engine.randomness import hashed

CPU = torch.device("cpu")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
PROBLEMS = 20_000
TRAINED = {"addition": 20, "subtraction": 20, "addition-subtraction": 20, "multiplication": 15, "sorting": 10, "or": 20}
# Longest lengths to evaluate, for which every task is checked too.
LONGEST = dict.fromkeys(TRAINED, 160) | {"multiplication": 40, "sorting": 30}


def texts(tokens):
    """Problems as text without padding, each with its end."""
    symbols = np.array(list(SYMBOLS))[tokens.numpy()]
    return [row.rstrip("·") for row in symbols.view(f"U{symbols.shape[1]}")[:, 0].tolist()]


def right(name, problem):
    """Whether a problem's answer is that of Python's integers, lists and bits."""
    question, answer = problem.removesuffix("$").split("=")
    if name == "sorting":
        numbers = [pair.split(":") for pair in question.split(",")]
        # Python's sort is stable.
        return ",".join(label for label, _ in sorted(numbers, key=lambda pair: int(pair[1][::-1]))) == answer
    if name == "or":
        first, second = (part.ljust(len(answer), "0") for part in question.split("|"))
        return int(first, 2) | int(second, 2) == int(answer, 2) and len(answer) == max(map(len, question.split("|")))
    signs = {"+": operator.add, "-": operator.sub, "x": operator.mul}
    sign = next(sign for sign in signs if sign in question)
    first, second = (int(part[::-1]) for part in question.split(sign))
    return str(signs[sign](first, second))[::-1] == answer


def sides(name, problem):
    """Cell of a problem; for sorting the numbers and the digits of the longest."""
    question = problem.split("=")[0]
    if name == "sorting":
        numbers = [pair.split(":")[1] for pair in question.split(",")]
        return len(numbers), max(map(len, numbers))
    return tuple(map(len, question.translate(str.maketrans("-x|", "+++")).split("+")))


def random_cells(task, longest, count, seed):
    first, second = (1 + torch.randint(longest, (count,), generator=torch.manual_seed(seed + k)) for k in (0, 1))
    # The longest problems there are among them.
    first[:100] = second[:100] = longest
    return first, second


@pytest.mark.parametrize("name", TASKS)
def test_all_answers_are_right(name):
    task, checked, whole = TASKS[name](TRAINED[name]), 0, 5000
    for step in range(PROBLEMS // 2 // whole):
        for batch in task.batches(1, step, whole, CPU):
            problems = texts(batch.tokens)
            assert all(right(name, problem) for problem in problems)
            assert all(problem.endswith("$") for problem in problems)
            checked += len(problems)
    for part in range(PROBLEMS // 2 // 1000):
        first, second = random_cells(task, LONGEST[name], 1000, part)
        batch = task.problems(first, second, task.keys(part, first, second, torch.arange(1000)))
        problems = texts(batch.tokens)
        assert all(right(name, problem) for problem in problems)
        for problem, i, j in zip(problems, first.tolist(), second.tolist(), strict=True):
            cell = sides(name, problem)
            assert cell == (i, j) or (name == "sorting" and cell[0] == i and cell[1] <= j)
            assert len(problem) <= task.length(i, j)
        checked += len(problems)
    assert checked >= PROBLEMS


@pytest.mark.parametrize("columns", [1, 2, 20, 63, 161])
def test_carries_run_as_far_as_they_must(columns):
    """Digits that pass carries and borrows on, which random ones seldom do for long."""
    generator = torch.manual_seed(columns)
    first = torch.randint(10, (500, columns), generator=generator, dtype=torch.int16)
    second = 9 - first
    touched = torch.rand(500, columns, generator=generator) < 2 / columns
    second = torch.where(touched, torch.randint(10, second.shape, generator=generator, dtype=torch.int16), second)
    nines, one = torch.full((1, columns), 9, dtype=torch.int16), torch.zeros(1, columns, dtype=torch.int16)
    one[0, 0] = 1
    first, second = torch.cat([first, nines, one, first]), torch.cat([second, one, nines, first])
    a, b = integers(first), integers(second)
    assert integers(added(first, second)) == [x + y for x, y in zip(a, b, strict=True)]
    assert integers(multiplied(first, second)) == [x * y for x, y in zip(a, b, strict=True)]
    difference, negative = subtracted(first, second)
    assert integers(difference) == [abs(x - y) for x, y in zip(a, b, strict=True)]
    assert negative.tolist() == [x < y for x, y in zip(a, b, strict=True)]
    assert lengths(first).tolist() == [len(str(x)) for x in a]
    rows = first[:1000].view(-1, 10, columns)
    order = ranked(rows, torch.ones(rows.shape[:2], dtype=torch.bool))
    values = np.array(integers(rows.flatten(0, 1)), dtype=object).reshape(-1, 10)
    assert order.tolist() == [sorted(range(10), key=row.__getitem__) for row in values.tolist()]


def integers(digits):
    return [int("".join(map(str, row[::-1]))) for row in digits.tolist()]


def test_the_longest_problems_have_the_widths_of_the_paper():
    assert TASKS["addition"](20).width == 64
    assert TASKS["multiplication"](15).width == 63
    # Ten labels with colons and ten digits, and nine commas; then "=", ten labels with nine commas, and the end.
    assert TASKS["sorting"](10).width == 129 + 1 + 19 + 1
    assert TASKS["or"](20).width == 63
    for name, task in TASKS.items():
        longest = max(task(6).length(i, j) for i in range(1, 7) for j in range(1, 7))
        assert task(6).width == longest == task(6).batch(0, 0, 3, CPU).tokens.shape[1], name
    assert TASKS["addition"](20).vocabulary_size == LABEL0 == 22
    assert TASKS["sorting"](10).vocabulary_size == 22 + 102
    assert TASKS["sorting"](10, numbers=4).longest == (4, 10)


def test_the_longest_problem_is_as_long_as_is_said():
    for name, task in TASKS.items():
        for i, j in ((3, 3), (2, 4), (4, 2), (1, 1)):
            batch = task(4).cell(i, j, 3000, 0, CPU)
            assert max(map(len, texts(batch.tokens))) == batch.tokens.shape[1] == task(4).length(i, j), (name, i, j)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("hints", ["none", "cyclic"])
def test_text_becomes_tokens_and_text_again(name, hints):
    tokens, scored = TASKS[name](5, hints=hints, padding=True).batch(0, 0, 500, CPU)
    assert torch.equal(torch.stack([encode(decode(row)) for row in tokens]), tokens)
    for row, part in zip(tokens, scored, strict=True):
        question, answer = decode(row).rstrip("·").split("=")
        assert decode(row[part]) == answer.replace("·", "") and not part[: len(question) + 1].any()
    assert decode(encode(SYMBOLS)) == SYMBOLS
    assert encode("09+|A").tolist() == [DIGIT0, DIGIT0 + 9, 14, 21, LABEL0]
    assert decode([3, 4, 999, -1]) == "$0??"


@pytest.mark.parametrize("name", TASKS)
def test_every_pair_of_lengths_is_equally_frequent(name):
    task, count = TASKS[name](6, **{"pairs": "equal"} if name == "or" else {}), 11
    assert [len(task.batches(0, 0, many, CPU)) for many in (1, 11, 1000)][::2] == [1, 4]
    for make in (lambda step: (task.batch(0, step, count, CPU),), lambda step: task.batches(0, step, count, CPU)):
        counts, steps = {}, 2 * len(task._cells())
        for step in range(steps):
            for batch in make(step):
                for problem in texts(batch.tokens):
                    cell = sides(name, problem)
                    cell = (cell[0], "any") if name == "sorting" else cell
                    if name == "addition-subtraction":
                        cell = (*cell, "+" in problem)
                    counts[cell] = counts.get(cell, 0) + 1
        assert set(counts.values()) == {count * steps // len(counts)}
        assert len(counts) == {"sorting": 6, "addition-subtraction": 72}.get(name, 36)


@pytest.mark.parametrize(("largest", "count"), [(6, 37), (20, 2048), (20, 100), (3, 5)])
def test_buckets_have_the_same_shapes_at_every_step(largest, count):
    task = TASKS["addition"](largest)
    shapes = {tuple(tuple(b.tokens.shape) for b in task.batches(0, step, count, CPU)) for step in range(30)}
    assert len(shapes) == 1
    (shape,) = shapes
    assert sum(problems for problems, _ in shape) == count and all(problems for problems, _ in shape)
    assert [width for _, width in shape] == sorted({width for _, width in shape}) and shape[-1][1] == task.width
    batches = [batch for step in range(30) for batch in task.batches(0, step, count, CPU)]
    assert all((batch.tokens == EOS).sum(1).eq(1).all() for batch in batches)
    if count > 100:
        filled = sum((batch.tokens != PAD).sum() for batch in batches) / sum(batch.tokens.numel() for batch in batches)
        assert filled > 0.8
        assert (task.batch(0, 0, count, CPU).tokens != PAD).float().mean() == pytest.approx(0.59, abs=0.02)


def test_buckets_hold_the_fewest_tokens():
    """Against every way to cut the sorted cells."""
    cells = [(i, j, 0) for i in range(1, 6) for j in range(1, 6)]
    widths = [i + j + max(i, j) for i, j, _ in cells]
    for most in (1, 2, 3):
        buckets = strata(cells, widths, most, 1000)
        distinct, many = np.unique(widths, return_counts=True)
        best = math.inf
        for cuts in np.ndindex(*[len(distinct)] * (most - 1)):
            ends = [*sorted(cuts), len(distinct) - 1]
            starts = [0, *(end + 1 for end in ends[:-1])]
            best = min(best, sum(many[a : b + 1].sum() * distinct[b] for a, b in zip(starts, ends, strict=True)))
        assert sum(np.multiply(buckets.sizes, buckets.widths)) == best
        assert sum(buckets.sizes) == len(cells) and sorted(buckets.cells) == sorted(cells)


@pytest.mark.parametrize("name", TASKS)
def test_a_batch_depends_on_seed_and_step_alone(name):
    task = TASKS[name](8)
    first = task.batch(3, 7, 64, CPU)
    task.batch(3, 8, 64, CPU)
    assert torch.equal(first.tokens, TASKS[name](8).batch(3, 7, 64, CPU).tokens)
    assert first.tokens.dtype == torch.int64 and first.scored.dtype == torch.bool
    others = [task.batch(3, 8, 64, CPU), task.batch(4, 7, 64, CPU)]
    assert not any(torch.equal(first.tokens, other.tokens) for other in others)
    for one, two in zip(task.batches(3, 7, 64, CPU), task.batches(3, 7, 64, CPU), strict=True):
        assert torch.equal(one.tokens, two.tokens)


@needs_cuda
@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("options", [{}, {"hints": "cyclic", "padding": True}])
def test_cuda_makes_the_same_batches(name, options):
    task = TASKS[name](TRAINED[name], **options)
    for step in (0, 12345):
        both = (task.batches(2, step, 4096, torch.device(where)) for where in ("cpu", "cuda"))
        for on_cpu, on_gpu in zip(*both, strict=True):
            assert torch.equal(on_cpu.tokens, on_gpu.tokens.cpu()) and torch.equal(on_cpu.scored, on_gpu.scored.cpu())
    both = (task.cell(20, 18, 500, 1, torch.device(where)).tokens.cpu() for where in ("cpu", "cuda"))
    assert torch.equal(*both)


@pytest.mark.parametrize("name", TASKS)
def test_problems_are_made_by_integer_arithmetic_alone(name, floats_seen):
    with floats_seen() as seen:
        TASKS[name](5, hints="cyclic", padding=True).batches(0, 0, 64, CPU)
    assert seen.operations > 50 and seen.floats == set()


def test_digits_are_uniform_and_the_first_is_not_zero():
    for length in (1, 2, 5, 20):
        digits = drawn(hashed(1, torch.arange(20_000)), torch.full((20_000,), length), 21)
        assert not digits[:, length:].any()
        for place in range(length):
            least = 1 if place == length - 1 else 0
            counts = torch.bincount(digits[:, place].long(), minlength=10)
            assert not counts[:least].any()
            expected = 20_000 / (10 - least)
            # Chi-square with 9 or 8 degrees of freedom: far out at a probability of 1e-5.
            assert ((counts[least:] - expected) ** 2 / expected).sum() < 40
    neighbours = drawn(hashed(2, torch.arange(100_000)), torch.full((100_000,), 20), 20).long()
    for place in range(18):
        pairs = torch.bincount(neighbours[:, place] * 10 + neighbours[:, place + 1], minlength=100)
        assert ((pairs - 1000.0) ** 2 / 1000).sum() < 180


def test_lengths_of_numbers_to_sort_are_uniform():
    problems = texts(Sorting(4).cell(6, 4, 4000, 0, CPU).tokens)
    sizes = [len(pair.split(":")[1]) for problem in problems for pair in problem.split("=")[0].split(",")]
    assert np.abs(np.bincount(sizes)[1:] - 6000).max() < 350
    ties = [problem for problem in texts(Sorting(1).cell(9, 1, 100, 0, CPU).tokens) if right("sorting", problem)]
    assert len(ties) == 100
    starts = {problem[0] for problem in problems}
    assert starts == set(LABELS[:102])


def test_padding_is_on_the_right_or_anywhere():
    tokens = Addition(8).batch(0, 0, 500, CPU).tokens
    assert ((tokens != PAD).long().diff(dim=1) <= 0).all()
    padded = Addition(8, padding=True, padding_rate=0.2)
    tokens = padded.batch(0, 0, 4000, CPU).tokens
    inputs = texts(tokens)
    assert sum("·" in problem for problem in inputs) > 3500
    assert all(right("addition", problem.replace("·", "")) for problem in inputs)
    inserted, places = sum(problem.count("·") for problem in inputs), sum(len(p.replace("·", "")) - 1 for p in inputs)
    chances = [0.2, 0.2 * 0.02, 0.2 * 0.02 * 0.002]
    assert inserted / places == pytest.approx(sum(chances), rel=0.02)
    assert padded.width == 28 + room(28, 0.2) and tokens.shape[1] == padded.width
    assert max(map(len, inputs)) <= padded.width - 3
    assert not any("·" in problem for problem in texts(padded.cell(5, 5, 100, 0, CPU).tokens))
    crowded = Addition(1, padding=True, padding_rate=0.99).batch(0, 0, 1000, CPU).tokens
    assert (crowded == EOS).sum(1).eq(1).all()


@pytest.mark.parametrize("hints", ["plain", "cyclic"])
def test_hints_come_before_every_digit(hints):
    task, starts = Addition(20, hints=hints, labels=25), set()
    for problem in texts(task.batch(0, 0, 3000, CPU).tokens):
        numbers = problem.removesuffix("$").replace("=", "+").split("+")
        longest = max(numbers, key=len)[::2]
        first = LABELS.index(longest[0])
        assert longest == "".join(LABELS[(first + place) % 25] for place in range(len(longest)))
        assert all(longest.startswith(number[::2]) for number in numbers)
        a, b, c = (int(number[1::2][::-1]) for number in numbers)
        assert a + b == c
        starts.add(first)
        wrapped = first + len(longest) > 25
        assert not (wrapped and hints == "plain")
    assert starts == set(range(25)) if hints == "cyclic" else {0, 1, 2, 3, 4} < starts
    for where, expected in (("first", {LABELS[0]}), ("random", set(LABELS[: 25 if hints == "cyclic" else 23]))):
        tested = Addition(20, hints=hints, labels=25, tested_hints=where).cell(2, 2, 2000, 0, CPU)
        assert {problem[0] for problem in texts(tested.tokens)} in (expected, expected | {LABELS[23]})
    assert task.width == 2 * 61 + 3 and task.digits(20, 20) == 1 and Addition(20).digits(20, 20) == 21
    for name in ("subtraction", "multiplication", "or"):
        plain, hinted = (TASKS[name](4, hints=kind).cell(3, 4, 50, 0, CPU).tokens for kind in ("none", hints))
        hinted = ["".join(c for c in problem if c not in LABELS) for problem in texts(hinted)]
        assert hinted == texts(plain)
    for problem in texts(Sorting(4, hints=hints).cell(3, 4, 50, 0, CPU).tokens):
        question, answer = problem.split("=")
        bare = ",".join(f"{pair[0]}:{pair[3::2]}" for pair in question.split(","))
        assert right("sorting", f"{bare}={answer}")


def test_numbers_can_be_written_as_people_do():
    for name, sign, operation in (("addition", "+", operator.add), ("subtraction", "-", operator.sub)):
        for problem in texts(TASKS[name](5, reverse=False).batch(0, 0, 500, CPU).tokens):
            question, answer = problem.removesuffix("$").split("=")
            assert operation(*map(int, question.split(sign))) == int(answer) and str(int(answer)) == answer
    for problem in texts(Sorting(4, reverse=False).batch(0, 0, 200, CPU).tokens):
        question, answer = problem.removesuffix("$").split("=")
        numbers = [pair.split(":") for pair in question.split(",")]
        assert ",".join(label for label, _ in sorted(numbers, key=lambda pair: int(pair[1]))) == answer


def test_a_cell_is_what_its_seed_and_place_say():
    task = Addition(5)
    cell = task.cell(7, 4, 50, 9, CPU)
    assert torch.equal(cell.tokens, task.cell(7, 4, 50, 9, CPU).tokens)
    assert not torch.equal(cell.tokens, task.cell(7, 4, 50, 8, CPU).tokens)
    assert torch.equal(cell.tokens[:20], task.cell(7, 4, 20, 9, CPU).tokens)
    first, second = torch.tensor([7, 2]), torch.tensor([4, 90])
    orders = torch.tensor([3, 0])
    mixed = task.problems(first, second, task.keys(9, first, second, orders), orders)
    assert texts(mixed.tokens)[0] == texts(cell.tokens)[3]
    signs = [problem.count("+") for problem in texts(TASKS["addition-subtraction"](5).cell(3, 3, 100, 0, CPU).tokens)]
    assert sum(signs) == 50


def test_every_problem_of_or_is_equally_frequent():
    task, counts = Or(4), {}
    problems = len(task._cells())
    assert problems == sum(min(i, j) for i in range(1, 5) for j in range(1, 5))
    for step in range(problems):
        for problem in texts(task.batch(0, step, 10, CPU).tokens):
            first, second, answer = problem.removesuffix("$").replace("=", "|").split("|")
            key = len(first), len(second), answer.index("1")
            counts[key] = counts.get(key, 0) + 1
    assert len(counts) == problems and set(counts.values()) == {10}
    cells = Or(20)._cells()
    assert sum(min(i, j) >= 11 for i, j, _ in cells) / len(cells) == pytest.approx(0.48, abs=0.005)


def test_or_has_every_place_once():
    for i, j in ((5, 9), (9, 5), (6, 6), (1, 1)):
        task = Or(10)
        assert task.cell_size(i, j, 100) == min(i, j) and task.cell_size(i, j, 3) == min(i, j, 3)
        problems = texts(task.cell(i, j, min(i, j), 0, CPU).tokens)
        assert sorted(problem.split("=")[1].index("1") for problem in problems) == list(range(min(i, j)))
        shorter = {0 if "1" in problem.split("|")[0] else 1 for problem in problems}
        assert shorter <= ({0} if i < j else {1} if j < i else {0, 1})
    sides_of_ones = [problem.index("1") < 6 for problem in texts(Or(10).cell(6, 6, 600, 0, CPU).tokens)]
    assert 240 < sum(sides_of_ones) < 360


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Addition(0), "largest is 0; input should be greater than or equal to 1"),
        (lambda: Addition(3, hints="some"), "hints is 'some'; input should be 'none', 'plain' or 'cyclic'"),
        (lambda: Addition(3, padding=1), "padding is 1; input should be a valid boolean"),
        (lambda: Addition(3, padding_rate=1.0), "padding_rate is 1.0; input should be less than 1"),
        (lambda: Addition(3, labels=1000), "labels is 1000; input should be less than or equal to 240"),
        (lambda: Addition(20, hints="plain", labels=20), r"cell \(20, 20\): numbers of 21 digits need 21 index hints"),
        (lambda: Sorting(3, numbers=0), "task: numbers is 0; input should be greater than or equal to 1"),
        (lambda: Sorting(3, numbers=11, labels=10), "11 numbers need as many labels and labels is 10; raise it"),
        (lambda: Addition(3).batch(0, 0, 0, CPU), "count is 0"),
        (lambda: Addition(3).cell(0, 3, 10, 0, CPU), r"cell \(0, 3\): give whole numbers from 1"),
        (lambda: Addition(3).cell(3, 3, 0, 0, CPU), "count is 0"),
        (
            lambda: Addition(3, hints="cyclic").cell(102, 1, 9, 0, CPU),
            "103 digits need 103 index hints and labels is 102",
        ),
        (lambda: Addition(3).problems(*[torch.tensor([], dtype=torch.int64)] * 3), "no cells; give at least one"),
        (lambda: Addition(3).problems(*[torch.tensor([4]), torch.tensor([-1])] * 2), r"cell \(4, -1\)"),
        (lambda: encode("1+2=ב"), 'character 5, "ב", is not in the vocabulary'),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(InputError, match=message) as raised:
        make()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", sorted(TASKS))
@pytest.mark.parametrize("options", [{}, {"padding": True, "hints": "cyclic"}])
def test_problems_made_many_steps_at_a_time_are_those_of_each(name, options):
    task = TASKS[name](6, **options)
    for buckets, count in itertools.product((True, False), (1, 37)):
        steps = range(4, 10)
        for step, batches in zip(steps, task.consecutive(3, steps, count, CPU, buckets=buckets), strict=True):
            alone = task.batches(3, step, count, CPU) if buckets else (task.batch(3, step, count, CPU),)
            for one, other in zip(batches, alone, strict=True):
                assert torch.equal(one.tokens, other.tokens) and torch.equal(one.scored, other.scored)
