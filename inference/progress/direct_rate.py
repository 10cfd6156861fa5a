"""Doubling times straight from the data: the compute of systems that reach one perplexity, by date.

The logarithm of compute relative to a reference's is a line in the date, ``a + s (date - reference's)``, with normal
scatter sigma. The rate of progress is -s, in log units a year. With a conjugate prior the posterior is exact: the slope
is Student-t. Half of the compute is needed after ``12 log 2 / rate`` months, "never" where the rate is not positive. So
a doubling time is only ever read off quantiles of the rate.

A reference is a system known for its size, which often spent more than its perplexity needed. Whether its row counts
decides the slope as much as all the others do. Earlier systems that reached the same perplexity are left out by the
paper's rule. Both are reasons to read these figures as description.

References
----------
.. [1] Ho, A. et al. (2024). Algorithmic progress in language models. arXiv:2403.05812, figure 7.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...datasets import require
from ...datasets.deferred import stats as st
from ...datasets.requirements import positive_columns
from ...datasets.wording import unknown
from ...errors import InputError
from ...models.progress.growth import doubling_months
from ..intervals import finite, named

REFERENCES = {"Megatron-LM (355M)": 1.1, "GPT-2 (1542M)": 1.075, "Gopher (280B)": 1.25}
BENCHMARK = "wt103"
COLUMNS = ("system", "paper_id", "year", "benchmark", "perplexity", "training_compute_flop")
SHOWN = (0.025, 0.5, 0.975)
FEWEST = 6  # rows below which there is no estimate


@dataclass(frozen=True)
class LinePrior:
    """Conjugate prior of a line: a and s normal about 0 in units of sigma, sigma^2 scaled inverse chi-squared.

    Parameters
    ----------
    intercept, slope : float
        Prior sd of the log relative compute at the reference's date and of its yearly change, in units of sigma. The
        default 2 is about 3 log units: at the reference's date others may need a twentieth or twenty times its compute.
        Needs may halve or double every three months, neither direction preferred.
    scatter : float
        Scale of sigma. Estimates of training compute are good to about a factor of three, and so are recipes of one
        date: together 1.5 log units.
    degrees : float
        Degrees of freedom of that scale; 3 put sigma between 0.85 and 5.6 and give the slope a prior variance.
    """

    intercept: float = 2.0
    slope: float = 2.0
    scatter: float = 1.5
    degrees: float = 3.0


@dataclass(frozen=True)
class DirectDoubling:
    """Progress seen in the compute of systems near one perplexity.

    Parameters
    ----------
    system : str
        The reference.
    factor : float
        Largest ratio of perplexities, either way.
    rows : DataFrame
        Systems used: ``system``, ``paper_id``, ``year``, ``perplexity``, ``training_compute_flop``, ``years_after`` the
        reference and ``log_relative_compute``.
    posterior : frozen distribution of scipy.stats, or None
        Exact posterior of the rate, log units a year, a Student-t; None with too few rows.
    message : str
        What was done, or why nothing was.
    """

    system: str
    factor: float
    rows: pd.DataFrame
    posterior: object
    message: str

    @property
    def p_progress(self):
        """Probability that the rate is positive; None with too few rows."""
        return None if self.posterior is None else float(self.posterior.sf(0))

    def doubling_quantiles(self, probabilities=SHOWN):
        """Compute exact quantiles of the doubling time in months, infinite where the rate is not positive."""
        if self.posterior is None:
            raise InputError(f"{self.system}: {self.message}")
        rates = self.posterior.ppf(1 - np.asarray(probabilities, float))
        return np.where(rates > 0, doubling_months(np.where(rates > 0, rates, 1.0)), np.inf)

    def to_dict(self):
        """Return everything as types that JSON knows; a doubling time of None is "never"."""
        months = {} if self.posterior is None else named(self.doubling_quantiles(), SHOWN)
        return {
            "system": self.system,
            "factor": self.factor,
            "systems": self.rows["system"].tolist(),
            "p_progress": self.p_progress,
            "doubling_months": {name: finite(time) for name, time in months.items()},
            "message": self.message,
        }


def direct_doubling(table, *, include_reference=False):
    """Estimate doubling times of effective compute from systems near the perplexity of a reference.

    It is figure 7 of Ho et al. (2024) [1]_ with a posterior, of the rows with known training compute on wt103. Rows
    count whose perplexity is within a factor of the reference's and which are dated after it. With `include_reference`
    the row of the reference counts too, at its date with relative compute 1. Of each paper the row of largest compute
    counts. The table is such as ``load("lm_progress")``, compute in FLOP. A `DirectDoubling` is returned by reference
    system.
    """
    systems = _with_compute(table)
    results = {}
    for system, factor in REFERENCES.items():
        rows, posterior = _rows(systems, system, factor, include_reference), None
        message = f"no line is fitted: {len(rows)} of at least {FEWEST} rows"
        if len(rows) >= FEWEST:
            posterior = rate_posterior(rows["years_after"], rows["log_relative_compute"], LinePrior())
            among = "among" if include_reference else "not among"
            message = f"a line through {len(rows)} rows, the reference {among} them"
        results[system] = DirectDoubling(system, factor, rows, posterior, message)
    return results


def rate_posterior(years, log_compute, prior):
    """Compute the posterior of minus the slope of a line, ``-s`` in log units a year, in closed form.

    The line goes through the log relative compute, (row,), by years since the reference, under a `LinePrior`.
    """
    design = np.column_stack([np.ones(len(years)), years])
    observed = np.asarray(log_compute, float)
    precision = np.diag([prior.intercept**-2.0, prior.slope**-2.0]) + design.T @ design
    covariance = np.linalg.inv(precision)
    mean = covariance @ design.T @ observed
    degrees = prior.degrees + len(observed)
    squares = prior.degrees * prior.scatter**2 + observed @ observed - mean @ precision @ mean
    return st.t(degrees, -mean[1], np.sqrt(squares / degrees * covariance[1, 1]))


def _with_compute(table):
    require(table, COLUMNS, purpose="direct_doubling")
    rows = table[table["training_compute_flop"].notna() & (table["benchmark"] == BENCHMARK)]
    rows = rows.assign(**positive_columns(rows, ("year", "perplexity", "training_compute_flop"), purpose="this"))
    return rows[[name for name in COLUMNS if name != "benchmark"]]


def _rows(systems, system, factor, include_reference):
    named = systems[systems["system"] == system]
    if named.empty:
        raise InputError(unknown(f"on {BENCHMARK} with known compute, system", system, systems["system"]))
    reference = named.iloc[0]
    near = np.abs(np.log(systems["perplexity"] / reference["perplexity"])) <= np.log(factor)
    itself = systems.index == reference.name
    rows = systems[near & ((systems["year"] > reference["year"]) | (itself & include_reference))]
    rows = rows.sort_values("training_compute_flop").drop_duplicates("paper_id", keep="last")
    rows = rows.sort_values("year").reset_index(drop=True)
    return rows.assign(
        years_after=rows["year"] - reference["year"],
        log_relative_compute=np.log(rows["training_compute_flop"] / reference["training_compute_flop"]),
    )
