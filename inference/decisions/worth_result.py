"""What `worth` returns: draws of multipliers, which print a short table."""

import pandas as pd
import xarray as xr

from ...datasets.files import evidence
from ...datasets.printed import Printed, Text
from ...models.draws import DRAWS
from ...models.loss.grouping import GROUP
from ..estimands.allocation import how, times_largest
from ..intervals import finite, summary, table_of
from ..standing import lines
from ..words import budgets, factor, flop, plain, probability, size, sizes

QUANTITIES = ("multiplier", "gain", "saved", "gpu_hours", "money", "turns")
SINGLE = ("p_better", "direction", "decision", "next_parameters", "next_tokens", "next_group", "next_flop",
          "variance_left", "extrapolation")  # fmt: skip
BY_LABEL = ("expected_cost", "p_better_by_variant")
OPEN, FAR = "open", 0.99  # decades above the largest run: where the study of decisions compares both
PLACE = "at 10 times its compute"  # that of the largest run, in the study of decisions
CORRELATED = 0.3  # correlation of the residuals of pairs from which it is printed


class Worth(Printed, xr.Dataset):
    """What changes are worth, draw by draw; see `worth`."""

    __slots__ = ()

    def entries(self, level=0.95):
        """Summarise the draws, a list of dict, one a group and budget, with intervals at a level."""
        return [
            self._entry(self.sel({GROUP: group, "compute": budget}), group, budget, level)
            for group in self[GROUP].values.tolist()
            for budget in self["compute"].values.tolist()
        ]

    def _entry(self, at, group, budget, level):
        entry = {"group": group, "baseline": self.attrs["baseline"], "compute": budget}
        entry |= {name: summary(at[name], ratio=True, level=level) for name in QUANTITIES if name in at}
        for name in SINGLE:
            x = at[name].item()
            entry[name] = x if isinstance(x, str) else finite(x)
        entry["p_turns"] = float((at["turns"] < float("inf")).mean())
        entry |= {name: at[name].to_series().to_dict() for name in BY_LABEL if name in at}
        return entry

    def table(self, level=0.95):
        """Return medians and ends of intervals at a level, a DataFrame with one row a group and budget."""
        rows = {(entry["group"], entry["compute"]): entry for entry in self.entries(level)}
        shown = {label: {n: row[n] for n in (*QUANTITIES, *SINGLE) if n in row} for label, row in rows.items()}
        return table_of(shown).rename_axis([GROUP, "compute"])

    def text(self):
        """Return what is printed; None of a part of the result."""
        whole = {*DRAWS, GROUP, "compute"} <= {*self.dims} and {*QUANTITIES[:3], *SINGLE} <= {*self.data_vars}
        if "baseline" not in self.attrs or not whole:
            return None
        entries = self.entries()
        title = f"Worth of each {self.attrs['by']} against {self.attrs['baseline']}"
        table = pd.DataFrame.from_dict({heading(entry): row(entry) for entry in entries}, orient="index")
        return Text(f"{title} ({self.attrs['law']}, {self.attrs['table']})", table, self.notes(entries))

    def notes(self, entries):
        """Return what to know of the table, in sentences."""
        low, high = self.attrs["within"]
        notes = [
            how(self.attrs),
            *lines(self.attrs["standing"]),
            f"The multiplier is the compute that {self.attrs['baseline']} needs for the same loss, over the budget. An "
            f"order that does not turn between {flop(low)} and {flop(high)} never turns.",
            *(next_run(entry) for entry in entries if entry["decision"] == "one more"),
            *(by_fit(entry) for entry in entries if BY_LABEL[1] in entry),
        ]
        if self.attrs["price"] is not None:
            notes.append(f"Money is what {self.attrs['baseline']} would cost more, at {self.attrs['price'].text}.")
        notes += [self.attrs["sizes"]] * bool(self.attrs["sizes"])
        if self.attrs["variants"] == 1:
            notes.append("One fit: check the direction with other choices of what the groups share.")
        notes += [
            f"Runs of {group} and {self.attrs['baseline']} with the same sizes have residuals with correlation "
            f"{pairs['correlation']:.2f} ({pairs['pairs']} pairs): fit run effects by pair."
            for group, pairs in self.attrs["pairing"].items()
            if pairs and (pairs["correlation"] or 0) >= CORRELATED and not self.attrs["paired"]
        ]
        # Of entries beyond the runs whose direction is open, the furthest of each group.
        beyond = [entry for entry in entries if entry["direction"] == OPEN and entry["extrapolation"] >= FAR]
        furthest = {entry["group"]: entry for entry in sorted(beyond, key=lambda entry: entry["compute"])}
        notes += [large_pair(entry, self.attrs["pairing"][group]) for group, entry in furthest.items()]
        return tuple(notes)


def heading(entry):
    """Name a group and a budget."""
    return f"{entry['group']} at {flop(entry['compute'])}"


def row(entry):
    """Return cells of one group and budget, text by column."""
    money = {"money": sizes(entry["money"])} if "money" in entry else {}
    return {
        "compute multiplier": factor(entry["multiplier"]),
        "P(better)": probability(entry["p_better"]),
        "direction": entry["direction"],
        "gain in loss": plain(entry["gain"]),
        **money,
        "order turns at": budgets(entry["turns"]),
        "times the largest run": times_largest(entry["extrapolation"]),
        "decision": entry["decision"],
    }


def next_run(entry):
    """Write which run is next and by how much it lowers the expected cost."""
    costs = entry["expected_cost"]
    run = f"{size(entry['next_parameters'])} parameters on {size(entry['next_tokens'])} tokens of {entry['next_group']}"
    return (
        f"For {heading(entry)}: one more run, of {run}, lowers the expected cost from "
        f"{flop(min(costs['promote'], costs['drop']))} to {flop(costs['one more'])}."
    )


def large_pair(entry, pair):
    """Write what decides better beyond the runs than a fit that is unsure: one large pair, or shared exponents."""
    better = [evidence("worth")["result"][truth][PLACE]["decision_right"] for truth in ("right", "wrong")]
    ways = ("largest pair", "fit, exponents shared", "fit")
    pairs, shared, fit = ("{:.0f} to {:.0f}%".format(*sorted(100 * of[way] for of in better)) for way in ways)
    if pair is None:
        seen = "Train both at the largest size."
    else:
        one, other = pair["losses"]
        seen = f"At {flop(pair['compute'])} {entry['group']} has {one:.4g}, {entry['baseline']} {other:.4g}."
    return (
        f"For {heading(entry)} the direction is open. At ten times the compute of simulated ladders, the lower loss of "
        f"two large runs was right in {pairs} of them, a fit that shares exponents in {shared}, one that pools them in "
        f"{fit}. {seen}"
    )


def by_fit(entry):
    """Write the probability of each fit that a group is better."""
    pairs = ", ".join(f"{name} {probability(p)}" for name, p in entry[BY_LABEL[1]].items())
    return f"For {heading(entry)}: P(better) by fit: {pairs}."
