"""A byte-level BPE trained on the corpus, and the tokens that it makes."""

import gzip
import itertools
import zlib
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from ....datasets.files import written_whole
from ....datasets.wording import printable, shortened
from ....errors import InputError
from ...engine.fields import check_value
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
    """Train a byte-level BPE, a tokenizers.Tokenizer, on an iterable of str.

    The vocabulary has at most 257 to 65,536 tokens: the 256 bytes, the end of a document, and merges. `InputError` is
    raised if it is out of range, or the library is not installed.
    """
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

    The files of the tokens and of the tokeniser are in the folder, named `stem` and their endings. `pieces` returns an
    iterable of str, on which the tokeniser is trained, and `documents` one of documents, as `write_tokens` takes it.
    The vocabulary is that of the model, and the most that the tokeniser has. The last tokens, a share `held_out`, are
    held out. `limit` is the number of tokens after which to stop. `InputError` is raised if the vocabulary is out of
    range, or a file cannot be written.
    """
    path = Path(folder) / f"{stem}.bin"
    if not path.exists():
        tokeniser = train_tokeniser(pieces(), vocabulary)
        with written_whole(path.with_suffix(".json")) as partial:
            tokeniser.save(str(partial))
        write_tokens(documents(), tokeniser, path, limit=limit)
    return open_token_files(path, vocabulary=vocabulary, held_out=held_out)


def write_tokens(documents, tokeniser, path, *, limit=None):
    """Write documents as a file of little-endian uint16, an end-of-text token after each.

    Each document is an iterable of str, its pieces in order. The file is written whole or not at all, and ends after
    `limit` tokens; `InputError` is raised if it cannot be written.
    """
    total, limit = 0, limit or np.inf
    with written_whole(path) as partial, open(partial, "wb") as file:
        for tokens in _tokens(documents, tokeniser):
            tokens = tokens[: int(min(len(tokens), limit - total))]
            file.write(tokens.tobytes())
            total += len(tokens)
            if total >= limit:
                break


def read_pieces(path):
    """Read a .txt or .txt.gz file in pieces of about 65 thousand characters, each of whole lines.

    `InputError` is raised if the file cannot be read or is not UTF-8.
    """
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
