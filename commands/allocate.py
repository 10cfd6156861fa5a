"""The command ``allocate``: what is asked, and how the answer is printed."""

from ..errors import InputError
from . import options, parsing, tables

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
        Numbers and ranges; see `parsing.numbers`.
    near_optimal : float or None
    planned : dict
        What is planned, and the options ``beyond`` and ``robust`` of `allocate`.
    json : bool
    """
    from ..reports import results

    if bool(compute) == bool(loss):
        which = "both" if loss else "neither"
        raise InputError(f"give --compute, a budget in FLOP, or --loss, a target in nats per token, not {which}")
    asked = {"compute": compute, "loss": loss, "demand": demand}
    asked = {name: parsing.numbers(texts, f"--{name}") for name, texts in asked.items() if texts}
    from ..inference import storage

    fitted = storage.open(file)
    found = fitted.allocate(**asked, near_optimal=near_optimal, **planned)
    entries = found.entries(fitted.law.name)
    misfit, verdict = results.misfit_entries(fitted), results.verdict_entry(fitted)
    if json:
        document = {"allocation": entries, "diagnostics": fitted.diagnostics, "misfit": misfit, "verdict": verdict}
        tables.print_json(document)
        return
    if len(entries) > MOST_TABLES:
        print_together(entries)
    else:
        for entry in entries:
            print_one(entry)
    tables.print_diagnostics(file, fitted.diagnostics)
    tables.print_verdict(file, verdict)


def print_one(entry):
    """Print one answer as a table of quantities."""
    from ..inference.estimands.allocation import asked_for, remarks, sentence

    rows = [
        (LABELS.get(name, name), *_row(entry, name))
        for name in (*ALLOCATED, *NEAR)
        if name in entry and not (name == "loss" and "target" in entry)
    ]
    title = f"{entry['law']} {asked_for(entry)}{_beyond(entry)}"
    tables.print_table(title, tables.SUMMARY_HEADER, rows, least=("mean", "sd"))
    if None not in _quantiles(entry, "parameters"):
        print(sentence(entry))
    for line in remarks(entry):
        print(line)


def _quantiles(entry, name):
    return [entry.get(name, {}).get(q) for q in ("q2.5", "q50", "q97.5")]


def print_together(entries):
    """Print many answers, one a row."""
    from ..inference.estimands.allocation import asked_for, remarks

    near = "near_optimal" in entries[0]
    ends = ("near, least", "near, most") if near else ()
    header = ("", "parameters", "2.5%", "97.5%", *ends, "tokens", "tokens/parameter", "loss", "decades beyond")
    rows = [
        (
            asked_for(entry),
            *(_quantile(entry, "parameters", q) for q in ("q50", "q2.5", "q97.5")),
            *(tables.number(entry[name]) for name in ("near_low", "near_high") if near),
            *(_quantile(entry, name, "q50") for name in ("tokens", "tokens_per_parameter", "loss")),
            f"{entry['extrapolation']:+.1f}" if entry["extrapolation"] else "0",
        )
        for entry in entries
    ]
    title = f"{entries[0]['law']}: medians, and 95% intervals of the parameters"
    tables.print_table(title, header, rows, least=("tokens/parameter", "decades beyond", "loss"))
    for line in dict.fromkeys(line for entry in entries for line in remarks(entry, whole=False)):
        print(line)


def _beyond(entry):
    beyond = entry["extrapolation"]
    if beyond is None:
        return ", endlessly beyond the fitted runs"
    return f", {abs(beyond):.1f} decades {'above' if beyond > 0 else 'below'} the fitted runs" if beyond else ""


def _row(entry, name):
    summary = entry[name]
    return *(tables.number(summary[key]) for key in ("mean", "sd")), *(
        _quantile(entry, name, q) for q in ("q2.5", "q50", "q97.5")
    )


def _quantile(entry, name, q):
    """Text of a quantile; where it is infinite, no size does what is asked."""
    value = entry.get(name, {}).get(q)
    return "never" if value is None and entry.get("p_reached", 1.0) < 1 else tables.number(value)


def allocate(
    file: options.FitFile,
    compute: options.Budgets = None,
    loss: options.Targets = None,
    demand: options.Demands = None,
    near_optimal: options.NearOptimal = None,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    plan: options.Plan = None,
    beyond: options.Beyond = "drift",
    robust: options.Robust = True,
    json: options.Json = False,
):
    """Print the best parameters, tokens and loss at a budget, or the cheapest to reach a loss.

    A budget is one for training, C = 6 N_T D, N_T all parameters. With --demand it is one for training and inference
    together, 6 N_T D + 2 N_T demand, and a loss is reached with the least of both.
    """
    planned = {"vocabulary": vocabulary, "aspect_ratio": aspect_ratio} | parsing.values(plan, "--plan")
    planned |= {"beyond": beyond, "robust": robust}
    run(file, compute, loss, demand, near_optimal, planned, json=json)
