"""Tables of the report as HTML."""

import pandas as pd

from .style import si


def html(frame, *, title=None, note=None, decimals=None, integers=(), rowname=None):
    """Write a data frame as an HTML table.

    Parameters
    ----------
    frame : DataFrame
    title, note : str, optional
    decimals : dict of str to int, optional
        Decimals of numeric columns.
    integers : sequence of str
        Columns shown as whole numbers.
    rowname : str, optional
        The column that heads each row.
    """
    import great_tables as gt

    table = gt.GT(frame, rowname_col=rowname)
    if title:
        table = table.tab_header(title)
    for column, digits in (decimals or {}).items():
        table = table.fmt_number(column, decimals=digits, use_seps=True)
    for column in integers:
        table = table.fmt_integer(column)
    if note:
        table = table.tab_source_note(gt.md(note))
    table = table.sub_missing(missing_text="–").opt_table_font(stack="system-ui").tab_options(table_font_size="14px")
    return table.as_raw_html()


def comparison(table, *, note=None):
    """Write what `compare` returns of laws, without weights, as an HTML table."""
    decimals = {"elpd": 1, "se": 1, "elpd_diff": 1, "dse": 1, "p": 1, "pareto_k_max": 2, "r_hat_max": 3}
    shown = ["law", "elpd", "se", "elpd_diff", "dse", "p", "pareto_k_max", "k_above_0.7", "r_hat_max", "ess_bulk_min",
             "divergences"]  # fmt: skip
    frame = table.reset_index(names="law")
    return html(frame[shown], decimals=decimals, integers=["ess_bulk_min"], rowname="law", note=note)


def of_rows(header, rows, note=None):
    """Write rows of text as an HTML table, each headed by its first cell."""
    return html(pd.DataFrame(rows, columns=header), rowname=header[0], note=note)


def interval(q, form="{:.4g}"):
    """Median and 95% interval of a `results.summary` in words."""
    low, middle, high = (form.format(q[k]) if q[k] is not None else "never" for k in ("q2.5", "q50", "q97.5"))
    return f"{middle} [{low}, {high}]"


def si_interval(q):
    """`interval` with sizes in short form: 70B."""
    return f"{si(q['q50'])} [{si(q['q2.5'])}, {si(q['q97.5'])}]"
