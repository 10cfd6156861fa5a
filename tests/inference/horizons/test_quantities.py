"""Quantities of a fit of the law of horizons, against closed forms and simulation."""

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.horizons import quantities
from bayescaling.inference.progress import trends
from bayescaling.models.draws import DRAWS
from bayescaling.models.trends import level
from scipy import special

pytestmark = pytest.mark.slow


def test_the_typical_task_of_a_time_is_done_with_the_probability(fit):
    times = quantities.minutes(fit, [0.2, 0.5, 0.8])
    posterior = fit["posterior"]
    logits = np.exp(posterior["log_slope"]) * (posterior["horizon"] - np.log(times))
    expected = np.broadcast_to([0.2, 0.5, 0.8], logits.transpose(*DRAWS, "model", "share").shape)
    np.testing.assert_allclose(special.expit(logits.transpose(*DRAWS, "model", "share")), expected)


def test_a_random_task_of_a_time_is_done_with_the_probability(fit):
    time = quantities.minutes(fit, 0.8, tasks="random").isel(chain=0, draw=0, model=3, share=0)
    values = {name: float(x) for name, x in fit["posterior"].isel(chain=0, draw=0).data_vars.items() if not x.ndim}
    rng = np.random.default_rng(1)
    effect = values["task_sd"] * rng.standard_normal(400_000)
    slope = np.exp(values["log_slope"] + values["log_slope_sd"] * rng.standard_normal(400_000))
    horizon = float(fit["posterior"]["horizon"].isel(chain=0, draw=0, model=3))
    shares = special.expit(slope * (horizon - np.log(float(time)) - effect))
    assert shares.mean() == pytest.approx(0.8, abs=0.003)
    typical = quantities.minutes(fit, 0.8).isel(chain=0, draw=0, model=3, share=0)
    assert time < typical


def test_days_and_dates_follow_from_a_line_in_closed_form(fit):
    posterior = fit["posterior"]
    gain = posterior["yearly_gain"].values.ravel()
    days = trends.doubling_days(fit).loc["all"]
    assert days["q50"] == pytest.approx(np.quantile(365.25 * np.log(2) / gain, 0.5), rel=1e-3)
    table = trends.dates_reached(fit, {"here": 1e6}, until=2027.0)
    dates = 2024.5 + (np.log(1e6) - posterior["horizon_centre"].values.ravel()) / gain
    assert table.loc["here", "q50"] == pytest.approx(np.median(dates), abs=1e-3)
    assert table.loc["here", "p_not_until"] == pytest.approx((dates > 2027.0).mean(), abs=0.01)
    values = {name: posterior[name].values[0, :3, None] for name in fit.law.prior_of}
    values["centre"] = values["horizon_centre"]
    np.testing.assert_allclose(level(values, "linear", dates[:3, None])[:, 0], np.log(1e6))


def test_summaries_name_models_from_the_latest(fit):
    table = quantities.summary(fit)
    models = table.index.get_level_values("model").unique()
    years = fit.rows.drop_duplicates("model").set_index("model")["year"]
    assert years[models].is_monotonic_decreasing
    assert (table["q2.5"] <= table["q50"]).all()
    assert table["solved"].between(0, 1).all()


def test_what_has_no_trend_has_no_rate_and_a_fit_of_another_law_no_horizons(fit):
    with pytest.raises(bs.InputError, match="between 0 and 1"):
        quantities.minutes(fit, 1.0)
    with pytest.raises(bs.InputError, match="tasks"):
        quantities.minutes(fit, tasks="hard")
    with pytest.raises(bs.InputError, match="above 0"):
        trends.dates_reached(fit, {"nothing": 0.0})


def test_leaving_models_out_is_compared_by_integrated_horizons(fit):
    groups = fit.draws.by_group("model")
    assert groups.sizes["group"] == fit.rows["model"].nunique()
    assert np.isfinite(groups.values).all()
