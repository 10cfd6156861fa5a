from pathlib import Path

import bayescaling as bs
import jinja2
import pytest
from bayescaling.reports.html import prose
from jinja2 import nodes

PAGE = """
## Answer {answer}

The exponent is {{ q | interval("{:.2f}") }},
as before.

Second.

::: one two

- first
- second point
  goes on

## More

::: late none
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / prose.NAME).write_text(PAGE, encoding="utf-8")
    return tmp_path / "page.py"


def test_a_template_is_read_as_sections(page):
    blocks = {"one": 1, "two": [2, 3], "late": lambda: 4, "none": None}
    sections = prose.sections(page, blocks, q={"q2.5": 0.5, "q50": 1.0, "q97.5": None})
    assert sections == [
        {
            "title": "Answer",
            "role": "answer",
            "text": ["The exponent is 1.00 [0.50, never], as before.", "Second."],
            "points": ["first", "second point goes on"],
            "blocks": [1, 2, 3],
        },
        {"title": "More", "text": [], "points": [], "blocks": [4]},
    ]


def test_a_name_that_is_not_known_is_an_error(page):
    with pytest.raises(Exception, match="'q' is undefined"):
        prose.sections(page, {})
    with pytest.raises(KeyError, match="one"):
        prose.sections(page, {}, q={"q2.5": 0.5, "q50": 1.0, "q97.5": None})


def test_texts_of_users_tables_are_escaped_once_and_end_no_paragraph(tmp_path):
    text = """
    {% macro bold(x) %}<b>{{ x }}</b>{% endmacro %}
    ## Does {{ name }} fit?

    Of {{ bold(name) }}.

    - x<sub>1</sub>
    """
    (tmp_path / "own.md.jinja").write_text(text, encoding="utf-8")
    name = "<i>\n\n## a & b"
    (section,) = prose.sections(tmp_path / "page.py", {}, template="own.md.jinja", escaped=True, name=name)
    assert section["title"] == "Does <i>  ## a & b fit?"  # unchanged: the page escapes titles
    assert section["text"] == ["Of <b>&lt;i&gt;  ## a &amp; b</b>."] and section["points"] == ["x<sub>1</sub>"]


TEMPLATES = sorted((Path(bs.__file__).parent / "reports" / "pages").rglob("*.md.jinja"))


@pytest.mark.parametrize("path", TEMPLATES, ids=[f"{path.parent.name}-{path.stem}" for path in TEMPLATES])
def test_a_template_sets_no_name_that_it_calls(path):
    """A value under the name of a function hides it, which shows only where a whole page is drawn."""
    tree = jinja2.Environment().parse(path.read_text(encoding="utf-8"))
    assigned = {name.name for node in tree.find_all(nodes.Assign) for name in _names(node.target)}
    called = {node.node.name for node in tree.find_all(nodes.Call) if isinstance(node.node, nodes.Name)}
    assert not assigned & called


def _names(target):
    return target.items if isinstance(target, nodes.Tuple) else [target]
