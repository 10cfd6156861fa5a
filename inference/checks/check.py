"""Check the law of a fit, in addition to its chains: whether it fits its rows, and how large its misfit is."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd

from ...datasets.columns import SIZES
from ...datasets.deferred import special
from ...datasets.printed import Printed, Text
from ...datasets.wording import p_value, shorten_number
from ...errors import InputError
from ...models.draws import DRAWS
from ..fitted import ANSWERS, VERDICT, Fit, once, results_of
from ..intervals import finite
from ..points.envelopes import exponents_by_frontier, exponents_by_isoflop
from .law_tests import MISFIT, law_tests
from .sensitivity import prior_driven
from .verdict import FITS, NOT, OFF, percent, verdict_sentence

EXPONENT = "exponent_parameters"
ESTIMATORS = {"exponent by iso-FLOP": exponents_by_isoflop, "exponent by the frontier": exponents_by_frontier}
REPLICATES = 100  # so that a p of 1/101 is the least that ranks can give
LEAST_REPLICATES = 50
ROUNDING = 1e-9  # of an exponent, as a share: replicates that differ by less have no spread
MOST_ROWS = 5000  # of tables that are drawn from the law
PRIOR_DRAWS = 1000
TURNS, NOISES = 0.05, 1999  # p below which a rejected law's response turns, and how many tables of noise tell it


def check(fit: Fit) -> Check:
    """Check the law of a fit by its rows: whether it fits, how large its misfit is, and what its prior decides.

    A law fits where none of its tests has a p below 0.01. Where one has, the size of the largest misfit decides: from
    the law's ``tolerance`` on, it does not fit; below that it is ``"off"`` by a known size. The tolerance is 1% of the
    loss for runs. It is 5% for evaluations, and 0.05 for counts and scores. These lines are our choice.

    Parameters
    ----------
    fit : Fit

    Returns
    -------
    Check
        A dict that prints its sentence and its tests; ``.table()`` returns these. ``verdict`` is ``"fits"``, ``"off"``
        or ``"does not fit"``, and ``p`` the least of the tests. ``size`` is the largest of the tests that reject, a
        mean over rows as in `law_tests`, None where none has one. ``share_of`` is what it is a share of, and
        ``rejected_by`` has names of tests. ``tests``, by name, are those of `law_tests`, with ``worst_size`` and
        ``worst_where``. Where the table allows it, they include the exponent of the optimal size, by iso-FLOP parabolas
        and by the frontier. It is compared with the same estimates of tables drawn from the law. ``turns`` says where
        the response turns, of a law of one column that is rejected. ``apart`` names runs of one size that all lie on
        one side of the law of the others, with a p below 0.01. ``prior_driven`` has the quantities whose posterior is
        no more than a fifth narrower than their prior, with the ratio of widths.

    Examples
    --------
    >>> import bayescaling as bs
    >>> fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=500, tune=500)
    >>> fit.check()["verdict"]
    'off'
    """
    results = results_of(fit)
    if VERDICT not in results:
        once(fit, VERDICT, lambda: _checked(fit))
        if ANSWERS in results:  # made without the check
            results[ANSWERS] = fit._make_answers()
    return Check(results[VERDICT])


def _checked(fit):
    law = fit.law
    tests = {name: _plain(row) for name, row in law_tests(fit).iterrows()} | _against_estimators(fit)
    rejected = sorted((name for name, test in tests.items() if not test["fits"]), key=lambda name: tests[name]["p"])
    size = max((tests[name]["size"] for name in rejected if tests[name]["size"] is not None), default=None)
    verdict = FITS if not rejected else NOT if size is not None and size >= law.tolerance else OFF
    return {
        "verdict": verdict,
        "p": min(test["p"] for test in tests.values()),
        "size": size,
        "share_of": law.share_of,
        "rejected_by": rejected,
        "tests": tests,
        "turns": _turns(fit) if rejected else "",
        "apart": _apart(law.size_apart(fit.rows)),
        "prior_driven": _decided_by_prior(fit),
    }


class Check(Printed, dict):
    """What `Fit.check` returns: a dict that prints its sentence and its tests."""

    def table(self):
        """Return the tests, a DataFrame with one row a test, the least p first."""
        return pd.DataFrame.from_dict(self["tests"], orient="index").sort_values("p")

    def text(self):
        """Return what is printed."""
        rows = {
            name: {
                "p": p_value(test["p"]).removeprefix("p = "),
                "law": "fits" if test["fits"] else "rejected",
                "misfit": "–" if test["size"] is None else percent(test["size"]),
                "at most": "–"
                if test.get("worst_size") is None
                else f"{percent(test['worst_size'])}, {test['worst_where']}",
            }
            for name, test in sorted(self["tests"].items(), key=lambda item: item[1]["p"])
        }
        driven = ", ".join(self["prior_driven"])
        below = (f"The prior decides {driven}: the posterior is at most a fifth narrower.",) if driven else ()
        sentence = verdict_sentence(self)
        return Text(f"{sentence[:1].upper()}{sentence[1:]}.", pd.DataFrame.from_dict(rows, orient="index"), below)


def _plain(row):
    numbers = {name: finite(row[name]) for name in ("statistic", "p", "size", "worst_size")}
    texts = {"worst_where": row["worst_where"] or None, "what": row["what"]}
    return numbers | {"df": int(row["df"]), "fits": bool(row["fits"])} | texts


def _decided_by_prior(fit):
    draws = fit.draws
    names = {name for name, x in draws.named().data_vars.items() if draws.law.unit not in x.dims}
    table = prior_driven(fit, draws=PRIOR_DRAWS).set_index("coefficient")
    ratios = table.loc[table["prior_driven"] & np.isfinite(table["ratio"]), "ratio"]
    return {name: float(ratio) for name, ratio in ratios.items() if name.partition("[")[0] in names}


def _apart(apart):
    """Return which runs of one size lie off the law of the other sizes, in words, "" of none."""
    if not apart or apart["p"] >= MISFIT:
        return ""
    side = "above" if apart["shift"] > 0 else "below"
    lie = f"the runs of {apart['name']} lie {percent(abs(apart['shift']))} {side} the law of the other sizes"
    return f"{lie} ({p_value(apart['p'])}): see whether they were tuned as the others"


def _turns(fit):
    """Return where the response turns along the one column of a law, in words, "" where it may only rise or fall.

    Of medians of three neighbours, the longest way back is compared with the way back of as many values of noise alone.
    """
    law, rows = fit.law, fit.rows
    codes, orders = law.orders(rows)
    if len(orders) != 1 or [*orders] != [*getattr(law, "columns", ())] or law.apart or getattr(law, "counts", ()):
        return ""
    ((name, order),) = orders.items()
    x, y = (
        (np.bincount(codes, of) / np.bincount(codes))[order]
        for of in (rows[name], law.on_scale(rows[law.observed].to_numpy(float)))
    )
    y = y if (rises := np.corrcoef(np.arange(len(y)), np.argsort(np.argsort(y)))[0, 1] > 0) else -y
    of_noise = np.random.default_rng(0).standard_normal((NOISES, len(y)))
    if np.mean(_way_back(of_noise)[0] >= _way_back(y)[0]) >= TURNS:
        return ""
    end = int(_way_back(y)[1])
    begin = int(y[: end + 1].argmax())
    end = begin + int(y[begin : end + 2].argmin())
    on, back = ("rises", "falls") if rises else ("falls", "rises")
    until = [f"{name} = {shorten_number(x[place])}" for place in (begin, end)]
    parts = [f"{on} until {until[0]}"] if begin else []
    parts += [f"{back} until {until[1]}", f"{on}{' again' if begin else ''}"] if end < len(x) - 1 else [back]
    return f"no power law holds: {law.observed} {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}"


def _way_back(y):
    """Return the longest way down among values, (..., value), in units of their scatter, and where it ends."""
    padded = np.pad(y, [(0, 0)] * (y.ndim - 1) + [(1, 1)], mode="edge")
    middle = np.median([padded[..., :-2], y, padded[..., 2:]], axis=0)
    down = np.maximum.accumulate(middle, axis=-1) - middle
    apart = y[..., 1:-1] - (y[..., :-2] + y[..., 2:]) / 2
    return down.max(-1) / np.maximum(np.median(np.abs(apart), axis=-1), np.finfo(float).tiny), down.argmax(-1)


# Estimators that need no law ------------------------------------------------------------------------------------------


def _against_estimators(fit):
    """Test the exponent that estimators find in the rows against those they find in tables drawn from the law."""
    rows = fit.rows
    if EXPONENT not in fit["posterior"] or not {*SIZES, "loss"} <= {*rows.columns} or len(rows) > MOST_ROWS:
        return {}
    losses = np.column_stack([rows["loss"], *_replicated(fit, rows)])
    estimates = {}
    for name, estimator in ESTIMATORS.items():
        with suppress(InputError):  # `points` raises it where one calls that
            estimates[name] = np.where((losses > 0).all(0), estimator(rows, losses), np.nan)
    tests = {name: _beside(x[0], x[1:]) for name, x in estimates.items() if np.isfinite(x[0])}
    return {name: test for name, test in tests.items() if test is not None}


def _replicated(fit, rows):
    """Return losses of tables that some of the draws predict, an ndarray (table, row)."""
    draws = fit.draws
    z = draws.real_line()
    draws_a_chain = -(-REPLICATES // z.sizes["chain"])
    chosen = np.unique(np.linspace(0, z.sizes["draw"] - 1, draws_a_chain).astype(int))
    few = draws.from_real_line(z.isel(draw=chosen))
    losses = draws.law.from_scale(few.replicate(np.random.default_rng(0)).transpose(*DRAWS, ...).values)
    return losses.reshape(-1, len(rows))[:REPLICATES]


def _beside(observed, replicated):
    """Test an estimate against replicates, by their ranks and by a normal of their quartiles, whichever is milder.

    Returns None where replicates are too few or do not spread: designed tables have one frontier whatever their losses.
    """
    values = replicated[np.isfinite(replicated)]
    if len(values) < LEAST_REPLICATES:
        return None
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    sd = (high - low) / (2 * special.ndtri(0.75))
    if not sd > ROUNDING * abs(middle):
        return None
    z = (observed - middle) / sd
    further = (np.abs(values - middle) >= abs(observed - middle)).sum()
    p = max((1 + further) / (1 + len(values)), 2 * special.ndtr(-abs(z)))
    what = f"{observed:.3f} in the rows, {middle:.3f} (sd {sd:.3f}) in {len(values)} tables drawn from the law"
    numbers = {"statistic": float(z), "p": float(p), "size": None, "worst_size": None}
    return numbers | {"df": 1, "fits": bool(p >= MISFIT), "worst_where": None, "what": what}
