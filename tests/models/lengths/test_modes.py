import bayescaling as bs
import numpy as np
from bayescaling.models.lengths import modes
from scipy.optimize import minimize
from threadpoolctl import threadpool_info, threadpool_limits


def test_no_search_ends_above_the_mode_of_a_run():
    """Of the built-in runs one is hard: some searches end at a point that is no optimum."""
    law, counts = bs.laws.Lengths(), bs.load("arithmetic_runs")
    reference = law.reference(counts)
    arrays, log_train = law.density(counts, reference).arrays, np.log(6.0)
    priors = [law.prior_of[part] for part in law.parts]
    location = np.array([prior.median for prior in priors])
    spread = np.array([1.5 * np.diff(prior.quantile([0.16, 0.84]))[0] for prior in priors])
    for run in range(len(reference["runs"])):
        run_counts = modes.of_run(law.groups(counts, reference), run)

        def cost(u, run_counts=run_counts):
            scaled = (u - location) / spread
            return 0.5 * scaled @ scaled - modes.run_log_likelihood(u, law.parts, log_train, run_counts, "log")

        least = cost(arrays["centre"][run])
        for start in (-0.3, 0.3, 2.0):
            u = np.array([start, *location[1:]])
            assert least < minimize(cost, u, method="Nelder-Mead", options={"maxfev": 4000, "fatol": 1e-8}).fun + 1e-3


def test_modes_lie_where_long_tables_were_simulated(lengths_design):
    grid = tuple(range(1, 21))
    table = lengths_design.cells([("a", "abacus", "standard", 1), ("n", "nope", "standard", 1)], grid=grid, total=200)
    truth = lengths_design.curves_of(["abacus", "nope"])
    law = bs.laws.Lengths()
    table = table.assign(correct=law.simulate(truth, table, np.random.default_rng(0)))
    arrays = law.density(table, law.reference(table)).arrays
    for i, part in enumerate(law.parts):
        error = np.abs(arrays["centre"][:, i] - truth[part]) * np.sqrt(arrays["information"][:, i])
        assert (error < 4).all(), part


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_searches_for_modes_use_one_thread_of_algebra(lengths_counts, monkeypatch):
    seen, density = [], modes.run_log_likelihood

    def watched(*arguments):
        seen.append(threads())
        return density(*arguments)

    monkeypatch.setattr(modes, "run_log_likelihood", watched)
    modes._mode_of_run.cache_clear()
    law = bs.laws.Lengths()
    with threadpool_limits(2, user_api="blas"):
        law.density(lengths_counts, law.reference(lengths_counts))
        assert threads() == {2}
    assert len(seen) > 100
    assert all(running == {1} for running in seen)


def test_a_run_without_counts_has_no_information(lengths_counts):
    law = bs.laws.Lengths()
    remaining = lengths_counts[lengths_counts["run"] != "nope-1"]
    arrays = law.density(remaining, law.reference(lengths_counts)).arrays
    assert (arrays["information"][4] == 0).all()
    assert (np.delete(arrays["information"], 4, axis=0) > 0).all()
