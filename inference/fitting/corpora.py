"""One law over several corpora: what is a property of the law is shared, what is one of the text is not."""

from ...errors import InputError
from ...models.backend import pymc
from ...models.priors import Prior
from .. import diagnostics
from .samplers import OfModel, choose
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
    settings, seed = settings_of({"target_accept": TARGET_ACCEPT} | settings), seed_of(seed)
    corpora = {name: law.rows(table) for name, table in corpora.items()}
    references = {name: law.reference(rows) for name, rows in corpora.items()}
    compiled = OfModel(_model(law, corpora, references, shared, pooled), choose(sampler))
    posterior, sample_stats, _ = compiled.sample(settings, seed)
    likelihood = {}
    for corpus, rows in corpora.items():
        draws = law.draws(posterior.sel(corpus=corpus, drop=True), rows, references[corpus])
        likelihood[corpus] = draws.log_likelihood()
    found = diagnostics.diagnose_chains(posterior, sample_stats)
    diagnostics.warn(law, found)
    posterior.attrs["law"] = f"{law.label}, {len(corpora)} corpora"
    return posterior, likelihood, found


def _model(law, corpora, references, shared, pooled):
    pm = pymc()

    with pm.Model(coords={"corpus": list(corpora)}) as model:
        values = {}
        spread = SPREAD.variable("spread")
        for name, prior in law.prior_of.items():
            if name in pooled:
                typical = prior.variable(f"typical_{name}")
                values[name] = pm.LogNormal(name, pm.math.log(typical), spread, dims="corpus")
            else:
                values[name] = prior.variable(name, dims=None if name in shared else "corpus")
        for i, (corpus, rows) in enumerate(corpora.items()):
            own = {name: x if name in shared else x[i] for name, x in values.items()}
            law.observe(corpus, own, references[corpus], law.design_arrays(rows, references[corpus]))
    return model
