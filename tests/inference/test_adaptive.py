import numpy as np
import pytest
import xarray as xr
from bayescaling.inference.adaptive import sample_enough, thinned
from bayescaling.models.law import Effort

EFFORT = Effort(target_accept=0.8, careful=(0.99, 0.998), least_ess=1000, longest=64)


class Chains:
    """Chains of a normal variable, each draw `memory` of the one before; `apart` parts them, the first `early` runs."""

    def __init__(self, memory=0.0, *, apart=0.0, early=0, diverges_at=()):
        self.memory, self.apart, self.early, self.diverges_at, self.ran = memory, apart, early, diverges_at, []

    def __call__(self, settings, piece):
        self.ran.append((settings.draws, settings.target_accept, piece))
        rng = np.random.default_rng(len(self.ran))
        x = rng.standard_normal((settings.chains, settings.draws))
        fresh = np.sqrt(1 - self.memory**2) * rng.standard_normal(x.shape)
        for i in range(1, settings.draws):
            x[:, i] = self.memory * x[:, i - 1] + fresh[:, i]
        if len(self.ran) <= self.early:
            x += self.apart * np.arange(settings.chains)[:, None]
        diverging = np.zeros(x.shape, bool)
        diverging[0, 0] = settings.target_accept in self.diverges_at
        stats = {"diverging": diverging, "reached_max_treedepth": np.zeros(x.shape, bool)}
        places = {"chain": range(settings.chains), "draw": range(settings.draws)}
        return (
            xr.Dataset({"x": (("chain", "draw"), x)}, places),
            xr.Dataset({name: (("chain", "draw"), values) for name, values in stats.items()}, places),
        )


def enough(chains, **settings):
    drawn, posterior, stats, asked, diagnostics = sample_enough(chains, lambda x: (x, x), EFFORT, **settings)
    assert drawn.sizes == posterior.sizes == {"chain": 4, "draw": asked.draws}
    assert stats.sizes == {"chain": 4, "draw": asked.draws}
    assert diagnostics["divergences"] == int(stats["diverging"].sum())
    return posterior, asked, diagnostics


def test_chains_that_are_long_enough_run_once():
    chains = Chains()
    _, _, diagnostics = enough(chains)
    assert chains.ran == [(1000, 0.8, 0)] and "thinned_by" not in diagnostics


def test_chains_that_are_too_short_are_continued_with_what_they_drew():
    chains = Chains(0.95)  # 4,000 draws are worth about 100
    posterior, _, diagnostics = enough(chains)
    stride, (first, *more) = diagnostics["thinned_by"], chains.ran
    assert [piece for *_, piece in chains.ran] == list(range(len(chains.ran)))
    assert first[0] + sum(draws for draws, *_ in more) == 1000 * stride
    first_piece = Chains(0.95)(type("S", (), {"draws": 1000, "chains": 4, "target_accept": 0.8}), 0)[0]["x"].values
    every_stride = first_piece[:, ::stride]
    assert (posterior["x"].values[:, : every_stride.shape[1]] == every_stride).all()
    assert diagnostics["ess_bulk_min"] >= 1000
    assert float(posterior["x"].std()) == pytest.approx(1, abs=0.1)


def test_chains_far_apart_are_begun_anew():
    chains = Chains(apart=5.0, early=1)
    posterior, _, diagnostics = enough(chains)
    assert chains.ran == [(1000, 0.8, 0), (1000 * diagnostics["thinned_by"], 0.8, 0)]
    assert diagnostics["r_hat_max"] < 1.01
    assert float(posterior["x"].std()) == pytest.approx(1, abs=0.1)


def test_after_a_divergence_chains_are_begun_anew_with_smaller_steps_unless_steps_were_asked_for():
    chains = Chains(diverges_at=(0.8,))
    _, asked, diagnostics = enough(chains)
    assert chains.ran == [(1000, 0.8, 0), (1000, 0.99, 0)]
    assert asked.target_accept == 0.99 and diagnostics["divergences"] == 0
    chains = Chains(diverges_at=(0.8, 0.99))
    _, asked, diagnostics = enough(chains)
    assert [target for _, target, _ in chains.ran] == [0.8, 0.99, 0.998] and diagnostics["divergences"] == 0
    chains = Chains(diverges_at=(0.8, 0.99, 0.998))
    _, asked, diagnostics = enough(chains)
    assert asked.target_accept == 0.998 and diagnostics["divergences"] == 1
    chains = Chains(diverges_at=(0.8,))
    _, _, diagnostics = enough(chains, target_accept=0.8)
    assert chains.ran == [(1000, 0.8, 0)] and diagnostics["divergences"] == 1


def test_a_draw_that_is_kept_diverged_where_any_of_those_it_stands_for_did():
    diverging = np.zeros((2, 12), bool)
    diverging[0, 5] = diverging[1, 9] = diverging[1, 10] = True
    stats = xr.Dataset({"diverging": (("chain", "draw"), diverging), "lp": (("chain", "draw"), np.ones((2, 12)))})
    longer = thinned(stats.assign_coords(chain=[0, 1], draw=np.arange(12)), 4)
    assert longer["diverging"].dtype == bool
    assert longer["diverging"].values.tolist() == [[False, True, False], [False, False, True]]
    assert longer["draw"].values.tolist() == [0, 1, 2]
    assert longer["lp"].sizes == {"chain": 2, "draw": 3}
