"""What a sweep and its runs provide, of whatever kind, so that they can be trained and gathered."""

import functools
import hashlib
import json
from dataclasses import replace

import xarray as xr

from ..engine.hardware import check_fits, chosen_precision


class Run:
    """One model trained once: a value whose hash is its name. Each kind of sweep has a subclass, a frozen dataclass.

    Its fields include `model` (with `parameters`), `optimisation` (an `engine.loop.Optimisation`), `evaluate_at`
    (numbers of updates after which to evaluate, tuple of int), `precision` (str) and `seed` (int).

    A subclass has `measured`, the names of the variables by step that evaluations hold, and `units` by name of variable
    or coordinate of the record. It has `deviations` from the study that it follows.
    """

    @property
    def configuration(self):
        """Everything that the result depends on, as plain values."""
        raise NotImplementedError

    @functools.cached_property
    def name(self):
        """First 16 hexadecimal digits of the SHA-256 of the configuration."""
        text = json.dumps(self.configuration, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def settled(self, where):
        """Return the run with the precision of an `engine.hardware.Where` if its precision is ``"auto"``."""
        return replace(self, precision=where.precision) if self.precision == "auto" else self

    @property
    def matmul_flop(self):
        """FLOP of matrix products in the whole run."""
        return self.flop_done(self.optimisation.updates)

    def flop_done(self, updates):
        """Compute the FLOP of matrix products in a number of updates."""
        raise NotImplementedError

    def tokens_done(self, updates):
        """Count the tokens trained on in a number of updates."""
        raise NotImplementedError

    def bytes_needed(self, execution, device, precision):
        """Estimate the memory that training takes on a device, in bytes."""
        raise NotImplementedError

    def work(self, precision):
        """Estimate the `work.Work` of the whole run."""
        raise NotImplementedError

    @property
    def largest(self):
        """What needs memory, in words, and what to give if it is too much: (str, str)."""
        raise NotImplementedError

    def check_fits(self, execution, device, precision):
        """Raise `InputError` if training does not fit into the free memory of a device."""
        check_fits(self.bytes_needed(execution, device, precision), device, *self.largest)

    def prepared(self, execution, device, precision):
        """Make the model with its initial weights, and its task: (torch.nn.Module, engine.loop.Task)."""
        raise NotImplementedError

    def counts(self, model, outcome, folder, device, precision, guard):
        """Test the trained model: an xarray.Dataset without steps, or None if the guard stopped it.

        Results in parts are saved in the run's folder until its record is complete. By default there is no such test.
        """
        return xr.Dataset()

    @property
    def described(self):
        """Coordinates of its record, by name, besides those that all runs have."""
        raise NotImplementedError

    def curves(self, steps):
        """Compute variables by step, besides those measured, by name; steps are updates, int, shape (steps,)."""
        raise NotImplementedError

    @property
    def attributes(self):
        """Attributes of its record, besides those that all runs have."""
        return {}


class Sweep:
    """A sweep of runs. Each kind has a subclass, a frozen dataclass with a field `execution` (an `Execution`)."""

    def settled(self, where):
        """Return the sweep with its runs settled, as `Run.settled` does."""
        raise NotImplementedError

    def groups(self):
        """Return the runs of each arm or stage, by name, for an outline; a rate that is still to be chosen is any."""
        raise NotImplementedError

    def rounds(self, results):
        """Yield rounds of runs, each of which waits for those before it: (name, runs, each once).

        `results` has the records by name of run, and grows meanwhile. The generator is resumed after a round only if
        all of its runs are there.
        """
        raise NotImplementedError

    def gathered(self, rounds, results):
        """Gather the finished runs of the rounds so far (runs by round): a dataset, and tables by name of file."""
        raise NotImplementedError

    def check(self, device):
        """Raise `InputError`, before anything is trained, for what would fail on a device."""
        for run in distinct(run for runs in self.groups().values() for run in runs):
            run.check_fits(self.execution, device, chosen_precision(run.precision, device))


def distinct(runs):
    """Return each of some runs once, as a list."""
    return list({run.name: run for run in runs}.values())


def evaluation_marks(updates, evaluations):
    """Spread evaluations evenly over the updates of a run.

    The numbers of updates after which to evaluate increase, tuple of int; a short run has fewer than `evaluations`.
    """
    return tuple(sorted({max(1, round(updates * k / evaluations)) for k in range(1, evaluations + 1)}))
