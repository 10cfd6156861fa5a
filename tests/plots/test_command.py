"""The command ``plot``."""

import json

import bayescaling as bs
import pytest
from bayescaling.commands.plot import NAMES
from bayescaling.inference.checks.calibration import open_calibration
from bayescaling.plots.style import THEMES


@pytest.fixture
def call(command_line_here):
    """Run the command in this process; return its status, output and errors."""

    def run(*words):
        done = command_line_here("plot", *words)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="module")
def file(fit_default, tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "fit.nc"
    fit_default.check()
    fit_default.save(path)
    return path


@pytest.fixture(scope="module")
def calibrated(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "ranks.nc"
    short = {"draws": 150, "tune": 300, "chains": 2}
    bs.calibrate("chinchilla", runs, truth="prior", simulations=3, seed=1, out=path, **short)
    return path


def test_every_figure_of_fits_can_be_written():
    # A rollout, a design, a log of training and intervals are no fits; of a curve `bayescaling curve` draws.
    others = {"plot_rollout", "plot_design", "plot_learning", "plot_intervals", "plot_curve"}
    assert {f"plot_{name}" for name in NAMES} | others == {x for x in bs.__all__ if x.startswith("plot_")}


@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "html"])
def test_a_figure_is_written_and_its_finding_printed(call, file, fit_default, tmp_path, ending):
    target, looks = tmp_path / f"valley.{ending}", ["--title", "Mine", "--theme", "dark"]
    status, out, err = call("valley", file, "--compute", "1e22", *looks, "--out", target)
    assert status == 0 and not err
    valley = bs.plot_valley(fit_default, 1e22, title="Mine", theme="dark", backend="plotly")
    assert valley.finding.startswith("Mine; ") and valley.finding in " ".join(out.split())
    if ending in ("svg", "html"):
        assert THEMES["dark"].paper in target.read_text(encoding="utf-8")
    assert target.stat().st_size > 1000 and str(target) in out


def test_a_calibration_is_drawn_from_its_file(call, calibrated, tmp_path):
    target = tmp_path / "coverage.svg"
    status, out, err = call("calibration", calibrated, "--show", "coverage", "--level", "0.5", "--out", target)
    assert status == 0 and not err
    figure = bs.plot_calibration(open_calibration(calibrated), show="coverage", level=0.5, backend="plotly")
    assert figure.finding in " ".join(out.split()) and target.stat().st_size > 1000


def test_json_holds_the_numbers(call, file, fit_default, tmp_path):
    status, out, _ = call("ppc", file, "--level", "0.9", "--json", "--out", tmp_path / "ppc.svg")
    document = json.loads(out)
    figure = bs.plot_ppc(fit_default, level=0.9, backend="plotly")
    assert status == 0 and document["title"] == figure.finding and document["caption"] == figure.caption
    assert len(document["table"]["x"]) == len(figure.table)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["valey", "--compute", "1e22"], "did you mean"),
        (["valley"], "give --compute once"),
        (["ppc", "--compute", "1e22"], "takes no --compute"),
        (["progress", "--plan", "corpus=c4"], "takes no --plan"),
        (["ppc", "--published"], "takes no --published"),
        (["calibration"], "is no calibration"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(call, file, tmp_path, words, says):
    name, *options = words
    status, out, err = call(name, file, *options, "--out", tmp_path / "figure.svg")
    assert status == 2 and not out and says in err and err.startswith("error: ") and err.count("\n") == 1
    assert not [*tmp_path.iterdir()]


def test_an_ending_that_is_no_format_is_refused_before_the_work(call, file, tmp_path):
    status, _, err = call("ppc", file, "--out", tmp_path / "figure.gif")
    assert status == 2 and ".svg, .png, .pdf or .html" in err
