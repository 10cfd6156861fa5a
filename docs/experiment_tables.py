"""Tables of the experiments of the training studies: preset, what a GPU would take, and what was published."""

import bayescaling as bs
from bayescaling.datasets.files import evidence
from bayescaling.inference.words import flop

ARCHITECTURES = ("ST", "ST+injection", "LT 8x2", "LT 4x4", "LT 2x8", "LT 1x16")
ABACUS, FIRE, NONE = "abacus", "fire", "nope"


def _additions(embedding, architectures=ARCHITECTURES, task="addition20"):
    return [f"{task}.{embedding}.{architecture}.ood" for architecture in architectures]


BLOCKS = ARCHITECTURES[2:]
HEADLINE = (ARCHITECTURES[0], ARCHITECTURES[1], BLOCKS[0], BLOCKS[-1])
DISJUNCTION = ("ST", "ST+injection", "LT")
ARITHMETIC = (
    ("Embeddings and architectures, up to 20 digits (figures 3 left, 7)", "addition", _additions(ABACUS, HEADLINE)),
    (
        "The same, FIRE and then no positions (figure 3 left)",
        "addition",
        _additions(FIRE, HEADLINE) + _additions(NONE, HEADLINE),
    ),
    ("Up to 10, 20, 30 and 40 digits (figure 3 right)", "addition-sizes", ()),
    ("Sizes of the recurrent block at depth 16 (figures 4, 17)", "addition-blocks", _additions(ABACUS, BLOCKS)),
    ("Injection before the block's first layer alone (figure 19 left)", "addition-first-layer", ()),
    ("Largest offset of Abacus embeddings, 25 to 175 (figure 11)", "addition-offsets", ()),
    ("Answers after fewer and more recurrences (figure 15)", "addition-recurrences", ()),
    ("Depths of 8 to 64, in 1 to 8 recurrences (figure 18)", "addition-depths", ()),
    ("Loss on the question too", "addition-unmasked", ()),
    ("Random padding", "addition-padding", ()),
    ("Index hints", "addition-hints", ()),
    ("Randomised FIRE", "addition-random-fire", ()),
    ("Addition and subtraction together (figure 5)", "addition-subtraction", ()),
    ("Multiplication (figure 6)", "multiplication", ()),
    (
        "Sorting (tables 1 and 2), Abacus, FIRE and both",
        "sorting",
        [f"sorting10.{embedding}.ST.all_30x30" for embedding in (ABACUS, FIRE, "abacus+fire")],
    ),
    ("Bitwise OR (figure 8)", "or", _additions(ABACUS, DISJUNCTION, "bitwise_or20")),
)
LANGUAGE = tuple(
    (f"Scheme {i}: {what}", f"scheme-{i}", [f"exponent.{count}.scheme{i}" for count in ("total", "nonembedding")])
    for i, what in enumerate(
        ("one rate, not annealed", "the best rate, not annealed", "cosine", "cosine at six budgets"), 1
    )
)
HEADER = ("experiment", "`--preset`", "runs", "parameters", "compute", "GiB")


def tables(table):
    """Return the tables by the name that pages use; `table` writes a header and rows in Markdown."""
    taken = evidence("experiments")["result"]
    published = bs.load("published").set_index("quantity")["estimate"]
    percent, exponent = "published, % right beyond training", "published exponent (all, without embeddings)"
    return {
        "experiments-arithmetic": table(
            (*HEADER, percent), _rows(ARITHMETIC, taken["arithmetic"], "arithmetic", published)
        ),
        "experiments-language": table((*HEADER, exponent), _rows(LANGUAGE, taken["language"], "small_lm", published)),
        "experiments-date": evidence("experiments")["made"],
        "experiments-tiny": f"{sum(of['tiny_finished'] for kind in taken.values() for of in kind.values())} of "
        f"{sum(of['tiny'] for kind in taken.values() for of in kind.values())}",
    }


def _rows(experiments, taken, prefix, published):
    rows = []
    for what, preset, quantities in experiments:
        of, values = taken[preset], [published.get(f"{prefix}.{name}") for name in quantities]
        low, high = (f"{count / 1e6:.3g}M" for count in of["parameters"])
        memory = f"{of['bytes'] / 2**30:.2g}"
        shown = ", ".join(f"{value:g}" for value in values if value is not None) or "-"
        rows.append((what, f"`{preset}`", of["runs"], f"{low} to {high}", flop(of["flop"]), memory, shown))
    return rows
