"""One rule of strength: the grade of an answer is the worst of its facts."""

import itertools

import pytest
from bayescaling.inference.estimands.strength import GRADES, Facts, grades, raises, reasons, strength

LIMITS = {
    "width": ({"width": 1.5}, {"width": 3.0}, {"width": 3.01}),
    "no upper end": ({"width": 1.0}, {"width": 1.51}, {"width": float("inf")}),
    "sensitivity": ({"sensitivity": 1.25}, {"sensitivity": 2.0}, {"sensitivity": 2.01}),
    "extrapolation": ({"decades": 0.0}, {"decades": -1.0}, {"decades": 1.01}),
    "direction": ({"direction": (0.975, 1.0)}, {"direction": (0.9, 1.0)}, {"direction": (0.89, 1.0)}),
    "share": ({"share": (57, 62, 0.9)}, {"share": (7, 9, 0.9)}, {"share": (3, 4, 0.95)}),
    "below the nominal share": ({"share": (9, 9, 0.9)}, {"share": (8, 9, 0.9)}, {"share": (40, 62, 0.9)}),
    "law": ({"verdict": "fits"}, {"verdict": "off", "size": 0.009}, {"verdict": "does not fit", "size": 0.02}),
}


@pytest.mark.parametrize("name", list(LIMITS))
def test_each_fact_has_its_limits(name):
    facts = [Facts(chains=True, **fact) for fact in LIMITS[name]]
    assert [strength(evidence) for evidence in facts] == list(GRADES)
    assert [len(reasons(evidence)) for evidence in facts] == [0, 1, 1]


def test_an_answer_is_as_strong_as_its_weakest_fact():
    for one, other in itertools.combinations(LIMITS.values(), 2):
        for i, j in itertools.product(range(3), range(3)):
            if not one[i].keys() & other[j].keys():
                assert strength(Facts(chains=True, **one[i], **other[j])) == GRADES[max(i, j)]
    assert strength(Facts(chains=False, width=1.0)) == "weak" and grades(Facts(chains=False))["chains"] == "weak"


@pytest.mark.parametrize("name", list(LIMITS))
def test_what_would_raise_an_answer_is_named_for_each_fact_of_its_grade(name):
    strong, *weaker = (Facts(chains=True, **fact) for fact in LIMITS[name])
    assert raises(strong) == [] and all(len(raises(facts)) == 1 for facts in weaker)


def test_runs_of_the_compute_that_is_named_raise_the_grade():
    facts = Facts(chains=True, decades=1.9, compute=1e24)
    assert raises(facts) == ["runs of 1e23 FLOP"]
    fair = facts._replace(decades=1.0)
    assert strength(fair) == "fair" and raises(fair) == ["runs of 1e24 FLOP"]
    assert raises(facts._replace(decades=-2.0, compute=None)) == ["runs 10 times smaller than the smallest run"]
