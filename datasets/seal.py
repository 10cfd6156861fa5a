"""What is told of a netCDF file before HDF5 reads it in this process.

HDF5, which netCDF-4 is, may loop for ever or end the process on a file whose bytes are other than they were. So files
end with the SHA-256 of what stands before, which HDF5 takes for padding: damage is told at once. A file that this
process did not seal, a stranger's or one that other software wrote, is first read by another process, which may hang.
HDF5 also has what netCDF has not: links, which may lead in a circle, and values that are in any file of this machine.
"""

import hashlib
import json
import subprocess
import sys

from ..errors import InputError
from .wording import shortened

MARK = b"\nsha256 of all before: "
LENGTH = len(MARK) + 64
# Deflate makes nothing smaller than by this factor.
LARGEST_FACTOR = 1100
MOST_GROUPS = 1000
PATIENCE, PACE = 8, 20_000_000  # seconds for any file, and bytes of it that are read in a second more
# Where an HDF5 file says how long it is, by the version of its first block, and where the size of that number stands.
SIGNATURE, LENGTHS = b"\x89HDF\r\n\x1a\n", {0: (40, 13), 1: (44, 13), 2: (28, 9), 3: (28, 9)}
LOOK = """
import io, json, sys
paths, most, MOST_GROUPS = json.loads(sys.argv[1])
sys.path[:] = paths
import h5py
content, claimed, groups = sys.stdin.buffer.read(), 0, 0
def look(_, found):
    global groups
    for name in found.attrs:
        found.attrs[name]
    if isinstance(found, h5py.Group):
        groups += 1
        links = (found.get(name, getlink=True) for name in found)
        if h5py.h5o.get_info(found.id).rc > 1 or not all(isinstance(link, h5py.HardLink) for link in links):
            sys.exit("it has links, which netCDF has not")
        if groups > MOST_GROUPS:
            sys.exit(f"it has more than {MOST_GROUPS} groups")
    if isinstance(found, h5py.Dataset):
        if found.external or found.is_virtual:
            sys.exit("its values are in other files")
        claim(found.nbytes)
        # Text and lists of any length: all may be one and the same, which is stored once.
        if found.dtype.kind == "O" and found.ndim:
            for start in range(0, len(found), 256):
                claim(sum(len(x) for x in found[start : start + 256].ravel() if hasattr(x, "__len__")))
        else:
            found[()]
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
_OWN = set()  # SHA-256 of what this process sealed


def seal(content):
    """Content with its seal."""
    digest = hashlib.sha256(content).hexdigest()
    _OWN.add(digest)
    return bytes(content) + MARK + digest.encode()


def check_seal(content, label):
    """Refuse content that is not as it was sealed; content without a seal passes.

    Returns
    -------
    bool
        Whether this process sealed it.

    Raises
    ------
    InputError
    """
    whole, end = content[:-LENGTH], content[-LENGTH:]
    if not end.startswith(MARK):
        return False
    digest = hashlib.sha256(whole).hexdigest()
    if digest.encode() != end[len(MARK) :]:
        raise InputError(f"{label}: the file is damaged (its SHA-256 is another); make it again or take another copy")
    return digest in _OWN


def check_netcdf(content, label):
    """Refuse content that is not as it was sealed, or that HDF5 cannot read from end to end in reasonable time.

    Raises
    ------
    InputError
    """
    if check_seal(content, label):
        return
    if len(content) < (length := _length(content)):
        raise InputError(f"{label}: the file is cut off ({len(content)} of {length} bytes); take another copy")
    patience = PATIENCE + len(content) / PACE
    command = [
        sys.executable,
        "-S",
        "-E",
        "-c",
        LOOK,
        json.dumps([sys.path, LARGEST_FACTOR * len(content), MOST_GROUPS]),
    ]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=patience, check=False)
        reason = done.stderr.decode(errors="replace").strip() or "HDF5 ended its process"
    except subprocess.TimeoutExpired:
        done, reason = None, f"HDF5 does not come to an end in {patience:.0f} s"
    if done is None or done.returncode:
        raise InputError(f"{label}: not a netCDF file that can be read ({shortened(reason)}); make it again")


def _length(content):
    """Bytes that an HDF5 file says it has, 0 where it does not say."""
    place, size = LENGTHS.get(content[8], (0, 0)) if content.startswith(SIGNATURE) and len(content) > 52 else (0, 0)
    return int.from_bytes(content[place : place + 8], "little") if size and content[size] == 8 else 0
