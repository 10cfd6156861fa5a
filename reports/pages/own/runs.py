"""What a report says of laws of the loss fitted to runs of one's own."""

import html

import numpy as np
import pandas as pd

from ....errors import InputError
from ....inference.estimands.allocate import compute_range
from ....inference.words import si
from ....models.draws import DRAWS
from ....models.loss.law import describe
from ...drawing import allocation, checks, law, tables
from ...entries import fit_entry
from ...groups import group_entries
from ..chinchilla.estimators import point_estimates
from . import groups

QUESTION = "How do these runs scale?"
EXPONENT = "exponent_parameters"
BEYOND = (1, 10, 100, 1000)  # budgets, as multiples of the largest run's
ESTIMATORS = {
    "huber_free_scale": "Huber, free scale",
    "huber_fixed_threshold": "Huber, fixed threshold",
    "isoflop": "iso-FLOP parabolas",
    "frontier": "best run by compute",
}


def entries(fits):
    """Entries of results.json: each law, what is compute-optimal under it, and point estimates, or why there are none.

    Parameters
    ----------
    fits : dict of str to Fit
    elpd : dict of str to ELPDData
    """
    found = {"laws": {name: fit_entry(fit) for name, fit in fits.items()}, "allocation": []}
    for name, fit in fits.items():
        entry = found["laws"][name]
        if groups_of := group_entries(fit):
            entry["groups"] = groups_of
        # Each group has an optimum of its own, beyond runs of its own.
        for planned in [{"group": group} for group in groups_of["rows"]] if groups_of else [{}]:
            budgets = [factor * compute_range(fit, **planned)[1] for factor in BEYOND]
            try:
                at = fit.allocate(budgets, **planned).entries(name)
            except InputError as error:
                entry["no_allocation"] = str(error)
                break
            found["allocation"] += [planned | each for each in at]
    runs = next(iter(fits.values())).rows
    try:
        points = point_estimates(runs).to_dict()
    except InputError as error:
        points = {name: {"refused": str(error)} for name in ESTIMATORS}
    return found | {"point_estimates": points}


def main_of(fits, comparison):
    """Name the fit that predicts best, the first where they cannot be compared."""
    return next(iter(fits)) if isinstance(comparison, str) else comparison.index[0]


def sections(fits, document, elpd, comparison, backdrop):
    """Sections of the page; parameters as for `entries`, with the table of `compare`, or None, and a backdrop.

    Parameters
    ----------
    fits, elpd
        As for `entries`.
    document : dict
        What `entries` gave.
    comparison : DataFrame or str
        From `compare`, or why there is none.
    backdrop : tuple of str and DataTree, or None
    """
    best = main_of(fits, comparison)
    main, runs = fits[best], fits[best].rows
    sized = {"parameters", "tokens", "training_flop"} <= set(runs)
    found = [
        {"title": "What the runs say", "points": _findings(fits, document, comparison, best), "blocks": []},
        *(
            [_allocation(main, best, document, backdrop, sized)]
            if any(entry["law"] == best for entry in document["allocation"])
            else []
        ),
        *filter(None, [groups.section(best, document["laws"][best])]),
        {
            "title": "The laws",
            "text": [
                "Each law was fitted to the same rows. elpd: by leave-one-out, in nats; the difference is to the best.",
                *([] if not isinstance(comparison, str) else [f"Not compared: {html.escape(comparison)}."]),
            ],
            "blocks": [
                tables.html(
                    pd.DataFrame(_laws_rows(fits, document, comparison)),
                    rowname="law",
                    note="Medians and 95% intervals.",
                ),
                checks.pareto_k(elpd),
            ],
        },
        {
            "title": f"Does {best} fit?",
            "text": [
                said_of(document["laws"][best]) + " Tests of the law against the rows it was fitted to; size: the "
                "mean over rows of what is off in these directions, as a share of the loss."
            ],
            "blocks": [
                tables.tests_of_law(document["laws"][best]),
                *([checks.predictive_check(main)] if sized else []),
                checks.loo_pit(main),
            ],
        },
    ]
    of_runs = {"title": "The runs", "text": [_of_table(runs)], "blocks": [law.data(runs)] if sized else []}
    return [*found, *({"role": "details"} | each for each in (of_runs, *_details(main, best, document)))]


def said_of(entry):
    """Write the verdict on a law as a sentence of HTML."""
    said = entry["verdict"]["sentence"]
    return html.escape(said[0].upper() + said[1:]) + "."


def _findings(fits, document, comparison, best):
    points = []
    if not isinstance(comparison, str):
        others = comparison.iloc[1:]
        points += [
            f"{html.escape(str(best))} predicts left-out rows better than {html.escape(str(name))} by "
            f"{-row['elpd_diff']:.1f} nats (standard error {row['dse']:.1f})."
            for name, row in others.iterrows()
        ]
    for name in fits:
        entry = document["laws"][name]
        said = f"{html.escape(name)}: {said_of(entry)}"
        if q := entry["parameters"].get(EXPONENT):
            said += f" Compute-optimal parameters grow as C<sup>a</sup> with a = {tables.interval(q, '{:.3f}')}."
        said += groups.findings(entry)
        at = [each for each in document["allocation"] if each["law"] == name and "parameters" in each]
        for each in at[1 :: len(BEYOND)]:
            of = f" of {html.escape(each['group'])}" if "group" in each else ""
            said += (
                f" At {each['compute']:.3g} FLOP, ten times the largest run{of}, the optimum is "
                f"{tables.si_interval(each['parameters'])} parameters on {tables.si_interval(each['tokens'])} tokens."
            )
        points.append(said)
    return points


def _of_table(runs):
    said = f"{len(runs)} rows of {html.escape(str(runs.attrs.get('source', 'a table')))}"
    columns = {
        "parameters": (si, "parameters"),
        "tokens": (si, "tokens"),
        "training_flop": ("{:.2g}".format, "FLOP"),
        "loss": ("{:.3g}".format, "nats per token"),
    }
    spans = [
        f"{form(runs[name].min())} to {form(runs[name].max())} {unit}"
        for name, (form, unit) in columns.items()
        if name in runs
    ]
    notes = [html.escape(_noted(note)) for note in runs.attrs.get("reading", [])]
    return f"{said}: {', '.join(spans)}.{' On reading: ' + '; '.join(notes) + '.' if notes else ''}"


def _laws_rows(fits, document, comparison):
    rows = []
    for name in fits:
        entry = document["laws"][name]
        own = entry["parameters"]
        row = {"law": name, "elpd": f"{entry['elpd_loo']:.1f} ± {entry['elpd_se']:.1f}"}
        if not isinstance(comparison, str):
            of = comparison.loc[name]
            row |= {"difference": f"{of['elpd_diff']:.1f} ± {of['dse']:.1f}", "weight": f"{of['weight']:.2f}"}
        for constant, label in ((EXPONENT, "exponent a"), ("E", "E (nats)")):
            if constant in own:
                row[label] = tables.interval(own[constant], "{:.3f}")
        rows.append(row | {"k > 0.7": str(entry["k_above_0.7"]), "verdict": entry["verdict"]["verdict"]})
    return rows


def _noted(note):
    """Say what one option of reading changed."""
    if "what" in note:
        return str(note["what"])
    said = " ".join(str(note[name]) for name in ("option", "column", "value") if name in note)
    return f"{said} left out {note['rows_left_out']} of {note['rows_before']} rows" if "rows_left_out" in note else said


def laws_table(fits, document, comparison):
    """Write a table of laws: what leave-one-out says of each, its exponent and E if it has them, the verdict."""
    frame = pd.DataFrame(_laws_rows(fits, document, comparison)).fillna("–")
    return tables.html(frame, rowname="law", note="Medians and 95% intervals.")


def _allocation(main, best, document, backdrop, sized):
    planned = [entry for entry in document["allocation"] if entry["law"] == best and "parameters" in entry]
    blocks = [tables.allocated(planned, note="Medians and 95% intervals.")] if planned else []
    if main.law.grouped_by is None:
        blocks += _allocation_figures(main, backdrop, drawn=planned and sized)
        shaded, beside = (
            " Shaded: where the fitted runs lie.",
            f" Grey: {html.escape(backdrop[0])}." if backdrop else "",
        )
    else:
        shaded, beside = " Of each group, up to a thousand times its largest run.", ""
    return {
        "title": "Compute-optimal allocation",
        "text": [f"Under {html.escape(best)}, draw by draw.{shaded}{beside}"],
        "blocks": blocks,
    }


def _allocation_figures(main, backdrop, *, drawn):
    low, high = compute_range(main)
    budgets = np.geomspace(low / 3, max(BEYOND) * high, 60)
    found = []
    if drawn:
        found += [
            allocation.allocation(main, {}, budgets=budgets, backdrop=backdrop),
            allocation.tokens_per_parameter(main, {}, budgets=budgets),
        ]
    return [*found, allocation.optimal_loss(main, budgets=budgets)] if "E" in main["posterior"] else found


def _details(main, best, document):
    entry = document["laws"][best]
    rows = []
    by_group = entry.get("groups", {}).get("quantities", {})
    for name, q in entry["parameters"].items():
        if name.partition("[")[0] in by_group:
            continue
        robust = entry["robust"].get(name)
        rows.append([name, tables.interval(q), f"{robust['robust_sd']:.3g}" if robust else "–"])
    estimates = [
        [ESTIMATORS[name], _estimated(found), found.get("refused", found.get("message", "")) or ""]
        for name, found in document["point_estimates"].items()
    ]
    priors = [{"quantity": n, "prior": p, "unit": u or "–", "why": w} for n, p, u, w in describe(main.law)]
    return [
        {
            "title": f"Parameters of {best}",
            "text": ["Robust sd does not trust the law; it is by row, by run or by model size."],
            "blocks": [tables.of_rows(["quantity", "median [95%]", "robust sd"], rows)],
        },
        {
            "title": "The usual point estimators",
            "text": [
                "What the table allows of the estimators that others use, and why the rest cannot be had."
                + (" They take all groups of rows as one." if "groups" in entry else "")
            ],
            "blocks": [tables.of_rows(["estimator", "exponent of N* in C", "verdict"], estimates)],
        },
        {
            "title": "Priors and convergence",
            "text": ["Priors of what is sampled."],
            "blocks": [
                tables.html(pd.DataFrame(priors), rowname="quantity"),
                checks.ranks(main, _ranked(main)),
            ],
        },
    ]


def _ranked(main):
    """Names of quantities whose ranks are drawn, scalars."""
    scalars = [name for name, x in main["posterior"].data_vars.items() if x.ndim == len(DRAWS)]
    usual = [name for name in ("E", "alpha", "beta", EXPONENT) if name in scalars]
    return usual or scalars[:4]


def _estimated(found):
    exponent = found.get("exponent") or (found.get("constants") or {}).get(EXPONENT)
    return "–" if exponent is None else f"{exponent:.3f}"
