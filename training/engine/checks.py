"""Checks of single values, with errors that name the option, the value found and the mend."""

from ...datasets.wording import unknown
from ...errors import InputError


def check_whole(label, value, least=1, most=None):
    """Refuse what is no whole number in a range.

    Parameters
    ----------
    label : str
        Where the value is from, such as ``"training: evaluations"``.
    value : object
    least : int
    most : int, optional
        By default there is no largest.

    Raises
    ------
    InputError
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InputError(f"{label} is {value!r}; give a whole number {allowed}")


def check_choice(label, value, choices):
    """Refuse what is none of the choices.

    Raises
    ------
    InputError
        Naming the choices, the closest first.
    """
    if value not in list(choices):
        raise InputError(unknown(label, value, choices))
