"""Methods of a fit, by name: each is loaded with what it needs when it is first used, and a fit is small without."""

from importlib import import_module

from .workers import one_thread


class Method:
    """A function of a module of `inference` as a method; at its first use it takes the place of this.

    The function has the name of the method, unless another is given. One that computes nothing is called as it is.
    """

    def __init__(self, module, function=None, *, computes=True):
        self._module, self._function, self._computes = module, function, computes

    def __set_name__(self, owner, name):
        self._owner, self._name = owner, name

    def __get__(self, fit, owner=None):
        """Return the function, or the method of a fit."""
        function = getattr(import_module(f"{__package__}.{self._module}"), self._function or self._name)
        function = one_thread()(function) if self._computes else function
        setattr(self._owner, self._name, function)
        return function.__get__(fit, owner)


class Methods:
    """What a fit computes."""

    _make_answers = Method("summary", "make_answers")
    allocate = Method("estimands.allocate")
    ask = Method("formulas.ask")
    check = Method("checks.check")
    law_tests = Method("checks.law_tests")
    loo = Method("comparison.loo")
    predict = Method("estimands.predict")
    predict_group = Method("estimands.predict_group")
    robust = Method("checks.sandwich")
    robust_sd = Method("checks.sandwich")
    study_exponents = Method("estimands.study_exponents")
    summary = Method("summary")
    text = Method("stored_answers", computes=False)
    to_inferencedata = Method("storage")
    tuning = Method("estimands.tuning")
    wider_laws = Method("checks.wider_laws")
