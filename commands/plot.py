"""The command ``plot``: a figure of a saved fit, as a file."""

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import InputError
from . import options, parsing, tables

SEVERAL = ("frontier", "allocation", "posterior", "doubling")  # figures of one or several fits
OF_BUDGET = ("valley", "allocation")  # which need one budget
OF_BUDGETS = (*OF_BUDGET, "fit", "isoflop", "frontier", "progress", "worth")
OF_SCORES = ("capability", "since")
ONE = ("fit", "isoflop", "valley", "residuals", "ppc", "sensitivity", "groups", "reconcile", "progress", "lengths",
       "horizons", "trend", "ranks", "worth", "ask", *OF_SCORES, "calibration")  # fmt: skip
PUBLISHED = ("fit", "isoflop", "valley", *SEVERAL, "reconcile")  # figures that draw published values
WITHOUT_LEVEL = ("ask", "compare", "sensitivity", "ranks")
NAMES = (*ONE, *SEVERAL, "compare")
HTML = ".html"


def plot(
    name: Annotated[str, Argument(help=f"The figure: {', '.join(NAMES)}.", metavar="NAME")],
    files: Annotated[
        list[Path], Argument(help="Fits; for calibration, what 'bayescaling calibrate' wrote.", metavar="FILE.nc...")
    ],
    out: Annotated[Path, Option(help="The file to write.", metavar="FILE.svg|.png|.pdf|.html")],
    compute: options.Budgets = None,
    show: Annotated[
        str | None,
        Option(
            help="parameters, tokens, tokens_per_parameter or loss; of calibration ranks, coverage.", metavar="NAME"
        ),
    ] = None,
    quantity: Annotated[str | None, Option(help="A constant, of posterior and groups.", metavar="NAME")] = None,
    question: Annotated[
        list[str] | None, Option(help="Of ask, such as 'alpha'. Repeatable.", metavar="QUESTION")
    ] = None,
    baseline: Annotated[str | None, Option(help="The group to compare with, of worth.", metavar="NAME")] = None,
    plan: options.Plan = None,
    published: Annotated[
        bool | None, Option(help="Draw published values too; by default next to fits of the table that they are of.")
    ] = None,
    level: Annotated[
        float | None, Option(help="Level of intervals (0.95, of calibration 0.9).", metavar="SHARE")
    ] = None,
    title: Annotated[str | None, Option(help="The title; by default the finding.", metavar="TEXT")] = None,
    theme: Annotated[str, Option(help="light or dark.")] = "light",
    json: options.Json = False,
):
    """Draw a figure of fits. Its finding and its caption are printed."""
    from ..datasets.files import check_writable, written_whole
    from ..datasets.printed import Text
    from ..datasets.wording import check_choice
    from ..plots.with_matplotlib import FORMATS, check_format, write

    check_choice("figure", name, NAMES)
    check_format(out, (*FORMATS, "html"))
    check_writable(out)
    if name in ONE and len(files) > 1:
        raise InputError(f"the figure {name!r} is of one fit, not {len(files)}; name one file")
    named = {"show": show, "quantity": quantity, "baseline": baseline, "published": published}
    chosen = _options(name, compute, named, parsing.values(plan, "--plan")) | {"title": title, "theme": theme}
    if bool(question) != (name == "ask"):
        raise InputError("the figure 'ask' takes --question 'alpha', once or more, and no other figure does")
    chosen |= {} if name in WITHOUT_LEVEL or level is None else {"level": level}
    figure = _drawn(name, files, chosen, out.suffix.lower() == HTML, json, question or ())
    if out.suffix.lower() == HTML:
        with written_whole(out, parents=False) as partial:
            partial.write_text(figure.to_html(include_plotlyjs="cdn"), encoding="utf-8")
    else:
        write(figure.figure, out)
    if json:
        columns = figure.table.to_dict("list")
        numbers = {column: [None if x != x else x for x in values] for column, values in columns.items()}
        tables.print_json({"title": figure.finding, "caption": figure.caption, "table": numbers})
        return
    print(Text(f"{figure.finding}.", None, (figure.caption,)))
    tables.print_written(out)


def _options(name, compute, named, planned):
    """Return the options of a figure, refusing those of others."""
    values = {"--compute": compute, "--plan": planned} | {f"--{option}": x for option, x in named.items()}
    takes = {"--compute": OF_BUDGETS, "--show": ("frontier", "allocation", "calibration"),
             "--quantity": ("posterior", "groups"), "--baseline": ("worth",), "--published": PUBLISHED,
             "--plan": (*(figure for figure in OF_BUDGETS if figure != "progress"), "reconcile")}  # fmt: skip
    for option, value in values.items():
        if value not in (None, {}, []) and name not in takes[option]:
            raise InputError(f"the figure {name!r} takes no {option}; it is for {', '.join(takes[option])}")
    if name == "worth" and named["baseline"] is None:
        raise InputError("the figure 'worth' compares with one group: name it with --baseline")
    budgets = parsing.numbers(compute, "--compute") if compute else None
    single = name in OF_BUDGET or (name == "fit" and budgets is not None)
    if single and (budgets is None or len(budgets) != 1):
        count = "none" if budgets is None else len(budgets)
        raise InputError(f"the figure {name!r} is at one budget, not {count}: give --compute once, such as 1e24")
    if budgets is not None:
        planned = planned | {"compute": budgets[0] if single else budgets}
    return planned | {option: x for option, x in named.items() if x is not None}


def _drawn(name, files, chosen, html, json, more):
    """Draw a figure of files without a window."""
    from matplotlib.figure import Figure

    from .. import plots
    from ..inference import compare, worth
    from ..inference.checks.calibration import open_calibration
    from ..plots.with_matplotlib import WIDTH

    read = open_calibration if name == "calibration" else None
    if name == "worth" and files[0].suffix != ".nc":
        read = partial(worth, baseline=chosen.pop("baseline"), compute=chosen.pop("compute", None))
    fits = {key.removesuffix(".nc"): fit for key, fit in tables.open_fits(files, json, read).items()}
    if name == "compare":
        subject = compare(fits, progress=tables.interactive(json))
    else:
        subject = fits if name in SEVERAL and len(fits) > 1 else next(iter(fits.values()))
    draw = getattr(plots, f"plot_{name}")
    if html:
        return draw(subject, *more, backend="plotly", **chosen)
    return draw(subject, *more, ax=Figure(figsize=(WIDTH, 4.2), layout="constrained").subplots(), **chosen)
