"""Results do not depend on where they are computed; if a worker dies, what was saved is kept."""

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.inference.checks import sandwich
from bayescaling.inference.checks.calibration import open_calibration
from bayescaling.inference.comparison.refits import exact_loo
from bayescaling.inference.fitted import LEFT_OUT, results_of
from bayescaling.inference.progress.compare import score_progress
from bayescaling.inference.workers import mapped
from bayescaling.models import arrays
from threadpoolctl import threadpool_info, threadpool_limits

HERE = Path(__file__).parent
SHORT = {"draws": 100, "tune": 150, "chains": 2}


@pytest.fixture(scope="module")
def pieces():
    """Work in a module that other processes can import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        yield importlib.import_module("pieces")


@pytest.fixture(scope="module")
def cluster(pieces):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "worker_dashboard_address": None}
    with distributed.LocalCluster(**options) as started:
        yield started


@pytest.fixture(scope="module")
def fit(fitter_normal):
    return fitter_normal.fit(seed=1, draws=500, tune=500)


@pytest.fixture(scope="module")
def here(fit, fitter_normal):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        return simulated(fitter_normal), refitted(fit)


def simulated(fitter, simulations=4, **options):
    return bs.calibrate(fitter.law, fitter.table, simulations=simulations, seed=1, **SHORT, **options)


def refitted(fit):
    return exact_loo(fit, [0, 100, 200], **SHORT)


def same(one, other):
    xr.testing.assert_identical(one.drop_attrs(), other.drop_attrs())


def test_simulations_and_refits_are_the_same_in_processes(here, fit, fitter_normal, quiet):
    with bs.parallel(2):
        same(simulated(fitter_normal), here[0])
        same(refitted(fit), here[1])


def test_simulations_and_refits_survive_a_killed_worker_of_a_cluster(
    here, fit, fitter_normal, cluster, tmp_path, quiet
):
    def kill(begun):
        """Kill a worker once the work has begun."""
        _until(begun, bool)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    def is_busy():
        return any(cluster.scheduler.workers[x].processing for x in cluster.scheduler.workers)

    with bs.parallel(scheduler=cluster.scheduler_address), ThreadPoolExecutor() as threads:
        killed = threads.submit(kill, (tmp_path / "ranks.nc").exists)
        same(simulated(fitter_normal, out=tmp_path / "ranks.nc"), here[0])
        killed.result()
        killed = threads.submit(kill, is_busy)
        same(refitted(fit), here[1])
        killed.result()


def test_a_killed_process_ends_a_calibration_in_a_line_and_what_was_saved_is_kept(
    here, fitter_normal, pieces, tmp_path, quiet
):
    path = tmp_path / "ranks.nc"

    def kill(worker):
        _until(path.exists, bool)
        os.kill(worker, signal.SIGKILL)

    with bs.parallel(2), ThreadPoolExecutor() as threads:
        workers = {process for _, _, process in mapped(pieces.named_process, None, range(20))}
        for worker in workers:
            threads.submit(kill, worker)
        with pytest.raises(bs.InputError, match="a worker process was killed") as refusal:
            simulated(fitter_normal, 16, out=path)
        assert "\n" not in str(refusal.value) and 0 < open_calibration(path).sizes["simulation"] < 16
        same(simulated(fitter_normal, 16, out=path).isel(simulation=range(4)), here[0])


def test_results_come_in_order_from_several_processes(pieces):
    with bs.parallel(2):
        results = list(mapped(pieces.named_process, "shared", range(20)))
        again = list(mapped(pieces.named_process, "other", range(20)))
    assert [(shared, item) for shared, item, _ in results + again] == [
        (shared, item) for shared in ("shared", "other") for item in range(20)
    ]
    processes = {process for _, _, process in results + again}
    assert 1 <= len(processes) <= 2 and os.getpid() not in processes
    assert [x[2] for x in mapped(pieces.named_process, "here", range(2))] == [os.getpid()] * 2


def test_workers_do_their_algebra_alone(pieces):
    with bs.parallel(2):
        pools = list(mapped(pieces.threads_of_algebra, None, range(2)))
    assert pools and all(threads and set(threads) == {1} for threads in pools)


def test_work_that_is_not_waited_for_is_not_done(pieces, tmp_path):
    with bs.parallel(2):
        results = mapped(pieces.noted, tmp_path, range(200))
        assert next(results) == 0
        results.close()
        assert list(mapped(pieces.named_process, "other", range(2)))
    assert len(list(tmp_path.iterdir())) < 100


def test_warnings_and_refusals_come_back(pieces):
    with bs.parallel(2):
        with pytest.warns(bs.DiagnosticWarning, match="chains of [12] disagree") as warned:
            assert list(mapped(pieces.warned, None, [1, 2])) == [1, 2]
        assert [str(warning.message)[:11] for warning in warned] == ["chains of 1", "chains of 2"]
        with pytest.raises(bs.InputError, match=r"row [56] cannot be used"):
            list(mapped(pieces.refused, None, [5, 6]))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_no_process_is_left_behind(number, tmp_path, interruptible):
    parent = subprocess.Popen([sys.executable, HERE / "pieces.py", tmp_path], stderr=subprocess.DEVNULL)
    try:
        workers = _until(lambda: [int(path.name) for path in tmp_path.iterdir()], lambda pids: len(pids) == 2)
        parent.send_signal(number)
        assert parent.wait(60) != 0
    finally:
        parent.kill()
        parent.wait()
    assert _until(lambda: [w for w in workers if _alive(w)], lambda pids: not pids) == []


def test_work_that_no_other_process_can_do_is_refused():
    with bs.parallel(2):
        with pytest.raises(bs.InputError, match="cannot be handed to another process"):
            list(mapped(_until, threading.Lock(), [1, 2]))
        with pytest.raises(bs.InputError, match="a worker lacks what the work needs"):
            list(mapped(_until, None, [1, 2]))


def _until(look, content):
    """Call `look` until `content` accepts its value, for a minute at most."""
    for _ in range(600):
        value = look()
        if content(value):
            break
        time.sleep(0.1)
    return value


def _alive(process):
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("options", [{}, {"processes": 0}, {"processes": 2, "scheduler": "tcp://localhost:1"}])
def test_options_that_cannot_be_used_are_refused(options):
    with pytest.raises(bs.InputError, match=r"processes"), bs.parallel(**options):
        pass


@pytest.mark.thorough
def test_prior_grids_and_specifications_are_the_same_in_processes(quiet):
    from bayescaling.inference.progress.influence import prior_grid

    fitter, options = bs.progress.new_fitter(), {"seed": 1, **SHORT}
    grid = {"share_spreads": (0.5,), "year_spreads": (0.5, 1.0)}
    here = prior_grid(fitter, bs.laws.Progress(7), **grid, **options)
    with bs.parallel(2):
        there = prior_grid(fitter, bs.laws.Progress(7), **grid, **options)
    np.testing.assert_array_equal(here.drop(columns="estimand"), there.drop(columns="estimand"))


@pytest.mark.thorough
def test_specifications_are_scored_alike_in_processes(quiet):
    # So few rows that several want a refit, whatever the draws.
    fitter = bs.progress.new_fitter(bs.load("lm_progress").iloc[::8].reset_index(drop=True))
    laws = {k: bs.laws.Progress(k) for k in (13, 16)}

    def scored():
        fits = fitter.fit_each(laws, seed=1, **SHORT)
        return fits, score_progress(fits, papers=False, seed=1)

    fits, here = scored()
    with bs.parallel(2):
        of_workers, there = scored()
    assert here.table["refitted"].sum() > 0
    for name in ("table", "rowwise"):
        pd.testing.assert_frame_equal(getattr(here, name), getattr(there, name), check_exact=True)
    for k, fit in fits.items():
        assert (
            (LEFT_OUT in results_of(fit))
            == (LEFT_OUT in results_of(of_workers[k]))
            == (here.table.at[k, "refitted"] > 0)
        )


def test_fits_and_their_methods_use_one_thread_of_algebra(fitter, monkeypatch, quiet):
    threads = []

    def watched(function):
        def watch(*arguments, **options):
            threads.append({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})
            return function(*arguments, **options)

        return watch

    monkeypatch.setattr(arrays, "namespace", watched(arrays.namespace))
    monkeypatch.setattr(sandwich, "_covariance", watched(sandwich._covariance))
    with threadpool_limits(2, user_api="blas"):
        fit = fitter.fit(seed=1, least_ess=0, **SHORT)
        alpha, run = fit["posterior"]["alpha"], pd.DataFrame({"parameters": [1e9], "tokens": [1e11]})
        calls = [lambda: fit.robust(alpha), lambda: fit.predict(run, beyond="none"), lambda: fit.allocate(1e22)]
        assert threads and all(seen == {1} for seen in threads)
        for call in calls:
            threads.clear()
            call()
            assert threads and all(seen == {1} for seen in threads)
