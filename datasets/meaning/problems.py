"""Problems of a table of runs: all that its columns would be read wrong for, raised in one message.

A rule is a `Rule` of the column of one role, or a function of `Facts` that returns a `Problem` or None.
"""

import shlex
from dataclasses import replace
from math import prod

from ...errors import InputError
from ..columns import RUN, SIZES, recognise
from ..fixes import DROPPING, EFFECTS, NOTHING, Fix, choice, setting_aside
from ..formula_nodes import spell
from ..name_patterns import find_sizes_in_names
from ..requirements import A_BATCH
from ..wording import listed, nearest, quoted
from .facts import agree
from .magnitudes import likely_units, unit_of_compute
from .names import in_expression, means, tokens_of_one, words, write_product
from .readings import describe_readings, find_keys_of_runs, take_last_of
from .rules import OF_A_ROLE, Problem

LONGEST = 600  # characters of a message
SHOWN = (12, 6, 4, 3, 2, 1)  # names in a message, the most that fit
MULTIPLES = (2, 3, 4, 8, 12)  # FLOP a parameter and token: 2 of the forward pass, 8 with recomputed activations
ENOUGH = 12  # runs of which the last readings suffice for a law of sizes


def check_meaning(facts, label):
    """Raise one error with all problems of a table, if there are any."""
    if not _find_problems(facts, RULES, 1):
        return
    problems = []
    for shown in SHOWN:
        problems = _find_problems(facts, (*RULES, *WITH_OTHERS), shown)
        if len(message := _write(problems, label)) <= LONGEST:
            break
    else:
        message = _write(problems, label, whole=False)
        message = message if len(message) <= LONGEST else _write(problems, label, whole=False, script=False)
    fix, texts = _fix_of(problems), [x for problem in problems for x in (problem.text, problem.otherwise) if x]
    raise InputError(message, f"{label}: {'; '.join(texts)}", {"": fix} if fix else {})


def _find_problems(facts, rules, shown):
    facts.shown = shown
    return [problem for rule in rules if (problem := rule(facts))]


def _fix_of(problems):
    """Return the fix of all problems: the formula that is fitted in place of all else, or what answers each."""
    return sum((x.fix for x in [x for x in problems if x.fix.formula] or problems), NOTHING)


def _write(problems, label, *, whole=True, script=True):
    """Return one line on all problems, without what else may be right, or without the fix in a script."""
    problems = [problem for problem in problems if problem.fix.formula] or problems
    fix = _fix_of(problems)
    texts = [problem.text for problem in problems]
    texts += [str(fix) if fix.formula else f"give {fix if script else fix.on_the_command_line()}"] if fix else []
    texts += [problem.otherwise for problem in problems if problem.otherwise and whole]
    return f"{label}: {'; '.join(texts)}"


# Rules of several columns ---------------------------------------------------------------------------------------------


def find_several_columns(facts):
    """Check that no two different columns could each play a part."""
    names = {name: x for name, x in facts.several.items() if name != "perplexity" or facts.perplexity}
    texts = [f"columns {nearest(x, [name], facts.shown)} could each be {name}" for name, x in names.items()]
    return Problem("; ".join(texts), Fix(columns={name: str(x[0]) for name, x in names.items()})) if names else None


def find_count_of_compute(facts):
    """Check that the FLOP belong to the count of parameters that is taken, and not to another."""
    counts, header = facts.counts(), str(facts.names.get("parameters"))
    current = [count for count in counts if count[0] == header]
    if not set(SIZES) <= set(facts.names) or not current or agree(current[0]) or counts[0] is current[0]:
        return None
    ratios = ", ".join(
        f"{quoted(name)} {'1' if agree((name, low, high)) else f'{low:.3g} to {high:.3g}'}"
        for name, low, high in counts[: max(2, min(facts.shown, 4))]
    )
    flop = str(facts.names["training_flop"])
    text = f"column {quoted(flop)} over 6ND is, by count of parameters: {ratios}"
    return Problem(text, Fix(columns={"parameters": counts[0][0]}, ignore=() if agree(counts[0]) else (flop,)))


def find_readings(facts):
    """Check that rows are no readings of one run, by the tokens that are there or that another rule proposes."""
    n, d = facts.role("parameters"), facts.role("tokens")
    if d is None and (proposal := propose_size(facts, "tokens")):
        factors = proposal[0].columns.get("tokens", "").split("*")
        factors = [facts.values(x) for x in facts.table if in_expression(x) in factors]
        d = prod(factors) if factors else None
    if n is None or d is None or RUN in facts.chosen or facts.chooses:
        return None
    others = facts.table[[x for x in facts.free() if x not in (*SIZES, "loss")]]
    runs = others.assign(parameters=n, tokens=d)[n.notna() & d.notna()]
    if not (keys := find_keys_of_runs(runs, started=bool(d.isna().any()))):
        return None
    column = facts.names["parameters"] if keys == ["parameters"] else keys[0]
    if len(keys) > 1 or runs.groupby(keys[0]).ngroups >= ENOUGH:
        return Problem(describe_readings(runs, keys), take_last_of(keys))
    instead = f"or give --last-of {shlex.quote(str(keys[0]))} in place of the run and its effects"
    return Problem(describe_readings(runs, keys), Fix(columns={RUN: str(column)}) + EFFECTS, instead)


def describe_fix_of_compute(facts):
    """Return which count of parameters or other multiple the FLOP belong to and how to take it, or ""."""
    if not set(SIZES) <= set(facts.names):
        return ""
    aside, facts.shown = setting_aside(facts.names["training_flop"]), 3
    if problem := find_count_of_compute(facts):
        otherwise = "" if problem.fix.ignore else f", or leave the FLOP out with {aside}"
        return f"{problem.text}; give {problem.fix}{otherwise}"
    count = next((x for x in facts.counts() if x[0] == str(facts.names["parameters"])), None)
    for multiple in MULTIPLES if count else ():
        if agree((count[0], *(x * facts.multiple / multiple for x in count[1:]))):
            fix = Fix(others={"flop_per_parameter_token": multiple})
            return f"every row has {multiple:g}ND: if they are counted so, give {fix}, or leave them out with {aside}"
    unit = unit_of_compute((count[1] * count[2]) ** 0.5) if count else None
    return f"if it is in units of {unit:g}, give {Fix(unit={'training_flop': unit})}" if unit else ""


# Sizes that a table lacks ---------------------------------------------------------------------------------------------


def find_lacking_sizes(facts):
    """Check that two of the sizes are there, or the only one that is needed, if any."""
    present = [name for name in SIZES if name in facts.names]
    if len(present) >= 2 or facts.size in ("", *present):
        return None
    wanted = SIZES if facts.size is None else (facts.size,)
    proposals = {name: x for name in wanted if name not in present if (x := propose_size(facts, name))}
    # What depends on a number that the table lacks comes last.
    ranked = sorted(proposals, key=lambda name: bool(proposals[name][1]))
    taken = [[*proposals[name][0].columns.values()] for name in ranked]
    chosen = [name for k, name in enumerate(ranked) if not taken[k] or taken[k] not in taken[:k]]
    chosen = chosen[: 1 if facts.size else 2 - len(present)]
    fix = sum((proposals[name][0] for name in chosen), NOTHING)
    loss = facts.names.get("loss", next(iter(facts.candidates("loss")), None))
    one = present and loss is not None and (facts.size is not None or not fix)
    if facts.size is not None:
        texts = [f"no column for {facts.size}"]
    else:
        texts = [f"two of {listed(SIZES)} are needed and {listed(present)} found"]
    if pattern := next((x for name, x in fix.others.items() if name.startswith("from_")), ""):
        example = facts.table["file" if "from_file" in fix.others else fix.columns.get(RUN, RUN)].dropna().iloc[0]
        what = "sizes" if "{tokens}" in pattern else "parameters"
        texts.append(f"names such as {quoted(example)} seem to hold {what}")
    for name in proposals:
        spans = [facts.span(header) for header in facts.candidates(name)[: facts.shown]]
        texts += [f"for {name} there are {', '.join(spans)}"] if spans else []
    if not proposals:
        texts.append(f"the columns are {nearest(facts.table.columns, SIZES, facts.shown)}")
        texts.append(f"name one with {choice(next(name for name in wanted if name not in present), 'NAME')}")
    units = likely_units(facts.sizes({name: facts.names.get(name, fix.columns.get(name)) for name in SIZES}))
    units = {name: unit for name, unit in units.items() if fix and name not in (*facts.sure, *fix.unit)}
    gaps = any(facts.has_gaps(x) for x in fix.columns.values() if x in facts.table)
    if "{tokens}" in pattern:
        fix = replace(fix, columns={name: x for name, x in fix.columns.items() if name != "tokens"})
    otherwise = "; ".join(filter(None, (proposals[name][1] for name in chosen)))
    if one:  # a law of the size that is there
        return Problem("; ".join(texts), facts.formula(spell(str(loss)), 1))
    return Problem("; ".join(texts), fix + (DROPPING if gaps else NOTHING) + Fix(unit=units), otherwise)


def propose_size(facts, canonical):
    """Return the fix that names a column or a product of columns for a role, with what it depends on, or None."""
    candidates, numeric = facts.candidates(canonical), facts.numeric()
    expression, unknown = write_product(canonical, numeric)
    if expression and (not candidates or _is_factor(canonical, candidates[0], expression)):
        batch = next((x for x in numeric if "batch" in words(x)), None)
        if unknown and canonical == "tokens" and batch and facts.values(batch).median() > A_BATCH:
            expression, unknown = expression.rpartition("*")[0], ""
        return Fix(columns={canonical: expression}), unknown
    if canonical == "parameters" and not candidates and (expression := _count_of_shape(numeric)):
        return Fix(columns={canonical: expression}), "of layers that are four times as wide inside"
    if canonical == "parameters" and (counts := facts.counts()):
        return Fix(columns={canonical: counts[0][0]}), ""
    if candidates:
        sampled = canonical == "tokens" and means(candidates[0], "samples")
        otherwise = "if one is a sequence, also --unit tokens=1024 with its length" if sampled else ""
        return Fix(columns={canonical: facts.logarithm(canonical, candidates[0]) or str(candidates[0])}), otherwise
    if canonical == "parameters" and (fix := _propose_names(facts)):
        return fix, ""
    if canonical == "parameters" and (header := facts.names.get("parameters_nonembedding")):
        return Fix(columns={canonical: str(header)}), "N is then without embeddings"
    for header in facts.free() if canonical == "tokens" else ():
        if (unit := tokens_of_one(header)) and header in numeric:
            fix = Fix(columns={canonical: str(header)}, unit={canonical: unit})
            return fix, f"with the tokens of one in place of {unit:g}"
    return None


def _count_of_shape(headers):
    """Return the parameters of layers of a width, with their embeddings where the vocabulary is there, or None."""
    roles = {recognise(str(x).rpartition(".")[2]): in_expression(x) for x in headers}
    width, entries = roles.get("d_model"), roles.get("vocabulary")
    layers = next((in_expression(x) for x in headers if means(x, "layers")), None)
    if layers is None or width is None:
        return None
    return f"12*{layers}*{width}*{width}" + (f"+{entries}*{width}" if entries else "")


def _is_factor(canonical, name, expression):
    """Return whether a column that sounds like a total is a factor of an expression, or would be of another product."""
    factor = in_expression(name) in expression.split("*")
    return factor or (canonical != "parameters" and "total" not in words(name) and means(name, "data"))


def _propose_names(facts):
    """Return the fix that reads sizes from names of runs, models or files, of files of several rows the last."""
    wanted = not {"tokens", "training_flop"} & set(facts.names)
    if (way := find_sizes_in_names(facts.table, wanted)) is None:
        return None
    column, option, pattern = way
    if not option:
        return Fix(columns={"parameters": str(column)})
    several = option == "from_file" and facts.table[column].value_counts().median() >= 3
    columns = {} if column in (RUN, "file") else {RUN: str(column)}
    return Fix(columns=columns, others={option: pattern} | ({"last_of": RUN} if several else {}))


# Losses that a table lacks --------------------------------------------------------------------------------------------


def find_lacking_loss(facts):
    """Check that a loss or a perplexity is there, and not both."""
    names, columns = facts.names, facts.table.columns
    if facts.perplexity and "perplexity" not in names:
        near = facts.candidates("perplexity")
        return Problem(
            "no column for perplexity, which was to be converted, such as perplexity, ppl or val_ppl; the columns are "
            f"{nearest(columns, ['perplexity', 'ppl'], facts.shown)}; name it with "
            f"{choice('perplexity', near[0] if near else 'NAME')}"
        )
    if facts.perplexity and "loss" in names:
        return Problem(
            f"the loss is in column {quoted(names['loss'])} and was also to come from {quoted(names['perplexity'])}; "
            f"leave one out with {setting_aside(names['loss'])} or by not asking for perplexity"
        )
    if facts.perplexity or "loss" in names:
        return None
    lacking = "no column for loss"
    if "perplexity" in names:
        return Problem(
            f"column {quoted(names['perplexity'])} is a perplexity and there is {lacking}; take the loss as "
            "its logarithm with perplexity=True (--perplexity)"
        )
    if candidates := facts.candidates("loss"):
        fix, otherwise = _take_as_loss(facts, candidates[0])
        gaps = DROPPING if facts.has_gaps(candidates[0]) else NOTHING
        return Problem(f"{lacking}; there are {', '.join(map(facts.span, candidates[: facts.shown]))}",
                       fix + gaps, otherwise)  # fmt: skip
    if near := facts.candidates("perplexity"):
        return Problem(f"{lacking}; {facts.span(near[0])} may be a perplexity, whose logarithm is one",
                       Fix(columns={"perplexity": str(near[0])}, others={"perplexity": True}))  # fmt: skip
    if negative := [x for x in facts.free() if "lik" in str(x).lower() and facts.is_negative(x)]:
        return Problem(f"{lacking}; {quoted(negative[0])} is negative, as a log likelihood is",
                       Fix(columns={"loss": f"-{in_expression(negative[0])}"}),
                       "if it is of all tokens, divided by their number")  # fmt: skip
    columns = nearest(columns, ["loss", "val_loss"], facts.shown)
    return Problem(f"{lacking}; the columns are {columns}; name it with {choice('loss', 'NAME')}")


def _take_as_loss(facts, header):
    """Return how a column becomes a loss, as the rules of a loss have it, and what the fix depends on."""
    if words(header) == ["log", "loss"]:
        taken = Fix(columns={"loss": f"exp({in_expression(header)})"}).on_the_command_line()
        return Fix(columns={"loss": str(header)}), f"if it is the logarithm of a loss, {taken}"
    for rule in OF_A_ROLE:
        if rule.role == "loss" and (found := rule.find(facts, header)):
            _, fix, otherwise = rule.describe(facts, header, found)
            return Fix(columns={"loss": str(header)}) + fix, otherwise
    return Fix(columns={"loss": str(header)}), ""


RULES = (find_several_columns, find_lacking_sizes, find_lacking_loss, *OF_A_ROLE)
WITH_OTHERS = (find_count_of_compute, find_readings)  # alone these are left to checks of the rows that are wanted
