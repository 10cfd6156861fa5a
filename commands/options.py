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

AnyTable = Annotated[str | None, Option("--data", help=f"A built-in table, or a file {FORMATS}")]
LawName = Annotated[str, Argument(metavar="LAW", help="A law, such as chinchilla.")]
Json = Annotated[bool, Option("--json", help="Print one JSON document to standard output and nothing else.")]
Sampler = Annotated[str | None, Option(help="nutpie, numpyro or pymc.")]
Draws = Annotated[int, Option(help="Draws of each chain after warm-up.")]
Tune = Annotated[int, Option(help="Warm-up iterations of each chain.")]
Chains = Annotated[int, Option()]
Seed = Annotated[int, Option(help="Seed of the draws.")]
Beyond = Annotated[
    str,
    Option(
        help="Beyond the largest run: drift, which adds how far the law missed later runs of other tables, or none."
    ),
]
Vocabulary = Annotated[float | None, Option(help="Vocabulary of the planned models; 32000 by default.", metavar="V")]
AspectRatio = Annotated[
    float | None, Option(help="Width over layers of the planned models; Chinchilla's by default.", metavar="A")
]
GpuHour = Annotated[
    float | None,
    Option(help="Price of a GPU-hour, in any currency: hours and money are then printed too.", metavar="MONEY"),
]
FlopPerSecond = Annotated[
    float, Option(help="Peak of one GPU; that of an H100 in bfloat16 by default.", metavar="FLOP")
]
Utilisation = Annotated[float, Option(help="Share of the peak that training reaches.", metavar="SHARE")]
H100, USUAL = 9.89e14, 0.4  # defaults of both, which `inference/decisions/price.py` explains
Out = Annotated[Path, Option("--out", help="Folder to write to; a sweep found there is continued.")]
Device = Annotated[str | None, Option(help="cpu, cuda or cuda:1.")]
Scheduler = Annotated[str | None, Option(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Processes = Annotated[
    int | None,
    Option(
        help="Processes among which refits, simulated tables, pages of a report and the like are divided; by default "
        "one for each four cores, which the chains of one fit use, and for a report one per core, four at most."
    ),
]


@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table."""

    column: Annotated[
        list[str] | None,
        Option(
            help="Which column is which: loss=my_name, or tokens=steps*batch*context, arithmetic of columns. "
            "Repeatable.",
            metavar="NAME=COLUMN",
        ),
    ] = None
    ignore: Annotated[list[str] | None, Option(help="A column to leave out. Repeatable.", metavar="COLUMN")] = None
    perplexity: Annotated[
        bool,
        Option(
            "--perplexity",
            help="Take the loss as the logarithm of a column perplexity, ppl, val_ppl or so, or --column "
            "perplexity=NAME.",
        ),
    ] = False
    unit: Annotated[
        list[str] | None,
        Option(
            help="Unit of a column: parameters=1e9, tokens=1e12, training_flop=1e21, loss=bits, loss=bits-per-byte "
            "or loss=other, in units of its median. Repeatable.",
            metavar="NAME=UNIT",
        ),
    ] = None
    bytes_per_token: Annotated[float | None, Option(help="Mean bytes of a token, for a loss in bits per byte.")] = None
    flop_per_parameter_token: Annotated[
        float | None,
        Option(help="FLOP of the table for each parameter and token: 6 of training (default), 2 of the forward pass."),
    ] = None
    where: Annotated[
        str | None,
        Option(
            help="Read only the rows for which this holds: \"experiment == 'a' and lr > 1e-4\"; `names like this` in "
            "backticks.",
            metavar="CONDITION",
        ),
    ] = None
    drop_missing: Annotated[
        bool,
        Option("--drop-missing", help="Leave out rows that lack a finite positive number in a column that is needed."),
    ] = False
    keep_copies: Annotated[bool, Option("--keep-copies", help="Also read rows that are exact copies of others.")] = (
        False
    )
    last_of: Annotated[
        str | None, Option(help="Read only the row of most tokens, the last, of each value: run.", metavar="COLUMNS")
    ] = None
    best_of: Annotated[
        str | None, Option(help="Read only the row of least loss of each value: parameters,tokens.", metavar="COLUMNS")
    ] = None
    drop_highest: Annotated[
        int, Option(help="Rows of highest loss to leave out; of points, of the parametric fits alone.")
    ] = 0
    from_name: Annotated[
        str | None,
        Option(
            help="Where sizes stand in names of runs: '{parameters}_{}step', with {} for any text.", metavar="PATTERN"
        ),
    ] = None
    from_file: Annotated[
        str | None,
        Option(
            help="Where sizes stand in names of files: 'curve_N{parameters}_D{}.csv'. Each file is a run.",
            metavar="PATTERN",
        ),
    ] = None
    trials: Annotated[
        int | None,
        Option(help="Problems of each row of a table of counts with a column accuracy in place of correct and total."),
    ] = None
    json: Json = False


@dataclass(frozen=True)
class Fitting(Reading):
    """Options of every command that fits a law: those of the table, groups of rows, the law and the sampler."""

    group: Annotated[
        str | None,
        Option(
            help="Fit the groups of rows that a column names, such as corpora, with quantities of their own.",
            metavar="COLUMN",
        ),
    ] = None
    pooled: Annotated[
        str | None,
        Option(
            help="With --group: quantities pooled over groups; the exponents by default, '' for none.", metavar="NAMES"
        ),
    ] = None
    shared: Annotated[
        str | None, Option(help="With --group: quantities that are the same in all groups.", metavar="NAMES")
    ] = None
    prior: Annotated[
        list[str] | None, Option(help='Replace a prior: alpha="LogNormal(-1, 0.5)". Repeatable.', metavar="NAME=DIST")
    ] = None
    noise: Annotated[
        str | None, Option(help="student_t (default), normal or huber; of progress-N normal; of scores beta.")
    ] = None
    scale: Annotated[str | None, Option(help="Residuals on log_loss (default) or loss; of progress-N loss.")] = None
    threshold: Annotated[float | None, Option(help="Threshold of the Huber noise, in units of its scale (1.345).")] = (
        None
    )
    measurement_error: Annotated[bool, Option("--measurement-error", help="Use the column loss_halfwidth.")] = False
    option: Annotated[
        list[str] | None,
        Option(
            help="An option of the law: run_effects=true of chinchilla, transformer=exp of progress-N. Repeatable.",
            metavar="NAME=VALUE",
        ),
    ] = None
    sampler: Sampler = None
    draws: Draws = 1000
    tune: Tune = 1000
    chains: Chains = 4
    cores: Annotated[int | None, Option(help="Chains run at a time.")] = None
    target_accept: Annotated[float | None, Option(help="0.9, of progress-N and lengths 0.95.")] = None
    seed: Seed = 1


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
