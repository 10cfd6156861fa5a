"""Tables of the experiments of the training studies: preset, what a GPU would take, and what was published."""

import bayescaling as bs
from bayescaling.datasets.files import evidence
from bayescaling.inference.words import flop

# Experiment, preset and, where the quantities of `published` do not have the preset's name, their pattern. What its
# brackets match names a group of values.
ARITHMETIC = (
    (
        "Embeddings and architectures, up to 20 digits (figure 3 left; 7 has no numbers)",
        "addition",
        r"addition20\.(\w+)(?!\.LT [24])",
    ),
    ("Up to 10, 20, 30 and 40 digits (figures 3 right, 9; 20 as above)", "addition-sizes", r"addition([134]0\.\w+)"),
    ("Sizes of the recurrent block at depth 16 (figures 4, 17)", "addition-blocks", r"addition20\.(\w+)(?!\.ST\.)"),
    ("Injection before the block's first layer alone (figure 19 left)", "addition-first-layer"),
    ("Largest offset of Abacus embeddings, 25 to 175 (figure 11, no numbers)", "addition-offsets"),
    ("Answers after fewer and more recurrences (figure 15, no numbers)", "addition-recurrences"),
    ("Depths of 8 to 64, in 1 to 8 recurrences (figure 18)", "addition-depths", r"addition20\.(de\w+\.\w+)"),
    ("Loss on the question too (figure 16)", "addition-unmasked"),
    ("Random padding (figure 20)", "addition-padding"),
    ("Index hints (among figures 10 to 14, no numbers)", "addition-hints"),
    ("Randomised FIRE, alone and with hints (figure 21; which is which is inferred)", "addition-random-fire"),
    ("Addition and subtraction together (figure 5, no numbers)", "addition-subtraction"),
    ("Multiplication (figure 6, no numbers)", "multiplication"),
    ("Sorting, standard (table 1)", "sorting", r"sorting10\.(\S+)\.ST\.all_30x30"),
    ("Sorting, Abacus with FIRE inferred (table 2)", "sorting", r"sorting10\.abacus\+fire\.[^.]+\.all_30x30_(\w+)"),
    ("Bitwise OR (figure 8)", "or", r"bitwise_or20\.(\w+)"),
)
LANGUAGE = tuple(
    (f"Scheme {i}: {what}", f"scheme-{i}", rf"exponent\.(\w+)\.scheme{i}")
    for i, what in enumerate(
        ("one rate, not annealed", "the best rate, not annealed", "cosine", "cosine at six budgets"), 1
    )
)
HEADER = ("experiment", "`--preset`", "runs", "parameters", "compute", "hours of one H100", "GiB")


def tables(table):
    """Return the tables by the name that pages use; `table` writes a header and rows in Markdown."""
    taken = evidence("experiments")["result"]
    published = bs.load("published").set_index("quantity")["estimate"]
    percent, exponent = "published, % right beyond training", "published exponent"
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
    for what, preset, *pattern in experiments:
        of = taken[preset]
        low, high = (f"{count / 1e6:.3g}M" for count in of["parameters"])
        pattern = pattern[0] if pattern else rf"addition20\.({preset.removeprefix('addition-')}\D*?)"
        names = published.index.str.extract(rf"^{prefix}\.{pattern}(?:\.[^.]+\.ood)?$", expand=False)
        groups = published.groupby(names, sort=False)
        shown = "; ".join(f"{name} {', '.join(map('{:g}'.format, values))}" for name, values in groups) or "-"
        cost = (f"{x:.2g}" if x < 100 else f"{x:.0f}" for x in (of["seconds"] / 3600, of["bytes"] / 2**30))
        rows.append((what, f"`{preset}`", of["runs"], f"{low} to {high}", flop(of["flop"]), *cost, shown))
    return rows
