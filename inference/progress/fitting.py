"""Fit specifications of algorithmic progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ...datasets import load
from ...datasets.reader import TableSource
from ...models.laws import Progress
from ...models.progress.specifications import SPECIFICATIONS
from ..fitted import Fit
from ..fitter import Fitter

# Options of `Progress` by the name of a variant.
VARIANTS = {
    "student_t": {"noise": "student_t"},
    "log_loss": {"scale": "log_loss"},
    "pooling": {"pooling": True},
    "paper_effects": {"paper_effects": True},
    "scatter": {"scatter": "by_benchmark"},
    "paper_effects_scatter": {"paper_effects": True, "scatter": "by_benchmark"},
    "irreducible": {"irreducible": True},
    "transformer_exp": {"transformer": "exp"},
    "transformer_sigmoid": {"transformer": "sigmoid"},
    "non_transformers": {"architectures": "other"},
    "tokens_seen_imputed": {"data": "tokens_seen"},
    "tokens_seen": {"data": "tokens_seen", "unknown_epochs": "drop"},
    "diminishing_imputed": {"data": "diminishing"},
    "diminishing": {"data": "diminishing", "unknown_epochs": "drop"},
    "repeated_imputed": {"data": "repeated"},
    "repeated": {"data": "repeated", "unknown_epochs": "drop"},
}


def new_fitter(table: TableSource | None = None, *, sampler: str | None = None) -> Fitter:
    """Return a `Fitter` of the specifications on one table, each of which it compiles at its first fit.

    Parameters
    ----------
    table : DataFrame, optional
        Evaluations; the built-in ``lm_progress`` by default.
    sampler : str, optional

    Examples
    --------
    >>> new_fitter().rows.shape[0]
    231
    """
    return Fitter(Progress(), load("lm_progress") if table is None else table, sampler=sampler)


def fit_all(
    table: TableSource | None = None,
    *,
    specifications: Sequence[int] = tuple(SPECIFICATIONS),
    fitter: Fitter | None = None,
    seed: int = 1,
    sampler: str | None = None,
    progress: bool = False,
    **settings: Any,
) -> dict[int, Fit]:
    """Fit specifications of algorithmic progress, all 20 by default.

    Parameters
    ----------
    table : DataFrame, optional
        Evaluations; the built-in ``lm_progress`` by default.
    specifications : sequence of int
    fitter : Fitter, optional
        From `progress.new_fitter`, such as one of another table.
    seed : int
    sampler : str, optional
    progress : bool
        Show a progress bar on standard error.
    **settings
        Options of `Progress` (``noise``, ``pooling``, ...) and of the sampler (``draws``, ``chains``, ...).

    Returns
    -------
    dict of int to Fit

    Examples
    --------
    >>> import bayescaling as bs
    >>> fits = bs.progress.fit_all(specifications=[7], draws=500, tune=500)
    >>> round(float(fits[7]["posterior"]["loss_centre"].mean()))
    4
    """
    fitter = fitter or new_fitter(table, sampler=sampler)
    options = {name: settings.pop(name) for name in list(settings) if name in {f.name for f in fields(Progress)}}
    laws = {k: Progress(k, **options) for k in specifications}
    return fitter.fit_each(laws, progress=progress, text="specifications of progress", seed=seed, **settings)
