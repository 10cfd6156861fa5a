"""Tables in JSON: arrays and columns of objects, one object a line, and results of trainers and of evaluations."""

import io
import json
import re
from collections import Counter

import pandas as pd

from ..errors import InputError
from .columns import recognise, recognise_with_unit
from .meaning.names import FALLING, RISING, is_called, means
from .notation import parsed
from .text import decode, refuse_empty, refuse_lines
from .wording import listed, plural, quoted

SURROGATE = re.compile("[\ud800-\udfff]")
MOST_BLANKS = 10**7  # cells of a table that its file does not hold
SHOWN = 5  # names in a sentence
OF_HARNESS = {"versions", "config", "configs", "n-samples", "n-shot", "higher_is_better", "model_name", "git_hash"}
LINE = 'write one JSON object a line, such as {"N": 1e6, "D": 2e7, "loss": 4.5}'
ARRAY = 'write an array of objects, such as [{"N": 1e6, "D": 2e7, "loss": 4.5}]'


def read_json_lines(data, label, text=()):
    """Read one JSON object a line; names of nested objects are joined by dots. Text is text already."""
    return _make_of_lines(decode(data, label), label)


def read_json(data, label, text=(), *, every_step=False):
    """Read a JSON document that holds one table, or a file of JSON lines; `every_step` is of a trainer's history."""
    whole = decode(data, label)
    refuse_empty(whole, label)
    try:
        return _read_document(_load(whole), label, every_step)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and whole[: error.pos].count("\n") <= 1:
            return _make_of_lines(whole, label)
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(
            f"{label}, {place}: this is not JSON ({error.msg}); correct it there, or write the file again"
        ) from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: the JSON cannot be used: {_problem(error)}; {ARRAY}") from error


def _load(whole):
    document = json.loads(whole, object_pairs_hook=_name_once)
    if "\\u" in whole and SURROGATE.search(json.dumps(document, ensure_ascii=False)):
        raise ValueError("half of a surrogate pair, which is no text")
    return document


def _problem(error):
    return "objects are nested too deep" if isinstance(error, RecursionError) else getattr(error, "msg", error)


def _name_once(pairs):
    for name, times in Counter(name.strip() for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{times} values of {quoted(name)}")
    return dict(pairs)


# Rows -----------------------------------------------------------------------------------------------------------------


def _make_of_lines(whole, label):
    lines = {line: text for line, text in enumerate(io.StringIO(whole, newline=None), 1) if text.strip()}
    return _make_table(lines, label, index="line", load=_load)


def _make_table(values, label, constants=None, sentences=(), *, index="row", load=None):
    """Return a row of each object, which `load` returns of its text by line, with the same constants in every row."""
    rows, arrays, faults = {}, Counter(), []
    constants = _flatten_cells(constants or {}, arrays)
    for number, value in values.items() if load else enumerate(values):
        try:
            loaded = load(value) if load else value
            if not isinstance(loaded, dict):
                raise ValueError(f"found {quoted(value.strip()) if load else _describe(loaded)}")
            rows[number] = _flatten_cells(loaded, arrays)
        except (ValueError, RecursionError) as error:
            place = f"line {number}" if index == "line" else f"row {number} (counting from 0)"
            faults.append(f"{place}: {_problem(error)}")
    refuse_lines(faults, label, LINE if index == "line" else ARRAY, f"{index}s")
    names = list(dict.fromkeys([*constants, *(name for row in rows.values() for name in row)]))
    if len(rows) * len(names) - sum(map(len, rows.values())) > MOST_BLANKS:
        raise InputError(
            f"{label}: {len(rows)} objects have {len(names)} different names, so that most cells would be blank or "
            "repeated; give objects the same names"
        )
    columns = {name: [row.get(name, constants.get(name)) for row in rows.values()] for name in names}
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=object).infer_objects().to_numpy() for name, cells in columns.items()},
        index=pd.Index(list(rows), name=index, dtype="int64"),
    )
    if sentences := [*sentences, *([f"arrays are left out: {listed(arrays, SHOWN)}"] if arrays else [])]:
        frame.attrs["sentences"] = sentences
    return frame


def _describe(value):
    return "an array" if isinstance(value, list) else quoted(json.dumps(value))


def _flatten(value, prefix=""):
    """Return the names and values of an object, names of nested ones joined by dots."""
    pairs = []
    for name, x in value.items():
        pairs += _flatten(x, f"{prefix}{name.strip()}.") if isinstance(x, dict) else [(prefix + name.strip(), x)]
    return pairs


def _flatten_cells(value, arrays):
    """Return an object without objects in it, and count the arrays, which are left out."""
    cells = _name_once(_flatten(value))
    arrays.update(name for name, x in cells.items() if isinstance(x, list))
    return {name: x for name, x in cells.items() if not isinstance(x, list)}


# Documents ------------------------------------------------------------------------------------------------------------


def _read_document(document, label, every_step):
    """Return the table of a document, whichever of the forms it has."""
    if isinstance(document, list):
        first = document[0] if document else None
        named = isinstance(first, list) and len(first) > 1 and all(isinstance(x, str) for x in first)
        if named and all(isinstance(x, list) for x in document):
            return _read_cells(first, document[1:], label)
        return _make_table(document, label)
    if not isinstance(document, dict):
        raise InputError(f"{label}: found {_describe(document)} where a table should be; {ARRAY}")
    if isinstance(document.get("log_history"), list):
        return _read_history(document["log_history"], label, every_step)
    if _are_objects(document.get("results")) and _is_of_harness(document):
        return _read_harness(document, label)
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(x, list) for x in data):
        return _read_cells(columns, data, label)
    if isinstance(document.get("schema"), dict) and isinstance(data, list):  # pandas.DataFrame.to_json with "table"
        return _make_table(data, label)
    leaves = _flatten(document)
    arrays = {name: x for name, x in leaves if _is_array_of_objects(x)}
    if len(arrays) > 1:
        sizes = ", ".join(f"{quoted(name)} ({plural(len(x), 'object')})" for name, x in list(arrays.items())[:SHOWN])
        raise InputError(
            f"{label}: there are {len(arrays)} arrays of objects: {sizes}; save the one that is the table as a file"
        )
    if arrays:
        ((name, rows),) = arrays.items()
        constants = {key: x for key, x in leaves if not isinstance(x, list)}
        added = f", with {listed(constants, SHOWN)} in every row" if constants else ""
        return _make_table(rows, label, constants, [f"the array {quoted(name)} is read as the table{added}"])
    return _read_names(document, label)


def _are_objects(value):
    return isinstance(value, dict) and bool(value) and all(isinstance(x, dict) for x in value.values())


def _is_array_of_objects(value):
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def _read_names(document, label):
    """Return a table of columns by name, of rows by name, or of one row."""
    only = next(iter(document.values()), None)
    if len(document) == 1 and isinstance(only, dict) and any(isinstance(x, list) for x in only.values()):
        document = only  # such as "history"
    lists = {name: x for name, x in document.items() if isinstance(x, list)}
    curves = [name for name in lists if recognise(name) or recognise_with_unit(name)]
    lengths = Counter(len(x) for x in lists.values())
    results = [name for name, x in document.items() if name not in lists and is_called(name, (*FALLING, *RISING))]
    curves = curves or [name for name, x in lists.items() if lengths[len(x)] > 1 and len(x) > 1 and not results]
    if lists and (len(lists) == len(document) or curves):
        return _read_columns(document, curves or list(lists), label)
    if len(document) > 1 and _are_objects(document):
        names, *others = (set(x) for x in document.values())
        if names and all(x == names for x in others):
            if all(name.isdigit() for name in names):  # pandas.DataFrame.to_json
                return _read_columns({name: list(x.values()) for name, x in document.items()}, list(document), label)
            sizes = [parsed(name)[0] for name in document]
            are_sizes = None not in sizes and max(sizes) > 10 * len(sizes) and "size" not in names
            run = "size" if are_sizes else "run" if "run" not in names else "name"
            rows = [{run: name} | x for name, one in document.items() for x in _explode(one)]
            sentence = f"the names of {len(document)} objects are read as the column {run}"
            return _make_table(rows, label, sentences=[sentence])
    return _make_table([document], label)


def _explode(value):
    """Return an object as one row, or with lists of one length as a row of each of their places."""
    lists = {name: x for name, x in value.items() if isinstance(x, list)}
    if len({len(x) for x in lists.values()}) != 1:
        return [value]
    return [value | dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _read_columns(document, columns, label):
    """Return a table of arrays of one length; other values are in every row."""
    sizes = {len(document[name]) for name in columns}
    if len(sizes) > 1:
        lengths = ", ".join(f"{quoted(name)} {len(document[name])}" for name in columns[:SHOWN])
        raise InputError(f"{label}: the columns have different lengths ({lengths}); give them equal ones, or {ARRAY}")
    equal = {name: x for name, x in document.items() if isinstance(x, list) and len(x) in sizes}
    rows = [dict(zip(equal, cells, strict=True)) for cells in zip(*equal.values(), strict=True)]
    return _make_table(rows, label, {name: x for name, x in document.items() if name not in equal})


def _read_cells(columns, data, label):
    """Return a table that has its columns and its rows apart, as trackers store tables and pandas with "split"."""
    names = [str(name) for name in columns]
    for number, cells in enumerate(data):
        if len(cells) != len(names):
            raise InputError(
                f"{label}, row {number} (counting from 0): found {len(cells)} cells where there are {len(names)} "
                f"columns; {ARRAY}"
            )
    try:
        rows = [_name_once(list(zip(names, cells, strict=True))) for cells in data]
    except ValueError as error:
        raise InputError(f"{label}: {error}; rename or delete one") from error
    return _make_table(rows, label)


def _read_history(history, label, every_step):
    """Return the history of a trainer, one row a step, or of its evaluations with the training loss of their steps."""
    if not _is_array_of_objects(history):
        raise InputError(f'{label}: "log_history" is no array of objects; save the history of a run that has one')
    steps = {}
    for number, reading in enumerate(x for x in history if "train_runtime" not in x):
        step = reading.get("step")
        steps.setdefault(step if isinstance(step, int | float) else f"reading {number}", {}).update(reading)
    rows = list(steps.values())
    sentence = f'"log_history" is read as the table, {plural(len(rows), "step")}'
    evaluated = [row for row in rows if row.get("eval_loss") is not None]
    if evaluated and not every_step:
        rows = [{"train_loss" if name == "loss" else name: x for name, x in row.items()} for row in evaluated]
        sentence += f', of which {len(rows)} with an evaluation are read; "loss" is the training loss and is called '
        sentence += '"train_loss"'
    return _make_table(rows, label, sentences=[sentence])


def _is_of_harness(document):
    """Return whether results by task are those that the evaluation harness writes, whichever keys are next to them."""
    metrics = [name for x in document["results"].values() for name in x]
    return bool(OF_HARNESS & set(document)) or any("_stderr" in name or name.endswith(",none") for name in metrics)


def _read_harness(document, label):
    """Return the results of an evaluation harness, one row a task, with its accuracy or another share as its score."""
    config, samples = (x if isinstance(x := document.get(key), dict) else {} for key in ("config", "n-samples"))
    pretrained = re.search(r"pretrained['\"]?\s*[=:]\s*['\"]?([^,'\"}]+)", str(config.get("model_args") or ""))
    model = document.get("model_name") or (pretrained[1] if pretrained else config.get("model"))
    sentences = [f'"results" are read as the table, {plural(len(document["results"]), "task")}']
    if not model:
        model = label.partition(".json")[0]
        sentences.append(f"no key states the model, which is named by the file, {quoted(model)}")
    constants = {"model": str(model)}
    if isinstance(config.get("model_num_parameters"), int):
        constants["parameters"] = config["model_num_parameters"]
    rows, others = [], {}
    for task, metrics in document["results"].items():
        names = {name.removesuffix(",none"): x for name, x in metrics.items() if name != "alias"}
        items = samples.get(task, names.pop("sample_len", None))
        items = items.get("effective", items.get("original")) if isinstance(items, dict) else items
        numbers = [name for name, x in names.items() if isinstance(x, int | float) and not isinstance(x, bool)]
        shares = [x for x in numbers if 0 <= names[x] <= 1 and means(x, "accuracy") and "stderr" not in x]
        if "acc" not in names and shares:
            others[task] = shares[0]
        score = {"score": names[others.get(task, "acc")]} if task in others or "acc" in names else {}
        rows.append(constants | {"task": task} | ({} if items is None else {"items": items}) | score | names)
    if others:
        shown = ", ".join(f"{quoted(name)} of {quoted(task)}" for task, name in list(others.items())[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        sentences.append(f'"score" is "acc", and without one {shown}{more}')
    return _make_table(rows, label, sentences=sentences)
