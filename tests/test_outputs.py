"""Outputs and pictures of the documentation are those that its cells give today.

`make test` runs the cells with short chains and compares words, units and shapes, and numbers loosely. `make thorough`
runs them as they are and compares every number to the Monte-Carlo error of its draws.
"""

import difflib
import functools
import importlib
import itertools
import math
import re
import sys
import warnings
from pathlib import Path

import bayescaling as bs
import pandas as pd
import pytest
from bayescaling.datasets import sha256

compared = importlib.import_module("bayescaling.tests.compared")
writer = importlib.import_module("bayescaling.docs.outputs")
ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
PAGES = [ROOT / "README.md", *sorted(path for path in ROOT.glob("docs/**/*.md") if "generated" not in path.parts)]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
CELLS = [path for path, text in TEXTS.items() if "```python\n" in text]
SHOWN = re.compile(r"^```(?:text|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LAST = "\n```python\nNone\n```\n\n<!-- output -->\n<!-- end -->\n"  # so that the cells after the last output run too
SHORT, FEW = {"draws": 200, "tune": 300, "chains": 2}, 50
# Pictures of the draws themselves, of simulated tables, and of densities to their last draw: their text is compared.
OF_DRAWS = re.compile(r"^azp\.|plot_(?:calibration|sensitivity|ppc|posterior|design|ranks)\(", re.MULTILINE)


def rerun(path, folder, monkeypatch):
    """Run the cells of a copy of a page; return its text and the fewest effective draws of its fits."""
    registry = importlib.import_module("bayescaling.models.laws")
    monkeypatch.setattr(registry, "LAWS", dict(registry.LAWS))
    monkeypatch.setattr(writer, "PICTURES", folder / "docs" / "pictures")
    page = folder / path.relative_to(ROOT)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(TEXTS[path] + LAST, encoding="utf-8")
    text = writer.written(page)
    values = vars(sys.modules["page_of_cells"]).values()
    fits = [x for value in values for x in (value.values() if isinstance(value, dict) else [value])]
    draws = [fit.diagnostics["ess_tail_min"] for fit in fits if isinstance(fit, bs.Fit)]
    return text, max(compared.LEAST, min(draws, default=0))


def outputs(text):
    """Return the outputs on a page, those of commands one by one."""
    return [part for block in SHOWN.findall(text) for part in re.split(r"\n(?=\$ )", block)]


def faults_of(path, text, draws):
    """Return in what the outputs of a page differ from those of its cells.

    Of runs that cost the same and teach nearly the same, draws choose which is made first. The candidates of the guide
    differ, and are compared from whole chains. Of ten simulated tables the words are compared.
    """
    assert SHOWN.sub("", TEXTS[path] + LAST) == SHOWN.sub("", text)
    faults = []
    for before, after in zip(outputs(TEXTS[path]), outputs(text), strict=True):
        if "Runs to make next" not in before or (draws > FEW and not before.startswith("$")):
            few = map(compared.masked, (before, after)) if " --simulations " in before else (before, after)
            faults += compared.differences(*few, draws)
    return faults


def faults_of_pictures(path, folder, compare):
    """Return in what the pictures of a page differ from those that its cells drew."""
    sources, faults = [cell[1] for cell in writer.CELL.finditer(TEXTS[path])], []
    for file in sorted((folder / "docs" / "pictures").glob("*.svg")):
        pair = [(pictures / file.name).read_text(encoding="utf-8") for pictures in (PICTURES, file.parent)]
        if OF_DRAWS.search(sources[int(file.stem.rpartition("-")[2]) - 1]):
            words = [compared.masked(compared.drawn(svg)[0]).split() for svg in pair]
            same = difflib.SequenceMatcher(a=words[0], b=words[1], autojunk=False).ratio()
            faults += [] if same > 0.7 else [f"{file.stem}: {words}"]
        else:
            faults += [f"{file.stem}: {fault}" for fault in compare(*pair)]
    return faults


@pytest.fixture(scope="module")
def once():
    """Cache fits of the pages by their arguments; many pages begin with the same fit."""
    return {}


@pytest.fixture
def shortened(monkeypatch, once):
    """Sample a little, and the same only once; outputs are those of chains that converged."""

    def short(function):
        @functools.wraps(function)
        def call(*args, **options):
            table = next((x for x in args if isinstance(x, pd.DataFrame)), None)
            key = function.__name__, str(args[:1]), None if table is None else sha256(table), str(options)
            if key not in once:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    once[key] = function(*args, **options | SHORT)
            return once[key].copy() if hasattr(once[key], "copy") else once[key]

        return call

    for home, name in ((bs, "fit"), (bs, "rollout"), (bs.progress, "fit_all")):
        monkeypatch.setattr(home, name, short(getattr(home, name)))
    chains = importlib.import_module("bayescaling.inference.checks.chains")
    monkeypatch.setattr(chains, "R_HAT_LIMIT", math.inf)
    monkeypatch.setattr(chains, "ESS_PER_CHAIN", 1)
    monkeypatch.setattr(writer, "DiagnosticWarning", ResourceWarning)
    loo = bs.Fit.loo
    monkeypatch.setattr(bs.Fit, "loo", lambda fit, by=None, **options: loo(fit, by, **options | {"high_k": "none"}))


@pytest.mark.slow
@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.stem)
def test_short_chains_give_the_words_of_a_page_and_of_its_pictures(path, shortened, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "transcribed", lambda text: text)  # commands run in `make thorough`

    def words(*pair):
        (before, axes, _), (now, axes_now, _) = map(compared.drawn, pair)
        return compared.differences(before, now, FEW) + (["other axes"] if {*axes} != {*axes_now} else [])

    text, _ = rerun(path, tmp_path, monkeypatch)
    faults = faults_of(path, text, FEW) + faults_of_pictures(path, tmp_path, words)
    assert not faults, "\n".join(faults)


@pytest.mark.thorough
@pytest.mark.parametrize("path", [*CELLS, ROOT / "docs" / "command-line.md"], ids=lambda path: path.stem)
def test_cells_and_commands_give_the_numbers_of_a_page_and_of_its_pictures(path, tmp_path, monkeypatch):
    text, draws = rerun(path, tmp_path, monkeypatch)
    compare = functools.partial(compared.differences_of_pictures, draws=draws)
    faults = faults_of(path, text, draws) + faults_of_pictures(path, tmp_path, compare)
    assert not faults, "\n".join(faults)


# What is planted is found -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [path for path in PAGES if SHOWN.search(TEXTS[path])], ids=lambda path: path.stem)
def test_a_number_that_changed_on_a_page_is_found(path):
    """A count of rows is larger by one, a median has three digits more."""
    for output in outputs(TEXTS[path]):
        assert not compared.differences(output, output)
        places = [(match.start(1), f"999{match[1]}") for match in compared.INTERVAL.finditer(output) if match[1]]
        places += [(match.start(1), str(int(match[1]) + 1)) for match in re.finditer(r"\b(\d+)(?= rows of)", output)]
        for start, planted in places:
            assert compared.differences(output, output[:start] + re.sub(r"^\S+", planted, output[start:])), planted


@pytest.mark.parametrize(
    ("old", "new", "draws", "same"),
    [
        ("33B [21B, 52B]", "34B [20B, 55B]", 2400, True),
        ("33B [21B, 52B]", "38B [21B, 52B]", 2400, False),
        ("33B [21B, 52B]", "33B [21B, 60B]", 2400, False),
        ("2025-11 [2025-05, 2026-06]", "2025-12 [2025-05, 2026-07]", 400, True),
        ("2025-11 [2025-05, 2026-06]", "2026-05 [2025-05, 2026-07]", 400, False),
        ("11.0 [1.5, never]", "14.0 [1.4, never]", 400, True),
        ("11.0 [1.5, never]", "30.0 [1.4, never]", 1000, False),
        ("score p = 1e-9", "score p = 6e-11", 1000, True),
        ("score p = 1e-9", "score p = 1e-4", 1000, False),
        ("-26.6 ± 10.5", "-26.9 ± 10.6", 1000, True),
        ("245 rows in 2023", "245 rows in 2024", 400, False),
        ("loss 2.441 nats", "loss 2.441 bits", 50, False),
        ("share 12%", "share 12", 50, False),
    ],
)
def test_numbers_are_compared_to_the_error_of_their_draws(old, new, draws, same):
    assert bool(compared.differences(old, new, draws)) is not same


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*-*.svg"))[::8], ids=lambda path: path.stem)
def test_a_tick_or_a_mark_that_changed_in_a_picture_is_found(path):
    svg = path.read_text(encoding="utf-8")
    assert not compared.differences_of_pictures(svg, svg)
    _, ticks, marks = compared.drawn(svg)
    for tick in itertools.chain.from_iterable(ticks.values()):
        changed = svg.replace(f">{tick}<", f">{tick}1<", 1)
        assert changed == svg or compared.differences_of_pictures(svg, changed), tick
    before, _, after = svg.rpartition("<path d=")
    assert len(marks) > 2 and compared.differences_of_pictures(svg, f'{before}<path d="M 0 0 1 1"/><path d={after}')


@pytest.mark.slow
def test_an_output_that_changed_in_a_guide_is_found(shortened, tmp_path, monkeypatch):
    guide = ROOT / "docs" / "guides" / "compare-laws.md"
    monkeypatch.setitem(TEXTS, guide, TEXTS[guide].replace("predicts left-out runs", "predicts other runs"))
    text, _ = rerun(guide, tmp_path, monkeypatch)
    assert faults_of(guide, text, FEW) == ["'other' became 'left-out'"]
