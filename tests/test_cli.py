import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
import warnings
from collections import namedtuple
from pathlib import Path
from unittest import mock

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.commands.cli import main
from bayescaling.inference.fitted import results_of
from bayescaling.inference.quoted import quote_draws
from bayescaling.reports.cache import store
from bayescaling.reports.pages import PAGES

pytestmark = pytest.mark.filterwarnings(
    "always::bayescaling.DiagnosticWarning", "always::bayescaling.errors.TableWarning"
)

COMMAND = Path(sys.executable).with_name("bayescaling")
TABLES = list(bs.catalogue()["name"])
SHORT = ("--draws", "200", "--tune", "300", "--chains", "2")
ROWS = 12
SIZES = np.geomspace(1e7, 1e10, ROWS)
OF_GROUPS = ("--noise", "normal", "--option", "scatter=one")
RUNS = pd.DataFrame({"N": SIZES, "D": 20 * SIZES[::-1], "loss": np.linspace(4, 2, ROWS)})

Said = namedtuple("Said", "status out err")


def call(*arguments, folder):
    """Run the command line in this process, in `folder`."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["bayescaling", *map(str, arguments)]),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return Said(left.value.code, out.getvalue(), err.getvalue())


def spawn(*arguments, folder):
    """Run the installed command, in `folder`."""
    done = subprocess.run([COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)
    return Said(done.returncode, done.stdout, done.stderr)


def contents(folder):
    return {path.relative_to(folder): path.is_file() and path.stat().st_mtime_ns for path in folder.rglob("*")}


def refused(*arguments, folder, run=call):
    """Return the line with which the command line refuses `arguments`; only ways out may follow."""
    before = contents(folder)
    result = run(*arguments, folder=folder)
    assert result.status == 2
    assert result.out == ""
    assert contents(folder) == before
    assert result.err.startswith("error: ")
    assert result.err.endswith("\n")
    first, *ways = result.err.splitlines(keepends=True)
    assert not ways or ways[-1].startswith("    bayescaling ")
    return first


def printed(text):
    """Return the commands on lines of their own in a text, each as its words."""
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    bayescaling ")]


def ways_out(*arguments, folder):
    """Return the commands below the line with which the command line refuses arguments, one for each way out."""
    result = call(*arguments, folder=folder)
    first, *others = result.err.splitlines()
    assert (result.status, result.out) == (2, "") and first.startswith("error: ")
    commands = printed(result.err)
    assert commands and all(line.endswith(":") for line in others if not line.startswith("    bayescaling "))
    assert "bayescaling" not in first
    return commands


def succeeded(*arguments, folder, run=call):
    result = run(*arguments, folder=folder)
    assert result.status == 0, result.err
    assert all(line.startswith(("warning: ", "note: ")) for line in result.err.splitlines())
    return result.out


def changed(column, value, line=7):
    table = RUNS.astype(object)
    table.loc[line - 2, column] = value
    return table.to_csv(index=False)


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    """Folder with fits that the command line made: two of the built-in runs, one of a user's."""
    folder = tmp_path_factory.mktemp("fits")
    bs.load("chinchilla_runs").sample(80, random_state=1).to_csv(folder / "mine.csv", index=False)
    succeeded("fit", "chinchilla", *SHORT, "--out", "student.nc", folder=folder)
    succeeded("fit", "chinchilla", *SHORT, "--noise", "normal", "--out", "normal.nc", folder=folder)
    succeeded("fit", "chinchilla", *SHORT, "--data", "mine.csv", "--out", "mine.nc", folder=folder)
    assert {path.name for path in folder.iterdir()} == {"mine.csv", "student.nc", "normal.nc", "mine.nc"}
    return folder


# Help and version -----------------------------------------------------------------------------------------------------


def test_help_of_the_report_names_every_page(tmp_path):
    text = " ".join(call("report", "--help", folder=tmp_path).out.split()).replace("- ", "-")
    assert f"{', '.join(list(PAGES)[:-1])} or {list(PAGES)[-1]}" in text


def test_version(tmp_path):
    assert spawn("--version", folder=tmp_path) == (0, f"{bs.__version__}\n", "")


# Tables ---------------------------------------------------------------------------------------------------------------


def test_data_lists_the_tables(tmp_path):
    text = succeeded("data", folder=tmp_path)
    listed = json.loads(succeeded("data", "--json", folder=tmp_path))["tables"]
    assert [table["name"] for table in listed] == TABLES
    for table in listed:
        assert table["name"] in text
        assert table["rows"] == len(bs.load(table["name"]))


@pytest.mark.parametrize("name", bs.catalogue().drop_duplicates("kind")["name"])
def test_data_shows_a_table(name, tmp_path):
    table = bs.load(name)
    dates = dict.fromkeys(table.select_dtypes("datetime"), "datetime64[ns]")
    shown = pd.read_csv(io.StringIO(succeeded("data", name, folder=tmp_path)))
    document = json.loads(succeeded("data", name, "--json", "--notes", folder=tmp_path))
    for frame in (shown, pd.DataFrame(document["rows"])):
        pd.testing.assert_frame_equal(frame.astype(dates), table.table(), check_dtype=False, check_exact=True)
    assert document["notes"] == bs.notes(name)
    assert succeeded("data", name, "--notes", folder=tmp_path).strip() == bs.notes(name).strip()


# Fits -----------------------------------------------------------------------------------------------------------------


def test_fit_prints_one_json_document_and_writes_a_fit_that_opens(tmp_path):
    options = (*SHORT, "--prior", "alpha=LogNormal(-1, 0.5)", "--seed", "7", "--json", "--out", "f.nc")
    document = json.loads(succeeded("fit", "chinchilla", *options, folder=tmp_path, run=spawn))
    assert os.listdir(tmp_path) == ["f.nc"]
    fit = bs.open(tmp_path / "f.nc")
    assert dict(fit["posterior"].sizes) == {"chain": 2, "draw": 200}
    quoted = quote_draws(fit, {name: fit["posterior"][name] for name in document["parameters"]})
    for name, summary in document["parameters"].items():
        draws = quoted[name].values
        assert summary["mean"] == pytest.approx(draws.mean(), rel=1e-12)
        assert summary["q97.5"] == pytest.approx(np.quantile(draws, 0.975), rel=1e-12)
    record = document["provenance"]
    assert record["priors"]["chinchilla"]["alpha"] == "LogNormal(-1, 0.5)"
    assert record["priors"]["chinchilla"]["beta"] == "LogNormal(-1.2, 0.7)"
    assert (record["seed"], record["draws"], record["chains"], record["sampler"]) == (7, 200, 2, "nutpie")
    assert (document["data"], document["rows"], document["noise"]) == ("chinchilla_runs", 245, "student_t")
    assert fit.loo().elpd == pytest.approx(document["elpd_loo"], rel=1e-9)


def test_the_same_fit_again_is_that_of_the_cache(fits, monkeypatch, tmp_path):
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    fit = ("fit", "kaplan", *SHORT, "--data", "mine.csv")
    first = json.loads(succeeded(*fit, "--json", folder=fits))
    results = store.listed()
    assert len(results) == 4  # the fit, its answer, its rivals and its entry
    assert json.loads(succeeded(*fit, "--json", "--out", "again.nc", folder=fits)) == first
    again = bs.open(fits / "again.nc")
    (fits / "again.nc").unlink()
    assert results_of(again)["verdict"]["verdict"] == first["verdict"]["verdict"]
    assert {path for path, _, _ in store.listed()} == {path for path, _, _ in results}
    other = json.loads(succeeded(*fit, "--json", "--seed", "2", folder=fits))
    assert other["elpd_loo"] != first["elpd_loo"] and len(store.listed()) == 8


UNUSED = {"arviz", "arviz_base", "arviz_plots", "arviz_stats", "matplotlib", "plotly", "numba", "pymc", "jax", "torch"}
UNUSED |= {"scipy.stats", "scipy.optimize"}
UNREAD = UNUSED | {"pandera", "hypothesis"}
OF_ESTIMATES = {"arviz_base", "arviz_stats", "matplotlib", "scipy.stats", "scipy.optimize"}  # ESS, and what it imports
CACHED = f"""from pathlib import Path; from bayescaling.reports.cache import store
store.folder = lambda: Path(sys.argv[1])
main({["fit", "chinchilla", *SHORT]})"""


@pytest.mark.parametrize(
    ("work", "unused"),
    [
        (CACHED, UNUSED),
        ("main(['allocate', 'student.nc', '--compute', '1e24'])", UNREAD - OF_ESTIMATES),
        ("main(['show', 'student.nc'])", UNREAD),
        ("main(['predict', 'student.nc', '--parameters', '1e9', '--tokens', '2e10'])", UNREAD),
        ("main(['check', 'student.nc', '--no-wider'])", UNREAD),
        ("print(bayescaling.open('student.nc'))", UNREAD),
        ("main(['data'])", UNREAD),
        ("main(['plot', '--help'])", UNREAD | {"numpy", "pandas"}),
        ("main(['rollout', '--help'])", UNREAD | {"numpy", "pandas"}),
    ],
)
def test_a_command_loads_what_it_uses_alone(work, unused, fits, own_cache):
    code = (
        "import sys, bayescaling\nfrom bayescaling.commands.cli import app\n"
        f"def main(words): app(words, standalone_mode=False)\n{work}\n"
        # A module that is put off until it is used is there by name alone.
        "loaded = {name for name, module in sys.modules.items() if type(module).__name__ != '_LazyModule'}\n"
        f"print({unused} & loaded)"
    )
    done = subprocess.run([sys.executable, "-c", code, own_cache], cwd=fits, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["set()"], done.stderr


def test_fit_in_words(fits):
    text = succeeded("fit", "chinchilla", *SHORT, "--data", "mine.csv", "--noise", "normal", folder=fits)
    assert text.startswith("chinchilla, noise=normal, size_effects on 80 rows of mine.csv")
    assert "exponent_parameters" not in text and "bulk ESS" in text
    succeeded("fit", "chinchilla", *SHORT, "--data", "mine.csv", "--noise", "normal", "--out", "n.nc", folder=fits)
    shown = succeeded("show", "n.nc", folder=fits)
    assert shown.partition("\nNext:")[0] == str(bs.open(fits / "n.nc")) and "bayescaling allocate n.nc" in shown
    assert "which has no tables" in refused("show", "n.nc", "--table", "all", folder=fits)
    constants = succeeded("show", "n.nc", "--constants", folder=fits)
    assert "exponent_parameters" in constants and "sigma_tokens" in constants


def in_halves(table, names=("web text", "it's {code}")):
    """Return a table with a column of two groups, whose names a shell and a template must not take apart."""
    return table.assign(corpus=np.where(np.arange(len(table)) % 2, *names))


def of_one_size():
    return pd.DataFrame({"val loss": 2 + 30 * SIZES**-0.3 * (1 + 0.002 * np.cos(range(ROWS))), "n images": SIZES})


def of_seeds():
    return pd.DataFrame({"score": np.linspace(0.4, 0.7, 12), "method": np.repeat(["ours", "it's theirs"], 6)})


def of_tasks():
    return bs.load("overtraining_runs").table()[::4][["loss", "error_46_tasks"]].set_axis(["loss", "error"], axis=1)


def horizons():
    successes = bs.load("weirdml").query("threshold == 50")
    return successes[successes["model"].isin(successes["model"].unique()[::14])]


def prices():
    dates = pd.date_range("2022-01-01", periods=ROWS, freq="100D")
    return pd.DataFrame({"date": dates, "value": 60 * 0.5 ** (np.arange(ROWS) / 3) * (1 + 0.1 * np.cos(range(ROWS)))})


# Of each kind of table a law, or options, and the table: what is printed after its fit is run.
PRINTED = {
    "kaplan": ("kaplan", None),
    "groups": (
        ("chinchilla", "--group", "corpus", *OF_GROUPS),
        lambda: in_halves(bs.load("chinchilla_runs").table()[::6]),
    ),
    "tasks by group": (("task-error", "--group", "corpus"), lambda: in_halves(of_tasks())),
    "formula": ((), of_one_size),
    "formula by group": (
        ("`val loss` ~ E + A[corpus] * `n images`**-alpha",),
        lambda: in_halves(pd.concat([of_one_size()] * 2).sort_values("n images")),
    ),
    "seeds": (("score ~ mu[method]",), of_seeds),
    "curve": (("curve", "--where", "run == '100M cosine_24000'", "--data", "schedule_curves"), None),
    "horizons": ("horizons", horizons),
    "trend": ("trend", prices),
    "progress": ("progress-7", None),
    "configurations": ("configurations", None),
    "data-constrained": (("data-constrained", "--data", "data_constrained_runs"), None),
}
LONGER = ("progress", "configurations", "data-constrained")  # in the thorough tests


def marked(name):
    return pytest.param(name, marks=[pytest.mark.thorough] if name in LONGER else [])


def run_all(commands, folder):
    for name, *words in commands:
        assert call(name, *words, *(["--no-wider"] if name == "check" else []), folder=folder).status == 0, (
            name,
            words,
        )


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning", "ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize("kind", [marked(name) for name in PRINTED])
def test_every_command_that_is_printed_after_a_fit_runs(kind, tmp_path):
    words, table = PRINTED[kind]
    words = [words] if isinstance(words, str) else [*words]
    if table is not None:
        table().to_csv(tmp_path / "my table.csv", index=False)
        words += ["--data", "my table.csv"]
    result = call("fit", *words, *SHORT, "--no-wider", "--out", "my fit.nc", folder=tmp_path)
    assert result.status == 0, result.err
    commands = printed(result.out.partition("Next:\n")[2])
    assert len(commands) > 1 and all("my fit.nc" in words for words in commands)
    run_all(commands, tmp_path)


def test_commands_that_are_printed_for_scores_and_counts_run(scores_design, lengths_counts, tmp_path):
    scores_design.table.to_csv(tmp_path / "scores.csv", index=False)
    lengths_counts.to_csv(tmp_path / "counts.csv", index=False)
    for law, table in (("scores", "scores.csv"), ("lengths", "counts.csv")):
        out = call("fit", law, table, *SHORT, "--no-wider", "--out", f"my {law}.nc", folder=tmp_path).out
        run_all(printed(out.partition("Next:\n")[2]), tmp_path)


def with_noise(n, d):
    loss = bs.laws.Chinchilla.loss(n, d, E=1.7, A=406.0, B=411.0, alpha=0.34, beta=0.28)
    return loss * np.exp(0.01 * np.random.default_rng(1).standard_normal(len(n)))


def readings():
    n, d = (x.ravel() for x in np.meshgrid(np.geomspace(1e7, 1e9, 8), np.arange(1, 8) * 1e9, indexing="ij"))
    loss = with_noise(n, d)
    return pd.DataFrame({"run_name": [f"run {x:.0f}" for x in n], "params": n, "tokens": d, "loss": loss})


def repeated():
    n, u, epochs = (x.ravel() for x in np.meshgrid([1e8, 4e8, 1e9], [1e9, 4e9, 1e10], [1, 4, 16], indexing="ij"))
    loss = with_noise(n, u * epochs**0.8)
    return pd.DataFrame({"params": n, "unique_tokens": u, "epochs": epochs, "val_loss": loss})


def dated_evals():
    model, task = (x.ravel() for x in np.meshgrid(np.arange(8), np.arange(4), indexing="ij"))
    score = 1 / (1 + np.exp(task - model / 2))
    return pd.DataFrame({
        "model": [f"m{x}" for x in model], "task_name": [f"t{x}" for x in task], "score_name": "match",
        "score_count": 100, "score_value": np.round(score, 3),
    })  # fmt: skip


def own_evals():
    n, d = np.geomspace(1e8, 1e10, 24), 1e10 * np.geomspace(1, 40, 24)[np.arange(24) * 7 % 24]
    dates = pd.date_range("2019-06-01", periods=24, freq="90D")
    values = {"Release date": dates, "Parameters (B)": n / 1e9, "Training tokens (T)": d / 1e12}
    return pd.DataFrame(values | {"WikiText-103 perplexity": np.exp(with_noise(n, d))})


REFUSED = {
    "own names": (("progress-7",), own_evals),
    "one size": (("coupled",), lambda: of_one_size().rename(columns={"n images": "params"})),
    "same size": (("chinchilla",), lambda: RUNS.assign(N=1e9, D=SIZES, loss=1.9 + 400 / SIZES**0.28)),
    "readings": (("chinchilla",), readings),
    "repeated": (("chinchilla",), repeated),
    "words": (("scores",), dated_evals),
}


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning", "ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize("kind", [*REFUSED])
def test_every_command_that_a_refusal_prints_runs(kind, tmp_path):
    words, table = REFUSED[kind]
    table().to_csv(tmp_path / "my table.csv", index=False)
    commands = ways_out("fit", *words, "my table.csv", "--out", "my fit.nc", folder=tmp_path)
    for words in commands:
        assert call(*words, *SHORT, "--no-wider", folder=tmp_path).status == 0, words
        assert (tmp_path / "my fit.nc").exists()
    if kind == "words":
        assert [word for words in commands for word in words if "score=" in word] == ["score=score_value"]
    if kind == "repeated":
        out = call(*commands[0], *SHORT, "--no-wider", folder=tmp_path).out
        (law,) = (words for words in printed(out) if "data-constrained" in words)
        assert call(*law, *SHORT, "--no-wider", folder=tmp_path).status == 0


def test_a_table_in_the_place_of_a_fit_names_the_command_that_fits_it(fits, tmp_path):
    (tmp_path / "my runs.csv").write_bytes((fits / "mine.csv").read_bytes())
    ((*words, out),) = ways_out("allocate", "my runs.csv", "--compute", "1e21", folder=tmp_path)
    succeeded(*words, out, *SHORT, "--no-wider", folder=tmp_path)
    succeeded("allocate", out, "--compute", "1e21", folder=tmp_path)


@pytest.mark.parametrize("words", [("chinchila", "runs.csv"), ("runs.csv", "chinchila")])
def test_a_law_that_is_misspelt_next_to_a_table_is_told(words, tmp_path):
    RUNS.to_csv(tmp_path / "runs.csv", index=False)
    assert 'did you mean "chinchilla"?' in refused("fit", *words, folder=tmp_path)


def test_a_table_may_stand_without_its_option(fits):
    named = succeeded("fit", "chinchilla", "--data", "mine.csv", *SHORT, folder=fits)
    for words in (("chinchilla", "mine.csv"), ("mine.csv", "chinchilla")):
        assert succeeded("fit", *words, *SHORT, folder=fits) == named
    assert succeeded("fit", "mine.csv", *SHORT, "--no-wider", folder=fits).startswith(
        "coupled, size_effects on 80 rows"
    )
    parameters = np.geomspace(1e8, 4e9, 9)  # of one budget
    loss = bs.laws.Chinchilla.loss(parameters, 1e20 / 6 / parameters, E=1.7, A=406.0, B=411.0, alpha=0.34, beta=0.28)
    few = pd.DataFrame({"parameters": parameters, "tokens": 1e20 / 6 / parameters, "loss": loss.round(3)})
    few.to_csv(fits / "few.csv", index=False)
    assert "one budget, 1e20 FLOP" in call("fit", "few.csv", *SHORT, "--no-wider", folder=fits).out
    assert "one law and one table" in refused("fit", "mine.csv", "--data", "mine.csv", folder=fits)


def test_a_fit_is_in_its_file_before_anything_is_printed(fits, tmp_path):
    arguments = [COMMAND, "fit", "chinchilla", fits / "mine.csv", *SHORT, "--out", tmp_path / "f.nc"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.wait(300)
    assert len(bs.open(tmp_path / "f.nc").rows) == 80


def test_an_interrupt_while_rivals_are_tried_loses_no_fit(tmp_path, monkeypatch):
    def interrupted(fit):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayescaling.inference.progress.trends.by_form", interrupted)
    result = call("fit", "trend", "--draws", "300", "--tune", "300", "--out", "trend.nc", folder=tmp_path)
    assert result.status == 130 and "days in which values double" in result.out
    assert bs.open(tmp_path / "trend.nc").law.name == "trend"


def test_fit_without_a_law_fits_the_coupled_one(fits):
    document = json.loads(succeeded("fit", *SHORT, "--data", "mine.csv", "--json", folder=fits))
    assert document["law"] == "coupled" and "kappa" in document["parameters"]


def test_fit_says_once_that_it_is_not_to_be_trusted(tmp_path):
    bs.load("chinchilla_runs").iloc[::20].to_csv(tmp_path / "few.csv", index=False)
    short = ("--data", "few.csv", "--draws", "20", "--tune", "20", "--chains", "2", "--seed", "3")
    result = call("fit", "chinchilla", *short, "--out", "f.nc", "--no-log-likelihood", folder=tmp_path)
    assert result.status == 0
    assert (result.out + result.err).lower().count("did not converge") == 1
    assert "Nothing here is to be quoted." in result.out
    assert "log_likelihood" not in bs.open(tmp_path / "f.nc")
    result = call("fit", "chinchilla", *short, "--json", folder=tmp_path)
    assert result.err.count("did not converge") == 1 and json.loads(result.out)["rows"] == 13


def test_fit_reads_a_table_with_its_own_names(tmp_path):
    runs = bs.load("chinchilla_runs").head(30)
    table = pd.DataFrame(
        {"size": runs["parameters"], "FLOPs": runs["training_flop"], "ppl": np.exp(runs["loss"]), "D": 1}
    )
    table.to_csv(tmp_path / "own.tsv", sep="\t", index=False)
    options = ("--data", "own.tsv", "--column", "parameters=size", "--ignore", "D", "--perplexity", "--noise", "normal")
    document = json.loads(succeeded("fit", "chinchilla", *SHORT, "--json", *options, folder=tmp_path))
    assert (document["data"], document["rows"]) == ("own.tsv", 30)


def test_compare(fits):
    document = json.loads(succeeded("compare", "normal.nc", "student.nc", "--json", folder=fits))
    models = document["models"]
    assert list(models) == ["student.nc", "normal.nc"]
    assert sum(model["weight"] for model in models.values()) == pytest.approx(1)
    assert models["student.nc"]["elpd_diff"] == 0
    assert models["normal.nc"]["elpd_diff"] < -2 * models["normal.nc"]["dse"]
    assert models["student.nc"]["p_worse"] is None and models["normal.nc"]["p_worse"] > 0.97
    assert models["normal.nc"]["flags"] == ""
    assert document["sentence"].startswith("student.nc predicts left-out runs better than normal.nc by")
    text = succeeded("compare", "normal.nc", "student.nc", "--weighting", "pseudo_bma", folder=fits)
    assert " ".join(text.split()).startswith(document["sentence"]) and "weight (pseudo_bma)" in text
    assert "Fit student.nc: " in text and "Fit normal.nc: " in text


def test_budgets_and_sizes_have_units(fits):
    budgets = ("3*10^20", "1 ZFLOP:1 YFLOP:4", "10PF-days", "300 H100-hours", "5e3 A100-hours")
    options = [word for budget in budgets for word in ("--compute", budget)]
    document = json.loads(succeeded("allocate", "student.nc", *options, "--json", folder=fits))
    expected = [3e20, 1e21, 1e22, 1e23, 1e24, 8.64e20, 300 * 3600 * 0.4 * 9.89e14, 5e3 * 3600 * 0.4 * 3.12e14]
    assert sorted(x["compute"] for x in document["allocation"]) == pytest.approx(sorted(expected))
    assert not document["misfit"]["score"]["fits"] and "ok" in document["diagnostics"]
    document = json.loads(
        succeeded("allocate", "student.nc", "--loss", "2.3", "--demand", "1.4T", "--json", folder=fits)
    )
    assert [x["demand"] for x in document["allocation"]] == [1.4e12]


def test_hours_and_money_follow_from_the_compute(fits):
    price = ("--gpu-hour", "2", "--flop-per-second", "4e14", "--utilisation", "0.5")
    budget = ("--compute", "7.2e20", "--beyond", "none")
    (entry,) = json.loads(succeeded("allocate", "student.nc", *budget, *price, "--json", folder=fits))["allocation"]
    assert (entry["gpu_hours"], entry["money"]) == (pytest.approx(1000), pytest.approx(2000))
    assert "1,000 GPU-hours, 2,000 in money" in succeeded("allocate", "student.nc", *budget, *price, folder=fits)
    target = ("--loss", "2.5", "--beyond", "none")
    (entry,) = json.loads(succeeded("allocate", "student.nc", *target, *price, "--json", folder=fits))["allocation"]
    assert entry["money"]["q50"] == pytest.approx(2 * entry["total_compute"]["q50"] / (3600 * 4e14 * 0.5))
    assert "money" in succeeded("allocate", "student.nc", *target, *price, folder=fits)


def test_design(fits, tmp_path):
    (fits / "next.csv").write_text("params,train_tokens\n1e8,2e9\n1e9,2e10\n5e8,4e10\n", encoding="utf-8")
    words = ("--budget", "2e20", "--compute", "1e23", "--candidates", "next.csv", "--no-gate", "--gpu-hour", "2")
    document = json.loads(succeeded("design", "student.nc", *words, "--json", folder=fits))
    table = bs.design(bs.open(fits / "student.nc"), fits / "next.csv", 2e20, compute=1e23, gate=False, gpu_hour=2.0)
    assert [run["candidate"] for run in document["runs"]] == table["candidate"].tolist()
    for name in ("cost", "variance_left", "excess_loss", "money"):
        assert [run[name] for run in document["runs"]] == pytest.approx(table[name].tolist(), rel=1e-9)
    assert document["rule"] == "draws" and document["gates"] == {}
    text = succeeded("design", "student.nc", *words, "--figure", str(tmp_path / "next.svg"), folder=fits)
    assert "Runs to make next for the best size at 1e23 FLOP" in text and (tmp_path / "next.svg").exists()


def test_allocate_for_a_demand_and_on_a_grid(fits):
    asked = ("--loss", "2.1", "--demand", "0", "--demand", "1e12:1e13:2", "--near-optimal", "0.3", "--beyond", "none")
    document = json.loads(succeeded("allocate", "student.nc", *asked, "--json", folder=fits))
    planned = {"demand": [0, 1e12, 1e13], "near_optimal": 0.3, "beyond": "none"}
    expected = bs.open(fits / "student.nc").allocate(loss=2.1, **planned)
    assert [(entry["target"], entry["demand"]) for entry in document["allocation"]] == [
        (2.1, 0),
        (2.1, 1e12),
        (2.1, 1e13),
    ]
    for entry in document["allocation"]:
        at = expected.sel(target=2.1, demand=entry["demand"])
        for name in ("parameters", "tokens", "total_compute", "saved", "parameters_near_high"):
            assert entry[name]["q50"] == pytest.approx(float(at[name].median()), rel=1e-9)
        for name in ("near_low", "near_high", "near_probability"):
            assert entry[name] == pytest.approx(float(at[name]), rel=1e-9)
        assert (entry["p_reached"], entry["near_optimal"]) == (1.0, 0.3)
    text = succeeded("allocate", "student.nc", *asked, folder=fits)
    assert text == f"{expected}\n" and "within 30% of the best compute" in " ".join(text.split())


@pytest.fixture(scope="module")
def progress_file(tmp_path_factory):
    """Folder with a fit of specification 14, whose rate differs by benchmark, size and date."""
    folder = tmp_path_factory.mktemp("progress")
    succeeded("fit", "progress-14", *SHORT, "--seed", "2", "--out", "p.nc", folder=folder)
    return folder


def test_doubling_times_are_at_the_evaluations_unless_a_budget_or_year_is_named(progress_file):
    fit = bs.open(progress_file / "p.nc")
    document = json.loads(succeeded("show", "p.nc", "--table", "all", "--json", folder=progress_file))
    assert set(document["doubling_months"]) >= {"all", "wt103", "ptb"}
    for label, row in bs.progress.gain_times(fit).iterrows():
        entry = document["doubling_months"][label]
        assert [entry[name] for name in ("count", "p_progress", "q50")] == pytest.approx(
            [*row[["count", "p_progress", "q50"]]]
        )
    assert document["doubling_months"]["all"]["count"] == 231
    text = " ".join(succeeded("show", "p.nc", "--table", "doubling_months", folder=progress_file).split())
    assert text == " ".join(str(bs.progress.gain_times(fit)).split()) and "231" in text
    for words, at in (
        (("--compute", "1e22"), {"compute": 1e22, "year": 2023.0}),
        (("--year", "2020"), {"compute": 1e25, "year": 2020.0}),
    ):
        document = json.loads(succeeded("show", "p.nc", *words, "--json", folder=progress_file))
        assert "doubling_months" not in document
        for label, row in bs.progress.doubling_times(fit, **at).iterrows():
            assert document["at_a_budget"][label]["q50"] == pytest.approx(row["q50"])
    text = " ".join(succeeded("show", "p.nc", "--compute", "1e22", folder=progress_file).split())
    assert text == " ".join(str(bs.progress.doubling_times(fit, compute=1e22)).split())


def test_doubling_refuses_a_budget_and_a_year_that_are_none(progress_file):
    assert "compute is -1.0; give a positive" in refused("show", "p.nc", "--compute", "-1", folder=progress_file)
    assert "year is nan; give a number" in refused("show", "p.nc", "--year", "nan", folder=progress_file)


def test_progress_of_scores_in_two_periods(tmp_path, scores_design):
    mine = type(scores_design)(seed=20, models=24).table.drop(columns="year")
    mine.assign(score=100 * mine["score"]).to_csv(tmp_path / "mine.csv", index=False)
    asked = ("--data", "mine.csv", "--unit", "score=percent", "--where", "2023 <= year and year < 2026.5")
    for pace in ("linear", "break"):
        words = (*asked, *SHORT, "--target-accept", "0.85", "--option", f"pace={pace}", "--out", f"{pace}.nc")
        succeeded("fit", "scores", *words, folder=tmp_path)
    fit = bs.open(tmp_path / "break.nc")
    assert fit.rows["year"].between(2023, 2026.5).all()
    table = json.loads(succeeded("show", "break.nc", "--table", "fall_of_compute", "--json", folder=tmp_path))
    assert set(table["fall_of_compute"]) == {"before", "after", "change"} and set(table["compute_slope"]) == {""}
    factor = bs.scores.progress_at_fixed_compute(fit)["factor"].sel(period="after")
    entry = table["fall_of_compute"]["after"]["model"]
    assert entry["factor_q50"] == pytest.approx(float(factor.median()), rel=1e-3)
    assert entry["halving_q50"] == pytest.approx(12 * np.log(2) / np.log(entry["factor_q50"]), rel=1e-3)
    change = fit["posterior"]["yearly_gain_change"]
    assert table["fall_of_compute"]["change"]["model"]["p_progress"] == pytest.approx(float((change > 0).mean()))
    printed = succeeded("show", "break.nc", "--table", "fall_of_compute", folder=tmp_path)
    assert "models, the last of" in " ".join(printed.split())
    assert "Probability that capability grows faster after 2024.37" in printed
    assert f"{entry['gain_q50']:.2f} [{entry['gain_q2.5']:.2f}, {entry['gain_q97.5']:.2f}]" in printed
    compared = json.loads(succeeded("compare", "linear.nc", "break.nc", "--by", "model", "--json", folder=tmp_path))
    elpd = bs.open(tmp_path / "linear.nc").loo("model", high_k="none")["elpd"].sum()
    assert compared["models"]["linear.nc"]["elpd"] == pytest.approx(elpd) and "models" in compared["sentence"]


def test_fit_of_scores_prints_no_list_of_models(tmp_path, scores_design):
    again = scores_design.table.assign(model=scores_design.table["model"] + " again")
    table = pd.concat([scores_design.table, again])
    table[["model", "benchmark", "score"]].to_csv(tmp_path / "mine.csv", index=False)
    result = call("fit", "scores", "--data", "mine.csv", *SHORT, folder=tmp_path)
    assert result.status == 0, result.err
    call("fit", "scores", "--data", "mine.csv", *SHORT, "--out", "s.nc", folder=tmp_path)
    constants = succeeded("show", "s.nc", "--constants", folder=tmp_path)
    assert "capability[" not in result.out + constants
    assert "Not shown for their number: capability (32)" in " ".join(constants.split())
    assert "difficulty[test 0]" in constants


def test_rollout(fits):
    asked = ("--by", "compute", "--below", "1e20", "--below", "5e20", "--seed", "2", *SHORT, "--noise", "normal")
    document = json.loads(succeeded("rollout", "chinchilla", "--data", "mine.csv", *asked, "--json", folder=fits))
    runs = bs.read(fits / "mine.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        table, rows = bs.rollout(
            bs.laws.Chinchilla(noise="normal"), runs, "compute", [1e20, 5e20], seed=2, draws=200, tune=300, chains=2
        )
    for entry, (cutoff, row) in zip(document["cutoffs"], table.iterrows(), strict=True):
        assert entry["cutoff"] == cutoff
        for name in row.index.drop("law"):
            assert entry[name] == pytest.approx(row[name], rel=1e-9), name
        assert entry["law"] == row["law"] and entry["law"].startswith("chinchilla, noise=normal")
    for name in ("cutoff", "observed", "q5", "q95", "crps"):
        assert document["predictions"][name] == pytest.approx(list(rows[name].values), rel=1e-9)
    assert (document["scale"], document["by"]) == ("log_loss", "compute")


def test_rollout_draws_a_figure(fits, tmp_path):
    for name, magic in (("f.svg", b"<?xml"), ("f.png", b"\x89PNG")):
        asked = ("--below", "1e20", *SHORT, "--data", str(fits / "mine.csv"), "--figure", name)
        text = succeeded("rollout", "chinchilla", *asked, folder=tmp_path)
        assert "50% intervals hold" in text and f"written to {name}" in text
        assert (tmp_path / name).read_bytes().startswith(magic)
    assert sorted(os.listdir(tmp_path)) == ["f.png", "f.svg"]


def test_points(tmp_path):
    bs.load("chinchilla_runs").to_csv(tmp_path / "runs.csv", index=False)
    document = json.loads(succeeded("points", "--data", "runs.csv", "--drop-highest", "5", "--json", folder=tmp_path))
    estimates = document["point_estimates"]
    assert set(estimates) == {"huber_free_scale", "huber_fixed_threshold", "isoflop", "frontier"}
    assert estimates["huber_fixed_threshold"]["rows"] == 240
    text = succeeded("points", "--data", "runs.csv", "--drop-highest", "5", folder=tmp_path)
    assert f"{estimates['huber_fixed_threshold']['constants']['E']:.4g}" in text
    assert f"{estimates['isoflop']['exponent']:.4g}" in text
    assert call("points", "--width", "0", folder=tmp_path).err.startswith("error: width must be a positive number")


def test_points_gives_what_can_be_had_and_says_what_cannot(tmp_path):
    bs.load("chinchilla_runs").sample(40, random_state=2).to_csv(tmp_path / "few.csv", index=False)
    text = succeeded("points", "--data", "few.csv", folder=tmp_path)
    assert "Huber, free scale" in text and "frontier" in text
    refusal = "isoflop: not available: few.csv: column 'training_flop' has no 8 runs within 0.1 decades"
    assert refusal in " ".join(text.split())
    levels = ("--compute", "1e20", "--compute", "1e21", "--compute", "3e21", "--width", "0.4", "--minimum-runs", "9")
    document = json.loads(succeeded("points", *levels, "--json", folder=tmp_path))
    runs = bs.load("chinchilla_runs")
    expected = bs.points.fit_isoflop(runs, compute=[1e20, 1e21, 3e21], width=0.4, minimum_runs=9)
    assert document["point_estimates"]["isoflop"]["exponent"] == pytest.approx(expected["exponent"])
    bs.load("chinchilla_runs").head(4).to_csv(tmp_path / "four.csv", index=False)
    result = call("points", "--data", "four.csv", folder=tmp_path)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "no estimator can use four.csv: four.csv: 4 rows are too few" in result.err


def test_points_of_chosen_rows_in_other_units(tmp_path):
    runs = bs.load("chinchilla_runs")
    mine = pd.DataFrame(
        {
            "#Params (B)": runs["parameters"] / 1e9,
            "C": runs["training_flop"] / 1e21,
            "loss": runs["loss"] / np.log(2),
            "eval/acc": 0.5,
            "group": ["a"] * 200 + ["b"] * 45,
        }
    )
    mine[:100].to_csv(tmp_path / "part-1.csv.gz", index=False)
    mine[100:].to_json(tmp_path / "part-2.jsonl", orient="records", lines=True, double_precision=15)
    units = ("--unit", "training_flop=1e21", "--unit", "loss=bits")
    result = call("points", "--data", "part-*", *units, "--where", "group == 'a'", "--json", folder=tmp_path)
    assert result.status == 0, result.err
    assert all(line.startswith("note: part-*: ") for line in result.err.splitlines())
    assert "where group == 'a': 45 of 245 rows left out" in result.err
    estimate = json.loads(result.out)["point_estimates"]["huber_free_scale"]
    runs.head(200).to_csv(tmp_path / "runs.csv", index=False)
    plain = json.loads(succeeded("points", "--data", "runs.csv", "--json", folder=tmp_path))["point_estimates"]
    assert estimate["rows"] == 200
    assert estimate["constants"]["alpha"] == pytest.approx(plain["huber_free_scale"]["constants"]["alpha"], rel=1e-4)


# Refusals -------------------------------------------------------------------------------------------------------------

FILES = {
    "random.nc": np.random.default_rng(0).bytes(500),
    "few.csv": RUNS.head(5).to_csv(index=False).encode(),
    "one_size.csv": RUNS.assign(N=1e9, D=20 * SIZES).to_csv(index=False).encode(),
    "ambiguous.csv": RUNS.assign(params=1.1 * RUNS["N"]).to_csv(index=False).encode(),
    "inconsistent.csv": RUNS.assign(C=7 * RUNS["N"] * RUNS["D"]).to_csv(index=False).encode(),
    "text.csv": changed("N", "seventy").encode(),
    "negative_loss.csv": changed("loss", -1.5).encode(),
    "good.csv": RUNS.to_csv(index=False).encode(),
    "file": b"no folder",
}


@pytest.fixture
def folder(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    xr.Dataset({"loss": ("run", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    (tmp_path / "place").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.csv", ["no such file"]),
        ("random.nc", ["not a netCDF file"]),
        ("place", ["folder"]),
        ("few.csv", ["5 rows are fewer than the 6"]),
        ("one_size.csv", ["parameters", "several sizes"]),
        ("ambiguous.csv", ['"N", "params" could each be parameters']),
        ("inconsistent.csv", ["line 2", 'column "C"', "ratio 1.167"]),
        ("text.csv", ["line 7", 'column "N"', '"seventy"', "plain number"]),
        ("negative_loss.csv", ["line 7", 'column "loss"', "found -1.5"]),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(name, words, folder):
    message = refused("fit", "chinchilla", "--data", name, "--out", "place/f.nc", "--json", folder=folder)
    assert message.startswith(f"error: {name}")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prior", "alfa=LogNormal(0, 1)"], "'alfa'"),
        (["--prior", "E=LogNormal(0, 1)"], "derived, not sampled"),
        (["--prior", "alpha=LogNormal(10, 0.1)"], "no finite loss"),
        (["--prior", "alpha"], "NAME=VALUE"),
        (["--prior", "alpha=Gamma(2, 4)", "--prior", "alpha=Gamma(2, 5)"], "twice"),
        (["--sampler", "stan"], "nutpie"),
        (["--draws", "0"], "draws"),
        (["--draws", "many"], "--draws"),
        (["--draws", "10.5"], "--draws"),
        (["--tune", "0"], "tune"),
        (["--chains", "0"], "chains"),
        (["--cores", "0"], "cores"),
        (["--target-accept", "1"], "target_accept"),
        (["--seed", "-1"], "seed"),
        (["--bogus"], "--bogus"),
        (["--data", "good.csv", "--measurement-error"], "loss_halfwidth"),
        (["--data", "good.csv", "--option", "run_effects=true"], 'law needs "run"'),
        (["--option", "run_effects=some"], "must be true or false"),
        (["--option", "scatter=" + "[" * 5000], "choose one of by_size, one"),
        (["--data", "good.csv", "--perplexity"], "perplexity"),
        (["--data", "good.csv", "--column", "size=N"], '"size"'),
        (["--column", "loss=L"], "built-in table"),
        (["--unit", "loss=bits"], "--unit: for files, not for the built-in table"),
        (["--data", "good.csv", "--unit", "parameters"], "NAME=VALUE"),
        (["--data", "good.csv", "--unit", "loss=bits-per-byte"], "--bytes-per-token"),
        (["--where", "loss > 20"], "none of the 245 rows"),
        (["--best-of", "size"], 'there is no column "size"'),
        (["--drop-highest", "-1"], "drop_highest must be"),
        (["--drop-highest", "300"], "leaves none of the 245 rows"),
        (["extra"], "extra"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options, words, folder):
    assert words in refused("fit", "chinchilla", *options, "--out", "place/f.nc", "--json", folder=folder)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fits"], "fits"),
        (["--bogus"], "--bogus"),
        (["calibrate"], "LAW"),
        (["fit", "chinchila"], "chinchilla"),
        (["data", "chinchilla_run"], "chinchilla_runs"),
        (["data", "--notes"], "name of a table"),
        (["points", "--data", "few.csv", "--drop-highest", "2"], "few.csv: 3 rows"),
        (["fit", "lengths", "--best-of", "run"], "--best-of is for tables of runs"),
        (["fit", "progress-7", "--where", "benchmark == 'c4'"], "none of the 231 rows"),
        (["fit", "scores", "--data", "few.csv"], '"model", "benchmark", "score" are needed'),
        (["fit", "scores", "--where", "year < 1995"], "none of the 2249 rows"),
        (["rollout", "chinchilla"], "--below"),
        (["rollout", "chinchilla", "--below", "1e30", "--figure", "f.svg"], "leaves no row at or above it to predict"),
        (
            ["rollout", "chinchilla", "--below", "1e20", "--figure", "f.gif"],
            "f.gif: a figure is written as .svg, .png or .pdf",
        ),
        (["rollout", "chinchilla", "--below", "1e20", "--figure", "file/f.svg"], "file/f.svg"),
        (["rollout", "progress-7", "--below", "2020", "--by", "day"], 'column "day" is unknown'),
        (["calibrate", "chinchilla", "--where", "loss > 20"], "none of the 245 rows"),
        (["compare"], "FILE.nc"),
        (["compare", "other.nc"], "other.nc: a netCDF file, but no fit"),
        (["compare", "other.nc", "other.nc"], "twice"),
        (["compare", "missing.nc", "other.nc"], "missing.nc: there is no such file"),
        (["compare", "random.nc", "other.nc"], "random.nc: not a netCDF file"),
        (["allocate", "other.nc", "--compute", "1e21"], "other.nc: a netCDF file, but no fit"),
        (["allocate", "file", "--compute", "1e21"], "file: not a netCDF file"),
        (["allocate", "other.nc"], "give --compute, a budget in FLOP, or --loss, a target in nats per token"),
        (["allocate", "other.nc", "--compute", "1e21", "--loss", "2.5"], "nats per token, not both"),
        (["allocate", "other.nc", "--compute", "much"], "--compute 'much': write FLOP, such as 1e24, 3x10^23, 2 ZFLOP"),
        (
            ["allocate", "other.nc", "--compute", "1e20:1e22"],
            "--compute '1e20:1e22': write LOW:HIGH:COUNT with 0 < LOW",
        ),
        (["allocate", "other.nc", "--loss", "2", "--demand", "1 ZFLOP"], "--demand '1 ZFLOP': write a number, such as"),
        (["allocate", "other.nc", "--demand", "1e22:1e20:3", "--loss", "2"], "with 0 < LOW < HIGH"),
        (["allocate", "other.nc", "--compute", "1e21", "--gpu-hour", "-2"], "gpu_hour must be a positive number"),
        (["design", "other.nc"], "--budget"),
        (["design", "other.nc", "--budget", "1e20"], "other.nc: a netCDF file, but no fit"),
        (["design", "other.nc", "--budget", "much"], "--budget 'much': write FLOP"),
        (["report", "--out", "report", "--page", "chinchila"], "chinchilla"),
        (["report", "--out", "report", "--sampler", "stan"], "stan"),
        (["report", "--out", "report", "--seed", "-1"], "seed"),
        # A path below a regular file cannot be written by anyone, root included.
        (["report", "--out", "file/report"], "file/report"),
        (["fit", "chinchilla", "--out", "file/f.nc"], "file/f.nc"),
        (["fit", "chinchilla", "--out", "place"], "place"),
    ],
)
def test_a_command_that_cannot_be_done_is_refused(arguments, words, folder):
    assert words in refused(*arguments, folder=folder)


def test_the_installed_command_refuses_in_one_line(folder):
    refused("fit", "chinchilla", "--data", "text.csv", folder=folder, run=spawn)


def test_faults_that_are_known_at_once_are_in_one_line(folder):
    line = refused("fit", "chinchila", "--data", "missing.csv", "--out", "file/f.nc", folder=folder)
    assert all(part in line for part in ('law "chinchila" is', "; missing.csv: there is no such file", "; file/f.nc"))
    line = refused("allocate", "missing.nc", "--plan", "fit=1", "--gpu-hour", "-2", folder=folder)
    faults = ("gpu_hour must be", "; --plan 'fit': not what", "; give --compute", "; missing.nc: there is no such file")
    assert all(part in line for part in faults)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "student.nc"], "at least two fits"),
        (["compare", "student.nc", "mine.nc"], "245 and 80 rows"),
        (["allocate", "student.nc", "--compute", "-1e21"], "positive"),
        (["allocate", "student.nc", "--compute", "1e21", "--plan", "near_optimal=0.1"], "--plan 'near_optimal': not"),
        (["allocate", "student.nc", "--compute", "1e21", "--plan", "fit=1"], "--plan 'fit': not what a law knows"),
    ],
)
def test_what_fits_cannot_answer_is_refused(arguments, words, fits):
    assert words in refused(*arguments, folder=fits)


# Interruption ---------------------------------------------------------------------------------------------------------


def sampling(process, seconds):
    """Wait until the sampler's threads run, where the system tells; else for `seconds`."""
    threads = Path(f"/proc/{process.pid}/task")
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            if any("nutpie" in path.read_text() for path in threads.glob("*/comm")):
                return
        time.sleep(0.2)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("name, status", [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupted_fit_leaves_nothing(name, status, tmp_path, interruptible):
    arguments = [COMMAND, "fit", "chinchilla", "--draws", "200000", "--out", "f.nc"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            sampling(process, 120)
            time.sleep(0.2)
            process.send_signal(getattr(signal, name))
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == status
    assert (out, err) == ("", "interrupted\n")
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A folder with a table of runs on two corpora, and a fit of it."""
    folder = tmp_path_factory.mktemp("corpora")
    runs = bs.load("chinchilla_runs").iloc[::4][["parameters", "tokens", "loss"]]
    runs.assign(corpus=np.where(np.arange(len(runs)) % 2, "c4", "pile")).to_csv(folder / "runs.csv", index=False)
    options = ("--noise", "normal", "--option", "scatter=one", "--group", "corpus", *SHORT)
    result = call("fit", "chinchilla", "--data", "runs.csv", *options, "--shared", "beta, sigma",
                "--prior", "spread_alpha=LogNormal(-1, 0.5)", "--out", "fit.nc", "--json", folder=folder)  # fmt: skip
    assert result.status == 0, result.err
    return folder, json.loads(result.out)


def test_groups_of_rows_are_fitted_with_what_is_pooled_and_shared(corpora):
    _, document = corpora
    assert {"alpha[c4]", "alpha[pile]", "typical_alpha", "spread_alpha", "beta", "sigma", "E[c4]"} <= set(
        document["parameters"]
    )
    assert document["provenance"]["priors"]["chinchilla"]["spread_alpha"] == "LogNormal(-1, 0.5)"


def test_sizes_are_planned_for_a_group(corpora):
    folder, _ = corpora
    printed = succeeded("allocate", "fit.nc", "--compute", "1e21", "--plan", "group=c4", "--json", folder=folder)
    assert json.loads(printed)["allocation"][0]["parameters"]["q50"] > 1e8
    assert 'name one of "c4", "pile"' in refused("allocate", "fit.nc", "--compute", "1e21", folder=folder)


def test_groups_that_cannot_be_are_refused_in_a_line(corpora):
    folder, _ = corpora
    fitted = ("fit", "chinchilla", "--data", "runs.csv")
    for options, expected in (
        (("--pooled", "alpha"), "--pooled: for groups of rows; name their column with --group"),
        (("--group", "lab"), 'needs "lab"'),
        (("--group", "corpus", "--shared", "alpha", "--pooled", "alpha"), "shared or pooled, not both"),
        (("--group", "corpus", "--shared", "gamma"), "'gamma' is no sampled quantity"),
    ):
        assert expected in refused(*fitted, *options, folder=folder)
    assert "fit chinchilla --group COLUMN" in refused("fit", "grouped", folder=folder)
    assert "need a table that has it" in refused("fit", "chinchilla", "--group", "corpus", folder=folder)


# Streams --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("words", ["data chinchilla_runs", "data --json"])
def test_a_full_disk_under_standard_output_is_told_in_a_line(words, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output, or a temporary file: No space left on device; make room")
    assert done.stderr.count("\n") == 1


def test_a_closed_pipe_ends_a_command_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([COMMAND, "data"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(os.name == "nt", reason="descriptors are closed as POSIX does it")
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_streams_may_be_closed_before_a_command_begins(closed, tmp_path):
    done = subprocess.run(f"'{COMMAND}' data {closed}>&-", shell=True, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == ""
    assert bool(done.stdout) == (closed != 1)


def test_python_runs_the_package_as_the_command_does():
    done = subprocess.run(
        [sys.executable, "-m", "bayescaling", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == bs.__version__


@pytest.mark.parametrize(
    ("typed", "offered"), [("fit cou", "coupled"), ("fit coupled --data chinchilla_r", "chinchilla_runs")]
)
def test_the_shell_completes_laws_and_tables(typed, offered):
    words = f"bayescaling {typed}"
    asked = {"_BAYESCALING_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(typed.count(" ") + 1)}
    done = subprocess.run([COMMAND], env=os.environ | asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [offered]
