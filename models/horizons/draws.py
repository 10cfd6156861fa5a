"""Draws under the law of time horizons: horizons, tasks, means and log densities."""

from functools import cached_property

import numpy as np

from ...datasets.deferred import special, xr
from ..coordinates import Coordinates
from ..draws import BLOCK, DRAWS, Draws, draw_coordinates
from ..lengths.counts import between, cumulative, draw_counts, spread
from . import design
from .outcomes import log_density
from .trend import break_date, yearly_gain

COORDINATE = "coordinate"
BEFORE, AFTER, ALL = "before", "after", "all"
NODES, WIDTH = 25, 5.0  # of a model's horizon, where it is integrated over, in sds of its draws on either side
PART_BEFORE, PART_AFTER = 2023.5, 2025.5  # dates of gains where the gain changes at no one date


class HorizonsDraws(Draws):
    """Draws of the coordinates z of a law of horizons.

    Parameters
    ----------
    law : Horizons
    reference : dict
    rows : DataFrame
    z : ndarray, shape (chain, draw, coordinate)

    Attributes
    ----------
    values : dict of str to ndarray, shape (chain, draw)
        Free parameters.
    units : dict of str to ndarray
        Coordinates of models (chain, draw, model, 1), tasks (chain, draw, task, part) and families.
    horizon : ndarray, shape (chain, draw, model)
        Log minutes.
    tasks : pair of ndarray, shape (chain, draw, task)
        Effects in log minutes, and slopes.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows)
        self.z = z
        at, self.by_name = len(Coordinates(law.prior_of)), {}
        for name, (_, start, _) in law.units(reference).items():
            self.by_name[name] = z[..., at : at + start.size].reshape(*z.shape[:2], *start.shape)
            at += start.size
        lead = {name: z[..., i] for i, name in enumerate(law.prior_of)}
        self.values = {name: law.prior_of[name].from_unconstrained(x)[0] for name, x in lead.items()}
        self.design = law.design_arrays(rows, reference)
        self.horizon = law.scale_of_horizons * self.by_name["horizon_units"][..., 0]
        self.tasks = law.tasks_of(self.values | self.by_name, self.design)

    @property
    def units(self):
        """Return the blocks of coordinates after the free parameters, a list."""
        return list(self.by_name.values())

    @classmethod
    def of(cls, law, reference, rows, values, units):
        """Return draws from free parameters, by name, and coordinates of models, tasks and families."""
        lead = [prior.to_unconstrained(values[name])[..., None] for name, prior in law.prior_of.items()]
        blocks = [x.reshape(*x.shape[:2], -1) for x in units]
        return cls(law, reference, rows, np.concatenate([*lead, *blocks], axis=-1))

    @classmethod
    def at_random(cls, law, reference, rows, values, rng):
        """Return draws from free parameters, by name; draw models, tasks and families given them."""
        lead = next(iter(values.values())).shape
        units = [rng.standard_normal((*lead, *start.shape)) for _, start, _ in law.units(reference).values()]
        units[0] = cls._horizons_at(law, reference, rows, values, units[0])
        return cls.of(law, reference, rows, values, units)

    @staticmethod
    def _horizons_at(law, reference, rows, values, standard):
        """Return coordinates of models from standardised deviations from the trend."""
        mean = law.expected(values, law.design_arrays(rows, reference))
        return (mean + values["horizon_sd"][..., None] * standard[..., 0])[..., None] / law.scale_of_horizons

    def of_unseen(self, rows, rng):
        """Return draws of unfitted models on the same tasks: horizons by date."""
        law, lead = self.law, self.z.shape[:2]
        same = ("tasks", "families", "family_of", "estimated", "anchors", "break_span", "middle")
        reference = law.reference(rows) | {name: self.reference[name] for name in same if name in self.reference}
        standard = rng.standard_normal((*lead, len(reference["models"]), 1))
        units = [self._horizons_at(law, reference, rows, self.values, standard), *self.units[1:]]
        return HorizonsDraws.of(law, reference, rows, self.values, units)

    def _at(self, rows):
        return self if rows is None else HorizonsDraws(self.law, self.reference, rows, self.z)

    def _array(self, values, *dims, **coords):
        coords = draw_coordinates(*self.z.shape[:2]) | coords
        return xr.DataArray(values, dims=(*DRAWS, *dims), coords=coords)

    def named(self):
        """Return the free parameters; ``horizon`` by model, log minutes; ``effect`` and ``slope`` by task.

        With a trend also ``doubling_rate`` by period, doublings a year, and with a break ``break_date``.
        """
        variables = {name: self._array(x) for name, x in self.values.items()}
        variables["horizon"] = self._array(self.horizon, "model", model=self.reference["models"])
        tasks = {"task": self.reference["tasks"]}
        for name, x in zip(("effect", "slope"), self.tasks, strict=True):
            variables[name] = self._array(x, "task", **tasks)
        if self.law.trend is not None:
            variables["doubling_rate"] = self.gain() / np.log(2)
        if self.law.trend == "break":
            variables["break_date"] = self._array(break_date(self.values, self.reference["break_span"]))
        return xr.Dataset(variables)

    def gain(self, years=None):
        """Return the log horizon gained a year: dims (chain, draw, period).

        Parameters
        ----------
        years : sequence of float, optional
            Dates of the gains, which ``period`` then holds. By default periods are ``all``; or ``before`` and ``after``
            a break; or, of other forms that change, the same names for gains in mid-2023 and in mid-2025.
        """
        trend, span = self.law.trend, self.reference["break_span"]
        if years is not None:
            periods, at = np.array(years, float), years
        elif trend == "linear":
            periods, at = [ALL], [PART_AFTER]
        else:
            periods = [BEFORE, AFTER]
            at = (-np.inf, np.inf) if trend == "break" else (PART_BEFORE, PART_AFTER)
        gains = [np.broadcast_to(yearly_gain(self.values, trend, date, span), self.z.shape[:2]) for date in at]
        return self._array(np.stack(gains, -1), "period", period=periods)

    # Successes -------------------------------------------------------------------------------------------------------

    def _shares(self, of_rows, nested=None):
        """Return logs of the probabilities that a run at risk reaches each row's threshold, and that it does not."""
        nested = of_rows["nested"] if nested is None else nested
        return self.law.shares(self.horizon, self.tasks, of_rows, nested)

    def _rows(self, rows):
        rows = self.rows if rows is None else rows
        return rows, design.rowwise(rows, self.reference)

    def _precision(self):
        return self.law.precision(self.values)

    def mean(self, rows=None):
        """Return the mean number of runs that reach each row's threshold: dims (chain, draw, row)."""
        rows, of_rows = self._rows(rows)
        reach, _ = self._shares(of_rows, nested=0.0)
        return self._array(np.exp(reach) * rows["runs"].to_numpy(float), "row")

    def log_likelihood(self, rows=None, *, seed=0):
        """Return the log probability of each row given the runs at risk: dims (chain, draw, row)."""
        _, of_rows = self._rows(rows)
        counts = (of_rows[name] for name in ("right", "wrong", "log_choose"))
        densities = log_density(*self._shares(of_rows), self._precision(), *counts)
        return self._array(densities, "row", row=np.arange(densities.shape[-1])).rename(self.law.scale)

    def blocks(self, rows=None):
        """Cut rows into those whose log densities are held at a time."""
        count = len(self.rows if rows is None else rows)
        most = max(1, BLOCK // int(np.prod(self.z.shape[:2])))
        return np.array_split(np.arange(count), max(1, -(-count // most)))

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the place of each count between the probabilities of fewer and of at most it, given the runs at risk.

        Of no run at risk it is uniform.
        """
        _, of_rows = self._rows(rows)
        right, wrong = (np.exp(x) for x in self._shares(of_rows))
        counts = of_rows["right"], of_rows["right"] + of_rows["wrong"]
        below, at = cumulative(right, wrong, self._precision(), *counts)
        return self._array(between(below, at), "row")

    def relative_scatter(self, rows=None):
        """Give the sd of the share of runs at risk that reach each row's threshold, an ndarray (chain, draw, row)."""
        _, of_rows = self._rows(rows)
        right, wrong = (np.exp(x) for x in self._shares(of_rows))
        return spread(right, wrong, self._precision(), np.maximum(of_rows["right"] + of_rows["wrong"], 1.0))

    def replicate(self, rng, rows=None):
        """Draw successes of new runs of the same models on the same tasks: dims (chain, draw, row)."""
        rows, of_rows = self._rows(rows)
        right, wrong = (np.exp(x) for x in self._shares(of_rows))
        counts = np.zeros(right.shape)
        runs, previous = rows["runs"].to_numpy(int), _previous(rows)
        for row in np.argsort(rows["minutes"].to_numpy(float), kind="stable"):
            total = runs[row] if previous[row] < 0 else counts[..., previous[row]].astype(int)
            precision = None if self._precision() is None else self._precision()[..., 0]
            counts[..., row] = draw_counts(right[..., row], wrong[..., row], precision, total, rng)
        return self._array(counts, "row").rename(self.law.scale)

    # Densities -------------------------------------------------------------------------------------------------------

    def log_prior(self):
        """Return the log prior density of the free parameters; models and tasks have the law's, not a prior's."""
        priors = self.law.prior_of
        return xr.Dataset({name: self._array(priors[name].frozen.logpdf(x)) for name, x in self.values.items()})

    def log_density(self):
        """Return the log joint density of the coordinates and the successes: dims (chain, draw)."""
        total = 0.0
        for i, prior in enumerate(self.law.prior_of.values()):
            x, log_slope = prior.from_unconstrained(self.z[..., i])
            total = total + prior.frozen.logpdf(x) + log_slope
        for term in self.law.parts(self.values | self.by_name, self.design).values():
            total = total + term.sum(-1)
        return self._array(total)

    @cached_property
    def _coordinates(self):
        names = [*self.law.prior_of, *(f"horizon[{model}]" for model in self.reference["models"])]
        names += [f"{part}[{task}]" for task in self.reference["tasks"] for part in self.law.task_parts]
        return names + [f"family[{family}]" for family in self.reference.get("families", [])]

    def real_line(self):
        """Return coordinates on the real line: free parameters, models, tasks, families."""
        return self._array(self.z, COORDINATE, **{COORDINATE: self._coordinates})

    def from_real_line(self, z):
        """Return draws at coordinates as `real_line` gives them."""
        return HorizonsDraws(self.law, self.reference, self.rows, z.transpose(*DRAWS, COORDINATE).values)

    # Leaving out -----------------------------------------------------------------------------------------------------

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, (chain, draw)."""
        return fitted.log_likelihood(self.rows.iloc[[i]]).isel(row=0, drop=True)

    @cached_property
    def nodes(self):
        """Return horizons of each model at which its density is evaluated, (model, node), and the logs of steps.

        Evenly spaced about the draws: the integrand is smooth and falls off on either side, where a sum at even steps
        is all but exact.
        """
        places = np.linspace(-WIDTH, WIDTH, NODES)
        centre, sd = self.horizon.mean((0, 1)), self.horizon.std((0, 1))
        return centre[:, None] + sd[:, None] * places, np.log(sd * (places[1] - places[0]))

    def _of_models(self, draws):
        """Return the log density of each model's rows under draws, its horizon integrated out, by name."""
        (nodes, log_step), law = self.nodes, self.law
        mean, sd = law.expected(draws.values, draws.design), draws.values["horizon_sd"][..., None]
        densities = {}
        for name, group in draws.rows.groupby("model", sort=False).groups.items():
            model, rows = draws.reference["models"].index(name), draws.rows.loc[group]
            of_rows = design.rowwise(rows, draws.reference)
            at = nodes[self.reference["models"].index(name)]
            density = -0.5 * (np.log(2 * np.pi) + ((at - mean[..., [model]]) / sd) ** 2) - np.log(sd)
            for row in range(len(rows)):
                one = {key: x[[row]] for key, x in of_rows.items()} | {"model": np.arange(NODES)}
                tasks = [x[..., one["task"]] for x in draws.tasks]
                one["task"] = np.zeros(NODES, int)
                shares = law.shares(at, tasks, one, one["nested"])
                density = density + log_density(*shares, draws._precision(), one["right"], one["wrong"], 0.0)
                density = density + one["log_choose"]
            densities[name] = special.logsumexp(density, axis=-1) + log_step[self.reference["models"].index(name)]
        return densities

    def by_group(self, by=None):
        """Return log densities of rows by a column's values; for models with their horizons integrated out.

        The horizon of an unseen model follows from its date, not from the draws of its horizon.
        """
        by = self.law.grouping.group if by is None else by
        densities = super().by_group(by)
        if not self._are_of_models(by):
            return densities
        labels = self.rows.drop_duplicates("model").set_index("model")[by] if by != "model" else None
        groups, values = densities["group"].values.tolist(), np.zeros(densities.shape)
        for model, density in self._of_models(self).items():
            values[..., groups.index(model if labels is None else labels[model])] += density
        return densities.copy(data=values)

    def exchangeable(self):
        """Return each model's log density, its horizon integrated out: dims (chain, draw, model)."""
        return self.by_group("model").rename(group="model")

    def left_out_group(self, fitted, rows, by=None):
        """Return the log predictive density of a group of rows under draws fitted to the others, (chain, draw)."""
        if not self._are_of_models(self.law.grouping.group if by is None else by):
            return super().left_out_group(fitted, rows, by)
        return fitted._array(sum(self._of_models(fitted._at(rows)).values()))

    def _are_of_models(self, by):
        return by == "model" or bool((self.rows.groupby("model")[by].nunique(dropna=False) == 1).all())


def _previous(rows):
    """Return the position of the row of the next lower threshold of each row, -1 where there is none."""
    positions = np.arange(len(rows))
    ordered = rows.assign(_position=positions).sort_values("minutes", kind="stable")
    before = ordered.groupby(["model", "task"], sort=False)["_position"].shift().fillna(-1).astype(int)
    previous = np.empty(len(rows), int)
    previous[ordered["_position"].to_numpy()] = before.to_numpy()
    return previous
