"""The page on algorithmic progress: the doubling time, the 20 specifications, variants and published estimates."""

import tomllib
from functools import partial
from pathlib import Path

import numpy as np

from ....datasets import load
from ....inference import fit as fit_law
from ....inference import words
from ....inference.points import penalised
from ....inference.progress import contributions, rate_at_optimum
from ....inference.progress.change_points import NONE
from ....inference.progress.fitting import new_fitter
from ....models.progress.law import Progress
from ....models.progress.specifications import NO_PROGRESS
from ....plots import plot_intervals, plot_progress
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
from ...laws import EFFECTS, INDEPENDENT, MAIN, NOISES, name_of_fit
from ...laws import SPECIFICATIONS_STUDY as STUDY
from ...results import rejected_by
from .entries import document, frame, rule_gains
from .specifications import every_specification

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
EFFECTS_WORDS = {EFFECTS: "with random effects by paper", INDEPENDENT: "without random effects by paper"}
PAIRS = [(start, end) for start, ends in WORDS["pairs"].items() for end in ends]
RULE_BUDGETS = (1e19, 1e20, 1e21, 1.5e21, 1e22, 1e23, 1e24, 2.5e24, 1e25)
STUDIES = (*(f"progress_{of}" for of in ("future", "sensitivity", "variants", "pace", "subsets")), STUDY)
FITS, QUANTITIES, NUMBERS, RULES = (f"progress: {name}" for name in ("fits", "quantities", "numbers", "rules"))
STAGES = (FITS, STUDY, QUANTITIES, NUMBERS, RULES)
HO, DOUBLING = "Ho et al. 2024", "progress.doubling_months."
TEN_BEST = "ten best specifications"
SOURCE = "Data: lm_progress; all rows but the first from a study"
OPENED = f'import bayescaling as bs\n\nfit = bs.open("posteriors/progress-{MAIN}-paper-effects.nc")\n'
FAR = "at 1e25 FLOP in 2023"


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the specification that is quoted, and compute everything that follows; see `Page.analyse`."""
    table, options = load("lm_progress"), {"seed": seed, "sampler": sampler, **settings}
    fits = stage(FITS, partial(_fits, table, **options))
    compared, others = stage.study(STUDY, partial(every_specification, table, fits, **options))
    main = {name_of_fit(MAIN, noise): fit for noise, fit in fits.items()}
    besides = {"comparison": frame(compared["comparison"]["rows"])}
    findings = Findings(posteriors=others | main, besides=besides)
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
    alone = new_fitter(table, sampler=sampler).fit(law=Progress(MAIN), seed=seed, **settings)
    effects = fit_law(Progress(MAIN, **NOISES[EFFECTS]), table, seed=seed, sampler=sampler, check=False, **settings)
    return {INDEPENDENT: alone, EFFECTS: effects}


def _quantities(fit, table):
    return {
        "attribution": contributions.attribution(fit, load("attribution_systems"), PAIRS),
        "paper": {
            "as it stops": penalised.penalised_fit(MAIN, table),
            "converged": penalised.penalised_fit(MAIN, table, converged=True),
        },
    }


def _published(published):
    rows = published[(published["source"] == HO) & published["quantity"].str.startswith(DOUBLING)]
    return {
        row.quantity.removeprefix(DOUBLING): [row.low, row.estimate, row.high]
        if np.isfinite(row.low)
        else [row.estimate]
        for row in rows.itertuples()
    }


def _written(numbers):
    if numbers is None:
        return tables.MISSING
    low, estimate, high = (f"{x:g}" for x in np.broadcast_to(numbers, 3))
    return estimate if len(numbers) == 1 else f"{estimate} [{low}, {high}]"


def _chart(findings, of_ho):
    gain = findings.document["compute_equivalent_gain"]
    quoted = gain["quoted"]
    rivals = {f"Specification {k}, as good": rival["doubling_months"] for k, rival in quoted["rivals"].items()}
    medians = {name: q["q50"] or np.inf for name, q in rivals.items()}
    ends = dict.fromkeys([min(medians, key=medians.get), max(medians, key=medians.get)]) if medians else {}
    rows = {f"Specification {quoted['specification']}, quoted": quoted["doubling_months"]}
    rows |= {name: rivals[name] for name in ends} | {"Specifications mixed": gain["doubling_months"]}
    subsets = [(name, of["doubling_months"]) for name, of in findings.document["subsets"].items() if of["chains"]]
    subsets.sort(key=lambda subset: subset[1]["q50"] or np.inf)
    for name, q in (subsets[0], subsets[-1]):
        rows[f"Rows {name}" if name.startswith(("before", "from")) else f"Rows of {name}"] = q
    others = {"closed_form": f"specification {MAIN}", "top10": "ten best"}
    return pictured(
        plot_intervals,
        rows,
        "Doubling time (months)",
        published={f"{HO}, {name}, 1e25 FLOP": of_ho[key] for key, name in others.items()},
        log=True,
        title=f"The compute for a given loss halved every {words.months(quoted['doubling_months'])} months",
        caption="Medians and 95% intervals, at the sizes and dates of the evaluations; as good: the ends of those that "
        "predict papers left out about as well; rows: the fastest and the slowest fit to some of the evaluations. "
        "Published rows are of another place. An arrow: no progress there.",
        source=SOURCE,
        code=f"{OPENED}bs.plot_doubling(fit)",
    )


def _table_of_places(findings, of_ho):
    gain, pooled = (findings.document[key] for key in ("compute_equivalent_gain", "pooled_doubling_months"))
    quoted, far = gain["quoted"], _variants(findings)["main"]["doubling_months"]
    rows = [
        (f"specification {quoted['specification']} (quoted)", "the evaluations", quoted["doubling_months"], None),
        *((f"mixed, {EFFECTS_WORDS[noise]}", "the evaluations", q, None) for noise, q in gain["by_noise"].items()),
        (f"specification {MAIN}", FAR, far, "closed_form"),
        (TEN_BEST, FAR, pooled["top10"], "top10"),
        ("specifications mixed", FAR, pooled["by_paper_stacking"], None),
    ]
    written = [(name, place, words.months(q), _written(of_ho.get(key))) for name, place, q, key in rows]
    return tables.of_rows(
        ("which", "where", "doubling (months)", "published (months)"),
        written,
        "Mixed: weighted by how well papers left out are predicted. Far beyond the evaluations specifications differ: "
        "state specification, budget and date with those rows.",
        recommended=0,
        title="Doubling times by place",
        fits=[quoted["fit"], "", "", name_of_fit(MAIN, INDEPENDENT), "", ""],
    )


def _table_of_specifications(findings):
    progress, effects, rows = findings.document["progress"], findings.document["paper_effects"], []
    for k, score in findings.besides["comparison"].iterrows():
        entry, times = progress[str(k)], effects[str(k)].get("doubling_months")
        far = next(iter(entry["doubling_months"].values())) if times else None
        rows.append((
            f"{k} {WORDS['remarks'][str(k)]}", f"{score['elpd_diff']:.1f} ({score['dse_by_paper']:.1f})",
            f"{score['by_paper_stacking']:.2f}",
            words.months(times) if times else tables.MISSING, words.months(far) if far else tables.MISSING,
            " / ".join("rejected" if rejected_by(entry["misfit"][noise]) else "fits" for noise in NOISES),
        ))  # fmt: skip
    return tables.of_rows(
        ("specification", "elpd (se by papers)", "weight", "doubling (months)", f"{FAR}", "tests"),
        rows,
        "Elpd: difference to the best of rows left out, in nats. Weight: by stacking over papers. Doubling: at the "
        "evaluations, with random effects by paper. Tests: rows independent / with effects. "
        f"{' and '.join(map(str, NO_PROGRESS))} have no progress.",
        title="The 20 specifications",
        fits=[(name_of_fit(k, INDEPENDENT), name_of_fit(k, EFFECTS)) for k in findings.besides["comparison"].index],
    )


def _variants(findings):
    main = {"doubling_months": next(iter(findings.document["progress"][str(MAIN)]["doubling_months"].values()))}
    return {"main": main} | {name: of for name, of in findings.document["variants"].items() if name != "main"}


def _table_of_variants(findings, of_ho):
    of = {"paper_effects": "autocorrelation", "main": "closed_form"}
    rows = [
        (
            WORDS["variants"].get(name, name),
            words.months(entry["doubling_months"]),
            _written(of_ho.get(of.get(name, name))),
            f"{entry['papers_diff']:+.1f} ± {entry['papers_dse']:.1f}" if entry.get("papers_dse") else tables.MISSING,
        )
        for name, entry in _variants(findings).items()
    ]
    note = (
        f"{FAR[0].upper()}{FAR[1:]}. Elpd: of papers left out, difference to specification {MAIN} in nats, where both "
        "have the same rows; beyond two standard errors and 4 nats a variant predicts better, or worse."
    )
    header = ("variant", "doubling (months)", "published (months)", "elpd by paper")
    return tables.of_rows(header, rows, note, title="Variants compared with the published ones")


def _table_of_subsets(findings):
    rows = [
        (name, of["rows"], of["papers"], words.months(of["doubling_months"]), words.probability(of["p_progress"]))
        for name, of in findings.document["subsets"].items()
    ]
    note = (
        f"Specification {MAIN} with random effects by paper, at the sizes and dates of the rows that it is fitted to."
    )
    header = ("rows", "evaluations", "papers", "doubling (months)", "P(progress)")
    return tables.of_rows(header, rows, note, title="Doubling times of some of the evaluations")


def sections(findings, published):
    """Return the sections on algorithmic progress, in order; see `Page.sections`."""
    of_ho, document, comparison = _published(published), findings.document, findings.besides["comparison"]
    effects = findings.posteriors[name_of_fit(MAIN, EFFECTS)]
    grid = document["sensitivity"]["prior_grid"][str(MAIN)]
    medians = [row["q50"] for row in grid if row["estimand"] == "rows"]
    variants = [entry["doubling_months"]["q50"] for entry in _variants(findings).values()]
    changes = {float(x): of["probability"] for x, of in document["pace"]["cutoffs"].items() if x != NONE}
    futures = {name: of["elpd"] for name, of in document["leave_future_out_by_specification"].items()}
    blocks = {
        "chart": _chart(findings, of_ho),
        "places": _table_of_places(findings, of_ho),
        "progress": pictured(plot_progress, effects, code=f"{OPENED}bs.plot_progress(fit)"),
        "specifications": _table_of_specifications(findings),
        "variants": _table_of_variants(findings, of_ho),
        "subsets": _table_of_subsets(findings),
    }
    named = {"findings": findings, "document": document, "comparison": comparison, "rejected_by": rejected_by}
    named |= {"optimum": rate_at_optimum, "MAIN": MAIN, "NOISES": NOISES, "STUDY": STUDY}
    return prose.sections(
        __file__,
        blocks,
        main=document["progress"][str(MAIN)],
        still=comparison.loc[list(NO_PROGRESS)].sort_values("elpd_diff").iloc[-1],
        close=int((-comparison["elpd_diff"] <= 2 * comparison["dse_by_paper"]).sum()),
        priors=(min(medians), max(medians)),
        variants=(min(variants), max(variants)),
        futures=max(futures.values()) - max(futures[str(k)] for k in NO_PROGRESS),
        likely=max(changes, key=changes.get),
        ends=document["paper_estimator"],
        **named,
    )
