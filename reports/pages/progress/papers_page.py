"""The page on effects of papers: whether rows of one paper are alike, and what that does to the answer."""

from ...drawing import tables
from .analysis import EFFECTS, INDEPENDENT
from .wording import in_a_row, months, name_of, times, with_progress, words


def mixture(found):
    """Say which noise predicts papers left out better, and by how much."""
    preferred, other = found.mixed.index[0], found.mixed.iloc[1]
    with_or_without = {EFFECTS: "With an effect of each paper", INDEPENDENT: "Without effects of papers"}
    return (
        f"{with_or_without[preferred]} the specifications, mixed by stacking, predict papers left out better, by "
        f"{-other['papers_diff']:.1f} nats (standard error {other['papers_dse']:.1f}); rows left out one by one, given "
        f"their papers' other rows, by {-other['elpd_diff']:.1f} ({other['dse']:.1f})."
    )


def _text(found):
    better = [
        k
        for k in found.effects
        if found.scores[EFFECTS].table.loc[k, "elpd_papers"] > found.scores[INDEPENDENT].table.loc[k, "elpd_papers"]
    ]
    each = "; ".join(f"{name} {words(times(rate))}" for name, rate in found.by_noise.items())
    moved = times(found.resampled["rates"])
    return [
        f"{mixture(found)} One by one, {_those(better, found.effects)} better with effects.",
        "Doubling times of compute at the evaluations' own sizes, specifications mixed by how well they predict papers "
        f"left out, in months: {each}. When papers are drawn with replacement the weights move, and with them the "
        f"median: 95% of {len(found.resampled['rates'])} such tables give {months(moved['q2.5'])} to "
        f"{months(moved['q97.5'])} months.",
    ]


def _those(better, all_of_them):
    if len(better) == len(all_of_them):
        return f"all {len(better)} specifications predict papers left out"
    return f"{len(better)} of {len(all_of_them)} specifications ({in_a_row(better)}) predict papers left out"


def _table(found):
    scores = [found.scores[noise].table for noise in (INDEPENDENT, EFFECTS)]
    header = ("specification", "elpd by row", "with effects", "elpd by paper", "with effects ",
              "doubling (months), rows independent", "doubling (months), paper effects")  # fmt: skip
    rows = []
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in with_progress(found)]
    for k in with_progress(found):
        pairs = [f"{table.loc[k, name]:.1f}" for name in ("elpd", "elpd_papers") for table in scores]
        own = found.gain_times[k].loc["all"]
        rows.append((name_of(k), *pairs, words(own), words(times(found.effect_gains[k]))))
    note = (
        "Elpd by row with effects: of a row given the other rows of its paper. By paper: of a paper's rows together, "
        "the paper unseen. Doubling times at the evaluations' own sizes. Marks: without effects of papers, and with."
    )
    return tables.of_rows(header, rows, note, fits=fits)


def sections(found):
    """Sections of the page, in order; see `Page.sections`."""
    return [
        {
            "title": "Do papers have effects of their own?",
            "text": _text(found),
            "blocks": [_table(found)],
        }
    ]
