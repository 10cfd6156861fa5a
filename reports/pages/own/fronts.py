"""The first screen of a report on a custom table: what all kinds of table share, and what tables of runs have."""

import math

import numpy as np

from ....datasets.wording import printable
from ....errors import InputError
from ....inference.checks.verdict import FITS
from ....inference.comparison.differences import is_apart
from ....inference.comparison.rollout import rollout
from ....inference.estimands.strength import Facts, grade_of_share
from ....inference.words import HIGH, LOW, MIDDLE
from ....models.loss.budget import training_flop
from ....plots import plot_compare, plot_fit, plot_rollout, plot_valley
from ...html.illustrations import pictured
from ...html.front import Front, misfit_note
from ...output import file_name
from ..front.answers import answer, beyond, of_law, size_parts, width
from ..front.budget import budget_grid, budgets_of
from ..front.quote import not_quotable, quotable

PLACE = "answers"  # the part of the page that has more
COMPUTE = "compute"
SHARE, FEWEST = 0.75, 12  # of the runs, which are fitted to predict the rest; fewer runs are not divided
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


def answered(kind, document, best, named, **facts):
    """Return the answer that the fit which predicts best gives, from what a sentence names and facts on the number."""
    facts = Facts(**{"chains": True} | of_law(document["laws"][best]["verdict"]) | facts)
    return answer(kind, PLACE, facts, (best,), named | {"law": called(best)}, document["diagnostics"])


def drawn(plot, fits, best):
    """Draw a figure of the fit that predicts best, with the code that opens it."""
    code = f'import bayescaling as bs\n\nbs.{plot.__name__}(bs.open("posteriors/{file_name(best)}.nc"))'
    return pictured(plot, fits[best], code=code)


def all_opened(fits):
    """Return code that opens all fits by name."""
    names = ", ".join(f'{name!r}: bs.open("posteriors/{file_name(name)}.nc")' for name in fits)
    return f"import bayescaling as bs\n\nfits = {{{names}}}\n"


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
    check = document["laws"][best]["verdict"]
    planned = [at for at in document["allocation"] if at["law"] == best]
    written = []
    for at in planned[1::factor]:
        group = {"group": at["group"]} if "group" in at else {}
        if "parameters" in at:
            others = [name for name in rivals if _has_size(document, name, at, group)]
            question = {"question": f"How big should the next model of {printable(at['group'])} be?"} if group else {}
            parts = size_parts(document, best, others, at["compute"], called, **question, **group)
            written.append(answer("sizes", PLACE, *parts, document["diagnostics"]))
        else:
            facts = {"width": width(at["loss"]), "decades": at["extrapolation"]}
            written.append(answered("losses", document, best, {"at": at, "beyond": beyond(at)}, **facts))
    entry = document["rollout"]
    rejects = "No" if check["verdict"] == FITS else "A"
    named = entry | {"fit": f"{rejects} test rejects the law on its rows"}
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
    named["grade"] = grade_of_share(*share)
    return [*written, answered("trust", document, best, named, decades=decades, share=share)]


def _has_size(document, law, at, group):
    wanted = {"law": law, "compute": at["compute"], **group}
    return any("parameters" in a and all(a.get(k) == x for k, x in wanted.items()) for a in document["allocation"])


def runs_grid(fits, document, comparison):
    """Tabulate the recommended optimum by budget; None of groups, whose budgets differ."""
    best, rivals = best_and_rivals(fits, comparison)
    if fits[best].law.grouping.by is not None or cut_along(fits[best])[0] != COMPUTE:
        return None
    alike = [name for name in rivals if fits[name].law.grouping.by is None and "beta" in fits[name]["posterior"]]
    last = max((at["compute"] for at in document["allocation"]), default=0.0)
    return budget_grid(fits, {name: called(name) for name in [best, *alike]}, budgets_of(fits[best], last))


def next_run(document, law):
    """Return the entry of the next run of a law, of its first group: after that of the largest run; None without."""
    return next((at for at in [at for at in document["allocation"] if at["law"] == law][1:]), None)


def runs_figures(fits, document, comparison, result):
    """Draw the fit over the runs, the excess loss of other sizes, predictions of larger runs, and the comparison."""
    best, _ = best_and_rivals(fits, comparison)
    fit, planned = fits[best], next_run(document, best)
    group = {"group": planned["group"]} if planned and "group" in planned else {}
    extra = "".join(f", {name}={value!r}" for name, value in group.items())
    opened = f'import bayescaling as bs\n\nfit = bs.open("posteriors/{file_name(best)}.nc")\n'
    figures = [pictured(plot_fit, fit, **group, code=f"{opened}bs.plot_fit(fit{extra})")]
    if planned:
        compute = planned["compute"]
        code = f"{opened}bs.plot_valley(fit, {compute:.6g}{extra})"
        figures.append(pictured(plot_valley, fit, compute, **group, code=code))
    if not isinstance(result, str):
        by, cutoff = document["rollout"]["by"], document["rollout"]["cutoff"]
        code = f'{opened}result = bs.rollout(fit.law, fit.rows, "{by}", {cutoff:.6g}, seed=1)\nbs.plot_rollout(result)'
        figures.append(pictured(plot_rollout, result, code=code))
    if not isinstance(comparison, str):
        figures.append(pictured(plot_compare, comparison, code=f"{all_opened(fits)}bs.plot_compare(bs.compare(fits))"))
    return figures
