"""The sources that a report cites, with their addresses, as sentences and as BibTeX."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A paper, with its address as `arxiv` or `doi`."""

    key: str
    authors: str
    year: int
    title: str
    arxiv: str | None = None
    doi: str | None = None
    journal: str | None = None

    @property
    def label(self):
        """The address as text."""
        return f"arXiv:{self.arxiv}" if self.arxiv else f"doi:{self.doi}"

    @property
    def address(self):
        """The address as a URL."""
        return f"https://arxiv.org/abs/{self.arxiv}" if self.arxiv else f"https://doi.org/{self.doi}"

    @property
    def text(self):
        """The sentence of a list of references, without its address."""
        return f"{self.authors} ({self.year}). {self.title}.{f' {self.journal}.' if self.journal else ''}"

    @property
    def bibtex(self):
        """The entry of BibTeX."""
        where = (
            {"eprint": self.arxiv, "archivePrefix": "arXiv"}
            if self.arxiv
            else {"journal": self.journal, "doi": self.doi}
        )
        fields = {"title": f"{{{self.title}}}", "author": self.authors, "year": self.year} | where
        inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return f"@article{{{self.key},\n{inside}\n}}"


SOURCES = (
    Source("hoffmann2022", "Hoffmann, Jordan and others", 2022, "Training compute-optimal large language models",
           arxiv="2203.15556"),
    Source("besiroglu2024", "Besiroglu, Tamay and others", 2024, "Chinchilla scaling: a replication attempt",
           arxiv="2404.10102"),
    Source("kaplan2020", "Kaplan, Jared and others", 2020, "Scaling laws for neural language models",
           arxiv="2001.08361"),
    Source("pearce2024", "Pearce, Tim and Song, Jinyeop", 2024, "Reconciling Kaplan and Chinchilla scaling laws",
           arxiv="2406.12907"),
    Source("ho2024", "Ho, Anson and others", 2024, "Algorithmic progress in language models", arxiv="2403.05812"),
    Source("mcleish2024", "McLeish, Sean and others", 2024,
           "Transformers can do arithmetic with the right embeddings", arxiv="2405.17399"),
    Source("gadre2024", "Gadre, Samir Yitzhak and others", 2024,
           "Language models scale reliably with over-training and on downstream tasks", arxiv="2403.08540"),
    Source("ho2025", "Ho, Anson and others", 2025, "A Rosetta stone for AI benchmarks", arxiv="2512.00193"),
    Source("vehtari2017", "Vehtari, Aki and Gelman, Andrew and Gabry, Jonah", 2017,
           "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
           doi="10.1007/s11222-016-9696-4", journal="Statistics and Computing"),
    Source("paananen2021", "Paananen, Topi and others", 2021, "Implicitly adaptive importance sampling",
           doi="10.1007/s11222-020-09982-2", journal="Statistics and Computing"),
)  # fmt: skip


def software(version, year):
    """Return how to cite the package, as a sentence and as BibTeX."""
    title = "bayescaling: Bayesian scaling laws of neural networks"
    bibtex = f"@software{{bayescaling,\n  title = {{{{{title}}}}},\n  version = {{{version}}},\n  year = {{{year}}}\n}}"
    return f"{title}, version {version} ({year}).", bibtex
