"""Tables of training runs as people plan them, each with its truth; run it to ask how many runs a design needs.

``python tests/ordinary/designs.py --design ladder-5x6 --noise 0.003`` fits simulated tables of a design with the
default call. It prints the width of the exponent of the best size. Of 90% intervals it counts those that hold the
exponent, the best size within the runs, and the loss of a run left out.
"""

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.quoted import quote_draws

NOISES = (0.0005, 0.003, 0.01, 0.05)  # standard deviation of log loss
CONSTANTS = {"E": 1.7, "A": 406.0, "B": 411.0, "alpha": 0.34, "beta": 0.28}
TRUTHS = {  # mean losses at sizes and tokens
    "chinchilla": lambda n, d: bs.laws.Chinchilla.loss(n, d, **CONSTANTS),
    "coupled": lambda n, d: bs.laws.Coupled.loss(n, d, **CONSTANTS, kappa=0.7),
    "offsets": lambda n, d: bs.laws.Chinchilla.loss(n + 4e6, d - 1e8, **CONSTANTS),
}
EXPONENT_NAME = "exponent_parameters"
EXPONENT = CONSTANTS["beta"] / (CONSTANTS["alpha"] + CONSTANTS["beta"])
LEVEL = (0.05, 0.95)
UNDERTUNED = 0.04  # mean rise of the log loss of runs that are not tuned


def optimum(compute):
    """Return roughly the best size at budgets in FLOP."""
    return 1.4 * (compute / 6) ** 0.45


def ladder(budgets, sizes, rng, *, low=3e17, high=1e20, jitter=0.0):
    """Return sizes and tokens of an iso-FLOP ladder, by default with the same steps about the optimum everywhere."""
    compute = np.repeat(np.geomspace(low, high, budgets), sizes)
    parameters = optimum(compute) * np.tile(np.geomspace(1 / 5, 5, sizes), budgets)
    parameters = parameters * np.exp(jitter * rng.standard_normal(len(parameters)))
    return parameters, compute / (6 * parameters)


def grid(sizes, tokens):
    """Return sizes and tokens of a grid."""
    n, d = np.meshgrid(np.geomspace(2e7, 1e9, sizes), np.geomspace(5e8, 2e10, tokens), indexing="ij")
    return n.ravel(), d.ravel()


def along(parameters, ratios):
    """Return sizes and tokens of runs of some tokens per parameter at each size."""
    parameters = np.repeat(parameters, len(ratios))
    return parameters, parameters * np.tile(ratios, len(parameters) // len(ratios))


def checkpoints(rng):
    """Return sizes and tokens of readings of few runs."""
    n, d = np.meshgrid(np.geomspace(1e7, 3e8, 5), np.arange(1, 13) * 1e9, indexing="ij")
    return n.ravel(), d.ravel()


def with_one_large(rng):
    """Return a small ladder and one run of ten times its largest compute."""
    n, d = ladder(3, 5, rng, low=3e17, high=1e19)
    return np.append(n, optimum(1e20)), np.append(d, 1e20 / (6 * optimum(1e20)))


SEVERAL = np.geomspace(2e7, 1e9, 8)
DESIGNS = {
    "ladder-5x6": lambda rng: ladder(5, 6, rng),
    "ladder-5x6-jittered": lambda rng: ladder(5, 6, rng, jitter=0.1),
    "ladder-3x5": lambda rng: ladder(3, 5, rng),
    "ladder-9x7": lambda rng: ladder(9, 7, rng),
    **{f"grid-{n}x{d}": lambda rng, n=n, d=d: grid(n, d) for n, d in ((2, 3), (2, 4), (3, 3), (3, 6), (4, 4), (6, 6))},
    "grid-15x20": lambda rng: grid(15, 20),
    "twenty-tokens-a-parameter": lambda rng: along(SEVERAL, [20]),
    "one-budget": lambda rng: ladder(1, 9, rng, low=1e19),
    "one-size": lambda rng: (np.full(8, 1e8), np.geomspace(5e8, 5e10, 8)),
    "one-token-count": lambda rng: (SEVERAL, np.full(8, 1e10)),
    "three-seeds": lambda rng: tuple(np.tile(x, 3) for x in grid(4, 4)),
    "checkpoints": checkpoints,
    "ladder-and-one-large": with_one_large,
    "overtrained": lambda rng: along(np.geomspace(1e7, 3e8, 5), [200, 600, 2000]),
    "half-undertuned": lambda rng: ladder(5, 6, rng, jitter=0.05),
    "four-runs": lambda rng: ladder(1, 4, rng, low=1e19),
}


@dataclass(frozen=True)
class Planned:
    """A simulated table of runs with its truth.

    Attributes
    ----------
    table : DataFrame
        ``parameters``, ``tokens`` and ``loss``; of checkpoints also ``run``.
    left_out : DataFrame
        A run within the sizes of the others, with its observed loss.
    truth : str
        Of `TRUTHS`.
    noise : float
    """

    table: pd.DataFrame
    left_out: pd.DataFrame
    truth: str
    noise: float

    def best_size(self, compute):
        """Return the true best size at a budget in FLOP."""
        sizes = optimum(compute) * np.geomspace(0.05, 20, 40_001)
        return float(sizes[TRUTHS[self.truth](sizes, compute / (6 * sizes)).argmin()])


def planned(design, seed, *, truth=None, noise=None):
    """Simulate a table of a design, under a truth and a noise that by default go round with the seed."""
    rng = np.random.default_rng([len(design), seed])
    truth = [*TRUTHS][seed % len(TRUTHS)] if truth is None else truth
    noise = NOISES[seed % len(NOISES)] if noise is None else noise
    parameters, tokens = DESIGNS[design](rng)
    parameters, tokens = np.append(parameters, _inside(parameters)), np.append(tokens, _inside(tokens))
    error = noise * rng.standard_normal(len(parameters))
    if design == "checkpoints":  # readings of a run share what its seed did
        runs = np.append(np.repeat(np.arange(5), 12), 5)
        error += 2 * noise * rng.standard_normal(6)[runs]
    if design == "half-undertuned":
        error[:-1:2] += UNDERTUNED * rng.exponential(size=len(error[:-1:2]))
    table = pd.DataFrame({"parameters": np.round(parameters), "tokens": np.round(tokens)})
    table["loss"] = TRUTHS[truth](table["parameters"], table["tokens"]) * np.exp(error)
    table = table.assign(run=[f"run-{i}" for i in runs]) if design == "checkpoints" else table
    return Planned(table.iloc[:-1], table.iloc[-1:].reset_index(drop=True), truth, noise)


def _inside(sizes):
    return float(np.exp((np.log(sizes.min()) + 2 * np.log(sizes.max())) / 3))


def carried_by(case, law="coupled"):
    """Return the law that the rows carry: the one requested, or the one that its refusal names."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = bs.read(case.table, needed=bs.law(law).needed)
        bs.law(law).suited(rows).rows(rows)
    except bs.InputError as error:
        named = str(error).partition("bayescaling fit ")[2].split()
        return named[0] if named else law
    return law


def fitted(case, law="coupled"):
    """Read a simulated table and fit it with the default call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        law = bs.law(law, run_effects=True) if "run" in case.table else bs.law(law)  # as the reader proposes
        needed = (*law.needed, *(["run"] if law.run_effects else []))
        return bs.fit(law, bs.read(case.table, needed=needed), seed=1)


def exponent(fit):
    """Return the draws of the exponent of the best size that are quoted."""
    return quote_draws(fit, fit["posterior"][EXPONENT_NAME]).values.ravel()


def held(case, fit):
    """Return whether 90% intervals of a fit hold the exponent, the best size within the runs, and the run left out.

    Returns
    -------
    dict of str to bool
        What the truth and the law have.
    """
    compute = 6 * case.table["parameters"] * case.table["tokens"]
    budget, within = float(np.exp(np.log(compute).mean())), {}
    left_out = case.left_out.assign(training_flop=6 * case.left_out["parameters"] * case.left_out["tokens"])
    loss = fit.predict(left_out, seed=1)["loss"].values.ravel()
    within["run left out"] = _holds(loss, float(left_out["loss"].iloc[0]))
    if EXPONENT_NAME in fit["posterior"]:
        size = _holds(fit.allocate(budget)["parameters"], case.best_size(budget))
        if case.truth == "offsets":  # which the coupled law is not, though few rows may not reject it
            within["best size under another law"] = size
        else:
            within |= {"exponent": _holds(exponent(fit), EXPONENT), "best size": size}
    return within


def _holds(draws: Any, truth):
    low, high = np.quantile(np.ravel(draws), LEVEL)
    return bool(low <= truth <= high)


def main():
    """Print what a design tells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--design", choices=DESIGNS, nargs="*", default=[*DESIGNS])
    parser.add_argument("--noise", type=float)
    parser.add_argument("--truth", choices=TRUTHS)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    for design in options.design:
        shares, widths, converged = {}, [], 0
        for seed in range(options.seeds):
            case = planned(design, seed, truth=options.truth, noise=options.noise)
            law = carried_by(case)
            fit = fitted(case, law)
            for name, inside in held(case, fit).items():
                shares.setdefault(name, []).append(inside)
            converged += fit.diagnostics["ok"]
            if EXPONENT_NAME in fit["posterior"]:
                widths.append(float(np.ptp(np.quantile(exponent(fit), (0.025, 0.975)))))
        width = f"{np.median(widths):.3f}" if widths else "none"
        texts = ", ".join(f"{name} {sum(x)} of {len(x)}" for name, x in shares.items())
        print(
            f"{design}, {len(case.table)} runs, {law}: {converged} converged; width of the exponent {width}; {texts}",
            flush=True,
        )


if __name__ == "__main__":
    main()
