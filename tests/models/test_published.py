"""Published laws by name: what the file of them states can be used, and gives what the papers' formulas give."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.formula_nodes import names_in
from bayescaling.errors import InputError
from bayescaling.models import published
from bayescaling.models.law import Law
from scipy.optimize import minimize_scalar

LAWS = published.laws()
KNOWN = [name for name, of in LAWS.items() if {*of.law(columns=[*of.columns][1:]).roles} == {*of.constants}]


@pytest.mark.parametrize("name", LAWS)
def test_every_law_can_be_fitted_and_names_what_it_has(name):
    of = LAWS[name]
    response, *columns = of.columns
    law = of.law(columns=columns)
    letters = {name.name for side in (law.parsed.left, law.parsed.right) for name in names_in(side)}
    assert str(law.parsed.left) == response and {*columns} <= letters
    assert {*of.constants} <= {*law.roles} and {*of.priors} <= {*law.roles} and not {*columns} & {*law.roles}
    assert {*of.constants} == {*law.roles} or of.unknown or not of.constants
    assert of.read in ("paper", "code", "notes") and of.source and of.fitted_to


def test_laws_whose_constants_are_known():
    assert len(LAWS) >= 50 and len(KNOWN) >= 14


def test_constants_give_what_the_formula_of_the_paper_gives():
    chinchilla = bs.published("hoffmann-2022")
    loss = chinchilla.predict(N=70e9, D=1.4e12)["L"].iloc[0]
    assert loss == pytest.approx(1.69 + 406.4 / 70e9**0.34 + 410.7 / 1.4e12**0.28)
    best = chinchilla.ask("best N, D for 6*N*D = 1e22")["value"]
    G = (0.34 * 406.4 / (0.28 * 410.7)) ** (1 / 0.62)
    assert best["best N"] == pytest.approx(G * (1e22 / 6) ** (0.28 / 0.62), rel=1e-3)
    assert best["best D"] == pytest.approx(1e22 / 6 / best["best N"], rel=1e-6)
    place = chinchilla.ask("N where L = 2.2 at D = 1e11")["value"].iloc[0]
    assert chinchilla.predict(N=place, D=1e11)["L"].iloc[0] == pytest.approx(2.2)
    assert bs.published("kaplan-parameters").predict(N=8.8e13)["L"].iloc[0] == pytest.approx(1.0)
    routed = bs.published("clark-2022-sbase").predict(N=1.3e8, E=[1.0, 64.0, 1e9])
    a, b, c, d, start, most = -0.082, -0.108, 0.009, 1.104, 1.847, 314.478

    def expected(saturated):  # equation 1 of the paper
        x, y = np.log10(1.3e8), np.log10(saturated)
        return 10 ** (a * x + b * y + c * x * y + d)

    assert routed["L"].iloc[0] == pytest.approx(expected(start), rel=1e-4)  # one expert counts as the start
    assert routed["L"].iloc[2] == pytest.approx(expected(most), rel=1e-4)  # and many as the most
    assert expected(most) < routed["L"].iloc[1] < expected(start)


def simulated(rows=40):
    rng = np.random.default_rng(1)
    of = bs.published("krajewski-2024")
    table = of.predict(N=np.exp(rng.uniform(18, 22, rows)), D=np.exp(rng.uniform(23, 26, rows)),
                       G=rng.choice([1.0, 2, 4, 8, 16], rows))  # fmt: skip
    table["L"] *= np.exp(0.001 * rng.standard_normal(rows))
    return table.rename(columns={"N": "params", "D": "n_tokens", "L": "val_loss", "G": "granularity"})


def test_the_best_within_limits_is_that_of_scipy():
    """One limit that binds, one that does not, and one on a product of two columns, next to the budget."""
    law, budget = bs.published("hoffmann-2022"), "best N, D for 6*N*D = 1e22"
    free = law.ask(budget)["value"]
    assert law.ask(f"{budget}, N <= 1e10")["value"].to_dict() == free.to_dict()
    bound = law.ask(f"{budget}, N <= 2e9, D <= 1e13")["value"]
    assert bound[["best N", "best D"]].tolist() == pytest.approx([2e9, 1e22 / 6 / 2e9], rel=1e-6)
    both = law.ask(budget, f"{budget}, D <= 1e11")
    assert len(both) == 6 and both["value"].iloc[4] == pytest.approx(1e11) and "N <= 1e10" not in str(both)
    of = LAWS["krajewski-2024"].constants

    def loss(log_size):
        N, C, memory = np.exp(log_size), 1e22, 1e11
        terms = (of["g"] / (memory / N) ** of["gamma"] + of["a"]) / N ** of["alpha"]
        return of["c"] + terms + of["b"] / (C / 6 / N) ** of["beta"]

    best = minimize_scalar(loss, bounds=(np.log(1e8), np.log(1e11)), method="bounded", options={"xatol": 1e-9})
    asked = "best N, D, G for 6*N*D = 1e22, G*N <= 1e11"
    answers = bs.published("krajewski-2024").ask(asked)["value"]
    assert answers["best N"] == pytest.approx(np.exp(best.x), rel=1e-3) and answers["L there"] == pytest.approx(
        best.fun
    )
    assert answers["best G"] * answers["best N"] == pytest.approx(1e11)
    for limits, says in (
        ("N <= 1e10, D <= 1e11", 'no "N", "D" meet all of what stands after for'),
        ("N = 1e10", "after N '<=' is missing"),
        ("N <= 1e9, N <= 1e8", 'N has none of "N", "D" that another limit does not settle'),
    ):
        with pytest.raises(InputError, match=says):
            law.ask(f"{budget}, {limits}")


def test_letters_are_found_in_a_table_and_the_posterior_is_compared_with_the_constants():
    table = simulated()
    fit = bs.fit("krajewski-2024", table, seed=1)
    assert fit.law.label == "val_loss ~ c + (g / granularity**gamma + a) / params**alpha + b / n_tokens**beta"
    compared = bs.published("krajewski-2024").compare(fit)
    assert compared.loc["alpha", "q2.5"] < 0.115 < compared.loc["alpha", "q97.5"]
    assert compared.attrs["errors"]["published"] == pytest.approx(0.001, rel=0.4)
    assert compared.attrs["errors"]["fitted"] < 1.1 * compared.attrs["errors"]["published"]
    with pytest.raises(InputError, match="not of hoffmann-2022"):
        bs.published("hoffmann-2022").compare(fit)


def test_a_letter_that_no_column_has_is_named_with_the_way_to_name_it():
    law = bs.law("krajewski-2024")
    assert isinstance(law, Law)
    with pytest.raises(InputError, match=r"no column is G, the granularity; name it with .*--column G=NAME"):
        law.suited(simulated().drop(columns="granularity"))
    both = simulated().assign(params_total=1e9)
    assert "params" in law.suited(both).columns  # of that name exactly
    named = law.suited(simulated().rename(columns={"granularity": "G"}))
    assert "G" in named.columns


def test_unknown_laws_and_constants_are_refused():
    with pytest.raises(InputError, match='did you mean "krajewski-2024"'):
        bs.published("krajewski-2023")
    with pytest.raises(InputError, match='did you mean "krajewski-2024"'):
        bs.law("krajewski-2023")
    with pytest.raises(InputError, match='the constants "a", "b" of brown-2024 are not known'):
        bs.published("brown-2024").predict(k=10)
    with pytest.raises(InputError, match=r"lacks .*D.*: tokens"):
        bs.published("hoffmann-2022").predict(pd.DataFrame({"N": [1e9]}))


def test_neighbours_of_a_law_keep_the_priors_that_its_constants_need():
    runs = bs.load("routed_lms").query("routing == 'Dense' or routing == 'Hash'")
    law = bs.law("clark-2022-hash").suited(runs)
    assert law.signs == {"A": 1}  # at the medians of the priors, where 1 / Es - 1 / Em is not 0
    others = law.wider_laws(runs)
    assert len(others) == 3 and all({*other.priors} == {"Es", "Em"} for other in others)
    assert all({"Es", "Em"} <= {*other.suited(runs).roles} for other in others)


def test_recipes_have_constants_of_their_own_but_for_those_that_are_shared():
    """Two curves of reinforcement learning; a share scatters on its log-odds, and the ceilings are recovered."""
    compute, truth = np.geomspace(100, 10000, 14), {"old": (0.58, 900.0, 1.6), "new": (0.66, 1500.0, 1.4)}
    rng, parts = np.random.default_rng(3), []
    for recipe, (ceiling, middle, steep) in truth.items():
        reward = 0.3 + (ceiling - 0.3) / (1 + (middle / compute) ** steep)
        reward = 1 / (1 + np.exp(-(np.log(reward / (1 - reward)) + 0.01 * rng.standard_normal(len(compute)))))
        parts.append(pd.DataFrame({"recipe": recipe, "gpu_hours": compute, "pass_rate": reward}))
    law = LAWS["khatri-2025"].law(by="recipe", shared=("R0",))
    fit = bs.fit(law, pd.concat(parts, ignore_index=True), seed=1, draws=500, tune=1000)
    assert fit.law.noise == "logit" and fit["posterior"]["R0"].ndim == 2
    for recipe, (ceiling, middle, _) in truth.items():
        answers = fit.ask(f"A[{recipe}]", f"C_mid[{recipe}]")
        assert (answers["q2.5"] <= [ceiling, middle]).all() and (answers["q97.5"] >= [ceiling, middle]).all()
    assert fit.ask("A[new] - A[old]")["direction"].iloc[0] == "> 0"
    with pytest.raises(InputError, match=r'shared "D" is no constant of .*; they are "R0", "A", "C_mid", "B"'):
        bs.fit(LAWS["khatri-2025"].law(by="recipe", shared=("D",)), parts[0])
