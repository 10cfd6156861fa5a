"""Settings of Sphinx: pages in Markdown, the reference from docstrings, no network.

Numbers of a report and output of cells are in the pages already; `python docs/headline.py` writes them.
"""

import json
import re
from pathlib import Path

from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent
HEADLINE = json.loads((HERE / "headline.json").read_text(encoding="utf-8"))

project, author, version = "bayescaling", "the authors of bayescaling", HEADLINE["version"]
release = version
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
autodoc_typehints = "none"  # docstrings have the types
numpydoc_show_class_members = False
exclude_patterns = ["_build", "README.md"]  # `index.md` includes it
html_theme = "furo"
html_title = f"bayescaling {version}"
html_css_files = ["tables.css"]
html_static_path = ["static"]
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3


def _formula(self, node):
    """Write a formula as MathML, which browsers draw by themselves."""
    display = "block" if node.tagname == "math_block" else "inline"
    formula = tex2mathml(node.astext(), as_block=display == "block")
    self.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
    from docutils import nodes

    raise nodes.SkipNode


def _drop_citations(app, what, name, what_is_documented, options, lines):
    """Leave out numbers of references that the docstring of the module lists, which no page has."""
    lines[:] = [re.sub(r" ?\[\d\]_,?", "", line) for line in lines]


def setup(app):
    """Register the renderer of formulas, and what follows numpydoc."""
    app.connect("autodoc-process-docstring", _drop_citations, priority=900)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))


html_math_renderer = "mathml"
