"""How runs are computed."""

from dataclasses import dataclass
from typing import Literal

from ..engine.compilation import can_compile
from ..engine.fields import Count, NotNegative, check_fields


@dataclass(frozen=True)
class Execution:
    """How a run is computed, which changes its result by rounding alone and is no part of its name.

    Parameters
    ----------
    loss_route : str
        As `training.cross_entropy` takes it.
    compile : bool or "auto"
        Whether to compile the model and its loss; ``"auto"`` does on CUDA. Where that is not possible, they run
        without, with a warning.
    graph : bool
        Whether compiled losses and their gradients are replayed as CUDA graphs; only on CUDA.
    save_seconds : float
        Time between checkpoints.
    deterministic : bool
        Whether to take kernels on CUDA that add in a fixed order, which are slower. Then a resumed run equals an
        unbroken one to the last bit, and otherwise to rounding. On a CPU it always does to the last bit.
    parts : int
        Parts of an update of a language model that go through it one after another, which takes less memory.
    keep : str
        What stays of a run besides its record: ``"nothing"``, or ``"weights"``, which are then in ``OUT/weights``, with
        the configuration in the file.

    Examples
    --------
    >>> from bayescaling.training import Execution
    >>> Execution(compile=False, save_seconds=600).compile
    False
    """

    loss_route: str = "auto"
    compile: bool | Literal["auto"] = "auto"
    graph: bool = False
    save_seconds: NotNegative = 60.0
    deterministic: bool = False
    parts: Count = 1
    keep: Literal["nothing", "weights"] = "nothing"

    def __post_init__(self):
        check_fields(self, "training")

    def compiles(self, device):
        """Return whether to compile on a device: if that is wanted and possible."""
        wanted = device.type == "cuda" if self.compile == "auto" else self.compile
        return wanted and can_compile(device.type)
