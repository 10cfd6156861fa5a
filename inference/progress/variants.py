"""Variants of a specification, and the doubling time under each."""

from ...models.draws import flatten
from ...models.progress.law import Progress

VARIANTS = {
    "student_t": {"noise": "student_t"},
    "log_loss": {"scale": "log_loss"},
    "pooling": {"pooling": True},
    "paper_effects": {"paper_effects": True},
    "scatter": {"scatter": "by_benchmark"},
    "paper_effects_scatter": {"paper_effects": True, "scatter": "by_benchmark"},
    "irreducible": {"irreducible": True},
    "transformer_exp": {"transformer": "exp"},
    "transformer_sigmoid": {"transformer": "sigmoid"},
    "non_transformers": {"architectures": "other"},
    "tokens_seen_imputed": {"data": "tokens_seen"},
    "tokens_seen": {"data": "tokens_seen", "unknown_epochs": "drop"},
    "diminishing_imputed": {"data": "diminishing"},
    "diminishing": {"data": "diminishing", "unknown_epochs": "drop"},
    "repeated_imputed": {"data": "repeated"},
    "repeated": {"data": "repeated", "unknown_epochs": "drop"},
}


def fit_variants(fitter, *, specification=7, variants=VARIANTS, seed=1, **settings):
    """Fit variants of a specification.

    Parameters
    ----------
    fitter : Fitter
        From `progress.new_fitter`.
    specification : int
    variants : dict of str to dict
        Options of `Progress` by name.
    seed : int

    Returns
    -------
    dict of str to Fit
    """
    laws = {name: Progress(specification, **options) for name, options in variants.items()}
    return fitter.fit_each(laws, seed=seed, **settings)


def coefficients(fit):
    """Return named scalars of a fit: dict of (chain, draw) arrays."""
    return flatten(fit["posterior"].to_dataset())
