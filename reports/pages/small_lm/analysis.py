"""The analysis of small language models trained for this package: fits, frontiers, omega, calibration."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from ....datasets import load
from ....inference import fit, intervals
from ....inference.comparison.weights import sum_error
from ....inference.estimands.study_exponents import exponents_within
from ....inference.points.curves import COUNTED, curve_frontier, exponents_by_curves
from ....models import Chinchilla, Coupled, EmbeddingWeighted, Grouped
from ....models.draws import DRAWS
from ....models.loss.sizes import least_squares
from ...entries import fit_entry
from ...findings import Findings

STUDIES = ("small_models_left_out", "small_models_coverage")
STAGES = (
    "small models: fits",
    "small models: frontiers",
    "small models: omega",
    "small models: why E is missed",
    "small models: numbers",
)
SCHEMES = {
    "scheme-1": "one rate, constant",
    "scheme-2": "best rate, constant",
    "scheme-3": "best rate, cosine",
    "scheme-4": "best rate, cosine to six budgets",
}
MAIN = "scheme-4"
ONE_RATE, BEST_RATE = "scheme-1", "scheme-2"  # alike but for the learning rates of all sizes except the largest
COUPLED = "coupled"
THINNED = 4
TARGET_ACCEPT = 0.98


@dataclass
class SmallModelsFindings(Findings):
    """What `analyse` returns.

    Attributes
    ----------
    changed : dict of (str, str) to DataTree
        Fits with one thing changed, by scheme and by what was changed.
    changed_elpd : dict of (str, str) to ELPDData
        Leave-one-out of those on the same rows as the fit of the scheme.
    """

    runs: object
    tables: dict
    truth: dict
    fits: dict
    elpd: dict
    point: dict = field(default_factory=dict)
    seeds: dict = field(default_factory=dict)
    steps: dict = field(default_factory=dict)
    laws: dict = field(default_factory=dict)
    omega: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    changed_elpd: dict = field(default_factory=dict)
    elsewhere: dict = field(default_factory=dict)
    weighted: object = None
    joint: object = None
    entry: dict = field(default_factory=dict)


def of_scheme(runs, scheme):
    """Select the rows of a scheme: every reading at constant rates or of one budget, else the ends of runs.

    Parameters
    ----------
    runs : DataFrame
        As ``load("small_lm_runs")`` returns it.
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
    shared_options = {"seed": seed, "sampler": sampler, **settings}
    options = {"target_accept": TARGET_ACCEPT} | shared_options
    runs = load("small_lm_runs")
    tables = {scheme: of_scheme(runs, scheme) for scheme in SCHEMES}
    first = runs.iloc[0]
    truth = {"entropy": first["irreducible_loss"], "entropy_se": first["irreducible_loss_se"]}
    truth["oracle"] = float(first["loss_oracle"])
    curves = [scheme for scheme, table in tables.items() if table["run"].duplicated().any()]
    # Readings of one curve are not independent.
    laws = {scheme: Chinchilla(run_effects=scheme in curves) for scheme in tables}
    fits, elpd = stage("small models: fits", lambda: _fits(laws, tables, options))
    findings = SmallModelsFindings(runs, tables, truth, fits, elpd, studies=STUDIES)

    def frontiers(findings):
        for scheme in SCHEMES:
            _frontiers(findings, scheme, seed)

    stage.update(findings, "small models: frontiers", frontiers)
    stage.update(findings, "small models: omega", lambda findings: _omega(findings, options, shared_options))
    stage.update(findings, "small models: why E is missed", lambda findings: _changed(findings, laws, options))
    if "embedding-weighted" in earlier:
        findings.elsewhere = {"Chinchilla's runs": earlier["embedding-weighted"]["posterior"]["omega"]}
    findings.posteriors = {f"small models, {scheme}": f for scheme, f in fits.items()}
    findings.unsaved = {
        "small models, embeddings weighted": findings.weighted,
        "small models with Chinchilla's runs": findings.joint,
    } | {f"small models, {scheme}, {change}": f for (scheme, change), f in findings.changed.items()}
    findings.entry = stage("small models: numbers", lambda: _entry(findings), of=fits)
    findings.document = {"small_lm": findings.entry}
    return findings


def _fits(laws, tables, options):
    fits = {scheme: fit(laws[scheme], table, **options) for scheme, table in tables.items()}
    return fits, {scheme: f.loo() for scheme, f in fits.items()}


def _omega(findings, options, shared_options):
    findings.weighted = fit(EmbeddingWeighted(), findings.tables[MAIN], **options)
    together = Grouped(EmbeddingWeighted(), "corpus", shared=("omega",))
    corpora = {"chinchilla": load("chinchilla_runs"), "small models": findings.tables[MAIN]}
    columns = list(together.law.needed)
    table = pd.concat([runs[columns].assign(corpus=name) for name, runs in corpora.items()], ignore_index=True)
    # Groups want smaller steps than the rest of the page, and smaller yet where draws diverge.
    findings.joint = fit(together, table, **shared_options)
    both = {"these runs": findings.weighted, "with Chinchilla's runs": findings.joint}
    findings.omega = {name: fitted["posterior"]["omega"] for name, fitted in both.items()}


def _changed(findings, laws, options):
    """Fit coupled terms to every scheme, and one rate for all sizes with one thing changed at a time."""
    for scheme, law in laws.items():
        fitted = fit(Coupled(run_effects=law.run_effects), findings.tables[scheme], **options)
        findings.changed[scheme, COUPLED], findings.changed_elpd[scheme, COUPLED] = fitted, fitted.loo()
    table, law = findings.tables[ONE_RATE], laws[ONE_RATE]
    for change, (other, rows) in {
        "one sigma": (replace(law, scatter="one"), table),
        "normal noise": (replace(law, noise="normal"), table),
        "prior of a smaller reducible share": (replace(law, priors={"reducible_share": "Beta(2, 8)"}), table),
        "readings of the second half of each run": (law, second_half(table)),
        "best rates for the three smallest sizes": (law, with_best_rates(findings.tables, 3)),
    }.items():
        findings.changed[ONE_RATE, change] = fit(other, rows, **options)


def second_half(table):
    """Select the readings of the second half of each run."""
    last = table.groupby("run")["tokens"].transform("max")
    return table[table["tokens"] > last / 2].reset_index(drop=True)


def with_best_rates(tables, count):
    """Take the runs of the smallest sizes from the scheme of best rates, those of the others from that of one rate."""
    smallest = sorted(tables[ONE_RATE]["parameters"].unique())[:count]
    parts = [
        rows[rows["parameters"].isin(smallest) == (scheme == BEST_RATE)]
        for scheme, rows in tables.items()
        if scheme in (ONE_RATE, BEST_RATE)
    ]
    return pd.concat(parts, ignore_index=True)


def shortfalls(tables):
    """Compute by how much runs at one rate end above those at the best rate, mean over seeds, by size.

    Returns
    -------
    Series
        Nats per token, by number of parameters.
    """
    ends = []
    for scheme in (ONE_RATE, BEST_RATE):
        rows = tables[scheme]
        rows = rows[rows["tokens"] == rows.groupby("run")["tokens"].transform("max")]
        ends.append(rows.groupby("parameters")["loss"].mean())
    return ends[0] - ends[1]


def _frontiers(findings, scheme, seed):
    table, posterior = findings.tables[scheme], findings.fits[scheme]["posterior"].to_dataset()
    thinned = posterior.isel(draw=slice(None, None, THINNED))
    draws = findings.fits[scheme].draws
    replicated = draws.replicate(np.random.default_rng(seed)).isel(draw=slice(None, None, THINNED))
    replicated = draws.law.from_scale(replicated.transpose(*DRAWS, "run").values.reshape(-1, len(table)))
    sizes = table.drop_duplicates("parameters")
    gamma, delta = least_squares(sizes)
    low, high = sizes[COUNTED["nonembedding"]].min(), sizes[COUNTED["nonembedding"]].max()
    for basis in COUNTED:
        findings.point[scheme, basis] = curve_frontier(table, basis=basis)
        findings.seeds[scheme, basis] = {
            int(seed): intervals.finite(curve_frontier(rows, basis=basis)["exponent"])
            for seed, rows in table.groupby("seed")
        }
        findings.steps[scheme, basis] = exponents_by_curves(table, replicated.T, basis=basis)
    findings.laws[scheme, "total"] = posterior["exponent_parameters"]
    findings.laws[scheme, "nonembedding"] = exponents_within(thinned, low, high, gamma=gamma, delta=delta)["size"]


def _entry(findings):
    entry = {
        "language": findings.truth,
        "truth": _truths(findings),
        "shortfall_at_one_rate": {f"{size:.0f}": float(x) for size, x in shortfalls(findings.tables).items()},
        "changed": {f"{scheme}, {change}": _floor(findings, f) for (scheme, change), f in findings.changed.items()},
        "schemes": {},
        "omega": {},
    }
    entry["why_missed"] = _why_missed(entry)
    for scheme in SCHEMES:
        table, posterior = findings.tables[scheme], findings.fits[scheme]["posterior"]
        excess = posterior["E"] - findings.truth["entropy"]
        entry["schemes"][scheme] = {
            "rows": len(table),
            "runs": int(table["run"].nunique()),
            "law": fit_entry(findings.fits[scheme]),
            "E_minus_entropy": intervals.summary(excess),
            "p_E_above_entropy": float((excess > 0).mean()),
            "exponent": {
                basis: {
                    "envelope": intervals.finite(findings.point[scheme, basis]["exponent"]),
                    "envelope_by_seed": findings.seeds[scheme, basis],
                    "envelope_of_the_law": _predicted(
                        findings.steps[scheme, basis], findings.point[scheme, basis]["exponent"]
                    ),
                    "law": intervals.summary(findings.laws[scheme, basis]),
                }
                for basis in COUNTED
            },
        }
    for scheme, of in findings.study("small_models_left_out").items():
        entry["schemes"][scheme] |= of
    entry["omega"] = {
        label: intervals.summary(x) | {"p_above_half": float((x > 0.5).mean())} for label, x in findings.omega.items()
    }
    entry["calibration"] = findings.study("small_models_coverage")
    return entry


def _floor(findings, fitted):
    """Return a summary of the fitted E, the entropy of the language, and whether the 95% interval holds it."""
    E, entropy = fitted["posterior"]["E"], float(findings.truth["entropy"])
    entry = {"fitted": intervals.summary(E), "known": entropy, "E_minus_entropy": intervals.summary(E - entropy)}
    return entry | {"holds": entry["fitted"]["q2.5"] <= entropy <= entry["fitted"]["q97.5"]}


def _truths(findings):
    """Return `_floor` of each scheme, and of coupled terms with their elpd minus that of the fit of the scheme."""
    entries = {}
    for scheme, fitted in findings.fits.items():
        difference = findings.changed_elpd[scheme, COUPLED].elpd_i.values - findings.elpd[scheme].elpd_i.values
        entries[scheme] = _floor(findings, fitted) | {
            COUPLED: _floor(findings, findings.changed[scheme, COUPLED])
            | {"elpd_diff": float(difference.sum()), "dse": float(sum_error(difference))}
        }
    return entries


def _why_missed(entry):
    """Return a few sentences on why E is missed at one rate; None where it is not."""
    truth, shortfall = entry["truth"], list(entry["shortfall_at_one_rate"].values())
    if truth[ONE_RATE]["holds"]:
        return None
    below, best = (truth[scheme]["fitted"]["q50"] - truth[scheme]["known"] for scheme in (ONE_RATE, BEST_RATE))
    smaller = shortfall[:-1]
    return (
        "Scheme 1 trains every size at one learning rate, which is the best rate of the largest size alone. The "
        f"smaller sizes end {min(smaller):.2f} to {max(smaller):.2f} nats above what they reach at their best rates. "
        "The largest size therefore looks better than its size makes it, and the law extrapolates a loss that falls "
        f"further with size. The median of E is {_from_entropy(below)}; with the best rates (scheme 2) it is "
        f"{_from_entropy(best)}."
    )


def _from_entropy(difference):
    return f"{abs(difference):.2f} nats {'below' if difference < 0 else 'above'} the entropy"


def _predicted(slopes, observed):
    """Return a summary of slopes of replicated envelopes, or None; ``p`` of the observed one is two-sided.

    ``one_size`` is the share of replicates whose envelope has one best size and no slope.
    """
    values = np.ravel(slopes)
    there = values[np.isfinite(values)]
    if not len(there):
        return None
    tails = (there <= observed).mean(), (there >= observed).mean()
    p = min(1.0, 2 * min(tails)) if np.isfinite(observed) else None
    return intervals.summary(there) | {"p": p, "one_size": float(1 - len(there) / len(values))}
