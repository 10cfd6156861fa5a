"""Whether a run fits into a device's memory, asked before it begins."""

from ...errors import InputError
from .hardware import device_name, free_memory

# Allocators, kernels and evaluation need more than an estimate; this factor for them is assumed, not measured.
MARGIN = 1.2
GIB = 2**30


def check_fits(needed, device, what, mend):
    """Refuse what does not fit into the free memory of a device.

    Parameters
    ----------
    needed : float
        Bytes.
    device : torch.device
    what : str
        What needs them, for the message.
    mend : str
        What to give instead.

    Raises
    ------
    InputError
        The message has the memory that is needed and what is free.
    """
    free = free_memory(device)
    if needed > free:
        raise InputError(
            f"training: {what} needs about {needed / GIB:.3g} GiB and {device_name(device)} has {free / GIB:.3g} GiB "
            f"free; give {mend}"
        )
