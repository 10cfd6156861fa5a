"""Text as a corpus: files, installed packages or any documents, with a byte-level BPE trained on them."""

import fnmatch
import glob
import gzip
import hashlib
import importlib.metadata
import itertools
import json
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from ....datasets.files import sha256_of_file, written_whole
from ....datasets.wording import printable, quoted, shortened
from ....errors import InputError
from ...engine.fields import Count, ProperShare, check_value
from .token_files import LARGEST, open_token_files

END_OF_TEXT = "<|endoftext|>"
# The 256 bytes and the end of text.
SMALLEST = 257
# The vocabulary of a corpus that is tokenised here.
Tokenised = Annotated[int, Field(ge=SMALLEST, le=LARGEST)]
# Characters of a piece of text, and pieces encoded at once.
PIECE = 2**16
BATCH = 256


def train_tokeniser(pieces, vocabulary):
    """Train a byte-level BPE, a tokenizers.Tokenizer, on texts: 256 bytes, the end of a document, and merges."""
    try:
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    except ModuleNotFoundError as error:
        raise InputError("corpus: tokenizers is not installed; pip install 'bayescaling[training]'") from error
    check_value("corpus: vocabulary", vocabulary, Tokenised)
    tokeniser = Tokenizer(models.BPE())
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokeniser.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokeniser.train_from_iterator(pieces, trainer)
    return tokeniser


def tokenise_once(stem, folder, *, pieces, documents, vocabulary, held_out, limit=None):
    """Open the tokens of documents as `StoredTokens`; if they are not there yet, train a tokeniser and write them.

    The tokeniser is trained on the texts that `pieces` returns, and `documents` returns what `write_tokens` takes. The
    last tokens, a share `held_out`, are held out.
    """
    path = Path(folder) / f"{stem}.bin"
    if not path.exists():
        tokeniser = train_tokeniser(pieces(), vocabulary)
        with written_whole(path.with_suffix(".json")) as partial:
            tokeniser.save(str(partial))
        write_tokens(documents(), tokeniser, path, limit=limit)
    return open_token_files(path, vocabulary=vocabulary, held_out=held_out)


def write_tokens(documents, tokeniser, path, *, limit=None):
    """Write documents, each its pieces in order, as little-endian uint16, with an end of text after each."""
    total, limit = 0, limit or np.inf
    with written_whole(path) as partial, open(partial, "wb") as file:
        for tokens in _tokens(documents, tokeniser):
            tokens = tokens[: int(min(len(tokens), limit - total))]
            file.write(tokens.tobytes())
            total += len(tokens)
            if total >= limit:
                break


def read_pieces(path):
    """Read a .txt or .txt.gz file in pieces of about 65 thousand characters, each of whole lines."""
    opened = gzip.open if Path(path).suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            while lines := file.readlines(PIECE):
                yield "".join(lines)
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x}"
        raise InputError(f"{printable(path)}: {byte} is not UTF-8 text; save the text as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or shortened(str(error))
        raise InputError(f"{printable(path)}: cannot be read ({reason}); check the file") from error


def _tokens(documents, tokeniser):
    for document in documents:
        pieces = iter(document)
        while batch := list(itertools.islice(pieces, BATCH)):
            encodings = tokeniser.encode_batch(batch, add_special_tokens=False)
            yield np.fromiter(itertools.chain.from_iterable(encoding.ids for encoding in encodings), "<u2")
        yield np.array([tokeniser.token_to_id(END_OF_TEXT)], "<u2")


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


def open_text(
    paths: str | Sequence[str], *, vocabulary: Tokenised, folder: str | os.PathLike, held_out: ProperShare = 0.05
):
    """Tokenise text files, once, and open the tokens as `StoredTokens`.

    Each file is a document. The tokeniser is trained on all of them. It and the tokens are saved in `folder`, under a
    name made from the text, so that later calls find them. `InputError` is raised if a pattern matches nothing, a file
    is neither .txt nor .txt.gz or cannot be read as UTF-8, or the tokens cannot be written.

    Parameters
    ----------
    paths : str or sequence of str
        .txt or .txt.gz files, in UTF-8, or patterns such as ``"books/*.txt"``.
    vocabulary : int
        Number of tokens of the model, and the most that the tokeniser has; a short text may give fewer.
    folder : path
        Where to save the tokens.
    held_out : float
        Share of the tokens, the last ones, that is held out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayescaling.training import open_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     book = Path(folder, "book.txt")
    ...     _ = book.write_text("the model reads a token and predicts the next one. " * 100)
    ...     corpus = open_text(str(book), vocabulary=300, folder=folder, held_out=0.1)
    ...     batch = corpus.batch(seed=0, step=0, sequences=4, context=8, device="cpu")
    >>> batch.shape
    torch.Size([4, 9])
    """
    files = set()
    for pattern in [paths] if isinstance(paths, str) else paths:
        matches = glob.glob(os.path.expanduser(pattern), recursive=True)
        if not matches:
            raise InputError(f"corpus: no file matches {quoted(pattern)}; check the path, which counts from the sweep")
        files.update(matches)
    for file in sorted(files):
        if not file.endswith((".txt", ".txt.gz")):
            raise InputError(f"{printable(file)}: text is read from .txt and .txt.gz files; save it as one")
    return _tokenise(sorted(files), vocabulary, folder, held_out)


def open_package(
    package: Paths = "torch",
    *,
    files: str = "*.py",
    vocabulary: Tokenised,
    folder: str | os.PathLike,
    held_out: ProperShare = 0.05,
):
    """Tokenise the text files of installed packages, once, and open the tokens as `StoredTokens`.

    Equal files are one document. The order is that of their SHA-256, so that any folder may have files in the held-out
    part. The fingerprint has name, version and licence of each package and the SHA-256 of the text. `InputError` is
    raised if a package is not installed or has no such file, or a file is not UTF-8 text.

    Parameters
    ----------
    package : str or sequence of str
        Installed packages whose files are the text.
    files : str
        Pattern of their files, in any folder.
    vocabulary : int
        Number of tokens of the model, and the most that the tokeniser has.
    folder : path
        Where to save the tokens.
    held_out : float
        Share of the tokens, the last ones, that is held out.
    """
    paths, labels = {}, []
    for name in [package] if isinstance(package, str) else package:
        try:
            distribution = importlib.metadata.distribution(name)
        except (importlib.metadata.PackageNotFoundError, ValueError) as error:
            raise InputError(f"corpus: package {quoted(name)} is not installed; pip install {name}") from error
        listed = (file for file in distribution.files or () if fnmatch.fnmatchcase(str(file), files))
        matches = [str(path) for file in listed if (path := file.locate()).is_file()]
        if not matches:
            raise InputError(f"corpus: package {name} has no file {quoted(files)}; give a pattern such as *.py")
        paths |= {sha256_of_file(path): path for path in matches}
        labels.append(f"{name} {distribution.version} ({_licence(distribution.metadata)})")
    corpus = _tokenise([paths[digest] for digest in sorted(paths)], vocabulary, folder, held_out)
    text = hashlib.sha256("".join(sorted(paths)).encode()).hexdigest()
    return replace(corpus, fingerprint=f"{', '.join(labels)} {text} {corpus.fingerprint}")


def _licence(metadata):
    classifiers = [line for line in metadata.get_all("Classifier", ()) if line.startswith("License ::")]
    stated = metadata.get("License-Expression") or " ".join(classifiers) or metadata.get("License")
    return stated.splitlines()[0].rpartition(" :: ")[2] if stated else "no licence stated"


def _tokenise(files, vocabulary, folder, held_out):
    contents = "\n".join([str(vocabulary), *map(sha256_of_file, files)])
    return tokenise_once(
        f"text-{hashlib.sha256(contents.encode()).hexdigest()[:16]}",
        folder,
        pieces=lambda: (piece for file in files for piece in read_pieces(file)),
        documents=lambda: map(read_pieces, files),
        vocabulary=vocabulary,
        held_out=held_out,
    )
