"""Exact arithmetic on numbers as tensors of digits, int16, shape (numbers, columns), lowest digit first.

Numbers have any length, and operands may have different columns.

Look-ahead (Kogge and Stone 1973, doi:10.1109/TC.1973.5009159) computes all carries at once. A digit generates a carry
or passes one on, pairs of neighbours form blocks that do the same, and log2(length) such steps give every carry. Masks
multiply instead of selecting, which on a CPU takes a tenth of the time.
"""

import torch
import torch.nn.functional as F

from ...engine.randomness import below, hashed, low_bits

DTYPE = torch.int16
# Digits taken from one word, each uniform to one part in 10^PER_WORD / 2^FRACTION.
FRACTION, PER_WORD = 59, 8
LIMB = 6
BASE = 10**LIMB
# Digits in an int64 that is compared.
COMPARED = 18
# First words of hashes: of the digits after the first, and of the first.
REST, FIRST = 0, 1


def drawn(keys, lengths, columns):
    """Draw numbers of given lengths uniformly, each a function of its key: digits, int16, shape (..., columns)."""
    words = -(-columns // PER_WORD)
    fraction = low_bits(hashed(keys[..., None], REST, torch.arange(words, device=keys.device)), FRACTION)
    taken = []
    for _ in range(PER_WORD):
        fraction = fraction * 10
        taken.append((fraction >> FRACTION).to(DTYPE))
        fraction = low_bits(fraction, FRACTION)
    digits = torch.stack(taken, -1).flatten(-2)[..., :columns]
    highest = 1 + below(hashed(keys, FIRST), 9).to(DTYPE)[..., None]
    place, last = torch.arange(columns, dtype=DTYPE, device=keys.device), (lengths - 1).to(DTYPE)[..., None]
    return digits * (place < last) + highest * (place == last)


def lengths(digits):
    """Count digits without leading zeros, at least 1: int16, shape (...) for digits of shape (..., columns)."""
    place = torch.arange(1, digits.shape[-1] + 1, dtype=DTYPE, device=digits.device)
    return (place * (digits != 0)).amax(-1).clamp(min=1)


def added(first, second):
    """Add numbers; the sum has one column more than the wider operand.

    Examples
    --------
    85 + 27, with the lowest digit first:

    >>> import torch
    >>> from bayescaling.training.arithmetic import added
    >>> added(torch.tensor([[5, 8]], dtype=torch.int16), torch.tensor([[7, 2]], dtype=torch.int16)).tolist()
    [[2, 1, 1]]
    """
    columns = max(first.shape[1], second.shape[1]) + 1
    return _carried(_widened(first, columns) + _widened(second, columns), 10)


def subtracted(first, second):
    """Subtract numbers: digits of the absolute difference, and whether it is negative, bool, shape (numbers,)."""
    columns = max(first.shape[1], second.shape[1])
    difference = _widened(first, columns) - _widened(second, columns)
    negative = _carries(difference < 0, difference == 0)[:, -1]
    difference = difference * (1 - 2 * negative.to(DTYPE))[:, None]
    borrowed = difference - _moved(_carries(difference < 0, difference == 0), 1).to(DTYPE)
    return borrowed + 10 * (borrowed < 0).to(DTYPE), negative


def multiplied(first, second):
    """Multiply numbers: limbs of six digits are added in shifted rows, exact in int64 for up to 10^7 digits."""
    columns = first.shape[1] + second.shape[1]
    shorter, longer = sorted((packed(first, LIMB), packed(second, LIMB)), key=lambda limbs: limbs.shape[1])
    rows, width = shorter.shape[1], longer.shape[1]
    total = torch.zeros(len(first), rows + width, dtype=torch.int64, device=first.device)
    for row in range(rows):
        total[:, row : row + width] += shorter[:, row : row + 1] * longer
    largest = rows * (BASE - 1) ** 2
    while largest > 2 * (BASE - 1):
        upper = total // BASE
        total = total - BASE * upper + _moved(upper, 1)
        largest = BASE - 1 + largest // BASE
    return _unpacked(_carried(total, BASE))[:, :columns]


def packed(digits, count):
    """Join `count` digits at a time into one integer: int64, shape (..., columns / count, rounded up)."""
    digits = F.pad(digits, (0, -digits.shape[-1] % count)).unflatten(-1, (-1, count)).long()
    joined = digits[..., -1]
    for place in reversed(range(count - 1)):
        joined = joined * 10 + digits[..., place]
    return joined


def ranked(digits, present):
    """Sort numbers from the smallest, equal ones in their order and those not `present` last; return their indices."""
    words = packed(digits, COMPARED)
    order = words[..., 0].sort(dim=1, stable=True).indices
    for column in range(1, words.shape[-1]):
        order = order.gather(1, words[..., column].gather(1, order).sort(dim=1, stable=True).indices)
    return order.gather(1, (~present).to(DTYPE).gather(1, order).sort(dim=1, stable=True).indices)


def _unpacked(limbs):
    left, taken = limbs.to(torch.int32), []
    for _ in range(LIMB):
        upper = left // 10
        taken.append((left - 10 * upper).to(DTYPE))
        left = upper
    return torch.stack(taken, -1).flatten(-2)


def _carried(values, base):
    """Compute the digits of values up to 2 (base - 1), with no carry out of the last one."""
    carries = _carries(values >= base, values == base - 1)
    values = values + _moved(carries, 1).to(values.dtype)
    return values - base * (values >= base).to(values.dtype)


def _carries(generated, passed):
    """Compute the carry out of each digit from which generate one and which pass one on, bool, (numbers, columns)."""
    span = 1
    while span < generated.shape[1]:
        generated = generated | (passed & _moved(generated, span))
        passed = passed & _moved(passed, span)
        span *= 2
    return generated


def _moved(values, places):
    return F.pad(values[:, :-places], (places, 0))


def _widened(digits, columns):
    return F.pad(digits, (0, columns - digits.shape[1]))
