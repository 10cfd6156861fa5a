"""The language of formulas: a small grammar of its own, so that a formula in a file is read and never executed.

    formula    = [name "=" sum ";"]... sum "~" sum
    sum        = product {("+" | "-") product}
    product    = signed {("*" | "/") signed}
    signed     = ["+" | "-"] signed | power
    power      = atom [("**" | "^") signed]
    atom       = number | name ["[" level {"," level} "]"] | function "(" sum {"," sum} ")" | "(" sum ")"

In ``sum(w_* * share_*)`` a name that ends in ``_*`` stands for several: a term for each column that is called so. A
name with blanks or signs stands in backticks. A name is a function only before a bracket. A line break is a blank.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, NoReturn

from ..errors import InputError
from .formula_nodes import NEGATIVE, POWER, Call, Name, Node, Number, ParsedFormula, names_in, replace_names, walk
from .wording import listed, suggestion

# Functions by name, with how many arguments each takes at least and at most.
FUNCTIONS = dict.fromkeys(("exp", "log", "log2", "log10", "log1p", "sqrt", "abs", "expit", "Phi"), (1, 1))
FUNCTIONS |= {"min": (2, 9), "max": (2, 9), "sum": (1, 1)}
DEEPEST, MOST, LONGEST = 60, 200, 4000  # brackets within each other, signs, and characters
LARGEST = 1000  # names and numbers of a formula whose named parts are in their places
TOKEN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*(?:(?<=_)\*(?!\w|\*(?!\*)))?)"
    r"|`(?P<odd>[^`]*)`"
    r"|(?P<quote>[\"'])(?P<text>.*?)(?P=quote)"
    r"|(?P<sign>\*\*|<=|>=|[-+*/^()\[\],~;=<>−])"
)


class FormulaError(InputError):
    """A formula that cannot be read, or that does not suit a table; it points at the place."""


class Token(NamedTuple):
    """A piece of a formula: its kind, its text, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def what(self):
        """Return the text as it is said: the end, or the text itself."""
        return "the end" if self.kind == "end" else f"{self.text!r}"


def parse_formula(text: str) -> ParsedFormula:
    """Read a formula ``y ~ expression``; parts may have names: ``h = x/2; y ~ a*h``.

    Examples
    --------
    >>> parse_formula("loss ~ E + A*n_params**")
    Traceback (most recent call last):
        ...
    bayescaling.datasets.formulas.FormulaError: formula 'loss ~ E + A*n_params**': after '**' a number, a name or a \
bracket is missing
    """
    reader, named, sizes = Reader(text, "formula"), {}, {}

    def substituted(node: Node) -> tuple[Node, int]:
        """Return a node with its named parts in their places, and how many names and numbers it then has."""
        leaves = [part for part in walk(node) if isinstance(part, Name | Number)]
        size = sum(sizes.get(str(part), 1) for part in leaves)
        if size > LARGEST:
            reader.refuse(f"with its named parts in their places it has more than {LARGEST:,} names and numbers")
        return replace_names(node, lambda part: named.get(str(part), part)), size

    while reader.begins_definition():
        name = reader.take()
        part, written = reader.take() and reader.sum(), str(Name(name.text))
        if written in named:
            reader.refuse(f"{name.text!r} is defined twice", name)
        if any(used.name == name.text for used in names_in(part)):
            reader.refuse(f"{name.text!r} is defined by itself; write ~ between a response and a formula", name)
        reader.expect(";", f"after {name.text!r} =", "write ~ between a response and a formula")
        named[written], sizes[written] = substituted(part)
    left = reader.sum()
    reader.expect("~", "between the response and what it is a function of", "write loss ~ E + A * size**-alpha")
    right = reader.sum()
    reader.end()
    return ParsedFormula(text, substituted(left)[0], substituted(right)[0])


def parse_expression(text: str, what: str = "expression") -> Node:
    """Read an expression; `what` is how a message calls it."""
    reader = Reader(text, what)
    node = reader.sum()
    reader.end()
    return node


def endings(name: str, columns: Collection[str]) -> list[str]:
    """Return what the * of a name stands for: the rest of each column that is called so, none of a name without *.

    Examples
    --------
    >>> endings("share_*", ["share_web", "share_code", "loss"])
    ['web', 'code']
    """
    before, star, after = name.partition("*")
    longer = [column for column in columns if star and len(column) > len(name) - 1]
    return [x[len(before) : len(x) - len(after)] for x in longer if x.startswith(before) and x.endswith(after)]


def written_out(node: Node, columns: Collection[str], where: str = "") -> Node:
    """Return an expression with a term for each column in the place of every ``sum(...)``; `where` begins messages.

    Examples
    --------
    >>> str(written_out(parse_expression("c * sum(b_* * share_*)"), ["share_web", "share_code"]))
    'c * (b_web * share_web + b_code * share_code)'
    """
    if not isinstance(node, Call):
        return node
    node = Call(node.function, tuple(written_out(part, columns, where) for part in node.arguments))
    if node.function != "sum":
        return node
    names, about = [name.name for name in names_in(node) if "*" in name.name], f"{where}{node}:"
    if not names:
        raise FormulaError(f"{about} no name has a *; write one for columns, such as sum(b_* * share_*)")
    found = {name: ends for name in names if (ends := endings(name, columns))}
    if not found:
        raise FormulaError(f"{about} no column is called as {listed(names)}; the columns are {listed(columns, 20)}")
    (first, ends), *others = found.items()
    if differs := next((name for name, other in others if {*other} != {*ends}), None):
        raise FormulaError(f"{about} {first} and {differs} are not of the same columns; rename one of them")

    def term(end: str) -> Node:
        return replace_names(node.arguments[0], lambda name: replace(name, name=name.name.replace("*", end)))

    return reduce(lambda total, end: Call("+", (total, term(end))), ends[1:], term(ends[0]))


class Reader:
    """Reads tokens of a text one after the other; `what` is how messages call it, such as ``"formula"``."""

    def __init__(self, text: str, what: str) -> None:
        self.text, self.what, self.place, self.depth = text, what, 0, 0
        if not isinstance(text, str) or not text.strip():
            raise FormulaError(f'{what} is {text!r}; write one, such as "loss ~ E + A * size**-alpha"')
        if len(text) > LONGEST:
            raise FormulaError(f"{what} has {len(text):,} characters, and may have {LONGEST:,}")
        self.tokens = [*self._tokens(), Token("end", "", len(text))]
        if (count := sum(token.kind == "sign" for token in self.tokens)) > MOST:
            raise FormulaError(f"{what} {shortened_about(text)!r} has {count} signs, and may have {MOST}")

    def _tokens(self) -> Iterator[Token]:
        at = 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if match is None:
                found = self.text[at]
                hint = "; a backtick is missing" if found == "`" else "; a quote is missing" if found in "\"'" else ""
                self.refuse(f"{found!r} has no meaning here{hint}", Token("sign", found, at))
            kind = str(match.lastgroup)
            text = match[kind].replace("−", "-").replace("^", POWER) if kind == "sign" else match[kind]
            if kind == "odd" and not text.strip():
                self.refuse("there is no name between the backticks", Token("sign", "``", at))
            if kind != "blank":
                yield Token("name" if kind == "odd" else kind, text, at)
            at = match.end()

    @property
    def next(self) -> Token:
        """Return the token that follows."""
        return self.tokens[self.place]

    @property
    def before(self) -> Token | None:
        """Return the token that was taken last."""
        return self.tokens[self.place - 1] if self.place else None

    def take(self) -> Token:
        """Return the token that follows, and go on."""
        token = self.next
        self.place += token.kind != "end"
        return token

    def follows(self, *texts: str) -> bool:
        """Return whether one of these signs follows."""
        return self.next.kind == "sign" and self.next.text in texts

    def accept(self, *texts: str) -> str:
        """Take one of these signs if it follows, and return it."""
        return self.take().text if self.follows(*texts) else ""

    def follows_word(self, word: str) -> bool:
        """Return whether a word follows, outside backticks."""
        return (self.next.kind, self.next.text) == ("name", word) and self.text[self.next.start] != "`"

    def accept_word(self, word: str) -> bool:
        """Take a word if it follows, and return whether it did."""
        return self.follows_word(word) and bool(self.take())

    def begins_definition(self) -> bool:
        """Return whether ``name =`` follows."""
        after = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        return self.next.kind == "name" and (after.kind, after.text) == ("sign", "=")

    def refuse(self, why: str, token: Token | None = None) -> NoReturn:
        """Refuse the text, pointing at a token."""
        at = "" if token is None or token.kind == "end" else f"at character {token.start + 1}, "
        raise FormulaError(f"{self.what} {shortened_about(self.text, token)!r}: {at}{why}")

    def expect(self, sign: str, where: str, hint: str = "") -> None:
        """Take a sign, or refuse the text."""
        if not self.accept(sign):
            self._refuse_neighbours()
            found = "" if self.next.kind == "end" else f", and {self.next.what} follows"
            self.refuse(f"{where} {sign!r} is missing{found}" + (f"; {hint}" if hint else ""), self.next)

    def end(self) -> None:
        """Refuse what follows, if anything does."""
        if self.next.kind == "end":
            return
        self._refuse_neighbours()
        if self.follows(")", "]"):
            self.refuse(f"{self.next.what} closes no bracket", self.next)
        hint = "; a formula has one ~" if self.follows("~") else "; write ~ for =" if self.follows("=") else ""
        self.refuse(f"{self.next.what} has no meaning here{hint}", self.next)

    def _refuse_neighbours(self) -> None:
        if self.before and self.next.kind in ("name", "number", "text"):
            self.refuse(
                f"between {self.before.what} and {self.next.what} an operator such as * is missing (a name with blanks "
                "stands in backticks)",
                self.next,
            )

    def _go_deeper(self, what: str) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"there are more than {DEEPEST} {what} within each other", self.next)

    def several(self, read: Callable[[], Any]) -> list:
        """Read one thing or more, with commas between them."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def sum(self) -> Node:
        """Read a sum."""
        self._go_deeper("brackets")
        node = self._operations(lambda: self._operations(self._signed, "*", "/"), "+", "-")
        self.depth -= 1
        return node

    def _operations(self, read: Callable[[], Node], *signs: str) -> Node:
        node = read()
        while sign := self.accept(*signs):
            node = Call(sign, (node, read()))
        return node

    def _signed(self) -> Node:
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign == "-"
        node = self._atom()
        if self.accept(POWER):
            self._go_deeper("powers")
            node = Call(POWER, (node, self._signed()))
            self.depth -= 1
        return Call(NEGATIVE, (node,)) if negative else node

    def _atom(self) -> Node:
        where = f"after {self.before.what}" if self.before else "at the beginning"
        token = self.take()
        match token.kind, token.text:
            case "number", text:
                if (value := float(text)) == math.inf:
                    self.refuse(f"{text} is too large", token)
                return Number(value, text)
            case "name", text:
                if self.follows("(") and self.text[token.start] != "`":
                    return self._call(token)
                return Name(text, tuple(self._levels()) if self.follows("[") else (), token.start)
            case "sign", "(":
                return self._closed(token, self.sum(), ")")
            case "text", text:
                self.refuse(f'"{text}" is text, of which there is no arithmetic', token)
        found = "" if token.kind == "end" else f", and {token.what} follows"
        return self.refuse(f"{where} a number, a name or a bracket is missing{found}", token)

    def _closed(self, opened: Token, inside: Any, sign: str) -> Any:
        """Return what stands in a bracket, which must be closed."""
        if not self.accept(sign):
            self._refuse_neighbours()
            found = "is not closed" if self.next.kind == "end" else f"is not closed before {self.next.what}"
            self.refuse(f"the bracket {opened.text!r} {found}", opened)
        return inside

    def _levels(self) -> list[str]:
        def level():
            before, token = self.before, self.take()
            if token.kind not in ("name", "number", "text"):
                self.refuse(f"after {before.what} the name of a column of groups, or of a group, is missing", token)
            return token.text

        return self._closed(self.take(), self.several(level), "]")

    def _call(self, token: Token) -> Node:
        if token.text not in FUNCTIONS:
            near = suggestion(token.text, FUNCTIONS)
            product = "" if near else f"; write {token.text} * (...) for a product"
            self.refuse(
                f"{token.text!r} is no function{near or ';'} functions are {', '.join(FUNCTIONS)}{product}", token
            )
        arguments = self._closed(self.take(), self.several(self.sum), ")")
        least, most = FUNCTIONS[token.text]
        if not least <= len(arguments) <= most:
            takes = "one argument" if most == 1 else "two arguments or more"
            self.refuse(f"{token.text} takes {takes}, and has {len(arguments)}", token)
        return Call(token.text, tuple(arguments))


def shortened_about(text: str, token: Token | None = None, most: int = 100) -> str:
    """Return a text on one line, or of a long one what stands about a token."""
    line = re.sub(r"\s", " ", text)
    if len(line) <= most:
        return line
    start = max(0, min((token.start if token else 0) - most // 2, len(line) - most))
    return ("..." if start else "") + line[start : start + most] + ("..." if start + most < len(line) else "")
