"""The command ``progress-since``: how fast capability grows at fixed compute, in two periods and over all."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ..errors import InputError
from . import options, parsing, tables

LINEAR, BREAK = "linear", "break"


@dataclass(frozen=True)
class Since(options.Fitting):
    """Options of the command; those of it alone come last."""

    data: Annotated[str | None, Option(help=f"Scores, dates and computes {options.FORMATS}", metavar="TABLE")] = None
    years: Annotated[str | None, Option(help="Models from one year to before another.", metavar="FIRST:LAST")] = None
    break_year: Annotated[float, Option(help="Date at which the rate may change.")] = 2024.37
    elpd: Annotated[bool, Option("--elpd", help="Compare a constant rate with two by leaving models out.")] = False
    out: Annotated[Path | None, Option(help="Write linear.nc and break.nc to this folder.", metavar="DIR")] = None


@options.shares(Since)
def progress_since(*, since):
    """Print how fast the compute of a capability falls. It is by scores of models, before and after a break."""
    from ..datasets.printed import Text
    from ..inference import fit
    from ..inference.scores.compute import summary

    base = parsing.law_named("scores", since, pace=BREAK, break_year=since.break_year)
    laws = {name: _with_pace(base, name) for name in (LINEAR, BREAK)}
    table = _within(parsing.table_for(laws[BREAK], since.data, since), since.years)
    for law in laws.values():
        law.rows(table)
    files = {name: since.out / f"{name}.nc" for name in laws} if since.out else {}
    _check_folder(since.out, files)
    settings = parsing.sampler_settings(since) | {"progress": tables.interactive(since.json)}
    with tables.verdict_later(unless=since.json):
        fits = {name: fit(law, table, check=False, **settings) for name, law in laws.items()}
    summaries = {name: summary(one) for name, one in fits.items()}
    comparison = _comparison(fits) if since.elpd else None
    for name, path in files.items():
        fits[name].save(path)
    if since.json:
        tables.print_json(_document(table, fits, summaries, comparison))
        return
    print(*summaries.values(), sep="\n\n")
    if comparison is not None:
        print(f"\n{Text(comparison['sentence'] + '.')}")
    for path in files.values():
        tables.print_written(path)


def _check_folder(out, files):
    """Make the folder of the fits, before the work whose results go there."""
    from ..datasets.files import check_writable
    from ..datasets.wording import printable

    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--out {printable(out)}: the folder cannot be made ({error.strerror}); choose another place"
        ) from None
    for path in files.values():
        check_writable(path)


def _with_pace(law, pace):
    """Return a law with another form of the rate, with the priors and options that the other form has too."""
    other = replace(law, pace=pace, priors={}, slope_by_period=law.slope_by_period and pace == BREAK)
    return replace(other, priors={name: prior for name, prior in law.priors.items() if name in other.prior_of})


def _within(table, years):
    """Return the rows of models released from one year to before another."""
    if years is None:
        return table
    try:
        low, high = map(float, years.split(":"))
    except ValueError:
        low = high = math.nan
    if not low < high:
        raise InputError(f"--years {years!r}: write FIRST:LAST, such as 2023:2026 for models of 2023 to 2025")
    rows = table[(table["year"] >= low) & (table["year"] < high)].reset_index(drop=True)
    if rows.empty:
        period = f"{table['year'].min():.1f} to {table['year'].max():.1f}"
        raise InputError(f"--years {years!r}: no model is of then; they are of {period}")
    return rows


def _with_compute(law, table):
    models = table.drop_duplicates("model")
    return models[models["model"].isin(law.with_compute(table))]


def _comparison(fits):
    """Compare both forms of the rate by leave-one-model-out."""
    import pandas as pd

    from ..inference.checks.chains import PARETO_K_LIMIT
    from ..inference.comparison.differences import differences, sentence

    left_out = {name: fit.loo("model", high_k="none") for name, fit in fits.items()}
    high_k = {name: int((table["pareto_k"] > PARETO_K_LIMIT).sum()) for name, table in left_out.items()}
    pointwise = pd.DataFrame({name: table["elpd"] for name, table in left_out.items()})
    table = differences(pointwise, high_k).assign(elpd=pointwise.sum()).sort_values("elpd", ascending=False)
    return {"table": table, "k_above_0.7": high_k, "sentence": sentence(table, left_out="models")}


def _document(table, fits, summaries, comparison):
    from ..inference import intervals
    from ..reports import results

    law, periods = fits[BREAK].law, {}
    for summary in summaries.values():
        for (period, unit), row in summary.iterrows():
            periods.setdefault(period, {})[unit] = {key: intervals.finite(x) for key, x in row.items()}
    document = {
        "data": table.attrs.get("source"),
        "models": int(table["model"].nunique()),
        "scores": len(table),
        "models_with_compute": len(_with_compute(law, table)),
        "break_year": law.break_year,
        "periods": periods,
        "p_faster": {unit: entry["p_progress"] for unit, entry in periods["change"].items()},
        "compute_slope": {
            f"{name}, {when}" if when else name: slope
            for name, summary in summaries.items()
            for when, slope in summary.attrs["slopes"].items()
        },
        "diagnostics": {name: fit.record["diagnostics"] for name, fit in fits.items()},
        "provenance": results.provenance({name: fit.record for name, fit in fits.items()}),
    }
    if comparison is None:
        return document
    rows = comparison["table"].iterrows()
    columns = ("elpd", "elpd_diff", "dse", "p_worse")
    laws = {name: {key: intervals.finite(row[key]) for key in columns} | {"flags": row["flags"]} for name, row in rows}
    return document | {"by_model": {"laws": laws} | {key: comparison[key] for key in ("sentence", "k_above_0.7")}}
