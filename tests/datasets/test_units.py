import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets.units import split_header

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
C = "training_flop"
ROW = {"N": [7e9], "D": [1.4e12], "loss": [2.0]}


def refused(table, **options):
    with pytest.raises(bs.InputError) as error:
        bs.read(pd.DataFrame(table), **options)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def sizes(table, **options):
    return bs.read(pd.DataFrame(table), **options).loc[0, ["parameters", "tokens", "training_flop", "loss"]].tolist()


@pytest.mark.parametrize(
    ("parameters", "tokens"),
    [
        (("params_B", 7), ("tokens_T", 1.4)),
        (("#Params (B)", 7), ("tokens (T)", 1.4)),
        (("N (millions)", 7000), ("Tokens (B)", 1400)),
        (("Model Size [bn]", 7), ("training tokens (in billions)", 1400)),
        (("params_in_billions", 7), ("Pretraining Data Size (T)", 1.4)),
        (("n_params (1e9)", 7), ("dataset tokens (10^12)", 1.4)),
    ],
)
def test_a_header_says_the_unit(parameters, tokens):
    table = {parameters[0]: [parameters[1]], tokens[0]: [tokens[1]], "loss": [2.0]}
    assert sizes(table) == pytest.approx([7e9, 1.4e12, 6 * 7e9 * 1.4e12, 2])


def test_a_unit_is_told_and_kept():
    with pytest.warns(bs.errors.TableNote, match='column "params_B" is read as parameters in units of 1e\\+09'):
        table = bs.read(pd.DataFrame({"params_B": [7], "D": [1e12], "loss": [2.0]}))
    assert table.attrs["reading"] == [
        {"option": "unit", "column": "params_B", "of": "parameters", "unit": 1e9, "factor": 1e9}
    ]


def test_a_power_that_no_number_holds_is_no_unit():
    assert split_header("tokens (1e999)") == ("tokens (1e999)", None)
    assert split_header("tokens (10^9)") == ("tokens", 1e9)


LN2 = np.log(2)
SMALL = {"N": [7], "D": [1.4], "C": [58.8], "loss": [2.0]}
THOUSANDS = {"params_B": [7000], "C": [58.8e3], "loss": [2.0]}
PLAIN = [7e9, 1.4e12, 6 * 7e9 * 1.4e12, 2.0]
IN_BYTES = {"unit": {"loss": "bits-per-byte"}, "bytes_per_token": 4.5}


@pytest.mark.parametrize(
    ("table", "options", "expected"),
    [
        *((ROW | {x: [3]}, {}, [*PLAIN, 3]) for x in ["d_model", "T_max", "batch_k", "n_b", "width (m)"]),  # no units
        (ROW | {"params_B": [6.7]}, {}, [*PLAIN, 6.7]),  # a plain name goes before one with a unit
        (THOUSANDS, {"unit": {"parameters": 1e6, C: 1e18}}, PLAIN),  # a unit that is given goes before the header
        (SMALL, {"unit": {"parameters": 1e9, "tokens": 1e12, C: 1e21}}, PLAIN),
        (ROW, {"unit": {"loss": "nats"}}, PLAIN),
        (ROW | {"loss_halfwidth": [0.1]}, {"unit": {"loss": "bits"}}, [*PLAIN[:3], 2 * LN2, 0.1 * LN2]),
        (ROW | {"loss_halfwidth": [0.1]}, IN_BYTES, [*PLAIN[:3], 9 * LN2, 0.45 * LN2]),
        ({"N": [7e9], "D": [1.4e12], "val_loss (bits)": [2.0]}, {}, [*PLAIN[:3], 2 * LN2]),
        ({"N": [7e9], "D": [1.4e12], "loss (nats/token)": [2.0]}, {}, PLAIN),
    ],
)
def test_units_of_headers_and_options(table, options, expected):
    row = bs.read(pd.DataFrame(table), **options).iloc[0].tolist()
    assert row[: len(expected)] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": {"loss": "bit"}}, "choose one of nats, bits, bits-per-byte"),
        ({"unit": {"loss": 1e9}}, "choose one of nats"),
        ({"unit": {"loss": "bits-per-byte"}}, "--bytes-per-token"),
        ({"unit": {"loss": "bits-per-byte"}, "bytes_per_token": 0}, "not a positive number"),
        ({"bytes_per_token": 4}, "--unit loss=bits-per-byte"),
        ({"unit": {"parameters": "B"}}, "not a positive number such as 1e9"),
        ({"unit": {"parameters": -1}}, "not a positive number"),
        ({"unit": {"parameters": True}}, "not a positive number"),
        ({"unit": {"tokns": 1e9}}, 'did you mean "tokens"'),
        ({"unit": {"training_flop": 1e21}}, "no column for training_flop"),
        ({"unit": 1e9}, "mapping"),
    ],
)
def test_units_that_cannot_be(options, message):
    assert message in refused(ROW, **options)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"N": [7, 70], "D": [1.4e12] * 2, "loss": [2, 2]}, ['"N"', "found 7,", "--unit parameters=1e9", "1 more"]),
        ({"N": [7e9, 7e10], "D": [1.4, 2], "loss": [2, 2]}, ['"D"', "found 1.4,", "--unit tokens=1e12"]),
        ({"N": [7e7], "D": [1.4], "loss": [2]}, ["--unit tokens=1e9"]),
        ({"N": [7], "D": [140], "loss": [2]}, ["--unit parameters=1e9"]),
        ({"N": [7e9], "C": [58.8], "loss": [2]}, ['"C"', "C = 6ND", "--unit training_flop=1e21"]),
        ({"D": [1.4e12], "C": [58.8], "loss": [2]}, ['"C"', "fewer than 1,000 parameters", "training_flop=1e21"]),
        ({"N": [7e9], "D": [1.4e12], "C": [58.8], "loss": [2]}, ['"C"', "--unit training_flop=1e21"]),
        ({"N": [7e9], "D": [1.4e12], "C": [681], "loss": [2]}, ['"C"', "--unit training_flop=8.64e19"]),
        ({"N": [7e9], "D": [1.4e12], "loss": [55]}, ['"loss"', "more than 50 nats", "--perplexity"]),
        ({"N": [7e9], "D": [1.4e12], "loss": [0.001]}, ['"loss"', "less than 0.01"]),
    ],
)
def test_sizes_that_cannot_be_are_refused_with_the_likely_mend(table, words):
    message = refused(table)
    assert all(word in message for word in words), message


@pytest.mark.parametrize("table", [{"N": [352], "D": [1e4]}, {"N": [1e6], "C": [6e7]}, {"D": [10], "C": [6e8]}])
def test_a_unit_that_is_given_is_believed(table):
    table |= {"loss": [3.0]}
    assert "=1" in refused(table)
    unit = {{"N": "parameters", "D": "tokens", "C": "training_flop"}[name]: 1 for name in table if name != "loss"}
    assert bs.read(pd.DataFrame(table), unit=unit)["loss"].item() == 3
    assert "reading" not in bs.read(pd.DataFrame(table), unit=unit).attrs


def test_a_compute_that_is_not_6nd_says_what_may_be_the_matter():
    table = {"N": [7e9, 7e9], "D": [1e12, 2e12], "C": [5e22, 1e23], "loss": [2.0, 1.9]}
    message = refused(table)
    assert "count no embeddings" in message and "--column parameters_nonembedding=N" in message
    assert "attention" in message and "--ignore C" in message and "1 more rows" in message
    first = bs.read(pd.DataFrame(table), columns={"parameters_nonembedding": "N"})
    np.testing.assert_allclose(first["parameters"], [5e22 / 6e12, 1e23 / 12e12])
    assert bs.read(pd.DataFrame(table), ignore=["C"])["training_flop"].tolist() == [4.2e22, 8.4e22]


def test_a_blank_size_is_filled_in_from_the_two_others():
    table = pd.DataFrame({"N": [7e9, None], "D": [1e12, 2e12], "C": [None, 8.4e22], "loss": [2.0, 1.9]})
    with pytest.warns(bs.errors.TableNote, match=r"1 cells of training_flop .* C = 6ND"):
        runs = bs.read(table)
    assert runs["parameters"].tolist() == pytest.approx([7e9, 7e9])
    assert runs["training_flop"].tolist() == [4.2e22, 8.4e22]
    assert bs.read(table.assign(N=7e9, C=["?", 8.4e22]))["training_flop"].tolist() == [4.2e22, 8.4e22]
    assert refused(table.assign(D=[None, 2e12])).count("found nothing") == 2


def test_faults_of_a_file_are_reported_together_up_to_600_characters():
    cells = ["7 b.", 0, "", "1,000", *range(-9, 0)]
    message = refused({"N": cells, "D": [1e10] * 13, "loss": [*[2.0] * 12, "x"]})
    assert message.startswith("the table: 14 cells cannot be used: (1) row 0")
    assert len(message) <= 600 and " more; " in message
    assert all(part in message for part in ['"7 b."', "plain number", "found 0", "nothing (a blank or NaN)", "as 1000"])
    assert message.count("such rows can be left out") == 1
    assert "training_flop" not in message


def test_bad_cells_of_columns_that_are_not_needed_are_kept():
    table = pd.DataFrame(ROW | {"width": ["wide"], "vocab": [-1.0], "unique_tokens": [None], "note": [{"a": 1}]})
    runs = bs.read(table)
    assert runs["d_model"].tolist() == ["wide"]
    assert runs["vocabulary"].tolist() == [-1]
    assert runs["unique_tokens"].isna().all()
    assert runs["note"].tolist() == [{"a": 1}]
    assert '"wide"' in refused(table, needed=("d_model",))


def test_a_law_refuses_what_reading_let_pass():
    sizes = np.geomspace(1e7, 1e10, 20)
    table = pd.DataFrame({"N": sizes, "D": 20 * sizes[::-1], "loss": np.linspace(4, 2, 20), "U": 1e8})
    runs = bs.read(table.assign(U=[1e8] * 19 + [None]), columns={"unique_tokens": "U"})
    with pytest.raises(bs.InputError, match=r"'unique_tokens' is nan in row 19"):
        bs.laws.DataConstrained().rows(runs)
    assert len(bs.laws.Chinchilla().rows(runs)) == 20


def test_steps_are_no_tokens():
    sizes = np.array([2.5e7, 1e8, 4e8])
    table = pd.DataFrame({"N": np.repeat(sizes, 2), "step": np.tile([2000, 24000], 3), "loss": np.linspace(4, 3, 6)})
    message = refused(table, columns={"tokens": "step"})
    assert 'column "step", taken for tokens, counts steps by its name' in message and "--unit tokens=5e5" in message
    message = refused(table.rename(columns={"step": "tokens"}))
    assert 'column "tokens": found 2000' in message and "at most 0.00096 tokens per parameter in any row" in message
    assert "--unit tokens=5e5" in message and message.count("\n") == 0
    assert len(bs.read(table, columns={"tokens": "step"}, unit={"tokens": 1})) == 6
    with pytest.warns(bs.errors.TableNote, match="in units of 500000"):
        assert bs.read(table, columns={"tokens": "step"}, unit={"tokens": 5e5})["tokens"].max() == 1.2e10
    # Runs on little data are in one table with others.
    with pytest.warns(bs.errors.TableWarning, match="tokens per parameter, as strange in 3 of 6 rows"):
        assert len(bs.read(table.assign(D=[2000.0, 1e9] * 3).drop(columns="step"))) == 6


def test_an_accuracy_is_not_taken_for_a_loss():
    sizes = np.geomspace(1e7, 1e10, 20)
    table = bs.read(pd.DataFrame({"N": sizes, "D": 20 * sizes, "loss": np.linspace(0.3, 0.8, 20)}))
    with pytest.raises(bs.InputError, match=r"the loss rises with \w+.* \(rank correlation 1.00, p < 1e-16\)"):
        bs.law("coupled").rows(table)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_losses_near_the_largest_number_are_refused_without_an_overflow():
    table = pd.DataFrame({"N": [1e8, 2e8], "D": [1e10, 2e10], "loss": [1.7e308, 1.6e308]})
    assert "more than" in refused(table)
