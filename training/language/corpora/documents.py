"""Any iterable of documents as a corpus, Hugging Face's data sets among them."""

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable
from typing import Annotated

from pydantic import Field

from ....datasets.wording import quoted, shortened
from ....errors import InputError
from ...engine.fields import Count, ProperShare
from .tokenisers import Tokenised, tokenise_once

Paths = str | Annotated[tuple[str, ...], Field(min_length=1)]


def open_documents(
    documents: Callable[[], Iterable[str]],
    *,
    vocabulary: Tokenised,
    folder: str | os.PathLike,
    name: str,
    tokens: Count,
    held_out: ProperShare = 0.05,
    sample: Count = 10_000,
):
    """Tokenise documents, once, and open the tokens as `StoredTokens`.

    `InputError` is raised if there are no documents, or the tokens cannot be written.

    Parameters
    ----------
    documents : callable
        Takes no argument and returns an iterable of str; it is called twice, for the tokeniser and for the tokens.
    vocabulary : int
        Number of tokens of the model, and the most that the tokeniser has.
    folder : path
        Where to save the tokens, under a name made from all arguments except `documents`.
    name : str
        Identifies the documents: those under one name are taken to be the same.
    tokens : int
        Tokens after which to stop reading.
    held_out : float
        Share of the tokens, the last ones, that is held out.
    sample : int
        Documents, the first ones, on which the tokeniser is trained.

    Examples
    --------
    >>> import tempfile
    >>> from bayescaling.training import open_documents
    >>> documents = lambda: ["the model reads a token", "and predicts the next one"] * 50
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     corpus = open_documents(documents, vocabulary=300, folder=folder, name="example", tokens=500)
    >>> len(corpus.training) + len(corpus.evaluation)
    500
    """
    words = json.dumps([name, vocabulary, tokens, sample])
    return tokenise_once(
        f"documents-{hashlib.sha256(words.encode()).hexdigest()[:16]}",
        folder,
        pieces=lambda: itertools.islice(_texts(documents, name), sample),
        documents=lambda: ([text] for text in _texts(documents, name)),
        vocabulary=vocabulary,
        held_out=held_out,
        limit=tokens,
    )


def hugging_face(
    name: str,
    *,
    column: str = "text",
    configuration: str | None = None,
    split: str = "train",
    files: Paths | None = None,
):
    """Make a callable that streams the documents of a Hugging Face data set, as `open_documents` takes it.

    `InputError` is raised if the library is not installed or is shadowed, or has no such data set or column.

    Parameters
    ----------
    name : str
        Name of the data set, or of a kind of file it reads, as its ``load_dataset`` takes it.
    column : str
        Column that holds the text.
    configuration, split : str, optional
        Which part of it.
    files : str or sequence of str, optional
        Files of it, or files to read where `name` is a kind of file such as ``"json"``.
    """
    load_dataset = _load_dataset()

    def documents():
        try:
            rows = load_dataset(name, configuration, split=split, data_files=files, streaming=True)
            yield from (row[column] for row in rows)
        except KeyError as error:
            raise InputError(f"corpus: {name} has no column {quoted(column)}; name the one with the text") from error
        # The library does not document what it raises without a network, a data set or a split.
        except Exception as error:
            reason = shortened((str(error).splitlines() or [type(error).__name__])[0])
            raise InputError(f"corpus: {name} cannot be streamed ({reason}); check its name and the network") from error

    return documents


def _load_dataset():
    try:
        from datasets import load_dataset
    except ModuleNotFoundError as error:
        if error.name != "datasets":
            raise
        raise InputError("corpus: Hugging Face's datasets is not installed; pip install 'bayescaling[hub]'") from error
    except ImportError as error:
        # A folder of that name lacks the function or, as this package's own, fails in its relative imports.
        if error.name != "datasets" and "relative import" not in str(error):
            raise
        raise InputError(
            'corpus: "import datasets" finds another folder of that name, as in the root of this package\'s '
            "repository, and not Hugging Face's library; start Python in another folder"
        ) from error
    return load_dataset


def _texts(documents, name):
    count = 0
    for text in documents():
        if not isinstance(text, str):
            raise InputError(f"corpus: document {count} of {name} is {type(text).__name__}; give text")
        count += 1
        yield text
    if not count:
        raise InputError(f"corpus: {name} has no documents; give some")
