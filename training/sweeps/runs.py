"""A run of any kind: a value whose hash is its name."""

import functools
import hashlib
import json
from dataclasses import replace


class Run:
    """One model trained once. Each kind of sweep has a subclass, a frozen dataclass.

    Its fields include `optimisation` (an `engine.loop.Optimisation`), `evaluate_at` (numbers of updates after which to
    evaluate, tuple of int), `precision` (str) and `seed` (int).
    """

    @property
    def configuration(self):
        """Everything that the result depends on, as plain values."""
        raise NotImplementedError

    def settled(self, where):
        """Give the run as it is trained somewhere, with a precision that is no longer ``"auto"``.

        Parameters
        ----------
        where : engine.hardware.Where

        Returns
        -------
        Run
        """
        return replace(self, precision=where.precision) if self.precision == "auto" else self

    @functools.cached_property
    def name(self):
        """First 16 hexadecimal digits of the SHA-256 of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def matmul_flop(self):
        """FLOP of matrix products in the whole run."""
        return self.flop_done(self.optimisation.updates)

    def flop_done(self, updates):
        """FLOP of matrix products in a number of updates."""
        raise NotImplementedError

    def tokens_done(self, updates):
        """Tokens trained on in a number of updates."""
        raise NotImplementedError


def evaluation_marks(updates, evaluations):
    """Spread evaluations evenly over a run.

    Parameters
    ----------
    updates : int
        Of the whole run.
    evaluations : int

    Returns
    -------
    tuple of int
        Numbers of updates after which to evaluate, increasing; fewer than `evaluations` if the run is short.
    """
    return tuple(sorted({max(1, round(updates * k / evaluations)) for k in range(1, evaluations + 1)}))
