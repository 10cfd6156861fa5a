import json

import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training.check import CHECKS, WAYS, check, tiny

torch.set_num_threads(1)
NAMES = ("device", "problems", "judging", "kernels", "losses", *(f"updates {way}" for way in WAYS))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_gpu_agrees(name):
    assert CHECKS[name](torch.device("cuda"))["ok"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The .grad attribute:UserWarning")
def test_the_check_is_rehearsed_from_end_to_end(tmp_path):
    lines = []
    record = check(tmp_path, device="cpu", tables=tiny(), announce=lines.append)
    assert set(record["agreement"]) == set(CHECKS) and set(record["speed"]) == set(NAMES)
    assert all(entry["ok"] for entry in record["agreement"].values())
    assert not [entry for entry in record["speed"].values() if "error" in entry]
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
    assert json.loads((tmp_path / "check.json").read_text()) == record
    summary = (tmp_path / "summary.md").read_text()
    assert all(f"**{name}**" in summary for name in (*CHECKS, *NAMES))
    assert sum("agreement, judging" in line for line in lines) == 1


def test_a_check_that_cannot_be_is_refused(tmp_path):
    with pytest.raises(InputError, match="minutes is 0; give a number above 0"):
        check(tmp_path, minutes=0, device="cpu")
    with pytest.raises(InputError, match="device"):
        check(tmp_path, device="cuda:99")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match=r'sees no GPU here; .* or rehearse it with device "cpu"'):
            check(tmp_path)


def test_a_step_that_fails_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def broken(device):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr("bayescaling.training.check.CHECKS", {"broken": broken, "data": CHECKS["data"]})
    monkeypatch.setattr("bayescaling.training.check.SPEEDS", {})
    record = check(tmp_path, device="cpu", tables=tiny(), announce=lambda line: None)
    assert not record["agreement"]["broken"]["ok"] and "no such kernel" in record["agreement"]["broken"]["error"]
    assert record["agreement"]["data"]["ok"]


def test_no_step_begins_after_its_time(tmp_path, monkeypatch):
    lines = []
    record = check(tmp_path, device="cpu", tables=tiny(), minutes=1e-9, announce=lines.append)
    assert not record["agreement"] and all("left out after" in line for line in lines[:-1])
