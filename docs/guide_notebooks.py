"""Guides as notebooks: the text and the cells of the Markdown, after a cell that installs the package.

`headline.py` writes them into docs/notebooks. The format is nbformat 4, one cell a line.
"""

import json
import re
from pathlib import Path

from outputs import CELL

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "notebooks"
GUIDES = [
    HERE / "guides" / f"{x}.md" for x in ("fit-my-runs", "plan-a-run", "is-my-law-right", "doubling-times", "horizons")
]
INSTALL = (
    "# In a clone of the repository; elsewhere write git+ and its address in place of ../..\n%pip install -q ../.."
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


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


def write():
    """Write every notebook."""
    FOLDER.mkdir(exist_ok=True)
    for guide in GUIDES:
        (FOLDER / f"{guide.stem}.ipynb").write_text(notebook(guide), encoding="utf-8")


def _code(source):
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _prose(text):
    """Return a cell of text, if there is any, with links that lead from the folder of notebooks."""
    text = re.sub(r"\]\((?=[\w-]+\.md)", "](../guides/", re.sub(r"<!--.*?-->\n?", "", text)).strip()
    return [{"cell_type": "markdown", "metadata": {}, "source": text}] if text else []
