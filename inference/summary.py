"""Sum up a fit, in words and as a table, for a terminal, a notebook, a script and a note to a colleague."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..datasets.printed import Printed, Text
from ..datasets.units import in_unit_of_loss, read_as
from ..errors import InputError
from ..models.draws import DRAWS
from ..models.loss.budget import training_flop
from . import intervals
from .checks.chains import sentence
from .checks.known_floor import known_floor
from .checks.trade_off import trade_off_sentence
from .checks.verdict import verdict_sentence
from .fitted import table_named
from .horizons.quantities import summary as horizon_summary
from .lengths.quantities import summary as length_summary
from .progress.rate_at_rows import gain_times
from .progress.trends import changes, doubling_days, yearly_gain
from .quoted import quote_draws
from .scores.compute import summary as progress_summary
from .standing import WIDENED, known_check, standing
from .stored_answers import RIVALS, quotes
from .words import HIGH, LOW, MIDDLE, digits, durations, flop, months, plain, probability, ratios, sizes, yearly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .fitted import Fit


EXPONENT = "exponent_parameters"
MOST_LEVELS = 20  # of a quantity that is shown level by level
SHARE = 0.5  # of the accuracy at short lengths, at the lengths that are quoted
MOST_ANSWERS = 5
AHEAD = 10  # times the largest run: a budget whose optimal size a fit prints
NAMES = {EXPONENT: "exponent of the best size", "E": "floor E, nats per token"}
THREE, TWO = partial(plain, form="{:.3g}"), partial(plain, form="{:.2f}")


@dataclass(frozen=True)
class Answer:
    """A number of a fit, which `make_answers` writes for every surface.

    The value has quantiles ``q2.5``, ``q50`` and ``q97.5``, None where one is not finite, or is a probability. The form
    writes it. The template is the sentence to quote, with ``{x}`` for the number and ``{of}`` for the law and the
    table; "" for none. ``{rivals}`` stands for other forms of the law that predict as well.
    """

    label: str
    value: Any
    form: Callable = plain
    template: str = ""


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
    return list(OF_KIND[fit.law.kind](fit)) if fit.diagnostics["ok"] else []


def held_by(fit, answered):
    """Return the `standing` of the answers of a fit, of which the last with a best size is graded."""
    ahead = [one.value for one in answered if one.label.startswith("parameters at")]
    return standing(fit, ahead[-1], decades=1.0) if ahead else standing(fit)


def make_answers(fit):
    """Make what a fit prints, in plain values that it holds; `stored_answers` reads them.

    The law is checked where that takes a few seconds. Otherwise there are no answers whose width depends on the check,
    until it is made.
    """
    checked = known_check(fit) is not None or fit.law.kind not in WIDENED
    answered = answers(fit) if checked else []
    held = held_by(fit, answered)
    of = f"{held['law']}, {held['data']}, 95% interval{'; robust, since the rows reject the law' * held['robust']}"
    return {
        "answers": [_entry(one, of) for one in answered],
        "standing": held,
        "remarks": [remark for remark in (trade_off_sentence(fit), known_floor(fit).get("sentence")) if remark],
    }


def _entry(answer, of):
    text = answer.form(answer.value)
    quote = answer.template.format(x=text, of=of, rivals=RIVALS)
    return {"label": answer.label, "value": answer.value, "text": text, "quote": quote}


# By kind of law -------------------------------------------------------------------------------------------------------


def _of_runs(fit) -> Iterator[Answer]:
    posterior, law = fit["posterior"], fit.law
    names = [name for name in (EXPONENT, "E") if name in posterior]
    names += [name for name in law.exponents if name in posterior and EXPONENT not in posterior]
    for name, draws in quote_draws(fit, {name: posterior[name] for name in names}).items() if names else ():
        label = in_unit_of_loss(NAMES.get(name, name), fit.rows)
        levels = [dim for dim in draws.dims if dim not in DRAWS]
        template = "" if levels else _template(fit, name)
        if not levels:
            yield Answer(label, intervals.summary(-draws if "falls as" in template else draws), plain, template)
        elif len(levels) == 1 and draws.sizes[levels[0]] <= MOST_LEVELS:
            for level in draws[levels[0]].values.tolist():
                yield Answer(f"{label}, {level}", intervals.summary(draws.sel({levels[0]: level})))
    compute = training_flop(fit.rows)
    if compute is None:
        return
    largest = float(compute.max())
    with suppress(InputError):  # of a law without an optimum, or of one that needs to know more of the runs planned
        best = fit.allocate([largest, AHEAD * largest])
        for budget, what in ((largest, "the largest run"), (AHEAD * largest, f"{AHEAD} times it")):
            at = best.sel(compute=budget)
            if "parameters" in best:
                yield Answer(f"parameters at {flop(budget)}, {what}", intervals.summary(at["parameters"]), sizes)
                yield Answer(f"tokens at {flop(budget)}", intervals.summary(at["tokens"]), sizes)
            elif budget != largest:
                yield _ahead(fit, at["loss"], budget)


def _template(fit, name):
    """Return the sentence to quote of an exponent, "" of another constant."""
    law = fit.law
    if name == EXPONENT:
        return "Compute-optimal parameters grow as training compute to the power {x} ({of})."
    if len(law.columns) != 1 or name not in law.exponents or law.observed != "loss":
        return ""
    size = law.columns[0].replace("_flop", " compute")
    if name == "exponent":
        return f"{read_as(fit.rows, 'loss')[0]} moves as {size} to the power {{x}} ({{of}})."
    return f"The loss above E falls as {size} to the power {{x}} ({{of}})."


def _ahead(fit, predicted, budget):
    """Return what a law of compute alone predicts at a budget, a loss or another quantity in the unit of its column."""
    where = f"at {flop(budget)}, {AHEAD} times the largest run"
    if "floor" not in fit.law.options or fit.law.floor is not False:
        return Answer(in_unit_of_loss(f"loss {where}, nats per token", fit.rows), intervals.summary(predicted))
    header, factor = read_as(fit.rows, "loss")
    return Answer(f"{header} {where}", intervals.summary(predicted / factor), ratios)


def _of_evaluations(fit) -> Iterator[Answer]:
    gain = gain_times(fit).loc["all"]
    p = probability(gain["p_progress"])
    template = (
        "Algorithmic progress halves the compute for a given loss every {x} months, progress having posterior "
        f"probability {p} ({{of}}, at the evaluations' own sizes and dates)."
    )
    yield Answer("doubling time of effective compute, months", intervals.ends(gain), months, template)
    yield Answer("probability of progress", float(gain["p_progress"]), probability)


def _of_counts(fit) -> Iterator[Answer]:
    for name, row in length_summary(fit, SHARE).droplevel("share").iterrows():
        template = f"{_safe(name)}: accuracy has halved at {{x}} digits ({{of}}, median run)."
        yield Answer(f"digits at which accuracy has halved, {name}", intervals.ends(row), digits, template)


def _of_scores(fit) -> Iterator[Answer]:
    capability = fit.draws.named()["capability"]
    best = capability.median(DRAWS).to_series().nlargest(MOST_ANSWERS)
    for model in best.index:
        yield Answer(f"capability of {model}, logits", intervals.summary(capability.sel(model=model)), TWO)
    if fit.law.pace is None:
        return
    for (period, unit), row in progress_summary(fit).iterrows():
        if period != "change":
            name = f"{period}, by {unit}"
            template = f"The fall of compute at fixed capability is {{x}} ({_safe(name)}, {{of}})."
            q = {end: row[f"factor_{end}"] for end in (LOW, MIDDLE, HIGH)}
            yield Answer(f"fall of compute, {name}", q, yearly, template)


def _of_horizons(fit) -> Iterator[Answer]:
    if fit.law.trend is not None:
        for period, row in doubling_days(fit).iterrows():
            template = f"Time horizons double in {{x}} days ({period}, {{of}})."
            yield Answer(f"days in which horizons double, {period}", intervals.ends(row), months, template)
    for i, ((model, _), row) in enumerate(horizon_summary(fit, [SHARE]).head(MOST_ANSWERS).iterrows()):
        template = f"{_safe(model)} does the typical task that takes people {{x}} in half of its runs ({{of}})."
        yield Answer(f"horizon of {model}", intervals.ends(row), durations, "" if i else template)


def _of_values(fit) -> Iterator[Answer]:
    log = fit.law.linear_unit is None
    if log:
        for period, (change, row) in changes(fit).items():
            template = f"Values {change} in {{x}} days ({period}, {{of}}){{rivals}}."
            yield Answer(f"days in which values {change}, {period}", intervals.ends(row), months, template)
    for period, row in yearly_gain(fit).iterrows():
        what = "factor a year" if log else "gain a year"
        template = "" if log else f"Values grow by {{x}} a year ({period}, {{of}}){{rivals}}."
        yield Answer(f"{what}, {period}", intervals.ends(row), THREE, template)


def _of_curves(fit) -> Iterator[Answer]:
    gain, last = fit["posterior"]["anneal"] * fit["posterior"]["loss_centre"], fit.rows["loss"].iloc[-1]
    yield Answer("loss now, averaged over readings", float(last), "{:.3f}".format)
    template = "A whole fall of the learning rate removes {x} nats per token of the loss ({of})."
    yield Answer("loss that a fall of the rate removes, nats per token", intervals.summary(gain), plain, template)
    yield Answer(NAMES.get("E", "E"), intervals.summary(fit["posterior"]["E"]), plain)


def _safe(name):
    """Write a name of the table into a template of a sentence."""
    return str(name).replace("{", "{{").replace("}", "}}")


OF_KIND = {
    "runs": _of_runs,
    "evaluations": _of_evaluations,
    "counts": _of_counts,
    "scores": _of_scores,
    "horizons": _of_horizons,
    "values": _of_values,
    "curves": _of_curves,
}
