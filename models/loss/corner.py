"""Coordinates of the law at the corner of the largest size and the most tokens, for tables of two sizes or two counts.

Two sizes inform one number, how far the loss falls from one to the other, and no exponent of their own. On the sampled
quantities that number is a narrow curved ridge. Here it is a coordinate. Three coordinates split the loss at the
corner: the loss, the share of the other column's term, and that of the term of two values in the rest. Two are the
falls of the loss to the corner, along sizes and along tokens. The priors are unchanged.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import exp, log, log1p, logaddexp
from ..density import Coordinates

QUANTITIES = ("loss_centre", "reducible_share", "parameter_share", "alpha", "beta")
SUPPORTS = ((0, np.inf), (0, 1), (0, 1), (0, np.inf), (0, np.inf))
FEW = 2  # values of a column, which leave its exponent to the prior
# Of the reference: the log of the most over the least and over the geometric mean, and which column has two values.
REFERENCE = ("parameters_range", "parameters_above", "tokens_range", "tokens_above", "column_of_two")


def of_rows(law, rows):
    """Return what the coordinates refer to, by name; nothing where both columns have several values."""
    usual = all(tuple(law.prior_of[name].support) == of for name, of in zip(QUANTITIES, SUPPORTS, strict=True))
    if not usual or min(rows[column].nunique() for column in law.columns) != FEW:
        return {}
    logs = [np.log(rows[column].to_numpy(float)) for column in law.columns]
    spans = [float(x) for log_ in logs for x in (np.ptp(log_), log_.max() - log_.mean())]
    return dict(zip(REFERENCE, [*spans, 1 + (rows[law.columns[1]].nunique() == FEW)], strict=True))


@dataclass(frozen=True)
class Corner(Coordinates):
    """The five quantities of the mean from five coordinates at the corner; all others from their own.

    Ranges are those of `REFERENCE`; the last is 1 where sizes are of two values, 2 where tokens are.
    """

    ranges: tuple = ()

    def unconstrained(self, z):
        """Return coordinates of the quantities' priors from these ones, by coordinate, and the log of the Jacobian."""
        at = dict(zip(self.priors, range(len(self.priors)), strict=True))
        kappa = exp(z[at["kappa"]]) if "kappa" in at else 1.0
        range_n, centre_n, range_d, centre_d, two = self.ranges
        loss, fall_n, fall_d = z[0], z[0] + z[3], z[0] + z[4]  # logarithms, as all that follow
        of_many, rest = -logaddexp(0.0, -z[1]), -logaddexp(0.0, z[1])
        of_two, of_floor = rest - logaddexp(0.0, -z[2]), rest - logaddexp(0.0, z[2])
        reducible, floor = loss + logaddexp(of_many, of_two), loss + of_floor
        terms = (of_two, of_many) if two == 1 else (of_many, of_two)
        of_n, of_d = (x + loss - reducible for x in terms)
        height_n, height_d = logaddexp(0.0, fall_n - reducible), logaddexp(0.0, fall_d - reducible)
        ratio_n = log1p((exp(height_n / kappa) - 1) * exp(-of_n))
        ratio_d = log1p((exp(height_d / kappa) - 1) * exp(-of_d))
        to_n, to_d = ratio_n * (centre_n / range_n), ratio_d * (centre_d / range_d)
        term_n, term_d = of_n + to_n, of_d + to_d
        total = logaddexp(term_n, term_d)
        reducible_centre = reducible + kappa * total
        centre = logaddexp(floor, reducible_centre)
        log_alpha, log_beta = log(kappa * ratio_n / range_n), log(kappa * ratio_d / range_d)
        moved = [centre, reducible_centre - floor, term_n - term_d, log_alpha, log_beta]
        steps = (
            3 * loss - reducible + of_many + of_two + of_floor + fall_n + fall_d  # of the corner's quantities
            + (1 / kappa - 1) * (height_n + height_d) - ratio_n - ratio_d - of_n - of_d - 2 * reducible
            - np.log(range_n * range_d)
            + kappa * total + to_n + to_d - 2 * total - centre
        )  # fmt: skip
        of_priors = centre + (reducible_centre + floor - 2 * centre) + (term_n + term_d - 2 * total)
        return [*moved, *z[len(moved) :]], steps - of_priors - log_alpha - log_beta

    def values(self, z, parents=None):
        """Return the value and log prior density of each quantity; see `Coordinates.values`."""
        moved, jacobian = self.unconstrained([z[i] for i in range(len(self.priors))])
        pairs = {name: prior.of_coordinate(u) for (name, prior), u in zip(self.priors.items(), moved, strict=True)}
        densities = {name: density for name, (_, density) in pairs.items()}
        densities[QUANTITIES[0]] = densities[QUANTITIES[0]] + jacobian
        return {name: x for name, (x, _) in pairs.items()}, densities

    def named(self, z):
        """Return the variables of a Dataset by name, from coordinates (chain, draw, coordinate)."""
        moved, _ = self.unconstrained(np.moveaxis(z, -1, 0))
        return super().named(np.stack(moved, axis=-1))

    @property
    def start(self):
        """Return where chains start: half of the loss at the corner is of one term, and each fall is a third of it."""
        start = super().start
        return np.concatenate([start[:1], np.zeros(2), np.full(2, -1.0), start[5:]])
