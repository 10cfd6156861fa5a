"""The errors and warnings that the package raises on purpose."""


class InputError(ValueError):
    """Input that cannot be used: the message names the place, the value and the fix.

    The command line prints the message on one line and exits with status 2. Where there are ways out of it, it prints
    the `sentence` without them, and below it the command of each way that was tried.

    Parameters
    ----------
    message : str
    sentence : str
        The message without ways out of it, if there are any.
    ways : dict of str to Fix
        Fixes of the input by what each does, "" where there is one.
    """

    def __init__(self, message: str = "", sentence: str = "", ways: dict | None = None) -> None:
        super().__init__(message)
        self.sentence, self.ways = sentence or message, ways or {}
        self.commands: dict[str, str] = {}  # of the ways that were tried


class DiagnosticWarning(UserWarning):
    """A number that should not be used unchanged: the chains did not converge or an estimate is unreliable."""


class TableWarning(UserWarning):
    """Something in a table that would enter a fit and that may be wrong."""


class SizeNote(UserWarning):
    """What is left out or done differently because a table is large; no result changes."""


class TableNote(TableWarning):
    """What reading a table left out or changed, because an option or a column requires it."""
