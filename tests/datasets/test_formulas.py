import random
import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.formula_nodes import evaluate, names_in, spell
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


# Formulas on a table, by mutation and from tokens ---------------------------------------------------------------------

VALID = [
    "loss ~ E + A[opt]*n**-alpha[opt] + B*d**-beta",
    "k / m ~ 1 - (1 + n/x0)**-b",
    "loss ~ low + (top - low)/(1 + exp(-q*(log10(n) - mid)))",
    "h = n / 1e6; log(loss) ~ A * h**-alpha + E",
    "loss ~ b * n**-c0 * (1 + (n / d1)**(1 / f1))**(-c1 * f1)",
    "`my col` ~ max(E, A*n**-alpha)",
]
TOKENS = [
    *"+-*/^()[],~;=<`'\"ndkmEA10_é$ ",
    "**",
    "loss",
    "opt",
    "alpha",
    "exp(",
    "sqrt(",
    "min(",
    "1e9",
    "1e400",
    "`my col`",
]
TOKENS += ["None", "nn", "lss", "lambda", "__class__", "\n", "1j"]
SIZES = np.geomspace(1e6, 1e9, 12)
TABLE = pd.DataFrame({"n": SIZES, "d": [1e8, 1e9, 1e10] * 4, "opt": ["a", "b"] * 6, "k": np.arange(12.0), "m": 20.0})
TABLE = TABLE.assign(loss=2 + 60 * SIZES**-0.25, **{"my col": 3 + SIZES**-0.2})


def mutated(rng):
    pieces = list(rng.choice(VALID))
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(pieces))
        match rng.randrange(3):
            case 0:
                del pieces[place]
            case 1:
                pieces.insert(place, rng.choice(TOKENS))
            case 2:
                pieces[place : place + 5] *= 2
    return "".join(pieces)


def placed(text, table):
    """Return the formula as a law with a density on a table, or the error that refuses it."""
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            law = bs.laws.Formula(text).suited(table)
            rows = law.rows(table)
            return law, law.density(rows, law.reference(rows))
    except bs.InputError as error:
        return error


def test_malformed_formulas_are_refused_in_a_line_or_have_a_density():
    rng, usable = random.Random(7), 0
    for k in range(400):
        text = mutated(rng) if k % 4 else "loss ~ " + " ".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 9)))
        found = placed(text, TABLE)
        if isinstance(found, bs.InputError):
            assert len(str(found).splitlines()) == 1, text
        else:
            usable += 1
    assert usable > 20


ODD = [
    "exp",
    "max",
    "log",
    "N",
    "E",
    "A",
    "alpha",
    "",
    " \t",
    "`",
    "a`b",
    '"q"',
    "学习率",
    "loss (%)",
    "n/params",
    "a**b",
    "~",
]
ODD += [
    "a,b",
    "a;b",
    "[a]",
    "1e9",
    "3M",
    "nan",
    "None",
    "x\ny",
    " lead",
    "😀",
    "\u200b",
    "lambda",
    "where",
    "at",
    "row",
]
ODD += [
    "line",
    "index",
    "reference x",
    "n" * 300,
    "%",
    "\\",
    "{x}",
    "%s",
    "-",
    "a ± b",
    "run",
    "file",
    "step",
    7,
    2.5,
    None,
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_odd_names_of_columns_are_read_under_a_name_that_a_formula_takes(odd):
    table = bs.read(pd.DataFrame({odd: SIZES, "other": TABLE["loss"]}), "columns")
    name = next(column for column in table if column != "other")
    law, _ = placed(f"other ~ E0 + A0 * {spell(name)}**-slope", table)
    assert law.columns == (name,)
    np.testing.assert_array_equal(law.rows(table)[name], SIZES)


@pytest.mark.parametrize(
    "table",
    [
        TABLE.rename(columns={"n": 0, "loss": 1}),
        TABLE.rename(columns={"n": "0", "loss": "1"}).set_index("0"),
        TABLE.astype({"n": "Float64", "loss": "Float32", "opt": "category"}).rename(columns={"n": "0", "loss": "1"}),
        TABLE.assign(loss=TABLE["loss"].map(str)).rename(columns={"n": "0", "loss": "1"}),
        TABLE.assign(when=pd.date_range("2024-01-01", periods=12)).rename(columns={"n": "0", "loss": "1"}),
    ],
    ids=["names of numbers", "index", "nullable and categorical", "numbers as text", "dates"],
)
def test_frames_of_any_types_give_the_same_rows(table):
    read = bs.read(table, "columns")
    law, _ = placed("`1` ~ E + A[opt] * `0`**-alpha", read)
    np.testing.assert_allclose(law.rows(read)[["0", "1"]], TABLE[["n", "loss"]], rtol=1e-7)
    assert law.levels == ((("opt",), ("a", "b")),)


def test_columns_of_one_name_are_refused_in_a_line():
    table = pd.concat([TABLE, TABLE["n"]], axis=1)
    with pytest.raises(bs.InputError, match='2 columns are called "n"'):
        bs.read(table, "columns")
    with pytest.raises(bs.InputError, match='2 columns are called "1"'):
        bs.read(pd.DataFrame([[1.0, 2.0]], columns=["1", 1]), "columns")
