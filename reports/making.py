"""The making of a report on the built-in tables, its pages in parallel where there are processes for it."""

import json
import warnings
from functools import partial

from ..datasets import load
from ..errors import DiagnosticWarning, TableNote
from ..inference.fitting import check_options
from ..inference.workers import mapped, processes
from . import results
from .cache.stages import Stages
from .cache.whole import save
from .output import judge_chains, prepare, write, write_posteriors
from .pages import PAGES, SHOWN
from .pages.front.answers import answers
from .pages.front.page import front
from .pages.front.published import claims

TITLE = "How fast do algorithms improve, and how big should the next model be?"


def made(out, pages, key, progress, **choice):
    """Compose a report from the results of its stages, computed now or read from the cache."""
    published, options, written = load("published"), choice["options"], set()
    settings = {name: x for name, x in options.items() if name not in ("seed", "sampler")}
    check_options(options["seed"], options["sampler"], settings)
    prepare(out)
    chosen = [page for name, page in PAGES.items() if name in pages]
    posteriors, made_pages, optima = {}, {}, []
    names = [name for page in chosen for name in page.stages]
    ahead = partial(make_ahead, [page.name for page in chosen], out, written, choice)
    with Stages(names, progress, ahead=ahead, **choice) as stage:
        for page in chosen:
            findings = page.analyse(stage, published, posteriors, **options)
            posteriors |= findings.posteriors
            sections, optimum = page.drawn(stage, findings, published, pages)
            made_pages[page.name] = findings, sections
            optima += [optimum] if optimum else []
        stage.show("page")
        document = _document(made_pages, published, stage.seconds) | {"optimum": optima[0] if optima else None}
        write(out, document, posteriors, TITLE, _shown(made_pages, document), stage.warned, front(document),
              written=written)  # fmt: skip
        save(out, key, stage)
    return json.loads(results.to_json(document))


def _document(made_pages, published, seconds):
    document, records, studies = {"schema": results.SCHEMA, "seconds": seconds}, {}, []
    for findings, _ in made_pages.values():
        for key, entry in findings.document.items():  # dictionaries under a key of an earlier page are merged
            document[key] = document[key] | entry if key in document else entry
        records |= findings.records | {name: fit.record for name, fit in findings.posteriors.items()}
        studies += findings.studies
    document["studies"] = results.studies(studies)
    document["provenance"] = results.provenance(records)
    judge_chains(document, records)
    document["answers"] = answers(document)
    document["claims"] = claims(document, published)
    return document


def _shown(made_pages, document):
    answered = {answer["page"]: answer for answer in document["answers"]}
    return [
        {"name": name, "title": PAGES[name].title, "answer": answered.get(name), "sections": made_pages[name][1]}
        for name in SHOWN
        if name in made_pages
    ]


def parts(names):
    """Divide pages into sets that do not depend on each other, from what each takes from others.

    Examples
    --------
    >>> parts(["chinchilla", "embeddings", "arithmetic"])
    [['chinchilla', 'embeddings'], ['arithmetic']]
    """
    sets = {}
    for name in names:
        sets[name] = next((sets[other] for other in PAGES[name].after if other in sets), [])
        sets[name].append(name)
    return [part for name, part in sets.items() if part[0] == name]


def make_ahead(names, out, written, choice):
    """Make the stages of pages in parallel if there are processes for it, and return the keys of those made, a set.

    They are saved, and their posteriors are written, whose names are added to `written`.
    """
    apart, keys = parts(names), set()
    if processes() >= 2 and len(apart) >= 2:
        for posteriors, stage_keys in mapped(_make, (out, names, choice), apart):
            written.update(posteriors)
            keys.update(stage_keys)
    return keys


def _make(shared, names):
    out, every, choice = shared
    published, posteriors = load("published"), {}
    with Stages([], False, **choice) as stage, warnings.catch_warnings():
        for category in (DiagnosticWarning, TableNote):  # issued when the report is composed
            warnings.simplefilter("ignore", category)
        for page in (PAGES[name] for name in names):
            findings = page.analyse(stage, published, posteriors, **choice["options"])
            if page.taken(every) <= set(names):
                page.drawn(stage, findings, published, every)
            write_posteriors(out, findings.posteriors)
            posteriors |= findings.posteriors
    return list(posteriors), stage.keys
