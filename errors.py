"""The errors and warnings that the package raises on purpose."""


class InputError(ValueError):
    """Input that cannot be used: the message names the place, the value found and the mend.

    The command line prints the message on one line and exits with status 2.
    """


class DiagnosticWarning(UserWarning):
    """A number that should not be trusted as it stands: poor convergence or an unreliable estimate."""
