"""What a report on fits of the user shows, and its first screen: what all kinds of table share."""

from dataclasses import dataclass

import pandas as pd

from ....datasets.units import in_unit_of_loss
from ....datasets.wording import printable
from ....inference.comparison.differences import is_apart
from ....inference.estimands.strength import Facts
from ....inference.fitted import Fit
from ....plots import plot_compare
from ...html import prose, tables
from ...html.front import Front, misfit_note
from ...html.illustrations import pictured
from ...output import file_name
from ..front.answers import answer, of_law
from ..front.quote import not_quotable, quotable

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
    backdrop : tuple of str and Fit, or None
    published : bool
        Whether figures draw values of other studies.
    """

    fits: dict
    document: dict
    comparison: pd.DataFrame | str
    backdrop: tuple | None = None
    published: bool = False

    @property
    def best(self):
        """Return the name of the fit that predicts best, the first where they are not compared."""
        return best_and_rivals(self.fits, self.comparison)[0]

    @property
    def rivals(self):
        """Return the names of the fits that predict about as well."""
        return best_and_rivals(self.fits, self.comparison)[1]

    @property
    def fit(self):
        """Return the fit that predicts best."""
        return self.fits[self.best]

    @property
    def entry(self):
        """Return its entry of results.json."""
        return self.document["laws"][self.best]

    def answered(self, kind, named, **facts):
        """Return the answer that this fit gives, from what a sentence names and facts on the number."""
        facts = Facts(**{"chains": True} | of_law(self.entry["verdict"]) | facts)
        return answer(kind, PLACE, facts, (self.best,), named | {"law": called(self.best)}, self.diagnostics)

    @property
    def diagnostics(self):
        """Return whether the chains of each fit converged, as in results.json."""
        return self.document["diagnostics"]

    def drawn(self, plot, *arguments, **options):
        """Draw a figure of this fit, with the code that does so in the folder of the report."""
        words = [repr(x) for x in arguments] + [f"{name}={x!r}" for name, x in options.items()]
        code = f"{opened({self.best: self.fit})}bs.{plot.__name__}({', '.join(['fit', *words])})"
        return pictured(plot, self.fit, *arguments, code=code, **options)

    def sections(self, template, blocks, **named):
        """Return the sections of a page: those of a template of this folder with its blocks, the laws, the checks."""
        blocks |= {"laws": self._laws(), "compared": self._compared()}
        named |= {"custom": self, "entry": self.entry, "rows": self.fit.rows}
        return prose.sections(__file__, blocks, template=template, escaped=True, **named)

    def _compared(self):
        if isinstance(self.comparison, str):
            return None
        return pictured(plot_compare, self.comparison, code=f"{opened(self.fits)}bs.plot_compare(bs.compare(fits))")

    def _laws(self):
        """Return a table of laws: elpd by leave-one-out, constants where a law has them, and the check of the law."""
        rows = []
        for name, entry in self.document["laws"].items():
            elpd = [f"{x:.1f}" for x in (entry["elpd_loo"], entry["elpd_se"]) if x is not None]  # one unit has no error
            row = {"law": name, "elpd": " ± ".join(elpd)}
            if not isinstance(self.comparison, str):
                of = self.comparison.loc[name]
                row |= {"difference": f"{of['elpd_diff']:.1f} ± {of['dse']:.1f}", "weight": f"{of['weight']:.2f}"}
            for constant, label in (("exponent_parameters", "exponent a"), ("E", "E (nats)")):
                if q := entry["parameters"].get(constant):
                    row[in_unit_of_loss(label, self.fits[name].rows)] = tables.interval(q, "{:.3f}")
            rows.append(row | {"law and rows": entry["verdict"]["verdict"]})
        return tables.html(pd.DataFrame(rows).fillna(tables.MISSING), title="Laws by leave-one-out")


def front_of(custom, figures):
    """Put the `Front` together, without figures that are None; None where nothing was answered."""
    answers = custom.document["answers"]
    if not answers:
        return None
    return Front(
        answers,
        [drawn for drawn in figures if drawn is not None],
        sized=answers[0] if custom.document["optimum"] else None,
        quotable=quotable({"answers": answers}),
        not_quotable=not_quotable({"answers": answers}),
        note=misfit_note([custom.document["laws"][answers[0]["rests_on"][0]]]),
    )


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


def opened(fits: dict[str, Fit]):
    """Return code that opens one fit, or several by name."""
    files = {name: f'bs.open("posteriors/{file_name(name)}.nc")' for name in fits}
    if len(files) == 1:
        return f"import bayescaling as bs\n\nfit = {next(iter(files.values()))}\n"
    return f"import bayescaling as bs\n\nfits = {{{', '.join(f'{name!r}: {file}' for name, file in files.items())}}}\n"
