"""Small language models, trained in sweeps that give runs L(N, D) for the laws.

Names are resolved on first use, so that importing this package loads neither torch nor anything else heavy. Nothing in
it needs PyMC or pandera, which machines with GPUs often lack.
"""

import importlib

from ..errors import InputError

_HOMES = {
    "corpora": ["Corpus", "open_corpus"],
    "documents": ["hugging_face", "open_documents"],
    "language_model": ["train_run"],
    "language_sweep": ["train"],
    "loop": ["Optimisation", "Outcome", "Task", "run"],
    "loss": ["cross_entropy", "token_losses"],
    "presets": ["PRESETS", "preset"],
    "records": ["table"],
    "runs": ["Execution", "Run"],
    "sweep": ["Stage", "Sweep", "make_sweep", "read_sweep"],
    "synthetic": ["Synthetic"],
    "text": ["open_text"],
    "token_files": ["StoredTokens", "open_token_files"],
    "transformer": ["Configuration", "Decoder"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

# What only training needs, and a bare installation lacks.
_NEEDED = ("torch", "safetensors")

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = importlib.import_module(f".{_HOME_OF[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise InputError(f"training: {error.name} is not installed; pip install 'bayescaling[training]'") from error
    return getattr(home, name)


def __dir__():
    return sorted([*globals(), *__all__])
