"""Options that several commands share, and the decorators that give them to a command."""

import functools
import inspect
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

CORES_OF_A_FIT = 4  # chains, one per core
FORMATS = (
    "(CSV, TSV, Markdown, JSON, JSONL, Parquet, netCDF; .gz, .bz2, .zip, .xz, .zst), or a pattern such as 'runs-*.csv'."
)
FLOP = "1e24, 3x10^23, 100PF-days, 2ZFLOP or 300H100-hours (at 40% of the peak)"
# Options of a panel of the help.
_priced, _reading, _of_law, _of_sampler, _spread, of_tables = (
    functools.partial(Option, rich_help_panel=panel)
    for panel in ("Price", "Table", "Law", "Sampler", "Processes", "Of a table")
)


def complete_law(begun: str) -> list[str]:
    """Return the names of laws that begin with what was typed."""
    from ..models.laws import names
    from ..models.published import laws

    return [name for name in (*names(), *laws()) if name.startswith(begun)]


def complete_table(begun: str) -> list[str]:
    """Return the names of built-in tables and of files that begin with what was typed."""
    from ..datasets import catalogue

    folder, _, start = begun.rpartition("/")
    files = [f"{folder}/{path.name}" if folder else path.name for path in Path(folder or ".").glob(f"{start}*")]
    return [*(name for name in catalogue()["name"] if name.startswith(begun)), *sorted(files)]


AnyTable = Annotated[
    str | None, Option("--data", help=f"A built-in table, or a file {FORMATS}", autocompletion=complete_table)
]
LawName = Annotated[str, Argument(metavar="LAW", help="A law, such as chinchilla.", autocompletion=complete_law)]
Json = Annotated[bool, Option("--json", help="Print one JSON document and nothing else.")]
Seed = Annotated[int, Option(help="Seed of the draws.")]
Budgets = Annotated[
    list[str] | None, Option(help=f"Budget in FLOP: {FLOP}, or a range 1e20:1e24:5. Repeatable.", metavar="FLOP")
]
Plan = Annotated[
    list[str] | None,
    Option(help="What the law must know of the planned runs: unique_tokens=1e11. Repeatable.", metavar="NAME=VALUE"),
]
Beyond = Annotated[
    str, Option(help="Outside the runs: drift, by which the law missed later runs of other tables, or none.")
]
Robust = Annotated[bool, Option(help="Robust widths where the rows reject the law.")]
Figure = Annotated[Path | None, Option(help="Draw a figure to this file.", metavar="FILE.svg|.png|.pdf")]
Vocabulary = Annotated[float | None, Option(help="Vocabulary of the planned models; 32000 by default.", metavar="V")]
AspectRatio = Annotated[
    float | None, Option(help="Width over layers of the planned models; Chinchilla's by default.", metavar="A")
]
GpuHour = Annotated[
    float | None, _priced(help="Price of a GPU-hour in any currency, to print hours and money too.", metavar="MONEY")
]
FlopPerSecond = Annotated[
    float,
    _priced(help="Peak of one GPU; 9.89e14 by default, an H100 in bfloat16.", metavar="FLOP", show_default=False),
]
Utilisation = Annotated[float, _priced(help="Share of the peak that training reaches.", metavar="SHARE")]
H100, USUAL = 9.89e14, 0.4  # defaults of both, which `inference/decisions/price.py` explains
Out = Annotated[Path, Option("--out", help="Folder to write to; a sweep in it is continued.")]
Device = Annotated[str | None, Option(help="cpu, cuda or cuda:1.")]
Scheduler = Annotated[str | None, _spread(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Processes = Annotated[
    int | None, _spread(help="Processes of refits, simulated tables and pages; by default one for each four cores.")
]


@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table."""

    column: Annotated[
        list[str] | None,
        _reading(help="A column: loss=my_name or tokens=steps*batch*context. Repeatable.", metavar="NAME=COLUMN"),
    ] = None
    ignore: Annotated[list[str] | None, _reading(help="A column to leave out. Repeatable.", metavar="COLUMN")] = None
    perplexity: Annotated[
        bool, _reading("--perplexity", help="Take the loss as the logarithm of a column perplexity, ppl or val_ppl.")
    ] = False
    unit: Annotated[
        list[str] | None,
        _reading(
            help="Unit of a column: parameters=1e9, tokens=1e12, training_flop=1e21, loss=bits or "
            "loss=bits-per-byte. Repeatable.",
            metavar="NAME=UNIT",
        ),
    ] = None
    bytes_per_token: Annotated[float | None, _reading(help="Mean bytes of a token, for bits per byte.")] = None
    flop_per_parameter_token: Annotated[
        float | None, _reading(help="FLOP of a parameter and token: 6 (default), or 2 of the forward pass.")
    ] = None
    where: Annotated[
        str | None,
        _reading(help='Rows to read, such as "`peak lr` > 1e-4".', metavar="CONDITION"),
    ] = None
    drop_missing: Annotated[
        bool, _reading("--drop-missing", help="Leave out rows without a positive number in a needed column.")
    ] = False
    keep_copies: Annotated[bool, _reading("--keep-copies", help="Also read rows that are copies of others.")] = False
    last_of: Annotated[
        str | None, _reading(help="Read the row of most tokens, the last, of each value: run.", metavar="COLUMNS")
    ] = None
    best_of: Annotated[
        str | None, _reading(help="Read the row of least loss of each value: parameters,tokens.", metavar="COLUMNS")
    ] = None
    drop_highest: Annotated[
        int, _reading(help="Rows of highest loss to leave out; in points, of parametric fits alone.")
    ] = 0
    from_name: Annotated[
        str | None, _reading(help="Sizes in names of runs: '{parameters}_{}step', {} any text.", metavar="PATTERN")
    ] = None
    from_file: Annotated[
        str | None, _reading(help="Sizes in names of files, one a run: 'N{parameters}_D{}.csv'.", metavar="PATTERN")
    ] = None
    trials: Annotated[int | None, _reading(help="Problems of a row of counts that has an accuracy.")] = None
    json: Json = False


@dataclass(frozen=True)
class Fitting(Reading):
    """Options of every command that fits a law: those of the table, groups of rows, the law and the sampler."""

    group: Annotated[
        str | None, _of_law(help="Fit groups of rows, such as corpora, by this column.", metavar="COLUMN")
    ] = None
    pooled: Annotated[
        str | None,
        _of_law(help="Quantities pooled over groups; the exponents by default, '' for none.", metavar="NAMES"),
    ] = None
    shared: Annotated[str | None, _of_law(help="Quantities that are the same in all groups.", metavar="NAMES")] = None
    prior: Annotated[
        list[str] | None, _of_law(help='A prior: alpha="LogNormal(-1, 0.5)". Repeatable.', metavar="NAME=DIST")
    ] = None
    noise: Annotated[
        str | None, _of_law(help="student_t (default), normal or huber; of progress-N normal; of scores beta.")
    ] = None
    scale: Annotated[str | None, _of_law(help="Residuals on log_loss (default) or loss; of progress-N loss.")] = None
    threshold: Annotated[float | None, _of_law(help="Threshold of the Huber noise, in units of its scale (1.345).")] = (
        None
    )
    measurement_error: Annotated[bool, _of_law("--measurement-error", help="Use the column loss_halfwidth.")] = False
    option: Annotated[
        list[str] | None,
        _of_law(help="An option of the law, such as run_effects=true. Repeatable.", metavar="NAME=VALUE"),
    ] = None
    sampler: Annotated[str | None, _of_sampler(help="nutpie, numpyro or pymc.")] = None
    draws: Annotated[int, _of_sampler(help="Draws of each chain after warm-up.")] = 1000
    tune: Annotated[
        int | None, _of_sampler(help="Warm-up iterations of each chain: of a fit 1000, of horizons 400.")
    ] = None
    chains: Annotated[int, _of_sampler(help="Chains.")] = 4
    cores: Annotated[int | None, _of_sampler(help="Chains run at a time.")] = None
    target_accept: Annotated[
        float | None, _of_sampler(help="0.9, of horizons 0.8, of progress-N and lengths 0.95.")
    ] = None
    seed: Annotated[int, _of_sampler(help="Seed of the draws.")] = 1


def works(command=None, *, most=None):
    """Give a command the options that state where independent tasks of its work run.

    It has one process for each `CORES_OF_A_FIT` cores by default; with `most` one per core, at most so many.
    """
    if command is None:
        return functools.partial(works, most=most)

    def working(*, processes, scheduler, **values):
        if processes is None and scheduler is None:
            from ..clusters import cores

            processes = max(1, min(most, cores()) if most else cores() // CORES_OF_A_FIT)
        if processes == 1 and scheduler is None:
            return command(**values)
        from ..inference.workers import parallel

        with parallel(processes, scheduler=scheduler):
            return command(**values)

    added = {"processes": Processes, "scheduler": Scheduler}
    parameters = inspect.signature(command).parameters.values()
    return _with_signature(working, command, [*parameters, *(_parameter(n, kind) for n, kind in added.items())])


def shares(kind, **defaults):
    """Give a command the options of a dataclass after the others, and pass them to its last parameter as one object.

    The dataclass `kind` is `Reading` or `Fitting`, or one of the command; `defaults` replace its defaults.
    """

    def decorate(command):
        *parameters, last = inspect.signature(command).parameters.values()
        shared = [_parameter(field.name, field.type, defaults.get(field.name, field.default)) for field in fields(kind)]

        def sharing(**values):
            options = kind(**{parameter.name: values.pop(parameter.name) for parameter in shared})
            return command(**values, **{last.name: options})

        return _with_signature(sharing, command, [*parameters, *shared])

    return decorate


def _parameter(name, annotation, default=None):
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_signature(wrapper, command, parameters):
    """Give a function the name and help of a command, and the parameters of the command line."""
    wrapper = functools.wraps(command)(wrapper)
    wrapper.__signature__ = inspect.Signature(parameters)
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper
