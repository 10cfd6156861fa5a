import bayescaling as bs
import numpy as np
import pandas as pd
import pytest

UNTIL, SCHEDULE = 24_000, "cosine:peak=3e-4,warmup=2160,final=3e-5"
RUN, CUT = "100M cosine_24000", 14_000
SIZES = pd.DataFrame({"run": ["25M cosine_24000", RUN], "parameters": [25e6, 100e6], "tokens": 20e9})
ENDED = SIZES.assign(loss=[3.28, np.nan])


@pytest.fixture(scope="module")
def fits():
    curves = bs.load("schedule_curves")
    readings = curves[(curves["run"] == RUN) & (curves["step"] < CUT)]
    return {RUN: bs.fit("curve", readings, seed=1, check=False)}


def test_a_run_in_flight_has_the_error_of_its_forecast_and_one_that_has_ended_none(fits):
    table = bs.curves.ends(fits, UNTIL, ENDED, schedule=SCHEDULE, seed=3).set_index("run")
    last = bs.curves.losses(fits[RUN], UNTIL, schedule=SCHEDULE, seed=3)[1][..., -1].values
    assert table.loc[RUN, "loss"] == np.median(last)
    assert table.loc[RUN, "loss_sd"] == pytest.approx(last.std())
    width = table.loc[RUN, "loss_halfwidth"]
    assert width**2 / 3 == pytest.approx(last.var()), "the variance of a uniform error is that of the forecast"
    assert table.iloc[0][["loss", "loss_sd", "loss_halfwidth"]].tolist() == [3.28, 0.0, 0.0]
    by_run = bs.curves.ends(fits, {RUN: UNTIL}, ENDED, schedule={RUN: SCHEDULE}, seed=3)
    assert by_run["loss"].tolist() == table["loss"].tolist()


def test_the_errors_widen_the_law_across_sizes():
    rng = np.random.default_rng(1)
    n, d = (x.ravel() for x in np.meshgrid(np.geomspace(3e7, 1e9, 4), np.geomspace(1e9, 1e11, 3)))
    loss = bs.laws.Chinchilla.loss(n, d, E=1.8, A=400.0, B=1200.0, alpha=0.34, beta=0.32)
    loss = loss * np.exp(0.001 * rng.standard_normal(len(n)))
    runs = pd.DataFrame({"parameters": n, "tokens": d, "loss": loss, "loss_halfwidth": 3**0.5 * 0.01})
    short, spread = {"seed": 1, "target_accept": 0.98, "draws": 1000, "tune": 1000, "chains": 4}, {}
    for measured in (False, True):
        law = bs.laws.Chinchilla(noise="normal", scatter="one", measurement_error=measured, size_effects=False)
        fit = bs.fit(law, runs, **short, check=False)
        spread[measured] = float(np.log(fit.allocate(1e22, beyond="none", robust=False)["parameters"]).std())
    assert spread[True] > 1.5 * spread[False]


@pytest.mark.parametrize(
    ("until", "runs", "schedule", "message"),
    [
        (UNTIL, ENDED.iloc[:1], SCHEDULE, f'run "{RUN}" of the fits has 0 rows in the table of runs; give it one'),
        (UNTIL, SIZES, SCHEDULE, 'run "25M cosine_24000" has neither a fit nor a loss; give one of them'),
        ({"another": UNTIL}, ENDED, SCHEDULE, f'until: run "{RUN}" is unknown; choose one of another'),
        (1000, ENDED, SCHEDULE, "has readings beyond 1000, near"),
        (UNTIL, ENDED.drop(columns="run"), SCHEDULE, 'a table of runs needs "run"'),
    ],
)
def test_what_a_run_lacks_is_named(until, runs, schedule, message, fits):
    with pytest.raises(bs.InputError, match=message):
        bs.curves.ends(fits, until, runs, schedule=schedule)
