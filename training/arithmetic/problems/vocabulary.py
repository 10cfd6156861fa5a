"""The tokens of arithmetic problems, the same for every task, and their text."""

import torch

from ....datasets.wording import quoted
from ....errors import InputError

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
