"""Settings of Sphinx: pages in Markdown, reference from docstrings, no network.

Numbers of a report and output of cells are in the pages already; `python docs/headline.py` writes them.
"""

import inspect
import json
import re
import sys
from pathlib import Path

from docutils.utils.math.latex2mathml import tex2mathml

HERE = Path(__file__).parent
HEADLINE = json.loads((HERE / "headline.json").read_text(encoding="utf-8"))

project, author, version = "bayescaling", "the authors of bayescaling", HEADLINE["version"]
release = version
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_build", "README.md"]  # `index.md` includes it
html_theme = "furo"
html_title = f"bayescaling {version}"
html_css_files = ["tables.css"]
html_static_path = ["static"]
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # docstrings have the types, with shapes and units
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"


def _formula(self, node):
    """Write a formula as MathML, which browsers draw by themselves."""
    display = "block" if node.tagname == "math_block" else "inline"
    formula = tex2mathml(node.astext(), as_block=display == "block")
    self.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
    from docutils import nodes

    raise nodes.SkipNode


def _with_references(app, what, name, documented, options, lines):
    """Add the references of a module to a docstring that names them."""
    module = inspect.getdoc(sys.modules.get(getattr(documented, "__module__", None)))
    _, title, references = (module or "").partition("\nReferences\n----------\n")
    named = set(re.findall(r"\[(\d)\]_", "\n".join(lines)))
    if title and named and not any(line.startswith(".. [") for line in lines):
        selected = [reference for reference in re.split(r"(?m)^(?=\.\. \[)", references) if reference[4:5] in named]
        lines += ["", "References", "----------", *"".join(selected).splitlines()]


def setup(app):
    """Register the renderer of formulas, and what completes docstrings before numpydoc reads them."""
    app.connect("autodoc-process-docstring", _with_references, priority=100)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))


html_math_renderer = "mathml"
