"""What a law is called: its options, its name in a sentence and its equation."""

import math
import re
import textwrap
from dataclasses import fields

from ..datasets.wording import check_choice, check_switch, shortened, shown
from ..errors import InputError

EQUATION = re.compile(r"``([^`]+ = [^`]+)``")
WIDTH = 80  # of what a law prints


class Named:
    """A law as a dataclass of options, which names itself by those that are not the default."""

    def __init_subclass__(cls, **options):
        """Give the class the `__repr__` that it inherits, which a dataclass would replace."""
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__

    def _check_options(self, *switches, **choices):
        """Refuse a value of an option that is none of its choices, or a switch that is not on or off."""
        for option, values in choices.items():
            check_choice(option, getattr(self, option), values)
        for option in switches:
            check_switch(option, getattr(self, option))

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


def positive(x):
    """Return whether something is a finite positive number."""
    return isinstance(x, int | float) and not isinstance(x, bool) and 0 < x < math.inf


def check_positive(option, value):
    """Refuse a value of an option that is no positive number."""
    if not positive(value):
        raise InputError(f"{option} must be a positive number, not {shown(value)}")


def _prior(prior):
    return prior if isinstance(prior, str) else "({:g}, {:g})".format(*prior)
