"""Rows of the table of forecasts that were written before their outcomes came: the files of ``evidence/ledger``."""

import json
from pathlib import Path

from bayescaling.inference.forecast_result import COLUMNS, written
from bayescaling.inference.kinds import find_record
from bayescaling.inference.words import budgets, durations, plain, size

FOLDER = Path(__file__).resolve().parents[1] / "evidence" / "ledger"
HEADER = ("forecast", "for", "law: median and 95% interval", "straight line", "made")
NAMES = {
    "scores": "score on ",
    "horizons": "WeirdML time horizon of a new model",
    "training_compute": "largest training compute of the quarter",
    "metr": "METR's 50% horizon of the best new model",
    "runs": "loss of the next size, ",
}
OWN_FORMS = {"training_compute": budgets, "metr": durations}


def rows():
    """Return the rows, by what is forecast and by date."""
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    order = sorted(documents, key=lambda of: ([*NAMES].index(of["of"]), of.get("at", ""), of["data"]["source"]))
    return [row for document in order for row in _rows(document)]


def _rows(of):
    name, form = NAMES[of["of"]], OWN_FORMS.get(of["of"]) or find_record(of["kind"]).forecasts.form
    entries = {name: (of["entries"][0], form)}
    if of["of"] == "scores":
        entries = {f"{name}{entry['name']}": (entry, form) for entry in of["entries"]}
    elif of["of"] == "runs":
        entries = {f"{name}{of['data']['source']}": (of["entries"][0], form)}
    elif "doubling_days" in of:
        entries["days in which METR's horizons double until then"] = (of["doubling_days"], lambda q: plain(q, "{:.0f}"))
    when = of.get("at") or f"{size(of['plan']['parameters'])} on {size(of['plan']['tokens'])} tokens"
    for label, (entry, written_as) in entries.items():
        yield label, when, *(written(entry[key], written_as) for key in COLUMNS.values()), of["made"][:10]
