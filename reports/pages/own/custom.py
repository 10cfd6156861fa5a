"""The fits of a user that a report is on, with what their pages share, whatever the kind of table."""

from dataclasses import dataclass
from inspect import signature

import pandas as pd

from ....datasets.wording import printable
from ....inference.comparison.differences import is_apart
from ....plots import plot_compare
from ...html import prose, tables
from ...html.illustrations import pictured
from ...output import file_name
from ..front.answers import answer, make_facts

PLACE = "answers"  # the part of the page that has more


@dataclass(frozen=True)
class Custom:
    """Fits of the user, with what follows from them.

    Attributes
    ----------
    fits : dict of str to Fit
    document : dict
        The content of results.json, to which a page adds.
    comparison : DataFrame or str
        From `compare`, or why there is none.
    best, rivals : str, list of str
        From `best_and_rivals`.
    backdrop : tuple of str and Fit, or None
    published : bool
        Whether figures draw values of other studies.
    """

    fits: dict
    document: dict
    comparison: pd.DataFrame | str
    best: str
    rivals: list
    backdrop: tuple | None = None
    published: bool = False

    @property
    def fit(self):
        """Return the fit that predicts best."""
        return self.fits[self.best]

    @property
    def entry(self):
        """Return its entry of results.json."""
        return self.document["laws"][self.best]

    def answer(self, texts, facts, rests_on=None):
        """Return an answer from its texts and facts on its number, of this fit or of several by name."""
        facts = make_facts(self.entry["verdict"], **facts)
        return answer(texts, facts, rests_on or (self.best,), self.document["diagnostics"], page=PLACE)

    def draw(self, plot, *arguments, **options):
        """Draw a figure of this fit, or of all where it takes several, with the code that does so where it can."""
        several, shown = "fits" in signature(plot).parameters, self.fit
        names, behind = [*(self.fits if several else [self.best])], self.backdrop if several else None
        if several:
            options |= {"published": self.published}
            shown = {self.best: self.fit} | self.fits | dict([behind] if behind else [])
        words = [repr(x) for x in arguments] + [f"{name}={x!r}" for name, x in options.items()]
        words = ", ".join(["fits" if len(names) > 1 else "fit", *words])
        code = "" if behind else f"{opened(*names)}bs.{plot.__name__}({words})"
        return pictured(plot, shown, *arguments, code=code, **options)

    def sections(self, template, blocks, **named):
        """Return the sections of a page: those of a template of this folder with its blocks, the laws, the checks."""
        blocks |= {"laws": self._laws(), "compared": None}
        if not isinstance(self.comparison, str):
            code = f"{opened(*self.fits)}bs.plot_compare(bs.compare(fits))"
            blocks["compared"] = pictured(plot_compare, self.comparison, code=code)
        named |= {"custom": self, "entry": self.entry, "rows": self.fit.rows}
        return prose.sections(__file__, blocks, template=template, escaped=True, **named)

    def _laws(self):
        rows = []
        for name, entry in self.document["laws"].items():
            elpd = [f"{x:.1f}" for x in (entry["elpd_loo"], entry["elpd_se"]) if x is not None]  # one unit has no error
            row = {"law": name, "elpd": " ± ".join(elpd)}
            if not isinstance(self.comparison, str):
                of = self.comparison.loc[name]
                row |= {"difference": f"{of['elpd_diff']:.1f} ± {of['dse']:.1f}", "weight": f"{of['weight']:.2f}"}
            for constant, label in (("exponent_parameters", "exponent a"), ("E", "E (nats)")):
                if "at_medians" not in entry and (q := entry["parameters"].get(constant)):  # else it is of a formula
                    row[label] = tables.interval(q, "{:.3f}")
            rows.append(row | {"law and rows": entry["verdict"]["verdict"]})
        return tables.html(pd.DataFrame(rows).fillna(tables.MISSING), title="Laws by leave-one-out")


def best_and_rivals(fits, comparison):
    """Name the fit that predicts best, the first where they are not compared, and those that predict about as well."""
    if isinstance(comparison, str):
        return next(iter(fits)), []
    best, *others = comparison.index
    apart = is_apart(comparison["elpd_diff"], comparison["dse"])
    return best, [name for name in others if not apart[name]]


def called(name):
    """Return what a sentence calls a fit of the user, on one line."""
    return f"the {printable(name)} law"


def opened(*names):
    """Return code that opens one fit, or several by name."""
    files = {name: f'bs.open("posteriors/{file_name(name)}.nc")' for name in names}
    several = ", ".join(f"{name!r}: {file}" for name, file in files.items())
    fits = f"fits = {{{several}}}" if len(files) > 1 else f"fit = {files[names[0]]}"
    return f"import bayescaling as bs\n\n{fits}\n"
