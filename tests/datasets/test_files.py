import gzip
import lzma
import os

import bayescaling as bs
import h5py
import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from bayescaling.datasets import formats

TEXT = "N,D,loss,note\n1e6,2e7,4.5,a\n2e6,4e7,4.1,\n"
LINES = '{"N": 1e6, "D": 2e7, "loss": 4.5, "note": "a"}\n\n{"loss": 4.1, "D": 4e7, "N": 2e6, "config": {"lr": 0.1}}\n'


def packed(data, form):
    if form == "zst":
        with pyarrow.BufferOutputStream() as sink:
            with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(data)
            return sink.getvalue().to_pybytes()
    return {"gz": gzip.compress, "xz": lzma.compress}[form](data)


def refused(*arguments, **options):
    with pytest.raises(bs.InputError) as error:
        bs.read(*arguments, **options)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


@pytest.mark.parametrize("form", ["gz", "xz", "zst"])
@pytest.mark.parametrize(("name", "text"), [("runs.csv", TEXT), ("runs.tsv", TEXT.replace(",", "\t"))])
def test_a_packed_file_reads_as_it_would_unpacked(form, name, text, tmp_path):
    (tmp_path / name).write_text(text)
    path = tmp_path / f"{name}.{form}"
    path.write_bytes(packed(text.encode(), form))
    pd.testing.assert_frame_equal(bs.read(path), bs.read(tmp_path / name))
    assert bs.read(path).attrs["source"] == path.name
    path.write_bytes(packed(text.encode() * 50, form)[:40])
    assert f"not a .{form} file that can be read" in refused(path)
    path.write_bytes(text.encode())
    assert f"not a .{form} file that can be read" in refused(path)


def test_a_packed_file_of_another_kind(tmp_path):
    (tmp_path / "runs.xlsx.gz").write_bytes(packed(b"x", "gz"))
    assert '".xlsx.gz" files are not read' in refused(tmp_path / "runs.xlsx.gz")


def test_json_lines(tmp_path):
    (tmp_path / "runs.jsonl").write_text(LINES)
    table = bs.read(tmp_path / "runs.jsonl")
    assert table["loss"].tolist() == [4.5, 4.1]
    assert table["parameters"].tolist() == [1e6, 2e6]
    assert table["config.lr"].tolist()[1] == 0.1
    assert table["note"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"N": 1e6}\n{"N": 1e6,\n', ["runs.jsonl, line 2", "one JSON object a line"]),
        ('[1, 2]\n{"N": 1e6}\nx\n', ["2 lines cannot be used", "line 1", "line 3"]),
        ('{"N": 1e6, "D": 1e7, "loss": 4}\n\n{"N": 1e6, "D": 1e7, "loss": "x"}\n', ["line 3", '"x"']),
        ("\n \n", ["empty"]),
        ('{"N": 1e6, "D": 1e7, "loss": 4, " loss": 5}\n', ["line 1", '2 values of "loss"']),
        ('{"N": 1e6, "D": 1e7, "loss": 4, "run": "\\ud800"}\n', ["line 1", "half of a surrogate pair"]),
    ],
)
def test_json_lines_that_cannot_be_used(text, words, tmp_path):
    (tmp_path / "runs.jsonl").write_text(text)
    message = refused(tmp_path / "runs.jsonl")
    assert all(word in message for word in words), message


def test_a_line_of_json_ends_where_the_file_says(tmp_path):
    sizes = '"N": 1e6, "D": 2e7, "loss": 4.5, "run"'
    lines = f'{{{sizes}: "a\u2028b \\ud83d\\ude00"}}\r\n{{{sizes}: "c"}}\n'
    (tmp_path / "runs.jsonl").write_bytes(lines.encode())
    assert bs.read(tmp_path / "runs.jsonl")["run"].tolist() == ["a\u2028b \U0001f600", "c"]


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_files_of_a_pattern_are_one_table(tmp_path):
    (tmp_path / "a-1.csv").write_text(TEXT)
    (tmp_path / "a-2.jsonl").write_text(LINES)
    (tmp_path / "b.csv").write_text("nothing of use")
    with pytest.warns(bs.errors.TableNote, match='2 files are read as one table, with the column "file"'):
        table = bs.read(tmp_path / "a-*")
    assert table["file"].tolist() == ["a-1.csv"] * 2 + ["a-2.jsonl"] * 2
    assert table["loss"].tolist() == [4.5, 4.1] * 2
    assert table.attrs["source"] == "a-*"
    with pytest.warns(bs.errors.TableNote, match="rows left out"):
        assert len(bs.read(str(tmp_path / "a-*"), where="file == 'a-1.csv'")) == 2


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_a_fault_in_a_file_of_a_pattern_names_the_file(tmp_path):
    (tmp_path / "a-1.csv").write_text(TEXT)
    (tmp_path / "a-2.csv").write_text(TEXT.replace("4.1", "x"))
    assert 'a-*.csv, a-2.csv, line 3, column "loss": found "x"' in refused(tmp_path / "a-*.csv")
    assert "no file matches" in refused(tmp_path / "c-*.csv")
    (tmp_path / "[x].csv").write_text(TEXT)
    assert len(bs.read(tmp_path / "[x].csv")) == 2


def test_semicolons_with_decimal_commas(tmp_path):
    (tmp_path / "runs.csv").write_text("N;D;loss;note\n1e6;2e7;4,5;a, b\n2e6;4e7;4,125;\n3000000;8e7;4;c\n")
    with pytest.warns(bs.errors.TableNote, match='commas in "loss" are read as decimal commas'):
        table = bs.read(tmp_path / "runs.csv")
    assert table["loss"].tolist() == [4.5, 4.125, 4]
    assert table["note"].tolist()[0] == "a, b"
    (tmp_path / "runs.csv").write_text("N;D;loss\n1,000,000;2e7;4.5\n")
    with pytest.warns(bs.errors.TableNote, match='"N" is written with commas between thousands'):
        assert bs.read(tmp_path / "runs.csv")["parameters"].item() == 1e6


def test_every_line_of_a_wrong_length_is_told(tmp_path):
    (tmp_path / "runs.csv").write_text("N,D,loss\n1e6,2e7\n1e6,2e7,4\n1e6,2e7,4,5\n")
    message = refused(tmp_path / "runs.csv")
    assert "2 lines cannot be used: line 2: found 2 fields" in message and "line 4: found 4 fields" in message


def test_a_fault_after_a_cell_of_several_lines_is_told_by_its_line(tmp_path):
    (tmp_path / "runs.csv").write_text('N,D,loss,note\n1e6,2e7,4,"a\nb\n\nc"\n\n2e6,2e7,x,d\n')
    assert "runs.csv, line 7, column" in refused(tmp_path / "runs.csv")


def test_a_table_of_very_many_columns_is_read(tmp_path):
    names = [f"setting {i}" for i in range(20_000)]
    (tmp_path / "runs.csv").write_text(f"N,D,loss,{','.join(names)}\n1e6,2e7,4.5{',1' * len(names)}\n")
    assert bs.read(tmp_path / "runs.csv").shape == (1, 20_004)


def test_perplexity_says_which_column_it_wants(tmp_path):
    (tmp_path / "runs.csv").write_text("N,D,valid_ppl_mean\n1e6,2e7,40\n")
    message = refused(tmp_path / "runs.csv", perplexity=True)
    assert "ppl or val_ppl" in message and "--column perplexity=valid_ppl_mean" in message


@pytest.mark.parametrize("form", ["gz", "xz", "zst"])
def test_what_is_unpacked_is_bounded(form, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "MOST_UNPACKED", 2**20)
    path = tmp_path / f"runs.csv.{form}"
    path.write_bytes(packed(TEXT.encode() + b"#" * 2**20, form))
    assert path.stat().st_size < 2**12
    assert "more than 0 GiB when unpacked" in refused(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_devices_and_pipes_are_no_tables(tmp_path):
    os.mkfifo(tmp_path / "runs.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("runs.csv", "zero.csv"):
        assert "device or a pipe" in refused(tmp_path / name)
    assert "device or a pipe" in refused("/dev/null")


@pytest.mark.parametrize("version", ["earliest", "v108", "v110"])
def test_a_netcdf_file_that_is_cut_off_is_refused(version, tmp_path):
    path = tmp_path / "runs.nc"
    with h5py.File(path, "w", libver=(version, "latest" if version == "earliest" else version)) as file:
        file["loss"] = np.linspace(2, 3, 1000)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    assert "not a netCDF file that can be read (" in refused(path)
    path.write_bytes(content)
    assert "that can be read" not in refused(path)


def test_columns_of_hdf5_that_are_none_of_a_table_are_passed_over(tmp_path):
    path = tmp_path / "runs.nc"
    table = bs.load("chinchilla_runs").head()
    table.to_xarray().to_netcdf(path, engine="h5netcdf")
    with h5py.File(path, "a") as file:
        for name, form in (("pairs", [("a", "f8"), ("b", "i4")]), ("opaque", "V4")):
            file[name] = np.zeros(5, form)
            file[name].dims[0].attach_scale(file["index"])
        file["square"] = np.zeros((5, 7))
    assert list(bs.read(path)) == list(table)


def test_names_of_parquet_twice_and_text_that_is_not_utf8_are_refused(tmp_path):
    path = tmp_path / "runs.parquet"
    table = bs.load("chinchilla_runs").head()
    table.set_axis(table.index.rename("loss")).to_parquet(path)
    assert '2 columns are called "loss"' in refused(path)
    ends = pyarrow.py_buffer(np.arange(6, dtype="int32").tobytes())
    note = pyarrow.Array.from_buffers(pyarrow.string(), 5, [None, ends, pyarrow.py_buffer(b"\xff" * 5)])
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(table).append_column("note", note), path)
    assert "not a Parquet file that can be read" in refused(path)


@pytest.mark.parametrize(("size", "words"), [("5e-324", "line 2"), ("1e308", "line 2")])
def test_sizes_as_small_or_large_as_doubles_are_refused_without_a_word_of_numpy(size, words, tmp_path):
    (tmp_path / "runs.csv").write_text(f"N,D,C,loss\n{size},2e7,1e20,4.5\n2e6,4e7,1e20,4.1\n")
    with pytest.raises(bs.InputError, match=words):
        bs.read(tmp_path / "runs.csv")
