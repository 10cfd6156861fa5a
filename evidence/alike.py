"""A study of what two groups of runs miss in common beyond these runs, from tables of groups of four sources.

A law with groups is fitted to the runs below a percentile of compute. Later runs of two groups with the same sizes and
tokens are compared. The errors of log loss of a pair have a common part, which their difference lacks. What is left is
learned as the drift itself in ``beyond.py``: its scales maximise the log score of the differences of later losses. For
every figure of coverage the other sources teach it.
"""

from functools import partial
from itertools import combinations

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.estimands.beyond import Drift, drifts, sides_outside
from beyond import averaged, density_by_scale, figures, learned_loss, predicted, weights
from study import register

LAWS = {"coupled": bs.laws.Coupled(), "chinchilla": bs.laws.Chinchilla()}
PERCENTILES = (40, 55, 70)
LEAST_TOKENS_PER_PARAMETER = 20  # runs of fewer lie above any law; see the notes of overtraining_runs
RECIPES = ("0.001953/128", "0.001953/256", "0.003906/128", "0.001381/64")  # peak rate and batch with most of the runs
STEP_LAW = {"data_size": "tokens", "non_embedding_param_size": "parameters", "lm_loss": "loss"}


def read(folder):
    """Return tables by source, each with its column of groups."""
    corpora, gems = bs.load("overtraining_runs"), bs.load("gemstones")
    trained = corpora[corpora["tokens"] >= LEAST_TOKENS_PER_PARAMETER * corpora["parameters"]]
    in_both = gems["shape"].isin(gems["shape"][gems["series"] == "half learning rate"])
    porian = pd.read_csv(folder / "porian_isoflop.csv")
    rates = pd.read_csv(folder / "scalebench_lr_bsz.csv").rename(columns=STEP_LAW)
    rates["recipe"] = rates["lr"].map("{:g}".format) + "/" + rates["bsz"].astype(str)
    rates = rates[rates["recipe"].isin(RECIPES)]
    return {
        "Gadre et al. 2024, corpora": (trained, "corpus"),
        "Gemstones, learning rates": (gems[in_both & (gems["series"] != "cooldown")], "series"),
        "Porian et al. 2024, corpora": (porian[porian["hyperparameters"] == "tuned"], "corpus"),
        "Step law, learning rates and batches": (rates, "recipe"),
    }


def differences(law, table, by, percent, seed, settings):
    """Fit the runs below a percentile: draws and values of the differences of log losses of later pairs of runs."""
    table = table[["parameters", "tokens", "loss", by]].groupby(["parameters", "tokens", by], as_index=False).mean()
    compute = 6 * table["parameters"] * table["tokens"]
    below = compute < np.percentile(compute, percent)
    past = table[below].reset_index(drop=True)
    ahead = table[~below & table[by].isin(past[by])].reset_index(drop=True)
    fit = bs.Fitter(bs.laws.Grouped(law, by), past).fit(seed=seed, **settings)
    decades, observed = np.nan_to_num(sides_outside(fit.law, fit.rows, ahead)[0]), np.log(ahead["loss"].to_numpy())
    rng = np.random.default_rng(seed)
    sample, mean = (
        x.transpose("chain", "draw", "run").values.reshape(-1, len(ahead))
        for x in (fit.draws.replicate(rng, ahead), np.log(fit.draws.mean(ahead)))
    )
    pairs = np.array([
        pair
        for rows in ahead.groupby(["parameters", "tokens"]).indices.values()
        for pair in combinations(rows, 2)
        if decades[list(pair)].min() > 0
    ]).reshape(-1, 2)  # fmt: skip
    one, other = pairs.T
    errors = observed - mean.mean(0)
    return {
        "sample": (sample[:, one] - sample[:, other]).tolist(),
        "observed": (observed[one] - observed[other]).tolist(),
        "decades": np.minimum(decades[one], decades[other]).tolist(),
        "errors": [errors[one].tolist(), errors[other].tolist()],
        "ok": bool(fit.diagnostics["ok"]),
    }


def common_share(rollout):
    """Return the share of the mean square error of two groups that their difference lacks."""
    one, other = np.array(rollout["errors"])
    return float(1 - np.mean((one - other) ** 2) / np.mean(one**2 + other**2))


def of_law(rollouts, drift, seed):
    """Learn from all sources, and predict the differences of each source by what the others teach."""
    share, densities = weights(rollouts), {key: density_by_scale(x) for key, x in rollouts.items()}

    def learned(some):
        tau, step, spread = (round(float(x), 5) for x in learned_loss({k: x for k, x in densities.items() if some(k)}))
        return Drift(tau, spread, step, 0.0, 0.0)

    independent = Drift(drift.loss * np.sqrt(2), drift.spread, drift.step * np.sqrt(2), 0.0, 0.0)
    everything = learned(lambda key: True)
    result = {"difference": [everything.loss, everything.spread], "step": everything.step, "by_source": {}}
    for source in sorted({key[0] for key in rollouts}):
        of_source = {key: x for key, x in rollouts.items() if key[0] == source}
        others = learned(lambda key, source=source: key[0] != source)
        ways = {"law alone": None, "two independent drifts": independent, "learned from the others": others}
        result["by_source"][source] = {
            "common_share": {f"{key[2]}": common_share(x) for key, x in of_source.items()},
            "pairs": {f"{key[2]}": len(x["observed"]) for key, x in of_source.items()},
            "most_decades": max(float(x["decades"].max()) for x in of_source.values()),
            "learned_from_others": others._asdict(),
            "predicted": {
                way: averaged({key: figures(predicted(x, of, seed)) for key, x in of_source.items()}, share)
                for way, of in ways.items()
            },
        }
    return result


def _laws():
    tables = (("overtraining_runs", "corpus"), ("gemstones", "series"))
    return [(bs.laws.Grouped(law, by), bs.load(name)) for name, by in tables for law in LAWS.values()]


@register("what two groups of runs miss in common beyond these runs", _laws, foreign=True, seed=1, draws=400, tune=500,
          chains=2)  # fmt: skip
def alike(parts, *, tables, seed, **settings):
    """Roll out each law over each table, and learn the error of differences."""
    result = {}
    for name, law in LAWS.items():
        rollouts = {}
        for source, (table, by) in read(tables).items():
            for percent in PERCENTILES:
                key = source, by, percent
                make = partial(differences, law, table, by, percent, seed, settings)
                rollout = parts.entry(f"{source} {name} {percent}", make)
                arrays = {part: np.array(rollout[part]) for part in ("sample", "observed", "decades")}
                rollouts[key] = rollout | arrays
        result[name] = of_law(rollouts, drifts()["above"][name], seed)
        result[name]["converged"] = f"{sum(x['ok'] for x in rollouts.values())} of {len(rollouts)}"
    return result
