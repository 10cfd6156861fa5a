"""A study of the laws of lengths: runs of arithmetic models left out whole."""

import bayescaling as bs
from bayescaling.reports.pages.arithmetic.analysis import MAIN
from bayescaling.reports.results import comparison_document
from study import Study

LAWS = {
    MAIN: bs.laws.Lengths(),
    "logit linear in length": bs.laws.Lengths(shape="linear"),
    "binomial": bs.laws.Lengths(noise="binomial"),
}
TABLE = "arithmetic_runs"


def left_out(parts, *, seed):
    """Fit each law and compare them by runs left out."""
    fits = {name: parts.fit(name, lambda law=law: bs.fit(law, bs.load(TABLE), seed=seed)) for name, law in LAWS.items()}
    return comparison_document(bs.compare(fits))


STUDIES = {
    "arithmetic_left_out": Study(
        "laws of lengths, runs left out whole",
        left_out,
        lambda: [(law, bs.load(TABLE)) for law in LAWS.values()],
        {"seed": 1},
    )
}
