"""Questions as text, read into what is asked.

============================================ ==========================================================================
``8**(gamma / alpha)``                       a function of constants
``alpha[muon] > alpha[adamw]``               the probability that one is above the other
``loss at n = 1e9, d = 2e10``                a value
``n where loss = 2.5 at d = 2e10``           the value of a column at which something holds, such as a crossing
``n where loss[a] = loss[b] at n = 1e9``     where one has the value that the other has there
``best n, d for 6*n*d = 1e21``               where the response is best, on a budget
``best n, d for 6*n*d = 1e21, n <= 1e9``     the same, within limits
``best s_* for sum(s_*) = 1``                the same, of every column whose name begins so
``best v at n = 1e9``                        where it is best in one column, the others given
``loss[a] at n = 1e9 < loss[b] at n = 2e9``  a comparison of values, each at its place
============================================ ==========================================================================

In brackets any of them but a probability is a number: ``1e9 / (n where loss[a] = loss[b] at n = 1e9)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...datasets.formula_nodes import Call, Name, Node
from ...datasets.formulas import Reader


@dataclass(frozen=True)
class Question:
    """What is asked."""

    text: str
    asked: tuple[Node, ...]  # an expression, or the columns whose best values are asked for
    sides: tuple[Node, ...]  # of an equation
    kind: str  # "value", "probability" (of a difference above 0), "place" or "best"
    given: dict[str, Node]  # values of columns, and names of groups
    limits: tuple[tuple[Node, Node], ...] = ()  # expressions and what they do not exceed

    def __str__(self):
        return f"({self.text})"


def parse_question(text: str) -> Question:
    """Read a question.

    Examples
    --------
    >>> question = parse_question("n where loss = 2.5 at d = 2e10")
    >>> question.kind, str(question.asked[0]), {name: str(x) for name, x in question.given.items()}
    ('place', 'n', {'d': '2e10'})
    """
    reader = _QuestionReader(text, "question")
    question = reader.question()
    if reader.follows("="):
        reader.refuse("'=' has no meaning here; write x where y = 0.1, or y at x = 1e9", reader.next)
    reader.end()
    return question


class _QuestionReader(Reader):
    def question(self):
        """Read a question, up to the end or to what closes its bracket."""
        start, limits = self.next.start, []
        if self.follows_word("best") and self.tokens[self.place + 1].kind == "name":
            self.take()
            asked, kind = self.several(lambda: self._column("best")), "best"
            sides, given = self._equation() if self.accept_word("for") else (), {}
            while sides and self.follows(","):
                self.take()
                limits.append(self._limit())
        else:
            at, asked, sides, kind = self.next, (self.sum(),), (), "value"
            given = self._places()
            if self.follows("<", ">"):
                above, other, later = self.take().text == ">", self.sum(), self._places()
                sides_of = [(asked[0], given), (other, later or given)]
                parts = [Question(str(x), (x,), (), kind, of) if given else x for x, of in sides_of]
                asked = (Call("-", tuple(parts if above else parts[::-1])),)
                kind, given = "probability", {} if given else later
            elif not given and self.follows_word("where"):
                self._check_column(asked[0], f"before {self.take().text!r}", at)
                sides, kind = self._equation(), "place"
        given = given or self._places()
        return Question(self.text[start : self.next.start].strip(), tuple(asked), sides, kind, given, tuple(limits))

    def _places(self):
        return dict(self.several(self._given)) if self.accept_word("at") else {}

    def _atom(self):
        """Read an atom; what stands in brackets may be a question."""
        if not self.follows("("):
            return super()._atom()
        opened = self.take()
        question = self.question()
        if question.kind == "probability":
            self.refuse("a probability has no place in an expression; ask for it alone", opened)
        inside = question.asked[0] if question.kind == "value" and not question.given else question
        return self._closed(opened, inside, ")")

    def _equation(self):
        left = self.sum()
        self.expect("=", f"after {left}")
        return left, self.sum()

    def _limit(self):
        left = self.sum()
        self.expect("<=", f"after {left}")
        return left, self.sum()

    def _column(self, where):
        at = self.next
        return self._check_column(self.sum(), where, at)

    def _check_column(self, node, where, at):
        if not isinstance(node, Name) or node.levels:
            self.refuse(f"{node} is no column, and one is asked for {where}", at)
        return node

    def _given(self):
        name = self.take()
        if name.kind != "name":
            self.refuse("after 'at' the name of a column is missing; write y at x = 1e9", name)
        self.expect("=", f"after {name.text!r}")
        return name.text, Name(self.take().text) if self.next.kind == "text" else self.sum()
