"""README and documentation: their code runs, their commands exist, their numbers are those of a report."""

import importlib
import importlib.util
import inspect
import json
import re
import shlex
import sys
import types
from pathlib import Path

import bayescaling as bs
import pytest
from bayescaling.datasets import sha256
from bayescaling.inference.words import HIGH, LOW, MIDDLE, months, plain, sizes

ROOT = Path(__file__).resolve().parents[1]
DOCS, README = ROOT / "docs", ROOT / "README.md"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?m)^ {4}\S.*(?:\n {4,}\S.*)*")
INTERVAL = re.compile(r"\d[kMBT%]? \[[-\d][^\]]*,[^\]]*\]")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")
FITTED_WHOLE = ("chinchilla_runs", "overtraining_runs", "lm_progress")
FITS = re.compile(r"\bbs\.(fit|rollout|calibrate|progress\.(fit_all|change_of_pace|compare)|Fitter)\(")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def cells(path):
    return CODE.findall(path.read_text(encoding="utf-8"))


def module(path):
    """Import a Python file of the documentation, which may import others."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def headline():
    return json.loads((DOCS / "headline.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def quoted(headline):
    return module(DOCS / "quoted.py").substitutions(headline)


def _published(estimate):
    """Write a published estimate, which may have the median of one of ours."""
    return plain({LOW: estimate["low"], MIDDLE: estimate["estimate"], HIGH: estimate["high"]})


def test_no_text_gives_two_intervals_of_one_quantity(headline, quoted):
    """README, documentation and answers print one interval of a quantity."""
    laws, doubling = headline["laws"].values(), headline["progress"]["quoted"]["doubling_months"]
    intervals = [sizes(law["at_1e24"][name]) for law in laws for name in ("parameters", "tokens")]
    intervals += [plain(law["constants"][name]) for law in laws for name in ("exponent_parameters", "E")]
    intervals += [f"{months(doubling)} months", *(f"{plain(q, '{:.1f}')} logits" for q in _gains(headline))]
    texts = " ".join([README.read_text(encoding="utf-8"), *quoted.values(), *map(str, headline["answers"])])
    published = {_published(claim["published"]) for claim in headline["claims"]}
    printed = 0
    for interval in intervals:
        middle, unit = interval.partition(" ")[0], interval.rpartition("]")[2]
        matches = set(re.findall(rf"(?<![\d.]){re.escape(middle)} \[[^\]]*\]{re.escape(unit)}", texts))
        assert matches - published <= {interval}, matches
        printed += len(matches)
    assert printed > 8


def _gains(headline):
    return headline["since"]["gains"].values()


def test_a_law_is_added_in_a_dozen_lines(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    registry = importlib.import_module("bayescaling.models.laws")
    monkeypatch.setattr(registry, "LAWS", dict(registry.LAWS))
    # A dataclass looks up its module.
    page = types.ModuleType("a_custom_law")
    monkeypatch.setitem(sys.modules, page.__name__, page)
    code = "\n".join(cells(DOCS / "guides" / "add-a-law.md"))
    exec(compile(code, "add-a-law.md", "exec"), page.__dict__)
    interval, *_ = capsys.readouterr().out.splitlines()
    low, high = (float(x) for x in re.match(r"beta ([0-9.]+) to ([0-9.]+),", interval).groups())
    assert low < 0.35 < high
    law = code.split('"""')[2].split("runs = ")[0]
    assert sum(bool(line.strip()) for line in law.splitlines()) <= 12


@pytest.mark.parametrize("path", [p for p in PAGES if cells(p)], ids=name_of)
def test_no_page_hides_the_warning_of_a_fit(path):
    """A fit that did not converge warns, which ends the command that writes output unless the cell hides it."""
    for source in cells(path):
        if FITS.search(source):
            assert "simplefilter" not in source and 'filterwarnings("ignore")' not in source


def test_the_command_that_writes_output_fails_at_the_warning_of_a_fit(tmp_path):
    warned = "import warnings\nimport bayescaling as bs\nwarnings.warn('r_hat', bs.DiagnosticWarning)\n"
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{warned}```\n\n<!-- output -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(bs.DiagnosticWarning):
        module(DOCS / "outputs.py").written(page)


def test_the_build_of_the_documentation_fails_at_a_warning():
    assert re.search(r"sphinx-build -W\b", (ROOT / "Makefile").read_text(encoding="utf-8"))


def test_transcripts_of_commands_fit_80_columns():
    blocks = module(DOCS / "outputs.py").CONSOLE.findall((DOCS / "command-line.md").read_text(encoding="utf-8"))
    lines = [line for block in blocks for line in block.split("\n")]
    assert len(lines) > 200
    assert all(len(line) <= 80 and "e+" not in line for line in lines if not line.startswith(("note: ", "$ ")))


OUTPUT = re.compile(r"^```python\n.*?^```\n\n<!-- output[^>]*-->\n(.*?)<!-- end -->", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", [p for p in PAGES if "<!-- output" in p.read_text(encoding="utf-8")], ids=name_of)
def test_every_cell_that_is_to_have_output_has_it(path):
    text = path.read_text(encoding="utf-8")
    outputs = OUTPUT.findall(text)
    assert len(outputs) == text.count("<!-- output"), "an output stands directly below its cell"
    assert all(re.match(r"```text\n|!\[", output) for output in outputs)


def test_output_is_written_below_its_cell_and_a_picture_with_its_description(tmp_path, monkeypatch):
    outputs = module(DOCS / "outputs.py")
    monkeypatch.setattr(outputs, "PICTURES", tmp_path / "pictures")
    page = tmp_path / "page.md"
    cells = (
        "import bayescaling as bs\nbs.load('chinchilla_runs').head(1)",
        "print('x')\n3 * 4",
        "import matplotlib.pyplot as plt\nplt.plot([1]);",
    )
    marks = (
        "<!-- output -->\nold\n<!-- end -->",
        "<!-- output -->\n<!-- end -->",
        "<!-- output: one point -->\n<!-- end -->",
    )
    text = "".join(f"```python\n{cell}\n```\n\n{mark}\n\nProse.\n\n" for cell, mark in zip(cells, marks, strict=True))
    page.write_text(text, encoding="utf-8")
    written = outputs.written(page)
    assert f"```text\n{bs.load('chinchilla_runs').head(1)}\n```\n<!-- end -->" in written and "old" not in written
    assert "```text\nx\n12\n```" in written
    assert "![one point](pictures/page-3.svg)\n<!-- end -->" in written
    page.write_text(written, encoding="utf-8")
    first = (tmp_path / "pictures" / "page-3.svg").read_bytes()
    assert outputs.written(page) == written
    assert (tmp_path / "pictures" / "page-3.svg").read_bytes() == first


def commands(path):
    """Commands of a page, each as a list of words; what stands in brackets is optional and is named too."""
    prose = FENCED.sub("", path.read_text(encoding="utf-8"))
    for block in INDENTED.findall(prose):
        for line in block.replace("\\\n", " ").splitlines():
            if line.strip().startswith("bayescaling "):
                words = line.strip().partition("   ")[0].replace("[", "").replace("]", "").replace("|", " ")
                yield shlex.split(words)[1:]


@pytest.mark.parametrize("path", [p for p in PAGES if list(commands(p))], ids=name_of)
def test_commands_and_their_options_exist(path):
    import typer
    from bayescaling.commands.cli import app

    by_name = typer.main.get_command(app).commands
    for name, *words in commands(path):
        parameters = by_name[name].params
        options = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, (name, words)


def test_every_command_is_documented():
    from bayescaling.commands.cli import app

    documented = {name for name, *_ in commands(DOCS / "command-line.md")}
    assert documented == {command.callback.__name__.replace("_", "-") for command in app.registered_commands}


def test_every_public_name_and_method_of_a_fit_has_an_entry_in_the_reference():
    pages = (DOCS / "reference").glob("*.md")
    entry = re.compile(r"^\.\. auto\w+:: bayescaling\.([\w.]+)$", re.MULTILINE)
    entries = [name for page in pages for name in entry.findall(page.read_text("utf-8"))]
    spaces = {name: getattr(bs, name) for name in bs.__all__ if inspect.ismodule(getattr(bs, name))}
    public = {name for name in bs.__all__ if name not in spaces}
    public |= {f"{space}.{name}" for space, home in spaces.items() for name in getattr(home, "__all__", ())}
    public |= {f"errors.{name}" for name in ("SizeNote", "TableNote", "TableWarning")}
    public |= {f"Fit.{name}" for name in dir(bs.Fit) if name[0] != "_"} - {"Fit.text"}
    assert sorted(entries) == sorted(public)


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_links_lead_somewhere(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{name_of(path)}: {target}"


# Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_the_answers_on_a_page_are_those_of_the_report(path, quoted):
    headline = module(DOCS / "headline.py")
    text = path.read_text(encoding="utf-8")
    assert headline.written(text, quoted) == text, "run python docs/headline.py"
    assert text.count("<!-- answer") == len(headline.ANSWER.findall(text))
    assert "{{" not in FENCED.sub("", text)
    assert all(quoted[name] for _, name, *_ in headline.ANSWER.findall(text))


NOTEBOOKS = module(DOCS / "outputs.py")


@pytest.mark.parametrize("guide", NOTEBOOKS.GUIDES, ids=name_of)
def test_a_notebook_has_the_text_and_the_cells_of_its_guide(guide):
    text = (DOCS / "notebooks" / f"{guide.stem}.ipynb").read_text(encoding="utf-8")
    assert text == NOTEBOOKS.notebook(guide), "run python docs/headline.py"
    install, *code = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert "%pip install" in install and code == [cell.strip("\n") for cell in cells(guide)]
    for target in LINK.findall("".join(cell["source"] for cell in json.loads(text)["cells"])):
        assert (DOCS / "notebooks" / target).exists(), target


def test_the_readme_has_every_answer_of_the_report(headline):
    text = README.read_text(encoding="utf-8")
    assert all(answer["number"] in text and answer["question"] in text for answer in headline["answers"])
    assert len(text.splitlines()) <= 110


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_line_of_a_paragraph_begins_with_a_comment(path):
    """A comment that begins a line of Markdown makes the whole line HTML, which is shown without formatting."""
    for line in FENCED.sub("", path.read_text(encoding="utf-8")).splitlines():
        assert not line.startswith("<!--") or (line.endswith("-->") and line.count("<!--") == 1), line


MARKED = re.compile(r"<!-- (answer|output|speed)[^>]*-->.*?<!-- end -->", re.DOTALL)
DURATION = re.compile(
    r"\b(?:\d[\d.,]*|an?|a few|half an?|two|three|four|five|ten|several|within a|some|takes?|took|in) "
    r"(?:CPU |core-)?(?:minutes?|hours?|seconds?)\b(?! (?:law|try|mode|since|as))"
)
LEFT_OUT = {".md": (MARKED, FENCED, INDENTED, re.compile(r"`[^`]*`")), ".py": (re.compile(r"(?m)^ *#.*$"),)}
HELP = sorted((ROOT / "commands").glob("*.py"))


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md", *HELP], ids=name_of)
def test_a_page_states_no_time_that_speed_did_not_measure(path):
    """Machines differ: a time of ours is one of docs/speed.md, in CPU seconds with u next to them."""
    text = path.read_text(encoding="utf-8")
    speed = module(ROOT / "tests" / "benchmarks" / "speed.py")
    assert speed.quoted(text, speed.PAGE.read_text(encoding="utf-8")) == text, "run tests/benchmarks/speed.py --write"
    if path.stem in HISTORY:
        return
    for part in LEFT_OUT[path.suffix]:
        text = part.sub("", text)
    assert not DURATION.findall(" ".join(text.split()))


def test_the_readme_says_how_long_a_report_takes():
    mark = "The report took <!-- speed: `report`, empty cache -->"
    assert re.search(
        re.escape(mark) + r"[\d,.]+ CPU seconds \([\d,.]+ u\)<!-- end -->", README.read_text(encoding="utf-8")
    )


def test_what_is_quoted_is_of_this_version_and_of_the_built_in_tables(headline):
    assert headline["version"] == bs.__version__
    for name in FITTED_WHOLE:
        assert sha256(bs.load(name)) == headline["made"]["data"][name], f"{name} was changed: make headline.json again"


WRITTEN = re.compile(r"<!-- (?:answer|output)[^>]*-->.*?<!-- end -->", re.DOTALL)
HISTORY = ("speed", "numbers")  # the first is written by a command, the second has earlier numbers


@pytest.mark.parametrize("path", [p for p in PAGES if p.stem not in HISTORY], ids=name_of)
def test_no_interval_is_written_by_hand(path):
    prose = WRITTEN.sub("", path.read_text(encoding="utf-8"))
    assert not INTERVAL.findall(FENCED.sub("", prose))


def test_the_picture_shows_the_intervals_of_the_report(headline, quoted):
    picture = (DOCS / "headline.svg").read_text(encoding="utf-8")
    assert (
        quoted["doubling"] in picture and quoted["n_star".replace("_", "-")] in picture and "light-dark" not in picture
    )
