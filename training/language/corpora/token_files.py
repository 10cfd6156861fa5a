"""Tokens in files of uint16, as nanoGPT writes them, read as random windows."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from ....datasets.files import sha256_of_file
from ....datasets.wording import printable, shortened
from ....errors import InputError
from ...engine.fields import ProperShare, check_value, hints
from ...engine.randomness import below, hashed

# Tokens that uint16 can hold, and tokens checked at once.
LARGEST = 2**16
CHUNK = 2**24
# Above this many bytes of tokens, windows are gathered on the host and travel to the device.
RESIDENT = 2**32


@dataclass(frozen=True)
class Span:
    """Tokens `start` to `stop` of a file of little-endian uint16."""

    path: str
    start: int
    stop: int

    def __len__(self):
        return self.stop - self.start


@dataclass(frozen=True)
class StoredTokens:
    """A corpus of stored tokens: windows at random places to train on, and evenly spaced ones to evaluate on.

    The vocabulary has at most 65,536 tokens. The fingerprint has the SHA-256 of the files and their division.
    """

    training: Span
    evaluation: Span
    vocabulary: int
    fingerprint: str

    def check(self, context):
        """Raise `InputError` if a part is shorter than a window of `context` + 1 tokens."""
        for part, span in (("training", self.training), ("held-out", self.evaluation)):
            if len(span) < context + 1:
                raise InputError(
                    f"{printable(span.path)}: the {part} part has {len(span)} tokens where a context of {context} "
                    f"needs {context + 1}; give more text or a shorter context"
                )

    def batch(self, seed, step, sequences, context, device):
        """Read windows of the training part, (sequences, context + 1), at places that depend on (seed, step) alone."""
        first = below(hashed(seed, step, torch.arange(sequences)), len(self.training) - context)
        return self._windows(self.training, first, context, torch.device(device))

    def held_out(self, sequences, context, device):
        """Read windows of the held-out part, evenly spaced without overlap, at most `sequences` of them."""
        places = len(self.evaluation) // (context + 1)
        count = min(sequences, places)
        first = torch.arange(count) * places // count * (context + 1)
        return self._windows(self.evaluation, first, context, torch.device(device))

    def _windows(self, span, first, context, device):
        if 2 * len(span) > RESIDENT:
            places = (first + span.start)[:, None] + torch.arange(context + 1)
            return torch.from_numpy(mapped(span.path)[places.numpy()].astype(np.int64)).to(device)
        places = first.to(device)[:, None] + torch.arange(context + 1, device=device)
        # The tensor holds the bits of uint16 as int16, which every operation supports.
        return _resident(span, device)[places].long() & 0xFFFF


def open_token_files(
    training: str | os.PathLike,
    evaluation: str | os.PathLike | None = None,
    *,
    vocabulary: Annotated[int, Field(ge=2, le=LARGEST)],
    held_out: ProperShare = 0.05,
):
    """Open files of tokens as `StoredTokens`.

    `InputError` is raised if a file cannot be read, is no file of uint16, or holds a token outside the vocabulary.

    Parameters
    ----------
    training : path
        File of little-endian uint16 without a header, as nanoGPT's ``train.bin``.
    evaluation : path, optional
        Another one to evaluate on, as nanoGPT's ``val.bin``; by default the last part of the first.
    vocabulary : int
        Number of tokens; every token must be below it.
    held_out : float
        Share of `training` that is held out if there is no other file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from bayescaling.training import open_token_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.bin")
    ...     np.arange(1000, dtype="<u2").tofile(path)
    ...     corpus = open_token_files(path, vocabulary=1000)
    >>> len(corpus.training), len(corpus.evaluation)
    (950, 50)
    """
    for name, value in (("vocabulary", vocabulary), ("held_out", held_out)):
        check_value(f"corpus: {name}", value, hints(open_token_files)[name])
    paths = [os.path.realpath(os.path.expanduser(path)) for path in (training, evaluation) if path is not None]
    counts = [_checked(path, vocabulary) for path in paths]
    if evaluation is None:
        cut = counts[0] - round(counts[0] * held_out)
        spans = Span(paths[0], 0, cut), Span(paths[0], cut, counts[0])
    else:
        spans = Span(paths[0], 0, counts[0]), Span(paths[1], 0, counts[1])
    division = [word for span in spans for word in (span.start, span.stop)]
    fingerprint = " ".join(map(str, [*map(sha256_of_file, paths), *division, vocabulary]))
    return StoredTokens(*spans, vocabulary, fingerprint)


def _checked(path, vocabulary):
    tokens = mapped(path)
    for start in range(0, len(tokens), CHUNK):
        chunk = tokens[start : start + CHUNK]
        if (largest := int(chunk.max())) >= vocabulary:
            place = start + int(chunk.argmax())
            raise InputError(
                f"{printable(path)}: token {largest} at position {place} is outside the vocabulary of {vocabulary}; "
                "give the vocabulary of the tokeniser that wrote the file"
            )
    return len(tokens)


def mapped(path):
    """Map a file of tokens into memory, uint16, shape (tokens,); raise `InputError` if it is none."""
    try:
        size = Path(path).stat().st_size
        if size == 0 or size % 2:
            raise InputError(
                f"{printable(path)}: {size} bytes are no file of uint16 tokens, two bytes each; write the file again"
            )
        return np.memmap(path, dtype="<u2", mode="r")
    except OSError as error:
        reason = error.strerror or shortened(str(error))
        raise InputError(f"{printable(path)}: cannot be read ({reason}); check the path") from error


@functools.lru_cache(maxsize=4)
def _resident(span, device):
    part = np.array(mapped(span.path)[span.start : span.stop], dtype=np.uint16).view(np.int16)
    return torch.from_numpy(part).to(device)
