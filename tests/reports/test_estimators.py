import bayescaling as bs
import pytest
from bayescaling.reports.pages.chinchilla.estimators import point_estimates


def test_one_estimator_that_refuses_hides_no_other(runs):
    one_size = runs[runs["parameters"].isin(runs["parameters"].unique()[:2])]
    estimates = point_estimates(runs.sample(40, random_state=2).reset_index(drop=True))
    assert set(estimates.parametric) == {"huber_free_scale", "huber_fixed_threshold"}
    assert set(estimates.refused) == {"isoflop"} and "no 8 runs within 0.1 decades" in estimates.missing["isoflop"]
    assert estimates.to_dict()["isoflop"] == {"refused": estimates.refused["isoflop"]}
    assert estimates.to_dict()["frontier"] == estimates.envelopes["frontier"].to_dict()
    with pytest.raises(bs.InputError, match=r"no estimator can use .*column 'parameters' has 2 different values"):
        point_estimates(one_size.reset_index(drop=True))


def test_estimates_of_a_whole_table_are_those_of_each_estimator(runs):
    points = point_estimates(runs, drop_highest=5, width=0.2, minimum_runs=6)
    assert not points.missing
    assert points.envelopes["isoflop"]["exponent"] == bs.points.fit_isoflop(runs, width=0.2, minimum_runs=6)["exponent"]
    assert points.envelopes["frontier"]["exponent"] == bs.points.fit_frontier(runs)["exponent"]
    expected = bs.points.fit_huber(runs, scale="fixed", drop_highest=5)["constants"]
    assert points.parametric["huber_fixed_threshold"]["constants"] == expected


@pytest.mark.parametrize(
    "option", [{"drop_highest": -1}, {"width": 0.0}, {"minimum_runs": 3}, {"compute": [1e20, -1.0]}]
)
def test_an_option_out_of_range_is_refused_before_anything_is_estimated(runs, option):
    with pytest.raises(bs.InputError, match=next(iter(option))):
        point_estimates(runs, **option)
