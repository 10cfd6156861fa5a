"""What `design` returns: runs in order of purchase, with what each leaves unknown."""

import numpy as np
import pandas as pd

from ...datasets.printed import PrintedTable, Text, drawn_by
from ..estimands.strength import Facts, strength, times_outside
from ..intervals import finite
from ..standing import lines_of_each
from ..words import flop, si
from .candidates import COST

BATCHES = 10  # of a budget; after each, runs are designed again
SHOWN = 10  # lines that are printed
DRAWS, SPREAD = "draws", "spread"
COLUMNS = ("parameters", "tokens", "cost (FLOP)", "GPU-hours", "money", "batch", "variance left", "excess loss",
           "in FLOP", "saves")  # fmt: skip
OF_LAW = ("variance_left", "excess_loss", "excess_flop")


class Schedule(PrintedTable):
    """Runs in order of purchase; see `design`."""

    plot = drawn_by("plot_design")

    def text(self):
        """Return what is printed; of a part of it its rows."""
        if "rule" not in self.attrs or COST not in self:
            return super().text()
        attrs, price = self.attrs, self.attrs["price"]
        lines = [{"": "now", **_line(attrs["now"], None)}]
        lines += [{"": str(i), **_sizes(row), **_line(row, price)} for i, row in self.head(SHOWN).iterrows()]
        table = pd.DataFrame(lines).fillna("").set_index("")
        table = table[sorted(table, key=COLUMNS.index)]
        title = f"Runs to make next for {attrs['target']}, with {flop(attrs['budget'])} ({', '.join(attrs['laws'])})"
        return Text(title, table, tuple(self.sentences()))

    def sentences(self):
        """Return the sentences below the table."""
        attrs, lines = self.attrs, []
        if len(self) > SHOWN:
            lines.append(f"The first {SHOWN} of {len(self)} runs are shown.")
        lines += [*lines_of_each(attrs["standing"]), *(one.sentence(name) for name, one in attrs["gates"].items())]
        if attrs["rule"] == SPREAD:
            lines.append(
                "No law predicts dearer runs well enough to choose the next ones: they are spread by cost, near the "
                "target's tokens per parameter."
            )
            return lines
        first = int((self["batch"] == 1).sum())
        lines.append(
            f"Make the first {'run' if first == 1 else f'{first} runs'}, add {'it' if first == 1 else 'them'} to the "
            "fit, and design again."
        )
        if "pays" in self:
            lines.append(self.line)
        if after := attrs.get("after"):
            (now, then), decades = after["width"], after["decades"]
            grade = strength(Facts(chains=True, width=then, decades=decades))
            lines.append(
                f"After all runs the interval spans a factor of about {then:.2g} ({now:.2g} now), and the target is "
                f"{f'{times_outside(decades)} the largest run' if decades else 'within the runs'}: at best {grade}."
            )
        if nats := attrs["now"].get("drift_loss"):
            lines.append(
                f"Beyond the largest run the law may drift: this adds an expected {nats:.2g} nats, or "
                f"{flop(attrs['now']['drift_flop'])}. Only larger runs lower that, and the lines above leave it out."
            )
        return lines

    @property
    def line(self):
        """State up to which run the runs save more at the target than they cost."""
        count = int(self["pays"].sum())
        saved = self.attrs["now"]["excess_flop"] - (self["excess_flop"].iloc[count - 1] if count else 0.0)
        if not count:
            return "Under the law alone, no run saves more FLOP at the target than it costs."
        which = "The first run saves" if count == 1 else f"The first {count} runs save"
        rest = "" if count == len(self) else "; further runs cost more than they save"
        spent = flop(self["cumulative_cost"].iloc[count - 1])
        cost = f"and cost{'s' if count == 1 else ''} {spent}"
        return f"{which} an expected {flop(saved)} at the target {cost}{rest}."

    def document(self):
        """Return what JSON holds: the runs, the line before any, the rule and the gates."""
        attrs = self.attrs
        rows = [{name: _plain(x) for name, x in row.items()} for _, row in self.iterrows()]
        gates = {
            name: {"coverage_90": finite(one.coverage), "predicted": one.predicted, "passed": one.passed}
            for name, one in attrs["gates"].items()
        }
        now = {name: finite(x) for name, x in attrs["now"].items()}
        return {"rule": attrs["rule"], "target": attrs["target"], "laws": attrs["laws"], "budget": attrs["budget"],
                "now": now, "after": attrs.get("after"), "runs": rows, "gates": gates,
                "sentences": self.sentences()}  # fmt: skip


def scheduled(table, order, before, variances, attrs, targets=(), drift=0.0):
    """Return chosen candidates in order, with their rows among all of them, as a `Schedule`.

    `before` has the `Moments` before any run and `variances` those of the target after each; both are None where no law
    chose the runs. `drift` is the variance of the target that the drift adds.
    """
    price, cost = attrs["price"], table[COST].to_numpy(float)
    result = table.reset_index(drop=True)
    result.insert(0, "candidate", order)
    result = result.drop(columns=COST).assign(cost=cost, cumulative_cost=np.cumsum(cost))
    result["batch"] = _batches(cost, attrs["budget"] / BATCHES)
    now = dict.fromkeys(OF_LAW, np.nan)
    left = np.full(len(cost) + 1, np.nan) if before is None else np.append(before.variance, variances)
    lines = {"variance_left": left / left[0]}
    if targets and all(np.isfinite(one.excess) for one in targets):
        lines |= _excess(left, targets)
        costs = np.append(0.0, np.cumsum(cost))
        result["pays"] = np.arange(1, len(cost) + 1) <= int(np.argmin(lines["excess_flop"] + costs))
    for name, values in lines.items():
        now[name], result[name] = float(values[0]), values[1:]
    if "excess_flop" in lines:
        added = _excess(np.array([drift]), targets)
        now |= {"drift_loss": float(added["excess_loss"][0]), "drift_flop": float(added["excess_flop"][0])}
    if price is not None:
        result["hours"], result["money"] = price.hours(cost), price.money(cost)
        if "excess_flop" in lines:
            result["saved_money"] = price.money(-np.diff(lines["excess_flop"]))
    result.index = pd.RangeIndex(1, len(result) + 1)
    result.attrs = attrs | {"rule": SPREAD if before is None else DRAWS, "now": now}
    return Schedule.of(result)


def _excess(left, targets):
    """Return the expected excess loss in nats and in FLOP, given the variance of log N* that is left."""
    excess, variance, slope = np.mean([(one.excess, one.draws.var(), one.slope) for one in targets], axis=0)
    loss = excess / variance * left if variance > 0 else 0.0 * left
    return {"excess_loss": loss, "excess_flop": targets[0].compute * np.expm1(loss / slope)}


def _batches(cost, most):
    """Return the number of each run's batch, from 1; the run that takes a batch to a tenth of the budget ends it."""
    batches, number, spent = [], 1, 0.0
    for one in cost:
        batches.append(number)
        spent += one
        if spent >= most:
            number, spent = number + 1, 0.0
    return batches


def _sizes(row):
    sizes = {name: si(row[name]) for name in ("parameters", "tokens") if name in row}
    return sizes | {"cost (FLOP)": f"{row[COST]:.2g}".replace("e+", "e"), "batch": str(int(row["batch"]))}


def _line(row, price):
    texts = {
        "variance left": (row["variance_left"], "{:.0%}"),
        "excess loss": (row.get("excess_loss", np.nan), "{:.2g}"),
        "in FLOP": (row.get("excess_flop", np.nan), "{:.2g}"),
    }
    if price is not None:
        texts |= {"GPU-hours": (row["hours"], "{:,.0f}"), "money": (row["money"], "{:,.0f}")}
        texts |= {"saves": (row.get("saved_money", np.nan), "{:,.0f}")}
    return {name: form.format(x).replace("e+", "e") for name, (x, form) in texts.items() if not np.isnan(x)}


def _plain(x):
    if isinstance(x, str | bool | np.bool_):
        return bool(x) if not isinstance(x, str) else x
    return int(x) if isinstance(x, int | np.integer) else finite(x)
