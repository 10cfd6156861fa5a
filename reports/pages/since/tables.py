"""Tables of the page on progress since 2023."""

from ....inference.estimands.strength import STRONG, grade_of_direction
from ....inference.words import month, months, plain, probability, times, yearly
from ...html import tables
from .forms import BREAK, DEFAULT, FAMILIES, FORMS, LINEAR, PLAIN, SHARED, VARIANTS, WITHOUT_REASONING, name_of_fit

PUBLISHED = {"two stages": "two_stages", "one regression": "one_regression"}
RATE = "progress_since.factor."


def gains(entry):
    """Return the table of gains by form of the trend and of the scores, with how well each predicts models left out."""
    scores, forms, quoted = entry["scores"], entry["forms"], entry["quoted"]
    by_scores, seen = scores["left_out"][BREAK]["model"]["forms"], {}
    blocks = {PLAIN: {name: forms[name][DEFAULT] for name in ("answers", "left_out")}, quoted: scores["trends"]}
    for name in dict.fromkeys((quoted, PLAIN)):
        trends, answers = blocks[name]["left_out"]["model"]["forms"], blocks[name]["answers"]
        for form in sorted(set(trends) - {form for form, _ in seen if form != BREAK}, key=[BREAK, *FORMS].index):
            apart = trends[form], by_scores[name] if form == BREAK else None
            seen[form, name] = _gains_row(_form(form, name), answers[form], *apart)
    best = max(by_scores, key=lambda name: by_scores[name]["elpd"])
    if (BREAK, best) not in seen:
        seen[BREAK, best] = _gains_row(_form(BREAK, best), scores["answers"][best][BREAK], None, by_scores[best])
    rows = [*seen.values()]
    rows += [
        _gains_row(f"{FORMS[BREAK]}{VARIANTS[name]}", forms["answers"][name][BREAK])
        for name in (FAMILIES, WITHOUT_REASONING)
    ]
    note = (
        "Logits a year, medians and 95% intervals. Elpd of models left out, minus that of the best, ± its standard "
        "error: among trends with the same scores, and among forms of the scores with a break."
    )
    fits = [name_of_fit(*key) for key in seen] + [""] * (len(rows) - len(seen))
    return tables.html(rows, note=note, title="Gain at fixed compute, by form", fits=fits, recommended=0)


def _form(form, scores):
    return FORMS[form] + ("" if scores == PLAIN else f", {scores.replace(', ', ' and ')}")


def _gains_row(form, of, *apart):
    trend, score = (f"{x['elpd_diff']:.1f} ± {x['dse']:.1f}" if x else tables.MISSING for x in (*apart, None, None)[:2])
    return {
        "form": form,
        "mid-2023": plain(of["gains"]["before"], "{:.2f}"),
        "mid-2025": plain(of["gains"]["after"], "{:.2f}"),
        "P(faster)": probability(of["p_faster"]) if "p_faster" in of else tables.MISSING,
        "elpd by trend": trend,
        "elpd by scores": score,
    }


def periods(entry):
    """Return the table of gains, factors and halving times by period, with those from 2012 to 2023."""
    year, of = month(entry["break_year"]), entry["periods"]
    names = {"before": f"to {year}", "after": f"from {year}", "all": "constant gain"}
    rows = [_period_row(label, of[period]["model"]) for period, label in names.items()]
    rows.append(_period_row("2012 to 2023, at fixed loss", entry["earlier"]["units"]["papers"]))
    fits = [name_of_fit(LINEAR if period == "all" else BREAK, entry["quoted"]) for period in names]
    note = "Medians and 95% intervals. A logit is that of the typical benchmark."
    return tables.html(rows, note=note, title="By period", fits=[*fits, SHARED["papers"]])


def _period_row(label, of):
    return {
        "period": label,
        "gain, logits a year": plain(of["gain"], "{:.2f}") if "gain" in of else tables.MISSING,
        "fall of compute": yearly(of["factor"]),
        "halving time of compute, months": months(of["halving"]),
        "P(any progress)": probability(of["p_progress"]) if "p_progress" in of else tables.MISSING,
    }


def faster(entry):
    """Return the table of analyses in which the gain is not surely larger now, the least sure first."""
    chances = sorted(entry["p_faster"].items(), key=lambda pair: pair[1])
    unsure = [(name, p) for name, p in chances if grade_of_direction(p) != STRONG]
    rows = [{"analysis": name, "P(faster)": probability(p)} for name, p in unsure]
    rest = [p for _, p in chances[len(unsure) :]]
    rows += [{"analysis": f"the other {len(rest)}", "P(faster)": f"at least {probability(rest[0])}"}] if rest else []
    note = "Averages over forms are by stacking; they count a constant gain as not faster."
    return tables.html(rows, note=note, title="Probability of faster gains", fits=())


def compared(entry, published):
    """Return the table of published estimators and forecasts, next to the same method here and the law."""
    estimates, law, rows = published.set_index("quantity"), entry["periods"]["all"]["model"]["factor"], []
    for name, key in PUBLISHED.items():
        of = estimates.loc[f"{RATE}{key}"]
        rows.append({
            "quantity": f"fall of compute a year, {name}",
            "published": f"{times(of.estimate)} [{times(of.low)}, {times(of.high)}]",
            "their method here": times(entry["least_squares"][name]["factor"]),
            "the law": yearly(law),
        })  # fmt: skip
    frontier, forecasts = entry["frontier"], entry["frontier"]["forecasts"]
    for score, words in {"mae": "mean absolute error", "crps": "CRPS"}.items():
        line, constant, broken = (f"{forecasts[name][score]:.2f}" for name in ("line", LINEAR, BREAK))
        rows.append({
            "quantity": f"best models since {frontier['cutoff'][:7]}, {words}",
            "published": tables.MISSING,
            "their method here": line,
            "the law": f"{constant} (constant gain), {broken} (break)",
        })  # fmt: skip
    note = (
        "Their intervals are of 90%. Falls: by their data, and under a constant gain. Best models: the "
        f"{frontier['after']} most capable at release, forecast from earlier ones by their line and by laws without "
        "ceilings."
    )
    return tables.html(rows, note=note, title="Compared with Ho et al. (2025)", fits=())
