"""Default fits of small tables of horizons and of scores converge."""

import bayescaling as bs
import pytest

SHARE, TABLES = 0.95, 40
LAWS = {"horizons": bs.laws.Horizons(), "scores": bs.laws.Scores()}

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")  # decimal years are read as days


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param("horizons", 1, id="horizons, several thresholds"),
        pytest.param("horizons", 5, id="horizons, one threshold"),
        pytest.param("scores", 0, id="scores"),
        pytest.param("scores", 1, id="scores, numbers of questions"),
    ],
)
def test_a_default_fit_of_a_small_table_converges(kind, seed, small_tables):
    table, _ = getattr(small_tables, kind)(seed)
    diagnostics = bs.fit(LAWS[kind], table, seed=1, check=False).diagnostics
    assert diagnostics["ok"], diagnostics["warnings"]
    assert diagnostics["ess_bulk_min"] > 400


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
@pytest.mark.parametrize("kind", LAWS)
def test_default_fits_of_most_small_tables_converge(kind, small_tables):
    fits = [bs.fit(LAWS[kind], getattr(small_tables, kind)(seed)[0], seed=1, check=False) for seed in range(TABLES)]
    assert sum(fit.diagnostics["ok"] for fit in fits) >= SHARE * TABLES
    assert sum(fit.diagnostics["divergences"] == 0 for fit in fits) >= SHARE * TABLES
