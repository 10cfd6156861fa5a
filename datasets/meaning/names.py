"""Words in names of columns, and what they rule out or propose."""

import re
from dataclasses import dataclass

EPOCHS = {"epoch", "epochs", "passes", "repeats"}
SEEN = {"seen", "trained", "consumed", "processed"}
STEPS = {"step", "steps", "iteration", "iterations", "iter", "iters", "updates"}
RATES = {"per", "rate", "ratio", "frac", "fraction", "share", "percent", "pct", "throughput", "mfu", "lr", "sec"}
PARTS = {
    *{"wte", "wpe", "embed", "embd", "emb", "embedding", "embeddings", "embeds", "head", "unembedding", "blocks"},
    *{"block", "scalars", "scalar", "attn", "attention", "mlp", "ffn", "norm", "norms", "value", "bias", "router"},
    *{"matrices", "matrix"},
}
NEGATED = {"non", "no", "without", "excl", "excluding", "sans"}
SETTINGS = {
    *{"batch", "batches", "every", "type", "name", "path", "dir", "file", "seed", "id", "weight", "dropout", "scale"},
    *{"fn", "dtype"},
}
BITS = {"bpb": "bits-per-byte", "bpc": "bits-per-byte", "bits": "bits", "bit": "bits"}
ACCURACIES = {"acc", "accuracy", "accuracies", "score", "correct", "f1", "bleu", "rouge", "auc", "em", "reward"}
WHOLE = {"val", "valid", "validation", "eval", "test", "final", "total", "active"}
NOT_TRAINED_ON = {"val", "valid", "validation", "eval", "test", "context", "ctx", "vocab", "prompt"}  # tokens
OTHERS = {"mse", "rmse", "mae", "wer", "cer", "error", "err", "errors", "brier"}  # losses that are no cross entropies
FORWARD = {"forward", "fwd", "inference", "infer"}
SOUNDS = {
    "parameters": ("param", "model size", "size", "weights", "nonembed"),
    "tokens": ("token", "sample", "example", "sequences", "data size", "dataset"),
    "training_flop": ("flop", "compute", "budget"),
    "loss": ("loss", "nll", "entropy", "xent", "bpb", "bpc", "bits", "mse", "rmse", "error", "err", "accuracy", "acc"),
    "perplexity": ("ppl", "perplex"),
}


def words(name):
    """Return the words of a column's name in lower case.

    Examples
    --------
    >>> words("Params_nonEmbed (B)"), words("eval/valLoss")
    (['params', 'non', 'embed', 'b'], ['eval', 'val', 'loss'])
    """
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", str(name))
    return re.findall(r"[a-z0-9]+", text.lower().replace("nonembed", "non embed").replace("dataset", "data set"))


def is_rate(name):
    """Return whether a name is that of a rate, a share or a ratio.

    Examples
    --------
    >>> is_rate("tokens_per_second"), is_rate("target_param_data_ratio"), is_rate("throughput/total_tokens")
    (True, True, False)
    """
    rates = RATES & set(words(name))
    # Some trainers log totals under the heading of throughput.
    return bool(rates - ({"throughput"} if "total" in words(name) else set())) or "%" in str(name)


def is_part(name):
    """Return whether a name is that of some of the parameters, such as those of embeddings.

    Examples
    --------
    >>> is_part("params_wte"), is_part("n_params_non_embed"), is_part("params_all")
    (True, False, False)
    """
    parts = words(name)
    return bool(PARTS & set(parts)) and not NEGATED & set(parts)


def is_whole_count(name):
    """Return whether a name is that of all parameters of a model, those of every expert included.

    Examples
    --------
    >>> is_whole_count("total_parameter_count"), is_whole_count("active_params"), is_whole_count("total_tokens")
    (True, False, False)
    """
    parts = set(words(name))
    counts = any(word.startswith("param") for word in parts)
    return counts and bool({"total", "all", "totalparams"} & parts) and not is_rate(name)


def counts_steps(name):
    """Return whether a name is that of a number of steps.

    Examples
    --------
    >>> counts_steps("train_steps"), counts_steps("iterations"), counts_steps("tokens_per_step")
    (True, True, False)
    """
    return bool(STEPS & set(words(name))) and not is_rate(name) and "token" not in str(name).lower()


def counts_data(name):
    """Return whether a name is that of the size of a data set, which epochs may repeat.

    Examples
    --------
    >>> counts_data("dataset_size"), counts_data("data_size"), counts_data("tokens")
    (True, True, False)
    """
    parts = words(name)
    sizes = {"size", "tokens"} & set(parts)
    return ("corpus" in parts or ("data" in parts and bool(sizes))) and not SEEN & set(parts)


def counts_epochs(name):
    """Return whether a name is that of a number of passes over the data."""
    return bool(EPOCHS & set(words(name))) and not is_rate(name)


def bits_of(name):
    """Return the unit of a loss in bits that a name holds, or None.

    Examples
    --------
    >>> bits_of("val_bpb"), bits_of("loss_bits"), bits_of("val_loss")
    ('bits-per-byte', 'bits', None)
    """
    spaced = re.sub(r"bits?[ _/-]*(?:per)?[ _/-]*(?:byte|char(?:acter)?)", "bpb", str(name).lower())
    return next((BITS[word] for word in words(spaced) if word in BITS), None)


def is_accuracy(name):
    """Return whether a name is that of a score that rises as models improve."""
    return bool(ACCURACIES & set(words(name)))


def is_other_loss(name):
    """Return whether a name is that of a loss that is no cross entropy, such as a mean squared error."""
    return bool(OTHERS & set(words(name)))


def sounds_like(canonical, name):
    """Return how near a name is to a role, 0 where it may not be proposed.

    Examples
    --------
    >>> sounds_like("tokens", "tokens_per_step"), sounds_like("tokens", "n_tokens_raw"), sounds_like("loss", "train.lr")
    (0, 6, 0)
    """
    parts = words(name)
    text = " ".join(parts)
    if (
        (is_rate(name) and canonical != "loss")
        or SETTINGS & set(parts)
        or (canonical == "parameters" and is_part(name))
        or (canonical == "tokens" and NOT_TRAINED_ON & set(parts))
    ):
        return 0
    if canonical == "loss" and "train" in parts:
        return int(not is_rate(name) and not counts_steps(name))
    sounds = SOUNDS[canonical]
    places = [place for place, sound in enumerate(sounds) if sound in (parts if len(sound) < 4 else text)]
    whole = 3 if WHOLE & set(parts) else 0
    return len(sounds) - places[0] + whole if places else 0


@dataclass(frozen=True)
class Product:
    """A total that is the product of other columns, which are recognised by words of their names.

    Parameters
    ----------
    of : str
        Canonical name of the total.
    factors : tuple
        Conditions that a name of each factor fulfils.
    """

    of: str
    factors: tuple


def _with(*needed, without=()):
    def holds(name):
        parts = set(words(name))
        return all(parts & set(choices) for choices in needed) and not parts & set(without)

    return holds


_STEPS = counts_steps
_BATCH = _with({"batch", "bs", "batchsize"}, without={"tokens", "token", "per", "micro"})
_BATCH_TOKENS = _with({"batch"}, {"tokens", "token"})
_LENGTH = _with({"seq", "sequence", "context", "ctx", "block", "seqlen"}, without={"per", "tokens", "token"})
_TOKENS_A_STEP = _with({"tokens", "token"}, {"per"}, {"step", "iteration", "iter", "update"})
_FLOP_A_STEP = _with({"flops", "flop"}, {"per"}, {"step", "iteration", "iter", "update"})

PRODUCTS = (
    Product("tokens", (_STEPS, _TOKENS_A_STEP)),
    Product("tokens", (_STEPS, _BATCH_TOKENS)),
    Product("tokens", (_STEPS, _BATCH, _LENGTH)),
    Product("tokens", (counts_data, counts_epochs)),
    Product("training_flop", (_STEPS, _FLOP_A_STEP)),
)


def product(canonical, headers):
    """Return the expression of a total as a product of columns, or None.

    Examples
    --------
    >>> product("tokens", ["params", "steps", "batch_size", "seq_len"])
    'steps*batch_size*seq_len'
    """
    for rule in PRODUCTS:
        if rule.of == canonical:
            factors = [next((name for name in headers if holds(name)), None) for holds in rule.factors]
            if None not in factors and len(set(factors)) == len(factors):
                return "*".join(named(name) for name in factors)
    return None


def named(name):
    """Return a column's name as an expression holds it: between backticks unless it is an identifier."""
    return str(name) if str(name).isidentifier() else f"`{name}`"
