import importlib.metadata
import os
import subprocess
import sys
import textwrap

import pytest

FIT = """
    import bayescaling as bs

    fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), draws=50, tune=50, chains=2, seed=1)
    print(dict(fit["posterior"].sizes))
"""
QUIET = """
import warnings
from bayescaling.errors import DiagnosticWarning
warnings.simplefilter("ignore", DiagnosticWarning)
"""
UNWRITABLE = "/proc/nowhere"


def run(code, folder, home, cache, **changed):
    """Run code in a new process, every warning an error but that of convergence; the result and our folders left."""
    environment = {name: x for name, x in os.environ.items() if name not in ("MPLCONFIGDIR", "NUMBA_CACHE_DIR")}
    room = folder / "room"
    room.mkdir()
    places = {"HOME": str(home), "XDG_CACHE_HOME": str(cache), "TMPDIR": str(room), "PYTENSOR_FLAGS": ""}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET + textwrap.dedent(code)],
        env=environment | places | changed,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, list(room.glob("bayescaling-*"))


def test_a_first_import_in_an_empty_home_warns_of_nothing(tmp_path):
    code = """
        import sys

        sys.modules["arviz_plots"] = None  # with all of its next version at hand ArviZ announces nothing
        import bayescaling as bs

        print(bs.laws.Chinchilla().model(bs.load("chinchilla_runs")).free_RVs[0].name)
    """
    done, left = run(code, tmp_path, tmp_path / "home", tmp_path / "home" / "cache")
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["loss_centre"], "")
    assert not left
    if importlib.metadata.version("arviz").startswith("0."):
        # The announcement was due: ArviZ notes that it was made.
        assert list((tmp_path / "home" / "cache" / "arviz").iterdir())


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder that even root cannot write to")
def test_a_home_that_cannot_be_written_is_done_without(tmp_path):
    done, left = run(FIT, tmp_path, UNWRITABLE, UNWRITABLE + "/cache", XDG_CONFIG_HOME=UNWRITABLE + "/config")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "{'chain': 2, 'draw': 50}", "")
    assert not left


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no folder that even root cannot write to")
def test_a_place_that_the_user_chose_is_kept(tmp_path):
    code = """
        import os

        from bayescaling.models.backend import pymc

        pymc()
        print(os.environ["PYTENSOR_FLAGS"], os.environ["MPLCONFIGDIR"])
    """
    chosen = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path}/own", "MPLCONFIGDIR": str(tmp_path / "style")}
    done, left = run(code, tmp_path, UNWRITABLE, UNWRITABLE, **chosen)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == list(chosen.values())
    assert not left
