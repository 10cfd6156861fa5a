"""Tables of published evaluations, dated."""

import re

import numpy as np

from ..cells import as_days, as_numbers, fractional_years, others_than, with_halfwidths
from ..columns import ALIASES
from ..schemas import BENCHMARKS, check
from ..wording import shortened
from .kind import Kind

NOT_NUMBERS = ("publication_date", "benchmark")
# Other names of benchmarks, in lower case and without anything but letters and digits.
SAME = {
    "wt103": "wikitext103 wiki103 wikitext103v1 wikitext103rawv1",
    "wt2": "wikitext2 wiki2 wikitext2v1 wikitext2rawv1",
    "ptb": "penntreebank penn penntree ptbword wordptb",
}
SAME = {other: name for name, others in SAME.items() for other in (name, *others.split())}


def parse(table, changes, columns, where, drop_missing):
    """Check a table of evaluations, and add the year and the paper of each where there is none."""
    table, headers = EVALUATIONS.select(table, changes, columns, where, drop_missing)
    names = EVALUATIONS.present(table, (*EVALUATIONS.needed, *EVALUATIONS.optional))
    numbers, faults = as_numbers(table, [name for name in names if name not in NOT_NUMBERS])
    dates, halfwidths, undated = as_days(table["publication_date"])
    benchmarks = table["benchmark"].map(_benchmark)
    fix = f"correct it, or leave such rows out with where={_others(headers, table['benchmark'])}"
    faults += undated + others_than(BENCHMARKS, benchmarks, fix=fix)
    table = table.assign(**numbers, benchmark=benchmarks, publication_date=dates, year=fractional_years(dates))
    table = with_halfwidths(table, "publication_date", headers["publication_date"], halfwidths, changes)
    if "paper_id" not in table:
        table["paper_id"] = np.arange(1.0, len(table) + 1)
    return check(table, "evaluations", label=changes.label, faults=faults).astype({"transformer": "int64"})


def _others(headers, cells):
    """Return the condition that leaves out benchmarks that are none of the known ones."""
    names = dict.fromkeys(cell for cell in cells if isinstance(cell, str))
    names = [name for name in names if _benchmark(name) in BENCHMARKS]
    header = str(headers["benchmark"])
    return f'"{header if header.isidentifier() else f"`{header}`"} in {shortened(str(names))}" (--where)'


def _benchmark(cell):
    return SAME.get(re.sub(r"[^a-z0-9]", "", cell.lower()), cell) if isinstance(cell, str) else cell


EVALUATIONS = Kind(
    name="evaluations",
    built_in="lm_progress",
    dimension="evaluation",
    parse=parse,
    needed=("publication_date", "benchmark", "parameters", "dataset_tokens", "transformer", "perplexity"),
    optional=("epochs", "vocabulary", "training_compute_flop", "paper_id"),
    text=("benchmark",),
    days=("publication_date",),
    flags=("transformer",),
    aliases={
        "publication_date": "date published datepublished",
        "benchmark": "dataset testset evaluationset corpus",
        "parameters": f"{ALIASES['parameters']} numberofparams",
        "dataset_tokens": ALIASES["tokens"],
        "transformer": "istransformer",
        "perplexity": ALIASES["perplexity"],
        "vocabulary": ALIASES["vocabulary"],
        "training_compute_flop": ALIASES["training_flop"],
    },
)
