"""Answers to questions, draw by draw, from one function that every surface calls."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import KINDS
from ...datasets.formula_nodes import Call, Name, Number, replace_names
from ...datasets.formulas import FormulaError, endings
from ...datasets.reader import as_table
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.formula.law import NU, SIGMA
from ..estimands.beyond import SIDES, drift_of
from ..fitted import of_kind, once
from ..fitting import fit as fit_law
from ..intervals import QUANTILES, IntervalTable, ends, name_quantiles, printed
from ..quoted import quote_draws
from ..standing import graded, standing
from ..words import plain, probability
from .answering import Answering
from .best import is_better_higher
from .question import Question, parse_question

if TYPE_CHECKING:
    from ...datasets.reader import TableSource
    from ..fitted import Fit

SURE = 0.95  # probability from which a direction is claimed
UNKNOWN = 20  # decades between the ends of an interval from which its numbers are not worth reading
LARGEST = np.finfo(float).max
SHARES = {"never": "never", "at_end": "at an end of the search", "p_best": "best"}


def ask(fit: Fit, *questions: str, among: TableSource | None = None) -> IntervalTable:
    """Answer questions about a fit of a formula, draw by draw.

    Parameters
    ----------
    fit : Fit
        Of a formula.
    *questions : str
        A function of constants (``8**(gamma / alpha)``), a comparison (``alpha[muon] > alpha[adamw]``), a value
        (``loss at n = 1e9``), the place at which something holds (``n where loss = 2.5``), or where the response is
        best (``best n, d for 6*n*d = 1e21``, with limits ``best n, d for 6*n*d = 1e21, n <= 1e10``). In brackets each
        of them is a number: ``1e9 / (n where loss[new] = loss[old] at n = 1e9)``. ``share_*`` stands for every column
        that is called so: ``best share_* for sum(share_*) = 1``.
    among : table, path, str or mapping, optional
        Candidates for the best: it is then one of these rows.

    Returns
    -------
    IntervalTable
        A row for each number: ``q2.5``, ``q50`` and ``q97.5``; ``never``, the share of draws in which there is no such
        place; ``at_end``, the share in which the best value is at an end of what was searched; ``p``, the probability
        of a comparison, of a difference that of being above 0, and its ``direction``. The direction is "open" unless
        it has a probability of at least 0.95 in this fit and in those of other choices, which ``variants`` names.
        Of candidates there is a row each, with ``p_best``, the probability that a run of it is better than one of each
        other, given the scatter of runs. ``beyond`` says how far columns lie outside the rows, on either side, and
        ``decades`` is the farthest, NaN of constants alone. ``strength`` is the grade of the number, ``because`` why it
        is no better, and ``marks`` are those of the fit: sampling, then fit of the law. ``answer`` is the row in words.

    Raises
    ------
    InputError
        If a question cannot be read, names what is no column and no constant, or lacks the value of a column.

    Notes
    -----
    Outside the rows the response has the drift that laws of losses have, an error a decade of the farthest column: of
    the logarithm of a positive response, of the log-odds of a share, and in medians of another. Groups share most of
    it, as in `worth`. The best place moves with the drift of best sizes.

    Examples
    --------
    >>> import bayescaling as bs
    >>> import pandas as pd
    >>> table = pd.DataFrame({"n": [1e6, 3e6, 1e7, 3e7, 1e8, 3e8], "loss": [4.12, 3.61, 3.22, 2.92, 2.71, 2.54]})
    >>> fit = bs.fit("loss ~ E + A * n**-alpha", table, seed=1)
    >>> 2.2 < float(ask(fit, "loss at n = 1e9")["q50"].iloc[0]) < 2.5
    True
    """
    law: Any = of_kind(fit, KINDS["columns"]).law
    answers: dict[str, Answered] = {}
    rows = None if among is None else as_table(among, "columns")
    for question in map(parse_question, questions):
        for label, one in _answer(fit, question, rows).items():
            answers[f"{label} ({question.text})" if label in answers else label] = one
    held = standing(fit)
    rows = [_row(fit, one, x, held) for one, x in zip(answers.values(), _quote(fit, [*answers.values()]), strict=True)]
    notes = ["Medians and 95% intervals, draw by draw"]
    far = [x for one in answers.values() for x in (one.outside or {}).values()]
    if sides := [side for side, sign in SIDES.items() if any(sign * x > 0 for x in far)]:
        scales = " and ".join(f"{drift_of(fit.law, side).loss:.1%} a decade {side}" for side in sides)
        notes.append(f"outside the rows with the drift of laws of losses, {scales}")
    if any("p_best" in one.besides for one in answers.values()):
        notes.append("best of a run of each, with the scatter of runs")
    if any({"at_end", "p_best"} & {*one.besides} for one in answers.values()):
        notes.append(f"best is where {law.parsed.left} is {'greatest' if is_better_higher(law) else 'least'}")
    table = pd.DataFrame(rows, index=pd.Index([*answers], name="question"))
    return printed(table, "value", f"{fit.law.label} on {len(fit.rows):,} rows", "; ".join(notes), fit)


@dataclass
class Answered:
    """Draws of an answer, (sample,), infinite where there is none, before they are spread to their robust width.

    They are under the law `alone`, and `drifting` beyond the rows. By how many decades columns lie `outside` the rows,
    above them (positive) or below, is by the words for it, None of constants alone.
    """

    question: Question
    alone: np.ndarray
    drifting: np.ndarray
    outside: dict[str, float] | None
    besides: dict[str, Any]

    @property
    def is_difference(self):
        """Return whether it is asked how large or how likely a difference is, other than one from a number: 1 - x."""
        match self.question.kind, self.question.asked[0]:
            case "value", Call("-", (left, _)):
                return not isinstance(left, Number)
        return self.question.kind == "probability"

    @property
    def bounded(self):
        """Return whether the answer is positive by what it is."""
        return not self.is_difference and bool((self.alone > 0).all() and (self.drifting > 0).all())


def _answer(fit, question, among=None):
    """Return the answers to a question by label; the best is one of the rows of a table, where there is one."""
    drifting = Answering(fit, question.text)
    if among is not None and question.kind == "best":
        return _weigh(fit, question, drifting, among)
    alone, moved = drifting.alone.rows(question), drifting.rows(question)
    return {name: Answered(question, alone[name][0], x, drifting.outside, more) for name, (x, more) in moved.items()}


def _weigh(fit, question, drifting, among):
    """Return the response at each candidate, and the probability that a run of it is the best, the likeliest first."""
    law, answers, alone = fit.law, {}, drifting.alone
    left = parse_question(str(law.parsed.left))
    for label, given in drifting.candidates(question, among).items():
        drifting.outside = None
        both = (x.whole(x.response(given)) for x in (alone, drifting))
        answers[label] = Answered(left, *both, drifting.outside, {})
    runs = scattered(fit, np.stack(_quote(fit, [*answers.values()]), axis=1))
    best = (runs.argmax if is_better_higher(law) else runs.argmin)(1)
    for k, one in enumerate(answers.values()):
        one.besides["p_best"] = float((best == k).mean())
    return dict(sorted(answers.items(), key=lambda item: -item[1].besides["p_best"]))


def scattered(fit: Fit, means: np.ndarray) -> np.ndarray:
    """Return draws of runs of mean responses, (sample, place), with their scatter, on the scale of the noise."""
    law: Any = fit.law
    posterior, rng = fit["posterior"], np.random.default_rng(fit.record["seed"])
    if law.noise not in SIGMA:
        return means
    sigma, nu = (posterior[x].values.reshape(-1, 1) if x in posterior else 0.0 for x in ("sigma", NU.name))
    of_t = law.tails == "student_t"
    noise = rng.standard_t(1 + nu, means.shape) if of_t else rng.standard_normal(means.shape)
    unit = fit.draws.reference["spread"] if law.noise == "additive" else 1.0
    return law.on_scale(means) + unit * sigma * noise


def respond(fit: Fit, places: list[dict[str, Any]]) -> np.ndarray:
    """Return draws of the mean response as they are quoted, (sample, place), at values of columns and groups."""
    drifting = Answering(fit, "")
    left = parse_question(str(drifting.law.parsed.left))
    both = [[x.whole(x.response(given)) for x in (drifting.alone, drifting)] for given in places]
    return np.stack(_quote(fit, [Answered(left, alone, moved, {}, {}) for alone, moved in both]), axis=1)


def _quote(fit, answers):
    """Return draws of answers, a list of (sample,), of the width that every surface prints, with their drift."""
    of_fit, wide = {dim: fit["posterior"][dim] for dim in DRAWS}, {}

    def shape_by_draw(x):
        return xr.DataArray(x.reshape([of.size for of in of_fit.values()]), of_fit, DRAWS)

    for bounded, paired in product((True, False), repeat=2):
        # The decades of a place depend on the draw, and the difference of two answers carries what each has.
        some = {k: x for k, x in enumerate(answers) if (x.bounded, x.question.kind != "value") == (bounded, paired)}
        scale = np.log if bounded else np.asarray
        with np.errstate(invalid="ignore"):
            drift = {k: shape_by_draw(scale(one.drifting) - scale(one.alone)) for k, one in some.items()}
            alone = {k: shape_by_draw(one.alone) for k, one in some.items()}
            wide |= quote_draws(fit, alone, bounded=bounded, drift=drift, paired=paired)
    return [np.where(np.isfinite(one.alone), wide[k].values.ravel(), one.drifting) for k, one in enumerate(answers)]


def _row(fit, one, draws, held):
    """Return the row of an answer in the table."""
    row, direction, interval = name_quantiles(draws), None, None
    if one.is_difference:
        row |= _claim(fit, one.question, float((draws > 0).mean()))
        row |= dict.fromkeys(QUANTILES, np.nan) if one.question.kind == "probability" else {}
        direction = row["p_least"], row["p_least"]
    elif row["q2.5"] > 0 or row["q97.5"] < 0:  # the ends have a ratio
        low, high = sorted(abs(row[name]) for name in ("q2.5", "q97.5"))
        interval = {"q2.5": low, "q97.5": high}
    far = None if one.outside is None else max(one.outside.values(), key=abs, default=0.0)
    strong, beyond = graded(held, interval, far, direction=direction, row="row"), "; ".join(one.outside or ())
    marks = f"{'' if held['converged'] else 'not '}converged, {held['verdict'] or 'not checked'}"
    row |= one.besides | {"decades": np.nan if far is None else far, "beyond": beyond, "marks": marks}
    said = [beyond] if beyond else []
    if direction:
        others = f" ({row['variants']})" if row["variants"] else ""
        said = [f"P(> 0) {probability(row['p'])}{others}, direction {row['direction']}", *said]
    shares = {words: row[name] for name, words in SHARES.items() if row.get(name)}
    said += [f"{words} in {'under 1%' if x < 0.01 else f'{x:.0%}'} of draws" for words, x in shares.items()]
    value = [] if one.question.kind == "probability" else [_value(row, one.question)]
    answer = f"{'; '.join([*value, *said])}; {strong['strength']} ({marks})"
    return row | {"strength": strong["strength"], "because": "; ".join(strong["because"]), "answer": answer}


def _value(row, question):
    """Return the interval of an answer in words; one whose ends lie too far apart for numbers is not known."""
    low, high = row["q2.5"] or row["q50"], row["q97.5"]  # a share may be 0
    ended = low > 0 and not (question.sides and np.isinf(high))
    if ended and np.log10(min(high, LARGEST)) - np.log10(low) > UNKNOWN:
        return f"not known from these rows: its 95% interval spans more than {UNKNOWN} decades"
    return plain(ends(row), "{:.3g}")


# Directions ----------------------------------------------------------------------------------------------------------


def _claim(fit, question, p):
    """Return whether a difference is above 0, with the probability of that in this fit and in its variants."""
    by_variant = {}
    if not 1 - SURE < p < SURE:
        for name, other in once(fit, "variants", lambda: dict(_variants(fit))).items():
            with suppress(FormulaError):  # of a constant that is not by group there
                (one,) = _answer(other, question).values()
                by_variant[name] = float((one.drifting > 0).mean())
    each = [p, *by_variant.values()]
    direction = "> 0" if min(each) >= SURE else "< 0" if max(each) <= 1 - SURE else "open"
    variants = ", ".join(f"{probability(x)} {name}" for name, x in by_variant.items())
    p_least = min(x if p > 0.5 else 1 - x for x in each)
    return {"p": p, "p_least": p_least, "direction": direction, "variants": variants}


def _variants(fit):
    """Yield fits with another choice that is as reasonable, by name: other tails, and nothing shared by groups."""
    law, laws = fit.law, {}

    def is_column(name):
        return name.name in law.columns or endings(name.name, law.columns) or name.levels

    if law.noise in SIGMA:
        tails = "normal" if law.tails == "student_t" else "student_t"
        laws[f"with {tails.replace('_t', '-t')} tails"] = replace(law, tails=tails)
    if law.levels and law.roles.keys() - law.groups.keys():
        key = law.levels[0][0]
        right = replace_names(law.written.right, lambda name: name if is_column(name) else Name(name.name, key))
        again = {"columns": (), "signs": {}, "levels": (), "tails": "", "formula": f"{law.parsed.left} ~ {right}"}
        laws[f"with nothing shared by {', '.join(key)}"] = replace(law, **again)
    for name, other in laws.items():
        with suppress(InputError), warnings.catch_warnings(action="ignore"):
            yield name, fit_law(other, fit.rows, seed=fit.record["seed"], draws=500, tune=500, check=False)
