"""The L1 penalty of Ho et al. (2024) as a prior density of the coordinates."""

import math

import numpy as np

from ..arrays import log
from . import density

# What stands for coefficients.
PENALISED = (
    *("loss_centre", "share", "elasticity_parameters", "elasticity_data"),
    *("yearly_total", "yearly_split", "vocabulary", "transformer"),
)


def coding(law, reference, side, centre_sizes, centre_drifts):
    """Return the matrix from intercepts at the centre, exponents and drifts of a predictor to its coefficients.

    The paper codes intercepts and slopes by benchmark as the first one and offsets from it. Its years are not centred,
    and a drift that stands in both predictors with one coefficient counts once, in the first.
    """
    sizes, drifts = law.sizes[side], [law.drifts[j] for j in law.places_of_drifts(side)]
    levels, scales = len(law.levels), np.asarray(reference["rate_scales"][side])[law.places_of_drifts(side)]
    first_drift = levels + len(sizes)
    matrix = np.eye(first_drift + len(drifts))
    matrix[:levels, levels:] = np.hstack([centre_sizes, centre_drifts])
    matrix[1:levels] -= matrix[:1]
    _code_offsets(law, matrix[levels:first_drift, levels:first_drift], [(c.factors, c.kind, *_of(c)) for c in sizes])
    _code_offsets(law, matrix[first_drift:, first_drift:], [(d.timed, d.kind, *_of(d)) for d in drifts])
    for j, (drift, scale) in enumerate(zip(drifts, scales, strict=True)):
        if drift.kind == "rate":
            centred = drift.timed == ("log(Y)",)
            factor = (reference["Yc"] if centred else 1.0) / scale
            matrix[first_drift:, first_drift + j] *= factor
            if centred:
                same = [levels + i for i, size in enumerate(sizes) if _of(size) == _of(drift)]
                matrix[same, first_drift + j] = -factor * np.log(reference["Yc"])
    counted = [True] * first_drift + [side == 0 or not drift.shared for drift in drifts]
    return matrix[counted]


def _of(one):
    return one.benchmark, one.architecture


def _code_offsets(law, matrix, keys):
    for j, (factors, kind, benchmark, architecture) in enumerate(keys):
        if benchmark not in (None, law.benchmarks[0]):
            matrix[j, keys.index((factors, kind, law.benchmarks[0], architecture))] = -1.0


def log_prior(law, z, c, d):
    """Return the log prior density of z, (...), under the penalty.

    ``delta sum |theta|`` on a mean squared error over n rows is, given sigma, a Laplace density of scale ``2
    sigma**2/(n delta)``. Its normaliser depends on sigma and is included, and so is the Jacobian of the coefficients
    in z. Coordinates that stand for no coefficient, such as sigma, keep their standard normal prior.
    """
    scale = (2 * c["sigma"] ** 2 / (d["row_count"] * law.penalty))[..., 0]
    others = [z[..., place] for name, place in law.slices.items() if name not in PENALISED]
    normal = sum((-0.5 * x**2 - 0.5 * math.log(2 * math.pi)).sum(-1) for x in others)
    base = density.log_reducible(c)
    jacobian = (log(c["loss_centre"] - c["irreducible"]) - base).sum(-1)
    total = 0.0
    for side, name, share, slope in density.terms_of(law):
        terms = [base + log(c[share]), c[slope], *([c[f"drift_{name}"]] if f"drifts_{name}" in d else [])]
        ends = np.cumsum([0, len(law.levels), len(law.sizes[side]), len(law.places_of_drifts(side))])
        parts = zip(terms, ends, ends[1:], strict=False)
        total = total + abs(sum(x @ d[f"coding_{name}"][:, a:b].T for x, a, b in parts)).sum(-1)
        jacobian = jacobian + log(c[slope]).sum(-1)
        alone = [drift.columns[side] for drift in law.drifts if drift.alone and drift.columns[side]]
        if alone:
            at_drifts = log(density.at_columns(law, c[share], alone, d))
            jacobian = jacobian - (at_drifts * np.ones(len(alone))).sum(-1)
    total = total + abs(c["vocabulary"]).sum(-1) + abs(c["gamma_transformer"]).sum(-1)
    count = sum(number for name, number in law.blocks.items() if name in PENALISED)
    return normal + jacobian - total / scale - count * log(2 * scale)
