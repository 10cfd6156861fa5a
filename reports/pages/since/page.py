"""The page on progress since 2023: how fast capability grows at fixed compute, and what the yearly factor rests on."""

from html import escape

import pandas as pd

from ....inference.estimands.strength import FAIR, STRONG, WEAK, grade_of_direction
from ....inference.words import HIGH, LOW, MIDDLE, month, months, plain, probability, yearly
from ...drawing import tables, verdicts
from ...findings import section
from . import figures
from .analysis import BREAK, CALIBRATION, FRONTIER, LATER, LEFT_OUT, LINEAR, RESTS
from .before_2023 import SHARED
from .forms import DEFAULT, FAMILIES, FORMS, WITHOUT_REASONING, form_name
from .holdout import GIVEN

UNIT_WORDS = {"model": "models", "family": "families"}
NAMES = {LINEAR: "One pace throughout", BREAK: "A pace that changes"}
CONVERGED = {True: "converged", False: "not to be trusted"}
QUANTITIES = {
    "compute_slope": "logits an e-fold of compute",
    "yearly_gain": "logits a year at fixed compute",
    "yearly_gain_change": "change of that",
    "capability_sd": "scatter of models, logits",
    "rate[all]": "log of the yearly factor",
    "rate[before]": "log of the yearly factor before",
    "rate[after]": "log of the yearly factor after",
}
SOURCES = {
    "posterior": "the posterior, models as the unit",
    "families": "the same, families as the unit",
    "scores": "scores alone",
    "computes": "errors of computes alone",
    "models": "scatter of models alone",
    "slope": "what compute buys alone",
    "gain": "the yearly gain alone",
    "specification": "choices of analysis",
}
COMPARED = (
    "What is comparable: both divide a yearly gain at fixed compute by what compute buys, and say how fast training "
    "compute at a fixed result falls. What is not: to 2023 the result is the loss of a pretrained language model on a "
    "text, with the compute of every model counted; since then it is a capability on tests, to which fine-tuning, "
    "distillation and reasoning add, whose compute the stated one does not contain and most makers do not state."
)


CLAIMS = {
    STRONG: "At fixed training compute, capability grows faster than it did in 2023.",
    FAIR: "At fixed training compute, capability probably grows faster than it did in 2023.",
    WEAK: "Whether capability at fixed training compute grows faster than in 2023 is not settled.",
}
UNCOUNTED = (
    "Compute of reinforcement learning, of distillation and of thinking at length is not in the stated training "
    "compute, so part of the gain may be compute of another kind."
)


def span(p_faster):
    """Write the range of a probability over several analyses, as HTML.

    Parameters
    ----------
    p_faster : dict of str to float
        By analysis.
    """
    low, high = (escape(probability(end(p_faster.values()))) for end in (min, max))
    words = f"{low} in all" if low == high else f"between {low} and {high} in"
    return f"{words} {len(p_faster)} analyses"


def _answer(entry):
    gains, p_faster = entry["gains"], entry["p_faster"]
    year = month(entry["break_year"])
    claim = CLAIMS[grade_of_direction(min(p_faster.values()))]
    return (
        f"<b>{claim}</b> It grew by {plain(gains['before'], '{:.1f}')} logits a year until {year} and by "
        f"{plain(gains['after'], '{:.1f}')} since, if the rate changed there. The probability that it grows faster now "
        f"is {span(p_faster)}. Whether it changed at a date or gradually the scores do not say. {UNCOUNTED}"
    )


def _moves(entry):
    families = entry["periods"]["change"].get("family")
    slopes = entry["slope_a_decade"]
    before, after, one = (entry["periods"][name]["model"] for name in ("before", "after", "all"))
    two, joint = (entry["least_squares"][name] for name in ("two stages", "one regression"))
    year = month(entry["break_year"])
    found = [
        _form(entry),
        "<b>Compute of a given capability.</b> If the gain changed at one date, the training compute of a given "
        f"capability fell {yearly(before['factor'])} until {year} and {yearly(after['factor'])} since. A constant gain "
        f"gives {yearly(one['factor'])}, a mean of two periods that differ. These rates depend on the form of the "
        "trend and on what compute buys: quote gains of capability instead.",
        _reasoning(entry),
        f"<b>What compute buys.</b> A gain of capability is turned into compute by what a decade of compute buys: "
        f"{plain(slopes[BREAK], '{:.1f}')} logits with a change of pace, {plain(slopes[LINEAR], '{:.1f}')} without. "
        f"On one table of scores two stages give {two['factor']:.1f} times a year and one regression "
        f"{joint['factor']:.0f} times, by this alone: both are points of the second figure.",
    ]
    if families is not None:
        before, after = (entry["periods"][name]["family"] for name in ("before", "after"))
        found.append(
            "<b>Models are not independent.</b> With families as the unit the gains are "
            f"{plain(before['gain'], '{:.2f}')} until {year} and {plain(after['gain'], '{:.2f}')} since. The "
            f"probability of a larger gain since is then {probability(families['p_progress'])}."
        )
    found += [
        f"<b>What is known of computes.</b> {entry['rows']['computes']} of {entry['rows']['models']} models, the last "
        f"of {entry['rows']['last_compute']}, have one that is Confident or Likely; what came after rests on dates "
        "alone. Those without are mostly closed models near the frontier, so they are not missing at random.",
    ]
    return found


def _form(entry):
    """Say which forms of the trend the scores allow."""
    answers, of = entry["forms"]["answers"]["default"], entry["forms"]["left_out"]["default"]["model"]
    found, dates = of["forms"], answers["sampled_break"]["break_date"]
    changing = {form: each for form, each in found.items() if form != LINEAR}
    best = max(changing, key=lambda form: changing[form]["elpd"])
    apart = max(changing[best]["elpd"] - each["elpd"] for each in changing.values())
    with_families = entry["forms"]["left_out"][FAMILIES]["model"]["forms"]
    worse, worse_with = (f"{-of[LINEAR]['elpd_diff']:.1f} ± {of[LINEAR]['dse']:.1f}" for of in (found, with_families))
    return (
        f"<b>Form of the trend.</b> Of {len(found)} forms, {FORMS[best]} has the highest elpd by models left out. The "
        f"others that let the gain change are within {apart:.1f} nats of it, so the scores do not tell them apart. A "
        f"constant gain is {worse} nats worse than the best form, and {worse_with} nats worse with random effects of "
        f"families. A sampled break lies between {month(dates[LOW])} and {month(dates[HIGH])}."
    )


def _reasoning(entry):
    """Say what is left without reasoning models."""
    found = entry["forms"]["answers"][WITHOUT_REASONING]["break"]
    return (
        "<b>Reasoning models.</b> Without those of known compute the gains are "
        f"{plain(found['gains']['before'], '{:.2f}')} and {plain(found['gains']['after'], '{:.2f}')} logits a year "
        f"before and after the break. Compute then fell {yearly(found['factors']['after'])} since. Of reasoning models "
        "the stated compute is mostly that of pretraining."
    )


def forms_table(entry):
    """Write gains by form of the trend, and how well each predicts models and families left out."""
    evidence, rows, fits = entry["forms"], [], []
    for variant, by_form in evidence["answers"].items():
        left_out = evidence["left_out"].get(variant)
        for form, of in by_form.items():
            cells = {f"elpd, {by} left out": "–" for by in ("model", "family")} | {"weight": "–"}
            if left_out is not None:
                cells = {f"elpd, {by} left out": _apart(left_out[by]["forms"][form]) for by in ("model", "family")}
                cells["weight"] = f"{left_out['model']['forms'][form]['stacking']:.2f}"
            rows.append(_gains_row(form_name(variant, form), of) | cells)
            fits.append(f"since, {form}" if variant == DEFAULT else "")
    for variant, left_out in evidence["left_out"].items():
        averaged = left_out["model"]["averaged"]
        cells = {"elpd, model left out": "–", "elpd, family left out": "–", "weight": "1"}
        rows.append(_gains_row(form_name(variant, "averaged over forms"), averaged) | cells)
        fits.append("")
    settings, of = evidence["settings"], evidence["left_out"]["default"]
    note = (
        f"Gains at fixed compute in mid-2023 and mid-2025, medians and 95% intervals. P(faster): probability that the "
        "second is larger. Elpd: log predictive density of the scores of what is left out, less that of the best form "
        f"of the same kind, ± its standard error, over the {of['model']['groups']} models and {of['family']['groups']} "
        "families with a known compute; in brackets how many have a Pareto k above 0.7"
        f", which were not refitted. Weight: stacking by models left out. Made on {evidence['date']} by <code>"
        f"{evidence['command']}</code> with {settings['chains']} × {settings['draws']} draws. "
        "Gains of the constant gain and of the break are those of the fits of this report."
    )
    return tables.html(pd.DataFrame(rows), rowname="form", note=note, title="Forms of the trend", fits=fits)


def _gains_row(name, of):
    return {
        "form": name,
        "gain in mid-2023": plain(of["gains"]["before"], "{:.2f}"),
        "gain in mid-2025": plain(of["gains"]["after"], "{:.2f}"),
        "P(faster)": probability(of["p_faster"]) if "p_faster" in of else "–",
    }


def _apart(of):
    return f"{of['elpd_diff']:.1f} ± {of['dse']:.1f} ({of['k_above_0.7']})"


def _checks(entry):
    found = []
    for pace, name in NAMES.items():
        law = entry["laws"][pace]
        found += [verdicts.of_law(name, law), verdicts.of_pit(name, law)]
        of = law["benchmarks"]
        found.append(
            verdicts.marked(
                of["below_0.01"] <= 0.05 * of["tested"],
                f"{name}: of {of['tested']} benchmarks {of['below_0.01']} have leave-one-out PIT values so uneven that "
                "p is below 0.01.",
            )
        )
    return [each for each in found if each]


def periods_table(entry):
    """Write gains, factors and halving times by period, of an entry with ``periods`` and a ``break_year``."""
    rows, fits = [], []
    for period, label in figures.labels(entry).items():
        for unit, found in entry["periods"].get(period, {}).items():
            fits.append(f"since, {LINEAR if period == 'all' else BREAK}")
            rows.append(
                {
                    "period": f"{label}, {UNIT_WORDS[unit]} as the unit",
                    "gain, logits a year": plain(found["gain"], "{:.2f}"),
                    "fall of compute": yearly(found["factor"]),
                    "halving time of compute, months": months(found["halving"]),
                    "P(any progress)": probability(found["p_progress"]),
                }
            )
    note = (
        "Medians and 95% intervals. A logit is that of the typical benchmark. With families as the unit, draws are "
        "spread until their sd is the infinitesimal jackknife's with families left out whole; where that is narrower "
        "than theirs, they stay."
    )
    return tables.html(pd.DataFrame(rows), rowname="period", note=note, title="By period", fits=fits)


def _earlier_table(entry):
    earlier = entry["earlier"]
    rows = [
        {
            "unit": figures.EARLIER[unit][1],
            "fall of compute": yearly(found["factor"]),
            "halving time of compute, months": months(found["halving"]),
        }
        for unit, found in earlier["units"].items()
    ]
    note = (
        f"At fixed loss, {earlier['counts']['evaluations']} evaluations of {earlier['counts']['papers']} papers, "
        f"2012 to 2023, specification {earlier['specification']} of Ho et al. (2024), at the sizes of the evaluations; "
        "medians and 95% intervals. Those at fixed capability stand in the table by period."
    )
    fits = [(SHARED[unit], f"2012 to 2023, by {unit}") for unit in earlier["units"]]
    return tables.html(pd.DataFrame(rows), rowname="unit", note=note, title="At fixed loss", fits=fits)


def _left_out_table(entry):
    rows = [
        {
            "pace": NAMES[pace],
            "elpd": f"{found['elpd']:.1f}",
            "difference": f"{found['elpd_diff']:.1f}",
            "its standard error": f"{found['dse']:.1f}" if found["dse"] is not None else "–",
            "models of Pareto k above 0.7": f"{found['k_above_0.7']} of {found['models']}",
            "not mended by a refit": str(found["not_mended"]),
        }
        for pace, found in entry["left_out"].items()
    ]
    note = "Log predictive density of all scores of a model given those of the others, summed over models, in nats."
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="pace", note=note)]}


def _rests_table(entry):
    names, rows = figures.labels(entry), []
    for what, found in entry["rests"].items():
        row = {"what is changed": what}
        for period, label in names.items():
            row[label] = plain(found[period]["model"]["gain"], "{:.2f}") if period in found else "–"
        change = found.get("change")
        row["P(faster)"] = probability(change["model"]["p_progress"]) if change else "–"
        row["elpd, one pace"], row["elpd, two"] = (_difference(found, pace) for pace in (LINEAR, BREAK))
        row["chains"] = CONVERGED[found["ok"]]
        rows.append(row)
    note = (
        "Gain of capability at fixed compute, logits a year; medians and 95% intervals; – where two periods were not "
        "asked for. Elpd: log predictive density of models left out, less that of the law unchanged, ± its standard "
        "error, by importance sampling; in brackets models of Pareto k above 0.7 in either fit; – where scores are "
        "left out. Which two models anchor an index moves no row: gain and slope are in one unit, which cancels."
    )
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="what is changed", note=note)]}


def _difference(found, pace):
    of = found.get("left_out", {}).get(pace)
    return f"{of['elpd_diff']:+.1f} ± {of['dse']:.1f} ({of['k_above_0.7']})" if of else "–"


def _frontier_table(entry):
    of = entry["frontier"]
    names = {"line": "a line through the ablest at release (Ho et al. 2025)"} | NAMES
    rows = [
        {
            "forecast": names[name],
            "mean absolute error": f"{found['mae']:.3f}",
            "bias": f"{found['bias']:+.3f}",
            "CRPS": f"{found['crps']:.3f}",
            "90% covers": f"{found['coverage_90'] * of['after']:.0f} of {of['after']}",
            "chains": CONVERGED[found["ok"]] if "ok" in found else "–",
        }
        for name, found in of["forecasts"].items()
    ]
    note = (
        f"Capabilities, in the unit of least squares on the scores of Ho et al. (2025), of the {of['after']} models "
        f"that were the ablest at release from {of['cutoff']} on. Alike: the models foretold, their dates, what came, "
        f"its unit. Not alike: the line extends the trend of the {of['before']} ablest before, whose capabilities are "
        f"estimated from scores of later models too. The laws see scores of the {of['models']['fitted']} models before "
        f"that date alone; they are told the dates of the {of['models']['later']} later ones and what computes are "
        "known, and follow the ablest of these so far from draw to draw."
    )
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="forecast", note=note)]}


def _later_table(entry):
    rows = [
        {
            "predicted": f"{NAMES[pace]}, models before {cutoff}; given {GIVEN[given]}",
            "scores": f"{of['scores']} of {of['models']} models",
            "50%, 80%, 90% cover": ", ".join(f"{of[f'coverage_{level}']:.0%}" for level in (50, 80, 90)),
            "CRPS": f"{of['crps']:.3f} (past scores {of['past_scores']['crps']:.3f})",
            "mean absolute error": f"{of['mae']:.3f} ({of['past_scores']['mae']:.3f})",
            "bias": f"{of['bias']:+.3f} ({of['past_scores']['bias']:+.3f})",
            "chains": CONVERGED[found["ok"]],
        }
        for pace, by_cutoff in entry["later_models"].items()
        for cutoff, found in by_cutoff.items()
        for given, of in found["given"].items()
    ]
    note = (
        "Scores of later models, each foretold from what was known of earlier ones, on benchmarks that three of those "
        "have scores on. In brackets the past scores of the benchmark as the forecast, their mean as the point. Bias "
        "is what was foretold less what came. Models whose compute is known have the law's line of compute and date, "
        "the others a trend in the date."
    )
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="predicted", note=note)]}


def _calibration_table(entry):
    rows = [
        {
            "quantity": f"{NAMES[pace]}: {QUANTITIES.get(name, name)}",
            "truth": f"{of['truth']:.3g}",
            "bias of the median": f"{of['bias']:+.3f} ± {of['bias_se']:.3f}",
            "posterior sd": f"{of['sd']:.3f}",
            "50% covers": f"{of['coverage_50']:.0%}",
            "90% covers": f"{of['coverage_90']:.0%}",
        }
        for pace, found in entry["calibration"].items()
        for name, of in found["quantities"].items()
    ]
    some = entry["calibration"][LINEAR]
    said = ", ".join(
        f"{NAMES[pace].lower()} {found['not_converged']}, {found['r_hat_median']:.2f}"
        for pace, found in entry["calibration"].items()
    )
    note = (
        f"{some['simulations']} tables of the same models, dates, computes and places of scores, from the posterior "
        "medians; capabilities and benchmarks drawn anew for each, which is then fitted alone. ± one standard error. "
        f"Chains are short ({some['settings']['chains']} × {some['settings']['draws']} draws): fits that failed a "
        f"diagnostic, counted with the rest, and the median of the largest r_hat of all quantities: {said}."
    )
    return {"text": [], "blocks": [tables.html(pd.DataFrame(rows), rowname="quantity", note=note)]}


def _widths_table(entry):
    rows = [
        {"source": said, "sd of log10 of the yearly factor": "–" if x is None else f"{x:.2f}"}
        for said, x in ((SOURCES[name], entry["widths"][name]) for name in SOURCES)
    ]
    note = (
        "One pace throughout. Scores, computes and models by the least-squares line of capability on log compute and "
        "date: how far it moves as capabilities, or computes within their errors, do, and by its own standard errors. "
        "Parts do not add up, for they are dependent. Choices of analysis: the sd of the medians of the table of "
        "changes and of the law unchanged."
    )
    return tables.html(pd.DataFrame(rows), rowname="source", note=note)


def _published(published, prefix):
    """Select published estimates of quantities that begin so, with their intervals."""
    shown = published[published["quantity"].str.startswith(prefix)]
    return [
        {"label": f"{each.source}:<br>{each.note}", MIDDLE: each.estimate}
        | {end: None if pd.isna(x) else x for end, x in ((LOW, each.low), (HIGH, each.high))}
        for each in shown.itertuples()
    ]


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    entry = found.document["since"]
    rows = entry["rows"]
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [
                _answer(entry),
                f"{rows['scores']:,} scores of {rows['models']} models, released {rows['first']} to {rows['last']}, on "
                f"{rows['benchmarks']} benchmarks (Epoch Capabilities Index).",
            ],
            "blocks": [
                figures.gains(entry),
                forms_table(entry),
            ],
        },
        {"role": "moves", "title": "What could change it", "points": _moves(entry), "blocks": []},
        {"role": "checks", "title": "Checks", "points": _checks(entry), "blocks": []},
        {
            "role": "details",
            "title": "In compute",
            "text": [
                "Compute at fixed capability falls by the gain at fixed compute divided by what compute buys. Both are "
                "uncertain and so is the form of the trend, so these rates are known to an order of magnitude at best."
            ],
            "blocks": [
                figures.factors(entry, _published(published, "progress_since.factor.")),
                figures.joint(entry),
                periods_table(entry),
            ],
        },
        {
            "role": "details",
            "title": "Beside 2012 to 2023",
            "text": [COMPARED],
            "blocks": [
                figures.bridge(entry, _published(published, "progress.doubling_months.closed_form")),
                _earlier_table(entry),
            ],
        },
        {"role": "details", "title": "How wide, and why", "text": [], "blocks": [_widths_table(entry)]},
        {"role": "details"} | section(found, RESTS, "One thing changed at a time", lambda: _rests_table(entry)),
        {"role": "details"} | section(found, LATER, "Are later models foretold?", lambda: _later_table(entry)),
        {"role": "details"} | section(found, FRONTIER, "Is the frontier foretold?", lambda: _frontier_table(entry)),
        {"role": "details"} | section(found, CALIBRATION, "Do intervals cover?", lambda: _calibration_table(entry)),
        {"role": "details"} | section(found, LEFT_OUT, "One pace or two?", lambda: _left_out_table(entry)),
        *(
            {
                "role": "details",
                "title": f"Does the law fit? {NAMES[pace]}",
                "text": [],
                "blocks": [tables.tests_of_law(entry["laws"][pace])],
            }
            for pace in NAMES
        ),
    ]
