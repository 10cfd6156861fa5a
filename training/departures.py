"""How runs depart from the studies that they follow: each departure a fact, told where the study and the run differ."""

from collections.abc import Callable
from typing import NamedTuple


class Departure(NamedTuple):
    """One departure.

    Attributes
    ----------
    name : str
        A word or two, which a run's record lists.
    theirs : str
        What the study did, and where it says so.
    ours : str
        What a run here does instead.
    holds : callable
        Takes a run and returns whether it departs so.
    """

    name: str
    theirs: str
    ours: str
    holds: Callable[..., bool]


def named(departures, run):
    """List the names of the departures that hold of a run."""
    return [departure.name for departure in departures if departure.holds(run)]


def table(departures):
    """Write departures as a table in Markdown."""
    rows = [f"| {each.name} | {each.theirs} | {each.ours} |" for each in departures]
    return "\n".join(["| | the study | here |", "|---|---|---|", *rows])
