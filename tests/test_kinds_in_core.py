"""Where the package names a kind of table, besides the records of the kinds."""

import ast
import re
from pathlib import Path

import bayescaling as bs
import pytest
from bayescaling.datasets import KINDS
from bayescaling.inference.kinds import find_record

ROOT = Path(bs.__file__).parent
KEPT = ["counts", "curves", "evaluations", "horizons", "runs", "scores", "values"]
MOST_FILES = 10  # in which the name of a kind stands as a text, besides its records, laws and tables
ROOMS = ("commands", "datasets", "inference", "plots", "reports")
OWN = ("datasets/kinds/", "inference/kinds/")


def trees(*rooms):
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def texts_of(tree):
    """Return the texts of a file, without keys of dicts and of indices, which name parts of documents and columns."""
    keys = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            keys |= {id(part) for part in ast.walk(node.slice)}
        elif isinstance(node, ast.Dict):
            keys |= {id(key) for key in node.keys}
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in keys}


def test_the_core_names_no_kind():
    texts = {path: texts_of(tree) for path, tree in trees(*ROOMS)}
    for name in KEPT:
        found = [path for path, of in texts.items() if name in of and path not in (f"{own}{name}.py" for own in OWN)]
        assert len(found) <= MOST_FILES, (name, found)


def test_nothing_compares_the_kind_of_a_law():
    compared = re.compile(r"law\.kind (?:==|!=|in|not in)\s|(?:==|!=|in) \w*\.?law\.kind\b")
    assert [path for path, tree in trees(*ROOMS, "models") if compared.search(ast.unparse(tree))] == []


@pytest.mark.parametrize("name", KEPT)
def test_each_kind_has_one_record_of_reading_and_one_of_answers(name):
    assert KINDS[name].name == find_record(name).name == name and find_record(name).figure
    assert all((ROOT / f"{own}{name}.py").exists() for own in OWN)
