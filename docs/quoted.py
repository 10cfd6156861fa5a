"""Text of README and documentation that is made from the numbers of a report, by the names that pages use."""

import ast
import json
import re
from pathlib import Path

import jinja2
from bayescaling.datasets import load
from bayescaling.datasets.files import evidence
from bayescaling.inference import words
from bayescaling.inference.forecasts import written
from bayescaling.inference.kinds import find_record
from bayescaling.inference.words import HIGH, LOW, MIDDLE, position
from bayescaling.models import published
from bayescaling.reports import speeds
from bayescaling.reports.html.prose import FILTERS
from bayescaling.reports.pages.front.page import _row
from bayescaling.reports.pages.since.forms import OF_SCORES, form_name

HERE = Path(__file__).resolve().parent
PAPERS = {
    "ho": ("Ho et al. 2024",),
    "chinchilla": ("Hoffmann et al. 2022", "Besiroglu et al. 2024"),
    "pearce": ("Kaplan et al. 2020", "Pearce and Song 2024"),
}
STAN = HERE.parent / "tests" / "inference" / "test_stan.py"
COVERED = "horizons", *("doubling time" + of for of in ("", ", scatter known", ", least squares on true horizons"))
FORECAST = ("scores", "horizons", "training_compute", "metr", "runs")
NAMES = {"chinchilla": "Chinchilla", "coupled": "coupled", "offsets": "offsets"}


def table(header, rows):
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def substitutions(headline):
    """Return the texts by name, str, from the content of ``headline.json``."""
    texts = _templated(headline) | {"stan": _stan(headline["laws"])}
    for answer in headline["answers"]:
        depends = "\n".join(f"- {point}" for point in answer["depends"])
        number = "" if answer["number"] in answer["answer"] else f" {answer['number']}"
        texts[f"answer-{answer['page']}"] = (
            f"**{answer['answer']}**{number} {answer['frame']}\n\n{depends}\n\n"
            f"Strength: {answer['strength']}. Reasons: {answer['because']}."
        )
    for name, sources in PAPERS.items():
        texts[f"claims-{name}"] = _claims([c for c in headline["claims"] if c["source"] in sources])
    from bayescaling.training import arithmetic, sweep_keys  # which load no torch

    for kind, rows in (("language", sweep_keys()), ("arithmetic", arithmetic.sweep_keys())):
        cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows.itertuples(index=False)]
        texts[f"keys-{kind}"] = table(tuple(rows.columns), cells)
    return {name.replace("_", "-"): text for name, text in texts.items()}


def _templated(headline):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= FILTERS | {"factor": words.factor, "two_digits": _rounded}
    values = {"headline": headline, "answers": headline["answers"], "misfit": misfit, "form_name": form_name}
    values |= {"OF_SCORES": OF_SCORES, "COVERED": COVERED, "speeds": speeds, "position": position, "zip": zip}
    values |= {"study": lambda name: evidence(name)["result"], "made": lambda name: evidence(name)["made"]}
    values |= {"forecasts_made": _ledger(), "published_of": _published, "find_record": find_record, "written": written}
    values |= {"published_laws": published.laws().values()}
    values |= {"budgets": words.budgets, "durations": words.durations, "whole": lambda q: words.plain(q, "{:.0f}")}
    named = vars(environment.get_template("quoted.md.jinja").make_module(values))
    texts = {name: text for name, text in named.items() if isinstance(text, str) and name[0] != "_"}
    return {name: "\n".join(line for line in text.split("\n") if line.strip()) for name, text in texts.items()}


def _ledger():
    """Return the forecasts that were written before their outcomes came, by what is forecast and by date."""
    paths = sorted((HERE.parent / "evidence" / "ledger").glob("*.json"))
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return sorted(documents, key=lambda of: (FORECAST.index(of["of"]), of.get("at", ""), of["data"]["source"]))


def _published(prefix, pattern):
    """Return the published values whose names match a pattern after a prefix, by what its brackets match."""
    published = load("published").set_index("quantity")["estimate"]
    names = published.index.str.extract(rf"^{prefix}\.{pattern}(?:\.[^.]+\.ood)?$", expand=False)
    groups = published.groupby(names, sort=False)
    return "; ".join(f"{name} {', '.join(map('{:g}'.format, values))}" for name, values in groups) or "-"


def misfit(sentence):
    """Shorten the sentence on a law that its rows reject to the misfit, its place and the p values of the tests."""
    pattern = r"the law .*?(\S+) of the loss on average, and by (\S+) in (.*?)\. Tests that reject it: (.*?)\. Of"
    parts = re.match(pattern, sentence)
    return f"{parts[1]} on average, {parts[2]} in {parts[3]} ({parts[4]})" if parts else sentence


def _claims(claims):
    header = ("claim", "source", "published", "ours [95%]", "P(ours ≥ published)", "result")
    rows = [_row(claim) for claim in claims]
    cells = [(c["claim"], c["source"], c["theirs"], c["shown"], c["p"], c["verdict"]) for c in rows]
    return table(header, [(*row[:-1], row[-1].replace("moved", "disagrees")) for row in cells])


def _rounded(q):
    return {name: q[name] and float(f"{q[name]:.2g}") for name in (LOW, MIDDLE, HIGH)}


def _stan(laws):
    assigned = [n for n in ast.parse(STAN.read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)]
    of_stan = next(ast.literal_eval(n.value) for n in assigned if n.targets[0].id == "OF_RUNS")
    rows = [
        (NAMES[law], name, f"{mean:.4f} ± {sd:.4f}", f"{ours['mean']:.4f} ± {ours['sd']:.4f}")
        for law, quantities in of_stan.items()
        for name, (mean, sd) in quantities.items()
        if (ours := laws[law]["posterior"].get(name))
    ]
    return table(("law", "quantity", "Stan", "here"), rows)
