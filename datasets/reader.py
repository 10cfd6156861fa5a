"""The reader of tables of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from ..errors import InputError
from .catalogue import catalogue, load
from .checks import Changes
from .columns import Called
from .formats import open_table
from .kinds import KINDS
from .name_patterns import check_pattern, read_sizes_of_files, read_sizes_of_runs
from .notation import as_written
from .printed import PrintedTable
from .wording import check_choice

if TYPE_CHECKING:
    from collections.abc import Sequence


TableSource: TypeAlias = "pd.DataFrame | str | PathLike[str] | Mapping[str, Any]"  # what `as_table` reads
DEFAULTS = {"flop_per_parameter_token": 6}  # of options that are neither off nor empty


def read(
    source: str | PathLike[str] | pd.DataFrame,
    kind: str = "runs",
    *,
    columns: Mapping[str, str] | None = None,
    where: str | None = None,
    drop_missing: bool = False,
    unit: Mapping[str, float | str] | None = None,
    perplexity: bool = False,
    ignore: str | Sequence[str] = (),
    bytes_per_token: float | None = None,
    flop_per_parameter_token: float = 6,
    needed: str | Sequence[str] = (),
    keep_copies: bool = False,
    last_of: str | Sequence[str] | None = None,
    best_of: str | Sequence[str] | None = None,
    drop_highest: int = 0,
    from_name: str | None = None,
    from_file: str | None = None,
    trials: int | None = None,
    schedule: str | None = None,
    until: float | None = None,
) -> pd.DataFrame:
    """Read a table of training runs, evaluations, counts or scores and check it.

    Common names of columns are recognised whatever their case, spaces and punctuation, such as ``N``, ``params`` or
    ``Model Size``. A column that bears a name of the result exactly goes before others.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A file .csv, .txt or .dat (separated by commas, semicolons, tabs, bars or blanks), .tsv, .md, .json, .jsonl,
        .parquet or .nc, packed (.gz, .bz2, .zip, .xz, .zst) or not. Of netCDF-4, variables along one dimension are
        read, from a data set or a DataTree. The files of a pattern such as ``runs-*.csv`` are read as one table with a
        column ``file``. Files of one metric by step each, such as ``runs/*/*.csv``, are joined by run and step; a run
        is a folder. Of curves a log of a trainer is read too (.log, .out or .txt), and a folder of them. Text is UTF-8.
        The notes list the forms of JSON, of exports of trackers and of numbers.
    kind : str
        What the rows are: ``"runs"`` (training runs), ``"evaluations"`` (dated evaluations of language models),
        ``"counts"`` (problems that runs get right by operand lengths) or ``"scores"`` (of models on benchmarks).
        ``"horizons"`` are successes of models on tasks with human times, ``"values"`` dated values such as prices, and
        ``"curves"`` readings of runs while they train. The notes list the columns of each.
    columns : mapping of str to str, optional
        Column of the result to the column of the table that holds it, such as ``{"loss": "my_loss"}``, before any
        recognition. A column of the table whose name is so taken by another is left out. In a table of runs ``run``
        may be named too: rows of one value are readings of one run. Of runs a column may also be arithmetic of others
        with + - * /, such as ``{"tokens": "steps*batch_size*seq_len", "loss": "1-accuracy/100"}``, and a logarithm
        undone, such as ``10**log10_flops`` or ``exp(log_params)``.
    where : str, optional
        Read only the rows for which this holds, such as ``"experiment == 'a' and lr > 1e-4"``. It compares columns of
        the table or of the result, as in `pandas.DataFrame.query`; a name that is no identifier is between backticks.
    drop_missing : bool
        Leave out rows that lack a value in a needed column. Of runs also leave out those with a cell there that is no
        finite positive number, such as ``diverged`` or ``inf``. A number in another form, such as ``1,000``, is
        refused.
    unit : mapping of str to float or str, optional
        Of runs the units that columns are in, such as ``{"parameters": 1e9, "training_flop": 1e21}``. The unit of
        ``loss`` may be ``"bits"`` (per token) or ``"bits-per-byte"``. A unit in a header (``params_B``, ``tokens
        (T)``) is read without it. A unit of the user, 1 for example, is used however strange the sizes. Of scores
        ``{"score": "percent"}`` for scores from 0 to 100, where neither the header, as in ``Accuracy (%)``, nor the
        range of every benchmark states it.
    perplexity : bool
        Runs: take the loss as the natural logarithm of the table's perplexity.
    ignore : str or sequence of str
        Runs: columns of the table to leave out, such as a compute that was counted another way than 6ND.
    bytes_per_token : float, optional
        Runs: mean bytes of a token in the text of the loss, for a loss in bits per byte.
    flop_per_parameter_token : float
        Runs: FLOP of the table for each parameter and token, 2 where they count the forward pass alone.
    needed : str or sequence of str
        Runs: columns besides sizes and loss that must be whole, such as ``law.needed``. Bad cells of others stay.
        If one size alone is among them, as for a law of one variable, the other sizes are not needed.
        ``"run"`` states that the law has effects of runs, so that several readings of a run are expected.
    keep_copies : bool
        Runs: read rows that are exact copies of others, which are left out by default.
    last_of : str or sequence of str, optional
        Runs: of each value of these columns, such as ``"run"``, only the row of most tokens; of equal ones the last.
        The cells of rows that are left out, by this or the next two options, are not checked.
    best_of : str or sequence of str, optional
        Runs: of each value of these columns, such as ``"parameters,tokens"``, only the row of least loss.
    drop_highest : int
        Runs: rows of highest loss to leave out, after all else.
    from_name : str, optional
        Runs: where sizes stand in the names of the column ``run``, such as ``"{parameters}_{}step"``. A canonical name
        between braces is a number, which may be written 70M; ``{}`` is any text. The pattern fits whole names.
    from_file : str, optional
        Runs: as `from_name`, of the names of files, such as ``"curve_N{parameters}_D{}.csv"``. Each file is a run.
    trials : int, optional
        Counts: problems of each row, where a column ``accuracy`` has the share that is right, in parts of 1 or percent.
    schedule : str, optional
        Curves: the learning rate of each run, such as ``"cosine:peak=3e-4,warmup=2000,final=3e-5"``, where none was
        logged. Shapes are constant, linear, cosine and exponential; ``from`` is where the fall begins.
    until : float, optional
        Curves: where the `schedule` ends, in steps, or in tokens of a table without steps; by default at the last
        reading of each run.

    Returns
    -------
    pandas.DataFrame
        The table in the order of its rows, indexed from 0. It and its parts print their first rows in human units;
        ``.table()`` returns an ordinary DataFrame. ``attrs["source"]`` is the name of the file;
        ``attrs["reading"]`` lists what options and headers left out or changed, for a fit's record.

    Warns
    -----
    TableNote
        For each such change, with the number of rows.
    TableWarning
        If runs of the same sizes have losses more than 3% apart, or a loss is far from
        those of near sizes. Also if a run has fewer than 0.01 tokens per parameter, or ``run``, in a frame or chosen,
        names several readings of each run.

    Raises
    ------
    InputError
        If the table cannot be read or used, or an option is not one of its kind. The message is one line with the file
        and, of the first cells that cannot be used, the line, the column, the value and the fix. Lines of a
        text file count from 1. Of runs the message lists all missing columns, with candidates and options for a
        second try.

    Notes
    -----
    **JSON.** A file holds an array of objects, columns by name, or one object, which is one row. In an object with one
    array of objects, the other values are in every row. A .jsonl file holds one object a line. Names of nested objects
    are joined by dots (``config.n_layer``), and arrays in cells are left out. ``trainer_state.json`` of Hugging Face
    has a row for each evaluation. Results of the evaluation harness have a row for each task, with the accuracy or
    another share as ``score`` and the numbers of questions as ``items``.

    **Exports of trackers.** A panel with columns such as ``run-a - val/loss`` has the columns run, step and metric in
    the result, without minima, maxima and blanks. Columns named by sizes, such as ``70M`` next to tokens, have a row
    for each loss, and a pivot of sizes by tokens, or an object of objects, one for each cell. Names such as
    ``190M-2xC`` have the parameters and ``chinchilla_multiple``.

    **Numbers** may be written ``70M``, ``1.4 billion``, ``12,345,678``, ``1 000 000``, ``~257M`` or ``3 x 10^9``, and
    flags ``yes`` and ``no``. Losses and scores may be ``45.2%``, a share, and values ``$1,234.50``, ``12,30 €``, ``USD
    12`` or ``$2.10/hr``. A note states it. An ambiguous number, such as ``12,345`` alone, is refused. Decimal commas
    are read where no comma stands between columns or every cell of a column has one. Left out are titles above the
    header, lines that begin with ``#``, a header that is repeated, and a last line with sums or means. A line of units
    below the header is read as their units. Dates may be written ``Mar 05, 2024``, ``05-Mar-24`` or ``Jan-22``, with a
    time and its zone, as seconds since 1970, and as ``25/05/2024`` where a cell shows which part is the day. A date
    that is a year, a quarter or a month takes its middle, and a column such as ``date_halfwidth_days`` has half its
    length.

    **Runs.** Any two of ``parameters`` N, ``tokens`` D and ``training_flop`` C are needed, the third being C = 6ND, and
    ``loss`` (nats per token). Further columns are ``perplexity`` (if requested), ``loss_halfwidth`` (nats per token),
    ``d_model``, ``vocabulary``, ``parameters_nonembedding`` and ``unique_tokens`` (distinct training tokens, at most
    ``tokens``), all float64. They come first in the result; then every other column unchanged.

    Columns of runs that would be fitted silently wrong are refused unless their unit is given. Sizes that are refused
    are that of a data set as tokens next to epochs, steps or rates as totals, and FLOP of the forward pass. Losses that
    are refused are an accuracy, what is no cross entropy, such as an error rate, and those whose name has bits in it.

    Several readings of each run are refused too. A column names the runs, such as ``run_id`` or ``file``, or rows of
    one size have tokens spaced as in a log. A planned grid, with few tokens or spaced by a ratio, is read. Take the
    last of each, or name the column with ``columns={"run": "run_id"}`` for a law with ``run_effects``. If each row is a
    run, ignore the column, or name tokens in `last_of` too.

    **Evaluations.** Needed are ``publication_date`` (YYYY-MM-DD), ``benchmark`` (wt103, wt2, ptb or any other),
    ``parameters``, ``dataset_tokens``, ``transformer`` (0 or 1) and ``perplexity``. Optional are ``epochs``,
    ``vocabulary``, ``training_compute_flop`` and ``paper_id``. The result has ``year`` (the date in fractional years)
    and, where there is none, a ``paper_id`` for each row.

    **Counts.** A row is a run and a pair of lengths. Needed are ``run`` (name or number), ``train_digits`` (greatest
    length in training), ``length_a``, ``length_b``, ``correct`` and ``total`` (problems right and posed). One column
    ``length`` is that of both operands, and ``accuracy`` with `trials` stands for ``correct`` and ``total``. Names are
    unchanged text, so that runs 7 and 007 are two; lengths and counts are int64. ``embedding`` (such as abacus, fire,
    nope, abacus+fire) is ``all`` by default, ``architecture`` ``standard`` and ``recurrences`` 1. Optional are ``arm``
    (what the run belongs to), ``task``, ``layers``, ``d_model``, ``k_max``, ``seed``, ``parameters``, ``samples`` and
    ``flop``. ``offset`` is that of Abacus embeddings in the evaluation, 0 by default; one run may have several.
    ``split`` (id, ood or ood100) is derived by default: in distribution where no length is above ``train_digits``,
    ood100 where one is above 100, else ood.

    **Scores.** A row is a model and a benchmark. Needed are ``model``, ``benchmark`` and ``score``, from 0 to 1. Other
    columns describe the model: they are the same in all its rows, and blank if unknown. ``date`` (YYYY-MM-DD) is that
    of its release, and ``training_compute_flop`` its compute. ``compute_confidence`` is Confident, Likely, Speculative
    or Unknown; a blank is Likely where there is a compute. A ``family`` is models that differ only in size. ``items``
    is the number of questions of the benchmark, 2 or more, and blank if unknown. The benchmark file of Epoch AI's
    Benchmarking Hub is read unchanged; its ``performance`` is the score. The result has ``year`` if it has ``date``.

    A leaderboard, with a model a row and a benchmark a column or the reverse, is read as one row a score. Benchmarks
    are the columns of numbers that are shares, or of those in percent. Averages are left out, and other columns, such
    as sizes and licences, describe the model.

    **Successes on tasks (horizons).** A row is a model and a task, or one threshold of the task. Needed are ``model``,
    ``task``, ``minutes`` (time that people need; a column of hours becomes minutes, and ``1h 20m`` or ``0:45:12`` is
    read whatever the column), ``successes`` and ``runs``. Without ``runs`` each row is one run of 0 or 1, and runs are
    counted. Of a model ``date`` and ``family`` are optional, of a task ``task_family``, ``time_source`` (estimated, or
    how it was timed) and ``estimated_minutes``. Runs that reach one threshold of a task count as reaching all that take
    less time.

    **Dated values (values).** A row is a value at a date: a price, a rating, a training compute. Needed are ``date``
    and ``value``; ``model`` names what the value is of. ``low`` and ``high`` are limits, or ``halfwidth`` is half their
    distance, which may be written ±5 or +5/-4. A blank limit is none. The result has ``year``.

    **Loss curves (curves).** A row is a reading of a run. Needed are ``loss`` and ``step``, ``tokens`` or ``epoch``;
    ``rate`` (the learning rate) and ``run`` are optional. Without ``run`` a file is a run. Logs have lines in which
    numbers follow words such as step, loss and lr, as nanoGPT, litgpt, torchtitan, Megatron-LM and OLMo print them. Of
    several losses that of training with most readings is read. Lists by epoch are numbered. Readings that a restart
    made again count once, the last time. A last line without an end is left out. The result has ``clock``, the steps or
    else the tokens.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"params": [1e9, 2e9], "training tokens": [2e10, 2e10], "val_loss": [2.9, 2.7]})
    >>> list(read(table).columns)
    ['parameters', 'tokens', 'training_flop', 'loss']

    Numbers may have suffixes, sizes may stand in the names of runs, and a column may be computed from others:

    >>> import warnings
    >>> table = pd.DataFrame({"run": ["70M_a", "1.4B_a"], "tokens": ["2B", "12,000,000,000"], "loss": [3.4, 2.6]})
    >>> with warnings.catch_warnings(record=True) as notes:
    ...     warnings.simplefilter("always")
    ...     runs = read(table, from_name="{parameters}_{}")
    >>> runs[["parameters", "tokens"]].to_numpy().tolist()
    [[70000000.0, 2000000000.0], [1400000000.0, 12000000000.0]]
    >>> print(notes[1].message)
    the table: "tokens" is written with B, read as 1e9, with commas between thousands
    >>> table = pd.DataFrame({"params": [1e9, 2e9], "steps": [1e4, 2e4], "batch_tokens": 2e6, "val_loss": [2.9, 2.7]})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     read(table, columns={"tokens": "steps*batch_tokens"})["tokens"].tolist()
    [20000000000.0, 40000000000.0]

    Tables of other kinds:

    >>> row = {"publication_date": ["2019-02-14"], "benchmark": "wt103", "parameters": 1.5e9, "dataset_tokens": 3e9}
    >>> row |= {"transformer": 1, "perplexity": 17.5}
    >>> round(read(pd.DataFrame(row), "evaluations")["year"].item(), 2)
    2019.12
    >>> run = {"run": "a", "embedding": "fire", "train_digits": 6, "length_a": [3, 9], "length_b": [3, 9]}
    >>> read(pd.DataFrame(run | {"correct": [99, 12], "total": 100}), "counts")["split"].tolist()
    ['id', 'ood']
    >>> table = pd.DataFrame({"model": ["a", "b"], "benchmark": "quiz", "score": [0.25, 0.8], "date": "2024-07-01"})
    >>> round(float(read(table, "scores")["year"][0]), 2)
    2024.5
    >>> table = pd.DataFrame({"step": [0, 50, 100], "loss": [9.1, 4.2, 3.9]})
    >>> read(table, "curves", schedule="linear:peak=2,final=0", until=200)["rate"].tolist()
    [2.0, 1.5, 1.0]
    """
    options = {name: value for name, value in locals().items() if name not in ("source", "kind")}
    check_choice("kind of table", kind, KINDS)
    parts = KINDS[kind]
    columns = options["columns"] = columns or {}
    for name, value in options.items():
        if name not in parts.options and value not in (None, False, 0, (), [], {}, DEFAULTS.get(name)):
            raise InputError(
                f"{name} is not an option of tables of {kind}, which are read with {', '.join(parts.options)}; "
                "leave it out"
            )
    if parts.check_unit is not None:
        parts.check_unit(unit or {})
    for option in parts.forms:
        if options[option] is not None:
            check_pattern(options[option], option)
    text = Called(parts.text, columns, parts.aliases)
    shape = parts.form
    form = None if shape is None else (lambda frame, label: shape(frame, label, columns))
    table, label, name = open_table(source, text=text, form=form, readers=parts.readers)
    changes = Changes(label, table)
    if from_file is not None:
        table, sentence = read_sizes_of_files(table, from_file, name, label)
        changes.add("from_file", sentence, value=from_file)
    if from_name is not None:
        table, sentence = read_sizes_of_runs(table, from_name, columns.get("run", "run"), label)
        changes.add("from_name", sentence, value=from_name)
    numbers = parts.numbers(table.columns, columns)
    table = as_written(table, numbers, parts.flags, unit if isinstance(unit, Mapping) else {}, changes)
    table = parts.parse(
        table, changes, **{option: options[option] for option in parts.options if option not in parts.forms}
    )
    table = table.reset_index(drop=True)
    table.attrs = {"source": name} | ({"reading": changes.entries} if changes.entries else {})
    return PrintedTable.of(table)


def as_table(
    source: TableSource,
    kind: str = "runs",
    needed: Sequence[str] = (),
    **options: Any,
) -> pd.DataFrame:
    """Return a table that was read or loaded as it is, and read any other: a file, a built-in table, a dict or a frame.

    Parameters
    ----------
    source : path, str, DataFrame or mapping
        A text may be the name of a built-in table. A mapping has columns by name.
    kind : str
    needed : sequence of str
        Columns that a law needs, where the kind takes them.
    **options
        Of `read`; with some every table is read.

    Returns
    -------
    pandas.DataFrame
        As `read` returns it.

    Raises
    ------
    InputError
        As `read`.

    Examples
    --------
    >>> runs = as_table({"parameters": [1e8, 1e9], "tokens": [2e9, 2e10], "loss": [3.2, 2.7]})
    >>> as_table(runs) is runs
    True
    """
    if isinstance(source, str) and source in set(catalogue()["name"]) and not Path(source).exists():
        source = load(source)
    if isinstance(source, PrintedTable) and not options:
        return source
    if isinstance(source, Mapping):
        source = pd.DataFrame(source)
    if needed and "needed" in KINDS[kind].options:
        options["needed"] = needed
    return read(source, kind, **options)
