"""The sources that a report cites, with their addresses, as sentences and as BibTeX."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


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


TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
SOURCES = tuple(Source(**entry) for entry in tomllib.loads(TEXT)["sources"])


def software(version, year):
    """Return how to cite the package, as a sentence and as BibTeX."""
    title = "bayescaling: Bayesian scaling laws of neural networks"
    bibtex = f"@software{{bayescaling,\n  title = {{{{{title}}}}},\n  version = {{{version}}},\n  year = {{{year}}}\n}}"
    return f"{title}, version {version} ({year}).", bibtex
