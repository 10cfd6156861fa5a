"""What the rate since 2023 depends on: the law or its table with one thing changed at a time."""

from dataclasses import dataclass, field, replace

import bayescaling as bs
import numpy as np
from bayescaling.inference.checks.chains import PARETO_K_LIMIT
from bayescaling.inference.comparison.importance import importance_sampling
from bayescaling.inference.comparison.weights import sum_error
from bayescaling.inference.workers import mapped
from bayescaling.reports.pages.since.forms import BREAK, LINEAR, periods
from bayescaling.reports.pages.since.page import LAWS

WIDE_ERRORS = (0.29, 0.61, 0.9)  # decades, standard deviations: nine in ten within 3, 10 or 30 times
LAST_YEAR = 2025.0
BENCHMARKS = 6  # left out one at a time, those with the most scores

# Reasoning models of known compute, which is mostly that of pretraining and omits reinforcement learning.
REASONING = (
    "DeepSeek-R1", "Claude 3.7 Sonnet", "Qwen3-235B-A22B", "DeepSeek-R1 (May 2025)", "gpt-oss-120b",
    "DeepSeek-V3.2-Exp", "GLM-4.6", "Kimi K2 Thinking", "DeepSeek-V3.2", "GLM-4.7",
)  # fmt: skip
CODE = ("DeepSeek Coder", "StarCoder 2", "Qwen2.5-Coder")


@dataclass(frozen=True)
class Change:
    """One thing changed.

    Attributes
    ----------
    of : dict
        Options of the law.
    rows : callable, optional
        Takes the table and returns another.
    paces : tuple of str
        Forms of the yearly gain that are fitted.
    specification : bool
        Whether the change is a choice of analysis: the spread of answers over such choices is reported.
    """

    of: dict = field(default_factory=dict)
    rows: object = None
    paces: tuple = (LINEAR, BREAK)
    specification: bool = True


def selected(table, rows):
    """Return some rows of a table, with its attributes."""
    selection = table[rows].reset_index(drop=True)
    selection.attrs = dict(table.attrs)
    return selection


def _without_distilled(table):
    """Leave out models of which Ho et al. (2025) regard every version as distilled."""
    distilled = bs.load("rosetta_models").groupby("model_name")["distilled"].min()
    return selected(table, ~table["model"].isin(distilled.index[distilled == 1]))


def _computes_of_2025(table):
    """Return the table with the computes that tables of 2025 had; those withdrawn since are Speculative."""
    in_2025 = bs.load("rosetta_models").dropna(subset=["model_name", "compute_2025_flop"]).drop_duplicates("model_name")
    in_2025 = in_2025.set_index("model_name")["compute_2025_flop"].reindex(table["model"]).to_numpy()
    now = table["training_compute_flop"]
    confidence = table["compute_confidence"].where(now.notna() | np.isnan(in_2025), "Speculative")
    compute = now.where(np.isnan(in_2025), in_2025)
    return table.assign(training_compute_flop=compute, compute_confidence=confidence)


CHANGES = {
    "families with effects of their own": Change({"family_effects": True}),
    "errors of computes as within 3, 10 and 30 times": Change({"compute_errors": WIDE_ERRORS}),
    "Speculative computes counted": Change({"speculative": True}),
    "computes of 2025, Speculative and withdrawn ones counted": Change({"speculative": True}, _computes_of_2025),
    "Student t about the logit of scores": Change({"noise": "logit_t4"}),
    "Student t for the scatter of models": Change({"scatter": "t4"}),
    "reasoning models of known compute left out": Change(rows=lambda t: selected(t, ~t["model"].isin(REASONING))),
    "distilled models left out": Change(rows=_without_distilled),
    "models of code left out": Change(rows=lambda t: selected(t, ~t["model"].str.startswith(CODE))),
    "models to the end of 2024": Change(
        rows=lambda t: selected(t, t["year"] < LAST_YEAR), paces=(LINEAR,), specification=False
    ),
}


def without_benchmarks(table):
    """Return the changes that leave out one of the benchmarks with the most scores, by name."""
    names = table["benchmark"].value_counts().index[:BENCHMARKS]
    return {
        f"{name} left out": Change(rows=lambda t, name=name: selected(t, t["benchmark"] != name), paces=(LINEAR,))
        for name in names
    }


def every_change(parts, fits, table, options):
    """Fit both forms of the yearly gain with one thing changed at a time; `fits` are of the unchanged laws, by form.

    Returns
    -------
    dict
        For each change its `periods`, whether chains were ``ok``, and whether it is a ``specification``. If the table
        is the same, also ``left_out`` by form of the yearly gain. Its ``elpd_diff`` is by how much models left out are
        predicted better than by the unchanged law, and ``dse`` its error. ``k_above_0.7`` counts the models for which
        importance sampling fails in either fit.
    """
    every = CHANGES | without_benchmarks(table)
    pairs = [(what, pace) for what, change in every.items() for pace in change.paces]
    unchanged = {pace: _by_model(fit) for pace, fit in fits.items()}
    items = [(what, pace, unchanged[pace]) for what, pace in pairs]
    entries = {what: {"ok": True, "specification": change.specification} for what, change in every.items()}
    for (what, pace), entry in zip(pairs, mapped(_changed, (parts, table, options), items), strict=True):
        entries[what] |= entry["periods"] | {"ok": entries[what]["ok"] and entry["ok"]}
        if entry["left_out"] is not None:
            entries[what].setdefault("left_out", {})[pace] = entry["left_out"]
    return entries


def _changed(shared, item):
    """Return the entry of one change under one form of the yearly gain."""
    (parts, table, options), (what, pace, unchanged) = shared, item
    change = (CHANGES | without_benchmarks(table))[what]  # functions of tables cannot be sent to another process

    def make():
        rows = table if change.rows is None else change.rows(table)
        fit = bs.fit(replace(LAWS[pace], **change.of), rows, **options)
        left_out = _difference(_by_model(fit), unchanged) if rows is table else None
        return {"periods": periods(fit), "ok": fit.diagnostics["ok"], "left_out": left_out}

    return parts.entry(f"{what}, {pace}", make)


def _by_model(fit):
    """Compute the elpd of each model left out, by importance sampling, and its Pareto k."""
    result = importance_sampling(fit, fit.draws.by_group("model"))
    return result.elpd_i.values, result.pareto_k.values


def _difference(changed, unchanged):
    apart = changed[0] - unchanged[0]
    high_k = (changed[1] > PARETO_K_LIMIT) | (unchanged[1] > PARETO_K_LIMIT)
    return {"elpd_diff": float(apart.sum()), "dse": float(sum_error(apart)), "k_above_0.7": int(high_k.sum())}
