"""Output of the Python cells of the documentation, run once by `headline.py --cells`, and guides as notebooks.

A cell is followed by ``<!-- output -->`` and ``<!-- end -->``. A cell that draws is followed by
``<!-- output: what the picture shows -->``. A block of ``console`` has commands after ``$`` and what they print.
A notebook has the text and the cells of a guide after a cell that installs the package, in nbformat 4, a cell a line.
"""

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

from bayescaling import DiagnosticWarning
from bayescaling.plots.with_matplotlib import compact

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
NOTEBOOKS = HERE / "notebooks"
GUIDES = [
    HERE / "guides" / f"{x}.md" for x in ("fit-my-runs", "plan-a-run", "is-my-law-right", "doubling-times", "horizons")
]
INSTALL = (
    "# In a clone of the repository; elsewhere write git+ and its address in place of ../..\n%pip install -q ../.."
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
CELL = re.compile(
    r"^```python\n(.*?)^```\n(\n<!-- output(?:: ([^\n]*?))? -->\n)?(?(2)(.*?)<!-- end -->\n)", re.DOTALL | re.M
)
CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.DOTALL | re.M)
STYLE = {
    "svg.hashsalt": "bayescaling",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def written(path):
    """Return the text of a page with the output of its cells, and write its pictures.

    Cells after the last marked one are not run. A fit that did not converge ends the run with its warning.
    """
    text = transcribed(path.read_text(encoding="utf-8"))
    cells = list(CELL.finditer(text))
    last = max((k for k, cell in enumerate(cells) if cell[2]), default=-1)
    if last < 0:
        return text
    page, parts, start = types.ModuleType("page_of_cells"), [], 0
    import matplotlib

    matplotlib.use("agg")
    sys.modules[page.__name__] = page  # where a dataclass of a cell looks its module up
    with temporary_folder(), warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DiagnosticWarning)
        for k, cell in enumerate(cells[: last + 1]):
            printed = run(cell[1], f"{path.name}, cell {k + 1}", page.__dict__)
            drawn = pictures(path, k + 1, cell[3])
            if cell[2]:
                parts += [text[start : cell.end(2)], drawn if cell[3] else output(printed)]
                start = cell.end() - len("<!-- end -->\n")
    return "".join([*parts, text[start:]])


def transcribed(text):
    """Return a text whose commands are run in one folder, at 80 columns, with what they print."""
    with temporary_folder():
        return CONSOLE.sub(lambda block: f"```console\n{_transcript(block[1])}```\n", text)


def _transcript(block):
    # A fit from the cache does not repeat the notes of the fit, so that the cache is empty at the first command.
    environment, parts = {"COLUMNS": "80", "XDG_CACHE_HOME": str(Path.cwd() / ".cache")}, []
    for command in re.findall(r"^\$ bayescaling (.*)$", block, re.M):
        whole, _, most = command.partition(" | head -")
        shell = ["bash", "-c", f"{shlex.quote(sys.executable)} -m bayescaling {whole}"]
        done = subprocess.run(shell, capture_output=True, text=True, check=True, env=os.environ | environment)
        lines = done.stdout.splitlines()[: int(most) if most else None] + done.stderr.splitlines()
        parts.append("\n".join([f"$ bayescaling {command}", *(line.rstrip() for line in lines)]) + "\n")
    return "\n".join(parts)


def run(source, name, scope):
    """Run a cell; return what it prints and its last expression as a session prints it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        exec(compile(tree, name, "exec"), scope)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), scope)
    return stdout.getvalue() + ("" if value is None else repr(value))


def output(printed):
    """Write the text of an output as a block."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```", ""]) if lines else ""


def pictures(path, k, description):
    """Write the open figures of a cell to files; return the lines that show them."""
    from matplotlib import pyplot

    lines = []
    for number in pyplot.get_fignums():
        file = PICTURES / f"{path.stem}-{k}.svg"
        if description:
            PICTURES.mkdir(exist_ok=True)
            svg = io.StringIO()
            pyplot.figure(number).savefig(svg, format="svg", metadata={"Date": None}, bbox_inches="tight")
            file.write_text(compact(svg.getvalue()), encoding="utf-8")
            lines.append(f"![{description}]({os.path.relpath(file, path.parent)})\n")
    pyplot.close("all")
    return "".join(lines)


@contextlib.contextmanager
def temporary_folder():
    """Run cells in an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def notebook(guide):
    """Return the notebook of a guide as JSON. Outputs are left out: a notebook has those of its run."""
    text, start = guide.read_text(encoding="utf-8"), 0
    cells = [_code(INSTALL)]
    for cell in CELL.finditer(text):
        cells += [*_prose(text[start : cell.start()]), _code(cell[1].strip("\n"))]
        start = cell.end()
    lines = ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in [*cells, *_prose(text[start:])])
    metadata = json.dumps({"kernelspec": KERNEL})
    return f'{{"cells": [\n{lines}\n], "metadata": {metadata}, "nbformat": 4, "nbformat_minor": 4}}\n'


def write_notebooks():
    """Write every notebook."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for guide in GUIDES:
        (NOTEBOOKS / f"{guide.stem}.ipynb").write_text(notebook(guide), encoding="utf-8")


def _code(source):
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _prose(text):
    text = re.sub(r"\]\((?=[\w-]+\.md)", "](../guides/", re.sub(r"<!--.*?-->\n?", "", text)).strip()
    return [{"cell_type": "markdown", "metadata": {}, "source": text}] if text else []
