"""What each constant of a formula is, from its place in the formula.

=========== ============================================================ =============================================
role        place                                                        what is sampled
=========== ============================================================ =============================================
amplitude   factor of a term of the response, or the term itself         the term's size at the centre of the columns
level       the same, of a term that saturates: ``(top - low)/(1 + x)``  the constant, in the unit of the response
exponent    in an exponent, or times a logarithm inside exp              the constant, positive
rate        times a column inside exp, of either sign                    its product with half of the column's range
steepness   the same inside ``expit`` or ``Phi``; width of a bump        the same, positive
place       added to a column inside a function, ``log(x) - m``          its distance from the middle of the column
relative    beside a column inside a function or a sum, ``1 + x/x0``     its ratio to what it stands beside
=========== ============================================================ =============================================
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import reduce

from ...datasets.formula_nodes import NEGATIVE, Call, Name, Node, Number, ParsedFormula, names_in
from ...datasets.formulas import FormulaError
from ...datasets.wording import suggestion

ONE = Number(1.0, "1")
MOST_TERMS = 40  # of the sum that a formula is multiplied out to
SATURATING = ("expit", "Phi")
EXPONENTIAL = ("exp", *SATURATING)
OPERATORS = (*"+-*/", NEGATIVE)


@dataclass(frozen=True)
class Product:
    """A product of factors over divisors, with its sign."""

    sign: int
    factors: tuple[Node, ...]
    divisors: tuple[Node, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Return whether it is a constant, but for numbers."""
        return all(isinstance(node, Name | Number) for node in self.factors) and not self.divisors

    @property
    def has_logarithm(self) -> bool:
        """Return whether a factor is a logarithm."""
        return any(map(is_logarithm, self.factors))

    def without(self, constant: str) -> Node:
        """Return the term as an expression, without its sign and, if it has it, a constant as factor."""
        factors = [x for x in self.factors if not (isinstance(x, Name) and x.name == constant)]
        return divide(multiply(factors), multiply(self.divisors))


@dataclass(frozen=True)
class Role:
    """What a constant is: a kind of the table above, ``"carrier"`` of a term's size, or ``"given"`` a prior."""

    kind: str
    beside: Node = ONE  # what it is measured by, of what is relative, a place or a rate
    inverse: bool = False  # whether it divides; of an exponent, whether that is 1 over it
    terms: tuple[Product, ...] = ()  # of an amplitude or a level, which it is a factor of


def multiply(factors: Collection[Node]) -> Node:
    """Return the product of nodes, 1 of none."""
    return reduce(lambda product, factor: Call("*", (product, factor)), factors) if factors else ONE


def divide(above: Node, below: Node) -> Node:
    """Return a ratio of nodes, the first over 1."""
    return above if below == ONE else Call("/", (above, below))


def add(terms: Collection[tuple[int, Node]]) -> Node:
    """Return the sum of nodes with signs."""
    total: Node | None = None
    for sign, node in terms:
        if total is None:
            total = node if sign > 0 else Call(NEGATIVE, (node,))
        else:
            total = Call("+" if sign > 0 else "-", (total, node))
    return Number(0.0, "0") if total is None else total


def has(node: Node, names: Collection[str]) -> bool:
    """Return whether an expression has one of the names."""
    return any(part.name in names for part in names_in(node))


def is_logarithm(node: Node) -> bool:
    """Return whether a node is a logarithm."""
    return isinstance(node, Call) and node.function.startswith("log")


def multiplied_out(node: Node, columns: Collection[str]) -> tuple[Product, ...]:
    """Return the terms of an expression, products of sums that have constants multiplied out."""
    if all(name.name in columns for name in names_in(node)):
        return (Product(1, (node,)),)
    match node:
        case Call("+", parts):
            return tuple(term for part in parts for term in multiplied_out(part, columns))
        case Call("-", (left, right)):
            negated = (replace(term, sign=-term.sign) for term in multiplied_out(right, columns))
            return (*multiplied_out(left, columns), *negated)
        case Call("negative", (of,)):
            return tuple(replace(term, sign=-term.sign) for term in multiplied_out(of, columns))
        case Call("/", (above, below)):
            return tuple(replace(t, divisors=(*t.divisors, below)) for t in multiplied_out(above, columns))
        case Call("*", (left, right)):
            pairs = [(a, b) for a in multiplied_out(left, columns) for b in multiplied_out(right, columns)]
            if len(pairs) <= MOST_TERMS:
                return tuple(Product(a.sign * b.sign, a.factors + b.factors, a.divisors + b.divisors) for a, b in pairs)
    return (Product(1, (node,)),)


def linear_constants(terms: tuple[Product, ...], constants: Collection[str]) -> dict[str, tuple[Product, ...]]:
    """Return the constants in which an expression is linear together, with the terms that they are factors of."""
    inside = {
        name.name
        for term in terms
        for node in (*term.factors, *term.divisors)
        if not isinstance(node, Name) or node in term.divisors
        for name in names_in(node)
    }
    found: dict[str, tuple[Product, ...]] = {}
    for term in terms:
        bare = [node.name for node in term.factors if isinstance(node, Name) and node.name in constants]
        for name in bare:
            if name not in inside and bare.count(name) == 1:
                found[name] = (*found.get(name, ()), term)
    # Of two that share a term one carries its size: the one of more terms.
    kept: dict[str, tuple[Product, ...]] = {}
    for name, own in sorted(found.items(), key=lambda item: -len(item[1])):
        if not any(term in others for others in kept.values() for term in own):
            kept[name] = own
    return kept


def saturates(term: Product) -> bool:
    """Return whether a term is bounded by its constant: something over 1 plus something, or a probability."""
    bounded = [node for node in term.factors if isinstance(node, Call) and node.function in SATURATING]
    sums = [node for node in term.divisors if isinstance(node, Call) and node.function == "+"]
    return bool(bounded) or any(isinstance(part, Number) for node in sums for part in node.arguments)


# Constants that carry the size of a term --------------------------------------------------------------------------


def carriers_of(node: Node, constants: Collection[str]) -> tuple[str, ...]:
    """Return the constants from which a node can have any positive size, the others given; none if there are none.

    ``(n/N)**a`` has n, ``(n/N)**a + d/D`` has both, and ``exp(a + b/x)`` has a.
    """
    match node:
        case Name(name):
            return (name,) if name in constants else ()
        case Call("+", parts):
            one, other = (carriers_of(part, constants) for part in parts)
            return (*one, *other) if one and other and not {*one} & {*other} else ()
        case Call("*" | "/"):
            found = (carriers_of(part, constants) for side in product_of(node) for part in side)
            return next((names for names in found if names), ())
        case Call("**", (base, _)):
            return carriers_of(base, constants)
        case Call("exp", (inside,)):
            terms = sum_of(inside)
            bare = [term.name for sign, term in terms if sign > 0 and isinstance(term, Name) and term.name in constants]
            return tuple(bare[:1]) or (carriers_of(terms[0][1], constants) if len(terms) == 1 else ())
    return ()


def product_of(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the factors and the divisors of a node, itself if it is no product."""
    match node:
        case Call("*" | "/", parts):
            (above, below), right = map(product_of, parts)
            factors, divisors = right if node.function == "*" else right[::-1]
            return above + factors, below + divisors
    return [node], []


def sum_of(node: Node, sign: int = 1) -> list[tuple[int, Node]]:
    """Return the terms of a node with their signs, itself if it is no sum; signs within products come out."""
    match node:
        case Call("+" | "-", (left, right)):
            return sum_of(left, sign) + sum_of(right, sign if node.function == "+" else -sign)
        case Call("negative", (of,)):
            return sum_of(of, -sign)
        case Call("*" | "/", parts):
            positive = []
            for part in parts:
                if isinstance(part, Call) and part.function == NEGATIVE:
                    part, sign = part.arguments[0], -sign
                positive.append(part)
            return [(sign, Call(node.function, tuple(positive)))]
    return [(sign, node)]


# Constants inside functions, powers and sums ----------------------------------------------------------------------


def inner_roles(node: Node, constants: Collection[str], columns: Collection[str]) -> dict[str, Role]:
    """Return the roles of constants inside functions, powers and sums, the first of each that its places tell."""
    roles: dict[str, Role] = {}

    def read(node: Node, context: str, base: Node | None = None) -> None:
        terms = sum_of(node)
        for place, (sign, term) in enumerate(terms):
            rest = [other for k, other in enumerate(terms) if k != place]
            factors, divisors = product_of(term)
            parts = [(part, False) for part in factors] + [(part, True) for part in divisors]
            for k, (part, divides) in enumerate(parts):
                if isinstance(part, Name) and part.name in constants and part.name not in roles:
                    others = parts[:k] + parts[k + 1 :]
                    own = divide(*(multiply([x for x, below in others if below is side]) for side in (False, True)))
                    if role := _role(context, base, own, rest, sign, divides, columns):
                        roles[part.name] = role
                elif not isinstance(part, Name):
                    descend(part, context, divides)

    def descend(part: Node, context: str, divides: bool) -> None:
        match part:
            case Call("**", (below, above)):
                even = isinstance(above, Number) and above.value % 2 == 0
                read(below, "even" if even else "sum")
                read(above, "exponent", below)
            case Call(function) if function in OPERATORS:
                read(part, "sum" if divides or context == "top" else context)
            case Call(function, arguments):
                for argument in arguments:
                    read(argument, function if function in EXPONENTIAL else "sum")

    read(node, "top")
    return roles


def _role(context, base, own, rest, sign, divides, columns):
    """Return the role of a constant, None where its place tells none.

    The context is ``"top"``, ``"sum"`` (within a power, a divisor or a function), ``"exponent"`` of `base`, or a
    function. `own` is what the constant is multiplied with, turned over if it divides. `rest` has signs and terms
    beside it.
    """
    data, beside = has(own, columns), add(rest)
    in_function = context in EXPONENTIAL
    if context == "exponent":
        if data:
            return Role("rate", own)
        return Role("exponent", base, divides) if names_in(base) else None
    if context == "even" and (data or has(beside, columns)):  # of a bump: its width and its middle
        return Role("steepness", own, divides) if data else Role("place", add([(-sign, beside)]))
    if in_function and data:
        factors = product_of(own)[0]
        if any(map(is_logarithm, factors)):
            return Role("exponent", own)
        if len(sum_of(factors[-1])) > 1 or (context != "exp" and not divides):
            return Role("rate" if sign > 0 and context == "exp" else "steepness", own)
        return Role("relative", Call("/", (ONE, own)), divides) if sign < 0 or divides else Role("rate", own)
    if in_function or context == "sum":
        compared = has(beside, columns)
        if not data and compared and (in_function or any(is_logarithm(part) for _, part in rest)):
            return Role("place", beside if sign < 0 else Call(NEGATIVE, (beside,)))
        if data or compared or (rest and own != ONE):
            kind = "share" if sign < 0 and rest else "relative"
            return Role(kind, Call("/", (beside if rest else ONE, own)), divides)
    return None


def assign_roles(formula: ParsedFormula, columns: Collection[str], given: Collection[str] = ()) -> dict[str, Role]:
    """Return the role of each constant of a formula in their order, refusing a place that tells none.

    Constants that are `given` have a prior of their own, whatever their place.
    """
    order: dict[str, Name] = {}
    for used in names_in(formula.right):
        if used.name not in columns:
            order.setdefault(used.name, used)
    constants = [name for name in order if name not in given]
    terms = multiplied_out(formula.right, columns)
    roles = {name: Role("given") for name in given if name in order}
    for name, own in linear_constants(terms, constants).items():
        roles[name] = Role("level" if any(map(saturates, own)) else "amplitude", terms=own)
    linear = {name for name, role in roles.items() if role.kind in ("level", "amplitude")}
    for term in terms:
        if not has(term.without(""), linear):
            names = carriers_of(term.without(""), [name for name in constants if name not in roles])
            roles |= {name: Role("carrier", terms=(term,)) for name in names}
    roles |= inner_roles(formula.right, [name for name in constants if name not in roles], columns)
    for name, used in order.items():
        if name not in roles:
            raise FormulaError(
                f"formula {formula.text!r}: the place of the constant {name!r} (character {used.start + 1}) does "
                f"not tell what it is{suggestion(name, columns) or ';'} give it a prior, such as "
                f"priors={{{name!r}: 'Normal(0, 1)'}} (--prior '{name}=Normal(0, 1)')"
            )
    return {name: roles[name] for name in order}
