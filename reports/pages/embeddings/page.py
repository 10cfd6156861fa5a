"""The page on embedding parameters: whether leaving them out explains the exponent of Kaplan et al."""

from ....inference.estimands.strength import times_outside
from ....inference.estimands.study_exponents import KAPLAN_EXPONENT
from ....inference.words import plain, probability
from ....plots import plot_intervals
from ...html import prose, tables
from ...html.illustrations import pictured
from ...laws import DEFAULT
from ...results import verdict_entry
from .analysis import MAIN

ESTIMATORS = {
    "least_squares": "least squares of log N_T",
    "regression": "regression of log N_E on log N_x",
    "proportional": "least squares, δ = 1/3",
}
COUNTED = {"nonembedding": "without embeddings", "total": "all parameters"}
KAPLAN = "Kaplan et al. 2020"


def _chart(by_law, names, measured):
    """Draw the exponents of the laws that predict about as well, and those that were measured."""
    rows = {
        f"{name} law, {words}".capitalize(): by_law[name][basis] for name in names for basis, words in COUNTED.items()
    }
    without, counted = (plain(by_law[names[0]][basis], "{:.2f}") for basis in COUNTED)
    return pictured(
        plot_intervals,
        rows,
        "Exponent of the best size in compute",
        published={f"{KAPLAN}, {COUNTED['nonembedding']}": KAPLAN_EXPONENT}
        | {f"{source}, {COUNTED['total']}": x for source, x in measured},
        title=f"Without embeddings the exponent of the best size is {without}, with them {counted}",
        caption="Medians and 95% intervals of the exponent that the study of Kaplan et al. would have measured, under "
        "the laws that predict runs left out about as well.",
        source="Data: chinchilla_runs",
    )


def _exponents_table(study, measured):
    """Return the table of exponents by law and noise, measured ones and those of published constants."""
    rows = [
        [
            name,
            *(tables.interval(one[basis], "{:.3f}") for basis in COUNTED),
            probability(one["p_above_0.73"]),
            f"{one['elpd_diff']:+.1f} ± {one['dse']:.1f}" if one["elpd_diff"] else "best",
            "yes" if one["rejected"] else "no",
        ]
        for name, one in study["by_law"].items()
    ]
    exponents = study["local_exponent"]
    constants = [
        (f"constants of {source}", *(f"{exponents[basis][source]:.3f}" for basis in COUNTED))
        for source in exponents["total"]
        if source != "posterior"
    ]
    others = [(KAPLAN, f"{KAPLAN_EXPONENT}"), *((source, None, f"{x}") for source, x in measured), *constants]
    header = ["law and noise", *COUNTED.values(), "P(≥ 0.73)", "elpd", "predicts worse"]
    note = (
        "Medians and 95% intervals. Elpd: difference to the best law in nats, ± one standard error; beyond two a law "
        "predicts worse. Sources alone: measured there. Constants: of Chinchilla's law, in the study of Kaplan et al.; "
        "Pearce and Song (2024) print 0.74 and 0.78 without embeddings."
    )
    rows += [[*row, *[None] * (len(header) - len(row))] for row in others]
    return tables.of_rows(header, rows, note, title="Exponents by law and noise, and published ones")


def _sizes_table(entry):
    """Return the table of estimates of the relation between all parameters and those outside the embeddings."""
    columns = {"gamma": ("γ", "{:,.0f}"), "delta": ("δ", "{:.3f}"), "aspect_ratio": ("width over depth", "{:.1f}")}
    rows = [
        {"estimator": "posterior"}
        | {title: tables.interval(entry["posterior"][key], form) for key, (title, form) in columns.items()}
    ]
    rows += [
        {"estimator": label}
        | {title: form.format(entry[name][key]) if entry[name][key] else None for key, (title, form) in columns.items()}
        for name, label in ESTIMATORS.items()
    ]
    rows.append({"estimator": "Pearce and Song 2024", "γ": "47,491", "δ": "0.34", "width over depth": "39.2"})
    note = "Width over depth: what γ and a vocabulary of 32,000 imply at δ = 1/3; of the posterior, at its mean size."
    fits = ["configurations", *[""] * (len(rows) - 1)]
    return tables.html(rows, note=note, title="Estimates of γ and δ", fits=fits)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    study = findings.document["reconciliation"]
    # The law of the answer first.
    names = sorted(study["direction"]["laws"], key=lambda name: name != DEFAULT)
    rows = published[published["quantity"] == "chinchilla.exponent_parameters"]
    measured = [*zip(rows["source"], rows["estimate"], strict=True)]
    blocks = {
        "chart": _chart(study["by_law"], names, measured),
        "exponents": _exponents_table(study, measured),
        "sizes": _sizes_table(study["configurations"]),
    }
    return prose.sections(
        __file__,
        blocks,
        study=study,
        names=names,
        checks={name: verdict_entry(findings.rivals[name]) for name in names},
        times_outside=times_outside,
        MAIN=MAIN,
    )
