"""Forms of the trend of capability at fixed compute, compared by a long study: ``evidence/since_forms.json``."""

DEFAULT, FAMILIES, WITHOUT_REASONING = "default", "families", "no reasoning models"
FORMS = {
    "linear": "constant gain",
    "break": "break in May 2024",
    "sampled_break": "break at a sampled date",
    "acceleration": "steady acceleration",
    "random_walk": "random walk by half-year",
}
VARIANTS = {
    DEFAULT: "",
    FAMILIES: ", with random effects of families",
    WITHOUT_REASONING: ", without reasoning models",
    "break": "break in May 2024, ",
}


def form_name(variant, form):
    """Return the name of a form of a variant in a table; a form that is not in `FORMS` is named by its key."""
    if variant == "break":
        return VARIANTS[variant] + form
    return FORMS.get(form, form) + VARIANTS[variant]


def probabilities(entry):
    """Return the probability that capability grows faster later than earlier, by analysis.

    Parameters
    ----------
    entry : dict
        Of results.json, with ``periods``, ``rests`` and ``forms``.

    Returns
    -------
    dict of str to float
        Of the break in this report, with models and with families as the unit, and of each change of it. Also of each
        form of the evidence that lets the gain change. Averages over forms count a constant gain as not faster, with
        its stacking weight. Averages with random effects of families are left out, because Pareto k is above 0.7 at a
        third of the groups and their weights are not reliable.
    """
    units = {"model": "break, models as the unit", "family": "break, families as the unit"}
    by_analysis = {units[unit]: of["p_progress"] for unit, of in entry["periods"]["change"].items()}
    for what, of in entry["rests"].items():
        if "change" in of:
            by_analysis[f"break, {what}"] = of["change"]["model"]["p_progress"]
    for variant, by_form in entry["forms"]["answers"].items():
        for form, of in by_form.items():
            if "p_faster" in of and (variant, form) != (DEFAULT, "break"):
                by_analysis[form_name(variant, form)] = of["p_faster"]
    for by, of in entry["forms"]["left_out"][DEFAULT].items():
        by_analysis[f"averaged over forms by {by} left out"] = of["averaged"]["p_faster"]
    return by_analysis


def with_fits(forms, periods):
    """Return the evidence with the gains of the forms that a report fits itself, so that a law has one interval.

    Parameters
    ----------
    forms : dict
        The evidence.
    periods : dict
        Entries of results.json by period, as `periods.periods` returns them.
    """
    gains = {period: of["model"]["gain"] for period, of in periods.items()}
    fitted = {
        "linear": {"gains": {"before": gains["all"], "after": gains["all"]}},
        "break": {
            "gains": {name: gains[name] for name in ("before", "after")},
            "p_faster": periods["change"]["model"]["p_progress"],
        },
    }
    answers = forms["answers"]
    fits = {form: answers[DEFAULT][form] | of for form, of in fitted.items()}
    return forms | {"answers": answers | {DEFAULT: answers[DEFAULT] | fits}}
