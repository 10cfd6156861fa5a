"""Draws under the law of scores: capabilities, benchmarks, means and log densities."""

from functools import cached_property

import numpy as np
import pandas as pd

from ...datasets.deferred import special, xr
from ..lengths.counts import between
from ..member_draws import MemberDraws, nodes
from ..trends import AFTER, BEFORE, BREAKS, WithTrend
from . import design
from .item import centres, expected, items, logits
from .noise import END, NOISES, SCATTERS, Normal

NODES, WIDTH = 19, 4.5
FINER = 2  # Times as many nodes of a version: given its model's capability its density is narrower than its draws.
NARROW = 0.25  # Of the sd of a version's draws: nodes about these would miss a smaller spread of versions.
POINTS, WEIGHTS = np.array([-(3**0.5), 0.0, 3**0.5]), np.array([1 / 6, 2 / 3, 1 / 6])  # of Gauss and Hermite


class ScoresDraws(WithTrend, MemberDraws):
    """Draws of the coordinates z of a law of scores; see `MemberDraws`.

    Its `units` are coordinates of benchmarks (chain, draw, benchmark, part), models, families, versions and steps. Of
    these it has the `items`, of which arrays are (chain, draw, benchmark), the `capability` of models, standardised
    `families`, and `versions` in logits above the model's capability; the last two may be None.
    """

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.items = items(self.units[0], self.design)
        self.capability = self.units[1][..., 0]
        effects = law.effects(self.units)
        self.families, self.versions = effects.get("family_units"), None
        self.steps = law.steps(self.units)
        if law.version_effects:
            self.versions = self.values["version_sd"][..., None] * effects["version_units"]

    @classmethod
    def at_random(cls, law, reference, rows, values, rng):
        """Return draws from free parameters, by name; draw benchmarks, models, families and versions given them."""
        lead = next(iter(values.values())).shape
        units = [rng.standard_normal((*lead, *block.shape)) for _, block, _ in law.blocks(reference).values()]
        units[1] = SCATTERS[law.scatter].draw(rng, units[1].shape)
        for i, (part, centre) in enumerate(centres(values).items()):
            units[0][..., i] = np.expand_dims(centre, -1) + values[f"{part}_sd"][..., None] * units[0][..., i]
        cls._place(law, reference, rows, values, units)
        return cls.of(law, reference, rows, values, units)

    @staticmethod
    def _place(law, reference, rows, values, units):
        """Set the second of the units from standardised capabilities to those given compute and date, in place."""
        families = law.effects(units).get("family_units")
        mean, variance = expected(values, law.pace, law.design_arrays(rows, reference), families, law.steps(units))
        units[1] = (mean + np.sqrt(variance) * units[1][..., 0])[..., None]

    def of_unseen(self, rows, rng):
        """Return draws of unfitted models on the same benchmarks: capabilities by compute and date.

        Families that were fitted have their fitted effects. Each model is taken for one version.
        """
        law, lead = self.law, self.z.shape[:2]
        same = ("benchmarks", "break_span", "half_years", "compute_trend")
        reference = law.reference(rows) | {name: self.reference[name] for name in same if name in self.reference}
        if law.version_effects:
            one = [True] * len(reference["models"])
            reference |= {"versions": self.reference["versions"], "one_version": one}
        units = [self.units[0], SCATTERS[law.scatter].draw(rng, (*lead, len(reference["models"]), 1))]
        if law.family_effects:
            places = pd.Index(self.reference["families"]).get_indexer(reference["families"])
            new = rng.standard_normal((*lead, len(places)))
            units.append(np.where(places >= 0, self.families[..., places], new)[..., None])
        if law.version_effects:
            units.append(self.units[3 if law.family_effects else 2])
        if law.pace == "random_walk":
            units.append(self.units[-1])
        self._place(law, reference, rows, self.values, units)
        return ScoresDraws.of(law, reference, rows, self.values, units)

    def named(self):
        """Return the free parameters; ``capability`` by model; ``slope``, ``difficulty`` and ``noise`` by benchmark.

        With family effects there is also ``family_effect``, and with those of versions ``version_effect``. All are in
        logits but for slopes, log spreads and noise, the sd of a score near 1/2. With ceilings there is ``ceiling`` by
        benchmark. With a `pace` there is ``rate`` by period, e-folds a year by which compute at fixed capability falls.
        A sampled break has ``break_date``, a year with decimals, and a random walk ``yearly_gains`` by half-year.
        """
        variables = {name: self._array(x) for name, x in self.values.items()}
        variables["capability"] = self._array(self.capability, "model", model=self.reference["models"])
        benchmarks = {"benchmark": self.reference["benchmarks"]}
        of = self.items
        of_benchmarks = {"slope": of.slope, "difficulty": of.difficulty, "noise": np.exp(of.log_noise)}
        if self.law.ceilings:
            of_benchmarks["ceiling"] = special.expit(of.logit_ceiling)
        variables |= {name: self._array(x, "benchmark", **benchmarks) for name, x in of_benchmarks.items()}
        if self.families is not None:
            effect = self.values["family_sd"][..., None] * self.families
            variables["family_effect"] = self._array(effect, "family", family=self.reference["families"])
        if self.versions is not None:
            versions = {"version": self.reference["versions"]}
            variables["version_effect"] = self._array(self.versions, "version", **versions)
        if self.law.pace is not None:
            variables["rate"] = self.gain() / self.slope()
        if self.law.pace == "sampled_break":
            variables["break_date"] = self._array(self.break_dates())
        if self.law.pace == "random_walk":
            starts = np.array([self.reference["half_years"][0] - 0.5, *self.reference["half_years"]])
            variables["yearly_gains"] = self.gain(starts).rename(period="half_year")
        return xr.Dataset(variables)

    @property
    def _form(self):
        return self.law.pace

    def _gain(self, date):
        """Return the capability gained a year at fixed compute at a date, (chain, draw)."""
        values, gain = self.values, self.values["yearly_gain"]
        if self.law.pace in BREAKS:
            return gain + values["yearly_gain_change"] * (date >= self.break_dates())
        if self.law.pace == "acceleration":
            return gain + values["acceleration"] * (date - design.YEAR)
        starts = self.reference.get("half_years", [])
        changes = [step for start, step in zip(starts, self.steps, strict=True) if date >= start]
        return gain + values["gain_step_sd"] * sum(changes) if changes else gain

    def break_dates(self):
        """Return the dates of the break, (chain, draw), or the one date where it is fixed."""
        return self.law.break_year if self.law.pace == "break" else super().break_dates()

    def slope(self, years=None):
        """Return the capability that an e-fold of compute buys: dims (chain, draw), by period too where it differs."""
        slope = self._array(self.values["compute_slope"])
        if not self.law.slope_by_period:
            return slope
        after = [False, True] if years is None else [year >= self.law.break_year for year in years]
        periods = [BEFORE, AFTER] if years is None else np.array(years)
        ratio = np.exp(self.values["log_slope_ratio"])[..., None] ** np.array(after)
        return slope * self._array(ratio, "period", period=periods)

    def expected(self):
        """Return the mean and scale of each model's capability given its compute and date, (chain, draw, model)."""
        mean, variance = expected(self.values, self.law.pace, self.design, self.families, self.steps)
        return mean, np.broadcast_to(np.sqrt(variance), mean.shape)

    # Scores ----------------------------------------------------------------------------------------------------------

    def _logits(self):
        """Return the logits of the mean of each row's score, and its log noise, (chain, draw, row)."""
        model, item = design.codes(self.rows, self.reference)
        ability = self.capability[..., model]
        if self.versions is not None:
            version, nested = design.of_versions(self.rows, self.reference)
            ability = ability + nested * self.versions[..., version]
        eta, log_noise = logits(ability, self.items, item), self.items.log_noise[..., item]
        if design.ITEMS in self.rows:
            log_noise = NOISES[self.law.noise].with_sampling(eta, log_noise, design.per_item(self.rows))
        return eta, log_noise

    def mean(self, rows=None):
        """Return the mean score of each row, the median under noise on the logit: dims (chain, draw, row)."""
        return self._array(special.expit(self._at(rows)._logits()[0]), "row")

    def rowwise(self):
        """Return the log density of each row, an ndarray (chain, draw, row)."""
        densities = np.empty((*self.z.shape[:2], len(self.rows)))
        score = self.rows["score"].to_numpy(float)
        low, high = design.at_low(score), design.at_high(score)
        parts = self.terms()
        for name, selected in zip(design.WHERE, (~low & ~high, low, high), strict=True):
            densities[..., selected] = parts[name]
        return densities

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each observed score; one at an end is uniform in its interval."""
        at = self._at(rows)
        eta, log_noise = at._logits()
        score, noise = at.rows["score"].to_numpy(float), NOISES[self.law.noise]
        low, high = design.at_low(score), design.at_high(score)
        probability = noise.cdf(eta, log_noise, np.clip(score, END, 1 - END))
        placed = between(np.where(high, probability, 0.0), np.where(high, 1 - probability, probability))
        return self._array(np.where(low | high, placed, probability), "row")

    def relative_scatter(self):
        """Return the standard deviation of each score, an ndarray (chain, draw, row)."""
        return NOISES[self.law.noise].sd(*self._logits())

    def replicate(self, rng, rows=None):
        """Draw new scores of the same models on the same benchmarks, ends as ends: dims (chain, draw, row)."""
        scores = NOISES[self.law.noise].draw(*self._at(rows)._logits(), rng)
        return self._array(self.law.on_scale(scores), "row").rename(self.law.scale)

    # Densities -------------------------------------------------------------------------------------------------------

    def terms(self):
        """Return the log densities of benchmarks, models, families, versions and scores, by name."""
        return self.law.parts(self.values, self.units, self.design)

    def coordinate_names(self):
        """List the coordinates: free parameters, benchmarks, capabilities, families, versions, steps."""
        names = list(self.law.prior_of)
        names += [f"{part}[{benchmark}]" for benchmark in self.reference["benchmarks"] for part in centres(self.values)]
        names += [f"capability[{model}]" for model in self.reference["models"]]
        names += [f"family[{family}]" for family in self.reference.get("families", [])]
        names += [f"version[{version}]" for version in self.reference.get("versions", [])]
        return names + [f"gain_step[{start:g}]" for start in self.reference.get("half_years", [])]

    # Leaving out -----------------------------------------------------------------------------------------------------

    @cached_property
    def nodes(self):
        """Return where each model's capability is integrated over; see `Nodes`."""
        return Nodes(self)

    def integrated(self, draws):
        """Return the log density of each model's scores under draws, its capability integrated out, by name."""
        return self.nodes.log_densities(draws)


class Nodes:
    """Capabilities of each model at which the density of its scores is evaluated, evenly spaced about its draws.

    Given the free parameters and the benchmarks, the scores y of a model that nobody has seen have density ``integral
    of p(y | c) p(c) dc``, p(c) about what compute and date predict. The integrand is smooth and falls off on either
    side, where a sum at even steps is all but exact. Where versions of a model have effects, p(y | c) is the product
    over versions of ``integral of p(y' | v) N(v; c, sd) dv``. Its nodes are about the draws of the version, or about c
    where sd is far smaller than their spread.
    """

    def __init__(self, draws):
        self.capability, self.log_step = nodes(draws.capability, NODES, WIDTH)
        if draws.versions is not None:
            model, _ = design.codes(draws.rows, draws.reference)
            version, nested = design.of_versions(draws.rows, draws.reference)
            of = np.zeros(len(draws.reference["versions"]), int)
            of[version[nested > 0]] = model[nested > 0]
            self.version, self.version_log_step = nodes(
                draws.capability[..., of] + draws.versions, FINER * NODES, WIDTH
            )

    def log_densities(self, draws):
        """Return the log density of each model's scores, by name of the model: dict of ndarray (chain, draw)."""
        reference, rows = draws.reference, draws.rows
        scatter, (mean, sd) = SCATTERS[draws.law.scatter].log_density, draws.expected()
        densities = {}
        for name, group in rows.groupby("model", sort=False).groups.items():
            model = reference["models"].index(name)
            several = draws.versions is not None and not reference["one_version"][model]
            density_of = self._of_versions if several else self._of_rows
            density = density_of(draws, rows.loc[group], self.capability[model])
            density = density + scatter(self.capability[model], mean[..., [model]], sd[..., [model]] ** 2)
            densities[name] = special.logsumexp(density, axis=-1) + self.log_step[model]
        return densities

    def _of_versions(self, draws, rows, capability):
        """Return one model's log density at its capabilities, (chain, draw, node), its versions integrated out."""
        total, sd = 0.0, draws.values["version_sd"]
        versions, _ = design.of_versions(rows, draws.reference)
        for version in np.unique(versions):
            group, at = rows[versions == version], self.version[version]
            integral = np.empty((*sd.shape, len(capability)))
            narrow = sd < NARROW * np.exp(self.version_log_step[version]) * (len(at) - 1) / (2 * WIDTH)
            if not narrow.all():
                density = self._of_rows(draws, group, at)[..., None, :]
                density = density + Normal.log_density(at, capability[:, None], sd[..., None, None] ** 2)
                integral[:] = special.logsumexp(density, axis=-1) + self.version_log_step[version]
            if narrow.any():
                near = capability[:, None] + sd[..., None, None] * POINTS
                density = self._of_rows(draws, group, near.reshape(*sd.shape, -1)).reshape(near.shape)
                integral[narrow] = special.logsumexp(density[narrow], axis=-1, b=WEIGHTS)
            total = total + integral
        return total

    def _of_rows(self, draws, rows, capability):
        """Return rows' log density at capabilities, (..., node), of their model or version: (chain, draw, node)."""
        noise, total = NOISES[draws.law.noise], 0.0
        _, items = design.codes(rows, draws.reference)
        for item, score, per_item in zip(items, rows["score"].to_numpy(float), design.per_item(rows), strict=True):
            log_noise = draws.items.log_noise[..., [item]]
            eta = logits(capability, draws.items, [item])
            if per_item:
                log_noise = noise.with_sampling(eta, log_noise, per_item)
            if design.at_low(score) or design.at_high(score):
                total = total + noise.log_below(eta if design.at_low(score) else -eta, log_noise)
            else:
                total = total + noise.log_density(eta, log_noise, np.log(score), np.log1p(-score))
        return total
