"""Tables of the long studies of algorithmic progress."""

import numpy as np
import pandas as pd

from ....inference.checks.sensitivity import SENSITIVE
from ....inference.progress.change_points import NONE
from ....inference.words import plain, probability
from ...html import tables
from ...laws import MAIN
from .entries import frame
from .published import DOUBLING, VARIANT_PUBLISHED
from .wording import VARIANT_NAMES, months, name_of, words

GAINS = ("loss reduction (%)", "gain at 10²² FLOP (×)", "gain at 10²⁵ FLOP (×)")


def rests(findings):
    """Return the table of what each specification is sensitive to: priors, papers, prior-driven coefficients."""
    header = ("specification", "median under other priors, at the rows (months)", "least P(progress)",
              "at the optimum (months)", "least P(progress) there", "paper that changes it most", "by (months)",
              "decided by the prior")  # fmt: skip
    rows = []
    study = findings.study("progress_sensitivity")
    for k in map(int, study["prior_grid"]):
        grid, ranges = grid_of(study, k), []
        for one in (grid[grid["estimand"] == estimand] for estimand in ("rows", "optimum")):
            ranges += [
                f"{months(one['q50'].min())} to {months(one['q50'].max())}",
                probability(one["p_progress"].min()),
            ]
        top, names = influence_of(study, k).iloc[0], findings.compared["document"]["prior_driven"].get(str(k), ())
        title = top["title"] if len(top["title"]) < 41 else f"{top['title'][:40]}…"
        rows.append((name_of(k), *ranges, title, f"{top['shift']:+.2f}", ", ".join(names) or "–"))
    note = (
        f"Specifications with weight under the priors of the figure; all but {MAIN} under the four outermost only. At "
        "the rows: at the evaluations' own sizes. At the optimum: at the compute-optimal size. The paper is the one "
        "that changes the median at the rows most when it is left out. Decided by the prior: coefficients at most a "
        "fifth narrower than their prior."
    )
    return tables.of_rows(header, rows, note, title="What each specification is sensitive to")


def power_scaling(findings):
    """Return the table of sensitivity to powers of prior and likelihood."""
    columns = [(place, power) for place in ("at the rows", "at the optimum") for power in ("prior", "likelihood")]
    header = ("specification", *(f"{power}, {place}" for place, power in columns))
    rows = [
        (name_of(int(k)), *(f"{distances[place][power]:.3f}" for place, power in columns))
        for k, distances in findings.study("progress_sensitivity")["power_scaling"].items()
    ]
    note = (
        f"Distance by which the rate of progress changes with each doubling of the power; above {SENSITIVE:g} it is "
        "sensitive. A rate that the data determine is sensitive to the likelihood alone."
    )
    return tables.of_rows(header, rows, note, title="Sensitivity to powers of prior and likelihood")


def grid_of(study, k):
    """Return the doubling times of a specification under other priors; never is infinite."""
    return pd.DataFrame(study["prior_grid"][str(k)]).fillna(np.inf)


def influence_of(study, k):
    """Return how each paper changes the doubling time of a specification; never is infinite."""
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
        estimate = published.words(DOUBLING + VARIANT_PUBLISHED.get(name, name))
        checks = f"{entry['r_hat_max']:.3f}", f"{entry['ess_bulk_min']:.0f}", str(entry["divergences"])
        answer = words(entry["times"]), estimate, probability(entry["p_progress"])
        label = VARIANT_NAMES.get(name, name)
        rows.append((label, str(entry["rows"]), *answer, *scored(entry), *checks))
    note = (
        "A published interval that starts below zero is one of a doubling time whose rate passed through zero; the "
        "figure cannot show it. Paper effects: the paper used all models of each paper; this table has at most three "
        f"of each. Elpd: difference to specification {MAIN} in nats, ± one standard error, if both have the same rows. "
        "Beyond two standard errors and 4 nats a variant predicts better, or worse."
    )
    return tables.of_rows(header, rows, note, title="Variants compared with the published ones")


def _gain_cells(entry):
    gains = (plain(entry[name], "{:.3g}") for name in ("gain_1e22", "gain_1e25"))
    return plain(entry["loss_reduction_percent"], "{:.1f}"), *gains


def transformer_forms(findings, published):
    """Return the table of what the transformer gained, by the form of its factor."""
    rows, study = [], findings.study("progress_variants")
    for name, entry in study["transformer_by_form"].items():
        certain = "1, by its form" if name == "transformer_sigmoid" else probability(entry["p_gain"])
        gamma = plain(study["variants"][name]["parameters"]["gamma_transformer"], "{:.3f}")
        rows.append((VARIANT_NAMES[name], *_gain_cells(entry), certain, gamma))
    estimates = [published.words(f"transformer.{n}") for n in ("loss_reduction_percent", "gain_1e22", "gain_1e25")]
    share = published("transformer.loss_reduction_percent")[0] / 100
    rows.append(("published, σ(γ)", *estimates, "1, by its form", f"{np.log((1 - share) / share):.3f}, implied"))
    note = "Gain: factor of compute that a transformer saves in 2023 on wt103."
    header = ("form", *GAINS, "P(reduction > 0)", "γ")
    return tables.of_rows(header, rows, note, title="What the transformer gained, by form")


def transformers(findings):
    """Return the table of what the transformer gained, by specification."""
    study = findings.study("progress_variants")["transformer_by_specification"]
    rows = [(name_of(int(k)), *_gain_cells(entry)) for k, entry in study.items()]
    note = (
        "Form exp(γ) in the ten best of specifications 1 to 15, best elpd first. Gains: of draws that have an optimum."
    )
    return tables.of_rows(("specification", *GAINS), rows, note, title="What the transformer gained, by specification")


def changes(findings):
    """Return the table of probabilities of a change of the rate by its date, and of the random walk."""
    study = findings.study("progress_pace")
    header = ("change at", "probability", "elpd", "before (months)", "after (months)", "P(faster after)")
    rows = []
    for cutoff, row in study["cutoffs"].items():
        ends = ("–", "–") if cutoff == NONE else (words(row[name]) for name in ("before", "after"))
        faster = "–" if cutoff == NONE else probability(row["p_faster"])
        rows.append((cutoff, f"{row['probability']:.3f}", f"{row['elpd']:.1f}", *ends, faster))
    walk = study["random_walk"]
    first, *_, last = walk["doubling_months"]
    error = max(row["se"] for row in study["cutoffs"].values())
    ends = (words(walk["doubling_months"][year]) for year in (first, last))
    rows.append(("random walk", "–", f"{walk['law']['elpd_loo']:.1f}", *ends, probability(walk["p_faster"])))
    note = (
        "Probabilities are from marginal likelihoods by bridge sampling (largest standard error of their logarithm: "
        f"{error:.2f}), with even odds of a change beforehand and all dates equally probable. Elpd: by leave-one-out, "
        "of rows. Rates are at the evaluations' own sizes. The random walk has a step every two years: before is "
        f"{first}, after is {last}, and P is that of faster progress in {last} than over the evaluations."
    )
    return tables.of_rows(header, rows, note)


def future(findings):
    """Return the table of how well the main specification predicts the year to come, by cutoff."""
    header = ("cutoff", "rows fitted", "rows predicted", "elpd", "elpd a row", "MSE (nats²)")
    rows = [
        (*(f"{x:.0f}" for x in (r.cutoff, r.trained, r.predicted)), f"{r.elpd:.1f}", f"{r.elpd / r.predicted:.3f}",
         f"{r.mse:.5f}")
        for r in pd.DataFrame(findings.study("progress_future")["leave_future_out"]).itertuples()
    ]  # fmt: skip
    return tables.of_rows(header, rows, title=f"The year to come, by specification {MAIN}")


def futures(findings):
    """Return the table of how well every specification predicts the years to come."""
    table = frame(findings.study("progress_future")["leave_future_out_by_specification"])
    years = [name for name in table if name.startswith("elpd_2")]
    header = ("specification", "elpd", "difference", "se by rows", "se by papers", "MSE (nats²)", "stacking",
              *(name.removeprefix("elpd_") for name in years))  # fmt: skip
    forms = {"elpd": "{:.1f}", "elpd_diff": "{:.1f}", "dse": "{:.1f}", "dse_by_paper": "{:.1f}", "mse": "{:.4f}",
             "stacking": "{:.2f}"} | dict.fromkeys(years, "{:.1f}")  # fmt: skip
    rows = [(name_of(k), *(form.format(row[name]) for name, form in forms.items())) for k, row in table.iterrows()]
    note = (
        "Each specification is fitted to the rows before a year and scored on the rows of that year; 16 and 17 have no "
        "progress. Stacking: weights of the mixture that would have predicted best."
    )
    return tables.of_rows(header, rows, note, title="The years to come, by every specification")
