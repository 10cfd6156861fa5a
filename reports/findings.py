"""What every page's analysis returns."""

from dataclasses import dataclass, field


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


NOT_MADE = "Not made: it takes minutes. <code>bayescaling report --full</code> makes it, and it stays on the page."


def made(found, stage):
    """Return the sentence on when an extra stage was made, or on how it can be had where it was not."""
    return f"Made on {found.extras[stage]}." if found.extras.get(stage) else NOT_MADE


def section(found, stage, title, make):
    """Write a section on what an extra stage gives, or say how it can be had where it was not made.

    Parameters
    ----------
    found : Findings
    stage : str
    title : str
    make : callable
        Without arguments, returns the rest of the section, a dict.
    """
    if not found.extras.get(stage):
        return {"title": title, "text": [made(found, stage)], "blocks": []}
    rest = make()
    return {"title": title} | rest | {"text": [*rest.get("text", []), made(found, stage)]}
