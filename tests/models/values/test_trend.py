"""The law of dated values: its density, its errors, groups, scales, and what it refuses."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.engine import compile_density, flat
from bayescaling.models.draws import DRAWS
from scipy import stats

TRUTH = {"centre": 4.0, "scatter": 0.5, "yearly_gain": 1.3, "group_sd": 0.8}
MORE = {"yearly_gain_change": 0.6, "break_place": 0.4, "acceleration": 0.2, "midpoint_after": 1.0, "width": 1.5}


def table(count=24, seed=0, **columns):
    """Dates of three groups, whose values are still to be drawn."""
    rng = np.random.default_rng(seed)
    years = np.sort(rng.uniform(2020, 2026, count))
    return pd.DataFrame({"year": years, "value": np.exp(years - 2020), "lab": np.arange(count) % 3}).assign(**columns)


def simulated(law, truth=TRUTH, seed=0, **sizes):
    """Return rows drawn at known quantities, and the draw that holds these."""
    rows, rng = law.rows(table(seed=seed, **sizes)), np.random.default_rng(seed)
    truths = {name: (truth | MORE)[name] for name in law.prior_of}
    values = law.prior_draws(None, law.reference(rows), rows, truth=truths).replicate(rng).values[0, 0]
    rows = law.rows(rows.assign(value=law.from_scale(values)))
    return rows, law.prior_draws(None, law.reference(rows), rows, truth=truths)


@pytest.mark.parametrize("trend", ["linear", "break", "acceleration", "logistic"])
@pytest.mark.parametrize("groups", [None, "lab"])
def test_the_compiled_density_is_that_of_the_rows_and_the_priors(trend, groups):
    law = bs.laws.Trend(trend=trend, groups=groups)
    rows, draws = simulated(law)
    z = draws.real_line().values[0, 0]
    density = law.density(rows, law.reference(rows))
    assert len(z) == flat(density.start).size
    value, _ = compile_density(density)(z, density)
    shifted, _ = compile_density(density)(z + 0.1, density)
    other = draws.from_real_line(draws.real_line() + 0.1)
    difference = float((other.log_density() - draws.log_density()).values[0, 0])
    assert shifted - value == pytest.approx(difference, rel=1e-9)


def test_values_of_a_group_are_normal_with_an_effect_in_common():
    law = bs.laws.Trend(groups="lab")
    rows, draws = simulated(law)
    line = TRUTH["centre"] + TRUTH["yearly_gain"] * (rows["year"] - draws.reference["zero"])
    same = np.equal.outer(rows["lab"].to_numpy(), rows["lab"].to_numpy())
    covariance = TRUTH["scatter"] ** 2 * np.eye(len(rows)) + TRUTH["group_sd"] ** 2 * same
    joint = stats.multivariate_normal(cov=covariance)
    residual = np.log(rows["value"]) - line
    assert float(draws.total_log_likelihood().sum()) == pytest.approx(joint.logpdf(residual))
    assert float(draws.by_group("lab").sum()) == pytest.approx(joint.logpdf(residual))
    without = np.arange(len(rows)) != 5
    rest = stats.multivariate_normal(cov=covariance[np.ix_(without, without)]).logpdf(residual[without])
    assert float(draws.log_likelihood()[0, 0, 5]) == pytest.approx(joint.logpdf(residual) - rest)


def test_probabilities_are_uniform_where_the_law_is_true():
    law = bs.laws.Trend(groups="lab")
    _, draws = simulated(law, count=600)
    assert stats.kstest(draws.cdf().values.ravel(), "uniform").pvalue > 0.01


def test_stated_limits_are_errors_on_the_scale_of_the_law():
    rows = table(5).assign(low=lambda t: t["value"] / 2, high=lambda t: t["value"] * 2, halfwidth=3.0)
    sd = np.log(2) / stats.norm.ppf(0.95)
    np.testing.assert_allclose(bs.laws.Trend(limits=0.9).error_variance(rows), sd**2)
    blank = rows.assign(low=np.nan)
    linear = bs.laws.Trend(value_unit=10)
    np.testing.assert_allclose(linear.error_variance(blank), (0.3 / stats.norm.ppf(0.975)) ** 2)
    in_log = bs.laws.Trend().error_variance(blank)
    np.testing.assert_allclose(in_log, (3.0 / rows["value"] / stats.norm.ppf(0.975)) ** 2)
    assert (bs.laws.Trend().error_variance(rows[["year", "value"]]) == 0).all()


def test_the_unit_of_a_linear_scale_changes_no_value():
    rows = table().assign(value=lambda t: 1000 + 90 * (t["year"] - 2020))
    of = [bs.laws.Trend(value_unit=unit) for unit in (50, 100)]
    draws = [
        law.prior_draws(
            None,
            law.reference(rows),
            law.rows(rows),
            truth={name: x / law.value_unit for name, x in {"centre": 1200, "scatter": 30, "yearly_gain": 90}.items()},
        )
        for law in of
    ]
    np.testing.assert_allclose(draws[0].mean(), draws[1].mean())
    np.testing.assert_allclose(draws[0].named()["gain"], draws[1].named()["gain"])
    np.testing.assert_allclose(draws[0].cdf(), draws[1].cdf())


def test_new_rows_have_the_mean_and_the_scatter_of_the_law():
    law = bs.laws.Trend(groups="lab")
    draws = simulated(law)[1]
    many = draws.from_real_line(draws.real_line().isel(draw=np.zeros(4000, int)).assign_coords(draw=np.arange(4000)))
    new = many.replicate(np.random.default_rng(1))
    np.testing.assert_allclose(new.mean(DRAWS), np.log(draws.mean()[0, 0]), atol=0.08)
    np.testing.assert_allclose(new.std(DRAWS), np.hypot(TRUTH["scatter"], TRUTH["group_sd"]), rtol=0.08)


@pytest.mark.parametrize(
    ("law", "change", "message"),
    [
        (bs.laws.Trend(), lambda t: t.head(4), "at least 5"),
        (bs.laws.Trend(), lambda t: t.assign(year=2020.5), "at least 3"),
        (bs.laws.Trend(), lambda t: t.assign(value=t["value"] - 2), "row 1; a log scale needs positive values"),
        (
            bs.laws.Trend(),
            lambda t: t.assign(value=1200 + t["value"] / 10),
            "choose a scale: value_unit=[0-9]+ for a linear one",
        ),
        (bs.laws.Trend(groups="developer"), lambda t: t, "developer"),
        (bs.laws.Trend(groups="lab"), lambda t: t.assign(lab=[np.nan, *range(len(t) - 1)]), "lab"),
    ],
)
def test_a_table_that_cannot_inform_the_law_is_refused(law, change, message):
    with pytest.raises(bs.InputError, match=message):
        law.rows(change(table()))


@pytest.mark.parametrize(
    "options", [{"trend": "cubic"}, {"value_unit": -1}, {"value_unit": "linear"}, {"groups": 3}, {"limits": 1.0}]
)
def test_unknown_options_are_refused(options):
    with pytest.raises(bs.InputError, match=next(iter(options))):
        bs.laws.Trend(**options)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")  # decimal years are read as days
@pytest.mark.parametrize(("groups", "unit"), [(None, None), ("lab", None), (None, 2.0)])
def test_known_quantities_are_recovered(groups, unit):
    law = bs.laws.Trend(groups=groups, value_unit=unit)
    rows, _ = simulated(law, count=90)
    rows = rows.assign(lab=np.arange(90) % 30)
    fit = bs.fit(law, rows if groups is None else simulated_of(law, rows), seed=1, draws=400, tune=500, check=False)
    assert fit.diagnostics["ok"]
    for name in law.prior_of:
        low, high = np.quantile(fit["posterior"][name], [0.001, 0.999])
        assert low < TRUTH[name] < high, name


def simulated_of(law, rows):
    """Draw values of rows again, after their groups have changed."""
    truths = {name: TRUTH[name] for name in law.prior_of}
    draws = law.prior_draws(None, law.reference(rows), rows, truth=truths)
    return rows.assign(value=law.from_scale(draws.replicate(np.random.default_rng(3)).values[0, 0]))
