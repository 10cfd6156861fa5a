"""Take a table through every command that accepts it, as a user would, and tell what went wrong."""

import contextlib
import io
import json
import re
import shlex
import sys
import traceback
import warnings
from unittest import mock

from bayescaling.commands.cli import main
from bayescaling.datasets import KINDS

# Of each kind of table: law, and commands on the table, on the fit of the law and on a second fit.
FIGURES = {
    "runs": ("fit", "isoflop", "valley", "residuals", "ppc", "sensitivity", "frontier", "allocation", "posterior",
             "reconcile"),
    "scores": ("capability", "since", "ranks"),
    "horizons": ("horizons", "ranks"),
    "counts": ("lengths",),
    "evaluations": ("fit", "progress", "doubling", "residuals", "ppc"),
    "values": ("trend",),
}  # fmt: skip
COMMANDS = {
    "runs": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "fit {other} --data {table} --out other.nc",
        "points --data {table}",
        "allocate fit.nc --compute {budget} --compute {above}",
        "allocate fit.nc --compute {above} --json",
        "allocate fit.nc --loss {loss} --json",
        "rollout {law} --data {table} --below {middle} --json",
        "rollout {law} --data {table} --by parameters --below {size}",
        "compare fit.nc other.nc",
        "compare fit.nc other.nc --json",
        "reconcile fit.nc --json",
        "design fit.nc --budget {above} --no-gate --json",
        "report --data {table} --out report --processes 1",
        "report fit.nc --out again --json --processes 1",
    ),
    "scores": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "show fit.nc --table ranks",
        "show fit.nc --table ranks --json",
        "report fit.nc --out again --json --processes 1",
    ),
    "horizons": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "show fit.nc --table all",
        "show fit.nc --table all --json",
        "report fit.nc --out again --json --processes 1",
    ),
    "counts": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "report fit.nc --out again --json --processes 1",
    ),
    "evaluations": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "show fit.nc --table all",
        "show fit.nc --table all --json",
        "report fit.nc --out again --json --processes 1",
    ),
    "values": (
        "fit {law} --data {table} --out fit.nc",
        "fit {law} --data {table} --json",
        "show fit.nc --table all",
        "show fit.nc --table all --json",
        "report fit.nc --out again --json --processes 1",
    ),
}
LAWS = {"runs": "coupled", "scores": "scores", "horizons": "horizons", "counts": "lengths", "values": "trend",
        "evaluations": "progress-7"}  # fmt: skip
NONFINITE = re.compile(r"(?<![\w.])[-+]?(nan|inf|NaN|Infinity)(?![\w-])")
PROPOSED = re.compile(r"bayescaling ((?:fit|report|compare|data) .*?)(?=; else |; |$)", re.MULTILINE)


def call(command, folder):
    """Run a command in this process: its status, what it printed, and what it printed to standard error.

    Warnings of NumPy are errors; an exception that is no refusal has status "traceback".
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["bayescaling", *shlex.split(command)]),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        warnings.simplefilter("error", RuntimeWarning)
        status = "traceback"
        try:
            main()
        except SystemExit as left:
            status = left.code
        except BaseException:
            err.write(traceback.format_exc())
    return status, out.getvalue(), err.getvalue()


def refusal_of(status, err):
    """Return the line with which a command refused its input, and ways out of it below, None where it did not."""
    lines = [line for line in err.splitlines() if not line.startswith(("note: ", "warning: "))]
    one = len(lines) == 1 or (lines and lines[-1].startswith("    bayescaling "))
    return "\n".join(lines) if status == 2 and one and lines[0].startswith("error: ") else None


def fault_of(command, folder, *, proposals=True):
    """Return what is wrong with how a command ended, None where it succeeded or refused as it should.

    What a refusal proposes must succeed.
    """
    status, out, err = call(command, folder)
    if refusal := refusal_of(status, err):
        proposed = PROPOSED.search(refusal) if proposals else None
        return None if proposed is None else fault_of(proposed[1], folder, proposals=False)
    if status != 0:
        return f"{command}: status {status}: {err[-1500:]}"
    try:
        if "--json" in command:
            json.loads(out, parse_constant=_refuse_constant)
        else:
            _refuse_constant(NONFINITE.search(out))
    except ValueError as error:
        return f"{command}: {error}: {out[:500]}"
    return None


def suited(law, folder, options=""):
    """Return the law that the refusal of a law proposes, or the law itself; its fit is cached for the commands."""
    refusal = refusal_of(*call(f"fit {law} --data table.csv {options}", folder)[::2])
    proposed = PROPOSED.search(refusal or "")
    return shlex.split(proposed[1])[1] if proposed else law


def _refuse_constant(constant):
    """Refuse a number that is not finite."""
    if constant:
        raise ValueError(f"prints {constant[0] if isinstance(constant, re.Match) else constant}")


def commands(kind, numbers, *, law=None, other="chinchilla", options="", table="table.csv"):
    """Return the commands of a kind of table, filled in.

    Parameters
    ----------
    kind : str
    numbers : dict of str to float
        What the templates need: budgets and the like.
    law, other : str
    options : str
        Of every fit, such as ``--draws 300``.
    table : str
    """
    assert kind in KINDS
    texts = {name: f"{x:.6g}" for name, x in numbers.items()}
    texts |= {"law": law or LAWS[kind], "other": other, "table": table}
    fitting = ("fit ", "rollout ", "report --data")
    listed = [template.format(**texts) for template in COMMANDS[kind]]
    listed = [f"{command} {options}" if command.startswith(fitting) else command for command in listed]
    more = {"valley": " --compute {budget}", "allocation": " --compute {budget}"}
    more |= dict.fromkeys(("isoflop", "frontier", "progress"), " --compute {budget} --compute {above}")
    more |= {"posterior": " --quantity {quantity}"}
    texts = {"budget": "1e20", "above": "1e21", "quantity": "exponent_parameters"} | texts
    return [*listed, *(f"plot {name} fit.nc --out {name}.png{more.get(name, '').format(**texts)}" for name in
                       FIGURES[kind])]  # fmt: skip


def faults(kind, table, folder, numbers, options=""):
    """Write a table into a folder, take it through every command of its kind, and return the faults."""
    table.to_csv(folder / "table.csv", index=False)
    laws = {"law": LAWS[kind]} | ({"other": "chinchilla"} if kind == "runs" else {})
    laws = {name: suited(law, folder, options) for name, law in laws.items()}
    listed = commands(kind, numbers, **laws, options=options)
    return [fault for command in listed if (fault := fault_of(command, folder))]


def numbers_of_runs(table):
    """Return budgets, a loss and sizes for the commands of a table of runs."""
    compute = 6 * table["parameters"] * table["tokens"]
    return {
        "budget": compute.median(),
        "above": 10 * compute.max(),
        "loss": table["loss"].min() * 0.99,
        "middle": compute.quantile(0.6),
        "size": table["parameters"].quantile(0.7),
    }
