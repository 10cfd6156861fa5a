"""Tables of published evaluations, dated."""

import numpy as np

from ..cells import as_days, as_numbers, fractional_years, others_than
from ..columns import ALIASES
from ..schemas import BENCHMARKS, check
from .kind import Kind

NOT_NUMBERS = ("publication_date", "benchmark")


def parse(table, changes, columns, where, drop_missing):
    """Check a table of evaluations, and add the year and the paper of each where there is none."""
    table, _ = EVALUATIONS.select(table, changes, columns, where, drop_missing)
    names = EVALUATIONS.present(table, (*EVALUATIONS.needed, *EVALUATIONS.optional))
    numbers, faults = as_numbers(table, [name for name in names if name not in NOT_NUMBERS])
    dates, undated = as_days(table["publication_date"])
    faults += undated + others_than(BENCHMARKS, table["benchmark"])
    table = table.assign(**numbers, publication_date=dates, year=fractional_years(dates))
    if "paper_id" not in table:
        table["paper_id"] = np.arange(1.0, len(table) + 1)
    return check(table, "evaluations", label=changes.label, faults=faults).astype({"transformer": "int64"})


EVALUATIONS = Kind(
    name="evaluations",
    built_in="lm_progress",
    dimension="evaluation",
    parse=parse,
    needed=("publication_date", "benchmark", "parameters", "dataset_tokens", "transformer", "perplexity"),
    optional=("epochs", "vocabulary", "training_compute_flop", "paper_id"),
    aliases={
        "publication_date": "date published datepublished",
        "parameters": ALIASES["parameters"],
        "dataset_tokens": ALIASES["tokens"],
        "transformer": "istransformer",
        "perplexity": ALIASES["perplexity"],
        "vocabulary": ALIASES["vocabulary"],
        "training_compute_flop": ALIASES["training_flop"],
    },
)
