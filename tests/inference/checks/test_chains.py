import arviz_base
import arviz_stats as azs
import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.inference import cut
from bayescaling.inference.adaptive import thinned
from bayescaling.inference.checks import chains

DIMS = ("chain", "draw")


def dataset(**values):
    return xr.Dataset({name: (DIMS, x) for name, x in values.items()})


def judged(**values):
    draws = dataset(**values)
    return chains.diagnose_chains(draws, xr.Dataset({"diverging": xr.zeros_like(draws["a"], dtype=bool)}))


@pytest.fixture
def normal():
    return np.random.default_rng(1).normal(size=(4, 1000))


def test_chains_that_mix_are_trusted(normal):
    diagnostics = judged(a=normal, b=normal**3)
    assert diagnostics["ok"] and diagnostics["distinct_draws"] == diagnostics["draws"] == 4000
    assert "distinct" not in chains.sentence(diagnostics)


@pytest.mark.parametrize("others", [False, True])
def test_draws_that_are_not_numbers_are_not_trusted(normal, others):
    spoilt = normal.copy()
    spoilt[1, 3:10] = np.nan
    diagnostics = judged(a=spoilt, **({"b": normal} if others else {}))
    assert not diagnostics["ok"]
    assert "7 of 4000 draws are not numbers (NaN): the law cannot be computed there" in diagnostics["warnings"]


def test_no_effective_size_exceeds_the_distinct_draws(normal):
    chosen = np.random.default_rng(2).choice(normal.ravel()[:971], (4, 1000))
    diagnostics = judged(a=chosen)
    assert float(azs.ess(dataset(a=chosen))["a"]) > 2000
    assert diagnostics["ok"] and diagnostics["distinct_draws"] == len(np.unique(chosen))
    assert max(diagnostics["ess_bulk_min"], diagnostics["ess_tail_min"]) <= diagnostics["distinct_draws"]
    assert chains.sentence(diagnostics).endswith(f"{diagnostics['distinct_draws']} of 4000 draws distinct")


def test_a_chain_that_stays_where_it_was_is_judged_by_its_autocorrelation(normal):
    negative = normal * np.where(np.arange(1000) % 2, 1, -1) + np.where(np.arange(1000) % 2, 2, -2)
    negative[:, 1::200] = negative[:, ::200]
    diagnostics = judged(a=negative)
    assert diagnostics["distinct_draws"] == len(np.unique(negative)) < diagnostics["draws"]
    assert diagnostics["draws"] < diagnostics["ess_bulk_min"] == pytest.approx(float(azs.ess(dataset(a=negative))["a"]))


def test_too_few_distinct_draws_are_not_trusted(normal):
    diagnostics = judged(a=np.random.default_rng(2).choice(normal.ravel()[:300], (4, 1000)))
    assert not diagnostics["ok"]
    assert diagnostics["warnings"] == ["300 of 4000 draws are distinct (below 400): draw more"]


def test_tails_are_those_of_5_and_95_percent_whatever_the_settings_of_arviz(normal):
    draws = dataset(a=normal)
    expected = float(azs.ess(draws, method="tail", prob=(0.05, 0.95))["a"])
    for level in (0.5, 0.89, 0.99):
        with arviz_base.rc_context({"stats.ci_prob": level}):
            assert judged(a=normal)["ess_tail_min"] == expected


def test_one_chain_of_a_cut_can_be_joined(normal):
    one = judged(a=normal[:1])
    assert one["r_hat_max"] is None and cut._worse(one, one)["r_hat_max"] is None


@pytest.mark.slow
def test_a_cut_counts_the_distinct_draws_of_the_laws_own_quantities(quiet):
    law = bs.laws.EmbeddingCorrected(scatter="one")
    fit = bs.fit(law, bs.load("chinchilla_runs"), seed=1, draws=300, tune=300)
    sampled = np.column_stack([fit["posterior"][name].values.ravel() for name in law.prior_of])
    diagnostics = fit.diagnostics
    assert diagnostics["distinct_draws"] == len(np.unique(sampled, axis=0)) < diagnostics["draws"] == 1200
    assert diagnostics["ess_bulk_min"] <= diagnostics["distinct_draws"]


def test_a_kept_draw_diverged_where_any_did_that_it_stands_for():
    diverging = np.zeros((2, 12), bool)
    diverging[0, 4] = diverging[1, 11] = True
    stats = xr.Dataset({"diverging": (("chain", "draw"), diverging)}, {"chain": [0, 1], "draw": np.arange(12)})
    longer = thinned(stats, 3)["diverging"]
    assert longer.dtype == bool and longer["draw"].values.tolist() == [0, 1, 2, 3]
    assert longer.values.tolist() == [[False, True, False, False], [False, False, False, True]]
