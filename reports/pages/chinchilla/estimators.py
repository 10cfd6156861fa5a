"""The usual point estimators of a table of runs."""

import warnings
from dataclasses import dataclass
from functools import partial

from ....datasets.wording import source_of
from ....errors import DiagnosticWarning, InputError
from ....inference.points.envelopes import check_isoflop, fit_frontier, fit_isoflop
from ....inference.points.parametric import check_huber, fit_huber

SCALES = {"huber_free_scale": "free", "huber_fixed_threshold": "fixed"}


@dataclass(frozen=True)
class PointEstimates:
    """Point estimates of a table, and why some estimators have none, each a dict by estimator.

    Envelopes include those with too few optima, whose ``converged`` is False. ``refused`` has the sentences with which
    estimators refused the table.
    """

    parametric: dict
    envelopes: dict
    refused: dict

    @property
    def missing(self):
        """Why estimates are missing, by estimator: refusals, and power laws with too few optima."""
        return self.refused | {name: e.message for name, e in self.envelopes.items() if not e.converged}

    def to_dict(self):
        """Return all estimates as JSON types, by estimator; ``refused`` and the reason for one without an estimate."""
        entries = {name: estimate.to_dict() for name, estimate in (self.parametric | self.envelopes).items()}
        return entries | {name: {"refused": reason} for name, reason in self.refused.items()}


def point_estimates(runs, *, drop_highest=0, **isoflop):
    """Run the parametric, iso-FLOP and frontier estimators, each for itself, and return `PointEstimates`.

    Parametric fits leave out the `drop_highest` runs of highest loss; other options are those of `fit_isoflop`. An
    option out of range is refused, and a table that no estimator can use.
    """
    check_huber(drop_highest=drop_highest)
    check_isoflop(**isoflop)
    refused = {}
    parametric = _made(
        {name: partial(fit_huber, runs, scale=scale, drop_highest=drop_highest) for name, scale in SCALES.items()},
        refused,
    )
    usual = {"isoflop": partial(fit_isoflop, runs, **isoflop), "frontier": partial(fit_frontier, runs)}
    with warnings.catch_warnings():  # their messages say the same
        warnings.simplefilter("ignore", DiagnosticWarning)
        envelopes = _made(usual, refused)
    estimates = PointEstimates(parametric, envelopes, refused)
    if len(estimates.missing) == len(parametric) + len(envelopes) + len(refused):
        reasons = "; ".join(dict.fromkeys(estimates.missing.values()))
        raise InputError(f"no estimator can use {source_of(runs)}: {reasons}")
    return estimates


def _made(estimators, refused):
    estimates = {}
    for name, estimate in estimators.items():
        try:
            estimates[name] = estimate()
        except InputError as error:
            refused[name] = str(error)
    return estimates
