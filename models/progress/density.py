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
from ..arrays import exp, log, log1p, sigmoid, where
from ..loss.noise import normal_logp, student_t_logp

LEAST_REDUCIBLE = 1e-3
# Of each term: its predictor, its name, its share of the loss and its exponents.
TERMS = (0, "parameters", "share", "alpha"), (1, "data", "rest", "beta")

# What stands for coefficients.
PENALISED = (
    *("loss_centre", "share", "elasticity_parameters", "elasticity_data"),
    *("yearly_total", "yearly_split", "vocabulary", "transformer"),
)


def terms_of(law):
    """Return the entries of `TERMS` that the law has."""
    return TERMS if law.predictors[1] else TERMS[:1]


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
    c["share"] = sigmoid(partly_common("share", d["between"][1], every)) if law.predictors[1] else one
    c["rest"] = 1 - c["share"] if law.predictors[1] else one
    c["irreducible"] = 0 * one
    if law.irreducible:
        c["irreducible"] = c["loss_centre"] * sigmoid(judged["irreducible_share"])
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


# The L1 penalty of Ho et al. (2024) as a prior density of the coordinates ---------------------------------------------


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


def penalised_log_prior(law, z, c, d):
    """Return the log prior density of z, (...), under the penalty.

    ``delta sum |theta|`` on a mean squared error over n rows is, given sigma, a Laplace density of scale ``2
    sigma**2/(n delta)``. Its normaliser depends on sigma and is included, and so is the Jacobian of the coefficients
    in z. Coordinates that stand for no coefficient, such as sigma, keep their standard normal prior.
    """
    scale = (2 * c["sigma"] ** 2 / (d["row_count"] * law.penalty))[..., 0]
    others = [z[..., place] for name, place in law.slices.items() if name not in PENALISED]
    normal = sum((-0.5 * x**2 - 0.5 * math.log(2 * math.pi)).sum(-1) for x in others)
    base = log_reducible(c)
    jacobian = (log(c["loss_centre"] - c["irreducible"]) - base).sum(-1)
    total = 0.0
    for side, name, share, slope in terms_of(law):
        terms = [base + log(c[share]), c[slope], *([c[f"drift_{name}"]] if f"drifts_{name}" in d else [])]
        ends = np.cumsum([0, len(law.levels), len(law.sizes[side]), len(law.places_of_drifts(side))])
        parts = zip(terms, ends, ends[1:], strict=False)
        total = total + abs(sum(x @ d[f"coding_{name}"][:, a:b].T for x, a, b in parts)).sum(-1)
        jacobian = jacobian + log(c[slope]).sum(-1)
        alone = [drift.columns[side] for drift in law.drifts if drift.alone and drift.columns[side]]
        if alone:
            at_drifts = log(at_columns(law, c[share], alone, d))
            jacobian = jacobian - (at_drifts * np.ones(len(alone))).sum(-1)
    total = total + abs(c["vocabulary"]).sum(-1) + abs(c["gamma_transformer"]).sum(-1)
    count = sum(number for name, number in law.blocks.items() if name in PENALISED)
    return normal + jacobian - total / scale - count * log(2 * scale)
