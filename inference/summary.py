"""What a fit says, in words and as a table, for a notebook, a script and a note to a colleague."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from . import intervals
from .diagnostics import sentence
from .quantities.gain import gain_times
from .quantities.lengths import length_summary
from .quantities.robust import quotable
from .quantities.scores.compute import progress_summary
from .quantities.verdict import FITS, verdict_sentence
from .words import HIGH, LOW, MIDDLE, digits, factor, months, plain, probability

if TYPE_CHECKING:
    from .fit import Fit


EXPONENT = "exponent_parameters"
MOST_LEVELS = 20  # of a quantity that is shown level by level
SHARE = 0.5  # of problems right at the lengths that are quoted


@dataclass(frozen=True)
class Summary:
    """What a fit says; printed as text, in a notebook as a table between sentences.

    Attributes
    ----------
    title : str
        The law, its table and the number of rows.
    ok : bool
        Whether the chains converged: nothing is to be quoted where they did not.
    chains, verdict : str
        In words, whether the chains can be trusted and whether the law fits its rows.
    table : DataFrame
        Indexed by quantity, in nats per token and the units of `notes`: the median ``q50``, the ends ``q2.5`` and
        ``q97.5`` of the central 95% interval and the ``sd``, robust where the rows reject a law of runs, and
        ``robust_sd`` in any case (NaN where there is none).
    quote : tuple of str
        Sentences that can be quoted as they stand.
    """

    title: str
    ok: bool
    chains: str
    verdict: str
    table: pd.DataFrame
    quote: tuple[str, ...]

    def shown(self) -> pd.DataFrame:
        """Return the rows of the table of quantities with at most 20 levels, as text to four digits."""
        counts = Counter(name.partition("[")[0] for name in self.table.index)
        few = [name for name in self.table.index if counts[name.partition("[")[0]] <= MOST_LEVELS]
        return self.table.loc[few].map(lambda x: "–" if x != x else f"{x:.4g}")

    def _after(self) -> list[str]:
        quoted = [f"“{said}”" for said in self.quote]
        return ["To quote:", *quoted] if quoted else ["Nothing here is to be quoted."] if not self.ok else []

    def __str__(self):
        below = [self.chains, self.verdict, *self._after()]
        return "\n".join([self.title, "", self.shown().to_string(index_names=False), "", *below])

    __repr__ = __str__

    def _repr_html_(self):
        below = "".join(f"<p>{escape(line)}</p>" for line in (self.chains, self.verdict, *self._after()))
        return f"<p><strong>{escape(self.title)}</strong></p>{self.shown().to_html(index_names=False)}{below}"


def summary(fit: Fit) -> Summary:
    """Sum a fit up: whether its chains converged, whether its law fits, its constants, and what to quote.

    Parameters
    ----------
    fit : Fit
        From `fit` or `open_fit`. It is judged by `judge` if it was not before, which keeps the verdict in its record.

    Returns
    -------
    Summary
        Its sentences to quote are of the exponent of the optimal size, the doubling time at the evaluations' own
        sizes, the lengths of half the sums right, or the fall of compute at fixed capability, by the kind of law. Of
        a law of runs that does not fit its rows the interval is that of `robust`, and the sentence says so.

    Raises
    ------
    InputError
        If `fit` is no fit of this package.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> print(fit.summary().chains.partition(":")[0])
    converged
    >>> print(fit.summary().quote[0][:63])
    Compute-optimal parameters grow as training compute to the powe
    """
    record, law, verdict = fit.record, fit.law, fit.check()
    source = f"{record['data']['rows']} rows of {record['data']['source']}"
    title = f"{law.label} on {source}, {law.noise} noise on {law.scale}"
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
    ok = record["diagnostics"]["ok"]
    quote = OF_KIND[law.kind](fit, f"{law.label}, {source}", verdict["verdict"] == FITS) if ok else ()
    return Summary(title, ok, sentence(record["diagnostics"]), verdict_sentence(verdict), table, tuple(quote))


def _of_runs(fit, of, fits):
    draws = fit["posterior"].get(EXPONENT)
    if draws is None or draws.dims != ("chain", "draw"):
        return
    q = intervals.summary(quotable(fit, {EXPONENT: draws})[EXPONENT])
    widened = "" if fits else "; robust, since the rows reject the law"
    yield f"Compute-optimal parameters grow as training compute to the power {plain(q)} ({of}, 95% interval{widened})."


def _of_evaluations(fit, of, fits):
    found = gain_times(fit).loc["all"]
    q = {name: found[name] if found[name] < float("inf") else None for name in (LOW, MIDDLE, HIGH)}
    yield (
        f"Algorithmic progress halves the compute for a given loss every {months(q)} months, progress having "
        f"posterior probability {probability(found['p_progress'])} ({of}, 95% interval, at the evaluations' own sizes "
        "and dates)."
    )


def _of_counts(fit, of, fits):
    for condition, row in length_summary(fit, SHARE).droplevel("share").iterrows():
        q = {name: row[name] or None for name in (LOW, MIDDLE, HIGH)}
        yield f"{condition}: half of the problems are right at {digits(q)} digits ({of}, 95% interval, median run)."


def _of_scores(fit, of, fits):
    if fit.law.pace is None:
        return
    found = progress_summary(fit)
    for (period, unit), row in found[found.index.get_level_values("period") != "change"].iterrows():
        q = {name: row[f"factor_{name}"] for name in (LOW, MIDDLE, HIGH)}
        yield f"The compute of a capability falls {factor(q)} times a year ({period}, by {unit}, {of}, 95%)."


OF_KIND = {"runs": _of_runs, "evaluations": _of_evaluations, "counts": _of_counts, "scores": _of_scores}
