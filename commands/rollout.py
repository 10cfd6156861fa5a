"""The command ``rollout``: fit below cutoffs, predict the rest, and say how well."""

from . import options, parsing, tables

HEADER = ("", "fitted", "predicted", "50% covers", "90% covers", "CRPS", "bias", "log score", "r_hat", "divergences")

UNSETTLED = 0.2  # our choice: a CRPS whose Monte-Carlo error is a larger share of it is not to be read


def run(law, data, by, below, figure, beyond, fitting):
    """Roll a law out as asked on the command line and print what came of it.

    Parameters
    ----------
    law : str
    data : str or None
    by : str
    below : list of str
        Cutoffs.
    figure : Path or None
    beyond : str
    fitting : options.Fitting
    """
    from ..datasets.files import check_writable
    from ..inference import intervals, rollout
    from ..reports.drawing.rollout import check_format, draw

    chosen = parsing.law_named(law, fitting)
    table = parsing.table_for(chosen, data, fitting)
    if figure:
        check_format(figure)
        check_writable(figure)
    progress = tables.interactive(fitting.json)
    found, rows = rollout(
        chosen, table, by, below, beyond=beyond, progress=progress, **parsing.sampler_settings(fitting)
    )
    if figure:
        draw(rows, figure)
    if fitting.json:
        predictions = {
            name: [intervals.finite(x) for x in rows[name].values] for name in (*rows.coords, *rows.data_vars)
        }
        cutoffs = [{"cutoff": float(cutoff), **_entry(row)} for cutoff, row in found.iterrows()]
        tables.print_json(
            {"law": law, "by": by, "scale": rows.attrs["scale"], "cutoffs": cutoffs, "predictions": predictions}
        )
        return
    title = f"{chosen.label}: fitted below {by}, predicted at and above; scores on the scale {rows.attrs['scale']}"
    lines = [_line(cutoff, row) for cutoff, row in found.iterrows()]
    tables.print_table(title, HEADER, lines, least=("divergences", "log score", "r_hat", "fitted"))
    if "coverage_90_law_alone" in found:
        print("with the drift of the law beyond its runs, learned from rollouts of ten public tables; the law alone:")
        for cutoff, row in found.iterrows():
            shares = ", ".join(f"{x}% covers {row[f'coverage_{x}_law_alone']:.0%}" for x in (50, 90))
            print(f"below {cutoff:g}: {shares}, CRPS {row['crps_law_alone']:.3g}")
    print("coverage with the 95% interval of a share of so many independent rows; those of a cutoff share one fit")
    for cutoff, row in found.iterrows():
        if not row["crps_se"] < UNSETTLED * row["crps"]:
            print(f"below {cutoff:g}: the CRPS is not settled, a few draws foretell anything; read the log score")
        if not row["ok"]:
            print(f"below {cutoff:g}: the chains are NOT TO BE TRUSTED; draw more")
    tables.print_written(figure)


def _entry(row):
    from ..inference import intervals

    whole = ("fitted", "predicted", "divergences")
    numbers = {name: int(x) if name in whole else intervals.finite(x) for name, x in row.drop("ok").items()}
    return numbers | {"ok": bool(row["ok"])}


def _line(cutoff, row):
    entry = _entry(row)
    covers = (
        f"{entry[name]:.0%} [{100 * entry[f'{name}_low']:.0f}, {100 * entry[f'{name}_high']:.0f}]"
        for name in ("coverage_50", "coverage_90")
    )
    crps = f"{tables.number(entry['crps'], '.3g')} ± {tables.number(entry['crps_se'], '.1g')}"
    scores = (crps, tables.number(entry["bias"], "+.3g"), tables.number(entry["log_score"], ".3g"))
    return (
        f"{cutoff:g}",
        entry["fitted"],
        entry["predicted"],
        *covers,
        *scores,
        tables.number(entry["r_hat_max"], ".3f"),
        entry["divergences"],
    )


@options.works
@options.shares(options.Fitting)
def rollout(
    law: options.LawName,
    below: options.Cutoffs,
    by: options.CutBy = "compute",
    data: options.AnyTable = None,
    figure: options.Figure = None,
    beyond: options.Beyond = "drift",
    *,
    fitting,
):
    """Fit a law to the rows below each cutoff, predict the others, and say how well."""
    run(law, data, by, below, figure, beyond, fitting)
