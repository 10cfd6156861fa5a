"""The record of a kind of table: what the answers of a fit of its laws need, beside what reading needs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import pandas as pd

from ...datasets.wording import command
from ..words import plain

FLOOR = "floor E, nats per token"
MOST_LEVELS = 20  # of a quantity that is shown level by level
MOST_ANSWERS = 5
FILE = object()  # in the place of the file of a fit
HALF = 0.5  # of the runs succeed, or of the accuracy is left: the share that a fit prints


@dataclass(frozen=True)
class Answer:
    """A number of a fit, which `make_answers` writes for every surface.

    The value has quantiles ``q2.5``, ``q50`` and ``q97.5``, None where one is not finite, or is a probability. The form
    writes it. The template is the sentence to quote, with ``{x}`` for the number and ``{of}`` for the law and the
    table; "" for none. ``{rivals}`` stands for other forms of the law that predict as well. `facts` of
    it are graded beside its width; see `Facts`.
    """

    label: str
    value: Any
    form: Callable = plain
    template: str = ""
    facts: Mapping = field(default_factory=dict)


@dataclass(frozen=True)
class Forecasts:
    """How fits of a kind forecast, and what a forecast is scored on.

    Parameters
    ----------
    unit : str
    form : callable
        Writes a median and its interval.
    make : callable
        Return the entries of a forecast and what it is of: ``make(fit, at, benchmarks, plan, seed)``.
    outcomes : callable
        Return name, model and value of what came of a forecast: ``outcomes(document, later, within)``.
    from_fit : bool
        Whether `later` is a fit to later data, not a table.
    """

    unit: str
    form: Callable[[Mapping], str]
    make: Callable[..., tuple[list, dict]]
    outcomes: Callable[[dict, Any, float], pd.DataFrame]
    from_fit: bool = False


@dataclass(frozen=True)
class KindAnswers:
    """What answers need to know of a kind of table, and of the laws that are fitted to it.

    Parameters
    ----------
    name : str
        The kind, a key of `datasets.KINDS`.
    needed : str
        What is said where a fit of another kind is given: "horizons need a fit of the law 'horizons'".
    answers : callable
        Yield each `Answer` that a fit prints; none by default.
    figure : str
        Name of its figure, which ``plot`` takes.
    commands : callable, optional
        Return commands that may follow a fit, each as words with `FILE` for its file; its tables and its figure by
        default.
    tables : dict of str to (str or callable)
        Tables of ``show``: functions of a fit that return an `IntervalTable`, or their names in `inference`. Their
        further parameters are options of ``show``.
    widens : bool
        Whether intervals of answers are robust where the rows reject the law.
    widens_constants : bool
        Whether those of its constants are too.
    drifts : bool
        Whether predictions drift from the law with each decade of compute beyond the rows.
    forecasts : Forecasts, optional
    details : callable
        Return what JSON has of a fit besides its answers: ``details(fit, seed)``.
    facts : callable
        Yield sentences on the rows of a fit that it prints, and that cost nothing.
    remarks : callable
        Yield sentences on a fit that ``fit`` prints last.
    rival_forms : callable, optional
        Return a sentence on other forms of the law that predict as well, which it fits.
    grows : str
        What has a trend by date, in the plural; "" for nothing.
    levels : dict of str to float
        Levels of it, by name, that are asked for where none is named.
    margins : callable, optional
        Return by how much a level at a share of success lies below the mean: ``margins(draws, shares, tasks)``.
    ranked_by : tuple of str
        The quantity by which models are ranked, and the words for it; empty where none are.
    """

    name: str
    needed: str
    answers: Callable[[Any], Iterable[Answer]] = lambda fit: ()
    figure: str = ""
    commands: Callable[[Any], Iterable[tuple]] | None = None
    tables: Mapping[str, str | Callable] = field(default_factory=dict)
    widens: bool = False
    widens_constants: bool = False
    drifts: bool = False
    forecasts: Forecasts | None = None
    details: Callable[[Any, int], dict] = lambda fit, seed: {}
    facts: Callable[[Any], Iterable[str]] = lambda fit: ()
    remarks: Callable[[Any], Iterable[str]] = lambda fit: ()
    rival_forms: Callable[[Any], str] | None = None
    grows: str = ""
    levels: Mapping[str, float] = field(default_factory=dict)
    margins: Callable | None = None
    ranked_by: tuple[str, ...] = ()

    def table(self, name):
        """Return the function that makes a table."""
        made = self.tables[name]
        if callable(made):
            return made
        module, _, function = made.rpartition(".")
        return getattr(import_module(f"..{module}", __package__), function)

    def next_commands(self, fit, file, *, rejected=False):
        """Return commands that may follow a fit in a file, as a shell reads them, the first on what `rejected` it."""
        usual = list_usual(self.figure, self.tables) if self.commands is None else self.commands(fit)
        every = [*[("check", FILE)] * bool(rejected), *usual, ("show", FILE, "--constants")]
        return [command(*(file if word is FILE else word for word in words)) for words in every]


def list_usual(figure, tables=True):
    """Return commands that print the tables of a fit, if it has any, and draw a figure, if there is one."""
    drawn = [("plot", figure, FILE, "--out", f"{figure}.svg")] if figure else []
    return [*[("show", FILE, "--table", "all")] * bool(tables), *drawn]


def escape(name):
    """Write a name of the table into a template of a sentence."""
    return str(name).replace("{", "{{").replace("}", "}}")
