"""The log density of a law of algorithmic progress, of its coordinates and of each row.

``mean = E + f (exp(eta_N) + exp(eta_D)) + gamma log(vocabulary)`` with L = log(perplexity) in nats, after Ho et al.
(2024). Each eta is an intercept (shared, or one a benchmark) minus sizes times exponents minus drifts times years.

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

import numpy as np

from .. import effects
from ..arrays import exp, log, log1p, where
from ..loss.noise import normal_logp, student_t_logp

LEAST_REDUCIBLE = 1e-3
# Of each term: its predictor, its name, its share of the loss and its exponents.
TERMS = (0, "parameters", "share", "alpha"), (1, "data", "rest", "beta")


def terms_of(law):
    """Return the entries of `TERMS` that the law has."""
    return TERMS if law.predictors[1] else TERMS[:1]


def _sigmoid(x):
    return 1 / (1 + exp(-x))


def _softplus(x):
    return where(x > 0, x, 0.0) + log1p(exp(-abs(x)))


def at_columns(law, share, columns, d):
    """Return a term's share of the loss at the rows of each column, (..., column) or (..., 1), from that by level."""
    if len(law.levels) == 1:
        return share
    average = (d["level_shares"] * share).sum(-1)[..., None]
    places = np.array([law.levels.index(c.benchmark) if c.benchmark else 0 for c in columns], int)
    return where(np.array([c.benchmark is not None for c in columns]), share[..., places], average)


def coefficients(law, z, d):
    """Compute what the coordinates z, (..., coordinate), mean, by name, given the arrays of `design_arrays`.

    ``loss_centre``, ``reducible``, ``irreducible``, ``share`` and ``rest`` have shape (..., level). ``alpha``,
    ``beta``, ``drift_parameters`` and ``drift_data`` have shape (..., column) of the predictor. ``sigma``,
    ``vocabulary``, ``log_factor``, ``nu``, ``paper_sd`` and ``pace_sd`` have shape (..., 1), and ``log_scatter`` (...,
    benchmark). Of what the law does not have, there is none, or an array of zeros.
    """
    part = {name: z[..., place] for name, place in law.slices.items()}
    judged = {name: d["location"][s] + d["spread"][s] * part[name] for name, s in law.slices.items()}

    def partly_common(name, between, members):
        """Return a quantity whose values of `members` vary within and, by an effect in common, between."""
        place, x = law.slices[name], part[name]
        within, count = d["spread"][place], int(members.sum())
        if not count:
            return judged[name]
        if law.pooling:
            within = where(members, exp(judged["pooled_" + name.removesuffix("_total")]), within)
        common = ((within**2 + count * between**2) ** 0.5 - within) / count
        total = x[..., np.flatnonzero(members)].sum(-1)[..., None]
        return d["location"][place] + within * x + where(members, common * total, 0.0)

    every, one = np.ones(len(law.levels), bool), np.ones(len(law.levels))
    c = {name: np.zeros(1) for name in ("vocabulary", "log_factor", "gamma_transformer")}
    c["loss_centre"] = exp(partly_common("loss_centre", d["between"][0], every & law.pooling))
    c["share"] = _sigmoid(partly_common("share", d["between"][1], every)) if law.predictors[1] else one
    c["rest"] = 1 - c["share"] if law.predictors[1] else one
    c["irreducible"] = 0 * one
    if law.irreducible:
        c["irreducible"] = c["loss_centre"] * _sigmoid(judged["irreducible_share"])
    c["reducible"] = c["loss_centre"] - c["irreducible"]
    if law.spec.vocabulary:
        c["vocabulary"] = judged["vocabulary"]
        c["reducible"] = c["reducible"] - c["vocabulary"] * d["log_vocabulary_centre"]
    for side, _, share, slope in terms_of(law):
        elasticity = judged[("elasticity_parameters", "elasticity_data")[side]]
        c[slope] = exp(elasticity) / at_columns(law, c[share], law.sizes[side], d)
    if law.pace == "random_walk":
        c["pace_sd"] = exp(judged["pace_sd"])
    if law.drifts:
        total = partly_common("yearly_total", d["between"][2], np.array([drift.of_benchmarks for drift in law.drifts]))
        if law.pace == "random_walk":
            steps = np.array([drift.step for drift in law.drifts])
            total = where(steps, c["pace_sd"] * part["yearly_total"], total)
        c |= _falls(law, c, d, total, judged.get("yearly_split"))
    if law.transformer:
        c["gamma_transformer"] = judged["transformer"]
        c["log_factor"] = judged["transformer"] if law.transformer == "exp" else -_softplus(-judged["transformer"])
    if law.noise == "student_t":
        c["nu"] = 1 + exp(judged["nu_minus_one"])
    if law.paper_effects:
        c["paper_sd"] = exp(judged["paper_sd"])
    c["sigma"] = exp(judged["sigma"])
    if law.scatter == "by_benchmark":
        c["log_scatter"] = judged["sigma_benchmark"]
    return c


def _falls(law, c, d, total, split):
    """Return the yearly falls of each predictor, from those of log loss in all and how they split, (..., drift)."""
    columns = [drift.columns[0] or drift.columns[1] for drift in law.drifts]
    alone, apart = (np.array([getattr(drift, name) for drift in law.drifts]) for name in ("alone", "split"))
    shares = {name: at_columns(law, c[name], columns, d) for name in ("share", "rest")}
    falls = {}
    for (_, name, own, _), other, sign in zip(terms_of(law), ("rest", "share"), (1, -1), strict=False):
        value = where(alone, total / shares[own], total)
        if apart.any():
            of_each = split[..., np.maximum(np.cumsum(apart) - 1, 0)]
            value = value + where(apart, sign * (shares[other] * of_each), 0.0)
        falls[f"drift_{name}"] = value[..., law.places_of_drifts(len(falls))]
    return falls


def log_reducible(c):
    """Return the logarithm of the loss that sizes reduce at the centre of each level's rows, (..., level)."""
    return log(where(c["reducible"] > LEAST_REDUCIBLE, c["reducible"], LEAST_REDUCIBLE))


def _at_rows(values, d):
    """Return values by level at each row: (..., row), or (..., 1) of one level."""
    return values @ d["level"].T if "level" in d else values


def log_terms(law, c, d):
    """Return the logarithms of the terms of each row, a list of (..., row), the transformer factor left out."""
    terms, base = [], log_reducible(c)
    for _, name, share, slope in terms_of(law):
        term = _at_rows(base + log(c[share]), d) - c[slope] @ d[f"sizes_{name}"].T
        terms.append(term - c[f"drift_{name}"] @ d[f"drifts_{name}"].T if f"drifts_{name}" in d else term)
    return terms


def mean(law, c, d):
    """Return the mean loss of each row, (..., row), from what `coefficients` returned."""
    loss = sum(exp(term) for term in log_terms(law, c, d))
    if law.transformer:
        loss = exp(c["log_factor"] * d["transformer"]) * loss
    if law.irreducible:
        loss = _at_rows(c["irreducible"], d) + loss
    return loss + c["vocabulary"] * d["log_vocabulary"] if law.spec.vocabulary else loss


def residuals(law, c, d):
    """Return the observed minus the mean, (..., row), on the scale of the observations."""
    fitted = mean(law, c, d)
    if law.scale == "log_loss":
        fitted = log(where(fitted > LEAST_REDUCIBLE, fitted, LEAST_REDUCIBLE))
    return d["observed"] - fitted


def scatter(law, c, d):
    """Return the scatter of each row about its paper's mean, (..., row), or (..., 1) where it is one for all."""
    return c["sigma"] * exp(c["log_scatter"] @ d["benchmark"].T) if law.scatter == "by_benchmark" else c["sigma"]


def log_likelihood(law, c, d):
    """Return the log density of each row, (..., row), as if rows were independent."""
    r, sigma = residuals(law, c, d), scatter(law, c, d)
    return student_t_logp(r, sigma, c["nu"]) if law.noise == "student_t" else normal_logp(r, sigma)


def papers(d):
    """Return which paper each row is of."""
    return effects.Groups(d["paper"], d["paper_rows"])


def conditional_log_likelihood(law, c, d, conditioning="others"):
    """Return the log density of each row given others of its paper, (..., row), under normal noise with paper effects.

    Given all others, it is what leave-one-out needs; see `effects.conditional`. NumPy arrays.
    """
    residual, noise = residuals(law, c, d), scatter(law, c, d)
    return normal_logp(*effects.conditional(residual, c["paper_sd"], papers(d), conditioning, noise))


def paper_log_likelihood(law, c, d):
    """Return the log density of each paper's rows together, (..., paper), under normal noise with paper effects."""
    return effects.joint_logp(residuals(law, c, d), c["paper_sd"], papers(d), scatter(law, c, d))


def log_prior(law, z, c, d):
    """Return the log density of a standard normal at z, (...)."""
    return -0.5 * (z**2).sum(-1) - 0.5 * sum(law.blocks.values()) * math.log(2 * math.pi)
