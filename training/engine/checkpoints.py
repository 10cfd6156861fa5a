"""The state of a run on disk, written whole or not at all.

A checkpoint is a file ``step-00001234`` of tensors and plain values that torch loads with ``weights_only=True``, a zip
archive with checksums. It is written under another name, flushed to disk and renamed, so that a process killed at any
moment leaves the one before it.
"""

import json
import shutil
import zipfile
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from ...datasets.files import written_whole
from ...datasets.wording import printable, reason
from ...errors import InputError

# The last checkpoint, and one to resume from if it is damaged.
KEPT = 2


def list_weights(folder):
    """List the files of weights of a sweep, in ``FOLDER/weights``; raise `InputError` if there is none."""
    paths = sorted((folder / "weights").glob("*.safetensors"))
    if not paths:
        raise InputError(
            f'{printable(folder)}: there is no weights/*.safetensors; train with `keep = "weights"` under [training]'
        )
    return paths


def restored(path, make):
    """Return the model in a file of weights, which `make` makes of its run's configuration, and the latter."""
    try:
        with safe_open(path, "pt") as file:
            settings = json.loads(file.metadata()["configuration"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        model = make(settings)
        model.load_state_dict(weights)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{printable(path)}: these weights cannot be read ({reason(error)}); train the run again or delete it"
        ) from error
    return model.eval(), settings


class Checkpoints:
    """Checkpoints of one run, in a folder that is made when the first is saved."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def save(self, step, weights, state):
        """Save weights and state after a number of updates, then delete all but the last two checkpoints."""
        path = self.folder / f"step-{step:08d}"
        if path in self._found():
            return
        with written_whole(path) as partial:
            try:
                torch.save((weights, state), partial)
            except RuntimeError as error:
                raise OSError(None, reason(error)) from error
        for old in self._found()[:-KEPT]:
            old.unlink(missing_ok=True)

    def latest(self, device="cpu"):
        """Load the last checkpoint: updates done, weights and state as saved, or None if there is none."""
        paths = self._found()
        if not paths:
            return None
        path = paths[-1]
        try:
            with zipfile.ZipFile(path) as archive:  # torch itself compares no checksums
                if damaged := archive.testzip():
                    raise ValueError(f"{damaged} is not as it was written")
            weights, state = torch.load(path, map_location=device, weights_only=True)
        # The exception depends on which bytes are damaged.
        except Exception as error:
            fix = "resume from the one before it" if len(paths) > 1 else "begin the run again"
            raise InputError(
                f"{printable(path)}: the checkpoint is damaged ({reason(error)}); delete it to {fix}"
            ) from error
        return int(path.name.removeprefix("step-")), dict(weights), state

    def export(self, path, configuration):
        """Write the weights of the last checkpoint, if there is one, as safetensors with a configuration."""
        checkpoint = self.latest()
        if checkpoint is not None:
            with written_whole(path) as partial:
                save_file(checkpoint[1], partial, {"configuration": json.dumps(configuration, sort_keys=True)})

    def remove(self):
        """Delete all checkpoints, once the record of the run is written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _found(self):
        return sorted(path for path in self.folder.glob("step-*") if path.is_file())
