"""The command ``reconcile``: exponents that a study without embeddings would measure."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from . import options, tables

LABELS = {"size": "of the optimal size", "loss": "of the loss", "reducible_loss": "of the loss above E"}
COUNTED = {"nonembedding": "without embeddings", "total": "all parameters"}


def reconcile(
    file: Annotated[
        Path, Argument(metavar="FILE.nc", help="A fit of chinchilla, coupled, offsets or embedding-corrected.")
    ],
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    json: options.Json = False,
):
    """Print the exponents that a study like Kaplan's would have measured if a fitted law were true."""
    from ..inference import intervals, storage
    from ..inference.estimands.study_exponents import KAPLAN_EXPONENT

    fit = storage.open(file)
    exponents = fit.study_exponents(vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    at_least = float((exponents["nonembedding"]["size"] >= KAPLAN_EXPONENT).mean())
    entries = {basis: {n: intervals.summary(x, ratio=True) for n, x in e.items()} for basis, e in exponents.items()}
    if json:
        checks = {"p_exponent_above_0.73": at_least, "diagnostics": fit.diagnostics}
        tables.print_json({"exponents": entries} | checks)
        return
    for basis, entry in entries.items():
        rows = [tables.summary_row(LABELS[name], q) for name, q in entry.items()]
        tables.print_table(f"{fit.law.name}: exponents in compute, {COUNTED[basis]}", tables.SUMMARY_HEADER, rows)
    print(f"probability of an exponent of at least {KAPLAN_EXPONENT} without embeddings: {at_least:.3f}")
    tables.print_diagnostics(file, fit.diagnostics)
