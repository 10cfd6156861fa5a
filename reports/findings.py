"""What every page's analysis returns."""

from dataclasses import dataclass, field

NOT_MADE = "Not made: it takes minutes. <code>bayescaling report --full</code> makes it, and it stays on the page."


@dataclass(kw_only=True)
class Findings:
    """What the analysis of a page found; each page adds the attributes that its sections need.

    Attributes
    ----------
    extras : dict of str to str
        When each stage that only a full report makes was made, None where it was not.
    document : dict
        Entries of results.json, by key.
    posteriors : dict of str to Fit
        Fits to save, under the names that results.json gives them.
    unsaved : dict of str to Fit
        Fits that numbers of the page rest on too, which are judged as the others are.
    """

    extras: dict = field(default_factory=dict)
    document: dict = field(default_factory=dict)
    posteriors: dict = field(default_factory=dict)
    unsaved: dict = field(default_factory=dict)

    def if_made(self, stage, caller):
        """Return what a template says of an extra stage, or how that stage can be made.

        Parameters
        ----------
        stage : str
        caller : callable
            Without arguments, returns the text; Jinja passes it where a template has ``{% call found.if_made(...) %}``.

        Returns
        -------
        str
        """
        made = self.extras.get(stage)
        return f"{caller()}\n\nMade on {made}.\n" if made else f"{NOT_MADE}\n"
