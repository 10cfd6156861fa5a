"""How long and how carefully to sample, and from which seed."""

from dataclasses import dataclass, replace

import numpy as np

from ..clusters import cores
from ..datasets.wording import check_choice
from ..errors import InputError

MOST_ITERATIONS = 10_000_000  # more would not fit into memory, and are a slip of the pen


@dataclass(frozen=True)
class Settings:
    """How long and how carefully to sample.

    Draws and `tune` are saved and warm-up iterations of each chain, `cores` are the chains that run at a time, by
    default as many as the process may use, and `target_accept` is the mean acceptance that the step size is adapted to.
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    cores: int | None = None
    target_accept: float = 0.9

    def __post_init__(self):
        for name in ("draws", "tune", "chains", "cores"):
            value = getattr(self, name)
            least = 4 if name == "draws" else 1
            if value is not None and not (isinstance(value, (int, np.integer)) and value >= least):
                raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if not 0 < self.target_accept < 1:
            raise InputError(f"target_accept must lie between 0 and 1, not {self.target_accept!r}")

    def longer(self, times):
        """Return the same settings with `times` as many draws and, beyond once, twice the warm-up."""
        return replace(self, draws=self.draws * times, tune=self.tune * (2 if times > 1 else 1))

    @property
    def asked(self):
        """Return what every sampler must be given and a fit records."""
        return {name: getattr(self, name) for name in ("draws", "tune", "chains", "target_accept")}

    @property
    def workers(self):
        """Chains that run at a time."""
        return min(self.chains, self.cores or cores())


def settings_of(options):
    """Make `Settings` of keyword arguments, refusing unknown ones."""
    for option in options:
        check_choice("option", option, Settings.__dataclass_fields__)
    settings = Settings(**options)
    if settings.chains * (settings.draws + settings.tune) > MOST_ITERATIONS:
        raise InputError(f"draws, tune and chains ask for more than {MOST_ITERATIONS:,} iterations in all; give fewer")
    return settings


def seed_of(seed, fit=None):
    """Return a seed, by default that of a fit, refusing what is none."""
    if seed is None and fit is not None:
        return fit.record["seed"]
    if not (isinstance(seed, (int, np.integer)) and 0 <= seed < 2**31):
        raise InputError(f"seed must be a whole number from 0 to 2**31 - 1, not {seed!r}")
    return int(seed)
