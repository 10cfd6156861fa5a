"""The command ``reconcile``: exponents that a study without embeddings would measure, or that a sweep has."""

import warnings
from pathlib import Path
from typing import Annotated

from typer import Argument

from ..errors import InputError, TableWarning
from . import options, tables

COUNTED = {"nonembedding": "without embeddings", "total": "all parameters"}


def reconcile(
    file: Annotated[
        Path,
        Argument(
            metavar="FILE.nc|DIR",
            help="A fit of chinchilla, coupled, offsets or embedding-corrected; or the --out of bayescaling train.",
        ),
    ],
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    json: options.Json = False,
):
    """Print the exponents that Kaplan's study would measure.

    Of the folder of a sweep, print those of the lower envelope of the curves of each scheme instead, next to table 1 of
    Pearce and Song (2024).
    """
    from ..inference import storage

    if file.is_dir():
        _of_schemes(file, json)
        return
    fit = storage.open(file)
    exponents = fit.study_exponents(vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    tables.print_result(exponents, exponents.document(), json)


def _of_schemes(folder, json):
    """Print the exponent of the optimal size in compute of each scheme of a sweep, counted in both ways."""
    from ..datasets import load, read
    from ..inference.points.curves import curve_frontier

    published = load("published").set_index("quantity")["estimate"]
    paths = sorted(path for path in folder.glob("*.csv") if path.stem != "runs")
    if not paths:
        raise InputError(f"{folder}: there is no table of a scheme, such as scheme-1.csv; give the --out of a sweep")
    entries = {}
    for path in paths:
        with warnings.catch_warnings():
            # Readings of one run depend on each other, and make its curve.
            warnings.simplefilter("ignore", TableWarning)
            runs, key = read(path, unit={"parameters": 1}), path.stem.replace("-", "")
        for basis in COUNTED:
            paper = published.get(f"small_lm.exponent.{basis}.{key}")
            exponent = curve_frontier(runs, basis=basis)["exponent"]
            entries.setdefault(path.stem, {})[basis] = {"exponent": exponent, "published": paper}
    if json:
        tables.print_json({"exponents": entries})
        return
    rows = [
        (scheme, *(tables.number(entry[basis][name], ".2f") for basis in COUNTED for name in ("exponent", "published")))
        for scheme, entry in entries.items()
    ]
    header = ("scheme", *(text for basis in COUNTED for text in (COUNTED[basis], "published")))
    tables.print_table("exponent of the optimal size in compute; Pearce and Song (2024), table 1", header, rows)
