"""Rules of the columns of a table of runs: what would be read wrong, with the fix.

A rule is a function of `TableFacts` and of the number of names that its message may list, and returns a `Problem` or None.
All problems of a table are raised in one message. A new rule is a new function in `RULES`.
"""

import shlex
from dataclasses import replace
from math import prod

from ...errors import InputError
from ..columns import RUN, SIZES, choice, setting_aside
from ..name_patterns import sizes_in_names
from ..wording import listed, nearest, quoted
from .fixes import DROPPING, EFFECTS, NOTHING, Fix, Problem
from .loss_rules import LOSS_RULES
from .magnitudes import likely_units, logarithm, unit_of_compute
from .names import (
    FORWARD,
    SEEN,
    counts_data,
    counts_epochs,
    counts_steps,
    is_part,
    is_rate,
    logarithm_of,
    named,
    product,
    product_and_unknown,
    tokens_of_one,
    words,
)
from .readings import keys_of_runs, last_of, text_of

LONGEST = 600  # characters of a message
SHOWN = (12, 6, 4, 3, 2, 1)  # names in a message, the most that fit
MULTIPLES = (2, 3, 4, 8, 12)  # FLOP a parameter and token: 2 of the forward pass, 8 with recomputed activations
AGREES = 0.01  # share of 6ND
A_STEP = 5e5  # tokens, as an example
A_BATCH = 2**14  # a larger one is of tokens
ENOUGH = 12  # runs of which the last readings suffice for a law of sizes
ONE_VARIABLE = {"parameters": "power-parameters", "tokens": "power-tokens", "training_flop": "power-compute"}


def check_meaning(facts, label):
    """Raise one error with all problems of a table, if there are any."""
    if not any(rule(facts, 1) for rule in RULES):
        return
    for shown in SHOWN:
        problems = [problem for rule in (*RULES, *WITH_OTHERS) if (problem := rule(facts, shown))]
        message = _message(problems, label)
        if len(message) <= LONGEST:
            raise InputError(message)
    messages = [
        _message(problems, label, **shorter) for shorter in ({"whole": False}, {"whole": False, "script": False})
    ]
    raise InputError(next((message for message in messages if len(message) <= LONGEST), messages[-1]))


def _message(problems, label, *, whole=True, script=True):
    """Return one line on all problems, without what else may be right, or without the fix in a script."""
    fix = sum((problem.fix for problem in problems), NOTHING)
    words_ = str(fix) if script else " ".join(fix.on_the_command_line())
    texts = [problem.text for problem in problems] + ([f"give {words_}"] if fix else [])
    texts += [problem.otherwise for problem in problems if problem.otherwise and whole]
    return f"{label}: {'; '.join(texts)}"


# Rules ----------------------------------------------------------------------------------------------------------------


def lacking_sizes(facts, shown):
    """Check that two of the sizes are there, or the only one that is needed, if any."""
    present = [name for name in SIZES if name in facts.names]
    if len(present) >= 2 or facts.size in ("", *present):
        return None
    wanted = SIZES if facts.size is None else (facts.size,)
    proposals = {name: x for name in wanted if name not in present if (x := _proposal(facts, name))}
    lacking = 2 - len(present) if facts.size is None else 1
    # What depends on a number that the table lacks comes last.
    chosen = sorted(proposals, key=lambda name: bool(proposals[name][1]))[:lacking]
    fix = sum((proposals[name][0] for name in chosen), NOTHING)
    text = f"two of {listed(SIZES)} are needed and {listed(present)} found"
    if facts.size is not None:
        others = f"; with {present[0]} alone fit {ONE_VARIABLE[present[0]]}" if present else ""
        text = f"no column for {facts.size}{others}"
    elif len(present) == 1 and not fix:
        text += f"; with {present[0]} alone fit {ONE_VARIABLE[present[0]]}"
    lists = [_listed(facts, name, shown) for name in proposals]
    if not proposals:
        lists = [f"the columns are {nearest(facts.table.columns, SIZES, shown)}"]
        absent = next(name for name in wanted if name not in present)
        lists.append(f"name one with {choice(absent, 'NAME')}")
    roles = {name: facts.names.get(name, fix.columns.get(name)) for name in SIZES}
    units = likely_units(facts.sizes(roles))
    new = {name: unit for name, unit in units.items() if name not in (*facts.sure, *fix.unit)}
    otherwise = "; ".join(filter(None, (proposals[name][1] for name in chosen)))
    fix += DROPPING if any(map(facts.has_gaps, (x for x in fix.columns.values() if x in facts.table))) else NOTHING
    if pattern := next((x for name, x in fix.others.items() if name.startswith("from_")), ""):
        what = "sizes" if "{tokens}" in pattern else "parameters"
        text += f"; names such as {quoted(_a_name(facts, fix))} seem to hold {what}"
        if "{tokens}" in pattern:
            fix = replace(fix, columns={name: x for name, x in fix.columns.items() if name != "tokens"})
    return Problem("; ".join([text, *filter(None, lists)]), fix + Fix(unit=new if fix else {}), otherwise)


def _proposal(facts, canonical):
    """Return the fix that names a column or a product of columns for a role, with what it depends on, or None."""
    candidates = facts.candidates(canonical)
    numeric = [x for x in facts.table if facts.values(x) is not None]
    expression, unknown = product_and_unknown(canonical, numeric)
    of_it = bool(candidates) and named(candidates[0]) in expression.split("*") if expression else False
    if expression and (of_it or not candidates or not is_total(canonical, candidates[0])):
        batch = next((x for x in numeric if "batch" in words(x)), None)
        if unknown and canonical == "tokens" and batch and facts.values(batch).median() > A_BATCH:
            expression, unknown = expression.rpartition("*")[0], ""
        return Fix(columns={canonical: expression}), unknown
    if canonical == "parameters" and (counts := facts.counts()):
        return Fix(columns={canonical: counts[0][0]}), ""
    if candidates:
        sampled = canonical == "tokens" and {"sample", "samples", "example", "examples", "sequences"} & {
            *words(candidates[0])
        }
        otherwise = "if one is a sequence, also --unit tokens=1024 with its length" if sampled else ""
        return Fix(columns={canonical: facts.logarithm(canonical, candidates[0]) or str(candidates[0])}), otherwise
    if canonical == "parameters" and (way := _in_names(facts)):
        return way
    if canonical == "parameters" and (header := facts.names.get("parameters_nonembedding")):
        return Fix(columns={canonical: str(header)}), "N is then without embeddings"
    for header in facts.free() if canonical == "tokens" else ():
        if (unit := tokens_of_one(header)) and facts.values(header) is not None:
            fix = Fix(columns={canonical: str(header)}, unit={canonical: unit})
            return fix, f"with the tokens of one in place of {unit:g}"
    return None


def _a_name(facts, fix):
    column = "file" if "from_file" in fix.others else fix.columns.get(RUN, RUN)
    return facts.table[column].dropna().iloc[0]


def _in_names(facts):
    """Return the fix that reads sizes from names of runs, models or files, of files of several rows the last."""
    wanted = not {"tokens", "training_flop"} & set(facts.names)
    if (way := sizes_in_names(facts.table, wanted)) is None:
        return None
    column, option, pattern = way
    if not option:
        return Fix(columns={"parameters": str(column)}), ""
    fix = Fix(columns={} if column in (RUN, "file") else {RUN: str(column)}, others={option: pattern})
    if option == "from_file" and facts.table[column].value_counts().median() >= 3:
        fix += Fix(others={"last_of": RUN})
    return fix, ""


def is_total(canonical, name):
    """Return whether a name is that of all tokens or FLOP, not of a column that a product multiplies."""
    return canonical == "parameters" or "total" in words(name) or not counts_data(name)


def _listed(facts, canonical, shown):
    """Return the candidates for a role with their ranges."""
    spans = [facts.span(header) for header in facts.candidates(canonical)[:shown]]
    return f"for {canonical} there are {', '.join(spans)}" if spans else ""


def several_columns(facts, shown):
    """Check that no two different columns could each play a part."""
    names = {name: x for name, x in facts.several.items() if name != "perplexity" or facts.perplexity}
    if not names:
        return None
    texts = [f"columns {nearest(x, [name], shown)} could each be {name}" for name, x in names.items()]
    return Problem("; ".join(texts), Fix(columns={name: str(x[0]) for name, x in names.items()}), "")


def logarithm_for_size(facts, shown):
    """Check that no size is a logarithm by its name."""
    for name in SIZES:
        header = facts.names.get(name)
        values = None if header is None or facts.stated(name) or not logarithm_of(header) else facts.values(header)
        if values is not None:
            fix = Fix(columns={name: logarithm(name, header, values, logarithm_of(header)[0])})
            return Problem(f"column {quoted(header)}, taken for {name}, is a logarithm by its name", fix)
    return None


def epochs_for_tokens(facts, shown):
    """Check that tokens next to whole epochs that vary are not those of one epoch."""
    header = facts.names.get("tokens")
    if header is None or facts.stated("tokens") or counts_data(header) or "unique_tokens" in facts.names:
        return None
    if any(map(agree, facts.counts())):  # the FLOP are those of these tokens
        return None
    for column in facts.table:
        passes = facts.values(column) if counts_epochs(column) and column not in facts.derived else None
        if passes is None or passes.nunique() < 2 or (passes.dropna() % 1 > 0).any() or {*words(header)} & SEEN:
            continue
        one = facts.values(header) / passes
        # Tokens that are epochs times one size are those of all epochs.
        if one.groupby(facts.role("parameters")).nunique().max() > 1 if "parameters" in facts.names else True:
            return Problem(
                f"column {quoted(header)} may be of one epoch, and {facts.span(column)} states how many there are",
                Fix(columns={"tokens": f"{named(header)}*{named(column)}"}),
                "if it counts all training tokens, --unit tokens=1",
            )
    return None


def rate_for_total(facts, shown):
    """Check that no rate or ratio is taken for a total."""
    wrong = [name for name in SIZES if name in facts.names and not facts.stated(name) and is_rate(facts.names[name])]
    if not wrong:
        return None
    name, header = wrong[0], facts.names[wrong[0]]
    headers = [x for x in facts.table if facts.values(x) is not None]
    fix = Fix(columns={name: expression}) if (expression := product(name, headers)) else Fix()
    text = f"column {quoted(header)}, taken for {name}, is a rate or a share by its name"
    return Problem(text, fix, f'if it is a total, give unit={{"{name}": 1}} (--unit {name}=1)')


def part_for_whole(facts, shown):
    """Check that the parameters are not those of one part alone, such as embeddings, where others are counted."""
    header = facts.names.get("parameters")
    if header is None or facts.stated("parameters") or not is_part(header):
        return None
    others = [x for x in facts.table if x != header and (is_part(x) or x in facts.candidates("parameters"))]
    if not others:
        return None
    counts = [count for count in facts.counts() if count[0] != str(header)]
    whole = [x for x in facts.candidates("parameters") if not is_part(x)]
    best = counts[0][0] if counts else whole[0] if whole else None
    fix = Fix(columns={"parameters": str(best)}) if best is not None else NOTHING
    text = f"column {quoted(header)}, taken for parameters, counts some of them by its name; others are"
    return Problem(f"{text} {nearest(others, ['parameters'], shown)}", fix, "if right, --unit parameters=1")


def steps_for_tokens(facts, shown):
    """Check that the tokens are no steps."""
    header = facts.names.get("tokens")
    if header is None or facts.stated("tokens") or not counts_steps(header):
        return None
    others = [x for x in facts.table if facts.values(x) is not None]
    expression = product("tokens", [header, *others])
    text = f"column {quoted(header)}, taken for tokens, counts steps by its name"
    if expression:
        return Problem(text, Fix(columns={"tokens": expression}), "if it counts tokens, --unit tokens=1")
    return Problem(f"{text}; if they are steps, give the tokens of one as "
                   f"{Fix(unit={'tokens': A_STEP})}; if it counts tokens, tokens=1")  # fmt: skip


def data_for_tokens(facts, shown):
    """Check that the tokens are no size of a data set that is read several times."""
    header = facts.names.get("tokens")
    if header is None or facts.stated("tokens") or not counts_data(header):
        return None
    passes = [x for x in facts.table if counts_epochs(x) and facts.values(x) is not None]
    passes = [x for x in passes if (facts.values(x).dropna() != 1).any()]
    if not passes:
        return None
    expression = product("tokens", [header, passes[0]])
    return Problem(
        f"column {quoted(header)} is the size of a data set and {facts.span(passes[0])} states how often it is read",
        Fix(columns={"tokens": expression}),
        f"for the law of repeated data also --column unique_tokens={header}; if it counts all training tokens, "
        "--unit tokens=1",
    )


def forward_flop(facts, shown):
    """Check that the FLOP are not those of the forward pass alone, a third of those of training."""
    header = facts.names.get("training_flop")
    if header is None or facts.stated("training_flop") or facts.multiple != 6 or not FORWARD & set(words(header)):
        return None
    return Problem(
        f"column {quoted(header)} is the FLOP of the forward pass by its name",
        Fix(others={"flop_per_parameter_token": 2}),
        'if it is those of training, unit={"training_flop": 1} (--unit training_flop=1)',
    )


def count_of_compute(facts, shown):
    """Check that the FLOP belong to the count of parameters that is taken, and not to another."""
    if not set(SIZES) <= set(facts.names):
        return None
    counts, header = facts.counts(), facts.names["parameters"]
    current = [count for count in counts if count[0] == str(header)]
    if len(counts) < 2 or not current or agree(current[0]) or counts[0] is current[0]:
        return None
    return Problem(text_of_counts(facts, counts, shown), fix_of_counts(facts, counts))


def readings_of_runs(facts, shown):
    """Check that rows are no readings of one run, by the tokens that are there or that another rule proposes."""
    n, d = facts.role("parameters"), facts.role("tokens")
    if d is None and (proposal := _proposal(facts, "tokens")):
        factors = [x for x in facts.table if named(x) in proposal[0].columns.get("tokens", "").split("*")]
        d = prod(facts.values(x) for x in factors) if factors else None
    if n is None or d is None or RUN in facts.chosen or facts.chooses:
        return None
    others = facts.table[[x for x in facts.free() if x not in (*SIZES, "loss")]]
    runs = others.assign(parameters=n, tokens=d)[n.notna() & d.notna()]
    if not (keys := keys_of_runs(runs, started=bool(d.isna().any()))):
        return None
    column = facts.names["parameters"] if keys == ["parameters"] else keys[0]
    if len(keys) > 1 or runs.groupby(keys[0]).ngroups >= ENOUGH:
        return Problem(text_of(runs, keys), last_of(keys))
    instead = f"or give --last-of {shlex.quote(str(keys[0]))} in place of the run and its effects"
    return Problem(text_of(runs, keys), Fix(columns={RUN: str(column)}) + EFFECTS, instead)


def fix_of_compute(facts):
    """Return which count of parameters or other multiple the FLOP belong to and how to take it, or ""."""
    if not set(SIZES) <= set(facts.names):
        return ""
    aside = setting_aside(facts.names["training_flop"])
    if problem := count_of_compute(facts, 3):
        otherwise = "" if problem.fix.ignore else f", or leave the FLOP out with {aside}"
        return f"{problem.text}; give {problem.fix}{otherwise}"
    count = next((x for x in facts.counts() if x[0] == str(facts.names["parameters"])), None)
    for multiple in MULTIPLES if count else ():
        if agree((count[0], *(x * facts.multiple / multiple for x in count[1:]))):
            fix = Fix(others={"flop_per_parameter_token": multiple})
            return f"every row has {multiple:g}ND: if they are counted so, give {fix}, or leave them out with {aside}"
    unit = unit_of_compute((count[1] * count[2]) ** 0.5) if count else None
    return f"if it is in units of {unit:g}, give {Fix(unit={'training_flop': unit})}" if unit else ""


def text_of_counts(facts, counts, shown):
    """Return which counts of parameters the FLOP belong to, with the ratios of FLOP to 6ND."""
    ratios = ", ".join(
        f"{quoted(name)} {'1' if agree((name, low, high)) else f'{low:.3g} to {high:.3g}'}"
        for name, low, high in counts[: max(2, min(shown, 4))]
    )
    return f"column {quoted(facts.names['training_flop'])} over 6ND is, by count of parameters: {ratios}"


def fix_of_counts(facts, counts):
    """Return the fix that takes the nearest count, without FLOP that are not its 6ND."""
    ignore = () if agree(counts[0]) else (str(facts.names["training_flop"]),)
    return Fix(columns={"parameters": counts[0][0]}, ignore=ignore)


def agree(count):
    """Return whether the FLOP are 6ND of a count in every row."""
    return abs(count[1] - 1) < AGREES and abs(count[2] - 1) < AGREES


RULES = (
    several_columns,
    lacking_sizes,
    *LOSS_RULES,
    rate_for_total,
    part_for_whole,
    steps_for_tokens,
    data_for_tokens,
    epochs_for_tokens,
    forward_flop,
    logarithm_for_size,
)
WITH_OTHERS = (count_of_compute, readings_of_runs)  # alone these are left to checks of the rows that are wanted
