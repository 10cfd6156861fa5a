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
import pandas as pd
import xarray as xr

from ...datasets.kinds.runs import RUNS
from ...datasets.printed import Printed, Text
from ...datasets.wording import check_choice
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.laws import Chinchilla
from ...models.loss import embeddings
from ...models.loss.budget import FLOP_PER_PARAMETER_TOKEN
from ...models.loss.sizes import family_constant
from ..fitted import Fit, of_kind
from ..intervals import summary
from ..quoted import drift_errors, quote_draws
from ..standing import lines, standing
from ..words import plain, probability, size
from .beyond import SIDES, decades_outside

BASES = ("nonembedding", "total")
NAMED = {"nonembedding": "parameters without embeddings", "total": "all parameters"}
QUANTITIES = {"size": "best size", "loss": "its loss", "reducible_loss": "its loss above E"}
KAPLAN_EXPONENT = 0.73
AT_ONCE = 400_000  # losses held together: so many stay in a processor's cache
CHINCHILLA = Chinchilla()


@dataclass(frozen=True)
class SyntheticStudy:
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
        """Return sizes and tokens of each model at each budget, for each gamma and delta, (draw,).

        These are N_x (models,), N_T (draw, models) and those of the two that the basis counts, (draw or 1, models).
        Tokens have the shape (draw or 1, count, models), and compute (count,).
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


def frontier_exponents(
    constants, *, basis="nonembedding", gamma, delta=embeddings.PROPORTIONAL, study=None, law=CHINCHILLA
):
    """Compute the exponents that a study of curves would have measured, had the law and its constants been true.

    At each budget the model of least loss is found; slopes of logarithms against that of compute follow by least
    squares (approach 1 of Hoffmann et al. 2022). The law is one of the loss in all parameters and tokens. Its constants
    are as its posterior has them, such as ``E``, ``A``, ``B``, ``alpha`` and ``beta`` of the Chinchilla law; gamma and
    delta are of the embedding parameters. All broadcast to one shape. The `basis`, "nonembedding" or "total", is which
    parameters the study counts, in sizes and in compute.

    The Dataset has ``size`` (exponent of N*), ``loss`` (of L) and ``reducible_loss`` (of L - E, with E = 0 where the
    law has none), dims (draw,) of the constants laid flat.
    """
    check_choice("basis", basis, BASES)
    study = study or SyntheticStudy()
    # Quantities that the mean loss of the law may be a function of.
    quantities = dict.fromkeys((*law.derived_names, *(q.name for q in law.mean_parameters)))
    names = [name for name in quantities if name in constants]
    arrays = [np.asarray(constants[name], float) for name in names]
    flat = np.stack([np.ravel(x) for x in np.broadcast_arrays(*arrays, gamma, delta)])
    parts = max(1, math.ceil(flat.shape[1] * study.count * study.models / AT_ONCE))
    slopes = [_frontier(law, study, basis, names, part) for part in np.array_split(flat, parts, axis=1)]
    measured = zip(("size", "loss", "reducible_loss"), np.concatenate(slopes, axis=1), strict=True)
    return xr.Dataset({name: ("draw", x) for name, x in measured})


def _frontier(law, study, basis, names, flat):
    """Return slopes of size, loss and reducible loss, (3, draw), of constants, gamma and delta, (quantity, draw)."""
    *values, gamma, delta = flat
    constants = {name: x[:, None, None] for name, x in zip(names, values, strict=True)}
    nonembedding, total, counted, tokens, compute = study.points(basis, gamma, delta)
    losses = law.mean_of_sizes(constants, nonembedding[None, None], total[:, None], tokens)
    best = losses.argmin(2)
    least = np.take_along_axis(losses, best[..., None], 2)[..., 0]
    sizes = np.take_along_axis(np.broadcast_to(counted, total.shape), best, 1)
    x = np.log(compute) - np.log(compute).mean()
    irreducible = constants["E"][..., 0] if "E" in constants else 0.0
    return np.stack([np.log(y) @ x / (x @ x) for y in (sizes, least, least - irreducible)])


def local_exponents(constants, sizes, *, gamma, delta=embeddings.PROPORTIONAL):
    """Compute the local exponent ``dlog N_x*/dlog C_x`` of the Chinchilla law, and the budget at which it is optimal.

    The constants of the law are as its posterior has them, of any dims, with gamma and delta; sizes are N_x, (size,).
    The Dataset has ``exponent`` and ``compute`` (C_x, FLOP) with the dims of the constants and ``size``. ``highest`` is
    the largest exponent over the sizes, and ``highest_at`` its N_x. ``small`` and ``large`` are its limits.
    """
    n = xr.DataArray(np.asarray(sizes, float), dims="size", coords={"size": np.asarray(sizes, float)})
    named = {name: constants[name] for name in ("A", "B", "alpha", "beta")} | {"gamma": gamma, "delta": delta}
    exponent = embeddings.local_exponent(n, **named)
    result = {
        "exponent": exponent,
        "compute": embeddings.compute_of_optimum(n, **named),
        "small": embeddings.exponent_of_small_models(**named),
        "large": embeddings.exponent_of_small_models(**(named | {"delta": 1.0})),
        "highest": exponent.max("size"),
        "highest_at": exponent.idxmax("size"),
    }
    return xr.Dataset(result).transpose(..., "size")


def exponents_within(constants, low, high, *, gamma, delta=embeddings.PROPORTIONAL):
    """Compute exponents of the Chinchilla law over the budgets at which N_x from `low` to `high` are optimal.

    Constants and result are as of `frontier_exponents`, of a study of 200 sizes that reach a factor of ten beyond both
    ends. It is read exactly at the budgets that are optimal there at the posterior median.
    """
    at = local_exponents(constants, (low, high), gamma=gamma, delta=delta)["compute"]
    budgets = tuple(np.log10(at.median([dim for dim in at.dims if dim != "size"]).values))
    study = SyntheticStudy(
        sizes=(np.log10(low) - 1, np.log10(high) + 1), models=200, budgets=(budgets, budgets), exact=True
    )
    return frontier_exponents(constants, gamma=gamma, delta=delta, study=study)


def study_exponents(
    fit: Fit,
    *,
    vocabulary: float | None = None,
    aspect_ratio: float | None = None,
    study: SyntheticStudy | None = None,
) -> Exponents:
    """Compute the exponents that a study like Kaplan's would have measured if a fitted law were true, draw by draw.

    Parameters
    ----------
    fit : Fit
        Of a law of the loss in all parameters and tokens: ``chinchilla``, ``coupled``, ``offsets`` or
        ``embedding-corrected``.
    vocabulary, aspect_ratio : float, optional
        Of the models studied; by default the relation of sizes that the fit learned, else Chinchilla's.
    study : SyntheticStudy, optional

    Returns
    -------
    Exponents
        A dict that prints the exponents: for ``"nonembedding"`` and ``"total"`` a Dataset of ``size``, ``loss`` and
        ``reducible_loss`` as in `frontier_exponents`, dims (chain, draw). Their draws are as wide as they are quoted,
        see `quote_draws`. Budgets outside those of the fitted runs add the slope of the drift to the exponents of size
        and loss.

    Raises
    ------
    InputError
        If the fit is of another law, or the vocabulary or aspect ratio is not a positive number.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Coupled(), runs, seed=1, draws=500, tune=500)
    >>> exponents = fit.study_exponents()
    >>> bool(exponents["nonembedding"]["size"].median() > exponents["total"]["size"].median())
    True
    """
    law, study = of_kind(fit, RUNS).law, study or SyntheticStudy()
    constants, gamma, delta = constants_and_family(fit, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    shape = tuple(fit["posterior"].sizes[dim] for dim in DRAWS)
    options = {"gamma": gamma, "delta": delta, "study": study, "law": law}
    draws = {
        (basis, name): xr.DataArray(x.values.reshape(shape), dims=DRAWS)
        for basis in BASES
        for name, x in frontier_exponents(constants, basis=basis, **options).items()
    }
    by_basis = measure_distance(fit.rows, study, gamma, delta)
    decades = {basis: float(outside[np.abs(outside).argmax()]) for basis, (_, outside) in by_basis.items()}
    # What a law misses of a size or loss is one error, whatever counts as a parameter: that of the farther basis.
    compute, outside = by_basis[max(decades, key=lambda basis: abs(decades[basis]))]
    x, draws, drift = np.log(compute) - np.log(compute).mean(), quote_draws(fit, draws), {}
    for of in ("size", "loss"):
        slopes = {sign: x @ (sign * outside).clip(min=0) / (x @ x) for sign in SIDES.values()}
        error = sum(drift_errors(fit, of, sign) * slope for sign, slope in slopes.items())
        drift |= {(basis, of): error for basis in BASES}
    drifting = {key: draws[key].assign_coords(drift[key].coords) for key in drift}
    draws |= quote_draws(fit, drifting, robust=False, bounded=False, drift=drift)
    exponents = {of: xr.Dataset({name: x for (basis, name), x in draws.items() if basis == of}) for of in BASES}
    least, greatest = (size(10.0**x) for x in study.sizes)
    models = f"{study.models} models of {least} to {greatest} parameters without embeddings"
    title = f"Exponents of a study of {models} if {law.label} is true (medians and 95% intervals)"
    held = standing(fit, summary(draws["nonembedding", "size"]), decades=max(decades.values(), key=abs))
    return Exponents(exponents, title, held, decades)


class Exponents(Printed, dict):
    """What `study_exponents` returns: a dict of Datasets that prints the exponents by what counts as a parameter.

    `title` is above them, and `standing` is what holds of the numbers, as from `standing.standing`. `decades` is how
    far the budgets of the study lie above the fitted runs (positive) or below at most, by what counts as a parameter.
    """

    def __init__(self, datasets, title, held, decades):
        super().__init__(datasets)
        self.title, self.standing, self.decades = title, held, decades

    @property
    def p_kaplan(self):
        """Return the probability that the study finds an exponent of the size of at least Kaplan's, 0.73."""
        return float((self["nonembedding"]["size"] >= KAPLAN_EXPONENT).mean())

    def table(self, level=0.95):
        """Return medians and ends of intervals at a level, a DataFrame with one row a basis and quantity."""
        draws = {(basis, name): x for basis, dataset in self.items() for name, x in dataset.items()}
        return pd.DataFrame.from_dict({key: summary(x, level=level) for key, x in draws.items()}, orient="index")

    def text(self):
        """Return what is printed."""
        table = self.table().apply(plain, axis=1).unstack(sort=False).rename(index=NAMED, columns=QUANTITIES)
        p = f"Without embeddings it is {KAPLAN_EXPONENT}, Kaplan's, or more: probability {probability(self.p_kaplan)}"
        return Text(self.title, table.T, (p, *lines(self.standing)))

    def document(self):
        """Return what JSON holds: ``exponents`` by basis, the probability of Kaplan's, and what holds of them."""
        exponents = {basis: {n: summary(x) for n, x in dataset.items()} for basis, dataset in self.items()}
        return {"exponents": exponents, "p_exponent_above_0.73": self.p_kaplan, "standing": self.standing}


def measure_distance(rows, study, gamma, delta):
    """Return the budgets of a study and by how many decades they lie outside those of rows, signed, by basis.

    A size that the rows lack follows from the other one, at the medians of gamma and delta.
    """
    family = np.median(gamma), np.median(delta)
    sizes = {"nonembedding": "parameters_nonembedding", "total": "parameters"}
    converted = {"nonembedding": embeddings.nonembedding, "total": embeddings.total}
    outside = {}
    for basis, budgets in zip(BASES, study.budgets, strict=True):
        (other,) = (name for of, name in sizes.items() if of != basis)
        n = rows[sizes[basis]] if sizes[basis] in rows else converted[basis](rows[other].to_numpy(), *family)
        flop, compute = FLOP_PER_PARAMETER_TOKEN * n * rows["tokens"], np.logspace(*budgets, study.count)
        outside[basis] = compute, decades_outside(compute, flop.min(), flop.max())
    return outside


def constants_and_family(fit, *, vocabulary=None, aspect_ratio=None):
    """Return the posterior of a fit in all parameters, and gamma and delta of the models studied."""
    law = of_kind(fit, RUNS).law
    if not law.in_all_parameters:
        raise InputError(
            f"a fit of {law.name} does not state the loss in all parameters and tokens alone; reconcile a fit of "
            "chinchilla, coupled, offsets or embedding-corrected"
        )
    posterior = fit["posterior"].to_dataset()
    if vocabulary is None and aspect_ratio is None and "gamma" in posterior:
        return posterior, posterior["gamma"], posterior["delta"]
    return posterior, family_constant(vocabulary, aspect_ratio), embeddings.PROPORTIONAL
