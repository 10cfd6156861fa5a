"""Which other law predicts better than that of a fit, and what it changes, in a sentence."""

from shlex import quote

from ...datasets.formula_nodes import Name
from ...datasets.wording import quoted
from ..intervals import name_quantiles
from ..quoted import quote_draws
from ..words import plain
from .chains import PARETO_K_LIMIT
from .verdict import ALARMS, BY_COLUMN, FITS, verdict_of, verdict_sentence

EXPONENT = "exponent_parameters"
ERROR_OF_SIZE = 2.0  # Nats of a size at which Pareto k is above 0.7: our choice; it was 0.1 to 1.5 on public tables.
LEAST_GAIN = 4.0  # Nats: smaller differences may be noise (Sivula, Magnusson and Vehtari 2020, section 3).


def _part_groups(law, column):
    """Write what to do where the groups of a column differ."""
    constant = next(iter(getattr(law, "roles", ())), None)  # of a formula
    way = f"give constants of each, such as {Name(constant, (column,))}" if constant else "fit groups of it"
    way += "" if constant else f" (--group {quote(column)})"
    return f"groups that {column!r} names differ: {way}, or choose among them with where"


def gain(entry):
    """Return the difference of elpd that decides about a law, and its standard error: by sizes if left out."""
    ending = "" if entry.get("elpd_diff_by_size") is None else "_by_size"
    return entry[f"elpd_diff{ending}"], entry[f"dse{ending}"]


def is_clear(entry):
    """Return whether errors of importance sampling at sizes left out cannot decide if a law predicts better."""
    if entry["unreliable_sizes"] is None:
        return False
    difference, error = gain(entry)
    apart = abs(difference - max(LEAST_GAIN, error))
    return apart > LEAST_GAIN + ERROR_OF_SIZE * entry["unreliable_sizes"]


def _is_better(difference, error):
    return difference > max(LEAST_GAIN, error)


def exponent_of(fit):
    """Return quantiles of the exponent of the optimal size, in a dict that is empty where a fit has none or several."""
    if EXPONENT not in fit["posterior"] or "group" in fit["posterior"][EXPONENT].dims:
        return {}
    return {EXPONENT: name_quantiles(quote_draws(fit, fit["posterior"][EXPONENT]))}


def suggestion(fit, others):
    """Return a sentence on which law of `wider_laws` predicts better and what it changes, "" where none was tried.

    Model sizes that are left out whole decide where the table has enough of them, otherwise rows.
    """
    columns = [x.removeprefix(BY_COLUMN) for x in verdict_of(fit)["rejected_by"] if x.startswith(BY_COLUMN)]
    has_effects = any(entry.get("options", {}).get("run_effects") for entry in others)  # runs are no groups then
    apart = [_part_groups(fit.law, name) for name in columns if not (has_effects and name == "run")]
    better = [entry for entry in others if _is_better(*gain(entry))]
    if verdict_of(fit).get("turns"):
        better = [entry for entry in better if entry["verdict"]["verdict"] == FITS]
        if others and not better:
            return "; ".join([*apart, "no neighbour of the formula fits the rows either"])
    if not better:
        return "; ".join([*apart, *([_none_better(others)] if others else [])])
    best = better[0]
    text = "; ".join([*apart, ""]) + f"try {best['law']}: it predicts {_by_how_much(best)}"
    before, after = exponent_of(fit).get(EXPONENT), best.get(EXPONENT)
    if before and after:
        ends = (plain(q, "{:.2f}") for q in (before, after))  # digits that its short chains bear
        text += f". It moves the exponent of N* from {' to '.join(ends)}"
    return f"{text}. There {verdict_sentence(best['verdict']).removesuffix(ALARMS).rstrip(' .')}"


def _none_better(others):
    """Return that no law predicts better, with a warning of those that do so between rows of a size alone."""
    within = [entry for entry in others if _is_better(entry["elpd_diff"], entry["dse"])]
    if not within:
        named = " and ".join(quoted(entry["law"]) for entry in others)
        return f"{named} predict{'s' * (len(others) == 1)} the rows no better"
    first = within[0]
    return (
        f"{first['law']} predicts single rows better by {_nats(first['elpd_diff'], first['dse'])}, but not model sizes "
        f"left out whole, {_nats(first['elpd_diff_by_size'], first['dse_by_size'])}: do not extrapolate with it to "
        f"another size{_doubt(first)}"
    )


def _by_how_much(entry):
    rows = _nats(entry["elpd_diff"], entry["dse"])
    if entry.get("elpd_diff_by_size") is None:
        return f"the rows better by {rows}"
    sizes = _nats(entry["elpd_diff_by_size"], entry["dse_by_size"])
    return f"model sizes left out whole better by {sizes}, single rows by {rows}{_doubt(entry)}"


def _nats(difference, error):
    return f"{difference:.1f} ± {error:.1f} nats"


def _doubt(entry):
    """Return what to know of a comparison by sizes where importance sampling failed at some of them."""
    if not entry["unreliable_sizes"] or is_clear(entry):
        return ""
    return (
        f"; Pareto k is above {PARETO_K_LIMIT} at {entry['unreliable_sizes']} of {entry['sizes']} sizes, so the "
        "difference by size may be wrong: check it with fit.loo('parameters')"
    )
