import json

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import compile_density
from bayescaling.models import law as law_named
from bayescaling.models.progress import density
from bayescaling.models.progress.density import PENALISED as COVERED
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.models.progress.law import Progress
from bayescaling.models.progress.specifications import KNOTS, SPECIFICATIONS, Specification
from scipy import stats

# Ho et al. (2024), table 10: levels of const, y, n in eta_N and y, d in eta_D; 1 common, b benchmark, t architecture.
TABLE = {
    1: "1 1 1 1 1", 2: "1 - 1 1 1", 3: "1 1 1 - 1", 4: "1 b 1 1 1", 5: "1 1 1 b 1", 6: "1 b 1 b 1", 7: "b 1 1 1 1",
    8: "b - 1 1 1", 9: "b 1 1 - 1", 10: "b b 1 b 1", 11: "b b b b b", 12: "b s 1 s 1", 13: "b 1 t 1 t", 14: "b - 1 - 1",
    15: "b 1 1 1 1", 16: "b - 1 - 1", 17: "b - t - t", 18: "b 1 1 - -", 19: "b 1 1 1 1", 20: "b 1 1 1 1",
}  # fmt: skip
VOCABULARY = {"ptb": 10_000, "wt2": 33_278, "wt103": 268_000}
CUTOFFS = ({"cutoff": 2018.0}, {"cutoff": 2019.5, "cutoff_form": "jump"})
DATA = tuple(
    {"data": data, "unknown_epochs": unknown}
    for data in ("dataset", "tokens_seen", "diminishing", "repeated")
    for unknown in ("one", "drop")
)
VARIANTS = (
    {},
    {"noise": "student_t"},
    {"scale": "log_loss"},
    {"noise": "student_t", "scale": "log_loss"},
    {"transformer": "exp"},
    {"transformer": "sigmoid", "irreducible": True, "pooling": True},
    {"irreducible": True},
    {"pooling": True},
    {"paper_effects": True, "irreducible": True},
    {"scatter": "by_benchmark"},
    {"scatter": "by_benchmark", "noise": "student_t"},
    {"scatter": "by_benchmark", "paper_effects": True},
    {"architectures": "other"},
    {"unknown_vocabulary": "drop"},
    {"penalty": 0.0025},
    {"priors": {"share": (0.0, 2.0), "sigma": "LogNormal(-1, 0.3)"}},
    *DATA,
    *CUTOFFS,
    {"pace": "random_walk"},
    {"pace": "random_walk", "paper_effects": True},
)
# No year slope that could change.
UNCUT = {14: "no year slope", 16: "no year slope", 17: "no year slope"}


def dataset_size(law, rows):
    """D by its definition in the option, for one table."""
    kind = law.data or ("diminishing" if law.specification == 20 else "dataset")
    u, e = rows["dataset_tokens"].to_numpy(), np.where(rows["epochs"].isna(), 1, rows["epochs"])
    return {
        "dataset": u,
        "tokens_seen": u * e,
        "diminishing": u * (1 + 2.9157 * (1 - np.exp(-e / 2.9157))),
        "repeated": u * (1 + 15.39 * (1 - np.exp(-(e - 1) / 15.39))),
    }[kind]


def kept_rows(law, table):
    keep = np.ones(len(table), bool)
    if law.architectures == "other":
        keep &= table["transformer"].to_numpy() == 0
    if law.unknown_vocabulary == "drop":
        keep &= table["vocabulary"].notna().to_numpy()
    if law.unknown_epochs == "drop" and (law.data or "dataset") != "dataset":
        keep &= table["epochs"].notna().to_numpy()
    return table[keep].reset_index(drop=True)


def by_the_table(law, named, table):
    """Mean loss of each row, (chain, draw, row), from the named coefficients and table 10."""
    k, rows = law.specification, kept_rows(law, table)
    size = dataset_size(law, rows)
    n = np.log(rows["parameters"] / rows["parameters"].min()).to_numpy()
    d = np.log(size / size.min())
    date = rows["year"].to_numpy()
    y, central = date - date.min(), np.exp(np.log(date).mean())
    architecture = rows["transformer"].map({1: "transformer", 0: "other"}).to_numpy()
    row_level = {"b": ("benchmark", rows["benchmark"].to_numpy()), "t": ("architecture", architecture)}

    def v(name, level):
        if level == "-":
            assert name not in named
            return 0.0
        if level == "1":
            assert named[name].dims == ("chain", "draw"), name
            return named[name].values[..., None]
        dim, labels = row_level[level]
        assert named[name].dims == ("chain", "draw", dim), name
        return named[name].sel({dim: labels}).values

    def yearly(prefix, level):
        prefix, level = ("shared", "1") if level == "s" else (prefix, level)
        fall = v(f"{prefix}_year", level) * y
        if law.cutoff is not None:
            late = date >= law.cutoff
            since = date - (law.cutoff if law.cutoff_form == "hinge" else date.min())
            fall = fall + v(f"{prefix}_year_change", level) * late * since
        if law.pace == "random_walk":
            for knot in KNOTS:
                both = f"shared_year_change_{knot}"
                name = both if both in named else f"{prefix}_year_change_{knot}"
                fall = fall + v(name, "-" if level == "-" else "1") * np.maximum(0, date - knot)
        return fall

    def exponent(prefix, name, level):
        drift = v(f"{prefix}_{name}_rate", "1") * central * np.log(date / central) if k in (14, 15) else 0.0
        return v(f"{prefix}_{name}", level) + drift

    const, year_n, size_n, year_d, size_d = TABLE[k].split()
    if k == 18:
        reducible = np.exp(v("alpha_const", "b") - yearly("alpha", "1") - v("alpha_compute", "1") * (n + d))
        assert not [name for name in named if name.startswith("beta")]
    else:
        eta_n = v("alpha_const", const) - yearly("alpha", year_n) - exponent("alpha", "param", size_n) * n
        eta_d = v("beta_const", const) - yearly("beta", year_d) - exponent("beta", "data", size_d) * d
        reducible = np.exp(eta_n) + np.exp(eta_d)
    if law.transformer:
        gamma = v("gamma_transformer", "1")
        factor = np.exp(gamma) if law.transformer == "exp" else 1 / (1 + np.exp(-gamma))
        reducible = reducible * np.where(rows["transformer"] == 1, factor, 1.0)
    if law.irreducible:
        reducible = reducible + v("irreducible", const)
    if k == 19:
        words = rows["vocabulary"].fillna(rows["benchmark"].map(VOCABULARY)).to_numpy()
        reducible = reducible + v("gamma_vocabulary", "1") * np.log(words)
    return reducible


def refused(k, options):
    return ("cutoff" in options or "pace" in options) and k in UNCUT


@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_the_mean_is_the_formula_of_table_10_in_the_named_coefficients(k, evaluations, progress_draws):
    for options in VARIANTS:
        if refused(k, options):
            with pytest.raises(bs.InputError, match=UNCUT[k]):
                progress_draws(Progress(k, **options))
            continue
        law = Progress(k, **options)
        draws = progress_draws(law, seed=k, spread=0.5)
        assert draws.c["reducible"].min() > density.LEAST_REDUCIBLE
        expected = by_the_table(law, draws.named(), evaluations)
        np.testing.assert_allclose(draws.mean(), expected, rtol=1e-9, err_msg=str(options))


def scatter_of(law, named, rows):
    """Sigma of each row by the names of a fit."""
    if law.scatter == "one":
        return named["sigma"].values[..., None] * np.ones(len(rows))
    return named["sigma_benchmark"].sel(benchmark=rows["benchmark"].to_numpy(object)).values


@pytest.mark.parametrize("options", [o for o in VARIANTS if "paper_effects" not in o], ids=str)
def test_residuals_have_the_named_noise(options, evaluations, progress_draws):
    law = Progress(7, **options)
    draws = progress_draws(law)
    named, observed = draws.named(), np.log(kept_rows(law, evaluations)["perplexity"].to_numpy())
    mean, sigma = by_the_table(law, named, evaluations), scatter_of(law, named, draws.rows)
    if law.scale == "log_loss":
        observed, mean = np.log(observed), np.log(mean)
    noise = stats.t(named["nu"].values[..., None]) if law.noise == "student_t" else stats.norm
    expected = noise.logpdf((observed - mean) / sigma) - np.log(sigma)
    np.testing.assert_allclose(draws.log_likelihood(), expected, rtol=1e-9)


@pytest.mark.parametrize(("k", "scatter"), [(7, "one"), (13, "one"), (18, "one"), (7, "by_benchmark")])
def test_paper_effects_are_compound_symmetry(k, scatter, evaluations, progress_draws):
    law = Progress(k, paper_effects=True, scatter=scatter)
    draws = progress_draws(law, draws=2)
    named, papers = draws.named(), evaluations["paper_id"].to_numpy()
    residual = np.log(evaluations["perplexity"].to_numpy()) - by_the_table(law, named, evaluations)[0]
    together, conditional = draws.by_paper()[0], draws.rowwise()[0]
    sigmas = scatter_of(law, named, evaluations)[0]
    for draw in range(2):
        sigma, tau = (float(named[name][0, draw]) for name in ("sigma", "paper_sd"))
        assert float(named["rho"][0, draw]) == pytest.approx(tau**2 / (tau**2 + sigma**2))
        for j, paper in enumerate(np.unique(papers)):
            rows = np.flatnonzero(papers == paper)
            r = residual[draw, rows]
            cov = np.diag(sigmas[draw, rows] ** 2) + tau**2
            joint = stats.multivariate_normal(cov=cov).logpdf(r)
            assert together[draw, j] == pytest.approx(joint)
            for i, row in enumerate(rows):
                rest = np.delete(np.arange(len(rows)), i)
                weights = cov[i, rest] @ np.linalg.inv(cov[np.ix_(rest, rest)]) if len(rest) else np.zeros(0)
                centre, variance = weights @ r[rest], cov[i, i] - weights @ cov[rest, i]
                assert conditional[draw, row] == pytest.approx(stats.norm.logpdf(r[i], centre, np.sqrt(variance)))


# Every coefficient by benchmark: the others have parts of the same code.
USUAL = (11,)
GRAPHS = [(k, {}) for k in SPECIFICATIONS] + [
    pytest.param(k, options, marks=[] if k in USUAL else [pytest.mark.thorough])
    for k in (1, 7, 11, 14, 18, 19)
    for options in VARIANTS[1:]
    if not refused(k, options)
]


@pytest.mark.parametrize(("k", "options"), GRAPHS, ids=str)
def test_a_traced_density_and_its_parts_agree(k, options, progress_draws):
    law = Progress(k, **options)
    draws = progress_draws(law, draws=2)
    prior = law.log_prior(draws.z, draws.c, draws.design)
    likelihood = draws.total_log_likelihood()
    if not law.paper_effects:
        np.testing.assert_allclose(likelihood, draws.log_likelihood().sum("evaluation"), rtol=1e-12)
    if law.penalty is None:
        np.testing.assert_allclose(prior, stats.norm.logpdf(draws.z).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(draws.log_density(), prior + likelihood, rtol=1e-12)
    np.testing.assert_allclose(draws.log_prior()["z"], prior, rtol=1e-12)
    of_law = law.density(draws.rows, draws.reference)
    traced = compile_density(of_law)
    np.testing.assert_allclose([traced(z, of_law)[0] for z in draws.z[0]], (prior + likelihood)[0], rtol=1e-10)


@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_units_and_the_order_of_rows_do_not_matter(k, evaluations, progress_draws):
    law, shuffled = Progress(k), evaluations.sample(frac=1, random_state=0)
    density = progress_draws(law).log_density()
    millions = evaluations.assign(parameters=evaluations["parameters"] / 1e6, year=evaluations["year"])
    words = millions.assign(dataset_tokens=evaluations["dataset_tokens"] / 1.3)
    for table in (words, shuffled, *([] if k in (14, 15) else [words.assign(year=words["year"] - 2000)])):
        np.testing.assert_allclose(progress_draws(law, table=table).log_density(), density, rtol=1e-9)
    later = evaluations.assign(year=evaluations["year"] * 1.1)
    assert np.allclose(progress_draws(law, table=later).log_density(), density, rtol=1e-6) == (k in (16, 17))


def papers_coefficients(law, reference, named):
    """Coefficients as Ho et al. code them, (draw, coefficient): a constant and offsets, log(Y) not centred."""
    theta, central = [], reference["Yc"]
    for name, x in named.data_vars.items():
        if name in ("sigma", "loss_centre", "parameter_share", "transformer_factor", "irreducible", "nu"):
            continue
        by_benchmark = "benchmark" in x.dims
        x = x.values[0].reshape(x.shape[1], -1)
        if by_benchmark:
            x = np.column_stack([x[:, 0], x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]])
        if f"{name}_rate" in named:
            x = x - named[f"{name}_rate"].values[0][:, None] * central * np.log(central)
        theta.append(x * central if name.endswith("_rate") else x)
    return np.concatenate(theta, axis=1)


PENALISED = [(k, {}) for k in (1, 2, 3, 5, 7, 11, 12, 14, 15, 17, 18, 19)] + [
    (7, {"transformer": "exp"}), (7, {"irreducible": True}), (19, {"irreducible": True}), (10, CUTOFFS[1])
]  # fmt: skip


@pytest.mark.parametrize(("k", "options"), PENALISED, ids=str)
def test_the_penalty_is_the_papers_objective_as_a_density_of_its_coefficients(k, options, evaluations, progress_draws):
    delta, rows = 0.0025, len(evaluations)
    law = Progress(k, penalty=delta, **options)
    draws = progress_draws(law, draws=5, spread=0.4)

    def theta(z):
        named = ProgressDraws(law, draws.reference, evaluations, z[None]).named()
        return papers_coefficients(law, draws.reference, named)

    covered = np.concatenate([np.arange(law.dimension)[law.slices[name]] for name in law.slices if name in COVERED])
    assert theta(draws.z[0]).shape[1] == len(covered)
    sigma, left = draws.c["sigma"][0, :, 0], []
    for i, z in enumerate(draws.z[0]):
        step = 1e-5 * np.eye(law.dimension)[covered]
        jacobian = (theta(z + step) - theta(z - step)) / 2e-5
        error = np.log(evaluations["perplexity"]) - draws.mean().values[0, i]
        objective = (error**2).mean() + delta * np.abs(theta(z[None])).sum()
        density = -rows * objective / (2 * sigma[i] ** 2)
        normaliser = -rows * np.log(sigma[i]) - len(covered) * np.log(4 * sigma[i] ** 2 / (rows * delta))
        others = stats.norm.logpdf(np.delete(z, covered)).sum()
        left.append(density + normaliser + others + np.linalg.slogdet(jacobian)[1])
    # Equal but for a constant, at different sigma too: the Laplace density's normaliser is in.
    offset = draws.log_density()[0] - left
    assert np.ptp(sigma) > 0.01
    np.testing.assert_allclose(offset, offset[0], atol=1e-4)


LAWS = [(k, {}) for k in SPECIFICATIONS if k != 3] + [(10, o) for o in VARIANTS]
LAWS += [(Specification("b + y + t:n", "b + b:y + d", vocabulary=True), {"pooling": True})]


@pytest.mark.parametrize(("k", "options"), LAWS, ids=str)
def test_a_law_is_rebuilt_from_what_a_fit_stores(k, options, progress_draws):
    law = Progress(k, **options)
    again = law_named(law.name, **json.loads(json.dumps(law.options, allow_nan=False)))
    assert again == law
    assert law != Progress(3)
    assert (law == Progress(k)) == (not options)
    np.testing.assert_array_equal(progress_draws(again).log_density(), progress_draws(law).log_density())
