"""Words in names of columns: one table of what a name means, and one of the products that a total may be."""

import re
from functools import lru_cache

from ..columns import recognise, recognise_later

ACCURACIES = (
    "acc accuracy accuracies score scores correct f1 bleu chrf rouge auc auroc em exact match pass passed success "
    "successes solved solve win reward recall precision map ap iou miou ndcg top top1 top5 acc1 acc5 mmlu hellaswag "
    "arc piqa lambada winogrande gsm8k humaneval"
)
SEEN = "seen trained consumed processed"
FEW_OF_A_STEP = "step iteration iter update batch"
DEVICES = "gpu tpu gpus h100 a100 v100 device"
COMPLEMENT = rf"(?:1|100|one)[\W_]*(?:[-\u2212]|minus)[\W_]*(?:{ACCURACIES.replace(' ', '|')})(?![a-z0-9])"
# What a name means, by the words that it has and those that it has not. It has one word of each group between "+", or
# fits another way after "|"; "=a b" is a name of these words alone, and <meaning> stands for the names of that meaning.
MEANINGS = {
    "rate": ("per rate ratio frac fraction share percent pct mfu lr sec % <speed>", ""),
    "speed": ("throughput", "total"),  # some trainers log totals under this heading
    "part": ("wte wpe embed embd emb embedding embeddings embeds head unembedding blocks block scalars scalar attn mlp "
             "attention ffn norm norms value bias router matrices matrix", "non no without excl excluding sans"),
    "whole count": ("param params parameter parameters paramcount parametercount + total all totalparams", "<rate>"),
    "steps": ("step steps iteration iterations iter iters updates",
              "accumulation accum warmup warm decay eval save log logging every token tokens <rate>"),
    "epochs": ("epoch epochs passes repeats", "<rate>"),
    "data": ("unique distinct + tokens | corpus | =data | data + size tokens", f"{SEEN} <rate>"),
    "seen": (SEEN, ""),
    "forward": ("forward fwd inference infer", ""),
    "samples": ("sample samples example examples sequences", ""),
    "accuracy": (ACCURACIES, "<error> <error bar>"),
    "error": ("<complement> <failures>", ""),
    "error bar": ("error err + acc accuracy score", ""),  # of an accuracy
    "failures": ("error errors err wer cer eer failure failures failed fail miss misses missed incorrect wrong "
                 "mistakes misclassified misclassification inaccuracy", "<error bar>"),
    "complement": (re.compile(COMPLEMENT), ""),
    "other loss": ("mse rmse mae brier reducible excess relative normalized normalised delta diff gap minus regret "
                   "<error>", ""),  # no cross entropy
    "likelihood": ("ppl perplexity likelihood prob probability", ""),  # whose logarithm is a loss
    "clock": ("step iter iteration checkpoint ckpt time timestamp elapsed wall",
              "train training total gpu max num per"),  # rises during a run
    "run": ("run runs trial job uid runid runname", ""),
    "name": ("name model exp experiment id config label file filename <run>", ""),  # may be that of a run
    "setting": ("batch batches every type name path dir file seed id weight dropout scale fn dtype std sd stderr se "
                "var variance aux balance balancing z ci", ""),
    "time": ("hour hours day days minutes seconds s time", ""),
    "not trained on": ("val valid validation eval test context ctx vocab prompt", ""),  # tokens
    "whole": ("val valid validation eval test final total active", ""),
    # Factors of a product.
    "batch": ("batch bs batchsize bsz", "tokens token per micro"),
    "batch of tokens": ("batch + tokens token", ""),
    "batch of a device": ("batch bs bsz + per micro", "tokens token"),
    "accumulation": ("accum accumulation", ""),
    "devices": ("devices gpus workers ngpus world", "hours hour days"),
    "layers": ("layer layers depth blocks nlayer nlayers", "per batch norm"),
    "length": ("seq sequence context ctx block seqlen", "per tokens token sequences"),
    "number of samples": ("samples examples sequences", "per eval val test"),
    "tokens a step": (f"tokens token + per + {FEW_OF_A_STEP}", ""),
    "tokens an epoch": ("tokens token + per + epoch", ""),
    "tokens per parameter": ("tokens token tpp + param params parameter tpp | =d n | =tok param", ""),
    "FLOP a step": (f"flops flop + per + {FEW_OF_A_STEP}", ""),
    "FLOP a token": ("flops flop + per + token", ""),
    "multiple of Chinchilla": ("chinchilla + multiple multiplier ratio x factor", ""),
    "hours": (f"{DEVICES} + hours hour", ""),
    "days": (f"{DEVICES} + days day", ""),
}  # fmt: skip
# Totals that are products of columns of a meaning or a role, those with "?" if there are such, and of a constant that
# no column has, with what it is.
SPEED = "{} x the FLOP/s that one device reaches"
PRODUCTS = (
    ("tokens", ("steps", "tokens a step")),
    ("tokens", ("steps", "batch of tokens")),
    ("tokens", ("steps", "batch", "length")),
    ("tokens", ("steps", "batch of a device", "accumulation?", "devices?", "length")),
    ("tokens", ("number of samples", "length")),
    ("tokens", ("data", "epochs")),
    ("tokens", ("epochs", "tokens an epoch")),
    ("tokens", ("parameters", "tokens per parameter")),
    ("tokens", ("parameters", "multiple of Chinchilla"), "20", "the tokens per parameter of one"),
    ("tokens", ("steps", "batch"), "1024", "the context length"),
    ("training_flop", ("steps", "FLOP a step")),
    ("training_flop", ("tokens", "FLOP a token")),
    ("training_flop", ("hours",), "1.44e18", SPEED.format(3600)),
    ("training_flop", ("days",), "3.46e19", SPEED.format(86400)),
)
TOKENS_OF_ONE = {"words": 1.3, "docs": 500.0, "documents": 500.0, "gb": 2.5e8, "images": 1.0, "steps": 5e5,
                 "epochs": 1e9} | dict.fromkeys(["char", "chars", "characters", "byte", "bytes"], 0.25)  # fmt: skip
BITS = {"bpb": "bits-per-byte", "bpc": "bits-per-byte", "bits": "bits", "bit": "bits"}
A_BYTE = re.compile(r"bits?[ _/-]*(?:per)?[ _/-]*(?:byte|char(?:acter)?)")
LOGARITHM = re.compile(r"(log_?10|log_?2|log|ln|lg)[ _(\[]+(.+?)[)\]]*", re.IGNORECASE)
LOG_BASES = {"log10": "10", "lg": "10", "log2": "2", "ln": "e"}
# Words of what is better where it is lower, and where it is higher, in the order in which they are preferred.
FALLING = str.split("loss lossu nll xent ce bpb perplexity ppl error err wer cer mse rmse mae mape regret fid")
RISING = str.split(
    "elo rating accuracy acc success score reward return pass auc f1 bleu r2 pearson spearman correlation"
)
RISING += str.split("iou psnr recall precision performance fitness")
SOUNDS = {  # of a role, the nearest first; one of fewer than four letters is a whole word
    "parameters": ("param", "model size", "size", "weights", "nonembed"),
    "tokens": ("token", "toks", "tok", "sample", "example", "sequences", "data size", "data", "corpus", "horizon"),
    "training_flop": ("flop", "compute", "budget"),
    "loss": ("loss", "nll", "entropy", "xent", "bpb", "bpc", "bits", "mse", "rmse", "error", "err", "accuracy", "acc"),
    "perplexity": ("ppl", "perplex"),
}
UNLIKE = {  # meanings of names that are never proposed for a role
    "parameters": ("rate", "part"),
    "tokens": ("rate", "not trained on"),
    "training_flop": ("rate", "time"),
    "loss": (),
    "perplexity": ("rate",),
}


def words(name):
    """Return the words of a column's name in lower case.

    Examples
    --------
    >>> words("Params_nonEmbed (B)"), words("eval/valLoss")
    (['params', 'non', 'embed', 'b'], ['eval', 'val', 'loss'])
    """
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", str(name)).lower()
    for word, separate in (("nonembed", "non embed"), ("dataset", "data set"), ("hyperparameter", "setting")):
        text = text.replace(word, separate)
    return re.findall(r"[a-z0-9]+", text)


def is_called(name, called):
    """Return whether a name has one of some words, or the plural of one.

    Examples
    --------
    >>> is_called("val/Losses", ["loss"]), is_called("lossy", ["loss"])
    (True, False)
    """
    return any({part, part.removesuffix("s"), part.removesuffix("es")} & {*called} for part in words(name))


def means(name, *meanings):
    """Return whether the words of a column's name have one of some meanings of `MEANINGS`.

    Examples
    --------
    >>> [means(name, "rate") for name in ("tokens_per_second", "data_ratio", "throughput/total_tokens")]
    [True, True, False]
    >>> means("params_wte", "part"), means("n_params_non_embed", "part"), means("total_tokens", "whole count")
    (True, False, False)
    >>> [means(name, "steps") for name in ("train_steps", "iterations", "tokens_per_step")]
    [True, True, False]
    >>> [means(name, "data") for name in ("dataset_size", "data_size", "tokens")]
    [True, True, False]
    >>> [means(name, "accuracy") for name in ("top1_acc", "pass@1", "top1_error", "1-acc")]
    [True, True, False, False]
    >>> [means(name, "error") for name in ("top5_err (%)", "miss_rate", "100 - accuracy", "1-shot acc")]
    [True, True, True, False]
    """
    return any(_has_meaning(str(name), meaning) for meaning in meanings)


@lru_cache(10_000)
def _has_meaning(name, meaning):
    ways, without = MEANINGS[meaning]
    if isinstance(ways, re.Pattern):
        return bool(ways.match(name.lower()))
    parts = words(name) + ["%"] * ("%" in name)

    def has_one(group):
        return bool({*group.split()} & {*parts}) or means(name, *re.findall("<(.+?)>", group))

    def fits(way):
        return parts == way[1:].split() if way.startswith("=") else all(map(has_one, way.split("+")))

    return any(fits(way.strip()) for way in ways.split("|")) and not has_one(without)


def bits_of(name):
    """Return the unit of a loss in bits that a name holds, or None.

    Examples
    --------
    >>> bits_of("val_bpb"), bits_of("loss_bits"), bits_of("val_loss")
    ('bits-per-byte', 'bits', None)
    """
    return next((BITS[word] for word in words(A_BYTE.sub("bpb", str(name).lower())) if word in BITS), None)


def tokens_of_one(name):
    """Return the tokens of one of what a column counts, such as 0.25 of "characters" as an example, or None."""
    kinds = ["steps"] if means(name, "steps") else [] if means(name, "rate") else words(name)
    return next((TOKENS_OF_ONE[word] for word in kinds if word in TOKENS_OF_ONE), None)


def logarithm_of(name):
    """Return the base and the name of what a column is the logarithm of, or None; "" is a base that is not stated.

    Examples
    --------
    >>> logarithm_of("log10_flops"), logarithm_of("ln(N)"), logarithm_of("ln_loss"), logarithm_of("log_loss")
    (('10', 'flops'), ('e', 'N'), ('e', 'loss'), None)
    """
    match = LOGARITHM.fullmatch(str(name).strip())
    if match and re.fullmatch("log[_ ]?loss", match[0], re.IGNORECASE):
        return None  # a cross entropy, as scikit-learn calls it
    return (LOG_BASES.get(match[1].lower().replace("_", ""), ""), match[2]) if match else None


def sounds_like(canonical, name):
    """Return how near a name is to a role, 0 where it may not be proposed.

    Examples
    --------
    >>> sounds_like("tokens", "tokens_per_step"), sounds_like("tokens", "n_tokens_raw"), sounds_like("loss", "train.lr")
    (0, 10, 0)
    """
    parts, sounds = words(name), SOUNDS[canonical]
    if means(name, "setting", "error bar", *UNLIKE[canonical]) or logarithm_of(name):
        return 0
    if canonical == "parameters" and parts == ["model"]:
        return 1
    places = [place for place, sound in enumerate(sounds) if sound in (parts if len(sound) < 4 else " ".join(parts))]
    if canonical == "loss" and "train" in parts:
        return int(bool(places) and not means(name, "rate"))
    return len(sounds) - places[0] + 3 * means(name, "whole") if places else 0


def write_product(canonical, headers):
    """Return the expression of a total, or None, and what the user must put in place of a number in it, or "".

    Examples
    --------
    >>> write_product("tokens", ["params", "steps", "batch_size", "seq_len"])
    ('steps*batch_size*seq_len', '')
    """
    for factors, *constant in [product for total, *product in PRODUCTS if total == canonical]:
        found = {x: next((name for name in headers if _plays(name, x.rstrip("?"))), None) for x in factors}
        names = [name for name in found.values() if name is not None]
        lacking = any(name is None and not x.endswith("?") for x, name in found.items())
        if not lacking and len(set(names)) == len(names):
            unknown = f"with {constant[1]} in place of {constant[0]}" if constant else ""
            return "*".join([*map(in_expression, names), *constant[:1]]), unknown
    return None, ""


def _plays(name, part):
    return means(name, part) if part in MEANINGS else part in (recognise(name), recognise_later(name))


def in_expression(name):
    """Return a column's name as an expression holds it: between backticks unless it is an identifier."""
    return str(name) if str(name).isidentifier() else f"`{name}`"
