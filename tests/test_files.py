import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

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


WRITE = """
    import os, sys
    from bayescaling.datasets.files import written_whole
    if sys.argv[1] == "whole":
        with written_whole("file") as partial:
            partial.write_text("whole")
        with written_whole("folder") as partial:
            partial.mkdir()
            (partial / "part").write_text("whole")
    elif sys.argv[1] == "unflushed":
        with open("partial", "w") as file:
            file.write("whole")
        os.replace("partial", "file")
    else:
        with open("partial", "w") as file:
            os.fsync(file.fileno())
            file.write("whole")
        os.replace("partial", "file")
"""


@pytest.mark.parametrize(
    ("how", "unflushed"),
    [("whole", {"file": 0, "folder": 0}), ("unflushed", {"file": 1}), ("written after", {"file": 1})],
)
def test_what_is_renamed_into_place_was_flushed_before(how, unflushed, tmp_path):
    log = tmp_path / "flushed.jsonl"
    path = os.pathsep.join(filter(None, [str(Path(__file__).parent / "flushed"), os.environ.get("PYTHONPATH")]))
    done = run(WRITE, tmp_path, how, env=os.environ | {"FLUSHED": str(log), "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    renamed = {Path(line["renamed"]).name: len(line["unflushed"]) for line in lines if "renamed" in line}
    assert renamed == unflushed
    assert (lines[-1].get("flushed") == tmp_path.stat().st_ino) == (how == "whole")


DIE = """
    import os, signal, sys
    from bayescaling.datasets.files import written_whole
    with written_whole("kept.nc") as partial:
        partial.write_text("half")
        if sys.argv[1] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        print("writing", flush=True)
        sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_name(tmp_path):
    assert run(DIE, tmp_path, "die").returncode < 0
    assert len(list(tmp_path.glob(".kept.nc.*"))) == 1
    with written_whole(tmp_path / "other.nc") as partial:
        partial.write_text("other")
    assert len(list(tmp_path.glob(".kept.nc.*"))) == 1
    check_writable(tmp_path / "kept.nc")
    assert os.listdir(tmp_path) == ["other.nc"]


def test_what_a_live_process_writes_is_left_to_it(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(DIE), "live"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "writing\n"
        with written_whole(tmp_path / "kept.nc") as partial:
            partial.write_text("mine")
        assert len(list(tmp_path.glob(".kept.nc.*"))) == 1
        writer.communicate("", timeout=60)
    assert writer.returncode == 0
    assert (tmp_path / "kept.nc").read_text() == "half" and os.listdir(tmp_path) == ["kept.nc"]


def test_names_that_look_like_patterns_are_names(tmp_path):
    for name in ("[a].nc", "a*.nc", "?"):
        with written_whole(tmp_path / name) as partial:
            partial.write_text(name)
        assert (tmp_path / name).read_text() == name
    with pytest.raises(bs.InputError, match="is a folder"):
        check_writable(tmp_path)


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
    elif kind == "link to a folder":
        (path.parent / "folder").mkdir()
        path.symlink_to("folder")
    elif kind == "link to a pipe":
        os.mkfifo(path.parent / "pipe")
        path.symlink_to("pipe")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("folder", "is a folder"),
        ("pipe", "is a device or a pipe"),
        ("device", "is a device or a pipe"),
        ("loop", "symbolic links"),
        ("link to a folder", "is a folder"),
        ("link to a pipe", "is a device or a pipe"),
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


WRITTEN_BEFORE = """
import sys
import numpy as np
import xarray as xr
from bayescaling.datasets.netcdf import read, write
write(xr.Dataset({"x": ("row", np.arange(3.0))}), "a.nc")
assert "distributed" not in sys.modules, "it takes a second to import"
from dask.distributed import Client
write(xr.Dataset({"x": ("row", np.arange(3.0))}).chunk({"row": 1}), "b.nc")
assert sys.modules["distributed"] is sys.modules[Client.__module__.partition(".")[0]]
print(*read("b.nc", xr.open_dataset)["x"].values)
"""


def test_a_file_is_written_without_importing_what_connects_to_clusters_which_can_be_imported_after(tmp_path):
    pytest.importorskip("distributed")
    command = [sys.executable, "-c", WRITTEN_BEFORE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0.0", "1.0", "2.0"], done.stderr
