"""Settings of Sphinx: pages in Markdown, examples executed at the build, reference from docstrings, no network.

Every number of a report that a page quotes comes from ``headline.json``, by the substitutions below.
"""

import inspect
import json
import os
import re
import sys
from pathlib import Path

from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parent))
from quoted import substitutions

HERE = Path(__file__).parent
HEADLINE = json.loads((HERE / "headline.json").read_text(encoding="utf-8"))

project, author, version = "bayescaling", "the authors of bayescaling", HEADLINE["version"]
release = version
extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "bayescaling"
html_css_files = ["tables.css"]
html_static_path = ["static"]
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_substitutions = substitutions(HEADLINE)
nb_execution_mode = "cache"
nb_execution_cache_path = os.environ.get("BAYESCALING_DOCS_CACHE", str(HERE.parent / "build" / "examples"))
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = False
nb_output_stderr = "remove-warn"  # with -W: what a page's code warns of is hidden by a tag, and told in words
suppress_warnings = ["mystnb.unknown_mime_type"]

autosummary_generate = True
autodoc_typehints = "none"  # docstrings have the types, with shapes and units
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"


def _formula(self, node):
    """Write a formula as MathML, which browsers draw by themselves."""
    display = "block" if node.tagname == "math_block" else "inline"
    found = tex2mathml(node.astext(), as_block=display == "block")
    self.body.append(f'<div class="formula">{found}</div>' if display == "block" else found)
    from docutils import nodes

    raise nodes.SkipNode


def _with_references(app, what, name, found, options, lines):
    """Give a docstring the references of its module, where those are what it names."""
    module = inspect.getdoc(sys.modules.get(getattr(found, "__module__", None)))
    _, title, references = (module or "").partition("\nReferences\n----------\n")
    named = set(re.findall(r"\[(\d)\]_", "\n".join(lines)))
    if title and named and not any(line.startswith(".. [") for line in lines):
        kept = [each for each in re.split(r"(?m)^(?=\.\. \[)", references) if each[4:5] in named]
        lines += ["", "References", "----------", *"".join(kept).splitlines()]


def setup(app):
    """Register the renderer of formulas, and what completes docstrings before numpydoc reads them."""
    app.connect("autodoc-process-docstring", _with_references, priority=100)
    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))


html_math_renderer = "mathml"
