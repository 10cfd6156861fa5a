"""Arithmetic learned by transformers: problems, models, training, and accuracy by length of the operands.

Names are resolved on first use, so that importing this package does not load torch.
"""

import importlib

from ...errors import InputError

_HOMES = {
    "digits": ["added", "multiplied", "ranked", "subtracted"],
    "evaluation": ["evaluate", "greedy", "right"],
    "execution": ["train"],
    "experiment": ["train_run"],
    "plan": ["Plan"],
    "presets": ["PRESETS", "preset"],
    "problems": ["TASKS", "Addition", "AdditionSubtraction", "Batch", "Multiplication", "Or", "Sorting", "Subtraction"],
    "records": ["accuracies"],
    "splits": ["axes", "default_cells", "regions"],
    "sweep": ["Sweep", "make_sweep", "read_sweep"],
    "transformer": ["Configuration", "Transformer"],
    "vocabulary": ["decode", "encode"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f".{_HOME_OF[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise InputError(f"training: {error.name} is not installed; pip install 'bayescaling[training]'") from error
    return getattr(home, name)


def __dir__():
    return sorted([*globals(), *__all__])
