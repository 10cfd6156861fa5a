"""Kaplan's exponent and Chinchilla's from one law: what counting parameters without embeddings does to an optimum.

References
----------
.. [1] Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. arXiv:2406.12907, section 2.
.. [2] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556, approach 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...datasets.wording import unknown
from ...errors import InputError
from ...models.loss import embeddings
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ...models.loss.sizes import family_constant
from ..storage import law_of

BASES = ("nonembedding", "total")
KAPLAN_EXPONENT = 0.73
AT_ONCE = 400_000  # losses held together: so many stay in a processor's cache


@dataclass(frozen=True)
class Study:
    """A study of synthetic training curves like that of Kaplan et al. (2020), as Pearce and Song (2024) set it up.

    Parameters
    ----------
    sizes : tuple of (float, float)
        Decades of N_x, least and greatest.
    models : int
        Sizes in that range, evenly spaced in its logarithm.
    tokens : tuple of (float, float)
        Decades of D at which each curve is read.
    readings : int
        Points of each curve.
    budgets : tuple of (float, float)
        Decades of compute C_x without embeddings, and of C_T.
    count : int
        Budgets in that range.
    exact : bool
        Read each curve at the budget instead of at the reading nearest to it.
    """

    sizes: tuple = (2.9, 9.2)
    models: int = 20
    tokens: tuple = (6.0, 25.0)
    readings: int = 1000
    budgets: tuple = ((12.95, 20.7), (14.0, 20.7))
    count: int = 100
    exact: bool = False

    def points(self, basis, gamma, delta):
        """Sizes and tokens of each model at each budget, for each gamma and delta, (draw,).

        Returns
        -------
        nonembedding : ndarray, shape (models,)
            N_x.
        total : ndarray, shape (draw, models)
            N_T.
        counted : ndarray, shape (draw, models) or (1, models)
            Those of the two that the basis counts.
        tokens : ndarray, shape (draw, count, models) or (1, count, models)
        compute : ndarray, shape (count,)
        """
        nonembedding = np.logspace(*self.sizes, self.models)
        total = embeddings.total(nonembedding, np.reshape(gamma, (-1, 1)), np.reshape(delta, (-1, 1)))
        counted = {"nonembedding": nonembedding[None], "total": total}[basis]
        compute = np.logspace(*self.budgets[BASES.index(basis)], self.count)
        tokens = compute[:, None] / (FLOP_PER_PARAMETER_TOKEN * counted[:, None])
        if not self.exact:
            readings = np.logspace(*self.tokens, self.readings)
            middle = (readings[1:] + readings[:-1]) / 2
            tokens = readings[np.searchsorted(middle, tokens)]
        return nonembedding, total, counted, tokens, compute


def check_basis(basis):
    """Refuse a basis other than nonembedding or total."""
    if basis not in BASES:
        raise InputError(unknown("basis", basis, BASES))


def frontier_exponents(constants, *, basis="nonembedding", gamma, delta=embeddings.PROPORTIONAL, study=None):
    """Exponents that a study of curves would have found, had the law and its constants been true.

    At each budget the model of least loss is found; slopes of logarithms against that of compute follow by least
    squares (approach 1 of Hoffmann et al. 2022).

    Parameters
    ----------
    constants : mapping of str to array_like, shape (...)
        ``E``, ``A``, ``B``, ``alpha``, ``beta`` of the Chinchilla law in all parameters.
    basis : {"nonembedding", "total"}
        Which parameters the study counts, in sizes and in compute.
    gamma, delta : array_like, shape (...)
        Of the embedding parameters.
    study : Study, optional

    Returns
    -------
    Dataset
        ``size`` (exponent of N*), ``loss`` (of L) and ``reducible_loss`` (of L - E), dims (draw,) of the constants laid
        flat.
    """
    check_basis(basis)
    study = study or Study()
    named = ("E", "A", "B", "alpha", "beta")
    flat = np.stack(
        [np.ravel(x) for x in np.broadcast_arrays(*(np.asarray(constants[n], float) for n in named), gamma, delta)]
    )
    parts = max(1, math.ceil(flat.shape[1] * study.count * study.models / AT_ONCE))
    slopes = np.concatenate([_frontier(study, basis, *part) for part in np.array_split(flat, parts, axis=1)], axis=1)
    return xr.Dataset({name: ("draw", x) for name, x in zip(("size", "loss", "reducible_loss"), slopes, strict=True)})


def _frontier(study, basis, E, A, B, alpha, beta, gamma, delta):
    """Slopes of size, loss and reducible loss, (3, draw), of constants (draw,)."""
    _, total, counted, tokens, compute = study.points(basis, gamma, delta)
    of_size = A[:, None] * np.exp(-alpha[:, None] * np.log(total))
    reducible = of_size[:, None] + B[:, None, None] * np.exp(-beta[:, None, None] * np.log(tokens))
    best = reducible.argmin(2)
    least = np.take_along_axis(reducible, best[..., None], 2)[..., 0]
    sizes = np.take_along_axis(np.broadcast_to(counted, total.shape), best, 1)
    x = np.log(compute) - np.log(compute).mean()
    return np.stack([np.log(y) @ x / (x @ x) for y in (sizes, E[:, None] + least, least)])


def local_exponents(constants, sizes, *, gamma, delta=embeddings.PROPORTIONAL):
    """Local exponent ``dlog N_x*/dlog C_x`` at each size, and the budget at which it is optimal, draw by draw.

    Parameters
    ----------
    constants : Dataset
        ``A``, ``B``, ``alpha``, ``beta``, of any dims.
    sizes : array_like, shape (size,)
        N_x.
    gamma, delta : DataArray or float

    Returns
    -------
    Dataset
        ``exponent`` and ``compute`` (C_x, FLOP) with the dims of the constants and ``size``; ``small`` and ``large``,
        the limits; ``highest``, the largest exponent over the sizes, and ``highest_at``, its N_x.
    """
    n = xr.DataArray(np.asarray(sizes, float), dims="size", coords={"size": np.asarray(sizes, float)})
    named = {name: constants[name] for name in ("A", "B", "alpha", "beta")} | {"gamma": gamma, "delta": delta}
    exponent = embeddings.local_exponent(n, **named)
    return xr.Dataset(
        {
            "exponent": exponent,
            "compute": embeddings.compute_of_optimum(n, **named),
            "small": embeddings.exponent_of_small_models(**named),
            "large": embeddings.exponent_of_small_models(**(named | {"delta": 1.0})),
            "highest": exponent.max("size"),
            "highest_at": exponent.idxmax("size"),
        }
    )


def exponents_within(constants, low, high, *, gamma, delta=embeddings.PROPORTIONAL):
    """Exponents without embeddings over the budgets at which models of N_x from `low` to `high` are optimal.

    Parameters
    ----------
    constants : Dataset
        As for `frontier_exponents`.
    low, high : float
        Ends of the range of N_x.
    gamma, delta : DataArray or float

    Returns
    -------
    Dataset
        As `frontier_exponents` gives it, of a study of 200 sizes that reach a decade beyond both ends, read exactly at
        the budgets that are optimal there at the posterior median.
    """
    at = local_exponents(constants, (low, high), gamma=gamma, delta=delta)["compute"]
    budgets = tuple(np.log10(at.median([dim for dim in at.dims if dim != "size"]).values))
    study = Study(sizes=(np.log10(low) - 1, np.log10(high) + 1), models=200, budgets=(budgets, budgets), exact=True)
    return frontier_exponents(constants, gamma=gamma, delta=delta, study=study)


def reconcile(
    fit: xr.DataTree, *, vocabulary: float | None = None, aspect_ratio: float | None = None, study: Study | None = None
) -> dict[str, xr.Dataset]:
    """Exponents that a study like Kaplan's would have measured if a fitted law were true, draw by draw.

    Parameters
    ----------
    fit : DataTree
        Of a law in all parameters: ``chinchilla`` or ``embedding-corrected``.
    vocabulary, aspect_ratio : float, optional
        Of the models studied; by default the relation of sizes that the fit learned, else Chinchilla's.
    study : Study, optional

    Returns
    -------
    dict of str to Dataset
        `frontier_exponents` for ``"nonembedding"`` and ``"total"``.

    Raises
    ------
    InputError
        If the law is another, or the vocabulary or aspect ratio is not a positive number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.Chinchilla(), runs, seed=1, draws=500, tune=500)
    >>> exponents = bs.reconcile(fit)
    >>> bool(exponents["nonembedding"]["size"].median() > exponents["total"]["size"].median())
    True
    """
    constants, gamma, delta = constants_and_family(fit, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    return {basis: frontier_exponents(constants, basis=basis, gamma=gamma, delta=delta, study=study) for basis in BASES}


def constants_and_family(fit, *, vocabulary=None, aspect_ratio=None):
    """Return the posterior of a fit in all parameters, and gamma and delta of the models asked about."""
    law = law_of(fit, "runs")
    if not law.in_all_parameters:
        raise InputError(
            f"a fit of {law.name} does not say the loss in all parameters; reconcile a fit of chinchilla or "
            "embedding-corrected"
        )
    posterior = fit["posterior"].to_dataset()
    if vocabulary is None and aspect_ratio is None and "gamma" in posterior:
        return posterior, posterior["gamma"], posterior["delta"]
    return posterior, family_constant(vocabulary, aspect_ratio), embeddings.PROPORTIONAL
