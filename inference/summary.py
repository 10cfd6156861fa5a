"""Sum up a fit, in words and as a table, for a terminal, a notebook, a script and a note to a colleague."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from ..datasets.printed import Printed, Text
from . import intervals
from .checks.chains import sentence
from .checks.trade_off import known_floor, trade_off_sentence
from .checks.verdict import verdict_sentence
from .fitted import Fit, record_of, table_named
from .kinds.record import MOST_LEVELS, Answer
from .standing import known_check, standing
from .stored_answers import RIVALS, quotes
from .words import HIGH, LOW, MIDDLE


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
        Indexed by quantity, in nats per token and the units of `notes`. ``q50`` is the median, and ``q2.5`` and
        ``q97.5`` are the ends of the quoted 95% interval, which is robust where the rows reject a law of runs. ``sd``
        is the standard deviation of the posterior, and ``robust_sd`` the robust one (NaN where there is none).
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
        table = self.table.loc[few].map(lambda x: "–" if x != x else f"{x:.4g}".replace("e+", "e"))
        many = [f"{name} ({count})" for name, count in counts.items() if count > MOST_LEVELS]
        left_out = [f"Not shown for their number: {', '.join(many)}"] if many else []
        quoted = ["To quote:", *(f"“{sentence}”" for sentence in self.quote)] if self.quote else []
        nothing = [] if self.ok else ["Nothing here is to be quoted."]
        return Text(self.title, table, (*left_out, self.chains, self.verdict, *(quoted or nothing)))


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
    verdict, wider = fit.check(), intervals.robust_entries(fit)
    rows = {}
    for name, q in intervals.parameters(fit).items():
        errors = wider.get(name, {})
        rows[name] = {key: q[key] for key in (MIDDLE, LOW, HIGH)}
        rows[name] |= {"sd": errors.get("posterior_sd", q["sd"]), "robust_sd": errors.get("robust_sd")}
    table = pd.DataFrame.from_dict(rows, orient="index", dtype=float).rename_axis("quantity")
    title = f"{fit.law.label} on {table_named(fit)}, {fit.law.noise} noise on {fit.law.scale}"
    diagnosis = fit.diagnostics
    return Summary(title, diagnosis["ok"], sentence(diagnosis), verdict_sentence(verdict), table, tuple(quotes(fit)))


def answers(fit: Fit) -> list[Answer]:
    """Return the main numbers of a fit, by the kind of its law; none where its chains did not converge."""
    return list(record_of(fit).answers(fit)) if fit.diagnostics["ok"] else []


def make_answers(fit):
    """Make what a fit prints, in plain values that it holds; `stored_answers` reads them.

    The law is checked where that takes a few seconds. Otherwise there are no answers whose width depends on the check,
    until it is made.
    """
    checked = known_check(fit) is not None or not record_of(fit).widens
    answered = answers(fit) if checked else []
    # The last best size is graded.
    ahead = [one.value for one in answered if one.label.startswith("parameters at")]
    held = standing(fit, ahead[-1], decades=1.0) if ahead else standing(fit)
    of = f"{held['law']}, {held['data']}, 95% interval{'; robust, since the rows reject the law' * held['robust']}"
    return {
        "answers": [_entry(one, of) for one in answered],
        "standing": held,
        "remarks": [remark for remark in (trade_off_sentence(fit), known_floor(fit).get("sentence")) if remark],
        "facts": [*record_of(fit).facts(fit)],
    }


def _entry(answer, of):
    text = answer.form(answer.value)
    quote = answer.template.format(x=text, of=of, rivals=RIVALS)
    return {"label": answer.label, "value": answer.value, "text": text, "quote": quote}
