import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "training"
MAY_IMPORT = {
    "engine": set(),
    "sweeps": {"engine", "deviations"},
    "language": {"engine", "sweeps", "deviations"},
    "arithmetic": {"engine", "sweeps", "deviations"},
    "check": {"engine", "sweeps", "language", "arithmetic"},
}
MODULES = {path.relative_to(ROOT).with_suffix("").parts: path for path in sorted(ROOT.rglob("*.py"))}


def imports(module):
    """Modules of training that a module imports, as tuples of names; imports inside functions count."""
    imported_modules = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(module):
            base = (*module[: len(module) - node.level], *(node.module or "").split("."))
            base = tuple(part for part in base if part)
            for alias in node.names:
                inside = (*base, alias.name)
                imported_modules |= {inside if inside in MODULES else base if base in MODULES else (*base, "__init__")}
    return imported_modules & set(MODULES)


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_folders_point_one_way(part):
    modules = [module for module in MODULES if module[0] == part]
    folders = {imported[0] for module in modules for imported in imports(module)} - {part, "names"}
    assert modules and folders <= MAY_IMPORT[part]


def test_no_folder_has_more_than_14_files():
    for folder in (ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())):
        assert len(list(folder.glob("*.py"))) <= 14
