import inspect

import bayescaling as bs
import pytest

FUNCTIONS = {name: getattr(bs, name) for name in bs.__all__} | {
    f"progress.{name}": getattr(bs.progress, name) for name in bs.progress.__all__
}
TAKERS = [
    name
    for name, function in FUNCTIONS.items()
    if callable(function)
    and not (isinstance(function, type) and issubclass(function, Exception))
    and {"law", "laws"} & set(inspect.signature(function).parameters)
]
SHORT = {"seed": 1, "draws": 60, "tune": 120, "chains": 2}


def arguments_of(function, law):
    """Arguments of a function of which one is a law."""
    parameters = inspect.signature(function).parameters
    several = {law: law} if function is bs.progress.compare_futures else [law]
    laws = {"law": law} if "law" in parameters else {"laws": several}
    table = {"table": bs.load("chinchilla_runs")} if function is bs.report else {}
    required = [p.name for p in parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return dict.fromkeys(required) | laws | table


def test_functions_that_take_a_law_are_found():
    assert {"Fitter", "calibrate", "fit", "progress.change_of_pace", "report", "rollout"} <= set(TAKERS)


@pytest.mark.parametrize("name", TAKERS)
def test_an_unknown_name_of_a_law_is_refused_with_the_closest(name):
    function = FUNCTIONS[name]
    with pytest.raises(bs.InputError, match=r'law "chinchila" is unknown; did you mean "chinchilla"[?] choose one of'):
        function(**arguments_of(function, "chinchila"))


@pytest.mark.parametrize("name", TAKERS)
def test_what_is_no_law_is_refused(name):
    function = FUNCTIONS[name]
    with pytest.raises(bs.InputError, match="law is of type int; pass a law such as"):
        function(**arguments_of(function, 3))


def test_a_change_of_pace_is_of_a_law_of_progress():
    with pytest.raises(bs.InputError, match="law is chinchilla; choose one of progress"):
        bs.progress.change_of_pace("chinchilla")


@pytest.mark.parametrize("arguments", [(), ("chinchilla",), ("chinchilla", None)])
def test_a_fit_without_a_table_is_refused(arguments):
    with pytest.raises(bs.InputError, match="table is missing"):
        bs.fit(*arguments)


def test_a_table_in_the_place_of_the_law_is_refused_with_the_fix():
    with pytest.raises(bs.InputError, match=r"law is of type PrintedTable; .* the table as table="):
        bs.fit(bs.load("chinchilla_runs"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_name_and_no_name_fit_the_laws_that_they_stand_for():
    runs = bs.load("chinchilla_runs")
    named, law = (bs.fit(x, runs, **SHORT) for x in ("chinchilla", bs.laws.Chinchilla()))
    assert named["posterior"].to_dataset().identical(law["posterior"].to_dataset())
    assert bs.fit(table=runs, **SHORT).law == bs.laws.Coupled()
    assert bs.Fitter("kaplan", runs).law == bs.laws.Kaplan()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_rollout_takes_a_name():
    runs = bs.load("chinchilla_runs")
    (named, _), (law, _) = (bs.rollout(x, runs, "compute", 1e21, **SHORT) for x in ("chinchilla", bs.laws.Chinchilla()))
    assert named.equals(law)
