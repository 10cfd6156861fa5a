"""The options of the command line, and the set of them that several commands share."""

import functools
import inspect
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from ..reports.pages import PAGES
from ..training.arithmetic.presets import PRESETS as ARITHMETIC_PRESETS
from ..training.language.presets import PRESETS as LANGUAGE_PRESETS

CORES_OF_A_FIT = 4  # chains, one a core

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to standard output and nothing else.")]
FORMATS = "(CSV, TSV, JSONL, Parquet, netCDF; .gz, .xz, .zst), or a pattern such as 'runs-*.csv'."
Data = Annotated[str, typer.Option("--data", help=f"A built-in table or a file of runs {FORMATS}")]
AnyTable = Annotated[str | None, typer.Option("--data", help=f"A built-in table, or a file {FORMATS}")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="Which column is which: loss=my_name. Repeatable.", metavar="NAME=COLUMN"),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="A column to leave out. Repeatable.", metavar="COLUMN")
]
Perplexity = Annotated[
    bool,
    typer.Option(
        "--perplexity",
        help="Take the loss as the logarithm of a column perplexity, ppl, val_ppl or so, or --column perplexity=NAME.",
    ),
]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit",
        help="Unit of a column: parameters=1e9, tokens=1e12, training_flop=1e21, loss=bits or loss=bits-per-byte. "
        "Repeatable.",
        metavar="NAME=UNIT",
    ),
]
BytesPerToken = Annotated[float | None, typer.Option(help="Mean bytes of a token, for a loss in bits per byte.")]
Where = Annotated[
    str | None,
    typer.Option(
        help="Keep the rows for which this holds: \"experiment == 'a' and lr > 1e-4\"; `names like this` in backticks.",
        metavar="CONDITION",
    ),
]
BestOf = Annotated[
    str | None, typer.Option(help="Keep the row of least loss of each, such as parameters,tokens.", metavar="COLUMNS")
]
LastOf = Annotated[
    str | None, typer.Option(help="Keep the row of most tokens, the last, of each, such as run.", metavar="COLUMNS")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows that lack a value in a column that is needed.")
]
DropHighest = Annotated[
    int, typer.Option(help="Rows of highest loss to leave out; of points, of the parametric fits alone.")
]

LawOrCoupled = Annotated[
    str,
    typer.Argument(
        metavar="LAW",
        help="A law, such as chinchilla. In rollouts the coupled law predicts runs beyond the fitted ones best.",
    ),
]
LawName = Annotated[str, typer.Argument(metavar="LAW", help="A law, such as chinchilla.")]
Priors = Annotated[
    list[str] | None,
    typer.Option("--prior", help='Replace a prior: alpha="LogNormal(-1, 0.5)". Repeatable.', metavar="NAME=DIST"),
]
Noise = Annotated[
    str | None,
    typer.Option(help="student_t (default), normal or huber; of progress-N normal; of scores beta."),
]
Scale = Annotated[str | None, typer.Option(help="Residuals on log_loss (default) or loss; of progress-N loss.")]
Threshold = Annotated[float | None, typer.Option(help="Threshold of the Huber noise, in units of its scale (1.345).")]
MeasurementError = Annotated[bool, typer.Option("--measurement-error", help="Use the column loss_halfwidth.")]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="An option of the law: run_effects=true of chinchilla, transformer=exp of progress-N. Repeatable.",
        metavar="NAME=VALUE",
    ),
]

Group = Annotated[
    str | None,
    typer.Option(
        help="Fit the groups of rows that a column names, such as corpora, with quantities of their own.",
        metavar="COLUMN",
    ),
]
Pooled = Annotated[
    str | None,
    typer.Option(
        help="With --group: quantities pooled over groups; the exponents by default, '' for none.", metavar="NAMES"
    ),
]
Shared = Annotated[
    str | None, typer.Option(help="With --group: quantities that are the same in all groups.", metavar="NAMES")
]

Sampler = Annotated[str | None, typer.Option(help="nutpie, numpyro or pymc.")]
Draws = Annotated[int, typer.Option(help="Kept draws of each chain.")]
Tune = Annotated[int, typer.Option(help="Warm-up iterations of each chain.")]
Chains = Annotated[int, typer.Option()]
Cores = Annotated[int | None, typer.Option(help="Chains run at a time.")]
TargetAccept = Annotated[float | None, typer.Option(help="0.9, of progress-N and lengths 0.95.")]
Seed = Annotated[int, typer.Option(help="Seed of the draws.")]

LogLikelihood = Annotated[
    bool | None,
    typer.Option(
        "--log-likelihood/--no-log-likelihood",
        help="Keep the log density of every row under every draw in the file, for ArviZ; by default up to 20 million.",
        show_default=False,
    ),
]

ScoresTable = Annotated[
    str | None, typer.Option("--data", help=f"A table of scores with dates and computes {FORMATS}", metavar="TABLE")
]
Years = Annotated[
    str | None, typer.Option(help="Only models released from the one to before the other.", metavar="FIRST:LAST")
]
BreakYear = Annotated[float, typer.Option(help="Date at which the pace may change.")]
ByModel = Annotated[bool, typer.Option("--elpd", help="Compare one pace with two by leaving models out.")]
Folder = Annotated[Path | None, typer.Option(help="Write linear.nc and break.nc to this folder.", metavar="DIR")]

Truth = Annotated[str, typer.Option(help="Distribution that truths are drawn from: posterior or prior.")]
Simulations = Annotated[int, typer.Option(help="Tables to simulate and fit.")]
FitOut = Annotated[Path | None, typer.Option(help="Write the fit to this netCDF file.", metavar="FILE.nc")]
RanksOut = Annotated[
    Path | None,
    typer.Option(
        help="Write ranks to this netCDF file as they come; simulations that it holds are kept.", metavar="FILE.nc"
    ),
]

Cutoffs = Annotated[
    list[str], typer.Option(help="Fit the rows below this: 1e20, 2019.5 or 2019-06-30. Repeatable.", metavar="CUTOFF")
]
CutBy = Annotated[
    str, typer.Option(help="What to cut along: compute of runs, date of evaluations, or a column.", metavar="COLUMN")
]
Figure = Annotated[
    Path | None,
    typer.Option(help="Draw predicted intervals against what was observed.", metavar="FILE.svg|.png|.pdf"),
]

FitFile = Annotated[Path, typer.Argument(metavar="FILE.nc", help="A fit that 'bayescaling fit' wrote.")]
FitFilesOrProgress = Annotated[
    list[Path],
    typer.Argument(help="Fits that 'bayescaling fit' wrote, or the word progress.", metavar="FILE.nc...|progress"),
]
ProgressFiles = Annotated[list[Path], typer.Argument(help="Fits of progress-N.", metavar="FILE.nc...")]
ReconciledFile = Annotated[
    Path,
    typer.Argument(metavar="FILE.nc", help="A fit of chinchilla, coupled, offsets or embedding-corrected."),
]
Weighting = Annotated[str, typer.Option(help="stacking, pseudo_bma or equal; rollout for predictions beyond the runs.")]
PaperGrid = Annotated[
    bool,
    typer.Option("--paper-grid", help="With progress: the paper's own 20 x 6 penalised fits instead, minutes of work."),
]
RateCompute = Annotated[
    float | None,
    typer.Option(
        help="Training budget in FLOP at which the rate is asked for, instead of at the evaluations; 1e25 with --year.",
        metavar="FLOP",
    ),
]
RateYear = Annotated[
    float | None,
    typer.Option(help="Year at which the rate is asked for, instead of at the evaluations; 2023 with --compute."),
]
Beyond = Annotated[
    str,
    typer.Option(
        help="Beyond the largest run: drift, which adds how far the law missed later runs of other tables, or none."
    ),
]
Robust = Annotated[bool, typer.Option(help="Robust widths where the rows reject the law.")]
Budgets = Annotated[
    list[str] | None,
    typer.Option(
        help="Budget in FLOP, or 1e20:1e24:5 for five from 1e20 to 1e24, evenly spaced in logarithms. Repeatable.",
        metavar="FLOP",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--loss", help="Loss to reach with the least compute, in place of a budget. Repeatable.", metavar="NATS"
    ),
]
Demands = Annotated[
    list[str] | None,
    typer.Option(
        help="Tokens that the model is to read and write over its life, 2 N FLOP each, or a range as of --compute. "
        "Repeatable.",
        metavar="TOKENS",
    ),
]
NearOptimal = Annotated[
    float | None,
    typer.Option(help="Give the sizes whose loss is within so much of the best, relatively: 0.001.", metavar="SHARE"),
]
Vocabulary = Annotated[
    float | None, typer.Option(help="Vocabulary of the planned models; 32000 by default.", metavar="V")
]
Plan = Annotated[
    list[str] | None,
    typer.Option(
        "--plan",
        help="What the law is to know of the runs planned: unique_tokens=1e11. Repeatable.",
        metavar="NAME=VALUE",
    ),
]
AspectRatio = Annotated[
    float | None, typer.Option(help="Width over layers of the planned models; Chinchilla's by default.", metavar="A")
]

LanguageSweep = Annotated[
    Path | None, typer.Argument(help="A sweep of small language models; or give --preset.", metavar="FILE.toml")
]
ArithmeticSweep = Annotated[
    Path | None, typer.Argument(help="A sweep of arithmetic models; or give --preset.", metavar="FILE.toml")
]
LanguagePreset = Annotated[str | None, typer.Option("--preset", help=f"One of {', '.join(LANGUAGE_PRESETS)}.")]
ArithmeticPreset = Annotated[str | None, typer.Option("--preset", help=f"One of {', '.join(ARITHMETIC_PRESETS)}.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what it takes: runs, parameters, FLOP, memory, hours.")
]
Minutes = Annotated[float, typer.Option(help="Minutes after which to save and stop.")]
Out = Annotated[Path, typer.Option("--out", help="Folder to write to; a sweep found there is continued.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Processes = Annotated[
    int | None,
    typer.Option(
        help="Processes among which refits, simulated tables, pages of a report and the like are divided; by default "
        "one for each four cores, which the chains of one fit keep busy, and for a report one a core, four at most."
    ),
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda or cuda:1.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds after which to save and stop.")]

Width = Annotated[float, typer.Option(help="Width of an iso-FLOP group in decades of compute.", metavar="DECADES")]
MinimumRuns = Annotated[int, typer.Option(help="Fewest runs of an iso-FLOP group, at least 4.")]
LevelBudgets = Annotated[
    list[float] | None,
    typer.Option("--budget", help="Compute of an iso-FLOP group; found if not given. Repeatable.", metavar="FLOP"),
]

TableName = Annotated[str | None, typer.Argument(metavar="NAME", help="A table.")]
Notes = Annotated[bool, typer.Option("--notes", help="Show the notes on the table.")]
Clear = Annotated[bool, typer.Option("--clear", help="Delete it.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Make every result again, even where an earlier report kept it in the cache.")
]
Full = Annotated[
    bool,
    typer.Option(
        "--full",
        help="Make what takes long too: calibrations, variants, other priors, refits of runs. Once made, it stays.",
    ),
]
ReportOut = Annotated[Path, typer.Option(help="Folder to write to.", metavar="DIR")]
ReportFiles = Annotated[
    list[Path] | None, typer.Argument(metavar="[FILE.nc]...", help="Fits to report on, of one kind of law.")
]
OwnRuns = Annotated[
    str | None, typer.Option("--data", help=f"Report on a table of runs of your own {FORMATS}", metavar="TABLE")
]
OwnEvaluations = Annotated[
    str | None, typer.Option("--evaluations", help="Report on a table of evaluations of your own.", metavar="TABLE")
]
Laws = Annotated[
    list[str] | None,
    typer.Option(
        "--law",
        help="A law to fit to it; by default chinchilla and coupled, or progress-7, -12, -14 and -16. Repeatable.",
        metavar="LAW",
    ),
]
Backdrop = Annotated[
    bool, typer.Option("--backdrop", help="Show what the best law says of the built-in table beside it.")
]
_NAMES = list(PAGES)
Pages = Annotated[
    list[str] | None,
    typer.Option(
        "--page",
        help=f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}; all by default. Repeatable.",
        metavar="PAGE",
    ),
]


@dataclass(frozen=True)
class Reading:
    """Options of every command that reads a table."""

    column: Columns = None
    ignore: Ignore = None
    perplexity: Perplexity = False
    unit: Units = None
    bytes_per_token: BytesPerToken = None
    where: Where = None
    drop_missing: DropMissing = False
    last_of: LastOf = None
    best_of: BestOf = None
    drop_highest: DropHighest = 0
    json: Json = False


@dataclass(frozen=True)
class Grouping(Reading):
    """Options of every command that may fit groups of rows: the table's, and which quantities are whose."""

    group: Group = None
    pooled: Pooled = None
    shared: Shared = None


@dataclass(frozen=True)
class Fitting(Grouping):
    """Options of every command that fits a law to a table: the table's, the law's and the sampler's."""

    prior: Priors = None
    noise: Noise = None
    scale: Scale = None
    threshold: Threshold = None
    measurement_error: MeasurementError = False
    option: Options = None
    sampler: Sampler = None
    draws: Draws = 1000
    tune: Tune = 1000
    chains: Chains = 4
    cores: Cores = None
    target_accept: TargetAccept = None
    seed: Seed = 1


@dataclass(frozen=True)
class Since(Fitting):
    """Options of progress at fixed compute since a year."""

    data: ScoresTable = None
    years: Years = None
    break_year: BreakYear = 2024.37
    elpd: ByModel = False
    out: Folder = None


@dataclass(frozen=True)
class Sweep:
    """Options of every command that trains a sweep."""

    out: Out
    dry_run: DryRun = False
    scheduler: Scheduler = None
    device: Device = None
    time_limit: TimeLimit = None
    json: Json = False


def works(command=None, *, most=None):
    """Give a command the options that say where independent pieces of its work run.

    Parameters
    ----------
    command : callable
    most : int, optional
        Processes by default, as many cores permitting; else one for each `CORES_OF_A_FIT` cores.
    """
    if command is None:
        return functools.partial(works, most=most)
    own = inspect.signature(command)
    added = {"processes": Processes, "scheduler": Scheduler}
    more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=a) for n, a in added.items()]

    @functools.wraps(command)
    def wrapper(*, processes, scheduler, **given):
        if processes is None and scheduler is None:
            from ..clusters import cores

            processes = max(1, min(most, cores()) if most else cores() // CORES_OF_A_FIT)
        if processes == 1 and scheduler is None:
            return command(**given)
        from ..inference.workers import parallel

        with parallel(processes, scheduler=scheduler):
            return command(**given)

    wrapper.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])
    wrapper.__annotations__ = {
        name: parameter.annotation for name, parameter in wrapper.__signature__.parameters.items()
    }
    return wrapper


def given(context):
    """Names of the parameters of a command that stand on its command line."""
    return {name for name in context.params if context.get_parameter_source(name).name == "COMMANDLINE"}


def shares(kind, **defaults):
    """Give a command the options of a dataclass after its own, and pass them to its last parameter as one object.

    Parameters
    ----------
    kind : type
        `Reading`, `Grouping`, `Fitting`, `Since` or `Sweep`.
    **defaults
        Defaults that differ from the dataclass's.
    """

    def decorate(command):
        *own, last = inspect.signature(command).parameters.values()
        shared = [_parameter(field, defaults) for field in fields(kind)]
        names = [parameter.name for parameter in shared]

        @functools.wraps(command)
        def wrapped(**given):
            chosen = kind(**{name: given.pop(name) for name in names})
            return command(**given, **{last.name: chosen})

        wrapped.__signature__ = inspect.Signature([*own, *shared])
        wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
        return wrapped

    return decorate


def _parameter(field, defaults):
    default = defaults.get(field.name, field.default)
    if default is MISSING:
        default = inspect.Parameter.empty
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type)
