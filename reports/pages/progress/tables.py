"""Tables of the page on algorithmic progress."""

import numpy as np
import pandas as pd

from ....datasets.wording import p_value
from ....inference.checks.law_tests import BY_COLUMN
from ....inference.checks.sensitivity import SENSITIVE
from ....inference.progress.change_points import NONE
from ....inference.words import in_words, plain, probability
from ....models.progress.specifications import NO_PROGRESS
from ...drawing import tables
from .analysis import EFFECTS, INDEPENDENT, MAIN
from .published import DIRECT_PUBLISHED, DOUBLING, VARIANT_PUBLISHED
from .ridge import OFFSETS, paper_coefficients
from .wording import (
    COMPUTE_ONLY,
    EFFECTS_WORDS,
    POOLED,
    VARIANT_NAMES,
    draws_interval,
    formula,
    in_a_row,
    known,
    months,
    name_of,
    quoted_times,
    times,
    with_progress,
    words,
)

DELTA = 0.0025
FAR = "at 1e25 FLOP in 2023"
GAINS = ("loss reduction (%)", "gain at 10²² FLOP (×)", "gain at 10²⁵ FLOP (×)")
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


def answers(found, published):
    """Return the table of doubling times by what is asked, the quoted one first."""
    label, quoted = quoted_times(found)
    rows = [(label, "at the evaluations", quoted, "–")]
    for noise in found.mixed.index[:2]:
        mixed = times(found.by_noise[noise])
        rows.append((f"specifications mixed, {EFFECTS_WORDS[noise]}", "at the evaluations", mixed, "–"))
    theirs = {"closed_form": (found.rates[MAIN], f"specification {MAIN}"),
              "top10": (found.pooled["top10"], "ten best specifications mixed")}  # fmt: skip
    rows += [(name, FAR, times(rate), published.words(DOUBLING + key)) for key, (rate, name) in theirs.items()]
    rows.append(("specifications mixed", FAR, times(found.pooled["by_paper_stacking"]), "–"))
    rows = [(name, where, words(q), probability(q["p_progress"]), other) for name, where, q, other in rows]
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


def doubling(found, published):
    """Return the table of doubling times by specification, and pooled."""
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


def _of_columns(table, columns, note, title):
    """Return the table of some columns of a comparison; of each its title and format, None for a probability."""
    rows = [
        (name_of(k), *("–" if np.isnan(row[name]) else (form.format if form else probability)(row[name])
                       for name, (_, form) in columns.items()))
        for k, row in table.iterrows()
    ]  # fmt: skip
    header = ("specification", *(title for title, _ in columns.values()))
    return tables.of_rows(header, rows, note, title=title, fits=[f"progress-{k}" for k in table.index])


def comparison(found, published):
    """Return the table of how well each specification predicts rows and papers left out."""
    theirs = [published(f"progress.{k}.loo_mse.penalty_{DELTA:g}")[0] for k in found.comparison.index]
    note = (
        "elpd in nats, of log perplexity; differences to the best, with one standard error. MSE in squared nats. "
        f"Published: table 11 of the paper at penalty {DELTA:g}. Its leave-one-out ran over a random 80% of the rows, "
        f"and its value for {COMPUTE_ONLY} is an artefact of the released code, which takes the reference compute from "
        "the row left out."
    )
    table = found.comparison.assign(published=theirs)
    return _of_columns(table, SCORES, note, "How well each specification predicts")


def weights(found):
    """Return the table of weights of the specifications, and diagnostics."""
    note = "Rows and papers whose Pareto k was above 0.7 were left out by a refit; k is the largest of the others."
    return _of_columns(found.comparison, WEIGHTS, note, "Weights of the specifications, and diagnostics")


def coefficients(found, published):
    """Return the table of coefficients of the main specification beside the published ones."""
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


def estimator(found, published):
    """Return the table of the paper's estimator, as it stops and converged."""
    fits = found.paper

    def row(name, write, theirs="–"):
        return name, *(write(fit) for fit in fits.values()), theirs

    rows = [
        row("objective (nats²)", lambda f: f"{f.search['objective']:.7f}"),
        row("mean squared error (nats²)", lambda f: f"{f.search['mse']:.7f}"),
        row("doubling time (months)", point, published.words(DOUBLING + "closed_form")),
        *(
            row(name, lambda f, name=name: f"{f[name]:.6f}", published.words(f"progress.{MAIN}.{name}"))
            for name in fits["as it stops"]["coefficients"]
        ),
        row("verdict", lambda f: f.message),
    ]
    note, title = "Published: table 2, with bootstrap intervals.", "Where the paper's estimator stops, and its optimum"
    return tables.of_rows(("quantity", *fits, "published"), rows, note, title=title)


def point(fit):
    """Write the doubling time of a point estimate in months."""
    months = fit["doubling_months"]
    return "never" if months is None else f"{months:.3f}"


def law_tests(found):
    """Return the table of tail probabilities of tests, by specification and noise."""
    tests = [test for test in found.misfit[INDEPENDENT][MAIN] if not test.startswith(BY_COLUMN)]
    header = ("specification", *(f"{in_words(test)}, {noise}" for noise in found.misfit for test in (*tests, "groups")))
    rows = []
    for k in found.comparison.index:
        cells = []
        for of in (found.misfit[noise][k] for noise in found.misfit):
            columns = {test.removeprefix(BY_COLUMN): of[test]["p"] for test in of if test.startswith(BY_COLUMN)}
            groups = ", ".join(f"{p_value(p, '')} ({column})" for column, p in columns.items()) or "–"
            cells += [*(p_value(of[test]["p"], "") for test in tests), groups]
        rows.append((name_of(k), *cells))
    note = (
        "Posterior means of tail probabilities; below 0.01 a specification does not fit. Groups: of the columns that "
        "name groups of rows, the one whose groups differ most, its probability corrected for their number."
    )
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in found.comparison.index]
    return tables.of_rows(header, rows, note, title="Tail probabilities of tests, by specification", fits=fits)


def papers(found):
    """Return the table of elpd and doubling times with and without effects of papers."""
    scores = [found.scores[noise].table for noise in (INDEPENDENT, EFFECTS)]
    header = ("specification", "elpd by row", "with effects", "elpd by paper", "with effects ",
              "doubling (months), rows independent", "doubling (months), paper effects")  # fmt: skip
    rows = []
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in with_progress(found)]
    for k in with_progress(found):
        pairs = [f"{table.loc[k, name]:.1f}" for name in ("elpd", "elpd_papers") for table in scores]
        own = found.gain_times[k].loc["all"]
        rows.append((name_of(k), *pairs, words(own), words(times(found.effect_gains[k]))))
    note = (
        "Elpd by row with effects: of a row given the other rows of its paper. By paper: of a paper's rows together, "
        "the paper unseen. Doubling times at the evaluations' own sizes. Marks: without effects of papers, and with."
    )
    return tables.of_rows(header, rows, note, fits=fits)


def rests(found):
    """Return the table of what moves each specification: priors, papers, coefficients that the prior decides."""
    header = ("specification", "median under other priors, at the rows (months)", "least P(progress)",
              "at the optimum (months)", "least P(progress) there", "paper that moves it most", "by (months)",
              "decided by the prior")  # fmt: skip
    rows = []
    study = found.study("progress_sensitivity")
    for k in map(int, study["prior_grid"]):
        grid, ranges = grid_of(study, k), []
        for one in (grid[grid["estimand"] == estimand] for estimand in ("rows", "optimum")):
            ranges += [
                f"{months(one['q50'].min())} to {months(one['q50'].max())}",
                probability(one["p_progress"].min()),
            ]
        top, driven = influence_of(study, k).iloc[0], found.driven.get(k)
        title = top["title"] if len(top["title"]) < 41 else f"{top['title'][:40]}…"
        names = () if driven is None else driven.loc[driven["prior_driven"], "coefficient"]
        rows.append((name_of(k), *ranges, title, f"{top['shift']:+.2f}", ", ".join(names) or "–"))
    note = (
        f"Each specification with weight under the priors of the figure, all but {MAIN} under the four outermost, at "
        "the evaluations' own sizes and at the compute-optimal one; the paper that moves the median at the rows most "
        "when it is left out; coefficients no more than a fifth narrower than their prior."
    )
    return tables.of_rows(header, rows, note, title="What moves each specification")


def power_scaling(found):
    """Return the table of sensitivity to powers of prior and likelihood."""
    columns = [(place, power) for place in ("at the rows", "at the optimum") for power in ("prior", "likelihood")]
    header = ("specification", *(f"{power}, {place}" for place, power in columns))
    rows = [
        (name_of(int(k)), *(f"{each[place][power]:.3f}" for place, power in columns))
        for k, each in found.study("progress_sensitivity")["power_scaling"].items()
    ]
    note = (
        f"Distance that the rate of progress moves per doubling of the power; above {SENSITIVE:g} is sensitive. A rate "
        "that the data inform is sensitive to the likelihood alone."
    )
    return tables.of_rows(header, rows, note, title="Sensitivity to powers of prior and likelihood")


def frame(entries):
    """Return entries of results.json by name as a table; numbers of specifications are whole numbers again."""
    table = pd.DataFrame.from_dict(entries, orient="index")
    return table.set_axis([int(name) if name.isdigit() else name for name in table.index])


def grid_of(study, k):
    """Return the doubling times of a specification under other priors; never is infinite."""
    return pd.DataFrame(study["prior_grid"][str(k)]).fillna(np.inf)


def influence_of(study, k):
    """Return how each paper moves the doubling time of a specification; never is infinite."""
    table = pd.DataFrame(study["papers"][str(k)]["first"])
    return table.fillna({"median": np.inf, "shift": np.inf})


def scored(row):
    """Write the differences of elpd of a variant by row and by paper, each with a standard error."""
    if "elpd_diff" not in row:
        return "–", "–"
    return f"{row['elpd_diff']:+.1f} ± {row['dse']:.1f}", f"{row['papers_diff']:+.1f} ± {row['papers_dse']:.1f}"


def variants(entries, published):
    """Return the table of variants of the main specification, by name their entries."""
    header = ("variant", "rows", "doubling (months)", "published (months)", "P(progress)", "elpd by row",
              "elpd by paper", "largest r_hat", "least bulk ESS", "diverging")  # fmt: skip
    rows = []
    for name, entry in entries.items():
        theirs = published.words(DOUBLING + VARIANT_PUBLISHED.get(name, name))
        checks = f"{entry['r_hat_max']:.3f}", f"{entry['ess_bulk_min']:.0f}", str(entry["divergences"])
        answer = words(entry["times"]), theirs, probability(entry["p_progress"])
        label = VARIANT_NAMES.get(name, name)
        rows.append((label, str(entry["rows"]), *answer, *scored(entry), *checks))
    note = (
        "A published interval that starts below zero is one of a doubling time whose rate passed through zero; it has "
        "no place on the axis of the figure. Paper effects: the paper used all models of each paper, this table holds "
        "at most three of each. Elpd: difference from specification "
        f"{MAIN} in nats of the loss ± one standard error, where both are of the same rows; beyond two of them a "
        "variant predicts better, or worse."
    )
    return tables.of_rows(header, rows, note, title="Variants beside the published ones")


def _gain_cells(entry):
    gains = (plain(entry[name], "{:.3g}") for name in ("gain_1e22", "gain_1e25"))
    return plain(entry["loss_reduction_percent"], "{:.1f}"), *gains


def transformer_forms(found, published):
    """Return the table of what the transformer gained, by the form of its factor."""
    rows, study = [], found.study("progress_variants")
    for name, entry in study["transformer_by_form"].items():
        certain = "1, by its form" if name == "transformer_sigmoid" else probability(entry["p_gain"])
        gamma = plain(study["variants"][name]["parameters"]["gamma_transformer"], "{:.3f}")
        rows.append((VARIANT_NAMES[name], *_gain_cells(entry), certain, gamma))
    theirs = [published.words(f"transformer.{n}") for n in ("loss_reduction_percent", "gain_1e22", "gain_1e25")]
    share = published("transformer.loss_reduction_percent")[0] / 100
    rows.append(("published, σ(γ)", *theirs, "1, by its form", f"{np.log((1 - share) / share):.3f}, implied"))
    note = "Gain: factor of compute that a transformer saves, in 2023 on wt103."
    header = ("form", *GAINS, "P(reduction > 0)", "γ")
    return tables.of_rows(header, rows, note, title="What the transformer gained, by form")


def transformers(found):
    """Return the table of what the transformer gained, by specification."""
    study = found.study("progress_variants")["transformer_by_specification"]
    rows = [(name_of(int(k)), *_gain_cells(entry)) for k, entry in study.items()]
    note = (
        "Form exp(γ), of the ten best specifications of 1 to 15, best elpd first. Gains: of draws that have an optimum."
    )
    return tables.of_rows(("specification", *GAINS), rows, note, title="What the transformer gained, by specification")


def pace(found):
    """Return the table of probabilities of a change of pace by its date, and of the random walk."""
    study = found.study("progress_pace")
    header = ("change at", "probability", "elpd", "before (months)", "after (months)", "P(faster after)")
    rows = []
    for cutoff, row in study["cutoffs"].items():
        ends = ("–", "–") if cutoff == NONE else (words(known(row[name])) for name in ("before", "after"))
        faster = "–" if cutoff == NONE else probability(row["p_faster"])
        rows.append((cutoff, f"{row['probability']:.3f}", f"{row['elpd']:.1f}", *ends, faster))
    walk = study["random_walk"]
    first, *_, last = walk["doubling_months"]
    error = max(row["se"] for row in study["cutoffs"].values())
    ends = (words(known(walk["doubling_months"][year])) for year in (first, last))
    rows.append(("random walk", "–", f"{walk['law']['elpd_loo']:.1f}", *ends, probability(walk["p_faster"])))
    note = (
        f"Marginal likelihoods by bridge sampling (largest standard error {error:.2f} in their "
        "logarithm); even odds of a change beforehand, all dates alike. Elpd by leave-one-out, of rows. Rates at the "
        f"evaluations' own sizes. Of the random walk, with a step every two years, before is {first}, after is "
        f"{last}, and the probability is that of a faster pace in {last} than over the evaluations."
    )
    return tables.of_rows(header, rows, note)


def future(found):
    """Return the table of how well the main specification predicts the year to come, by cutoff."""
    header = ("cutoff", "trained on", "predicted", "elpd of them", "elpd a row", "MSE (nats²)")
    rows = [
        (*(f"{x:.0f}" for x in (r.cutoff, r.trained, r.predicted)), f"{r.elpd:.1f}", f"{r.elpd / r.predicted:.3f}",
         f"{r.mse:.5f}")
        for r in pd.DataFrame(found.study("progress_future")["leave_future_out"]).itertuples()
    ]  # fmt: skip
    return tables.of_rows(header, rows, title=f"The year to come, by specification {MAIN}")


def futures(found):
    """Return the table of how well every specification predicts the years to come."""
    table = frame(found.study("progress_future")["leave_future_out_by_specification"])
    years = [name for name in table if name.startswith("elpd_2")]
    header = ("specification", "elpd", "difference", "se by rows", "se by papers", "MSE (nats²)", "stacking",
              *(name.removeprefix("elpd_") for name in years))  # fmt: skip
    forms = {"elpd": "{:.1f}", "elpd_diff": "{:.1f}", "dse": "{:.1f}", "dse_by_paper": "{:.1f}", "mse": "{:.4f}",
             "stacking": "{:.2f}"} | dict.fromkeys(years, "{:.1f}")  # fmt: skip
    rows = [(name_of(k), *(form.format(row[name]) for name, form in forms.items())) for k, row in table.iterrows()]
    note = (
        "Each specification trained on what was dated before a year and scored on that year's rows, by row; 16 and 17 "
        "know no progress. Stacking: weights of the mixture that would have predicted best."
    )
    return tables.of_rows(header, rows, note, title="The years to come, by every specification")


def direct(found, published):
    """Return the table of doubling times straight from the data."""
    header = ("reference", "perplexity within", "systems", "doubling (months)", "published (months)", "P(progress)")
    rows = []
    for system, estimate in found.direct.items():
        theirs = published.words(f"{DOUBLING}direct.{DIRECT_PUBLISHED.get(system)}")
        ours, certain = estimate.message, "–"
        if estimate.posterior is not None:
            ours = words(dict(zip(("q2.5", "q50", "q97.5"), estimate.doubling_quantiles(), strict=True)))
            certain = probability(estimate.p_progress)
        rows.append((system, f"{estimate.factor:g}×", str(len(estimate.rows)), ours, theirs, certain))
    note = "Systems dated after the reference with known compute, one of each paper; a line of log compute in the date."
    return tables.of_rows(header, rows, note)
