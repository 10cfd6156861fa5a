"""How the command line prints: JSON, tables and numbers, the results of each command, warnings."""

import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from ..errors import DiagnosticWarning, SizeNote, TableNote, TableWarning

SUMMARY_HEADER = ("", "mean", "sd", "2.5%", "50%", "97.5%")
COMPARISON = ("elpd", "se", "p", "elpd_diff", "dse", "p_worse", "weight", "pareto_k_max", "k_above_0.7", "r_hat_max",
              "divergences", "flags")  # fmt: skip
SPECIFICATIONS = ("elpd", "se", "elpd_diff", "dse", "dse_by_paper", "p_worse", "loo_mse", "stacking",
                  "by_paper_stacking", "pareto_k_max", "refitted", "r_hat_max", "ess_bulk_min", "divergences",
                  "flags")  # fmt: skip
REGIONS = ("id", "ood", "ood100")
LABEL, NUMBER = 44, 24  # characters that a label and a number have at most
# In the names of parameters that each run has: too many to print.
OF_RUNS = "_run["
MOST_LEVELS = 20  # of a quantity that is printed level by level


def interactive(json):
    """Whether to show progress: a terminal is watching and the output is for people."""
    return sys.stderr.isatty() and not json


def print_table(title, header, rows, *, least=()):
    """Print a table to standard output, its first column to the left and the others to the right.

    No cell is cut: where the terminal is too narrow whole columns are left out and named below.

    Parameters
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequences
    least : sequence of str
        Columns that are left out first, in this order; then those at the right.
    """
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 120)
    console.on_broken_pipe = _broken_pipe
    rows = [[str(cell) for cell in row] for row in rows]
    shown = fitting_columns(header, rows, console.width, least)
    table = Table(title=title, title_justify="left", header_style="bold", box=box.HEAVY_HEAD)
    for i in shown:
        kept = _unbroken(i, [row[i] for row in rows])
        table.add_column(
            header[i],
            justify="left" if i == 0 else "right",
            overflow="fold",
            min_width=_least_width(i, header[i], [row[i] for row in rows]),
            no_wrap=i == 0 and kept,
        )
    for row in rows:
        table.add_row(*(escape(row[i]) for i in shown))
    console.print(table)
    if len(shown) < len(header):
        left_out = [name or f"column {i + 1}" for i, name in enumerate(header) if i not in shown]
        console.print(f"left out for want of width: {', '.join(left_out)}", highlight=False, markup=False)


def _broken_pipe():
    """Leave it to the command line to end; rich would with another exit status."""
    raise BrokenPipeError


def fitting_columns(header, rows, width, least=()):
    """Positions of the columns of a table that fit in a width without a cell being cut.

    Examples
    --------
    >>> fitting_columns(["", "mean", "sd"], [["alpha", "0.1234", "0.01"]], 20)
    [0, 1]
    """
    needed = [_least_width(i, name, [row[i] for row in rows]) for i, name in enumerate(header)]
    first = [i for name in least for i, other in enumerate(header) if i and other == name]
    order = first + [i for i in reversed(range(1, len(header))) if i not in first]
    shown = list(range(len(header)))
    # A column has a space on either side and a border.
    while len(shown) > 2 and sum(needed[i] + 3 for i in shown) + 1 > width:
        shown.remove(next(i for i in order if i in shown))
    return shown


def _unbroken(position, cells):
    """Whether cells of a column stay on one line: labels and numbers do unless they are long, sentences do not."""
    return max(map(len, cells), default=0) <= (LABEL if position == 0 else NUMBER)


def _least_width(position, name, cells):
    words = [word for text in ([name] if _unbroken(position, cells) else [name, *cells]) for word in text.split()]
    whole = cells if _unbroken(position, cells) else []
    found = max((len(text) for text in [*whole, *words]), default=0)
    return min(found, LABEL) if position == 0 else found


def names_of(files, json):
    """Name files as they were given where JSON is asked for, else by the last parts that tell their paths apart.

    Examples
    --------
    >>> names_of(["out/a/fit.nc", "out/b/fit.nc"], json=False), names_of(["out/fit.nc"], json=True)
    (['a/fit.nc', 'b/fit.nc'], ['out/fit.nc'])
    """
    paths = [Path(file) for file in files]
    for count in range(1, 1 if json else max(len(path.parts) for path in paths)):
        names = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            return names
    return [str(path) for path in paths]


def number(x, form=".4g"):
    """Return a number as text, a missing one as a dash, and text as it is."""
    return x if isinstance(x, str) else "-" if x is None or x != x else format(x, form)


def summary_row(name, q):
    """Row of a table under `SUMMARY_HEADER`, of a quantity's mean, sd and quantiles."""
    return name, *(number(q[key]) for key in ("mean", "sd", "q2.5", "q50", "q97.5"))


@contextmanager
def verdict_later(*, unless):
    """Leave out the warning that chains cannot be trusted, since the verdict is printed with the result."""
    with warnings.catch_warnings():
        if not unless:
            warnings.simplefilter("ignore", DiagnosticWarning)
        yield


def print_json(document):
    """Print one JSON document to standard output."""
    from ..reports import results

    print(results.to_json(document), end="")


def records(table):
    """Rows of a table for JSON: dates as text, missing values as None."""
    dates = {column: table[column].dt.strftime("%Y-%m-%d") for column in table.select_dtypes("datetime")}
    plain = table.assign(**dates).astype(object)
    return plain.where(plain.notna(), None).to_dict("records")


def print_written(path):
    """Print where a result was written, if it was."""
    if path:
        from ..datasets.wording import printable

        print(f"written to {printable(path)}")


def print_diagnostics(name, diagnostics):
    """Print on standard error why a fit should not be trusted, where it should not."""
    from ..inference.checks.chains import sentence

    if not diagnostics["ok"]:
        print(f"warning: {name}: {sentence(diagnostics)}", file=sys.stderr)


def print_fit(title, entry, diagnostics):
    """Print a law's parameters, its leave-one-out and both verdicts; lengths first where the law has them."""
    if "lengths" in entry:
        _print_lengths(entry)
    robust = {name: number(found["robust_sd"]) for name, found in entry["robust"].items()}
    shown, left_out = few_levels(entry["parameters"])
    rows = [
        (*summary_row(name, q), *([robust.get(name, "-")] if robust else ()))
        for name, q in entry["parameters"].items()
        if name in shown and OF_RUNS not in name
    ]
    print_table(title, (*SUMMARY_HEADER, *(["robust sd"] if robust else ())), rows, least=("mean", "sd"))
    _print_left_out(left_out)
    elpd, se, k = (
        number(entry[name], form) for name, form in (("elpd_loo", ".1f"), ("elpd_se", ".1f"), ("pareto_k_max", ".2f"))
    )
    print(f"elpd_loo {elpd} (se {se}), largest Pareto k {k}, {entry['k_above_0.7']} above 0.7")
    print(diagnostics)
    if sensitive := entry.get("prior_sensitive"):
        from ..inference.checks.sensitivity import SENSITIVE

        reason = f"distance per doubling of its power above {SENSITIVE:g}"
        print(f"decided by the prior in part ({reason}): {_listed(sensitive)}")
    if driven := entry["verdict"]["prior_driven"]:
        print(f"hardly informed by the rows (width over the prior's): {_listed(driven)}")
    print(entry["verdict"]["sentence"])
    if entry.get("suggestion"):
        print(entry["suggestion"])


def few_levels(names):
    """Names of quantities that have at most 20 levels, and the numbers of levels of the others, by name.

    Examples
    --------
    >>> few_levels(["alpha", *(f"capability[{i}]" for i in range(30))])
    (['alpha'], {'capability': 30})
    """
    counts = Counter(name.partition("[")[0] for name in names)
    shown = [name for name in names if counts[name.partition("[")[0]] <= MOST_LEVELS]
    return shown, {name: count for name, count in counts.items() if count > MOST_LEVELS and OF_RUNS[:-1] not in name}


def _print_left_out(counts):
    if counts:
        listed = ", ".join(f"{name} ({count})" for name, count in counts.items())
        print(f"not shown for their number, but in --json and in the file: {listed}")


def print_kept(folder, found, *, cleared, json):
    """Print how much is kept for reports, or was before it was cleared."""
    from ..datasets.wording import plural

    size = sum(each for _, _, each in found)
    if json:
        print_json({"folder": str(folder), "results": len(found), "bytes": size, "cleared": cleared})
    else:
        deleted = "deleted: " if cleared else ""
        print(f"{deleted}{plural(len(found), 'result')} of reports, {size / 1e6:.1f} MB, in {folder}")


def _listed(figures):
    return ", ".join(f"{name} ({number(x, '.2f')})" for name, x in figures.items())


def print_verdict(name, verdict):
    """Print on standard error the verdict on the law of a fit, where a test rejects it."""
    if verdict["rejected_by"]:
        print(f"warning: {name}: {verdict['sentence']}", file=sys.stderr)


def _print_lengths(entry):
    from ..reports.pages.arithmetic.entries import contrast_rows, lengths_rows

    header = ("", "accuracy", "2.5%", "50%", "97.5%", "P(none)")
    titles = {"typical": "digits, of the median run", "new": "digits, of a run with a new seed", "runs": "of each run"}
    for kind, title in titles.items():
        print_table(title, header, lengths_rows(entry, kind))
    if entry["contrasts"]:
        header = ("median runs", "", "2.5%", "50%", "97.5%", "P(first above)")
        print_table("contrasts of embeddings: ratio of lengths, difference of accuracies", header, contrast_rows(entry))
    if entry["confounded"]:
        print(f"the runs cannot tell apart from other effects: {', '.join(entry['confounded'])}")


def print_calibration(title, table):
    """Print what `Calibration.table` returned."""
    from ..datasets.wording import p_value

    header = ("", "error in sd", "50% covers", "90% covers", "p uniform")
    rows = [
        (
            name,
            f"{row['error']:+.2f} ± {row['error_se']:.2f}",
            f"{row['coverage_50']:.0%}",
            f"{row['coverage_90']:.0%}",
            p_value(row["p_uniform"], ""),
        )
        for name, row in table.loc[few_levels(table.index)[0]].iterrows()
        if OF_RUNS not in name
    ]
    print_table(title, header, rows)
    _print_left_out(few_levels(table.index)[1])


def print_comparison(title, table):
    """Print what `compare` returned."""
    rows = [
        (name, *(number(row[column], ".3g" if column == "weight" else ".4g") for column in COMPARISON))
        for name, row in table.iterrows()
    ]
    least = ("p", "r_hat_max", "divergences", "se", "k_above_0.7", "pareto_k_max")
    print_table(title, ("", *COMPARISON), rows, least=least)
    _print_sentence(table)


def print_specifications(table):
    """Print what `progress.compare` returned."""
    rows = [(f"progress-{k}", *(number(row[name], ".3g") for name in SPECIFICATIONS)) for k, row in table.iterrows()]
    least = ("loo_mse", "refitted", "ess_bulk_min", "r_hat_max", "divergences", "se", "stacking", "dse", "pareto_k_max")
    print_table("the 20 specifications by leave-one-out", ("", *SPECIFICATIONS), rows, least=least)
    _print_sentence(table)


def _print_sentence(table):
    """Print which fit predicts best, and what the flags of a comparison mean, those that it has."""
    from ..inference.comparison.differences import MEANING

    print(table.attrs["sentence"])
    for flag, meaning in MEANING.items():
        if table["flags"].str.contains(flag, regex=False).any():
            print(f"{flag}: {meaning}")


def print_doubling(tables, at):
    """Print doubling times in months, by fit.

    Parameters
    ----------
    tables : dict of str to DataFrame
        From `gain_times`, or from `doubling_times` where `at` is given.
    at : dict or None
        ``compute`` in FLOP and ``year``; None for the evaluations' own sizes and dates.
    """
    quantiles, optimal = ("q2.5", "q50", "q97.5"), ()
    where = "at the evaluations' own sizes and dates"
    if at:
        where = f"at {at['compute']:.3g} FLOP in {at['year']:g}".replace("e+", "e")
        optimal = tuple(f"optimal scaling {q}" for q in ("2.5%", "50%", "97.5%"))
    shown = [*quantiles, *(f"optimal_{q}" for q in quantiles if at)]
    first = ("", "") if at else ("", "evaluations", "number")
    header = (*first, "P(progress)", "2.5%", "50%", "97.5%", *optimal)
    rows = [
        (
            name,
            label,
            *(() if at else (int(row["count"]),)),
            f"{row['p_progress']:.3f}",
            *(_months(row[column]) for column in shown),
        )
        for name, times in tables.items()
        for label, row in times.iterrows()
    ]
    title = f"months in which effective compute doubles, {where}"
    print_table(title, header, rows, least=(*optimal, "P(progress)"))


def _months(x):
    return "never" if x == float("inf") else f"{x:.1f}"


def print_exponents(law, basis, exponents):
    """Print the exponents that a study would have measured, counting parameters by `basis`."""
    labels = {"size": "of the optimal size", "loss": "of the loss", "reducible_loss": "of the loss above E"}
    counted = "without embeddings" if basis == "nonembedding" else "all parameters"
    rows = [summary_row(labels[name], q) for name, q in exponents.items()]
    print_table(f"{law}: exponents in compute, {counted}", SUMMARY_HEADER, rows)


def print_accuracies(entries):
    """Print the share of problems that each arithmetic model gets right, by region of lengths."""
    rows = [
        (
            f"{e['task']} {e['train_digits']} {e['embedding']}",
            f"{e['architecture']} {e['layers']}x{e['recurrences']}",
            e["seed"],
            e["status"],
            e["offset"],
            *(number(e[region], ".3f") for region in REGIONS),
        )
        for e in entries
    ]
    print_table("share of problems right", ("", "architecture", "seed", "status", "offset", *REGIONS), rows)


def print_sweep(record):
    """Print how many runs a sweep has, whether it is finished and where its table is."""
    again = "" if record["status"] == "finished" else "; run the same command to continue"
    table = f"; table {record['table']}" if record["table"] else ""
    print(f"{record['runs']} runs, {record['status']}{again}{table}")


def print_outline(outline):
    """Print what a sweep will take: runs, parameters, FLOP, memory and hours, by arm or stage."""
    rows = [
        (
            each["name"],
            each["runs"],
            " to ".join(f"{count:,}" for count in sorted(set(each["parameters"]))),
            f"{each['flop']:.3g}",
            f"{each['bytes'] / 2**30:.3g}",
            f"{each['hours']:.3g}",
        )
        for each in outline["rounds"]
    ]
    runs, flop, hours = (sum(each[name] for each in outline["rounds"]) for name in ("runs", "flop", "hours"))
    rows.append(("together", runs, "", f"{flop:.3g}", "", f"{hours:.3g}"))
    print_table("what the sweep takes", ("", "runs", "parameters", "FLOP", "GiB", "hours"), rows)
    print(
        f"hours on {outline['device']} at {outline['share']:.0%} of its peak, {outline['peak'] / 1e12:.3g} TFLOP/s "
        f"({outline['peak_source']}); {outline['free'] / 2**30:.3g} GiB are free there"
    )


def print_estimates(found):
    """Print point estimates, constants of parametric fits and exponents of envelopes, and why others are missing."""
    names = ("A", "B", "alpha", "beta", "E")
    rows = [
        (name, *(number(e[n], ".5g") for n in names), e.rows, "yes" if e.converged else "NO")
        for name, e in found.parametric.items()
    ]
    if rows:
        print_table("parametric fits", ("", *names, "rows", "converged"), rows)
    rows = [
        (
            name,
            number(e["exponent"]),
            number(e.errors["exponent"], ".2g"),
            f"{e.points['used'].sum()} of {len(e.points)}",
        )
        for name, e in found.envelopes.items()
        if e.converged
    ]
    if rows:
        header = ("", "exponent", "standard error", "levels used")
        print_table("exponent of the optimal size in compute", header, rows)
    for name, e in found.envelopes.items():
        set_aside = e.points.loc[~e.points["used"], "reason"].value_counts()
        if len(set_aside):
            print(f"{name}: levels set aside: {'; '.join(f'{n}, {reason}' for reason, n in set_aside.items())}")
    for name, reason in found.missing.items():
        print(f"{name}: not to be had: {reason}")


def show_warning(message, category, *_, **__):
    """Print a warning of the package in one line on standard error and drop all others, for `warnings.showwarning`."""
    if issubclass(category, DiagnosticWarning | TableWarning | SizeNote):
        kind = "note" if issubclass(category, TableNote | SizeNote) else "warning"
        print(f"{kind}: {' '.join(str(message).split())}", file=sys.stderr)
