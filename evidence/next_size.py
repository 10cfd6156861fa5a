"""A study of how often predictive intervals hold the losses of the next model size, with and without effects of sizes.

The largest size is left out of a table and the others are fitted. The study counts the rows of that size inside the
central 50% and 90% intervals. Simulated tables follow the Chinchilla law, and rows of a size share a
deviation.

For each file of ``tables/next_size.json``, three sizes are predicted: the largest with at least three rows, and the two
before it. Each is predicted from all smaller sizes, of which there must be three. Under ``held`` the scatter has its
value at the end of the fitted range. Under ``floor`` it is at least the scatter at the centre of the runs, as in
`predict`.
"""

import json
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.models import effects
from study import Study

LAWS = {
    "chinchilla": bs.laws.Chinchilla(),
    "chinchilla, size effects": bs.laws.Chinchilla(size_effects=True),
    "coupled": bs.laws.Coupled(),
    "coupled, size effects": bs.laws.Coupled(size_effects=True),
}
SIMULATED = ("chinchilla", "chinchilla, size effects")
FLOORS = {"held": True, "floor": False}
LEVELS = {"coverage_50": (0.25, 0.75), "coverage_90": (0.05, 0.95)}
TRUTH = {"E": 1.8, "A": 400.0, "B": 1500.0, "alpha": 0.34, "beta": 0.32}
ROW_SD = 0.002
SIZE_SDS = (0.005, 0.01)  # between which the deviation of a size is
FEWEST, MOST = 6, 9  # sizes of a table, from 30M to 3B
TOKENS = np.geomspace(1e9, 1e11, 6)
LEAST_ROWS, LEAST_SIZES, PREDICTED_SIZES, COPIES = 3, 3, 3, 8


def predictive(draws, rows, seed, *, fitted):
    """Draw losses of rows, on the law's scale, shape (sample, row); `fitted` leaves out the floor of the scatter."""
    law, values = draws.law, draws._values(rows)
    arguments = law.residuals.arguments(values, draws.reference, law.sizes(rows), fitted=fitted)
    mean = draws._mean_on_scale(rows).values
    rng, parts = np.random.default_rng(seed), []
    for _ in range(COPIES):
        if law.effects_of:
            scale = values[law.residuals.effect_sd]
            parts.append(mean + effects.draw(rng, mean.shape, scale, law.groups(rows), *arguments))
        else:
            parts.append(mean + law.residuals.draw(rng, mean.shape, *arguments))
    return np.concatenate(parts).reshape(-1, len(rows))


def held(draws, rows, seed):
    """Count rows inside the intervals of each level, and compute their median width in %, by kind of scatter."""
    observed, counts = draws.law.on_scale(rows["loss"].to_numpy(float)), {}
    for name, fitted in FLOORS.items():
        sample = predictive(draws, rows, seed, fitted=fitted)
        counts[name] = {}
        for level, ends in LEVELS.items():
            low, high = np.quantile(sample, ends, axis=0)  # of the last level the width is reported
            counts[name][level] = int(((observed >= low) & (observed <= high)).sum())
        counts[name]["width_90"] = round(100 * float(np.median(high - low)), 3)
    return counts


def simulated(rng):
    """Make a table of the Chinchilla law in which rows of a size share a deviation."""
    sizes = np.geomspace(3e7, 3e9, rng.integers(FEWEST, MOST + 1))
    parameters, tokens = (x.ravel() for x in np.meshgrid(sizes, TOKENS, indexing="ij"))
    mean = np.log(TRUTH["E"] + TRUTH["A"] / parameters ** TRUTH["alpha"] + TRUTH["B"] / tokens ** TRUTH["beta"])
    size_sd = rng.uniform(*SIZE_SDS)
    shared = np.repeat(size_sd * rng.standard_normal(len(sizes)), len(TOKENS))
    loss = np.exp(mean + shared + ROW_SD * rng.standard_normal(len(mean)))
    return bs.read(pd.DataFrame({"parameters": parameters, "tokens": tokens, "loss": loss}))


def on_simulated(simulations, seed, settings):
    """Predict the largest size of simulated tables."""
    counts, rows = {name: [] for name in SIMULATED}, 0
    for s in range(simulations):
        table = simulated(np.random.default_rng([seed, s]))
        last = table["parameters"] == table["parameters"].max()
        smaller, predicted = (table[mask].reset_index(drop=True) for mask in (~last, last))
        rows += len(predicted)
        for name in SIMULATED:
            counts[name].append(held(bs.Fitter(LAWS[name], smaller).fit(seed=s, **settings).draws, predicted, s))
    return shares(counts, rows)


def on_table(table, seed, settings):
    """Predict the largest sizes of a table, each from all smaller ones; None where no size can be predicted."""
    count = table["parameters"].value_counts()
    sizes = sorted(count.index[count >= LEAST_ROWS])[-PREDICTED_SIZES:]
    counts, rows, by_size = {name: [] for name in LAWS}, 0, {}
    for size in sizes:
        smaller, predicted = (
            table[mask].reset_index(drop=True) for mask in (table["parameters"] < size, table["parameters"] == size)
        )
        if smaller["parameters"].nunique() < LEAST_SIZES:
            continue
        fitted = {name: bs.Fitter(law, smaller).fit(seed=seed, **settings) for name, law in LAWS.items()}
        rows += len(predicted)
        by_size[f"{size:.4g}"] = {"rows": len(predicted)}
        for name, fit in fitted.items():
            counts[name].append(held(fit.draws, predicted, seed))
            by_size[f"{size:.4g}"][name] = {floor: x["coverage_90"] for floor, x in counts[name][-1].items()}
    return shares(counts, rows) | {"sizes": by_size} if by_size else None


def shares(counts, rows):
    """Return shares of all rows, and mean widths, by law and kind of scatter, from the counts of each fit."""
    fits = len(next(iter(counts.values())))
    over = {**dict.fromkeys(LEVELS, rows), "width_90": fits}
    by_law = {
        law: {floor: {n: round(sum(one[floor][n] for one in of) / k, 3) for n, k in over.items()} for floor in FLOORS}
        for law, of in counts.items()
    }
    return {"rows": rows, "fits": fits, "laws": by_law}


def files():
    """Return the tables of the study: each the file, which rows of it, and the column of its loss."""
    return json.loads((Path(__file__).with_name("tables") / "next_size.json").read_text())


def next_size(parts, *, tables, seed, simulations, **settings):
    """Predict the largest sizes of simulated and of real tables."""
    simulated_tables = parts.entry("simulated", lambda: on_simulated(simulations, seed, settings))
    by_table = {}
    for one in files():
        table = bs.read(tables / one["file"], where=one.get("where"), columns={"loss": one.get("loss", "loss")})
        name = "::".join(one.values())
        by_table[name] = parts.entry(name, lambda table=table: on_table(table, seed, settings))
    return {"simulated": simulated_tables, "tables": by_table}


STUDIES = {
    "next_size": Study(
        "how often intervals hold the losses of the next model size",
        next_size,
        lambda: [(law, bs.load("chinchilla_runs")) for law in LAWS.values()],
        {"seed": 1, "simulations": 50, "draws": 500, "tune": 500, "chains": 2},
        foreign=True,
    )
}
