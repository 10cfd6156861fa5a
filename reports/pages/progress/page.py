"""The pages on algorithmic progress: the posteriors of the 20 specifications and published estimates."""

import numpy as np

from ....inference.words import probability
from ....models.progress.specifications import NO_PROGRESS
from ...drawing import tables
from . import figures, fit_page, papers_page, quantities_page, sensitivity_page
from .analysis import MAIN
from .conclusions import AT, COMPUTE_ONLY, EFFECTS_WORDS, answer, extrapolated, findings
from .forest import LONGEST
from .published import DOUBLING, Published
from .ridge import OFFSETS, paper_coefficients, year_slopes
from .wording import (
    POOLED,
    draws_interval,
    formula,
    in_a_row,
    known,
    name_of,
    quoted_times,
    times,
    with_progress,
    words,
)

DELTA = 0.0025
FAR = "at 1e25 FLOP in 2023"
SEARCHED = "Where the paper's estimator stops, and its optimum"


# Doubling times by specification -------------------------------------------------------------------------------------


def _doubling_table(found, published):
    header = ("specification", "formulas", "closed form", "optimal scaling", "P(progress)", "draws without optimum")
    rows, fits = [], []
    for k in with_progress(found):
        for label, q in found.doubling[k].iterrows():
            name = name_of(k) + ("" if label == "all" else f": {label}")
            certain = probability(q["p_progress"]), f"{q['no_optimum']:.0f}"
            rows.append((name, formula(k), words(q), words(q, "optimal_"), *certain))
            fits.append(f"progress-{k}")
    for key, name in POOLED.items():
        q = times(found.pooled[key])
        rows.append((f"pooled: {name}", "–", words(q), "–", probability(q["p_progress"]), "–"))
    theirs = (published.words(DOUBLING + name) for name in ("closed_form", "optimal_scaling"))
    rows.append((f"published: {MAIN}", formula(MAIN), *theirs, "–", "–"))
    note = (
        "Months, medians and 95% intervals; never: the rate is not positive at that quantile. Optimal scaling: time of "
        "progress that saves half of 10<sup>25</sup> FLOP in 2023, where the rates of 14 and 15 are taken too. Pooled "
        f"on the scale of the rate, {' and '.join(map(str, NO_PROGRESS))} with a rate of zero."
    )
    return tables.of_rows(header, rows, note, fits=[*fits, *[""] * (len(rows) - len(fits))])


# Comparison ----------------------------------------------------------------------------------------------------------


SCORES = {
    "rank": ("rank", "{:.0f}"),
    "elpd": ("elpd by row", "{:.1f}"),
    "se": ("its se", "{:.1f}"),
    "elpd_diff": ("difference", "{:.1f}"),
    "dse": ("se by rows", "{:.1f}"),
    "dse_by_paper": ("se by papers", "{:.1f}"),
    "p_worse": ("P(worse), by papers", None),
    "elpd_papers": ("elpd by paper", "{:.1f}"),
    "loo_mse": ("LOO MSE", "{:.5f}"),
    "published": ("published LOO MSE", "{:.5f}"),
    "loo_r2": ("LOO R²", "{:.3f}"),
}
WEIGHTS = {
    "stacking": ("stacking", "{:.3f}"),
    "pseudo_bma": ("pseudo-BMA+", "{:.3f}"),
    "by_paper_stacking": ("stacking by paper", "{:.3f}"),
    "pareto_k_max": ("largest k left", "{:.2f}"),
    "refitted": ("rows refitted", "{:.0f}"),
    "papers_refitted": ("papers refitted", "{:.0f}"),
    "r_hat_max": ("largest r_hat", "{:.3f}"),
    "ess_bulk_min": ("least bulk ESS", "{:.0f}"),
    "divergences": ("diverging", "{:.0f}"),
}


def _columns_table(table, columns, note, title):
    header = ("specification", *(title for title, _ in columns.values()))
    rows = [
        (
            name_of(k),
            *(
                "–" if np.isnan(row[name]) else (form.format if form else probability)(row[name])
                for name, (_, form) in columns.items()
            ),
        )
        for k, row in table.iterrows()
    ]
    return tables.of_rows(header, rows, note, title=title, fits=[f"progress-{k}" for k in table.index])


def _comparison_table(found, published):
    theirs = [published(f"progress.{k}.loo_mse.penalty_{DELTA:g}")[0] for k in found.comparison.index]
    note = (
        "elpd in nats, of log perplexity; differences to the best, with one standard error. MSE in squared nats. "
        f"Published: table 11 of the paper at penalty {DELTA:g}. Its leave-one-out ran over a random 80% of the rows, "
        f"and its value for {COMPUTE_ONLY} is an artefact of the released code, which takes the reference compute from "
        "the row left out."
    )
    return _columns_table(
        found.comparison.assign(published=theirs), SCORES, note, "How well each specification predicts"
    )


def _weights_table(found):
    note = "Rows and papers whose Pareto k was above 0.7 were left out by a refit; k is the largest of the others."
    return _columns_table(found.comparison, WEIGHTS, note, "Weights of the specifications, and diagnostics")


def _comparison_text(found, published):
    comparison = found.comparison
    best = comparison["loo_r2"]
    theirs = published("progress.r2_held_out")[0]
    error = comparison.loc[MAIN, "loo_mse"]
    published_error = published(f"progress.{MAIN}.loo_mse.penalty_{DELTA:g}")[0]
    return [
        "Expected log predictive density of a row from the others, by Pareto-smoothed importance sampling with refits. "
        f"Rows of one paper are not independent ({found.table['paper_id'].nunique()} papers, {len(found.table)} rows), "
        f"so differences are judged by paper too. {comparison.attrs['sentence'].capitalize()}.",
        f"LOO R² runs from {best.min():.3f} to {best.max():.3f} (published on held-out rows: {theirs:g}). "
        f"Specification {MAIN} has a leave-one-out MSE of {error:.5f} squared nats, published {published_error:.5f}; "
        f"{COMPUTE_ONLY} has {comparison.loc[COMPUTE_ONLY, 'loo_mse']:.5f}, published "
        f"{published(f'progress.{COMPUTE_ONLY}.loo_mse.penalty_{DELTA:g}')[0]:.5f}.",
    ]


# The ridge and the coefficients --------------------------------------------------------------------------------------


def _marks(found, published):
    marks = {}
    a, b = (published(f"progress.{MAIN}.{side}_year")[0] for side in ("alpha", "beta"))
    if np.isfinite(a) and np.isfinite(b):
        marks["published"] = (a, b, f"doubling {published.words(DOUBLING + 'closed_form')} months")
    for name, fit in found.paper.items():
        months = fit["doubling_months"]
        time = "never" if months is None else f"doubling {months:.1f} months"
        marks[f"paper's estimator, {name}"] = (fit["alpha_year"], fit["beta_year"], time)
    return marks


def _ridge_text(found):
    a, b = year_slopes(found.fits[MAIN])
    rate = found.rates[MAIN].ravel()
    text = [
        f"Specification {MAIN} lets parameters and data each carry progress, and one yearly fall makes up for the "
        f"other: α<sub>year</sub> is {draws_interval(a)}, β<sub>year</sub> {draws_interval(b)}, the doubling time "
        f"{words(times(rate))} months {AT}.",
        _nearer(found),
    ]
    peaks = [
        f"{name} ({peak['share']:.0%} of draws: α<sub>year</sub> {peak['alpha_year']:.3f}, β<sub>year</sub> "
        f"{peak['beta_year']:.3f}, doubling {words(known(peak['doubling_months']))} months)"
        for name, peak in found.document["ridge"]["peaks"].items()
    ]
    if not peaks:
        return [*text, "The posterior density of α<sub>year</sub> − β<sub>year</sub> has one peak."]
    return [*text, f"The posterior density has two peaks: {' and '.join(peaks)}."]


def _nearer(found):
    """Describe which share of the posterior is nearer to each end of the paper's estimator, in posterior sds."""
    second, first = (found.document["ridge"][name] for name in ("nearer_to_converged", "nearer_to_stop"))
    return (
        f"The paper's estimator stops at one place of the ridge and converges at another: {second['share']:.0%} of the "
        f"draws are nearer to the second, with a doubling time of {words(known(second['doubling_months']))} months, "
        f"against {words(known(first['doubling_months']))} of the others."
    )


def _coefficient_table(found, published):
    header = ("coefficient", "posterior [95%]", "published [interval]", "P(≥ published)", "width over prior's",
              "prior-driven")  # fmt: skip
    driven = found.driven[MAIN].set_index("coefficient")
    rows = []
    for name, draws in paper_coefficients(found.fits[MAIN]).items():
        estimate = published(f"progress.{MAIN}.{name}")[0]
        own = OFFSETS.get(name, (f"{name}[wt103]" if name.endswith("const") else name,))[0]
        above = "–" if np.isnan(estimate) else probability((draws >= estimate).mean())
        flag = f"{driven.loc[own, 'ratio']:.2f}", "yes" if driven.loc[own, "prior_driven"] else "no"
        theirs = published.words(f"progress.{MAIN}.{name}")
        rows.append((name, draws_interval(draws, "{:.3f}"), theirs, above, *flag))
    note = (
        "Intercepts are that of wt103 and the others' offsets from it, converted draw by draw. Width: half of the "
        "central 68% over the prior's, for offsets that of the benchmark's own intercept; above 0.8 the prior decides. "
        f"Of all coefficients prior-driven: {in_a_row(driven.index[driven['prior_driven']])}."
    )
    return tables.of_rows(header, rows, note, fits=f"progress-{MAIN}")


# The paper's estimator -----------------------------------------------------------------------------------------------


def _estimator_text(found):
    stops, converged = found.paper["as it stops"], found.paper["converged"]
    first, last = stops.search, converged.search
    early = last["objective"] < first["objective"] - 1e-9
    return [
        f"Penalised least squares: mean squared error plus {first['delta']:g} times the sum of the coefficients' "
        f"sizes, minimised by SLSQP from zeros. It stops after {first['iterations']} iterations at "
        f"{first['objective']:.7f}"
        + (f", too early: a converged optimiser goes lower, to {last['objective']:.7f}." if early else ".")
        + f" The doubling time is {_point(stops)} months where it stops and {_point(converged)} at the optimum, "
        f"against {words(times(found.rates[MAIN]))} of the posterior, {AT}."
    ]


def _estimator_table(found, published):
    fits = found.paper
    closed = published.words(DOUBLING + "closed_form")
    rows = [
        ("objective (nats²)", *(f"{f.search['objective']:.7f}" for f in fits.values()), "–"),
        ("mean squared error (nats²)", *(f"{f.search['mse']:.7f}" for f in fits.values()), "–"),
        ("doubling time (months)", *(_point(f) for f in fits.values()), closed),
    ]
    rows += [
        (name, *(f"{f[name]:.6f}" for f in fits.values()), published.words(f"progress.{MAIN}.{name}"))
        for name in fits["as it stops"]["coefficients"]
    ]
    rows.append(("verdict", *(f.message for f in fits.values()), "–"))
    return tables.of_rows(
        ("quantity", *fits, "published"), rows, "Published: table 2, with bootstrap intervals.", title=SEARCHED
    )


def _point(fit):
    months = fit["doubling_months"]
    return "never" if months is None else f"{months:.3f}"


# Sections ------------------------------------------------------------------------------------------------------------


def sections(found, published):
    """Sections on algorithmic progress, in order: each a title, paragraphs, findings and blocks.

    Parameters
    ----------
    found : Analysis
    published : DataFrame
        From ``load("published")``.
    """
    published = Published(published)
    folded = [
        *_specification_sections(found, published),
        *fit_page.sections(found),
        *papers_page.sections(found),
        *sensitivity_page.sections(found, published),
        *quantities_page.sections(found, published),
    ]
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [answer(found)],
            "blocks": [figures.gains(found), _answers_table(found, published)],
        },
        {"role": "moves", "title": "What could change it", "points": findings(found, published), "blocks": []},
        {"role": "checks", "title": "Checks", "points": fit_page.checks_said(found), "blocks": []},
        *({"role": "details"} | section for section in folded),
    ]


def _answers_table(found, published):
    """Doubling times by what is asked, the quoted one first."""
    label, quoted = quoted_times(found)
    rows = [_asked(label, "at the evaluations", quoted)]
    rows += [
        _asked(f"specifications mixed, {EFFECTS_WORDS[noise]}", "at the evaluations", times(found.by_noise[noise]))
        for noise in found.mixed.index[:2]
    ]
    theirs = {"closed_form": (found.rates[MAIN], f"specification {MAIN}"),
              "top10": (found.pooled["top10"], "ten best specifications mixed")}  # fmt: skip
    for key, (rate, name) in theirs.items():
        rows.append(_asked(name, FAR, times(rate), published.words(DOUBLING + key)))
    rows.append(_asked("specifications mixed", FAR, times(found.pooled["by_paper_stacking"])))
    header = ("which", "where", "doubling (months)", "P(progress)", "published (months)")
    note = (
        f"Quoted: one specification, {EFFECTS_WORDS[found.mixed.index[0]]}, over the evaluations' own sizes and dates. "
        "Mixed: specifications weighed by how well they predict papers left out. Far beyond the evaluations "
        "specifications differ: give those rows with their specification, budget and date. Medians and 95% intervals; "
        "never: no progress at that end."
    )
    fits = {0: found.document["compute_equivalent_gain"]["quoted"]["fit"], 3: f"progress-{MAIN}"}
    fits = [fits.get(i, "") for i in range(len(rows))]
    return tables.of_rows(header, rows, note, recommended=0, title="Doubling times by what is asked", fits=fits)


def _asked(name, where, q, theirs="–"):
    return name, where, words(q), probability(q["p_progress"]), theirs


def _specification_sections(found, published):
    rate = found.rates[MAIN]
    a, b = year_slopes(found.fits[MAIN])
    keep = np.isfinite(rate.ravel())
    return [
        {
            "title": "Doubling times by specification",
            "text": [
                "Time in which the compute needed for a given loss halves, read off quantiles of the rate; a thick "
                "line is the central 50%, a thin one 95%. A triangle at the edge means that the interval reaches "
                f"beyond {LONGEST:g} months or to never. Where rates differ by benchmark or architecture each "
                "is shown.",
                extrapolated(found),
            ],
            "blocks": [figures.doubling(found, published), _doubling_table(found, published)],
        },
        {
            "title": "Comparison of specifications",
            "text": _comparison_text(found, published),
            "blocks": [
                figures.elpd_differences(found.comparison, {k: name_of(k) for k in found.comparison.index}),
                _comparison_table(found, published),
                _weights_table(found),
            ],
        },
        {
            "title": "The ridge: progress in parameters or in data",
            "text": _ridge_text(found),
            "blocks": [
                figures.ridge(a[keep], b[keep], rate.ravel()[keep], _marks(found, published)),
                _coefficient_table(found, published),
            ],
        },
        {
            "title": "The paper's estimator",
            "text": _estimator_text(found),
            "blocks": [_estimator_table(found, published)],
        },
    ]
