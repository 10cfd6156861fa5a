"""A study of the laws of lengths: runs of arithmetic models left out whole, and what other laws and rows give."""

import bayescaling as bs
from bayescaling.inference.intervals import summary
from bayescaling.reports.pages.arithmetic.page import ABACUS, BEYOND, MAIN, TABLE, accuracies, shown_in_training
from bayescaling.reports.results import comparison_document
from study import Study

LAWS = {
    MAIN: bs.laws.Lengths(),
    "longer operand alone": bs.laws.Lengths(operands="longest"),
    "logit linear in length": bs.laws.Lengths(shape="linear"),
}


def left_out(parts, *, seed):
    """Fit each law, compare them by runs left out, and give how far Abacus goes under each and on every length."""
    counts = bs.load(TABLE)
    rows = shown_in_training(counts)
    fits = {name: parts.fit(name, lambda law=law: bs.fit(law, rows, seed=seed)) for name, law in LAWS.items()}
    every = {"every length tested": parts.fit("every length", lambda: bs.fit(LAWS[MAIN], counts, seed=seed))}
    return comparison_document(bs.compare(fits)) | {"abacus": {name: _far(f) for name, f in (fits | every).items()}}


def _far(fit):
    half = bs.lengths.length_at_accuracy(fit, 0.5, conditions=ABACUS)
    return {"half": summary(half, ratio=True), "beyond": accuracies(fit)[ABACUS][BEYOND], "ok": fit.diagnostics["ok"]}


STUDIES = {
    "arithmetic_left_out": Study(
        "laws of lengths, runs left out whole, and how far Abacus goes under each",
        left_out,
        lambda: [(law, shown_in_training(bs.load(TABLE))) for law in LAWS.values()],
        {"seed": 1},
    )
}
