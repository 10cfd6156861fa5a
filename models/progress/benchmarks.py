"""The benchmarks of a law of algorithmic progress, and the rows of a table that are of them."""

import json

from ...datasets.wording import listed, quoted, shown
from ...errors import InputError

VOCABULARY = {"ptb": 10_000, "wt2": 33_278, "wt103": 268_000}


def checked(names):
    """Return two or more names of benchmarks as a tuple, from a sequence or from text with commas between them.

    Examples
    --------
    >>> checked("ptb, wt103")
    ('ptb', 'wt103')
    """
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    if (
        not isinstance(names, list | tuple)
        or not all(isinstance(name, str) and name for name in names)
        or not 2 <= len(set(names)) == len(names)
    ):
        raise InputError(f"benchmarks: {shown(names)} are no two or more different names, such as ptb,wt103")
    return tuple(names)


def check_rows(law, rows, place):
    """Refuse rows of other benchmarks than the law has, a benchmark without a row, and one of unknown vocabulary."""
    if law.spec.vocabulary:
        lacking = rows["vocabulary"].isna() & ~rows["benchmark"].isin(VOCABULARY)
        if lacking.any():
            name = quoted(rows["benchmark"][lacking].iloc[0])
            raise InputError(
                f"{place}: column 'vocabulary' is empty in {lacking.sum()} rows of {name}, whose usual one is not "
                "known; fill it in, or leave such rows out with where= (--where)"
            )
    if not any(column.benchmark for predictor in law.predictors for column in predictor) and law.scatter == "one":
        return
    present = list(dict.fromkeys(rows["benchmark"]))
    absent = [name for name in law.benchmarks if name not in present]
    others = [name for name in present if name not in law.benchmarks]
    if not absent and not others:
        return
    what = f"no row of {absent[0]!r}, which {law.name} has an intercept for" if absent else ""
    if others:
        count = int(rows["benchmark"].isin(others).sum())
        what = f"{count} rows of {listed(others)}, which {law.name} has no intercept for"
    raise InputError(f"{place}: column 'benchmark' has {what}; {_fix(present, others)}")


def _fix(present, others):
    if len(present) < 2:
        return "choose a specification of one intercept, such as progress-1"
    names = json.dumps(present, ensure_ascii=False)
    fix = f"give the law benchmarks={names} (--option 'benchmarks={names}')"
    return f"{fix}, or leave such rows out with where= (--where)" if others else fix
