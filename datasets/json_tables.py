"""Tables in JSON: arrays and columns of objects, one object a line, and results of trainers and of evaluations."""

import io
import json
import re
from collections import Counter

import pandas as pd

from ..errors import InputError
from .columns import recognise, recognise_with_unit
from .meaning.names import means
from .text import decoded, refuse_empty, refuse_lines
from .wording import listed, plural, quoted

SURROGATE = re.compile("[\ud800-\udfff]")
DEEPEST = 30  # objects in objects
MOST_BLANKS = 10**7  # cells of a table whose rows have many different names
SHOWN = 5  # names in a sentence
OF_HARNESS = {"versions", "config", "configs", "n-samples", "n-shot", "higher_is_better", "model_name", "git_hash"}
LINE = 'write one JSON object a line, such as {"N": 1e6, "D": 2e7, "loss": 4.5}'
ARRAY = 'write an array of objects, such as [{"N": 1e6, "D": 2e7, "loss": 4.5}]'


def json_lines(data, label, text=()):
    """Read one JSON object a line; names of nested objects are joined by dots. Text is text already."""
    return _lines(decoded(data, label), label)


def json_document(data, label, text=(), *, every_step=False):
    """Read a JSON document that holds one table, or a file of JSON lines; `every_step` is of a trainer's history."""
    whole = decoded(data, label)
    refuse_empty(whole, label)
    try:
        document = _loaded(whole)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and whole[: error.pos].count("\n") <= 1:
            return _lines(whole, label)
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(
            f"{label}, {place}: this is not JSON ({error.msg}); correct it there, or write the file again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: the JSON cannot be used: {_problem(error)}; {ARRAY}") from error
    return _table(document, label, every_step)


def _loaded(whole):
    document = json.loads(whole, object_pairs_hook=_named_once)
    if "\\u" in whole and SURROGATE.search(json.dumps(document, ensure_ascii=False)):
        raise ValueError("half of a surrogate pair, which is no text")
    return document


def _problem(error):
    return "objects are nested too deep" if isinstance(error, RecursionError) else getattr(error, "msg", error)


def _named_once(pairs):
    for name, times in Counter(name.strip() for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{times} values of {quoted(name)}")
    return dict(pairs)


def _lines(whole, label):
    rows, arrays, faults = {}, Counter(), []
    for line, text in enumerate(io.StringIO(whole, newline=None), 1):
        if not text.strip():
            continue
        try:
            value = _loaded(text)
            if isinstance(value, dict):
                rows[line] = _flat(value, arrays)
            else:
                faults.append(f"line {line}: found {quoted(text)}")
        except (ValueError, RecursionError) as error:
            faults.append(f"line {line}: {_problem(error)}")
    refuse_lines(faults, label, LINE)
    return _frame(rows, arrays, [], "line", label)


# Documents ------------------------------------------------------------------------------------------------------------


def _table(document, label, every_step):
    """Return the table of a document, whichever of the forms it has."""
    if isinstance(document, list):
        first = document[0] if document else None
        named = isinstance(first, list) and len(first) > 1 and all(isinstance(x, str) for x in first)
        if named and all(isinstance(x, list) for x in document):
            return _of_cells(first, document[1:], label)
        return _of_objects(document, {}, [], label)
    if not isinstance(document, dict):
        raise InputError(f"{label}: found {_called(document)} where a table should be; {ARRAY}")
    if isinstance(document.get("log_history"), list):
        return _of_trainer(document["log_history"], label, every_step)
    if _are_objects(document.get("results")) and _is_of_harness(document):
        return _of_harness(document, label)
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(x, list) for x in data):
        return _of_cells(columns, data, label)
    if isinstance(document.get("schema"), dict) and isinstance(data, list):  # pandas.DataFrame.to_json with "table"
        return _of_objects(data, {}, [], label)
    arrays = {name: x for name, x in _leaves(document, label) if _is_array_of_objects(x)}
    if len(arrays) > 1:
        sizes = ", ".join(f"{quoted(name)} ({plural(len(x), 'object')})" for name, x in list(arrays.items())[:SHOWN])
        raise InputError(
            f"{label}: there are {len(arrays)} arrays of objects: {sizes}; save the one that is the table as a file"
        )
    if arrays:
        ((name, rows),) = arrays.items()
        constants = {key: x for key, x in _leaves(document, label) if not isinstance(x, list)}
        added = f", with {listed(constants, SHOWN)} in every row" if constants else ""
        return _of_objects(rows, constants, [f"the array {quoted(name)} is read as the table{added}"], label)
    return _of_names(document, label)


def _are_objects(value):
    return isinstance(value, dict) and bool(value) and all(isinstance(x, dict) for x in value.values())


def _is_array_of_objects(value):
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def _of_objects(values, constants, sentences, label):
    """Return a row of each object, with the same constants in every row."""
    rows, arrays, faults = {}, Counter(), []
    if len(values) * len(constants) > MOST_BLANKS:
        raise InputError(
            f"{label}: {len(constants)} values outside an array of {len(values)} rows are too many; save the rows alone"
        )
    constants = _flattened(constants, arrays, label, "outside the array")
    for number, value in enumerate(values):
        place = f"row {number} (counting from 0)"
        if isinstance(value, dict):
            rows[number] = constants | _flattened(value, arrays, label, place)
        else:
            faults.append(f"{place}: found {_called(value)}")
    if faults:
        more = f" and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        raise InputError(f"{label}, {', '.join(faults[:SHOWN])}{more}; {ARRAY}")
    return _frame(rows, arrays, sentences, "row", label)


def _called(value):
    return "an array" if isinstance(value, list) else quoted(json.dumps(value))


def _of_names(document, label):
    """Return a table of columns by name, of rows by name, or of one row."""
    lists = {name: x for name, x in document.items() if isinstance(x, list)}
    curves = [name for name in lists if recognise(name) or recognise_with_unit(name)]
    if lists and (len(lists) == len(document) or curves):
        return _of_columns(document, lists, curves or list(lists), label)
    if len(document) > 1 and _are_objects(document):
        names = [set(x) for x in document.values()]
        if all(x == names[0] for x in names) and names[0]:
            if all(name.isdigit() for name in names[0]):  # pandas.DataFrame.to_json
                columns = {name: list(x.values()) for name, x in document.items()}
                return _of_columns(columns, columns, list(columns), label)
            run = "run" if "run" not in names[0] else "name"
            rows = [{run: name} | x for name, x in document.items()]
            return _of_objects(rows, {}, [f"the names of {len(rows)} objects are read as the column {run}"], label)
    return _of_objects([document], {}, [], label)


def _of_columns(document, lists, columns, label):
    sizes = Counter(len(lists[name]) for name in columns)
    if len(sizes) > 1:
        lengths = ", ".join(f"{quoted(name)} {len(lists[name])}" for name in columns[:SHOWN])
        raise InputError(f"{label}: the columns have different lengths ({lengths}); give them equal ones, or {ARRAY}")
    ((size, _),) = sizes.items()
    equal = [name for name, x in lists.items() if len(x) == size]
    others = {name: x for name, x in document.items() if name not in equal}
    rows = [{name: document[name][number] for name in equal} for number in range(size)]
    return _of_objects(rows, others, [], label)


def _of_cells(columns, data, label):
    """Return a table that has its columns and its rows apart, as trackers store tables and pandas with "split"."""
    names = [str(name) for name in columns]
    wrong = next((number for number, cells in enumerate(data) if len(cells) != len(names)), None)
    if wrong is not None:
        raise InputError(
            f"{label}, row {wrong} (counting from 0): found {len(data[wrong])} cells where there are {len(names)} "
            f"columns; {ARRAY}"
        )
    try:
        rows = [_named_once(list(zip(names, cells, strict=True))) for cells in data]
    except ValueError as error:
        raise InputError(f"{label}: {error}; rename or delete one") from error
    return _of_objects(rows, {}, [], label)


def _of_trainer(history, label, every_step):
    """Return the history of a trainer, one row a step, or of its evaluations with the training loss of their steps."""
    if not _is_array_of_objects(history):
        raise InputError(f'{label}: "log_history" is no array of objects; save the history of a run that has one')
    readings = [x for x in history if "train_runtime" not in x]
    steps = {}
    for number, reading in enumerate(readings):
        step = reading.get("step")
        steps.setdefault(step if isinstance(step, int | float) else f"reading {number}", {}).update(reading)
    rows = list(steps.values())
    sentences = [f'"log_history" is read as the table, {plural(len(rows), "step")}']
    evaluated = [row for row in rows if row.get("eval_loss") is not None]
    if evaluated and not every_step:
        rows = [{"train_loss" if name == "loss" else name: x for name, x in row.items()} for row in evaluated]
        sentences = [f"{sentences[0]}, of which {len(rows)} with an evaluation are read; \"loss\" is the training "
                     'loss and is called "train_loss"']  # fmt: skip
    return _of_objects(rows, {}, sentences, label)


def _is_of_harness(document):
    """Return whether results by task are those that the evaluation harness writes, whichever keys are next to them."""
    metrics = [name for x in document["results"].values() for name in x]
    return bool(OF_HARNESS & set(document)) or any("_stderr" in name or name.endswith(",none") for name in metrics)


def _of_harness(document, label):
    """Return the results of an evaluation harness, one row a task, with its accuracy or another share as its score."""
    config = document.get("config") if isinstance(document.get("config"), dict) else {}
    arguments = str(config.get("model_args") or "")
    pretrained = re.search(r"pretrained['\"]?\s*[=:]\s*['\"]?([^,'\"}]+)", arguments)
    model = document.get("model_name") or (pretrained[1] if pretrained else config.get("model"))
    sentences = [f'"results" are read as the table, {plural(len(document["results"]), "task")}']
    if not model:
        model = label.partition(".json")[0]
        sentences.append(f"no key states the model, which is named by the file, {quoted(model)}")
    constants = {"model": str(model)}
    if isinstance(config.get("model_num_parameters"), int):
        constants["parameters"] = config["model_num_parameters"]
    rows, others, samples = [], {}, document.get("n-samples")
    samples = samples if isinstance(samples, dict) else {}
    for task, metrics in document["results"].items():
        names = {name.removesuffix(",none"): x for name, x in metrics.items() if name != "alias"}
        items = samples.get(task, names.pop("sample_len", None))
        items = items.get("effective", items.get("original")) if isinstance(items, dict) else items
        shares = [
            name for name, x in names.items() if _is_share(x) and means(name, "accuracy") and "stderr" not in name
        ]
        if "acc" not in names and shares:
            others[task] = shares[0]
        score = {"score": names[others.get(task, "acc")]} if task in others or "acc" in names else {}
        rows.append(constants | {"task": task} | ({} if items is None else {"items": items}) | score | names)
    if others:
        shown = ", ".join(f"{quoted(name)} of {quoted(task)}" for task, name in list(others.items())[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        sentences.append(f'"score" is "acc", and without one {shown}{more}')
    return _of_objects(rows, {}, sentences, label)


def _is_share(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


# Cells ----------------------------------------------------------------------------------------------------------------


def _leaves(document, label):
    """Return names and values of a document that are no objects, names of nested ones joined by dots."""
    leaves, stack = [], [("", document, 0)]
    while stack:
        prefix, value, depth = stack.pop()
        if depth > DEEPEST:
            raise InputError(f"{label}: objects are nested more than {DEEPEST} deep; {ARRAY}")
        for name, x in value.items():
            if isinstance(x, dict):
                stack.append((f"{prefix}{name.strip()}.", x, depth + 1))
            else:
                leaves.append((prefix + name.strip(), x))
    return leaves


def _flattened(value, arrays, label, place):
    try:
        return _flat(value, arrays)
    except ValueError as error:
        raise InputError(f"{label}, {place}: {error}; {ARRAY}") from error


def _flat(value, arrays, prefix="", depth=0):
    """Return an object without objects in it, names joined by dots, and count the arrays, which are left out."""
    if depth > DEEPEST:
        raise ValueError(f"objects are nested more than {DEEPEST} deep")
    flat = {}
    for name, x in value.items():
        name = prefix + name.strip()
        if isinstance(x, dict):
            parts = _flat(x, arrays, f"{name}.", depth + 1)
        else:
            parts = {} if isinstance(x, list) else {name: x}
            arrays.update([name] if isinstance(x, list) else [])
        for part in parts:
            if part in flat:
                raise ValueError(f"2 values of {quoted(part)}")
        flat |= parts
    return flat


def _frame(rows, arrays, sentences, index, label):
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    blanks = len(rows) * len(names) - sum(map(len, rows.values()))
    if blanks > MOST_BLANKS:
        raise InputError(
            f"{label}: {len(rows)} objects have {len(names)} different names, so that most cells would be blank; give "
            "objects the same names"
        )
    columns = {name: [row.get(name) for row in rows.values()] for name in names}
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=object).infer_objects().to_numpy() for name, cells in columns.items()},
        index=pd.Index(list(rows), name=index, dtype="int64"),
    )
    if arrays:
        sentences = [*sentences, f"arrays are left out: {listed(arrays, SHOWN)}"]
    if sentences:
        frame.attrs["sentences"] = sentences
    return frame
