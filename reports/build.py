"""The report: everything on the built-in tables, as one HTML page, results.json and the posteriors."""

import json
from functools import partial
from pathlib import Path

from ..datasets import load
from ..datasets.wording import unknown
from ..errors import InputError
from ..inference.fitting import check_options
from . import results
from .cache import store, whole
from .cache.stages import Stages
from .output import judge_chains, prepare, write
from .pages import PAGES, SHOWN
from .pages.front import answers, claims, front, optimum_grid

TITLE = "How fast do algorithms improve, and how big should the next model be?"


def build(out, *, pages=None, seed=1, sampler=None, progress=False, fresh=False, **settings):
    """Fit, compare and decide on the built-in tables, and write the results; parameters as for `report`."""
    out = Path(out)
    check_options(seed, sampler, settings)
    pages = tuple(PAGES) if pages is None else pages
    for page in pages:
        if page not in PAGES:
            raise InputError(unknown("page", page, PAGES))
    prepare(out)
    options = {"seed": seed, "sampler": sampler, **settings}
    key = store.key_of(None, pages=pages, options=options)
    document = None if fresh else whole.restore(out, key)
    return document or _made(out, pages, key, progress, fresh=fresh, options=options)


def _made(out, pages, key, progress, **choice):
    """Put a report together of the results of its stages, made now or kept."""
    published, options, written = load("published"), choice["options"], set()
    chosen = [page for name, page in PAGES.items() if name in pages]
    document, posteriors, unsaved, analysed = {"schema": results.SCHEMA}, {}, {}, []
    names = [name for page in chosen for name in page.stages]
    ahead = partial(whole.make_ahead, [page.name for page in chosen], out, written, **choice)
    with Stages(names, progress, ahead=ahead, **choice) as stage:
        document["seconds"] = stage.seconds
        for page in chosen:
            found = page.analyse(stage, published, posteriors, **options)
            posteriors |= found.posteriors
            unsaved |= found.unsaved
            _merge(document, found.document)
            analysed.append((page, found, page.drawn(stage, found, published, pages)))
        document["studies"] = results.studies(name for _, found, _ in analysed for name in found.studies)
        document["provenance"] = results.provenance(posteriors)
        stage.show("page")
        judge_chains(document, posteriors | unsaved)
        document["answers"] = answers(document)
        document["claims"] = claims(document, published)
        document["optimum"] = optimum_grid(document, posteriors)
        answered = {each["page"]: each for each in document["answers"]}
        parts = [
            {
                "name": page.name,
                "title": page.title,
                "answer": answered.get(page.name),
                "fits": [*found.posteriors, *found.unsaved],
                "sections": sections,
            }
            for page, found, sections in sorted(analysed, key=lambda each: SHOWN.index(each[0].name))
        ]
        write(out, document, posteriors, TITLE, parts, stage.warned, front(document), written=written)
        whole.save(out, key, stage)
    return json.loads(results.to_json(document))


def _merge(document, entries):
    """Add a page's entries; a key that an earlier page has too holds a dictionary, which grows."""
    for key, entry in entries.items():
        document[key] = document[key] | entry if key in document else entry
