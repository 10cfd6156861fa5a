"""Predictions and answers from the constants of published laws, and where these lie in the posterior of a fit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from ...datasets import KINDS
from ...datasets.formula_nodes import evaluate, names_in
from ...datasets.printed import Printed, PrintedTable, Text
from ...datasets.requirements import rows_of
from ...datasets.wording import listed, quoted
from ...errors import InputError
from ...models.draws import DRAWS
from ...models.formula.constants import FUNCTIONS
from ...models.published import PublishedLaw, find
from ..fitted import of_kind
from ..intervals import name_quantiles
from .answering import Answering
from .question import parse_question

if TYPE_CHECKING:
    from ..fitted import Fit

ALONE = "Constants as published; they have no joint interval, so these numbers have none"
LARGE, SMALL = (1e6, 1e12), (1.0, 1e6)  # about which places of columns are looked for: of sizes, and of others
SIZES = ("parameters", "tokens", "compute")


def published(name: str) -> Published:
    """Return a published law by name, which predicts and answers questions from its constants.

    Parameters
    ----------
    name : str
        As ``bayescaling laws`` lists it, such as ``"krajewski-2024"``.

    Returns
    -------
    Published

    Raises
    ------
    InputError
        If there is no such law.

    Examples
    --------
    >>> import bayescaling as bs
    >>> law = bs.published("hoffmann-2022")
    >>> round(float(law.predict(N=70e9, D=1.4e12)["L"].iloc[0]), 3)
    1.937
    """
    return Published(find(name))


class _Constants(dict):
    """Constants in the place of a fit."""

    def __init__(self, law: Any, rows: pd.DataFrame, constants: dict) -> None:
        super().__init__(posterior=xr.DataTree(xr.Dataset(constants)))
        self.law, self.rows = law, rows
        self.draws = SimpleNamespace(reference={"spread": 1.0, "typical": 1.0})


class Published(Printed):
    """A published law: `of` has its entry, a `PublishedLaw`; its letters are those of the paper."""

    def __init__(self, of: PublishedLaw) -> None:
        self.of = of
        self._response, *self._columns = of.columns
        self._law: Any = of.law(columns=self._columns, positive=True)

    def text(self):
        """Return what is printed: the formula, what its letters are, its constants and where it comes from."""
        of = self.of
        cells = dict(of.columns) | {name: f"{x:g}" for name, x in of.constants.items()}
        below = [f"Fitted to {of.fitted_to}", f"{of.source}; read in: {of.read}"]
        below += [f"Not known: {of.unknown}"] if of.unknown else []
        return Text(f"{of.name}: {of.formula}", pd.DataFrame({"": cells}), tuple(below))

    def _check_constants(self):
        """Refuse a law of which constants are not known."""
        if lacking := [name for name in self._law.roles if name not in self.of.constants]:
            why = f"the constants {listed(lacking)} of {self.of.name} are not known"
            raise InputError(f"{why}; fit it to a table: bs.fit({self.of.name!r}, table)")

    def predict(self, rows: Any = None, **columns: Any) -> pd.DataFrame:
        """Predict the response from the published constants, without an interval.

        Parameters
        ----------
        rows : DataFrame or mapping, optional
            Columns by the letters of the law, in its units.
        **columns
            The same by name, a number or an array each.

        Returns
        -------
        DataFrame
            The columns and the response.

        Raises
        ------
        InputError
            If constants of the law are not known, or a column is missing.
        """
        self._check_constants()
        table = pd.DataFrame(rows_of(rows, columns, self._columns, f"the law {self.of.name}"))
        if lacking := [name for name in self._columns if name not in table]:
            raise InputError(f"the law {self.of.name} lacks {listed(lacking)}: {self.of.columns[lacking[0]]}")
        values = {name: table[name].to_numpy(float) for name in self._columns} | dict(self.of.constants)
        y = evaluate(self._law.parsed.right, lambda name: values[name.name], FUNCTIONS)
        return table[self._columns].assign(**{self._response: np.broadcast_to(y, len(table))})

    def ask(self, *questions: str) -> pd.DataFrame:
        """Answer questions as `Fit.ask` does, from the published constants, without intervals.

        Parameters
        ----------
        *questions : str
            Such as ``"best N, D for 6*N*D = 1e22"``, in the letters and units of the law.

        Returns
        -------
        DataFrame
            A ``value`` for each question.

        Raises
        ------
        InputError
            If a question cannot be read or answered, or constants of the law are not known.

        Examples
        --------
        >>> import bayescaling as bs
        >>> answers = bs.published("hoffmann-2022").ask("best N, D for 6*N*D = 1e22")
        >>> round(float(answers.loc["best N", "value"]) / 1e9, 1)
        5.2
        """
        self._check_constants()
        arrays = {name: xr.DataArray([[x]], dims=DRAWS) for name, x in self.of.constants.items()}
        called = {name: what.partition(",")[0] for name, what in self.of.columns.items()}
        of_size = {name: what.startswith(SIZES) and " per " not in what for name, what in called.items()}
        table = pd.DataFrame({name: LARGE if large else SMALL for name, large in of_size.items()})
        constants, found = _Constants(self._law, table, arrays), {}
        for question in map(parse_question, questions):
            answers = Answering(constants, question.text, drifts=False).rows(question)
            for label, (x, besides) in answers.items():
                label += ", at an end of the search" if besides.get("at_end") else ""
                found[f"{label} ({question.text})" if label in found else label] = float(x[0])
        title = f"{self.of.name}. {ALONE}"
        return PrintedTable.of(pd.DataFrame({"value": found}), title=title, most=len(found))

    def compare(self, fit: Fit) -> pd.DataFrame:
        """Compare the published constants with the posterior of a fit of the law, and how well both have its rows.

        Parameters
        ----------
        fit : Fit
            Of this law, to a table in its units.

        Returns
        -------
        DataFrame
            For each constant ``published``, the quantiles of the posterior and ``p_below``, the share of draws below
            the published value. ``attrs["errors"]`` has the root mean square of log residuals of the fitted rows under
            both.

        Raises
        ------
        InputError
            If the fit is of another law, or constants of the law are not known.
        """
        self._check_constants()
        law: Any = of_kind(fit, KINDS["columns"]).law
        posterior, constants = fit["posterior"], dict(self.of.constants)
        if {name.name for name in names_in(law.parsed.right)} - {*law.columns} != {*constants}:
            raise InputError(f"the fit is of {quoted(law.label)}, not of {self.of.name}; fit that law")
        draws = {name: posterior[name].values.ravel() for name in constants}
        rows = [
            {"published": x} | name_quantiles(draws[name]) | {"p_below": float((draws[name] < x).mean())}
            for name, x in constants.items()
        ]
        table = PrintedTable(rows, index=[*constants])
        y = fit.rows[law.observed].to_numpy(float)
        data = {name: fit.rows[name].to_numpy(float) for name in law.columns}

        def error(values):
            mean = evaluate(law.parsed.right, lambda name: (data | values)[name.name], FUNCTIONS)
            return float(np.sqrt(np.mean(np.log(y / np.median(np.atleast_2d(mean), 0)) ** 2)))

        errors = {"published": error(constants), "fitted": error({name: x[:, None] for name, x in draws.items()})}
        table.attrs["errors"] = errors
        table.attrs["title"] = (
            f"{self.of.name} on {len(fit.rows)} rows: root mean square of log residuals {errors['published']:.2%} as "
            f"published, {errors['fitted']:.2%} fitted"
        )
        return table
