"""Text files as a corpus, with a tokeniser trained on them."""

import glob
import hashlib
import os
from collections.abc import Sequence

from ....datasets.files import sha256_of_file
from ....datasets.wording import printable, quoted
from ....errors import InputError
from ...engine.fields import ProperShare
from .tokenisers import Tokenised, pieces_of, tokenised_once

SUFFIXES = (".txt", ".txt.gz")


def open_text(
    paths: str | Sequence[str], *, vocabulary: Tokenised, folder: str | os.PathLike, held_out: ProperShare = 0.05
):
    """Tokenise text files, once, and open the tokens as `StoredTokens`.

    Each file is a document. The tokeniser is trained on all of them. It and the tokens are saved in `folder`, under a
    name made from the text, so that later calls find them. `InputError` is raised if no file matches, one cannot be
    read or is not UTF-8 text, or the tokens cannot be written.

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
    files = text_files([paths] if isinstance(paths, str) else paths)
    contents = "\n".join([str(vocabulary), *map(sha256_of_file, files)])
    return tokenised_once(
        f"text-{hashlib.sha256(contents.encode()).hexdigest()[:16]}",
        folder,
        pieces=lambda: (piece for file in files for piece in pieces_of(file)),
        documents=lambda: map(pieces_of, files),
        vocabulary=vocabulary,
        held_out=held_out,
    )


def text_files(patterns):
    """List the files that patterns match, sorted, each once.

    `InputError` is raised if a pattern matches nothing, or a file is neither .txt nor .txt.gz.
    """
    files = set()
    for pattern in patterns:
        matches = glob.glob(os.path.expanduser(pattern), recursive=True)
        if not matches:
            raise InputError(f"corpus: no file matches {quoted(pattern)}; check the path, which counts from the sweep")
        files.update(matches)
    for file in sorted(files):
        if not file.endswith(SUFFIXES):
            raise InputError(f"{printable(file)}: text is read from .txt and .txt.gz files; save it as one")
    return sorted(files)
