import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.models.loss import chinchilla
from bayescaling.models.loss.tuned import best_setting, lost
from scipy.optimize import minimize

TRUTH = {
    "loss_centre": 2.8, "reducible_share": 0.4, "parameter_share": 0.5, "alpha": 0.34, "beta": 0.30,
    "best_rate": 0.8, "rate_by_parameters": -0.6, "rate_by_tokens": 0.2, "rate_cost": 0.01, "rate_skew": 0.8,
    "sigma": 0.002, "nu_minus_one": 10.0, "sigma_parameters": 0.0, "sigma_tokens": 0.0,
}  # fmt: skip
OF_BATCH = {
    "best_batch": 1.3, "batch_by_parameters": 0.0, "batch_by_tokens": 0.5, "batch_cost": 0.01, "rate_by_batch": 0.5,
}  # fmt: skip
LAWS = {
    "learning-rate": (bs.laws.LearningRate(), TRUTH),
    "rate-and-batch": (bs.laws.RateAndBatch(), TRUTH | OF_BATCH),
}
QUICK = {"draws": 400, "tune": 500, "chains": 2}


def sweep(rates=(1e-3, 2e-3, 4e-3, 8e-3), batches=(2**17, 2**19, 2**21)):
    grid = [(n, d, r, b) for n in (1e8, 3e8, 1e9) for d in (3e9, 1e10, 6e10) for r in rates for b in batches]
    return pd.DataFrame(grid, columns=["parameters", "tokens", "learning_rate_peak", "batch_tokens"]).astype(float)


def simulated(name, runs, seed=1):
    law, truth = LAWS[name]
    return runs.assign(loss=law.simulate(truth, runs, np.random.default_rng(seed)))


def constants(name, runs):
    law, truth = LAWS[name]
    return law.constants(truth, law.centre(runs))


@pytest.mark.parametrize("name", LAWS)
def test_the_loss_is_least_at_the_best_settings_and_there_it_is_chinchillas(name):
    law, runs = LAWS[name][0], sweep()
    values = constants(name, runs)
    for n, d in ((1e8, 3e10), (5e9, 1e11)):
        best = law.best_settings(values, n, d)

        def loss(logs, n=n, d=d, names=tuple(best)):
            return law.mean(values, {"parameters": n, "tokens": d, **dict(zip(names, np.exp(logs), strict=True))})

        start = np.log([*best.values()]) + 0.7
        least = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13, "maxiter": 4000})
        np.testing.assert_allclose(np.exp(least.x), [*best.values()], rtol=1e-4)
        tuned = chinchilla.loss(n, d, **{constant: values[constant] for constant in ("E", "A", "B", "alpha", "beta")})
        assert least.fun == pytest.approx(tuned, rel=1e-9)
        assert law.mean_of_sizes(values, None, n, d) == pytest.approx(tuned, rel=1e-14)


def test_the_best_rate_at_the_centre_is_the_sampled_share_of_the_typical_rate():
    runs, values = sweep(), constants("learning-rate", sweep())
    n, d, r = (np.exp(np.log(runs[name]).mean()) for name in ("parameters", "tokens", "learning_rate_peak"))
    of_rate = {name: values[f"rate_{name}"] for name in ("constant", "by_parameters", "by_tokens")}
    assert best_setting(n, d, **of_rate) == pytest.approx(TRUTH["best_rate"] * r)
    assert best_setting(10 * n, d, **of_rate) == pytest.approx(TRUTH["best_rate"] * r * 10**-0.6)


def test_what_is_lost_is_quadratic_near_the_best_rate_and_steeper_above():
    near = lost(np.exp(1e-3), cost=0.02, skew=0.7)
    assert near == pytest.approx(0.02e-6, rel=1e-3)
    low, high = lost(0.1, cost=0.02, skew=0.7), lost(10.0, cost=0.02, skew=0.7)
    assert 0 < low < high


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_known_constants_are_recovered_and_a_rung_with_rates_too_low_is_named(name):
    law, truth = LAWS[name]
    runs = sweep() if name == "rate-and-batch" else sweep(batches=(2**19,))
    # The smallest model on few tokens wants a rate of about 3e-3; it gets low ones alone.
    small = (runs["parameters"] == 1e8) & (runs["tokens"] == 3e9)
    runs.loc[small, "learning_rate_peak"] /= 30
    runs = simulated(name, runs)
    fit = bs.fit(law, runs, seed=1, **QUICK, check=False)
    for quantity in ("alpha", "beta", "best_rate", "rate_by_parameters", "rate_by_tokens", "rate_cost"):
        low, high = fit["posterior"][quantity].quantile([0.002, 0.998]).values
        assert low <= truth[quantity] <= high, quantity
    rungs, values = fit.tuning(), constants(name, runs)
    assert rungs["undertuned", ""].tolist() == [True, *[False] * 8]
    assert "best learning rate above all tried" in str(rungs)
    for _, rung in rungs.iterrows():
        for column, best in law.best_settings(values, rung["parameters", ""], rung["tokens", ""]).items():
            assert 0.8 * rung[column, "q2.5"] < best < 1.25 * rung[column, "q97.5"]


def test_a_plan_has_the_best_settings_of_its_sizes():
    law, runs = LAWS["rate-and-batch"][0], sweep()
    values = {name: np.atleast_1d(x) for name, x in constants("rate-and-batch", runs).items()}
    plan = law.plan(values)
    model, tokens = plan.optimum(np.array([1e21]))
    described = plan.described(model, tokens)
    n, d = chinchilla.optimum(1e21, **{name: values[name] for name in ("A", "B", "alpha", "beta")})
    np.testing.assert_allclose(described["parameters"], n, rtol=1e-6)
    best = law.best_settings(values, n, d)
    for name in ("learning_rate_peak", "batch_tokens"):
        np.testing.assert_allclose(described[name], best[name], rtol=1e-5)


def test_rates_and_batches_are_read_by_their_usual_names_where_a_law_needs_them():
    runs = simulated("rate-and-batch", sweep())
    named = {"learning_rate_peak": "config.lr", "batch_tokens": "tokens_per_batch", "loss": "val_loss"}
    foreign = runs.rename(columns=named)
    with pytest.warns(bs.errors.TableWarning, match="fit learning-rate or rate-and-batch"):
        assert "config.lr" in bs.read(foreign)
    read = bs.read(foreign, needed=bs.laws.RateAndBatch().needed)
    np.testing.assert_allclose(read["learning_rate_peak"], runs["learning_rate_peak"])
    np.testing.assert_allclose(read["batch_tokens"], runs["batch_tokens"])


def test_a_rate_that_is_no_rate_is_refused_in_one_line():
    runs = simulated("learning-rate", sweep())
    runs.loc[3, "learning_rate_peak"] = 0.0
    with pytest.raises(bs.InputError, match=r"row 3.*learning_rate_peak.*found 0.*positive"):
        bs.fit("learning-rate", runs, seed=1)


def test_sizes_with_one_rate_each_are_refused():
    runs = pd.concat([simulated("learning-rate", sweep(rates=(2e-3,), batches=(2**19,)))] * 3, ignore_index=True)
    runs["loss"] += 1e-3 * np.arange(len(runs))
    with pytest.raises(bs.InputError, match=r"is 0.002 in every row; .* several learning rates; or fit coupled"):
        bs.fit("learning-rate", runs, seed=1)
    runs["learning_rate_peak"] = 2e-3 * (runs["parameters"] / 1e8) ** -0.5
    with pytest.raises(bs.InputError, match=r"no size has runs with two values of 'learning_rate_peak'.* fit coupled"):
        bs.fit("learning-rate", runs, seed=1)


def test_a_fit_of_another_law_knows_no_rates(fit_default):
    with pytest.raises(bs.InputError, match="fit learning-rate"):
        fit_default.tuning()
