"""Forms of the trend of capability at fixed compute, compared by a long study, and their gains by period."""

import tomllib
from pathlib import Path

from ....inference import intervals
from ....inference.comparison.differences import is_apart
from ....inference.scores.compute import summary
from ...laws import EFFECTS, INDEPENDENT, MAIN
from ...laws import name_of_fit as name_of_progress

LINEAR, BREAK = "linear", "break"
PLAIN = "plain"  # form of the scores, without options
QUANTITIES = ("factor", "gain", "halving")
LEVELS = ("q2.5", "q5", "q50", "q95", "q97.5")
# Names of the fits of the page on progress, by what is independent.
SHARED = {unit: name_of_progress(MAIN, noise) for unit, noise in (("rows", INDEPENDENT), ("papers", EFFECTS))}
DEFAULT, FAMILIES, WITHOUT_REASONING = "default", "families", "no reasoning models"
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
OF_SCORES, FORMS, VARIANTS = (WORDS[name] for name in ("of_scores", "forms", "variants"))


def periods(fitted):
    """Return summaries by period and unit: quantiles by quantity, and the probability of progress."""
    summaries = {}
    for (period, unit), row in summary(fitted).iterrows():
        entry = {q: {level: intervals.finite(row[f"{q}_{level}"]) for level in LEVELS} for q in QUANTITIES}
        summaries.setdefault(period, {})[unit] = entry | {"p_progress": float(row["p_progress"])}
    return summaries


def name_of_fit(pace, form=PLAIN):
    """Return the name of the posterior of a form of the gain and of the scores."""
    return f"since, {pace}" if form == PLAIN else f"since, {pace}, {form}"


def best_form(study):
    """Return the form of the scores to quote: the simplest that converged, unless another predicts better.

    Another form predicts better if it converged, and its elpd is apart by models and by families left out. Forms of the
    study, ``since_scores``, are ordered from the simplest.
    """
    results = [study["left_out"][BREAK][by]["forms"] for by in ("model", "family")]
    converged = [name for name, by in study["answers"].items() if all(of["diagnostics"]["ok"] for of in by.values())]
    for name in converged:
        if not all(is_apart(of[name]["elpd_diff"], of[name]["dse"]) for of in results):
            return name
    return max(converged, key=lambda name: results[0][name]["elpd"], default=PLAIN)


def form_name(variant, form):
    """Return the name of a form of a variant in a table; a form that is not in `FORMS` is named by its key."""
    if variant == "break":
        return VARIANTS[variant] + form
    return FORMS.get(form, form) + VARIANTS[variant]


def probabilities(entry):
    """Return the probability that capability grows faster later than earlier, by analysis.

    Returns
    -------
    dict of str to float
        Of the break that is quoted, with models and with families as the unit. Of the break without options: of each
        change of it, and of each form of the evidence that lets the gain change. Averages over forms count a constant
        gain as not faster, with its stacking weight. Averages with random effects of families are left out, because
        Pareto k is above 0.7 at a third of the groups and their weights are not reliable.
    """
    units = {"model": "break, models as the unit", "family": "break, families as the unit"}
    by_analysis = {units[unit]: of["p_progress"] for unit, of in entry["periods"]["change"].items()}
    for what, of in entry["rests"].items():
        if "change" in of:
            by_analysis[f"break, {what}"] = of["change"]["model"]["p_progress"]
    for variant, by_form in entry["forms"]["answers"].items():
        for form, of in by_form.items():
            if "p_faster" in of and (variant, form, entry["quoted"]) != (DEFAULT, BREAK, PLAIN):
                by_analysis[form_name(variant, form)] = of["p_faster"]
    scores, added = entry["scores"], f", with {OF_SCORES[entry['quoted']]}"
    for name, of in scores["answers"].items():
        if name not in (PLAIN, entry["quoted"]):
            by_analysis[f"{form_name(DEFAULT, BREAK)}, with {OF_SCORES[name]}"] = of[BREAK]["p_faster"]
    for variant, by_form in ((DEFAULT, scores["trends"]["answers"]), (WITHOUT_REASONING, scores[WITHOUT_REASONING])):
        for form, of in by_form.items():
            if "p_faster" in of and (variant, form) != (DEFAULT, BREAK):
                by_analysis[form_name(variant, form) + added] = of["p_faster"]
    without = "" if entry["quoted"] == PLAIN else added.replace("with", "without", 1)
    averages = [(without, entry["forms"]["left_out"][DEFAULT]), (added, scores["trends"]["left_out"])]
    for words, left_out in averages:
        for by, of in left_out.items():
            by_analysis[f"averaged over forms by {by} left out{words}"] = of["averaged"]["p_faster"]
    return by_analysis


def with_fits(answers, periods):
    """Return answers by form with the gains of the forms that a report fits itself, so that a law has one interval.

    The gains are those of `periods.periods`.
    """
    gains = {period: of["model"]["gain"] for period, of in periods.items()}
    fitted = {
        LINEAR: {"gains": {"before": gains["all"], "after": gains["all"]}},
        BREAK: {
            "gains": {name: gains[name] for name in ("before", "after")},
            "p_faster": periods["change"]["model"]["p_progress"],
        },
    }
    return answers | {form: answers[form] | of for form, of in fitted.items()}
