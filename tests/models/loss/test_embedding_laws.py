import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import scipy.stats as st
from bayescaling.inference import Fitter
from bayescaling.inference.samplers.program import Program
from bayescaling.models.laws import law as named
from bayescaling.models.loss import embeddings
from bayescaling.models.loss.sizes import chinchilla_configurations

SLOPES = ("sigma_parameters", "sigma_parameters_nonembedding", "sigma_tokens")
SCATTER = {"sigma": 0.004, "nu_minus_one": 8.0} | dict.fromkeys(SLOPES, 0.0)
WEIGHTED = {"loss_centre": 2.58, "reducible_share": 0.3, "parameter_share": 0.49, "alpha": 0.35, "beta": 0.36}
FAMILY = ((1e6, 8e5), (1e7, 9e6), (1e8, 9.5e7), (1e9, 9.8e8), (2e9, 1.97e9))
KAPLAN = {"loss_centre": 2.58, "parameter_share": 0.45, "aN": 0.08, "aD": 0.1}


def simulated(law, values, runs, seed=1):
    return runs.assign(loss=law.simulate(values | SCATTER, runs, np.random.default_rng(seed)))


def covers(draws, truth, tail=0.005):
    low, high = np.quantile(draws, [tail, 1 - tail])
    return low < truth < high


@pytest.fixture(scope="module")
def small(runs):
    """Runs a thousandth the size of Chinchilla's, of which embeddings are a large and varying part."""
    rng = np.random.default_rng(4)
    parameters = runs["parameters"] / 1e3
    share = rng.uniform(0.1, 0.9, len(runs))
    return runs.assign(
        parameters=parameters,
        parameters_nonembedding=share * parameters,
        training_flop=6 * parameters * runs["tokens"],
    )


def test_weight_one_is_the_chinchilla_law(runs):
    weighted, plain = bs.laws.EmbeddingWeighted(omega=1.0), bs.laws.Chinchilla()
    columns = {name: runs[name].to_numpy() for name in weighted.columns}
    constants = {"E": 1.8, "A": 480.0, "B": 2000.0, "alpha": 0.35, "beta": 0.36}
    assert np.allclose(weighted.mean(constants, columns), plain.mean(constants, columns), rtol=1e-13)
    reference = weighted.reference(runs)
    centre = weighted.constants(WEIGHTED, reference)
    at_centre = {
        "parameters_nonembedding": reference["reference_nonembedding"],
        "parameters": reference["reference_nonembedding"] * reference["reference_ratio"],
        "tokens": reference["reference_tokens"],
    }
    assert weighted.mean(centre, at_centre) == pytest.approx(WEIGHTED["loss_centre"], rel=1e-12)
    assert centre == pytest.approx(plain.constants(WEIGHTED, plain.reference(runs)), rel=1e-12)


@pytest.mark.parametrize(
    "law",
    [
        bs.laws.EmbeddingWeighted(omega=0.5, noise="normal"),
        bs.laws.EmbeddingCorrected(delta=1 / 3),
        bs.laws.EmbeddingCorrected(joint=True, configurations=FAMILY),
        bs.laws.Kaplan(priors={"aN": "LogNormal(-2.5, 0.5)"}),
        bs.laws.Configurations(delta=1 / 3),
    ],
    ids=lambda law: law.name,
)  # fmt: skip
def test_a_law_is_rebuilt_from_its_name_and_options(law):
    assert named(law.name, **law.options) == law


@pytest.fixture(scope="module")
def weighted_fitter(small):
    return Fitter(bs.laws.EmbeddingWeighted(), simulated(bs.laws.EmbeddingWeighted(), WEIGHTED | {"omega": 1.0}, small))


@pytest.mark.parametrize("omega", [0.5, 2.0])
def test_a_known_weight_comes_back(weighted_fitter, small, omega):
    values = WEIGHTED | {"omega": omega}
    posterior = weighted_fitter.fit(simulated(weighted_fitter.law, values, small), seed=2)["posterior"]
    assert all(covers(posterior[name], values[name]) for name in ("omega", "alpha", "beta"))
    assert float(posterior["omega"].std()) < 0.3


@pytest.fixture(scope="module")
def kaplan_fit(small):
    return bs.fit(bs.laws.Kaplan(), simulated(bs.laws.Kaplan(), KAPLAN, small), seed=2, check=False)


@pytest.mark.thorough
def test_kaplans_law_gives_its_constants_back(kaplan_fit, small):
    posterior = kaplan_fit["posterior"]
    assert all(covers(posterior[name], KAPLAN[name]) for name in KAPLAN)
    truth = bs.laws.Kaplan().constants(KAPLAN, bs.laws.Kaplan().reference(small))
    assert covers(posterior["Nc"], truth["Nc"]) and covers(posterior["exponent_parameters"], 0.1 / 0.18)


@pytest.mark.thorough
def test_kaplans_law_wins_on_its_own_runs_and_is_kept_whole(kaplan_fit, small, tmp_path):
    table = simulated(bs.laws.Kaplan(), KAPLAN, small)
    other = bs.fit(bs.laws.EmbeddingWeighted(omega=0.0), table, seed=2, check=False)
    compared = bs.compare({"kaplan": kaplan_fit, "weighted": other})
    assert compared.index[0] == "kaplan" and (compared["k_above_0.7"] == 0).all()
    kaplan_fit.save(tmp_path / "kaplan.nc")
    opened = bs.open(tmp_path / "kaplan.nc")
    assert opened.law == bs.laws.Kaplan()
    assert opened["posterior"]["Nc"].equals(kaplan_fit["posterior"]["Nc"])


@pytest.fixture(scope="module")
def corrected(runs):
    """Corrected law by the cut, on runs whose losses speak for twice the embedding parameters."""
    relation = embeddings.total(runs["parameters_nonembedding"], 2 * 47491.0)
    loss = bs.laws.Chinchilla().simulate(WEIGHTED | SCATTER, runs.assign(parameters=relation), np.random.default_rng(5))
    return bs.fit(bs.laws.EmbeddingCorrected(scatter="one"), runs.assign(loss=loss), seed=3, check=False)


def test_losses_do_not_move_the_relation_of_sizes_under_the_cut(corrected):
    sizes, cut = (
        bs.fit(bs.laws.Configurations(), chinchilla_configurations(), seed=3, check=False)["posterior"],
        corrected["posterior"],
    )
    for name in ("gamma", "delta"):
        alone, spread = np.log(sizes[name]), float(np.log(sizes[name]).std())
        # A hundred imputations stand for the posterior of the sizes.
        assert float(np.log(cut[name]).mean()) == pytest.approx(float(alone.mean()), abs=4 * spread / 10)
        assert float(np.log(cut[name]).std()) == pytest.approx(spread, rel=0.35)


def test_under_the_cut_each_draw_has_the_likelihood_of_its_own_sizes(corrected, runs):
    for chain, draw in ((0, 0), (2, 7), (3, 999)):
        one = {name: float(x[chain, draw]) for name, x in corrected["posterior"].data_vars.items()}
        parameters = runs["parameters_nonembedding"] + one["gamma"] * runs["parameters_nonembedding"] ** one["delta"]
        mean = one["E"] + one["A"] / parameters ** one["alpha"] + one["B"] / runs["tokens"] ** one["beta"]
        observed = corrected["observed_data"]["log_loss"].values
        expected = st.t(one["nu"], np.log(mean), one["sigma"]).logpdf(observed)
        np.testing.assert_allclose(corrected["log_likelihood"]["log_loss"][chain, draw], expected, rtol=1e-8)


# Sizes of a family at delta = 1/3 and gamma 20,000, each off the relation by the same factor up or down.
def family_with_scatter(scatter):
    nonembedding = np.geomspace(1e5, 1e8, 8)
    off = np.exp(scatter * np.array([1, -1, -1, 1, 1, -1, -1, 1]))
    return tuple(zip(embeddings.total(nonembedding, 20_000.0) * off, nonembedding, strict=True))


def of_the_family(runs, gamma, sigma):
    """Runs of sizes at which embeddings are from a tenth to most of a model, with losses of N_T at a gamma."""
    nonembedding = runs["parameters_nonembedding"] / 100
    table = runs.assign(parameters=embeddings.total(nonembedding, gamma), parameters_nonembedding=nonembedding)
    values = WEIGHTED | SCATTER | {"sigma": sigma}
    return table.assign(loss=bs.laws.Chinchilla().simulate(values, table, np.random.default_rng(5)))


@pytest.mark.thorough
def test_divergences_of_imputations_that_were_sampled_anew_are_told(runs, monkeypatch, quiet):
    original, calls = Program.sample, []

    def diverging(self, *arguments, **options):
        posterior, stats, seconds = original(self, *arguments, **options)
        calls.append(self)
        # After the fit of the sizes and the one at the point estimate.
        stats["diverging"].values[0, 0] = len(calls) > 2
        stats["diverging"].values[0, 1:] = stats["diverging"].values[1:] = False
        return posterior, stats, seconds

    monkeypatch.setattr(Program, "sample", diverging)
    law = bs.laws.EmbeddingCorrected(delta=1 / 3, configurations=family_with_scatter(0.018))
    diagnostics = bs.fit(
        law, of_the_family(runs, 20_000.0, sigma=0.004), seed=3, draws=250, tune=500, check=False
    ).diagnostics
    assert diagnostics["divergences"] == diagnostics["imputations_refitted"] == len(calls) - 2 > 0
    assert not diagnostics["ok"] and len(set(diagnostics["warnings"])) == len(diagnostics["warnings"])


@pytest.mark.thorough
def test_under_the_cut_the_loss_is_that_of_a_fit_at_each_gamma(runs):
    table = of_the_family(runs, 20_000.0, sigma=0.004)
    law = bs.laws.EmbeddingCorrected(delta=1 / 3, configurations=family_with_scatter(0.018))
    cut = bs.fit(law, table, seed=3, check=False)
    # Draws at the ends are sampled again, those further in are weighted.
    assert 0 < cut.record["diagnostics"]["imputations_refitted"] < 50
    assert cut.record["diagnostics"]["imputation_k_max"] > 0.7
    centre = law.reference(table)
    row = table.iloc[:1].assign(parameters=centre["reference_parameters"], tokens=centre["reference_tokens"])
    posterior = cut["posterior"]
    gammas, fitter = np.unique(posterior["gamma"]), Fitter(bs.laws.Chinchilla(), table)
    for gamma in gammas[[0, 15, -15, -1]]:
        sized = table.assign(parameters=embeddings.total(table["parameters_nonembedding"], gamma))
        exact = fitter.fit(sized, seed=4).predict(row, noise=False)["loss"].values
        chosen = posterior["loss_centre"].values[posterior["gamma"].values == gamma]
        assert len(chosen) >= 40
        assert chosen.mean() == pytest.approx(exact.mean(), abs=5 * exact.std() / np.sqrt(40))
        assert chosen.std() == pytest.approx(exact.std(), rel=0.5)


@pytest.mark.thorough
def test_jointly_informative_losses_move_the_relation_of_sizes(runs):
    table, family = of_the_family(runs, 26_000.0, sigma=1e-4), family_with_scatter(0.15)
    sizes = pd.DataFrame(family, columns=["parameters", "parameters_nonembedding"])
    alone = bs.fit(bs.laws.Configurations(delta=1 / 3), sizes, seed=3, check=False)["posterior"]["gamma"]
    law = bs.laws.EmbeddingCorrected(delta=1 / 3, joint=True, configurations=family)
    fit = bs.fit(law, table, seed=3, draws=2000, target_accept=0.99, check=False)
    joint = fit["posterior"]["gamma"]
    assert covers(alone, 20_000) and covers(joint, 26_000) and not covers(joint, 20_000)
    assert float(joint.std()) < 0.6 * float(alone.std())
    assert np.isfinite(fit.loo().elpd)


@pytest.mark.filterwarnings("ignore:.*Pareto k is above")
def test_a_fit_by_the_cut_is_kept_whole_and_compared(corrected, tmp_path):
    corrected.save(tmp_path / "cut.nc")
    opened = bs.open(tmp_path / "cut.nc")
    assert opened.law == bs.laws.EmbeddingCorrected(scatter="one")
    assert opened.loo().elpd == pytest.approx(corrected.loo().elpd, rel=1e-9)
    diagnostics = opened.record["diagnostics"]
    assert diagnostics["imputation_k_max"] < 0.7 or diagnostics["imputations_refitted"] > 0


def bad(runs, **changes):
    return runs.assign(**changes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: bs.laws.EmbeddingWeighted(omega=-1), "omega must be a number of at least 0"),
        (lambda _: bs.laws.EmbeddingWeighted(omega="x"), "omega must be a number of at least 0"),
        (lambda _: bs.laws.EmbeddingWeighted(omega=float("nan")), "omega must be a number of at least 0"),
        (lambda _: bs.laws.EmbeddingWeighted(omega=1.0, priors={"omega": "Exponential(1)"}), "not known to this law"),
        (lambda _: bs.laws.EmbeddingWeighted(priors={"omega": "Normal(1, 1)"}), r"omega lies in \(0, inf\)"),
        (lambda _: bs.laws.EmbeddingCorrected(delta=1.5), r"delta must lie between 0 and 1, .* not 1\.5"),
        (lambda _: bs.laws.EmbeddingCorrected(delta="x"), "delta must lie between 0 and 1, .* not 'x'"),
        (lambda _: bs.laws.Configurations(delta=0), "delta must lie between 0 and 1"),
        (lambda _: bs.laws.Configurations(measurement_error=True), "models are read once"),
        (lambda _: bs.laws.EmbeddingCorrected(priors={"gamma": "Normal(1, 1)"}), "is derived, not sampled"),
        (lambda runs: bs.fit(bs.laws.EmbeddingWeighted(), runs.drop(columns="parameters_nonembedding")), "non"),
        (
            lambda runs: bs.fit(bs.laws.Kaplan(), runs.drop(columns="parameters_nonembedding")),
            "parameters_nonembedding",
        ),
        (
            lambda runs: bs.fit(bs.laws.EmbeddingWeighted(), bad(runs, parameters_nonembedding=runs["parameters"])),
            "are equal in every row",
        ),
        (
            lambda runs: bs.fit(bs.laws.EmbeddingWeighted(), bad(runs, parameters_nonembedding=2 * runs["parameters"])),
            "row 1 has parameters_nonembedding",
        ),
        (lambda _: bs.laws.EmbeddingCorrected(configurations=((1e6, 2e6), (1e7, 9e6))), "configurations"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(runs, make, words):
    with pytest.raises(bs.InputError, match=words) as error:
        make(runs)
    assert len(str(error.value).splitlines()) == 1


def test_the_table_of_sizes_is_the_users(runs):
    models = pd.DataFrame({"parameters_nonembedding": np.geomspace(1e5, 1e9, 9)})
    models["parameters"] = embeddings.total(models["parameters_nonembedding"], 9000.0)
    law = bs.laws.EmbeddingCorrected(configurations=tuple(models[["parameters", "parameters_nonembedding"]].to_numpy()))
    assert law.reference(runs)["gamma"] == pytest.approx(9000, rel=1e-3)
    assert bs.laws.EmbeddingCorrected().reference(runs)["gamma"] == pytest.approx(47490, rel=1e-3)
