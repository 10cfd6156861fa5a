"""The command ``rollout``: fits below cutoffs, predictions of the rest, and their scores."""

from typing import Annotated

from typer import Option

from . import options, parsing, tables

HEADER = ("", "fitted", "predicted", "50% covers", "90% covers", "CRPS", "bias", "log score", "r_hat", "divergences")
UNSETTLED = 0.2  # share of the CRPS; with a larger Monte-Carlo error the CRPS is not settled


@options.works
@options.shares(options.Fitting)
def rollout(
    law: options.LawName,
    below: Annotated[
        list[str], Option(help="Fit the rows below this: 1e20, '1 ZFLOP' or 2019-06-30. Repeatable.", metavar="CUTOFF")
    ],
    by: Annotated[
        str, Option(help="What to cut along: compute of runs, date of evaluations, or a column.", metavar="COLUMN")
    ] = "compute",
    data: options.AnyTable = None,
    figure: options.Figure = None,
    beyond: options.Beyond = "drift",
    *,
    fitting,
):
    """Fit a law below a cutoff, and score what it predicts. Each cutoff has a fit and a score."""
    from ..inference import rollout as roll_out
    from ..plots.with_matplotlib import check_format
    from ..reports.drawing.rollout import draw

    chosen, table = parsing.law_and_table(law, data, fitting, figure)
    if figure:
        check_format(figure)
    if by == "compute":
        below = [parsing.flop(text, "--below") for text in below]
    settings = parsing.sampler_settings(fitting) | {"progress": tables.interactive(fitting.json)}
    scores, rows = roll_out(chosen, table, by, below, beyond=beyond, **settings)
    if figure:
        draw(rows, figure)
    if fitting.json:
        tables.print_json({"law": law, "by": by, **_document(scores, rows)})
        return
    scale = f"scores on the scale {rows.attrs['scale']}"
    _print(f"{chosen.label}: fitted below {by}, predicted at and above; {scale}", scores, chosen.label)
    tables.print_written(figure)


def _document(scores, rows):
    from ..inference import intervals

    names = (*rows.coords, *rows.data_vars)
    return {
        "scale": rows.attrs["scale"],
        "cutoffs": [{"cutoff": float(cutoff), **_entry(row)} for cutoff, row in scores.iterrows()],
        "predictions": {name: [intervals.finite(x) for x in rows[name].values] for name in names},
    }


def _entry(row):
    from ..inference import intervals

    whole = ("fitted", "predicted", "divergences")
    numbers = {name: int(x) if name in whole else intervals.finite(x) for name, x in row.drop(["ok", "law"]).items()}
    return numbers | {"ok": bool(row["ok"]), "law": row["law"]}


def _print(title, scores, law):
    lines = [_line(cutoff, _entry(row)) for cutoff, row in scores.iterrows()]
    tables.print_table(title, HEADER, lines, least=("divergences", "log score", "r_hat", "fitted"))
    if "coverage_90_law_alone" in scores:
        print("with the drift of the law beyond its runs, learned from rollouts of ten public tables; the law alone:")
        for cutoff, row in scores.iterrows():
            shares = ", ".join(f"{x}% covers {row[f'coverage_{x}_law_alone']:.0%}" for x in (50, 90))
            print(f"below {cutoff:g}: {shares}, CRPS {row['crps_law_alone']:.3g}")
    print("coverage with the 95% interval of a share of so many independent rows; those of a cutoff share one fit")
    for cutoff, row in scores.iterrows():
        if row["law"] != law:
            print(f"below {cutoff:g}: the rows need {row['law']}")
        if not row["crps_se"] < UNSETTLED * row["crps"]:
            print(f"below {cutoff:g}: the CRPS is not settled, as a few draws predict anything; read the log score")
        if not row["ok"]:
            print(f"below {cutoff:g}: the chains did not converge; draw more")


def _line(cutoff, entry):
    covers = (
        f"{entry[name]:.0%} [{100 * entry[f'{name}_low']:.0f}, {100 * entry[f'{name}_high']:.0f}]"
        for name in ("coverage_50", "coverage_90")
    )
    crps = f"{tables.number(entry['crps'], '.3g')} ± {tables.number(entry['crps_se'], '.1g')}"
    forms = {"bias": "+.3g", "log_score": ".3g", "r_hat_max": ".3f"}
    others = (tables.number(entry[name], form) for name, form in forms.items())
    return f"{cutoff:g}", entry["fitted"], entry["predicted"], *covers, crps, *others, entry["divergences"]
