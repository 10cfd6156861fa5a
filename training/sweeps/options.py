"""How runs are computed."""

from dataclasses import dataclass

from ...errors import InputError
from ..engine.checks import check_flag

CHOICES = ("auto", True, False)


@dataclass(frozen=True)
class Execution:
    """How a run is computed, which changes its result by rounding alone and is no part of its name.

    Parameters
    ----------
    loss_route : str
        As `training.cross_entropy` takes it.
    compile : bool or "auto"
        Whether to compile the model and its loss; ``"auto"`` does on CUDA.
    graph : bool
        Whether to replay updates as CUDA graphs; only on CUDA.
    save_seconds : float
        Time between checkpoints.

    Examples
    --------
    >>> from bayescaling.training import Execution
    >>> Execution(compile=False, save_seconds=600).compile
    False
    """

    loss_route: str = "auto"
    compile: bool | str = "auto"
    graph: bool = False
    save_seconds: float = 60.0

    def __post_init__(self):
        if not any(self.compile is choice or self.compile == choice == "auto" for choice in CHOICES):
            raise InputError(f'training: compile is {self.compile!r}; give true, false or "auto"')
        check_flag("training: graph", self.graph)
        if not self.save_seconds >= 0:
            raise InputError(f"training: save_seconds is {self.save_seconds!r}; give a number of at least 0")

    def compiles(self, device):
        """Whether to compile on a device."""
        return device.type == "cuda" if self.compile == "auto" else self.compile
