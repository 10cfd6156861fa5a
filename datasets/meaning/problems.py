"""Problems of a table of runs: all that its columns would be read wrong for, raised in one message.

A rule is a `Rule` of the column of one role, or a function of `Facts` that returns a `Problem` or None.
"""

import shlex
from math import prod

from ...errors import InputError
from ..columns import RUN, SIZES
from ..fixes import EFFECTS, NOTHING, Fix, setting_aside
from ..wording import nearest, quoted
from .facts import agree
from .magnitudes import unit_of_compute
from .names import in_expression
from .proposals import find_lacking_loss, find_lacking_sizes, propose_size
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
            raise InputError(message)
    message = _write(problems, label, whole=False)
    raise InputError(message if len(message) <= LONGEST else _write(problems, label, whole=False, script=False))


def _find_problems(facts, rules, shown):
    facts.shown = shown
    return [problem for rule in rules if (problem := rule(facts))]


def _write(problems, label, *, whole=True, script=True):
    """Return one line on all problems, without what else may be right, or without the fix in a script."""
    fix = sum((problem.fix for problem in problems), NOTHING)
    texts = [problem.text for problem in problems]
    texts += [f"give {fix if script else fix.on_the_command_line()}"] if fix else []
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


RULES = (find_several_columns, find_lacking_sizes, find_lacking_loss, *OF_A_ROLE)
WITH_OTHERS = (find_count_of_compute, find_readings)  # alone these are left to checks of the rows that are wanted
