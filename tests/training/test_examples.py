import doctest
import importlib
import pkgutil

import pytest
from bayescaling import training

MODULES = [module.name for module in pkgutil.walk_packages(training.__path__, "bayescaling.training.")]
EXAMPLES = {
    found.name: found
    for module in MODULES
    for found in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module), module)
    if found.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_in_docstrings_are_right(name):
    runner = doctest.DocTestRunner(verbose=False)
    told = []
    runner.run(EXAMPLES[name], out=told.append)
    assert not runner.failures, "".join(told)


def test_there_are_examples_of_the_main_names():
    documented = {name.rpartition(".")[2] for name in EXAMPLES}
    assert documented >= {"train", "run", "make_sweep", "Synthetic", "Decoder", "cross_entropy", "evaluate", "added"}
