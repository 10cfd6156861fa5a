"""Studies that ``bayescaling report`` reads and ``bayescaling report --all`` makes: fits that are compared."""

import bayescaling as bs
from bayescaling.reports.cache.stages import Stages
from bayescaling.reports.laws import NOISES, SPECIFICATIONS_STUDY
from bayescaling.reports.pages import PAGES
from bayescaling.reports.pages.corpora import page as corpora
from bayescaling.reports.pages.progress import specifications as progress
from bayescaling.reports.pages.since import page as since
from study import Study


def reported(page, study, what, laws):
    """Return a study that a page of the report makes; its stages are cached as those of a report."""

    def make(parts, *, seed):
        del parts
        with Stages((), False, all=True, options={"seed": seed, "sampler": None}) as stage:
            PAGES[page].analyse(stage, bs.load("published"), {}, seed=seed)
        return stage.studies[study]

    return Study(what, make, laws, {"seed": 1}, command=f"bayescaling report --all --page {page}")


def _specifications():
    table = bs.load("lm_progress")
    return [(bs.laws.Progress(k, **noise), table) for noise in NOISES.values() for k in progress.SPECIFICATIONS]


STUDIES = {
    SPECIFICATIONS_STUDY: reported(
        "progress",
        SPECIFICATIONS_STUDY,
        "all specifications of progress, with and without paper effects",
        _specifications,
    ),
    since.CONSTANT: reported(
        "since",
        since.CONSTANT,
        "progress since 2023 with a constant gain",
        lambda: [(since.LAWS[since.LINEAR], bs.load("eci_scores"))],
    ),
    corpora.STUDY: reported(
        "corpora",
        corpora.STUDY,
        "one law of three corpora, with exponents pooled, shared or neither",
        lambda: [(law, bs.load("overtraining_runs")) for law in (corpora.LAWS | corpora.BESIDE).values()],
    ),
}
