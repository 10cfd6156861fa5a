"""The files of a report: one HTML page, results.json and the posteriors."""

from ..datasets.wording import printable
from ..errors import InputError
from ..files import check_writable
from ..inference import diagnose, save_fit
from ..inference.diagnostics import sentence
from . import results
from .render import render


def prepare(out):
    """Make the folder of a report, before the work whose results go there.

    Raises
    ------
    InputError
        If it cannot be made or written to.
    """
    try:
        (out / "posteriors").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{printable(out)}: the folder cannot be made ({error.strerror}); choose another place with --out"
        ) from None
    for name in ("results.json", "index.html", "posteriors/fit.nc"):
        check_writable(out / name)


def judge_chains(document, posteriors):
    """Add to the content of results.json what the chains of each fit say of themselves."""
    judged = {name: diagnose(fitted) for name, fitted in posteriors.items()}
    document["diagnostics"] = {
        name: {"ok": bool(found["ok"]), "sentence": sentence(found)} for name, found in judged.items()
    }


def write(out, document, posteriors, title, parts, warned, front=None):
    """Write a report.

    Parameters
    ----------
    out : Path
    document : dict
        The content of results.json, after `judge_chains`.
    posteriors : dict of str to DataTree
    title, parts, warned, front
        As for `render`.
    """
    html = render(title, parts, document, warned, front)
    for name, fitted in posteriors.items():
        save_fit(fitted, out / "posteriors" / f"{file_name(name)}.nc")
    results.write_text(results.to_json(document), out / "results.json")
    results.write_text(html, out / "index.html")


def file_name(name):
    """Turn the name of a fit into one that any file system holds."""
    kept = name.replace(", ", "-").replace(" ", "-")
    return "".join(c if c.isalnum() or c in "-_.=+" else "_" for c in kept)[:100]
