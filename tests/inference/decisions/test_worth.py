"""What a change is worth: multipliers known in closed form, where the order turns, decisions, and what is refused."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.commands.cli import app
from bayescaling.inference.checks import sandwich
from bayescaling.inference.decisions.next_run import _cost_after, _costs, _variance_left
from bayescaling.inference.decisions.price import Price
from bayescaling.inference.fitted import changed_fit, results_of
from bayescaling.models.loss.grouping import GROUP
from typer.testing import CliRunner

PLAIN = bs.laws.Chinchilla(noise="normal", scatter="one")
LAW = bs.laws.Grouped(PLAIN, "recipe", shared=("sigma",))
BASE = {"E": 1.8, "A": 400.0, "B": 1200.0, "alpha": 0.34, "beta": 0.32}
SIZE, TOKENS = 1.3, 1.5  # what one parameter and one token of the changed recipe count for
SHORT = {"draws": 700, "tune": 700, "chains": 2}
LAW_ALONE = {"beyond": "none", "robust": False}


def changed(constants, size=SIZE, tokens=TOKENS, **others):
    """Return constants of a recipe whose loss at N and D is the baseline's at `size` N and `tokens` D."""
    scaled = {"A": constants["A"] / size ** constants["alpha"], "B": constants["B"] / tokens ** constants["beta"]}
    return constants | scaled | others


def ladder(seed, noise=0.003):
    rng = np.random.default_rng(seed)
    n, ratio = (x.ravel() for x in np.meshgrid(np.geomspace(3e7, 1e9, 5), [8.0, 20.0, 60.0], indexing="ij"))
    parts = []
    for name, c in {"old": BASE, "new": changed(BASE)}.items():
        loss = c["E"] + c["A"] / n ** c["alpha"] + c["B"] / (ratio * n) ** c["beta"]
        loss = loss * np.exp(noise * rng.standard_normal(len(n)))
        parts.append(pd.DataFrame({"parameters": n, "tokens": ratio * n, "loss": loss, "recipe": name}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def fit():
    return bs.fit(LAW, ladder(3), seed=1, **SHORT)


def with_changed(fit, change):
    """Return the fit with the draws of the new recipe replaced by a `change` of the constants of the old one."""
    draws, names = fit.draws, fit.draws.reference["groups"]
    old, new = names.index("old"), names.index("new")
    constants = change({name: draws.named()[name].isel({GROUP: old}).values for name in BASE})
    reference = {name: x[new] for name, x in fit.draws.reference.items() if name != "groups"}
    of_size = constants["A"] / reference["reference_parameters"] ** constants["alpha"]
    of_tokens = constants["B"] / reference["reference_tokens"] ** constants["beta"]
    reducible = of_size + of_tokens
    values = {
        "loss_centre": constants["E"] + reducible,
        "reducible_share": reducible / (constants["E"] + reducible),
        "parameter_share": of_size / reducible,
        "alpha": constants["alpha"],
        "beta": constants["beta"],
    }
    sampled = draws.sampled.copy(deep=True)
    for name, x in values.items():
        sampled[name].loc[{GROUP: "new"}] = x
    after = fit.law.draws(sampled, fit.rows, fit.draws.reference)
    groups = {"posterior": after.named(), "unconstrained_posterior": after.real_line().to_dataset(name="z")}
    return changed_fit(fit, groups, fit.record)


def test_a_recipe_whose_sizes_count_for_more_has_that_multiplier_at_every_budget(fit):
    exact = with_changed(fit, changed)
    budgets = [1e18, 1e21, 1e24]
    for options in ({}, {"tokens_per_parameter": None}):
        result = bs.worth(exact, "old", budgets, **LAW_ALONE, **options)
        np.testing.assert_allclose(result["multiplier"], SIZE * TOKENS, rtol=1e-9)
    assert np.isinf(result["turns"]).all() and (result["p_better"] == 1).all()
    np.testing.assert_allclose(result["saved"].sel(compute=1e21), (SIZE * TOKENS - 1) * 1e21, rtol=1e-8)
    back = bs.worth(exact, "new", budgets, **LAW_ALONE)
    np.testing.assert_allclose(back["multiplier"], 1 / (SIZE * TOKENS), rtol=1e-9)
    assert (back["direction"] == "worse").all() and (back["decision"] == "drop").all()


def test_at_a_ratio_of_tokens_the_multiplier_is_that_of_these_runs(fit):
    # Only tokens count for more: at one ratio, loss(N, t D) is no loss of the baseline at another size of that ratio.
    exact = with_changed(fit, lambda constants: changed(constants, size=2.0, tokens=2.0))
    result = bs.worth(exact, "old", [1e20], tokens_per_parameter=40.0, **LAW_ALONE)
    np.testing.assert_allclose(result["multiplier"], 4.0, rtol=1e-9)


def test_the_order_turns_where_the_closed_form_has_it(fit):
    excess = 0.01
    exact = with_changed(fit, lambda constants: changed(constants, E=constants["E"] + excess))
    result = bs.worth(exact, "old", [1e20], within=(1e16, 1e30), **LAW_ALONE)
    old = fit.draws.of("old")
    alpha, beta = (old.named()[name] for name in ("alpha", "beta"))
    optimum = fit.allocate(1e20, group="old", **LAW_ALONE).isel(compute=0)
    gamma = alpha * beta / (alpha + beta)
    scale = (optimum["loss"] - old.named()["E"]) * 1e20**gamma
    exact_turn = (scale * (1 - (SIZE * TOKENS) ** -gamma) / excess) ** (1 / gamma)
    turns = result["turns"].isel(group=0, compute=0)
    inside = (exact_turn < 1e30) & (exact_turn > 1e16)
    assert inside.mean() > 0.9
    # By linear interpolation between budgets a quarter of a decade apart.
    np.testing.assert_allclose(np.log(turns.values[inside.values]), np.log(exact_turn.values[inside.values]), atol=0.02)
    assert np.isinf(turns.values[~inside.values]).all()


def test_a_loss_below_the_floor_of_the_baseline_is_never_reached(fit):
    exact = with_changed(fit, lambda constants: changed(constants, E=constants["E"] - 0.2))
    result = bs.worth(exact, "old", [1e26], **LAW_ALONE)
    assert np.isinf(result["multiplier"]).all() and np.isfinite(result["gain"]).all()
    assert result["decision"].item() == "promote" and "never" in str(result)
    assert result.entries()[0]["multiplier"]["q50"] is None
    json.dumps(result.entries(), allow_nan=False)


def test_a_known_multiplier_of_a_simulated_ladder_is_recovered(fit):
    largest = float((6 * fit.rows["parameters"] * fit.rows["tokens"]).max())
    inside, beyond = largest / 10, 10 * largest
    result = bs.worth(fit, "old", [inside, beyond])
    low, high = np.quantile(result["multiplier"].sel(compute=inside), [0.005, 0.995])
    assert low < SIZE * TOKENS < high and high < 4 * low
    assert result["direction"].sel(compute=inside).item() == "better"
    # Beyond the runs the interval has the drift too.
    plain = bs.worth(fit, "old", [inside, beyond], beyond="none")
    (near, far), (plain_near, plain_far) = (
        np.diff(np.quantile(np.log(x["multiplier"].values[:, :, 0]), [0.2, 0.8], axis=(0, 1)), axis=0)[0]
        for x in (result, plain)
    )
    assert near == pytest.approx(plain_near) and far > 1.2 * plain_far
    assert result["extrapolation"].values[0] == pytest.approx([0, 1])


def test_a_robust_difference_may_cross_zero_on_either_side(fit, monkeypatch):
    stretch = 40.0
    monkeypatch.setitem(results_of(fit), "verdict", fit.check() | {"verdict": "off"})
    monkeypatch.setattr(sandwich, "_sds", lambda fit, draws: {"unit": [(0, 0, 0, stretch)] * len(draws)})
    better, worse = (bs.worth(fit, name, 1e20, beyond="none")["p_better"].item() for name in ("old", "new"))
    assert 0.5 < better < 0.99 and worse == pytest.approx(1 - better, abs=0.02)


def test_a_multiplier_and_a_gain_agree_on_which_is_better(fit):
    result = bs.worth(fit, "old", [1e19, 1e22])
    assert ((result["multiplier"] > 1) == (result["gain"] > 0)).all()
    alone = bs.worth(fit, "old", [1e19], **LAW_ALONE)
    losses = [fit.allocate(1e19, group=name, **LAW_ALONE)["loss"] for name in ("old", "new")]
    np.testing.assert_allclose(alone["gain"].values.ravel(), (losses[0] - losses[1]).values.ravel(), rtol=1e-6)


def test_a_direction_is_claimed_only_if_every_fit_agrees(fit):
    worse = with_changed(fit, lambda constants: changed(constants, size=0.3, tokens=0.3))
    both = bs.worth({"a": fit, "b": worse}, "old", 1e20, **LAW_ALONE)
    assert both["direction"].item() == "open" and both["p_better"].item() > 0.95
    assert both.entries()[0]["p_better_by_variant"]["b"] < 0.05
    assert (
        "P(better) by fit: a > 0.999, b" in str(both)
        and "check the direction" not in str(both)
        and "check the direction" in str(bs.worth(fit, "old", 1e20))
    )


def test_an_open_direction_beyond_the_runs_comes_with_the_largest_pair(fit):
    worse = with_changed(fit, lambda constants: changed(constants, size=0.3, tokens=0.3))
    text = " ".join(str(bs.worth({"a": fit, "b": worse}, "old", 1e24)).split())
    rows = fit.rows.assign(compute=6 * fit.rows["parameters"] * fit.rows["tokens"])
    sizes = rows.groupby(["parameters", "tokens"]).filter(lambda pair: pair[fit.law.grouped_by].nunique() == 2)
    largest = sizes[sizes["compute"] > 0.999 * sizes["compute"].max()].groupby(fit.law.grouped_by)["loss"].mean()
    assert f"new has {largest['new']:.4g}, old {largest['old']:.4g}" in text
    assert "the direction is open" not in str(bs.worth(fit, "old", 1e19))


def test_a_decision_of_draws_that_agree_costs_nothing():
    promote, drop = _costs(np.full(10, np.log(2.0)), 1e20, switch=0.0)
    assert promote == 0 and drop == pytest.approx(0.5e20)
    promote, drop = _costs(np.full(10, np.log(0.25)), 1e20, switch=1e18)
    assert promote == pytest.approx(0.75e20 + 1e18) and drop == 0


def test_one_run_leaves_the_variance_of_normal_theory():
    rng = np.random.default_rng(1)
    theta = rng.multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 2.0]], 200_000)
    left = _variance_left(theta[:, 0], theta, np.array([0.5, 0.5]))
    np.testing.assert_allclose(left, [1 - 1 / 1.5, 1 - 0.36 / 2.5], atol=0.01)
    now = min(_costs(theta[:, 0], 1.0, 0.0))
    after = [_cost_after(theta[:, 0], share, 1.0, 0.0) for share in (1.0, 0.5, 0.0)]
    assert after[0] == pytest.approx(now, rel=1e-6) and after[0] > after[1] > after[2] >= 0
    assert after[2] < 0.02


def test_undecided_recipes_are_run_once_more_and_decided_ones_are_not(fit):
    even = with_changed(fit, lambda constants: changed(constants, size=1.0, tokens=1.0))
    rng, posterior = np.random.default_rng(1), even["posterior"].to_dataset()
    sampled = posterior[list(fit.law.prior_of)].copy(deep=True)
    sampled["loss_centre"].loc[{GROUP: "new"}] *= np.exp(0.003 * rng.standard_normal(sampled["loss_centre"].shape[:2]))
    after = fit.law.draws(sampled, fit.rows, fit.draws.reference)
    groups = {"posterior": after.named(), "unconstrained_posterior": after.real_line().to_dataset(name="z")}
    undecided = bs.worth(changed_fit(fit, groups, fit.record), "old", [1e22], **LAW_ALONE)
    assert undecided["decision"].item() == "one more"
    cost = undecided["expected_cost"].isel(group=0, compute=0).to_series()
    assert cost["one more"] < 0.99 * min(cost["promote"], cost["drop"])
    assert undecided["next_group"].item() == "new" and 0 < undecided["variance_left"].item() < 1
    assert "one more run, of" in str(undecided)
    decided = bs.worth(with_changed(fit, changed), "old", [1e22], **LAW_ALONE)
    assert decided["decision"].item() == "promote" and decided["expected_cost"].sel(action="promote").item() == 0


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_few_sizes_that_deviate_within_a_recipe_are_said_to_tell_little():
    base = ladder(3, 0.001).query("recipe == 'old'")
    deviations = np.repeat([0.010, -0.002, 0.012, 0.006, 0.010], 3)  # of the sizes of a recipe with the same law
    luck = pd.concat([base, base.assign(recipe="new", loss=base["loss"] * np.exp(deviations))], ignore_index=True)
    fit = bs.fit(LAW, luck, seed=1, check=False, **SHORT)
    assert fit.law.size_effects and fit.law.shared == ("sigma", "size_sd")
    assert 0.002 < float(fit["posterior"]["size_sd"].median()) < 0.02
    text = "The rows barely tell by how much sizes deviate from the law within a recipe, "
    assert text in str(bs.worth(fit, "old", 1e20)).replace("\n", " ")


def test_money_and_hours_follow_from_the_price(fit):
    result = bs.worth(fit, "old", 1e21, gpu_hour=3.0, flop_per_second=1e15, utilisation=0.5)
    np.testing.assert_allclose(result["gpu_hours"], result["saved"] / (3600 * 5e14))
    np.testing.assert_allclose(result["money"], 3 * result["gpu_hours"])
    assert "at 3 a GPU-hour" in str(result) and "money" in result.table()
    assert Price(2.0).hours(9.89e14 * 0.4 * 3600) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "older"}, "baseline .older. is no group of column .recipe.: .new., .old."),
        ({"compute": 0}, "compute must be positive budgets in FLOP, not 0"),
        ({"compute": "much"}, "compute must be positive budgets in FLOP"),
        ({"tokens_per_parameter": -1}, "tokens_per_parameter must be one positive"),
        ({"within": (1e22, 1e20)}, "within must be a range of FLOP"),
        ({"switch": -1}, "switch must be FLOP, at least 0, not -1"),
        ({"gpu_hour": 0}, "gpu_hour must be a positive number, not 0"),
        ({"gpu_hour": 1, "utilisation": 40}, "utilisation must be a share"),
        ({"beyond": "far"}, "beyond"),
        ({"group": "new"}, "leave out group"),
    ],
)
def test_what_cannot_be_compared_is_refused(fit, options, message):
    with pytest.raises(bs.InputError, match=message):
        bs.worth(fit, **{"baseline": "old", "compute": 1e20} | options)


def test_a_fit_without_groups_is_refused(fit_default):
    with pytest.raises(bs.InputError, match=r"has no groups to compare; fit a Grouped law \(--group COLUMN\)"):
        bs.worth(fit_default, "old", 1e20)
    with pytest.raises(bs.InputError, match="no fit is given"):
        bs.worth({}, "old", 1e20)


def test_the_command_prints_and_returns_what_the_function_does(fit, tmp_path):
    path = tmp_path / "recipes.nc"
    fit.check()
    fit.save(path)
    words = "--baseline old --compute 1e20 --gpu-hour 2 --within 1e18:1e23"
    arguments = ["worth", str(path), *words.split()]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    (entry,) = json.loads(result.output)["worth"]
    expected = bs.worth(bs.open(path), "old", 1e20, gpu_hour=2.0, within=(1e18, 1e23))
    assert entry["multiplier"]["q50"] == pytest.approx(float(expected["multiplier"].median()))
    assert entry["decision"] == "promote" and entry["money"]["q50"] > 0
    assert {"expected_cost", "p_turns", "next_parameters", "p_better"} <= {*entry}
    assert "Worth of each recipe against old" in CliRunner().invoke(app, arguments).output
    wrong = CliRunner().invoke(app, [*arguments[:-1], "1e18"])
    assert isinstance(wrong.exception, bs.InputError) and "write LOW:HIGH" in str(wrong.exception)


def test_pairs_may_share_a_run_effect_if_its_scale_is_shared():
    runs = ladder(5)
    pairs = runs.assign(run=[f"{n:g} {d:g}" for n, d in zip(runs["parameters"], runs["tokens"], strict=True)])
    plain = bs.laws.Chinchilla(noise="normal", scatter="one", run_effects=True)
    with pytest.raises(bs.InputError, match=r"is in groups .* or share .run_sd"):
        bs.laws.Grouped(plain, "recipe", shared=("sigma",)).rows(pairs)
    law = bs.laws.Grouped(plain, "recipe", shared=("sigma", "run_sd"))
    rows = law.rows(pairs)
    assert law.groups(rows).counts.tolist() == [2.0] * 15
    # The density of the pairs is the normal one, by its covariance.
    draws = law.prior_draws(np.random.default_rng(1), law.reference(rows), rows, 1)
    residual = (np.log(rows["loss"]) - np.log(draws.mean(rows).values.ravel())).to_numpy()
    sigma, run_sd = (float(draws.sampled[name].item()) for name in ("sigma", "run_sd"))
    codes = law.groups(rows).codes
    covariance = sigma**2 * np.eye(len(rows)) + run_sd**2 * (codes[:, None] == codes)
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    exact = -0.5 * (residual @ np.linalg.solve(covariance, residual) + log_determinant)
    assert float(draws.total_log_likelihood().item()) == pytest.approx(exact)
    assert isinstance(draws.sampled, xr.Dataset)
