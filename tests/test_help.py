"""The help of every command: its width, its panels and its examples, which are run."""

import contextlib
import glob
import io
import re
import shlex
import sys
from unittest import mock

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import typer
from bayescaling.commands.cli import GROUPS, app, main
from bayescaling.commands.help import EXAMPLES

COMMANDS = typer.main.get_command(app).commands
FAST = ("--draws", "100", "--tune", "200", "--chains", "2")
# Added to the examples of a command to shorten them.
SHORTER = dict.fromkeys(("fit", "rollout"), FAST) | {"calibrate": (*FAST, "--simulations", "2")}
OF_GROUPS = ("--noise", "normal", "--option", "scatter=one")  # of groups of runs, which are fitted faster then
# Sweeps, GPUs, pages and 20 specifications have tests of their own, as has the deletion of the cache.
ONLY_PARSED = ("train", "arithmetic", "gpu-check", "report", "compare progress", "reconcile sweep", "cache --clear")
QUICK = ("show", "allocate", "predict", "check", "reconcile", "worth", "data")
LONG = "compare fit.nc chinchilla.nc --weighting"


def call(*arguments):
    """Run the command line in this process; return its status and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["bayescaling", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return left.value.code, out.getvalue(), err.getvalue()


def run(line):
    """Run an example, shortened, with its patterns of files expanded as a shell does."""
    name, *words = shlex.split(line)
    words = [path for word in words for path in sorted(glob.glob(word)) or [word]]
    status, out, err = call(name, *words, *SHORTER.get(name, ()), *(OF_GROUPS if "--group" in words else ()))
    assert status == 0, err
    return out


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(name, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, err = call(name, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"Usage: bayescaling {name} ")
    assert max(map(len, out.splitlines())) <= 80 and "…" not in out
    examples = out.partition("\nExamples:\n")[2].splitlines()
    assert examples and examples == [f"  bayescaling {line}" for line in EXAMPLES if line.split()[0] == name]


@pytest.mark.parametrize("width", [80, 120])
def test_the_help_lists_every_command_in_its_group_in_one_line(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, _ = call()
    assert (status, out) == (0, call("--help")[1])
    lists = dict(re.findall(r"^(.+):\n((?:  .+\n)+)", out, re.MULTILINE))
    assert list(lists) == ["Options", *GROUPS]
    for group, commands in GROUPS.items():
        lines = re.findall(r"^  ([\w-]+) +([A-Z][^.]*\.)$", lists[group], re.MULTILINE)
        assert len(lines) == len(lists[group].splitlines()) == len(commands)
    assert max(map(len, out.splitlines())) <= 80


def test_options_of_the_table_the_law_and_the_sampler_have_panels():
    lists = call("fit", "--help")[1].split("\n\n")
    panels = {text.partition(":")[0]: re.findall(r"^  (--[\w-]+)", text, re.MULTILINE) for text in lists}
    for panel, option in (
        ("Table", "--where"),
        ("Law", "--prior"),
        ("Sampler", "--draws"),
        ("Processes", "--processes"),
    ):
        assert option in panels[panel] and option not in panels["Options"]
    assert panels["Options"] == ["--data", "--out", "--log-likelihood", "--wider", "--json", "--help"]


def test_a_shell_completes_commands_and_options(monkeypatch):
    monkeypatch.setenv("_BAYESCALING_COMPLETE", "complete_bash")
    for words, completed in (("bayescaling score-", "score-forecast"), ("bayescaling allocate --pl", "--plan")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        assert call() == (0, f"{completed}\n", "")


@pytest.mark.parametrize("line", EXAMPLES)
def test_options_of_the_examples_exist(line):
    name, *words = shlex.split(line)
    COMMANDS[name].make_context(name, words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, scores_design):
    """A folder with the tables that the examples read and the fits that they make."""
    folder = tmp_path_factory.mktemp("examples")
    runs = bs.load("chinchilla_runs").iloc[::6][["parameters", "tokens", "loss"]]
    corpora = np.where(np.arange(len(runs)) % 2, "c4", "pile")
    runs.assign(corpus=corpora, lr=1e-3).to_csv(folder / "runs.csv", index=False)
    runs.head(1).assign(parameters=7e9, tokens=1e11, loss=2.0).to_csv(folder / "new.csv", index=False)
    successes = bs.load("weirdml").query("threshold == 50")
    successes[successes["model"].isin(successes["model"].unique()[::14])].to_csv(folder / "successes.csv", index=False)
    scores_design.table.to_csv(folder / "scores.csv", index=False)
    days, noise = np.arange(0, 1200, 100), np.exp(np.random.default_rng(1).normal(0, 0.2, 12))
    dates = pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D")
    prices = pd.DataFrame({"date": dates, "value": 60 * 0.5 ** (days / 365) * noise})
    prices.to_csv(folder / "prices.csv", index=False)
    (folder / "logs").mkdir()
    for name, steps in (("train.log", 12_000), ("logs/ended.log", 24_001)):
        losses = {step: 3 + 8 * (step + 100) ** -0.4 for step in range(0, steps, 100)}
        (folder / name).write_text("".join(f"step {step}: loss {loss:.4f}\n" for step, loss in losses.items()))
    with contextlib.chdir(folder):
        for line in EXAMPLES:
            if line.startswith("fit "):
                run(line)
    return folder


def marked(line):
    return pytest.param(line, marks=[pytest.mark.thorough] if line.startswith(LONG) else [])


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning", "ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize("line", [marked(x) for x in EXAMPLES if not x.startswith(("fit ", *ONLY_PARSED))])
def test_examples_run_and_fit_their_terminal(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for width in (80, 120) if line.startswith(QUICK) else (80,):
        monkeypatch.setenv("COLUMNS", str(width))
        out = run(line)
        assert out
        if "--json" not in line and not line.startswith("data "):  # which prints a table for other programs
            assert max(map(len, out.splitlines())) <= width
            assert not re.search(r"e\+\d|…|for want of width", out)
