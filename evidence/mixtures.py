"""Study of mixtures: how well a formula of shares, fitted to models of 1M parameters, ranks mixtures at 60M and 1B.

Forms are compared on models of 1M alone, by leave-one-out and by the 256 models that no fit has seen. One offset of
each size of models is that of 8 of them; the others are predicted. Histogram trees need scikit-learn, which the package
does not.
"""

import time

import bayescaling as bs
import numpy as np
from bayescaling.inference.formulas.ask import respond, scattered
from bayescaling.reports.pages.mixtures.page import FORMULA, LOSS, runs
from scipy.stats import spearmanr
from study import register, selected

COUNTS = {32: 8, 64: 6, 128: 4, 512: 1}  # numbers of models, each with how many sets of them that share none
TIMED = 128  # models of the comparison of forms, and of other losses
POOLS, POOL, OFFSET_ROWS = 400, 8, 8
ENDS, EDGES, NEAR = (0.05, 0.95), (0.05, 0.2, 0.5, 0.8), 0.01  # of intervals, of bins of P(best); added to a share
QUICK = {"draws": 500, "tune": 700, "check": False}
MAIN = "power of a weighted sum of powers"
FORMS = {
    MAIN: FORMULA,
    "exponential of a sum (Ye et al. 2024)": f"{LOSS} ~ E + exp(c + sum(t_* * share_*))",
    "sum of powers": f"{LOSS} ~ E + sum(A_* * (share_* + x0)**-alpha)",
    "linear in logarithms": f"{LOSS} ~ c + sum(b_* * log(share_* + 0.01))",
    "quadratic in logarithms": f"{LOSS} ~ c + sum(b_* * log(share_* + 0.01) + q_* * log(share_* + 0.01)**2)",
}
LEFT_OUT = {"1M": 1e6, "60M": 6e7, "1B": 1e9}
SCORES = ("rank", "regret", "regret_of_pools", "error")


def fit_least_squares(x, y):
    """Return what predicts by least squares, linear in shares and their logarithms."""

    def features(x):
        return np.column_stack([np.ones(len(x)), x, np.log(x + NEAR)])

    w = np.linalg.lstsq(features(x), y, rcond=None)[0]
    return lambda x: features(x) @ w


def fit_trees(x, y):
    """Return what predicts by histogram trees, with the rounds and the rate of the paper's."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(max_iter=1000, learning_rate=0.01, min_samples_leaf=5, random_state=1)
    return trees.fit(x, y).predict


RIVALS = {"least squares": fit_least_squares, "histogram trees": fit_trees}


def _pools(loss):
    rng = np.random.default_rng(1)
    return np.array([rng.choice(len(loss), POOL, replace=False) for _ in range(POOLS)])


def scored(predicted, loss):
    """Return how well predicted logarithms of losses rank models, and how much worse than the best the choice is."""
    pools, error = _pools(loss), predicted - np.log(loss)
    chosen = np.take_along_axis(loss[pools], predicted[pools].argmin(1)[:, None], 1)[:, 0]
    return {
        "rank": float(spearmanr(predicted, loss)[0]),
        "regret": float(loss[predicted.argmin()] - loss.min()),
        "regret_of_pools": float((chosen - loss[pools].min(1)).mean()),
        "error": float((error - np.median(error)).std()),
    }


def calibrated(draws, loss):
    """Return P(best) in pools with how often that was so, and how many losses lie in intervals with one offset."""
    pools, y = _pools(loss), np.log(loss)
    p = np.array([np.bincount(draws[:, of].argmin(1), minlength=POOL) / len(draws) for of in pools])
    best = loss[pools] == loss[pools].min(1)[:, None]
    bins, choice = np.digitize(p, EDGES), p == p.max(1)[:, None]
    low, middle, high = np.quantile(draws, [ENDS[0], 0.5, ENDS[1]], axis=0)
    some = np.random.default_rng(1).choice(len(loss), OFFSET_ROWS, replace=False)

    def held(offset, of):
        return float(((low + offset <= y) & (y <= high + offset))[of].mean())

    return {
        "bins": [[float(p[bins == k].sum()), int(best[bins == k].sum()), int((bins == k).sum())] for k in range(5)],
        "p_of_choice": float(p[choice].mean()),
        "choice_is_best": float(best[choice].mean()),
        "log_score": float(np.log(np.maximum(p[best], 1 / len(draws))).mean()),
        "coverage_one_offset_of_all": held(np.median(y - middle), slice(None)),
        "coverage_one_offset_of_8": held(np.median((y - middle)[some]), np.setdiff1d(np.arange(len(y)), some)),
        "width": float(np.median(high - low)),
    }


def _shares(table):
    return table.filter(like="share_").to_numpy(float)


def tried(form, some, y, seed, compared=False):
    """Fit a form to some models of 1M and score it on the others, with its rivals; the elpd where it is `compared`."""
    begun = time.process_time()
    fit = bs.fit(form.replace(LOSS, y), some, seed=seed, **QUICK)
    entry = {"ok": fit.diagnostics["ok"], "seconds": time.process_time() - begun}
    entry |= {"elpd": float(fit.loo().elpd)} if compared else {}
    rivals = {name: make(_shares(some), np.log(some[y])) for name, make in RIVALS.items()}
    for name, size in LEFT_OUT.items():
        table = runs(size)
        means, loss = respond(fit, table[[*fit.law.columns]].to_dict("records")), table[y].to_numpy()
        law = scored(np.log(np.median(means, 0)), loss) | calibrated(scattered(fit, means), loss)
        entry[name] = {"law": law} | {rival: scored(predict(_shares(table)), loss) for rival, predict in rivals.items()}
    return entry


def _sets(count):
    """Return sets of so many models of 1M that share none, the first of them the first rows."""
    table = runs(1e6, "train")
    return [selected(table, np.arange(len(table)) // count == k) for k in range(COUNTS[count])]


def _laws():
    table = runs(1e6, "train")
    return [(bs.laws.Formula(form).suited(table), table) for form in FORMS.values()]


@register("mixtures at 60M and 1B from models of 1M", _laws, seed=1)
def mixtures(parts, *, seed):
    """Fit the form that predicts best to several numbers of models, all forms to one, and the best to every loss."""

    def made(name, form, some, y=LOSS, **compared):
        return parts.entry(name, lambda: tried(form, some, y, seed, **compared))

    sizes = {n: [made(f"{n} {k}", FORMULA, some) for k, some in enumerate(_sets(n))] for n in COUNTS}
    some, loss = _sets(TIMED)[0], runs(1e9)[LOSS]
    forms = {name: made(name, form, some, compared=True) for name, form in FORMS.items()}
    losses = {y: made(y, FORMULA, some, y)["1B"] for y in some.filter(like="loss_")}
    return {
        "form": FORMULA,
        "forms": {
            name: {key: of[key] for key in ("elpd", "ok", "seconds")}
            | {size: {key: of[size]["law"][key] for key in SCORES} for size in LEFT_OUT}
            for name, of in forms.items()
        },
        "sizes": {n: {"sets": len(of), "ok": sum(x["ok"] for x in of), **_mean(of)} for n, of in sizes.items()},
        "mean": {"regret": float(loss.mean() - loss.min()), "median_regret": float(loss.median() - loss.min())},
        "losses": {y: {name: {key: x[key] for key in SCORES} for name, x in of.items()} for y, of in losses.items()},
    }  # fmt: skip


def _mean(entries):
    """Return the mean of every number over sets of models."""
    first = entries[0]
    if isinstance(first, dict):
        return {key: _mean([x[key] for x in entries]) for key in first if key != "ok"}
    return np.mean(entries, axis=0).tolist()
