"""The page on experts: how many dense parameters a model with routed experts is worth, in runs of one study."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import compare, fit
from ....inference.comparison.differences import is_apart
from ....inference.words import HIGH, LOW, MIDDLE, plain, sizes
from ....models.laws import Formula
from ....models.published import find
from ....plots import plot_intervals
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured

TABLE, STUDY = "routed_lms", "experts_left_out"
FITS, NUMBERS = "experts: fits", "experts: numbers"
STAGES = (FITS, NUMBERS)
STUDIES = (STUDY,)
ROUTINGS = ("S-Base", "RL-R", "Hash")
MAIN, PUBLISHED = "a floor", "no floor"
SAME, LOWERED = "a floor and one gain at every size", "a floor that experts lower"
SIZE, EXPERTS = 1.321636e8, 64  # the model whose worth is quoted: the fourth size of the runs
SATURATED = "(1 / (1 / (experts - 1 + 1 / (1 / Es - 1 / Em)) + 1 / Em))"
TERM = f"A * parameters**-a * {SATURATED}**(c * log10(parameters) - b)"
PRIORS = find("clark-2022-sbase").priors
FORMULAS = {
    MAIN: f"loss ~ floor + {TERM}",
    PUBLISHED: f"loss ~ {TERM}",
    SAME: f"loss ~ floor + A * parameters**-a * {SATURATED}**-b",
    LOWERED: f"loss ~ floor + {TERM} + B * {SATURATED}**-w",
}
LAWS = {name: Formula(formula, priors=PRIORS) for name, formula in FORMULAS.items()}
WORTH = f"parameters where loss = (loss at parameters = {SIZE:g}, experts = {EXPERTS}) at experts = 1"
END, SHRINKS = "10**(b / c)", "c"
SHOWN = {"worth": WORTH, "end": END, "shrinks": SHRINKS}


def runs(routing):
    """Return the dense runs and those of one way of routing, one expert to a token and every second block routed."""
    table = load(TABLE)
    chosen = table["routing"].isin(["Dense", routing]) & (table["active_experts"] == 1) & (table["routed_share"] == 0.5)
    rows = table[chosen].reset_index(drop=True)
    rows.attrs["source"] = f"{TABLE}, {routing}"
    return rows


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the laws to S-Base and the main one to the other ways of routing; see `Page.analyse`."""
    fits = stage(FITS, partial(fitted, seed=seed, sampler=sampler, **settings))
    findings = Findings(studies=STUDIES, posteriors={f"experts, {name}": of for name, of in fits.items()})
    entry = stage(NUMBERS, partial(numbers, fits), of=findings.posteriors)
    findings.document = {"experts": entry | {"left_out": findings.study(STUDY)}}
    return findings


def fitted(**options):
    """Fit every law to S-Base, by the name of the law, and the main one to other ways of routing, by theirs."""
    laws = {name: (law, ROUTINGS[0]) for name, law in LAWS.items()} | {x: (LAWS[MAIN], x) for x in ROUTINGS[1:]}
    return {name: fit(law, runs(routing), check=False, **options) for name, (law, routing) in laws.items()}


def numbers(fits):
    """Return what a model with experts is worth by law and by routing, and how well the laws predict."""
    compared = compare({name: fits[name] for name in LAWS})[["elpd", "elpd_diff", "dse"]]
    apart = {name: bool(is_apart(*compared.loc[name, ["elpd_diff", "dse"]])) for name in LAWS}
    quoted = compared.index[0] if apart[MAIN] else MAIN
    return {
        "rows": {name: len(of.rows) for name, of in fits.items()},
        "of": _model(fits[MAIN].rows) | {"routing": ROUTINGS[0]},
        "routings": ROUTINGS,
        "laws": {name: _law(of) for name, of in fits.items()},
        "compared": compared.to_dict("index"),
        "quoted": quoted,
        "rivals": [name for name in LAWS if name != quoted and not apart[name]],
    }


def _model(rows):
    total = rows.loc[np.isclose(rows["parameters"], SIZE) & (rows["experts"] == EXPERTS), "total_parameters"]
    sizes = {"total": float(total.iloc[0]), "largest": float(rows["parameters"].max())}
    return {"parameters": SIZE, "experts": EXPERTS, **sizes}


def _law(of):
    asked = {key: x for key, x in SHOWN.items() if x == WORTH or SHRINKS in of["posterior"]}
    table = of.ask(*asked.values())
    entry = {key: {name: float(row[name]) for name in (LOW, MIDDLE, HIGH)} | {"answer": row["answer"]}
             for key, (_, row) in zip(asked, table.iterrows(), strict=True)}  # fmt: skip
    return {"law": of.law.label, **results.check_entries(of), "diagnostics": of.diagnostics, "answers": entry}


def _chart(entry):
    laws, quoted = entry["laws"], entry["quoted"]
    rows = {f"{ROUTINGS[0]}, {name}": laws[name]["answers"]["worth"] for name in (quoted, *entry["rivals"])}
    rows |= {f"{name}, {MAIN}": laws[name]["answers"]["worth"] for name in ROUTINGS[1:]}
    rows |= {f"{ROUTINGS[0]}, as published, {PUBLISHED}": laws[PUBLISHED]["answers"]["worth"]}
    size = sizes(laws[quoted]["answers"]["worth"])
    return pictured(
        plot_intervals,
        rows,
        "Parameters of a dense model of the same loss",
        title=f"A model of {SIZE / 1e6:.0f}M parameters with {EXPERTS} experts is worth a dense one of {size}",
        caption="Medians and 95% intervals by way of routing and law.",
        source=f"Data: {TABLE}",
    )


def _table(entry):
    rows = []
    for name, of in entry["laws"].items():
        law, routing = (name, ROUTINGS[0]) if name in LAWS else (MAIN, name)
        compared, left_out = entry["compared"].get(name), entry["left_out"].get(name)
        shrinks = of["answers"].get("shrinks")
        rows.append({
            "routing": routing,
            "law": law,
            "worth, parameters": sizes(of["answers"]["worth"]),
            "gain shrinks with size, c": plain(shrinks, "{:.4f}") if shrinks else "–",
            "elpd": f"{compared['elpd']:.1f}" if compared else "–",
            "sizes left out": f"{left_out['elpd']:.1f}" if left_out else "–",
            "tests of the law": of["verdict"]["verdict"],
        })  # fmt: skip
    note = (
        "Worth: of a model of 132M parameters with 64 experts, median and 95% interval. c: by how much a factor of ten "
        "in size lowers the exponent of the experts. Elpd: log predictive density of runs left out one by one, and of "
        "all runs of a size given the others, in nats."
    )
    return tables.html(rows, note=note, title="Laws of experts", fits=[f"experts, {name}" for name in entry["laws"]])


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["experts"]
    blocks = {"chart": _chart(entry), "laws": _table(entry)}
    scores = {name: of["elpd"] for name, of in entry["left_out"].items() if of["converged"]}
    named = {"findings": findings, "entry": entry, "STUDY": STUDY, "ROUTINGS": ROUTINGS, "PUBLISHED": PUBLISHED}
    return prose.sections(__file__, blocks, **named, best=max(scores, key=scores.get))
