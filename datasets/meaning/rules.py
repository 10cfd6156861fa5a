"""Rules of the columns of a table of runs: what would be read wrong, with the fix.

`OF_A_ROLE` is the table of rules of the column that plays one role: a test of the column, what is said of it, the fix,
and what else may be right. Other rules are functions of `TableFacts` that return a `Problem` or None. All problems of a
table are raised in one message.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ...errors import InputError
from ..columns import RUN, SIZES
from ..fixes import EFFECTS, NOTHING, Fix, setting_aside
from ..wording import nearest, quoted
from .facts import agree
from .magnitudes import logarithm, unit_of_compute
from .names import in_expression, logarithm_of, means, words, write_product
from .proposals import (
    UNIT_OTHER,
    Problem,
    describe_bits,
    find_bits,
    find_lacking_loss,
    find_lacking_sizes,
    propose_size,
    take_bits,
    take_error_rate,
    undo_logarithm,
)
from .readings import describe_readings, find_keys_of_runs, take_last_of

LONGEST = 600  # characters of a message
SHOWN = (12, 6, 4, 3, 2, 1)  # names in a message, the most that fit
MULTIPLES = (2, 3, 4, 8, 12)  # FLOP a parameter and token: 2 of the forward pass, 8 with recomputed activations
A_STEP = 5e5  # tokens, as an example
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


# Rules of the column of one role --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A rule of the column of a role, unless the user stated its unit or it is an expression.

    `test` is a meaning of the column's name, or a function of `TableFacts` and the name that returns what it found. The
    text, the fix and what else may be right are constants or functions of both and of what was found. In a constant
    text {role} and {found} stand for the role and what was found.
    """

    role: str
    test: str | Callable
    text: str | Callable
    fix: Fix | Callable
    otherwise: str | Callable = ""

    def __call__(self, facts):
        """Return the `Problem` of the column that plays the role, or None."""
        header = facts.names.get(self.role)
        if header is None or facts.stated(self.role):
            return None
        found = means(header, self.test) if isinstance(self.test, str) else self.test(facts, header)
        if not found:
            return None
        parts = (self.text, self.fix, self.otherwise)
        text, fix, otherwise = (x(facts, header, found) if callable(x) else x for x in parts)
        text = text.format(found=found) if text is self.text else text
        return Problem(f"column {quoted(header)}, taken for {self.role}, {text}", fix, otherwise)


def _find_rise(facts, header):
    """Return the rank correlation of an accuracy with compute in words, unless it falls."""
    if not means(header, "accuracy") or "loss" in words(header) or (rise := facts.rises(header)) < 0:
        return None
    return f"a score{f' and rises with compute (rank correlation {rise:.2f})' if rise else ''}"


def _find_other_counts(facts, header):
    if not means(header, "part"):
        return None
    candidates = facts.candidates("parameters")
    others = [x for x in facts.table if x != header and (means(x, "part") or x in candidates)]
    return nearest(others, ["parameters"], facts.shown) if others else None


def _take_whole(facts, header, found):
    whole = [name for name, *_ in facts.counts() if name != str(header)]
    whole += [str(x) for x in facts.candidates("parameters") if not means(x, "part")]
    return Fix(columns={"parameters": whole[0]}) if whole else NOTHING


def _list_epochs(facts):
    epochs = [x for x in facts.table if means(x, "epochs") and x not in facts.derived]
    return [x for x in epochs if facts.values(x) is not None]


def _find_epochs(facts, header):
    """Return a column of epochs that are not all one, next to the size of a data set."""
    passes = _list_epochs(facts) if means(header, "data") else []
    return next((x for x in passes if (facts.values(x).dropna() != 1).any()), None)


def _find_epochs_of_tokens(facts, header):
    """Return a column of whole epochs that vary, unless the tokens are known to be those of all epochs."""
    if means(header, "data", "seen") or "unique_tokens" in facts.names or any(map(agree, facts.counts())):
        return None
    for column in _list_epochs(facts):
        passes = facts.values(column)
        one = facts.values(header) / passes
        # Tokens that are epochs times one size are those of all epochs.
        several = "parameters" not in facts.names or one.groupby(facts.role("parameters")).nunique().max() > 1
        if several and passes.nunique() > 1 and not (passes.dropna() % 1 > 0).any():
            return column
    return None


def _take_product(role, otherwise=NOTHING):
    """Return the function that takes a product of columns for a role, or else another fix."""

    def take(facts, header, found):
        expression = write_product(role, [header, *facts.numeric()])[0]
        return Fix(columns={role: expression}) if expression else otherwise

    return take


def _take_all_epochs(facts, header, epochs):
    return Fix(columns={"tokens": f"{in_expression(header)}*{in_expression(epochs)}"})


def _take_logarithm(role):
    return lambda facts, x, found: Fix(columns={role: logarithm(role, x, facts.values(x), found[0])})


OF_A_ROLE = (
    Rule("loss", find_bits, lambda facts, x, unit: f"is in {unit.replace('-', ' ')} by its name", take_bits,
         lambda facts, x, unit: describe_bits(x) or "or loss=nats if it is not"),
    Rule("loss", _find_rise, "is called {found}: an accuracy?", take_error_rate),
    Rule("loss", "other loss", "is no cross entropy by its name", Fix(unit=UNIT_OTHER), "if it is one, loss=nats"),
    Rule("loss", lambda facts, x: logarithm_of(x) and not means(logarithm_of(x)[1], "likelihood"),
         "is a logarithm by its name", undo_logarithm, "if it is a cross entropy, --unit loss=nats"),
    Rule("loss", lambda facts, x: facts.is_negative(x), "is negative in every row, as a log likelihood is",
         lambda facts, x, found: Fix(columns={"loss": f"-{in_expression(x)}"})),
    *(Rule(role, "rate", "is a rate or a share by its name", _take_product(role),
           f'if it is a total, give unit={{"{role}": 1}} (--unit {role}=1)') for role in SIZES),
    Rule("parameters", _find_other_counts, "counts some of them by its name; others are {found}", _take_whole,
         "if right, --unit parameters=1"),
    Rule("tokens", "steps", "counts steps by its name", _take_product("tokens", Fix(unit={"tokens": A_STEP})),
         f"the tokens of one step in place of {A_STEP:g}, if that is given; if it counts tokens, --unit tokens=1"),
    Rule("tokens", _find_epochs,
         lambda facts, x, epochs: f"is the size of a data set and {facts.span(epochs)} states how often it is read",
         _take_all_epochs,
         lambda facts, x, epochs: f"for the law of repeated data also --column unique_tokens={x}; if it counts all "
         "training tokens, --unit tokens=1"),
    Rule("tokens", _find_epochs_of_tokens,
         lambda facts, x, epochs: f"may be of one epoch, and {facts.span(epochs)} states how many there are",
         _take_all_epochs, "if it counts all training tokens, --unit tokens=1"),
    Rule("training_flop", lambda facts, x: facts.multiple == 6 and means(x, "forward"),
         "is the FLOP of the forward pass by its name", Fix(others={"flop_per_parameter_token": 2}),
         'if it is those of training, unit={"training_flop": 1} (--unit training_flop=1)'),
    *(Rule(role, lambda facts, x: facts.values(x) is not None and logarithm_of(x), "is a logarithm by its name",
           _take_logarithm(role)) for role in SIZES),
)  # fmt: skip


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
