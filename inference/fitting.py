"""Fit a law to a table with NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..datasets.checks import warn
from ..datasets.progress_messages import say
from ..datasets.reader import TableSource, as_table
from ..datasets.wording import source_of
from ..errors import InputError, TableNote
from ..models.law import Law
from ..models.laws import as_law
from .fitted import Fit
from .fitter import Fitter
from .samplers.choose import choose
from .settings import seed_of, settings_of
from .stored_answers import stored_answers


def check_options(seed, sampler, settings):
    """Refuse a seed, a sampler or settings of `fit` that cannot be used, before the work that leads to it."""
    settings_of(settings)
    seed_of(seed)
    choose(sampler)


def fit(
    law: Law | str = "coupled",
    table: TableSource | None = None,
    *,
    priors: Mapping[str, Any] | None = None,
    seed: int = 1,
    sampler: str | None = None,
    prior_predictive: bool = False,
    posterior_predictive: bool = False,
    log_likelihood: bool | None = None,
    check: bool = True,
    progress: bool = False,
    **settings: Any,
) -> Fit:
    """Fit a law to a table with NUTS, check it, and make the answers that the fit prints.

    Parameters
    ----------
    law : Law or str
        Such as ``Chinchilla()``, ``Progress(7)`` or ``Lengths()``, or its name such as ``"chinchilla"``. The coupled
        law is the default: it predicts runs beyond the fitted ones better than Chinchilla's law. It does so in
        rollouts of ten public tables, for all of their six sources.
    table : DataFrame, path, str or mapping
        Required. Of the law's kind, from `load` or `read`. A file, the name of a built-in table, another frame or a
        dict of columns is read without options.
    priors : mapping of str to str or distribution, optional
        Replace priors of the law by name: text such as ``"LogNormal(-1, 0.5)"``, or a distribution of PyMC or PreliZ.
    seed : int
        The same seed gives the same draws on one machine.
    sampler : {"nutpie", "numpyro", "pymc"}, optional
        nutpie by default; NumPyro with vectorised chains where JAX sees an accelerator.
    prior_predictive, posterior_predictive : bool
        Add the groups of these names (and ``prior``).
    log_likelihood : bool, optional
        Whether the fit holds the log density of every unit under every draw, which ArviZ's functions need. By default
        it does where these are at most 20 million (5,000 rows of 4,000 draws). What of this package needs
        them evaluates them again where they are not held. Beyond 20 million, 1,000 of the draws sum up the rows.
    check : bool
        Check the law and make the answers that the fit prints, where the table is of at most 4,000 rows, so that both
        take a second. Beyond, `Fit.check` makes them. Without it they are made when they are first needed, such as in
        a loop of fits that none is printed of.
    progress : bool
        Show a progress bar on standard error.
    **settings
        ``draws=1000``, ``chains=4``, ``cores``, ``tune`` and ``target_accept``. The last two are by default what the
        law needs: ``tune=1000``, or 400 for horizons, and ``target_accept=0.8`` or more. Further tries after a
        divergence accept more.

    Returns
    -------
    Fit
        Its tree has the groups ``posterior`` (sampled and derived quantities; dims chain, draw and more),
        ``unconstrained_posterior`` (the same draws on the real line) and ``sample_stats``. There are also
        ``log_likelihood`` (by what leave-one-out leaves out; see above), ``log_prior``, ``observed_data`` and
        ``constant_data`` (run, evaluation or cell; the whole table).

    Raises
    ------
    InputError
        If the table is missing or cannot inform the law, or a law or an option is unknown.

    Warns
    -----
    DiagnosticWarning
        If the chains did not converge.
    TableNote
        If rows are few, so that the law has normal noise with one scatter, or the loss does not fall with a size. Also
        if the rows of papers reject a law without paper effects: a fit with them is returned instead.
    SizeNote
        If the log likelihood is left out for its size.

    Examples
    --------
    >>> import bayescaling as bs
    >>> runs = bs.load("chinchilla_runs")
    >>> fit = bs.fit(bs.laws.Chinchilla(noise="normal"), runs, seed=1, draws=500, tune=500)
    >>> 0.2 < float(fit["posterior"]["alpha"].median()) < 0.6
    True
    """
    law = as_law(law, priors)
    if table is None:
        raise InputError("table is missing; pass a table of runs such as table=load('chinchilla_runs')")
    table = as_table(table, law.kind, law.needed)
    check_options(seed, sampler, settings)
    settings |= {"prior_predictive": prior_predictive, "posterior_predictive": posterior_predictive}
    settings |= {"seed": seed, "log_likelihood": log_likelihood, "progress": progress}
    result = _fitted(law, table, sampler, settings)
    if check:
        say(f"checking {result.law.label}", progress)
        stored_answers(result)
    return result


def _fitted(law, table, sampler, settings):
    """Fit the law that is suited to a table, with effects of groups of rows where they reject it without."""
    fitter = Fitter(law.suited(table), table, sampler=sampler)
    place = source_of(table)
    for sentence in law.notes(fitter.law, fitter.rows):
        warn(f"{place}: {sentence}", TableNote)
    result = fitter.fit(**settings)
    wide, shared = fitter.law.with_effects(fitter.rows), fitter.law.deviation_test
    if wide is None or result.check()["tests"][shared]["fits"]:
        return result
    other = fitter.other(wide).fit(**settings)
    if not other.check()["tests"][shared]["fits"]:
        return result
    because = f"rows of one {shared.removeprefix('means by ')} share a deviation"
    warn(f"{place}: the law fitted is {wide.label}, because {because}", TableNote)
    return other
