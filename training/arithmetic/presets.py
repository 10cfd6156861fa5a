"""Named sweeps of arithmetic models, those of ``presets.toml``."""

from pathlib import Path

from ..sweeps.presets import read_presets

PRESETS = read_presets(Path(__file__).with_suffix(".toml"))
