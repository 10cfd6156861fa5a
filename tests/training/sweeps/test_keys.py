"""Keys of sweeps' files: each is listed once, checked by the list, and printed by the help of the command."""

import importlib
import re

import pytest
from bayescaling.commands.cli import app
from bayescaling.errors import InputError
from bayescaling.training import arithmetic, language
from bayescaling.training.engine.fields import Count, Positive, takes
from bayescaling.training.sweeps.keys import NEEDED, Derived, Key, checked
from typer.testing import CliRunner

KINDS = {"train": "language", "arithmetic": "arithmetic"}
PRESETS = {
    name: importlib.import_module(f"bayescaling.training.{kind}.presets").PRESETS for name, kind in KINDS.items()
}
SWEEPS = {name: importlib.import_module(f"bayescaling.training.{kind}.sweep_file") for name, kind in KINDS.items()}


def tables_of(command):
    """Keys by table of a sweep's file."""
    sweep = SWEEPS[command]
    if command == "arithmetic":
        return sweep.COMMON | {"arms": sweep.ARM, "options": sweep.OPTIONS}
    corpora = {f"corpus of {kind}": keys for kind, keys in language.corpora.corpus.KINDS.items()}
    return {"model": sweep.MODEL, "training": sweep.TRAINING, "stages": sweep.STAGE} | corpora


EVERY = [(command, table, key) for command in KINDS for table, keys in tables_of(command).items() for key in keys]


@pytest.mark.parametrize("command", KINDS)
def test_help_lists_every_key_with_its_default(command):
    result = CliRunner().invoke(app, [command, "--help"], terminal_width=200)
    text = re.sub(r"-\s+", "-", " ".join(result.output.split()))
    assert "Takes integer, at least 1." in text
    for row in SWEEPS[command].sweep_keys().itertuples():
        assert f"{row.key} (needed)" in text or f"{row.key} = {row.default}" in text
        assert re.sub(r"-\s+", "-", row.meaning) in text and f"Takes {row.takes}." in text


@pytest.mark.parametrize("command", KINDS)
def test_every_key_is_listed(command):
    keys = SWEEPS[command].sweep_keys()
    assert set(keys["key"]) >= {key for of, _, key in EVERY if of == command}
    assert not keys.duplicated(["table", "key"]).any()
    assert (keys != "").drop(columns="table").all(axis=None)


@pytest.mark.parametrize(("command", "table", "name"), EVERY, ids=map(" ".join, EVERY))
def test_a_default_is_what_a_key_takes_and_nonsense_is_not(command, table, name):
    key = tables_of(command)[table][name]
    if key.usual is not NEEDED and key.usual is not None and not isinstance(key.usual, Derived):
        checked(table, {name: key.usual}, {name: key})
    with pytest.raises(InputError, match=f"{name} (is|.* is unknown)"):
        checked(table, {name: [[[0.5]]]}, {name: key})


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (Count, "integer, at least 1"),
        (Positive | None, "number, above 0"),
        (tuple[Count, ...] | bool, "list of (integer, at least 1) or boolean"),
        (dict[str, int], "table"),
    ],
)
def test_what_a_type_takes_is_said(hint, text):
    assert takes(hint) == text


def test_a_missing_key_is_named():
    with pytest.raises(InputError, match=r"^model: size is missing; give integer, at least 1$"):
        checked("model", {}, {"size": Key(Count, NEEDED, "How large.")})
    assert checked("model", {}, {"size": Key(Count, NEEDED, "How large.")}, whole=False) == {}
    assert arithmetic.make_sweep({"preset": "demo"}).arms
