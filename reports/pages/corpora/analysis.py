"""The analysis of runs on several corpora: one law, with exponents by corpus, pooled or shared."""

from dataclasses import dataclass, field

from ....datasets import load
from ....inference import fit, intervals
from ....models import Chinchilla, Coupled, Grouped
from ... import results
from ...findings import Findings
from ...groups import EXPONENT, NEW, TYPICAL, by_group, group_entries

STAGES = ("corpora: fits", "corpora: numbers")
STUDIES = ("corpora_left_out",)
BY = "corpus"
LAW = Coupled()  # its terms interact, and these runs do not reject it

# What 35 runs barely inform: the outer exponent, and how the scatter depends on the sizes.
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
DECADES = 2
SHOWN = (EXPONENT, "alpha", "beta", "kappa", "E", "A", "B", "sigma")


@dataclass
class CorporaFindings(Findings):
    """What `analyse` returns."""

    runs: object
    fits: dict
    entry: dict = field(default_factory=dict)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit one law to the runs of three corpora in four ways, predict a new one.

    See `Page.analyse`.
    """
    options = {"seed": seed, "sampler": sampler, **settings}
    runs = load("overtraining_runs")
    laws = LAWS | BESIDE
    fits = stage("corpora: fits", lambda: {name: fit(law, runs, **options) for name, law in laws.items()})
    findings = CorporaFindings(runs, fits, studies=STUDIES)
    findings.entry = stage("corpora: numbers", lambda: _entry(findings, seed), of=fits)
    findings.posteriors = {f"corpora, {name}": fitted for name, fitted in fits.items()}
    findings.document = {"corpora": findings.entry}
    return findings


def _entry(findings, seed):
    fits = findings.fits
    groups = group_entries(fits[MAIN], seed=seed)
    return {
        "rows": groups["rows"],
        "exponent": {
            "by_corpus": {law: by_group(fits[law], EXPONENT) for law in (MAIN, APART, PLAIN)},
            "shared": {law: intervals.summary(fits[law]["posterior"][EXPONENT]) for law in (ALIKE, ONE)},
            TYPICAL: groups["exponent"][TYPICAL],
            NEW: groups["exponent"][NEW],
        },
        "differences": groups["differences"],
        "spread": groups["spread"],
        "quantities": {law: {name: by_group(fits[law], name) for name in SHOWN} for law in (MAIN, APART)},
        "robust": intervals.robust_entries(fits[MAIN]),
        "left_out": findings.study("corpora_left_out"),
        "laws": {
            name: {
                "law": law.label,
                "verdict": results.verdict_entry(fits[name]),
                "misfit": results.misfit_entries(fits[name]),
                "diagnostics": fits[name].diagnostics,
            }
            for name, law in (LAWS | BESIDE).items()
        },
    }
