"""Columns that are proposed for a size or a loss that a table lacks."""

from dataclasses import replace

from ..columns import RUN, SIZES
from ..fixes import DROPPING, NOTHING, Fix, choice, setting_aside
from ..name_patterns import find_sizes_in_names
from ..wording import listed, nearest, quoted
from .magnitudes import likely_units
from .names import in_expression, means, tokens_of_one, words, write_product
from .rules import OF_A_ROLE, Problem

A_BATCH = 2**14  # a larger one is of tokens
ONE_VARIABLE = {"parameters": "power-parameters", "tokens": "power-tokens", "training_flop": "power-compute"}


# Sizes ----------------------------------------------------------------------------------------------------------------


def find_lacking_sizes(facts):
    """Check that two of the sizes are there, or the only one that is needed, if any."""
    present = [name for name in SIZES if name in facts.names]
    if len(present) >= 2 or facts.size in ("", *present):
        return None
    wanted = SIZES if facts.size is None else (facts.size,)
    proposals = {name: x for name in wanted if name not in present if (x := propose_size(facts, name))}
    # What depends on a number that the table lacks comes last.
    chosen = sorted(proposals, key=lambda name: bool(proposals[name][1]))[: 1 if facts.size else 2 - len(present)]
    fix = sum((proposals[name][0] for name in chosen), NOTHING)
    alone = f"; with {present[0]} alone fit {ONE_VARIABLE[present[0]]}" if present else ""
    if facts.size is not None:
        texts = [f"no column for {facts.size}{alone}"]
    else:
        texts = [f"two of {listed(SIZES)} are needed and {listed(present)} found{'' if fix else alone}"]
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


# Losses ---------------------------------------------------------------------------------------------------------------


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
    for rule in OF_A_ROLE:
        if rule.role == "loss" and (found := rule.find(facts, header)):
            _, fix, otherwise = rule.describe(facts, header, found)
            return Fix(columns={"loss": str(header)}) + fix, otherwise
    return Fix(columns={"loss": str(header)}), ""
