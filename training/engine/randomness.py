"""Random words from counters: the same on every device, in any order, with no state to save.

A word is a hash of the integers that name it (seed, step, sequence, position). The hash chains the finaliser of
SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195), computed in int64, whose products wrap modulo
2^64 in two's complement on CPU and GPU alike.
"""

GOLDEN = 0x9E3779B97F4A7C15 - 2**64
FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)
SHIFTS = (30, 27, 31)


def hashed(*words):
    """Hash integers of at most 64 bits, in order, to a signed 64-bit integer; tensors of int64 broadcast."""
    state = 0
    for word in words:
        state = _finalised(_wrapped((state ^ word) + GOLDEN))
    return state


def top_bits(word, count):
    """Take the `count` most significant bits of words, as non-negative integers."""
    return (word >> (64 - count)) & ((1 << count) - 1)


def low_bits(word, count):
    """Take the `count` least significant bits of words, as non-negative integers."""
    return word & ((1 << count) - 1)


def below(word, bound):
    """Map words to non-negative integers below a bound, at most ``2^31``, by their top 32 bits."""
    return (top_bits(word, 32) * bound) >> 32


def _finalised(word):
    for shift, factor in zip(SHIFTS, FACTORS, strict=False):
        word = _wrapped((word ^ top_bits(word, 64 - shift)) * factor)
    return word ^ top_bits(word, 64 - SHIFTS[-1])


def _wrapped(word):
    return (word + 2**63) % 2**64 - 2**63 if isinstance(word, int) else word
