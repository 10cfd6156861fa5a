"""Draws under a law of algorithmic progress: coefficients by the names that people use, means and log densities."""

import numpy as np

from ...datasets.deferred import special, xr
from .. import effects
from ..draws import DRAWS, CoordinateDraws, draw_coordinates
from . import density
from .design import intercepts
from .specifications import ARCHITECTURES, KNOTS, STEPS

LARGEST_MEAN = 600.0  # nats: a perplexity of exp(600) is near the largest that a float holds


class ProgressDraws(CoordinateDraws):
    """Draws of the coordinates z of a law of algorithmic progress, with their `density.coefficients` in ``c``."""

    def __init__(self, law, reference, rows, z):
        super().__init__(law, reference, rows, z)
        self.design = law.design_arrays(rows, reference)
        self.c = density.coefficients(law, z, self.design)

    def _computed(self, function, **options):
        """Return the result of a function of `density` at these draws."""
        return function(self.law, self.c, self.design, **options)

    def named(self):
        """Return the coefficients by name; see `named_coefficients`."""
        coefficients = named_coefficients(self.law, self.reference, self.c)
        return xr.Dataset(coefficients, coords=draw_coordinates(*self.z.shape[:2]))

    def mean(self, rows=None):
        """Return the mean loss at the rows, nats per token: dims (chain, draw, evaluation)."""
        at = self._at(rows)
        return self._array(at._computed(density.mean), "evaluation")

    def rowwise(self):
        """Return rows' log densities, an ndarray (chain, draw, row), given the paper's others under paper effects."""
        rule = density.conditional_log_likelihood if self.law.paper_effects else density.log_likelihood
        return self._computed(rule)

    def cdf(self, rows=None, *, conditioning="earlier"):
        """Return the probability of at most each observed loss; under paper effects given its paper's other rows."""
        at = self._at(rows)
        residual, scatter = at._conditional(conditioning)
        z = residual / scatter
        values = special.stdtr(at.c["nu"], z) if self.law.noise == "student_t" else special.ndtr(z)
        return self._array(values, "evaluation")

    def _conditional(self, conditioning):
        """Return residuals and scatter; under paper effects given a paper's ``"others"`` or ``"earlier"`` rows."""
        residual, scatter = (
            self._computed(density.residuals),
            self._computed(density.scatter),
        )
        if not self.law.paper_effects:
            return residual, scatter
        papers = density.papers(self.design)
        residual, scatter, *_ = effects.conditional(residual, self.c["paper_sd"], papers, conditioning, scatter)
        return residual, scatter

    def relative_scatter(self):
        """Return the scatter of each residual as a share of the mean loss, an ndarray (chain, draw, evaluation)."""
        residual, scatter = self._conditional("earlier")
        shares = scatter if self.law.scale == "log_loss" else scatter / self._computed(density.mean)
        return np.broadcast_to(shares, residual.shape)

    def by_paper(self):
        """Return the log density of each paper's rows under paper effects, (chain, draw, paper), by papers' ids."""
        return self._computed(density.paper_log_likelihood)

    def of_groups(self):
        """Return the log density of each paper's rows under paper effects, (chain, draw, paper_id), else None."""
        if not self.law.paper_effects:
            return None
        return self._array(self.by_paper(), "paper_id", paper_id=np.unique(self.rows["paper_id"]))

    def total_log_likelihood(self, rows=None):
        """Return the log density of all rows together; under paper effects rows of a paper are not independent."""
        at = self._at(rows)
        return self._array((at.by_paper() if self.law.paper_effects else at.rowwise()).sum(-1))

    def log_prior(self):
        """Return the log prior density of the coordinates, as one variable ``z``."""
        return xr.Dataset({"z": self._array(self.law.log_prior(self.z, self.c, self.design))})

    def log_density(self):
        """Return the log posterior density of z up to a constant."""
        rule = density.paper_log_likelihood if self.law.paper_effects else density.log_likelihood
        return self._array(self.law.log_prior(self.z, self.c, self.design) + self._computed(rule).sum(-1))

    def replicate(self, rng, rows=None):
        """Draw losses of new evaluations on the scale of the law, each paper's effect drawn again."""
        at = self._at(rows)
        law, c, mean = self.law, at.c, at._computed(density.mean)
        sigma = at._computed(density.scatter)
        if law.paper_effects:
            noise = effects.draw(rng, mean.shape, c["paper_sd"], density.papers(at.design), sigma)
        elif law.noise == "student_t":
            noise = sigma * rng.standard_t(np.broadcast_to(c["nu"], mean.shape))
        else:
            noise = sigma * rng.standard_normal(mean.shape)
        centre = np.log(np.maximum(mean, density.LEAST_REDUCIBLE)) if law.scale == "log_loss" else mean
        return self._array(centre + noise, "evaluation").rename(law.scale)

    def coordinate_names(self):
        """List the names of the coordinates z."""
        return self.law.coordinates

    def unit_log_likelihood(self, i):
        """Return the log density of row `i`, given its paper's other rows under paper effects: dims (chain, draw)."""
        return self._array(self.rowwise()[..., i])

    def left_out_density(self, fitted, i, *, seed=0):
        """Return the log predictive density of row `i` under draws fitted to the others, (chain, draw)."""
        return fitted._array(self.left_out(fitted, np.arange(len(self.rows)) == i)[0][..., 0])

    def left_out(self, fitted, left):
        """Return densities and means of rows left out, marked in an array of bool, given draws `fitted` to the others.

        They are the log density of each row alone, (chain, draw, left out), that of them together, (chain, draw), and
        the mean loss in nats of each. Under paper effects, rows of a paper that were not left out inform those that
        were, and the mean is one in another paper.
        """
        if not self.law.paper_effects:
            at = fitted._at(self.rows[left].reset_index(drop=True))
            rowwise = at.rowwise()
            return rowwise, rowwise.sum(-1), at._computed(density.mean)
        at, remaining = fitted._at(self.rows), fitted._at(self.rows[~left].reset_index(drop=True))
        rowwise = at._computed(density.conditional_log_likelihood, conditioning=~left)[..., left]
        return (
            rowwise,
            at.by_paper().sum(-1) - remaining.by_paper().sum(-1),
            at._computed(density.mean)[..., left],
        )

    @property
    def can_be_simulated(self):
        """Return whether every mean loss is below 600 nats, which a perplexity can state."""
        return bool(self._computed(density.mean).max() < LARGEST_MEAN)


def _by_label(law, columns, values, which):
    """Return values from slots and, if several, their dim and labels: benchmarks, architectures or mixed levels."""
    labels = [column.label for column in columns]
    chosen = values[..., which]
    if labels == ["all"]:
        return (chosen[..., 0],)
    return chosen, {law.benchmarks: "benchmark", ARCHITECTURES: "architecture"}.get(tuple(labels), "level"), labels


NAMES = {"y": "year", "after": "year_change", "hinge": "year_change"}
NAMES |= {step: f"year_change_{knot}" for step, knot in zip(STEPS, KNOTS, strict=True)}


def named_coefficients(law, reference, c):
    """Return the coefficients by name, as DataArrays of dims (chain, draw, [benchmark | architecture | level]).

    ``alpha_`` and ``beta_`` stand for the terms of parameters and of data. Names end in ``const``, ``year`` (yearly
    fall), ``year_change`` (its change at the cutoff), and ``param`` or ``data`` (the exponent, at the year ``Yc`` if
    it changes). Others end in ``param_rate`` or ``data_rate`` (its yearly change there), or in
    ``compute`` (specification 18). ``shared_year`` is one coefficient that serves both.
    """
    out = {}

    def put(name, values, dim=None, labels=None):
        dims, coords = ((*DRAWS, dim), {dim: labels}) if dim else (DRAWS, {})
        out[name] = xr.DataArray(values, dims=dims, coords=coords)

    def put_levels(name, values):
        if len(law.levels) > 1:
            put(name, values, "benchmark", list(law.levels))
        else:
            put(name, values[..., 0])

    sizes_n, sizes_d = law.sizes
    put_levels("alpha_const", intercepts(law, reference, c, 0))
    size = "compute" if sizes_n[0].factors == ("c",) else "param"
    put(f"alpha_{size}", *_by_label(law, sizes_n, c["alpha"], list(range(len(sizes_n)))))
    sides = [("alpha", size, "drift_parameters", 0)]
    if sizes_d:
        put_levels("beta_const", intercepts(law, reference, c, 1))
        put("beta_data", *_by_label(law, sizes_d, c["beta"], list(range(len(sizes_d)))))
        sides.append(("beta", "data", "drift_data", 1))
    for prefix, sized, key, side in sides:
        places, groups = law.places_of_drifts(side), {}
        for at, j in enumerate(places):
            groups.setdefault((law.drifts[j].timed[0], law.drifts[j].kind), []).append(at)
        for (factor, kind), which in groups.items():
            drifts = [law.drifts[places[at]] for at in which]
            shared = kind == "year" and drifts[0].shared
            if shared and side == 1:
                continue
            of = "shared" if shared else prefix
            name = f"{prefix}_{sized}_rate" if kind == "rate" else f"{of}_{NAMES[factor]}"
            values, *labels = _by_label(law, [drift.columns[side] for drift in drifts], c[key], which)
            scales = np.asarray(reference["rate_scales"][side])[places[which]]
            put(name, values / (scales if labels else scales[0]), *labels)
    if law.spec.vocabulary:
        put("gamma_vocabulary", c["vocabulary"][..., 0])
    if law.transformer:
        put("gamma_transformer", c["gamma_transformer"][..., 0])
        put("transformer_factor", np.exp(c["log_factor"][..., 0]))
    if law.irreducible:
        put_levels("irreducible", c["irreducible"])
    put("sigma", c["sigma"][..., 0])
    if law.scatter == "by_benchmark":
        put("sigma_benchmark", c["sigma"] * np.exp(c["log_scatter"]), "benchmark", list(law.benchmarks))
    if law.pace == "random_walk":
        put("pace_sd", c["pace_sd"][..., 0])
    if law.noise == "student_t":
        put("nu", c["nu"][..., 0])
    if law.paper_effects:
        tau, sigma = c["paper_sd"][..., 0], c["sigma"][..., 0]
        put("paper_sd", tau)
        put("rho", tau**2 / (tau**2 + sigma**2))
    put_levels("loss_centre", c["loss_centre"])
    if sizes_d:
        put_levels("parameter_share", c["share"])
    return out
