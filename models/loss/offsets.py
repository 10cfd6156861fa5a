"""The Chinchilla law of shifted sizes: its mathematics, on arrays of any kind, and what is fitted."""

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import maximum, minimum
from .chinchilla import Chinchilla
from .law import REFERENCES, Sampled
from .plan import Plan

OFFSETS = ("n0", "d0")
LEAST = ("least_parameters", "least_tokens")
SHIFTS = ("parameters_shift", "tokens_shift")


def shifted(size, offset, shift):
    """Return the size that counts: ``X + x0``, but at least ``min(shift, 1) X``."""
    return maximum(size + offset, minimum(shift, 1.0) * size)


@dataclass(frozen=True)
class Offsets(Chinchilla):
    """The Chinchilla law of shifted sizes, ``loss = E + A/(N + n0)**alpha + B/(D + d0)**beta``.

    Small models may be worth more than their parameters (n0 > 0). The first tokens of a run, seen while the rate of
    learning is raised, may count for nothing (d0 < 0). Sampled are the quantities of `Chinchilla`, whose options it
    has, centred at the shifted sizes, and

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    parameters_shift  LogNormal(0, 1)          (N + n0)/N of the smallest model: 0.14 to 7.1, no shift preferred
    tokens_shift      LogNormal(0, 1)          (D + d0)/D of the shortest run; likewise
    ================= ======================== ==================================================================

    Derived, draw by draw: those of `Chinchilla`, ``n0`` (parameters) and ``d0`` (tokens). Below the sizes of the table
    the shift remains the same share of the size, so that no size passes zero.

    Examples
    --------
    >>> Offsets().label
    'offsets'
    """

    name: ClassVar[str] = "offsets"
    sum_of_terms: ClassVar[bool] = False
    wider: ClassVar[None] = None
    _centred: ClassVar[tuple] = (*Chinchilla._centred, *SHIFTS)
    parameters_shift = Sampled("LogNormal(0, 1)", "(N + n0)/N of the smallest model: 0.14 to 7.1.")
    tokens_shift = Sampled("LogNormal(0, 1)", "(D + d0)/D of the shortest run: 0.14 to 7.1.")

    @property
    def derived_names(self):
        """Return the names of what follows from what is sampled."""
        return (*super().derived_names, *OFFSETS)

    def centre(self, table):
        """Return the geometric means and least values of N and D."""
        return super().centre(table) | {
            least: float(table[column].min()) for least, column in zip(LEAST, self.columns, strict=True)
        }

    def constants(self, values, reference):
        """Return E, A, B, alpha, beta, n0, d0, both shifts, and the exponent of the optimal size for large budgets."""
        shifts = {name: values[name] for name in SHIFTS}
        offsets = {
            name: (values[shift] - 1) * reference[least]
            for name, least, shift in zip(OFFSETS, LEAST, SHIFTS, strict=True)
        }
        centre = {name: reference[name] + offset for name, offset in zip(REFERENCES, offsets.values(), strict=True)}
        return super().constants(values, centre) | offsets | shifts

    def mean(self, constants, columns):
        """Return the mean loss of shifted sizes; see `chinchilla.loss` and `shifted`."""
        sizes = {
            column: shifted(columns[column], constants[offset], constants[shift])
            for column, offset, shift in zip(self.columns, OFFSETS, SHIFTS, strict=True)
        }
        return super().mean(constants, sizes)

    optimal_sizes = None  # type: ignore[assignment]
    planned: ClassVar[tuple] = ()

    def plan(self, constants):
        """Return a plan of models of any size: ``parameters``, ``tokens`` and ``loss``, the optimum searched for."""
        return Plan(self, constants)
