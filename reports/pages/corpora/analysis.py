"""The analysis of runs on several corpora: one law, with exponents by corpus, pooled or shared."""

from functools import partial

from ....datasets import load
from ....inference import fit, intervals
from ....models.laws import Chinchilla, Coupled, Grouped
from ... import results
from ...findings import Findings
from ...groups import EXPONENT, NEW, TYPICAL, by_group, group_entries

STUDY = "corpora_laws"
STAGES = (STUDY,)
STUDIES = (STUDY, "corpora_left_out")
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


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Read what one law of three corpora has in four ways, or fit it again; see `Page.analyse`."""
    runs = load("overtraining_runs")
    entry, fits = stage.study(STUDY, partial(fitted, runs, seed=seed, sampler=sampler, **settings))
    findings = Findings(posteriors=fits, records=entry.pop("records"))
    findings.studies = tuple(name for name in STUDIES if name not in stage.studies)
    findings.document = {"corpora": entry | {"left_out": findings.study("corpora_left_out")}}
    return findings


def fitted(runs, *, seed=1, **options):
    """Fit one law to the runs of three corpora in four ways, and predict a new one.

    Returns the entry of results.json, with the ``records`` of the fits, and the fits by name.
    """
    laws = LAWS | BESIDE
    fits = {name: fit(law, runs, seed=seed, check=False, **options) for name, law in laws.items()}
    groups = group_entries(fits[MAIN], seed=seed)
    entry = {
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
        "laws": {
            name: {
                "law": law.label,
                **results.check_entries(fits[name]),
                "diagnostics": fits[name].diagnostics,
            }
            for name, law in laws.items()
        },
    }
    named = {f"corpora, {name}": of for name, of in fits.items()}
    return entry | {"records": results.records(named)}, named
