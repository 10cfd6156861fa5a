import json

import bayescaling as bs
import pytest
from bayescaling.reports.cache import store, whole
from bayescaling.reports.cache.stages import Stages

KEY = "a" * 64
TEXTS = {"index.html": "<p>page</p>", "results.json": '{"answer": 42}'}


@pytest.fixture(autouse=True)
def empty(own_cache):
    store.clear()


@pytest.fixture
def written(tmp_path):
    """A report whose stages gave results, saved."""
    out = tmp_path / "report"
    (out / "posteriors").mkdir(parents=True)
    for name, text in TEXTS.items():
        (out / name).write_text(text)
    (out / "posteriors" / "law.nc").write_bytes(b"draws")
    with Stages(["one", "two"], False, seed=1) as stage:
        stage("one", lambda: 1)
        stage("two", lambda: 2)
    stage.warned.append("few draws")
    whole.save(out, KEY, stage)
    return out


def test_a_report_is_written_again_and_its_posteriors_are_left_alone(written):
    for name in TEXTS:
        (written / name).unlink()
    before = (written / "posteriors" / "law.nc").stat().st_mtime_ns
    with pytest.warns(bs.DiagnosticWarning, match="few draws"):
        assert whole.restore(written, KEY) == json.loads(TEXTS["results.json"])
    assert {name: (written / name).read_text() for name in TEXTS} == TEXTS
    assert (written / "posteriors" / "law.nc").stat().st_mtime_ns == before


def test_it_is_not_written_for_another_key(written):
    assert whole.restore(written, "b" * 64) is None
    assert store.key_of(seed=1) == store.key_of(seed=1) != store.key_of(seed=2)


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_bytes(b"others")])
def test_it_is_put_together_where_a_posterior_is_another(written, change):
    change(written / "posteriors" / "law.nc")
    assert whole.restore(written, KEY) is None
