"""What `allocate` returns: draws of the best sizes, which print a sentence and a short table."""

import math

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets.printed import Printed, Text
from ..intervals import finite, summary, table_of
from ..standing import graded, lines, strength_sentence
from ..words import MIDDLE, budgets, flop, plain, ratios, size, sizes
from .strength import times_outside

SIZES = ("parameters", "parameters_nonembedding", "tokens", "tokens_per_parameter", "epochs", "learning_rate_peak",
         "batch_tokens", "loss",
         "training_compute", "inference_compute", "total_compute", "saved", "parameters_near_low",
         "parameters_near_high", "tokens_near_low", "tokens_near_high")  # fmt: skip
RATIOS = ("tokens_per_parameter", "epochs")
BEYOND = ("extrapolation", "tokens_per_parameter_extrapolation")
NEAR = ("near_low", "near_high", "near_parameters", "near_probability")
ASKED = ("compute", "target", "demand")
SHOWN = {
    "parameters": sizes,
    "tokens": sizes,
    "tokens_per_parameter": ratios,
    "epochs": ratios,
    "learning_rate_peak": lambda q: plain(q, "{:.2g}"),
    "batch_tokens": sizes,
    "loss": plain,
    "total_compute": budgets,
    "saved": lambda q: plain(q, "{:.0%}"),
}


class Allocation(Printed, xr.Dataset):
    """The best sizes at budgets or to reach losses, draw by draw; see `allocate`."""

    __slots__ = ()

    def entries(self, law=None):
        """Summarise the draws, a list of dict, one a request: quantiles of each quantity, and what is requested.

        The law is entered by the name `law`; by default that of the fit.
        """
        entries = [{"law": law or self.attrs["law"], **asked, **_allocated(at)} for asked, at in self._answers()]
        held = self.attrs.get("standing")  # none of the law alone
        if held is None:
            return entries
        name = "parameters" if "parameters" in self else "loss"  # whose width grades an answer
        return [entry | graded(held, entry[name], **_farthest(entry)) for entry in entries]

    def _answers(self):
        """Yield what each answer is to, a dict of numbers, and its draws."""
        dims = [dim for dim in ASKED if dim in self.dims]
        for place in np.ndindex(*(self.sizes[dim] for dim in dims)):
            at = self.isel(dict(zip(dims, place, strict=True)))
            yield {dim: float(at[dim]) for dim in dims}, at

    def table(self, level=0.95):
        """Return medians and ends of intervals at a level, a DataFrame with one row a request."""
        rows = {asked_for(asked): _allocated(at, level) for asked, at in self._answers()}
        return table_of({label: {name: row[name] for name in SIZES if name in row} for label, row in rows.items()})

    def text(self):
        """Return what is printed; None of a part of an allocation."""
        if (
            not {*ASKED} & {*self.dims}
            or "law" not in self.attrs
            or not {"chain", "draw", "loss"} <= {*self.dims, *self.data_vars}
        ):
            return None
        entries = self.entries()
        rows = {asked_for(entry): _row(entry) for entry in entries}
        notes = [*dict.fromkeys(line for entry in entries for line in remarks(entry, whole=len(entries) == 1))]
        held = self.attrs.get("standing")
        if held and len(entries) == 1:
            notes.append(strength_sentence(entries[0]))
        named = f"{self.attrs['law']}, {self.attrs['table']}"
        what = "Compute-optimal sizes" if "parameters" in self else "What the best run has at each budget"
        below = (how(self.attrs), *(lines(held) if held else ()), *notes)
        return Text(f"{what} ({named})", pd.DataFrame.from_dict(rows, orient="index"), below)


def how(attrs):
    """Name what the intervals hold, by the attributes of a result."""
    beyond = "with the drift of the law" if attrs["beyond"] == "drift" else "of the law alone"
    return f"Medians and 95% intervals; outside the runs {beyond}."


def _row(entry):
    """Return cells of one answer, text by column."""
    row = {name.replace("_", " "): form(entry[name]) for name, form in SHOWN.items() if name in entry}
    endless = "training_compute" in entry and entry["training_compute"][MIDDLE] is None
    row["times the largest run"] = "endless" if endless else times_largest(entry["extrapolation"])
    row |= {"strength": entry["strength"]} if "strength" in entry else {}
    if "near_optimal" in entry:
        within = _within(entry)
        row[within] = (
            "none" if entry["near_low"] is None else f"{size(entry['near_low'])} to {size(entry['near_high'])}"
        )
    return row


def _within(entry):
    what = "loss" if "compute" in entry else "compute"
    return f"within {100 * entry['near_optimal']:.3g}% of the best {what}"


def times_largest(decades):
    """Write decades of compute outside the runs as a factor of the largest run, or below the least."""
    if decades is None or math.isnan(decades):
        return "unknown"
    if not decades:
        return "within the runs"
    factor = times_outside(decades).removesuffix(" times")
    return factor if decades > 0 else f"below the runs by {factor}"


def _farthest(entry):
    """Return by how many decades an answer lies outside the runs, in compute or tokens per parameter, and of which."""
    far, ratio = (entry.get(name) for name in BEYOND)
    if None in (far, ratio) or not abs(ratio) > abs(far):
        return {"decades": math.nan if far is None else far}
    return {"decades": ratio, "row": "run in tokens per parameter"}


def _allocated(at, level=0.95):
    """Return quantities of one allocation; those of draws that miss a target are infinite, null as quantiles."""
    reached = at["reached"].values if "reached" in at else np.ones((), bool)
    # Of what is infinite in both its parts a ratio has no value: those of the draws that reach the target.
    quantities = {
        name: at[name].values[reached] if name == "tokens_per_parameter" else at[name] for name in SIZES if name in at
    }
    entry = {name: summary(x, ratio=name in RATIOS, level=level) for name, x in quantities.items()}
    entry |= {name: finite(at[name].median()) for name in BEYOND if name in at}
    if "reached" in at:
        entry |= {"p_reached": float(reached.mean()), "floor": summary(at["floor"])}
    if "near_low" in at:
        entry |= {"near_optimal": at.attrs["near_optimal"]} | {name: finite(at[name]) for name in NEAR}
    return entry


def asked_for(entry):
    """Name what is requested: a budget or a loss, and a demand."""
    asked = f"at {flop(entry['compute'])}" if "compute" in entry else f"to a loss of {entry['target']:.4g}"
    return asked + (f", demand {entry['demand']:.3g}".replace("e+", "e") if "demand" in entry else "")


def remarks(entry, *, whole=True):
    """Yield what to know of one answer, in sentences."""
    if entry.get("p_reached", 1.0) < 1:
        yield (
            f"{asked_for(entry)}: at or below the floor of the law in {1 - entry['p_reached']:.1%} of the draws, which "
            "no size reaches (never)"
        )
    if beyond := entry.get("tokens_per_parameter_extrapolation"):
        side = "the most" if beyond > 0 else "below the least"
        text = f"tokens per parameter {times_outside(beyond)} {side} of the fitted runs"
        yield text if whole else f"{asked_for(entry)}: {text}"
    if "near_optimal" in entry and whole:
        within = _within(entry)
        if entry["near_low"] is None:
            most = f"{entry['near_probability']:.0%}, at {size(entry['near_parameters'])} parameters"
            yield f"no size is {within}, with probability 0.5; the most is {most}"
        else:
            ends = f"{size(entry['near_low'])} to {size(entry['near_high'])} parameters"
            yield f"{within}, with probability 0.5 or more: {ends}"
