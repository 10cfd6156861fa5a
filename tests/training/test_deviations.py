from pathlib import Path

import pytest
from bayescaling import training
from bayescaling.training import arithmetic
from bayescaling.training.deviations import ARITHMETIC, LANGUAGE, list_names

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "guides" / "deviations.md"


@pytest.mark.parametrize("deviations", [ARITHMETIC, LANGUAGE], ids=["arithmetic", "language"])
def test_every_deviation_stands_in_the_documentation(deviations):
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"| `{deviation}` |" in text for deviation in deviations)


def of_arithmetic(preset, **sections):
    sweep = arithmetic.make_sweep({"preset": preset} | sections)
    return [list_names(ARITHMETIC, run) for runs in sweep.arms.values() for run in runs]


def test_the_papers_presets_deviate_where_they_must_alone():
    always = {"length of training", "fresh problems", "precision", "noise in tests", "tested by one pass"}
    for preset in ("addition", "multiplication", "sorting", "or"):
        for deviations_of_runs in of_arithmetic(preset):
            assert always <= set(deviations_of_runs) <= always | {"offsets", "mean over an update", "buckets"}
    assert {"other layers", "other size", "tested at other offsets"} <= set(of_arithmetic("small")[0])
    changed = {
        "injection": {"arms": [arm("4x4+injection")]},
        "average of multiplication": {"training": {"average": "tokens"}},
        "objective": {"training": {"alpha": 0.5}},
    }
    for name, sections in changed.items():
        deviations_of_runs = of_arithmetic("multiplication", **sections)
        assert all(name in deviations for deviations in deviations_of_runs)


def arm(architecture):
    settings = {"name": "one", "task": "multiplication", "lengths": 15}
    return settings | {"embeddings": ["abacus"], "architectures": [architecture]}


def test_language_models_deviate_in_size_where_the_preset_is_not_the_papers():
    deviations = {}
    for preset in ("schemes", "schemes-small", "demo"):
        sweep = training.make_sweep({"preset": preset})
        runs = sweep.runs(sweep.stages[0], {})
        deviations[preset] = {name for run in runs for name in list_names(LANGUAGE, run)}
    assert deviations["schemes"] == {"corpus", "not stated"}
    assert deviations["schemes-small"] == {"corpus", "not stated", "vocabulary"}
    assert deviations["demo"] == {"corpus", "not stated", "vocabulary", "other size"}
