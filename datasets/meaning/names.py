"""Words in names of columns, and what they rule out or propose."""

import re
from dataclasses import dataclass

from ..columns import recognise

EPOCHS = {"epoch", "epochs", "passes", "repeats"}
SEEN = {"seen", "trained", "consumed", "processed"}
STEPS = {"step", "steps", "iteration", "iterations", "iter", "iters", "updates"}
NO_TRAINING = {"accumulation", "accum", "warmup", "warm", "decay", "eval", "save", "log", "logging", "every"}  # steps
RATES = {"per", "rate", "ratio", "frac", "fraction", "share", "percent", "pct", "throughput", "mfu", "lr", "sec"}
PARTS = {
    *{"wte", "wpe", "embed", "embd", "emb", "embedding", "embeddings", "embeds", "head", "unembedding", "blocks"},
    *{"block", "scalars", "scalar", "attn", "attention", "mlp", "ffn", "norm", "norms", "value", "bias", "router"},
    *{"matrices", "matrix"},
}
NEGATED = {"non", "no", "without", "excl", "excluding", "sans"}
SETTINGS = {
    *{"batch", "batches", "every", "type", "name", "path", "dir", "file", "seed", "id", "weight", "dropout", "scale"},
    *{"fn", "dtype", "std", "sd", "stderr", "se", "var", "variance", "aux", "balance", "balancing", "z", "ci"},
}
TIMES = {"hour", "hours", "day", "days", "minutes", "seconds", "s", "time"}
# Tokens of one, for examples of units.
TOKENS_OF_ONE = {
    **dict.fromkeys(["char", "chars", "characters", "byte", "bytes"], 0.25),
    "words": 1.3,
    "docs": 500.0,
    "documents": 500.0,
    "gb": 2.5e8,
    "images": 1.0,
    "steps": 5e5,
    "epochs": 1e9,
}
BITS = {"bpb": "bits-per-byte", "bpc": "bits-per-byte", "bits": "bits", "bit": "bits"}
ACCURACIES = {
    *{"acc", "accuracy", "accuracies", "score", "scores", "correct", "f1", "bleu", "chrf", "rouge", "auc", "auroc"},
    *{"em", "exact", "match", "pass", "passed", "success", "successes", "solved", "solve", "win", "reward", "recall"},
    *{"precision", "map", "ap", "iou", "miou", "ndcg", "top", "top1", "top5", "acc1", "acc5", "mmlu", "hellaswag"},
    *{"arc", "piqa", "lambada", "winogrande", "gsm8k", "humaneval"},
}
# Rates that fall as models improve: losses already.
ERRORS = {
    *{"error", "errors", "err", "wer", "cer", "eer", "failure", "failures", "failed", "fail", "miss", "misses"},
    *{"missed", "incorrect", "wrong", "mistakes", "misclassified", "misclassification", "inaccuracy"},
}
COMPLEMENT = re.compile(r"\b(?:1|100|one)[\s_]*(?:[-\u2212]|minus)[\s_]*(.+)")  # 1-acc
WHOLE = {"val", "valid", "validation", "eval", "test", "final", "total", "active"}
NOT_TRAINED_ON = {"val", "valid", "validation", "eval", "test", "context", "ctx", "vocab", "prompt"}  # tokens
OTHERS = {  # losses that are no cross entropies
    *{"mse", "rmse", "mae", "brier"},
    *{"reducible", "excess", "relative", "normalized", "normalised", "delta", "diff", "gap", "minus", "regret"},
}
FORWARD = {"forward", "fwd", "inference", "infer"}
SOUNDS = {
    "parameters": ("param", "model size", "size", "weights", "nonembed"),
    "tokens": ("token", "toks", "tok", "sample", "example", "sequences", "data size", "data", "corpus", "horizon"),
    "training_flop": ("flop", "compute", "budget"),
    "loss": ("loss", "nll", "entropy", "xent", "bpb", "bpc", "bits", "mse", "rmse", "error", "err", "accuracy", "acc"),
    "perplexity": ("ppl", "perplex"),
}


LOGARITHM = re.compile(r"(log_?10|log_?2|log|ln|lg)[ _(\[]+(.+?)[)\]]*", re.IGNORECASE)
LOG_BASES = {"log10": "10", "lg": "10", "log2": "2", "ln": "e"}


def words(name):
    """Return the words of a column's name in lower case.

    Examples
    --------
    >>> words("Params_nonEmbed (B)"), words("eval/valLoss")
    (['params', 'non', 'embed', 'b'], ['eval', 'val', 'loss'])
    """
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", str(name))
    return re.findall(
        r"[a-z0-9]+",
        text.lower()
        .replace("nonembed", "non embed")
        .replace("dataset", "data set")
        .replace("hyperparameter", "setting"),
    )


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
    parts = set(words(name))
    return bool(STEPS & parts) and not NO_TRAINING & parts and not is_rate(name) and "token" not in str(name).lower()


def counts_data(name):
    """Return whether a name is that of the size of a data set, which epochs may repeat.

    Examples
    --------
    >>> counts_data("dataset_size"), counts_data("data_size"), counts_data("tokens")
    (True, True, False)
    """
    parts = words(name)
    sizes = {"size", "tokens"} & set(parts)
    unique = {"unique", "distinct"} & set(parts) and "tokens" in parts
    named_data = "corpus" in parts or parts == ["data"] or ("data" in parts and bool(sizes))
    return bool(unique or named_data) and not SEEN & set(parts) and not is_rate(name)


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


def tokens_of_one(name):
    """Return the tokens of one of what a column counts, such as 0.25 of "characters" as an example, or None."""
    kinds = ["steps"] if counts_steps(name) else words(name)
    return None if is_rate(name) else next((TOKENS_OF_ONE[word] for word in kinds if word in TOKENS_OF_ONE), None)


def logarithm_of(name):
    """Return the base and the name of what a column is the logarithm of, or None; "" is a base that is not stated.

    Examples
    --------
    >>> logarithm_of("log10_flops"), logarithm_of("ln(N)"), logarithm_of("log_loss"), logarithm_of("logits")
    (('10', 'flops'), ('e', 'N'), ('', 'loss'), None)
    """
    match = LOGARITHM.fullmatch(str(name).strip())
    return (LOG_BASES.get(match[1].lower().replace("_", ""), ""), match[2]) if match else None


def is_accuracy(name):
    """Return whether a name is that of a score that rises as models improve.

    Examples
    --------
    >>> is_accuracy("top1_acc"), is_accuracy("pass@1"), is_accuracy("top1_error"), is_accuracy("1-acc")
    (True, True, False, False)
    """
    return bool(ACCURACIES & set(words(name))) and not is_error(name) and not _is_error_bar(name)


def is_error(name):
    """Return whether a name is that of a rate of errors, or of 1 minus an accuracy.

    Examples
    --------
    >>> is_error("top5_err (%)"), is_error("miss_rate"), is_error("100 - accuracy"), is_error("1-shot acc")
    (True, True, True, False)
    """
    whole = COMPLEMENT.match(str(name).lower())
    of_errors = ERRORS & set(words(name)) and not _is_error_bar(name)
    return bool(of_errors or (whole and ACCURACIES & set(words(whole[1])[:1])))


def _is_error_bar(name):
    """Return whether a name is that of the error of an accuracy, such as acc_err."""
    return bool({"error", "err"} & set(words(name)) and {"acc", "accuracy", "score"} & set(words(name)))


def is_other_loss(name):
    """Return whether a name is that of a loss that is no cross entropy, such as a mean squared error."""
    return bool(OTHERS & set(words(name))) or is_error(name)


def sounds_like(canonical, name):
    """Return how near a name is to a role, 0 where it may not be proposed.

    Examples
    --------
    >>> sounds_like("tokens", "tokens_per_step"), sounds_like("tokens", "n_tokens_raw"), sounds_like("loss", "train.lr")
    (0, 10, 0)
    """
    parts = words(name)
    text = " ".join(parts)
    if (
        (is_rate(name) and canonical != "loss")
        or SETTINGS & set(parts)
        or _is_error_bar(name)
        or logarithm_of(name)
        or (canonical == "parameters" and is_part(name))
        or (canonical == "training_flop" and TIMES & set(parts))
        or (canonical == "tokens" and NOT_TRAINED_ON & set(parts))
    ):
        return 0
    if canonical == "parameters" and parts == ["model"]:
        return 1
    sounds = SOUNDS[canonical]
    places = [place for place, sound in enumerate(sounds) if sound in (parts if len(sound) < 4 else text)]
    whole = 3 if WHOLE & set(parts) else 0
    if canonical == "loss" and "train" in parts:
        return int(bool(places) and not is_rate(name))
    return len(sounds) - places[0] + whole if places else 0


@dataclass(frozen=True)
class Product:
    """A total that is the product of columns that fulfil conditions, `optional` ones if there are, and of a constant.

    No column has the constant; `unknown` describes it.
    """

    of: str
    factors: tuple
    optional: tuple = ()
    constant: float = 1
    unknown: str = ""


def _with(*needed, without=()):
    def holds(name):
        parts = set(words(name))
        return all(parts & set(choices) for choices in needed) and not parts & set(without)

    return holds


def _is(canonical):
    return lambda name: recognise(name) == canonical


_STEPS = counts_steps
_BATCH = _with({"batch", "bs", "batchsize", "bsz"}, without={"tokens", "token", "per", "micro"})
_BATCH_TOKENS = _with({"batch"}, {"tokens", "token"})
_BATCH_OF_DEVICE = _with({"batch", "bs", "bsz"}, {"per", "micro"}, without={"tokens", "token"})
_ACCUMULATED = _with({"accum", "accumulation"})
_DEVICES = _with({"devices", "gpus", "workers", "ngpus", "world"}, without={"hours", "hour", "days"})
_LENGTH = _with(
    {"seq", "sequence", "context", "ctx", "block", "seqlen"}, without={"per", "tokens", "token", "sequences"}
)
_SAMPLES = _with({"samples", "examples", "sequences"}, without={"per", "eval", "val", "test"})
_TOKENS_A_STEP = _with({"tokens", "token"}, {"per"}, {"step", "iteration", "iter", "update", "batch"})
_TOKENS_AN_EPOCH = _with({"tokens", "token"}, {"per"}, {"epoch"})
_TOKENS_A_PARAMETER = _with({"tokens", "token", "tpp"}, {"param", "params", "parameter", "tpp"})
_FLOP_A_STEP = _with({"flops", "flop"}, {"per"}, {"step", "iteration", "iter", "update"})
_FLOP_A_TOKEN = _with({"flops", "flop"}, {"per"}, {"token"})
_MULTIPLE = _with({"chinchilla"}, {"multiple", "multiplier", "ratio", "x", "factor"})
_HOURS = _with({"gpu", "tpu", "gpus", "h100", "a100", "v100", "device"}, {"hours", "hour"})
_DAYS = _with({"gpu", "tpu", "gpus", "h100", "a100", "v100", "device"}, {"days", "day"})
_CONTEXT = "the context length"
_SPEED = "{} x the FLOP/s that one device reaches"

PRODUCTS = (
    Product("tokens", (_STEPS, _TOKENS_A_STEP)),
    Product("tokens", (_STEPS, _BATCH_TOKENS)),
    Product("tokens", (_STEPS, _BATCH, _LENGTH)),
    Product("tokens", (_STEPS, _BATCH_OF_DEVICE, _ACCUMULATED, _DEVICES, _LENGTH), (_ACCUMULATED, _DEVICES)),
    Product("tokens", (_SAMPLES, _LENGTH)),
    Product("tokens", (counts_data, counts_epochs)),
    Product("tokens", (counts_epochs, _TOKENS_AN_EPOCH)),
    Product("tokens", (_is("parameters"), _TOKENS_A_PARAMETER)),
    Product("tokens", (_is("parameters"), lambda name: str(name).replace(" ", "").lower() in ("d/n", "tok/param"))),
    Product("tokens", (_is("parameters"), _MULTIPLE), constant=20, unknown="the tokens a parameter of one"),
    Product("tokens", (_STEPS, _BATCH), constant=1024, unknown=_CONTEXT),
    Product("training_flop", (_STEPS, _FLOP_A_STEP)),
    Product("training_flop", (_is("tokens"), _FLOP_A_TOKEN)),
    Product("training_flop", (_HOURS,), constant=1.44e18, unknown=_SPEED.format(3600)),
    Product("training_flop", (_DAYS,), constant=3.46e19, unknown=_SPEED.format(86400)),
)


def product(canonical, headers):
    """Return the expression of a total as a product of columns, or None.

    Examples
    --------
    >>> product("tokens", ["params", "steps", "batch_size", "seq_len"])
    'steps*batch_size*seq_len'
    """
    return product_and_unknown(canonical, headers)[0]


def product_and_unknown(canonical, headers):
    """Return the expression of a total, or None, and what the user must put in place of a number in it, or ""."""
    for rule in PRODUCTS:
        if rule.of == canonical:
            factors = [(next((name for name in headers if holds(name)), None), holds) for holds in rule.factors]
            factors = [name for name, holds in factors if name is not None or holds not in rule.optional]
            if None not in factors and len(set(factors)) == len(factors):
                names = [named(name) for name in factors] + (
                    [f"{rule.constant:.4g}".replace("e+", "e")] if rule.unknown else []
                )
                unknown = f"with {rule.unknown} in place of {names[-1]}" if rule.unknown else ""
                return "*".join(names), unknown
    return None, ""


def named(name):
    """Return a column's name as an expression holds it: between backticks unless it is an identifier."""
    return str(name) if str(name).isidentifier() else f"`{name}`"
