"""Families of models: how embedding parameters grow over one, ``N_E = gamma N_x**delta``, as point estimates.

References
----------
.. [1] Pearce, T. and Song, J. (2024). Reconciling Kaplan and Chinchilla scaling laws. arXiv:2406.12907, section 2.
"""

import functools

import numpy as np

from ...datasets import CHINCHILLA_VOCABULARY, load
from ..naming import check_positive
from . import embeddings

MOST_STEPS, ROUNDING = 100, 1e-12


def least_squares(table, *, delta=None):
    """Fit ``log(N_x + gamma N_x**delta)`` to log N_T by least squares, as Pearce and Song (2024) do: gamma and delta.

    The table has ``parameters`` (N_T) and ``parameters_nonembedding`` (N_x) of each model. A delta may be fixed.
    """
    total, nonembedding = (np.log(table[c].to_numpy(float)) for c in ("parameters", "parameters_nonembedding"))
    centred = nonembedding - nonembedding.mean()
    start = float(np.mean(np.log(np.expm1(total - nonembedding)) + nonembedding))
    theta = np.array([start, embeddings.PROPORTIONAL if delta is None else delta])
    for _ in range(MOST_STEPS):  # of Gauss and Newton, on the logarithm of the embeddings in the middle and on delta
        log_embedding = theta[0] + theta[1] * centred
        share = 1 / (1 + np.exp(nonembedding - log_embedding))
        residual = total - np.logaddexp(nonembedding, log_embedding)
        slopes = np.column_stack([share, share * centred])[:, : 1 if delta is not None else 2]
        step = np.linalg.lstsq(slopes, residual)[0]
        theta[: len(step)] += step
        if (abs(step) < ROUNDING).all():
            break
    return float(np.exp(theta[0] - theta[1] * nonembedding.mean())), float(theta[1])


def regression(table):
    """Fit log N_E on log N_x by ordinary least squares: gamma and delta."""
    nonembedding = table["parameters_nonembedding"].to_numpy(float)
    embedding = table["parameters"].to_numpy(float) - nonembedding
    delta, intercept = np.polyfit(np.log(nonembedding), np.log(embedding), 1)
    return float(np.exp(intercept)), float(delta)


def estimates(table, vocabulary):
    """Return all three estimates by name, with the aspect ratio (width over depth) implied at delta = 1/3.

    They are ``least_squares``, ``regression`` and ``proportional`` (least squares at delta = 1/3), each a dict of
    ``gamma``, ``delta`` and ``aspect_ratio``. The last is None where delta is not 1/3: the shape depends on the size.
    """
    pairs = {
        "least_squares": least_squares(table),
        "regression": regression(table),
        "proportional": least_squares(table, delta=embeddings.PROPORTIONAL),
    }
    shape = float(embeddings.aspect_ratio(pairs["proportional"][0], vocabulary))
    return {
        name: {"gamma": gamma, "delta": delta, "aspect_ratio": shape if name == "proportional" else None}
        for name, (gamma, delta) in pairs.items()
    }


def chinchilla_configurations():
    """Return N_T and N_x of the models of the Chinchilla study, as a table that `Configurations` fits."""
    models = load("chinchilla_models")
    return models.assign(parameters_nonembedding=models["parameters"] - CHINCHILLA_VOCABULARY * models["d_model"])


def family_constant(vocabulary=None, aspect_ratio=None):
    """Return gamma of ``N_E = gamma N_x**(1/3)`` for models of a vocabulary and shape, Chinchilla's where None."""
    for name, value in (("vocabulary", vocabulary), ("aspect_ratio", aspect_ratio)):
        if value is not None:
            check_positive(name, value)
    vocabulary = CHINCHILLA_VOCABULARY if vocabulary is None else vocabulary
    return float(embeddings.embedding_constant(vocabulary, aspect_ratio or _chinchilla_shape()))


@functools.lru_cache(maxsize=1)
def _chinchilla_shape():
    """Return the aspect ratio of Chinchilla's models."""
    gamma, _ = least_squares(chinchilla_configurations(), delta=embeddings.PROPORTIONAL)
    return float(embeddings.aspect_ratio(gamma, CHINCHILLA_VOCABULARY))
