"""Figures: both backends draw the same numbers, titles state quantiles of the draws, files are small and the same."""

import json
import re
import warnings
import xml.etree.ElementTree

import bayescaling as bs
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.checks.calibration import KEY
from bayescaling.inference.checks.sensitivity import power_scalings
from bayescaling.inference.estimands.quoted_loss import loss_off_optimum, quoted_loss
from bayescaling.inference.progress.rate_at_optimum import GrowthAt
from bayescaling.inference.quoted import quote_draws
from bayescaling.inference.words import months, plain, sizes, symbols, yearly
from bayescaling.models.draws import DRAWS
from bayescaling.plots import style, with_matplotlib, with_plotly
from bayescaling.plots.shared import in_words
from bayescaling.plots.with_matplotlib import write

MOST_BYTES = 34 * 1024
BUDGET = 1e24
COSINE = "cosine:peak=3e-4,warmup=2160,final=3e-5"


@pytest.fixture(scope="module", autouse=True)
def closed():
    """Draw figures without a window, and close them."""
    mpl.use("agg")
    with mpl.rc_context({"figure.max_open_warning": 0}):
        yield
    plt.close("all")


def settled(make):
    """Make what short chains are enough for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return make()


@pytest.fixture(scope="module")
def progress_fit(evaluations):
    return settled(
        lambda: bs.fit(bs.law("progress-7", paper_effects=False), evaluations, seed=1, draws=250, tune=300, chains=2)
    )


@pytest.fixture(scope="module")
def rolled_out(runs):
    options = {"seed": 1, "draws": 250, "tune": 300, "chains": 2}
    return settled(lambda: bs.rollout("chinchilla", runs, "compute", [3e20, 1e21], **options))


@pytest.fixture(scope="module")
def counts_fit(lengths_fitter):
    return settled(lambda: lengths_fitter.fit(seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def calibrated(fitter_normal, runs):
    short = {"draws": 150, "tune": 300, "chains": 2}
    return settled(
        lambda: bs.calibrate(fitter_normal.law, runs, truth="prior", simulations=10, fitter=fitter_normal, **short)
    )


@pytest.fixture(scope="module")
def scores_fit(scores_design):
    law = bs.laws.Scores(pace="break", break_year=2024.5)
    return settled(lambda: bs.fit(law, scores_design.table, seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def formula_fit():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(np.exp(rng.uniform(0, 5, (30, 2))), columns=["n", "d"])
    y = (1 + 2 * x["n"] ** -0.5 + 3 * x["d"] ** -0.4) * np.exp(0.01 * rng.standard_normal(30))
    return bs.fit("error ~ E + A * n**-alpha + B * d**-beta", x.assign(error=y), seed=1, draws=500, tune=500)


def test_a_formula_of_two_columns_has_a_panel_for_each_in_both_backends(formula_fit):
    picture = bs.plot_fit.picture(formula_fit)
    assert [panel.x.title for panel in (picture, *picture.panels)] == ["n", "d"]
    rows = picture.table[picture.table["kind"] == "points"]
    assert len(rows) == 60  # the rows in each panel, moved to the centre of the other: near the curve
    curve = picture.layers[1].data
    at = np.interp(np.log(rows["x"][:30]), np.log(curve["x"]), curve["y"])
    np.testing.assert_allclose(rows["y"][:30], at, rtol=0.05)
    axes = bs.plot_fit(formula_fit)
    assert len(axes.figure.axes) == 2 and axes.table.equals(picture.table)
    figure = bs.plot_fit(formula_fit, backend="plotly")
    assert {trace.xaxis for trace in figure.data} == {"x", "x2"}
    assert not bs.plot_fit.picture(formula_fit, along="d").panels


@pytest.fixture(scope="module")
def grouped_fit(runs):
    halves = runs.assign(half=np.where(np.arange(len(runs)) % 2, "odd", "even"))
    law = bs.laws.Grouped(bs.laws.Chinchilla(noise="normal", scatter="one"), "half")
    return settled(lambda: bs.fit(law, halves, seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def horizons_fit():
    table = bs.load("weirdml")
    few = table["model"].isin(table["model"].unique()[::8]) & table["threshold"].isin([50, 90])
    law = bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False)
    return settled(lambda: bs.fit(law, table[few], seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def trend_fit():
    compute = bs.load("training_compute")
    largest = compute[compute["larger_before"] < 10]
    return settled(lambda: bs.fit(bs.laws.Trend(), largest, seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def curve_fit():
    curves = bs.load("schedule_curves")
    readings = curves[(curves["run"] == "100M cosine_24000") & (curves["step"] < 12_000)]
    return settled(lambda: bs.fit("curve", readings, seed=1, draws=250, tune=300, chains=2))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Folder with a log of three runs: one that diverged, one that resumed, and one whose process was killed."""
    lines = [{"run": run, "step": s, "loss_train": 9 / s, "tokens": 64 * s} for run in "abc" for s in range(1, 900)]
    lines += [{"run": "a", "step": 900, "loss_train": None, "tokens": 57_600}, {"run": "a", "status": "diverged"}]
    lines += [{"run": "b", "step": 899, "loss_train": 0.002, "tokens": 57_536}, {"run": "b", "status": "finished"}]
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"run": "c", "st', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def figures(
    log,
    fit_default,
    fit_one_sigma,
    progress_fit,
    rolled_out,
    counts_fit,
    calibrated,
    scores_fit,
    grouped_fit,
    horizons_fit,
    trend_fit,
    curve_fit,
    formula_fit,
):
    """The picture of each figure, before a backend draws it."""
    both = {"by size": fit_default, "one sigma": fit_one_sigma}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bs.Fit, "loo", lambda fit, by=None, **_: loo(fit, by, high_k="none"))
        compared = settled(lambda: bs.compare(both))
    designed = bs.design(fit_default, budget=1e21, compute=1e23, gate=False)
    functions = {
        "fit": lambda **options: bs.plot_fit(fit_default, **options),
        "ask": lambda **options: bs.plot_ask(formula_fit, "alpha", "beta", **options),
        "isoflop": lambda **options: bs.plot_isoflop(fit_default, **options),
        "valley": lambda **options: bs.plot_valley(fit_default, BUDGET, **options),
        "frontier": lambda **options: bs.plot_frontier(both, **options),
        "allocation": lambda **options: bs.plot_allocation(both, BUDGET, **options),
        "posterior": lambda **options: bs.plot_posterior(both, "alpha", **options),
        "residuals": lambda **options: bs.plot_residuals(fit_default, **options),
        "ppc": lambda **options: bs.plot_ppc(fit_default, **options),
        "rollout": lambda **options: bs.plot_rollout(rolled_out, **options),
        "compare": lambda **options: bs.plot_compare(compared, **options),
        "doubling": lambda **options: bs.plot_doubling(progress_fit, **options),
        "lengths": lambda **options: bs.plot_lengths(counts_fit, **options),
        "intervals": lambda **options: bs.plot_intervals(
            {"first": (1.0, 2.0, 3.0), "second": (2.0, 4.0, np.inf)}, "Time (months)", source="Data: mine", **options
        ),
        "learning": lambda **options: bs.plot_learning(log, **options),
        "calibration": lambda **options: bs.plot_calibration(calibrated, **options),
        "sensitivity": lambda **options: bs.plot_sensitivity(fit_default, **options),
        "progress": lambda **options: bs.plot_progress(progress_fit, **options),
        "capability": lambda **options: bs.plot_capability(scores_fit, **options),
        "horizons": lambda **options: bs.plot_horizons(horizons_fit, **options),
        "trend": lambda **options: bs.plot_trend(trend_fit, **options),
        "ranks": lambda **options: bs.plot_ranks(horizons_fit, **options),
        "since": lambda **options: bs.plot_since(scores_fit, **options),
        "reconcile": lambda **options: bs.plot_reconcile(fit_default, **options),
        "groups": lambda **options: bs.plot_groups(grouped_fit, **options),
        "worth": lambda **options: bs.plot_worth(grouped_fit, "odd", **options),
        "design": lambda **options: bs.plot_design(designed, **options),
        "curve": lambda **options: bs.plot_curve(curve_fit, 24_000, schedule=COSINE, **options),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(with_matplotlib, "draw", lambda picture, ax: picture)
        return {name: make() for name, make in functions.items()}


loo = bs.Fit.loo
SOURCES = tuple(style.PUBLISHED)
NAMES = [name.removeprefix("plot_") for name in bs.__all__ if name.startswith("plot_")]


def test_every_figure_is_tested(figures):
    assert sorted(figures) == sorted(NAMES)


TWICE = ("fit", "valley", "lengths", "horizons")  # written again: lines, bands, points and names
OF_NO_FIT = {"calibration", "compare", "design", "intervals", "learning", "rollout", "sensitivity"}  # or of no interval


def test_a_figure_of_intervals_names_a_law_that_the_rows_reject(figures, fit_default, grouped_fit, trend_fit, runs):
    rejecting = {name for name, picture in figures.items() if "; the rows reject" in picture.title}
    assert fit_default.check()["verdict"] != "fits" != grouped_fit.check()["verdict"]
    # Whether these are depends on the check of their rows.
    by_fit = {"ask", "horizons", "ranks", "capability", "since", "trend", "lengths", "curve"}
    assert set(NAMES) - OF_NO_FIT - by_fit - {"residuals"} <= rejecting
    assert ("trend" in rejecting) == (trend_fit.check()["verdict"] != "fits") and not rejecting & OF_NO_FIT
    some = runs.iloc[::12]
    fits = settled(lambda: bs.fit("chinchilla", some, seed=1, draws=250, tune=300, chains=2))
    assert fits.check()["verdict"] == "fits" and "reject" not in bs.plot_posterior(fits, "alpha").finding
    both = bs.plot_posterior({"all": fit_default, "some": fits}, "alpha")
    assert both.finding.endswith('; the rows reject the law of "all"')


def points(series, names):
    """Finite points of a series, rows of the given columns."""
    values = series[list(names)].to_numpy(float)
    return values[np.isfinite(values).all(1)]


def drawn_with_matplotlib(axes):
    lines = [np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float) for line in axes.lines]
    fills = [path.vertices for collection in axes.collections for path in collection.get_paths()]
    return np.concatenate([*lines, *fills])


def drawn_with_plotly(figure):
    return np.concatenate([np.column_stack([trace.x, trace.y]).astype(float) for trace in figure.data])


def holds(places, wanted):
    """Whether each wanted point is among those that were drawn."""
    scale = np.maximum(np.abs(wanted), 1e-12)
    return all((np.abs(places - point) <= 1e-9 * s).all(1).any() for point, s in zip(wanted, scale, strict=True))


def names_of_rows(axes, names):
    """Texts that name the rows of a forest, in the order of their rows."""
    places = {text.get_text(): text.xy[1] for text in axes.texts if text.get_text() in names}
    return sorted(places, key=places.get)


@pytest.mark.parametrize("name", NAMES)
def test_both_backends_draw_every_number_of_the_table(figures, name):
    axes, figure = with_matplotlib.draw(figures[name]), with_plotly.draw(figures[name])
    assert axes.table.equals(figure.table) and axes.table.equals(figures[name].table)
    assert (axes.finding, axes.caption) == (figure.finding, figure.caption)
    assert figure.layout.meta["caption"] == figure.caption
    for places in (drawn_with_matplotlib(axes), drawn_with_plotly(figure)):
        for kind, series in axes.table.groupby("kind"):
            columns = {"band": ("x", "low"), "upright": ("x", "high"), "level": ("low", "y")}.get(kind, ("x", "y"))
            assert holds(places, points(series, columns)), kind
    shown = [text.get_text() for text in (axes.get_legend().get_texts() if axes.get_legend() else [])]
    assert shown == [trace.name for trace in figure.data if trace.showlegend]
    for which in "xy":
        axis = figure.layout[f"{which}axis"]
        ends = 10 ** np.array(axis.range) if axis.type == "log" else axis.range
        np.testing.assert_allclose(getattr(axes, f"get_{which}lim")(), ends)
        if axis.ticktext:
            ticks = [tick.get_text() for tick in getattr(axes, f"get_{which}ticklabels")()]
            named = figures[name].y.names if which == "y" else ()  # above their rows, not next to the axis
            assert (names_of_rows(axes, named) if named else ticks) == list(axis.ticktext)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_small_and_the_same_each_time(figures, name, tmp_path):
    texts = []
    for i in range(2 if name in TWICE else 1):
        axes = with_matplotlib.draw(figures[name])
        write(axes.figure, tmp_path / f"{i}.svg")
        texts.append((tmp_path / f"{i}.svg").read_text(encoding="utf-8"))
    assert texts[0] == texts[-1]
    assert len(texts[0].encode()) <= MOST_BYTES
    first = " ".join(axes.get_title(loc="left").split("\n"))
    assert first == axes.finding and len(axes.finding) <= 230
    elements = list(xml.etree.ElementTree.fromstring(texts[0]).iter())
    names = {element.get("id") for element in elements} - {None}
    assert len(names) == sum(element.get("id") is not None for element in elements)
    used = re.findall(r'(?:href="#|url\(#)(\w+)', texts[0])
    assert used and set(used) <= names


# What titles state ----------------------------------------------------------------------------------------------------


def test_curves_are_the_last_lines_of_each_step_of_a_log(log):
    axes = bs.plot_learning(log / "log.jsonl")
    assert axes.finding == "The lowest training loss of 3 runs is 0.002, after 58k tokens; 2 are finished"
    assert "Red ones diverged, 1 of them" in axes.caption
    for run, curve in axes.table.groupby("series"):
        assert curve["x"].is_monotonic_increasing and 12 <= len(curve) <= 300
        assert curve["y"].iloc[-1] == (0.002 if run == "b" else 9 / 899) and curve["y"].iloc[0] == 9


@pytest.mark.parametrize(
    ("text", "message"), [(None, "no log that can be read"), ('{"run": "a", "status": "diverged"}', "has no loss yet")]
)
def test_a_log_without_losses_is_refused(text, message, tmp_path):
    if text is not None:
        (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(bs.InputError, match=message):
        bs.plot_learning(tmp_path)


def test_the_title_of_a_valley_is_what_an_allocation_gives(fit_default):
    axes = bs.plot_valley(fit_default, BUDGET, tolerance=0.005)
    at = fit_default.allocate(BUDGET, near_optimal=0.005).isel(compute=0)
    assert in_words(at["parameters"].quantile([0.025, 0.5, 0.975], DRAWS), sizes) in axes.finding
    low, high = float(at["near_low"]), float(at["near_high"])
    assert f"{bs.inference.words.size(low)} to {bs.inference.words.size(high)} parameters" in axes.finding
    median = axes.table[(axes.table["series"] == "excess loss, median") & (axes.table["kind"] == "line")]
    # At the ends themselves the search for them decides.
    median = median[(np.abs(np.log(median["x"].to_numpy()[:, None] / [low, high])) > 1e-3).all(1)]
    assert ((median["y"] <= 0.005) == median["x"].between(low, high)).all() and median["x"].between(low, high).any()


def test_an_interval_of_a_frontier_is_the_one_that_is_quoted(fit_default):
    axes = bs.plot_frontier(fit_default, [1e20, BUDGET], show="parameters", level=0.8)
    draws = fit_default.allocate(BUDGET)["parameters"]
    assert in_words(draws.quantile([0.1, 0.5, 0.9], DRAWS).values[:, 0], sizes) in axes.finding
    last = axes.table[(axes.table["x"] == BUDGET) & (axes.table["kind"] == "band")].iloc[0]
    np.testing.assert_allclose(last[["low", "high"]].astype(float), draws.quantile([0.1, 0.9], DRAWS).values[:, 0])


def test_an_allocation_ends_in_its_widest_interval(fit_default):
    axes = bs.plot_allocation(fit_default, BUDGET)
    rows = axes.table[axes.table["kind"] == "level"]
    assert list(rows["series"]) == ["law alone", "robust", "robust, with drift"]
    widths = np.log(rows["high"] / rows["low"]).to_numpy()
    assert (np.diff(widths) > 0).all()
    assert in_words(rows.iloc[-1][["low", "x", "high"]].to_list(), sizes) in axes.finding
    inside = bs.plot_allocation(fit_default, 1e20).table
    assert list(inside[inside["kind"] == "level"]["series"]) == ["law alone", "robust"]


def test_the_title_of_a_posterior_is_of_the_quoted_draws(fit_default):
    axes = bs.plot_posterior(fit_default, "alpha")
    draws = quote_draws(fit_default, fit_default["posterior"]["alpha"])
    low, middle, high = draws.quantile([0.025, 0.5, 0.975], DRAWS).values
    assert f"{middle:.3f} [{low:.3f}, {high:.3f}]" in axes.finding


def test_the_title_of_a_fit_is_the_loss_of_the_best_size(fit_default):
    axes = bs.plot_fit(fit_default)
    budget = 10 * float((6 * fit_default.rows["parameters"] * fit_default.rows["tokens"]).max())
    low, middle, high = fit_default.allocate(budget)["loss"].quantile([0.025, 0.5, 0.975], DRAWS).values[:, 0]
    assert f"{middle:.3f} [{low:.3f}, {high:.3f}]" in axes.finding


def test_the_title_of_a_doubling_time_is_that_of_the_project(progress_fit):
    times = bs.progress.gain_times(progress_fit).loc["all", ["q2.5", "q50", "q97.5"]].to_list()
    assert in_words(times, months) in bs.plot_doubling(progress_fit).finding
    table = bs.progress.doubling_times(progress_fit, compute=1e25, year=2023)
    there = bs.plot_doubling(progress_fit, at=(1e25, 2023)).finding
    assert (
        in_words(table.loc["all", ["q2.5", "q50", "q97.5"]].to_list(), months) in there and "1e25 FLOP in 2023" in there
    )


def test_the_shares_of_checks_are_counted(fit_default, rolled_out, runs):
    low, high = fit_default.predict(fit_default.rows)["loss"].quantile([0.025, 0.975], DRAWS).values
    share = ((runs["loss"] >= low) & (runs["loss"] <= high)).mean()
    assert f"hold {share:.0%} of {len(runs)} fitted runs" in bs.plot_ppc(fit_default).finding
    scores, _ = rolled_out
    for cutoff, row in scores.iterrows():
        finding = bs.plot_rollout(rolled_out, cutoff=cutoff).finding
        assert f"hold {row['coverage_90']:.0%} [" in finding and f"of {row['predicted']:.0f} later rows" in finding


def series(axes, name, kind):
    """Rows of the table of one series."""
    return axes.table[(axes.table["series"] == name) & (axes.table["kind"] == kind)]


def test_ranks_and_coverage_are_those_of_the_calibration(calibrated):
    axes = bs.plot_calibration(calibrated)
    drawn = axes.table[axes.table["kind"] == "line"]
    assert set(drawn["series"]) == {symbols(str(name)) for name in calibrated["quantity"].values}
    ranks = calibrated["rank"].sel(quantity="alpha").values
    one = series(axes, "α", "line")
    at_half = one[one["x"] == 0.5]["y"].item()
    np.testing.assert_allclose(at_half, (ranks < 50).mean() - 0.5)
    coverage = calibrated.table((0.8,))["coverage_80"]
    finding = bs.plot_calibration(calibrated, level=0.8).finding
    assert f"Intervals of 80% hold {coverage.min():.0%} to {coverage.max():.0%}" in finding
    rows = series(bs.plot_calibration(calibrated, show="coverage", level=0.8), "coverage", "level")
    np.testing.assert_allclose(rows["x"], coverage)
    assert (rows["low"] < rows["x"]).all() and (rows["high"] > 0.4).all()


def test_ranks_of_one_truth_are_not_drawn(calibrated):
    record = calibrated.record | {"truth": {"alpha": 0.3}}
    fixed = type(calibrated)(calibrated.data_vars, calibrated.coords, {KEY: json.dumps(record)})
    assert set(bs.plot_calibration(fixed).table["kind"]) == {"line", "level"}
    with pytest.raises(bs.InputError, match="show='coverage'"):
        bs.plot_calibration(fixed, show="ranks")


def test_sensitivities_are_those_of_power_scaling(fit_default):
    axes = bs.plot_sensitivity(fit_default)
    names = [text.get_text() for text in axes.texts]  # the first rows
    entry = power_scalings(fit_default, ["alpha"])["alpha"]
    for side in ("prior", "likelihood"):
        points = series(axes, side, "points")
        np.testing.assert_allclose(points["x"].iloc[names.index("α")], entry[side], atol=1e-6)
    assert list(series(axes, "prior", "points")["x"]) == sorted(series(axes, "prior", "points")["x"], reverse=True)


def test_a_prior_that_decides_is_named(runs):
    law = bs.laws.Chinchilla(noise="normal", scatter="one", priors={"alpha": "LogNormal(-0.7, 0.03)"})
    fit = settled(lambda: bs.fit(law, runs, seed=1, draws=250, tune=300, chains=2))
    finding = bs.plot_sensitivity(fit).finding
    assert "The prior decides part of" in finding and "α" in finding


def test_the_title_of_progress_is_the_loss_at_the_first_and_the_last_year(progress_fit):
    axes, draws = bs.plot_progress(progress_fit, 1e20, benchmark="ptb"), progress_fit.draws
    rows = draws.rows[draws.rows["benchmark"] == "ptb"]
    n, d = (np.exp(np.log(x).mean()) for x in (rows["parameters"], draws.law.tokens(rows)))
    scale = np.sqrt(1e20 / (6 * n * d))
    for year in (rows["year"].min(), rows["year"].max()):
        loss = GrowthAt(draws, year=year, benchmark="ptb").loss(np.log(n * scale), np.log(d * scale))
        loss = quote_draws(progress_fit, xr.DataArray(loss, dims=DRAWS))
        low, middle, high = np.quantile(loss, [0.025, 0.5, 0.975])
        assert f"{middle:.3f} [{low:.3f}, {high:.3f}]" in axes.finding
    near = (np.log(6 * rows["parameters"] * draws.law.tokens(rows) / 1e20).abs() <= np.log(3)).sum()
    assert len(series(axes, "evaluations, 1e20 FLOP", "points").dropna(subset="y")) == near


def test_capabilities_are_drawn_by_date_and_leaders_named(scores_fit):
    axes = bs.plot_capability(scores_fit, label=3)
    middle = bs.scores.capabilities(scores_fit).median(DRAWS)
    best = str(middle["model"].values[int(middle.values.argmax())])
    assert axes.finding.startswith(f"{best} of ") and f"{middle.max().item():.2f}" in axes.finding
    points = axes.table[axes.table["kind"] == "points"]
    np.testing.assert_allclose(np.sort(points["y"]), np.sort(middle.values))
    led = series(axes, "led", "points")
    assert (np.diff(led["y"]) > 0).all() and best in [text.get_text() for text in axes.texts]
    assert 1 <= len(axes.texts) - 1 <= 3  # and the small print


def test_the_fall_of_compute_is_the_ratio_of_gain_and_slope(scores_fit):
    axes = bs.plot_since(scores_fit)
    at = bs.scores.progress_at_fixed_compute(scores_fit)
    for period in ("before", "after"):
        three = at["factor"].sel(period=period).quantile([0.025, 0.5, 0.975], DRAWS).values
        label = {"before": "before July 2024", "after": "after"}[period]
        assert f"{in_words(three, yearly)} {label}" in axes.finding
        points = series(axes, label, "points")
        pairs = {(round(x, 9), round(y, 9)) for x, y in zip(points["x"], points["y"], strict=True)}
        slope = np.log(10) * at["slope"].values.ravel()
        gain = at["gain"].sel(period=period).values.ravel()
        assert len(points) == 150 and pairs <= {(round(x, 9), round(y, 9)) for x, y in zip(slope, gain, strict=True)}
    line = series(axes, "10 times a year", "line").iloc[-1]
    np.testing.assert_allclose(line["y"], line["x"])


def test_the_exponents_of_a_study_are_those_that_are_quoted(fit_default):
    axes = bs.plot_reconcile(fit_default, vocabulary=50_000)
    table = fit_default.study_exponents(vocabulary=50_000).table()
    for basis in ("total", "nonembedding"):
        row = table.loc[(basis, "size")]
        assert f"{row['q50']:.3f} [{row['q2.5']:.3f}, {row['q97.5']:.3f}]" in axes.finding
    assert set(series(axes, "Kaplan et al. 2020", "line")["x"]) == {0.73}


def test_groups_are_drawn_with_the_population(grouped_fit):
    axes = bs.plot_groups(grouped_fit)
    exponents = grouped_fit["posterior"]["exponent_parameters"]
    for name in ("even", "odd"):
        draws = quote_draws(grouped_fit, exponents.sel(group=name))
        assert in_words(draws.quantile([0.025, 0.5, 0.975], DRAWS).values, plain) in axes.finding
    new = grouped_fit.predict_group()["posterior"]["exponent_parameters"].sel(group="new", drop=True)
    new = quote_draws(grouped_fit, new)
    drawn = series(axes, "population", "level")
    np.testing.assert_allclose(drawn[["low", "high"]].iloc[-1], new.quantile([0.025, 0.975], DRAWS).values)
    # E of a group without runs is its prior's alone.
    assert "population" not in set(bs.plot_groups(grouped_fit, "E").table["series"])


def test_the_prior_is_drawn_where_the_posterior_is(fit_default):
    axes = bs.plot_posterior(fit_default, "alpha")
    prior = series(axes, "prior", "line")
    posterior = series(axes, "chinchilla", "line")
    assert prior["y"].max() < posterior["y"].max() / 3
    # The density of alpha's prior, a log-normal, which is nearly flat over the posterior.
    density = np.exp(fit_default.law.prior_of["alpha"].log_density(prior["x"].values))
    np.testing.assert_allclose(prior["y"].iloc[20:-20], density[20:-20], rtol=0.15)
    assert "prior" not in set(bs.plot_posterior(fit_default, "alpha", prior=False).table["series"])


# The loss of models planned -------------------------------------------------------------------------------------------


def test_a_quoted_loss_is_the_predicted_mean_where_nothing_is_added(fit_default, runs):
    some = runs.head(5)
    alone = quoted_loss(fit_default, some["parameters"], some["tokens"], beyond="none", robust=False)
    predicted = fit_default.predict(some, noise=False, beyond="none", robust=False)["loss"]
    np.testing.assert_allclose(alone.transpose(*DRAWS, "point"), predicted.transpose(*DRAWS, "run"), rtol=1e-10)


def test_no_size_has_less_loss_than_the_best(fit_default):
    off = loss_off_optimum(fit_default, BUDGET, np.geomspace(1e9, 1e13, 9))
    assert off.dims == (*DRAWS, "size") and float(off.min()) >= 0
    middle = float(fit_default.allocate(BUDGET)["parameters"].median())
    assert float(loss_off_optimum(fit_default, BUDGET, middle).median()) < 0.005
    at = fit_default.allocate(BUDGET, near_optimal=0.01)
    nearly = loss_off_optimum(fit_default, BUDGET, [at["near_low"].item(), at["near_high"].item()])
    np.testing.assert_allclose(nearly.median(DRAWS), 0.01, atol=5e-5)


# One look, and refusals -----------------------------------------------------------------------------------------------


def test_a_published_source_looks_the_same_everywhere_and_like_no_fit(fit_default):
    looks = [*style.PUBLISHED.values(), style.OTHER]
    assert not {look.colour for look in style.PUBLISHED.values()} & {look.colour for look in style.SERIES}
    assert len({(look.colour, look.dash, look.marker) for look in looks}) == len(looks)
    for figure in (bs.plot_fit, bs.plot_frontier, bs.plot_posterior):
        traces = {trace.name: trace for trace in figure(fit_default, backend="plotly").data if trace.showlegend}
        assert traces["Hoffmann et al. 2022"].line.color == style.PUBLISHED["Hoffmann et al. 2022"].colour
        assert "Hoffmann et al. 2022" not in [
            trace.name for trace in figure(fit_default, backend="plotly", published=False).data
        ]


def test_published_values_are_drawn_next_to_their_table_or_where_they_are_requested(fit_default, progress_fit):
    drawings = {
        "losses": lambda **o: [bs.plot_fit(fit_default, **o), bs.plot_isoflop(fit_default, **o)],
        "loss": lambda **o: [bs.plot_posterior(fit_default, "E", **o)],
        "valley": lambda **o: [bs.plot_valley(fit_default, BUDGET, **o)],
        "frontier": lambda **o: [bs.plot_frontier(fit_default, **o)],
        "allocation": lambda **o: [bs.plot_allocation(fit_default, BUDGET, **o)],
        "exponent": lambda **o: [bs.plot_posterior(fit_default, "alpha", **o)],
        "doubling": lambda **o: [bs.plot_doubling(progress_fit, **o)],
    }

    def published(name, **options):
        return {x for axes in drawings[name](**options) for x in axes.table["series"] if x.startswith(SOURCES)}

    assert all(map(published, drawings))
    with pytest.MonkeyPatch.context() as patch:
        for fit in (fit_default, progress_fit):
            patch.setitem(fit.record["data"], "source", "mine.csv")
        assert not any(map(published, drawings))
        # The constants of a loss are those of its table, whatever is requested.
        assert [name for name in drawings if not published(name, published=True)] == ["losses", "loss"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda fit, progress: bs.plot_fit(progress), "fit of progress-7; sizes and losses of runs need"),
        (lambda fit, progress: bs.plot_frontier([fit, progress]), "fit of progress-7"),
        (lambda fit, progress: bs.plot_doubling(fit), "fit of chinchilla; growth rates need"),
        (lambda fit, progress: bs.plot_lengths(fit), "fit of chinchilla; lengths need"),
        (lambda fit, progress: bs.plot_fit("fit.nc"), "a str is no fit"),
        (lambda fit, progress: bs.plot_frontier([fit, fit]), "two fits are called"),
        (lambda fit, progress: bs.plot_frontier({}), "no fit is given"),
        (lambda fit, progress: bs.plot_frontier(fit, show="size"), "show"),
        (lambda fit, progress: bs.plot_frontier(fit, 1e24), "at least two budgets"),
        (lambda fit, progress: bs.plot_valley(fit, [1e20, 1e21]), "one budget"),
        (lambda fit, progress: bs.plot_valley(fit, -1), "positive FLOP"),
        (lambda fit, progress: bs.plot_fit(fit, sizes=["a"]), "positive parameters"),
        (lambda fit, progress: bs.plot_fit(fit, corpus="c4"), "corpus"),
        (lambda fit, progress: bs.plot_posterior(fit, "alhpa"), "did you mean \"alpha\""),
        (lambda fit, progress: bs.plot_residuals(fit, against="time"), "against"),
        (lambda fit, progress: bs.plot_ppc(fit, level=95), "between 0 and 1"),
        (lambda fit, progress: bs.plot_ppc(fit, backend="bokeh"), "backend"),
        (lambda fit, progress: bs.plot_ppc(fit, backend="plotly", ax=object()), "leave it out"),
        (lambda fit, progress: bs.plot_ppc(fit, theme="drak"), 'did you mean "dark"'),
        (lambda fit, progress: bs.plot_ppc(fit, figsize=5), "figsize must be"),
        (lambda fit, progress: bs.plot_ppc(fit, title=5), "title must be"),
        (lambda fit, progress: bs.plot_rollout(fit), "no rollout"),
        (lambda fit, progress: bs.plot_compare(fit.rows), "no comparison"),
        (lambda fit, progress: bs.plot_doubling(progress, at=1e25), "at must be"),
        (lambda fit, progress: bs.plot_calibration(fit), "a Fit is no calibration"),
        (lambda fit, progress: bs.plot_sensitivity(fit, ["alhpa"]), "did you mean \"alpha\""),
        (lambda fit, progress: bs.plot_sensitivity(fit.rows), "is no fit"),
        (lambda fit, progress: bs.plot_progress(fit), "growth rates need"),
        (lambda fit, progress: bs.plot_progress(progress, -1), "positive FLOP"),
        (lambda fit, progress: bs.plot_progress(progress, benchmark="c4"), "benchmark"),
        (lambda fit, progress: bs.plot_capability(fit), "capabilities need"),
        (lambda fit, progress: bs.plot_since(fit), "capabilities need"),
        (lambda fit, progress: bs.plot_reconcile(progress), "need a law such as chinchilla"),
        (lambda fit, progress: bs.plot_groups(fit), "has no groups"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused_in_one_line(fit_default, progress_fit, call, says):
    with pytest.raises(bs.InputError) as refused:
        call(fit_default, progress_fit)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_rollout_lacks_other_cutoffs_and_levels(rolled_out):
    with pytest.raises(bs.InputError, match="it has 3e"):
        bs.plot_rollout(rolled_out, cutoff=5.0)
    with pytest.raises(bs.InputError, match=r"one of 0\.5"):
        bs.plot_rollout(rolled_out, level=0.95)


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_names_its_data_and_their_date(figures, name):
    light = figures[name]
    assert re.match(r"Data: .+; (fit|fits|drawn) (of|on) \d{4}-\d\d-\d\d", light.source)
    dark = light.themed("dark")
    axes, figure = with_matplotlib.draw(dark), with_plotly.draw(dark)
    assert axes.texts[-1].get_text().replace("\n", " ") == light.source == figure.layout.annotations[-1].text
    assert mpl.colors.to_hex(axes.get_facecolor()) == style.THEMES["dark"].paper == figure.layout.paper_bgcolor
    # Every series can be seen on the paper.
    for theme, picture in (("light", light), ("dark", dark)):
        paper = luminance(style.THEMES[theme].paper)
        for layer in picture.layers:
            ends = sorted((luminance(layer.look.colour), paper))
            assert (ends[1] + 0.05) / (ends[0] + 0.05) > (1.9 if theme == "light" else 2.2), (layer.name, theme)


def luminance(colour):
    """Relative luminance of a colour after WCAG 2."""
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in mpl.colors.to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_a_title_and_a_size_are_as_chosen_and_a_rejected_law_is_named(fit_default, backend):
    shown = bs.plot_ppc(fit_default, title="Mine", figsize=(5, 3), backend=backend)
    assert shown.finding == "Mine; the rows reject the law"
    size = shown.figure.get_size_inches() if backend == "matplotlib" else (shown.layout.width / 96, 3)
    np.testing.assert_allclose(size, (5, 3))
    assert "Mine" in (shown.get_title(loc="left") if backend == "matplotlib" else shown.layout.title.text)


def test_a_table_of_many_sizes_has_few_curves_and_no_grey_runs():
    sizes = np.geomspace(2e7, 2e10, 40).repeat(3)
    tokens = sizes * np.tile([5.0, 20.0, 80.0], 40)
    losses = 1.8 + 480 / sizes**0.34 + 2000 / tokens**0.37
    noise = np.exp(0.004 * np.random.default_rng(0).normal(size=120))
    table = bs.read(pd.DataFrame({"parameters": sizes, "tokens": tokens, "loss": losses * noise}))
    fit = settled(lambda: bs.fit("chinchilla", table, seed=1, draws=150, tune=300, chains=2))
    axes = bs.plot_fit(fit)
    drawn = axes.table[axes.table["series"].str.startswith("runs")]
    assert len(drawn.dropna(subset="y")) == 120 and "runs of other sizes" not in set(drawn["series"])
    names = [text.get_text() for text in axes.get_legend().get_texts() if "N = " in text.get_text()]
    assert len(names) == 5 and names[0] == "N = 20M" and names[-1] == "N = 20B"
    assert axes.texts[-1].get_text().endswith("bands are thinner than their lines")


def test_budgets_of_progress_span_the_evaluations(progress_fit):
    budgets = [text.get_text() for text in bs.plot_progress(progress_fit).get_legend().get_texts()]
    first, *_, last = (float(budget.split()[0]) for budget in budgets)
    assert len(budgets) == 3 and last > 100 * first


def test_a_log_has_a_key_of_sizes_and_the_floor(log, tmp_path):
    assert [text.get_text() for text in bs.plot_learning(log).get_legend().get_texts()] == [
        "diverged", "finished", "training"
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_bytes((log / "log.jsonl").read_bytes())
    (tmp_path / "runs.csv").write_text("run,parameters,irreducible_loss\nb,2000,0.001\n", encoding="utf-8")
    axes = bs.plot_learning(tmp_path)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "diverged", "training", "2k parameters", "floor, 0.001"
    ]  # fmt: skip
    assert set(series(axes, "entropy of the corpus", "line")["y"]) == {0.001}


def test_horizons_have_round_ticks_and_names_that_do_not_overlap(horizons_fit):
    axes = bs.plot_horizons(horizons_fit)
    ticks = [tick.get_text() for tick in axes.get_yticklabels()]
    assert {"15 min", "1 h", "4 h"} <= set(ticks) and not {"60 min", "60 h"} & set(ticks)
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts[:-1]]
    assert len(boxes) > 1
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_an_axes_is_drawn_on(fit_default):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert bs.plot_ppc(fit_default, ax=axes) is axes and axes.get_title(loc="left")
