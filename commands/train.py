"""The commands ``train`` and ``arithmetic``: a sweep of models, trained."""

import contextlib
import importlib
import io
import sys
import tomllib
from dataclasses import dataclass
from json import loads
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option, Typer
from typer.main import get_command

from ..errors import InputError
from ..training.arithmetic.presets import PRESETS as ARITHMETIC_PRESETS
from ..training.language.presets import PRESETS as LANGUAGE_PRESETS
from . import exit_status, fit, options, report, tables
from .help import Command

PACKAGES = {"train": "..training", "arithmetic": "..training.arithmetic"}  # imported when help is printed
REGIONS = ("id", "ood", "ood100")
# The four numbers of table 1 of McLeish et al. (2024).
SORTED = ("number_length", "array_length", "all_30x30", "all_20x20")


def _command(function):
    app = Typer(add_completion=False)
    app.command()(function)
    return get_command(app)


# What may follow a sweep.
COMMANDS = {"fit": _command(fit.fit), "report": _command(report.report)}


@dataclass(frozen=True)
class SweepOptions:
    """Options of every command that trains a sweep."""

    out: Annotated[Path | None, Option("--out", help="Folder to write to; a sweep in it is continued.")] = None
    dry_run: Annotated[bool, Option("--dry-run", help="Only print what it takes: FLOP, memory, time.")] = False
    processes: Annotated[int | None, Option(help="Runs trained at the same time, on the cores or the GPU here.")] = None
    scheduler: options.Scheduler = None
    device: Annotated[str | None, Option(help="cpu, cuda or cuda:1; with --dry-run any GPU, such as H100.")] = None
    time_limit: Annotated[float | None, Option(help="Seconds after which to save and stop.")] = None
    json: options.Json = False


@options.shares(SweepOptions)
def train(
    file: Annotated[Path | None, Argument(help="A sweep; or give --preset.", metavar="FILE.toml")] = None,
    preset: Annotated[str | None, Option(help=f"One of {', '.join(LANGUAGE_PRESETS)}.")] = None,
    *,
    sweep,
):
    """Train a sweep of small language models. Their losses are written as a table of runs."""
    from .. import training

    _run(training, file, preset, sweep)


@options.shares(SweepOptions)
def arithmetic(
    file: Annotated[Path | None, Argument(help="A sweep; or give --preset.", metavar="FILE.toml")] = None,
    preset: Annotated[str | None, Option(help=f"One of {', '.join(ARITHMETIC_PRESETS)}.")] = None,
    *,
    sweep,
):
    """Train arithmetic models, and test them by operand length. Counts of right answers are written as a table."""
    from ..training import arithmetic as training

    _run(training, file, preset, sweep, accuracies=training.accuracies)


def arithmetic_check(
    folder: Annotated[Path, Argument(help="The --out of a sweep that saved weights.", metavar="DIR")],
    offset: Annotated[list[int] | None, Option(help="Offset of Abacus embeddings, 0 by default. Repeatable.")] = None,
    recurrences: Annotated[list[int] | None, Option(help="By default as trained. Repeatable.")] = None,
    longest: Annotated[int | None, Option(help="Test on all pairs of lengths up to it.")] = None,
    every: Annotated[int | None, Option(help="Only on its multiples.")] = None,
    diagonal_to: Annotated[int | None, Option(help="And on pairs of equal lengths up to it; 0 for none.")] = None,
    count: Annotated[int, Option(help="Problems of a pair of lengths.")] = 100,
    seed: Annotated[int, Option(help="Seed of the problems.")] = 0,
    precision: Annotated[str, Option(help="float32 or bfloat16, of the layers.")] = "float32",
    device: options.Device = None,
    json: options.Json = False,
):
    """Test saved arithmetic models at other settings. Offsets, recurrences and lengths go to DIR/check.csv."""
    from ..datasets.files import written_whole
    from ..training.arithmetic import check_saved

    cells = {"longest": longest, "every": every, "diagonal_to": diagonal_to}
    cells = {name: value for name, value in cells.items() if value is not None}
    settings = {"count": count, "seed": seed, "precision": precision, "device": device}
    table = check_saved(folder, offsets=offset or [0], recurrences=recurrences, **settings, **cells)
    path = folder / "check.csv"
    with written_whole(path) as partial:
        table.to_csv(partial, index=False)
    by = ["run", "embedding", "architecture", "seed", "offset", "tested_recurrences"]
    counts = table.groupby([*by, "split"], sort=False)[["correct", "total"]].sum()
    shares = (counts["correct"] / counts["total"]).unstack("split").reindex(columns=list(REGIONS)).reset_index()
    if json:
        tables.print_json({"table": str(path), "accuracies": shares.astype(object).to_dict("records")})
        return
    rows = [(*row[:6], *(tables.number(share, ".3f") for share in row[6:])) for row in shares.itertuples(index=False)]
    tables.print_table("share of problems right", (*by[:-1], "recurrences", *REGIONS), rows)
    tables.print_written(path)


def train_sample(
    folder: Annotated[Path, Argument(help="The --out of a sweep that saved weights.", metavar="DIR")],
    prompt: Annotated[str, Option(help="Text to continue; numbers of tokens where there is no tokeniser.")] = "",
    tokens: Annotated[int, Option(help="Tokens to write.")] = 50,
    temperature: Annotated[float, Option(help="By which logits are divided; 0 takes the likeliest token.")] = 1.0,
    seed: Annotated[int, Option(help="Seed of the draws.")] = 0,
    tokeniser: Annotated[Path | None, Option(help="By default that of the sweep's text.", metavar="FILE.json")] = None,
    device: options.Device = None,
    json: options.Json = False,
):
    """Let the saved language models of a sweep write text."""
    from ..training import sample_text

    settings = {"temperature": temperature, "seed": seed, "tokeniser": tokeniser, "device": device}
    table = sample_text(folder, prompt=prompt, tokens=tokens, **settings)
    if json:
        tables.print_json({"texts": table.to_dict("records")})
        return
    for row in table.itertuples():
        print(f"{row.parameters:,} parameters ({row.d_model} x {row.layers}), run {row.run}:\n{row.text}\n")


class SweepCommand(Command):
    """A command whose help has the keys of a sweep's file."""

    def format_epilog(self, context, formatter):
        """Write the keys, by table of the file, and examples."""
        self._write_keys(formatter)
        super().format_epilog(context, formatter)

    def _write_keys(self, formatter):
        try:
            keys = importlib.import_module(PACKAGES[self.name], __package__).sweep_keys()
        except InputError as error:
            formatter.write_paragraph()
            formatter.write_text(f"What FILE.toml may have is not listed here: {error}")
            return
        for table, rows in keys.groupby("table", sort=False):
            with formatter.section(f"{table} of FILE.toml" if table else "FILE.toml"):
                given = [" (needed)" if default == "needed" else f" = {default}" for default in rows["default"]]
                texts = [f"{row.meaning} Takes {row.takes}." for row in rows.itertuples()]
                formatter.write_dl(list(zip(rows["key"] + given, texts, strict=True)))


def _run(training, file, preset, options, *, accuracies=None):
    """Train a sweep with the module of its kind, or only print what it takes; `accuracies` computes those of runs."""
    if (file is None) == (preset is None):
        raise InputError(f"give a sweep's FILE.toml or --preset, not {'both' if file else 'neither'}; see --help")
    sweep = file if preset is None else training.make_sweep({"preset": preset})
    if options.dry_run:
        outline = training.outline(sweep, device=options.device)
        (tables.print_json if options.json else _print_outline)(outline)
        return
    if options.out is None:
        raise InputError("give --out, the folder to write to, or --dry-run")
    following = [] if file is None else _following(file, options.out)
    runs = _trained(training, sweep, options)
    path = options.out / "runs.csv"
    record = {
        "status": "paused" if runs is None else runs.attrs["status"],
        "runs": 0 if runs is None else runs.sizes["run"],
        "table": str(path) if path.exists() else None,
    }
    if accuracies is not None:
        record["accuracies"] = [] if runs is None else accuracies(runs)
    for name, arguments in following if record["status"] == "finished" else []:
        record[name] = _followed(name, arguments, options.json)
    if options.json:
        tables.print_json(record)
        return
    if record.get("accuracies"):
        _print_accuracies(record["accuracies"])
    again = "" if record["status"] == "finished" else "; run the same command to continue"
    table = f"; table {record['table']}" if record["table"] else ""
    print(f"{record['runs']} runs, {record['status']}{again}{table}")


def _following(file, out):
    """Return the commands that follow a sweep, as its file has them, with arguments; refuse what they do not take."""
    tables_of_file = {}
    with contextlib.suppress(OSError, ValueError):  # which the reader of the sweep reports
        tables_of_file = tomllib.loads(file.expanduser().read_text(encoding="utf-8"))
    return [_arguments(name, tables_of_file[name], out) for name in COMMANDS if name in tables_of_file]


def _arguments(name, table, out):
    if not isinstance(table, dict):
        raise InputError(f"{name}: write it as a table of options, [{name}]")
    table = {"table": "runs", "out": str(out / ("fit.nc" if name == "fit" else "report"))} | table
    arguments = [table.pop("law", "coupled")] if name == "fit" else []
    arguments += ["--data", str(out / f"{table.pop('table')}.csv")]
    for key, value in table.items():
        option = f"--{key.replace('_', '-')}"
        arguments += [option] * value if isinstance(value, bool) else []
        for one in [] if isinstance(value, bool) else value if isinstance(value, list) else [value]:
            arguments += [option, str(one)]
    try:
        COMMANDS[name].make_context(name, list(arguments))
    # The base of the one error of click that typer exports.
    except BadParameter.__base__ as error:
        raise InputError(f"[{name}]: {error.format_message()}; see bayescaling {name} --help") from error
    return name, arguments


def _followed(name, arguments, json):
    """Run a command after a sweep; return its document if JSON is wanted."""
    if not json:
        COMMANDS[name].main(arguments, name, standalone_mode=False)
        return None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        COMMANDS[name].main([*arguments, "--json"], name, standalone_mode=False)
    return loads(printed.getvalue())


def _trained(training, sweep, options):
    settings = {name: getattr(options, name) for name in ("processes", "scheduler", "device", "time_limit")}
    try:
        return training.train(sweep, options.out, progress=not options.json, **settings)
    except KeyboardInterrupt as interrupt:
        exit_status.taken(interrupt.args)
        count = len(list((options.out / "runs").glob("*.nc")))
        print(
            f"{count} finished runs and the checkpoint of the last are saved in {options.out}; the same command "
            "resumes",
            file=sys.stderr,
        )
        raise


def _print_outline(outline):
    """Print what a sweep will take: runs, parameters, FLOP, memory and time, by arm or stage."""
    from ..datasets.progress_messages import lasting

    rounds, measured = outline["rounds"], outline["measured"]
    rows = [
        (
            entry["name"],
            entry["runs"],
            " to ".join(f"{count:,}" for count in sorted(set(entry["parameters"]))),
            f"{entry['flop']:.3g}",
            f"{entry['bytes'] / 2**30:.3g}",
            "not measured" if entry["seconds"] is None else lasting(entry["seconds"]),
        )
        for entry in rounds
    ]
    runs, flop = (sum(entry[name] for entry in rounds) for name in ("runs", "flop"))
    estimated = all(entry["seconds"] is not None for entry in rounds)
    whole = lasting(sum(entry["seconds"] for entry in rounds)) if estimated else ""
    rows.append(("together", runs, "", f"{flop:.3g}", "", whole))
    tables.print_table("what the sweep takes", ("", "runs", "parameters", "FLOP", "GiB", "time"), rows)
    if measured:
        updates = " and ".join(f"{entry['seconds']:.2g} s of {entry['parameters']:,} parameters" for entry in measured)
        print(f"about {whole} if all of this {outline['device']} is free: an update, timed now, takes {updates}")
    else:
        print(
            f"The time is {'estimated' if estimated else 'not measured'}: {outline['unmeasured']}. The same command on "
            "the machine that trains measures it."
        )
    if outline["free"] is not None:
        print(f"{outline['free'] / 2**30:.3g} GiB are free there")


def _print_accuracies(entries):
    """Print the share of problems that each arithmetic model gets right, by region of lengths."""
    rows = [
        (
            f"{e['task']} {e['train_digits']} {e['embedding']}",
            f"{e['architecture']} {e['layers']}x{e['recurrences']}",
            *(e[name] for name in ("seed", "status", "offset")),
            *(tables.number(e[region], ".3f") for region in REGIONS),
        )
        for e in entries
    ]
    tables.print_table("share of problems right", ("", "architecture", "seed", "status", "offset", *REGIONS), rows)
    sorts = [entry for entry in entries if entry["task"] == "sorting"]
    if sorts:
        _print_sorted(sorts)


def _print_sorted(entries):
    """Print the four shares of each model that sorts, next to those that McLeish et al. (2024) publish."""
    from ..datasets import load

    published = load("published").set_index("quantity")["estimate"]
    rows = []
    for entry in entries:
        where = f"arithmetic.sorting{entry['train_digits']}.{entry['embedding']}.ST"
        standard = entry["architecture"] == "standard"
        shares = ((entry[name], published.get(f"{where}.{name}") if standard else None) for name in SORTED)
        name = f"{entry['embedding']} {entry['architecture']}", entry["seed"]
        rows.append((*name, *(_beside(share, percent) for share, percent in shares)))
    tables.print_table("share of sortings right (published)", ("", "seed", *SORTED), rows)


def _beside(share, percent):
    return tables.number(share, ".3f") + (f" ({percent / 100:.3f})" if percent is not None else "")
