"""One law over several corpora: what is a property of the law is shared, what is one of the text is not."""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from ...errors import InputError
from ...models.arrays import log
from ...models.backend import pymc
from ...models.coordinates import Coordinates
from ...models.draws import draw_coordinates
from ...models.loss.law import LossLaw
from ...models.loss.noise import normal_logp
from ...models.priors import Prior
from .. import diagnostics
from .effort import sample_enough, thinned
from .samplers import choose, compiled
from .settings import seed_of, settings_of

SPREAD = Prior.parse("Gamma(2, 8)")
TARGET_ACCEPT = 0.95


def fit_corpora(law, corpora, *, shared=("omega",), pooled=("alpha", "beta"), seed=None, sampler=None, **settings):
    """Fit a law to runs on several corpora at once.

    A shared quantity is one number. A pooled quantity of each corpus is LogNormal(log typical, spread): the typical
    value has the prior that the law gives the quantity, and the spread, one for all pooled quantities, is Gamma(2, 8),
    0.03 to 0.70, since exponents of language models differ by tens of percent between studies; it avoids 0, as the
    spread of few groups should [1]_. With two corpora the spread is hardly more than its prior. Every other quantity of
    the law, those of the noise too, is each corpus's own.

    Parameters
    ----------
    law : Law
        Such as ``EmbeddingWeighted()``; its columns must be in every table.
    corpora : mapping of str to DataFrame
        Runs on each, at least two.
    shared, pooled : sequence of str
        Sampled quantities of the law. Those pooled must be positive.
    seed : int, optional
    sampler : str, optional
    **settings
        As for `fit`, with ``target_accept=0.95``.

    Returns
    -------
    posterior : Dataset
        Sampled quantities, ``typical_`` and ``spread`` of those pooled; dims chain, draw and, where not shared, corpus.
    log_likelihood : dict of str to DataArray
        Of each corpus's runs; dims chain, draw, run.
    diagnostics : dict
        As `diagnose` gives it.

    Raises
    ------
    InputError
        If there are fewer than two corpora, a quantity is not the law's, or a table cannot inform the law.

    Warns
    -----
    DiagnosticWarning
        If the chains did not converge.

    References
    ----------
    .. [1] Chung, Y. et al. (2013). A nondegenerate penalized likelihood estimator for variance parameters in
       multilevel models. Psychometrika 78, 685-709.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> corpora = {"first": runs.iloc[::2], "second": runs.iloc[1::2]}
    >>> law = bs.Chinchilla(noise="normal")
    >>> posterior, _, _ = bs.fit_corpora(law, corpora, shared=("alpha",), pooled=("beta",), seed=1, draws=300, tune=500)
    >>> posterior["beta"].dims
    ('chain', 'draw', 'corpus')
    """
    if len(corpora) < 2:
        raise InputError(f"{len(corpora)} corpora were given; give at least two, or use fit")
    for name in (*shared, *pooled):
        if name not in law.prior_of:
            raise InputError(f"{name!r} is no sampled quantity of the {law.name} law: {', '.join(law.prior_of)}")
    both = [name for name in shared if name in pooled]
    if both:
        raise InputError(f"{', '.join(both)}: a quantity is shared or pooled, not both")
    settings_of(settings)
    seed = seed_of(seed)
    corpora = {name: law.rows(table) for name, table in corpora.items()}
    references = {name: law.reference(rows) for name, rows in corpora.items()}
    together = Together(law, list(corpora), shared, pooled)
    program = compiled(together, corpora, references, choose(sampler))

    def draw(asked, thin):
        sampled, stats, _ = program.sample(asked.longer(thin), seed)
        return None, thinned(sampled, thin), thinned(stats, thin)

    effort = replace(law.effort, target_accept=TARGET_ACCEPT)
    (_, posterior, _), _, found = sample_enough(draw, effort, **settings)
    likelihood = {}
    for corpus, rows in corpora.items():
        draws = law.draws(posterior.sel(corpus=corpus, drop=True), rows, references[corpus])
        likelihood[corpus] = draws.log_likelihood()
    diagnostics.warn(law, found)
    posterior.attrs["law"] = f"{law.label}, {len(corpora)} corpora"
    return posterior, likelihood, found


@dataclass(frozen=True)
class Together:
    """A law of several corpora as something to sample; see `fit_corpora`.

    Parameters
    ----------
    law : LossLaw
    corpora : list of str
    shared, pooled : sequence of str
    """

    law: LossLaw
    corpora: list
    shared: tuple
    pooled: tuple

    traceable = True
    block_axis = None

    @property
    def name(self):
        """The law's."""
        return self.law.name

    def model_data(self, rows, references):
        """Arrays of each corpus under names that begin with its place."""
        return {
            f"{i} {name}": x
            for i, corpus in enumerate(self.corpora)
            for name, x in self.law.model_data(rows[corpus], references[corpus]).items()
        }

    def axis_of(self, name, array):
        """Axes of the law, of each corpus."""
        place, own = name.split(" ", 1)
        axis = self.law.axis_of(own, array)
        return axis and f"{place} {axis}"

    @property
    def _coordinates(self):
        """Coordinates of the spread, of typical values and of each corpus; of a pooled quantity they are logarithms."""
        priors, several = {"spread": SPREAD}, {}
        for name, prior in self.law.prior_of.items():
            if name in self.pooled:
                priors[f"typical_{name}"] = prior
                prior = Prior("LogNormal", {"mu": float(np.log(prior.frozen.median())), "sigma": 1.0})
            priors[name] = prior
            if name not in self.shared:
                several[name] = ("corpus", len(self.corpora))
        return Coordinates(priors, several)

    def log_density_terms(self, blocks, data):
        """Log density of the priors and of each corpus's runs."""
        values, densities = self._coordinates.values(*blocks)
        for name in self.pooled:  # the prior of its coordinate hangs on the spread and the typical value
            centre = log(values[f"typical_{name}"])
            densities[name] = normal_logp(log(values[name]) - centre, values["spread"])
        found = [*densities.values()]
        for i in range(len(self.corpora)):
            its = {name: values[name] if name in self.shared else values[name][i] for name in self.law.prior_of}
            begin = f"{i} "
            own = {name.removeprefix(begin): x for name, x in data.items() if name.startswith(begin)}
            found.append(self.law.density_of_rows(its, own))
        return tuple(found)

    def start(self, references):
        """Medians of the priors."""
        return (self._coordinates.start(),)

    def at_coordinates(self, z, references):
        """Name what is sampled; what each corpus has of its own has the dim ``corpus``."""
        return xr.Dataset(self._coordinates.named(z), draw_coordinates(*z.shape[:2]) | {"corpus": self.corpora})

    def model(self, rows, references):
        """Build the PyMC model."""
        pm, law = pymc(), self.law
        with pm.Model(coords={"corpus": self.corpora}) as model:
            values = {}
            spread = SPREAD.variable("spread")
            for name, prior in law.prior_of.items():
                if name in self.pooled:
                    typical = prior.variable(f"typical_{name}")
                    values[name] = pm.LogNormal(name, pm.math.log(typical), spread, dims="corpus")
                else:
                    values[name] = prior.variable(name, dims=None if name in self.shared else "corpus")
            for i, corpus in enumerate(self.corpora):
                own = {name: x if name in self.shared else x[i] for name, x in values.items()}
                law.observe(corpus, own, references[corpus], law.design_arrays(rows[corpus], references[corpus]))
        return model
