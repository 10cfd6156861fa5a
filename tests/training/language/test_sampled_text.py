import pytest
import torch
from bayescaling.errors import InputError
from bayescaling.training import Configuration, Decoder, make_sweep, sample_text, train
from safetensors.torch import load_file

TABLES = {
    "corpus": {"kind": "synthetic", "vocabulary": 16},
    "model": {"sizes": [[4, 1], [8, 1]], "heads": 2, "context": 4},
    "training": {"updates": 20, "batch_tokens": 64, "evaluations": 1, "evaluation_tokens": 64, "keep": "weights"},
    "stages": [{"name": "only", "learning_rates": [0.03]}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("sampled")
    train(make_sweep(TABLES), path, device="cpu", progress=False)
    return path


def test_without_temperature_the_likeliest_token_follows(folder):
    table = sample_text(folder, prompt="3 7", tokens=6, temperature=0.0, device="cpu")
    assert table["d_model"].tolist() in ([4, 8], [8, 4])
    for row in table.itertuples():
        model = Decoder(Configuration(row.d_model, 1, vocabulary=16, context=4, heads=2), 1)
        model.load_state_dict(load_file(folder / "weights" / f"{row.run}.safetensors"))
        ids = [int(word) for word in row.text.split()]
        assert ids[:2] == [3, 7] and len(ids) == 8
        for i in range(2, 8):
            states = model(torch.tensor([ids[max(0, i - 4) : i]]))
            assert ids[i] == int((states[0, -1] @ model.unembedding.T).argmax())


def test_draws_have_the_models_chances(folder):
    run = sample_text(folder, prompt="3", tokens=1, device="cpu")["run"][0]
    drawn = [sample_text(folder, prompt="3", tokens=1, seed=seed, device="cpu") for seed in range(300)]
    counts = torch.bincount(torch.tensor([int(table["text"][0].split()[1]) for table in drawn]), minlength=16)
    model = Decoder(Configuration(int(drawn[0]["d_model"][0]), 1, vocabulary=16, context=4, heads=2), 1)
    model.load_state_dict(load_file(folder / "weights" / f"{run}.safetensors"))
    chances = torch.softmax(model(torch.tensor([[3]]))[0, -1] @ model.unembedding.T, 0).detach()
    expected = 300 * chances
    assert ((counts - expected) ** 2 / expected).sum() < 45  # of 15 degrees of freedom, p about 1e-4


def test_text_is_written_with_the_tokeniser_of_the_sweep(tmp_path):
    (tmp_path / "book.txt").write_text("the cat sat on the mat. " * 200, encoding="utf-8")
    text = {"kind": "text", "files": "book.txt", "vocabulary": 300}
    training = TABLES["training"] | {"updates": 150}
    model = {"sizes": [[16, 1]], "heads": 2, "context": 4}
    sweep = TABLES | {"corpus": text, "training": training, "model": model}
    train(make_sweep(sweep, base=tmp_path, folder=tmp_path / "corpus"), tmp_path, device="cpu", progress=False)
    (written,) = sample_text(tmp_path, prompt="the cat", tokens=12, temperature=0.0, device="cpu")["text"]
    assert written.startswith("the cat sat on the mat. the cat sat")
    tokeniser = next((tmp_path / "corpus").glob("*.json"))
    assert sample_text(tmp_path, prompt="the", tokens=2, tokeniser=tokeniser, device="cpu")["text"][0][:3] == "the"
    with pytest.raises(InputError, match=r"book\.txt: this is no tokeniser"):
        sample_text(tmp_path, tokeniser=tmp_path / "book.txt", device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": "the"}, 'prompt is "the"; without a tokeniser, give numbers of tokens below 16'),
        ({"prompt": "16"}, "below 16"),
        ({"tokens": 0}, "tokens is 0"),
        ({"temperature": -1.0}, "temperature -1"),
        ({"temperature": float("nan")}, "temperature nan"),
    ],
)
def test_what_cannot_be_continued_is_refused(options, message, folder):
    with pytest.raises(InputError, match=message):
        sample_text(folder, device="cpu", **options)


def test_a_sweep_without_weights_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no weights"):
        sample_text(tmp_path, device="cpu")
