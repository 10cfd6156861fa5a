"""Questions as text, read into what is asked.

=========================================== ===========================================================================
``8**(gamma / alpha)``                      a function of constants
``alpha[muon] > alpha[adamw]``              the probability that one is above the other
``loss at n = 1e9, d = 2e10``               a value
``n where loss = 2.5 at d = 2e10``          the value of a column at which something holds, such as a crossing
``best n, d for 6*n*d = 1e21``              where the response is best, on a budget
``best v at n = 1e9``                       where it is best in one column, the others given
=========================================== ===========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

from ...datasets.formula_nodes import BinaryOperation, Name, Node, Number
from ...datasets.formulas import Reader


@dataclass(frozen=True)
class Question:
    """What is asked.

    Parameters
    ----------
    text : str
    asked : tuple of Node
        An expression, or the columns whose best values are asked for.
    sides : tuple of Node
        Of a comparison or an equation, its two sides; else none.
    kind : str
        ``"value"``, ``"probability"``, ``"place"`` or ``"best"``.
    given : dict of str to Node
        Values of columns; of columns of groups the name of a group.
    """

    text: str
    asked: tuple[Node, ...]
    sides: tuple[Node, ...]
    kind: str
    given: dict[str, Node]


def parse_question(text: str) -> Question:
    """Read a question.

    Raises
    ------
    FormulaError
        If it cannot be read; the message names the place.

    Examples
    --------
    >>> question = parse_question("n where loss = 2.5 at d = 2e10")
    >>> question.kind, str(question.asked[0]), {name: str(x) for name, x in question.given.items()}
    ('place', 'n', {'d': '2e10'})
    """
    reader = Reader(text, "question")
    if reader.follows_word("best") and reader.tokens[1].kind == "name":
        reader.take()
        best = [reader.sum()]
        while reader.follows(","):
            reader.take()
            best.append(reader.sum())
        for node in best:
            _check_column(reader, node, "best")
        on_budget = reader.follows_word("for")
        if on_budget:
            reader.take()
        return _finish(reader, tuple(best), _read_equation(reader) if on_budget else (), "best")
    asked = reader.sum()
    if reader.follows("<", ">"):
        sides = (reader.take().text, asked, reader.sum())
        larger, smaller = sides[1:] if sides[0] == ">" else sides[:0:-1]
        return _finish(reader, (BinaryOperation("-", larger, smaller),), (), "probability")
    if reader.follows_word("where"):
        _check_column(reader, asked, "before 'where'")
        reader.take()
        return _finish(reader, (asked,), _read_equation(reader), "place")
    if reader.follows("="):
        reader.refuse("'=' has no meaning here; write x where y = 0.1, or y at x = 1e9", reader.next)
    return _finish(reader, (asked,), (), "value")


def _read_equation(reader):
    left = reader.sum()
    reader.expect("=", f"after {left}")
    return left, reader.sum()


def _check_column(reader, node, where):
    if not isinstance(node, Name) or node.levels:
        reader.refuse(f"{node} is no column, and one is asked for {where}")


def _finish(reader, asked, sides, kind):
    given = {}
    if reader.follows_word("at"):
        reader.take()
        while True:
            name = reader.take()
            if name.kind != "name":
                reader.refuse("after 'at' the name of a column is missing; write y at x = 1e9", name)
            reader.expect("=", f"after {name.text!r}")
            given[name.text] = Number(float("nan"), reader.take().text) if reader.next.kind == "text" else reader.sum()
            if not reader.follows(","):
                break
            reader.take()
    reader.end()
    return Question(reader.text, asked, sides, kind, given)
