"""The analysis of small language models trained for this package: fits, frontiers, omega, calibration."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...datasets import load
from ...inference import draws_of, fit, loo, loo_by_group
from ...inference.calibration.simulation import calibrate, calibration_table
from ...inference.loo.weights import sum_error
from ...inference.points.curves import COUNTED, curve_frontier
from ...inference.quantities.reconciliation import exponents_within
from ...models import Chinchilla, EmbeddingWeighted, Grouped
from ...models.draws import DRAWS
from ...models.loss.sizes import least_squares
from .. import results
from ..entries import fit_entry
from ..findings import Findings

LEFT_OUT, CALIBRATION = "small models: runs left out", "small models: calibration"
EXTRAS = (LEFT_OUT, CALIBRATION)
STAGES = (
    "small models: fits",
    LEFT_OUT,
    "small models: frontiers",
    "small models: omega",
    CALIBRATION,
    "small models: numbers",
)
SCHEMES = {
    "scheme-1": "one rate, constant",
    "scheme-2": "best rate, constant",
    "scheme-3": "best rate, cosine",
    "scheme-4": "best rate, cosine to six budgets",
}
MAIN = "scheme-4"
THINNED = 4
SIMULATIONS = 20
TARGET_ACCEPT = 0.98


@dataclass
class SmallModelsFindings(Findings):
    """What `analyse` found."""

    runs: object
    tables: dict
    truth: dict
    fits: dict
    elpd: dict
    alone: dict
    point: dict = field(default_factory=dict)
    seeds: dict = field(default_factory=dict)
    steps: dict = field(default_factory=dict)
    laws: dict = field(default_factory=dict)
    omega: dict = field(default_factory=dict)
    elsewhere: dict = field(default_factory=dict)
    weighted: object = None
    joint: object = None
    calibration: object = None
    entry: dict = field(default_factory=dict)


def of_scheme(runs, scheme):
    """Select the rows that a scheme reads: every reading at constant rates or of one budget, else the ends of runs.

    Parameters
    ----------
    runs : DataFrame
        As ``load("small_lm_runs")`` gives it.
    scheme : str
    """
    rows = runs[[scheme in names.split() for names in runs["scheme"]]]
    if (rows["schedule"] != "constant").any() and rows["budget_fraction"].nunique() > 1:
        rows = rows[rows["annealed"] == 1]
    rows = rows.reset_index(drop=True)
    rows.attrs["source"] = f"small_lm_runs, {scheme}"
    return rows


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the Chinchilla law to each scheme, read its frontier, and estimate E and omega; see `Page.analyse`."""
    # Few sizes leave E and the exponents strongly dependent.
    asked = {"seed": seed, "sampler": sampler, **settings}
    options = {"target_accept": TARGET_ACCEPT} | asked
    runs = load("small_lm_runs")
    tables = {scheme: of_scheme(runs, scheme) for scheme in SCHEMES}
    first = runs.iloc[0]
    truth = {"entropy": first["irreducible_loss"], "entropy_se": first["irreducible_loss_se"]}
    truth["oracle"] = float(first["loss_oracle"])
    curves = [scheme for scheme, table in tables.items() if table["run"].duplicated().any()]
    # Readings of one curve share the luck of their run.
    laws = {scheme: Chinchilla(run_effects=scheme in curves) for scheme in tables}
    fits, elpd = stage("small models: fits", lambda: _fits(laws, tables, options))
    alone = stage.extra(
        LEFT_OUT, lambda: {scheme: _alone(fits[scheme], tables[scheme], options) for scheme in curves}, default={}
    )
    found = SmallModelsFindings(runs, tables, truth, fits, elpd, alone, extras=stage.extras)

    def frontiers(found):
        for scheme in SCHEMES:
            _frontiers(found, scheme, seed)

    stage.update(found, "small models: frontiers", frontiers)
    stage.update(found, "small models: omega", lambda found: _omega(found, options, asked))
    if "embedding-weighted" in earlier:
        found.elsewhere = {"Chinchilla's runs": earlier["embedding-weighted"]["posterior"]["omega"]}
    found.calibration = stage.extra(CALIBRATION, lambda: _calibrated(found, seed, sampler))
    found.posteriors = {f"small models, {scheme}": f for scheme, f in fits.items()}
    found.unsaved = {
        "small models, embeddings weighted": found.weighted,
        "small models with Chinchilla's runs": found.joint,
    }
    extras = stage.there(LEFT_OUT, CALIBRATION)
    found.entry = stage("small models: numbers", lambda: _entry(found), judged=fits.values(), extras=extras)
    found.document = {"small_lm": found.entry}
    return found


def _fits(laws, tables, options):
    fits = {scheme: fit(laws[scheme], table, **options) for scheme, table in tables.items()}
    return fits, {scheme: loo(f) for scheme, f in fits.items()}


def _alone(fitted, table, options):
    """Fit a scheme's readings as independent rows, and leave runs out under either law."""
    independent = fit(Chinchilla(), table, **options)
    return independent, _runs_left_out(fitted, independent, options["seed"])


def _omega(found, options, asked):
    found.weighted = fit(EmbeddingWeighted(), found.tables[MAIN], **options)
    together = Grouped(EmbeddingWeighted(), "corpus", shared=("omega",))
    corpora = {"chinchilla": load("chinchilla_runs"), "small models": found.tables[MAIN]}
    columns = list(together.law.needed)
    table = pd.concat([runs[columns].assign(corpus=name) for name, runs in corpora.items()], ignore_index=True)
    # Groups want smaller steps than the rest of the page, and smaller yet where draws diverge.
    found.joint = fit(together, table, **asked)
    both = {"these runs": found.weighted, "with Chinchilla's runs": found.joint}
    found.omega = {name: each["posterior"]["omega"] for name, each in both.items()}


def _calibrated(found, seed, sampler):
    posterior = found.fits[MAIN]["posterior"]
    simulated = calibrate(
        Chinchilla(),
        found.tables[MAIN],
        truth={name: float(posterior[name].median()) for name in Chinchilla().prior_of},
        simulations=SIMULATIONS,
        seed=seed,
        sampler=sampler,
        target_accept=TARGET_ACCEPT,
    )
    return calibration_table(simulated)


def _runs_left_out(fitted, independent, seed):
    """Log scores of runs left out whole, under run effects and with independent rows, and their difference."""
    shared, apart = (loo_by_group(f, by="run", seed=seed)["elpd"] for f in (fitted, independent))
    return {
        "elpd": float(shared.sum()),
        "elpd_independent": float(apart.sum()),
        "difference": float((shared - apart).sum()),
        "se": float(sum_error(shared - apart)),
    }


def _frontiers(found, scheme, seed):
    table, posterior = found.tables[scheme], found.fits[scheme]["posterior"].to_dataset()
    thinned = posterior.isel(draw=slice(None, None, THINNED))
    draws = draws_of(found.fits[scheme])
    replicated = draws.replicate(np.random.default_rng(seed)).isel(draw=slice(None, None, THINNED))
    replicated = draws.law.from_scale(replicated.transpose(*DRAWS, "run").values.reshape(-1, len(table)))
    sizes = table.drop_duplicates("parameters")
    gamma, delta = least_squares(sizes)
    low, high = sizes[COUNTED["nonembedding"]].min(), sizes[COUNTED["nonembedding"]].max()
    for basis in COUNTED:
        found.point[scheme, basis] = curve_frontier(table, basis=basis)
        found.seeds[scheme, basis] = {
            int(seed): results.finite(float(curve_frontier(rows, basis=basis)["size"]))
            for seed, rows in table.groupby("seed")
        }
        found.steps[scheme, basis] = curve_frontier(table, replicated, basis=basis)
    found.laws[scheme, "total"] = posterior["exponent_parameters"]
    found.laws[scheme, "nonembedding"] = exponents_within(thinned, low, high, gamma=gamma, delta=delta)["size"]


def _entry(found):
    entry = {"truth": found.truth, "schemes": {}, "omega": {}}
    for scheme in SCHEMES:
        table, posterior = found.tables[scheme], found.fits[scheme]["posterior"]
        excess = posterior["E"] - found.truth["entropy"]
        entry["schemes"][scheme] = {
            "rows": len(table),
            "runs": int(table["run"].nunique()),
            "law": fit_entry(found.fits[scheme], found.elpd[scheme]),
            "E_minus_entropy": results.summary(excess),
            "p_E_above_entropy": float((excess > 0).mean()),
            "exponent": {
                basis: {
                    "envelope": results.finite(float(found.point[scheme, basis]["size"])),
                    "envelope_by_seed": found.seeds[scheme, basis],
                    "envelope_of_the_law": _predicted(
                        found.steps[scheme, basis]["size"], float(found.point[scheme, basis]["size"])
                    ),
                    "law": results.summary(found.laws[scheme, basis]),
                }
                for basis in COUNTED
            },
        }
    for scheme, (independent, left_out) in found.alone.items():
        posterior = independent["posterior"]
        entry["schemes"][scheme]["runs_left_out"] = left_out
        entry["schemes"][scheme]["independent_rows"] = {
            "E_minus_entropy": results.summary(posterior["E"] - found.truth["entropy"]),
            "exponent": results.summary(posterior["exponent_parameters"]),
        }
    entry["omega"] = {
        label: results.summary(x) | {"p_above_half": float((x > 0.5).mean())} for label, x in found.omega.items()
    }
    if found.calibration is not None:
        entry["calibration"] = {
            "simulations": found.calibration.attrs["simulations"],
            "not_converged": found.calibration.attrs["not_converged"],
            "quantities": results.comparison_entries(found.calibration),
        }
    return entry


def _predicted(slopes, observed):
    """Summary of slopes of replicated envelopes, or None; ``p`` of the observed one among them, two-sided.

    ``one_size`` is the share of replicates whose envelope has one best size and no slope.
    """
    values = np.ravel(slopes)
    there = values[np.isfinite(values)]
    if not len(there):
        return None
    tails = (there <= observed).mean(), (there >= observed).mean()
    p = min(1.0, 2 * min(tails)) if np.isfinite(observed) else None
    return results.summary(there) | {"p": p, "one_size": float(1 - len(there) / len(values))}
