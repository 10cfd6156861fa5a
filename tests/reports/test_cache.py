import json
import os
import pickle
import sys
import warnings
from importlib import import_module

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.commands.cli import main
from bayescaling.commands.compare import of_specifications
from bayescaling.datasets import progress_messages
from bayescaling.datasets.files import evidence
from bayescaling.inference.fitted import new_fit, results_of
from bayescaling.reports.cache import store
from bayescaling.reports.cache.stages import Stages


@pytest.fixture(autouse=True)
def empty(own_cache):
    store.clear()


def stages(**settings):
    return Stages(["one", "two"], False, **settings)


def result():
    warnings.warn("chains disagree", bs.DiagnosticWarning, stacklevel=1)
    warnings.warn("rows are few", bs.errors.TableNote, stacklevel=1)
    return {"draws": xr.DataArray(np.arange(3.0)), "law": bs.laws.Chinchilla()}


def refused():
    raise AssertionError("made again")


def test_a_result_is_made_once_and_its_warnings_are_said_again():
    for make in (result, refused):
        notes = pytest.warns(bs.errors.TableNote, match="rows are few")
        with notes, stages(seed=1) as stage, pytest.warns(bs.DiagnosticWarning, match="chains disagree"):
            stored = stage("one", make)
        assert stored["draws"].values.tolist() == [0, 1, 2] and stored["law"] == bs.laws.Chinchilla()
        assert stage.warned == ["chains disagree"]
        assert stage.seconds["one"] >= 0


@pytest.mark.parametrize("changed", [{"seed": 2}, {"seed": 1, "tables": {"runs": "other"}}], ids=["seed", "table"])
def test_what_a_result_follows_from_makes_it_anew(changed):
    calls = []
    for settings in ({"seed": 1}, changed, {"seed": 1}):
        with stages(**settings) as stage:
            stage("one", lambda: calls.append(1) or 5)
            stage.part(tables={"evaluations": "x"})("two", lambda: 6)
    assert len(calls) == 2


def test_where_no_terminal_watches_a_line_a_minute_says_which_stage_runs(monkeypatch, capsys):
    def run(progress):
        with Stages(["one", "two"], progress, fresh=True, seed=1) as stage:
            stage("one", lambda: 5)
            stage.part(tables={})("two", lambda: 6)
        return capsys.readouterr().err

    assert run(True) == ""  # it took no minute
    monkeypatch.setattr(progress_messages, "EVERY", 0.0)
    assert run(False) == ""
    assert run(True).splitlines() == [
        "one, 0% done, 0 of 2 stages, about 0 s left",
        "one, 50% done, 1 of 2 stages, about 0 s left",
        "two, 50% done, 1 of 2 stages, about 0 s left",
        "two, 100% done, 2 of 2 stages",
    ]


def test_other_code_makes_it_anew_and_so_does_asking_for_it(monkeypatch):
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
    with stages(seed=1, fresh=True) as stage:
        assert stage("one", lambda: 6) == 6
    with stages(seed=1) as stage:
        assert stage("one", refused) == 6
    monkeypatch.setattr(store, "code", lambda: "another")
    with stages(seed=1) as stage:
        assert stage("one", lambda: 7) == 7


@pytest.mark.parametrize("fresh", [False, True])
def test_others_are_made_ahead_once_where_something_is_to_be_made(fresh):
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
    asked = []

    def ahead():
        asked.append("once")
        with stages(seed=1, fresh=fresh) as other:
            other("one", lambda: 6)
            other("two", lambda: 7)
            other("three", lambda: 8)
        return other.keys

    with stages(seed=1, fresh=fresh, ahead=ahead) as stage:
        assert stage("one", refused) == (6 if fresh else 5)
        assert len(asked) == fresh
        part = stage.part()
        assert part("two", refused) == 7 and part("three", refused) == 8
    assert len(asked) == 1


def test_what_was_not_made_ahead_is_made_anew_where_all_is_to_be():
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
        stage("two", lambda: 6)

    def ahead():
        with stages(seed=1, fresh=True) as other:
            other("one", lambda: 7)
        return other.keys

    with stages(seed=1, fresh=True, ahead=ahead) as stage:
        assert stage("one", refused) == 7
        assert stage("two", lambda: 8) == 8


def test_nothing_is_made_ahead_where_all_is_kept():
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
    with stages(seed=1, ahead=refused) as stage:
        assert stage("one", refused) == 5


def test_the_time_left_is_learned_from_what_stages_took():
    with stages(seed=1) as stage:
        assert stage.time_left() == ""
        stage("one", lambda: 5)
        stage("two", lambda: 6)
    store.learn("one", 200)
    store.learn("two", 70)
    with stages(seed=2) as stage:
        assert stage.time_left() == "about 4 min left"
        stage("one", lambda: 5)
        assert stage.time_left() == "about 70 s left"
        stage("two", lambda: 6)
        assert stage.time_left() == ""
    store.clear()
    assert store.times() == {}


def test_a_stop_keeps_what_was_made_before_it():
    def stopped():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), stages(seed=1) as stage:
        stage("one", lambda: 5)
        stage("two", stopped)
    with stages(seed=1) as stage:
        assert stage("one", refused) == 5
        assert stage("two", lambda: 6) == 6


def test_a_study_is_read_and_in_a_full_report_made():
    name = "corpora_laws"
    with stages(seed=1) as stage:
        result, fits = stage.study(name, refused)
        assert result == evidence(name)["result"] and fits == {} and stage.studies == {}
        result.clear()
        assert stage.study(name, refused)[0]  # whatever was done to the first
    for make in (lambda: ({1: np.inf, "b": (2,)}, {"fit": 5}), refused):
        with stages(seed=1, all=True) as stage:
            result, fits = stage.study(name, make)
        assert result == {"1": None, "b": [2], "not_finite": {"1": "infinite"}} == stage.studies[name]
        assert fits == {"fit": 5}


def test_a_damaged_file_is_made_again(own_cache):
    for damage in (
        lambda content: content[:-100],
        lambda content: content[:50] + b"x" + content[51:],
        lambda content: b"",
    ):
        with stages(seed=1) as stage:
            stage("one", lambda: list(range(1000)))
        (path,) = own_cache.glob("*.stage")
        path.write_bytes(damage(path.read_bytes()))
        with stages(seed=1) as stage:
            assert stage("one", lambda: "again") == "again"
        store.clear()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives a file to another user")
def test_what_another_user_left_is_not_read(own_cache):
    store.put("one", 5)
    (path,) = own_cache.glob("*.stage")
    os.chown(path, os.geteuid() + 1, -1)
    assert store.get("one") is None and path.exists()
    os.chown(path, os.geteuid(), -1)
    assert store.get("one") == 5


def test_where_nothing_can_be_kept_all_is_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(store, "folder", lambda: tmp_path / "file" / "stages")
    for value in (5, 6):
        with stages(seed=1) as stage:
            assert stage("one", lambda value=value: value) == value
    assert store.listed() == []


def test_no_more_is_kept_than_the_bound(monkeypatch):
    random = np.random.default_rng(1)
    for name in "abc":
        store.put(name, random.bytes(10_000))
    monkeypatch.setattr(store, "LARGEST", 25_000)
    store.put("d", random.bytes(10_000))
    assert sum(size for _, _, size in store.listed()) <= 25_000
    assert store.get("d") is not None and store.get("a") is None


def test_the_command_line_shows_and_clears_what_is_kept(monkeypatch, capsys):
    store.put("a", list(range(1000)))
    for arguments, count in (([], 1), (["--clear"], 1), ([], 0)):
        monkeypatch.setattr(sys, "argv", ["bayescaling", "cache", "--json", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0
        assert json.loads(capsys.readouterr().out)["results"] == count


@pytest.mark.thorough
def test_a_comparison_of_specifications_goes_on_where_it_stopped(monkeypatch, capsys):
    compared, fitted = (import_module(f"bayescaling.inference.progress.{name}") for name in ("compare", "fitting"))
    specifications = import_module("bayescaling.models.progress.specifications")
    monkeypatch.setattr(specifications, "SPECIFICATIONS", {k: specifications.SPECIFICATIONS[k] for k in (1, 7)})
    monkeypatch.setattr(compared, "compare", lambda *fits, **options: refused())
    with pytest.raises(AssertionError, match="made again"):
        of_specifications(1, json=True)
    monkeypatch.undo()
    monkeypatch.setattr(specifications, "SPECIFICATIONS", {k: specifications.SPECIFICATIONS[k] for k in (1, 7)})
    monkeypatch.setattr(fitted, "fit_all", lambda **options: refused())
    of_specifications(1, json=True)
    first = capsys.readouterr().out
    monkeypatch.setattr(compared, "compare", lambda *fits, **options: refused())
    of_specifications(1, json=True)
    assert capsys.readouterr().out == first and first.startswith("{")


FILES = {"__init__.py", "models/laws.py", "reports/html/page.css", "evidence/study.json", "tests/test_laws.py"}


# What the key of a result follows from --------------------------------------------------------------------------------


def test_a_change_in_any_file_is_another_key(tmp_path):
    def written(folder, changed=None):
        """Write a small package, one of whose files has a comment added."""
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("# changed\n" * (name == changed))
        return folder

    before = store.code(written(tmp_path / "before"))
    assert store.code(written(tmp_path / "same")) == before
    changed = {name for name in FILES if store.code(written(tmp_path / name.replace("/", "-"), name)) != before}
    assert changed == FILES - {"tests/test_laws.py"}


def test_a_result_follows_from_the_draws_of_fits_but_not_from_when_they_were_made(fit_default):
    def again(**changes):
        groups = {name: group.to_dataset() for name, group in fit_default.tree.children.items()}
        groups["posterior"] = groups["posterior"].copy(deep=True)
        groups["posterior"]["alpha"][0, 0] += changes.pop("shift", 0)
        return new_fit(groups, fit_default.record | changes)

    def stored(name, fit):
        with stages(seed=1) as stage:
            return stage("one", lambda: name, of={"law": fit})

    assert stored("first", fit_default) == "first"
    assert stored("second", again(created="2020-01-01T00:00:00Z", seconds=5.0)) == "first"
    assert stored("third", again(shift=1e-12)) == "third"
    assert stored("fourth", again(seed=2)) == "fourth"
    with stages(seed=1) as stage:
        assert stage("one", lambda: "other", of={"name": fit_default}) == "other"


def test_what_a_stage_computes_of_fits_they_hold_when_it_is_cached(fit_default):
    for work in (lambda fit: results_of(fit).update(mean=5) or "result", refused):
        fit = pickle.loads(pickle.dumps(fit_default))
        with stages(seed=1) as stage:
            assert stage("one", lambda work=work, fit=fit: work(fit), of={"law": fit}) == "result"
        assert results_of(fit)["mean"] == 5
