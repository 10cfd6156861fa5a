"""Tables of the page on algorithmic progress."""

import numpy as np

from ....datasets.wording import p_value
from ....inference.checks.law_tests import BY_COLUMN
from ....inference.words import in_words, probability
from ....models.progress.specifications import NO_PROGRESS
from ...html import tables
from ...laws import EFFECTS, INDEPENDENT, MAIN, NOISES
from .published import DIRECT_PUBLISHED, DOUBLING
from .ridge import OFFSETS, paper_coefficients
from .specifications import TEN_BEST
from .wording import (
    COMPUTE_ONLY,
    EFFECTS_WORDS,
    POOLED,
    draws_interval,
    far_times,
    formula,
    in_a_row,
    name_of,
    quoted_times,
    with_progress,
    words,
)

DELTA = 0.0025
FAR = "at 1e25 FLOP in 2023"
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


def answers(findings, published):
    """Return the table of doubling times by estimand, the quoted one first."""
    label, quoted = quoted_times(findings)
    rows = [(label, "at the evaluations", quoted, "–")]
    for noise in findings.noises.index:
        mixed = findings.compared["by_noise"][noise]
        rows.append((f"specifications mixed, {EFFECTS_WORDS[noise]}", "at the evaluations", mixed, "–"))
    pooled = findings.compared["pooled"]
    far = {"closed_form": (far_times(findings, MAIN), f"specification {MAIN}"),
           TEN_BEST: (pooled[TEN_BEST], "ten best specifications mixed")}  # fmt: skip
    rows += [(name, FAR, q, published.words(DOUBLING + key)) for key, (q, name) in far.items()]
    rows.append(("specifications mixed", FAR, pooled["by_paper_stacking"], "–"))
    rows = [(name, where, words(q), probability(q["p_progress"]), other) for name, where, q, other in rows]
    header = ("which", "where", "doubling (months)", "P(progress)", "published (months)")
    note = (
        f"Quoted: one specification, {EFFECTS_WORDS[findings.noises.index[0]]}, at the evaluations' own sizes and "
        "dates. Mixed: specifications weighted by how well they predict papers left out. Far beyond the evaluations "
        "specifications differ: state specification, budget and date with those rows. Medians and 95% intervals; "
        "never: no progress at that end."
    )
    fits = {0: findings.document["compute_equivalent_gain"]["quoted"]["fit"], 3: f"progress-{MAIN}"}
    fits = [fits.get(i, "") for i in range(len(rows))]
    return tables.of_rows(header, rows, note, recommended=0, title="Doubling times by estimand", fits=fits)


def doubling(findings, published):
    """Return the table of doubling times by specification, and pooled."""
    header = ("specification", "formulas", "closed form", "optimal scaling", "P(progress)", "draws without optimum")
    rows, fits = [], []
    for k in with_progress(findings):
        entry = findings.document["progress"][str(k)]
        for label, q in entry["doubling_months"].items():
            name = name_of(k) + ("" if label == "all" else f": {label}")
            optimal = words(entry["doubling_months_optimal_scaling"][label])
            certain = probability(entry["p_progress"][label]), f"{entry['draws_without_optimum'][label]:.0f}"
            rows.append((name, formula(k), words(q), optimal, *certain))
            fits.append(f"progress-{k}")
    for key, name in POOLED.items():
        q = findings.compared["pooled"][key]
        rows.append((f"pooled: {name}", "–", words(q), "–", probability(q["p_progress"]), "–"))
    estimates = (published.words(DOUBLING + name) for name in ("closed_form", "optimal_scaling"))
    rows.append((f"published: {MAIN}", formula(MAIN), *estimates, "–", "–"))
    note = (
        "Months: medians and 95% intervals; never: the rate is not positive at that quantile. Optimal scaling: the "
        "time in which progress saves half of 10<sup>25</sup> FLOP in 2023. The rates of 14 and 15 are of that place "
        f"too. Rates are pooled, with a rate of zero for {' and '.join(map(str, NO_PROGRESS))}."
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


def comparison(findings, published):
    """Return the table of how well each specification predicts rows and papers left out."""
    errors = [published(f"progress.{k}.loo_mse.penalty_{DELTA:g}")[0] for k in findings.comparison.index]
    note = (
        "elpd: in nats of log perplexity. Difference: to the best, with one standard error. MSE: in squared nats. "
        f"Published: table 11 of the paper at penalty {DELTA:g}; its leave-one-out ran over a random 80% of the rows. "
        f"Its value for {COMPUTE_ONLY} is an artefact of the released code, which takes the reference compute from the "
        "row left out."
    )
    table = findings.comparison.assign(published=errors)
    return _of_columns(table, SCORES, note, "How well each specification predicts")


def weights(findings):
    """Return the table of weights of the specifications, and diagnostics."""
    note = "Rows and papers with a Pareto k above 0.7 were left out in a refit; the largest k left is of the others."
    return _of_columns(findings.comparison, WEIGHTS, note, "Weights of the specifications, and diagnostics")


def coefficients(findings, published):
    """Return the table of coefficients of the main specification, with the published ones."""
    header = ("coefficient", "posterior [95%]", "published [interval]", "P(≥ published)", "width over prior's",
              "prior-driven")  # fmt: skip
    driven = findings.driven.set_index("coefficient")
    rows = []
    for name, draws in paper_coefficients(findings.fits[INDEPENDENT]).items():
        estimate = published(f"progress.{MAIN}.{name}")[0]
        level = OFFSETS.get(name, (f"{name}[wt103]" if name.endswith("const") else name,))[0]
        above = "–" if np.isnan(estimate) else probability((draws >= estimate).mean())
        flag = f"{driven.loc[level, 'ratio']:.2f}", "yes" if driven.loc[level, "prior_driven"] else "no"
        estimate_words = published.words(f"progress.{MAIN}.{name}")
        rows.append((name, draws_interval(draws, "{:.3f}"), estimate_words, above, *flag))
    note = (
        "Intercepts are that of wt103 and the offsets of the others from it, converted draw by draw. Width: half of "
        "the central 68% over that of the prior; for offsets, that of the intercept. Above 0.8 the prior decides. "
        f"Prior-driven coefficients: {in_a_row(driven.index[driven['prior_driven']])}."
    )
    return tables.of_rows(header, rows, note, fits=f"progress-{MAIN}")


def estimator(findings, published):
    """Return the table of the paper's estimator, as it stops and converged."""
    fits = findings.paper

    def row(name, write, estimate="–"):
        return name, *(write(fit) for fit in fits.values()), estimate

    rows = [
        row("objective (nats²)", lambda f: f"{f.search['objective']:.7f}"),
        row("mean squared error (nats²)", lambda f: f"{f.search['mse']:.7f}"),
        row("doubling time (months)", point, published.words(DOUBLING + "closed_form")),
        *(
            row(name, lambda f, name=name: f"{f[name]:.6f}", published.words(f"progress.{MAIN}.{name}"))
            for name in fits["as it stops"]["coefficients"]
        ),
        row("result", lambda f: f.message),
    ]
    note, title = "Published: table 2, with bootstrap intervals.", "Where the paper's estimator stops, and its optimum"
    return tables.of_rows(("quantity", *fits, "published"), rows, note, title=title)


def point(fit):
    """Write the doubling time of a point estimate in months."""
    months = fit["doubling_months"]
    return "never" if months is None else f"{months:.3f}"


def law_tests(findings):
    """Return the table of tail probabilities of tests, by specification and noise."""
    progress = findings.document["progress"]
    misfit = progress[str(MAIN)]["misfit"]
    tests = [test for test in misfit[INDEPENDENT] if not test.startswith(BY_COLUMN)]
    header = ("specification", *(f"{in_words(test)}, {noise}" for noise in misfit for test in (*tests, "groups")))
    rows = []
    for k in findings.comparison.index:
        cells = []
        for of in progress[str(k)]["misfit"].values():
            columns = {test.removeprefix(BY_COLUMN): of[test]["p"] for test in of if test.startswith(BY_COLUMN)}
            groups = ", ".join(f"{p_value(p, '')} ({column})" for column, p in columns.items()) or "–"
            cells += [*(p_value(of[test]["p"], "") for test in tests), groups]
        rows.append((name_of(k), *cells))
    note = (
        "Posterior means of tail probabilities; a specification below 0.01 is rejected. Groups: of the columns that "
        "name groups of rows, the one whose groups differ most, with a probability corrected for their number."
    )
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in findings.comparison.index]
    return tables.of_rows(header, rows, note, title="Tail probabilities of tests, by specification", fits=fits)


def papers(findings):
    """Return the table of elpd and doubling times with and without random effects by paper."""
    header = ("specification", "elpd by row", "with effects", "elpd by paper", "with effects ",
              "doubling (months), rows independent", "doubling (months), paper effects")  # fmt: skip
    rows = []
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in with_progress(findings)]
    for k in with_progress(findings):
        entry = findings.document["paper_effects"][str(k)]
        pairs = [f"{entry[noise][name]:.1f}" for name in ("elpd", "elpd_papers") for noise in NOISES]
        independent = findings.document["progress"][str(k)]["compute_equivalent_gain"]["all"]
        rows.append((name_of(k), *pairs, *(words(one["doubling_months"]) for one in (independent, entry))))
    note = (
        "Elpd by row, with effects: of a row given the other rows of its paper. Elpd by paper: of the rows of a paper "
        "together, given the other papers. Doubling times are at the evaluations' own sizes. The first two marks are "
        "of the fit without random effects by paper, the last two of that with them."
    )
    return tables.of_rows(header, rows, note, fits=fits)


def direct(findings, published):
    """Return the table of direct estimates of doubling times."""
    header = ("reference", "perplexity within", "systems", "doubling (months)", "published (months)", "P(progress)")
    rows = []
    for system, estimate in findings.direct.items():
        published_words = published.words(f"{DOUBLING}direct.{DIRECT_PUBLISHED.get(system)}")
        ours, certain = estimate.message, "–"
        if estimate.posterior is not None:
            ours = words(dict(zip(("q2.5", "q50", "q97.5"), estimate.doubling_quantiles(), strict=True)))
            certain = probability(estimate.p_progress)
        rows.append((system, f"{estimate.factor:g}×", str(len(estimate.rows)), ours, published_words, certain))
    note = (
        "Systems after the reference with known compute, one of each paper. The estimate is the slope of a line of log "
        "compute in the date."
    )
    return tables.of_rows(header, rows, note)
