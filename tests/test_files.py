import os
import stat
import subprocess
import sys
import textwrap

import bayescaling as bs
import pytest
from bayescaling.datasets.files import PROBE, check_writable, written_whole

resource = pytest.importorskip("resource", reason="limits are set as POSIX does it")


def run(code, folder, *words, **options):
    """Run a script in a folder, in a separate process."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, **options)


COMMAND = """
    import resource, sys
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
    from bayescaling.commands.cli import main
    main()
"""


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["fit", "chinchilla", "--out", "kept"], "kept"),
        (["calibrate", "chinchilla", "--out", "kept"], "kept"),
        (["report", "--out", "report"], "report/results.json"),
    ],
)
def test_a_full_disk_is_told_before_the_work(words, place, tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / place).write_text("earlier")
    # Less than is tried; where a calibration is continued, what is there is read first.
    done = run(COMMAND, tmp_path, PROBE - 1, *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == (
        f"error: {place}: cannot be written (File too large); make room or choose another place, and start again\n"
    )
    assert (tmp_path / place).read_text() == "earlier"
    assert not list(tmp_path.rglob(".*"))


SAVE = """
    import resource, sys
    import numpy as np, xarray as xr
    from bayescaling.errors import InputError
    from bayescaling.datasets import netcdf as sealed
    whole = xr.Dataset({"x": ("i", np.random.default_rng(1).random(100_000))})
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000,) * 2)
    try:
        sealed.write(whole if sys.argv[1] == "dataset" else xr.DataTree.from_dict({"posterior": whole}), "kept.nc")
    except InputError as error:
        print(error)
"""


@pytest.mark.parametrize("form", ["dataset", "tree"])
def test_a_disk_that_fills_while_a_file_is_written_leaves_the_earlier_one(form, tmp_path):
    (tmp_path / "kept.nc").write_text("earlier")
    done = run(SAVE, tmp_path, form)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("kept.nc: cannot be written (File too large); make room") and len(done.stdout) < 120
    assert (tmp_path / "kept.nc").read_text() == "earlier" and os.listdir(tmp_path) == ["kept.nc"]


DIE = """
    import os, signal
    from bayescaling.datasets.files import written_whole
    with written_whole("kept.nc") as partial:
        partial.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_the_earlier_file(tmp_path):
    (tmp_path / "kept.nc").write_text("earlier")
    assert run(DIE, tmp_path).returncode < 0
    assert (tmp_path / "kept.nc").read_text() == "earlier"
    with written_whole(tmp_path / "kept.nc") as partial:
        partial.write_text("mine")
    assert (tmp_path / "kept.nc").read_text() == "mine"


def test_a_file_is_flushed_to_disk_before_it_has_its_name(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_size))
    with written_whole(tmp_path / "folder") as partial:
        partial.mkdir()
        (partial / "part").write_text("whole")
        assert not flushed
    assert flushed == [5]


def make(kind, path):
    """Make what is no file that can be replaced."""
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":  # one of our own: the machine's would be lost if this went wrong
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
    elif kind == "loop":
        path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("folder", "is a folder"),
        ("pipe", "is a device or a pipe"),
        ("device", "is a device or a pipe"),
        ("loop", "symbolic links"),
    ],
)
def test_what_is_no_file_is_refused_and_stays_as_it_is(kind, words, tmp_path):
    path = tmp_path / "kept.nc"
    make(kind, path)
    before = {entry.name: entry.lstat() for entry in tmp_path.iterdir()}
    with pytest.raises(bs.InputError, match=words):
        check_writable(path)
    with pytest.raises(bs.InputError, match=words), written_whole(path) as partial:
        partial.write_text("mine")
    after = {entry.name: entry.lstat() for entry in tmp_path.iterdir()}
    assert {name: (x.st_ino, x.st_mode) for name, x in before.items()} == {
        name: (x.st_ino, x.st_mode) for name, x in after.items()
    }


@pytest.mark.parametrize("name", ["n" * 300, "a\0b", "missing/x", "plain/x"])
def test_places_where_no_file_can_be_are_refused(name, tmp_path):
    (tmp_path / "plain").write_text("earlier")
    with pytest.raises(bs.InputError):
        check_writable(tmp_path / name)
    assert os.listdir(tmp_path) == ["plain"]


def test_a_read_only_file_is_refused(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    (tmp_path / "kept.nc").write_text("earlier")
    (tmp_path / "kept.nc").chmod(0o444)
    with pytest.raises(bs.InputError, match="read-only"):
        check_writable(tmp_path / "kept.nc")


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    for name in ("there", "dangling"):
        (tmp_path / name).symlink_to(f"target of {name}")
    (tmp_path / "target of there").write_text("earlier")
    for name in ("there", "dangling"):
        check_writable(tmp_path / name)
        with written_whole(tmp_path / name) as partial:
            partial.write_text("mine")
        assert (tmp_path / name).is_symlink() and (tmp_path / f"target of {name}").read_text() == "mine"
    assert len(os.listdir(tmp_path)) == 4
