"""Output of the command line: JSON, tables and numbers, warnings, and paths of results."""

import math
import sys
from pathlib import Path

from ..errors import DiagnosticWarning, InputError, SizeNote, TableNote, TableWarning


def interactive(json):
    """Return whether to show progress: standard error is a terminal and the output is not JSON."""
    return sys.stderr.isatty() and not json


def print_table(title, header, rows):
    """Print a table to standard output as a result of Python prints, its first column under no name."""
    import pandas as pd

    from ..datasets.printed import Text

    names, *columns = zip(*rows, strict=True) if rows else [()] * len(header)
    table = pd.DataFrame(list(zip(*columns, strict=True)), index=list(names), columns=list(header[1:]), dtype=object)
    print(Text(title, table))


def names_of(files, json):
    """Return names of files: their paths for JSON, else the last parts by which their paths differ.

    Examples
    --------
    >>> names_of(["out/a/fit.nc", "out/b/fit.nc"], json=False), names_of(["out/fit.nc"], json=True)
    (['a/fit.nc', 'b/fit.nc'], ['out/fit.nc'])
    """
    paths = [Path(file) for file in files]
    for count in range(1, 1 if json else max(len(path.parts) for path in paths)):
        names = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            return names
    return [str(path) for path in paths]


def open_fits(files, json, read=None):
    """Open fits by the names of their files, refusing a file that is named twice; `read` opens what is no fit."""
    from ..inference import storage

    if len(set(files)) < len(files):
        raise InputError("a file is named twice; name each fit once")
    return {name: (read or storage.open)(path) for name, path in zip(names_of(files, json), files, strict=True)}


def number(x, form=".4g"):
    """Return a number as text, one that is missing or not finite as a dash, and text unchanged."""
    return x if isinstance(x, str) else "-" if x is None or not math.isfinite(x) else format(x, form)


def print_json(document):
    """Print one JSON document to standard output."""
    from ..reports import results

    print(results.to_json(document), end="")


def print_parts(parts_of, fits, json, **more):
    """Print tables of intervals of each fit, or one JSON document; what holds of a fit is printed once.

    `parts_of` has tables by fit and name, and `more` entries of the document of each fit.
    """
    from ..datasets.printed import Text
    from ..inference.standing import lines

    documents = {}
    for i, (name, parts) in enumerate(parts_of.items()):
        *_, last = parts.values()
        held = last.attrs["standing"]
        if json:
            rows = {part: table.document()["rows"] for part, table in parts.items()}
            for table in parts.values():
                rows |= table.attrs.get("besides", {})
            documents[name] = more | rows | {"standing": held, "diagnostics": fits[name].diagnostics}
            continue
        print("\n" * bool(i) + (f"{name}\n" if len(fits) > 1 else ""), end="")
        for table in parts.values():
            text = table.text()
            left = [x for x in text.sentences if table is last or x not in lines(held)]
            print(Text(text.title, text.table, tuple(left)), end="\n" if table is last else "\n\n")
    if json:
        print_json(documents if len(documents) > 1 else next(iter(documents.values())))


def print_result(result, document, json, path=None):
    """Print a result as Python prints it and where it was written, or its document as JSON."""
    if json:
        print_json(document)
    else:
        print(result)
        print_written(path)


def draw(path, panels):
    """Draw panels one below the other to a file; each is a function of axes."""
    from matplotlib.figure import Figure

    from ..plots.with_matplotlib import write

    figure = Figure(figsize=(7.0, 4.2 * len(panels)), layout="constrained")
    for panel, ax in zip(panels, figure.subplots(len(panels), squeeze=False)[:, 0], strict=True):
        panel(ax=ax)
    write(figure, path)


def print_sentences(sentences):
    """Print sentences, each broken into lines of the terminal's width."""
    from ..datasets.printed import as_sentence, filled, width

    for sentence in sentences:
        print(filled(as_sentence(sentence), width()))


def print_written(path):
    """Print where a result was written, if it was."""
    if path:
        from ..datasets.wording import printable

        print(f"written to {printable(path)}")


def print_diagnostics(name, diagnostics):
    """Print on standard error why a fit should not be trusted, where it should not."""
    from ..inference.checks.chains import sentence

    if not diagnostics["ok"]:
        print(f"warning: {name}: {sentence(diagnostics)}", file=sys.stderr)


def show_warning(message, category, *_, **__):
    """Print a warning of the package in one line on standard error and drop all others, for `warnings.showwarning`."""
    if issubclass(category, DiagnosticWarning | TableWarning | SizeNote):
        kind = "note" if issubclass(category, TableNote | SizeNote) else "warning"
        print(f"{kind}: {' '.join(str(message).split())}", file=sys.stderr)
