"""Check what a wheel holds, install it into a new environment and use it from another folder.

The wheel is built from the source distribution, so that what an earlier build left behind does not get in.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

SMOKE = """
import importlib, pkgutil, sys
from pathlib import Path

import bayescaling as bs

home = Path(bs.__file__).resolve().parent
assert home.is_relative_to(Path(sys.prefix).resolve()), f"tested {home}, not the wheel"
for module in pkgutil.walk_packages(bs.__path__, "bayescaling."):
    importlib.import_module(module.name)
for name in bs.catalogue()["name"]:
    assert len(bs.load(name)) and bs.notes(name)
for name in bs.__all__:
    getattr(bs, name)
"""


def run(*command, **options):
    """Run a command and return what it wrote to standard output."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=clean, **options).stdout


def expected():
    """Return the names of the files that the wheel must hold, the metadata aside."""
    names = set()
    for package in PROJECT["tool"]["setuptools"]["packages"]:
        folder = ROOT.joinpath(*package.split(".")[1:])
        names |= {f"{package.replace('.', '/')}/{path.name}" for path in folder.glob("*.py")}
    for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        paths = [path for pattern in patterns for path in folder.glob(pattern)]
        names |= {f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}" for path in paths}
    return names


def check_contents(wheel):
    """Exit with an error for a wheel that lacks a file or holds one too many; return how many it holds."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    if held != expected():
        sys.exit(f"the wheel lacks {sorted(expected() - held)} and should not hold {sorted(held - expected())}")
    return len(held)


def environment(folder, wheel):
    """Make an environment that holds the wheel and borrows its dependencies from the one that runs this."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(packages, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def main():
    """Check, install and use the wheel that the command names."""
    wheel = Path(sys.argv[1]).resolve()
    files = check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        python = environment(folder / "environment", wheel)
        run(python, "-I", "-c", SMOKE, cwd=folder)
        command = python.with_name("bayescaling")
        version = run(command, "--version", cwd=folder).strip()
        if version != PROJECT["project"]["version"]:
            sys.exit(f"the wheel's command prints version {version!r}")
        settings = ("--draws", "200", "--tune", "300", "--chains", "2", "--json")
        fit = json.loads(run(command, "fit", "chinchilla", *settings, cwd=folder))
        if not 1.7 < fit["parameters"]["E"]["mean"] < 1.9:
            sys.exit(f"the wheel's fit has E = {fit['parameters']['E']}")
    print(f"the wheel works: {files} files, version {version}")


if __name__ == "__main__":
    main()
