"""What the command, the figure, the summary and a report show of a fit of the law of horizons."""

import json
import warnings

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.commands.cli import app
from bayescaling.inference.words import durations, months
from bayescaling.models.draws import DRAWS
from typer.testing import CliRunner

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def path(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "horizons.nc"
    fit.save(path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(x) for x in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_prints_what_the_functions_return(fit, path):
    document = json.loads(run("show", path, "--table", "all", "--json"))
    table, days = bs.horizons.summary(fit), bs.progress.doubling_days(fit)
    for (model, share), row in table.iterrows():
        assert document["minutes"][model][f"{share:g}"]["q50"] == pytest.approx(row["q50"])
    assert document["doubling_days"]["all"]["q97.5"] == pytest.approx(days.loc["all", "q97.5"])
    assert set(document["dates_reached"]) == {"a working day", "a week of work", "a month of work"}
    printed = run("show", path, "--table", "all")
    assert durations(table.iloc[0]) in printed and "Days in which time horizons double" in printed


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_fits_follow_each_other(fit, path, tmp_path):
    other = tmp_path / "no-trend.nc"
    law = bs.laws.Horizons(trend=None, noise="binomial", family_effects=False, estimates=False)
    bs.fit(law, fit.rows, seed=1, draws=200, tune=300).save(other)
    documents = json.loads(run("show", path, other, "--table", "all", "--json"))
    assert list(documents) == [str(path), str(other)] and "doubling_days" not in documents[str(other)]
    printed = run("show", path, other, "--table", "all")
    for document in documents.values():
        assert durations(next(iter(document["minutes"].values()))["0.5"]) in printed


def test_ranks_are_those_of_the_draws_counted_one_by_one(fit, path):
    horizons = fit["posterior"]["horizon"]
    flat = horizons.values.reshape(-1, horizons.sizes["model"])
    ranks, better = bs.scores.ranks(fit), bs.scores.above(fit)
    for i, model in enumerate(horizons["model"].values):
        places = [1 + sum(other > draw[i] for other in draw) for draw in flat]
        assert ranks.loc[model, ["q2.5", "q50", "q97.5"]].tolist() == np.quantile(places, [0.025, 0.5, 0.975]).tolist()
        assert ranks.loc[model, "p_best"] == np.mean(np.array(places) == 1)
        chances = [np.mean(flat[:, i] > flat[:, j]) for j in range(flat.shape[1]) if j != i]
        np.testing.assert_array_equal(better.sel(model=model).dropna("other"), chances)
        assert ranks.loc[model, "similar"] == sum(0.05 < p < 0.95 for p in chances)
    document = json.loads(run("show", path, "--table", "ranks", "--json"))
    assert document["ranks"][ranks.index[0]]["q50"] == ranks["q50"].iloc[0]
    assert document["p_above"][ranks.index[0]][ranks.index[1]] == ranks["p_above_next"].iloc[0]
    assert ranks.index[0] in run("show", path, "--table", "ranks")


def test_ranks_of_a_law_of_losses_are_refused(fit_default):
    with pytest.raises(bs.InputError, match="ranks need a fit of horizons or scores"):
        bs.scores.ranks(fit_default)


def test_the_summary_quotes_the_doubling_time_and_the_latest_model(fit):
    text = " ".join(fit.summary().quote)
    assert fit.diagnostics["ok"] and "Time horizons double in" in text
    assert bs.horizons.summary(fit).index[0][0] in text


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_the_figure_has_the_numbers_of_the_functions(fit, backend):
    picture = bs.plot_horizons(fit, backend=backend)
    minutes = bs.horizons.minutes(fit, 0.5).isel(share=0).median(DRAWS)
    drawn = picture.table.query("series == 'with successes'")["y"] if "series" in picture.table else picture.table["y"]
    solved = bs.horizons.summary(fit, [0.5])["solved"].droplevel("share")
    expected = minutes.sel(model=[name for name in minutes["model"].values if solved[name] > 0]).values
    assert set(np.round(expected, 6)) <= set(np.round(drawn.dropna().to_numpy(), 6))
    assert picture.finding.startswith("Time horizons double every ")


def test_a_report_answers_with_the_doubling_time_and_the_latest_horizon(fit, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = bs.report(tmp_path, {"horizons": fit})
    doubling, latest = document["answers"]
    tables = document["laws"]["horizons"]["tables"]
    assert doubling["number"] == months(tables["doubling_days"]["all"])
    first = bs.horizons.summary(fit).index[0][0]
    assert first in latest["answer"] and latest["number"] == durations(tables["minutes"][first]["0.5"])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "When the mean horizon" in page and "Days in which time horizons double" in page
