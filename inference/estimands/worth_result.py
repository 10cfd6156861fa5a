"""What `worth` returns: draws of multipliers, which print a short table."""

import pandas as pd
import xarray as xr

from ...models.draws import DRAWS
from ...models.loss.grouping import GROUP
from ..intervals import finite, summary
from ..printed import Printed, Text
from ..words import HIGH, LOW, MIDDLE, NEVER, factor, flop, plain, probability, size, sizes

QUANTITIES = ("multiplier", "gain", "saved", "gpu_hours", "money", "turns")
SINGLE = ("p_better", "direction", "decision", "next_parameters", "next_tokens", "next_group", "next_flop",
          "variance_left", "extrapolation")  # fmt: skip
UNIT = {"saved": "FLOP", "gpu_hours": "GPU-hours", "money": "money"}
CORRELATED = 0.3  # correlation of paired residuals from which it is printed


class Worth(Printed, xr.Dataset):
    """What changes are worth, draw by draw; see `worth`."""

    __slots__ = ()

    def entries(self):
        """Summarise the draws, a list of dict, one a group and budget."""
        return [
            self._entry(self.sel({GROUP: group, "compute": budget}), group, budget)
            for group in self[GROUP].values.tolist()
            for budget in self["compute"].values.tolist()
        ]

    def _entry(self, at, group, budget):
        entry = {"group": group, "baseline": self.attrs["baseline"], "compute": budget}
        entry |= {name: summary(at[name], ratio=True) for name in QUANTITIES if name in at}
        for name in SINGLE:
            x = at[name].item()
            entry[name] = x if isinstance(x, str) else finite(x)
        never = ~((at["turns"] < float("inf")).values)
        entry["p_turns"] = 1 - float(never.mean())
        entry["expected_cost"] = {str(a): float(x) for a, x in zip(at["action"].values, at["expected_cost"].values, strict=True)}
        if "p_better_by_variant" in at:
            by = at["p_better_by_variant"]
            entry["p_better_by_variant"] = {str(v): float(p) for v, p in zip(by["variant"].values, by.values, strict=True)}
        return entry

    def table(self):
        """Return medians and ends of 95% intervals, a DataFrame with one row a group and budget."""
        rows = {}
        for entry in self.entries():
            row = {(name, q): entry[name][q] for name in QUANTITIES if name in entry for q in (LOW, MIDDLE, HIGH)}
            rows[entry["group"], entry["compute"]] = row | {(name, ""): entry[name] for name in SINGLE}
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index = pd.MultiIndex.from_tuples(table.index, names=[GROUP, "compute"])
        return table

    def text(self):
        """Return what is printed; None of a part of the result."""
        if "baseline" not in self.attrs or not {*DRAWS, GROUP, "compute"} <= {*self.dims} or not {
            *QUANTITIES[:3], *SINGLE
        } <= {*self.data_vars}:
            return None
        entries = self.entries()
        named = f"{self.attrs['law']}, {self.attrs['table']}"
        table = pd.DataFrame.from_dict({heading(entry): row(entry) for entry in entries}, orient="index")
        return Text(f"Worth of each {self.attrs['by']} against {self.attrs['baseline']} ({named})", table, self.notes(entries))

    def notes(self, entries):
        """Return what to know of the table, in sentences."""
        low, high = self.attrs["within"]
        spread = "robust where the rows reject the law" if self.attrs["robust"] else "of the law alone"
        drift = ", with the drift beyond the largest run" if self.attrs["beyond"] == "drift" else ""
        lines = [
            f"Medians and 95% intervals, {spread}{drift}.",
            f"Multiplier: compute that {self.attrs['baseline']} needs for the same loss, over C. The order turns between "
            f"{flop(low)} and {flop(high)}, or never.",
            *dict.fromkeys(decision(entry) for entry in entries),
        ]
        if self.attrs["price"] is not None:
            lines.append(f"Money at {self.attrs['price'].text}.")
        if self.attrs["variants"] == 1:
            lines.append("One fit only: a direction is claimed by this law and what it shares alone.")
        for group, pairs in self.attrs["pairing"].items():
            if pairs and abs(pairs["correlation"]) >= CORRELATED:
                lines.append(
                    f"Residuals of {pairs['pairs']} runs of {group} and {self.attrs['baseline']} with the same sizes have "
                    f"correlation {pairs['correlation']:.2f}."
                )
        return tuple(lines)


def heading(entry):
    """Name a group and a budget."""
    return f"{entry['group']} at {flop(entry['compute'])}"


def row(entry):
    """Return cells of one group and budget, text by column."""
    cells = {
        "compute multiplier": factor(entry["multiplier"]),
        "P(better)": probability(entry["p_better"]),
        "direction": entry["direction"],
        "gain in loss": plain(entry["gain"]),
    }
    if "money" in entry:
        cells["money"] = _signed(entry["money"])
    beyond = entry["extrapolation"]
    return cells | {
        "order turns at": _turns(entry["turns"]),
        "times the largest run": "within the runs" if not beyond else f"{10**beyond:.2g}",
        "decision": entry["decision"],
    }


def decision(entry):
    """Write the decision with its expected costs and the next run."""
    costs = ", ".join(f"{name} {flop(x)}" for name, x in entry["expected_cost"].items())
    run = f"{size(entry['next_parameters'])} parameters on {size(entry['next_tokens'])} tokens of {entry['next_group']}"
    return (
        f"{heading(entry)}: {entry['decision']}. Expected cost: {costs}. One more run would be {run}, which leaves "
        f"{entry['variance_left']:.0%} of the variance."
    )


def _turns(q):
    if q[LOW] is None:
        return NEVER
    return plain({name: x for name, x in q.items()}, "{:.2g}") if None not in q.values() else _with_never(q)


def _with_never(q):
    low, middle, high = (NEVER if q[name] is None else f"{q[name]:.2g}".replace("e+", "e") for name in (LOW, MIDDLE, HIGH))
    return f"{middle} [{low}, {high}]"


def _signed(q):
    return sizes(q)
