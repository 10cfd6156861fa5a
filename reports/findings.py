"""What every page's analysis returns."""

from dataclasses import dataclass, field

from ..datasets.files import evidence


@dataclass(kw_only=True)
class Findings:
    """The results of the analysis of a page.

    Attributes
    ----------
    studies : tuple of str
        Names of the long studies that the page shows: files in ``evidence``.
    document : dict
        Entries of results.json, by key.
    posteriors : dict of str to Fit
        Fits to save, under the names that results.json gives them.
    records : dict of str to dict
        Records of the fits of long studies, by name, from `results.records`.
    besides : dict
        What else the sections of the page need, by name.
    """

    studies: tuple = ()
    document: dict = field(default_factory=dict)
    posteriors: dict = field(default_factory=dict)
    records: dict = field(default_factory=dict)
    besides: dict = field(default_factory=dict)

    def study(self, name):
        """Return the result of a long study."""
        return evidence(name)["result"]

    def provenance(self, name):
        """Return a sentence on when and how a long study was made, "" for one that this report made."""
        if name not in self.studies:
            return ""
        study = evidence(name)
        numbers = {key: x for key, x in study["settings"].items() if not isinstance(x, dict)}
        settings = ", ".join(f"{key.replace('_', ' ')} {x}" for key, x in numbers.items())
        return f"The study was made on {study['made']} ({settings}) by <code>{study['command']}</code>."

    def sources(self):
        """Return a sentence that names the long studies of the page, with their dates; "" for none."""
        names = ", ".join(f"{name} ({evidence(name)['made']})" for name in self.studies)
        return f"Long studies, whose commands are in results.json: {names}." if names else ""
