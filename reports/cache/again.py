"""A report given again as it was, where nothing that it follows from has changed since.

Beside the texts the cache holds under which keys it held results when they were made, and under which it held none, and
the digests of the posteriors' files, which are left where they are as they were.
"""

import hashlib
import json
from importlib.metadata import version

from ..output import PAGE, POSTERIORS, RESULTS, write_pages
from . import kept

DRAWING = ("plotly", "jinja2")


def key_of(**what):
    """Digest of what a whole report follows from: the code that draws, its templates and the built-in tables too."""
    drawn = {name: version(name) for name in DRAWING}
    return kept.key_of(report="whole", files=kept.files(), drawn=drawn, **what)


def again(out, key):
    """Write a report again.

    Parameters
    ----------
    out : Path
    key : str
        From `key_of`.

    Returns
    -------
    document : dict
        The content of results.json; None where the report has to be put together.
    warned : list of str
    """
    found = kept.get(key)
    if found is None or any(kept.has(each) != there for each, there in found["keys"].items()):
        return None, []
    if any(_digest(out / POSTERIORS / name) != digest for name, digest in found["posteriors"].items()):
        return None, []
    write_pages(out, found["document"], found["html"])
    return json.loads(found["document"]), found["warned"]


def keep(out, key, stage):
    """Keep a report that was written.

    Parameters
    ----------
    out : Path
    key : str
    stage : Stages
        What it was made with.
    """
    names = sorted(path.name for path in (out / POSTERIORS).glob("*.nc"))
    found = {
        "document": (out / RESULTS).read_text(encoding="utf-8"),
        "html": (out / PAGE).read_text(encoding="utf-8"),
        "warned": stage.warned,
        "keys": {each: kept.has(each) for each in stage.keys},
        "posteriors": {name: _digest(out / POSTERIORS / name) for name in names},
    }
    kept.put(key, found)


def _digest(path):
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
