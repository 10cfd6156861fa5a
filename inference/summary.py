"""Sum up a fit, in words and as a table, for a notebook, a script and a note to a colleague."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from ..datasets.units import in_unit_of_loss, read_as
from ..errors import InputError
from ..models.draws import DRAWS
from ..models.loss.budget import training_flop
from . import intervals
from .checks.chains import sentence
from .checks.check import FITS, verdict_sentence
from .checks.check import KEY as VERDICT
from .checks.known_floor import known_floor
from .checks.sandwich import quotable
from .checks.trade_off import trade_off_sentence
from .horizons.quantities import summary as horizon_summary
from .lengths.quantities import summary as length_summary
from .printed import Printed, Text
from .progress.rate_at_rows import gain_times
from .progress.trends import by_form, changes, doubling_days, yearly_gain
from .scores.compute import summary as progress_summary
from .words import HIGH, LOW, MIDDLE, digits, durations, flop, months, plain, probability, ratios, sizes, yearly

if TYPE_CHECKING:
    from .fit import Fit


EXPONENT = "exponent_parameters"
MOST_LEVELS = 20  # of a quantity that is shown level by level
SHARE = 0.5  # of problems right at the lengths that are quoted
MOST_ANSWERS = 5
QUICK_ROWS = 1000  # of a table whose law is checked when a fit is printed
AHEAD = 10  # times the largest run: the budget of the optimal size that a fit prints
NAMES = {
    "E": "E, nats per token",
    "alpha": "alpha",
    "beta": "beta",
    "exponent": "exponent",
    EXPONENT: "exponent of the optimal parameters",
}


@dataclass(frozen=True, repr=False)
class Summary(Printed):
    """The results of a fit: its chains, its law, its quantities, and what to quote.

    Attributes
    ----------
    title : str
        The law, its table and the number of rows.
    ok : bool
        Whether the chains converged: nothing is to be quoted where they did not.
    chains, verdict : str
        In words, whether the chains are reliable and whether the law fits its rows.
    table : DataFrame
        Indexed by quantity, in nats per token and the units of `notes`. ``q50`` is the median, ``q2.5`` and ``q97.5``
        are the ends of the central 95% interval, and ``sd`` is the standard deviation. These are robust where the rows
        reject a law of runs. ``robust_sd`` is there in any case (NaN where there is none).
    quote : tuple of str
        Sentences that can be quoted unchanged.
    """

    title: str
    ok: bool
    chains: str
    verdict: str
    table: pd.DataFrame
    quote: tuple[str, ...]

    def text(self) -> Text:
        """Return what is printed; of quantities with many levels the rows are left out."""
        counts = Counter(name.partition("[")[0] for name in self.table.index)
        few = [name for name in self.table.index if counts[name.partition("[")[0]] <= MOST_LEVELS]
        table = self.table.loc[few].map(lambda x: "–" if x != x else f"{x:.4g}")
        quoted = ["To quote:", *(f"“{sentence}”" for sentence in self.quote)] if self.quote else []
        nothing = [] if self.ok else ["Nothing here is to be quoted."]
        return Text(self.title, table, (self.chains, self.verdict, *(quoted or nothing)))


def summary(fit: Fit) -> Summary:
    """Sum a fit up: whether its chains converged, whether its law fits, its constants, and what to quote.

    Parameters
    ----------
    fit : Fit
        Its law is checked if it was not before.

    Returns
    -------
    Summary
        Its sentences to quote depend on the kind of law. For runs they are of the exponent of the optimal size, for
        evaluations of the doubling time at their sizes. For counts they are of the lengths of half the sums right, and
        for scores of the fall of compute at fixed capability. Of a law of runs that does not fit its rows the interval
        is that of `robust`, as the sentence states.

    Raises
    ------
    InputError
        If `fit` is no fit of this package.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> print(fit.summary().chains.partition(":")[0])
    converged
    >>> print(fit.summary().quote[0][:63])
    Compute-optimal parameters grow as training compute to the powe
    """
    law, verdict, source = fit.law, fit.check(), fit.table_named
    wider = intervals.robust_entries(fit)
    table = pd.DataFrame.from_dict(
        {
            name: {key: q[key] for key in (MIDDLE, LOW, HIGH, "sd")}
            | {"robust_sd": wider.get(name, {}).get("robust_sd")}
            for name, q in intervals.parameters(fit).items()
        },
        orient="index",
        dtype=float,
    ).rename_axis("quantity")
    ok = fit.diagnostics["ok"]
    quote = OF_KIND[law.kind](fit, f"{law.label}, {source}", verdict["verdict"] == FITS) if ok else ()
    return Summary(_title(fit), ok, sentence(fit.diagnostics), verdict_sentence(verdict), table, tuple(quote))


def _title(fit):
    return f"{fit.law.label} on {fit.table_named}, {fit.law.noise} noise on {fit.law.scale}"


def brief(fit):
    """Return the `Text` that a fit prints: whether its chains converged, whether its law fits, and a few answers.

    The law is checked where that takes about a second; otherwise the text names the method that checks it.
    """
    quick = fit.law.effort.quick and len(fit.rows) <= QUICK_ROWS
    if VERDICT not in fit.computed and not quick:
        return Text(_title(fit), None, (sentence(fit.diagnostics), "The law was not checked yet: call fit.check()."))
    rows = dict(ANSWERS[fit.law.kind](fit)) if fit.diagnostics["ok"] else {}
    table = pd.DataFrame({"median [95% interval]": rows}) if rows else None
    floor = known_floor(fit).get("sentence")
    lines = (sentence(fit.diagnostics), verdict_sentence(fit.check()), trade_off_sentence(fit), floor)
    return Text(_title(fit), table, tuple(filter(None, lines)))


def _answers_of_runs(fit):
    """Yield answers of a law of runs, pairs of a name and an interval in words."""
    posterior = fit["posterior"]
    names = [name for name in NAMES if name in posterior and posterior[name].dims == DRAWS]
    for name, draws in quotable(fit, {name: posterior[name] for name in names}).items():
        yield in_unit_of_loss(NAMES[name], fit.rows), plain(intervals.summary(draws))
    compute = training_flop(fit.rows)
    if compute is None:
        return
    with suppress(InputError):  # of a law without an optimum, or of one that needs to know more of the runs planned
        budget = AHEAD * float(compute.max())
        best = fit.allocate(budget)
        if "parameters" in best:
            yield f"optimal parameters at {flop(budget)}", sizes(intervals.summary(best["parameters"]))
            yield f"tokens there, {AHEAD} times the largest run", sizes(intervals.summary(best["tokens"]))
        else:
            yield _ahead(fit, best["loss"], budget)


def _ahead(fit, predicted, budget):
    """Return what a law of compute alone predicts at a budget, a loss or another quantity in the unit of its column."""
    where = f"at {flop(budget)}, {AHEAD} times the largest run"
    if "floor" not in fit.law.options or fit.law.floor is not False:
        return in_unit_of_loss(f"loss {where}, nats per token", fit.rows), plain(intervals.summary(predicted))
    header, factor = read_as(fit.rows, "loss")
    return f"{header} {where}", ratios(intervals.summary(predicted / factor))


def _answers_of_evaluations(fit):
    doubling, probability_of_progress = _doubling(fit)
    yield "doubling time of effective compute, months", doubling
    yield "probability of progress", probability_of_progress


def _answers_of_counts(fit):
    return ((f"digits at which half is right, {name}", text) for name, text in _lengths(fit)[:MOST_ANSWERS])


def _answers_of_scores(fit):
    return ((f"fall of compute at fixed capability, {name}", text) for name, text in _falls(fit))


def _answers_of_horizons(fit):
    for period, text in _doublings(fit):
        yield f"days in which horizons double, {period}", text
    for model, text in _horizons(fit)[:MOST_ANSWERS]:
        yield f"horizon of {model}, half of the runs", text


def _answers_of_values(fit):
    if fit.law.linear_unit is None:
        for period, (change, row) in changes(fit).items():
            yield f"days in which values {change}, {period}", months(intervals.ends(row))
    for period, row in yearly_gain(fit).iterrows():
        what = "gain a year" if fit.law.linear_unit else "factor a year"
        yield f"{what}, {period}", plain(intervals.ends(row), "{:.3g}")


ANSWERS = {
    "runs": _answers_of_runs,
    "evaluations": _answers_of_evaluations,
    "counts": _answers_of_counts,
    "scores": _answers_of_scores,
    "horizons": _answers_of_horizons,
    "values": _answers_of_values,
}


def _of_runs(fit, of, fits):
    draws = fit["posterior"].get(EXPONENT)
    if draws is None or draws.dims != DRAWS:
        yield from _of_one_variable(fit, of)
        return
    q = intervals.summary(quotable(fit, {EXPONENT: draws})[EXPONENT])
    widened = "" if fits else "; robust, since the rows reject the law"
    yield f"Compute-optimal parameters grow as training compute to the power {plain(q)} ({of}, 95% interval{widened})."
    if floor := known_floor(fit).get("sentence"):
        yield f"{floor[:1].upper()}{floor[1:]}."


def _of_one_variable(fit, of):
    law, exponents = fit.law, quotable(fit, {name: fit["posterior"][name] for name in fit.law.exponents})
    if len(law.columns) != 1 or any(draws.dims != DRAWS for draws in exponents.values()):
        return
    for name, draws in exponents.items():
        size = law.columns[0].replace("_flop", " compute")
        if name == "exponent":
            what = read_as(fit.rows, "loss")[0]
            yield f"{what} moves as {size} to the power {plain(intervals.summary(draws))} ({of}, 95% interval)."
            continue
        yield f"The loss above E falls as {size} to the power {plain(intervals.summary(-draws))} ({of}, 95% interval)."
    if sentence := trade_off_sentence(fit):
        yield f"{sentence[:1].upper()}{sentence[1:]}."


def _of_evaluations(fit, of, fits):
    doubling, probability_of_progress = _doubling(fit)
    yield (
        f"Algorithmic progress halves the compute for a given loss every {doubling} months, progress having posterior "
        f"probability {probability_of_progress} ({of}, 95% interval, at the evaluations' own sizes and dates)."
    )


def _of_counts(fit, of, fits):
    for name, text in _lengths(fit):
        yield f"{name}: half of the problems are right at {text} digits ({of}, 95% interval, median run)."


def _of_scores(fit, of, fits):
    for name, text in _falls(fit):
        yield f"The fall of compute at fixed capability is {text} ({name}, {of}, 95% interval)."


def _of_horizons(fit, of, fits):
    for period, text in _doublings(fit):
        yield f"Time horizons double in {text} days ({period}, {of}, 95% interval)."
    for model, text in _horizons(fit)[:1]:
        yield f"{model} does the typical task that takes people {text} in half of its runs ({of}, 95% interval)."


def _of_values(fit, of, fits):
    if fit.law.linear_unit is None:
        for period, (change, row) in changes(fit).items():
            text = months(intervals.ends(row))
            yield f"Values {change} in {text} days ({period}, {of}, 95% interval){_other_forms(fit)}."
        return
    for period, row in yearly_gain(fit).iterrows():
        rate = plain(intervals.ends(row), "{:.3g}")
        yield f"Values grow by {rate} a year ({period}, {of}, 95% interval){_other_forms(fit)}."


def _other_forms(fit):
    """Return the rates of other forms of the trend that predict as well or better, in words."""
    table = by_form(fit)
    rivals = table[table["rival"] & table["ok"]].drop(index=fit.law.trend, errors="ignore")
    if rivals.empty:
        return ""
    better = "" if table.loc[fit.law.trend, "rival"] else ", which predict better"
    what = "factor a year" if fit.law.linear_unit is None else "gain a year"
    rates = ", ".join(f"{form} {plain(intervals.ends(row), '{:.3g}')}" for form, row in rivals.iterrows())
    return f"; by other forms{better}, the latest {what} is {rates}"


def _doublings(fit):
    """Pairs of a period and the days in which horizons double, in words."""
    if fit.law.trend is None:
        return []
    return [(str(period), months(intervals.ends(row))) for period, row in doubling_days(fit).iterrows()]


def _horizons(fit):
    """Pairs of a model, the latest first, and its horizon at half of the runs, in words."""
    return [(model, durations(row)) for (model, _), row in horizon_summary(fit, [SHARE]).iterrows()]


def _doubling(fit):
    """Write the doubling time at the evaluations, and the probability of progress."""
    gain = gain_times(fit).loc["all"]
    q = {name: intervals.finite(gain[name]) for name in (LOW, MIDDLE, HIGH)}
    return months(q), probability(gain["p_progress"])


def _lengths(fit):
    """Return pairs of a condition and the length at which half of its problems are right, in words."""
    rows = length_summary(fit, SHARE).droplevel("share").iterrows()
    return [(name, digits({end: row[end] or None for end in (LOW, MIDDLE, HIGH)})) for name, row in rows]


def _falls(fit):
    """Return pairs of a period with its unit and the fall of compute at fixed capability a year, in words."""
    if fit.law.pace is None:
        return []
    rows = progress_summary(fit).iterrows()
    return [
        (f"{period}, by {unit}", yearly({end: row[f"factor_{end}"] for end in (LOW, MIDDLE, HIGH)}))
        for (period, unit), row in rows
        if period != "change"
    ]


OF_KIND = {
    "runs": _of_runs,
    "evaluations": _of_evaluations,
    "counts": _of_counts,
    "scores": _of_scores,
    "horizons": _of_horizons,
    "values": _of_values,
}
