"""Names of the places of a page: letters, digits and hyphens, each once."""

import re
import unicodedata


class Anchors:
    """Names every place of a page after its content, each name once.

    Examples
    --------
    >>> name = Anchors()
    >>> name("Which law, and which noise?"), name("Which law and which noise")
    ('which-law-and-which-noise', 'which-law-and-which-noise-2')
    """

    def __init__(self):
        self._taken = {}

    def __call__(self, text):
        """Return the name of the next place called `text`."""
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
        name = re.sub(r"[^a-z0-9]+", "-", plain.replace("'", "")).strip("-") or "part"
        self._taken[name] = self._taken.get(name, 0) + 1
        return name if self._taken[name] == 1 else self(f"{name}-{self._taken[name]}")
