import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.reports.pages.speedruns import page
from bayescaling.reports.pages.speedruns.records import GAINS, MONTH, TIME, WAITS, Process, increments
from bayescaling.reports.report import report

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning", "ignore::bayescaling.errors.TableNote")
SETTINGS = {"draws": 300, "tune": 800, "chains": 2, "seed": 3}
K, A, W, SIGMA = 0.02, 0.6, 6.0, 0.4


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    folder = tmp_path_factory.mktemp("speedruns")
    report(folder, pages=("speedruns",), **SETTINGS)
    return json.loads((folder / "results.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def simulated(count=150, seed=10):
    """Return records of which each gains K * minutes**A and takes W days, both with a lognormal scatter."""
    rng, rows, minutes, days = np.random.default_rng(seed), [], 40.0, 0.0
    for number in range(count):
        rows.append((number, pd.Timestamp("2020-01-01") + pd.Timedelta(days=round(days)), minutes))
        minutes *= np.exp(-K * minutes**A * np.exp(SIGMA * rng.standard_normal()))
        days += W * np.exp(SIGMA * rng.standard_normal())
    return pd.DataFrame(rows, columns=["record", "date", "minutes"])


@pytest.fixture(scope="module")
def process():
    rows = increments(simulated())
    laws = GAINS[TIME], WAITS[TIME]
    return rows, Process(
        *(bs.fit(law, rows, seed=1, draws=500, tune=800, chains=2, check=False) for law in laws), seed=1
    )


def test_gains_add_up_to_the_whole_and_a_record_measured_again_gains_nothing():
    records = simulated(20)
    again = records.iloc[[9]].assign(minutes=records["minutes"][9] * 1.1)
    rows = increments(pd.concat([records[:10], again, records[10:]], ignore_index=True))
    assert len(rows) == 19
    whole = np.log(records["minutes"].iloc[0] / records["minutes"].iloc[-1])
    assert rows["gain"].sum() == pytest.approx(whole + np.log(1.1))
    assert rows["minutes_before"][9] == pytest.approx(again["minutes"].iloc[0])


def test_the_pace_and_what_is_to_come_of_a_known_process_are_recovered(process):
    rows, of = process
    late = rows.tail(40)
    mean = np.exp(SIGMA**2 / 2)  # of the scatter, which gains and waits share
    gain = (K * late["minutes_before"] ** A).sum() * mean
    truth = np.log(2) * len(late) * W * mean / gain / MONTH
    low, high = np.quantile(of.months_to_halve(late), [0.005, 0.995])
    assert low < truth < high < 2 * low
    last = rows.iloc[-1]
    minutes = last["minutes"]
    truths = [simulated_from(minutes, 90, seed) for seed in range(200)]
    after = np.quantile(of.minutes_after(90, minutes, len(rows) + 1), [0.05, 0.95])
    assert np.mean((after[0] < truths) & (truths < after[1])) > 0.8
    months = of.months_until(minutes * 0.9, minutes, len(rows) + 1)
    assert np.isfinite(months).all()
    assert np.median(of.minutes_after(np.median(months) * MONTH, minutes, len(rows) + 1)) == pytest.approx(
        0.9 * minutes, rel=0.03
    )


def simulated_from(minutes, days, seed):
    rng = np.random.default_rng([seed, 7])
    while True:
        days -= W * np.exp(SIGMA * rng.standard_normal())
        if days < 0:
            return minutes
        minutes *= np.exp(-K * minutes**A * np.exp(SIGMA * rng.standard_normal()))


def test_the_answer_is_the_pace_of_the_last_year_with_its_variants(document):
    (answer,) = document["answers"]
    entry = document["speedruns"]
    quoted = entry["paces"][entry["quoted"]]
    assert f"{quoted['q50']:.1f}" in answer["answer"] and "one task" in answer["answer"]
    assert quoted["q2.5"] < entry["year"]["months_to_halve"] < quoted["q97.5"]
    assert {page.LATE, page.RECENT} < set(entry["rivals"]) and str(entry["records"]) in answer["doubt"]


def test_time_falls_by_steps_and_by_seconds_a_step(document):
    """Each window's factor is that of the first and the last log in it; shares of steps lie between none and all."""
    shares = document["speedruns"]["shares"]
    whole = shares["since October 2024"]
    assert whole["factor"] == pytest.approx(2176.4 / 75.5, rel=0.01)
    assert all(0 < of["steps"] < 1 and of["steps_with_batch"] < of["steps"] for of in shares.values())


def test_the_next_record_is_forecast_better_than_by_a_straight_line(document):
    ahead = document["speedruns"]["ahead"]["forecasts"]
    process, *_ = ahead.values()
    line = ahead["straight line"]["next record"]
    assert process["next record"]["score"] < line["score"] / 3
    assert process["next record"]["held"] / process["next record"]["forecasts"] > 0.85
