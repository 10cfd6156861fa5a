"""The first screen of a report on a custom table, by kind of table: its answers and its figures."""

import math

import numpy as np

from ....datasets.wording import printable
from ....errors import InputError
from ....inference.checks.check import FITS, NOT
from ....inference.comparison.differences import is_apart
from ....inference.comparison.rollout import rollout
from ....inference.estimands.strength import Facts, grade_of_share
from ....inference.words import HIGH, LOW, MIDDLE, digits
from ....models.loss.budget import training_flop
from ....plots import (
    plot_compare,
    plot_doubling,
    plot_fit,
    plot_horizons,
    plot_lengths,
    plot_rollout,
    plot_trend,
    plot_valley,
)
from ...drawing.pictures import pictured
from ...html.front import Front, misfit_note
from ..front.answers import answer, beyond, of_law, progress_parts, ratio, size_parts, width
from ..front.budget import budget_grid, budgets_of
from ..front.quote import not_quotable, quotable

PLACE = "answers"  # the part of the page that has more
COMPUTE = "compute"
SHARE, FEWEST = 0.75, 12  # of the runs, which are fitted to predict the rest; fewer runs are not divided
HALF = "0.5"
NOMINAL = 0.9  # share of larger runs in the intervals that are counted


def front_of(document, figures):
    """Put the first screen together; None where nothing was answered.

    Parameters
    ----------
    document : dict
        The content of results.json, with ``answers`` and ``optimum``.
    figures : list of plotly Figure or None
        None is left out.

    Returns
    -------
    Front or None
    """
    answered = {"answers": document["answers"]}
    if not document["answers"]:
        return None
    return Front(
        document["answers"],
        [drawn for drawn in figures if drawn is not None],
        document["answers"][0] if document["optimum"] else None,
        quotable(answered),
        not_quotable(answered),
        note=misfit_note([document["laws"][document["answers"][0]["rests_on"][0]]]),
    )


def best_and_rivals(fits, comparison):
    """Name the fit that predicts best, the first where they are not compared, and those that predict about as well."""
    if isinstance(comparison, str):
        return next(iter(fits)), []
    best, *others = comparison.index
    apart = is_apart(comparison["elpd_diff"], comparison["dse"])
    return best, [name for name in others if not apart[name]]


def called(name):
    """Return what a sentence calls a fit of the user, on one line."""
    return f"the {printable(name)} law"


# Runs -----------------------------------------------------------------------------------------------------------------


def predicted_runs(fit):
    """Fit the law to the smaller runs and predict the larger ones.

    Returns
    -------
    tuple of DataFrame and Dataset, or str
        What `rollout` returns, or why there is none.
    """
    rows, record = fit.rows, fit.record
    if len(rows) < FEWEST:
        return f"With fewer than {FEWEST} runs none are left out to predict"
    by, values = cut_along(fit)
    cutoff = float(f"{np.quantile(values, SHARE):.2g}")
    settings = {name: record["settings"][name] for name in ("draws", "tune", "chains")}
    try:
        return rollout(fit.law, rows, by, cutoff, seed=record["seed"], sampler=record["sampler"], **settings)
    except InputError:
        return "The runs below the largest ones do not inform the law"


def cut_along(fit):
    """Return the name and the values of what larger runs are larger in: compute, or the size of a law of one size."""
    compute, size = training_flop(fit.rows), fit.law.columns[0]
    return (size, fit.rows[size]) if compute is None else (COMPUTE, compute)


def rollout_entry(result):
    """Return the entry of results.json of `predicted_runs`."""
    if isinstance(result, str):
        return {"refused": result}
    (cutoff,), (row,) = result[0].index, result[0].to_dict("records")
    names = ("fitted", "predicted", "coverage_90", "coverage_90_low", "coverage_90_high", "ok")
    return {"law": result[1].attrs["law"], "by": result[1].attrs["by"], "cutoff": float(cutoff)} | {
        name: row[name].item() if hasattr(row[name], "item") else row[name] for name in names
    }


def runs_answers(fits, document, comparison, factor):
    """Answer how big the next model should be, at some times the largest run, and whether larger runs are predicted."""
    best, rivals = best_and_rivals(fits, comparison)
    diagnostics, check = document["diagnostics"], document["laws"][best]["verdict"]
    planned = [at for at in document["allocation"] if at["law"] == best]
    written = []
    for at in planned[1::factor]:
        group = {"group": at["group"]} if "group" in at else {}
        if "parameters" in at:
            others = [name for name in rivals if _has_size(document, name, at, group)]
            question = {"question": f"How big should the next model of {printable(at['group'])} be?"} if group else {}
            parts = size_parts(document, best, others, at["compute"], called, **question, **group)
            written.append(answer("sizes", PLACE, *parts, diagnostics))
        else:
            facts = Facts(chains=True, width=width(at["loss"]), decades=at["extrapolation"], **of_law(check))
            named = {"at": at, "law": called(best), "beyond": beyond(at)}
            written.append(answer("losses", PLACE, facts, (best,), named, diagnostics))
    entry = document["rollout"]
    rejects = "No" if check["verdict"] == FITS else "A"
    named = entry | {"law": called(best), "fit": f"{rejects} test rejects the law on its rows"}
    hits, count, decades = 0, 0, None
    if "refused" not in entry:
        ends = ("coverage_90_low", "coverage_90", "coverage_90_high")
        named["coverage"] = dict(zip((LOW, MIDDLE, HIGH), (entry[name] for name in ends), strict=True))
        ahead = cut_along(fits[best])[1].max() / entry["cutoff"]
        named["factor"], decades = f"{float(f'{ahead:.2g}'):,g}", math.log10(ahead)
        if entry["ok"]:
            hits, count = round(entry["coverage_90"] * entry["predicted"]), entry["predicted"]
        else:
            named["fit"] = "The fit to the smaller runs did not converge"
    share = (hits, count, NOMINAL)
    facts = Facts(chains=True, decades=decades, share=share, **of_law(check))
    named["grade"] = grade_of_share(*share)
    return [*written, answer("trust", PLACE, facts, (best,), named, diagnostics)]


def _has_size(document, law, at, group):
    wanted = {"law": law, "compute": at["compute"], **group}
    return any("parameters" in a and all(a.get(k) == x for k, x in wanted.items()) for a in document["allocation"])


def runs_grid(fits, comparison):
    """Tabulate the recommended optimum by budget; None of groups, whose budgets differ."""
    best, rivals = best_and_rivals(fits, comparison)
    if fits[best].law.grouping.by is not None or cut_along(fits[best])[0] != COMPUTE:
        return None
    alike = [name for name in rivals if fits[name].law.grouping.by is None and "beta" in fits[name]["posterior"]]
    return budget_grid(fits, {name: called(name) for name in [best, *alike]}, budgets_of(fits[best]))


def runs_figures(fits, document, comparison, result, file_name):
    """Draw the fit over the runs, the excess loss of other sizes, predictions of larger runs, and the comparison."""
    best, _ = best_and_rivals(fits, comparison)
    fit, planned = fits[best], next((at for at in document["allocation"] if at["law"] == best), None)
    group = {"group": planned["group"]} if planned and "group" in planned else {}
    extra = "".join(f", {name}={value!r}" for name, value in group.items())
    opened = f'import bayescaling as bs\n\nfit = bs.open("posteriors/{file_name(best)}.nc")\n'
    figures = [pictured(plot_fit, fit, **group, code=f"{opened}bs.plot_fit(fit{extra})")]
    beyond_runs = (at for at in document["allocation"] if at["law"] == best and at["extrapolation"] > 0)
    if at := next(beyond_runs, None):
        compute = at["compute"]
        code = f"{opened}bs.plot_valley(fit, {compute:.6g}{extra})"
        figures.append(pictured(plot_valley, fit, compute, **group, code=code))
    if not isinstance(result, str):
        by, cutoff = document["rollout"]["by"], document["rollout"]["cutoff"]
        code = f'{opened}result = bs.rollout(fit.law, fit.rows, "{by}", {cutoff:.6g}, seed=1)\nbs.plot_rollout(result)'
        figures.append(pictured(plot_rollout, result, code=code))
    if not isinstance(comparison, str):
        names = ", ".join(f'{name!r}: bs.open("posteriors/{file_name(name)}.nc")' for name in fits)
        code = f"import bayescaling as bs\n\nfits = {{{names}}}\nbs.plot_compare(bs.compare(fits))"
        figures.append(pictured(plot_compare, comparison, code=code))
    return figures


# Other tables ---------------------------------------------------------------------------------------------------------


def evaluations_answers(fits, document, comparison):
    """Answer how fast algorithms improve at the evaluations."""
    best, rivals = best_and_rivals(fits, comparison)
    laws = document["laws"]
    doubling = laws[best]["doubling"]
    named = {"q": doubling["months"], "rows": laws[best]["rows"]}
    named["medians"] = [laws[name]["doubling"]["months"][MIDDLE] for name in rivals]
    probabilities = [laws[name]["doubling"]["p_progress"] for name in (best, *rivals)]
    parts = progress_parts(named, probabilities, laws[best]["verdict"], (best, *rivals))
    return [answer("progress", PLACE, *parts, document["diagnostics"])]


def evaluations_figures(fits, file_name):
    """Draw the doubling times of all fits."""
    names = ", ".join(f'{name!r}: bs.open("posteriors/{file_name(name)}.nc")' for name in fits)
    code = f"import bayescaling as bs\n\nfits = {{{names}}}\nbs.plot_doubling(fits)"
    return [pictured(plot_doubling, fits, code=code)]


def counts_answers(fits, document, comparison):
    """Answer how far the condition that gets furthest does."""
    best, _ = best_and_rivals(fits, comparison)
    entry = document["laws"][best]
    lengths = {name: shares[HALF] for name, shares in entry["lengths"]["typical"].items()}
    first, *others = sorted(lengths, key=lambda name: -(lengths[name][MIDDLE] or 0.0))
    following = [(printable(name), digits(lengths[name]).partition(" ")[0]) for name in others[:1]]
    named = {
        "best": printable(first),
        "q": lengths[first],
        "next": following[0] if following else None,
        "trained": float(fits[best].rows["train_digits"].max()),
        "law": called(best),
    }
    facts = Facts(chains=True, width=width(lengths[first]), **of_law(entry["verdict"]))
    return [answer("lengths", PLACE, facts, (best,), named, document["diagnostics"])]


def counts_figures(fits, comparison, file_name):
    """Draw accuracy by length."""
    best, _ = best_and_rivals(fits, comparison)
    code = f'import bayescaling as bs\n\nbs.plot_lengths(bs.open("posteriors/{file_name(best)}.nc"))'
    return [pictured(plot_lengths, fits[best], code=code)]


def scores_answers(fits, document, comparison):
    """Answer which model is the most capable, and by how much."""
    best, _ = best_and_rivals(fits, comparison)
    entry = document["laws"][best]
    models = sorted(entry["models"].items(), key=lambda pair: -pair[1][MIDDLE])
    (first, q), *others = models
    named = {
        "best": printable(first),
        "q": q,
        "count": len(models),
        "next": (printable(others[0][0]), others[0][1]) if others else None,
        "law": called(best),
    }
    facts = Facts(chains=True, **of_law(entry["verdict"]))
    return [answer("scores", PLACE, facts, (best,), named, document["diagnostics"])]


def horizons_answers(fits, document, comparison):
    """Answer how long the tasks of the ablest model are, and how fast horizons double."""
    best, _ = best_and_rivals(fits, comparison)
    entry = document["laws"][best]
    solved = {name: shares[HALF] for name, shares in entry["models"].items() if shares[HALF]["solved"]}
    if not solved:
        return []
    first = max(solved, key=lambda name: solved[name][MIDDLE])
    doubling = entry.get("doubling")
    named = {
        "best": printable(first),
        "q": solved[first],
        "count": len(entry["models"]),
        "days": list(doubling.values())[-1] if doubling else None,
        "law": called(best),
    }
    facts = Facts(chains=True, width=width(solved[first]), **of_law(entry["verdict"]))
    return [answer("horizons", PLACE, facts, (best,), named, document["diagnostics"])]


def horizons_figures(fits, comparison, file_name):
    """Draw horizons by date."""
    best, _ = best_and_rivals(fits, comparison)
    code = f'import bayescaling as bs\n\nbs.plot_horizons(bs.open("posteriors/{file_name(best)}.nc"))'
    return [pictured(plot_horizons, fits[best], code=code)]


def values_answers(fits, document, comparison):
    """Answer how fast values grow."""
    best, _ = best_and_rivals(fits, comparison)
    entry, log = document["laws"][best], fits[best].law.linear_unit is None
    period, forms = list(entry["gain"])[-1], entry["forms"]
    gain = entry["gain"][period]
    rivals = {name: row[MIDDLE] for name, row in forms.items() if name != entry["form"] and row["rival"] and row["ok"]}
    beaten = not forms[entry["form"]]["rival"]
    named = {
        "gain": gain,
        "days": entry["days"][period] if log else None,
        "change": entry["change"][period] if log else None,
        "period": None if len(entry["gain"]) == 1 else period,
        "law": called(best),
        "count": len(fits[best].rows),
        "rivals": ", ".join(f"{name} {rate:.3g}" for name, rate in rivals.items()),
        "beaten": beaten,
    }
    quoted = named["days"] if log else gain if gain[MIDDLE] > 0 else {LOW: -gain[HIGH], HIGH: -gain[LOW]}
    rates = [math.log(x) if log else x for x in (gain[MIDDLE], *rivals.values())]
    apart = ratio(map(abs, rates)) if min(rates) * max(rates) > 0 else math.inf
    law = of_law(entry["verdict"]) | ({"verdict": NOT} if beaten else {})
    facts = Facts(chains=True, width=width(quoted), sensitivity=apart, **law)
    return [answer("values", PLACE, facts, (best,), named, document["diagnostics"])]


def values_figures(fits, comparison, file_name):
    """Draw values by date."""
    best, _ = best_and_rivals(fits, comparison)
    code = f'import bayescaling as bs\n\nbs.plot_trend(bs.open("posteriors/{file_name(best)}.nc"))'
    return [pictured(plot_trend, fits[best], code=code)]
