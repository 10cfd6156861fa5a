"""What SKILL.md and llms.txt state for programs that run the package: commands, keys of their JSON, refusals, links."""

import contextlib
import io
import itertools
import json
import re
import shlex
import sys
from pathlib import Path
from unittest import mock

import bayescaling as bs
import pytest
from bayescaling.commands.cli import app, main

ROOT = Path(__file__).resolve().parents[1]
SKILL, LLMS = ROOT / "SKILL.md", ROOT / "llms.txt"
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)")
FENCED = re.compile(r"^```(bash|json|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHORT = ["--draws", "100", "--tune", "200", "--chains", "2"]
SAMPLED = ("fit", "rollout")
BAD = {"number": "parameters,tokens,loss\n1e8,2e9,3.5\n2e8,abc,3.2\n", "column": "parameters,tokens\n1e8,2e9\n"}

pytestmark = pytest.mark.filterwarnings(
    "always::bayescaling.DiagnosticWarning", "always::bayescaling.errors.TableWarning"
)


def run(words, folder):
    """Run the command line in this process: its exit status, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["bayescaling", *words]),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        main()
    return end.value.code, out.getvalue(), err.getvalue()


def examples():
    """Return pairs of the commands of a cell and the JSON that SKILL.md shows below them."""
    cells = FENCED.findall(SKILL.read_text(encoding="utf-8"))
    return [
        (command.splitlines(), json.loads(text))
        for (kind, command), (below, text) in itertools.pairwise(cells)
        if (kind, below) == ("bash", "json")
    ]


def keys(value, path=()):
    """List the paths of all keys of a document; of a list only the first item is read."""
    if isinstance(value, list) and value:
        yield from keys(value[0], (*path, 0))
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key)
            yield from keys(part, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


@pytest.fixture(scope="module")
def fitted_examples(tmp_path_factory):
    """Run the commands of SKILL.md in order, with short chains on a third of the runs, and return what they print."""
    folder = tmp_path_factory.mktemp("skill")
    bs.load("chinchilla_runs").sample(80, random_state=1).to_csv(folder / "runs.csv", index=False)
    documents = []
    for commands, shown in examples():
        for command in commands:
            words = shlex.split(command.replace("chinchilla_runs", "runs.csv"))[1:]
            status, out, err = run(words + SHORT * (words[0] in SAMPLED), folder)
            assert status == 0, err
            if command == commands[0]:
                documents.append((command, json.loads(out), shown))
    return documents


def test_every_example_is_a_command_with_its_json():
    assert [commands[0].split()[1] for commands, _ in examples()] == ["fit", "compare", "rollout", "allocate"]
    assert all("--json" in command for commands, _ in examples() for command in commands)


def test_the_keys_that_the_skill_shows_are_printed(fitted_examples):
    for command, printed, shown in fitted_examples:
        for path in keys(shown):
            part = at(printed, path)
            assert part is None or at(shown, path) is None or isinstance(part, type(at(shown, path))), (command, path)


@pytest.mark.parametrize("path", [SKILL, LLMS], ids=lambda path: path.name)
def test_commands_and_options_exist(path):
    import typer

    commands = typer.main.get_command(app).commands
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^ *(bayescaling [a-z].*)$", text, re.MULTILINE) + re.findall(
        r"`(bayescaling [a-z][^`]*)`", text
    )
    assert len(lines) >= 2
    for line in lines:
        _, name, *words = shlex.split(line)
        options = {
            option for parameter in commands[name].params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in words if word.startswith("--")} <= options | {"--help"}, line


@pytest.mark.parametrize("path", [SKILL, LLMS], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    assert targets and all((ROOT / target).exists() for target, _ in targets)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("kind", list(BAD))
def test_refusals_are_as_the_skill_shows_them(kind, tmp_path):
    (shown,) = (text for form, text in FENCED.findall(SKILL.read_text(encoding="utf-8")) if form == "text")
    (tmp_path / "bad.csv").write_text(BAD[kind], encoding="utf-8")
    status, out, err = run(["fit", "coupled", "--data", "bad.csv", "--json"], tmp_path)
    assert (status, out) == (2, "") and err.startswith(shown.splitlines()[list(BAD).index(kind)].removesuffix(" ..."))
