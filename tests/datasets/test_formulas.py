import random

import bayescaling as bs
import pytest
from bayescaling.datasets.formula_nodes import evaluate, names_in
from bayescaling.datasets.formulas import FormulaError, parse_expression, parse_formula

PIECES = [
    *"ab+-*/^()[],~;=$",
    "x",
    "`my x`",
    "**",
    "1",
    "2.5",
    "1e3",
    "exp",
    "log(",
    "min(",
    " ",
    "'",
    '"',
    "`",
    "é",
    "\n",
]
FUNCTIONS = {"**": pow, "max": max, "min": min}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("loss~E+A*n_params^-a", "loss ~ E + A * n_params**-a"),
        ("h = E + a*x; y ~ h*b", "y ~ (E + a * x) * b"),
        ("y ~ (a+b)*(c-d-(e-f))/(g/h)", "y ~ (a + b) * (c - d - (e - f)) / (g / h)"),
        ("`val/loss` ~ alpha[opt, 'my arch'] * N", "`val/loss` ~ alpha[opt, `my arch`] * N"),
        ("y ~ exp + beta * E", "y ~ exp + beta * E"),
        ("log(ppl) ~ α * x\n  − β", "log(ppl) ~ α * x - β"),
    ],
)
def test_a_formula_is_written_as_it_was_read(text, canonical):
    assert str(parse_formula(text)) == canonical


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2**2", -4),
        ("2**-1**2", 0.5),
        ("2**3**2", 512),
        ("8 - 4 - 2", 2),
        ("8/4/2", 1),
        ("-(1 - 3)", 2),
        ("max(1, 3)", 3),
    ],
)
def test_operators_bind_as_in_arithmetic(text, value):
    assert evaluate(parse_expression(text), None, FUNCTIONS) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loss ~ E + A*n_params**", "after '\\*\\*' a number, a name or a bracket is missing"),
        ("loss ~ 2N", "character 9, between '2' and 'N' an operator"),
        ("loss ~ A(x)", "'A' is no function; .* write A \\* \\(...\\)"),
        ("loss ~ lgo(x)", 'did you mean "log"'),
        ("loss ~ (E + a", "character 8, the bracket '\\(' is not closed"),
        ("loss ~ E) + a", "'\\)' closes no bracket"),
        ("loss = E", "write ~ between a response and a formula"),
        ("y ~ a ~ b", "a formula has one ~"),
        ("y ~ `a + b", "a backtick is missing"),
        ("y ~ __import__('os')", "is no function"),
        ("y ~ " + "(" * 70 + "a" + ")" * 70, "brackets within each other"),
        ("y ~ " + "a + " * 300 + "a", "300 signs|301 signs"),
        ("h = h + 1; y ~ h", "defined by itself"),
        ("".join(f"h{k + 1} = h{k} + h{k}; " for k in range(25)) + "y ~ h25", "more than 1,000 names and numbers"),
        ("y ~ min(a)", "min takes two arguments or more, and has 1"),
        ("", "write one, such as"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_line_that_points_at_the_place(text, words):
    with pytest.raises(FormulaError, match=words) as error:
        parse_formula(text)
    assert len(str(error.value).splitlines()) == 1
    assert isinstance(error.value, bs.InputError)


def test_texts_made_at_random_are_read_as_written_or_refused_in_a_line():
    rng, read = random.Random(1), 0
    for _ in range(5000):
        text = "y ~ " + "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))
        try:
            formula = parse_formula(text)
        except FormulaError as error:
            assert len(str(error).splitlines()) == 1
            continue
        again = parse_formula(str(formula))
        assert again.right == formula.right
        assert [name.name for name in names_in(again.right)] == [name.name for name in names_in(formula.right)]
        read += 1
    assert read > 50
