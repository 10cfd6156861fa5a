"""The layout of problems as tokens: all possible parts side by side in a wide table, then packed to the left.

The vocabulary is the same for every task.
"""

import math
from typing import NamedTuple

import torch

from ....datasets.wording import quoted
from ....errors import InputError
from ...engine.randomness import hashed, top_bits
from .digits import DTYPE

PAD, UNK, BOS, EOS = range(4)
DIGIT0 = 4
PLUS, MINUS, TIMES, EQUALS, SPACE, COMMA, COLON, OR = range(14, 22)
# All tokens from here on are labels of numbers to sort and index hints of digits.
LABEL0 = 22

# Letters except x, which is the multiplication sign; then those of other alphabets.
_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz"
_OTHERS = ((0x391, 0x3A1), (0x3A3, 0x3A9), (0x3B1, 0x3C9), (0x410, 0x44F), (0x531, 0x556), (0x561, 0x586))
LABELS = _LATIN + "".join(chr(code) for first, last in _OTHERS for code in range(first, last + 1))
# Padding, unknown, beginning and end have a sign each, so that all tokens can be written as text and read back.
SYMBOLS = "·?^$0123456789+-x= ,:|" + LABELS
_TOKENS = {symbol: token for token, symbol in enumerate(SYMBOLS)}


def encode(text):
    """Make tokens of a text, one for each character: int64, shape (characters,).

    `InputError` is raised if a character is not in the vocabulary.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import encode
    >>> encode("12+3").tolist()
    [5, 6, 14, 7]
    """
    for place, symbol in enumerate(text, 1):
        if symbol not in _TOKENS:
            raise InputError(f"problem: character {place}, {quoted(symbol)}, is not in the vocabulary; leave it out")
    return torch.tensor([_TOKENS[symbol] for symbol in text], dtype=torch.int64)


def decode(tokens):
    """Make the text of tokens, one character each, which `encode` turns back into them.

    Tokens are a tensor or a sequence of int, of shape (length,). Padding is ``·``, the end ``$``, and a token that is
    in no vocabulary ``?``.

    Examples
    --------
    >>> from bayescaling.training.arithmetic import Addition, decode
    >>> batch = Addition(largest=3).cell(2, 2, count=2, seed=0, device="cpu")
    >>> len(decode(batch.tokens[0])) == batch.tokens.shape[1]
    True
    """
    numbers = tokens.tolist() if isinstance(tokens, torch.Tensor) else tokens
    return "".join(SYMBOLS[token] if 0 <= token < len(SYMBOLS) else SYMBOLS[UNK] for token in numbers)


# First word of the hash that random padding is drawn by.
PADDING = 2
# Most paddings in one place; the k-th has probability rate / 10^(k - 1) given those before.
RUN = 3


class Batch(NamedTuple):
    """Problems as tokens.

    `tokens`, int64, shape (problems, width), are padded on the right. `scored`, bool, of that shape, has the tokens of
    the answer, after the equals sign, the end included. From the second token on, training predicts each scored token
    from those before it.
    """

    tokens: torch.Tensor
    scored: torch.Tensor


class Segment(NamedTuple):
    """Columns of a table: tokens, int16, (problems, columns), and which the problem holds, bool, of that shape."""

    tokens: torch.Tensor
    present: torch.Tensor


def symbol(token, keys):
    """Make a part of one token that all problems hold, which have a key each."""
    tokens = torch.full((len(keys), 1), token, dtype=DTYPE, device=keys.device)
    return Segment(tokens, torch.ones_like(tokens, dtype=torch.bool))


def number(digits, lengths, starts, pool, *, reverse=True):
    """Make the part of a number of which `lengths` digits are written, the lowest first if `reverse`.

    Hints before each digit are labels of the pool from `starts`; without starts there are none.
    """
    columns = digits.shape[-1]
    place = torch.arange(columns, device=digits.device)
    present = place < lengths[..., None]
    if not reverse:
        digits = digits.gather(-1, (lengths[..., None].long() - 1 - place).clamp(min=0))
    tokens = digits + DIGIT0
    if starts is None:
        return Segment(tokens, present)
    hints = labels(starts, columns, pool)
    tokens = torch.stack([hints.expand(tokens.shape), tokens], -1).flatten(-2)
    return Segment(tokens, present.repeat_interleave(2, -1))


def labels(start, columns, pool):
    """Return consecutive labels of a pool from a start, as tokens, (..., columns); the first follows the last."""
    return (LABEL0 + (start[..., None] + torch.arange(columns, device=start.device)) % pool).to(DTYPE)


def written(parts, width, keys=None, rate=0.0):
    """Write problems of some parts, in order, of which the last is the end of the problem, as a `Batch` of a width.

    Random padding comes before a token other than the end with probability `rate`. Given one padding, a second has
    probability rate / 10, and given two, a third has rate / 100. What does not fit into the width is left out.
    """
    tokens, present = (torch.cat(columns, 1) for columns in zip(*parts, strict=True))
    position = present.cumsum(1)
    if rate:
        inserted = _inserted(keys, present, rate).cumsum(1)
        position = position + torch.minimum(inserted, width - position[:, -1:])
    # Column 0 collects the tokens that a problem does not hold.
    wide = torch.full((len(tokens), width + 1), PAD, dtype=DTYPE, device=tokens.device)
    tokens = wide.scatter_(1, position * present, tokens)[:, 1:].long()
    equals = tokens == EQUALS
    return Batch(tokens, equals.cumsum(1).bool() & ~equals & (tokens != PAD))


def room(width, rate):
    """Count the places to add to a width for random padding: its mean plus six standard deviations."""
    if not rate:
        return 0
    mean = sum(_chances(rate))
    square = sum((2 * most - 1) * chance for most, chance in enumerate(_chances(rate), 1))
    return math.ceil(width * mean + 6 * math.sqrt(width * (square - mean**2)))


def _inserted(keys, present, rate):
    place = torch.arange(present.shape[1], device=present.device)
    word = top_bits(hashed(keys[:, None], PADDING, place), 32)
    counts = sum((word < round(chance * 2**32)).to(DTYPE) for chance in _chances(rate))
    return counts * present * (place < present.shape[1] - 1)


def _chances(rate):
    chances = [rate]
    for place in range(1, RUN):
        chances.append(chances[-1] * rate / 10**place)
    return chances
