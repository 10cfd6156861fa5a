"""Whether a law predicts the dearest of the runs at hand, and so may choose the next ones."""

import warnings
from typing import NamedTuple

import numpy as np

from ...errors import DiagnosticWarning, InputError
from ...models.loss.budget import training_flop
from ..comparison.rollout import rollout
from ..fitter import fitter_of

LEAST = 0.8  # share of later runs that intervals of 90% must hold
CUTOFFS = (0.55, 0.7, 0.85)  # quantiles of compute below which runs are fitted
FEWEST = 5  # runs predicted, below which the share means nothing
SHORT = {"draws": 500, "tune": 500}
SETTINGS = ("draws", "tune", "chains")


class Gate(NamedTuple):
    """How a law predicted the dearest runs at hand from cheaper ones.

    The coverage is the share of them inside intervals of 90%, under the law alone; NaN where too few could be
    predicted. `predicted` counts predictions, of all cutoffs.
    """

    coverage: float
    predicted: int

    @property
    def passed(self):
        """Return whether the law may choose runs; it may where nothing could be predicted."""
        return not self.coverage < LEAST

    def sentence(self, label):
        """Return what was tested, in words."""
        if np.isnan(self.coverage):
            return f"Too few runs to test by rollouts whether {label} predicts dearer runs."
        return (
            f"In rollouts on the runs at hand, 90% intervals of {label} hold {self.coverage:.0%} of "
            f"{self.predicted} dearer runs."
        )


def gate(fit, *, seed, progress=False):
    """Roll out the law of a fit of runs on its rows, and return how often its intervals hold, a `Gate`."""
    spent = training_flop(fit.rows)
    if spent is None:
        return Gate(np.nan, 0)
    covered = predicted = 0
    for cutoff in np.unique(np.quantile(spent, CUTOFFS)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticWarning)
                table, _ = rollout(
                    fit.law, fit.rows, "compute", cutoff, beyond="none", seed=seed, progress=progress, **SHORT
                )
        except InputError:  # rows below the cutoff are too few to inform the law
            continue
        covered += (table["coverage_90"] * table["predicted"]).sum()
        predicted += int(table["predicted"].sum())
    return Gate(covered / predicted if predicted >= FEWEST else np.nan, predicted)


def through(fits, *, seed, progress=False):
    """Return the fits of laws that pass, and the `Gate` of each law by its label.

    Where none passes, wider laws than that of the first fit are tried until one does.
    """
    gates = {label(fit, fits): gate(fit, seed=seed, progress=progress) for fit in fits}
    passed = [fit for fit in fits if gates[label(fit, fits)].passed]
    first = fits[0]
    for law in () if passed else first.law.wider_laws(first.rows):
        settings = {name: first.record["settings"][name] for name in SETTINGS}
        other = fitter_of(first).other(law, first.rows).fit(seed=seed, progress=progress, **settings)
        gates[law.label] = gate(other, seed=seed, progress=progress)
        if gates[law.label].passed and not np.isnan(gates[law.label].coverage):
            return [other], gates
    return passed, gates


def label(fit, fits):
    """Name a fit by its law, and by its place where two have the same."""
    labels = [one.law.label for one in fits]
    place = next((i for i, one in enumerate(fits) if one is fit), 0)
    return fit.law.label if labels.count(fit.law.label) < 2 else f"{fit.law.label} ({place + 1})"


def warn(gates, passed):
    """Warn which laws may not choose runs."""
    chosen = f"; {', '.join(one.law.label for one in passed)} instead" if passed else ""
    what = f"it chooses none of the runs{chosen}" if passed else "runs are spread by cost, without a law"
    for name, result in gates.items():
        if not result.passed:
            text = f"{result.sentence(name)} Below {LEAST:.0%}, {what}"
            warnings.warn(text, DiagnosticWarning, stacklevel=4)
