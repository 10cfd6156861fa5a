"""The files of a report: its pages, results.json and the posteriors."""

from ..datasets.files import check_writable
from ..datasets.wording import printable
from ..errors import InputError
from ..inference.checks.chains import sentence
from . import results
from .cache.whole import PAGE, POSTERIORS, RESULTS, write_pages
from .html.illustrations import Illustration
from .html.render import render


def prepare(out):
    """Make the folder of a report before its results are computed, refusing one that cannot be made or written to."""
    try:
        (out / POSTERIORS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{printable(out)}: the folder cannot be made ({error.strerror}); choose another place with --out"
        ) from None
    for name in (RESULTS, PAGE, f"{POSTERIORS}/fit.nc"):
        check_writable(out / name)


def judge_chains(document, records):
    """Add to the content of results.json the table of each fit and whether its chains converged, by its record."""
    document["diagnostics"] = {
        name: {"ok": bool(checks["ok"]), "sentence": sentence(checks), "data": record["data"]["source"]}
        for name, record in records.items()
        for checks in (record["diagnostics"],)
    }


def write(out, document, posteriors, title, parts, warned, front=None, *, written=(), claims=True):
    """Write a report; files of posteriors whose names are in `written` are there already.

    To the document, which has been through `judge_chains`, ``findings`` are added: what figures state above them. Other
    parameters are as for `render`.
    """
    document["findings"] = findings(parts, front)
    pages = render(title, parts, document, warned, front, claims=claims)
    write_posteriors(out, {name: fitted for name, fitted in posteriors.items() if name not in written})
    write_pages(out, pages, results.to_json(document))


def findings(parts, front=None):
    """List the titles of the figures of a report, in order."""
    blocks = [*(front.figures if front else ())]
    blocks += [block for part in parts for section in part["sections"] for block in section["blocks"]]
    return [block.finding for block in blocks if isinstance(block, Illustration)]


def write_posteriors(out, posteriors):
    """Write the posteriors of a report, by their names."""
    for name, fitted in posteriors.items():
        fitted.save(out / POSTERIORS / f"{file_name(name)}.nc")


def file_name(name):
    """Return the name of a fit as a file name that any file system accepts."""
    plain = name.replace(", ", "-").replace(" ", "-")
    return "".join(c if c.isalnum() or c in "-_.=+" else "_" for c in plain)[:100]
