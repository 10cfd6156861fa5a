"""Is a change real? Recipes at one size, from runs that differ by seed, however often their results are looked at.

Losses of a recipe are normal with one scatter for all; one that scatters more counts with its own. With probability one
half a change does nothing. Else its effect over the scatter has Jeffreys's Cauchy prior, with the right-Haar prior of
means and scatter. Under no change the Bayes factor then exceeds 1 / a with a probability of at most a, over all looks.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax

from ...datasets.fixes import choice
from ...datasets.kinds.curves import EVALUATED, LOSS
from ...datasets.kinds.runs import RUNS
from ...datasets.meaning.names import RISING, is_called
from ...datasets.printed import PrintedTable, Text, drawn_by
from ...datasets.reader import as_table
from ...datasets.wording import listed, p_value, plural, quoted, unknown
from ...errors import InputError
from ..intervals import ends
from ..words import HIGH, LOW, MIDDLE, decimals, plain, probability

SCALE = 1.0  # of the Cauchy prior: half of the changes that do something exceed the scatter of seeds
LEVEL = 0.95  # of the interval of a gain, 1 / 20 being the greatest share of false claims
UNEQUAL = 0.01  # p-value of equal scatters below which that of the two recipes alone is taken
FURTHEST, MOST = 1e5, 1000  # t beyond which an interval has no end, and seeds beyond which none are counted
CLOCKS = ("step", "steps", "iter", "iteration", "epoch")
SEED = re.compile(r"[\W_]*(seed|run|s)?[\W_]*\d+(\.\w+)?$", re.IGNORECASE)  # the end of the name of a log
# The Cauchy prior is a normal one whose variance is SCALE**2 over the square of a standard normal number.
LOG_Z = np.arange(-14.0, 2.5, 0.1)
VARIANCE = SCALE**2 * np.exp(-2 * LOG_Z)
LOG_WEIGHT = np.log(0.1) + LOG_Z + np.log(2) + stats.norm.logpdf(np.exp(LOG_Z))


def log_factors(t: ArrayLike, n: ArrayLike, df: ArrayLike) -> np.ndarray:
    """Compute terms of the Bayes factor of a change, by normal prior; n is n1 n2 / (n1 + n2), df are of the scatter."""
    t, n, df = (np.asarray(x, float)[..., None] for x in (t, n, df))
    wider = 1.0 + n * VARIANCE
    return (df + 1) / 2 * (np.log(df + t**2) - np.log(df + t**2 / wider)) - np.log(wider) / 2 + LOG_WEIGHT


def log_factor(t: ArrayLike, n: ArrayLike, df: ArrayLike) -> np.ndarray:
    """Compute the log Bayes factor of a change against none, in closed form but for one sum.

    Examples
    --------
    >>> round(float(np.exp(log_factor(3.0, 5.0, 18))), 2)  # Rouder et al. 2009, with 10 runs of each
    6.62
    """
    return logsumexp(log_factors(t, n, df), axis=-1)


def limit(n: float, df: float) -> float:
    """Compute the t from which a change is claimed at any look, infinite where no t suffices."""

    def above(log_t):
        return float(log_factor(np.exp(log_t), n, df)) + np.log(1 - LEVEL)

    last = np.log(FURTHEST)
    return float(np.exp(brentq(above, -2.0, last, xtol=1e-10))) if above(last) > 0 else np.inf


def judge(gain: float, error: float, n: float, df: float) -> dict[str, Any]:
    """Return the probabilities, the interval of the gain and the direction of a change."""
    t, wider = gain / error, 1.0 + n * VARIANCE
    terms, half = log_factors(t, n, df), limit(n, df) * error
    standing = t * np.sqrt((1.0 - 1.0 / wider) * (df + 1) / (df + t**2 / wider))
    same = float(1.0 / (1.0 + np.exp(logsumexp(terms))))
    worse = (1.0 - same) * float(softmax(terms) @ stats.t.sf(standing, df + 1))
    direction = ("better" if gain > 0 else "worse") if abs(gain) > half else "no change" if same >= LEVEL else "open"
    chances = {"p_better": 1.0 - same - worse, "p_worse": worse, "p_same": same}
    return {**chances, "direction": direction, LOW: gain - half, MIDDLE: gain, HIGH: gain + half}


def more_seeds(gain: float, scatter: float, counts: tuple[int, int], df: float) -> int:
    """Return how many more runs of both recipes decide if the gain stays as it is, at most `MOST`."""
    more = np.arange(MOST)
    one, other = (count + more for count in counts)
    n = one * other / (one + other)
    decides = log_factor(gain / scatter * np.sqrt(n), n, df + 2 * more) > -np.log(1 - LEVEL)
    return int(decides.argmax()) if decides.any() else MOST


class Gains(PrintedTable):
    """What changes of a recipe do at one size, a row each; see `worth`."""

    plot = drawn_by("plot_worth")

    def entries(self):
        """Return the rows as JSON has them, a list of dict."""
        rest = self.table().drop(columns=[LOW, MIDDLE, HIGH]).to_dict("index")
        of = {name: self.attrs[name] for name in ("baseline", "measure")}
        return [{"group": str(name)} | of | {"gain": ends(row)} | rest[name] for name, row in self.iterrows()]

    def text(self):
        """Return what is printed; of a part of it its rows."""
        if "runs" not in self.attrs or not {LOW, MIDDLE, HIGH, "direction", "more_seeds", "error"} <= set(self):
            return super().text()
        of, rows = self.attrs, {}
        for name, row in self.iterrows():
            more = f"{row['more_seeds']} each" if row["more_seeds"] < MOST else f"over {MOST:,}"
            rows[name] = {
                "P(better)": probability(row["p_better"]),
                "P(no change)": probability(row["p_same"]),
                "direction": row["direction"],
                f"gain in {of['measure']}": plain(row, f"{{:.{decimals(row['error'])}f}}"),
                "runs": f"{row['seeds']} and {row['baseline_seeds']}",
                "more to decide": "–" if row["direction"] in ("better", "worse") else more,
            }
        runs = plural(len(of["runs"]["loss"]), "run")
        title = f"Each {of['by']} against {of['baseline']} at one size ({runs} of {of['source']})"
        return Text(title, pd.DataFrame.from_dict(rows, orient="index"), tuple(self.notes()))

    def notes(self):
        """Return what to know of the table, in sentences."""
        yield (
            "A direction is claimed where the 95% interval of the gain leaves out zero. However often one looks, that "
            "happens to a change that does nothing with a probability of at most 5%."
        )
        yield "Before any run, half of all changes do nothing, and half of the others exceed the scatter of seeds"
        if unequal := self.attrs["unequal"]:
            yield f"Scatters differ by {self.attrs['by']} ({p_value(unequal)}): each pair is compared by its own"
        else:
            scatter, df = self[["scatter", "df"]].iloc[0]
            unit = " nats" if self.attrs["measure"] == "loss" else ""
            yield f"The scatter is taken as one, {scatter:.2g}{unit} ({df:g} degrees of freedom), or larger where it is"
        if flying := sum(sd > 0 for sd in self.attrs["runs"]["sd"]):
            yield f"{plural(flying, 'run')} in flight count with the errors of their forecasts"


def compare_recipes(source: Any, baseline: str, group=None, until=None, schedule=None) -> Gains:
    """Compare the recipes of a table of one size; see `worth`."""
    table = as_table(source, "columns", () if until is None else CLOCKS)
    label = table.attrs.get("source", "the table")
    if group is None and baseline in (numbers := table.select_dtypes("number")):  # a column each, a row a seed
        kept = [name for name in numbers if is_called(name, ["seed", *CLOCKS])]
        table = table.melt(kept, numbers.columns.drop(kept), "recipe", "loss").dropna(subset="loss")
    by, recipes = _recipes(table, label, baseline, group)
    if baseline not in (names := [*recipes.unique()]):
        raise InputError(f"{label}: {unknown(f'baseline: {by}', baseline, names)}")
    if "nan" in names:
        row = int((recipes == "nan").to_numpy().argmax()) + 1
        raise InputError(f"{label}: row {row} has no {by}; choose rows with where (--where)")
    if len(names) < 2:
        raise InputError(f"{label}: all runs are of {by} {quoted(baseline)}; give those of another one too")
    loss = _loss(table, label, recipes, until is not None)
    rises = is_called(loss, RISING) and not LOSS.match(str(loss))
    runs = pd.DataFrame({"recipe": recipes, "loss": -table[loss] if rises else table[loss], "sd": 0.0})
    if until is not None:
        runs = _ends(table, loss, recipes, until, schedule)
    measure = loss if rises else "loss"
    return judged(runs.to_dict("list"), baseline=baseline, by=by, source=label, measure=measure)


def _recipes(table, label, baseline, group):
    """Return the name of the column of recipes, or "recipe" where names of logs have them, and those of the rows."""
    texts = {name: table[name].map(lambda x: f"{x:g}" if isinstance(x, float) else str(x)) for name in table}
    if group is not None and group not in texts:
        raise InputError(f"{label}: {unknown('group: column', group, [*texts])}")
    names = [group] if group else [name for name, x in texts.items() if (x == baseline).any()]
    if not names and (log := next((name for name in ("file", "run") if name in texts), None)):
        return "recipe", texts[log].str.replace(SEED, "", regex=True)
    if len(names) != 1:
        held = f"columns {listed(names)} have" if names else "no column has"
        raise InputError(f"{label}: {held} {quoted(baseline)}; name the column of recipes with group (--group COLUMN)")
    return names[0], texts[names[0]]


def _loss(table, label, recipes, logs):
    """Return the column of losses, refusing runs of several sizes, or lengths unless they are logs."""
    numbers, one_row = table.select_dtypes("number"), "choose rows with where (--where)"
    for name, role in RUNS.numbers(numbers.columns, {}).items():
        if role in ("parameters", "tokens", "training_flop")[: 1 if logs else 3] and numbers[name].nunique() > 1:
            found = f"column {quoted(name)} has {numbers[name].nunique()} values, and a table is compared at one size"
            raise InputError(f"{label}: {found}; {one_row}, or give a fit of a law by group (fit --group)")
    for name in () if logs else [name for name in numbers if is_called(name, CLOCKS)]:
        for recipe, of in numbers[name].groupby(recipes):
            if of.nunique() > 1:
                found = f"runs of {quoted(recipe)} are at {name} {of.min():g} to {of.max():g}"
                raise InputError(f"{label}: {found}; {one_row}, or state where logs end with until (--until)")
    ranks = {name: (name != "loss", not EVALUATED.search(str(name))) for name in numbers if LOSS.match(str(name))}
    scores = [name for name in numbers if is_called(name, RISING)]
    if not ranks and not logs and len(scores) == 1:
        ranks = {scores[0]: ()}
    if not ranks:
        found = f"no column of losses among {listed(table.columns)}"
        raise InputError(f"{label}: {found}; name it with {choice('loss', 'NAME')}")
    loss = min(ranks, key=ranks.get)
    if not logs and (missing := ~np.isfinite(numbers[loss].to_numpy())).any():
        found = f"row {int(missing.argmax()) + 1} has no loss in column {quoted(loss)}"
        raise InputError(f"{label}: {found}; leave such rows out with drop_missing=True (--drop-missing)")
    return loss


def _ends(table, loss, recipes, until, schedule):
    """Return the recipe of each run, its loss at the end or the forecast of it, and the standard deviation of that."""
    from ..curves import losses
    from ..fitting import fit

    seeds = [name for name in table if name in ("file", "run") or is_called(name, ["seed"])]
    run = table[seeds].astype(str).agg(", ".join, axis=1) if seeds else ""
    planned = {"schedule": schedule, "until": until} if schedule else {}
    logs = table.assign(run=recipes + ", " + run)
    readings = as_table(logs, "curves", columns={"loss": loss}, **planned)
    recipe, rows = dict(zip(logs["run"], recipes, strict=True)), []
    for name, of in readings[readings["clock"] <= until].groupby("run", sort=False):
        last, sd = of["loss"].iloc[-1], 0.0
        if of["clock"].iloc[-1] + of["clock"].diff().fillna(0.0).iloc[-1] < until:
            fitted = fit("curve", of, seed=1, check=False)
            ahead = losses(fitted, until, schedule=schedule, run=name)[1][..., -1].values
            last, sd = ahead.mean(), ahead.std()
        rows.append({"recipe": recipe[name], "loss": float(last), "sd": float(sd)})
    return pd.DataFrame(rows)


def judged(runs, *, baseline, by, source, measure="loss"):
    """Return the result for runs, each with its recipe, its loss and the error of its forecast, 0 once it has ended."""
    table, rows, p = pd.DataFrame(runs), {}, 1.0
    ended = table[table["sd"] == 0]
    known = ended if ended["recipe"].duplicated().any() else table
    groups = {name: x.to_numpy() for name, x in known.groupby("recipe")["loss"] if len(x) > 1}
    if not any(np.ptp(x) for x in groups.values()):
        found = "losses are equal in each" if groups else "there is one run of each"
        raise InputError(f"{source}: {found} {by}, and the scatter of seeds is unknown; give losses of more seeds")
    if len(groups) > 1 and all(np.ptp(x) for x in groups.values()):
        p = float(stats.bartlett(*groups.values()).pvalue)
    for name in [name for name in table["recipe"].unique() if name != baseline]:
        pair = [groups.get(x) for x in (name, baseline)]
        two = [x for x in pair if x is not None]
        chosen = two if p < UNEQUAL and any(np.ptp(x) for x in two) else [*groups.values()]
        df = sum(len(x) - 1 for x in chosen)
        scatter = float(np.sqrt(sum(((x - x.mean()) ** 2).sum() for x in chosen) / df))
        own = [scatter if x is None else max(scatter, x.std(ddof=1)) for x in pair]
        both = [table[table["recipe"] == x] for x in (name, baseline)]
        (mean, count), (base, other) = (_centre(*x) for x in zip(both, own, strict=True))
        n, gain, error = (
            count * other / (count + other),
            base - mean,
            np.hypot(*np.divide(own, np.sqrt([count, other]))),
        )
        seeds = dict(zip(("seeds", "baseline_seeds"), map(len, both), strict=True))
        more = more_seeds(gain, error * n**0.5, tuple(seeds.values()), df)
        rows[name] = judge(gain, error, n, df) | seeds | {"more_seeds": more, "scatter": scatter, "df": df}
        rows[name]["error"] = float(error)
    held = {"runs": runs, "baseline": baseline, "by": by, "source": source, "measure": measure}
    held["unequal"] = p if p < UNEQUAL else None
    return Gains.of(pd.DataFrame.from_dict(rows, orient="index").rename_axis(by), **held)


def _centre(runs, scatter):
    """Return the mean loss of a recipe and for how many ended runs it counts.

    Runs in flight have the error of their forecast in common, besides their scatter.
    """
    ended, flying = (runs[of] for of in (runs["sd"] == 0, runs["sd"] > 0))
    count = 1.0 / (1.0 / len(flying) + (flying["sd"].mean() / scatter) ** 2) if len(flying) else 0.0
    total = len(ended) + count
    return float(ended["loss"].sum() + count * (flying["loss"].mean() if count else 0.0)) / total, total
