"""The law of a run's loss as it trains, under its learning-rate schedule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd

from ...datasets.wording import plural, source_of
from ...errors import InputError
from ..arrays import exp, pick, recursion
from ..contrasts import Contrast, ordinals
from ..law import Effort, MemberLaw
from ..loss.noise import normal_logp
from ..priors import named
from .areas import MEMORY, areas
from .draws import CurveDraws

BLOCKS = 48  # of readings of a run, even in the logarithm of its steps
AVERAGED = 4  # readings of a block that count as independent at most
SKIPPED = 0.05  # share of a run, at its start, that the law leaves out
LEAST = 8  # blocks of all runs
BEFORE = 1e3  # e-folds to the reading before the first one: none

# Learned from the 27 curves of `schedule_curves`, of three sizes and nine schedules, and widened: those curves are of
# one recipe.
SHARE = "share of the loss"

PRIORS = named(
    loss_centre=(
        "LogNormal(1.1, 0.7)",
        "Loss at the last reading without annealing: 0.7 to 12 nats per token, so that the readings decide.",
        "nats/token",
    ),
    reducible_share=(
        "LogNormal(-2.6, 0.6)",
        "What training on can still remove of it: 2 to 24%. The curves have 3 to 16% at their ends and more before.",
        SHARE,
    ),
    alpha=(
        "LogNormal(-0.65, 0.25)",
        "Power of the area with which the reducible loss falls: 0.32 to 0.85. The curves have 0.43 to 0.64.",
        "1",
    ),
    anneal=(
        "LogNormal(-3.25, 0.35)",
        "Loss removed by a whole fall of the rate: 2 to 8%. The curves have 3 to 6%.",
        SHARE,
    ),
    drift=(
        "LogNormal(-7, 0.8)",
        "Sd of the slow deviation from the law: 0.02 to 0.4%. The curves have 0.02 to 0.3%.",
        SHARE,
    ),
    drift_range=(
        "LogNormal(0, 0.5)",
        "How far along a run deviations are alike; the curves have 1 to 1.8 e-folds.",
        "e-folds of the steps",
    ),
    noise=(
        "LogNormal(-7.5, 0.8)",
        "Sd of one reading about them: 0.01 to 0.3%; losses of single batches have more and inform it.",
        SHARE,
    ),
)


@dataclass(frozen=True)
class Curve(MemberLaw):
    """The loss of a run as it trains: ``L = L0 + A S**-alpha - C V``, with deviations that follow each other.

    S is the area under a power of the learning rate and V how far the rate has annealed (`areas`). Deviations are of
    two kinds: a slow one, an Ornstein-Uhlenbeck process in the logarithm of the steps, and one of each reading. Runs of
    one table share the constants: they are of one model under several schedules.

    =============== ====================== =====================================================================
    quantity        prior                  what it is
    =============== ====================== =====================================================================
    loss_centre     LogNormal(1.1, 0.7)    loss at the last reading if the rate had not fallen
    reducible_share LogNormal(-2.6, 0.6)   share of it that training on removes
    alpha           LogNormal(-0.65, 0.25) power with which that falls with the area
    anneal          LogNormal(-3.25, 0.35) share of it that a whole fall of the rate removes
    drift           LogNormal(-7, 0.8)     sd of slow deviations, a share
    drift_range     LogNormal(0, 0.5)      how far they are alike, in e-folds of the steps
    noise           LogNormal(-7.5, 0.8)   sd of a reading, a share
    =============== ====================== =====================================================================

    `curves.law.PRIORS` states the reason for each prior.

    Parameters
    ----------
    memory : float
        Steps over which a fall of the rate takes effect. On a table without steps a fall takes effect at once.
    priors : mapping of str to str
        Replacements of the default priors.

    Raises
    ------
    InputError
        If an option or prior is unknown or out of range.

    References
    ----------
    Tissue, Wang and Wang (2024), Scaling law with learning rate annealing, arXiv 2408.11029. Luo et al. (2025), A
    multi-power law for loss curve prediction across learning rate schedules, arXiv 2503.12811.

    Examples
    --------
    >>> Curve(memory=500).label
    'curve, memory=500'
    """

    memory: float = MEMORY
    priors: Mapping = field(default_factory=dict)

    tolerance = 0.005
    axes = {"clock": "clock"}  # noqa: RUF012
    apart = clusters = ("run",)
    left_out_by = "run"
    name: ClassVar[str] = "curve"
    kind: ClassVar[str] = "curves"
    observed: ClassVar[str] = "loss"
    scale = "loss"
    centre: ClassVar[str] = "loss_centre"
    noise = "normal"
    effort: ClassVar[Effort] = Effort(careful=(0.97, 0.99), least_ess=400, longest=4, quick=True)
    drawn_as: ClassVar[type] = CurveDraws
    _free_parameters = tuple(PRIORS.values())

    def __post_init__(self):
        if not (isinstance(self.memory, int | float) and 0 <= self.memory < np.inf):
            raise InputError(f"memory must be a number of steps, such as 300, not {self.memory!r}")
        object.__setattr__(self, "priors", self._checked_priors())

    def usual_table(self):
        """Return the built-in curves of one size."""
        table = super().usual_table()
        return table[table["run"].str.startswith("100M")]

    def rows(self, table):
        """Return blocks of readings of each run, without the start: mean loss, area, annealing, and share of the peak.

        Raises
        ------
        InputError
            If there are too few readings.
        """
        if {"area", "annealed", "readings"} <= set(table):
            return table  # blocks already
        memory = self.memory if "step" in table else 0.0
        parts = [self._blocks(readings, memory) for _, readings in table.groupby("run", sort=False)]
        rows = pd.concat(parts, ignore_index=True)
        if len(rows) < LEAST:
            place = source_of(table)
            raise InputError(
                f"{place}: {plural(len(rows), 'reading')} after the first {SKIPPED:.0%} of each run; the curve law "
                f"needs {LEAST}, so log more often or wait"
            )
        rows.attrs = dict(table.attrs)
        return rows

    @staticmethod
    def _blocks(readings, memory):
        """Return the blocks of one run; readings are ascending on their clock."""
        clock, rate = readings["clock"].to_numpy(float), readings["rate"].to_numpy(float)
        area, annealed = areas(clock, rate, memory=memory)
        start = max(clock[rate >= rate.max() * (1 - 1e-9)][0], clock[0] + SKIPPED * (clock[-1] - clock[0]))
        of = readings.assign(rate=rate / rate.max(), area=area, annealed=annealed)[clock >= start]
        places = np.log(of["clock"].to_numpy(float))
        progress = (places - places[0]) / max(places[-1] - places[0], 1e-9)
        codes = np.minimum((progress * BLOCKS).astype(int), BLOCKS - 1)
        names = ["clock", "loss", "rate", "area", "annealed", *(["step"] if "step" in of else [])]
        blocks = of.groupby(codes)[names].mean()
        return blocks.assign(readings=of.groupby(codes).size(), run=of["run"].iloc[0]).reset_index(drop=True)

    def reference(self, rows):
        """Return the area that the centre is of: the largest."""
        return {"area": float(rows["area"].max())}

    def contrasts(self, rows):
        """Return means of innovations by progress."""
        bins = rows.groupby("run").cumcount().to_numpy() * 5 // BLOCKS
        codes = np.unique(bins, return_inverse=True)[1]
        return {"means by progress": Contrast.of_means(codes, "bins of progress", ordinals(codes, "progress"))}

    def join_simulated(self, rows, simulated):
        """Return the rows and simulated ones, which are of other runs."""
        return super().join_simulated(rows, simulated.assign(run=simulated["run"] + ", simulated"))

    def design_arrays(self, rows, reference):
        """Return the arrays that the model holds as data: of each block, and where the blocks of each run are."""
        runs = rows.groupby("run", sort=False)
        columns = {
            "y": rows["loss"].to_numpy(float),
            "s": np.log(rows["area"].to_numpy(float) / reference["area"]),
            "v": rows["annealed"].to_numpy(float),
            "gap": np.log(rows["clock"].astype(float)).groupby(rows["run"]).diff().fillna(BEFORE).to_numpy(),
        }
        of_runs = {
            "place": np.arange(len(rows)),
            "seen": np.ones(len(rows)),
            "share": 1.0 / np.minimum(rows["readings"].to_numpy(float), AVERAGED),
        }
        data = {f"row_{name}": x for name, x in columns.items()}
        for name, x in of_runs.items():
            data[f"run_{name}"] = np.zeros((runs.ngroups, BLOCKS), x.dtype)
            data[f"run_{name}"][runs.ngroup(), runs.cumcount()] = x
        return data

    def _rest(self, values, data):
        """Return the log density of each block given those before it, by name."""
        values = {name: values[name][..., None] for name in self.prior_of}
        residual, total, *_ = self.filtered(values, data)
        return {"rows": data["run_seen"] * normal_logp(residual, total**0.5)}

    @staticmethod
    def mean_at(values, s, v):
        """Return the mean loss from the log area over that of the centre, and the annealing."""
        falls = values["reducible_share"] * (exp(-values["alpha"] * s) - 1.0) - values["anneal"] * v
        return values["loss_centre"] * (1.0 + falls)

    def filtered(self, values, data):
        """Return what is known of each run after each of its blocks (a Kalman filter), from values of shape (..., 1).

        It is what the loss has besides what blocks before it predict, and the variance of that, then the slow
        deviation, and its variance, (..., run, place) each.
        """
        residuals = data["row_y"] - self.mean_at(values, data["row_s"], data["row_v"])
        persistence = exp(-data["row_gap"] / values["drift_range"])
        drift, noise = ((values["loss_centre"] * values[name]) ** 2 for name in ("drift", "noise"))

        def step(state, block):
            (slow, variance), (residual, alike, share) = state, block
            variance = drift + alike**2 * (variance - drift)
            residual = residual - alike * slow
            total = variance + noise * share
            slow = alike * slow + variance / total * residual
            variance = variance * (1.0 - variance / total)
            return (slow, variance), (residual, total, slow, variance)

        residuals, alike = (pick(x, data["run_place"]) for x in (residuals, persistence))
        start = 0.0 * residuals[..., 0]
        return recursion(step, (start, start + drift), (residuals, alike, data["run_share"]), BLOCKS)
