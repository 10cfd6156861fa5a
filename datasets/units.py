"""Units of columns: those that a header names and those that a user gives."""

import math
import re
from collections.abc import Mapping

from ..errors import InputError
from .wording import check_choice, listed, quoted, shortened, shown

SCALED = ("parameters", "tokens", "training_flop", "parameters_nonembedding", "unique_tokens", "vocabulary")
OF_LOSS = ("loss", "loss_halfwidth")
BITS = ("bits", "bits-per-byte")
OTHER = "other"  # a loss that is no cross entropy, which is read in units of its median
NATS, MEDIANS = "nats/token", "times the median"
LOSS_UNITS = ("nats", *BITS, OTHER)
WORDS = {1e3: "k thousand thousands", 1e6: "m million millions", 1e9: "b bn g billion billions",
         1e12: "t tn trillion trillions"}  # fmt: skip
FACTORS = {word: factor for factor, words in WORDS.items() for word in words.split()}
# Floating-point operations: a petaflop/s for a day, and multiples.
PREFIXES = {"g giga": 1e9, "t tera": 1e12, "p peta": 1e15, "e exa": 1e18, "z zetta": 1e21, "y yotta": 1e24}
OF_FLOP = {
    f"{prefix}flop{ending}": factor
    for names, factor in PREFIXES.items()
    for prefix in names.split()
    for ending in ("", "s")
}
OF_FLOP |= dict.fromkeys(
    (f"{unit}{s}day{ending}" for unit in ("pf", "pflop", "pflops", "petaflop", "petaflops")
     for s in ("", "s") for ending in ("", "s")), 8.64e19)  # fmt: skip
LOSS_WORDS = {
    **dict.fromkeys(["nats", "nats/token", "nats per token", "nat/token"], "nats"),
    **dict.fromkeys(["bits", "bits/token", "bits per token", "bit/token"], "bits"),
    **dict.fromkeys(["bpb", "bits/byte", "bits per byte", "bit/byte"], "bits-per-byte"),
}
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
    if (factor := OF_FLOP.get(re.sub(r"[\s_/-]", "", header.lower()))) is not None:
        return "flop", factor
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


def units_of(names, chosen, bytes_per_token, label, *, derived=()):
    """Return the factor to plain numbers, FLOP and nats per token of each column with a unit, and the unit.

    `names` are those of the table by canonical name. `chosen` has the units of the user, which go before those of
    headers. `derived` has the expressions, whose names hold no unit. A unit of no column or none is refused.
    """
    chosen = chosen or {}
    if not isinstance(chosen, Mapping):
        raise InputError(f'unit is a mapping such as {{"parameters": 1e9}}, not {shown(chosen)}')
    for name in chosen:
        check_choice("unit: column", name, (*SCALED, "loss"))
        if name not in names:
            raise InputError(
                f"{label}: unit: there is no column for {name}, which would be in units of "
                f"{shortened(chosen[name])}; those found are for {listed(names)}"
            )
    plain = [name for name in (*SCALED, "loss") if name in names and names[name] not in derived]
    units = {name: split_header(names[name])[1] for name in plain}
    units |= {name: None for name in (*SCALED, "loss") if name in names and name not in plain}
    units = {name: chosen.get(name, unit) for name, unit in units.items()}
    factors = {name: (_scale(name, unit), unit) for name, unit in units.items() if name != "loss" and unit is not None}
    loss = units.get("loss")
    # A header such as "loss (B)" names no unit of a loss.
    if loss in LOSS_UNITS or "loss" in chosen:
        factor = _of_loss(loss, bytes_per_token, label)
        factors |= {name: (factor, loss) for name in OF_LOSS if name in names and loss != "nats"}
    if bytes_per_token is not None and loss != "bits-per-byte":
        raise InputError(
            f"{label}: bytes_per_token is for a loss in bits per byte; give unit={{'loss': 'bits-per-byte'}} "
            "(--unit loss=bits-per-byte) with it, or leave it out"
        )
    return factors


def _scale(name, unit):
    if isinstance(unit, bool | str) or not isinstance(unit, int | float) or not 0 < unit < math.inf:
        raise InputError(f"unit of {name}: {shown(unit)} is not a positive number such as 1e9")
    return float(unit)


def _of_loss(unit, bytes_per_token, label):
    if unit not in LOSS_UNITS:
        raise InputError(f"unit of loss: {quoted(unit)} is unknown; choose one of {', '.join(LOSS_UNITS)}")
    if unit != "bits-per-byte":
        return {"nats": 1.0, OTHER: None}.get(unit, math.log(2))
    if bytes_per_token is None:
        raise InputError(
            f"{label}: a loss in bits per byte needs the mean bytes of a token; give bytes_per_token=4.3 "
            "(--bytes-per-token 4.3), whatever it is on the text of the loss"
        )
    if isinstance(bytes_per_token, bool) or not 0 < bytes_per_token < math.inf:
        raise InputError(f"bytes_per_token: {shown(bytes_per_token)} is not a positive number")
    return math.log(2) * bytes_per_token


def unit_of_loss(rows):
    """Return the unit of the losses of a table in words, by the record of how it was read.

    Examples
    --------
    >>> import pandas as pd
    >>> unit_of_loss(pd.DataFrame({"loss": [2.5]}))
    'nats/token'
    """
    units = [entry.get("unit") for entry in rows.attrs.get("reading", []) if entry.get("of") == "loss"]
    return MEDIANS if OTHER in units else NATS


def read_as(rows, column):
    """Return the name of a column in the file, and the factor by which its values were multiplied, as far as recorded.

    Examples
    --------
    >>> import pandas as pd
    >>> read_as(pd.DataFrame({"loss": [2.5]}), "loss")
    ('loss', 1.0)
    """
    entries = [entry for entry in rows.attrs.get("reading", []) if entry.get("of") == column and "factor" in entry]
    return (entries[-1]["column"], entries[-1]["factor"]) if entries else (column, 1.0)


def in_unit_of_loss(text, rows):
    """Return text about losses in nats with the unit that the losses of a table are in."""
    if (unit := unit_of_loss(rows)) == NATS:
        return text
    for nats in ("nats per token", NATS, "(nats)"):
        text = text.replace(nats, f"({unit})" if nats.startswith("(") else unit)
    return text


def _in_medians(table, units, names):
    """Return units whose loss is divided by its median, and the note on it."""
    losses = table["loss"] if table["loss"].dtype == "float64" else table["loss"].iloc[:0].astype(float)
    median = losses[(losses > 0) & (losses < math.inf)].median()
    factor = 1 / median if median > 0 else 1.0
    sentence = f"column {quoted(names['loss'])} is read as loss in units of its median, {median:.4g}"
    return units | {name: (factor, OTHER) for name in OF_LOSS if name in units}, ("unit", sentence)


def scaled(table, units, names, changes):
    """Return a table whose columns are multiplied by the factors of `units_of`, and record it."""
    if units.get("loss", (1,))[0] is None:
        units, note = _in_medians(table, units, names)
        changes.add(*note, column=str(names["loss"]), of="loss", unit=OTHER, factor=units["loss"][0])
    for name, (factor, unit) in units.items():
        if unit != OTHER and table[name].dtype == "float64" and factor != 1:
            text = f"{unit:g}" if isinstance(unit, int | float) else unit.replace("-", " ")
            changes.add(
                "unit",
                f"column {quoted(names[name])} is read as {name} in units of {text}",
                column=str(names[name]),
                of=name,
                unit=unit,
                factor=factor,
            )
    return table.assign(**{name: table[name] * f for name, (f, _) in units.items() if table[name].dtype == "float64"})
