"""The errors and warnings that the package raises on purpose."""


class InputError(ValueError):
    """Input that cannot be used: the message names the place, the value found and the mend.

    The command line prints the message on one line and exits with status 2.
    """


class DiagnosticWarning(UserWarning):
    """A number that should not be trusted as it stands: poor convergence or an unreliable estimate."""


class TableWarning(UserWarning):
    """Something in a table that a fit would rest on and that may be wrong."""


class SizeNote(UserWarning):
    """What is left out or done otherwise because a table is large; no result is another for it."""


class TableNote(TableWarning):
    """What reading a table took away or changed, because it was asked to or because a column says so."""
