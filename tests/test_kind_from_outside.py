"""A kind of table, its answers and a law of it, added from outside of the package."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.datasets import KINDS, Kind, register_kind
from bayescaling.datasets.schemas import POSITIVE, check
from bayescaling.inference import intervals
from bayescaling.inference.forecasts import forecast
from bayescaling.inference.intervals import printed
from bayescaling.inference.kinds import RECORDS, register_answers
from bayescaling.inference.kinds.record import Answer, KindAnswers
from bayescaling.models.arrays import exp, log
from bayescaling.models.laws import LAWS
from typer.testing import CliRunner


def parse(table, changes, columns, where, drop_missing):
    table, headers = HARVESTS.select(table, changes, columns, where, drop_missing)
    return check(table, HARVESTS, label=changes.label, names=headers)


HARVESTS = Kind(
    name="harvests",
    dimension="run",
    parse=parse,
    needed=("rain", "kilos"),
    cells={"rain": POSITIVE, "kilos": POSITIVE},
    aliases={"rain": "rainfall precipitation"},
)


class Dryness(bs.laws.LossLaw):
    """The kilos that a field lacks fall as a power of the rain."""

    name = "dryness"
    kind, observed = "harvests", "kilos"
    kilos_centre = bs.laws.Sampled("LogNormal(0, 1)", "Kilos at the typical rain.", "kilos")
    slope = bs.laws.Sampled("LogNormal(-1, 1)", "From no return to the classical rates.")

    def derive(self, kilos_centre, slope, typical_rain):
        return {"factor": kilos_centre * exp(slope * log(typical_rain))}

    def loss(self, rain, *, factor, slope):
        return factor * exp(-slope * log(rain))


def list_answers(fit):
    yield Answer("slope of the rain", intervals.summary(fit["posterior"]["slope"]), template="Slope {x} ({of}).")


def tabulate_halving(fit, share=0.5):
    q = intervals.summary(share ** (-1 / fit["posterior"]["slope"]))
    return printed(pd.DataFrame({f"to {share:g}": q}).T, "rank", "Times the rain", "Medians.", fit)


NEEDED = "rain needs a fit of the law 'dryness'"
ANSWERS = KindAnswers("harvests", NEEDED, list_answers, tables={"times": tabulate_halving})


@pytest.fixture(scope="module")
def added():
    """The kind, its answers and the law, registered while this file runs."""
    register_kind(HARVESTS)
    register_answers(ANSWERS)
    bs.laws.register(Dryness)
    yield
    del KINDS["harvests"], RECORDS["harvests"], LAWS["dryness"]


@pytest.fixture(scope="module")
def folder(added, tmp_path_factory):
    folder = tmp_path_factory.mktemp("harvests")
    rng = np.random.default_rng(1)
    rain = np.geomspace(10, 1000, 40)
    kilos = 5 * (rain / 100) ** -0.7 * np.exp(0.05 * rng.standard_normal(40))
    pd.DataFrame({"Rainfall": rain, "kilos": kilos}).to_csv(folder / "fields.csv", index=False)
    run("fit", "dryness", "--data", folder / "fields.csv", "--out", folder / "fit.nc", "--draws", 300, "--tune", 300)
    return folder


def run(*arguments):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(x) for x in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_a_table_of_the_kind_is_read_by_its_names_and_its_cells_are_checked(added, tmp_path):
    (tmp_path / "fields.csv").write_text("Rainfall,kilos\n10,1\n20,-2\n", encoding="utf-8")
    with pytest.raises(bs.InputError, match='line 3, column "kilos": found -2, which is not a positive finite'):
        bs.read(tmp_path / "fields.csv", "harvests")
    (tmp_path / "fields.csv").write_text("Rainfall,kilos\n10,1\n20,2\n", encoding="utf-8")
    assert bs.read(tmp_path / "fields.csv", "harvests").columns.tolist() == ["rain", "kilos"]


def test_a_fit_of_the_kind_prints_its_answers_and_its_tables(folder):
    fit = bs.open(folder / "fit.nc")
    slope = fit["posterior"]["slope"]
    assert float(slope.quantile(0.01)) < 0.7 < float(slope.quantile(0.99))
    printed, document = run("show", folder / "fit.nc"), json.loads(run("show", folder / "fit.nc", "--json"))
    assert "slope of the rain" in printed and f"show {folder / 'fit.nc'} --table all" in printed.replace("\n", " ")
    assert document["answers"]["slope of the rain"]["q50"] == pytest.approx(float(slope.median()))
    assert fit.summary().quote[0].startswith("Slope 0.7") or fit.summary().quote[0].startswith("Slope 0.6")
    table = json.loads(run("show", folder / "fit.nc", "--table", "times", "--json"))
    assert table["times"]["to 0.5"]["q50"] == pytest.approx(float((2 ** (1 / slope)).median()))


def test_a_fit_of_the_kind_has_a_report(folder, tmp_path):
    document = bs.report(tmp_path, {"mine": bs.open(folder / "fit.nc")})
    entry, (answer,) = document["laws"]["mine"], document["answers"]
    assert entry["tables"]["times"]["to 0.5"]["q50"] > 0 and answer["answer"].startswith("Slope 0.")
    assert "What do these harvests show?" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fit: fit.allocate(1e20), "a fit of dryness has no compute-optimal size"),
        (lambda fit: bs.scores.ranks(fit), "is a fit of dryness; ranks need a fit of horizons or scores"),
        (lambda fit: bs.progress.yearly_gain(fit), "is a fit of dryness; horizons need a fit of"),
        (
            lambda fit: forecast(fit, "2027-01"),
            "is a fit of dryness; forecasts are of horizons, runs, scores and values",
        ),
        (lambda fit: fit.law.usual_table(), "there is no built-in table of harvests; give a table"),
    ],
)
def test_what_the_kind_does_not_have_is_refused_in_words(folder, ask, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bs.InputError, match=message):
        ask(bs.open(folder / "fit.nc"))
    assert not list(tmp_path.iterdir())


def test_another_kind_of_the_name_is_refused():
    with pytest.raises(bs.InputError, match='there is a kind of table called "runs" already'):
        register_kind(Kind("runs", "run", parse))
