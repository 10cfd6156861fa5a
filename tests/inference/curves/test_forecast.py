"""Losses to come of a run in flight: under schedules, against a loss to beat, and the same on every surface."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.datasets.schedules import RateSchedule
from bayescaling.inference.curves.forecast import BEYOND, OTHER, UNSEEN
from bayescaling.models.curves.areas import areas
from bayescaling.models.draws import DRAWS
from typer.testing import CliRunner

RUN, COSINE = "100M cosine_24000", "cosine:peak=3e-4,warmup=2160,final=3e-5"
LINEAR = "linear:peak=3e-4,warmup=2160,from=20000,final=3e-5"


@pytest.fixture(scope="module")
def readings():
    curves = bs.load("schedule_curves")
    return curves[(curves["run"] == RUN) & (curves["step"] < 12_000)]


@pytest.fixture(scope="module")
def fit(readings):
    return bs.fit("curve", readings, seed=1, check=False)


def test_a_rate_that_falls_ends_below_one_that_is_held(fit):
    table = bs.curves.forecast(fit, 24_000, schedule=COSINE)
    soon = next(name for name in table.index if name.startswith("if it falls now"))
    assert table.loc["at the end", "q97.5"] < table.loc["if the rate is held", "q2.5"]
    assert table.loc[soon, "clock"] == pytest.approx(1.2 * fit.rows["clock"].iloc[-1])
    assert table.loc["at the end", "q2.5"] < 2.978 < table.loc["at the end", "q97.5"]
    held = bs.curves.forecast(fit, 24_000, schedule="held")
    assert held.loc["at the end"].equals(held.loc["if the rate is held"])
    stated = bs.curves.forecast(fit, 24_000, schedule="constant:peak=2,final=0")
    low, high = (x.loc["if the rate is held", ["q2.5", "q50"]] for x in (held, stated))
    np.testing.assert_allclose(low.astype(float), high.astype(float))


def test_a_rate_that_has_fallen_falls_from_where_it_is(readings):
    table = bs.load("schedule_curves")
    whole = table[table["run"] == RUN]
    late = bs.fit("curve", whole[whole["clock"] < 20_000], seed=1, check=False)
    rate, clock = (float(late.rows[name].iloc[-1]) for name in ("rate", "clock"))
    assert rate < 0.35
    soon = next(row for name, row in bs.curves.forecast(late, 24_000).iterrows() if name.startswith("if it falls now"))
    here = bs.curves.losses(late, 1.2 * clock, schedule="held")[1][..., -1]
    assert soon["q50"] < float(here.median())
    fall = late["posterior"]["anneal"] * late["posterior"]["loss_centre"] * (rate - 0.1)
    assert float(here.median()) - soon["q50"] < float(fall.median())


def test_a_log_that_begins_in_the_middle_of_a_fall_falls_on(readings):
    fit = bs.fit("curve", readings[readings["step"] > 6_000], seed=1, check=False)
    printed, stated = bs.curves.forecast(fit, 24_000), bs.curves.forecast(fit, 24_000, schedule=COSINE)
    assert printed.loc["at the end", "q50"] == pytest.approx(stated.loc["at the end", "q50"], abs=2e-3)
    assert "cosine, to 10% of its peak" in " ".join(str(printed).split())
    assert printed.loc["at the end", "q2.5"] < 2.978 < printed.loc["at the end", "q97.5"]


def test_rates_fall_on_as_they_were_logged(fit):
    printed, stated = bs.curves.forecast(fit, 24_000), bs.curves.forecast(fit, 24_000, schedule=COSINE)
    assert printed.loc["at the end", "q50"] == pytest.approx(stated.loc["at the end", "q50"], abs=3e-4)
    assert "falls on as logged: cosine, to 10% of its peak" in str(printed) and "as logged" not in str(stated)
    later = bs.curves.forecast(fit, 60_000)
    assert "The last rate is held" in str(later) and later.index[1] == "at the end, falling from now"
    held = bs.curves.forecast(fit, 60_000, schedule="held").loc["at the end"]
    assert later.loc["at the end, rate held"].equals(held)


def test_a_rate_that_was_held_has_two_ends_and_no_strong_answer():
    """A simulated run under WSD, cut before its fall: its end is that of a fall, not of the rate that was logged."""
    law, steps = bs.laws.Curve(), np.arange(100, 20_001, 100.0)
    wsd = RateSchedule("linear:peak=1,warmup=500,from=16000,final=0.1").rates(steps, 20_000)
    losses = 2.6 + 9.0 * (areas(steps, wsd)[0] + 200) ** -0.3 - 0.09 * areas(steps, wsd)[1]
    losses += 0.004 * np.random.default_rng(1).standard_normal(len(steps))
    log = bs.read(pd.DataFrame({"step": steps, "loss": losses, "lr": 3e-4 * wsd})[:130], "curves")
    fit = bs.fit(law, log, seed=1, draws=300, tune=500)
    table = bs.curves.forecast(fit, 20_000)
    held, falling = (table.loc[f"at the end, {how}"] for how in ("rate held", "falling from now"))
    assert table.index[0] == "at the end, rate held" and held["clock"] == falling["clock"] == 20_000
    assert falling["q2.5"] < losses[-1] < falling["q97.5"] < held["q50"] and losses[-1] < held["q2.5"]
    text = " ".join(str(table).split())
    assert (
        "The rate was held until now and is taken as held to the end" in text and "the rate to come is guessed" in text
    )
    assert table.attrs["standing"]["strength"] != "strong"
    stated = bs.curves.forecast(fit, 20_000, schedule="linear:peak=3e-4,warmup=500,from=16000,final=3e-5")
    assert stated.index[0] == "at the end" and "guessed" not in str(stated)
    for schedule in ("held", "constant:peak=3e-4"):
        row = bs.curves.forecast(fit, 20_000, schedule=schedule).loc["at the end"]
        assert row["q50"] == pytest.approx(held["q50"], abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*taken as constant")
def test_rates_that_were_not_logged_are_named_in_the_answer(readings):
    fit = bs.fit("curve", bs.read(readings[["run", "step", "loss"]], "curves"), draws=500, tune=500)
    printed = " ".join(str(bs.curves.forecast(fit, 24_000)).split())
    assert "No rates were logged, and they are taken as constant" in printed
    assert "No rates" not in str(bs.curves.forecast(fit, 24_000, schedule="held"))


def test_what_is_left_to_gain_is_the_fall_until_the_end(fit):
    _, ahead = bs.curves.losses(fit, 24_000, schedule=COSINE)
    left = bs.curves.forecast(fit, 24_000, schedule=COSINE).loc["what is left to gain"]
    assert left["q50"] == pytest.approx(float((ahead[..., 0] - ahead[..., -1]).median()))
    width = float(ahead[..., 0].std())
    assert width < 0.2 * float(ahead[..., -1].std())
    assert float(ahead[..., 0].median()) == pytest.approx(fit.rows["loss"].iloc[-1], abs=5 * width)


def test_the_errors_of_the_law_on_other_curves_widen_it(fit):
    clock, ahead = bs.curves.losses(fit, 24_000, schedule=COSINE)
    last = fit.rows.iloc[-1]
    loss, gain = fit.draws.ahead(RUN, *(np.array([x]) for x in (14_000.0, 0.9, clock[-1])), np.random.default_rng(1))
    fall = float((fit["posterior"]["anneal"] * fit["posterior"]["loss_centre"]).mean()) * (0.9 - last["annealed"])
    assert float(gain.mean()) == pytest.approx(fall, rel=1e-3)
    added = np.hypot(fall * UNSEEN, 3 * BEYOND * np.log(clock[-1] / clock[0]))
    assert float(ahead[..., -1].std()) == pytest.approx(np.hypot(float(loss.std()), added), rel=0.1)


def test_another_run_of_the_model_needs_its_schedule(fit):
    with pytest.raises(bs.InputError, match="of another run of the model give its schedule"):
        bs.curves.forecast(fit, 24_000, run="next")
    clock, ahead = bs.curves.losses(fit, 24_000, schedule=LINEAR, run="next")
    assert clock[-1] == 24_000 and (np.diff(ahead.median(DRAWS)[len(clock) // 10 :]) < 0.003).all()
    table = bs.curves.forecast(fit, 24_000, schedule=LINEAR, run="next")
    assert table.index.tolist() == ["at the end"]
    assert table.loc["at the end", "q50"] == pytest.approx(2.954, abs=0.03)


def test_what_a_fall_removes_is_known_of_other_runs_once_the_rate_of_one_fell():
    curves, gains = bs.load("schedule_curves"), []
    for last in (11_000, 24_000):
        readings = curves[(curves["run"] == RUN) & (curves["step"] < last)]
        fit = bs.fit("curve", readings, seed=1, draws=500, tune=700, check=False)
        clock, ahead = bs.curves.losses(fit, 24_000, schedule=LINEAR, run="next")
        area, annealed = areas(clock, RateSchedule(LINEAR).rates(clock, 24_000))
        of_law, gain = fit.draws.ahead(None, area[-1:], annealed[-1:], clock[-1:], np.random.default_rng(2))
        farther = 3 * BEYOND * np.log(max(24_000 / fit.rows["clock"].iloc[-1], 1))
        mean, sd = OTHER if last == 24_000 else (0.0, UNSEEN)
        gains.append(float(gain.mean()))
        assert float(ahead[..., -1].mean() - of_law.mean()) == pytest.approx(mean * gains[-1], abs=0.004)
        expected = np.sqrt(float(of_law.var()) + (sd * gains[-1]) ** 2 + farther**2)
        assert float(ahead[..., -1].std()) == pytest.approx(expected, rel=0.1)
    assert min(gains) > 0.05


def test_the_probability_of_a_lower_loss_is_a_share_of_draws(fit):
    _, ahead = bs.curves.losses(fit, 24_000, schedule=COSINE, seed=3)
    table = bs.curves.forecast(fit, 24_000, schedule=COSINE, below=2.98, seed=3)
    assert table.loc["at the end", "p_below"] == float((ahead[..., -1] < 2.98).mean())
    with pytest.raises(bs.InputError, match="below must be a loss"):
        bs.curves.forecast(fit, 24_000, below=-1)


def test_a_run_that_has_ended_and_other_laws_are_refused(fit, fit_default):
    with pytest.raises(bs.InputError, match="has readings beyond"):
        bs.curves.forecast(fit, 9_000)
    with pytest.raises(bs.InputError, match="has come to 12k steps; an end at 24B is too far, give it in steps"):
        bs.curves.forecast(fit, 24e9)
    with pytest.raises(bs.InputError, match="fit of chinchilla; "):
        bs.curves.forecast(fit_default, 24_000)


def test_tokens_are_a_clock_too(readings):
    tokens = readings.assign(tokens=readings["step"] * 1e6).drop(columns=["step", "clock"])
    fit = bs.fit("curve", bs.read(tokens, kind="curves"), seed=1, draws=300, tune=500, check=False)
    table = bs.curves.forecast(fit, 24e9, schedule="cosine:peak=3e-4,warmup=2.16e9,final=3e-5")
    assert table.loc["at the end", "q50"] == pytest.approx(2.98, abs=0.03)
    assert "At 24B tokens" in " ".join(str(table).split())


@pytest.mark.filterwarnings("ignore:.*rates were logged")
def test_every_surface_has_one_interval(readings, tmp_path):
    log, path = tmp_path / "log.csv", tmp_path / "fit.nc"
    readings[["run", "step", "rate", "loss"]].to_csv(log, index=False)
    fit = bs.fit("curve", bs.read(log, kind="curves"), seed=1, check=False)
    row = bs.curves.forecast(fit, 24_000, schedule=COSINE, below=2.98).loc["at the end"]
    arguments = ["curve", str(log), "--until", "24000", "--schedule", COSINE, "--below", "2.98"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["loss"]["at the end"] == row.to_dict()
    words = f"{row['q50']:.3f} [{row['q2.5']:.3f}, {row['q97.5']:.3f}]"
    assert words in CliRunner().invoke(app, arguments).output
    assert words in bs.plot_curve(fit, 24_000, schedule=COSINE).finding
    fit.save(path)
    again = bs.curves.forecast(bs.open(path), 24_000, schedule=COSINE, below=2.98).loc["at the end"]
    assert again.equals(row)
