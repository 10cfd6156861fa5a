"""The columns of a table of runs, and the names that people give them."""

import re

import pandas as pd

from ..errors import InputError
from .fixes import ANY, Fix
from .units import SCALED, split_header
from .wording import listed, quoted, suggestion

SIZES = ("parameters", "tokens", "training_flop")
HEADERS = "headers"  # key of a table's attrs: canonical name to name in the file

# Names are compared in lower case with letters and digits only: "Model Size" is "modelsize" here.
ALIASES = {
    "parameters": (
        "n parameters params nparams nparameters numparams numparameters numberofparameters parametercount paramcount "
        "modelsize paramsize parametersize modelparameters modelparams totalparameters totalparams"
    ),
    "tokens": (
        "d tokens ntokens numtokens numberoftokens tokencount trainingtokens traintokens tokensseen datasetsize "
        "datasettokens trainingdatasetsize datasize trainingdatasize pretrainingdatasize pretrainingtokens"
    ),
    "training_flop": (
        "c flop flops compute computeflop computeflops computebudget totalflop totalflops totalcompute trainingflop "
        "trainingflops trainingcompute trainingcomputeflop trainingcomputeflops trainflop trainflops traincompute"
    ),
    "loss": (
        "l loss valloss validationloss finalloss finalvalloss finalvalidationloss testloss finaltestloss evalloss "
        "evaluationloss lmloss crossentropy crossentropyloss"
    ),
    "perplexity": (
        "ppl perplexity valppl valperplexity validationppl validationperplexity testppl testperplexity evalppl "
        "evalperplexity"
    ),
    "loss_halfwidth": "losshalfwidth halfwidth",
    "d_model": "dmodel width modelwidth hiddensize nembd",
    "vocabulary": "vocabulary vocab vocabsize vocabularysize nvocab",
    "parameters_nonembedding": (
        "parametersnonembedding paramsnonembedding nonembeddingparameters nonembeddingparams nonembedding "
        "nnonembedding nonembeddingparamsize nonembeddingparametersize"
    ),
    "unique_tokens": (
        "uniquetokens distincttokens nuniquetokens numuniquetokens numberofuniquetokens uniquetrainingtokens "
        "uniquetraintokens distincttrainingtokens"
    ),
}
# Less common names. A table may have one next to a name of `ALIASES`, which takes precedence.
LESS_COMMON = {
    "parameters": (
        "size paramsall allparams paramstotal parametercounttotal totalparametercount totalparamcount nparamstotal "
        "activeparams activeparameters activeparametercount activeparamcount nactiveparams nactiveparameters "
        "nparamsactive paramsactive activatedparams activatedparameters"
    ),
    "tokens": "tokenstrained tokensprocessed tokensconsumed trainedtokens totaltokens totaltrainingtokens ntraintokens",
    "training_flop": "flopsbudget flopbudget budgetflops budgetflop budgetcompute totalflos",
    "loss": (
        "ce nll xent celoss nllloss xentloss valce valnll valxent evalce evalnll evalxent testce testnll testxent "
        "bestvalloss bestevalloss minvalloss devloss heldoutloss lossval losseval losstest evalcrossentropy "
        "valcrossentropy testcrossentropy finalevalloss valbestloss lossvalidation"
    ),
    "parameters_nonembedding": (
        "nparamsnonembed nparamsnonembedding paramsnonembed nonembedparams nonembeddingparamcount nnoemb nnonemb "
        "noembparams paramsnoemb nonembparams nparamsnoembed parametersnonembed nonembedparameters"
    ),
}
# What a law of tuned runs needs; in other tables such columns may group the rows.
SETTINGS = {
    "learning_rate_peak": (
        "learningratepeak peaklearningrate maxlearningrate learningrate lr peaklr maxlr lrpeak lrmax baselr trainlr"
    ),
    "batch_tokens": (
        "batchtokens tokensperbatch tokensperupdate tokensperstep batchsizetokens batchsizeintokens globalbatchtokens"
    ),
    "error": "errorrate taskerror top1error errortop1",
}
SHOWN = 10  # columns in a message
SHORT = 4  # letters of a word that names many things
NUMBER_LIKE = re.compile(r"\s*[$€£¥₹~≈]?\s*[0-9][0-9.,eE+ ]*(?:[a-zA-Z%€]{1,8})?\s*")
RUN = "run"  # a column of names: recognised by this name alone, or chosen by the user
CANONICAL = {alias: name for name, aliases in ALIASES.items() for alias in aliases.split()}
LATER = {alias: name for name, aliases in LESS_COMMON.items() for alias in aliases.split()}


def recognise(name):
    """Return the canonical name of the column called `name`, or None."""
    return CANONICAL.get(_spell(name))


def recognise_later(name):
    """Return the canonical name of the column called `name` by a less common name, or None."""
    return LATER.get(_spell(name))


def recognised_base(name, canonical):
    """Return a header without its unit, as of ``Parameters (B)``, for a size or a count; else nothing."""
    base, unit = split_header(name)
    return base if isinstance(unit, float) and canonical in SCALED else ""


def recognise_with_unit(name):
    """Return the canonical name of the column called `name`, such as ``params_B`` or ``loss (bits)``, or None."""
    base, unit = split_header(name)
    canonical = None if unit is None else recognise(base)
    return canonical if canonical in (SCALED if isinstance(unit, float) else ("loss",)) else None


def has_numbers(cells):
    """Return whether one of some cells is a number, as people write it, and no date or name."""
    return bool(pd.api.types.is_numeric_dtype(cells) or cells.map(str).map(NUMBER_LIKE.fullmatch).any())


def is_setting(name, canonical):
    """Return whether a column's name is a common one of a key of `SETTINGS`."""
    return _spell(str(name).rpartition(".")[2]) in _common_names(canonical, SETTINGS)


def _spell(name):
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def _common_names(canonical, aliases):
    return {_spell(canonical), *aliases.get(canonical, "").split()}


class Called:
    """The columns whose names are common ones of some canonical names, or chosen for them; test with ``in``."""

    def __init__(self, names, chosen, aliases):
        self._chosen = [chosen[name] for name in names if name in chosen]
        self._common = {x for name in names if name not in chosen for x in _common_names(name, aliases)}

    def __contains__(self, name):
        return name in self._chosen or _spell(name) in self._common


def find_roles(table, chosen, label, needed=()):
    """Return the columns that play each part, by canonical name, and the columns of which several could.

    Those that are `chosen` go before any recognition; of several the one with fewest blanks is taken. Names of
    `SETTINGS` are recognised where they are `needed`. A key of `chosen` that is not canonical, or a column that is not
    there, is refused.
    """
    roles = {name: column for name, column in chosen.items() if name != RUN}  # runs may be those of one size
    for part in (chosen.items() - roles.items(), roles):
        _check_chosen(list(table.columns), dict(part), (*ALIASES, *SETTINGS, RUN), label)
    names, several = {name: column for name, column in chosen.items() if name in SETTINGS}, {}
    for canonical in {*SETTINGS} & {*needed} - {*names}:
        settings = [canonical] if canonical in table else [name for name in table if is_setting(name, canonical)]
        names |= choose_one(settings, canonical, label)
    others = [name for name in table if name not in roles.values()]
    for canonical in ALIASES:
        if canonical in chosen:
            names[canonical] = chosen[canonical]
            continue
        ways = (recognise, recognise_with_unit, recognise_later)
        common, with_unit, later = ([name for name in others if way(name) == canonical] for way in ways)
        if common and canonical in SIZES:  # hyperparameters.tokens next to the tokens of an evaluation
            common += [
                name for name in others if name not in common and recognise(str(name).rpartition(".")[2]) == canonical
            ]
        active = [name for name in later if canonical == "parameters" and "activ" in str(name).lower()]  # of experts
        free = active or common or with_unit or later
        free = [name for name in free if has_numbers(table[name])] or free
        if canonical in free:
            free = [name for name in free if str(name).lower() == canonical or "." in str(name)]
        free = sorted(
            free, key=lambda name: (table[name].isna().sum(), -table[name].map(str).nunique(), name != canonical)
        )
        if free:
            names[canonical] = free[0]
        if len(free) > 1 and (len(table) < 2 or not all(table[name].equals(table[free[0]]) for name in free)):
            several[canonical] = free
    return names, several


def rename_columns(table, chosen, *, needed, optional, label, aliases, hint="", texts=(), days=()):
    """Return a table in which columns, chosen ones and those of common names, have their canonical names.

    `chosen` has canonical names and their columns, which go first, then a column that bears a canonical name, then
    those of `aliases`. Returned are the table without columns whose names others take, and the names of the file by
    canonical name. A table that lacks a `needed` column is refused with `hint`, another fix. Columns of `texts` hold
    words, those of `days` dates or marks, and the others numbers.
    """
    canonicals, names = (*needed, *optional), dict(chosen)
    _check_chosen(list(table.columns), chosen, canonicals, label)
    names |= {name: name for name in canonicals if name in table and name not in names and name not in chosen.values()}
    others = [name for name in table if name not in names.values() and name not in canonicals]
    for canonical in canonicals:
        if canonical not in names:
            common = _common_names(canonical, aliases)
            named = [name for name in others if _spell(name) in common]
            named = named or [name for name in others if _spell(recognised_base(name, canonical)) in common]
            names |= choose_one(named, canonical, label)
    taken = [canonical for canonical in names if canonical in table and canonical not in names.values()]
    headings = list(table.columns)
    table = table.drop(columns=taken).rename(columns={name: canonical for canonical, name in names.items()})
    table.attrs[HEADERS] = names
    if missing := [column for column in needed if column not in table]:
        near = {}
        for name in missing:
            free = [x for x in table if x not in (*names, *near.values()) and _resembles(name, x, aliases)]
            free = [x for x in free if name in days or _may_hold(table[x], words=name in texts)]
            near |= dict.fromkeys([name], free[0]) if free else {}
        others = [name for name in missing if name not in near]
        text = (
            f"{label}: {listed(missing)} {'is' if len(missing) == 1 else 'are'} needed and not there; the columns are "
            f"{listed(headings, SHOWN)}"
        )
        fix, them = Fix(columns=near or {missing[0]: "NAME"}), "them" if len(near) > 1 else "one"
        more = f", and add a column of each of {listed(others)}" if near and others else ""
        told = f"{text}; name {them} with {fix}{more}{hint}"
        if near and not others:
            raise InputError(told, f"{text}{hint}", {"": fix})
        raise InputError(told, told, {"A formula of these columns needs no others": Fix(formula=ANY)})
    return table, names


def _may_hold(cells, *, words):
    """Return whether cells may be `words`, or else numbers of which there are several."""
    return not has_numbers(cells) if words else has_numbers(cells) and (cells.nunique() > 1 or len(cells) == 1)


def _resembles(canonical, header, aliases):
    """Return whether a name has a word of a common name in it, such as "price per month"."""
    common, parts = _common_names(canonical, aliases), re.findall("[a-z]+", str(header).lower())
    return any(part in common or (len(part) > SHORT and part in " ".join(common)) for part in parts)


def _check_chosen(headers, chosen, canonicals, label):
    for canonical, name in chosen.items():
        if canonical not in canonicals:
            near = recognise(canonical)
            hint = f"; did you mean {quoted(near)}?" if near in canonicals else suggestion(canonical, canonicals)
            raise InputError(f"columns: {quoted(canonical)} is not one of {listed(canonicals)}{hint}")
        if name not in headers:
            raise InputError(
                f"{label}: column {quoted(name)}, chosen for {canonical}, is not there; the columns are "
                f"{listed(headers)}{suggestion(name, headers)}"
            )
    names = list(chosen.values())
    for name in names:
        if names.count(name) > 1:
            uses = [canonical for canonical in chosen if chosen[canonical] == name]
            raise InputError(f"{label}: column {quoted(name)} is chosen for {listed(uses)}; choose one column for each")


def choose_one(candidates, canonical, label, *, exact=True):
    """Return the column for a canonical name by that name, nothing if there is none; refuse several others."""
    if exact and canonical in candidates:
        candidates = [name for name in candidates if str(name).lower() == canonical]
    if len(candidates) > 1:
        text = f"{label}: columns {listed(candidates)} could each be {canonical}"
        fix = Fix(columns={canonical: candidates[0]})
        raise InputError(f"{text}; choose one with {fix}", text, {"": fix})
    return {canonical: candidates[0]} if candidates else {}
