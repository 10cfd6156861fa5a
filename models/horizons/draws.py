"""Draws under the law of time horizons: horizons, tasks, means and log densities."""

from functools import cached_property

import numpy as np

from ...datasets.deferred import special, xr
from ..lengths.counts import between, cumulative, draw_counts, spread
from ..member_draws import MemberDraws, nodes
from ..trends import WithTrend
from . import design
from .outcomes import FEW, log_density

NODES, WIDTH = 25, 5.0  # of a model's horizon, where it is integrated over, in sds of its draws on either side
AT_ONCE = 2**16  # log densities that are evaluated together, which the processor's cache holds


class HorizonsDraws(WithTrend, MemberDraws):
    """Draws of the coordinates z of a law of horizons; see `MemberDraws`.

    Its `units` are coordinates of models (chain, draw, model, 1), and tasks (chain, draw, task, part). Of these it has
    the `horizon` of models in log minutes, and the effects in log minutes and slopes of `tasks`.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.horizon, *self.tasks = law.quantities(self.values, *self.units)

    @classmethod
    def at_random(cls, law, reference, rows, values, rng):
        """Return draws from free parameters, by name; draw models and tasks given them."""
        data, lead = law.design_arrays(rows, reference), next(iter(values.values())).shape
        mean, variance = law._expected_effects(values, data)
        effect = mean + np.sqrt(variance) * rng.standard_normal(variance.shape)
        if law.family_effects:
            common = rng.standard_normal((*lead, len(reference["families"])))
            effect = effect + values["family_sd"][..., None] * common[..., data["task_family"]]
        slope = np.exp(values["log_slope"])[..., None] * np.ones(effect.shape)
        if law.task_slopes:
            slope = slope * np.exp(values["log_slope_sd"][..., None] * rng.standard_normal(effect.shape))
        return cls._of_tasks(law, reference, rows, values, (effect, slope), rng)

    @classmethod
    def _of_tasks(cls, law, reference, rows, values, tasks, rng):
        """Return draws of tasks, their effects and slopes; draw models given their dates."""
        data = law.design_arrays(rows, reference)
        mean = law.expected(values, data)
        horizon = mean + values["horizon_sd"][..., None] * rng.standard_normal(mean.shape)
        return cls.of(law, reference, rows, values, law.coordinates(horizon, *tasks))

    def of_unseen(self, rows, rng):
        """Return draws of unfitted models on the same tasks: horizons by date."""
        same = {name: x for name, x in self.reference.items() if name not in ("models", "years")}
        return self._of_tasks(self.law, self.law.reference(rows) | same, rows, self.values, self.tasks, rng)

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
            variables["break_date"] = self._array(self.break_dates())
        return xr.Dataset(variables)

    # Successes -------------------------------------------------------------------------------------------------------

    def _shares(self, of_rows):
        """Return the probabilities that a run at risk reaches each row's threshold, and that it does not."""
        of_thresholds, threshold = design.thresholds(of_rows)
        places = self.law.places(*self.tasks, of_thresholds)
        return self.law.shares(self.horizon[..., of_rows["model"]], *(x[..., threshold] for x in places))

    def _rows(self, rows):
        rows = self.rows if rows is None else rows
        return rows, design.rowwise(rows, self.reference)

    def mean(self, rows=None):
        """Return the mean number of runs that reach each row's threshold: dims (chain, draw, row)."""
        rows, of_rows = self._rows(rows)
        reach, _ = self._shares(of_rows | {"nested": 0.0 * of_rows["nested"]})
        return self._array(reach * rows["runs"].to_numpy(float), "row")

    def rowwise(self):
        """Return the log probability of each row given the runs at risk, an ndarray (chain, draw, row)."""
        _, of_rows = self._rows(None)
        counts = np.stack([of_rows[name] for name in design.SIDES])
        pairs, code = np.unique(counts, axis=1, return_inverse=True)
        densities = np.empty((*self.z.shape[:2], counts.shape[1]))
        for number, pair in enumerate(pairs.T):
            places = np.flatnonzero(code.ravel() == number)
            for rows in np.array_split(places, -(-places.size * self.z[..., 0].size // AT_ONCE)):
                chances = self._shares({name: x[rows] for name, x in of_rows.items()})
                densities[..., rows] = self._of_counts(chances, pair) + of_rows["log_choose"][rows]
        return densities

    def _of_counts(self, chances, pair):
        """Return log densities of a count of runs that reach a threshold and one of those that do not, in any order."""
        precision, few = self.law.precision(self.values), sum(pair) <= FEW
        density = log_density(chances, precision, pair, few)
        return density if precision is None else density - log_density((1.0, 1.0), precision, (sum(pair), 0.0), few)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the place of each count between the probabilities of fewer and of at most it, given the runs at risk.

        Of no run at risk it is uniform.
        """
        _, of_rows = self._rows(rows)
        right, wrong = self._shares(of_rows)
        counts = of_rows["right"], of_rows["right"] + of_rows["wrong"]
        below, at = cumulative(right, wrong, self.law.precision(self.values), *counts)
        return self._array(between(below, at), "row")

    def relative_scatter(self):
        """Give the sd of the share of runs at risk that reach each row's threshold, an ndarray (chain, draw, row)."""
        _, of_rows = self._rows(None)
        total = np.maximum(of_rows["right"] + of_rows["wrong"], 1.0)
        return spread(*self._shares(of_rows), self.law.precision(self.values), total)

    def replicate(self, rng, rows=None):
        """Draw successes of new runs of the same models on the same tasks: dims (chain, draw, row)."""
        rows, of_rows = self._rows(rows)
        right, wrong = self._shares(of_rows)
        counts = np.zeros(right.shape)
        runs, previous, precision = rows["runs"].to_numpy(int), _previous(rows), self.law.precision(self.values)
        for row in np.argsort(rows["minutes"].to_numpy(float), kind="stable"):
            total = runs[row] if previous[row] < 0 else counts[..., previous[row]].astype(int)
            of_draw = None if precision is None else precision[..., 0]
            counts[..., row] = draw_counts(right[..., row], wrong[..., row], of_draw, total, rng)
        return self._array(counts, "row").rename(self.law.scale)

    # Densities -------------------------------------------------------------------------------------------------------

    def terms(self):
        """Return the log densities of models, tasks, families, estimates and rows, by name."""
        return self.law.parts(self.values, (self.horizon, *self.tasks), (0.0, 0.0), self.design)

    def coordinate_names(self):
        """List the coordinates: free parameters, models, tasks."""
        names = [*self.law.prior_of, *(f"horizon[{model}]" for model in self.reference["models"])]
        return names + [f"{part}[{task}]" for task in self.reference["tasks"] for part in self.law._task_parts]

    # Leaving out -----------------------------------------------------------------------------------------------------

    @cached_property
    def nodes(self):
        """Return horizons of each model at which its density is evaluated, (model, node), and the logs of steps.

        Evenly spaced about the draws: the integrand is smooth and falls off on either side, where a sum at even steps
        is all but exact.
        """
        return nodes(self.horizon, NODES, WIDTH)

    def integrated(self, draws):
        """Return the log density of each model's rows under draws, its horizon integrated out, by name."""
        (nodes, log_step), law = self.nodes, self.law
        mean, sd = law.expected(draws.values, draws.design), draws.values["horizon_sd"][..., None]
        of_rows, densities = design.rowwise(draws.rows, draws.reference), {}
        of_thresholds, threshold = design.thresholds(of_rows)
        places = law.places(*draws.tasks, of_thresholds)
        for name, group in draws.rows.groupby("model", sort=False).indices.items():
            model, here = draws.reference["models"].index(name), self.reference["models"].index(name)
            at = nodes[here][:, None, None, None]
            density = -0.5 * (np.log(2 * np.pi) + ((at - mean[..., [model]]) / sd) ** 2) - np.log(sd)
            for row in group:
                chances = law.shares(at, *(x[..., [threshold[row]]] for x in places))
                density += draws._of_counts(chances, [of_rows[side][row] for side in design.SIDES])
            densities[name] = (
                special.logsumexp(density, axis=(0, -1)) + log_step[here] + of_rows["log_choose"][group].sum()
            )
        return densities


def _previous(rows):
    """Return the position of the row of the next lower threshold of each row, -1 where there is none."""
    positions = np.arange(len(rows))
    ordered = rows.assign(_position=positions).sort_values("minutes", kind="stable")
    before = ordered.groupby(["model", "task"], sort=False)["_position"].shift().fillna(-1).astype(int)
    previous = np.empty(len(rows), int)
    previous[ordered["_position"].to_numpy()] = before.to_numpy()
    return previous
