"""Rules of the column of losses: what would be read wrong, with the fix."""

from ..checks import place
from ..columns import choice, setting_aside
from ..units import split_header
from ..wording import nearest, quoted
from .fixes import DROPPING, NOTHING, Fix, Problem
from .names import bits_of, is_accuracy, is_other_loss, logarithm_of, named, words

UNIT_OTHER = {"loss": "other"}
LOGARITHMS = {"ppl", "perplexity", "likelihood", "prob", "probability"}  # of which a loss is the logarithm
BYTES = 4.3  # of a token, as an example


def lacking_loss(facts, shown):
    """Check that a loss or a perplexity is there, and not both."""
    names = facts.names
    if facts.perplexity and "perplexity" not in names:
        near = facts.candidates("perplexity")
        return Problem(
            "no column for perplexity, which was to be converted, such as perplexity, ppl or val_ppl; the columns are "
            f"{nearest(facts.table.columns, ['perplexity', 'ppl'], shown)}; name it with "
            f"{choice('perplexity', near[0] if near else 'NAME')}"
        )
    if facts.perplexity and "loss" in names:
        return Problem(
            f"the loss is in column {quoted(names['loss'])} and was also to come from {quoted(names['perplexity'])}; "
            f"leave one out with {setting_aside(names['loss'])} or by not asking for perplexity"
        )
    if facts.perplexity or "loss" in names:
        return None
    if "perplexity" in names:
        return Problem(
            f"column {quoted(names['perplexity'])} is a perplexity and there is no column for loss; take the loss as "
            "its logarithm with perplexity=True (--perplexity)"
        )
    candidates = facts.candidates("loss")
    if near := [x for x in facts.candidates("perplexity") if not candidates]:
        if (parts := logarithm_of(near[0])) and parts[0] in ("", "e"):
            return Problem(f"no column for loss; {facts.span(near[0])} is one", Fix(columns={"loss": str(near[0])}))
        perplexity = Fix(columns={"perplexity": str(near[0])}, others={"perplexity": True})
        return Problem(
            f"no column for loss; {facts.span(near[0])} may be a perplexity, whose logarithm is one", perplexity
        )
    if negative := [x for x in facts.free() if not candidates and "lik" in str(x).lower() and facts.is_negative(x)]:
        text = f"no column for loss; {quoted(negative[0])} is negative, as a log likelihood is"
        fix = Fix(columns={"loss": f"-{named(negative[0])}"})
        return Problem(text, fix, "if it is of all tokens, divided by their number")
    if not candidates:
        columns = nearest(facts.table.columns, ["loss", "val_loss"], shown)
        return Problem(f"no column for loss; the columns are {columns}; name it with {choice('loss', 'NAME')}")
    spans = ", ".join(facts.span(header) for header in candidates[:shown])
    fix, otherwise = _as_loss(facts, candidates[0])
    return Problem(
        f"no column for loss; there are {spans}",
        fix + (DROPPING if facts.has_gaps(candidates[0]) else NOTHING),
        otherwise,
    )


def _as_loss(facts, header):
    """Return how a column becomes a loss, and what the fix depends on."""
    if (parts := logarithm_of(header)) and "loss" in words(parts[1]):
        return _of_logarithm(header, parts)
    if is_accuracy(header) and facts.rises(header) >= 0:
        return Fix(
            columns={"loss": _error_rate(facts, header)}, unit=UNIT_OTHER
        ), "an error rate falls where an accuracy rises"
    unit = bits_of(header)
    if is_other_loss(header):
        return Fix(columns={"loss": str(header)}, unit=UNIT_OTHER), ""
    if unit is None or split_header(header)[1]:
        return Fix(columns={"loss": str(header)}), ""
    return Fix(columns={"loss": str(header)}) + _in_bits(unit), _of_bits(header, unit)


def _of_logarithm(header, parts):
    base = parts[0] or "e"
    expression = f"exp({named(header)})" if base == "e" else f"{base}**{named(header)}"
    otherwise = "" if parts[0] else f"if it is a cross entropy, loss={header} with --unit loss=nats"
    return Fix(columns={"loss": expression}), otherwise


def negative_loss(facts, shown):
    """Check that the loss is not negative throughout, as a log likelihood is."""
    header = facts.names.get("loss")
    if header is None or facts.stated("loss") or not facts.is_negative(header):
        return None
    row = facts.table.index[0]
    text = f"{place(facts.table, row)}, column {quoted(header)}: found {quoted(facts.table.at[row, header])}"
    text += ", and every row is negative, as a log likelihood is"
    return Problem(text, Fix(columns={"loss": f"-{named(header)}"}))


def _in_bits(unit):
    return Fix(unit={"loss": unit}, others={"bytes_per_token": BYTES} if unit == "bits-per-byte" else {})


def _of_bits(header, unit):
    if unit == "bits":
        return ""
    counted = "characters" if "bpc" in words(header) or "char" in str(header) else "bytes"
    return f"with the mean {counted} of a token in place of {BYTES:g}, or loss=other alone for a fit in that unit"


def _error_rate(facts, header):
    values = facts.values(header)
    return f"1-{named(header)}/100" if values is not None and values.max() > 1 else f"1-{named(header)}"


def bits_for_loss(facts, shown):
    """Check that a loss whose name has bits in it has a unit."""
    header = facts.names.get("loss")
    unit = None if header is None or facts.stated("loss") else bits_of(header)
    if unit is None or split_header(header)[1]:
        return None
    text = f"column {quoted(header)}, the loss, is in {'bits per byte' if unit == 'bits-per-byte' else 'bits'}"
    return Problem(f"{text} by its name", _in_bits(unit), _of_bits(header, unit) or "or loss=nats if it is not")


def accuracy_for_loss(facts, shown):
    """Check that the loss is no accuracy."""
    header = facts.names.get("loss")
    if header is None or facts.stated("loss") or not is_accuracy(header):
        return None
    if "loss" in words(header) or (rise := facts.rises(header)) < 0:
        return None
    rises = f" and rises with compute (rank correlation {rise:.2f}): an accuracy?" if rise else ": an accuracy?"
    return Problem(f"column {quoted(header)}, taken for the loss, is called a score{rises}",
                   Fix(columns={"loss": _error_rate(facts, header)}, unit=UNIT_OTHER))  # fmt: skip


def other_for_loss(facts, shown):
    """Check that a loss that is no cross entropy, and so not in nats, has a unit."""
    header = facts.names.get("loss")
    if header is None or facts.stated("loss") or not is_other_loss(header):
        return None
    text = f"column {quoted(header)}, taken for the loss, is no cross entropy by its name"
    return Problem(text, Fix(unit=UNIT_OTHER), "if it is one, loss=nats")


def logarithm_for_loss(facts, shown):
    """Check that the loss is no logarithm of one by its name; that of a perplexity or a likelihood is a loss."""
    header = facts.names.get("loss")
    parts = None if header is None or facts.stated("loss") else logarithm_of(header)
    if parts is None or {*words(parts[1])} & LOGARITHMS:
        return None
    return Problem(f"column {quoted(header)} is the logarithm of a loss by its name", *_of_logarithm(header, parts))


LOSS_RULES = (lacking_loss, bits_for_loss, accuracy_for_loss, other_for_loss, logarithm_for_loss, negative_loss)
