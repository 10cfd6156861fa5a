"""Files that end with the SHA-256 of what stands before, so that damage is told before anything is made of them.

HDF5, which netCDF-4 is, takes the end for padding, and may loop or end the process on a damaged file. A file without a
seal, which other software wrote, passes.
"""

import hashlib

from ..errors import InputError

MARK = b"\nsha256 of all before: "
LENGTH = len(MARK) + 64


def seal(content):
    """Content with its seal."""
    return bytes(content) + MARK + hashlib.sha256(content).hexdigest().encode()


def check_seal(content, label):
    """Refuse content that is not as it was sealed.

    Raises
    ------
    InputError
    """
    whole, end = content[:-LENGTH], content[-LENGTH:]
    if end.startswith(MARK) and hashlib.sha256(whole).hexdigest().encode() != end[len(MARK) :]:
        raise InputError(f"{label}: the file is damaged (its SHA-256 is another); make it again or take another copy")
