"""Published estimates of algorithmic progress, by quantity."""

import numpy as np

from ....plots.published import chinchilla_constants
from ...drawing.style import ORANGE
from .wording import spanned

PUBLISHED = "Ho et al. 2024"
DOUBLING = "progress.doubling_months."
VARIANT_PUBLISHED = {"paper_effects": "autocorrelation", "main": "closed_form"}
DIRECT_PUBLISHED = {"Megatron-LM (355M)": "megatron_355m", "GPT-2 (1542M)": "gpt2", "Gopher (280B)": "gopher"}


class Published:
    """Published quantities by name, NaN where there is none."""

    def __init__(self, table):
        self.hoffmann = chinchilla_constants(table)["Hoffmann et al. 2022"]
        table = table[table["source"] == PUBLISHED]
        self._rows = table.set_index("quantity")[["estimate", "low", "high"]].astype(float)
        self._notes = table.set_index("quantity")["note"]

    def __call__(self, quantity):
        """Return the estimate, its low and its high end."""
        return tuple(self._rows.loc[quantity]) if quantity in self._rows.index else (np.nan,) * 3

    def note(self, quantity):
        """Return where and how a quantity was published."""
        return self._notes.get(quantity, "nothing")

    def words(self, quantity, form="{:g}"):
        """Return the estimate and its interval in words, "–" if there is none."""
        estimate, low, high = self(quantity)
        if np.isnan(estimate):
            return "–"
        return spanned(*(form.format(x) for x in (low, estimate, high))) if np.isfinite(low) else form.format(estimate)

    def row(self, quantity, label, **options):
        """Return a row of `forest`, or none; an interval below zero is in the hover text, not drawn."""
        estimate, low, high = self(quantity)
        if np.isnan(estimate):
            return []
        row = {"label": label, "group": "published", "colour": ORANGE, "q50": estimate} | options
        if low > 0:
            return [row | {"q2.5": low, "q97.5": high}]
        hover = [f"published interval {low:g} to {high:g}, not drawn"] if np.isfinite(low) else []
        return [row | {"hover": hover}]
