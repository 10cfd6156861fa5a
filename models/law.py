"""The interface of every law: the rows that it is fitted to, its PyMC model, its draws.

Techniques (fitting, leave-one-out, calibration, storage, reports) use this interface alone, whatever the kind of law.
"""

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from ..datasets import KINDS
from ..datasets.wording import check_choice, check_switch, shortened
from ..errors import InputError
from . import pymc_model
from .parts import Grouping, Planner, Tests

EQUATION = re.compile(r"``([^`]+ = [^`]+)``")
WIDTH = 80  # of what a law prints


@dataclass(frozen=True)
class Effort:
    """How hard a law is to sample.

    Parameters
    ----------
    target_accept : float
        Mean acceptance that the step size is adapted to, unless the user names another.
    careful : tuple of float
        Targets of the tries that follow while draws diverge.
    least_ess : int
        Where the least bulk ESS is lower, or chains disagree, they are run longer, and thinned; 0 for never. It is of
        as many draws as usual, less in proportion where fewer are requested.
    longest : int
        How many times as long chains are run at most.
    quick : bool
        Whether a fit of a few hundred rows takes seconds, so that other laws can be fitted automatically to compare.
    """

    target_accept: float = 0.9
    careful: tuple = ()
    least_ess: int = 0
    longest: int = 1
    quick: bool = False


class Law:
    """A law as something to fit.

    Attributes
    ----------
    name : str
        As `models.law` takes it.
    kind : str
        The kind of table it is fitted to, a key of `datasets.KINDS`.
    observed : str
        Column of the table that the law predicts.
    scale : str
        What the residuals or counts are of: the name of the variable in ``observed_data``, ``log_likelihood`` and the
        predictive groups.
    unit : str
        What leave-one-out leaves out: the dimension of ``log_likelihood``.
    upstream : tuple of str
        Quantities cut from another posterior: the draws hold them, the rows do not inform them.
    effort : Effort
    tests : Tests
        How the rows test the law.
    grouping : Grouping
        How rows belong together.
    planner : Planner
        How runs are planned under the law.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    observed: ClassVar[str]
    unit: ClassVar[str]
    upstream: ClassVar[tuple] = ()
    effort: ClassVar[Effort] = Effort()
    tests = Tests()
    grouping = Grouping()
    planner = Planner()
    scale: str
    noise: str
    priors: Mapping

    def __init_subclass__(cls, **options):
        """Give the class the `__repr__` that it inherits, which a dataclass would replace."""
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__

    # The table -------------------------------------------------------------------------------------------------------

    def rows(self, table):
        """Return the rows of a table that this law is fitted to, refusing a table that cannot inform it."""
        raise NotImplementedError

    @property
    def needed(self):
        """Return the columns that this law needs, where its reader needs their names."""
        return ()

    def usual_table(self):
        """Load the built-in table that this law is fitted to where a user names none."""
        return KINDS[self.kind].load()

    def reference(self, rows):
        """Return the scalars and names that the sampled quantities refer to; they never depend on what is observed."""
        raise NotImplementedError

    def on_scale(self, observed):
        """Return the observations as the law scores them, such as the logarithms of losses."""
        return observed

    def from_scale(self, values):
        """Invert `on_scale`."""
        return values

    # The model and its draws -----------------------------------------------------------------------------------------

    def model(self, rows, reference=None):
        """Build the PyMC model, which serves every law whose density is of the same program; see `pymc_model.model`."""
        return pymc_model.model(self, rows, reference)

    def density(self, rows, reference):
        """Return the `Density` of the law on rows; it compiles in a second where it can be traced."""
        raise NotImplementedError

    @property
    def _key(self):
        """Return what the code of the density follows from, a hashable: the class, name and options of the law."""
        return type(self), self.name, json.dumps(self.options, sort_keys=True)

    def draws(self, sampled, rows, reference):
        """Return the `Draws` of sampled variables, a Dataset of dims (chain, draw, ...)."""
        raise NotImplementedError

    def prior_draws(self, rng, reference, rows, draws=1, truth=None):
        """Return `Draws` of the prior, dims (chain, draw) with one chain, or one draw of a truth.

        Parameters
        ----------
        rng : numpy.random.Generator
        reference : dict
        rows : DataFrame
        draws : int
        truth : dict of str to float, optional
            The free parameters by name. What is sampled besides, of groups of rows, is drawn from the law.

        Raises
        ------
        InputError
            If the truth lacks a quantity, or the law's quantities are no scalars.
        """
        if truth is None:
            values = {name: prior.frozen.rvs((1, draws), random_state=rng) for name, prior in self.prior_of.items()}
        else:
            self._check_all_known(truth)
            values = {name: np.full((1, 1), float(truth[name])) for name in self.prior_of}
        return self._drawn(values, reference, rows, rng)

    def _drawn(self, values, reference, rows, rng):
        """Return `Draws` of values of the free parameters, (1, draw) by name, what else is sampled drawn by `rng`."""
        raise NotImplementedError

    def _refuse_truth(self, truth):
        """Refuse a truth, where quantities are no scalars."""
        if truth is not None:
            raise InputError(f"the quantities of the {self.name} law are no scalars that a truth could give by name")

    def _check_all_known(self, values):
        """Refuse known values, by name, among which a free parameter is missing."""
        missing = [name for name in self.prior_of if name not in values]
        if missing:
            raise InputError(f"truth lacks {', '.join(missing)}; give every sampled quantity of the {self.name} law")

    # Options and priors ----------------------------------------------------------------------------------------------

    def _check_options(self, *switches, **choices):
        """Refuse a value of an option that is none of its choices, or a switch that is not on or off."""
        for option, values in choices.items():
            check_choice(option, getattr(self, option), values)
        for option in switches:
            check_switch(option, getattr(self, option))

    @property
    def _free_parameters(self):
        """Return everything that has a prior, as `FreeParameter` objects."""
        raise NotImplementedError

    @property
    def prior_of(self):
        """Return a dict from the name of each free parameter to its `Prior`."""
        return {q.name: q.checked(self.priors.get(q.name, q.prior)) for q in self._free_parameters}

    def described_priors(self):
        """Return the prior of each sampled quantity as text, by name."""
        return {name: str(prior) for name, prior in self.prior_of.items()}

    def _checked_priors(self, derived=()):
        """Return the priors that replace the default ones as text.

        Parameters
        ----------
        derived : sequence of str
            Names of results, which have no priors.

        Raises
        ------
        InputError
            If a prior is of no free parameter, or leaves its support.
        """
        sampled = {q.name: q for q in self._free_parameters}
        for name in self.priors:
            if name not in sampled:
                why = "is derived, not sampled" if name in derived else "is not known to this law"
                raise InputError(f"prior on {name!r}: it {why}; priors can be set on {', '.join(sampled)}")
        return {name: str(sampled[name].checked(text)) for name, text in self.priors.items()}

    # What it is called -----------------------------------------------------------------------------------------------

    @property
    def options(self):
        """Return the options that rebuild this law: ``models.law(name, **options)``."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"priors": dict(self.priors)}

    @classmethod
    def _from_options(cls, options, make):
        """Make a law from its `options`; `make` makes another from a name and options, where it has one within."""
        return cls(**options)

    @property
    def label(self):
        """Name of the law in a sentence: options other than the defaults and priors that were replaced go with it.

        On one line, such as ``progress-7, cutoff=2018, prior share (0, 1)``.
        """
        usual = {f.name: f.default for f in fields(self)}
        listed = [self._option_text(n, v) for n, v in self.options.items() if n != "priors" and v != usual[n]]
        priors = [f"prior {name} {_prior(prior)}" for name, prior in self.options["priors"].items()]
        return ", ".join([self.name, *filter(None, listed), *priors])

    @property
    def _equation(self):
        """Return the equation of the law: the first in the docstring of its class."""
        equation = EQUATION.search(type(self).__doc__ or "")
        return " ".join(equation[1].replace("**", "^").split()) if equation else ""

    def __repr__(self):
        """Return the equation of the law, and its options other than the defaults, in at most two lines."""
        label = self.label
        if isinstance(type(self).name, str):
            label = label.removeprefix(self.name).removeprefix(", ")
        text = f"{type(self).__name__}: {'; '.join(filter(None, (self._equation, label)))}"
        return textwrap.fill(text, WIDTH, max_lines=2, subsequent_indent="    ", placeholder=" ...")

    def _option_text(self, name, value):
        """Return the text of an option in the label; nothing where the law's name states it."""
        if value is True:
            return name
        return f"{name}={value:g}" if isinstance(value, float) else f"{name}={shortened(value)}"


def _prior(prior):
    return prior if isinstance(prior, str) else "({:g}, {:g})".format(*prior)
