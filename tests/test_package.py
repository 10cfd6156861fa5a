import ast
import functools
import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import bayescaling as bs
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# A module may import from the folder that holds it and from those named here; imports inside functions count.
MAY_IMPORT = {
    "errors": set(),
    "datasets": {"errors"},
    "models": {"errors", "datasets"},
    "clusters": {"errors", "datasets"},
    "inference": {"errors", "clusters", "datasets", "models"},
    "training": {"errors", "clusters", "datasets"},
    "plots": {"errors", "datasets", "models", "inference"},
    "reports": {"errors", "datasets", "models", "inference", "training", "plots"},
    "commands": {"__init__", "errors", "clusters", "datasets", "models", "inference", "training", "plots", "reports"},
    "__init__": {"errors", "datasets", "models", "inference", "plots", "reports", "training"},
    "__main__": {"commands"},
}
MODULES = [
    path.relative_to(ROOT)
    for folder in (".", "datasets", "models", "inference", "training", "plots", "reports", "commands")
    for path in sorted((ROOT / folder).glob("*.py" if folder == "." else "**/*.py"))
]
REPORTS = ROOT / "reports"
PAGES = sorted(path.parent.name for path in REPORTS.glob("pages/*/page.py"))
# Modules of extras, and the files that may import them: each does so only in functions that need them.
OF_EXTRAS = dict.fromkeys(("jax", "numpyro"), "inference/samplers/numpyro.py") | {"distributed": "clusters.py"}
KERNELS = {"cut_cross_entropy", "liger_kernel"}  # used where they happen to be installed
# Spelt so that this file does not name what it forbids.
FOLDERS = "|".join(("root", "home", "work", "Users", "opt"))
MACHINE = re.compile(f"/({FOLDERS})/|[.][.]/shared|{'py' + 'env'}")
# Folders whose stubs name what they export.
SPACES = (
    "inference",
    "plots",
    *(f"inference/{name}" for name in ("lengths", "points", "progress", "scores")),
)
PUBLIC = {name: getattr(bs, name) for name in bs.__all__}
PUBLIC |= {
    f"{space}.{name}": getattr(module, name)
    for space, module in PUBLIC.items()
    if inspect.ismodule(module) and space != "errors"
    for name in module.__all__
}


def part_of(path):
    return path.parts[0].removesuffix(".py")


@functools.cache
def import_statements(path):
    """Return the import statements of a module, those inside functions too."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported_names(path):
    """What a module imports from the package, each as the parts of its dotted name."""
    here = ("bayescaling", *path.with_suffix("").parts)
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            start = list(here[: len(here) - node.level]) if node.level else []
            names = [[*start, *module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        yield from (tuple(name) for name in names if name[0] == "bayescaling")


def imported_parts(path):
    """Parts of the package that a module imports from."""
    for name in imported_names(path):
        if name[-1] != "__version__":
            yield name[1] if name[1] in MAY_IMPORT else "__init__"


def test_imports_point_one_way():
    for path in MODULES:
        part = part_of(path)
        assert set(imported_parts(path)) - {part} <= MAY_IMPORT[part], path


def in_a_circle(imports):
    """Modules that import one another by way of others, and those that import them, of what each imports."""
    left = dict(imports)
    while free := {path for path, needed in left.items() if not needed & set(left)}:
        left = {path: needed for path, needed in left.items() if path not in free}
    return left


@pytest.fixture(scope="module")
def imports():
    """Modules that each module imports, at its top, in functions or for its types."""
    home = {("bayescaling", *path.with_suffix("").parts): path for path in MODULES}
    home |= {name[:-1]: path for name, path in home.items() if name[-1] == "__init__"}
    longest = {path: [home.get(name, home.get(name[:-1])) for name in imported_names(path)] for path in MODULES}
    return {path: {*paths} - {path, None} for path, paths in longest.items()}


def test_no_module_imports_itself_by_way_of_others(imports):
    assert not in_a_circle(imports)


# A class and a method for the class's sake, a function that imports another module, and two folders.
@pytest.mark.parametrize(
    "pair",
    [
        ("inference/fitted.py", "inference/estimands/allocate.py"),
        ("plots/with_plotly.py", "plots/figure.py"),
        ("training/sweeps/trainer.py", "training/language/sweep_file.py"),
    ],
)
def test_a_circle_is_seen(pair, imports):
    importing, imported = map(Path, pair)
    assert {*pair} <= {path.as_posix() for path in in_a_circle(imports | {importing: {imported}})}


# Folders of inference by question, for any kind of table, and those of one kind.
GENERAL = {"checks", "comparison", "decisions", "engine", "estimands", "points", "samplers"}
OF_ONE_KIND = {"lengths", "progress", "scores"}


@pytest.mark.parametrize("room", sorted(GENERAL))
def test_what_holds_for_every_law_imports_nothing_of_one_kind(room):
    paths = [path for path in MODULES if path.parts[:2] == ("inference", room)]
    names = {name for path in paths for name in imported_names(path) if name[1] == "inference" and len(name) > 2}
    assert paths and not {name[2] for name in names} & OF_ONE_KIND


@pytest.mark.parametrize("page", PAGES)
def test_a_page_imports_no_other_page(page):
    names = {
        name for path in (REPORTS / "pages" / page).glob("*.py") for name in imported_names(path.relative_to(ROOT))
    }
    assert not {name[3] for name in names if name[1:3] == ("reports", "pages") and len(name) > 3} & (
        set(PAGES) - {page}
    )


def third_party_modules(path):
    """Name the modules outside the standard library and the package that a file imports, inside functions too."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        yield from {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"bayescaling"}


def declared(*extras):
    """Name the modules of the dependencies, and of extras."""
    project = PROJECT["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    names = {re.match(r"(?:python-)?([\w-]+)", text)[1].replace("-", "_") for texts in lists for text in texts}
    return names | ({"distributed"} if "dask" in names else set())


def test_what_a_module_imports_is_a_declared_dependency():
    usual, of_training = declared(), declared("training", "hub") | KERNELS
    for path in MODULES:
        allowed = of_training if path.parts[0] == "training" else usual
        allowed = allowed | {name for name, home in OF_EXTRAS.items() if home == path.as_posix()}
        assert set(third_party_modules(path)) <= allowed, path


def test_the_check_of_dependencies_sees_them():
    assert "platformdirs" in set(third_party_modules(Path("reports/cache/store.py")))
    assert "numpyro" in declared("numpyro") and "numpyro" not in declared()


def test_the_check_of_imports_sees_them():
    assert set(imported_parts(Path("commands/allocate.py"))) >= {"errors", "inference", "reports"}
    assert set(imported_parts(Path("inference/fitter.py"))) >= {"datasets", "inference", "models"}


def test_import_loads_nothing_heavy():
    heavy = ("numpy", "pandas", "scipy", "xarray", "pymc", "pytensor", "numba", "jax", "plotly", "matplotlib", "typer")
    code = f"import sys, bayescaling; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_command_line_loads_nothing_heavy_before_it_works():
    heavy = ("numpy", "pandas", "scipy", "xarray", "pymc", "torch")
    code = f"import sys, bayescaling.commands.cli; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_refusal_loads_nothing_that_only_a_fit_needs(tmp_path):
    (tmp_path / "runs.csv").write_text("parameters,tokens\n1e8,1e9\n", encoding="utf-8")
    heavy = ("scipy.special", "scipy.stats", "xarray", "arviz_stats", "numba", "pymc", "torch")
    code = (
        "import sys\nfrom bayescaling.commands.cli import main\ntry:\n    main()\nfinally:\n"
        f"    print([m for m in {heavy} if type(sys.modules.get(m)).__name__ == 'module'])"  # not absent and not lazy
    )
    words = ["fit", "chinchilla", "--data", "runs.csv", "--out", "fit.nc"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "loss" in done.stderr
    assert done.stdout.strip() == "[]"


def test_few_names_are_public_at_the_top():
    # Figures are one family, whose names all begin alike.
    assert len([name for name in bs.__all__ if not name.startswith("plot_")]) <= 29


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves(name):
    public = PUBLIC[name]
    assert public.__doc__
    space, _, attribute = name.rpartition(".")
    assert attribute in dir(getattr(bs, space) if space else bs)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_signature_is_annotated_in_full(name):
    public = PUBLIC[name]
    if inspect.ismodule(public) or (isinstance(public, type) and issubclass(public, Exception)):
        return
    signature = inspect.signature(public)
    assert not [p.name for p in signature.parameters.values() if p.annotation is p.empty]
    assert signature.return_annotation is not signature.empty or isinstance(public, type)


STUBS = [Path(folder) / "__init__.pyi" for folder in (".", *SPACES)] + [Path("models/catalogue.pyi")]


@pytest.mark.parametrize("path", STUBS, ids=str)
def test_types_are_shipped_for_the_names_there_are(path):
    package = ".".join(("bayescaling", *path.parent.parts))
    shipped = PROJECT["tool"]["setuptools"]["package-data"]
    assert path.name in shipped[package] and "py.typed" in shipped["bayescaling"]
    stub = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    # A name is exported by a stub where it is imported under the same name.
    named = [alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.asname == alias.name for alias in named)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = bs.nonsense


def test_every_subpackage_is_shipped():
    homes = [path.parent.relative_to(ROOT) for path in ROOT.glob("[a-z]*/**/__init__.py")]
    packages = {"bayescaling"} | {".".join(["bayescaling", *home.parts]) for home in homes if home.parts[0] != "build"}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages


def read_yaml(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_versions_agree():
    assert PROJECT["project"]["version"] == bs.__version__
    assert f"## {bs.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert read_yaml("CITATION.cff")["version"] == bs.__version__
    assert read_yaml("conda/recipe.yaml")["context"]["version"] == bs.__version__


def test_the_conda_recipe_needs_what_the_package_needs():
    project, recipe = PROJECT["project"], read_yaml("conda/recipe.yaml")
    needed = [re.sub(r"^([\w-]+)(\[\w+\])?", r"\1 ", text).strip() for text in project["dependencies"]]
    needed = [re.sub(r"^matplotlib\b", "matplotlib-base", text) for text in needed]  # its name there
    assert recipe["requirements"]["run"] == ["python >=${{ python_min }}", *needed]
    assert project["requires-python"] == f">={recipe['context']['python_min']}"
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    commands = [f"{name} = {function}" for name, function in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands


def test_an_archive_is_described_as_it_is_cited():
    archive, cited = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8")), read_yaml("CITATION.cff")
    names = [author.get("name") or f"{author['family-names']}, {author['given-names']}" for author in cited["authors"]]
    assert [creator["name"] for creator in archive["creators"]] == names
    assert len(PROJECT["project"]["authors"]) == len(names)
    assert (archive["upload_type"], archive["description"]) == (cited["type"], cited["abstract"])
    assert all(archive[key] == cited[key] for key in ("title", "keywords", "license"))


def test_a_version_of_the_documentation_is_published_next_to_others(tmp_path):
    publish = read_yaml(".github/workflows/docs.yml")["jobs"]["publish"]["steps"][-1]
    origin, site = tmp_path / "origin.git", tmp_path / "site"
    subprocess.run(["git", "init", "--quiet", "--bare", origin], check=True)
    subprocess.run(["git", "clone", "--quiet", origin, site], check=True, stderr=subprocess.DEVNULL)
    for version in ("main", "v0.1.0", "main"):
        (site / version).mkdir(exist_ok=True)
        (site / version / "index.html").write_text(version)
        environment = os.environ | {"GITHUB_REF_NAME": version, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["bash", "-e", "-c", publish["run"]], cwd=site, env=environment, check=True)
    show = ["git", "--git-dir", origin, "show"]
    front = subprocess.check_output([*show, "gh-pages:index.html"], text=True)
    assert re.findall('href="(.*?)"', front) == ["main/", "v0.1.0/"]
    assert subprocess.check_output([*show, "gh-pages:v0.1.0/index.html"], text=True) == "v0.1.0"


def test_hosted_checks_run_what_is_run_here_on_every_python():
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert ".ci/run" in text and (ROOT / ".ci" / "run").exists()
    minors = [re.search(r"Python :: (3\.\d+)$", name) for name in PROJECT["project"]["classifiers"]]
    assert all(f'"{minor[1]}"' in text for minor in minors if minor)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_no_file_names_a_machine():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    assert "commands/cli.py" in names
    for name in names:
        if (ROOT / name).is_file():
            text = (ROOT / name).read_text(encoding="utf-8", errors="ignore")
            assert not MACHINE.search(text), f"{name}: {MACHINE.search(text)[0]}"


def test_few_files_lie_at_the_root():
    assert len([path for path in ROOT.glob("*.py") if path.is_file()]) <= 5


def test_every_file_can_be_read_at_once():
    lengths = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: length for path, length in lengths.items() if length > 400} == {}
