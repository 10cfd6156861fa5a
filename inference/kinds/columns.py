"""What answers need of tables of any columns, and of the formulas that are fitted to them."""

from __future__ import annotations

import functools

from ...datasets.formula_nodes import Name, spell
from ...datasets.wording import shorten_number
from ...models.draws import DRAWS
from ..intervals import ends, name_quantiles
from ..words import plain
from . import register_answers
from .record import MOST_LEVELS, Answer, KindAnswers

TIMES = 10  # the largest value of the one column, at which a response is answered without a question
_three_digits = functools.partial(plain, form="{:.3g}")


def _answers(fit):
    from ..quoted import quote_draws

    posterior = fit["posterior"].to_dataset()
    quoted = quote_draws(fit, {name: posterior[name] for name in fit.law.roles})
    for name, x in quoted.items():
        groups = [dim for dim in x.dims if dim not in DRAWS]
        if not groups:
            yield Answer(spell(name), name_quantiles(x), _three_digits, f"{name} is {{x}} ({{of}}).")
            continue
        for level in x[groups[0]].values[:MOST_LEVELS]:
            label = str(Name(name, (str(level),)))
            yield Answer(label, name_quantiles(x.sel({groups[0]: level})), _three_digits, f"{label} is {{x}} ({{of}}).")
    for question in _ahead(fit):
        value = ends(fit.ask(question).iloc[0])
        yield Answer(question, value, _three_digits, f"{question.replace(' at ', ' is {x} at ')} ({{of}}).")


def _ahead(fit):
    """Return the question of the response at ten times the largest value, of a formula of one column without groups."""
    law = fit.law
    if len(law.columns) != 1 or law.levels or not (fit.rows[law.columns[0]] > 0).all():
        return []
    (column,) = law.columns
    return [f"{law.parsed.left} at {spell(column)} = {shorten_number(TIMES * fit.rows[column].max())}"]


def _commands(fit):
    law = fit.law
    name = next(iter(law.roles))
    level = next(iter(dict(law.levels).get(law.groups.get(name), ())), None)
    for question in _ahead(fit) or [str(Name(name, () if level is None else (level,)))]:
        yield f"ask {{file}} '{question}'".replace("{", "{{").replace("}", "}}").replace("{{file}}", "{file}")
    yield "plot fit {file} --out fit.svg"


register_answers(
    KindAnswers(
        name="columns",
        needed="questions need a fit of a formula, such as 'loss ~ E + A * n**-alpha'",
        answers=_answers,
        figure="fit",
        commands=_commands,
        widens=True,
        widens_constants=True,
    )
)
