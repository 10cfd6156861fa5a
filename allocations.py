"""The command ``allocate``: what is asked, and how the answer is printed."""

from . import console, inputs
from .errors import InputError

ALLOCATED = ("parameters", "parameters_nonembedding", "tokens", "tokens_per_parameter", "epochs", "loss",
             "training_compute", "inference_compute", "total_compute", "saved")  # fmt: skip
NEAR = {
    "parameters_near_low": "least parameters nearly as good",
    "parameters_near_high": "most parameters nearly as good",
    "tokens_near_low": "their tokens, least",
    "tokens_near_high": "their tokens, most",
}
LABELS = {"saved": "share saved by planning for demand", **NEAR}
MOST_TABLES = 4  # of one answer each; more answers share a table


def run(file, compute, loss, demand, near_optimal, planned, *, json):
    """Allocate as asked on the command line and print the answers.

    Parameters
    ----------
    file : path
        Of a fit.
    compute, loss, demand : list of str, or None
        Numbers and ranges; see `inputs.numbers`.
    near_optimal : float or None
    planned : dict
        What is planned, and the options ``beyond`` and ``robust`` of `allocate`.
    json : bool
    """
    from .reports import results

    if bool(compute) == bool(loss):
        which = "both" if loss else "neither"
        raise InputError(f"give --compute, a budget in FLOP, or --loss, a target in nats per token, not {which}")
    asked = {"compute": compute, "loss": loss, "demand": demand}
    asked = {name: inputs.numbers(texts, f"--{name}") for name, texts in asked.items() if texts}
    from .inference import storage

    fitted = storage.open(file)
    found = fitted.allocate(**asked, near_optimal=near_optimal, **planned)
    entries = results.allocation_entries(found, fitted.law.name)
    misfit, verdict = results.misfit_entries(fitted), results.verdict_entry(fitted)
    if json:
        document = {"allocation": entries, "diagnostics": fitted.diagnostics, "misfit": misfit, "verdict": verdict}
        console.print_json(document)
        return
    if len(entries) > MOST_TABLES:
        print_together(entries)
    else:
        for entry in entries:
            print_one(entry)
    console.print_diagnostics(file, fitted.diagnostics)
    console.print_verdict(file, verdict)


def print_one(entry):
    """Print one answer as a table of quantities."""
    rows = [
        (LABELS.get(name, name), *_row(entry, name))
        for name in (*ALLOCATED, *NEAR)
        if name in entry and not (name == "loss" and "target" in entry)
    ]
    title = f"{entry['law']} {_asked(entry)}{_beyond(entry)}"
    console.print_table(title, console.SUMMARY_HEADER, rows, least=("mean", "sd"))
    if None not in _quantiles(entry, "parameters"):
        print(sentence(entry))
    for line in _said(entry):
        print(line)


def sentence(entry):
    """Say one answer in the units of its readers: medians and 95% intervals."""
    from .inference.words import plain, sizes

    named = {
        "parameters": ("{} parameters", sizes),
        "tokens": ("on {} tokens", sizes),
        "tokens_per_parameter": ("{} tokens a parameter", lambda q: plain(q, "{:.3g}")),
        "epochs": ("{} epochs", lambda q: plain(q, "{:.3g}")),
        "loss": ("loss {}", lambda q: plain(q, "{:.3f}")),
    }
    said = ", ".join(text.format(form(entry[name])) for name, (text, form) in named.items() if name in entry)
    asked = _asked(entry)
    return f"{asked[:1].upper()}{asked[1:]}: {said.replace('parameters, on', 'parameters on')}."


def _quantiles(entry, name):
    return [entry.get(name, {}).get(q) for q in ("q2.5", "q50", "q97.5")]


def print_together(entries):
    """Print many answers, one a row."""
    near = "near_optimal" in entries[0]
    ends = ("near, least", "near, most") if near else ()
    header = ("", "parameters", "2.5%", "97.5%", *ends, "tokens", "tokens/parameter", "loss", "decades beyond")
    rows = [
        (
            _asked(entry),
            *(_quantile(entry, "parameters", q) for q in ("q50", "q2.5", "q97.5")),
            *(console.number(entry[name]) for name in ("near_low", "near_high") if near),
            *(_quantile(entry, name, "q50") for name in ("tokens", "tokens_per_parameter", "loss")),
            f"{entry['extrapolation']:+.1f}" if entry["extrapolation"] else "0",
        )
        for entry in entries
    ]
    title = f"{entries[0]['law']}: medians, and 95% intervals of the parameters"
    console.print_table(title, header, rows, least=("tokens/parameter", "decades beyond", "loss"))
    for line in dict.fromkeys(line for entry in entries for line in _said(entry, whole=False)):
        print(line)


def _asked(entry):
    from .inference.words import flop

    asked = f"at {flop(entry['compute'])}" if "compute" in entry else f"to a loss of {entry['target']:.4g}"
    return asked + (f", demand {entry['demand']:.3g}".replace("e+", "e") if "demand" in entry else "")


def _beyond(entry):
    beyond = entry["extrapolation"]
    if beyond is None:
        return ", endlessly beyond the fitted runs"
    return f", {abs(beyond):.1f} decades {'above' if beyond > 0 else 'below'} the fitted runs" if beyond else ""


def _row(entry, name):
    summary = entry[name]
    return *(console.number(summary[key]) for key in ("mean", "sd")), *(
        _quantile(entry, name, q) for q in ("q2.5", "q50", "q97.5")
    )


def _quantile(entry, name, q):
    """Text of a quantile; where it is infinite, no size does what is asked."""
    value = entry.get(name, {}).get(q)
    return "never" if value is None and entry.get("p_reached", 1.0) < 1 else console.number(value)


def _said(entry, *, whole=True):
    """Sentences under a table."""
    from .inference.words import size

    if entry.get("p_reached", 1.0) < 1:
        yield (
            f"{_asked(entry)}: at or below the floor of the law in {1 - entry['p_reached']:.1%} of the draws, which "
            "no size reaches (never)"
        )
    if beyond := entry.get("tokens_per_parameter_extrapolation"):
        side = "above" if beyond > 0 else "below"
        text = f"tokens per parameter {abs(beyond):.1f} decades {side} those of the fitted runs"
        yield text if whole else f"{_asked(entry)}: {text}"
    if "near_optimal" in entry and whole:
        what = "loss" if "compute" in entry else "compute"
        within = f"within {100 * entry['near_optimal']:.3g}% of the best {what}"
        if entry["near_low"] is None:
            most = f"{entry['near_probability']:.0%}, at {size(entry['near_parameters'])} parameters"
            yield f"no size is {within}, with probability 0.5; the most is {most}"
        else:
            ends = f"{size(entry['near_low'])} to {size(entry['near_high'])} parameters"
            yield f"{within}, with probability 0.5 or more: {ends}"
