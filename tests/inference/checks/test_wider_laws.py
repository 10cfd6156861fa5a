"""Which other law to try: by model sizes left out whole where the table has them, on tables whose law is known."""

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.checks.suggestion import is_clear, suggestion
from bayescaling.inference.checks.wider_laws import BRIEF, MOST_REFITS, worth_trying
from bayescaling.models.laws import as_law

SIZES, TOKENS = np.geomspace(3e7, 3e9, 8), np.geomspace(1e9, 1e11, 6)
SHORT = {"draws": 500, "tune": 500, "chains": 2}


@pytest.fixture(scope="module")
def fit_shared(truth):
    """The Chinchilla law on rows that share a deviation of 1% within a size, six rows of each, and differ by 0.1%."""
    parameters, tokens = (x.ravel() for x in np.meshgrid(SIZES, TOKENS, indexing="ij"))
    table = bs.read(pd.DataFrame({"parameters": parameters, "tokens": tokens, "loss": 2.0}))
    values = truth | {"sigma": 0.001, "size_sd": 0.01}
    law = bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=True)
    loss = law.simulate(values, table, np.random.default_rng(5))
    plain = bs.laws.Chinchilla(noise="normal", scatter="one", size_effects=False)
    return bs.fit(plain, table.assign(loss=loss), seed=1, **SHORT)


@pytest.fixture(scope="module")
def others(fit_shared):
    """The laws that were tried on them."""
    return fit_shared.wider_laws(**SHORT)


def test_sizes_that_deviate_are_seen_and_their_effects_are_recommended(fit_shared, others):
    assert "means by size" in fit_shared.check()["rejected_by"] and worth_trying(fit_shared)
    best = others[0]
    assert best["options"]["size_effects"] and best["elpd_diff_by_size"] > 2 * best["dse_by_size"] > 0
    assert best["verdict"]["tests"]["means by size"]["fits"]
    assert [law["elpd_diff_by_size"] for law in others] == sorted(
        (law["elpd_diff_by_size"] for law in others), reverse=True
    )
    text = suggestion(fit_shared, others)
    assert text.startswith(f"try {best['law']}: it predicts model sizes left out whole better by ")
    assert ("Pareto k" in text) == (not is_clear(best) and bool(best["unreliable_sizes"]))


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_the_difference_by_size_is_that_of_leave_one_group_out(fit_shared, others):
    best = others[0]
    law = bs.models.law(best["name"], **best["options"])
    other = bs.fit(law, fit_shared.rows, seed=1, **SHORT)
    options = {"by": "parameters", "most": MOST_REFITS, "seed": 1, **BRIEF}
    options["high_k"] = "none" if is_clear(best) else "refit"
    apart = other.loo(**options)["elpd"] - fit_shared.loo(**options)["elpd"]
    assert best["sizes"] == len(apart) == len(SIZES)
    assert best["elpd_diff_by_size"] == pytest.approx(apart.sum())
    assert best["dse_by_size"] == pytest.approx(np.sqrt(len(apart)) * apart.std())


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_the_largest_sizes_are_fitted_again_first(fit_shared):
    plain = fit_shared.loo(by="parameters", high_k="none")
    high = plain.index[plain["pareto_k"] > 0.7]
    assert len(high)  # a size of a law without size effects informs it more than importance sampling can undo
    one = fit_shared.loo(by="parameters", most=1)
    assert one.index[one["refitted"]].tolist() == [high[-1]]
    pd.testing.assert_series_equal(one["elpd"].drop(high[-1]), plain["elpd"].drop(high[-1]))
    assert not fit_shared.loo(by="parameters", most=0)["refitted"].any()


def entry(name, rows, sizes=None, unreliable=0):
    """What `wider_laws` returns of a law, without what is not compared."""
    by_size = (None, None) if sizes is None else sizes
    result = {
        "law": name,
        "elpd_diff": rows[0],
        "dse": rows[1],
        "verdict": {"verdict": "fits", "p": 0.5, "tests": {"a": {}}},
    }
    result |= {"elpd_diff_by_size": by_size[0], "dse_by_size": by_size[1]}
    return result | {"sizes": None if sizes is None else 9, "unreliable_sizes": None if sizes is None else unreliable}


def test_sizes_decide_where_they_and_rows_disagree(fit_shared):
    text = suggestion(fit_shared, [entry("coupled", (56.0, 10.0), (-1.3, 6.0), 2)])
    assert text == (
        "coupled predicts single rows better by 56.0 ± 10.0 nats, but not model sizes left out whole, "
        "-1.3 ± 6.0 nats: do not extrapolate with it to another size; Pareto k is above 0.7 at 2 of 9 "
        "sizes, so the difference by size may be wrong: check it with fit.loo('parameters')"
    )
    far = suggestion(fit_shared, [entry("coupled", (56.0, 10.0), (-12.3, 6.0), 2)])
    assert far.endswith("-12.3 ± 6.0 nats: do not extrapolate with it to another size")
    assert suggestion(fit_shared, [entry("coupled", (1.0, 10.0), (20.0, 6.0))]).startswith("try coupled: ")
    assert suggestion(fit_shared, [entry("coupled", (56.0, 10.0))]).startswith(
        "try coupled: it predicts the rows better by 56.0 ± 10.0 nats"
    )
    text = suggestion(fit_shared, [entry("coupled", (1.0, 1.0), (3.0, 1.0))])
    assert text == '"coupled" predicts the rows no better'


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_tables_without_repeated_sizes_are_compared_by_rows_alone(truth, reference):
    sizes = np.geomspace(1e7, 1e10, 24)
    table = bs.read(pd.DataFrame({"parameters": sizes, "tokens": 20 * sizes[::-1], "loss": 2.0}))
    law = bs.laws.Chinchilla(noise="normal", scatter="one")
    table = table.assign(loss=law.simulate(truth, table, np.random.default_rng(1)))
    assert law.repeated_size(table) is None and "means by size" not in law.contrasts(table)
    assert not any(other.size_effects for other in law.wider_laws(table))
    short = {"draws": 100, "tune": 200, "chains": 2}  # the fields are tested, not their values
    laws = bs.Fitter(law, table).fit(seed=1, least_ess=0, **short).wider_laws(most=1, **short)
    assert [laws[0][name] for name in ("elpd_diff_by_size", "dse_by_size", "sizes", "unreliable_sizes")] == [None] * 4


@pytest.mark.parametrize(
    "law", ["configurations", "coupled", "embedding-corrected", "embedding-weighted", "kaplan", "offsets"]
)
def test_wider_laws_are_other_laws_that_can_be_fitted(law):
    law = as_law(law)
    rows = law.rows(law.usual_table())
    others = law.wider_laws(rows)
    assert law not in others
    assert all(np.isfinite(other.density(rows, other.reference(rows)).start[0]).all() for other in others)
    assert bool(others) == (law.observed == "loss")
