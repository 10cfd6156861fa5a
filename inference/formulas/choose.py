"""A formula for a table of which none is given: what its columns are, and the forms that are usual for them."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ...datasets.checks import warn
from ...datasets.formula_nodes import PAIRS, Name, replace_names, spell, write_powers
from ...datasets.formulas import parse_formula
from ...datasets.meaning.names import FALLING, RISING, is_called, means, words
from ...datasets.wording import listed, p_value, source_of
from ...errors import DiagnosticWarning, InputError, TableNote
from ...models.formula.suited import UNBOUNDED, find_errors
from ...models.loss.direction import LIKELY, partial_rank_correlation
from ...models.loss.direction import RISING as RISING_FROM
from ..checks.suggestion import LEAST_GAIN
from ..comparison.weights import sum_error
from ..fitting import fit as fit_law

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..fitted import Fit

# Words in the names of columns, in the order in which they are preferred.
HELD_OUT = str.split("test val valid validation eval dev final heldout")
COUNTS = str.split("param parameter paramcount weight nonembedding active total vocab")
SIZES = COUNTS + str.split(
    "model size token image sample example demo demonstration trajectory character word sentence document data train "
    "query queries structure n d flop flos compute c hour bits episode step iteration epoch"
)
SHAPES = str.split("width dim hidden channels embd")  # of a model, which its parameters follow from
HARD = str.split("seed lr rate index id rank ub time sec second runtime memory mb gb batch bs")  # what no law is of
SETTINGS = HARD + str.split(
    "best peak dropout temperature wd decay warmup minus plus stderr se sem std sd min max ci depth layer head k "
    "question trial"
)
CHANCE = str.split("random chance baseline")
SUCCESSES = str.split("success successes solved correct passed wins")
TRIALS = str.split("trials total attempts n episodes")
MOST, MOST_COLUMNS = 3, 4  # formulas that are fitted, and columns that one is of
LEAST_VALUES, LEAST_RANGE, MOST_GROUPS = 3, 1.5, 12
CONSTANTS = {*sum(PAIRS, ()), *str.split("E c x0 b top R0 mid k m e0 slope g lam")}
MARK = " ·"  # behind the name of a column that has the name of a constant
LEAST_F = 4  # of a regression of ranks on logarithms
LOSSES = str.split("loss lossu nll xent ce bpb perplexity ppl")  # which fall as what is called so grows
GROWING = [*COUNTS, *str.split("size token data compute flop flops n d c")]
ALIKE = 0.998  # of the variance of a logarithm: a column that others tell so well is none of its own


class Proposal(NamedTuple):
    """A formula for a table, and whether it is the form of a published law of such columns."""

    formula: str
    published: bool = False


class Columns:
    """What the columns of a table are."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.table = table
        numbers = [*table.select_dtypes("number")]
        self.texts = [name for name in table if name not in numbers]
        errors = {error for name in numbers for error in find_errors(table, name)}
        self.numbers = [name for name in numbers if table[name].nunique() > 1 and name not in errors]
        self.chance = next((name for name in numbers if is_called(name, CHANCE)), None)

    @staticmethod
    def spell(name: str) -> str:
        """Write a name as a formula has it, with a mark where a constant has that name."""
        return spell(f"{name}{MARK}" if name in CONSTANTS else name)

    def counts(self) -> list[str]:
        """Return columns of successes and of trials, none where there are none."""
        whole = [name for name in self.table.select_dtypes("number") if (self.table[name].dropna() % 1 == 0).all()]
        successes, trials = ([name for name in whole if is_called(name, called)] for called in (SUCCESSES, TRIALS))
        pairs = ([k, n] for k in successes for n in trials if n != k)
        return next((pair for pair in pairs if (self.table[pair[0]] <= self.table[pair[1]]).all()), [])

    def responses(self) -> list[str]:
        """Return columns that may be the response, the likeliest first; without a known name the last of numbers."""

        def rank(name):
            held = is_called(name, HELD_OUT)
            known = next(k for k, word in enumerate((*FALLING, *RISING)) if is_called(name, [word]))
            return "train" in words(name) and not held, not held, known

        free = [name for name in self.numbers if not is_called(name, [*CHANCE, "teacher", "stderr", "se"])]
        known = sorted((name for name in free if is_called(name, (*FALLING, *RISING))), key=rank)
        unknown = [name for name in free[:0:-1] if not is_called(name, [*SETTINGS, *SIZES])]
        return known or unknown or [name for name in free[:0:-1] if is_called(name, ["best", "optimal", "opt"])]

    def predictors(self, response: list[str]) -> list[str]:
        """Return columns that the response may be a function of, without those that others tell."""
        rows, found = len(self.table), {}
        for name in self.numbers:
            x = self.table[name].dropna().to_numpy(float)
            of_no_use = name in response or is_called(name, (*FALLING, *RISING, *CHANCE, *HARD)) or means(name, "speed")
            if of_no_use or (x <= 0).any() or len({*x}) < LEAST_VALUES or x.max() < LEAST_RANGE * x.min():
                continue
            setting = is_called(name, SETTINGS) or "per" in words(name) or means(name, "part")
            known = is_called(name, SIZES) and not setting
            planned = len({*x}) <= rows / 2 and not setting
            found[name] = 0 if known else 1 if planned else 3 if setting else 2
        best = min(found.values(), default=0)
        names = [name for name, kind in found.items() if kind <= max(best, 1)]
        kept: list[str] = []

        def rank(name):
            size = next((k for k, word in enumerate(SIZES) if is_called(name, [word])), len(SIZES))
            return found[name], size, "all" not in words(name)

        for name in sorted(names, key=rank):
            of_shape = is_called(name, SHAPES) and any(is_called(other, COUNTS) for other in kept)
            if not of_shape and not self._is_told(name, kept):
                kept.append(name)
        return [name for name in names if name in kept[:MOST_COLUMNS]]

    def _is_told(self, name, others):
        """Return whether a column follows from others: it rises with one, or its logarithm is a sum of theirs."""
        if not others:
            return False
        ranks = self.table[[name, *others]].rank(method="dense").corr().iloc[0, 1:]
        _, left, of = _regress(np.log(self.table[[*others, name]].dropna().to_numpy(float)))
        return bool((ranks.abs() > 1 - 1e-9).any()) or left <= (1 - ALIKE) * of

    def shares(self, response: list[str]) -> list[str]:
        """Return columns of shares that sum to 1 or 100 in every row, none if there are fewer than three."""
        within = [name for name in self.numbers if name not in response and self.table[name].between(0, 100).all()]
        for prefix in dict.fromkeys(["", *(re.split(r"[_./ -]", name)[0] for name in within)]):
            names = [name for name in within if name.startswith(prefix)]
            total = self.table[names].sum(axis=1)
            if len(names) >= LEAST_VALUES and any(np.allclose(total, whole, rtol=2e-3) for whole in (1, 100)):
                return names
        return []

    def group(self, x: list[str]) -> str | None:
        """Return the column of text whose values each have several values of the predictors, or several rows."""
        for name in self.texts:
            if 2 <= self.table[name].nunique() <= MOST_GROUPS and not is_called(name, ["ci"]):
                by = self.table.groupby(name, observed=True)
                several = by[x].nunique().min(axis=1) >= LEAST_VALUES if x else by.size() > 1
                if several.all():
                    return name
        return None

    def rises(self, response: list[str], x: list[str]) -> list[bool]:
        """Return whether the response rises with each predictor, the others given; warn where it changes with none."""
        y = self.table[response[0]] / (self.table[response[1]] if len(response) > 1 else 1.0)
        data = np.column_stack([np.log(self.table[x].to_numpy(float)), y.rank()])
        data = data[np.isfinite(data).all(axis=1)]
        (slopes, left, of), free = _regress(data), len(data) - len(x) - 1
        if free > 0 and (of - left) / len(x) < LEAST_F * left / free:
            seen = f"{source_of(self.table)}: {listed(response)} hardly changes with {listed(x)}"
            warn(f"{seen}; another formula may tell more", TableNote)
        for name, rises in zip(x, slopes > 0, strict=True):
            if rises and is_called(response[0], LOSSES) and is_called(name, GROWING):
                of = partial_rank_correlation(self.table, name, [other for other in x if other != name], response[0])
                if of is not None and of.r > RISING_FROM and of.p_rise() < LIKELY:
                    formula = f"{spell(response[0])} ~ A * {spell(name)}**alpha"
                    raise InputError(
                        f"{source_of(self.table)}: {response[0]} rises with {name} (rank correlation {of.r:.2f}, "
                        f"{p_value(of.p_rise())}), where a loss falls: check the rows and the columns, or state what "
                        f"it is with a formula such as '{formula}'"
                    )
        return list(slopes > 0)


def _regress(data):
    """Return slopes of the last column in the others, and its squares about the regression and about the mean."""
    *x, y = (data - data.mean(axis=0)).T
    slopes = np.linalg.lstsq(np.transpose(x), y, rcond=None)[0]
    return slopes, ((y - slopes @ x) ** 2).sum(), (y**2).sum()


def fit_usual(table: pd.DataFrame, law: Callable[[str], Any] = str, **settings: Any) -> tuple[Fit, dict[str, str]]:
    """Fit the usual formulas for a table: the fit of one, and what there is to say of each other one.

    It is of the first unless another of the same response predicts rows left out better by more than the error of that
    and four nats. `law` makes the law of a formula, such as one with priors; settings are those of `fit`.
    """
    fits: dict[str, Fit] = {}
    refusals = []
    for formula, _ in propose(table)[:MOST]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Warning if fits else DiagnosticWarning)  # notes of the table once
            try:
                fits[formula] = fit_law(law(formula), table, **settings)
            except InputError as error:
                refusals.append(error)
    if not fits:
        raise refusals[0]
    with warnings.catch_warnings(action="ignore", category=DiagnosticWarning):
        scores = {formula: fit.loo(high_k="none").elpd_i.values for formula, fit in fits.items()}

    def compare(one, other):
        """Return the nats by which a formula predicts better, and their error, None where responses differ."""
        apart = scores[one] - scores[other]
        laws = [(fits[formula].law.scale, fits[formula].law.observed) for formula in (one, other)]
        return (apart.sum(), sum_error(apart)) if laws[0] == laws[1] else None

    best, *rest = fits
    for formula in rest:
        if (gain := compare(formula, best)) and gain[0] > max(LEAST_GAIN, gain[1]):
            best = formula
    others = {}
    for formula in (formula for formula in fits if formula != best):
        others[formula] = "is of another response"
        if gain := compare(formula, best):
            how = "better" if gain[0] > 0 else "worse"
            others[formula] = f"predicts the rows {how} by {abs(gain[0]):.1f} ± {gain[1]:.1f} nats"
    return fits[best], others


def propose(table: pd.DataFrame) -> list[Proposal]:
    """Return formulas for a table of ``read(source, "columns")``, the likeliest first.

    Examples
    --------
    >>> table = pd.DataFrame({"n_images": [500, 1000, 2000.0], "seed": [0, 1, 2], "test_error": [0.5, 0.4, 0.32]})
    >>> [proposal.formula for proposal in propose(table)]
    ['test_error ~ E + A * n_images**-alpha', 'test_error ~ A * n_images**-alpha']
    """
    columns = Columns(table)
    counts, responses = columns.counts(), columns.responses()
    several = [counts] * bool(counts) + [[name] for name in responses if name not in counts]
    found = [(response, columns.predictors([*counts, *response])) for response in several]
    found = [(response, x) for response, x in found if x or columns.shares(response) or columns.group([])]
    if not found:
        y, why = "y", "no column of numbers could be a response"
        if several:
            y, names = spell(several[0][0]), listed(several[0])
            why = f"{names} could be a function of no column: none has {LEAST_VALUES} positive numbers"
        known = f"with columns of {listed(table.columns, 8)}"
        raise InputError(f"{source_of(table)}: {why}; write the formula: fit '{y} ~ E + A * x**-alpha' {known}")
    proposals, *others = [[*_propose_forms(columns, *each)] for each in found[:2]]
    if others and not is_called(found[1][0][0], ["train"]):
        proposals.insert(MOST - 1, others[0][0])
    # Constants with the name of a column take another one.
    taken = [name for name in table if name in CONSTANTS]
    unused = (f"p{k}" for k in range(1, 99) if f"p{k}" not in table)
    names = dict(zip(taken, unused, strict=False)) | {f"{name}{MARK}": name for name in taken}

    def rename(node):
        return Name(names.get(node.name, node.name), tuple(names.get(level, level) for level in node.levels))

    for k, (formula, published) in enumerate(proposals if taken else ()):
        parsed = parse_formula(formula)
        left, right = (replace_names(node, rename) for node in (parsed.left, parsed.right))
        proposals[k] = Proposal(f"{left} ~ {right}", published)
    return proposals


def _propose_forms(columns: Columns, response: list[str], x: list[str]) -> Iterator[Proposal]:
    """Yield formulas of one response, as counts of successes and of trials, and its predictors."""
    left = " / ".join(map(columns.spell, response))
    if shares := columns.shares(response):
        inside = " + ".join(f"t_{re.split(r'[_./ -]', name)[-1]} * {columns.spell(name)}" for name in shares)
        yield Proposal(f"{left} ~ c + exp({inside})", published=True)
        return
    if not x:  # seeds of several settings
        yield Proposal(f"{left} ~ mu[{columns.spell(columns.group([]) or '')}]")
        return
    most = max(1, (len(columns.table) - 1) // 2)  # predictors that a floor and powers of them leave a row for
    if len(x) > most:
        ranks = columns.table[[response[0], *x]].corr(method="spearman")[response[0]]
        x = sorted(x, key=lambda name: -abs(ranks[name]))[:most]
    rises = columns.rises(response, x)
    if len(x) > 1:
        yield from _propose_of_several(columns, left, dict(zip(x, rises, strict=True)), len(response) > 1)
        return
    group, one = columns.group(x), columns.spell(x[0])
    at = f"[{columns.spell(group)}]" if group else ""
    power, curve = f"A{at} * {one}**-alpha{at}", f"R0 + (top{at} - R0) / (1 + (mid{at} / {one})**b{at})"
    if len(response) > 1:
        forms = [f"1 - (1 + {one} / x0{at})**-b{at}", f"1 / (1 + (x0{at} / {one})**b{at})", curve]
        forms = forms if rises[0] else [f"(1 + {one} / x0{at})**-b{at}", f"1 / (1 + ({one} / x0{at})**b{at})"]
    elif columns.chance is not None and rises[0]:
        base = columns.spell(columns.chance)
        forms = [f"{base} + (top - {base}) / (1 + exp(-k * (log10({one}) - m)))"]
    elif is_called(response[0], UNBOUNDED) or (columns.table[response[0]] <= 0).any():
        forms = [f"e0{at} + slope{at} * log10({one})", f"top{at} - {power}" if rises[0] else f"E + {power}"]
    else:
        ceiling = [f"top{at} - {power}", curve]
        growth = [f"A{at} * {one}**alpha{at}", f"top{at} - {power}"]
        known = is_called(response[0], RISING)
        forms = (ceiling if known else growth) if rises[0] else [f"E + {power}", power]
    for form in forms:
        yield Proposal(f"{left} ~ {form}")


def _propose_of_several(columns: Columns, left: str, rises: dict[str, bool], counts: bool) -> Iterator[Proposal]:
    """Yield formulas of several predictors: those of published laws where the columns agree, then a sum of powers."""
    table, x = columns.table, [*rises]

    def named(*wanted, among=x):
        return next((name for name in among if is_called(name, wanted) and "non" not in words(name)), None)

    def powers(names, used=()):
        pairs = [pair for pair in PAIRS if pair[0] not in used]
        return write_powers([*map(columns.spell, names)], pairs, ["-" if rises[name] else "+" for name in names])

    if counts:
        signs = ["+" if rises[name] else "-" for name in x]
        logs = [f"{sign} {b} * log({columns.spell(n)})" for sign, n, (_, b) in zip(signs, x, PAIRS, strict=False)]
        yield Proposal(f"{left} ~ expit({' '.join(logs).strip(' +')} - m)")
        return
    active, bits, vocabulary = named("active"), named("bits"), named("vocab", "vocabulary")
    whole = next((n for n in x if active and n != active and "total" in words(n)), None)
    others = [name for name in x if name not in (bits, active, whole) and not (whole and "experts" in words(name))]
    if bits and others:
        kept = f"({columns.spell(others[0])} * (1 - exp(-{columns.spell(bits)} / g)))"
        yield Proposal(f"{left} ~ E + A * {kept}**-alpha{powers(others[1:], ['A'])}", published=True)
    if active and whole and (table[whole] >= table[active]).all():
        a, t = columns.spell(active), columns.spell(whole)
        usual = powers(others, ["A", "C"])
        yield Proposal(f"{left} ~ E + A * {a}**-alpha * ({t} / {a})**-gamma{usual}", published=True)
        x = [active, whole, *others]
    width = named("embed", "embedding", "dim", "width", among=columns.numbers)
    if vocabulary and width:
        rest = [name for name in x if name not in (vocabulary, width)]
        embedded = f"B * ({columns.spell(vocabulary)} * {columns.spell(width)})**-beta"
        yield Proposal(f"{left} ~ E{powers(rest, ['B'])} + {embedded}", published=True)
    teacher = next((n for n in columns.numbers if "teacher" in words(n) and is_called(n, FALLING)), None)
    if teacher:
        logs = is_called(teacher, ["ppl", "perplexity"])
        y, given = (f"log({left})", f"log({columns.spell(teacher)})") if logs else (left, columns.spell(teacher))
        yield Proposal(f"{y} ~ lam * {given}{powers(x)}", published=True)
    yield Proposal(f"{left} ~ {'top' if all(rises.values()) else 'E'}{powers(x)}")
