"""Tables of counts as designs: runs, conditions, the columns of their effects, and cells in groups."""

import numpy as np
import pandas as pd

from ...datasets.wording import check_choice, quoted, source_of, suggestion
from ...errors import InputError

DOUBLINGS = ("recurrences", "layers", "d_model", "k_max", "train_digits")
CONDITION = ("embedding", "architecture", *DOUBLINGS)
ARM = "arm"
KNOWN = (*CONDITION, ARM)
PLAIN = "standard"


def terms(effects):
    """Read a formula, ``embedding + architecture`` or ``embedding * architecture``: tuples of columns."""
    names_by_term = []
    for text in filter(None, (part.strip() for part in effects.split("+"))):
        if text == "1":
            continue
        names = tuple(name.strip() for name in text.replace("*", ":").split(":"))
        for name in names:
            check_choice("column of the effects,", name, KNOWN)
        if len(set(names)) < len(names) or len(names) > 2:
            raise InputError(f"effects: {quoted(text)} is no interaction of two columns")
        names_by_term += [(name,) for name in names] if "*" in text else []
        names_by_term.append(names)
    return tuple(sorted(dict.fromkeys(names_by_term), key=len))


def runs_of_counts(counts):
    """Return one row a run in order of appearance, indexed by its name: its condition and seed."""
    columns = [column for column in (*KNOWN, "seed", "parameters", "samples", "flop", "task") if column in counts]
    return counts.drop_duplicates("run").set_index("run")[columns]


def reference(counts, effects):
    """Describe what coefficients stand for: names, levels, centres; it does not depend on the counts.

    The dict has ``runs`` and their ``conditions`` by column; ``levels`` (embeddings, or all). ``plain`` is the
    architecture that effects are relative to, and ``arms`` begins with the one that the others' effects are relative
    to. ``centres`` are means of log2 over runs. ``effects`` are labels of the coefficients other than the levels.
    ``confounded`` are those without a coefficient because runs cannot separate them from others.
    """
    runs = runs_of_counts(counts)
    effect_terms = terms(effects)
    architectures = sorted(runs["architecture"].unique())
    names = {
        "runs": [str(name) for name in runs.index],
        "conditions": {column: runs[column].tolist() for column in runs},
        "levels": sorted(runs["embedding"].unique()) if ("embedding",) in effect_terms else ["all"],
        "embeddings": sorted(runs["embedding"].unique()),
        "architectures": architectures,
        "plain": min(architectures, key=lambda name: (not name.startswith(PLAIN), name)),
        "arms": sorted(runs[ARM].unique()) if ARM in runs else [],
        "centres": {name: float(np.log2(runs[name].astype(float)).mean()) for name in DOUBLINGS if name in runs},
    }
    matrix, effect_labels, confounded = levels_matrix(runs, names), [], []
    for term in effect_terms:
        if term == ("embedding",) or any(name not in runs for name in term):
            continue
        for label, column in _columns(term, runs, names).items():
            wider = np.column_stack([matrix, column])
            if np.linalg.matrix_rank(wider) > matrix.shape[1]:
                matrix = wider
                effect_labels.append(label)
            elif np.abs(column).max() > 1e-9:
                confounded.append(label)
    return names | {"effects": effect_labels, "confounded": confounded}


def runs_of(reference):
    """Return the runs of a reference with their conditions, as `runs_of_counts` gives them."""
    return pd.DataFrame(reference["conditions"], index=pd.Index(reference["runs"], name="run"))


def check_runs(counts, reference, effects):
    """Refuse cells of runs that are not those of the reference, or are of another condition."""
    table_runs, fitted_runs = runs_of_counts(counts), runs_of(reference)
    place = source_of(counts)
    columns = [column for column in condition_columns(fitted_runs, effects) if column in table_runs]
    for name, run in table_runs[columns].iterrows():
        if name not in fitted_runs.index:
            fault = "is not among the runs of"
        elif any(run[column] != fitted_runs.at[name, column] for column in columns):
            fault = "is of another condition than in"
        else:
            continue
        raise InputError(f"{place}: run {quoted(name)} {fault} the table that was compiled for; make a new Fitter")


def log_train(runs):
    """Return the logarithm of the training length of each run or condition."""
    return np.log(runs["train_digits"].to_numpy(float))


def _columns(term, runs, origin):
    """Return a term's columns by label: embeddings, architectures but the plain one, arms but the first, doublings."""
    others = [level for level in origin["architectures"] if level != origin["plain"]]
    levels_of = {"embedding": origin["embeddings"], "architecture": others, ARM: origin["arms"][1:]}
    product = {"": np.ones(len(runs))}
    for name in term:
        if name in levels_of:
            factors = {level: (runs[name] == level).to_numpy(float) for level in levels_of[name]}
        else:
            factors = {name: np.log2(runs[name].to_numpy(float)) - origin["centres"][name]}
        product = {":".join(filter(None, (a, b))): x * y for a, x in product.items() for b, y in factors.items()}
    return product


def levels_matrix(runs, origin):
    """Return indicators of the levels, (run, level)."""
    if origin["levels"] == ["all"]:
        return np.ones((len(runs), 1))
    return (runs["embedding"].to_numpy(object)[:, None] == np.array(origin["levels"], object)).astype(float)


def effects_matrix(runs, origin, effects):
    """Return the columns of the coefficients in ``origin["effects"]``, (run, effect), for runs or conditions."""
    factors = {name for term in terms(effects) for name in term}
    levels_of = {"embedding": origin["embeddings"], "architecture": origin["architectures"]}
    if ARM in factors and ARM in runs:
        levels_of[ARM] = origin["arms"]
    for name, levels in levels_of.items():
        for level in runs[name]:
            if level not in levels:
                raise InputError(
                    f"{name} {quoted(level)} is in no run that was fitted{suggestion(level, levels)}; there are "
                    f"{', '.join(levels)}"
                )
    columns = {}
    for term in terms(effects):
        if all(name in runs for name in term):
            columns |= _columns(term, runs, origin)
    chosen = [columns[label] for label in origin["effects"]]
    return np.column_stack(chosen) if chosen else np.zeros((len(runs), 0))


def alike(runs, effects):
    """Return the names of two runs of one condition and seed, which cannot differ by chance, or None."""
    columns = [*condition_columns(runs, effects), "seed"]
    if "seed" not in runs or not (again := runs.duplicated(columns)).any():
        return None
    second = again.idxmax()
    same = (runs[columns] == runs.loc[second, columns]).all(axis=1)
    return str(same.idxmax()), str(second)


def condition_columns(runs, effects):
    """Return the columns that make up a condition: those there are, and the arm where the effects name it."""
    arm = (ARM,) if any(ARM in term for term in terms(effects)) else ()
    return [name for name in (*CONDITION, *arm) if name in runs]


def conditions(counts, effects):
    """Return the conditions of runs, each once and sorted, with labels such as ``abacus, looped, 2 recurrences``."""
    runs = runs_of_counts(counts)
    columns = condition_columns(runs, effects)
    table = runs[columns].drop_duplicates().sort_values(columns).reset_index(drop=True)
    varying = [name for name in columns if name == "embedding" or table[name].nunique() > 1]
    words = {
        "recurrences": "{} recurrences",
        "layers": "{} layers",
        "d_model": "width {}",
        "k_max": "{} offsets",
        "train_digits": "{} digits",
    }
    labels = [
        ", ".join(words.get(name, "{}").format(f"{v:g}" if isinstance(v, float) else v) for name, v in row.items())
        for row in table[varying].to_dict("records")
    ]
    return table.set_index(pd.Index(labels, name="condition"))


def groups(counts, run_names, *, longest=False):
    """Return the cells of the same run and lengths, and of the same counts, put together.

    The likelihood needs of them no more: a term for each pair of lengths that gives the accuracies, and for each
    different number right, number wrong and total. With `longest`, lengths are the same where the longer operands are.

    The arrays by name are ``pair_run``, ``pair_log_longer``, ``pair_log_ratio``, ``pair_correct``, ``pair_wrong``,
    (pair,). For `side` right and wrong there are ``side_pair``, ``side_count`` and ``side_cells`` (how many cells),
    (group,), of counts above 0. For totals there are ``total_run``, ``total_count`` and ``total_cells``.
    """
    a, b, correct, total = (counts[c].to_numpy(np.int64) for c in ("length_a", "length_b", "correct", "total"))
    longer, shorter = np.maximum(a, b), np.minimum(a, b)
    run = pd.Index(run_names).get_indexer(counts["run"])
    keys = np.column_stack([run, longer, longer if longest else shorter])
    pairs, pair = np.unique(keys, axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    out = {
        "pair_run": pairs[:, 0],
        "pair_log_longer": np.log(pairs[:, 1]),
        "pair_log_ratio": np.log(pairs[:, 2]) - np.log(pairs[:, 1]),
        "pair_correct": np.bincount(pair, correct, len(pairs)),
        "pair_wrong": np.bincount(pair, total - correct, len(pairs)),
    }
    for side, count, of, place in (
        ("right", correct, pair, "pair"),
        ("wrong", total - correct, pair, "pair"),
        ("total", total, run, "run"),
    ):
        some = count > 0
        distinct, cells = np.unique(np.column_stack([of[some], count[some]]), axis=0, return_counts=True)
        out |= {f"{side}_{place}": distinct[:, 0], f"{side}_count": distinct[:, 1], f"{side}_cells": cells}
    return {name: x if name.endswith(("run", "pair")) else x.astype(float) for name, x in out.items()}
