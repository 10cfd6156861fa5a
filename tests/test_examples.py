"""The examples in docstrings, run: every public function has one."""

import doctest
import functools
import importlib
import json
import pkgutil
import types

import bayescaling as bs
import pytest

# Loaded one by one: the walk over training needs torch, which an environment of inference alone does not have.
MODULES = [m.name for m in pkgutil.walk_packages(bs.__path__, "bayescaling.") if ".tests" not in m.name]


def examples():
    """Examples by name; a module whose optional packages are not installed has none here."""
    by_name = {}
    for module in MODULES:
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        for example in doctest.DocTestFinder(exclude_empty=True).find(loaded, module):
            if example.examples:
                by_name[example.name] = example
    return by_name


EXAMPLES = examples()


@pytest.fixture(scope="module", autouse=True)
def made_once():
    """Many examples begin with the same fit: it is made once, of the same call."""
    results = {}

    def once(function):
        @functools.wraps(function)
        def call(*args, **options):
            key = json.dumps([function.__name__, *map(described, args), {k: described(v) for k, v in options.items()}])
            if key not in results:
                results[key] = function(*args, **options)
            return results[key]

        return call

    with pytest.MonkeyPatch.context() as patch:
        for home, name in ((bs, "fit"), (bs, "calibrate"), (bs.progress, "fit_all")):
            patch.setattr(home, name, once(getattr(home, name)), raising=False)
        yield


def described(value):
    """Text that tells the arguments of the examples' fits apart."""
    if hasattr(value, "label"):
        return [value.label, json.dumps(value.options)]
    return f"{value.attrs.get('source')}, {len(value)} rows" if hasattr(value, "attrs") else repr(value)


LONG = ("progress.compare.compare", "calibrate")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.thorough] if name.endswith(LONG) else []) for name in EXAMPLES],
)
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_example_gives_what_it_says(name):
    output = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    runner.run(EXAMPLES[name], out=output.append)
    assert not runner.failures, "".join(output)


@pytest.mark.parametrize("name", bs.__all__)
def test_every_public_function_has_an_example(name):
    try:
        public = getattr(bs, name)
    except ModuleNotFoundError:
        pytest.skip("its optional packages are not installed")
    if isinstance(public, types.FunctionType):
        # The decorated examples of the fixture have the name of what they wrap.
        assert f"{public.__module__}.{public.__qualname__}" in EXAMPLES or name == "report"
