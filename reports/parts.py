"""The parts of a report: the results of its pages without their fits, and the document composed of them."""

from dataclasses import dataclass

from . import results
from .output import judge_chains
from .pages import SHOWN
from .pages.front.answers import answers
from .pages.front.published import claims


@dataclass(frozen=True)
class Part:
    """One page of a report.

    Attributes
    ----------
    name, title : str
        Of the page.
    document : dict
        Its entries of results.json.
    records : dict of str to dict
        Records of its fits by name: of those in the folder and of studies.
    studies : tuple of str
        Names of the long studies that it shows.
    sections : list of dict
        As `Page.sections` returns them; empty where they are still to be drawn.
    optimum : dict or None
        From `optimum_grid`; None where the page has no optimum or is still to be drawn.
    """

    name: str
    title: str
    document: dict
    records: dict
    studies: tuple
    sections: list
    optimum: dict | None

    @classmethod
    def of(cls, page, findings, sections=(), optimum=None):
        """Return the part of a page, from its `Findings` and what `Page.drawn` returns."""
        return cls(
            page.name,
            page.title,
            findings.document,
            findings.records | {name: fit.record for name, fit in findings.posteriors.items()},
            findings.studies,
            list(sections),
            optimum,
        )


def document_of(parts, published, seconds):
    """Compose the content of results.json from some parts, published estimates, and the seconds of each stage."""
    document, records = {"schema": results.SCHEMA, "seconds": seconds}, {}
    for part in parts:
        for key, entry in part.document.items():  # dictionaries under a key of an earlier page are merged
            document[key] = document[key] | entry if key in document else entry
        records |= part.records
    document["studies"] = results.studies(name for part in parts for name in part.studies)
    document["provenance"] = results.provenance(records)
    judge_chains(document, records)
    document["answers"] = answers(document)
    document["claims"] = claims(document, published)
    document["optimum"] = next((part.optimum for part in parts if part.optimum), None)
    return document


def shown(parts, document):
    """Return parts as `render` takes them, in the order in which they are shown."""
    answered = {answer["page"]: answer for answer in document["answers"]}
    return [
        {
            "name": part.name,
            "title": part.title,
            "answer": answered.get(part.name),
            "sections": part.sections,
        }
        for part in sorted(parts, key=lambda part: SHOWN.index(part.name))
    ]
