"""Whatever is read, written or set, by examples from Hypothesis: it is accepted unchanged, or refused in one line."""

import copy
import tomllib
import warnings

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.models.priors import DISTRIBUTIONS, Prior
from bayescaling.training import arithmetic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# The same examples in every run, so that a failure is one of the change that it fails with.
usual = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8), values, max_size=3),
    max_leaves=8,
)


def refusal(attempt):
    """What `attempt` gives, or None where it is refused; nothing else may happen, and a refusal is one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.errors.TableWarning)
            return attempt()
    except bs.InputError as error:
        assert str(error).isprintable() and str(error) and len(str(error)) < 4000
        return None


# Priors ---------------------------------------------------------------------------------------------------------------


@usual
@given(st.sampled_from(sorted(DISTRIBUTIONS)), st.lists(numbers, min_size=1, max_size=4))
def test_a_prior_is_read_back_from_its_text_to_the_last_digit(name, values):
    prior = refusal(lambda: Prior.parse(f"{name}({', '.join(map(repr, values))})"))
    if prior is not None:
        assert list(prior.arguments.values()) == values and Prior.parse(str(prior)) == prior
        assert np.isfinite(prior.quantile([0.01, 0.5, 0.99])).all()


@usual
@given(st.text(max_size=60) | st.text("NormalUif(){}[]=,.-+e019 '\"", max_size=40) | plain)
def test_any_other_text_is_no_prior(text):
    prior = refusal(lambda: Prior.parse(text))
    assert prior is None or Prior.parse(str(prior)) == prior


# Tables ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "csv.xz", "csv.zst"])
def test_any_bytes_are_a_table_or_refused(suffix, tmp_path):
    @settings(usual, max_examples=25)
    @given(st.binary(max_size=200) | st.text('N,D,loss\n\t"{}[]:1e-9', max_size=80).map(str.encode))
    def check(content):
        (tmp_path / f"runs.{suffix}").write_bytes(content)
        refusal(lambda: bs.read(tmp_path / f"runs.{suffix}"))

    check()


@usual
@given(st.lists(st.text(max_size=12), min_size=3, max_size=6))
def test_names_of_runs_are_text_as_it_is_written(tmp_path, names):
    sizes = np.geomspace(1e7, 1e10, len(names))
    table = pd.DataFrame({"N": sizes, "D": 20 * sizes[::-1], "loss": np.linspace(4, 2, len(names)), "run": names})
    runs = refusal(lambda: bs.read(table))
    if runs is not None:
        assert runs["run"].tolist() == names


@usual
@given(st.sampled_from(["parameters", "tokens", "loss"]), plain)
def test_any_value_in_a_cell_is_a_number_or_refused(column, value):
    table = bs.load("chinchilla_runs").head(4)[["parameters", "tokens", "loss"]].astype(object)
    table.at[2, column] = value
    runs = refusal(lambda: bs.read(table))
    if runs is not None:
        assert np.isfinite(runs[column]).all() and (runs[column] > 0).all()
        assert float(runs.at[2, column]) == pytest.approx(float(value))


# Sweeps ---------------------------------------------------------------------------------------------------------------

SWEEP = """
[model]
d_model = 16
heads = 2
k_max = 3
table_rows = 12
[training]
samples = 960
batch = 32
seeds = [0]
[evaluation]
longest = 3
diagonal_to = 4
[[arms]]
name = "one"
task = "addition"
lengths = 2
embeddings = ["abacus", "nope"]
architectures = ["1x1"]
"""
FIELDS = [(section, key) for section, table in tomllib.loads(SWEEP).items() for key in (table[0] if section == "arms" else table)]  # fmt: skip # noqa: E501


@usual
@given(st.sampled_from(FIELDS), plain | st.sampled_from([2**31, 2**63, 10**400, 1e308]))
def test_any_value_in_a_sweep_is_taken_or_refused(field, value):
    tables, (section, key) = copy.deepcopy(tomllib.loads(SWEEP)), field
    (tables[section][0] if section == "arms" else tables[section])[key] = value
    refusal(lambda: arithmetic.outline(arithmetic.make_sweep(tables), device="cpu"))


@usual
@given(st.text("[]{}=\"'\n.1e9-_ abcdef", max_size=60))
def test_any_text_is_a_sweep_or_refused(tmp_path, text):
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    assert refusal(lambda: arithmetic.outline(tmp_path / "sweep.toml", device="cpu")) is None
