import json
import os
import sys
import warnings

import bayescaling as bs
import numpy as np
import pytest
import xarray as xr
from bayescaling.commands.cli import main
from bayescaling.commands.compare import of_specifications
from bayescaling.reports.cache import kept
from bayescaling.reports.cache import stages as stages_of_reports
from bayescaling.reports.cache.stages import Stages


@pytest.fixture(autouse=True)
def empty(own_cache):
    kept.clear()


def stages(**settings):
    return Stages(["one", "two"], False, **settings)


def result():
    warnings.warn("chains disagree", bs.DiagnosticWarning, stacklevel=1)
    return {"draws": xr.DataArray(np.arange(3.0)), "law": bs.laws.Chinchilla()}


def refused():
    raise AssertionError("made again")


def test_a_result_is_made_once_and_its_warnings_are_said_again():
    for make in (result, refused):
        with stages(seed=1) as stage, pytest.warns(bs.DiagnosticWarning, match="chains disagree"):
            found = stage("one", make)
        assert found["draws"].values.tolist() == [0, 1, 2] and found["law"] == bs.laws.Chinchilla()
        assert stage.warned == ["chains disagree"]
        assert stage.seconds["one"] >= 0


@pytest.mark.parametrize("changed", [{"seed": 2}, {"seed": 1, "tables": {"runs": "other"}}], ids=["seed", "table"])
def test_what_a_result_follows_from_makes_it_anew(changed):
    made = []
    for settings in ({"seed": 1}, changed, {"seed": 1}):
        with stages(**settings) as stage:
            stage("one", lambda: made.append(1) or 5)
            stage.of(tables={"evaluations": "x"})("two", lambda: 6)
    assert len(made) == 2


def test_where_no_terminal_watches_a_line_a_minute_says_which_stage_runs(monkeypatch, capsys):
    def run(progress):
        with Stages(["one", "two"], progress, fresh=True, seed=1) as stage:
            stage("one", lambda: 5)
            stage.of(tables={})("two", lambda: 6)
        return capsys.readouterr().err

    assert run(True) == ""  # it took no minute
    monkeypatch.setattr(stages_of_reports, "EVERY", 0.0)
    assert run(False) == ""
    first, second = run(True).splitlines()
    assert first.startswith("one, 0 of 2 stages done, about 0 s left")
    assert second.startswith("two, 1 of 2 stages done, about 0 s left")


def test_other_code_makes_it_anew_and_so_does_asking_for_it(monkeypatch):
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
    with stages(seed=1, fresh=True) as stage:
        assert stage("one", lambda: 6) == 6
    with stages(seed=1) as stage:
        assert stage("one", refused) == 6
    monkeypatch.setattr(kept, "code", lambda: "another")
    with stages(seed=1) as stage:
        assert stage("one", lambda: 7) == 7


def test_what_takes_long_is_made_when_asked_for_and_then_stays():
    with stages(seed=1, extras=("two",)) as stage:
        assert stage.extra("two", refused, default="none") == "none"
        assert stage.extras == {"two": None} and stage.there("two") == []
    for full, make in ((True, lambda: 5), (False, refused)):
        with stages(seed=1, extras=("two",), full=full) as stage:
            assert stage.extra("two", make) == 5
            assert stage.there("two") == ["two"] and len(stage.extras["two"]) == len("2026-01-01")


@pytest.mark.parametrize("fresh", [False, True])
def test_others_are_made_ahead_once_where_something_is_to_be_made(fresh):
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
    asked = []

    def ahead(shown):
        asked.append(shown)
        with stages(seed=1, fresh=fresh) as other:
            other("one", lambda: 6)
            other("two", lambda: 7)
            other("three", lambda: 8)
        return other.keys

    with stages(seed=1, fresh=fresh, ahead=ahead) as stage:
        assert stage("one", refused) == (6 if fresh else 5)
        assert len(asked) == fresh
        part = stage.of()
        assert part("two", refused) == 7 and part("three", refused) == 8
    assert len(asked) == 1


def test_what_was_not_made_ahead_is_made_anew_where_all_is_to_be():
    with stages(seed=1) as stage:
        stage("one", lambda: 5)
        stage("two", lambda: 6)

    def ahead(shown):
        with stages(seed=1, fresh=True) as other:
            other("one", lambda: 7)
        return other.keys

    with stages(seed=1, fresh=True, ahead=ahead) as stage:
        assert stage("one", refused) == 7
        assert stage("two", lambda: 8) == 8


def test_nothing_is_made_ahead_where_all_is_kept():
    with stages(seed=1, extras=("two",)) as stage:
        stage("one", lambda: 5)
    with stages(seed=1, extras=("two",), ahead=lambda shown: refused()) as stage:
        assert stage("one", refused) == 5
        assert stage.extra("two", refused) is None


def test_the_time_left_is_learned_from_what_stages_took():
    with stages(seed=1) as stage:
        assert stage.time_left() == ""
        stage("one", lambda: 5)
        stage("two", lambda: 6)
    kept.learn("one", 200)
    kept.learn("two", 70)
    with stages(seed=2) as stage:
        assert stage.time_left() == "about 4 min left"
        stage("one", lambda: 5)
        assert stage.time_left() == "about 70 s left"
        stage("two", lambda: 6)
        assert stage.time_left() == ""
    with stages(seed=2, extras=("one",)) as stage:
        assert stage.time_left() == "about 0 s left"
    kept.clear()
    assert kept.times() == {}


def test_a_stop_keeps_what_was_made_before_it():
    def stopped():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), stages(seed=1) as stage:
        stage("one", lambda: 5)
        stage("two", stopped)
    with stages(seed=1) as stage:
        assert stage("one", refused) == 5
        assert stage("two", lambda: 6) == 6


def test_what_a_stage_sets_is_set_again_from_the_cache():
    class Found:
        def __init__(self):
            self.table, self.scores, self.listed = object(), {"a": {"x": 1}}, [1]

    def make(found):
        found.scores["a"]["y"] = 2
        found.listed.append(3)
        found.new = "new"

    for work in (make, lambda found: refused()):
        found = Found()
        table = found.table
        with stages(seed=1) as stage:
            stage.update(found, "one", work)
        assert found.scores == {"a": {"x": 1, "y": 2}} and found.listed == [1, 3] and found.new == "new"
        assert found.table is table


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
        kept.clear()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives a file to another user")
def test_what_another_user_left_is_not_read(own_cache):
    kept.put("one", 5)
    (path,) = own_cache.glob("*.stage")
    os.chown(path, os.geteuid() + 1, -1)
    assert kept.get("one") is None and path.exists()
    os.chown(path, os.geteuid(), -1)
    assert kept.get("one") == 5


def test_where_nothing_can_be_kept_all_is_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(kept, "folder", lambda: tmp_path / "file" / "stages")
    for value in (5, 6):
        with stages(seed=1) as stage:
            assert stage("one", lambda value=value: value) == value
    assert kept.listed() == []


def test_no_more_is_kept_than_the_bound(monkeypatch):
    random = np.random.default_rng(1)
    for name in "abc":
        kept.put(name, random.bytes(10_000))
    monkeypatch.setattr(kept, "MOST", 25_000)
    kept.put("d", random.bytes(10_000))
    assert sum(size for _, _, size in kept.listed()) <= 25_000
    assert kept.get("d") is not None and kept.get("a") is None


def test_the_command_line_shows_and_clears_what_is_kept(monkeypatch, capsys):
    kept.put("a", list(range(1000)))
    for arguments, count in (([], 1), (["--clear"], 1), ([], 0)):
        monkeypatch.setattr(sys, "argv", ["bayescaling", "cache", "--json", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0
        assert json.loads(capsys.readouterr().out)["results"] == count


@pytest.mark.thorough
def test_a_comparison_of_specifications_goes_on_where_it_stopped(monkeypatch, capsys):
    monkeypatch.setattr(bs.models, "SPECIFICATIONS", {number: bs.models.SPECIFICATIONS[number] for number in (1, 7)})
    monkeypatch.setattr(bs.inference, "compare_progress", lambda *fits, **options: refused())
    with pytest.raises(AssertionError, match="made again"):
        of_specifications(1, json=True)
    monkeypatch.undo()
    monkeypatch.setattr(bs.models, "SPECIFICATIONS", {number: bs.models.SPECIFICATIONS[number] for number in (1, 7)})
    monkeypatch.setattr(bs.inference, "fit_progress", lambda **options: refused())
    of_specifications(1, json=True)
    first = capsys.readouterr().out
    monkeypatch.setattr(bs.inference, "compare_progress", lambda *fits, **options: refused())
    of_specifications(1, json=True)
    assert capsys.readouterr().out == first and first.startswith("{")
