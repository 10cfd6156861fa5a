"""How the rows of a formula test it and belong together."""

from dataclasses import replace

from ...datasets.formula_nodes import Call, Name, replace_names, spell
from ..contrasts import Contrast, groupings, informed, ordinals
from ..parts import Grouping, Tests

BINS, LEAST_OF_BIN = 10, 5  # of rows by a column, in the tests of the law


TOLD = 0.9  # rank correlation from which a column of numbers goes with one of the formula


class FormulaTests(Tests):
    """How rows test a formula."""

    share_of = "the response"
    tolerance = 0.02

    def contrasts(self, rows):
        """Return means of residuals in the order of each column."""
        contrasts = {}
        for name in self.columns:
            if rows[name].nunique() == 1:
                continue
            ranks = rows[name].rank(method="dense").to_numpy(int) - 1
            count = max(2, min(BINS, len(rows) // LEAST_OF_BIN, ranks.max() + 1))
            bins = ranks * count // (ranks.max() + 1)
            contrasts[f"means by {name}"] = Contrast.of_means(bins, f"bins of {name}", ordinals(bins, name))
        return informed(contrasts)

    @property
    def apart(self):
        """Return the columns of groups whose constants differ."""
        return tuple(dict.fromkeys(column for levels in self.groups.values() for column in levels))

    def groupings(self, rows):
        """Return the codes of the groups that other columns name: of text, or of whole numbers that no column tells."""
        ranks = rows.select_dtypes("number").rank().corr().abs()
        whole = [name for name in ranks if rows[name].notna().all() and not (rows[name] % 1).any()]
        free = [name for name in whole if not (ranks.loc[name, [*self.columns]] > TOLD).any()]
        used = (*self.needed, self.observed, *ranks.columns.difference(free))
        return groupings(rows.astype(dict.fromkeys(free, "int64")), used)

    def wider_laws(self, rows):
        """Return neighbours of the formula: with a floor, a break or an offset; of one column, curves between levels.

        These are a logistic in the column's logarithm and, where the response rises, a power from a ceiling. A sum over
        columns has none, as no column is apart.
        """
        if self.noise == "binomial":
            return (replace(self, noise="beta-binomial"),)
        if self.counts or not self.columns or self.parsed.right != self.written.right:
            return ()
        left, right, used = str(self.parsed.left), self.parsed.right, {*self.columns, *self.roles}
        column = max(self.columns, key=lambda name: rows[name].nunique())
        new = {name: _unused(name, used) for name in ("E", "x0", "d1", "f1", "c1", "low", "high", "mid", "b", "top")}
        moved = Call("+", (Name(column), Name(new["x0"])))
        offset = str(replace_names(right, lambda name: moved if name.name == column else name))
        rises = rows[column].corr(rows[self.observed], method="spearman") > 0
        floors = [] if self.floors else ["{right} + {E}"]
        curves = ["{low} + {high} / (1 + ({x} / {mid})**{b})"]
        if rises:
            curves = ["{low} + {high} / (1 + ({mid} / {x})**{b})", *["{top} - {high} * {x}**-{b}"] * (not self.floors)]
        curves = curves if len(self.columns) == 1 and not self.apart else []
        breaks = ["({right}) * (1 + ({x} / {d1})**(1 / {f1}))**(-{c1} * {f1})"]
        forms = [*(curves + floors + breaks if rises else floors + breaks + curves), "{offset}"]
        forms = forms if (rows[column] > 0).all() else floors
        forms = [form.format(x=spell(column), right=right, offset=offset, **new) for form in forms]
        given = {name: self.priors[name] for name, role in self.roles.items() if role.kind == "given"}
        options = {"columns": (), "signs": {}, "levels": (), "tails": "", "priors": given}
        return tuple(replace(self, formula=f"{left} ~ {form}", **options) for form in forms)


def _unused(name, used):
    """Return a name that no column and no constant has, by a number after it where they have it."""
    return next(text for text in (name, *(f"{name}{k}" for k in range(2, 99))) if text not in used)


class FormulaGrouping(Grouping):
    """How rows of a formula belong together."""

    @property
    def clusters(self):
        """Return the first column, whose rows of one value are seeds of one setting."""
        return tuple(self.columns[:1])
