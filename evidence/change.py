"""A study of claims about changes at one size: false ones, power, and runs needed, on repeated runs of a speedrun.

Runs of one recipe are split at random, or their losses are drawn again about the mean, with a shift where there is a
change. The rule of the speedrun is that a t test shows the mean loss below 3.28 with p < .01.
"""

from functools import partial

import bayescaling as bs
import curves
import numpy as np
from bayescaling.inference.decisions.change import judged, log_factor
from scipy import stats
from study import read, register

TARGET = 3.28
SOME, MANY, SLOWER = 8, 20, 0.05  # least runs of a recipe, and of one that runs are drawn from; of seconds
SIDE, MOST, POWER = 40, 120, 0.9  # runs of a side that is looked at, and that are drawn
SMOOTH = 0.3  # normal part of a loss that is drawn, in scatters
LOOKS, SHIFTS, MARGINS = (1, 5, 20), (0.002, 0.005, 0.01), (0.0, 0.001, 0.002)
RULES = {"worth": 20, "t test, p < .05": 0.05, "t test, p < .01": 0.01}
SEEDS, SCATTER, ERRORS = 4, 0.0012, (0.02, 0.01, 0.005, 0.002, 0.0)  # of runs in flight, at each look
GAINS, FLIGHTS = (0.0, 0.01, 0.05), 200  # of these


def recipes():
    """Return losses of repeated runs, by label, steps and first row, of recipes with runs enough.

    A label may be of several recipes. One recipe is runs of a label and number of steps whose files follow each other
    and that take about equal time.
    """
    table = bs.load("speedrun_runs").drop_duplicates(["loss", "seconds", "step"]).fillna({"what": ""})
    labels = table.groupby(["track", "what", "date"], dropna=False).ngroup()
    kinds = table[["step", "readings"]].assign(label=labels, apart=table.index - np.arange(len(table)))
    new = (kinds.diff() != 0).any(axis=1) | (table["seconds"].pct_change().abs() > SLOWER)
    named = {f"{of['what'].iloc[0]}, {of['step'].iloc[0]}, {of.index[0]}": of for _, of in table.groupby(new.cumsum())}
    return {name: of["loss"].to_numpy() for name, of in named.items() if len(of) >= SOME}


def paths(one, other=None):
    """Return t after each run from the second, as `worth` and a t test have it, of one sample against 0; n and df."""
    k, samples = np.arange(1, one.shape[1] + 1), [one] if other is None else [other, one]
    means = [x.cumsum(1) / k for x in samples]
    squares = np.array([(x**2).cumsum(1) - k * m**2 for x, m in zip(samples, means, strict=True)])[..., 1:]
    gain, k, sides = (means[0] - means[-1] if other is not None else -means[0])[:, 1:], k[1:], len(samples)
    own = np.maximum(squares, 1e-18) / (k - 1)
    errors = (np.sqrt(x.sum(0) / k) for x in (np.maximum(own, own.mean(0)), own))
    return *(gain / error for error in errors), k / sides, sides * (k - 1)


def claimed(of, rule):
    """Return whether paths are claimed after each run, in either direction: by a factor of `rule`, or by p below it."""
    t, usual, n, df = of
    return log_factor(t, n, df) >= np.log(rule) if rule >= 1 else 2 * stats.t.sf(np.abs(usual), df) < rule


def false_claims(samples):
    """Return the share of paths without a change that are claimed, by rule and number of looks."""
    result = {}
    for name, rule in RULES.items():
        at, result[name] = [claimed(x, rule) for x in samples], {}
        for looks in LOOKS:
            seen = (x[:, np.unique(np.linspace(x.shape[1] - 1, 0, looks).round().astype(int))] for x in at)
            result[name][str(looks)] = float(np.mean([x.any(1).mean() for x in seen]))
    return result


def first_claims(of, rule):
    """Return after how many runs of a side each path is claimed as better, infinite where it is not."""
    at = claimed(of, rule) & (of[0] > 0)
    return np.where(at.any(1), at.argmax(1) + 2, np.inf)


def planned(effect, sides):
    """Return the runs of a side with which a one-sided t test with p < .01 has the power, for a known effect."""
    k = np.arange(2, 2000)
    n, df = k / sides, sides * (k - 1)
    return k[(stats.nct.sf(stats.t.isf(0.01, df), df, effect * np.sqrt(n)) >= POWER).argmax()]


def drawn(rng, losses, repeats):
    """Draw losses of a recipe about its mean again, smoothed, with its scatter."""
    again = rng.choice((losses - losses.mean()) / losses.std(), (repeats, MOST))
    smoothed = again + SMOOTH * rng.standard_normal(again.shape)
    return losses.std(ddof=1) / np.hypot(1.0, SMOOTH) * smoothed


def decided(rng, many, shift, repeats, sides):
    """Return the share claimed within `SIDE` runs of a side, and mean runs at `POWER`, their median over recipes."""
    of = [paths(*(drawn(rng, x, repeats) - shift, drawn(rng, x, repeats))[:sides]) for x in many]
    result = {}
    for name, rule in {"1 / 20": 20, "1 / 50": 50, "t test at every run": 0.02}.items():
        first = [first_claims(x, rule) for x in of]
        most = [np.quantile(x, POWER, method="inverted_cdf") for x in first]
        runs = np.median([np.minimum(x, k).mean() for x, k in zip(first, most, strict=True)])
        result[name] = {"claimed": np.mean([x <= SIDE for x in first]), "runs": runs if np.isfinite(runs) else None}
    if shift:
        result["t test planned"] = {"runs": np.median([planned(shift / x.std(ddof=1), sides) for x in many])}
    return result


def submitted(groups):
    """Return how many runs recipes that meet the rule were submitted with, and after how many `worth` claims them."""
    runs = [x for x in groups if stats.ttest_1samp(x, TARGET, alternative="less").pvalue < 0.01]
    first = np.concatenate([first_claims(paths(x[None] - TARGET), 50) for x in runs])
    sizes = np.array([len(x) for x in runs])
    claims, needed = int(np.isfinite(first).sum()), int(np.minimum(first, sizes).sum())
    return {"recipes": len(runs), "runs": int(sizes.sum()), "claimed": claims, "needed": needed}


def flight(rng, forecasts, gain):
    """Return whether a change is claimed before its runs end, those of the baseline having ended, and then or later."""
    ends, at = SCATTER * rng.standard_normal((2, SEEDS)), []
    for error, sd in forecasts:  # the error that forecasts have in common, and the one that they state
        runs = {"recipe": ["old"] * SEEDS + ["new"] * SEEDS, "loss": [*ends[0], *ends[1] + error - gain]}
        result = judged(runs | {"sd": [0.0] * SEEDS + [sd] * SEEDS}, baseline="old", by="recipe", source="")
        at.append(result["direction"].iloc[0] in ("better", "worse"))
    return [any(at[:-1]), any(at)]


def real_forecasts(parts, seed):
    """Return the errors of forecasts of public curves at each cut, and what they state, learned from other sizes."""
    errors = read("curves")["result"]["errors"]
    for size in curves.SIZES:
        for run, of in curves._readings(size).items():
            cases = parts.entry(f"cut {size} {run}", partial(curves._cut_run, of, seed))
            terms = [(*curves._terms(case, errors[size]), case["observed"]) for case in cases]
            yield [(x.mean() - seen, np.sqrt(x.var() + (sd**2).mean())) for x, sd, seen in terms] + [(0.0, 0.0)]


def list_laws():
    """Return laws of the tables of the study."""
    law = bs.laws.Formula("loss ~ mu[track]").suited(bs.load("speedrun_runs"))
    return [(law, bs.load("speedrun_runs")), (bs.laws.Curve(), bs.load("schedule_curves"))]


@register("claims about changes at one size: false ones, power, and runs needed", list_laws, seed=1, repeats=400)
def change(parts, *, seed, repeats):
    """Make all parts."""
    rng, named = np.random.default_rng(seed), recipes()
    groups, many = [*named.values()], [x for x in named.values() if len(x) >= MANY]
    orders = [np.array([x, *(rng.permutation(x) for _ in range(repeats))])[:, : len(x) // 2 * 2] for x in groups]
    halves = [np.split(order, 2, axis=1) for order in orders]
    again = [paths(*np.split(drawn(rng, x, 2 * repeats)[:, :SIDE], 2)) for x in many]
    steps = np.sqrt(-np.diff(np.square(ERRORS)))
    walks = ((steps * rng.standard_normal(len(steps)))[::-1].cumsum()[::-1] for _ in range(FLIGHTS))
    flights = {"simulated": [[*zip([*walk, 0.0], ERRORS, strict=True)] for walk in walks]}
    flights["public curves"] = [*real_forecasts(parts, seed)]
    return {
        "recipes": {name: {"runs": len(x), "scatter": x.std(ddof=1)} for name, x in named.items()},
        "split": false_claims([paths(one[1:], other[1:]) for one, other in halves]),
        "split in their order": false_claims([paths(one[:1], other[:1]) for one, other in halves]),
        "drawn again": false_claims(again),
        "power": {str(shift): decided(rng, many, shift, repeats, 2) for shift in SHIFTS},
        "below the target": {str(margin): decided(rng, many, margin, repeats, 1) for margin in MARGINS},
        "submitted": submitted(groups),
        "in flight": {name: {str(gain): np.mean([flight(rng, x, gain) for x in of * -(-FLIGHTS // len(of))], 0).tolist()
                             for gain in GAINS} for name, of in flights.items()},
    }  # fmt: skip
