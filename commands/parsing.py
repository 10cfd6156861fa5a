"""From the options of a command to names and values, a table, a law and the sampler's settings."""

import contextlib
import functools
import json
import sys
import warnings
from functools import partial
from glob import glob
from pathlib import Path

from ..errors import InputError

MOST_TRIES = 3  # of a way out of a refusal, to which those of further refusals are added
# Parameters of a reader, and those that tell how to read columns of a file.
_OF_COLUMNS = ("columns", "ignore", "perplexity", "unit", "bytes_per_token", "flop_per_parameter_token", "from_name",
               "from_file")  # fmt: skip
MOST_NUMBERS = 1000  # in one range: more are a slip of the pen
OF_RUNS = ("ignore", "perplexity", "unit", "bytes_per_token", "flop_per_parameter_token", "keep_copies", "last_of",
           "best_of", "drop_highest", "from_name", "from_file", "scale", "threshold", "measurement_error", "group",
           "pooled", "shared")  # fmt: skip
# Laws of tables that are read as one of another kind.
USUAL = {"horizons": "horizons", "evaluations": "progress-7", "counts": "lengths", "values": "trend",
         "scores": "scores"}  # fmt: skip
_OPTION = {"columns": "--column"}
_READ = ("ignore", "perplexity", "bytes_per_token", "flop_per_parameter_token", "where", "drop_missing", "keep_copies",
         "last_of", "best_of", "drop_highest", "from_name", "from_file", "trials")  # fmt: skip


def pairs(items, option):
    """Return texts NAME=VALUE of a repeatable option as a dictionary."""
    texts = {}
    for item in items or []:
        name, _, value = map(str.strip, item.partition("="))
        if not name or not value:
            raise InputError(f"{option} {item!r}: write NAME=VALUE")
        if name in texts:
            raise InputError(f"{option} {name!r} is given twice")
        texts[name] = value
    return texts


def values(items, option="--option"):
    """Return texts NAME=VALUE of a repeatable option as a dictionary, read as JSON where they are, or as None.

    The name of a group stays text.

    Examples
    --------
    >>> values(["trend=none", "value_unit=100", "groups=lab"])
    {'trend': None, 'value_unit': 100, 'groups': 'lab'}
    """
    return {name: text if name == "group" else _value(text) for name, text in pairs(items, option).items()}


def _value(text):
    if text.lower() == "none":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def flop(text, option):
    """Return the FLOP that the text of an option states.

    Examples
    --------
    >>> flop("1e24", "--compute"), flop("3x10^23", "--compute"), flop("100 PF-days", "--compute")
    (1e+24, 3e+23, 8.64e+21)
    """
    from ..inference.decisions import price

    return _amount(text, option, price.flop, "FLOP, such as 1e24, 3x10^23, 2 ZFLOP, 100 PF-days or 300 H100-hours")


def count(text, option):
    """Return the number that the text of an option states, such as one of parameters or tokens.

    Examples
    --------
    >>> count("140e9", "--tokens"), count("7B", "--parameters"), count("1.4T", "--tokens")
    (140000000000.0, 7000000000.0, 1400000000000.0)
    """
    from ..datasets.notation import parsed

    return _amount(text, option, lambda text: parsed(text)[0], "a number, such as 140e9, 7B or 1.4T")


def _amount(text, option, read, form):
    """Return the number that a text states, plainly or as `read` reads it; `form` describes it in a refusal."""
    try:
        return float(text)
    except ValueError:
        number = None if "%" in text else read(text)
    if number is None:
        raise InputError(f"{option} {text!r}: write {form}")
    return number


def numbers(texts, option, amount=flop):
    """Return the numbers of a repeatable option, each one or a range LOW:HIGH:COUNT, evenly spaced in logarithms.

    The function `amount` reads each: `flop` or `count`.

    Examples
    --------
    >>> numbers(["1e20:1e22:3", "50 EFLOP"], "--compute")
    [1e+20, 1e+21, 1e+22, 5e+19]
    """
    return [x for text in texts for x in _numbers(text, option, amount)]


def _numbers(text, option, amount):
    if ":" not in text:
        return [amount(text, option)]
    try:
        low, high, count = text.split(":")
        low, high, count = amount(low, option), amount(high, option), int(count)
        if 0 < low < high < float("inf") and 2 <= count <= MOST_NUMBERS:
            return [float(f"{low * (high / low) ** (i / (count - 1)):.12g}") for i in range(count)]
    except ValueError:
        pass
    raise InputError(f"{option} {text!r}: write LOW:HIGH:COUNT with 0 < LOW < HIGH and COUNT from 2 to {MOST_NUMBERS}")


def ends(text, option):
    """Return the two ends of a range LOW:HIGH in FLOP.

    Examples
    --------
    >>> ends("1e19:1 YFLOP", "--within")
    (1e+19, 1e+24)
    """
    low, colon, high = text.partition(":")
    if not colon:
        raise InputError(f"{option} {text!r}: write LOW:HIGH, such as 1e19:1e24")
    return flop(low, option), flop(high, option)


def check_options(kind, reading):
    """Refuse options of a `Reading` that tables of a kind do not have."""
    _asked(kind, reader_options(reading))


def read_table(kind, data, reading, needed=(), **more):
    """Read a table of a kind, a built-in one or a file, with the options of a `Reading` and `more`."""
    return _read(kind, data, reader_options(reading) | more, needed)


def reader_options(reading):
    """Return the options of a reader of tables, by the names of its parameters."""
    return {
        "columns": pairs(reading.column, "--column"),
        "unit": values(reading.unit, "--unit"),
        **{name: getattr(reading, name) for name in _READ},
    }


def _read(kind, data, asked, needed=(), law=None):
    """Read a table of a kind: a built-in one, or a file, with the options that its reader takes.

    Ways out of a refusal are those with which it can be read, and a law fitted.
    """
    from ..datasets import catalogue
    from ..datasets.fixes import NOTHING

    asked = _asked(kind, asked)
    if isinstance(data, str) and data in set(catalogue()["name"]) and not Path(data).exists():
        _refuse_columns(asked, data)

    read = functools.partial(read_with, kind, data, asked, needed)

    def attempt(fix):
        rows = read(fix)
        return rows if law is None else law.suited(rows).rows(rows)

    try:
        return read(NOTHING)
    except InputError as error:
        ways = {what: fix for what, fix in error.ways.items() if not fix.formula}
        raise tried(error, ways, attempt, lambda fix, _: _again(fix)) from None


def read_with(kind, data, asked, needed, fix):
    """Read a table with a fix added to what is asked."""
    from ..datasets.reader import as_table

    chosen = {"columns": fix.columns, "unit": fix.unit}
    more = {name: asked.get(name, {}) | x for name, x in chosen.items() if x} | fix.others
    more |= {"ignore": [*asked.get("ignore", ()), *fix.ignore]} if fix.ignore else {}
    return as_table(data, kind.name, (*needed, *(["run"] if fix.law else [])), **asked | more)


def tried(error, ways, attempt, words):
    """Return an error with the commands of its ways out that work, or with what stands in the way of the first.

    `attempt` takes a fix, to which those of further problems are added; `words` are those of its command, of the fix
    and what `attempt` returned.
    """
    from ..datasets.wording import command

    commands, refused = {}, []
    for what, fix in ways.items():
        for _ in range(MOST_TRIES):
            try:
                with warnings.catch_warnings(action="ignore"):
                    commands[what] = command(*words(fix, attempt(fix)))
                break
            except InputError as again:
                refused.append(f"{error.sentence}; with {fix.on_the_command_line()}: {again.sentence}")
                if not (more := next(iter(again.ways.values()), None)) or more.formula:
                    break
                fix += more
    if refused and not commands and len(ways) == len(error.ways):
        return InputError(refused[0])
    error.commands |= commands
    return error


def _again(fix):
    """Return the words of this command with the options of a fix, in the place of those that they replace."""
    words = sys.argv[1:]
    for option, *value in fix.pairs():
        name = value[0].partition("=")[0] + "=" if option in ("--column", "--unit") else ""
        for k in [k for k, word in enumerate(words[:-1]) if word == option not in ("--ignore", "--option")]:
            if value and words[k + 1].startswith(name):
                del words[k : k + 2]
                break
        words += [option, *value]
    return words


def _asked(kind, options):
    """Return the options that are stated, refusing those that tables of a kind do not have."""
    asked = {name: value for name, value in options.items() if value not in (None, False, 0, (), [], {})}
    for name in asked:
        if name not in kind.options:
            kinds = "counts" if name == "trials" else "runs with losses"
            raise InputError(f"{_option(name)} is for tables of {kinds}, not for tables of {kind.name}")
    return asked


def _option(name):
    return _OPTION.get(name, f"--{name.replace('_', '-')}")


def _refuse_columns(asked, built_in, fix=""):
    refused = [_option(name) for name in _OF_COLUMNS if asked.get(name)]
    if refused:
        raise InputError(f"{' and '.join(refused)}: for files, not for the built-in table {built_in!r}{fix}")


def all_of(*checks):
    """Return the results of functions; the messages of all that refuse their input are one line."""
    results, faults = [], []
    for check in checks:
        try:
            results.append(check())
        except InputError as error:
            faults.append(error)
    if faults:
        raise faults[0] if len(faults) == 1 else InputError("; ".join(map(str, faults)))
    return results


def law_and_table(name, data, fitting, out=None):
    """Make the law called `name` and read its table; a file `out` that cannot be written is refused before any work."""
    (law,), table = laws_and_table([name], data, fitting, out)
    return law, table


def laws_and_table(names, data, fitting, out=None):
    """Make laws by their names and read the table that all are fitted to; see `law_and_table`."""
    from ..datasets.files import check_writable

    checks = lambda: _check_exists(data), lambda: out and check_writable(out)
    *laws, _, _ = all_of(*(partial(law_named, name, fitting) for name in names), *checks)
    return laws, table_for(laws[0], data, fitting, [name for law in laws for name in law.needed])


def _check_exists(data):
    """Refuse a name that is neither that of a built-in table nor that of a file."""
    from ..datasets import catalogue
    from ..datasets.formats import open_table

    if data is not None and not (Path(data).exists() or glob(data) or data in set(catalogue()["name"])):
        open_table(data)


def table_for(law, data, fitting, needed=()):
    """Read the table that a law is fitted to, a built-in one or a file; without `data` the law's usual one.

    Columns that are `needed` are read in addition to those of the law.
    """
    from ..datasets import KINDS

    kind, asked = KINDS[law.kind], reader_options(fitting)
    if data is None:
        _refuse_columns(asked, kind.built_in, "; name a file with --data")
    columns = tuple(dict.fromkeys((*law.needed, *needed)))
    return _read(kind, law.usual_table() if data is None else data, asked, columns, law)


def table_of_no_law(data, fitting, out=None):
    """Read a table for which no law is named: the coupled law and runs, or None and a table of any columns.

    The second is what lacks sizes or a loss of runs, or has columns of which a published law is.
    """
    from ..datasets import KINDS
    from ..datasets.cells import as_days
    from ..datasets.files import check_writable
    from ..datasets.meaning.names import FALLING, RISING, is_called
    from ..inference.formulas.choose import propose

    coupled = functools.partial(law_and_table, "coupled", data, fitting, out)
    if data is None or any(_present(fitting, *OF_RUNS).values()):
        return coupled()
    kind, asked = KINDS["columns"], reader_options(fitting)
    asked = {name: x for name, x in asked.items() if name in kind.options}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        table = _read(kind, data, asked | {"drop_missing": False})
        found = {*KINDS["runs"].numbers(table.columns, asked["columns"]).values()}
        of_runs = len(found & {"parameters", "tokens", "training_flop"}) > 1 and "loss" in found
        of_runs &= not Path(data).is_dir()
        named = any(is_called(name, (*FALLING, *RISING)) for name in table)
        for name, law in USUAL.items() if not of_runs else ():
            with contextlib.suppress(InputError):
                if name != "scores" or not named:
                    _read(KINDS[name], data, {})
                    return law_and_table(law, data, fitting, out)
        try:
            formula, published = propose(table)[0]
        except InputError:
            if not of_runs and any(len(x) and not as_days(x)[2] for _, x in table.select_dtypes(object).items()):
                _read(KINDS["values"], data, {})  # which states how dated values are read
            if not of_runs:
                raise
            published = False
        if of_runs and not published:
            law, runs = coupled()
            with contextlib.suppress(InputError):
                law.suited(runs).rows(runs)
                return law, runs
        if asked["drop_missing"]:
            table = _read(kind, data, asked, law_named(formula, fitting).needed)
    if out:
        check_writable(out)
    for note in notes:
        warnings.warn(note.message, note.category, stacklevel=2)
    return None, table


def reading(data, fitting):
    """Return the words of a command that read a table of any columns as a `Fitting` does."""
    options = [("column", x) for x in fitting.column or ()] + ([("where", fitting.where)] if fitting.where else [])
    more = ["--drop-missing"] if fitting.drop_missing else []
    return ["--data", str(data), *(word for name, x in options for word in (f"--{name}", x)), *more]


def law_named(name, fitting, **options):
    """Make the law called `name` with the priors, the noise, the options and the groups that a `Fitting` holds.

    Other `options` stand where it does not give them.
    """
    from .. import models

    noise = _present(fitting, "noise", "scale", "threshold", "measurement_error")
    chosen, priors = options | noise | values(fitting.option), pairs(fitting.prior, "--prior")
    texts = _present(fitting, "pooled", "shared")
    if "~" in name:
        name, chosen = "formula", {"formula": name} | chosen
    if fitting.group is None:
        if texts:
            raise InputError(f"--{next(iter(texts))}: for groups of rows; name their column with --group")
        return models.law(name, priors=priors, **chosen)
    lists = {option: [x.strip() for x in text.split(",") if x.strip()] for option, text in texts.items()}
    if name == "formula" or name in models.published.laws():
        if "pooled" in lists:
            raise InputError("--pooled: four groups or more of a formula are pooled anyway; name others with --shared")
        return models.law(name, by=fitting.group, priors=priors, **chosen | lists)
    law = {"name": name, "options": chosen}
    return models.law("grouped", by=fitting.group, law=law, priors=priors, **lists)


def sampler_settings(fitting):
    """Return the sampler's settings that a `Fitting` holds, without those that are None."""
    return _present(fitting, "seed", "sampler", "draws", "tune", "chains", "cores", "target_accept")


def _present(options, *names):
    """Return options by name, without those that are None or False."""
    return {name: x for name in names if (x := getattr(options, name)) is not None and x is not False}
