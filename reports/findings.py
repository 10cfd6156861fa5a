"""What every page's analysis returns."""

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Findings:
    """What the analysis of a page found; each page adds the attributes that its sections need.

    Attributes
    ----------
    document : dict
        Entries of results.json, by key.
    posteriors : dict of str to DataTree
        Fits to save, under the names that results.json gives them.
    """

    document: dict = field(default_factory=dict)
    posteriors: dict = field(default_factory=dict)
