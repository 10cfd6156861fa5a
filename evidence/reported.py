"""Studies of the laws of pages of a report: coverage, errors of readings, what is left out whole, and fits compared.

``bayescaling report --all`` makes the last of these itself.
"""

import re

import bayescaling as bs
import numpy as np
from bayescaling.inference import intervals
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.reports.cache.stages import Stages
from bayescaling.reports.laws import CHINCHILLA, LAWS, NOISES, SPECIFICATIONS_STUDY
from bayescaling.reports.pages import PAGES
from bayescaling.reports.pages.arithmetic.page import ABACUS, BEYOND, accuracies, shown_in_training
from bayescaling.reports.pages.arithmetic.page import MAIN as MAIN_OF_LENGTHS
from bayescaling.reports.pages.arithmetic.page import TABLE as COUNTS
from bayescaling.reports.pages.corpora import page as corpora
from bayescaling.reports.pages.experts import page as experts
from bayescaling.reports.pages.progress import specifications as progress
from bayescaling.reports.pages.since import page as since
from bayescaling.reports.results import calibration_entry, comparison_document, fit_entry
from study import laws_of, register

RUNS, CORPORA = "chinchilla_runs", "overtraining_runs"
MAIN, READ = LAWS[CHINCHILLA], bs.laws.Chinchilla(measurement_error=True)
REFITS = {"draws": 300, "tune": 500}  # the Monte-Carlo error of a score is then 0.1, of differences of several nats
OF_LENGTHS = {
    MAIN_OF_LENGTHS: bs.laws.Lengths(),
    "longer operand alone": bs.laws.Lengths(operands="longest"),
    "logit linear in length": bs.laws.Lengths(shape="linear"),
}


def _laws_of_lengths():
    return [(law, shown_in_training(bs.load(COUNTS))) for law in OF_LENGTHS.values()]


@register("laws of lengths, runs left out whole, and how far Abacus goes under each", _laws_of_lengths, seed=1)
def arithmetic_left_out(parts, *, seed):
    """Fit each law, compare them by runs left out, and give how far Abacus goes under each and on every length."""
    counts = bs.load(COUNTS)
    rows = shown_in_training(counts)
    fits = {name: parts.fit(name, lambda law=law: bs.fit(law, rows, seed=seed)) for name, law in OF_LENGTHS.items()}
    every = parts.fit("every length", lambda: bs.fit(OF_LENGTHS[MAIN_OF_LENGTHS], counts, seed=seed))
    far = {name: _far(fit) for name, fit in (fits | {"every length tested": every}).items()}
    return comparison_document(bs.compare(fits)) | {"abacus": far}


def _far(fit):
    half = bs.lengths.length_at_accuracy(fit, 0.5, conditions=ABACUS)
    return {
        "half": intervals.summary(half, ratio=True),
        "beyond": accuracies(fit)[ABACUS][BEYOND],
        "ok": fit.diagnostics["ok"],
    }


@register("whether intervals of the Chinchilla law cover", laws_of(RUNS, [MAIN]), seed=1, simulations=100, draws=500,
          tune=500)  # fmt: skip
def chinchilla_coverage(parts, **settings):
    """Fit the law to tables simulated from its posterior."""
    calibration = bs.calibrate(MAIN, bs.load(RUNS), out=parts.path("tables.nc"), **settings)
    return calibration_entry(calibration)


@register("the Chinchilla law with an error of each loss's reading", laws_of(RUNS, (READ, MAIN)), seed=1)
def chinchilla_reading_error(parts, *, seed):
    """Fit the law with a uniform error of each loss's reading, and compare it with the law without."""
    runs = bs.load(RUNS)
    fits = {name: bs.fit(law, runs, seed=seed) for name, law in (("with", READ), ("without", MAIN))}
    apart = fits["with"].loo().elpd_i.values - fits["without"].loo().elpd_i.values
    return fit_entry(fits["with"]) | {"elpd_diff": float(apart.sum()), "dse": float(sum_error(apart))}


def _left_out(parts, laws, rows, by, seed, named):
    """Compute the log scores of rows of each value of a column given the others, and their sum, by law."""

    def scored(law):
        fit = bs.fit(law, rows, seed=seed)
        table = fit.loo(by=by, seed=seed, **REFITS)
        return {
            "elpd": float(table["elpd"].sum()),
            "monte_carlo_se": intervals.finite(float(np.sqrt((table["elpd_se"].fillna(0) ** 2).sum()))),
            "converged": bool(fit.diagnostics["ok"]),
            named: {str(value): float(x) for value, x in table["elpd"].items()},
            "refitted": {str(value): bool(x) for value, x in table["refitted"].items()},
        }

    entries = {name: parts.entry(name, lambda law=law: scored(law)) for name, law in laws.items()}
    best = max(entry["elpd"] for entry in entries.values())
    return {name: entry | {"difference": entry["elpd"] - best} for name, entry in entries.items()}


@register("runs on several corpora, each corpus left out whole", laws_of(CORPORA, corpora.LAWS.values()), seed=1)
def corpora_left_out(parts, *, seed):
    """Compute log scores of corpora left out whole, and the difference of each law to the best."""
    return _left_out(parts, corpora.LAWS, bs.load(CORPORA), corpora.BY, seed, "corpora")


OTHER_LAWS = {  # of N parameters and E experts: that of Abnar et al. (2025), of sparsity 1 - 1 / E, and forms in use
    "Abnar et al.": "e + a * total_parameters**-alpha + c * E**lam + d * E**delta * total_parameters**-g",
    "powers, apart": "floor + A * N**-a * E**-b",
    "powers that interact": "floor + A * N**-a * E**(c * log10(N) - b)",
    "experts multiply parameters": "floor + A * (N * E**g)**-a",
    "a power of experts beside one of parameters": "floor + A * N**-a * E**-b + B * N**-d",
    "a gain that saturates": "floor + A * N**-a * (1 + B * E**-d)",
    "an offset of experts": "floor + A * N**-a * (1 + B * E)**-d",
}


def _laws_of_experts():
    others = {name: bs.laws.Formula("loss ~ " + re.sub(r"\bN\b", "parameters", re.sub(r"\bE\b", "experts", right)))
              for name, right in OTHER_LAWS.items()}  # fmt: skip
    return {name: law.suited(experts.runs("S-Base")) for name, law in (experts.LAWS | others).items()}


@register("laws of experts, each size left out whole",
          lambda: [(law, experts.runs("S-Base")) for law in _laws_of_experts().values()], seed=1)  # fmt: skip
def experts_left_out(parts, *, seed):
    """Compute log scores of sizes left out whole, and the difference of each law to the best."""
    return _left_out(parts, _laws_of_experts(), experts.runs("S-Base"), "parameters", seed, "sizes")


def _report(page, study, what, laws):
    """Register a study that a page of the report makes; its stages are cached as those of a report."""

    def make(parts, *, seed):
        with Stages((), False, all=True, options={"seed": seed, "sampler": None}) as stage:
            PAGES[page].analyse(stage, bs.load("published"), {}, seed=seed)
        return stage.studies[study]

    register(what, laws, name=study, seed=1, command=f"bayescaling report --all --page {page}")(make)


SPECIFIED = [bs.laws.Progress(k, **noise) for noise in NOISES.values() for k in progress.SPECIFICATIONS]
_report("progress", SPECIFICATIONS_STUDY, "all specifications of progress, with and without paper effects",
        laws_of("lm_progress", SPECIFIED))  # fmt: skip
_report("since", since.CONSTANT, "progress since 2023 with a constant gain",
        laws_of("eci_scores", [since.LAWS[since.LINEAR]]))  # fmt: skip
_report("corpora", corpora.STUDY, "one law of three corpora, with exponents pooled, shared or neither",
        laws_of(CORPORA, (corpora.LAWS | corpora.BESIDE).values()))  # fmt: skip
