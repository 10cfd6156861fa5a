"""Algorithmic progress in language models: one family of models whose columns are switched by data.

``mean = E + f (exp(eta_N) + exp(eta_D)) + gamma log(vocabulary)`` with L = log(perplexity) in nats, after Ho et al.
(2024). Each eta is an intercept (shared, or one a benchmark) minus sizes times exponents minus drifts times years. All
20 specifications and their variants share one graph: what differs are the arrays of a design (`progress_design`).

The law samples standard normal coordinates z of quantities that the data inform and that a prior can be set on:

* the loss at the centre of each intercept's rows, and the share of it that is the parameter term;
* elasticities of the loss, ``share * alpha`` and ``(1 - share) * beta``, positive;
* the total yearly fall of log loss and how it splits between the terms, of either sign.

Intercepts, exponents and year slopes follow: exactly, whatever the origin of n, d and y.

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812.
"""

import math
from functools import cache
from itertools import accumulate

from .. import effects
from ..arrays import exp, log, log1p, where
from ..loss.noise import normal_logp, student_t_logp

LEVELS = 3  # benchmarks of Ho et al. (2024); a family of fewer is of these
DRIFTS_OF_LEVEL = 3  # columns with a date of each benchmark


class Widths:
    """How many slots of each sort a family has, by the number of its benchmarks.

    Attributes
    ----------
    levels, sizes, drifts : int
    blocks : dict of str to int
        Coordinates of each quantity.
    slices : dict of str to slice
        Where they stand in z.
    dimension : int
    """

    def __init__(self, levels):
        self.levels, self.sizes, self.drifts = levels, levels, DRIFTS_OF_LEVEL * levels
        self.blocks = {
            "loss_centre": self.levels,
            "share": self.levels,
            "elasticity_parameters": self.sizes,
            "elasticity_data": self.sizes,
            "yearly_total": self.drifts,
            "yearly_split": self.drifts,
            "irreducible_share": self.levels,
            "vocabulary": 1,
            "transformer": 1,
            "sigma": 1,
            "nu_minus_one": 1,
            "paper_sd": 1,
            "pooled_loss_centre": 1,
            "pooled_share": 1,
            "pooled_yearly": 1,
            "sigma_benchmark": self.levels,
            "pace_sd": 1,
        }
        ends = list(accumulate(self.blocks.values()))
        self.slices = {name: slice(end - self.blocks[name], end) for name, end in zip(self.blocks, ends, strict=True)}
        self.dimension = ends[-1]


@cache
def widths(levels):
    """Return the `Widths` of a family of a number of benchmarks."""
    return Widths(max(levels, LEVELS))


def _slices(d):
    """Return where quantities stand in z under a design."""
    return widths(d["level_count"] if "level_count" in d else d["levels"].shape[-1]).slices


SIDES = ("parameters", "share", "alpha"), ("data", "rest", "beta")  # of both terms: their share and exponents
POOLED = ("pooled_loss_centre", "pooled_share", "pooled_yearly")


# Of three benchmarks; of more the widths are those of `Widths`.
DESIGN = {
    "observed": "(row,) loss, or its logarithm where on_log is 1",
    "level": "(row, 3) which intercept a row has, as 0 and 1",
    "sizes_parameters": "(row, 3) size columns of eta_N, centred within each level",
    "sizes_data": "(row, 3) of eta_D",
    "drifts_parameters": "(row, 9) columns with a date of eta_N, centred within each level",
    "drifts_data": "(row, 9) of eta_D",
    "weights_parameters": "(3, 3) levels over which the share of a size slot is averaged",
    "weights_data": "(3, 3)",
    "weights_drifts": "(9, 3)",
    "both": "(9,) drifts that enter both predictors with separate coefficients",
    "only_parameters": "(9,) drifts that enter eta_N alone",
    "only_data": "(9,) drifts that enter eta_D alone",
    "shared": "(9,) drifts that enter both with one coefficient",
    "levels": "(3,) levels in use",
    "benchmark": "(row, 3) which benchmark a row has, as 0 and 1",
    "by_benchmark": "(9,) drifts that are one for each benchmark",
    "walk": "(9,) drifts that are steps of a random walk of the yearly fall",
    "row_count": "how many rows there are",
    "log_vocabulary": "(row,)",
    "log_vocabulary_centre": "(3,)",
    "transformer": "(row,) 0 or 1",
    "paper": "(row,) which paper a row is from, whole numbers from 0",
    "paper_rows": "(paper,) how many rows each has",
    "two_terms": "0 or 1",
    "use_vocabulary": "0 or 1",
    "use_irreducible": "0 or 1",
    "factor_sigmoid": "0 or 1",
    "factor_exp": "0 or 1",
    "on_log": "0 or 1",
    "student_t": "0 or 1",
    "use_papers": "0 or 1",
    "use_scatter": "0 or 1",
    "use_walk": "0 or 1",
    "pooling": "0 or 1",
    "penalty": "the paper's delta, or 0 for the priors on z",
    "penalised": "(z,) coordinates whose coefficients are penalised",
    "intercepts": "(3, 3) intercepts as the paper codes them: a constant and offsets",
    "centre_sizes_parameters": "(3, 3) mean of each size column by level",
    "centre_sizes_data": "(3, 3)",
    "centre_drifts_parameters": "(3, 9)",
    "centre_drifts_data": "(3, 9)",
    "uncentred_parameters": "(3, 9) what a drift adds to a size coefficient where log(Y) is not centred",
    "uncentred_data": "(3, 9)",
    "coded_sizes_parameters": "(3, 3) exponents as the paper codes them: by benchmark, the first and offsets from it",
    "coded_sizes_data": "(3, 3)",
    "coded_drifts_parameters": "(9, 9) drifts as the paper codes and scales them",
    "coded_drifts_data": "(9, 9)",
    "used": "(z,) coordinates that stand for something; what follows from the rest is switched off",
    "location": "(z,) prior location of each quantity",
    "spread": "(z,) prior spread",
    "between": "(3,) prior sd of the common mean of loss centres, shares and yearly totals",
}


def _sigmoid(x):
    return 1 / (1 + exp(-x))


def _softplus(x):
    return where(x > 0, x, 0.0) + log1p(exp(-abs(x)))


def _absent(switch):
    """Return whether a switch is off for good in this graph, rather than data that may turn it on."""
    return isinstance(switch, float) and switch == 0


def _when(switch, value, otherwise=0.0):
    """Return `value()` where the switch is on, else `otherwise`; if the switch is absent `value` is not called."""
    if isinstance(switch, float):
        return value() if switch else otherwise
    return where(switch > 0, value(), otherwise)  # not a product: what is switched off may be infinite


def _averaged(weights, values):
    return (weights * values[..., None, :]).sum(-1)


def _shares_of_drifts(share, rest, d):
    idle = 1 - d["weights_drifts"].sum(-1)
    return _averaged(d["weights_drifts"], share) + idle, _averaged(d["weights_drifts"], rest) + idle


def coefficients(z, d):
    """Compute what the coordinates z mean under a design.

    Parameters
    ----------
    z : array_like, shape (..., z)
    d : mapping of str to array_like
        The arrays of `DESIGN`.

    Returns
    -------
    dict
        ``loss_centre``, ``reducible``, ``irreducible`` and ``share`` have shape (..., level). ``alpha`` and ``beta``
        have shape (..., size slot), and ``drift_parameters`` and ``drift_data`` (..., drift slot). ``vocabulary``,
        ``log_factor``, ``sigma``, ``nu`` and ``paper_sd`` have shape (..., 1). ``log_scatter`` has shape
        (..., benchmark), or is 0.0 where the graph has none.
    """
    slices = _slices(d)
    part = {name: z[..., s] for name, s in slices.items()}
    judged = {name: d["location"][s] + d["spread"][s] * part[name] for name, s in slices.items()}

    def grouped(name, index, members):
        within = d["spread"][slices[name]]
        if not _absent(d["pooling"]):
            pooled = d["pooling"] * members
            within = pooled * exp(judged[POOLED[index]]) + (1 - pooled) * within
        count = members.sum() + (members.sum() < 1)
        common = members * ((within**2 + count * d["between"][index] ** 2) ** 0.5 - within) / count
        return d["location"][slices[name]] + within * part[name] + common * (part[name] * members).sum(-1)[..., None]

    one = 1 - d["two_terms"]
    loss_centre = exp(grouped("loss_centre", 0, d["levels"]))
    share = d["two_terms"] * _sigmoid(grouped("share", 1, d["levels"])) + one
    rest = 1 - share + one
    total, split = grouped("yearly_total", 2, d["by_benchmark"]), judged["yearly_split"]
    total = _when(
        d["use_walk"], lambda: where(d["walk"] > 0, exp(judged["pace_sd"]) * part["yearly_total"], total), total
    )
    s, r = _shares_of_drifts(share, rest, d)
    irreducible = _when(d["use_irreducible"], lambda: loss_centre * _sigmoid(judged["irreducible_share"]))
    vocabulary = d["use_vocabulary"] * judged["vocabulary"]
    return {
        "loss_centre": loss_centre,
        "irreducible": irreducible,
        "reducible": loss_centre - irreducible - vocabulary * d["log_vocabulary_centre"],
        "share": share,
        "rest": rest,
        "alpha": exp(judged["elasticity_parameters"])
        / (_averaged(d["weights_parameters"], share) + 1 - d["weights_parameters"].sum(-1)),
        "beta": exp(judged["elasticity_data"]) / (_averaged(d["weights_data"], rest) + 1 - d["weights_data"].sum(-1)),
        "drift_parameters": d["both"] * (total + r * split) + d["shared"] * total + d["only_parameters"] * total / s,
        "drift_data": d["both"] * (total - s * split) + d["shared"] * total + d["only_data"] * total / r,
        "vocabulary": vocabulary,
        "log_factor": _when(d["factor_exp"], lambda: judged["transformer"])
        + _when(d["factor_sigmoid"], lambda: -_softplus(-judged["transformer"])),
        "gamma_transformer": (d["factor_exp"] + d["factor_sigmoid"]) * judged["transformer"],
        "sigma": exp(judged["sigma"]),
        "log_scatter": _when(d["use_scatter"], lambda: judged["sigma_benchmark"]),
        "nu": 1 + exp(judged["nu_minus_one"]),
        "paper_sd": _when(d["use_papers"], lambda: exp(judged["paper_sd"])),
        "pace_sd": _when(d["use_walk"], lambda: exp(judged["pace_sd"])),
    }


LEAST_REDUCIBLE = 1e-3


def _log_reducible(c):
    return log(where(c["reducible"] > LEAST_REDUCIBLE, c["reducible"], LEAST_REDUCIBLE))


def log_terms(c, d):
    """Return the logarithms of the two terms of each row, a list of (..., row), the transformer factor left out."""
    base, level = _log_reducible(c), d["level"].T
    return [
        (base + log(c[share])) @ level - c[slope] @ d[f"sizes_{of}"].T - c[f"drift_{of}"] @ d[f"drifts_{of}"].T
        for of, share, slope in SIDES
    ]


def mean(c, d):
    """Return the mean loss of each row, (..., row), from what `coefficients` returned."""
    eta_n, eta_d = log_terms(c, d)
    reducible = exp(eta_n) + _when(d["two_terms"], lambda: exp(eta_d))
    if not isinstance(c["log_factor"], float):
        reducible = exp(c["log_factor"] * d["transformer"]) * reducible
    floor = 0.0 if isinstance(c["irreducible"], float) else c["irreducible"] @ d["level"].T
    return floor + reducible + c["vocabulary"] * d["log_vocabulary"]


def residuals(c, d):
    """Return the observed minus the mean, (..., row), on the scale of the observations."""
    fitted = mean(c, d)
    return d["observed"] - _when(
        d["on_log"], lambda: log(where(fitted > LEAST_REDUCIBLE, fitted, LEAST_REDUCIBLE)), fitted
    )


def scatter(c, d):
    """Return the scatter of each row about its paper's mean, (..., row), or (..., 1) where it is one for all."""
    if isinstance(c["log_scatter"], float):
        return c["sigma"]
    return c["sigma"] * exp(c["log_scatter"] @ d["benchmark"].T)


def log_likelihood(c, d):
    """Return the log density of each row, (..., row), as if rows were independent."""
    r, sigma = residuals(c, d), scatter(c, d)
    return _when(d["student_t"], lambda: student_t_logp(r, sigma, c["nu"]), normal_logp(r, sigma))


def papers(d):
    """Return which paper each row is of."""
    return effects.Groups(d["paper"], d["paper_rows"])


def conditional_log_likelihood(c, d, conditioning="others"):
    """Return the log density of each row given others of its paper, (..., row), under normal noise with paper effects.

    Given all others, it is what leave-one-out needs; see `effects.conditional`. NumPy arrays.
    """
    return normal_logp(*effects.conditional(residuals(c, d), c["paper_sd"], papers(d), conditioning, scatter(c, d)))


def paper_log_likelihood(c, d):
    """Return the log density of each paper's rows together, (..., paper), under normal noise with paper effects."""
    return effects.joint_logp(residuals(c, d), c["paper_sd"], papers(d), scatter(c, d))


def raw(c, d):
    """Return the coefficients as Ho et al. code them: intercepts at the origin, sizes, drifts, vocabulary, factor."""
    base, coded = _log_reducible(c), {}
    for of, share, slope in SIDES:
        drift, sizes = c[f"drift_{of}"], c[slope]
        const = base + log(c[share]) + _averaged(d[f"centre_sizes_{of}"], sizes)
        const = const + _averaged(d[f"centre_drifts_{of}"], drift)
        coded |= {
            f"const_{of}": const @ d["intercepts"].T,
            slope: sizes @ d[f"coded_sizes_{of}"].T - drift @ d[f"uncentred_{of}"].T,
            f"drift_{of}": drift @ d[f"coded_drifts_{of}"].T,
        }
    return coded


def log_prior(z, c, d):
    """Return the log prior density of z, (...): standard normal, or the paper's penalty as a Laplace density.

    The penalty ``delta sum |theta|`` on a mean squared error over n rows is, given sigma, a Laplace density of scale
    ``2 sigma**2/(n delta)``. Its normaliser depends on sigma and is included, and so is the Jacobian of the
    coefficients in z. Coordinates that stand for no coefficient (sigma, nu, slots that are off) retain their standard
    normal prior.
    """
    if _absent(d["penalty"]):
        return -0.5 * (z**2).sum(-1) - 0.5 * z.shape[-1] * math.log(2 * math.pi)
    use = (d["penalty"] > 0) * d["penalised"]
    normal = (-0.5 * z**2 - 0.5 * math.log(2 * math.pi)) * (1 - use)
    part = {name: use[s] for name, s in _slices(d).items()}
    scale = 2 * c["sigma"] ** 2 / (d["row_count"] * where(d["penalty"] > 0, d["penalty"], 1.0))
    theta = raw(c, d)
    two = d["two_terms"]
    penalised = (
        ((abs(theta["const_parameters"]) + two * abs(theta["const_data"])) * part["loss_centre"]).sum(-1)
        + (abs(theta["alpha"]) * part["elasticity_parameters"]).sum(-1)
        + (abs(theta["beta"]) * part["elasticity_data"]).sum(-1)
    )
    penalised = penalised + (
        (
            abs(theta["drift_parameters"]) * (d["both"] + d["only_parameters"] + d["shared"])
            + abs(theta["drift_data"]) * (d["both"] + d["only_data"])
        )
        * part["yearly_total"]
    ).sum(-1)
    penalised = (
        penalised
        + (abs(c["vocabulary"]) * part["vocabulary"]).sum(-1)
        + (abs(c["gamma_transformer"]) * part["transformer"]).sum(-1)
    )
    jacobian = (log(c["alpha"]) * part["elasticity_parameters"]).sum(-1) + (
        log(c["beta"]) * part["elasticity_data"]
    ).sum(-1)
    s, r = _shares_of_drifts(c["share"], c["rest"], d)
    jacobian = jacobian - ((d["only_parameters"] * log(s) + d["only_data"] * log(r)) * part["yearly_total"]).sum(-1)
    above = log(c["loss_centre"] - c["irreducible"])
    jacobian = jacobian + ((above - _log_reducible(c)) * part["loss_centre"]).sum(-1)
    return normal.sum(-1) + jacobian - penalised / scale[..., 0] - use.sum() * log(2 * scale[..., 0])
