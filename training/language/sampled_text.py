"""Text that the models of a sweep write, of which the weights are saved."""

import os
from pathlib import Path

import pandas as pd
import torch

from ...datasets.wording import printable, quoted, shortened
from ...errors import InputError
from ..engine.checkpoints import list_weights, restored
from ..engine.hardware import choose_device
from .corpora.text import END_OF_TEXT
from .transformer import Configuration, Decoder


def sample_text(folder, *, prompt="", tokens=50, temperature=1.0, seed=0, tokeniser=None, device=None):
    """Let every model whose weights are in ``FOLDER/weights`` continue a prompt.

    The result is a DataFrame with the columns run, parameters, d_model, layers and text. `InputError` is raised if
    there are no weights, or the prompt or an option cannot be used.

    Parameters
    ----------
    folder : path
        Folder of a sweep with ``keep = "weights"``.
    prompt : str
        Text to continue, by default the end of a document. Without a tokeniser, numbers of tokens, by default 0.
    tokens : int
        Number of tokens to write.
    temperature : float
        By which logits are divided; 0 takes the likeliest token.
    seed : int
    tokeniser : path, optional
        A tokenizers file, by default the one that the sweep made of its text. Without one, tokens are written as
        numbers.
    device : str, optional

    Examples
    --------
    >>> import tempfile
    >>> from bayescaling.training import make_sweep, sample_text, train
    >>> tables = {
    ...     "corpus": {"kind": "synthetic", "vocabulary": 16},
    ...     "model": {"sizes": [[4, 1]], "heads": 2, "context": 8},
    ...     "training": {"updates": 2, "batch_tokens": 64, "evaluations": 1, "keep": "weights"},
    ...     "stages": [{"name": "only", "learning_rates": [0.01]}],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = train(make_sweep(tables), folder, device="cpu", progress=False)
    ...     table = sample_text(folder, prompt="3 7", tokens=4, device="cpu")
    >>> [len(text.split()) for text in table["text"]]
    [6]
    """
    device, folder = choose_device(device), Path(os.path.expanduser(folder))
    if tokens < 1 or not temperature >= 0:
        raise InputError(f"tokens is {tokens}, temperature {temperature:g}; give at least 1 and at least 0")
    paths, text = list_weights(folder), _tokeniser(folder, tokeniser)
    rows = []
    for path in paths:
        model, _ = restored(path, lambda settings: Decoder(Configuration(**settings["model"]), 0))
        shape = model.configuration
        size = shape.vocabulary if text is None else min(shape.vocabulary, text.get_vocab_size())
        ids = _continue(model.to(device), _ids(prompt, text, size), tokens, size, temperature, seed)
        written = " ".join(map(str, ids)) if text is None else text.decode(ids, skip_special_tokens=False)
        rows.append((path.stem, shape.parameters, shape.d_model, shape.layers, written))
    return pd.DataFrame(rows, columns=["run", "parameters", "d_model", "layers", "text"])


def _tokeniser(folder, path):
    paths = sorted((folder / "corpus").glob("*.json")) if path is None else [path]
    if len(paths) > 1:
        raise InputError(f"{printable(folder / 'corpus')}: there are several tokenisers; name the one to use")
    if not paths:
        return None
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(paths[0]))
    except Exception as error:  # the library raises no other
        raise InputError(f"{printable(paths[0])}: this is no tokeniser ({shortened(error)}); give its file") from error


def _ids(prompt, text, size):
    if text is not None:
        return text.encode(prompt).ids or [text.token_to_id(END_OF_TEXT) or 0]
    try:
        ids = [int(word) for word in prompt.split()] or [0]
    except ValueError:
        ids = [-1]
    if not all(0 <= one < size for one in ids):
        raise InputError(f"prompt is {quoted(prompt)}; without a tokeniser, give numbers of tokens below {size}")
    return ids


def _continue(model, ids, tokens, size, temperature, seed):
    context, matrix = model.configuration.context, model.unembedding
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _ in range(tokens):
            window = torch.tensor([ids[-context:]], device=matrix.device)
            logits = (model(window)[0, -1] @ matrix[:size].T).double().cpu()
            chances = torch.softmax(logits / temperature, 0) if temperature else (logits == logits.max()).double()
            ids = [*ids, int(torch.multinomial(chances, 1, generator=generator))]
    return ids
