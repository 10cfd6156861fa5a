import json

import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training.check.agreement import CHECKS
from bayescaling.training.check.runner import check, tiny
from bayescaling.training.check.speed import WAYS

torch.set_num_threads(1)
NAMES = ("device", "problems", "judging", "kernels", "losses", *(f"updates {way}" for way in WAYS))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_gpu_agrees(name):
    assert CHECKS[name](torch.device("cuda"))["ok"]


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """The check of a CPU at tiny sizes, in calls of half a minute until it is finished."""
    out, lines = tmp_path_factory.mktemp("check"), []
    for _ in range(40):
        record = check(out, minutes=0.5, device="cpu", tables=tiny(), announce=lines.append)
        if record["status"] == "finished":
            break
    return record, out, lines


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
def test_the_check_is_rehearsed_from_end_to_end(rehearsed):
    record, out, lines = rehearsed
    assert record["status"] == "finished" and set(record["agreement"]) == set(CHECKS)
    assert all(entry["ok"] for entry in record["agreement"].values())
    assert not [entry for entry in record["speed"].values() if "error" in entry] and set(record["speed"]) == set(NAMES)
    assert {name: entry["runs"] for name, entry in record["sweeps"].items()} == {
        "schemes": 2 * 4 + 2 + 2 * 5,
        "reduced": 3,
        "sorting": 3,
        "or": 3,
    }
    for name in record["sweeps"]:
        assert (out / name / "runs.csv").stat().st_size
    plain = {name: update for name, update in record["speed"]["updates plain"].items() if name != "took"}
    assert set(plain) == {
        "reduced abacus",
        "reduced fire",
        "reduced nope",
        "addition abacus",
        "language 4x1",
        "language 8x1",
    }
    assert all(0 < update["share_of_peak"] < 1 for update in plain.values())
    assert record["speed"]["judging"]["ratio"] > 1 and "skipped" in record["speed"]["losses"]["liger"]
    kernels = [kernel["ms"] for name, kernel in record["speed"]["kernels"].items() if name != "took"]
    assert len(kernels) == 10 and kernels == sorted(kernels, reverse=True)
    stored = json.loads((out / "check.json").read_text())
    assert stored | {"status": "finished"} == record
    summary = (out / "summary.md").read_text()
    assert all(f"**{name}**" in summary for name in (*CHECKS, *NAMES, *record["sweeps"]))
    assert sum("agreement, judging" in line for line in lines) == 1


def test_a_finished_check_does_nothing_again(rehearsed):
    record, out, _ = rehearsed
    again = []
    assert check(out, device="cpu", tables=tiny(), announce=again.append) == record
    assert len(again) == 1 and again[0].startswith("finished")


def test_a_check_that_cannot_be_is_refused(rehearsed, tmp_path):
    with pytest.raises(InputError, match="minutes is 0; give a number above 0"):
        check(tmp_path, minutes=0, device="cpu")
    with pytest.raises(InputError, match="device"):
        check(tmp_path, device="cuda:99")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match=r'sees no GPU here; .* or rehearse it with device "cpu"'):
            check(tmp_path)
    (tmp_path / "check.json").write_text("{}")
    with pytest.raises(InputError, match=r"check\.json: is no check of a device; delete it"):
        check(tmp_path, device="cpu")
    other = json.loads((rehearsed[1] / "check.json").read_text()) | {"device": "another"}
    (tmp_path / "check.json").write_text(json.dumps(other))
    with pytest.raises(InputError, match=r"checks another and this is CPU; give another folder"):
        check(tmp_path, device="cpu")


def test_a_step_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def broken(device):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr("bayescaling.training.check.runner.CHECKS", {"broken": broken, "data": CHECKS["data"]})
    monkeypatch.setattr("bayescaling.training.check.runner.SPEEDS", {})
    monkeypatch.setattr("bayescaling.training.check.runner.SHARES", {"or": 1.0})
    record = check(tmp_path, device="cpu", tables=tiny(), announce=lambda line: None)
    assert not record["agreement"]["broken"]["ok"] and "no such kernel" in record["agreement"]["broken"]["error"]
    assert record["agreement"]["data"]["ok"] and record["status"] == "finished"
    assert record["sweeps"]["or"]["runs"] == 3
