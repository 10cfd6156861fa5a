"""Text files as a corpus, with a tokeniser trained on them."""

import fnmatch
import glob
import hashlib
import importlib.metadata
import os
from collections.abc import Sequence
from dataclasses import replace

from ....datasets.files import sha256_of_file
from ....datasets.wording import printable, quoted
from ....errors import InputError
from ...engine.fields import ProperShare
from .documents import Paths
from .tokenisers import Tokenised, read_pieces, tokenise_once


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
