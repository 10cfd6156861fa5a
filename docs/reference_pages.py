"""Pages of the reference, made of the docstrings: signature, what it does, parameters, and the example with its output.

`headline.py` writes them into docs/reference, as it does other generated text.
"""

import inspect
import os
import re
import textwrap
from operator import attrgetter
from pathlib import Path

import bayescaling as bs

HERE = Path(__file__).resolve().parent
GROUPS = {
    "tables": "catalogue load notes read InputError DiagnosticWarning errors.*",
    "fits": "fit open Fit Fit.rows Fit.law Fit.record Fit.draws Fit.diagnostics Fit.tree Fit.save Fit.to_inferencedata "
    "Fit.summary Fit.check Fit.law_tests Fit.wider_laws Fit.robust Fit.robust_sd Fit.loo Fitter law parallel compare "
    "rollout calibrate",
    "decisions": "Fit.predict Fit.predict_group Fit.allocate Fit.study_exponents Fit.tuning worth design update report",
    "laws": "laws.*",
    "points": "points.*",
    "progress": "progress.*",
    "scores-and-horizons": "scores.* horizons.* lengths.* curves.*",
    "plots": "plot_*",
    "training": "train",
}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
SENTENCE = re.compile(r".*?[.?](?=\s+[A-Z`(]|\s*\Z)|.*", re.DOTALL)
PICTURE = re.compile(r"bs\.(plot_\w+)\(.*\n(?:```\n)?\n(?:<!-- output.*\n)?(!\[.*?\]\()(.*?)\)")


def names(group):
    """Return the public names of a group, as the package has them."""
    listed = []
    for name in GROUPS[group].split():
        if name.endswith(".*"):
            home = getattr(bs, name[:-2])
            classes = [x for x, value in vars(home).items() if inspect.isclass(value) and x not in bs.__all__]
            listed += [f"{name[:-1]}{x}" for x in getattr(home, "__all__", classes)]
        else:
            listed += [x for x in bs.__all__ if x.startswith("plot_")] if name == "plot_*" else [name]
    return listed


def tables(table):
    """Return the texts by name: one for each page, and the index of all."""
    pictures, texts, index = _pictures(), {}, []
    for group in GROUPS:
        title = (HERE / "reference" / f"{group}.md").read_text(encoding="utf-8").partition("\n")[0][2:]
        rows, anchors = [], []
        for name in names(group):
            anchors.append("bs" + name.lower().replace(".", ""))
            repeated = f"-{anchors.count(anchors[-1]) - 1}".replace("-0", "")
            summary = _markdown(_sections(name)[""].partition("\n")[0])
            rows.append((f"[`bs.{name}`]({group}.md#{anchors[-1]}{repeated})", summary))
        index.append(f"## [{title}]({group}.md)\n\n{table(('name', 'what it does'), rows)}\n")
        texts[f"reference-{group}"] = "\n".join(_entry(name, pictures.get(name, "")) for name in names(group))
    return texts | {"reference-index": "\n".join(index)}


def _sections(name):
    """Return the sections of a docstring by title; what comes first has an empty one."""
    first, *rest = SECTION.split(inspect.getdoc(attrgetter(name)(bs)))
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def _entry(name, picture):
    parts = [f"## `bs.{name}`", _signature(name)]
    for title, text in _sections(name).items():
        if title in ("", "Notes", "Examples"):
            parts += [f"**{title}**" if title else "", *map(_paragraph, re.split(r"\n\n+", text.strip()))]
        elif title != "References":
            items = [_item(item, short=title != "Returns") for item in re.split(r"\n(?=\S)", text.strip())]
            parts += [f"**{title}**", "\n".join(item for item in items if item != "- `fit` (Fit)")]
    return "\n\n".join(filter(None, [*parts, picture])) + "\n"


def _signature(name):
    """Return how a function is called, without the types, which are those of its parameters."""
    try:
        signature = inspect.signature(attrgetter(name)(bs))
    except (TypeError, ValueError):  # of an attribute or an exception
        return ""
    method = name.startswith("Fit.")
    parameters = [x.replace(annotation=x.empty) for x in signature.parameters.values()][method:]
    call = signature.replace(parameters=parameters, return_annotation=signature.empty)
    text = f"{name.replace('Fit.', 'fit.') if method else f'bs.{name}'}{call}".replace("<factory>", "{}")
    return "```text\n" + textwrap.fill(text, 100, subsequent_indent="    ", break_on_hyphens=False) + "\n```"


def _item(text, short):
    """Return a parameter, a result or an error as an item of a list, by its first sentence or with all."""
    head, _, rest = text.partition("\n")
    name, _, kind = head.partition(" : ")
    text = textwrap.dedent(rest).strip()
    text = SENTENCE.match(text.partition("\n\n")[0])[0] if short else text
    item = f"- `{name}`" + (f" ({kind})" if kind else "") + (f": {text}" if text else "")
    return textwrap.indent(_markdown(item), "  ").strip()


def _paragraph(text):
    """Return a paragraph as Markdown: examples and tables of text in fences."""
    fence = {">>>": "pycon", "===": "text"}.get(text[:3])
    return f"```{fence}\n{text}\n```" if fence else _markdown(text)


def _markdown(text):
    return re.sub(r" ?\[\d\]_", "", text.replace("``", "`"))


def _pictures():
    """Return by function the picture that a page shows below a call of it, the gallery first."""
    pictures = {}
    for page in (HERE / "gallery.md", *sorted(HERE.glob("*.md")), *sorted(HERE.glob("guides/*.md"))):
        for name, start, path in PICTURE.findall(page.read_text(encoding="utf-8")):
            pictures.setdefault(name, f"{start}{os.path.relpath(page.parent / path, HERE / 'reference')})")
    return pictures
