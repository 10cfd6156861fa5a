"""A formula for a table of which none is given: what its columns are, and the forms that are usual for them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...datasets.formula_nodes import PAIRS, spell, write_powers
from ...datasets.meaning.names import words
from ...datasets.wording import listed
from ...errors import DiagnosticWarning, InputError
from ...models.formula.suited import UNBOUNDED
from ..checks.suggestion import LEAST_GAIN
from ..comparison.weights import sum_error
from ..fitting import fit as fit_law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..fitted import Fit

# Words in the names of columns, in the order in which they are preferred.
FALLING: tuple[str, ...] = (
    "loss",
    "lossu",
    "nll",
    "xent",
    "ce",
    "bpb",
    "perplexity",
    "ppl",
    "error",
    "err",
    "wer",
    "cer",
    "mse",
    "rmse",
)
FALLING += ("mae", "regret", "fid", "deviance")
RISING: tuple[str, ...] = (
    "elo",
    "rating",
    "accuracy",
    "acc",
    "success",
    "score",
    "reward",
    "return",
    "pass",
    "auc",
    "f1",
    "bleu",
    "r2",
)
HELD_OUT: tuple[str, ...] = ("test", "val", "valid", "validation", "eval", "dev", "final", "heldout")
SIZES: tuple[str, ...] = (
    "params",
    "parameters",
    "param",
    "n",
    "active",
    "total",
    "nonembedding",
    "vocab",
    "model",
    "size",
)
SIZES += ("tokens", "images", "samples", "examples", "demos", "demonstrations", "characters", "data", "train", "d")
SIZES += ("flops", "flop", "compute", "c", "hours", "width", "episodes", "queries", "documents", "bits", "structures")
SETTINGS: tuple[str, ...] = (
    "seed",
    "lr",
    "rate",
    "epoch",
    "epochs",
    "sec",
    "secs",
    "seconds",
    "time",
    "memory",
    "mb",
    "gb",
    "index",
    "id",
)
SETTINGS += ("best", "peak", "batch", "dropout", "temperature", "depth", "layers", "heads", "k", "questions", "trials")
SETTINGS += ("wd", "decay", "warmup", "step", "steps", "minus", "plus", "stderr", "se", "std", "sd", "min", "max", "ci")
CHANCE = ("random", "chance", "baseline")
COUNTED = (
    ("success", "successes", "solved", "correct", "passed", "wins"),
    ("trials", "total", "attempts", "n", "episodes"),
)
MOST = 3  # formulas that are fitted
LEAST_VALUES = 3
LEAST_RANGE = 1.5
MOST_GROUPS = 12
ALIKE = 0.999  # correlation of logarithms from which on two columns tell the same


@dataclass(frozen=True)
class Proposal:
    """A formula for a table.

    Parameters
    ----------
    formula : str
    published : bool
        Whether it is the form of a published law of such columns.
    """

    formula: str
    published: bool = False


@dataclass
class Columns:
    """What the columns of a table are.

    Parameters
    ----------
    table : DataFrame
    """

    table: pd.DataFrame

    def __post_init__(self):
        self.numbers = [str(x) for x in self.table.select_dtypes("number") if self.table[x].nunique() > 1]
        self.texts = [str(x) for x in self.table if str(x) not in self.table.select_dtypes("number")]

    @property
    def counts(self) -> tuple[str, str] | None:
        """Return columns of successes and of trials."""
        whole = [n for n in self.table.select_dtypes("number") if (self.table[n].dropna() % 1 == 0).all()]
        for k in whole:
            if not {*words(k)} & {*COUNTED[0]}:
                continue
            for n in whole:
                if n != k and {*words(n)} & {*COUNTED[1]} and (self.table[k] <= self.table[n]).all():
                    return str(k), str(n)
        return None

    def responses(self) -> list[str]:
        """Return columns that may be the response, the likeliest first."""

        def rank(name):
            of_name = words(name)
            of = [word for word in (*FALLING, *RISING) if word in of_name]
            held = any(word in HELD_OUT for word in of_name)
            return ("train" in of_name and not held, not held, (*FALLING, *RISING).index(of[0]))

        found = [
            n
            for n in self.numbers
            if {*words(n)} & {*FALLING, *RISING} and not {*words(n)} & {*CHANCE, "minus", "plus", "teacher"}
        ]
        return sorted(found, key=rank)

    def predictors(self, response: set[str]) -> list[str]:
        """Return columns that the response may be a function of, without those that tell the same as another."""
        found = []
        for name in self.numbers:
            of_name, x = words(name), self.table[name].to_numpy(float)
            x = x[np.isfinite(x)]
            if name in response or {*of_name} & {*FALLING, *RISING, *CHANCE} or not len(x):
                continue
            known = any(word in SIZES for word in of_name)
            if (x <= 0).any() or len(np.unique(x)) < LEAST_VALUES or x.max() < LEAST_RANGE * x.min():
                continue
            if ({*of_name} & {*SETTINGS} and not known) or "per" in of_name:
                continue
            found.append((not known, name))
        names = [name for unknown, name in found if not unknown] or [name for _, name in found]
        kept: list[str] = []
        for name in sorted(names, key=self._rank):
            if not any(self._tell_the_same(name, other) for other in kept):
                kept.append(name)
        return [name for name in names if name in kept]

    def _tell_the_same(self, name, other):
        """Return whether one column rises with another, whatever else changes."""
        logs = np.log(self.table[[name, other]].astype(float))
        ranks = self.table[[name, other]].rank(method="dense")
        return abs(logs.corr().iloc[0, 1]) > ALIKE or abs(ranks.corr().iloc[0, 1]) > 1 - 1e-9

    @staticmethod
    def _rank(name):
        return min((SIZES.index(word) for word in words(name) if word in SIZES), default=len(SIZES))

    def shares(self) -> list[str]:
        """Return columns of shares that sum to 1 or 100 in every row, none if there are fewer than three."""
        within = [n for n in self.numbers if self.table[n].between(0, 100).all()]
        for prefix in dict.fromkeys(re.split(r"[_./ -]", name)[0] for name in within):
            names = [name for name in within if name.startswith(prefix)]
            total = self.table[names].sum(axis=1)
            if len(names) >= LEAST_VALUES and any(np.allclose(total, whole, rtol=2e-3) for whole in (1, 100)):
                return names
        return []

    def groups(self, x: list[str]) -> str | None:
        """Return the column of text whose values each have several values of the predictors."""
        for name in self.texts:
            if 2 <= self.table[name].nunique() <= MOST_GROUPS:
                several = self.table.groupby(name, observed=True)[x].nunique().min(axis=1)
                if (several >= LEAST_VALUES).all():
                    return name
        return None


def fit_usual(table: pd.DataFrame, **settings: Any) -> tuple[Fit, list[str]]:
    """Fit the usual formulas for a table, and choose the one that predicts rows left out best.

    Parameters
    ----------
    table : DataFrame
        From ``read(source, "columns")``.
    **settings
        As for `fit`.

    Returns
    -------
    fit : Fit
        Of the first formula that is usual for the table, unless another of the same response predicts better by more
        than its standard error and four nats.
    others : list of str
        Sentences on the others, each with its formula.

    Raises
    ------
    InputError
        If the table tells no formula, or none can be fitted to it.
    """
    fits, refusals = [], []
    for proposal in propose(table)[:MOST]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticWarning)
            try:
                fits.append(fit_law(proposal.formula, table, **settings))
            except InputError as error:
                refusals.append(error)
    if not fits:
        raise refusals[0]
    scores = [_score(fit) for fit in fits]
    best = 0
    for k in range(1, len(fits)):
        if _comparable(fits[best], fits[k]):
            apart = scores[k] - scores[best]
            best = k if apart.sum() > max(LEAST_GAIN, sum_error(apart)) else best
    sentences = []
    for k, fit in enumerate(fits):
        if k == best:
            continue
        if _comparable(fits[best], fit):
            apart = scores[k] - scores[best]
            how = "better" if apart.sum() > 0 else "worse"
            by = f"predicts the rows {how} by {abs(apart.sum()):.1f} ± {sum_error(apart):.1f} nats"
        else:
            by = "is of another response"
        sentences.append(f"Also fitted: '{fit.law.label}' {by}")
    return fits[best], sentences


def _score(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)
        return fit.loo(high_k="none").elpd_i.values


def _comparable(one, other):
    return one.law.scale == other.law.scale and one.law.observed == other.law.observed


def propose(table: pd.DataFrame) -> list[Proposal]:
    """Return formulas for a table, the likeliest first.

    Parameters
    ----------
    table : DataFrame
        From ``read(source, "columns")``.

    Raises
    ------
    InputError
        If no column can be a response, or none what it is a function of.

    Examples
    --------
    >>> table = pd.DataFrame({"n_images": [500, 1000, 2000.0], "seed": [0, 1, 2], "test_error": [0.5, 0.4, 0.32]})
    >>> [proposal.formula for proposal in propose(table)]
    ['test_error ~ E + A * n_images**-alpha', 'test_error ~ A * n_images**-alpha']
    """
    columns, place = Columns(table), table.attrs.get("source", "the table")
    counts, responses = columns.counts, columns.responses()
    if counts is None and not responses:
        raise InputError(
            f"{place}: no column is called as a loss, an error, an accuracy or a score is; write the formula: fit "
            f"'y ~ E + A * x**-alpha' with columns of {listed(table.columns, 8)}"
        )
    response = counts or responses[:1]
    x = columns.predictors({*response})
    shares = columns.shares()
    if not x and not shares:
        raise InputError(
            f"{place}: {listed(response)} could be a function of no column, since none of positive numbers has "
            f"{LEAST_VALUES} values or more; write the formula: fit '{spell(response[0])} ~ ...' with columns of "
            f"{listed(table.columns, 8)}"
        )
    left = " / ".join(map(spell, response)) if counts else spell(response[0])
    return list(_propose_forms(columns, left, response, x, shares))


def _propose_forms(columns: Columns, left: str, response, x: list[str], shares: list[str]) -> Iterator[Proposal]:
    table = columns.table
    if shares:
        inside = " + ".join(f"t_{re.split(r'[_./ -]', name)[-1]} * {spell(name)}" for name in shares)
        yield Proposal(f"{left} ~ c + exp({inside})", published=True)
        return
    of_response = {word for name in response for word in words(name)}
    y = table[response[0]] / table[response[1]] if len(response) == 2 else table[response[0]]
    most = max(1, (len(table) - 1) // 2)  # predictors that a floor and powers of them leave a row for
    if len(x) > most:
        x = sorted(x, key=lambda name: -abs(table[name].corr(y, method="spearman")))[:most]
    group = columns.groups(x)
    at = f"[{spell(group)}]" if group else ""
    one = spell(x[0])
    if len(response) == 2:
        yield Proposal(f"{left} ~ 1 - (1 + {one} / x0{at})**-b{at}")
        yield Proposal(f"{left} ~ 1 / (1 + ({one} / x0{at})**-b{at})")
        return
    chance = next((n for n in columns.table.select_dtypes("number") if {*words(n)} & {*CHANCE}), None)
    rises = float(np.corrcoef(np.log(table[x[0]].astype(float)), y.rank())[0, 1]) > 0
    if len(x) > 1:
        yield from _propose_of_several(columns, left, x)
        return
    if chance is not None and rises:
        base = spell(chance)
        yield Proposal(f"{left} ~ {base} + (top - {base}) / (1 + exp(-k * (log10({one}) - m)))")
        return
    if of_response & {*UNBOUNDED}:
        yield Proposal(f"{left} ~ e0{at} + slope{at} * log10({one})")
    elif rises:
        yield Proposal(f"{left} ~ R0 + (top{at} - R0) / (1 + (mid{at} / {one})**b{at})")
        yield Proposal(f"{left} ~ top{at} - A{at} * {one}**-alpha{at}")
    else:
        yield Proposal(f"{left} ~ E + A{at} * {one}**-alpha{at}")
        yield Proposal(f"{left} ~ A{at} * {one}**-alpha{at}")


def _propose_of_several(columns: Columns, left: str, x: list[str]) -> Iterator[Proposal]:
    """Yield formulas of several predictors: those of published laws where the columns agree, then a sum of powers."""
    table = columns.table

    def named(*wanted, among=x):
        return next((name for name in among if {*wanted} & {*words(name)} and "non" not in words(name)), None)

    def powers(names, used=()):
        return write_powers([*map(spell, names)], [pair for pair in PAIRS if pair[0] not in used])

    active, bits, vocabulary = named("active"), named("bits"), named("vocab", "vocabulary")
    whole = next((n for n in x if active and n != active and "total" in words(n)), None)
    experts = [name for name in x if active and whole and "experts" in words(name)]
    others = [name for name in x if name not in (bits, active, whole, *experts)]
    if bits and others:
        kept = f"({spell(others[0])} * (1 - exp(-{spell(bits)} / g)))"
        yield Proposal(f"{left} ~ E + A * {kept}**-alpha{powers(others[1:], ['A'])}", published=True)
    if active and whole and (table[whole] >= table[active]).all():
        a, t = spell(active), spell(whole)
        usual = powers(others, ["A", "C"])
        yield Proposal(f"{left} ~ E + A * {a}**-alpha * ({t} / {a})**-gamma{usual}", published=True)
        x = [name for name in x if name not in experts]
    width = named("embed", "embedding", "dim", "width", among=columns.numbers)
    if vocabulary and width:
        rest = [name for name in x if name not in (vocabulary, width)]
        embedded = f"B * ({spell(vocabulary)} * {spell(width)})**-beta"
        yield Proposal(f"{left} ~ E{powers(rest, ['B'])} + {embedded}", published=True)
    teacher = next((n for n in columns.numbers if "teacher" in words(n) and {*words(n)} & {*FALLING}), None)
    if teacher:
        logs = {*words(teacher)} & {"ppl", "perplexity"}
        y, given = (f"log({left})", f"log({spell(teacher)})") if logs else (left, spell(teacher))
        yield Proposal(f"{y} ~ lam * {given}{powers(x)}", published=True)
    yield Proposal(f"{left} ~ E{powers(x)}")
