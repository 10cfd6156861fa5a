"""Write forecasts of today into ``evidence/ledger``: ``python evidence/ledger.py [--tables FOLDER]``.

Each is next to a straight line through the same past, and states the rule by which it will be scored. What was written
today is not written again. METR's table of time horizons does not come with the package: it is read from the folder.
"""

import argparse
import json
import math
import tomllib
import warnings
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import bayescaling as bs
import numpy as np
from bayescaling.inference.forecasts import forecast, straight_line, write
from bayescaling.inference.settings import cores
from study import selected
from values import COLUMNS, HORIZONS

HERE = Path(__file__).with_name("ledger")
QUARTERS = ("2027-02-14", "2027-05-16")  # their middles
MIDDLE_OF_2027 = "2027-06-30"
BENCHMARKS, SINCE = 12, 2025.6  # those with most scores of models since a date
FIRST = {"training_compute": 2018, "metr": 2023}
SIZE_STEP = 2  # the next size over the largest one of a ladder
SETTINGS = {"seed": 1, "draws": 1000, "tune": 1000}
OF = tomllib.loads((HERE.parent / "tables" / "ledger.toml").read_text(encoding="utf-8"))
LADDERS, RULES = OF["ladders"], OF["rules"]


def scores():
    """Forecast scores of new models on the benchmarks that most models of the last year have."""
    table = bs.load("eci_scores")
    names = table["benchmark"][table["year"] >= SINCE].value_counts(sort=True).index[:BENCHMARKS].tolist()
    fit = bs.fit(bs.laws.Scores(pace="linear"), table, **SETTINGS)
    return [forecast(fit, at, benchmarks=names) for at in QUARTERS]


def horizons():
    """Forecast the time horizon of a new model."""
    law = bs.laws.Horizons(trend="linear", estimates=True, family_effects=True)
    return [forecast(bs.fit(law, bs.load("weirdml"), **SETTINGS | {"draws": 2000}), MIDDLE_OF_2027)]


def metr(folder):
    """Forecast METR's horizon of the best model, and the time in which horizons double until then."""
    table = bs.read(folder / HORIZONS, "values", columns=COLUMNS, where="is_sota")
    fit = _trend(table, FIRST["metr"])
    document = forecast(fit, MIDDLE_OF_2027)
    rows = fit.draws.rows
    years, values = rows["year"].to_numpy(float), fit.law.on_scale(rows["value"].to_numpy(float))
    now, ahead = float(np.median(straight_line(years, values, years.max()))), document["year"] - years.max()
    document["doubling_days"] = {
        name: [_days(math.log(x) - now, ahead) for x in reversed(document["entries"][0][name])]
        for name in ("quantiles", "straight_line")
    }
    return [document]


def _days(growth, years):
    """Return the days of a doubling at a growth of the logarithm over years, None where it does not grow."""
    return 365.25 * years * math.log(2) / growth if growth > 0 else None


def training_compute():
    """Forecast the largest training compute of each of the next quarters; the last one of the table is incomplete."""
    table = bs.load("training_compute")
    quarter = np.floor(4 * table["year"])
    complete = table[quarter < quarter.max()]
    largest = complete.loc[complete.groupby(quarter)["value"].idxmax()].reset_index(drop=True)
    largest.attrs = dict(table.attrs)
    fit = _trend(largest, FIRST["training_compute"])
    return [forecast(fit, at) for at in QUARTERS]


def _trend(table, first):
    """Fit a straight trend from a year on, or the best form if that predicts better beyond doubt."""
    rows = selected(table, table["year"] >= first)
    fit = bs.fit("trend", rows, **SETTINGS)
    forms = bs.progress.by_form(fit)
    straight = forms.loc[fit.law.trend, "rival"]
    return fit if straight else bs.fit(bs.laws.Trend(trend=forms.index[0]), rows, **SETTINGS)


def runs():
    """Forecast the loss of the next size of each ladder, at the tokens per parameter of its largest run."""
    documents = []
    for name, of in LADDERS.items():
        table = bs.load(of["table"])
        rows = table[table[of["column"]] == of["value"]].reset_index(drop=True) if "column" in of else table
        rows.attrs = table.attrs | {"source": name}
        size, tokens = rows.loc[rows["training_flop"].idxmax(), ["parameters", "tokens"]]
        plan = {"parameters": float(f"{SIZE_STEP * size:.3g}"), "tokens": float(f"{SIZE_STEP * tokens:.3g}")}
        documents.append(forecast(bs.fit("coupled", rows, **SETTINGS), plan=plan))
    return documents


def main():
    """Read the command line, and write the forecasts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RULES)}; all by default")
    parser.add_argument("--tables", type=Path, help="folder of the tables that do not come with the package")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", bs.DiagnosticWarning)  # each forecast states whether its fit converged
    forecasts = {"scores": scores, "horizons": horizons, "training_compute": training_compute, "runs": runs}
    forecasts |= {"metr": partial(metr, arguments.tables)} if arguments.tables else {}
    if unknown := set(arguments.names) - set(forecasts):
        parser.error(f"{min(unknown)}: there are {', '.join(forecasts)}, and metr with --tables FOLDER")
    today = datetime.now(UTC).date().isoformat()
    written = {json.loads(path.read_text(encoding="utf-8"))["of"] for path in HERE.glob(f"{today}-*.json")}
    HERE.mkdir(exist_ok=True)
    with bs.parallel(cores()):
        for name in sorted(set(arguments.names or forecasts) - written):
            for document in forecasts[name]():
                print(write(document | {"of": name, "rule": RULES[name]}, HERE).name)


if __name__ == "__main__":
    main()
