"""What answers need of tables of any columns, and of the formulas that are fitted to them."""

from __future__ import annotations

import functools

import numpy as np

from ...datasets.formula_nodes import Name, Number, replace_names, spell
from ...datasets.wording import shorten_number
from ...models.draws import DRAWS
from ..intervals import ends, finite, name_quantiles
from ..words import plain
from . import register_answers
from .record import FILE, MOST_LEVELS, Answer, KindAnswers, escape

MOST_GROUPS = 3  # whose responses are answered without a question
TIMES = 10  # the largest value of the one column, at which a response is answered without a question
_three_digits = functools.partial(plain, form="{:.3g}")


def _answers(fit):
    from ..quoted import quote_draws

    posterior = fit["posterior"].to_dataset()
    quoted = quote_draws(fit, {name: posterior[name] for name in fit.law.roles})
    for name, x in quoted.items():
        dims = [dim for dim in x.dims if dim not in DRAWS]
        for level in x[dims[0]].values[:MOST_LEVELS] if dims else [None]:
            label = str(Name(name, (str(level),) if dims else ()))
            of_level = x.sel({dims[0]: level}) if dims else x
            yield Answer(label, name_quantiles(of_level), _three_digits, f"{escape(label)} is {{x}} ({{of}}).")
    ahead = _ahead(fit)
    for (question, row), template in zip(fit.ask(*ahead).iterrows(), ahead.values(), strict=True):
        facts = {"decades": finite(row["decades"]), "row": "row"}
        if " - " in question:
            facts |= {"width": None, "direction": (row["p_least"], row["p_least"])}
        yield Answer(question, ends(row), _three_digits, template, facts)


def _ahead(fit):
    """Return questions of a formula of one column, each with its sentence: far ahead, and what a group saves.

    Of groups without a column it is the difference of the first two.
    """
    from ..formulas.ask import respond

    law, left = fit.law, fit.law.parsed.left
    names = law.levels[0][1] if len(law.apart) == len(law.levels) == 1 else ()
    groups = [str(Name(left.name, (name,))) for name in names] if isinstance(left, Name) else []
    if not law.columns:
        both = " - ".join(groups[:2])
        return {both: f"{escape(both)} is {{x}} ({{of}})."} if groups else {}
    column, *others = law.columns
    if others or (law.levels and not groups) or not (fit.rows[column] > 0).all():
        return {}
    x, largest = spell(column), fit.rows[column].max()
    far, at = shorten_number(TIMES * largest), shorten_number(largest)
    ahead = {
        f"{y} at {x} = {far}": f"{escape(y)} is {{x}} at {escape(x)} = {far} ({{of}})."
        for y in groups[:MOST_GROUPS] or [str(left)]
    }
    if len(groups) > 1:
        by, ends_of = law.levels[0][0][0], (fit.rows[column].min(), largest)
        places = [{column: end, by: name} for end in ends_of for name in names[:2]]
        first, _, *last = np.median(respond(fit, places), axis=0)
        old, new = groups[:2] if (last[0] > last[1]) == (first > last[0]) else groups[1::-1]  # new is ahead
        saves = f"{escape(new)} is what {escape(old)} is at {escape(x)} = {at} with {{x}} times less ({{of}})."
        ahead = {f"{at} / ({x} where {new} = {old} at {x} = {at})": saves} | ahead
    return ahead


def _details(fit, seed):
    """Return the formula with the medians of its constants, those by group left as they are, and what it depends on."""
    columns = fit.rows[[*fit.law.columns]].items()
    medians = {name: float(x.median()) for name, x in fit["posterior"].to_dataset().items() if set(x.dims) == {*DRAWS}}

    def median(node):
        x = medians.get(node.name)
        return node if x is None or node.name not in fit.law.roles else Number(x, shorten_number(x))

    ranges = [f"{name} from {' to '.join(map(shorten_number, (x.min(), x.max())))}" for name, x in columns]
    ranges += [f"{', '.join(key)} ({', '.join(names)})" for key, names in fit.law.levels]
    at_medians = f"{fit.law.parsed.left} = {replace_names(fit.law.parsed.right, median)}"
    return {"at_medians": at_medians, "ranges": ", ".join(ranges)}


def _commands(fit):
    law = fit.law
    name = next(iter(law.roles))
    level = next(iter(dict(law.levels).get(law.groups.get(name), ())), None)
    question = [*_ahead(fit), str(Name(name, () if level is None else (level,)))][0]
    return ("ask", FILE, question), ("plot", "fit", FILE, "--out", "fit.svg")


register_answers(
    KindAnswers(
        name="columns",
        needed="questions need a fit of a formula, such as 'loss ~ E + A * n**-alpha'",
        answers=_answers,
        figure="fit",
        commands=_commands,
        details=_details,
        widens=True,
        widens_constants=True,
    )
)
