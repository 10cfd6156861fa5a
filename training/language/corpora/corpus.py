"""What a corpus is, and the corpora that a sweep's file can name."""

import os
from pathlib import Path
from typing import Protocol

import torch

from ....datasets.wording import quoted, unknown
from ....errors import InputError
from ...engine.checks import check_choice
from .documents import hugging_face, open_documents
from .synthetic import Synthetic
from .text import open_text
from .token_files import open_token_files


class Corpus(Protocol):
    """Text as tokens. A batch depends on (seed, step) alone, so that a resumed run reads what an unbroken one does.

    A corpus whose law is known also has ``log_probability(tokens)`` and ``irreducible_loss(context)``; see `Synthetic`.
    """

    vocabulary: int
    fingerprint: str

    def check(self, context: int) -> None:
        """Raise `InputError` if the corpus is shorter than a context."""

    def batch(self, seed: int, step: int, sequences: int, context: int, device: torch.device) -> torch.Tensor:
        """Tokens to train on, int64, shape (sequences, context + 1), on the device."""

    def held_out(self, sequences: int, context: int, device: torch.device) -> torch.Tensor:
        """Tokens to evaluate on, int64, shape (at most sequences, context + 1), the same at every call."""


def open_corpus(table, *, base, folder):
    """Open the corpus that a table describes.

    Parameters
    ----------
    table : mapping
        ``kind`` and the options of that kind: ``"synthetic"`` (those of `Synthetic`), ``"text"`` (files, vocabulary,
        held_out), ``"tokens"`` (training, evaluation, vocabulary, held_out), or ``"hugging-face"`` (name, column,
        configuration, split, files, vocabulary, tokens, held_out, sample).
    base : path
        Folder that relative paths start from.
    folder : path
        Where to keep tokens that are made from text.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        If the kind or an option is unknown, an option is missing, or the corpus cannot be used.

    Examples
    --------
    >>> from bayescaling.training import open_corpus
    >>> open_corpus({"kind": "synthetic", "vocabulary": 64}, base=".", folder=".").vocabulary
    64
    """
    options = dict(table)
    kind = options.pop("kind", "synthetic")
    check_choice("corpus: kind", kind, KINDS)
    needed, optional, opener = KINDS[kind]
    for option in needed - set(options):
        raise InputError(f"corpus: a corpus of {kind} needs {quoted(option)}; add it")
    for option in set(options) - needed - optional:
        raise InputError(unknown(f"corpus: for {kind}, option", option, sorted(needed | optional)))
    try:
        return opener(options, Path(base), Path(folder))
    except TypeError as error:
        raise InputError(f"corpus: an option has a value of the wrong type ({error}); correct it") from error


def _synthetic(options, base, folder):
    return Synthetic(**options)


def _text(options, base, folder):
    files = options.pop("files")
    files = [files] if isinstance(files, str) else files
    return open_text([str(base / os.path.expanduser(file)) for file in files], folder=folder, **options)


def _tokens(options, base, folder):
    for name in {"training", "evaluation"} & set(options):
        options[name] = base / os.path.expanduser(options[name])
    return open_token_files(options.pop("training"), options.pop("evaluation", None), **options)


def _hugging_face(options, base, folder):
    where = {key: options.pop(key) for key in ("column", "configuration", "split", "files") if key in options}
    name = options.pop("name")
    label = " ".join([name, *(f"{key}={value}" for key, value in sorted(where.items()))])
    return open_documents(hugging_face(name, **where), folder=folder, name=label, **options)


KINDS = {
    "synthetic": (set(), {"vocabulary", "exponent", "successors", "backoff", "seed"}, _synthetic),
    "text": ({"files", "vocabulary"}, {"held_out"}, _text),
    "tokens": ({"training", "vocabulary"}, {"evaluation", "held_out"}, _tokens),
    "hugging-face": (
        {"name", "vocabulary", "tokens"},
        {"column", "configuration", "split", "files", "held_out", "sample"},
        _hugging_face,
    ),
}
