import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bayescaling.datasets import load, positive_columns, read, require, sha256

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
GOOD = "N,D,loss\n1e6,2e7,4.5\n2e6,4e7,4.1\n4e6,8e7,3.8\n"
FORMATS = ["csv", "tsv", "semicolons", "parquet", "nc"]


def written(folder, text, name="runs.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def stored(frame, folder, form):
    path = folder / f"runs.{'csv' if form == 'semicolons' else form}"
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "nc":
        frame.to_xarray().to_netcdf(path, engine="h5netcdf")
    else:
        frame.to_csv(path, index=False, sep={"csv": ",", "tsv": "\t", "semicolons": ";"}[form])
    return path


def refusal(*args, **options):
    with pytest.raises(bs.InputError) as error:
        read(*args, **options)
    message = str(error.value)
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    size = 40
    return pd.DataFrame(
        {
            "name": [f"run {i}, the {i}th" for i in range(size)],
            "Params": random.lognormal(18, 2, size),
            "train_tokens": random.integers(10**8, 10**12, size),
            "val_loss": random.uniform(2, 5, size),
            "seed": np.arange(size) % 3,
            "learning rate": random.uniform(1e-4, 1e-3, size),
            "warm": random.uniform(size=size) < 0.5,
        }
    )


@pytest.mark.parametrize("form", FORMATS)
def test_formats_give_identical_frames(table, tmp_path, form):
    frame = read(stored(table, tmp_path, form))
    pd.testing.assert_frame_equal(frame, read(table), check_exact=True)
    assert sha256(frame) == sha256(read(table))
    assert frame.attrs["source"].startswith("runs.")


def test_result_is_canonical_first_then_the_rest_untouched(table):
    frame = read(table)
    assert list(frame.columns) == [
        *["parameters", "tokens", "training_flop", "loss"],
        *["name", "seed", "learning rate", "warm"],
    ]
    assert (frame.dtypes.iloc[:4] == "float64").all()
    np.testing.assert_array_equal(frame["training_flop"], 6 * table["Params"] * table["train_tokens"])
    rest = ["name", "seed", "learning rate", "warm"]
    pd.testing.assert_frame_equal(frame[rest], table[rest])


def test_source_frame_is_left_as_it_was(table):
    before = table.copy()
    read(table.set_index(pd.Index(range(7, 47), name="run")))
    read(table, ignore="seed", columns={"loss": "val_loss"})
    pd.testing.assert_frame_equal(table, before)


def test_reading_again_changes_nothing(table):
    once = read(table)
    pd.testing.assert_frame_equal(read(once), once, check_exact=True)
    runs = load("chinchilla_runs")
    pd.testing.assert_frame_equal(read(runs)[runs.columns], runs, check_exact=True)
    assert read(runs).attrs["source"] == "chinchilla_runs"


@pytest.mark.parametrize("missing", ["parameters", "tokens", "training_flop"])
def test_third_size_comes_from_the_other_two(missing):
    runs = load("chinchilla_runs")
    frame = read(runs.drop(columns=[missing, "parameters_nonembedding"]))
    np.testing.assert_allclose(frame[missing], runs[missing], rtol=1e-12)


@pytest.mark.parametrize(
    "header",
    [
        "N,D,loss",
        "n,d,l",
        "params,n_tokens,val_loss",
        "Model Size,training tokens,Validation Loss",
        "model_size,dataset size,final_loss",
        "num_params,NUM_TOKENS,test-loss",
        "n_params,tokens,eval_loss",
        '"parameters", D ,LOSS',
    ],
)
def test_common_names_are_recognised(tmp_path, header):
    frame = read(written(tmp_path, header + "\n1e6,2e7,4.5\n"))
    assert frame.iloc[0].to_dict() == {"parameters": 1e6, "tokens": 2e7, "training_flop": 1.2e14, "loss": 4.5}


def test_optional_columns_come_under_their_names(tmp_path):
    header = "N,D,loss,loss_half_width,Width,vocab_size,non-embedding parameters,Unique Tokens,depth"
    frame = read(written(tmp_path, f"{header}\n1e6,2e7,4.5,0,64,1000,9e5,1e7,3\n"))
    assert list(frame.columns[4:]) == [
        *["loss_halfwidth", "d_model", "vocabulary", "parameters_nonembedding", "unique_tokens", "depth"]
    ]
    assert frame.iloc[0, 4:].tolist() == [0, 64, 1000, 9e5, 1e7, 3]


@pytest.mark.parametrize("name", ["unique_tokens", "UniqueTokens", "distinct tokens", "unique training tokens"])
def test_distinct_tokens_may_equal_those_seen(tmp_path, name):
    tokens, parameters = 1.1e10, 2.23721e9
    compute = 6 * parameters * tokens
    assert compute / (6 * parameters) < tokens
    frame = read(written(tmp_path, f"N,C,loss,{name}\n{parameters!r},{compute!r},3,{tokens!r}\n"))
    assert frame["unique_tokens"].item() == tokens


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        GOOD.replace("1e6", '"1e6"'),
        GOOD.replace("N,D", '"N","D"'),
        GOOD + "\n,,\n\n",
        GOOD.replace("\n2e6", "\n\n2e6"),
        "\n" + GOOD,
        GOOD.rstrip("\n"),
        GOOD.replace("1e6", " 1e6 "),
        GOOD.replace("1e6", "1000000"),
    ],
)
def test_variants_of_csv_read_alike(tmp_path, text):
    pd.testing.assert_frame_equal(read(written(tmp_path, text)), read(written(tmp_path, GOOD, "good.csv")))


RIVALS = "N,D,loss,val_loss\n1e6,2e7,4.5,9\n"
COMPUTES = "N,D,C,loss,val_loss,test_loss\n1e6,2e7,9e14,1,2,3\n"


@pytest.mark.parametrize(
    ("text", "options", "values"),
    [
        *[
            (f"N,{name},loss\n1e6,1.2e14,4.5\n", {}, {"training_flop": [1.2e14], "tokens": [pytest.approx(2e7)]})
            for name in ("C", "flop", "FLOPs", "compute", "Training FLOP", "training_flops", "training_flop")
        ],
        ("N,D,loss,U\n1e6,2e7,3,-1\n", {}, {"unique_tokens": None, "U": [-1]}),  # one letter names no distinct tokens
        ("N,C,loss\n1000000000000,1000000000000000000000000,2\n", {}, {"training_flop": [1e24]}),  # beyond 64 bits
        (",N,D,loss\n0,1e6,2e7,4.5\n1,1e6,2e7,4.5\n", {}, {"Unnamed: 0": [0, 1], "loss": [4.5, 4.5]}),
        (RIVALS, {}, {"loss": [4.5], "val_loss": [9]}),
        (RIVALS, {"columns": {"loss": "val_loss"}}, {"loss": [9]}),
        ("N,D,x\n1e6,2e7,4.5\n", {"columns": {"loss": "x"}}, {"loss": [4.5]}),
        (
            "N,D,loss,n_params\n9e5,2e7,4.5,1e6\n",
            {"columns": {"parameters_nonembedding": "N"}},
            {"parameters": [1e6], "parameters_nonembedding": [9e5]},
        ),
        ("N,D,PPL\n1e6,2e7,20.0\n", {"perplexity": True}, {"loss": [np.log(20.0)], "perplexity": [20]}),
        ("N,D,loss,ppl\n1e6,2e7,3,-1\n", {}, {"ppl": [-1]}),
        (COMPUTES, {"ignore": ["C"]}, {"training_flop": [1.2e14], "C": None}),
        (COMPUTES, {"ignore": ("C", "loss", "val_loss")}, {"loss": [3]}),
        ("N,D,C,loss\n1e6,2e7,1.21e14,4\n", {}, {"training_flop": [1.21e14]}),  # within one percent of 6ND
    ],
)
def test_columns_are_chosen_and_read(tmp_path, text, options, values):
    frame = read(written(tmp_path, text), **options)
    for name, cells in values.items():
        assert name not in frame if cells is None else frame[name].tolist() == cells


def test_text_and_missing_values_of_other_columns_pass(tmp_path):
    frame = read(written(tmp_path, "N,D,loss,note,dropout\n1e6,2e7,4.5,,\n1e6,2e7,4.5,a,0.1\n"))
    assert frame["note"].isna().tolist() == frame["dropout"].isna().tolist() == [True, False]


FAULTS = [
    ("N,D,loss\n1e6,2e7,4\n1e6,12abc,4\n", ["line 3", '"D"', '"12abc"', "plain number"]),
    ('N,D,loss\n1e6,"1,000",4\n', ["line 2", '"D"', '"1,000"', "as 1000"]),
    ("N,D,loss\n70MM,2e7,4\n", ["line 2", '"N"', '"70MM"', "plain number"]),
    ("params_M,D,loss\n70M,2e7,4\n", ['"params_M"', '"70M"', "a unit of 1e+06", "leave one of them out"]),
    ('N,D,loss\n1e6,"12,345",4\n', ["line 2", '"D"', "as 12345, or with a point as 12.345"]),
    ("N,D,loss\n1e6,2e7,4.5M\n", ["line 2", '"loss"', '"4.5M"']),
    ("N,D,loss\n1_000,2e7,4\n", ["line 2", '"N"', '"1_000"', "as 1000"]),
    ("N,D,loss\nTrue,2e7,4\n", ["line 2", '"N"', '"True"', "not a number"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,2e7,\n", ["line 3", '"loss"', "blank", "fill it in"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,nan,4\n", ["line 3", '"D"', "NaN"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,NA,x\n", ["line 3", '"loss"', '"x"']),
    ("N,D,loss\n1e6,2e7,4\n\n1e6,inf,4\n", ["line 4", '"D"', "inf", "positive finite"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,1e999,4\n", ["line 3", '"D"', "inf"]),
    ("N,D,loss\n0,2e7,4\n", ["line 2", '"N"', "found 0", "positive"]),
    ("N,D,loss\n1e6,-2e7,4\n", ["line 2", '"D"', "found -20000000", "positive"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,2e7,0\n", ["line 3", '"loss"', "found 0"]),
    ("N,D,val_loss\n1e6,2e7,4\n1e6,2e7,-3.5\n", ["line 3", '"val_loss"', "found -3.5"]),
    ("N,D,loss\n1e6,2e7,-4\n-1e6,2e7,-3\n", ["line 2", '"loss"', "found -4"]),
    ("N,D,loss\n1e200,1e200,4\n", ["line 2", '"training_flop"', "inf"]),
    (
        "N,D,C,loss\n1e6,2e7,1.2e14,4\n1e6,2e7,3e14,4\n",
        ["line 3", '"C"', "3e+14", "1.2e+14", "ratio 2.5", "--ignore C"],
    ),
    ("N,D,loss\n1e6,2e7\n", ["line 2", "2 fields", "3"]),
    ("N,D,loss\n1e6,2e7,4\n1e6,2e7,4,5\n", ["line 3", "4 fields", "3"]),
    ('N,D,loss\n1e6,2e7,"4\n', ["line 2", "quotes"]),
    ('N,D,loss\n1e6,2e7,"4"x\n', ["line 2", "quotes"]),
    ("N,D,loss\n1e6,2e7,4\xe9\n".encode("latin-1"), ["line 2", "0xe9", "UTF-8"]),
    ("N,D,loss\n1e6,2e7,4\n".encode("utf-16"), ["line 1", "UTF-8"]),
    (bytes(range(256)), ["UTF-8"]),
    ("", ["empty"]),
    (" \n\n", ["empty"]),
    ("x" * 200_000, ["line 1"]),
    (b"\xef\xbb\xbf", ["empty"]),
    ("N,D,loss\n", ["no rows", '"loss"']),
    ("N,D,loss\n\n,,\n", ["no rows"]),
    ("N,D,loss,loss\n1e6,2e7,4,5\n", ["2 columns", '"loss"', "rename"]),
    ("N,D, loss,loss\n1e6,2e7,4,5\n", ["2 columns", '"loss"']),
    ("N,D,score\n1e6,2e7,4\n", ["loss", '"score"', "--column loss=NAME"]),
    ("N,loss,depth\n1e6,2e7,4\n", ['"parameters"', '"depth"', "--column tokens=NAME"]),
    ("1e6,2e7,4\n1e6,2e7,4\n", ["needed", '"1e6"']),
    (
        "N,D,val_loss,test_loss\n1e6,2e7,4,4\n",
        ['"val_loss"', '"test_loss"', 'columns={"loss": "val_loss"}', "--column loss=val_loss"],
    ),
    ("N,n,D,loss\n1e6,2e6,2e7,4\n", ['"N"', '"n"', "--column parameters="]),
    ("N,D,loss,Loss\n1e6,2e6,4,4\n", ['"loss"', '"Loss"', "--column loss="]),
    ("N,D,ppl\n1e6,2e7,40\n", ['"ppl"', "perplexity=True", "--perplexity"]),
    ('N,D,"x\ny"\n1e6,2e7,4\n', ["x\\ny", "loss"]),
    ('N,D,"lo\nss",L-OSS\n1e6,2e7,4,4\n', ["lo\\nss", '"L-OSS"', "--column"]),
    ('N,D,loss\n1e6,2e7,"a\u2028b"\n', ["line 2", "not a number"]),
]


@pytest.mark.parametrize(("text", "parts"), FAULTS)
def test_faults_of_text_files(tmp_path, text, parts):
    message = refusal(written(tmp_path, text))
    assert message.startswith("runs.csv")
    for part in parts:
        assert part in message


OF_NEEDED_COLUMNS = [
    ("N,D,loss,width\n1e6,2e7,4,\n", ["line 2", '"width"', "blank", 'ignore=["width"]', "--ignore width"]),
    ("N,D,loss,loss_halfwidth\n1e6,2e7,4,-1\n", ["line 2", '"loss_halfwidth"', "found -1", "at least 0"]),
    ("N,D,loss,vocab\n1e6,2e7,4,x\n", ["line 2", '"vocab"', '"x"']),
    ("N,D,loss,nonembedding\n1e6,2e7,4,2e6\n", ["line 2", '"nonembedding"', "2000000", "1000000", "--ignore"]),
    ("N,D,loss,unique_tokens\n1e6,2e7,4,0\n", ["line 2", '"unique_tokens"', "found 0", "--ignore"]),
    ("N,D,loss,unique_tokens\n1e6,2e7,4,\n", ["line 2", '"unique_tokens"', "blank", "--ignore"]),
    (
        "N,D,loss,distinct_tokens\n1e6,2e7,4,2e7\n1e6,2e7,4,3e7\n",
        ["line 3", '"distinct_tokens"', "30000000", "tokens seen are 20000000", "--ignore"],
    ),
    ("N,D,loss,Vocab Size\n1e6,2e7,4,0\n", ["line 2", '"Vocab Size"', "--ignore 'Vocab Size'"]),
]


@pytest.mark.parametrize(("text", "parts"), OF_NEEDED_COLUMNS)
def test_a_bad_cell_blocks_only_where_its_column_is_needed(tmp_path, text, parts):
    path = written(tmp_path, text)
    column = read(path).columns[4]
    message = refusal(path, needed=column)
    assert message.startswith("runs.csv")
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("value", [1.0, 0.5, -3.0])
def test_perplexity_of_at_most_one(tmp_path, value):
    message = refusal(written(tmp_path, f"N,D,ppl\n1e6,2e7,9\n1e6,2e7,{value}\n"), perplexity=True)
    assert all(part in message for part in ["runs.csv", "line 3", '"ppl"', f"found {value:g}", "above 1"])


def test_perplexity_asked_for_in_vain(tmp_path):
    assert "no column for perplexity" in refusal(written(tmp_path, GOOD), perplexity=True)
    message = refusal(written(tmp_path, "N,D,loss,ppl\n1e6,2e7,4,50\n"), perplexity=True)
    assert all(part in message for part in ['"loss"', '"ppl"', "ignore"])


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"columns": {"los": "loss"}}, ['"los"', 'did you mean "loss"']),
        ({"columns": {"N": "N"}}, ['"N"', 'did you mean "parameters"']),
        ({"columns": {"loss": "los"}}, ['"los"', 'did you mean "loss"', '"D"']),
        ({"columns": {"loss": "N", "parameters": "N"}}, ['"N"', '"loss"', '"parameters"']),
        ({"ignore": ["los"]}, ['"los"', 'did you mean "loss"']),
        ({"ignore": ["loss"]}, ["no column for loss"]),
    ],
)
def test_faults_of_options(tmp_path, options, parts):
    message = refusal(written(tmp_path, GOOD), **options)
    for part in parts:
        assert part in message


def test_missing_file_suggests_a_neighbour(tmp_path):
    written(tmp_path, GOOD)
    message = refusal(tmp_path / "run.csv")
    assert message.startswith("run.csv")
    assert 'did you mean "runs.csv"' in message
    assert "no such file" in refusal(tmp_path / "nowhere" / "runs.csv")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b.csv", "N,D,loss\n1,2,3\n", "~nobody of this name/runs.csv", ""])
def test_names_that_cannot_be_files(name):
    refusal(name)


def test_folder_and_other_kinds_of_source(tmp_path):
    assert "folder" in refusal(tmp_path)
    assert "DataFrame" in refusal({"N": [1]})
    assert '".xlsx"' in refusal(written(tmp_path, GOOD, "runs.xlsx"))


@pytest.mark.parametrize("name", ["runs.parquet", "runs.nc"])
@pytest.mark.parametrize("data", [b"hello", b"PAR1 nothing here PAR1", b"\x89HDF\r\n\x1a\n nothing here"])
def test_files_that_are_not_what_they_say(tmp_path, name, data):
    message = refusal(written(tmp_path, data, name))
    assert message.startswith(name)
    assert "read" in message


@pytest.mark.parametrize("form", ["parquet", "nc"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_cut_files(table, tmp_path, form, part):
    path = stored(table, tmp_path, form)
    data = path.read_bytes()
    refusal(written(tmp_path, data[: int(part * len(data))], f"cut.{form}"))


@pytest.mark.parametrize("form", ["parquet", "nc"])
def test_rows_of_other_formats_count_from_zero(table, tmp_path, form):
    table.loc[3, "val_loss"] = np.nan
    for source in [table, stored(table, tmp_path, form)]:
        message = refusal(source)
        assert all(part in message for part in ["row 3 (counting from 0)", '"val_loss"', "blank or NaN"])


def test_tree_of_data_sets_is_joined_along_runs(table, tmp_path):
    data = table.drop(columns="name").to_xarray().rename(index="run")
    data = data.assign_coords(run=table["name"].to_numpy(dtype=object))
    tree = xr.DataTree.from_dict(
        {
            "constant_data": data[["Params", "train_tokens"]],
            "observed_data": data[["val_loss"]],
            "posterior": xr.Dataset(
                {"alpha": (("chain", "draw"), np.ones((2, 5))), "step": ("chain", [0.1, 0.2])},
                {"chain": [0, 1], "draw": range(5)},
            ),
        }
    )
    tree.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    frame = read(tmp_path / "fit.nc")
    assert list(frame.columns) == ["parameters", "tokens", "training_flop", "loss", "run"]
    np.testing.assert_array_equal(frame["loss"], table["val_loss"])
    assert frame["run"].tolist() == table["name"].tolist()


def test_netcdf_without_a_table(tmp_path):
    path = tmp_path / "runs.nc"
    xr.Dataset({"loss": (("a", "b"), np.ones((2, 2)))}).to_netcdf(path, engine="h5netcdf")
    assert "one-dimensional" in refusal(path)
    xr.Dataset({"loss": ("a", [1.0]), "val_loss": ("b", [1.0, 2.0])}).to_netcdf(path, engine="h5netcdf")
    assert '"a", "b"' in refusal(path)


def test_named_index_of_parquet_is_a_column(table, tmp_path):
    table.set_index("Params").to_parquet(tmp_path / "runs.parquet")
    np.testing.assert_array_equal(read(tmp_path / "runs.parquet")["parameters"], table["Params"])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, None], dtype="Int64"),
        pd.Series([1.0, np.nan], dtype="Float64"),
        pd.Series([1.0, None], dtype=object),
        pd.Series(["1", " "], dtype=object),
    ],
)
def test_missing_values_of_every_kind_are_refused(values):
    message = refusal(pd.DataFrame({"N": [1, 2], "D": [1, 2], "loss": values}))
    assert all(part in message for part in ["row 1", '"loss"', "blank"])


@pytest.mark.parametrize(
    "values", [[True, False], [1 + 0j, 2], pd.to_datetime(["2020-01-01", "2021-01-01"]), [[1, 2], [3]], [b"x", b"y"]]
)
def test_values_that_are_not_numbers_are_refused(values):
    message = refusal(pd.DataFrame({"N": [1, 2], "D": [1, 2], "loss": values}))
    assert all(part in message for part in ["row 0", '"loss"', "not a number"])


def test_frames_with_odd_columns():
    frame = pd.DataFrame([[1, 2, 3.0, 4.0]], columns=["N", "D", "loss", "loss"])
    assert '"loss"' in refusal(frame)
    frame.columns = pd.MultiIndex.from_tuples([("a", "N"), ("a", "D"), ("a", "loss"), ("b", "loss")])
    assert "levels" in refusal(frame)
    frame = pd.DataFrame([[1e6, 2e7, 3.0, 4.0]], columns=["N", "D", "loss", 0])
    assert read(frame)[0].item() == 4
    assert "no rows" in refusal(frame.head(0))


def test_require_names_what_is_missing_and_why(table):
    frame = read(table)
    require(frame, ["parameters", "loss"], purpose="the law")
    require(frame, "tokens", purpose="the law")
    with pytest.raises(bs.InputError, match=r'the law of widths needs "d_model", "vocabulary".*--column d_model=NAME'):
        require(frame, ["loss", "d_model", "vocabulary"], purpose="the law of widths")


def test_positive_columns_are_floats_in_the_order_asked(table):
    columns = positive_columns(read(table), ("loss", "parameters"), purpose="a fit")
    assert list(columns) == ["loss", "parameters"]
    assert all(values.dtype == float and values.shape == (40,) for values in columns.values())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "x"])
def test_positive_columns_name_what_is_not_positive(table, value):
    frame = read(table).astype({"loss": object})
    frame.loc[3, "loss"] = value
    with pytest.raises(bs.InputError, match=rf"the table: column 'loss' is {value} in row 3"):
        positive_columns(frame, ["loss"], purpose="a fit")
    with pytest.raises(bs.InputError, match=r'a fit needs "d_model"'):
        positive_columns(frame, ["d_model"], purpose="a fit")
