"""The page on mixtures: whether models of 1M parameters tell which mixture of sources is best at 1B."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import fit
from ....inference.formulas.ask import respond
from ....inference.intervals import name_quantiles
from ....inference.words import HIGH, LOW, MIDDLE, plain
from ....models.laws import Formula
from ....plots import plot_intervals
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured

TABLE, STUDY, FIT = "regmix", "mixtures", "mixtures"
STAGES = ("mixtures: fit", "mixtures: numbers")
STUDIES = (STUDY,)
LOSS, SHOWN = "loss_pile_cc", 10
FORMULA = f"{LOSS} ~ sum(w_* * share_***g)**-alpha"
LAW = Formula(FORMULA)


def runs(parameters, split="test"):
    """Return the models of one size: those of 1M to fit, or those that it is to foretell."""
    table = load(TABLE)
    rows = table[(table["parameters"] == parameters) & (table["split"] == split)].reset_index(drop=True)
    rows.attrs["source"] = f"{TABLE}, {parameters / 1e6:g}M, {split}"
    return rows


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the law to the models of 1M and weigh those of 1B; see `Page.analyse`."""
    fitted = partial(fit, LAW, runs(1e6, "train"), check=False, seed=seed, sampler=sampler, **settings)
    of = {FIT: stage(STAGES[0], fitted)}
    findings = Findings(studies=STUDIES, posteriors=of)
    entry = stage(STAGES[1], partial(numbers, of[FIT]), of=of)
    findings.document = {"mixtures": entry | {"study": findings.study(STUDY)}}
    return findings


def numbers(of):
    """Return how likely each mixture of 1B is the best by the law, and how well it ranks what was measured."""
    large = runs(1e9)
    answers, measured = of.ask("best share_*", among=large), large[LOSS]
    places = [int(name.removeprefix("row ")) - 1 for name in answers.index]
    draws = respond(of, large[[*of.law.columns]].to_dict("records")).argsort(1).argsort(1) + 1
    ranks, best = measured.rank().to_numpy(), places[0]
    drawn = np.random.default_rng(1).integers(len(large), size=draws.shape)  # mixtures again, one draw each
    named = [name_quantiles(draws[:, k]) | {"measured": float(measured[k]), "rank": int(ranks[k])} for k in places]
    candidates = {
        f"mixture {place + 1}": {x: float(row[x]) for x in (LOW, MIDDLE, HIGH, "p_best")} | {"ranks": ranked}
        for place, (_, row), ranked in zip(places, answers.iterrows(), named, strict=True)
    }
    again = (np.corrcoef(x[some], ranks[some])[0, 1] for x, some in zip(draws, drawn, strict=True))
    return {
        "rows": len(of.rows),
        "law": of.law.label,
        **results.check_entries(of),
        "count": len(large),
        "choice": best + 1,
        "p_best": float(answers["p_best"].iloc[0]),
        "rank": name_quantiles(draws[:, best]),
        "measured": int(ranks[best]),
        "regret": float(measured[best] - measured.min()),
        "usual": float(measured.median() - measured.min()),
        "correlation": name_quantiles([*again]),
        "candidates": candidates,
    }


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["mixtures"]
    shown = dict(list(entry["candidates"].items())[:SHOWN])
    chart = pictured(
        plot_intervals,
        {name: {key: of[key] for key in (LOW, MIDDLE, HIGH)} for name, of in shown.items()},
        "Loss on Pile-CC that the law gives a model of 1M, nats a token",
        title=f"Mixture {entry['choice']} is the best of {entry['count']} with a probability of {entry['p_best']:.0%}",
        caption="Medians and 95% intervals, the likeliest to be the best first.",
        source=f"Data: {TABLE}",
    )
    rows = [
        {"mixture": name, "loss at 1M": plain(of, "{:.3f}"), "P(best)": f"{of['p_best']:.0%}",
         "rank by the law": plain(of["ranks"], "{:.0f}"), "loss at 1B": of["ranks"]["measured"],
         "its rank": of["ranks"]["rank"]}
        for name, of in shown.items()
    ]  # fmt: skip
    note = "P(best): that a model of this mixture has a lower loss than one of each other, with the scatter of models."
    blocks = {"chart": chart, "candidates": tables.html(rows, note=note, title="Candidates")}
    first, second, *_ = sorted((of["elpd"] for of in entry["study"]["forms"].values()), reverse=True)
    return prose.sections(__file__, blocks, findings=findings, entry=entry, STUDY=STUDY, lead=first - second)
