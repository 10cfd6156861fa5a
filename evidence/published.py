"""Study of published laws: whether tables simulated from published constants give these back when they are fitted.

Sizes are those of the paper's runs where the package has its table. Else they are drawn from the range that
``models/published.toml`` states, and where it states none from a grid of this study, which need not be the paper's.
Laws of which a constant is not known are left out. Chains are short: two of 500 draws.
"""

import time
from typing import NamedTuple

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.models import published
from formulas import _rounded
from study import register

NOISE, ROWS, COUNT = 0.01, 60, 5
FAR = 10.0  # ratio of the ends of a 90% interval beyond which a constant is not known
CHAINS = {"draws": 500, "tune": 500, "chains": 2, "check": False}
STATED, GRID, RUNS = "range as stated", "a grid of the study", "the paper's runs"
SIZES, TOKENS, ROUTED = (1e5, 1.5e9), (2e7, 2e10), {"N": "parameters", "E": "experts"}
HERNANDEZ = {"D_F": (1e6, 1e10), "N": (1e6, 1e9)}


class Sizes(NamedTuple):
    """The sizes of a law's tables: `columns` are names in `rows`, or else ranges (low, high), or lists of values."""

    of: str
    columns: dict
    rows: tuple = ()
    noise: str = "relative"


PLACES = {
    "kaplan-parameters": Sizes(STATED, {"N": (768, 1.5e9)}),
    "kaplan-tokens": Sizes(GRID, {"D": TOKENS}),
    "kaplan-compute": Sizes(GRID, {"C": (1e-6, 10)}),
    "kaplan-joint": Sizes(GRID, {"N": SIZES, "D": TOKENS}),
    "hoffmann-2022": Sizes(RUNS, {"N": "parameters", "D": "tokens"}, ("chinchilla_runs", "")),
    "besiroglu-2024": Sizes(RUNS, {"N": "parameters", "D": "tokens"}, ("chinchilla_runs", "")),
    "muennighoff-2023": Sizes(GRID, {"U_N": (1e7, 1e9), "R_N": (0.1, 50), "U_D": (1e8, 1e11), "R_D": (0.1, 100)}),
    "hernandez-2021": Sizes(GRID, HERNANDEZ),
    "hernandez-mixed": Sizes(GRID, HERNANDEZ),
    "clark-2022-sbase": Sizes(RUNS, ROUTED, ("routed_lms", "S-Base")),
    "clark-2022-rlr": Sizes(RUNS, ROUTED, ("routed_lms", "RL-R")),
    "clark-2022-hash": Sizes(RUNS, ROUTED, ("routed_lms", "Hash")),
    "krajewski-2024": Sizes(GRID, {"G": [1, 2, 4, 8, 16], "N": (1e8, 4e9), "D": (1e10, 1e11)}),
    "abnar-2025": Sizes(GRID, {"N": (1e8, 1e10), "D": (2e9, 2e11), "S": [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98]}),
    "tao-2024": Sizes(GRID, {"N": (30, 1200), "V": [4, 8, 16, 32, 64, 96], "d": [0.5, 1, 2], "H": (0.2, 100)},
                      noise="additive"),
}  # fmt: skip


def law_of(name):
    """Return the formula of a law over columns that are called by its letters."""
    of = published.find(name)
    return bs.laws.Formula(of.formula, noise=PLACES[name].noise, priors=of.priors)


def table_of(name, rng):
    """Simulate a table from the published constants, to six digits; additive noise is a share of the spread."""
    of, columns = PLACES[name], PLACES[name].columns
    if of.rows:
        runs = bs.load(of.rows[0])
        runs = runs[runs["routing"].isin(["Dense", of.rows[1]])] if of.rows[1] else runs
        sizes = {letter: runs[column].to_numpy(float) for letter, column in columns.items()}
    else:
        sizes = {
            letter: rng.choice(x, ROWS) if isinstance(x, list) else np.exp(rng.uniform(*np.log(x), ROWS))
            for letter, x in columns.items()
        }
    sizes = {letter: [_rounded(x) for x in values] for letter, values in sizes.items()}
    table = pd.DataFrame(bs.published(name).predict(**sizes))
    response, noise = next(iter(published.find(name).columns)), NOISE * rng.standard_normal(len(table))
    y = table[response]
    table[response] = [_rounded(x) for x in (y + y.std() * noise if of.noise == "additive" else y * np.exp(noise))]
    return table


def _laws():
    """Return each law, suited to a table of it."""
    laws = []
    for name in PLACES:
        table = table_of(name, np.random.default_rng(1))
        table.attrs["source"] = name
        laws.append((law_of(name).suited(table), table))
    return laws


def tried(name, seed):
    """Fit a law to one simulated table: whether it converged, and where each published constant lies."""
    table, begun = table_of(name, np.random.default_rng(seed)), time.process_time()
    fit = bs.fit(law_of(name), table, seed=1, **CHAINS)
    entry = {key: fit.diagnostics[key] for key in ("ok", "divergences", "r_hat_max", "ess_bulk_min")}
    entry |= {"rows": len(table), "seconds": time.process_time() - begun, "constants": {}}
    for constant, x in published.find(name).constants.items():
        draws = fit["posterior"][constant].values.ravel()
        low, high = np.quantile(draws, [0.05, 0.95])
        ratio = float(high / low) if low * high > 0 else None
        entry["constants"][constant] = {"below": float((draws < x).mean()), "ratio": ratio and max(ratio, 1 / ratio)}
    return entry


@register(
    "whether tables simulated from published constants give these back",
    _laws,
    name="published_simulated",
    seed=1,
)
def simulated(parts, *, seed, count=COUNT):
    """Fit every law whose constants are known to tables simulated from them."""
    result = {}
    for name, of in PLACES.items():
        entries = [
            parts.entry(f"{name} {k}", lambda name=name, k=k: tried(name, [seed, *name.encode(), k]))
            for k in range(count)
        ]
        result[name] = {"sizes": of.of} | _summary(entries)
    return {"tables": sum(of["tables"] for of in result.values()), "all": _held(result.values()), "laws": result}


def _summary(entries):
    below = [of["below"] for entry in entries for of in entry["constants"].values()]
    wide = [
        name
        for name in entries[0]["constants"]
        if np.median([entry["constants"][name]["ratio"] or np.inf for entry in entries]) > FAR
    ]
    return {
        "tables": len(entries),
        "rows": entries[0]["rows"],
        "converged": sum(entry["ok"] for entry in entries),
        "constants": len(below),
        "in_90": sum(0.05 <= x <= 0.95 for x in below),
        "in_50": sum(0.25 <= x <= 0.75 for x in below),
        "not_known": wide,
        "seconds": float(np.median([entry["seconds"] for entry in entries])),
    }


def _held(results):
    total = {key: sum(of[key] for of in results) for key in ("tables", "converged", "constants", "in_90", "in_50")}
    return total | {"90%": total["in_90"] / total["constants"], "50%": total["in_50"] / total["constants"]}
