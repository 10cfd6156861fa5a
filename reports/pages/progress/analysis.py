"""The analysis of algorithmic progress: the fits that are quoted, and what follows from them and from all others."""

from dataclasses import dataclass
from functools import partial

import pandas as pd

from ....datasets import load
from ....inference import fit as fit_law
from ....inference.points import penalised
from ....inference.progress import contributions
from ....inference.progress.fitting import new_fitter
from ....models.progress.law import Progress
from ...findings import Findings
from ...laws import EFFECTS, INDEPENDENT, MAIN, NOISES, name_of_fit
from ...laws import SPECIFICATIONS_STUDY as STUDY
from .entries import document, frame, rule_gains
from .specifications import every_specification

PAIRS = [
    (start, end)
    for start, ends in {
        "RNN (2012)": ("LSTM (2016)", "Transformer (2018)", "GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
        "LSTM (2016)": ("Transformer (2018)", "GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
        "Transformer (2018)": ("GPT-2 (2019)", "GPT-3 (2021)", "Gopher (2021)"),
    }.items()
    for end in ends
]
RULE_BUDGETS = (1e19, 1e20, 1e21, 1.5e21, 1e22, 1e23, 1e24, 2.5e24, 1e25)
STUDIES = ("progress_future", "progress_sensitivity", "progress_variants", "progress_pace", STUDY)
FITS, QUANTITIES, NUMBERS, RULES = (f"progress: {name}" for name in ("fits", "quantities", "numbers", "rules"))
STAGES = (FITS, STUDY, QUANTITIES, NUMBERS, RULES)


@dataclass
class ProgressFindings(Findings):
    """What `analyse` returns, with the comparison of specifications, best first."""

    comparison: pd.DataFrame


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the specification that is quoted, and compute everything that follows; see `Page.analyse`."""
    table, options = load("lm_progress"), {"seed": seed, "sampler": sampler, **settings}
    fits = stage(FITS, partial(_fits, table, **options))
    compared, others = stage.study(STUDY, partial(every_specification, table, fits, **options))
    main = {name_of_fit(MAIN, noise): fit for noise, fit in fits.items()}
    findings = ProgressFindings(frame(compared["comparison"]["rows"]), posteriors=others | main)
    findings.studies = tuple(name for name in STUDIES if name not in stage.studies)
    findings.records = compared["records"]
    quantities = stage(QUANTITIES, partial(_quantities, fits[INDEPENDENT], table), of=fits)
    entries = partial(document, findings, compared["document"], fits, **quantities)
    findings.document = stage(NUMBERS, entries, of=fits)
    if (chinchilla := earlier.get("chinchilla")) is not None:
        gains = partial(contributions.chinchilla_over_kaplan, chinchilla, RULE_BUDGETS)
        gains = stage(RULES, gains, of={"chinchilla": chinchilla})
        findings.document["chinchilla_over_kaplan"] = rule_gains(gains)
    return findings


def _fits(table, *, seed, sampler, **settings):
    """Fit the main specification under each noise; that with paper effects is the fit that a user makes."""
    alone = new_fitter(table, sampler=sampler).fit(law=Progress(MAIN), seed=seed, **settings)
    effects = fit_law(Progress(MAIN, **NOISES[EFFECTS]), table, seed=seed, sampler=sampler, check=False, **settings)
    return {INDEPENDENT: alone, EFFECTS: effects}


def _quantities(fit, table):
    """Return shares of progress and of scaling, and the doubling times of the paper's estimator."""
    return {
        "attribution": contributions.attribution(fit, load("attribution_systems"), PAIRS),
        "paper": {
            "as it stops": penalised.penalised_fit(MAIN, table),
            "converged": penalised.penalised_fit(MAIN, table, converged=True),
        },
    }
