"""Make the results of long studies that reports and documents show: ``python evidence/make.py [NAME ...]``.

Each is written to ``evidence/NAME.json`` with its date. A study that is up to date is not made again; one that was
stopped resumes from its parts. ``--list`` prints the studies.
"""

import argparse
import importlib
import sys
import time
import warnings
from pathlib import Path

import bayescaling as bs
from bayescaling.inference.settings import cores
from platformdirs import user_cache_path
from study import HERE, STUDIES, changes, made, read

for module in sorted({path.stem for path in HERE.glob("*.py")} - {Path(__file__).stem}):
    importlib.import_module(module)


def stale(names):
    """Return what has changed since each study was made, by name; those that are up to date are left out."""
    differences = {name: changes(read(name), STUDIES[name]) for name in names}
    return {name: of for name, of in differences.items() if of}


def show(names):
    """Print which studies there are, when they were made and what has changed since."""
    of = stale(names)
    for name in names:
        document = read(name)
        state = "; ".join(of[name]) if name in of and document else "up to date"
        print(f"{name}: {STUDIES[name].what} ({document['made']}: {state})" if document else f"{name}: not made yet")


def make(names, *, tables=None, again=False, count=None):
    """Make the studies that are not up to date, and print how long those that are left took the last time."""
    due = [name for name in names if again or name in stale([name])]
    for name in [name for name in due if STUDIES[name].foreign and tables is None]:
        print(f"{name} needs tables that do not come with the package: name their folder with --tables")
        due.remove(name)
    for i, name in enumerate(due):
        took = [read(study).get("seconds") or 0 for study in due[i:]]  # 0 for a study that was never made
        left = f", at least {sum(took) / 60:.0f} min left" if sum(took) else ""
        print(f"{name} ({i + 1} of {len(due)}){left}", file=sys.stderr, flush=True)
        more = {"tables": tables} if STUDIES[name].foreign else {"count": count} if count else {}
        start = time.monotonic()
        made(name, STUDIES[name], parts=user_cache_path("bayescaling") / "evidence", **more)
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="studies; all by default")
    parser.add_argument("--list", action="store_true", help="print the studies, their dates and what has changed since")
    parser.add_argument("--again", action="store_true", help="make what is up to date again too")
    parser.add_argument("--tables", type=Path, help="folder of the tables that do not come with the package")
    parser.add_argument("--count", type=int, help="simulated tables of each form or law, of ..._simulated alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(STUDIES):
        parser.error(f"no study is called {min(unknown)}; there are {', '.join(STUDIES)}")
    names = arguments.names or list(STUDIES)
    if arguments.list:
        show(names)
        return
    warnings.simplefilter("ignore", bs.DiagnosticWarning)  # the results count what did not converge
    with bs.parallel(cores()):
        make(names, tables=arguments.tables, again=arguments.again, count=arguments.count)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(f"stopped; to resume, run: python {Path(HERE.name) / 'make.py'}")
