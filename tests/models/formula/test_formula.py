import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.formulas import parse_formula
from bayescaling.models.formula.law import Formula
from bayescaling.models.formula.roles import assign_roles
from bayescaling.models.loss.chinchilla import Chinchilla
from scipy import stats

SHORT = {"draws": 500, "tune": 500}
SIZES = np.exp(np.linspace(np.log(1e6), np.log(1e9), 24))


def table(noise=0.01, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"n": SIZES, "y": (1.8 + 60 * SIZES**-0.25) * np.exp(noise * rng.standard_normal(len(SIZES)))})


def quantiles(fit, name):
    return fit["posterior"][name].quantile([0.01, 0.5, 0.99]).values


@pytest.mark.parametrize(
    ("formula", "columns", "roles"),
    [
        ("y ~ E + A * n**-a", "n", "amplitude amplitude exponent"),
        ("y ~ 1 - (1 + n / n0)**-b", "n", "relative exponent"),
        ("y ~ low + (top - low) / (1 + exp(-k * (log10(n) - m)))", "n", "level level steepness place"),
        ("y ~ A * (n * (1 - exp(-bits / g)))**-a", "n bits", "amplitude relative exponent"),
        ("y ~ ((nc / n)**(an / ad) + dc / d)**ad", "n d", "carrier exponent exponent carrier"),
        ("y ~ A * n**-a + B * exp(-((log(n) - m) / w)**2)", "n", "amplitude exponent amplitude place steepness"),
        ("y ~ c + exp(t1 * r1 + t2 * r2)", "r1 r2", "amplitude rate rate"),
        ("y ~ c + (g / G**gamma + a) / n**alpha", "n G", "amplitude amplitude exponent amplitude exponent"),
        ("y ~ b * n**-c0 * (1 + (n / d1)**(1 / f1))**(-c1 * f1)", "n", "amplitude exponent relative exponent exponent"),
    ],
)
def test_what_a_constant_is_follows_from_its_place(formula, columns, roles):
    found = assign_roles(parse_formula(formula), columns.split())
    assert [role.kind for role in found.values()] == roles.split()


def test_a_constant_whose_place_tells_nothing_needs_a_prior():
    with pytest.raises(bs.InputError, match=r"the place of the constant 'q' .* priors=\{'q'"):
        assign_roles(parse_formula("y ~ A * q * n**-a"), ["n"])


def test_it_recovers_constants():
    fit = bs.fit("y ~ E + A * n**-a", table(), **SHORT)
    for name, truth in {"E": 1.8, "A": 60, "a": 0.25}.items():
        low, _, high = quantiles(fit, name)
        assert low < truth < high
    assert fit.diagnostics["ok"]


def test_whole_powers_are_of_what_is_negative_too():
    x = np.linspace(0.05, 0.9, 20)
    y = (2 + 0.03 * np.log(x) ** 4) * np.exp(0.005 * np.random.default_rng(0).standard_normal(len(x)))
    fit = bs.fit("y ~ a + b * log(x)**4", pd.DataFrame({"x": x, "y": y}), **SHORT)
    for name, truth in {"a": 2, "b": 0.03}.items():
        low, _, high = quantiles(fit, name)
        assert low < truth < high
    assert fit.ask("y at x = 0.1")["q50"].iloc[0] == pytest.approx(2 + 0.03 * np.log(0.1) ** 4, rel=0.01)


@pytest.mark.parametrize("noise", ["relative", "additive"])
@pytest.mark.parametrize(("x", "y"), [(1e-6, 1.0), (1.0, 100.0)])
def test_units_do_not_matter(x, y, noise):
    as_it_is = table()
    densities = []
    for rows in (as_it_is, as_it_is.assign(n=x * as_it_is["n"], y=y * as_it_is["y"])):
        law = bs.laws.Formula("y ~ E + A * n**-a", noise=noise).suited(rows)
        draws = law.prior_draws(np.random.default_rng(0), law.reference(rows), law.rows(rows), 20)
        densities.append(draws.log_density().values)
    assert np.diff(densities[1] - densities[0]) == pytest.approx(0, abs=1e-6 * abs(densities[0]).max())


@pytest.mark.parametrize("tails", ["", "normal"])
def test_what_is_sampled_in_the_place_of_constants_takes_priors(tails):
    priors = {"centre": "LogNormal(0, 0.5)", "share_E": "Beta(2, 2)"}
    law = bs.laws.Formula("y ~ E + A * n**-a", tails=tails, priors=priors).suited(table())
    assert {name: str(law.prior_of[name]) for name in priors} == priors
    with pytest.raises(bs.InputError, match="priors can be set on a, centre, share_E, sigma"):
        bs.laws.Formula("y ~ E + A * n**-a", tails="normal", priors={"share_A": "Beta(2, 2)"}).suited(table())


def test_a_formula_of_groups_alone_takes_the_priors_of_what_it_samples_and_no_others():
    rows = table().assign(g=np.resize([*"ab"], len(SIZES)), h=np.resize([*"cdef"], len(SIZES)))
    law = bs.laws.Formula("y ~ mu[g]", priors={"centre": "LogNormal(0, 2)"}).suited(rows)
    assert str(law.prior_of["centre"]) == "LogNormal(0, 2)"
    with pytest.raises(bs.InputError, match="priors can be set on centre, deviation_mu, sigma"):
        bs.laws.Formula("y ~ mu[g]", priors={"level_mu": "LogNormal(0, 2)"}).suited(rows)
    with pytest.raises(bs.InputError, match=r"mu\[h\] and mu\[g\] are of different groups"):
        bs.laws.Formula("y ~ mu[g] + mu[h]").suited(rows)


def test_a_constant_by_group_with_a_prior_of_its_own_is_not_pooled():
    rows = table().assign(g=np.resize([*"abcde"], len(SIZES)))
    law = bs.laws.Formula("y ~ E + A * n**-a[g]", priors={"a": "Normal(0.3, 0.1)"}).suited(rows)
    draws = law.prior_draws(np.random.default_rng(0), law.reference(law.rows(rows)), law.rows(rows), 500).named()
    assert draws["a"].sizes["g"] == 5 and "spread_a" not in draws
    assert draws["a"].std().item() == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("kind", [int, float, str])
def test_groups_that_are_numbers_are_named_without_a_point(kind):
    """A table may have them as whole numbers, as text, or as floats once it was read; another group is no group."""
    rows = table().assign(g=[kind(x) for x in np.resize([1, 2], len(SIZES))])
    law = bs.laws.Formula("y ~ E + A * n**-a[g]").suited(rows)
    assert law.levels == ((("g",), ("1", "2")),)
    again = law.rows(rows.assign(g=rows["g"].astype(float)))
    assert law.design_arrays(again)["row_is_0_1"].tolist() == [0.0, 1.0] * (len(SIZES) // 2) + [0.0] * (len(SIZES) % 2)
    with pytest.raises(bs.InputError, match='group \'3\' of "g" was not fitted; groups are "1", "2"'):
        law.design_arrays(rows.assign(g=kind(3)))


def test_its_density_is_that_of_chinchillas_law_but_for_the_priors():
    rng = np.random.default_rng(1)
    runs = bs.load("chinchilla_runs").table().head(60)
    rows = pd.DataFrame({"N": runs["parameters"], "D": runs["tokens"], "loss": runs["loss"]})
    law = bs.laws.Formula("loss ~ E + A * N**-alpha + B * D**-beta", tails="normal").suited(rows)
    draws = law.prior_draws(rng, law.reference(rows), law.rows(rows), 20)
    constants = {name: draws.named()[name].values[..., None] for name in ("E", "A", "alpha", "B", "beta")}
    expected = Chinchilla().mean(constants, {"parameters": rows["N"].to_numpy(), "tokens": rows["D"].to_numpy()})
    assert draws.mean().values == pytest.approx(expected, rel=1e-10)


def test_values_by_group_are_those_of_fits_to_each_group():
    rng, rows = np.random.default_rng(2), []
    for group, exponent in (("adamw", 0.2), ("muon", 0.3)):
        rows.append(table().assign(opt=group, y=50 * SIZES**-exponent * np.exp(0.01 * rng.standard_normal(len(SIZES)))))
    both = pd.concat(rows, ignore_index=True)
    fit = bs.fit("y ~ A[opt] * n**-a[opt]", both, **SHORT)
    for group, of_group in both.groupby("opt"):
        alone = bs.fit("y ~ A * n**-a", of_group, **SHORT)
        low, middle, high = fit["posterior"]["a"].sel(opt=group).quantile([0.01, 0.5, 0.99]).values
        assert abs(middle - quantiles(alone, "a")[1]) < 0.3 * (high - low)
    assert fit["posterior"]["a"].dims == ("chain", "draw", "opt")


def test_counts_are_binomial():
    rng, n = np.random.default_rng(3), np.array([10, 30, 100, 300, 1000.0])
    counts = pd.DataFrame({"demos": n, "k": rng.binomial(200, 1 - (1 + n / 30) ** -0.9), "trials": 200})
    fit = bs.fit("k / trials ~ 1 - (1 + demos / x0)**-b", counts, **SHORT)
    assert fit.law.noise == "binomial"
    low, _, high = quantiles(fit, "x0")
    assert low < 30 < high


def test_errors_named_after_the_response_widen_its_rows():
    rows = table().rename(columns={"y": "elo"}).assign(elo_minus=0.5, elo_plus=0.7)
    law = bs.laws.Formula("elo ~ E + A * n**-a").suited(rows)
    assert (law.noise, law.errors) == ("additive", ("elo_minus", "elo_plus"))
    assert law.design_arrays(law.rows(rows))["row_variance"] == pytest.approx(0.36)


@pytest.mark.parametrize("formula", ["y ~ E + A * n**-a", "log(y) ~ E + A * n**-a", "`y` ~ A * n**-a"])
def test_other_observations_take_the_place_of_the_response(formula):
    law = bs.laws.Formula(formula).suited(table())
    rows, simulated = law.rows(table()), np.linspace(0.1, 0.9, len(SIZES))
    again = law.rows(law.with_observed(rows, simulated))
    assert law.design_arrays(again)["row_y"] == pytest.approx(simulated)


@pytest.mark.parametrize(
    ("formula", "options", "column", "cell", "words"),
    [
        ("log(y) ~ E + A * n**-a", {}, "y", 0.0, r"log\(y\) is -inf in row 4"),
        ("y ~ E + A * n**-a", {}, "n", 0.0, r"n is 0 in row 4, where the formula has n\*\*-a"),
        ("y ~ E + A * n**-a", {}, "n", -2.0, "n is -2 in row 4"),
        ("y ~ a + b * log10(n)", {}, "n", 0.0, r"has log10\(n\)"),
        ("y ~ a + b / n", {"signs": {"a": 1, "b": 1}}, "n", 0.0, "n is 0 in row 4"),
        ("y ~ E + A * n**-a", {"noise": "relative"}, "y", -1.0, "y is -1 in row 4, and relative noise"),
        ("y ~ E + A * n**-a", {"noise": "logit"}, "y", 0.5, "values between 0 and 1"),
        ("y ~ E + A * n**-a", {"noise": "binomial"}, "y", 1.0, "binomial noise is of successes / trials"),
        ("y / n ~ E + A * n**-a", {"noise": "binomial"}, "y", 0.5, "counts are whole numbers"),
        ("y ~ E + A * n**-a", {"noise": "poisson"}, "y", 1.0, "noise .* is unknown"),
    ],
)
def test_a_cell_without_a_value_is_named_and_never_floored(formula, options, column, cell, words):
    rows = table()
    rows.loc[3, column] = cell
    with pytest.raises(bs.InputError, match=words) as error:
        bs.fit(bs.laws.Formula(formula, **options), rows)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("loss ~ E + A * n**-a", 'no column "loss"'),
        ("y ~ E + A * n_parms**-a", 'no column "n_parms"; did you mean "n_params"'),
        ("y ~ E + a", "has no column on the right of ~"),
        ("y ~ n * n_params", "has no constant: every name is a column"),
        ("y ~ E + A * y**-a", 'has "y" on both sides of ~'),
        ("y[name] ~ E + A * n**-a", '"y" is a column and has no groups'),
        ("y ~ E + A * n**-sigma", '"sigma" is the name of something else'),
        ("y ~ E + A * n**-centre", '"centre" is the name of something else'),
        ("y ~ share_A + A * n**-share_share_A", '"share_share_A" is the name of something else'),
        ("y ~ E + A * n**-draw", '"draw" is a name that draws have; give it another name$'),
        ("y ~ E + A[chain] * n**-a", "--column group=chain"),
        ("y ~ A * n[g]**-a", '"n" is a column and has no groups'),
        ("name ~ A * n**-a", 'column "name" holds text'),
    ],
)
def test_a_formula_that_does_not_suit_a_table_is_refused_in_a_line(formula, words):
    rows = table().assign(name="a", n_params=1.0, chain="b")
    with pytest.raises(bs.InputError, match=words) as error:
        bs.fit(formula, rows)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("errors", ["y_sd", ("y_low", "y_high"), 5])
def test_errors_that_are_no_column_are_named(errors):
    name = errors[0] if isinstance(errors, tuple) else str(errors)
    with pytest.raises(bs.InputError, match=f'no column "{name}"'):
        Formula("y ~ E + A * n**-a", errors=errors).suited(table())


def test_a_saved_fit_is_opened_with_its_formula(tmp_path):
    fit = bs.fit("y ~ E + A * n**-a", table(), **SHORT)
    fit.save(tmp_path / "fit.nc")
    opened = bs.open(tmp_path / "fit.nc")
    assert opened.law == fit.law
    assert opened.law.label == "y ~ E + A * n**-a"
    assert opened.loo().elpd == pytest.approx(fit.loo().elpd, rel=1e-9)


def test_neighbours_of_a_wrong_form_predict_better_and_are_named():
    rng = np.random.default_rng(4)
    y = 3 * SIZES**-0.05 * (1 + (SIZES / 3e7) ** 5) ** -0.1 * np.exp(0.01 * rng.standard_normal(len(SIZES)))
    fit = bs.fit("y ~ E + A * n**-a", pd.DataFrame({"n": SIZES, "y": y}), **SHORT)
    check = fit.check()
    assert check["tests"]["neighbours by n"]["p"] < 0.01
    best = fit.wider_laws()[0]
    assert best["elpd_diff"] > 4
    assert "~" in best["law"]


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
@pytest.mark.parametrize(
    ("formula", "response", "better"),
    [
        ("hits ~ A * shots**a", lambda x: 0.1 + 0.8 / (1 + (3e7 / x) ** 1.5), "low + high / (1 + (mid / shots)**b)"),
        ("hits ~ A * shots**a", lambda x: 0.9 - 30 * x**-0.25, "top - high * shots**-b"),
        ("hits ~ A * shots**-a", lambda x: 0.4 + 400 * x**-0.4, "A * shots**-a + E"),
        (
            "hits ~ E + A * shots**-a",
            lambda x: 0.1 + 0.8 / (1 + (x / 3e7) ** 1.2),
            "low + high / (1 + (shots / mid)**b)",
        ),
        ("hits ~ E + A * shots**-a", lambda x: 0.1 + 9e4 * (x + 1e7) ** -0.7, "E + A * (shots + x0)**-a"),
    ],
)
def test_the_form_of_a_table_is_named_among_the_neighbours_of_another(formula, response, better):
    y = response(SIZES) * np.exp(0.01 * np.random.default_rng(5).standard_normal(len(SIZES)))
    fit = bs.fit(formula, pd.DataFrame({"shots": SIZES, "hits": y}), **SHORT)
    assert fit.check()["verdict"] != "fits"
    others = fit.wider_laws()
    assert f"hits ~ {better}" in [entry["law"] for entry in others if entry["elpd_diff"] > others[0]["elpd_diff"] - 4]
    assert bs.fit(others[0]["law"], pd.DataFrame({"shots": SIZES, "hits": y}), **SHORT).check()["verdict"] == "fits"


Y = np.array([1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("columns", "errors", "size"),
    [
        ({"y_se": [0.1, 0.2, 0.3]}, ("y_se",), [0.1, 0.2, 0.3]),
        ({"std_y": [0.1, 0.2, 0.3], "n_seeds": [4, 4, 1]}, ("std_y", "n_seeds"), [0.05, 0.1, 0.3]),
        ({"y_minus": [0.1, 0.1, 0.1], "y_plus": [0.3, 0.1, 0.2]}, ("y_minus", "y_plus"), [0.2, 0.1, 0.15]),
        ({"y_min": Y - 0.1, "y_max": Y + 0.3}, ("y_min", "y_max"), [0.2] * 3),
        ({"y_ci_low": Y - 0.98, "y_ci_high": Y + 0.98}, ("y_ci_low", "y_ci_high"), [0.5] * 3),
        ({"lower_90": Y - 0.329, "upper_90": Y + 0.329}, ("lower_90", "upper_90"), [0.2] * 3),
        ({"y ±": [0.1, 0.2, 0.3]}, ("y ±",), [0.1, 0.2, 0.3]),
        ({"y_min": Y + 1, "y_max": Y + 2}, "none", None),  # does not lie about the response
        ({"z_se": [0.1, 0.2, 0.3]}, "none", None),
        ({"y_test": [0.1, 0.2, 0.3]}, "none", None),
    ],
)
def test_errors_of_rows_follow_from_columns_by_a_stated_rule(columns, errors, size):
    table = pd.DataFrame({"n": [1e3, 1e4, 1e5], "y": Y} | columns)
    law = Formula("y ~ E + A * n**-alpha", noise="additive", tails="normal").suited(table)
    assert law.errors == errors
    if size is not None:
        rows = law.rows(table)
        np.testing.assert_allclose(law.error_sizes(rows)[0], size)
        reference = law.reference(rows)
        values = {name: np.array([0.5]) for name in law.prior_of}
        data = law.density(rows, reference).arrays
        mean = law.mean(values, data, reference)
        variance = (0.5 * reference["spread"]) ** 2 + np.square(size)
        expected = -((Y - mean) ** 2) / variance / 2 - np.log(2 * np.pi * variance) / 2
        np.testing.assert_allclose(law.logp(mean, values, data, reference), expected)
        assert any("the error of y in a row is" in sentence for sentence in law.notes(law, rows))


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_a_run_that_diverged_is_named_with_the_option_that_leaves_it_out():
    n = np.repeat(np.geomspace(1e3, 1e6, 6), 3)
    y = (1 + 30 * n**-0.4) * np.exp(0.02 * np.random.default_rng(0).standard_normal(18))
    table = pd.DataFrame({"n": n, "test mae": y})
    law = Formula("`test mae` ~ E + A * n**-alpha").suited(table)
    assert law.notes(law, table) == []
    table.loc[7, "test mae"] = 412.5
    (sentence,) = law.notes(law, table)
    condition = sentence.partition("--where '")[2].rstrip("'")
    assert bs.read(table, "columns", where=condition)["test mae"].max() < 412


def counted(rows, precision, seed):
    """Return counts about a ceiling, whose shares scatter by row as a beta of a precision."""
    rng, x = np.random.default_rng(seed), np.geomspace(10, 1e4, rows)
    share = 0.9 - 1.5 * x**-0.5
    share = share if precision is None else rng.beta(precision * share, precision * (1 - share))
    return pd.DataFrame({"demos": x, "n": 200, "k": rng.binomial(200, share)})


def test_a_beta_binomial_is_that_of_scipy_and_draws_and_places_counts():
    table = counted(12, 20, 1)
    law = Formula("k / n ~ top - A * demos**-a", noise="beta-binomial").suited(table)
    rows = law.rows(table)
    reference = law.reference(rows)
    values = {name: np.array([0.5]) for name in law.prior_of} | {"log_precision": np.array([np.log(20.0)])}
    data = law.density(rows, reference).arrays
    p = law.mean(values, data, reference)
    exact = stats.betabinom(200, 20 * p, 20 * (1 - p))
    np.testing.assert_allclose(law.logp(p, values, data, reference), exact.logpmf(table["k"]), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_counts_that_scatter_more_than_their_numbers_explain_are_told_and_their_scatter_is_found():
    formula = "k / n ~ top - A * demos**-a"
    plain = bs.fit(formula, counted(40, None, 2), **SHORT)
    assert plain.check()["verdict"] == "fits"
    fit = bs.fit(formula, counted(40, 20, 3), **SHORT)
    assert fit.check()["verdict"] != "fits"
    (other,) = fit.wider_laws()
    assert other["options"]["noise"] == "beta-binomial" and other["elpd_diff"] > 20
    wide = bs.fit(bs.laws.Formula(formula, noise="beta-binomial"), counted(40, 20, 3), **SHORT)
    low, high = np.exp(np.quantile(wide["posterior"]["log_precision"], [0.005, 0.995]))
    assert low < 20 < high and wide.check()["verdict"] == "fits"
    replicated = wide.draws.replicate(np.random.default_rng(0)).values
    assert replicated.std(axis=(0, 1)).mean() == pytest.approx(
        (wide.draws.relative_scatter() * wide.draws.mean().values).mean(), rel=0.3
    )


def test_a_column_of_the_formula_is_no_error_of_its_response():
    table = pd.DataFrame({"sd": np.geomspace(1, 100, 12), "loss": 2 + np.geomspace(1, 0.1, 12)})
    assert Formula("loss ~ E + A * sd**-a").suited(table).errors == "none"
    assert Formula("loss ~ E + A * n**-a").suited(table.assign(n=table["sd"])).errors == ("sd",)


def test_a_rise_with_a_column_of_negative_numbers_is_no_fall():
    x = np.linspace(-6, -1, 12)
    table = pd.DataFrame({"log rate": x, "loss": 2 + 0.2 * (x + 6) + 0.01 * np.random.default_rng(0).normal(size=12)})
    law = Formula("loss ~ a + b * `log rate`").suited(table)
    assert law.notes(law, law.rows(table)) == []
