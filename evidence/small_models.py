"""Studies of the small language models: coverage, and why E is missed."""

from dataclasses import replace

import bayescaling as bs
import pandas as pd
from bayescaling.inference import intervals
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.reports.pages.small_lm import page
from study import copies as calibrate_copies
from study import register

LAW = bs.laws.Chinchilla()
SMALLEST, LARGEST = "without the smallest size", "without the largest size"
SECOND_HALF = "second half of the tokens"
RATES, ONE_RATES = "best rates for the three smallest sizes", (0.003, 0.01, 0.03)
LOWER = 0.01  # nats that a better learning rate could gain
QUICK = {"seed": 1, "draws": 300, "tune": 400, "chains": 2, "target_accept": 0.95}
OF_COPIES = ("truth", "bias", "bias_se", "coverage_90")
COPIED = (page.COUPLED, SMALLEST, LARGEST, SECOND_HALF)  # changes of which copies are simulated


def _tables():
    return page.tables_of_schemes(bs.load("small_lm_runs"))[0]


@register("whether intervals of the Chinchilla law cover on small language models",
          lambda: [(LAW, _tables()[page.MAIN])], seed=1, simulations=100, draws=500, tune=500,
          target_accept=page.TARGET_ACCEPT)  # fmt: skip
def small_models_coverage(parts, *, simulations, draws, tune, **options):
    """Fit the law to tables simulated from the medians of its fit to one scheme."""
    table = _tables()[page.MAIN]
    fitted = parts.fit("fit", lambda: bs.fit(LAW, table, **options))
    options |= {"simulations": simulations, "draws": draws, "tune": tune, "out": parts.path("tables.nc")}
    table_of_coverage = calibrate_copies(fitted, table, **options).table()
    counts = {name: table_of_coverage.attrs[name] for name in ("simulations", "not_converged")}
    return counts | {"quantities": intervals.entries(table_of_coverage)}


def _changes():
    """Return the law and the table of each change of the coupled law, and of the law as reported, by scheme."""
    tables, laws = page.tables_of_schemes(bs.load("small_lm_runs"))
    changes = {}
    for scheme, rows in tables.items():
        law = bs.laws.Coupled(run_effects=laws[scheme].run_effects, size_effects=False)
        sizes, source = rows["parameters"], rows.attrs["source"]
        lower = rows["loss"] - LOWER * (sizes == sizes.max())
        of_scheme = {
            page.COUPLED: (law, rows),
            page.REPORTED: (laws[scheme], rows),
            "offsets": (bs.laws.Offsets(**law.options), rows),
            "normal noise": (replace(law, noise="normal"), rows),
            "one sigma": (replace(law, scatter="one"), rows),
            SMALLEST: (law, rows[sizes > sizes.min()]),
            LARGEST: (law, rows[sizes < sizes.max()]),
            SECOND_HALF: (law, second_half(rows)),
            f"largest size {LOWER} nats lower": (law, rows.assign(loss=lower)),
        }
        if not law.run_effects:
            of_scheme[page.NO_EFFECTS] = bs.laws.Chinchilla(size_effects=False), rows
            of_scheme["effects of sizes"] = bs.laws.Coupled(size_effects=True), rows
        for name, (changed_law, some) in of_scheme.items():
            table = some.reset_index(drop=True)
            table.attrs["source"] = source if some is rows else f"{source}, {name}"
            changes[scheme, name] = changed_law, table
    changes[page.ONE_RATE, RATES] = changes[page.ONE_RATE, page.COUPLED][0], with_best_rates(tables, 3)
    runs = bs.load("small_lm_rates")
    best = runs.groupby(["parameters", "tokens"])["loss"].transform("min") == runs["loss"]
    at_one = {f"rate {rate:g} for all sizes": runs["learning_rate_peak"] == rate for rate in ONE_RATES}
    for name, chosen in {"best rates": best, **at_one}.items():
        table = runs[chosen & (runs["batch_tokens"] == runs["batch_tokens"].min())].reset_index(drop=True)
        table.attrs["source"] = f"small_lm_rates, {name}"
        changes["small_lm_rates", name] = bs.laws.Coupled(size_effects=False), table
    return changes


def second_half(rows):
    """Select the rows of each size on at least half of its most tokens."""
    most = rows.groupby("parameters")["tokens"].transform("max")
    return rows[rows["tokens"] >= most / 2]


def with_best_rates(tables, count):
    """Take the runs of the smallest sizes from the scheme of best rates, those of the others from that of one rate."""
    smallest = sorted(tables[page.ONE_RATE]["parameters"].unique())[:count]
    parts = [
        rows[rows["parameters"].isin(smallest) == (scheme == page.BEST_RATE)]
        for scheme, rows in tables.items()
        if scheme in (page.ONE_RATE, page.BEST_RATE)
    ]
    table = pd.concat(parts, ignore_index=True)
    table.attrs["source"] = f"small_lm_runs, {page.ONE_RATE} and {page.BEST_RATE}"
    return table


@register("the fitted floor of small language models with one thing changed", lambda: list(_changes().values()), seed=1,
          target_accept=0.99, copies=50, copy=QUICK)  # fmt: skip
def small_models_changed(parts, *, copies, copy, **options):
    """Fit the floor of every scheme with one thing changed at a time, and of copies that each change simulates."""
    entries, elpd = {}, {}
    for of, (law, rows) in _changes().items():
        name = ", ".join(of)
        fit = parts.fit(name, lambda law=law, rows=rows: bs.fit(law, rows, **options))
        entries[name] = page.compared_floor(fit, float(rows["irreducible_loss"].iloc[0])) | {
            "ok": fit.diagnostics["ok"]
        }
        if of[1] in COPIED:
            out = parts.path(f"{name}, copies.nc")
            E = intervals.entries(calibrate_copies(fit, rows, simulations=copies, out=out, **copy).table())["E"]
            entries[name]["copies"] = {"simulations": copies} | {key: E[key] for key in OF_COPIES}
        if of[1] in (page.COUPLED, page.REPORTED):
            elpd[of] = fit.loo().elpd_i.values
    differences = {scheme: elpd[scheme, page.COUPLED] - elpd[scheme, page.REPORTED] for scheme in _tables()}
    return {
        "changed": entries,
        "coupled_elpd": {
            scheme: {"elpd_diff": float(of.sum()), "dse": float(sum_error(of))} for scheme, of in differences.items()
        },
    }
