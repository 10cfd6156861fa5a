"""The analysis of runs on several corpora: one law, its exponents each corpus's own, pooled or shared."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...datasets import load
from ...inference import diagnose, fit, judge, loo_by_group, new_group
from ...models import Chinchilla, Coupled, Grouped
from ...models.loss.populations import population
from .. import results
from ..findings import Findings

STAGES = ("corpora: fits", "corpora: corpora left out", "corpora: verdicts", "corpora: numbers")
BY = "corpus"
LAW = Coupled()  # its terms interact, and it is the one that these runs do not reject
# What 35 runs say little of: the outer exponent, and how the scatter depends on the sizes.
COMMON = ("kappa", "nu_minus_one", "sigma_parameters", "sigma_tokens")
MAIN, APART, ALIKE, ONE = "exponents pooled", "nothing pooled", "exponents shared", "all shared"
LAWS = {
    APART: Grouped(LAW, BY, pooled=(), shared=COMMON),
    MAIN: Grouped(LAW, BY, shared=COMMON),
    ALIKE: Grouped(LAW, BY, shared=(*LAW.exponents, *COMMON)),
    ONE: Grouped(LAW, BY, shared=tuple(LAW.prior_of)),
}
PLAIN = "Chinchilla law, exponents pooled"
BESIDE = {PLAIN: Grouped(Chinchilla(), BY, shared=COMMON[1:])}
REFITS = {"draws": 300, "tune": 500}  # the Monte-Carlo error of a score is then 0.1, of differences of several nats
NEW = "a new corpus"
EXPONENT = "exponent_parameters"
CLOSE = 0.05  # exponents that differ by less are called alike: the optimal size at 100 times the compute by 26%
DECADES = 2
SHOWN = (EXPONENT, "alpha", "beta", "kappa", "E", "A", "B", "sigma")


@dataclass
class CorporaFindings(Findings):
    """What `analyse` found."""

    runs: object
    fits: dict
    left_out: dict
    new: object
    entry: dict


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit one law to the runs of three corpora in four ways, leave corpora out, foretell a new one.

    See `Page.analyse`.
    """
    options = {"seed": seed, "sampler": sampler, **settings}
    runs = load("overtraining_runs")
    laws = LAWS | BESIDE
    fits = stage("corpora: fits", lambda: {name: fit(law, runs, **options) for name, law in laws.items()})
    left_out = stage(
        "corpora: corpora left out",
        lambda: {name: loo_by_group(fits[name], by=BY, seed=seed, **REFITS) for name in LAWS},
    )
    stage("corpora: verdicts", lambda: [judge(each) for each in fits.values()])
    new = new_group(fits[MAIN], name=NEW, seed=seed)
    entry = stage("corpora: numbers", lambda: _entry(runs, fits, left_out, new))
    found = CorporaFindings(runs, fits, left_out, new, entry)
    found.posteriors = {f"corpora, {name}": each for name, each in fits.items()}
    found.document = {"corpora": entry}
    return found


def typical_exponent(posterior):
    """Exponent of N* in C of the typical corpus of the population, (chain, draw): that of its median alpha and beta."""
    alpha, beta = (posterior[population(name)[0]] for name in LAW.exponents)
    return beta / (alpha + beta)


def _entry(runs, fits, left_out, new):
    main = fits[MAIN]["posterior"]
    exponents = main[EXPONENT]
    names = [str(name) for name in exponents["group"].values]
    return {
        "rows": {name: int((runs[BY] == name).sum()) for name in names},
        "exponent": {
            "by_corpus": {law: _by_corpus(fits[law]["posterior"][EXPONENT], names) for law in (MAIN, APART, PLAIN)},
            "shared": {law: results.summary(fits[law]["posterior"][EXPONENT]) for law in (ALIKE, ONE)},
            "typical": results.summary(typical_exponent(main)),
            "new": results.summary(new["posterior"][EXPONENT].sel(group=NEW)),
        },
        "differences": _differences(exponents, names),
        "spread": {name: _spread(fits[MAIN], population(name)[1]) for name in LAW.exponents},
        "quantities": {
            law: {name: _by_corpus(fits[law]["posterior"][name], names) for name in SHOWN} for law in (MAIN, APART)
        },
        "robust": results.robust_entries(fits[MAIN]),
        "left_out": _left_out(left_out),
        "laws": {
            name: {
                "law": law.label,
                "verdict": results.verdict_entry(fits[name]),
                "misfit": results.misfit_entries(fits[name]),
                "diagnostics": diagnose(fits[name]),
            }
            for name, law in (LAWS | BESIDE).items()
        },
    }


def _by_corpus(draws, names):
    """Summaries by corpus; of a quantity that is one for all, the same for each."""
    return {name: results.summary(draws.sel(group=name) if "group" in draws.dims else draws) for name in names}


def _differences(exponents, names):
    """Differences of exponents between corpora, and the probability that all are alike."""
    pairs = {}
    for one, other in combinations(names, 2):
        difference = exponents.sel(group=one) - exponents.sel(group=other)
        pairs[f"{one} less {other}"] = results.summary(difference) | {"p_above_0": float((difference > 0).mean())}
    range_ = exponents.max("group") - exponents.min("group")
    return {"pairs": pairs, "range": results.summary(range_), "close": CLOSE, "p_close": float((range_ < CLOSE).mean())}


def _spread(fit, name):
    """Spread of a pooled quantity between corpora, beside its prior."""
    prior = LAWS[MAIN].prior_of[name]
    told = dict(zip(results.QUANTILES, prior.frozen.ppf(list(results.QUANTILES.values())), strict=True))
    return results.summary(fit["posterior"][name]) | {"prior": told}


def _left_out(tables):
    """Log scores of corpora left out whole, and how far each law is from the best."""
    sums = {name: float(table["elpd"].sum()) for name, table in tables.items()}
    best = max(sums, key=sums.get)
    return {
        name: {
            "elpd": sums[name],
            "monte_carlo_se": results.finite(float(np.sqrt((table["elpd_se"].fillna(0) ** 2).sum()))),
            "difference": sums[name] - sums[best],
            "corpora": {str(corpus): float(x) for corpus, x in table["elpd"].items()},
            "refitted": {str(corpus): bool(x) for corpus, x in table["refitted"].items()},
        }
        for name, table in tables.items()
    }
