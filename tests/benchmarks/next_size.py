"""How often predictive intervals hold the losses of the next model size, with and without effects of sizes.

``python tests/benchmarks/next_size.py [--simulations 50] [--tables FILE[::WHERE[::LOSS]] ...] [--out FILE]`` leaves the
largest size out of a table, fits the others and counts how many rows of that size the central 50% and 90% intervals
hold. Simulated tables follow the Chinchilla law, with a deviation that all rows of a size share. Of each file, three
sizes are predicted: the largest with at least three rows, and the two before it after all larger ones are dropped; at
least three smaller sizes are fitted.
WHERE selects rows and LOSS names the column of the loss, as for `read`. ``held`` keeps the scatter at its value at the
end of the fitted range; ``floor`` is what `predict` does, at least the scatter at the centre of the runs.
"""

import argparse
import datetime
import json
import warnings
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.record import versions
from bayescaling.models import effects

LAWS = {
    "chinchilla": bs.laws.Chinchilla(),
    "chinchilla, size effects": bs.laws.Chinchilla(size_effects=True),
    "coupled": bs.laws.Coupled(),
    "coupled, size effects": bs.laws.Coupled(size_effects=True),
}
SIMULATED = ("chinchilla", "chinchilla, size effects")
FLOORS = {"held": True, "floor": False}
LEVELS = {"coverage_50": (0.25, 0.75), "coverage_90": (0.05, 0.95)}
SETTINGS = {"draws": 500, "tune": 500, "chains": 2}
TRUTH = {"E": 1.8, "A": 400.0, "B": 1500.0, "alpha": 0.34, "beta": 0.32}
ROW_SD = 0.002
SIZE_SDS = (0.005, 0.01)  # between which the deviation of a size is
FEWEST, MOST = 6, 9  # sizes of a table, from 30M to 3B
TOKENS = np.geomspace(1e9, 1e11, 6)
LEAST_ROWS, LEAST_SIZES, PREDICTED_SIZES, COPIES = 3, 3, 3, 8


def predictive(draws, rows, seed, *, fitted):
    """Losses that draws predict for rows, on the law's scale, (sample, row); `fitted` leaves the floor out."""
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
    """Rows within the intervals of each level, and their median width in percent of the loss, by kind of scatter."""
    observed, found = draws.law.on_scale(rows["loss"].to_numpy(float)), {}
    for name, fitted in FLOORS.items():
        sample = predictive(draws, rows, seed, fitted=fitted)
        found[name] = {}
        for level, ends in LEVELS.items():
            low, high = np.quantile(sample, ends, axis=0)  # of the last level the width is reported
            found[name][level] = int(((observed >= low) & (observed <= high)).sum())
        found[name]["width_90"] = round(100 * float(np.median(high - low)), 3)
    return found


def simulated(rng):
    """Make a table of the Chinchilla law in which rows of a size share a deviation."""
    sizes = np.geomspace(3e7, 3e9, rng.integers(FEWEST, MOST + 1))
    parameters, tokens = (x.ravel() for x in np.meshgrid(sizes, TOKENS, indexing="ij"))
    mean = np.log(TRUTH["E"] + TRUTH["A"] / parameters ** TRUTH["alpha"] + TRUTH["B"] / tokens ** TRUTH["beta"])
    size_sd = rng.uniform(*SIZE_SDS)
    shared = np.repeat(size_sd * rng.standard_normal(len(sizes)), len(TOKENS))
    loss = np.exp(mean + shared + ROW_SD * rng.standard_normal(len(mean)))
    return bs.read(pd.DataFrame({"parameters": parameters, "tokens": tokens, "loss": loss}))


def on_simulated(simulations, seed):
    """Predict the largest size of simulated tables."""
    counts, rows = {name: {} for name in SIMULATED}, 0
    for s in range(simulations):
        table = simulated(np.random.default_rng([seed, s]))
        last = table["parameters"] == table["parameters"].max()
        kept, left = (table[own].reset_index(drop=True) for own in (~last, last))
        rows += len(left)
        for name in SIMULATED:
            add(counts[name], held(bs.fit(LAWS[name], kept, seed=s, **SETTINGS).draws, left, s))
    return shares(counts, rows, simulations)


def on_table(table, seed):
    """Predict the largest sizes of a table, each from all smaller ones; None where no size can be predicted."""
    count = table["parameters"].value_counts()
    sizes = sorted(count.index[count >= LEAST_ROWS])[-PREDICTED_SIZES:]
    counts, rows, fits, by_size = {name: {} for name in LAWS}, 0, 0, {}
    for size in sizes:
        kept, left = (
            table[own].reset_index(drop=True) for own in (table["parameters"] < size, table["parameters"] == size)
        )
        if kept["parameters"].nunique() < LEAST_SIZES:
            continue
        fitted = {name: bs.fit(law, kept, seed=seed, **SETTINGS) for name, law in LAWS.items()}
        rows, fits = rows + len(left), fits + 1
        by_size[f"{size:.4g}"] = {"rows": len(left)}
        for name, fit in fitted.items():
            one = held(fit.draws, left, seed)
            add(counts[name], one)
            by_size[f"{size:.4g}"][name] = {floor: x["coverage_90"] for floor, x in one.items()}
    return shares(counts, rows, fits) | {"sizes": by_size} if fits else None


def add(total, one):
    """Add counts to a total, in place."""
    for floor, numbers in one.items():
        for name, x in numbers.items():
            total.setdefault(floor, {}).setdefault(name, 0)
            total[floor][name] += x


def shares(counts, rows, fits):
    """Turn counts of rows into shares and sums of widths into means."""
    found = {
        law: {
            floor: {n: round(x / (fits if n == "width_90" else rows), 3) for n, x in numbers.items()}
            for floor, numbers in by_floor.items()
        }
        for law, by_floor in counts.items()
    }
    return {"rows": rows, "fits": fits, "laws": found}


def read(text):
    """Read a table: a file, which rows of it, and the column of its loss."""
    path, where, loss = (*text.split("::"), "", "")[:3]
    return bs.read(path, where=where or None, columns={"loss": loss} if loss else None)


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--tables", nargs="*", default=[], metavar="FILE[::WHERE[::LOSS]]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="a JSON file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    named = [Path(text.partition("::")[0]).name + text[len(text.partition("::")[0]) :] for text in options.tables]
    command = f"python tests/benchmarks/next_size.py --simulations {options.simulations} --seed {options.seed}"
    if named:
        command += f" --tables {' '.join(map(repr, named))}"
    result = {"date": datetime.date.today().isoformat(), "command": command, "versions": versions(), "tables": {}}
    studies = {
        name: (lambda text=text: on_table(read(text), options.seed))
        for name, text in zip(named, options.tables, strict=True)
    }
    if options.simulations:
        studies = {"simulated": lambda: on_simulated(options.simulations, options.seed)} | studies
    for name, study in studies.items():
        found = study()
        if name == "simulated":
            result[name] = found
        else:
            result["tables"][name] = found
        print(name, json.dumps(found), flush=True)
        if options.out:
            Path(options.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
