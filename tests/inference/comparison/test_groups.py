import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models.progress.law import Progress


@pytest.fixture(scope="module")
def curves(runs):
    """Runs of the built-in table named by twos, in no order."""
    names = [f"run {i // 2}" for i in range(len(runs))]
    return runs.assign(run=names).sample(frac=1, random_state=1).reset_index(drop=True)


def drawn(law, table):
    rows = law.rows(table)
    return law.prior_draws(np.random.default_rng(1), law.reference(rows), rows, 3)


def test_rows_that_are_independent_are_added_up(curves):
    draws = drawn(bs.laws.Chinchilla(), curves)
    for by in ("run", "parameters"):
        by_group, rowwise = draws.by_group(None if by == "run" else by), draws.log_likelihood().values
        assert list(by_group["group"].values) == sorted(set(curves[by]))
        for name in by_group["group"].values[[0, 7, -1]]:
            expected = rowwise[..., (curves[by] == name).to_numpy()].sum(-1)
            np.testing.assert_allclose(by_group.sel(group=name), expected)


def test_runs_whose_rows_share_an_effect_are_added_up_whole(curves):
    law, kinds = bs.laws.Chinchilla(run_effects=True), curves["run"].str.len()
    draws = drawn(law, curves.assign(kind=kinds))
    together = draws.of_groups()
    np.testing.assert_allclose(draws.by_group().sel(group=together["run_id"].values), together)
    by_group = draws.by_group("kind")
    np.testing.assert_allclose(by_group.sum("group"), draws.total_log_likelihood())
    long = [len(name) == 7 for name in together["run_id"].values]
    np.testing.assert_allclose(by_group.sel(group=7), together.values[..., long].sum(-1))
    with pytest.raises(bs.InputError, match=r"column 'parameters' has several values in one run, .* by 'run'"):
        draws.by_group("parameters")


@pytest.mark.parametrize("options", [{}, {"paper_effects": True}], ids=str)
def test_papers_are_groups_of_the_laws_of_progress(options, progress_draws, evaluations):
    draws = progress_draws(Progress(7, **options))
    by_group = draws.by_group()
    assert by_group["group"].values.tolist() == sorted(evaluations["paper_id"].unique())
    if options:
        np.testing.assert_allclose(by_group, draws.by_paper(), rtol=1e-9)
    else:
        rows, papers = draws.log_likelihood().values, evaluations["paper_id"].to_numpy()
        by_hand = [rows[..., papers == paper].sum(-1) for paper in by_group["group"].values]
        np.testing.assert_allclose(by_group, np.stack(by_hand, -1), rtol=1e-9)


def test_groups_that_cannot_be_left_out_are_refused(runs, curves):
    with pytest.raises(bs.InputError, match='leaving groups out needs "run"; the columns are'):
        drawn(bs.laws.Chinchilla(), runs).by_group()
    with pytest.raises(bs.InputError, match="column 'run' is empty in row 3, but leaving groups out needs it"):
        drawn(bs.laws.Chinchilla(), curves.assign(run=curves["run"].where(curves.index != 3))).by_group()
    counts = bs.laws.Lengths()
    with pytest.raises(bs.InputError, match="leaves out all counts of a run already; use loo"):
        drawn(counts, counts.usual_table()).by_group()


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_sizes_left_out_together_are_what_a_refit_without_them_says(fitter, runs):
    size = runs["parameters"]
    part = np.searchsorted(size.quantile(np.arange(1, 12) / 12), size)
    fit = fitter.fit(runs.assign(part=part), seed=1, draws=500, tune=500)
    table = fit.loo(by="part")
    assert table.index.tolist() == list(range(12))
    assert table["refitted"].equals(~(table["pareto_k"] <= 0.7)) and table["refitted"].any()
    assert table["overlap"].notna().equals(table["refitted"])
    name = table["overlap"].idxmax()
    remaining, left = (runs[mask].reset_index(drop=True) for mask in (part != name, part == name))
    lacking = fitter.sample(remaining, seed=2, draws=8000, tune=1000).draws.log_likelihood(left).sum("run").values
    by_chain = np.exp(lacking - table.loc[name, "elpd"]).mean(1)
    error = by_chain.std(ddof=1) / by_chain.mean() / np.sqrt(len(by_chain))
    assert error < 0.15
    assert np.log(by_chain.mean()) == pytest.approx(0, abs=4 * error + 3 * table.loc[name, "elpd_se"])
