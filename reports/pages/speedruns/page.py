"""The page on speedruns: how fast one task is trained faster on one machine, by its records, and what made it so."""

from functools import partial

import numpy as np
import pandas as pd

from ....datasets import load
from ....inference import compare, fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.words import plain
from ....plots import plot_intervals
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
from .records import GAINS, MONTH, TIME, WAITS, Process, increments

TABLE, RUNS, STUDY, LOOKS = "speedrun_records", "speedrun_runs", "speedruns_ahead", "change"
FITS, NUMBERS = "speedruns: fits", "speedruns: numbers"
STAGES = (FITS, NUMBERS)
STUDIES = (STUDY, LOOKS)
TARGET = 3.28  # loss of the contest
YEAR = pd.Timedelta(days=365)
ALL, LATE, RECENT, MEDIUM = "all records", "without the first ten", "since 2025", "the second track"
BATCH = ["BatchSize", "CustomBatching", "BatchSizeSchedule"]  # changes that trade steps for shorter ones
WINDOWS = {"since October 2024": "2024", "since 2025": "2025", "since July 2025": "2025-07"}
SEEDS = 5  # least runs of a recipe of which the scatter is taken
MONTHS = "{:.1f}"


def rows_of(which):
    """Return the increments of the records, of some of them, or of the second track, from a larger model."""
    if which == MEDIUM:
        runs = load(RUNS)
        of = runs[runs["track"] == "track_2_medium"].groupby("date", as_index=False)["seconds"].min()
        best = of[of["seconds"] < of["seconds"].cummin().shift(fill_value=np.inf)]
        records = best.assign(minutes=best["seconds"] / 60, record=np.arange(len(best))).reset_index(drop=True)
    else:
        records = load(TABLE)
    rows = increments(records)
    rows = rows[{LATE: rows["record"] > 10, RECENT: rows["date"] >= "2025"}.get(which, rows["record"] > 0)]
    rows.attrs["source"] = f"{RUNS if which == MEDIUM else TABLE}, {which}"
    return rows.reset_index(drop=True)


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the laws of gains and of waits to the records; see `Page.analyse`."""
    fits = stage(FITS, partial(fitted, seed=seed, sampler=sampler, **settings))
    findings = Findings(studies=STUDIES, posteriors={f"speedruns, {name}": of for name, of in fits.items()})
    entry = stage(NUMBERS, partial(numbers, fits, seed), of=findings.posteriors)
    looks = findings.study(LOOKS)
    findings.document = {
        "speedruns": entry
        | {"ahead": findings.study(STUDY), "looks": {key: looks[key] for key in ("drawn again", "power", "submitted")}}
    }
    return findings


def _name(kind, law=TIME, rows=ALL):
    return f"{kind} by {law}" + ("" if rows == ALL else f", {rows}")


def fitted(**options):
    """Fit each law to all records, and the main ones to some of them and to the second track, by name."""
    laws = [(kind, law, ALL) for kind, of in (("gains", GAINS), ("waits", WAITS)) for law in of]
    laws += [(kind, TIME, rows) for rows in (LATE, RECENT, MEDIUM) for kind in ("gains", "waits")]
    of = {"gains": GAINS, "waits": WAITS}
    return {
        _name(kind, law, rows): fit(of[kind][law], rows_of(rows), check=False, **options) for kind, law, rows in laws
    }


def numbers(fits, seed):
    """Return the pace of the last year by law and by rows, what is to come, and what made training faster."""
    rows = rows_of(ALL)
    last, year = rows.iloc[-1], rows[rows["date"] > rows["date"].iloc[-1] - YEAR]
    compared = {
        kind: compare({law: fits[_name(kind, law)] for law in of})[["elpd", "elpd_diff", "dse"]]
        for kind, of in (("gains", GAINS), ("waits", WAITS))
    }
    apart = {
        kind: {law for law, x in of.iterrows() if is_apart(x["elpd_diff"], x["dse"])} for kind, of in compared.items()
    }
    pairs = {
        f"gains by {gain}, waits by {wait}": (fits[_name("gains", gain)], fits[_name("waits", wait)])
        for gain in GAINS for wait in WAITS if gain not in apart["gains"] and wait not in apart["waits"]
    }  # fmt: skip
    subsets = {x: tuple(fits[_name(kind, TIME, x)] for kind in ("gains", "waits")) for x in (LATE, RECENT)}
    paces = {
        name: intervals.summary(Process(*of).months_to_halve(year), ratio=True)
        for name, of in (pairs | subsets).items()
    }
    quoted, *rivals = paces
    medium = rows_of(MEDIUM)
    second = Process(*(fits[_name(kind, TIME, MEDIUM)] for kind in ("gains", "waits"))).months_to_halve(medium)
    return {
        "records": len(rows) + 1,
        "first": {"date": str(load(TABLE)["date"].iloc[0].date()), "minutes": float(load(TABLE)["minutes"].iloc[0])},
        "last": {
            "date": str(last["date"].date()),
            "month": last["date"].strftime("%B %Y"),
            "minutes": float(last["minutes"]),
        },
        "year": {
            "records": len(year),
            "months_to_halve": float(np.log(2) * year["days"].sum() / year["gain"].sum() / MONTH),
        },
        "quoted": quoted,
        "paces": paces,
        "rivals": rivals,
        "second_track": {"records": len(medium) + 1, **intervals.summary(second, ratio=True)},
        "to_come": {name: _forecast(Process(*of, seed=seed), last) for name, of in pairs.items()},
        "laws": {name: results.check_entries(of) | {"law": of.law.label} for name, of in fits.items()},
        "compared": {kind: of.to_dict("index") for kind, of in compared.items()},
        "shares": shares(),
        "seeds": _seeds(),
    }


def _forecast(process, last):
    minutes, number = last["minutes"], int(last["record"]) + 1
    return {
        "halving": intervals.summary(process.months_until(minutes / 2, minutes, number), ratio=True),
        "one_minute": intervals.summary(process.months_until(1.0, minutes, number), ratio=True),
        "in_a_year": intervals.summary(process.minutes_after(YEAR.days, minutes, number)),
    }


def _first_track():
    runs = load(RUNS)
    runs = runs[runs["track"] == "track_1_short"]
    return runs.drop_duplicates(["what", "seed_run", "step", "loss", "seconds"], keep="last")


def shares():
    """Return how much of the speed-up is fewer steps and how much shorter ones, from the logs of records, by window.

    Of each change the fastest number of steps whose mean loss is at most that of the contest counts, where it is faster
    than all before. A change of the batch trades steps for shorter ones, and is counted apart.
    """
    runs = _first_track().assign(each=lambda of: of["seconds"] / of["step"])
    logs = runs.groupby(["date", "what", "step"], as_index=False)[["loss", "seconds", "each"]].agg(
        {"loss": "mean", "seconds": "median", "each": "median"}
    )
    logs = logs[logs["loss"] <= TARGET].sort_values(["date", "seconds"]).drop_duplicates(["date", "what"])
    logs = logs[logs["seconds"] < logs["seconds"].cummin().shift(fill_value=np.inf)].reset_index(drop=True)
    fell = -np.log(logs[["step", "each", "seconds"]]).diff().iloc[1:]
    batch = logs["what"].isin(BATCH).iloc[1:]
    table = {}
    for name, first in WINDOWS.items():
        within = logs["date"].iloc[1:] >= first
        took = logs["date"].iloc[-1] - max(pd.Timestamp(first), logs["date"][0])
        total, other = fell[within].sum(), fell[within & ~batch].sum()
        table[name] = {
            "changes": int(within.sum()),
            "factor": float(np.exp(total["seconds"])),
            "steps": float(other["step"] / other["seconds"]),
            "steps_with_batch": float(total["step"] / total["seconds"]),
            "months_by_steps": float(np.log(2) / other["step"] * took.days / MONTH),
        }
    return table


def _seeds():
    of = _first_track().groupby(["date", "what", "step"])["loss"].agg(["size", "std"])
    of = of.loc[of["size"] >= SEEDS, "std"]
    return {
        "recipes": len(of),
        **dict(zip(("lower", "sd", "upper"), map(float, of.quantile([0.25, 0.5, 0.75])), strict=True)),
    }


def _chart(entry):
    rows = {f"gains and waits by {TIME}": entry["paces"][entry["quoted"]]} | {
        name: entry["paces"][name] for name in entry["rivals"]
    }
    rows |= {f"{MEDIUM}, a larger model": entry["second_track"]}
    quoted = plain(entry["paces"][entry["quoted"]], MONTHS)
    return pictured(
        plot_intervals,
        rows,
        "Months in which the time halves",
        title=f"In the year to {entry['last']['month']} the record time of one task halved every {quoted} months",
        caption="Medians and 95% intervals of the mean pace of records, by law and by the records that are fitted.",
        source=f"Data: {TABLE}, {RUNS}",
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["speedruns"]
    laws = [
        {"law": name, "formula": entry["laws"][name]["law"].partition(",")[0],
         "tests of the law": entry["laws"][name]["verdict"]["verdict"],
         **{key: f"{entry['compared'][kind][law][key]:.1f}" for key in ("elpd", "elpd_diff")}}
        for kind, of in (("gains", GAINS), ("waits", WAITS)) for law in of for name in [_name(kind, law)]
    ]  # fmt: skip
    ahead = [
        {"forecast of": when, "by": name, "held": f"{of['held']} of {of['forecasts']}",
         "width": f"{of['width']:.2f}", "score": f"{of['score']:.2f}"}
        for when in ("next record", "90 days", "180 days")
        for name, at in entry["ahead"]["forecasts"].items() for of in [at[when]]
    ]  # fmt: skip
    split = [
        {"window": name, "changes": of["changes"], "time fell by a factor": f"{of['factor']:.1f}",
         "share of fewer steps": f"{of['steps']:.0%}", "with changes of the batch": f"{of['steps_with_batch']:.0%}",
         "steps halved every, months": f"{of['months_by_steps']:.1f}"}
        for name, of in entry["shares"].items()
    ]  # fmt: skip
    blocks = {
        "chart": _chart(entry),
        "laws": tables.html(
            laws, title="Laws of gains and of waits", fits=[f"speedruns, {row['law']}" for row in laws]
        ),
        "ahead": tables.html(ahead, title="Forecasts", fits=[""] * len(ahead)),
        "shares": tables.html(split, title="Fewer steps or shorter ones"),
    }
    return prose.sections(__file__, blocks, findings=findings, entry=entry, STUDY=STUDY, LOOKS=LOOKS)
