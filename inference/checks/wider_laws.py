"""Fit laws that may fit where one does not to the same rows, and compare them by leave-one-out.

Leave-one-out of rows predicts a row between others of its model size. Leave-one-size-out predicts a size of which no
row was seen, which is what a scaling law is extrapolated to. Where the table allows both, the second decides.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...datasets.printed import Printed, Text
from ...datasets.progress_messages import counted
from ...datasets.wording import listed
from ...errors import DiagnosticWarning, InputError
from ..comparison.loo import loo, loo_by_group, unresolved
from ..comparison.weights import sum_error
from ..fitted import SUGGESTION, Fit, results_of
from ..fitter import fitter_of
from ..settings import seed_of
from ..workers import mapped
from .suggestion import exponent_of, gain, is_clear, suggestion
from .verdict import FITS

MOST_ROWS = 5000  # Of a table to which other laws are fitted automatically.
LEAST_SIZES = 4  # By which laws are compared: fewer sizes have no useful standard error.
MOST_REFITS = 3  # Of each law, without one of the largest sizes.
BRIEF = {"draws": 250, "tune": 300, "chains": 2}  # Of refits: 0.1 nats of error each, where gains have several nats.
SHORT = {"draws": 400, "tune": 300}  # Of the fits.


def worth_trying(fit):
    """Return whether to try others automatically: chains agree, the law does not fit, and they take seconds."""
    law = fit.law
    quick = law.effort.quick and fit["observed_data"].sizes[law.unit] <= MOST_ROWS
    return quick and fit.diagnostics["ok"] and fit.check()["verdict"] != FITS


def wider_laws(
    fit: Fit,
    *,
    most: int | None = None,
    seed: int | None = None,
    progress: bool = False,
    **settings: Any,
) -> Alternatives:
    """Fit the laws that the check of this one suggests, and compare them with it by leave-one-out.

    Where the table has several rows of several model sizes, laws are also compared by leave-one-size-out. Both use
    importance sampling. Where its error could decide whether the best law predicts better, refits replace it at high
    Pareto k. They leave out a row, or one of the three largest such sizes.

    Parameters
    ----------
    fit : Fit
    most : int, optional
        Of the laws suggested, how many are tried, the widest mean first; all by default.
    seed : int, optional
        That of the fit by default.
    progress : bool
        Show a bar for each fit.
    **settings
        As for `fit`; by default 400 draws after 300. Refits of the comparison have 250 after 300.

    Returns
    -------
    Alternatives
        A list of dict that prints which law predicts better.
        Best first, by sizes where there are enough; empty where the law names no others. ``law`` is its label, with
        ``name`` and ``options``. ``elpd_diff`` is the difference to the fit (above 0 where the law predicts better)
        and ``dse`` its standard error. ``elpd_diff_by_size`` and ``dse_by_size`` are the same of model sizes left out
        whole. ``sizes`` is their number, and ``unreliable_sizes`` those with a Pareto k above 0.7 in either fit and
        no refit. These four are None where the table has fewer than four sizes or no two with several rows.
        ``verdict`` is the result of its check. ``exponent_parameters`` has the quantiles ``q2.5``, ``q50`` and
        ``q97.5`` where the law has that exponent.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> others = fit.wider_laws()
    >>> others[0]["name"], others[0]["elpd_diff"] > 10
    ('coupled', True)
    """
    seed = seed_of(seed, fit)
    laws = [law.suited(fit.rows) for law in fit.law.wider_laws(fit.rows)[:most]]
    options = {"seed": seed} | SHORT | settings
    fitted = mapped(_fitted, (fitter_of(fit), options), laws)
    others = list(counted(fitted, f"trying {listed([law.label for law in laws])}", progress, total=len(laws)))
    scores = functools.cache(functools.partial(_scores, seed=seed))
    gains = [_gains(scores(fit), scores(other)) for other in others]
    exact: set[int] = set()
    while others and (best := max(range(len(gains)), key=lambda i: gain(gains[i])[0])) not in exact:
        if is_clear(gains[best]):
            break
        pair = (fit, others[best])
        gains[best] = _gains(*(scores(one) if scores(one).reliable else scores(one, refit=True) for one in pair))
        exact.add(best)
    entries = [
        {"law": other.law.label, "name": other.law.name, "options": other.law.options, **of, "verdict": other.check()}
        | exponent_of(other)
        for other, of in zip(others, gains, strict=True)
    ]
    best_first = sorted(entries, key=lambda entry: -gain(entry)[0])
    sentence = suggestion(fit, best_first)
    results_of(fit)[SUGGESTION] = sentence if best_first else ""
    return Alternatives(best_first, sentence)


class _Scores(NamedTuple):
    """Log predictive densities of rows and of sizes left out (None of too few), and whether no Pareto k is high."""

    of_rows: np.ndarray
    by_size: pd.DataFrame | None
    reliable: bool


def _scores(fit, refit=False, *, seed):
    """Return scores of a fit, by importance sampling or with refits where the Pareto k is high."""
    asked = BRIEF if refit else {"high_k": "none"}
    with warnings.catch_warnings():
        if not refit:
            warnings.simplefilter("ignore", DiagnosticWarning)
        of_rows = loo(fit, **asked)
    by_size = _by_size(fit, seed, **asked)
    reliable = not of_rows.warning and (by_size is None or not unresolved(by_size).any())
    return _Scores(of_rows.elpd_i.values, by_size, reliable)


def _gains(base, wider):
    """Return how much better one law predicts rows and sizes left out than another, in an entry of `wider_laws`."""
    apart = wider.of_rows - base.of_rows
    gains = {"elpd_diff": float(apart.sum()), "dse": float(sum_error(apart))}
    one, other = base.by_size, wider.by_size
    if one is None or other is None:
        return gains | dict.fromkeys(("elpd_diff_by_size", "dse_by_size", "sizes", "unreliable_sizes"))
    apart = (other["elpd"] - one["elpd"]).to_numpy()
    return gains | {
        "elpd_diff_by_size": float(apart.sum()),
        "dse_by_size": float(sum_error(apart)),
        "sizes": len(apart),
        "unreliable_sizes": int((unresolved(one) | unresolved(other)).sum()),
    }


class Alternatives(Printed, list):
    """What `wider_laws` returns: a list that prints which law predicts better and a short table."""

    def __init__(self, entries, suggestion):
        super().__init__(entries)
        self.suggestion = suggestion

    def table(self):
        """Return the numbers of the laws, a DataFrame with one row a law."""
        columns = ("elpd_diff", "dse", "elpd_diff_by_size", "dse_by_size", "sizes", "unreliable_sizes")
        return pd.DataFrame.from_records([{"law": entry["law"]} | {c: entry[c] for c in columns} for entry in self])

    def text(self):
        """Return what is printed."""
        if not self:
            return Text("The law suggests no other.")
        rows = {
            entry["law"]: {
                "gain, rows left out": f"{entry['elpd_diff']:+.1f} ± {entry['dse']:.1f} nats",
                "gain, sizes left out": "–"
                if entry["elpd_diff_by_size"] is None
                else f"{entry['elpd_diff_by_size']:+.1f} ± {entry['dse_by_size']:.1f} nats",
                "its rows": entry["verdict"]["verdict"],
            }
            for entry in self
        }
        table = pd.DataFrame.from_dict(rows, orient="index")
        shown = table.loc[:, (table != "–").any()]  # no sizes were left out of formulas
        return Text(f"{self.suggestion[:1].upper()}{self.suggestion[1:]}.", shown)


def _by_size(fit, seed, **asked):
    """Leave model sizes out whole, as `loo_by_group` does; None where the table has too few or mixes them in runs."""
    rows = fit.rows
    size = fit.law.repeated_size(rows)
    if size is None or rows[size].nunique() < LEAST_SIZES:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticWarning)  # the entry counts the sizes that are not reliable
        try:
            return loo_by_group(fit, size, most=MOST_REFITS, seed=seed, **BRIEF | asked)
        except InputError:  # a run with rows of several sizes
            return None


def _fitted(shared, law):
    fitter, options = shared
    return fitter.other(law).fit(**options)
