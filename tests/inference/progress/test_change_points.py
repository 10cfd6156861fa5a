import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.progress.change_points import NONE, change_of_pace
from bayescaling.inference.progress.rate_at_rows import row_slopes
from bayescaling.models.laws import Progress
from bayescaling.models.progress.density import log_terms
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.models.progress.specifications import KNOTS
from scipy.special import logsumexp

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
BRIEF = {"draws": 300, "tune": 300, "least_ess": 0}


def simulated(evaluations, cutoff, change):
    """Draws of specification 1 whose yearly fall of log loss changes at a cutoff, by so many prior sds."""
    law = Progress(1, cutoff=cutoff)
    z = np.zeros((1, 1, law.dimension))
    z[..., law.slices["yearly_total"]][..., :2] = [1.0, change]
    z[..., law.slices["sigma"]] = -2.5
    z[..., law.slices["elasticity_parameters"]] = z[..., law.slices["elasticity_data"]] = 0.3
    return ProgressDraws(law, law.reference(evaluations), evaluations, z)


def with_a_change(evaluations, cutoff, change):
    """Evaluations drawn from `simulated`."""
    truth = simulated(evaluations, cutoff, change)
    loss = truth.replicate(np.random.default_rng(5)).values[0, 0]
    return evaluations.assign(perplexity=truth.law.from_scale(loss))


def test_a_simulated_change_is_found_where_it_is(evaluations):
    table = with_a_change(evaluations, 2019.0, 4.0)
    fitter, cutoffs = bs.progress.new_fitter(table), (2016.0, 2019.0, 2021.0)
    changes = change_of_pace(Progress(1), fitter=fitter, cutoffs=cutoffs, years=(2015, 2022), seed=1, **BRIEF)
    assert changes.table["probability"].sum() == pytest.approx(1)
    assert changes.p_change > 0.99 and changes.p_faster > 0.99
    assert changes.table["probability"].idxmax() == 2019.0
    assert float((changes.path.sel(year=2022) > changes.path.sel(year=2015)).mean()) > 0.99


def test_the_evidence_is_the_integral_of_the_likelihood_over_the_prior(evaluations):
    few = evaluations.iloc[::8].reset_index(drop=True)
    law = Progress(1, priors={"sigma": (0.3, 0.1)})  # a likelihood wide enough for draws of the prior to find it
    changes = change_of_pace(law, fitter=bs.progress.new_fitter(few), cutoffs=(2019.0,), years=(2018,), seed=1, **BRIEF)
    rng = np.random.default_rng(0)
    for cutoff, changed in ((NONE, law), (2019.0, law.with_options(cutoff=2019.0))):
        rows = changed.rows(few)
        with np.errstate(all="ignore"):  # the tails of the prior, where the loss is infinite
            prior = changed.prior_draws(rng, changed.reference(rows), rows, 200_000)
            density = prior.total_log_likelihood().values.ravel()
        weights = np.exp(density - density.max())
        brute = logsumexp(density) - np.log(len(density))
        se = weights.std() / weights.mean() / np.sqrt(len(weights))
        assert changes.table.loc[cutoff, "log_evidence"] == pytest.approx(
            brute, abs=4 * np.hypot(se, changes.table.loc[cutoff, "se"])
        )
        assert se < 0.2


def test_the_pace_at_a_date_is_that_of_the_year_slopes_in_force_then(progress_draws):
    draws = progress_draws(Progress(1, cutoff=2019.0))
    named = draws.named()
    first, second = np.exp(log_terms(draws.law, draws.c, draws.design))
    share = first / (first + second)
    slope_in_force = row_slopes(draws)[1].values
    for year, late in ((2015.0, 0.0), (2021.0, 1.0)):
        falls = [named[f"{s}_year"].values + late * named[f"{s}_year_change"].values for s in ("alpha", "beta")]
        fall, slope = row_slopes(draws, year=year)
        expected = share * falls[0][..., None] + (1 - share) * falls[1][..., None]
        np.testing.assert_allclose(fall, expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(slope, slope_in_force)


def test_a_walk_finds_the_paces_that_rows_were_simulated_from(evaluations):
    table = with_a_change(evaluations, 2018.0, 4.0)
    law = Progress(1, pace="random_walk")
    fit = bs.progress.new_fitter(table).fit(law=law, seed=1, draws=500, tune=500, least_ess=0)
    path, p_faster = bs.progress.pace_by_year(fit, years=(2013, 2017, 2019, 2023))
    simulation = simulated(evaluations, 2018.0, 4.0)
    assert p_faster > 0.9
    low, high = path.quantile([0.025, 0.975], ("chain", "draw"))
    for year in path["year"].values:
        fall, slope = row_slopes(simulation, year=year)
        truth = float(fall.mean() / slope.mean())
        assert low.sel(year=year) < truth < high.sel(year=year), year
    assert float((path.sel(year=2019) > path.sel(year=2017)).mean()) > 0.95


def test_the_steps_of_a_walk_grow_with_their_scale(progress_draws):
    law = Progress(7, pace="random_walk")
    draws = progress_draws(law)
    steps, named = law.slices["yearly_total"], draws.named()
    which = [j for j, drift in enumerate(law.drifts) if drift.step]
    assert len(which) == len(KNOTS)
    for knot, j in zip(KNOTS, which, strict=True):
        np.testing.assert_allclose(
            named[f"shared_year_change_{knot}"], named["pace_sd"] * draws.z[..., steps][..., j], rtol=1e-12
        )


def test_a_law_of_constant_pace_has_no_walk(progress_draws, evaluations):
    fit = bs.progress.new_fitter(evaluations).fit(law=Progress(1), seed=1, **BRIEF)
    with pytest.raises(bs.InputError, match="is no random walk"):
        bs.progress.pace_by_year(fit)
    for options in ({"cutoff": 2018.0}, {"penalty": 0.01}):
        with pytest.raises(bs.InputError, match="exclude each other"):
            Progress(1, pace="random_walk", **options)


@pytest.mark.parametrize(
    ("law", "cutoffs", "words"),
    [
        (Progress(1, cutoff=2018.0), (2016.0,), "give the law without one"),
        (Progress(16), (2016.0,), "no year slope"),
        (Progress(1), (1999.0,), "choose dates between"),
    ],
    ids=["cutoff", "no year slope", "no evaluations before"],
)
def test_a_pace_that_cannot_be_asked_is_refused_in_one_line(law, cutoffs, words):
    with pytest.raises(bs.InputError, match=words) as caught:
        change_of_pace(law, cutoffs=cutoffs)
    assert "\n" not in str(caught.value)
