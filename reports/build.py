"""The report on the built-in tables: one HTML page, results.json and the posteriors."""

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
from .html.render import render
from .output import prepare, write, write_page
from .pages import PAGES
from .pages.front import front
from .parts import Part, document_of, shown

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
    """Compose a report from the results of its stages, computed now or read from the cache."""
    published, options, written = load("published"), choice["options"], set()
    chosen = [page for name, page in PAGES.items() if name in pages]
    posteriors, parts = {}, []
    names = [name for page in chosen for name in page.stages]
    ahead = partial(whole.make_ahead, [page.name for page in chosen], out, written, partial(_preview, out, chosen))
    with Stages(names, progress, ahead=partial(ahead, **choice), **choice) as stage:
        for page in chosen:
            findings = page.analyse(stage, published, posteriors, **options)
            posteriors |= findings.posteriors
            parts.append(Part.of(page, findings, *page.drawn(stage, findings, published, pages)))
        stage.show("page")
        document = document_of(parts, published, stage.seconds)
        write(out, document, posteriors, TITLE, shown(parts, document), stage.warned, front(document), written=written)
        whole.save(out, key, stage)
    return json.loads(results.to_json(document))


def _preview(out, chosen, parts):
    """Write the page of the parts of a report that are ready, if others are still to come."""
    there = {part.name: part for part in parts}
    coming = [page.title for page in chosen if page.name not in there or not there[page.name].sections]
    if not coming:
        return
    parts = [there[page.name] for page in chosen if page.name in there]
    document = document_of(parts, load("published"), {})
    write_page(out, render(TITLE, shown(parts, document), document, [], front(document), coming=coming))
