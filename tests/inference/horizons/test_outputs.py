"""What the command, the figure, the summary and a report show of a fit of the law of horizons."""

import json
import warnings

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.commands.cli import app
from bayescaling.inference.words import durations
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
    return result.output


def test_the_command_prints_what_the_functions_return(fit, path):
    document = json.loads(run("horizons", path, "--json"))
    table, days = bs.horizons.summary(fit), bs.horizons.doubling_days(fit)
    for (model, share), row in table.iterrows():
        assert document["minutes"][model][f"{share:g}"]["q50"] == pytest.approx(row["q50"])
    assert document["doubling_days"]["all"]["q97.5"] == pytest.approx(days.loc["all", "q97.5"])
    assert set(document["dates_reached"]) == {"a working day", "a week of work", "a month of work"}
    printed = run("horizons", path)
    assert durations(table.iloc[0]) in printed and "days in which the horizon doubles" in printed


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


def test_a_report_answers_with_the_longest_horizon(fit, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = bs.report(tmp_path, {"horizons": fit})
    (answer,) = document["answers"]
    entry = document["laws"]["horizons"]
    best = max(entry["models"], key=lambda name: entry["models"][name]["0.5"]["q50"])
    assert best in answer["answer"] and answer["number"] == durations(entry["models"][best]["0.5"])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "When the mean horizon" in page and "Days in which horizons double" in page
