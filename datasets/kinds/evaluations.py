"""Tables of published evaluations, dated."""

import re

import numpy as np

from ..cells import as_days, as_numbers, find_nameless, fractional_years, with_halfwidths
from ..checks import blank
from ..columns import ALIASES
from ..schemas import ABOVE_ONE, FLAG, POSITIVE, check
from ..wording import listed, plural, quoted
from .kind import Kind, register_kind

BENCHMARKS = ("wt103", "wt2", "ptb")
OPTIONAL = ("epochs", "vocabulary", "training_compute_flop", "paper_id")
NOT_NUMBERS = ("publication_date", "benchmark")
SHOWN = 6  # names in a note
# Other names of benchmarks, in lower case and without anything but letters and digits.
SAME = {
    "wt103": "wikitext103 wiki103 wikitext103v1 wikitext103rawv1",
    "wt2": "wikitext2 wiki2 wikitext2v1 wikitext2rawv1",
    "ptb": "penntreebank penn penntree ptbword wordptb",
    "lm1b": "1bwords 1bword onebillionword onebillionwords billionword 1billionword onebillionwordbenchmark 1bw",
}
SAME = {other: name for name, others in SAME.items() for other in (name, *others.split())}


def parse(table, changes, columns, where, drop_missing):
    """Check a table of evaluations, and add the year and the paper of each where there is none."""
    table, headers = EVALUATIONS.select(table, changes, columns, where, drop_missing)
    names = EVALUATIONS.present(table, (*EVALUATIONS.needed, *EVALUATIONS.optional))
    numbers, faults = as_numbers(table, [name for name in names if name not in NOT_NUMBERS])
    dates, halfwidths, undated = as_days(table["publication_date"], changes, headers["publication_date"])
    benchmarks = _benchmarks(table["benchmark"])
    faults += [*undated, *find_nameless(benchmarks)]
    _note_others(benchmarks, changes)
    table = table.assign(**numbers, benchmark=benchmarks, publication_date=dates, year=fractional_years(dates))
    table = with_halfwidths(table, "publication_date", headers["publication_date"], halfwidths, changes)
    if "paper_id" not in table:
        table["paper_id"] = np.arange(1.0, len(table) + 1)
    return check(table, EVALUATIONS, label=changes.label, faults=faults).astype({"transformer": "int64"})


def _benchmarks(cells):
    """Return benchmarks by their usual names; others by their first spelling, as text."""
    spelled = cells.map(lambda cell: cell if blank(cell) else re.sub(r"[^a-z0-9]", "", str(cell).lower()) or str(cell))
    first = dict(zip(reversed(spelled.tolist()), reversed(cells.tolist()), strict=True))
    return spelled.map(lambda word: word if blank(word) else SAME.get(word, str(first[word])))


def _note_others(benchmarks, changes):
    """Note the benchmarks that are none of the usual ones, which a law takes where its option names them."""
    counts = benchmarks.value_counts()
    others = [name for name in counts.index if name not in BENCHMARKS]
    if others:
        shown = ", ".join(f"{quoted(name)} ({plural(counts[name], 'row')})" for name in others[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        sentence = f"benchmarks besides {listed(BENCHMARKS)} are levels of their names: {shown}{more}"
        changes.add("benchmarks", sentence, benchmarks=[str(name) for name in others])


EVALUATIONS = Kind(
    name="evaluations",
    built_in="lm_progress",
    dimension="evaluation",
    parse=parse,
    needed=("publication_date", "benchmark", "parameters", "dataset_tokens", "transformer", "perplexity"),
    optional=OPTIONAL,
    cells=dict.fromkeys(("parameters", "dataset_tokens"), POSITIVE)
    | {"perplexity": ABOVE_ONE, "transformer": FLAG}
    | dict.fromkeys(OPTIONAL, POSITIVE.optional),
    text=("benchmark",),
    days=("publication_date",),
    flags=("transformer",),
    aliases={
        "publication_date": "date published datepublished year",
        "benchmark": "dataset testset evaluationset corpus",
        "parameters": f"{ALIASES['parameters']} numberofparams",
        "dataset_tokens": ALIASES["tokens"],
        "transformer": "istransformer",
        "perplexity": ALIASES["perplexity"],
        "vocabulary": ALIASES["vocabulary"],
        "training_compute_flop": ALIASES["training_flop"],
    },
)
register_kind(EVALUATIONS)
