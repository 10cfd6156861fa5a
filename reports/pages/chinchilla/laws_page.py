"""The optimum under several laws of the same runs, side by side."""

from ....inference.words import flop, ratios
from ... import optimum
from ...html import tables
from ...laws import PLANNED
from ...results import rejected_by

SHOWN = (1e24,)
TITLE = "The optimum by law"


def apart(document, quantity="exponent_parameters"):
    """Return how far apart the medians of the laws lie, and the width of their widest 95% interval."""
    summaries = [document["laws"][name]["parameters"][quantity] for name in PLANNED]
    medians = [q["q50"] for q in summaries]
    return max(medians) - min(medians), max(q["q97.5"] - q["q2.5"] for q in summaries)


def table_by_law(document):
    """Return a table of the elpd, exponent, E and optimal sizes of each law."""
    quoted = optimum.preferred(document)
    order = [quoted, *(name for name in optimum.planned(document) if name != quoted)]
    rows = [_row(document, name, recommended=name == order[0]) for name in order]
    header = ["law", "elpd (leave-one-out)", "exponent a", "E (nats/token)"]
    header += [f"{what} at {flop(compute)}" for compute in SHOWN for what in ("N*", "D*/N*")]
    note = (
        "Use the recommended row: over rollouts of ten public tables its law predicts later runs best. Intervals are "
        "robust where the runs reject the law, and include the drift of the law beyond the largest run."
    )
    return tables.of_rows([*header, "tests of the law"], rows, note=note, fits=order, recommended=0, title=TITLE)


def _row(document, name, *, recommended):
    law = document["laws"][name]
    constants = (tables.interval(law["parameters"][q], "{:.3f}") for q in ("exponent_parameters", "E"))
    failed = rejected_by(law["misfit"])
    return [
        f"{name} (recommended)" if recommended else name,
        f"{law['elpd_loo']:.1f}",
        *constants,
        *_sizes(document, name),
        f"rejected by {failed}" if failed else "not rejected",
    ]


def _sizes(document, name):
    for compute in SHOWN:
        entry = optimum.at_budget(document, compute, name)
        yield tables.si_interval(entry["parameters"])
        yield ratios(entry["tokens_per_parameter"])
