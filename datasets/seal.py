"""Checks of a netCDF file before HDF5 reads it in this process.

netCDF-4 files are HDF5 files. HDF5 may loop forever or end the process on a file whose bytes have changed. Files
therefore end with the SHA-256 of all bytes before it, which HDF5 ignores as padding, so that damage is detected at
once. Another process first reads every file, because the reader may hang, except those that this user's processes wrote
or read before: their SHA-256 is in the user's cache. HDF5 also has features that netCDF lacks: links, which may form a
circle, and values that are in other files of the machine.
"""

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress

from ..errors import InputError
from .files import written_whole
from .wording import shortened

MARK = b"\nsha256 of all before: "
LENGTH = len(MARK) + 64
# An upper bound on the factor by which Deflate can compress.
LARGEST_FACTOR = 1100
MOST_GROUPS = 1000

# A file may take this many seconds, and one more for so many of its bytes.
PATIENCE, BYTES_PER_SECOND = 8, 20_000_000

# By version of the first block of an HDF5 file: positions of the file's length and of the size of that number.
SIGNATURE, LENGTHS = b"\x89HDF\r\n\x1a\n", {0: (40, 13), 1: (44, 13), 2: (28, 9), 3: (28, 9)}
LOOK = """
import io, json, sys
paths, most, MOST_GROUPS = json.loads(sys.argv[1])
sys.path[:] = paths
import h5py
content, claimed, groups = sys.stdin.buffer.read(), 0, 0
def look(_, item):
    global groups
    for name in item.attrs:
        item.attrs[name]
    if isinstance(item, h5py.Group):
        groups += 1
        links = (item.get(name, getlink=True) for name in item)
        if h5py.h5o.get_info(item.id).rc > 1 or not all(isinstance(link, h5py.HardLink) for link in links):
            sys.exit("it has links, which netCDF has not")
        if groups > MOST_GROUPS:
            sys.exit(f"it has more than {MOST_GROUPS} groups")
    if isinstance(item, h5py.Dataset):
        if item.external or item.is_virtual:
            sys.exit("its values are in other files")
        claim(item.nbytes)
        # Cells of variable length may all refer to the same text, which is stored once.
        if item.dtype.kind == "O" and item.ndim:
            for start in range(0, len(item), 256):
                claim(sum(len(x) for x in item[start : start + 256].ravel() if hasattr(x, "__len__")))
        else:
            item[()]
def claim(size):
    global claimed
    claimed += size
    if claimed > most:
        sys.exit(f"it claims {claimed} bytes, more than any compression allows")
try:
    with h5py.File(io.BytesIO(content)) as file:
        look(None, file)
        file.visititems(look)
except Exception as error:
    sys.exit(" ".join(str(error).split()) or type(error).__name__)
"""
MOST_REMEMBERED = 1000


def seal(content):
    """Return content with its seal, bytes."""
    return bytes(content) + MARK + hashlib.sha256(content).hexdigest().encode()


def remember(sealed):
    """Note in the user's cache that HDF5 reads sealed content; nothing where the cache cannot be written."""
    folder = _remembered()
    with suppress(OSError, InputError):
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.iterdir(), key=os.path.getmtime)[:-MOST_REMEMBERED]:
            path.unlink(missing_ok=True)
        with written_whole(folder / sealed[-64:].decode()) as partial:
            partial.touch()


def _remembered():
    from platformdirs import user_cache_path

    return user_cache_path("bayescaling") / "sealed"


def _is_remembered(sealed):
    """Return whether a process of this user noted a content; notes of others are ignored."""
    with suppress(OSError):
        owner = (_remembered() / sealed[-64:].decode()).stat().st_uid
        return os.name != "posix" or owner == os.geteuid()
    return False


def check_seal(content, label):
    """Refuse content that has changed since it was sealed; content without a seal passes.

    Returns
    -------
    bool
        Whether it has a seal.
    """
    whole, end = content[:-LENGTH], content[-LENGTH:]
    if not end.startswith(MARK):
        return False
    digest = hashlib.sha256(whole).hexdigest()
    if digest.encode() != end[len(MARK) :]:
        raise InputError(f"{label}: the file is damaged (its SHA-256 is another); make it again or take another copy")
    return True


def check_netcdf(content, label):
    """Refuse content that has changed since it was sealed, or that HDF5 cannot read completely in reasonable time."""
    sealed = check_seal(content, label)
    if sealed and _is_remembered(content):
        return
    if len(content) < (length := _length(content)):
        raise InputError(f"{label}: the file is cut off ({len(content)} of {length} bytes); take another copy")
    patience = PATIENCE + len(content) / BYTES_PER_SECOND
    command = [
        sys.executable,
        "-S",
        "-E",
        "-c",
        LOOK,
        json.dumps([sys.path, LARGEST_FACTOR * len(content), MOST_GROUPS]),
    ]
    try:
        result = subprocess.run(command, input=content, capture_output=True, timeout=patience, check=False)
        reason = result.stderr.decode(errors="replace").strip() or "HDF5 ended its process"
    except subprocess.TimeoutExpired:
        result, reason = None, f"HDF5 does not come to an end in {patience:.0f} s"
    if result is None or result.returncode:
        raise InputError(f"{label}: not a netCDF file that can be read ({shortened(reason)}); make it again")
    if sealed:
        remember(content)


def _length(content):
    """Return the length in bytes that an HDF5 file states, 0 where it states none."""
    place, size = LENGTHS.get(content[8], (0, 0)) if content.startswith(SIGNATURE) and len(content) > 52 else (0, 0)
    return int.from_bytes(content[place : place + 8], "little") if size and content[size] == 8 else 0
