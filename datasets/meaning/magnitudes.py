"""Sizes and losses that no run has, with the units, logarithms or perplexities that they may be."""

import numpy as np

from ...errors import InputError
from ..checks import place, refuse_first
from ..columns import SIZES
from ..fixes import Fix, choice
from ..wording import quoted, shorten_number
from .names import in_expression

LEAST = 1000  # parameters or tokens
LEAST_FLOP = LEAST**2
USUAL = 20  # tokens per parameter
FEWEST = 0.01  # tokens per parameter; the least of Kaplan et al. (2020) is 0.03
UNITS = (1e6, 1e9, 1e12)
OF_COMPUTE = (1e12, 1e15, 1e18, 1e21, 1e24)
PETAFLOP_DAY = 8.64e19
LARGE = 20  # sizes of 70 are millions and sizes of 1.4 billions
MIXED = 1e6  # ratio of sizes of one column that is in several units
LARGEST_LOG = {"parameters": 13.5, "tokens": 15, "training_flop": 30}  # to base 10
LOWEST, HIGH, HIGHEST = 0.01, 13, 50  # nats per token; a uniform guess among 256,000 tokens has 12.5


# Extreme sizes only change the unit that a message suggests.
@np.errstate(all="ignore")
def likely_units(sizes):
    """Return the unit that each size may be in, of those that have fewer than a thousand parameters or tokens.

    Examples
    --------
    >>> import pandas as pd
    >>> likely_units({"parameters": pd.Series([70.0, 410.0]), "tokens": pd.Series([1.5, 300.0])})
    {'parameters': 1000000.0, 'tokens': 1000000000.0}
    """
    n, d, c = (sizes.get(name) for name in SIZES)
    units, guess = {}, {"parameters": 1.0, "tokens": 1.0}
    if n is not None and n.min() < LEAST:
        usual = 0 if d is None and c is None else d.median() / USUAL if d is not None else (c.median() / 120) ** 0.5
        by_size = UNITS[0] if n.median() > LARGE else UNITS[1]
        units["parameters"] = guess["parameters"] = _nearest(n.median(), UNITS, usual) if usual > LEAST else by_size
    if d is not None and (d.min() < LEAST or (n is not None and (d / n).max() / guess["parameters"] < FEWEST)):
        usual = UNITS[1] if n is None else USUAL * n.median() * guess["parameters"]
        units["tokens"] = guess["tokens"] = _nearest(d.median(), UNITS, usual)
    if c is not None and len(sizes) == 3:
        ratio = c.median() / (6 * (n * d).median() * guess["parameters"] * guess["tokens"])
        units |= {"training_flop": unit} if (unit := unit_of_compute(ratio)) else {}
    elif c is not None and len(sizes) == 2:
        other, name = (n, "parameters") if n is not None else (d, "tokens")
        if (c / (6 * other * guess[name])).min() < LEAST:
            size = other.median() * guess[name]
            usual = 6 * size**2 * (USUAL if name == "parameters" else 1 / USUAL)
            units["training_flop"] = _nearest(c.median(), (*OF_COMPUTE, PETAFLOP_DAY), usual)
    elif c is not None and c.min() < LEAST_FLOP:
        units["training_flop"] = OF_COMPUTE[2] if c.median() > LARGE else PETAFLOP_DAY
    return units


@np.errstate(all="ignore")
def unit_of_compute(ratio):
    """Return the unit in which FLOP may be given, if they are `ratio` times 6ND, or None."""
    nearest = _nearest(ratio, (*OF_COMPUTE, PETAFLOP_DAY), 1)
    return nearest if abs(np.log(ratio * nearest)) < 0.5 else None


def _nearest(value, units, usual):
    return min(units, key=lambda unit: abs(np.log(value * unit / usual)))


def logarithm(canonical, header, values, base=None):
    """Return the expression of a size from its logarithm, to the base that its numbers suggest."""
    base = base or ("10" if values.max() <= LARGEST_LOG[canonical] else "e")
    return f"exp({in_expression(header)})" if base == "e" else f"{base}**{in_expression(header)}"


def seem_logarithms(values):
    """Return whether numbers of sizes may be logarithms: from 5 to 65, most with three decimals or more.

    Examples
    --------
    >>> import pandas as pd
    >>> seem_logarithms(pd.Series([7.301, 7.8451, 8.2041])), seem_logarithms(pd.Series([6.7, 13, 32.5]))
    (True, False)
    """
    return bool(values.between(5, 65).all() and ((values * 100) % 1).between(1e-6, 1 - 1e-6).mean() > 0.5)


# Checks ---------------------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def check_sizes(runs, names, label, *, sure=(), derived=()):
    """Refuse sizes that no run has, all three or one, with the units or logarithms that they may be, in one message.

    `sure` has the columns whose unit the user gave, whatever they hold, and `derived` those that are expressions.
    """
    sizes = {name: runs[name] for name in SIZES if name in names and runs[name].dtype == "float64"}
    faults = {name: x for name in sizes if name not in sure and (x := _find_impossible(name, sizes, runs, sure))}
    if not faults:
        return
    mixed, texts = [name for name in faults if sizes[name].max() > MIXED * sizes[name].min()], []
    for name, (wrong, what, _) in faults.items():
        values, row, count = sizes[name], wrong.idxmax(), int(wrong.sum()) - 1
        what += f", as are {count} more" if count else ""
        what += f", and {quoted(values.max())} in {place(runs, values.idxmax())}" if name in mixed else ""
        texts.append(f"{place(runs, row)}, column {quoted(names[name])}: found {quoted(values[row])}, {what}")
    small = {name: unit for name, unit in likely_units(sizes).items() if name in faults and name not in mixed
             and (not faults[name][2] or name == "tokens")}  # fmt: skip
    logs = {name: logarithm(name, names[name], sizes[name]) for name in small
            if seem_logarithms(sizes[name]) and names[name] not in derived}  # fmt: skip
    fixes = [f"if they are logarithms, give {Fix(columns=logs)}"] if logs else []
    fixes += _by_unit(small, sizes) if small else []
    fixes += [f"write {' and '.join(mixed)} in one unit, which differs between rows"] if mixed else []
    fixes += [more for *_, more in faults.values() if more]
    fixes.append(f"if it is right, {next(iter(faults))}=1" if len(faults) == 1 else
                 "if one is right, its unit is 1, such as --unit tokens=1")  # fmt: skip
    raise InputError(f"{label}, {' and '.join(texts)}; {'; '.join(fixes)}")


def _by_unit(units, sizes):
    """Return the sentences on units, of a compute two of them with the tokens per parameter that follow."""
    what = "it is in units of" if len(units) == 1 else "they are in units of"
    if list(units) != ["training_flop"] or len(sizes) != 2:
        return [f"if {what} {' and '.join(map(shorten_number, units.values()))}, give {Fix(unit=units)}"]
    best, sentences = units["training_flop"], []
    name, size = next(iter(sizes.items()))
    for unit in (best, PETAFLOP_DAY if best != PETAFLOP_DAY else 1e21):
        ratio = sizes["training_flop"] * unit / (6 * size**2)
        ratio = ratio if name == "parameters" else 1 / ratio
        text = shorten_number(unit) + (", petaflop/s-days" if unit == PETAFLOP_DAY else "")
        text += f" ({ratio.min():,.3g} to {ratio.max():,.3g} tokens per parameter)"
        sentences.append(f"if {what} {text}, give {Fix(unit={'training_flop': unit})}")
    return sentences


def _find_impossible(name, sizes, runs, sure):
    """Return which values of a size are impossible, what they are and another fix; or None."""
    values, what, more = sizes[name], f"fewer than {LEAST:,} {name}", ""
    wrong = values < LEAST
    ratio = values / runs["parameters"] if "parameters" in runs else None
    if name == "training_flop":
        wrong, what = values < LEAST_FLOP, f"fewer than {LEAST_FLOP:,} FLOP"
        other = next((x for x in ("tokens", "parameters") if x not in sizes), None)
        if len(sizes) > 1:
            if other is None or other in sure:
                return None
            wrong, what = runs[other] < LEAST, f"which leaves fewer than 1,000 {other} by C = 6ND"
            if other == "tokens" and ratio.between(1, 50).all() and ratio.max() < 2 * ratio.min():
                what = f"{ratio.median():.2g} a parameter as in every row, as FLOP of one token have"
                more = f"name the tokens of training with {choice('tokens', 'NAME')}, or fit a formula of them"
    elif name == "tokens" and not wrong.any() and ratio is not None:
        # A column of steps has few tokens in every row; a column of tokens has more in some row.
        wrong = (ratio < FEWEST) & (ratio.max() < FEWEST)
        what = f"at most {ratio.max():.2g} tokens per parameter in any row"
        more = f"if they are steps, give the tokens of one as {Fix(unit={'tokens': 5e5})}"
    return (wrong, what, more) if wrong.any() else None


@np.errstate(all="ignore")
def check_losses(runs, names, label, *, sure=()):
    """Refuse losses that no language model has, with what they may be."""
    header = names.get("loss")
    if header is None or "loss" in sure:
        return
    loss = runs["loss"]
    perplexity = Fix(columns={"perplexity": str(header)}, others={"perplexity": True})
    fixes = [f"if it is a perplexity, say so with {perplexity}",
             f"if such runs diverged, leave them out with {Fix(others={'where': f'loss < {HIGH}'})}"]  # fmt: skip
    fixes = fixes[::-1] if loss.median() < HIGH / 2 else fixes
    other = "if it is no cross entropy, fit a formula of it"
    for wrong, reason, more in (
        (loss > HIGHEST, f"more than {HIGHEST} nats per token", fixes),
        (loss > HIGH, f"more than {HIGH} nats per token, where a uniform guess has 12.5 at most", [*fixes, other]),
        (loss < LOWEST, f"less than {LOWEST} nats per token",
         [other, f"if another column holds the loss, name it with {choice('loss', 'NAME')}"]),
    ):  # fmt: skip
        fix, reasons = "; ".join(more), lambda row, reason=reason: f"{quoted(loss[row])}, {reason}"
        refuse_first(wrong, header, reasons, fix, runs, label, ", as are {} more")
