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
from dataclasses import dataclass

from ...datasets.formula_nodes import (
    POWER,
    BinaryOperation,
    Call,
    Name,
    Negative,
    Node,
    Number,
    ParsedFormula,
    names_in,
)
from ...datasets.formulas import FormulaError
from ...datasets.wording import suggestion

ONE = Number(1.0, "1")
MOST_TERMS = 40  # of the sum that a formula is multiplied out to
SATURATING = ("expit", "Phi")
EXPONENTIAL = ("exp", *SATURATING)


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
        return any(isinstance(node, Call) and node.function.startswith("log") for node in self.factors)

    def without(self, constant: str) -> Node:
        """Return the term as an expression, without its sign and, if it has it, a constant as factor."""
        factors = [factor for factor in self.factors if not _is(factor, constant)]
        node = multiply(factors)
        return BinaryOperation("/", node, multiply(self.divisors)) if self.divisors else node


@dataclass(frozen=True)
class Role:
    """What a constant is.

    Parameters
    ----------
    constant : str
    kind : str
        As in the table above; "" for none.
    beside : Node
        Of what is relative, a place or a rate: the expression that it is measured by; 1 of others.
    inverse : bool
        Whether it divides, so that it is large where the ratio is small; of an exponent, whether that is 1 over it.
    terms : tuple of Product
        Of an amplitude or a level: what it is a factor of.
    """

    constant: str
    kind: str
    beside: Node = ONE
    inverse: bool = False
    terms: tuple[Product, ...] = ()


def multiply(factors: Collection[Node]) -> Node:
    """Return the product of nodes, 1 of none."""
    product: Node | None = None
    for factor in factors:
        product = factor if product is None else BinaryOperation("*", product, factor)
    return ONE if product is None else product


def add(terms: Collection[tuple[int, Node]]) -> Node:
    """Return the sum of nodes with signs."""
    total: Node | None = None
    for sign, node in terms:
        if total is None:
            total = node if sign > 0 else Negative(node)
        else:
            total = BinaryOperation("+" if sign > 0 else "-", total, node)
    return Number(0.0, "0") if total is None else total


def has(node: Node, names: Collection[str]) -> bool:
    """Return whether an expression has one of the names."""
    return any(part.name in names for part in names_in(node))


def _is(node: Node, name: str) -> bool:
    return isinstance(node, Name) and node.name == name


def multiplied_out(node: Node, columns: Collection[str]) -> tuple[Product, ...]:
    """Return the terms of an expression, products of sums that have constants multiplied out."""
    if all(name.name in columns for name in names_in(node)):
        return (Product(1, (node,)),)
    match node:
        case Negative():
            return tuple(Product(-t.sign, t.factors, t.divisors) for t in multiplied_out(node.of, columns))
        case BinaryOperation(operator="+" | "-"):
            sign = 1 if node.operator == "+" else -1
            right = multiplied_out(node.right, columns)
            return (
                *multiplied_out(node.left, columns),
                *(Product(sign * t.sign, t.factors, t.divisors) for t in right),
            )
        case BinaryOperation(operator="/"):
            left = multiplied_out(node.left, columns)
            return tuple(Product(t.sign, t.factors, (*t.divisors, node.right)) for t in left)
        case BinaryOperation(operator="*"):
            pairs = [(a, b) for a in multiplied_out(node.left, columns) for b in multiplied_out(node.right, columns)]
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
    found: dict[str, list[Product]] = {}
    for term in terms:
        bare = [node.name for node in term.factors if isinstance(node, Name) and node.name in constants]
        usable = [name for name in bare if name not in inside and bare.count(name) == 1]
        for name in usable:
            found.setdefault(name, []).append(term)
    # Of two that share a term one carries its size: the one of more terms.
    kept: dict[str, tuple[Product, ...]] = {}
    for name in sorted(found, key=lambda name: -len(found[name])):
        if not any(term in others for others in kept.values() for term in found[name]):
            kept[name] = tuple(found[name])
    return {name: kept[name] for name in found if name in kept}


def saturates(term: Product) -> bool:
    """Return whether a term is bounded by its constant: something over 1 plus something, or a probability."""
    bounded = [node for node in term.factors if isinstance(node, Call) and node.function in SATURATING]
    sums = [node for node in term.divisors if isinstance(node, BinaryOperation) and node.operator == "+"]
    return bool(bounded) or any(isinstance(part, Number) for node in sums for part in (node.left, node.right))


# Constants that carry the size of a term --------------------------------------------------------------------------


def carriers_of(node: Node, constants: Collection[str], columns: Collection[str]) -> tuple[str, ...]:
    """Return the constants from which a node can have any positive size, the others given; none if there are none.

    ``(n/N)**a`` has n, ``(n/N)**a + d/D`` has both, and ``exp(a + b/x)`` has a.
    """
    match node:
        case Name():
            return (node.name,) if node.name in constants else ()
        case BinaryOperation(operator="+"):
            sides = [carriers_of(part, constants, columns) for part in (node.left, node.right)]
            return (*sides[0], *sides[1]) if all(sides) and not {*sides[0]} & {*sides[1]} else ()
        case BinaryOperation(operator="*" | "/"):
            factors, divisors = product_of(node)
            found = (carriers_of(part, constants, columns) for part in (*factors, *divisors))
            return next((names for names in found if names), ())
        case BinaryOperation(operator=operator) if operator == POWER:
            return carriers_of(node.left, constants, columns)
        case Call(function="exp"):
            terms = sum_of(node.arguments[0])
            bare = [term.name for sign, term in terms if sign > 0 and isinstance(term, Name) and term.name in constants]
            return tuple(bare[:1]) or (carriers_of(terms[0][1], constants, columns) if len(terms) == 1 else ())
    return ()


def product_of(node: Node) -> tuple[list[Node], list[Node]]:
    """Return the factors and the divisors of a node, itself if it is no product."""
    if not (isinstance(node, BinaryOperation) and node.operator in "*/"):
        return [node], []
    (above, below), right = product_of(node.left), product_of(node.right)
    factors, divisors = right if node.operator == "*" else right[::-1]
    return above + factors, below + divisors


def sum_of(node: Node, sign: int = 1) -> list[tuple[int, Node]]:
    """Return the terms of a node with their signs, itself if it is no sum; signs within products come out."""
    match node:
        case BinaryOperation(operator="+"):
            return sum_of(node.left, sign) + sum_of(node.right, sign)
        case BinaryOperation(operator="-"):
            return sum_of(node.left, sign) + sum_of(node.right, -sign)
        case Negative():
            return sum_of(node.of, -sign)
        case BinaryOperation(operator="*" | "/"):
            negative = [isinstance(part, Negative) for part in (node.left, node.right)]
            left, right = (getattr(part, "of", part) for part in (node.left, node.right))
            return [(-sign if sum(negative) == 1 else sign, BinaryOperation(node.operator, left, right))]
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
                    above, under = (multiply([x for x, below in others if below is side]) for side in (False, True))
                    own = above if under == ONE else BinaryOperation("/", above, under)
                    role = _role(part.name, context, base, own, rest, sign, divides, columns)
                    if role is not None:
                        roles[part.name] = role
                elif not isinstance(part, Name):
                    descend(part, context, divides)

    def descend(part: Node, context: str, divides: bool) -> None:
        match part:
            case BinaryOperation(operator=operator) if operator == POWER:
                even = isinstance(part.right, Number) and part.right.value % 2 == 0
                read(part.left, "even" if even else "sum")
                read(part.right, "exponent", part.left)
            case Call():
                for argument in part.arguments:
                    read(argument, part.function if part.function in EXPONENTIAL else "sum")
            case BinaryOperation() | Negative():
                read(part, "sum" if divides or context == "top" else context)

    read(node, "top")
    return roles


def _role(name, context, base, own, rest, sign, divides, columns):
    """Return the role of a constant, None where its place tells none.

    Parameters
    ----------
    name, context : str
        ``"top"``, ``"sum"`` (within a power, a divisor or a function), ``"exponent"`` of `base`, or a function.
    own : Node
        What it is multiplied with; what divides, if it divides, is turned over.
    rest : list of (int, Node)
        Signs and terms beside it.
    """
    data, beside = has(own, columns), add(rest)
    if context == "exponent":
        if data:
            return Role(name, "rate", own)
        return Role(name, "exponent", base, divides) if names_in(base) else None
    if context == "even" and (data or has(beside, columns)):  # of a bump: its width and its middle
        return Role(name, "steepness", own, divides) if data else Role(name, "place", add([(-sign, beside)]))
    if context in EXPONENTIAL and data:
        if any(isinstance(part, Call) and part.function.startswith("log") for part in product_of(own)[0]):
            return Role(name, "exponent", own)
        if len(sum_of(product_of(own)[0][-1])) > 1 or (context != "exp" and not divides):
            return Role(name, "rate" if sign > 0 and context == "exp" else "steepness", own)
        return (
            Role(name, "relative", BinaryOperation("/", ONE, own), divides)
            if sign < 0 or divides
            else Role(name, "rate", own)
        )
    if context in EXPONENTIAL or context == "sum":
        logs = any(isinstance(part, Call) and part.function.startswith("log") for _, part in rest)
        if not data and rest and has(beside, columns) and (context in EXPONENTIAL or logs):
            return Role(name, "place", beside if sign < 0 else Negative(beside))
        if data or has(beside, columns) or (rest and own != ONE):
            kind = "share" if sign < 0 and rest else "relative"
            return Role(name, kind, BinaryOperation("/", beside if rest else ONE, own), divides)
    return None


def assign_roles(formula: ParsedFormula, columns: Collection[str], given: Collection[str] = ()) -> dict[str, Role]:
    """Return the role of each constant of a formula, in the order in which they stand.

    Parameters
    ----------
    formula : ParsedFormula
    columns : collection of str
        Names that are columns.
    given : collection of str
        Constants that have a prior of their own, whatever their place.

    Raises
    ------
    FormulaError
        If the place of a constant tells no role.

    Examples
    --------
    >>> from bayescaling.datasets.formulas import parse_formula
    >>> formula = parse_formula("loss ~ E + A * n**-alpha * (1 - exp(-bits / g))")
    >>> {name: role.kind for name, role in assign_roles(formula, ("n", "bits", "loss")).items()}
    {'E': 'amplitude', 'A': 'amplitude', 'alpha': 'exponent', 'g': 'relative'}
    """
    order = list(dict.fromkeys(name.name for name in names_in(formula.right) if name.name not in columns))
    constants = [name for name in order if name not in given]
    terms = multiplied_out(formula.right, columns)
    roles = {name: Role(name, "given") for name in given if name in order}
    for name, own in linear_constants(terms, constants).items():
        roles[name] = Role(name, "level" if any(map(saturates, own)) else "amplitude", terms=own)
    linear = {name for name, role in roles.items() if role.kind in ("level", "amplitude")}
    for term in terms:
        names = carriers_of(term.without(""), [name for name in constants if name not in roles], columns)
        if not has(term.without(""), linear):
            roles |= {name: Role(name, "carrier", terms=(term,)) for name in names}
    roles |= inner_roles(formula.right, [name for name in constants if name not in roles], columns)
    for used in names_in(formula.right):
        if used.name in order and used.name not in roles:
            raise FormulaError(
                f"formula {formula.text!r}: the place of the constant {used.name!r} (character {used.start + 1}) does "
                f"not tell what it is{suggestion(used.name, columns) or ';'} give it a prior, such as "
                f"priors={{{used.name!r}: 'Normal(0, 1)'}} (--prior '{used.name}=Normal(0, 1)')"
            )
    return {name: roles[name] for name in order}
