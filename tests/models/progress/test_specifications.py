import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models import law as law_named
from bayescaling.models.progress.draws import ProgressDraws
from bayescaling.models.progress.law import Progress
from bayescaling.models.progress.specifications import SPECIFICATIONS, Column, Specification, parse

# Ho et al. (2024), table 10.
COUNTS = dict(zip(range(1, 21), (6, 5, 5, 8, 8, 10, 10, 9, 9, 14, 18, 9, 12, 10, 12, 8, 10, 5, 11, 10), strict=True))
OWN = {
    7: Specification("n + y + b", "d + b + y"),
    8: Specification("b+n", "b+y+d"),
    10: Specification("b + y:b + n", "b + b:y + 1:d"),
    12: Specification("b + y + n", "b + y + d", shared_year=True),
    13: Specification("b + y + n:t", "b + y + t:d"),
    15: Specification("b + y + n + log(Y):n", "b + y + d + d:log(Y)"),
    18: Specification("b + c + y", ""),
    19: Specification("b + y + n", "b + y + d", vocabulary=True),
    20: Specification("b + y + n", "b + y + d", diminishing=True),
}


def coefficient_count(specification):
    """Return the number of coefficients, those of table 10 of Ho et al. (2024)."""
    shared = sum(c.kind == "year" for c in specification.columns_data) if specification.shared_year else 0
    return len(specification.columns_parameters) + len(specification.columns_data) - shared + specification.vocabulary


@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_as_many_coefficients_as_the_paper_has(k, progress_draws):
    assert coefficient_count(SPECIFICATIONS[k]) == COUNTS[k]
    named = progress_draws(Progress(k), draws=1).named()
    extra = {"sigma", "loss_centre", "parameter_share"}
    assert sum(v.size for name, v in named.data_vars.items() if name not in extra) == COUNTS[k]
    # Coordinates move the coefficients and the scatter, none more.
    assert Progress(k).dimension == COUNTS[k] + 1


@pytest.mark.parametrize("k", SPECIFICATIONS)
def test_every_coordinate_moves_the_loss(k, progress_draws):
    law = Progress(k)
    drawn = progress_draws(law, draws=1)
    for j in range(law.dimension):
        z = drawn.z.copy()
        z[..., j] += 0.1
        moved = ProgressDraws(law, drawn.reference, drawn.rows, z)
        assert not np.array_equal(moved.rowwise(), drawn.rowwise()), law.coordinates[j]


@pytest.mark.parametrize("k", OWN)
def test_a_users_own_notation_gives_the_posterior_of_the_built_in(k, evaluations):
    custom, built_in = Progress(OWN[k]), Progress(k)
    assert OWN[k] is not SPECIFICATIONS[k]
    z = np.random.default_rng(k).normal(size=(1, 4, built_in.dimension))
    densities = [
        ProgressDraws(law, law.reference(evaluations), evaluations, z).log_density() for law in (custom, built_in)
    ]
    np.testing.assert_array_equal(*densities)


def points_at(law, years):
    origin = {"N0": 2e6, "D0": 9e5, "Y0": 2012.5, "Yc": 2018.2}
    rng = np.random.default_rng(0)
    size = len(years)
    return law.points(
        origin,
        parameters=10 ** rng.uniform(6.5, 11, size),
        tokens=10 ** rng.uniform(6, 12, size),
        year=years,
        benchmark=np.resize(["wt103", "wt2", "ptb"], size),
        transformer=np.resize([0, 1], size),
    )


@pytest.mark.parametrize("form", ["hinge", "jump"])
@pytest.mark.parametrize("factor", ["y", "log(Y)", "after", "hinge", "n:y", "d:log(Y)", "n", "d", "c"])
@pytest.mark.parametrize("level", [{}, {"benchmark": "ptb"}, {"architecture": "transformer"}])
def test_yearly_change_is_the_derivative_by_the_date(factor, level, form):
    law = Progress(7, cutoff=2018.0, cutoff_form=form)
    column = Column(tuple(factor.split(":")), **level)
    years, step = np.linspace(2013.01, 2023.4, 37), 1e-4
    slope = (column.values(points_at(law, years + step)) - column.values(points_at(law, years - step))) / (2 * step)
    change = column.yearly_change(points_at(law, years))
    np.testing.assert_allclose(change, slope, rtol=1e-6, atol=1e-7)
    if any(f in ("y", "log(Y)") for f in column.factors):
        assert np.any(change != 0)
        if level:
            assert np.any(change == 0)


def test_the_columns_of_a_term():
    assert parse("b + b:y + n", ("n", "c")) == (
        Column((), "wt103"),
        Column((), "wt2"),
        Column((), "ptb"),
        Column(("y",), "wt103"),
        Column(("y",), "wt2"),
        Column(("y",), "ptb"),
        Column(("n",)),
    )
    assert parse("t:n:log(Y)", ("n", "c")) == (
        Column(("n", "log(Y)"), None, "transformer"),
        Column(("n", "log(Y)"), None, "other"),
    )
    kinds = {"1": "intercept", "b:y": "year", "t:n": "size", "n:log(Y)": "rate", "log(Y)": "year", "c": "size"}
    for term, kind in kinds.items():
        assert {c.kind for c in parse(term, ("n", "c"))} == {kind}, term


REFUSED = {
    ("b + y + m", "b + y + d"): "no column 'm' here",
    ("b + y + d", "b + y + d"): "no column 'd' here",
    ("b + hinge + n", "b + d"): "no column 'hinge' here",
    ("", "b + y + d"): "no column '' here",
    ("b + y + n +", "b + y + d"): "no column '' here",
    ("b + y + n:c", "b + y + d"): "term 'n:c' holds two sizes or two dates",
    ("b + y:y + n", "b + d"): "two dates",
    ("b + y + n + y", "b + y + d"): "a term stands there twice",
    ("b + n", "1 + d"): "both predictors need the same intercepts",
    ("y + n", "y + d"): "both predictors need the same intercepts",
    ("b + t + n", "b + d"): "t goes with a size or a date",
    ("b + y", "b + d"): "a predictor needs a size",
    ("b + n:log(Y)", "b + d"): "a predictor needs a size",
    ("b + y + c", "b + d"): "c alone with the other predictor left empty",
    ("b + y + n", ""): "c alone with the other predictor left empty",
}


@pytest.mark.parametrize(("formulas", "words"), REFUSED.items())
def test_notation_that_makes_no_sense_is_refused_in_one_line(formulas, words):
    words = words.replace("'", "[\"']")
    with pytest.raises(bs.InputError, match=words) as caught:
        Specification(*formulas)
    assert "\n" not in str(caught.value)
    assert "specification" in str(caught.value)


def test_one_coefficient_for_two_predictors_needs_the_same_term_in_both():
    for formulas in (("b + n", "b + y + d"), ("b + y + n", "b + b:y + d"), ("b + n", "b + d")):
        with pytest.raises(bs.InputError, match="shared_year needs the same terms"):
            Specification(*formulas, shared_year=True)
    assert coefficient_count(Specification("b + b:y + n", "b + b:y + d", shared_year=True)) == 11


OPTIONS_REFUSED = [
    ({"specification": 21}, "specification 21 is unknown"),
    ({"penalty": 0}, "needs a positive delta; at 0 the prior is flat and improper"),
    ({"paper_effects": True, "noise": "student_t"}, "under normal noise only"),
    ({"data": "token_seen"}, "data .*token_seen.*tokens_seen"),
    ({"noise": "huber"}, "noise .*huber"),
    ({"transformer": True}, "transformer .*True"),
    ({"cutoff_form": "step"}, "cutoff_form .*step"),
    ({"unknown_epochs": "two"}, "unknown_epochs .*two"),
    ({"architectures": "rnn"}, "architectures .*rnn"),
    ({"specification": 16, "cutoff": 2018}, "no year slope that could change"),
    ({"priors": {"alpha": (0, 1)}}, "prior on .*alpha"),
    ({"priors": {"share": (0, -1)}}, "the spread must be positive"),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS_REFUSED, ids=str)
def test_options_that_make_no_sense_are_refused_in_one_line(options, words):
    with pytest.raises(bs.InputError, match=words) as caught:
        Progress(**options)
    assert "\n" not in str(caught.value)


def test_unknown_options_and_tables_that_cannot_inform_a_law_are_refused(evaluations, progress_fitter):
    with pytest.raises(bs.InputError, match=r"option of the progress-7 law, .*noize.*did you mean .*noise"):
        law_named("progress-7", noize="normal")
    with pytest.raises(bs.InputError, match=r"column 'benchmark' has no row of 'ptb'"):
        progress_fitter.fit(evaluations[evaluations["benchmark"] != "ptb"])
    with pytest.raises(bs.InputError, match="10 rows are fewer than the 11 sampled"):
        progress_fitter.fit(evaluations[:10])
    for law, column in ((Progress(20), "epochs"), (Progress(7, unknown_vocabulary="drop"), "vocabulary")):
        with pytest.raises(bs.InputError, match=column):
            law.rows(evaluations.drop(columns=column))
