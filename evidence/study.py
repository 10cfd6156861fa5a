"""What all long studies have in common: their inputs, their saved parts, and the file of the result.

A study is up to date while its settings, its tables and the densities of its laws have not changed since it was made.
"""

import hashlib
import json
import math
import subprocess
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import bayescaling as bs
import numpy as np
from bayescaling.datasets import sha256
from bayescaling.datasets.files import written_whole
from bayescaling.reports.results import to_json

HERE = Path(__file__).parent
RELATIVE = 1e-5  # by which a log density may differ between processors, most where it holds integrals about a mode
SPREAD = 0.1  # of the coordinates about the start at which densities are compared


@dataclass(frozen=True)
class Study:
    """One long study.

    Attributes
    ----------
    what : str
        Title: what the study shows, in a phrase.
    make : callable
        Takes `Parts` and the settings by name, and returns the result, which JSON can hold.
    laws : callable
        Returns a list of (law, table): laws that the results follow from, on tables that come with the package.
    settings : dict
        The seed and the settings of the sampler.
    foreign : bool
        Whether it needs tables that do not come with the package, from a folder that the user names.
    command : str, optional
        What makes it for a user, where it is not ``evidence/make.py``.
    """

    what: str
    make: Callable
    laws: Callable
    settings: dict = field(default_factory=dict)
    foreign: bool = False
    command: str | None = None


STUDIES = {}  # by name, of the modules that are imported


def register(what, laws, *, name=None, foreign=False, command=None, **settings):
    """Make a function a `Study` of its own name, or of another one; the rest is as of `Study`."""

    def registered(make):
        STUDIES[name or make.__name__] = Study(what, make, laws, settings, foreign, command)
        return make

    return registered


@dataclass(frozen=True)
class Parts:
    """Parts of a study in a folder: each is made once, even if the study is stopped in between."""

    folder: Path

    def entry(self, name, make):
        """Return what `make` returned when it was first called under this name, as JSON holds it."""
        path = self.folder / f"{_file_name(name)}.json"
        if not path.exists():
            content = to_json(make())
            with written_whole(path) as partial:
                partial.write_text(content, encoding="utf-8")
        return json.loads(path.read_text(encoding="utf-8"))

    def fit(self, name, make):
        """Return the `Fit` that `make` returned when it was first called under this name."""
        path = self.folder / f"{_file_name(name)}.nc"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            make().save(path)
        return bs.open(path)

    def path(self, name):
        """Return the path of a part that resumes from a file it writes itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / _file_name(name)


def laws_of(table, laws):
    """Return the `laws` of a study of one table that comes with the package."""
    return lambda: [(law, bs.load(table)) for law in laws]


def selected(table, rows):
    """Return some rows of a table, with its attributes."""
    selection = table[rows].reset_index(drop=True)
    selection.attrs = dict(table.attrs)
    return selection


def copies(fit, table, **options):
    """Calibrate the law of a fit on copies of its table, simulated from posterior medians; options of `calibrate`."""
    truth = {name: float(fit["posterior"][name].median()) for name in fit.law.prior_of}
    return bs.calibrate(fit.law, table, truth=truth, **options)


def _file_name(name):
    return "".join(x if x.isalnum() else "-" for x in name)


def origins(study):
    """Return the inputs of a study: its settings, fingerprints of its tables, and log densities of its laws."""
    laws = {(law.label, table.attrs["source"]): (law, table) for law, table in study.laws()}
    tables = {table.attrs["source"]: table for _, table in laws.values()}
    return {
        "settings": study.settings,
        "tables": {name: {"rows": len(table), "sha256": sha256(table)} for name, table in tables.items()},
        "laws": [
            {"law": name, "table": source, "log_density": _density(law, table)}
            for (name, source), (law, table) in laws.items()
        ],
    }


def _density(law, table):
    rows = law.rows(table)
    density, rng = law.density(rows, law.reference(rows)), np.random.default_rng(1)
    point = tuple(block + SPREAD * rng.standard_normal(block.shape) for block in density.start)
    return float(sum(np.sum(term) for term in density.terms(point, density.arrays)))


def changes(document, study):
    """List what has changed since a study was made, each in a few words; an empty list while it is up to date."""
    now, differences = origins(study), []
    if document.get("settings") != now["settings"]:
        differences.append(f"settings are {now['settings']}, they were {document.get('settings')}")
    for name, table in now["tables"].items():
        if document.get("tables", {}).get(name) != table:
            differences.append(f"the table {name} has changed")
    before = {(one["law"], one["table"]): one["log_density"] for one in document.get("laws", [])}
    for one in now["laws"]:
        was = before.pop((one["law"], one["table"]), None)
        if was is None or not math.isclose(was, one["log_density"], rel_tol=RELATIVE):
            differences.append(
                f"the log density of {one['law']} on {one['table']} is {one['log_density']!r}, it was {was!r}"
            )
    return differences + [f"{law} on {table} is no longer part of it" for law, table in before]


def read(name, folder=HERE):
    """Return the content of a study's file, an empty dict where there is none."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def made(name, study, *, folder=HERE, parts, **more):
    """Make a study, write its file to a folder and return the content; its parts are saved in another until then.

    Further arguments are those of `Study.make`.
    """
    of = origins(study)
    digest = hashlib.sha256(json.dumps(of, sort_keys=True, default=str).encode()).hexdigest()
    its_parts = Parts(parts / f"{name}-{digest[:12]}")
    asked = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or None
    with _timed(its_parts.path("seconds")) as clock:
        result = study.make(its_parts, **study.settings, **more)
    document = {
        "what": study.what,
        "made": datetime.now(UTC).date().isoformat(),
        "version": bs.__version__,
        "commit": commit,
        "command": study.command or f"python evidence/make.py {name}{' --tables FOLDER' if study.foreign else ''}",
        **of,
        "seconds": int(clock.read_text()),
        "result": result,
    }
    content = to_json(document)
    with written_whole(folder / f"{name}.json") as partial:
        partial.write_text(content, encoding="utf-8")
    return json.loads(content)


@contextmanager
def _timed(clock):
    begun, before = time.monotonic(), int(clock.read_text()) if clock.exists() else 0
    try:
        yield clock
    finally:
        clock.write_text(f"{before + time.monotonic() - begun:.0f}")
