import json

import pytest
from bayescaling.reports.cache import again, kept
from bayescaling.reports.cache.stages import Stages

KEY = "a" * 64
TEXTS = {"index.html": "<p>page</p>", "results.json": '{"answer": 42}'}


@pytest.fixture(autouse=True)
def empty(own_cache):
    kept.clear()


@pytest.fixture
def written(tmp_path):
    """A report whose stages gave one result and lacked another, kept."""
    out = tmp_path / "report"
    (out / "posteriors").mkdir(parents=True)
    for name, text in TEXTS.items():
        (out / name).write_text(text)
    (out / "posteriors" / "law.nc").write_bytes(b"draws")
    with Stages(["one", "long"], False, extras=["long"], seed=1) as stage:
        stage("one", lambda: 1)
        stage.extra("long", lambda: 2)
    stage.warned.append("few draws")
    again.keep(out, KEY, stage)
    return out


def test_a_report_is_given_again_and_its_posteriors_are_left_alone(written):
    for name in TEXTS:
        (written / name).unlink()
    before = (written / "posteriors" / "law.nc").stat().st_mtime_ns
    assert again.again(written, KEY) == (json.loads(TEXTS["results.json"]), ["few draws"])
    assert {name: (written / name).read_text() for name in TEXTS} == TEXTS
    assert (written / "posteriors" / "law.nc").stat().st_mtime_ns == before


def test_it_is_not_given_for_another_key(written):
    assert again.again(written, "b" * 64) == (None, [])
    assert again.key_of(seed=1) == again.key_of(seed=1) != again.key_of(seed=2)


@pytest.mark.parametrize("change", [lambda path: path.unlink(), lambda path: path.write_bytes(b"others")])
def test_it_is_put_together_where_a_posterior_is_another(written, change):
    change(written / "posteriors" / "law.nc")
    assert again.again(written, KEY) == (None, [])


def test_it_is_put_together_where_what_takes_long_was_made_since(written):
    with Stages(["one", "long"], False, extras=["long"], full=True, seed=1) as stage:
        assert stage.extra("long", lambda: 2) == 2
    assert again.again(written, KEY) == (None, [])


def test_another_file_of_the_package_is_another_report(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "reports").mkdir(parents=True)
    (package / "reports" / "page.css").write_text("p {}")
    monkeypatch.setattr(kept, "PACKAGE", package)
    before = kept.files()
    (package / "reports" / "page.css").write_text("p { color: red }")
    assert kept.files() != before
