import contextlib
import gc
import importlib.util
import io
import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets import KINDS
from bayescaling.inference import densities
from bayescaling.inference.checks import sandwich
from bayescaling.inference.fitted import new_fit
from bayescaling.models.lengths.curve import PARTS
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.reports.cache import store

# Fixtures with these names compile and sample, which takes seconds to minutes.
COMPILED = ("fit", "fitter", "studied", "sweep")
RUNS = ("fit", "fitting", "compare", "bridge", "sandwich", "law_tests", "allocate", "storage", "noise", "coupled",
        "offsets", "kaplan", "examples")  # fmt: skip
# Key of pytest's cache under which it has the seconds of tests.
KEPT = "bayescaling/seconds"
# Parts of the names of tests that share what takes longest to fit, in the order in which several processes start them:
# the longest first. One process runs each group, so that nothing is fitted twice.
TOGETHER = {
    "reports": tuple(f"reports/test_{name}.py::" for name in ("browser", "intervals", "report")),
    "runs": tuple(f"test_{name}.py::" for name in RUNS),
    "progress": ("progress", "test_refits"),
    "lengths": ("lengths", "test_bridge.py", "inference/scores", "test_evaluations_and_counts_have_pages"),
}
# Files that take longest of the rest, and laws of the contract.
LONG = ("test_cli", "scores/test_law", "test_plots", "test_own", "test_sweeps", "test_faults", "test_since_page",
        "test_compiled", "test_workers", "test_pymc_model", ": lengths", ": scores", ": horizons",
        ": grouped")  # fmt: skip
# Tests of what PyMC, ArviZ or xarray do, whose versions differ by Python: both run them. The rest of `inference` and
# the contract run on the newer Python, if there is one.
BOTH = ("test_fit.py", "test_fitting.py", "test_storage.py", "test_importance.py", "samplers/")


# What a fit without a sampler is known for.
KNOWN = {
    "data": {"source": "lm_progress"},
    "diagnostics": {"ok": True, "divergences": 0, "r_hat_max": 1.0, "ess_bulk_min": 400.0, "ess_tail_min": 400.0},
    "verdict": {"verdict": "fits", "p": 0.5, "size": None, "rejected_by": [], "tests": {"a": {}}},
}


@pytest.fixture(autouse=True)
def figures_closed():
    """Close figures that a test left open, such as those of examples."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Cache results of stages in a folder for each module of tests, apart from those of the user."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "folder", lambda: folder)
        yield folder


@pytest.fixture(scope="session")
def oracle():
    """Build a PyMC model of a law that is written by hand; see `oracle.py`."""
    spec = importlib.util.spec_from_file_location("oracle", Path(__file__).with_name("oracle.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.model


@pytest.fixture(scope="session")
def as_written():
    """Return the mode of PyTensor that computes a graph unchanged: to rewrite it takes seconds, for the same value."""
    pytest.importorskip("pytensor", reason="PyTensor is not installed")
    from pytensor.compile.mode import Mode

    return Mode(linker="py", optimizer=None)


def pytest_addoption(parser):
    """Add the option of `make quick`."""
    parser.addoption(
        "--quick", type=float, metavar="SECONDS", help="only the quickest files, of so many seconds together"
    )


def pytest_configure(config):
    """Record how long tests take, unless another process distributes them."""
    if not hasattr(config, "workerinput") and hasattr(config, "cache"):
        config.pluginmanager.register(Clock(config), "clock")


class Clock:
    """Save how long each test took, set-up included, from one run to the next."""

    def __init__(self, config):
        self.cache, self.seconds = config.cache, {}

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self):
        self.cache.set(KEPT, self.cache.get(KEPT, {}) | self.seconds)


def pytest_collection_modifyitems(config, items):
    """Mark tests that share compiled models or trained sweeps; with ``--quick`` select the quickest files alone.

    In several processes the longest groups start first, so that no process ends with them.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _place(item.nodeid))
    for item in items:
        folder = "tests/inference/" in item.nodeid and not any(name in item.nodeid for name in BOTH)
        if folder or item.path.name == "test_contract.py":
            item.add_marker("newer")
        if item.path.name == "test_examples.py" or any(name.startswith(COMPILED) for name in item.fixturenames):
            item.add_marker("slow")
    budget = config.getoption("--quick")
    if budget is None:
        return
    durations = config.cache.get(KEPT, {}) if hasattr(config, "cache") else {}
    left = [item for item in items if not any(item.get_closest_marker(mark) for mark in ("slow", "thorough"))]
    # By file, since tests of a file share what one of them sets up. Tests that were never timed count as quick.
    files = {}
    for item in left:
        files.setdefault(item.path, []).append(durations.get(item.nodeid, 0.0))
    for path in sorted(files, key=lambda path: sum(files[path]) / len(files[path])):
        budget -= sum(files[path])
        if budget < 0:
            left = [item for item in left if item.path != path]
    selected = set(left)
    config.hook.pytest_deselected(items=[item for item in items if item not in selected])
    items[:] = left


def pytest_collection_finish():
    """Leave what was imported to no later search for garbage, which would take a seventh of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)


def _group(nodeid):
    """Return the name of the tests that one process runs together with a test: a law of the contract, or a file."""
    path, _, test = nodeid.partition("::")
    if path.endswith("test_contract.py"):
        return f"{path}: {test.partition('[')[2].partition('-plot_')[0].rstrip(']')}"
    # Values of parameters do not count: the tests of a file that have one named after a group share what the others do.
    named = ((group, name) for group, names in TOGETHER.items() for name in names)
    return next((group for group, name in named if name in f"{path}::" or test.startswith(name)), path)


def _place(nodeid):
    """Return the place of a test among those of all processes: the longest groups first, then the longest files."""
    group, first = _group(nodeid), [*TOGETHER, *LONG]
    return next((i for i, name in enumerate(first) if group == name or name in group), len(first)), group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run what shares compiled programs in one process, in the order of `_place` instead of that of counts of tests."""
    from xdist.scheduler import LoadScopeScheduling

    class ByProgram(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return _group(nodeid)

    config.option.loadscopereorder = False
    return ByProgram(config, log)


# Besiroglu et al. (2024), with the scatter and tails of the digitised runs.
PUBLISHED = {"E": 1.8172, "A": 482.01, "B": 2085.43, "alpha": 0.3478, "beta": 0.3658}


def in_sampled_quantities(constants, reference):
    """Invert `models.chinchilla.constants`."""
    at_parameters = constants["A"] * reference["reference_parameters"] ** -constants["alpha"]
    at_tokens = constants["B"] * reference["reference_tokens"] ** -constants["beta"]
    reducible = at_parameters + at_tokens
    return {
        "loss_centre": constants["E"] + reducible,
        "reducible_share": reducible / (constants["E"] + reducible),
        "parameter_share": at_parameters / reducible,
        "alpha": constants["alpha"],
        "beta": constants["beta"],
    }


@pytest.fixture(scope="session")
def jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture(scope="session")
def runs():
    return bs.load("chinchilla_runs")


@pytest.fixture(scope="session")
def reference(runs):
    return bs.laws.Chinchilla().reference(runs)


@pytest.fixture(scope="session")
def truth(reference):
    """Sampled quantities at published constants; Student-t noise as heavy-tailed as that of the digitised runs."""
    noise = {"sigma": 0.004, "nu_minus_one": 1.0, "sigma_parameters": 0.0, "sigma_tokens": 0.0}
    return in_sampled_quantities(PUBLISHED, reference) | noise


@pytest.fixture(scope="session")
def fit_default(runs):
    """Return the default fit, compiled separately; 4 x (1000 + 1000)."""
    return bs.fit(bs.laws.Chinchilla(), runs, seed=1, posterior_predictive=True, prior_predictive=True)


@pytest.fixture(scope="session")
def fitter(runs):
    """Student-t noise on log loss that scatters by size, compiled once."""
    return bs.Fitter(bs.laws.Chinchilla(), runs)


@pytest.fixture(scope="session")
def fit_one_sigma(runs):
    """One scatter for all runs: the law and noise that others fitted to them."""
    return bs.fit(bs.laws.Chinchilla(scatter="one"), runs, seed=1)


@pytest.fixture(scope="session")
def fitter_normal(runs):
    """Normal noise of one scatter, which some of the runs are far from."""
    return bs.Fitter(bs.laws.Chinchilla(noise="normal", scatter="one"), runs)


@pytest.fixture(scope="session")
def fit_normal(fitter_normal, runs):
    return fitter_normal.fit(runs, seed=1, draws=2000)


@pytest.fixture(scope="session")
def fitter_reading_error(runs):
    """Huber noise of one scatter with a reading error, on the scale of the loss."""
    return bs.Fitter(bs.laws.Chinchilla(noise="huber", scale="loss", scatter="one", measurement_error=True), runs)


@pytest.fixture(scope="session")
def fit_reading_error(fitter_reading_error, runs):
    """Return a short fit: its density takes longer than that of other laws, and no test depends on many draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return fitter_reading_error.fit(runs, seed=1, draws=100, tune=200, chains=2, target_accept=0.9, least_ess=0)


@pytest.fixture(scope="session")
def simulated(fitter, runs, truth):
    """Build the runs' design with losses that the law draws at `truth`, or at what is given."""

    def simulate(seed, **changed):
        losses = fitter.law.simulate(truth | changed, runs, np.random.default_rng(seed))
        return runs.assign(loss=losses)

    return simulate


@pytest.fixture(scope="session")
def evaluations():
    return bs.load("lm_progress")


@pytest.fixture(scope="session")
def progress_fitter(evaluations):
    """All laws of progress on the built-in evaluations; each is compiled at its first fit."""
    return bs.progress.new_fitter(evaluations)


@pytest.fixture(scope="session")
def progress_draws(evaluations):
    """Build draws of a law of progress, fitted to nothing: z normal with a given spread."""

    def draws(law, *, seed=0, draws=3, spread=0.7, table=evaluations):
        z = spread * np.random.default_rng(seed).normal(size=(1, draws, law.dimension))
        rows = law.rows(table)
        return ProgressDraws(law, law.reference(rows), rows, z)

    return draws


@pytest.fixture(scope="session")
def fit_of(progress_draws):
    """A fit whose draws come from a normal z instead of a sampler, and the draws."""

    def fit(law, **options):
        draws = progress_draws(law, **options)
        groups = {
            "posterior": draws.named(),
            "unconstrained_posterior": draws.real_line().to_dataset(name="z"),
            "constant_data": KINDS[law.kind].to_dataset(draws.rows),
        }
        record = {"law": {"name": law.name, "options": law.options, "reference": draws.reference}}
        record = json.loads(json.dumps(record | KNOWN))
        return draws, new_fit(groups, record)

    return fit


class LengthsDesign:
    """Three runs of each of two embeddings, the curves that their counts are simulated from, and builders of others."""

    train = 8
    grid = (1, 3, 5, 8, 9, 10, 12, 15, 20)
    curves = {  # noqa: RUF012
        "abacus": {"log_reach": 0.7, "log_steepness": 1.8, "logit_lapse": -4.0, "logit_shorter": -1.5},
        "nope": {"log_reach": 0.1, "log_steepness": 2.8, "logit_lapse": -3.0, "logit_shorter": -2.5},
    }
    spreads = {  # noqa: RUF012
        "log_reach": 0.15, "log_steepness": 0.2, "logit_lapse": 0.5, "logit_shorter": 0.2, "log_precision": 0.2,
    }  # fmt: skip
    precision = 3.4

    def __init__(self):
        self.runs = [(f"{e}-{seed}", e, "standard", 1) for e in self.curves for seed in range(3)]
        self.embeddings = [e for _, e, _, _ in self.runs]
        self.log_train = np.full(len(self.runs), np.log(self.train))
        self.table = self.cells(self.runs)

    def cells(self, runs, grid=grid, total=50):
        """Build cells of runs, given as (name, embedding, architecture, recurrences)."""
        a, b = (x.ravel() for x in np.meshgrid(grid, grid, indexing="ij"))
        parts = [
            pd.DataFrame(
                {"run": name, "embedding": embedding, "architecture": architecture, "recurrences": recurrences,
                 "train_digits": self.train, "length_a": a, "length_b": b, "correct": 0, "total": total}
            )
            for name, embedding, architecture, recurrences in runs
        ]  # fmt: skip
        return bs.read(pd.concat(parts, ignore_index=True), "counts")

    def curves_of(self, embeddings, rng=None):
        """Parameters of runs, at those of their embeddings or about them: dict of (run,)."""
        curves = {part: np.array([self.curves[e][part] for e in embeddings]) for part in PARTS[:-1]}
        curves["log_precision"] = np.full(len(embeddings), self.precision)
        if rng is not None:
            curves = {part: x + self.spreads[part] * rng.standard_normal(len(x)) for part, x in curves.items()}
        return curves


@pytest.fixture(scope="session")
def lengths_design():
    return LengthsDesign()


@pytest.fixture(scope="session")
def lengths_counts(lengths_design):
    rng = np.random.default_rng(4)
    curves = lengths_design.curves_of(lengths_design.embeddings, rng)
    table = lengths_design.table
    return table.assign(correct=bs.laws.Lengths().simulate(curves, table, rng))


@pytest.fixture(scope="session")
def lengths_fitter(lengths_counts):
    return bs.Fitter(bs.laws.Lengths(), lengths_counts)


@pytest.fixture(scope="session")
def lengths_fit(lengths_fitter):
    """The default fit, refits of its leave-one-out done."""
    fit = lengths_fitter.fit(seed=1)
    fit.loo()
    return fit


@pytest.fixture
def quiet():
    """Fit without raising warnings of convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        yield


class ScoresDesign:
    """A small table of scores simulated from known capabilities and benchmarks, some of them at floor and ceiling."""

    models, benchmarks = 16, 6
    truth = {  # noqa: RUF012
        "capability_centre": 0.3, "capability_sd": 0.3, "compute_slope": 0.4, "yearly_gain": 1.0,
        "unknown_centre": 0.6, "unknown_yearly_gain": 1.5, "unknown_sd": 0.4,
    }  # fmt: skip

    def __init__(self, seed=7, models=None):
        rng, count = np.random.default_rng(seed), models or self.models
        truth = self.truth
        year = np.round(rng.uniform(2023, 2026, count), 2)
        has_compute = np.arange(count) % 4 != 3
        log_compute = rng.normal(0, 2.0, count)
        mean = (
            truth["capability_centre"] + truth["compute_slope"] * log_compute + truth["yearly_gain"] * (year - 2024.5)
        )
        other = truth["unknown_centre"] + truth["unknown_yearly_gain"] * (year - 2024.5)
        sd = np.where(has_compute, truth["capability_sd"], truth["unknown_sd"])
        self.capability = np.where(has_compute, mean, other) + sd * rng.normal(size=count)
        self.difficulty = np.linspace(-2.5, 3.0, self.benchmarks)
        self.difficulty -= self.difficulty.mean()
        log_slope = rng.normal(0, 0.4, self.benchmarks)
        self.slope = np.exp(log_slope - log_slope.mean())
        self.noise = np.exp(rng.normal(-2.7, 0.3, self.benchmarks))
        stated = np.where(has_compute, 1e24 * np.exp(log_compute) * 10 ** rng.normal(0, 0.1, count), np.nan)
        model, benchmark = (x.ravel() for x in np.meshgrid(np.arange(count), np.arange(self.benchmarks), indexing="ij"))
        share = 1 / (1 + np.exp(-self.slope[benchmark] * (self.capability[model] - self.difficulty[benchmark])))
        precision = 0.25 / self.noise[benchmark] ** 2
        dates = pd.to_datetime("2023-01-01") + pd.to_timedelta(np.round((year - 2023) * 365), unit="D")
        table = pd.DataFrame(
            {
                "model": [f"model {i:02d}" for i in model],
                "benchmark": [f"test {i}" for i in benchmark],
                "score": np.round(rng.beta(precision * share, precision * (1 - share)), 3),
                "date": dates[model].strftime("%Y-%m-%d"),
                "training_compute_flop": stated[model],
                "compute_confidence": np.where(has_compute, "Confident", None)[model],
                "family": [f"family {i // 2}" for i in model],
                "version": np.where((model % 2 == 0) & (benchmark % 2 == 1), "b", "a"),
            }
        )
        self.table = bs.read(table, "scores")


@pytest.fixture(scope="session")
def scores_design():
    return ScoresDesign()


@pytest.fixture(scope="session")
def command_line_here():
    """Run the command line in this process, where a separate one is not the point; the result is that of a process."""
    from bayescaling.commands.cli import main

    def run(*words):
        streams = io.StringIO(), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.redirect_stdout(streams[0]),
            contextlib.redirect_stderr(streams[1]),
            pytest.raises(SystemExit) as end,
        ):
            patch.setattr(sys, "argv", ["bayescaling", *map(str, words)])
            main()
        return subprocess.CompletedProcess(words, end.value.code, *(stream.getvalue() for stream in streams))

    return run


@pytest.fixture
def interruptible():
    """Let signals end a process as in a terminal, even if the tests run in the background or under nohup."""
    defaults = {"SIGINT": signal.default_int_handler, "SIGTERM": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}
    previous = {name: signal.signal(getattr(signal, name), default) for name, default in defaults.items()}
    yield
    for name, handler in previous.items():
        signal.signal(getattr(signal, name), handler)


@pytest.fixture(scope="session")
def influence():
    """The covariance of a quantity with the log likelihood of each unit of a fit, as robust sds have it."""

    def of(fit, quantity):
        draws = quantity.transpose("chain", "draw").isel(draw=densities.selection(fit)).values.reshape(1, -1)
        return sandwich._of_units(fit, draws, densities.selected(fit).exchangeable())[0][0]

    return of
