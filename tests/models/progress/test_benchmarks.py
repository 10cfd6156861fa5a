import bayescaling as bs
import numpy as np
import pytest
from bayescaling.inference.engine import compile_density, flat
from bayescaling.inference.points.penalised import penalised_fit

NAMES = ("wt103", "wt2", "ptb", "lm1b", "enwik8")
SHORT = {"draws": 150, "tune": 250, "chains": 2}
quiet = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")


@pytest.fixture(scope="module")
def five():
    """The built-in evaluations with some rows of two benchmarks called by other names."""
    table = bs.load("lm_progress")
    rng = np.random.default_rng(0)
    for name, other in (("wt103", "lm1b"), ("ptb", "enwik8")):
        changed = (table["benchmark"] == name) & (rng.random(len(table)) < 0.35)
        table.loc[changed, "benchmark"] = other
    return table


def test_benchmarks_are_no_option_of_the_papers_laws():
    assert "benchmarks" not in bs.laws.Progress(7).options


def test_a_table_of_other_benchmarks_is_refused_with_the_option(five):
    with pytest.raises(bs.InputError) as error:
        bs.laws.Progress(7).rows(five)
    assert 'rows of "enwik8", "lm1b", which progress-7 has no intercept for' in str(error.value)
    assert "--option 'benchmarks=[" in str(error.value)
    # A law of one intercept takes any.
    assert len(bs.laws.Progress(1).rows(five)) == len(five)
    with pytest.raises(bs.InputError, match=r'column .vocabulary. is empty in .* rows of "'):
        bs.laws.Progress(19, benchmarks=NAMES).rows(five.assign(vocabulary=np.nan))
    with pytest.raises(bs.InputError, match="no row of 'other'"):
        bs.laws.Progress(7, benchmarks=(*NAMES, "other")).rows(five)
    with pytest.raises(bs.InputError, match="the paper's estimator is of"):
        penalised_fit(7, five)


@pytest.mark.parametrize("names", ["ptb", ["ptb", "ptb"], [1, 2], {}, ["", "a"]])
def test_what_names_no_benchmarks_is_refused(names):
    with pytest.raises(bs.InputError, match="no two or more different names"):
        bs.laws.Progress(7, benchmarks=names)


def test_the_order_of_benchmarks_does_not_change_a_density(five):
    three = bs.load("lm_progress")
    values = []
    for names in (("wt103", "wt2", "ptb"), ("ptb", "wt103", "wt2")):
        law = bs.laws.Progress(7, benchmarks=names)
        rows = law.rows(three)
        density = law.density(rows, law.reference(rows))
        values.append(compile_density(density)(flat(density.start), density)[0])
    assert values[0] == pytest.approx(values[1], rel=1e-10)


@quiet
@pytest.mark.parametrize("specification", [7, 11])
def test_a_law_has_an_intercept_of_each_of_five_benchmarks(specification, five, tmp_path):
    law = bs.law(f"progress-{specification}", benchmarks=",".join(NAMES), paper_effects=False)
    fit = bs.fit(law, five, seed=1, **SHORT, check=False)
    constants = fit["posterior"]["alpha_const"]
    assert constants["benchmark"].values.tolist() == list(NAMES)
    labels = list(NAMES) if specification == 11 else ["all"]
    assert list(bs.progress.growth_rates(fit)) == labels
    centres = fit["posterior"]["loss_centre"].median(("chain", "draw"))
    for name in NAMES:
        losses = np.log(five["perplexity"][five["benchmark"] == name])
        assert float(centres.sel(benchmark=name)) == pytest.approx(losses.mean(), abs=0.3)
    fit.save(tmp_path / "fit.nc")
    assert bs.open(tmp_path / "fit.nc").law == law
