"""Rules of the column that plays one role in a table of runs, as a table: what would be read wrong, with the fix."""

from collections.abc import Callable
from dataclasses import dataclass

from ..checks import place
from ..columns import SIZES
from ..fixes import NOTHING, Fix
from ..formula_nodes import spell
from ..units import split_header
from ..wording import nearest, quoted
from .facts import agree
from .magnitudes import logarithm
from .names import bits_of, in_expression, logarithm_of, means, words, write_product

A_STEP = 5e5  # tokens, as an example
BYTES = 4.3  # of a token, as an example


@dataclass(frozen=True)
class Problem:
    """What is wrong with a table, how to fix it and what else may be right."""

    text: str
    fix: Fix = NOTHING
    otherwise: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule of the column of a role, unless the user stated its unit or it is an expression.

    `test` is a meaning of the column's name, or a function of `TableFacts` and the name that returns what it found. The
    text, the fix and what else may be right are constants or functions of both and of what was found. In a constant
    text {role} and {found} stand for the role and what was found.
    """

    role: str
    test: str | Callable
    text: str | Callable
    fix: Fix | Callable
    otherwise: str | Callable = ""

    def __call__(self, facts):
        """Return the `Problem` of the column that plays the role, or None."""
        header = facts.names.get(self.role)
        if header is None or facts.stated(self.role) or not (found := self.find(facts, header)):
            return None
        text, fix, otherwise = self.describe(facts, header, found)
        return Problem(f"column {quoted(header)}, taken for {self.role}, {text}", fix, otherwise)

    def find(self, facts, header):
        """Return what the test finds in a column, or a false value."""
        return means(header, self.test) if isinstance(self.test, str) else self.test(facts, header)

    def describe(self, facts, header, found):
        """Return the text on a column, the fix, and what else may be right."""
        parts = (self.text, self.fix, self.otherwise)
        text, fix, otherwise = (x(facts, header, found) if callable(x) else x for x in parts)
        return text.format(found=found) if text is self.text else text, fix, otherwise


def _undo_logarithm(facts, header, found):
    """Return the fix that takes the power of a column that is the logarithm of a loss."""
    base, name = logarithm_of(header)[0], in_expression(header)
    return Fix(columns={"loss": f"exp({name})" if base in ("", "e") else f"{base}**{name}"})


def _take_error_rate(facts, header, found):
    """Return the fix that fits the formula of an error rate, in percent where the score is."""
    values = facts.values(header)
    percent = values is not None and values.max() > 1
    return facts.formula(f"{'100' if percent else '1'} - {spell(str(header))}")


def _take_bits(facts, header, unit):
    """Return the fix that reads a loss in bits or in bits per byte."""
    return Fix(unit={"loss": unit}, others={"bytes_per_token": BYTES} if unit == "bits-per-byte" else {})


def _describe_bits(facts, header, found):
    """Return what the user must put in place of the example in `_take_bits`, or the unit of a loss in nats."""
    if bits_of(header) == "bits":
        return "or loss=nats if it is not"
    counted = "characters" if "bpc" in words(header) or "char" in str(header) else "bytes"
    own = facts.formula(spell(str(header)))
    return f"with the mean {counted} of a token in place of {BYTES:g}; or in its own unit {own}"


def _find_rise(facts, header):
    """Return the rank correlation of an accuracy with compute in words, unless it falls."""
    if not means(header, "accuracy") or "loss" in words(header) or (rise := facts.rises(header)) < 0:
        return None
    return f"a score{f' and rises with compute (rank correlation {rise:.2f})' if rise else ''}"


def _find_negative(facts, header):
    """Return the place and the cell of the first row in words, if every row is negative."""
    if not facts.is_negative(header):
        return None
    row = facts.table.index[0]
    return f"{place(facts.table, row)}: found {quoted(facts.table.at[row, header])}"


def _find_other_counts(facts, header):
    if not means(header, "part"):
        return None
    candidates = facts.candidates("parameters")
    others = [x for x in facts.table if x != header and (means(x, "part") or x in candidates)]
    return nearest(others, ["parameters"], facts.shown) if others else None


def _take_whole(facts, header, found):
    whole = [name for name, *_ in facts.counts() if name != str(header)]
    whole += [str(x) for x in facts.candidates("parameters") if not means(x, "part")]
    return Fix(columns={"parameters": whole[0]}) if whole else NOTHING


def _list_epochs(facts):
    epochs = [x for x in facts.table if means(x, "epochs") and x not in facts.derived]
    return [x for x in epochs if facts.values(x) is not None]


def _find_epochs(facts, header):
    """Return a column of epochs that are not all one, next to the size of a data set."""
    passes = _list_epochs(facts) if means(header, "data") else []
    return next((x for x in passes if (facts.values(x).dropna() != 1).any()), None)


def _find_epochs_of_tokens(facts, header):
    """Return a column of whole epochs that vary, unless the tokens are known to be those of all epochs."""
    if means(header, "data", "seen") or "unique_tokens" in facts.names or any(map(agree, facts.counts())):
        return None
    for column in _list_epochs(facts):
        passes = facts.values(column)
        one = facts.values(header) / passes
        # Tokens that are epochs times one size are those of all epochs.
        several = "parameters" not in facts.names or one.groupby(facts.role("parameters")).nunique().max() > 1
        if several and passes.nunique() > 1 and not (passes.dropna() % 1 > 0).any():
            return column
    return None


def _take_product(role, otherwise=NOTHING):
    """Return the function that takes a product of columns for a role, or else another fix."""

    def take(facts, header, found):
        expression = write_product(role, [header, *facts.numeric()])[0]
        return Fix(columns={role: expression}) if expression else otherwise

    return take


def _take_all_epochs(facts, header, epochs):
    return Fix(columns={"tokens": f"{in_expression(header)}*{in_expression(epochs)}"})


def _take_logarithm(role):
    return lambda facts, x, found: Fix(columns={role: logarithm(role, x, facts.values(x), found[0])})


OF_A_ROLE = (
    Rule("loss", lambda facts, x: None if split_header(x)[1] else bits_of(x),
         lambda facts, x, unit: f"is in {unit.replace('-', ' ')} by its name", _take_bits, _describe_bits),
    Rule("loss", _find_rise, "is called {found}", _take_error_rate, "an error rate falls where an accuracy rises"),
    Rule("loss", "other loss", "is no cross entropy by its name", lambda facts, x, found: facts.formula(spell(str(x))),
         "if it is a cross entropy, --unit loss=nats"),
    Rule("loss", lambda facts, x: logarithm_of(x) and not means(logarithm_of(x)[1], "likelihood"),
         "is a logarithm by its name", _undo_logarithm,
         lambda facts, x, found: f"if it is a cross entropy, --column loss={x} --unit loss=nats"),
    Rule("loss", _find_negative, "is negative in every row ({found}), as a log likelihood is",
         lambda facts, x, found: Fix(columns={"loss": f"-{in_expression(x)}"})),
    *(Rule(role, "rate", "is a rate or a share by its name", _take_product(role),
           f'if it is a total, give unit={{"{role}": 1}} (--unit {role}=1)') for role in SIZES),
    Rule("parameters", _find_other_counts, "counts some of them by its name; others are {found}", _take_whole,
         "if right, --unit parameters=1"),
    Rule("tokens", "steps", "counts steps by its name", _take_product("tokens", Fix(unit={"tokens": A_STEP})),
         f"the tokens of one step in place of {A_STEP:g}, if that is given; if it counts tokens, --unit tokens=1"),
    Rule("tokens", _find_epochs,
         lambda facts, x, epochs: f"is the size of a data set and {facts.span(epochs)} states how often it is read",
         _take_all_epochs,
         lambda facts, x, epochs: f"for the law of repeated data also --column unique_tokens={x}; if it counts all "
         "training tokens, --unit tokens=1"),
    Rule("tokens", _find_epochs_of_tokens,
         lambda facts, x, epochs: f"may be of one epoch, and {facts.span(epochs)} states how many there are",
         _take_all_epochs, "if it counts all training tokens, --unit tokens=1"),
    Rule("training_flop", lambda facts, x: facts.multiple == 6 and means(x, "forward"),
         "is the FLOP of the forward pass by its name", Fix(others={"flop_per_parameter_token": 2}),
         'if it is those of training, unit={"training_flop": 1} (--unit training_flop=1)'),
    *(Rule(role, lambda facts, x: facts.values(x) is not None and logarithm_of(x), "is a logarithm by its name",
           _take_logarithm(role)) for role in SIZES),
)  # fmt: skip
