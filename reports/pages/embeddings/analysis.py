"""The analysis of embedding parameters: fits, the reconciliation, omega, planning."""

from dataclasses import dataclass, field

import numpy as np

from ....datasets import CHINCHILLA_VOCABULARY, load
from ....inference import Fitter, compare, fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.comparison.weights import sum_error
from ....inference.estimands.allocate import decades_outside
from ....inference.estimands.strength import DIRECTION
from ....inference.estimands.study_exponents import (
    BASES,
    KAPLAN_EXPONENT,
    Study,
    constants_and_family,
    exponents_within,
    frontier_exponents,
    local_exponents,
    study_exponents,
)
from ....inference.words import si
from ....models import Configurations, EmbeddingCorrected, EmbeddingWeighted, Kaplan
from ....models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ....models.loss.sizes import chinchilla_configurations, estimates
from ....plots.published import chinchilla_constants
from ... import results
from ...entries import fit_entry
from ...findings import Findings
from ...laws import CHINCHILLA as UNWEIGHTED
from ...laws import LAWS as OF_CHINCHILLA
from ...laws import PLANNED as OF_OTHER_MEANS

STAGES = (
    "sizes of models",
    "laws of embeddings",
    "embeddings: leave-one-out",
    "reconciliation",
    "planning",
    "embeddings: numbers",
)
MAIN = "embedding-corrected"
LAWS = {
    MAIN: EmbeddingCorrected(),
    "embedding-corrected, joint": EmbeddingCorrected(joint=True),
    "embedding-weighted": EmbeddingWeighted(),
    "embedding-weighted, omega 0": EmbeddingWeighted(omega=0.0),
    "embedding-weighted, one sigma": EmbeddingWeighted(scatter="one"),
    "embedding-weighted, coupled": EmbeddingWeighted(coupled=True),
    "embedding-weighted, coupled, one sigma": EmbeddingWeighted(coupled=True, scatter="one"),
    "kaplan": Kaplan(),
}
OMEGAS = {"omega 0": "embedding-weighted, omega 0", "omega 1": UNWEIGHTED, "omega free": "embedding-weighted"}
PLANNED = (UNWEIGHTED, "embedding-weighted", "embedding-weighted, omega 0", "kaplan")
# Each law that learns omega, and the same law and noise with omega held at 1.
FREE = {
    "embedding-weighted": UNWEIGHTED,
    "embedding-weighted, one sigma": "chinchilla, one sigma",
    "embedding-weighted, coupled": "coupled",
    "embedding-weighted, coupled, one sigma": "coupled, one sigma",
}
HELD = {name: OF_CHINCHILLA[name] for name in dict.fromkeys((*FREE.values(), *OF_OTHER_MEANS))}
BUDGETS = (1e15, 1e18, 1e21, 1e24)
VOCABULARIES = (8_000, 32_000, 128_000, 256_000)
SHAPES = (16, 54, 128)
WINDOWS = ((2.9, 5.0), (5.0, 7.0), (7.0, 9.2), (9.2, 11.5))
SIZES = np.logspace(2, 13, 89)
PUBLISHED_GAMMA = 47491.0


@dataclass
class EmbeddingsFindings(Findings):
    """What `analyse` returns.

    Attributes
    ----------
    rivals : dict of str to Fit
        Laws of all parameters and tokens that are compared on Chinchilla's runs, by name.
    by_law : dict of str to dict of str to Dataset
        From `study_exponents`, of each of them.
    """

    table: object
    sizes: object
    estimates: dict
    fits: dict
    rivals: dict
    elpd: dict
    comparison: object
    published: dict
    by_law: dict = field(default_factory=dict)
    exponents: dict = field(default_factory=dict)
    exact: dict = field(default_factory=dict)
    fixed: dict = field(default_factory=dict)
    local: dict = field(default_factory=dict)
    by_study: list = field(default_factory=list)
    allocations: dict = field(default_factory=dict)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the laws that count embedding parameters apart, reconcile, weigh and plan; see `Page.analyse`."""
    options = {"seed": seed, "sampler": sampler, **settings}
    runs, table = load("chinchilla_runs"), chinchilla_configurations()
    sizes = stage("sizes of models", lambda: fit(Configurations(), table, **options))
    needed = {name: law for name, law in (HELD | LAWS).items() if not (name in HELD and name in earlier)}
    fitted = stage(
        "laws of embeddings",
        lambda: {name: Fitter(law, runs, sampler=sampler).fit(seed=seed, **settings) for name, law in needed.items()},
        fitted=list(needed),
    )
    fits = {name: fitted[name] if name in fitted else earlier[name] for name in (*HELD, *LAWS)}
    of_chinchilla = earlier | fits
    rivals = {name: of_chinchilla[name] for name in OF_CHINCHILLA if name in of_chinchilla}
    elpd = stage(
        "embeddings: leave-one-out",
        lambda: {name: f.loo() for name, f in (fits | rivals).items()},
        of=fits | rivals,
    )
    comparison = compare(fits)
    sets = chinchilla_constants(published)
    points = estimates(table, CHINCHILLA_VOCABULARY)
    findings = EmbeddingsFindings(table, sizes, points, fits, rivals, elpd, comparison, sets)
    vars(findings).update(stage("reconciliation", lambda: _reconcile(findings), of=fits | rivals))
    findings.allocations = stage("planning", lambda: _plan(fits), of=fits)
    findings.posteriors = fits | {"configurations": sizes}
    findings.document = stage("embeddings: numbers", lambda: _document(findings), of=fits | rivals)
    return findings


def _reconcile(findings):
    """Return attributes of the findings by name."""
    main, published = findings.fits[MAIN], findings.published.items()
    posterior, gamma, delta = constants_and_family(main)
    by_study = []
    for low, high in WINDOWS:
        slopes = exponents_within(posterior, 10.0**low, 10.0**high, gamma=gamma, delta=delta)["size"]
        by_study.append((f"N_x from {si(10**low)} to {si(10**high)}", slopes))
    for label, name, values in (("vocabulary {:,}", "vocabulary", VOCABULARIES),
                                ("width over depth {}", "aspect_ratio", SHAPES)):  # fmt: skip
        by_study += [(label.format(x), study_exponents(main, **{name: x})["nonembedding"]["size"]) for x in values]
    return {
        "by_law": {name: study_exponents(f) for name, f in findings.rivals.items()},
        "exponents": study_exponents(main),
        "exact": study_exponents(main, study=Study(exact=True)),
        "fixed": {
            (source, basis, exact): frontier_exponents(
                constants, basis=basis, gamma=PUBLISHED_GAMMA, study=Study(exact=exact)
            )
            for source, constants in published
            for basis in BASES
            for exact in (False, True)
        },
        "local": {source: local_exponents(constants, SIZES, gamma=PUBLISHED_GAMMA) for source, constants in published}
        | {"posterior": local_exponents(posterior, SIZES, gamma=gamma, delta=delta)},
        "by_study": by_study,
    }


def _plan(fits):
    return {
        vocabulary: {name: fits[name].allocate(BUDGETS, vocabulary=vocabulary) for name in PLANNED}
        for vocabulary in (CHINCHILLA_VOCABULARY, VOCABULARIES[-1])
    }


def at_least(slopes, value=KAPLAN_EXPONENT):
    """Return the share of draws with an exponent of at least `value`."""
    return float((slopes >= value).mean())


def law_entries(findings):
    """Return entries of the exponents by law and noise, with and without embeddings, and elpd against the best.

    A law that predicts worse than the best by more than two standard errors is rejected.
    """
    values = {name: findings.elpd[name].elpd_i.values for name in findings.by_law}
    best = max(values, key=lambda name: values[name].sum())
    entries = {}
    for name in sorted(values, key=lambda name: -values[name].sum()):
        difference = values[name] - values[best]
        error = float(sum_error(difference))
        without, counted = (findings.by_law[name][basis]["size"] for basis in BASES)
        entries[name] = {
            **{basis: intervals.summary(findings.by_law[name][basis]["size"]) for basis in BASES},
            "elpd_diff": float(difference.sum()),
            "dse": error,
            "rejected": bool(is_apart(difference.sum(), error)),
            "verdict": {key: findings.rivals[name].check()[key] for key in ("verdict", "p", "size")},
            "p_above_0.73": findings.by_law[name].p_kaplan,
            "p_rises": float((without > counted).mean()),
        }
    return entries


def _direction(by_law):
    """Return whether leaving embeddings out raises the exponent under every law and noise that is not rejected."""
    accepted = {name: one for name, one in by_law.items() if not one["rejected"]}
    return {"laws": list(accepted), "rises": all(one["p_rises"] > DIRECTION[0] for one in accepted.values())}


def decades_beyond(runs, study=None):
    """Compute how far a study's budgets lie outside the fitted runs' compute, in decades, by basis.

    Returns
    -------
    dict of str to float
        The largest of either end: above the runs (positive) or below (negative), 0 within.
    """
    study = study or Study()
    sizes = {"nonembedding": runs["parameters_nonembedding"], "total": runs["parameters"]}
    decades = {}
    for basis, budgets in zip(BASES, study.budgets, strict=True):
        flop = FLOP_PER_PARAMETER_TOKEN * sizes[basis] * runs["tokens"]
        outside = decades_outside(10.0 ** np.array(budgets), flop.min(), flop.max())
        decades[basis] = float(outside[np.abs(outside).argmax()])
    return decades


def omega_entry(findings):
    """Return the entry of omega: its summary by law and noise, P(omega > 1/2), and elpd of omega 0, 1 and free."""
    by = {name: _omega(findings, name) | _against(findings, name, held) for name, held in FREE.items()}
    best = max(by, key=lambda name: by[name]["elpd_loo"])
    rows = {label: _against(findings, name, UNWEIGHTED) for label, name in OMEGAS.items()}
    return _omega(findings, best) | {"law": best, "by_law": by, "loo": rows}


def _omega(findings, name):
    fitted = findings.fits[name]
    omega = fitted["posterior"]["omega"]
    robust = fitted.robust_sd(omega)["robust_sd"].max()
    return {"omega": intervals.summary(omega), "robust_sd": float(robust), "p_above_half": float((omega > 0.5).mean())}


def _against(findings, name, held):
    values, other = (findings.elpd[law].elpd_i.values for law in (name, held))
    difference = values - other
    return {
        "elpd_loo": float(values.sum()),
        "difference_to_omega_1": float(difference.sum()),
        "its_se": float(sum_error(difference)),
    }


def _document(findings):
    exponents = {
        basis: {source: float(findings.fixed[source, basis, False]["size"][0]) for source in findings.published}
        | {"posterior": intervals.summary(findings.exponents[basis]["size"])}
        for basis in BASES
    }
    sizes = findings.sizes["posterior"]
    by_law = law_entries(findings)
    beyond = decades_beyond(load("chinchilla_runs"))
    reconciliation = {
        "local_exponent": exponents,
        "by_law": by_law,
        "direction": _direction(by_law),
        "decades_beyond": max(beyond.values(), key=abs),
        "decades_beyond_by_basis": beyond,
        "configurations": findings.estimates
        | {"posterior": {n: intervals.summary(sizes[n]) for n in ("gamma", "delta", "aspect_ratio")}},
        "exact_budgets": {basis: intervals.summary(findings.exact[basis]["size"]) for basis in BASES},
        "p_exponent_above_0.73": findings.exponents.p_kaplan,
        "loss_exponents": {
            basis: {n: intervals.summary(findings.exponents[basis][n]) for n in ("loss", "reducible_loss")}
            for basis in BASES
        },
        "highest_local_exponent": {
            "exponent": intervals.summary(findings.local["posterior"]["highest"]),
            "parameters_nonembedding": intervals.summary(findings.local["posterior"]["highest_at"], ratio=True),
        },
        "moved": {
            label: intervals.summary(slopes) | {"p_above_0.73": at_least(slopes)} for label, slopes in findings.by_study
        },
        "omega": omega_entry(findings),
        "comparison": results.comparison_document(findings.comparison),
        "planning": [
            entry | {"vocabulary": vocabulary}
            for vocabulary, allocations in findings.allocations.items()
            for name, allocation in allocations.items()
            for entry in allocation.entries(name)
        ],
    }
    rank = findings.comparison["rank"]
    laws = {
        name: fit_entry(f) | {"rank_among_embedding_laws": int(rank[name])}
        for name, f in findings.fits.items()
        if name not in HELD
    }
    return {"laws": laws, "reconciliation": reconciliation}
