"""What several laws say of the same runs, side by side and mixed."""

from ..drawing import tables
from ..results import rejected_by
from .analysis import MAIN, PLANNED, STACKED

WORDS = {
    MAIN: "under the Chinchilla law",
    "coupled": "where its terms are coupled",
    "offsets": "where N and D count from other zeros",
}
SHOWN = (1e24, 1e26)


def at_budget(document, compute, law):
    """Return the entry of a law's optimum at a budget."""
    return next(a for a in document["allocation"] if a["law"] == law and a["compute"] == compute)


def sizes_by_law(document, compute):
    """Say in words which N* each law gives at a budget."""
    return ", ".join(f"{tables.si_interval(at_budget(document, compute, n)['parameters'])} {WORDS[n]}" for n in PLANNED)


def apart(document, quantity="exponent_parameters"):
    """Say how far medians of the laws lie apart, beside the widest of their own 95% intervals."""
    own = [document["laws"][name]["parameters"][quantity] for name in WORDS]
    medians = [q["q50"] for q in own]
    widest = max(q["q97.5"] - q["q2.5"] for q in own)
    return f"the medians lie {max(medians) - min(medians):.3f} apart, the widest interval spans {widest:.3f}"


def table_by_law(document):
    """Write a table of what each law says: its elpd, weight, constants and optimal sizes."""
    rows = []
    for name in PLANNED:
        law = document["laws"][name]
        own = law["parameters"]
        constants = (tables.interval(own[q], "{:.3f}") for q in ("exponent_parameters", "E"))
        failed = rejected_by(law["misfit"])
        verdict = f"rejected by {failed}" if failed else "not rejected"
        weight = f"{document['stacking'][name]:.2f}"
        rows.append([name, f"{law['elpd_loo']:.1f}", weight, *constants, *_sizes(document, name), verdict])
    rest = 1 - sum(document["stacking"][name] for name in PLANNED)
    rows.append([STACKED, "–", "1.00", "–", "–", *_sizes(document, STACKED), "–"])
    header = ["law", "elpd (leave-one-out)", "weight", "exponent a", "E (nats)"]
    header += [f"{what} at {compute:.3g} FLOP".replace("e+", "e") for compute in SHOWN for what in ("N*", "D*/N*")]
    note = (
        "Medians and 95% intervals; in brackets, where it differs, the 95% interval of N* that does not trust the law "
        "(draws spread to the robust standard deviation). Weight: by stacking over every law and noise of the "
        f"comparison; those not shown here have {rest:.2f}. Stacked: draws of all in proportion to their weights."
    )
    return tables.of_rows([*header, "tests of the law"], rows, note=note)


def _sizes(document, name):
    for compute in SHOWN:
        found = at_budget(document, compute, name)
        size, robust = tables.si_interval(found["parameters"]), found.get("robust_parameters")
        apart = robust and tables.si_interval(robust) != size
        yield f"{size} ({tables.si_interval(robust).partition(' ')[2]})" if apart else size
        yield tables.interval(found["tokens_per_parameter"], "{:.1f}")
