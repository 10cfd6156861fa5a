"""The table of the report's pages.

A page is a subpackage with the module ``page``, which has ``STAGES``, the names of the steps of its work, ``analyse``
and ``sections``. It is imported on first use, so that the command line can read the names of pages at no cost.
"""

import importlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """One page of the report.

    Attributes
    ----------
    name : str
        As ``report --page`` takes it.
    title : str
        The question that it answers.
    folder : str
        The subpackage of ``bayescaling.reports``.
    tables : tuple of str
        Built-in tables that its results depend on.
    after : tuple of str
        Pages whose posteriors its analysis takes, if they are in the report.
    lastly : tuple of str
        Pages whose posteriors only its last stages take.
    """

    name: str
    title: str
    folder: str
    tables: tuple
    after: tuple = ()
    lastly: tuple = ()

    @property
    def stages(self):
        """Names of the stages that `analyse` goes through, and of drawing."""
        return (*self._module.STAGES, self.drawing)

    @property
    def drawing(self):
        """Name of the stage in which the page is drawn."""
        return f"{self.name}: the page".replace("-", " ")

    def analyse(self, stage, published, earlier, *, seed=1, sampler=None, **settings):
        """Return the `Findings` of the page: fit and compute all that it and its part of results.json show.

        `published` is ``load("published")``, and `earlier` has the posteriors of the pages before this one by name.
        Settings are those of the sampler.
        """
        from ...datasets import load, sha256

        options = {"seed": seed, "sampler": sampler, **settings}
        tables = {name: sha256(load(name)) for name in self.tables}
        part = stage.part(page=self.folder, tables=tables)
        return self._module.analyse(part, published, earlier, **options)

    def taken(self, names):
        """Return those of some pages whose posteriors this page takes, directly or through them."""
        pages = {*self.after, *self.lastly} & set(names)
        return pages.union(*(PAGES[name].taken(names) for name in pages))

    def drawn(self, stage, findings, published, names):
        """Return `sections` and the optimum by budget, made now or from the cache, in a report of the pages named."""
        from .front.budget import optimum_grid

        def make():
            return self.sections(findings, published), optimum_grid(findings.document, findings.posteriors)

        return stage(self.drawing, make, taken=sorted(self.taken(names)))

    def sections(self, findings, published):
        """Return the sections of the page, in order, from the `Findings` of `analyse`.

        Returns
        -------
        list of dict
            ``title``; ``text`` and ``points`` (paragraphs and list items, HTML), both optional; ``blocks``
            (illustrations or tables of `html.tables`). The figure of a section whose ``role`` is "chart" is that of the
            page of the claim.
        """
        return self._module.sections(findings, published)

    @property
    def _module(self):
        return importlib.import_module(f".{self.folder}.page", __package__)


PAGES = {
    name: Page(name, **entry)
    for name, entry in tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8")).items()
}
# In which order they are shown. They are made in the order of the file: later ones from posteriors of earlier
# ones, the shortest last, so that two processes end at about the same time.
SHOWN = (
    "progress", "since", "horizons", "chinchilla", "corpora", "embeddings", "experts", "mixtures", "speedruns",
    "small-models", "arithmetic",
)  # fmt: skip
