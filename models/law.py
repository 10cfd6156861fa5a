"""The interface of every law: the rows that it is fitted to, its PyMC model, its draws.

Techniques (fitting, leave-one-out, calibration, storage, reports) use this interface alone, whatever the kind of law.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..datasets import KINDS
from ..errors import InputError
from . import pymc_model
from .density import Coordinates, Density, Units
from .naming import Named
from .parts import Grouping, Planner, Tests
from .priors import WithPriors


@dataclass(frozen=True)
class Effort:
    """How hard a law is to sample.

    * ``target_accept``: mean acceptance that the step size is adapted to, unless the user names another.
    * ``tune``: warm-up iterations of each chain, unless the user names another number.
    * ``careful``: targets of the tries that follow while draws diverge.
    * ``least_ess``: where the least bulk ESS is lower, or chains disagree, they are run longer, and thinned; 0 for
      never. It is of as many draws as usual, less in proportion where fewer are requested.
    * ``longest``: how many times as long chains are run at most.
    * ``quick``: whether a fit of a few hundred rows takes seconds, so that other laws can be fitted automatically to
      compare.
    """

    target_accept: float = 0.9
    tune: int = 1000
    careful: tuple = ()
    least_ess: int = 0
    longest: int = 1
    quick: bool = False


class Law(Tests, Grouping, Planner, Named, WithPriors):
    """A law as something to fit, with how its rows test it, belong together and are planned; see `parts`.

    * ``name``: as `models.law` takes it.
    * ``kind``: the kind of table it is fitted to, a key of `datasets.KINDS`.
    * ``observed``: column of the table that the law predicts.
    * ``scale``: what the residuals or counts are of, the name of the variable in ``observed_data``, ``log_likelihood``
      and the predictive groups.
    * ``unit``: what leave-one-out leaves out, the dimension of ``log_likelihood``.
    * ``upstream``: quantities cut from another posterior: the draws hold them, the rows do not inform them.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    observed: ClassVar[str]
    unit: ClassVar[str]
    upstream: ClassVar[tuple] = ()
    effort: ClassVar[Effort] = Effort()
    scale: str
    noise: str

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

    model = pymc_model.model

    def density(self, rows, reference):
        """Return the `Density` of the law on rows; it compiles in a second where it can be traced."""
        raise NotImplementedError

    @property
    def _key(self):
        """Return the class, name and options of the law, on which the code of its density depends; a hashable."""
        return type(self), self.name, json.dumps(self.options, sort_keys=True)

    def draws(self, sampled, rows, reference):
        """Return the `Draws` of sampled variables, a Dataset of dims (chain, draw, ...)."""
        raise NotImplementedError

    def prior_draws(self, rng, reference, rows, draws=1, truth=None):
        """Return `Draws` of the prior, dims (chain, draw) with one chain, or one draw of a truth.

        A truth has the free parameters by name, and is refused where it lacks one, or where quantities are no scalars.
        What is sampled besides, of groups of rows, is drawn from the law.
        """
        if truth is None:
            values = {name: prior.drawn(rng, (1, draws)) for name, prior in self.prior_of.items()}
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


class MemberLaw(Law):
    """A law whose draws are `MemberDraws`: free parameters and, of some laws, coordinates of members such as models.

    The class of its draws is `drawn_as`.
    """

    unit: ClassVar[str] = "row"
    drawn_as: ClassVar[Any]

    def free(self, reference):
        """Return the `Coordinates` of the free parameters, each a scalar unless a law has it otherwise."""
        return Coordinates(self.prior_of)

    def prior_draws(self, rng, reference, rows, draws=1, truth=None):
        """Return `Draws` of the prior, or one draw of a truth, which is refused where quantities are no scalars."""
        free = self.free(reference)
        if truth is not None and not free.several:
            return super().prior_draws(rng, reference, rows, draws, truth)
        self._refuse_truth(truth)
        shapes = {name: (1, draws, *free.several.get(name, ())[1:]) for name in free.priors}
        values = {name: prior.drawn(rng, shapes[name]) for name, prior in free.priors.items()}
        return self._drawn(values, reference, rows, rng)

    def labels(self, reference):
        """Return names along the dims of free parameters with several values."""
        return {}

    def blocks(self, reference):
        """Return the blocks of coordinates after the free parameters, by name: dims, start and axis, as `Units` has."""
        return {}

    def _sampled_arrays(self, rows, reference):
        """Return the arrays of the density."""
        return self.design_arrays(rows, reference)

    def density(self, rows, reference):
        """Return the `Density`; arrays name in their first word what they are of."""
        arrays = self._sampled_arrays(rows, reference)
        units = (Units(name, *block) for name, block in self.blocks(reference).items())
        axes = {name: name.split("_")[0] for name in arrays}
        return Density((self.free(reference), *units), self._rest, arrays, axes, self._key, self.labels(reference))

    def draws(self, sampled, rows, reference):
        """Return the draws of a Dataset that holds coordinates ``z``, or what was sampled on these rows."""
        if "z" in sampled:
            return self.drawn_as(self, reference, rows, sampled["z"].values)
        values = {name: sampled[name].values for name in self.free(reference).priors}
        lead, blocks = next(iter(values.values())).shape[:2], self.blocks(reference).items()
        units = {name: sampled[name].values.reshape(*lead, *start.shape) for name, (_, start, _) in blocks}
        return self.drawn_as.of(self, reference, rows, values, self._units_of_draws(values, units, rows, reference))

    def _units_of_draws(self, values, units, rows, reference):
        """Return blocks of coordinates of draws from those that are sampled."""
        return []

    def _drawn(self, values, reference, rows, rng):
        return self.drawn_as.at_random(self, reference, rows, values, rng)
