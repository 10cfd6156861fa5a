"""Units of columns: those that a header names and those that a user gives."""

import math
import re
from collections.abc import Mapping

from ..errors import InputError
from .wording import check_choice, listed, quoted, shortened, shown

SCALED = ("parameters", "tokens", "training_flop", "parameters_nonembedding", "unique_tokens", "vocabulary",
          "dataset_tokens", "training_compute_flop")  # fmt: skip
OF_LOSS = ("loss", "loss_halfwidth")
BITS = ("bits", "bits-per-byte")
NATS = "nats/token"
LOSS_UNITS = ("nats", *BITS)
WORDS = {1e3: "k thousand thousands", 1e6: "m million millions", 1e9: "b bn g billion billions",
         1e12: "t tn trillion trillions"}  # fmt: skip
FACTORS = {word: factor for factor, words in WORDS.items() for word in words.split()}
# Floating-point operations: multiples, and a petaflop/s for a day.
PREFIXES = {"g giga": 1e9, "t tera": 1e12, "p peta": 1e15, "e exa": 1e18, "z zetta": 1e21, "y yotta": 1e24}
OF_FLOP = {f"{prefix}flop{s}": size for names, size in PREFIXES.items() for prefix in names.split() for s in ("", "s")}
OF_FLOP |= {f"{unit}{s}day{ending}": 8.64e19 for unit in ("pf", "pflop", "pflops", "petaflop", "petaflops")
            for s in ("", "s") for ending in ("", "s")}  # fmt: skip
LOSS_WORDS = {"nats": "nats", "nats/token": "nats", "nats per token": "nats", "nat/token": "nats",
              "bits": "bits", "bits/token": "bits", "bits per token": "bits", "bit/token": "bits",
              "bpb": "bits-per-byte", "bits/byte": "bits-per-byte", "bits per byte": "bits-per-byte",
              "bit/byte": "bits-per-byte"}  # fmt: skip
BRACKETED = re.compile(r"(.*?)[\s_]*[(\[]\s*(?:in )?([^)\]]+?)\s*[)\]]\s*")
SIZE = "((?i:params?|parameters?|tokens?|flops?))"
BEFORE = re.compile(rf"([mb]|(?:thousand|million|billion|trillion)s?[\s_]+(?:of[\s_]+)?){SIZE}", re.IGNORECASE)
CAPITAL = re.compile(rf"(.*{SIZE})([KMBT])")  # t_tokens may be training tokens


def split_header(header):
    """Return a header without its unit, and the unit: a factor, a unit of loss, or None where it names none.

    Examples
    --------
    >>> split_header("#Params (B)"), split_header("tokens_T"), split_header("loss (bits)"), split_header("d_model")
    (('#Params', 1000000000.0), ('tokens', 1000000000000.0), ('loss', 'bits'), ('d_model', None))
    >>> split_header("mparams"), split_header("tokensB"), split_header("petaflop_s_days")
    (('params', 1000000.0), ('tokens', 1000000000.0), ('flop', 8.64e+19))
    """
    header = str(header)
    if match := BEFORE.fullmatch(header.strip()):
        return match[2], FACTORS[re.split(r"[\s_]", match[1].lower())[0]]
    if match := CAPITAL.fullmatch(header.strip()):
        return match[1], FACTORS[match[3].lower()]
    if is_unit_of_flop(header):
        return "flop", _factor(header.lower())
    if match := BRACKETED.fullmatch(header):
        unit = _factor(match[2].lower())
        unit = LOSS_WORDS.get(match[2].lower()) if unit is None else unit
        if unit is not None:
            return match[1], unit
    for gap in re.finditer(r"(?<=.)[\s_-]+(?:in[\s_-])?", header):
        unit = _factor(header[gap.end() :].lower())
        if unit is not None and (gap.start() > 1 or header[-1].isdigit()):  # d_m may be a width
            return header[: gap.start()], unit
    return header, None


def is_unit_of_flop(header):
    """Return whether a header is a unit alone, such as GFLOPs, which may be of training or of one token."""
    return re.sub(r"[\s_/-]", "", str(header).lower()) in OF_FLOP


def _factor(text):
    if re.fullmatch(r"[x×*]?\s*(1?e\d{1,2}|10[*^]{1,2}\d{1,2})", text):
        return 10.0 ** int(re.split(r"[e*^]+", text)[-1])
    return FACTORS.get(text, OF_FLOP.get(re.sub(r"[\s_/-]", "", text)))


def scale_columns(table, names, chosen, bytes_per_token, changes, *, derived=()):
    """Return a table in plain numbers, FLOP and nats per token, and record the unit of each column.

    `names` are those of the file by canonical name. `chosen` has the units of the user, which go before those of
    headers. `derived` has the expressions, whose names hold no unit. A unit of no column or none is refused.
    """
    chosen, label = chosen or {}, changes.label
    if not isinstance(chosen, Mapping):
        raise InputError(f'unit is a mapping such as {{"parameters": 1e9}}, not {shown(chosen)}')
    for name in chosen:
        check_choice("unit: column", name, (*SCALED, "loss"))
        if name not in names:
            raise InputError(
                f"{label}: unit: there is no column for {name}, which would be in units of "
                f"{shortened(chosen[name])}; those found are for {listed(names)}"
            )
    units = {name: None if header in derived else split_header(header)[1] for name, header in names.items()} | chosen
    loss = units.get("loss")
    if bytes_per_token is not None and loss != "bits-per-byte":
        raise InputError(
            f"{label}: bytes_per_token is for a loss in bits per byte; give unit={{'loss': 'bits-per-byte'}} "
            "(--unit loss=bits-per-byte) with it, or leave it out"
        )
    factors = {name: check_factor(f"unit of {name}: ", unit, "1e9") for name, unit in units.items()
               if name in SCALED and unit is not None}  # fmt: skip
    # A header such as "loss (B)" names no unit of a loss.
    if loss in LOSS_UNITS or "loss" in chosen:
        check_choice("unit of loss:", loss, LOSS_UNITS)
        factor = _find_factor_of_loss(loss, bytes_per_token, label)
        factors |= {name: factor for name in OF_LOSS if name in names}
        units |= dict.fromkeys(OF_LOSS, loss)
    factors = {name: factor for name, factor in factors.items() if factor != 1 and table[name].dtype == "float64"}
    for name, factor in factors.items():
        text = f"{units[name]:g}" if isinstance(units[name], int | float) else units[name].replace("-", " ")
        record = {"column": str(names[name]), "of": name, "unit": units[name], "factor": factor}
        changes.add("unit", f"column {quoted(names[name])} is read as {name} in units of {text}", **record)
    return table.assign(**{name: table[name] * factor for name, factor in factors.items()})


def check_factor(name, number, example=None):
    """Return a positive number as a float, refusing any other."""
    if isinstance(number, bool | str) or not isinstance(number, int | float) or not 0 < number < math.inf:
        raise InputError(f"{name}{shown(number)} is not a positive number{f' such as {example}' if example else ''}")
    return float(number)


def _find_factor_of_loss(unit, bytes_per_token, label):
    """Return the factor from a unit to nats per token."""
    if unit == "bits-per-byte" and bytes_per_token is None:
        raise InputError(
            f"{label}: a loss in bits per byte needs the mean bytes of a token; give bytes_per_token=4.3 "
            "(--bytes-per-token 4.3), whatever it is on the text of the loss"
        )
    a_token = check_factor("bytes_per_token: ", bytes_per_token) if unit == "bits-per-byte" else 1.0
    return 1.0 if unit == "nats" else math.log(2) * a_token
