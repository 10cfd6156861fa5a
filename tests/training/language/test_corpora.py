import gzip
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training import Synthetic, open_corpus, open_documents, open_text, open_token_files
from bayescaling.training.language.corpora.token_files import mapped
from tokenizers import Tokenizer

CPU = torch.device("cpu")
ROOT = Path(__file__).resolve().parents[3]
WORDS = ["the", "model", "reads", "a", "token", "and", "says", "which", "comes", "after", "it,", "naïve", "as", "that"]


def text(seed, lines=300):
    generator = np.random.default_rng(seed)
    return "".join(" ".join(generator.choice(WORDS, 8)) + "\n" for _ in range(lines))


@pytest.fixture
def books(tmp_path):
    (tmp_path / "one.txt").write_text(text(1), encoding="utf-8")
    with gzip.open(tmp_path / "two.txt.gz", "wt", encoding="utf-8") as file:
        file.write(text(2))
    return tmp_path


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "train.bin"
    np.arange(1000, dtype="<u2").tofile(path)
    return path


def test_text_becomes_tokens_and_back(books):
    corpus = open_text(str(books / "*.txt*"), vocabulary=400, folder=books / "kept", held_out=0.1)
    assert corpus.vocabulary == 400
    tokeniser = Tokenizer.from_file(str(next((books / "kept").glob("*.json"))))
    ids = mapped(corpus.training.path).tolist()
    end = tokeniser.token_to_id("<|endoftext|>")
    assert ids.count(end) == 2 and ids[-1] == end
    assert tokeniser.decode(ids[: ids.index(end)]) == text(1)
    assert tokeniser.decode(ids[ids.index(end) + 1 : -1]) == text(2)
    assert len(ids) < len(text(1).encode()) / 2
    assert len(corpus.evaluation) == round(0.1 * len(ids)) and corpus.evaluation.start == corpus.training.stop


def test_text_is_tokenised_once(books):
    first = open_text(str(books / "one.txt"), vocabulary=400, folder=books / "kept")
    stamp = os.stat(first.training.path).st_mtime_ns
    again = open_text(str(books / "one.txt"), vocabulary=400, folder=books / "kept")
    assert again == first and os.stat(again.training.path).st_mtime_ns == stamp
    (books / "one.txt").write_text(text(3), encoding="utf-8")
    changed = open_text(str(books / "one.txt"), vocabulary=400, folder=books / "kept")
    assert changed.fingerprint != first.fingerprint


def test_windows_are_of_the_part_and_follow_the_step(tokens):
    corpus = open_token_files(tokens, vocabulary=1000, held_out=0.2)
    batch = corpus.batch(1, 2, 4000, 16, CPU)
    assert batch.shape == (4000, 17) and batch.dtype == torch.int64
    assert torch.equal(batch, batch[:, :1] + torch.arange(17))
    assert batch.min() == 0 and batch.max() == 799
    assert torch.equal(batch, corpus.batch(1, 2, 4000, 16, CPU))
    assert not torch.equal(batch, corpus.batch(1, 3, 4000, 16, CPU))
    held_out = corpus.held_out(100, 16, CPU)
    assert held_out.shape == (200 // 17, 17) and held_out.min() == 800
    assert len(held_out.unique()) == held_out.numel()
    assert corpus.held_out(3, 16, CPU).shape == (3, 17)


def test_tokens_above_32767_and_from_the_host(tmp_path, monkeypatch):
    path = tmp_path / "train.bin"
    np.arange(65000, 65536, dtype="<u2").tofile(path)
    corpus = open_token_files(path, vocabulary=65536)
    batch = corpus.batch(0, 0, 50, 4, CPU)
    assert batch.min() >= 65000 and batch.max() < 65536
    monkeypatch.setattr("bayescaling.training.language.corpora.token_files.RESIDENT", 0)
    assert torch.equal(batch, corpus.batch(0, 0, 50, 4, CPU))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_cuda_reads_the_same_windows(tokens):
    corpus = open_token_files(tokens, vocabulary=1000)
    assert torch.equal(corpus.batch(0, 5, 64, 16, CPU), corpus.batch(0, 5, 64, 16, torch.device("cuda")).cpu())


def test_two_files_as_nanogpt_has_them(tokens, tmp_path):
    np.arange(500, dtype="<u2").tofile(tmp_path / "val.bin")
    table = {"kind": "tokens", "training": "train.bin", "evaluation": "val.bin", "vocabulary": 1000}
    corpus = open_corpus(table, base=tmp_path, folder=tmp_path)
    assert (len(corpus.training), len(corpus.evaluation)) == (1000, 500)


def test_documents_of_any_kind(tmp_path):
    def documents():
        return (text(seed, lines=20) for seed in range(10))

    options = {"vocabulary": 300, "folder": tmp_path, "name": "made here", "sample": 5}
    corpus = open_documents(documents, tokens=2000, **options)
    assert len(corpus.training) + len(corpus.evaluation) == 2000
    everything = open_documents(documents, tokens=10**9, **options)
    tokeniser = Tokenizer.from_file(str(next(tmp_path.glob("*.json"))))
    assert (mapped(everything.training.path) == tokeniser.token_to_id("<|endoftext|>")).sum() == 10
    with pytest.raises(InputError, match="nothing has no documents"):
        open_documents(lambda: iter(()), vocabulary=300, folder=tmp_path, name="nothing", tokens=10)
    with pytest.raises(InputError, match="document 0 of numbers is int"):
        open_documents(lambda: iter([7]), vocabulary=300, folder=tmp_path, name="numbers", tokens=10)


def in_python(code, folder):
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)


def test_a_shadowed_library_is_named():
    code = "from bayescaling.training import hugging_face; hugging_face('json')"
    assert "finds another folder of that name" in in_python(code, ROOT).stderr.splitlines()[-1]


@pytest.mark.skipif(importlib.util.find_spec("datasets") is not None, reason="Hugging Face's datasets is here")
def test_a_missing_library_is_named(tmp_path):
    code = "from bayescaling.training import hugging_face; hugging_face('json')"
    assert "not installed" in in_python(code, tmp_path).stderr.splitlines()[-1]


def test_hugging_face_streams(tmp_path):
    if in_python("import datasets; datasets.load_dataset", tmp_path).returncode:
        pytest.skip("Hugging Face's datasets is not installed")
    (tmp_path / "lines.txt").write_text("one\ntwo\n", encoding="utf-8")
    code = "from bayescaling.training import hugging_face; print(list(hugging_face('text', files='lines.txt')()))"
    assert in_python(code, tmp_path).stdout.strip().endswith("['one', 'two']")
    wrong = "from bayescaling.training import hugging_face as h; list(h('text', files='lines.txt', column='words')())"
    assert 'no column "words"' in in_python(wrong, tmp_path).stderr.splitlines()[-1]


def test_a_package_of_another_version_is_another_corpus(tmp_path, monkeypatch):
    def installed(version, licence):
        folder = tmp_path / version
        (folder / "tales" / "more").mkdir(parents=True)
        for name in ("one.txt", "more/two.txt", "more/copy.txt"):
            (folder / "tales" / name).write_text(text(len(name) % 2), encoding="utf-8")
        (folder / f"tales-{version}.dist-info").mkdir()
        stated = f"Metadata-Version: 2.1\nName: tales\nVersion: {version}\n{licence}\n"
        (folder / f"tales-{version}.dist-info" / "METADATA").write_text(stated, encoding="utf-8")
        record = "".join(f"tales/{name},,\n" for name in ("one.txt", "more/two.txt", "more/copy.txt", "gone.txt"))
        (folder / f"tales-{version}.dist-info" / "RECORD").write_text(record, encoding="utf-8")
        monkeypatch.syspath_prepend(folder)
        table = {"kind": "package", "package": "tales", "files": "*.txt", "vocabulary": 300}
        return open_corpus(table, base=tmp_path, folder=tmp_path / "kept")

    first = installed("1.0", "License-Expression: CC0-1.0")
    second = installed("1.1", "Classifier: License :: Public Domain")
    third = installed("1.2", "License: MIT")
    fourth = installed("1.3", "Summary: Tales")
    stated = [
        "tales 1.0 (CC0-1.0) ",
        "tales 1.1 (Public Domain) ",
        "tales 1.2 (MIT) ",
        "tales 1.3 (no licence stated) ",
    ]
    for corpus, label in zip((first, second, third, fourth), stated, strict=True):
        assert corpus.fingerprint.startswith(label) and corpus.training == first.training
        assert corpus.fingerprint.removeprefix(label) == first.fingerprint.removeprefix(stated[0])
    ids = mapped(first.training.path)
    tokeniser = Tokenizer.from_file(str(next((tmp_path / "kept").glob("*.json"))))
    assert (ids == tokeniser.token_to_id("<|endoftext|>")).sum() == 2, "equal files are one document"


def write(path, data):
    path.write_bytes(data)
    return path.name


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "books"}, "kind is 'books'; input should be 'synthetic'"),
        ({"kind": "synthetic", "exponnt": 1}, 'did you mean "exponent"'),
        ({"kind": "synthetic", "exponent": "steep"}, "exponent is 'steep'; input should be a valid number"),
        ({"kind": "text", "files": "a.txt"}, "vocabulary is missing"),
        ({"kind": "text", "files": "none*.txt", "vocabulary": 300}, "no file matches"),
        ({"kind": "text", "files": "a.pdf", "vocabulary": 300}, "save it as one"),
        ({"kind": "text", "files": "latin.txt", "vocabulary": 300}, "byte 0xef is not UTF-8"),
        ({"kind": "text", "files": "broken.txt.gz", "vocabulary": 300}, "cannot be read"),
        ({"kind": "text", "files": "a.txt", "vocabulary": 100}, "input should be greater than or equal to 257"),
        ({"kind": "package", "package": "no-such-package", "vocabulary": 300}, "pip install no-such-package"),
        ({"kind": "package", "package": ["torch", ""], "vocabulary": 300}, 'package "" is not installed'),
        ({"kind": "package", "files": "*.pyx?", "vocabulary": 300}, r'torch has no file "\*.pyx\?"'),
        ({"kind": "tokens", "training": "no.bin", "vocabulary": 300}, "cannot be read"),
        ({"kind": "tokens", "training": "odd.bin", "vocabulary": 300}, "3 bytes"),
        ({"kind": "tokens", "training": "train.bin", "vocabulary": 300}, "token 999 at position 999"),
        ({"kind": "tokens", "training": "train.bin", "vocabulary": 70000}, "vocabulary is 70000"),
        ({"kind": "tokens", "training": "train.bin", "vocabulary": 1000, "held_out": 2}, "held_out is 2"),
    ],
)
def test_a_corpus_that_cannot_be_is_refused(table, message, tokens, tmp_path):
    write(tmp_path / "a.txt", b"some text")
    write(tmp_path / "a.pdf", b"%PDF")
    write(tmp_path / "latin.txt", b"na\xefve")
    write(tmp_path / "broken.txt.gz", gzip.compress(b"some text")[:-9])
    write(tmp_path / "odd.bin", b"abc")
    with pytest.raises(InputError, match=message) as caught:
        open_corpus(table, base=tmp_path, folder=tmp_path / "kept")
    assert "\n" not in str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.suffix == ".partial" or path.name.startswith("text-")]


def test_a_corpus_shorter_than_a_context_is_refused(tokens):
    corpus = open_token_files(tokens, vocabulary=1000, held_out=0.01)
    with pytest.raises(InputError, match="held-out part has 10 tokens where a context of 16 needs 17"):
        corpus.check(16)
    corpus.check(9)
    Synthetic().check(10**6)
