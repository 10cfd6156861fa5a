"""Tables of successes of models on tasks, with the time that people need for these."""

from ...errors import InputError
from ..cells import as_days, as_names, as_numbers, find_fractions, fractional_years, with_halfwidths
from ..checks import Fault, in_file, refuse, refuse_differences, refuse_duplicate_rows
from ..columns import Called
from ..fixes import choice
from ..notation import OF_TIME as TIMES
from ..notation import TIMES as UNITS
from ..notation import time_unit
from ..schemas import NONNEGATIVE, POSITIVE, check
from ..wording import check_choice, quoted
from .kind import Kind, register_kind

OF_A_MODEL = ("date", "family")
OF_A_TASK = ("task_family",)


def parse(table, changes, columns, where, drop_missing, unit):
    """Check a table of successes, count single runs by model and task, and add the year of each model with a date."""
    label, factors = changes.label, factors_of(unit or {})
    table, columns = _with_runs(table, dict(columns), changes)
    table, headers = HORIZONS.select(table, changes, columns, where, drop_missing)
    numbers, faults = as_numbers(table, HORIZONS.present(table, (*TIMES, "successes", "runs")))
    names, nameless = as_names(table, HORIZONS.present(table, HORIZONS.text), (*OF_A_MODEL, "time_source"))
    cells, faults = numbers | names, faults + nameless
    if "date" in table:
        cells["date"], halfwidths, undated = as_days(table["date"], changes, headers.get("date", "date"), optional=True)
        faults += undated
    for name in HORIZONS.present(table, TIMES):
        cells[name] = cells[name] * factors.get(name, UNITS[time_unit(headers.get(name, name)) or "minutes"])
    table = check(table.assign(**cells), HORIZONS, label=label, names=headers, faults=in_file(faults, headers))
    refuse(_impossible(table), table, label)
    if "date" in table:
        table = with_halfwidths(table, "date", headers.get("date", "date"), halfwidths, changes)
    refuse_differences(table, "model", OF_A_MODEL, label)
    refuse_differences(table, "task", OF_A_TASK, label)
    text = "model {} has successes on {} at {:g} minutes before; add their counts up or delete one"
    refuse_duplicate_rows(table, ["model", "task", "minutes"], text, label)
    refuse(_out_of_order(table), table, label)
    return table.assign(year=fractional_years(table["date"])) if "date" in table else table


def _with_runs(table, columns, changes):
    """Count the runs of each model on each task where each row is one run; return the table and chosen columns."""
    called = Called(("runs",), columns, HORIZONS.aliases)
    if any(name in called for name in table) or "runs" in columns:
        return table, columns
    chosen = {name: Called((name,), columns, HORIZONS.aliases) for name in ("model", "task", "successes", *TIMES)}
    places = {name: next((c for c in table if c in called), None) for name, called in chosen.items()}
    if None in (places["model"], places["task"], places["successes"]):
        return table, columns
    single, faults = as_numbers(table, [places["successes"]])
    outcomes = single[places["successes"]]
    wrong = outcomes.index[~outcomes.isin([0, 1]) & outcomes.notna()]
    fix = f"give the number of runs in a column 'runs', or choose one with {choice('runs', 'COLUMN')}"
    faults += [
        Fault(row, places["successes"], f"found {quoted(outcomes[row])} in a table of single runs, 0 or 1", fix)
        for row in wrong
    ]
    refuse(faults, table, changes.label)
    key = [c for name in ("model", "task", *TIMES) if (c := places[name]) is not None]
    cells = table.assign(**{places["successes"]: outcomes, "runs": 1.0}).dropna(subset=[places["successes"]])
    others = {c: "first" for c in table if c not in (*key, places["successes"])}
    counted = cells.groupby(key, sort=False, dropna=False).agg(others | {places["successes"]: "sum", "runs": "sum"})
    counted = counted.reset_index()
    counted.attrs = dict(table.attrs)
    changes.add("runs", f"each of {len(table):,} rows is one run: counted by model and task", value=len(table))
    return counted, columns


def factors_of(unit):
    """Return the factors of times, by column, or refuse a unit that is unknown."""
    for column, name in unit.items():
        if column not in TIMES:
            raise InputError(
                f'unit: {quoted(column)} has none in a table of successes; write {{"minutes": "hours"}} '
                "(--unit minutes=hours)"
            )
        check_choice(f"unit of {column}:", name, UNITS)
    return {column: UNITS[name] for column, name in unit.items()}


def _impossible(table):
    yield from find_fractions(table, ("successes", "runs"))
    for row, successes, runs in table[["successes", "runs"]].itertuples():
        if successes > runs:
            yield Fault(row, "successes", f"found {successes:g} of {runs:g} runs", "correct one of them")


def _out_of_order(table):
    """Yield faults of thresholds that more runs reach than a lower one of the same task, or of other runs."""
    ordered = table.sort_values("minutes", kind="stable")
    before = ordered.groupby(["model", "task"], sort=False)[["successes", "runs"]].shift()
    for row in ordered.index[(ordered["successes"] > before["successes"]).fillna(False)]:
        problem = (
            f"found {table['successes'][row]:g}, but {before['successes'][row]:g} at a lower threshold of this task"
        )
        yield Fault(row, "successes", problem, "count runs that reach a threshold as reaching all lower ones")
    for row in ordered.index[before["runs"].notna() & (ordered["runs"] != before["runs"])]:
        problem = f"found {table['runs'][row]:g}, but {before['runs'][row]:g} at another threshold of this task"
        yield Fault(row, "runs", problem, "give all thresholds of a model and task the same runs")


HORIZONS = Kind(
    name="horizons",
    built_in="weirdml",
    dimension="row",
    parse=parse,
    needed=("model", "task", "minutes", "successes", "runs"),
    optional=("date", "family", "task_family", "time_source", "estimated_minutes", "threshold"),
    cells={"minutes": POSITIVE, "successes": NONNEGATIVE, "runs": POSITIVE, "estimated_minutes": POSITIVE.optional},
    check_unit=factors_of,
    text=("model", "task", "family", "task_family", "time_source"),
    days=("date",),
    flags=("successes",),
    aliases={
        "model": "modelname modelid llm system alias",
        "task": "taskid taskname problem",
        "minutes": "humanminutes humantime humantimeminutes tasklength tasklengthminutes hours humanhours time",
        "successes": (
            "success successcount nsuccess nsuccesses passed solved scorebinarized correct ispassed issuccess iscorrect"
        ),
        "runs": "nruns trials attempts numruns total",
        "date": "releasedate modelreleasedate year",
        "family": "modelfamily",
        "task_family": "taskfamily suite tasksuite",
        "time_source": "humansource timesource timing",
        "estimated_minutes": "estimatedminutes estimateminutes estimatedhours",
    },
)
register_kind(HORIZONS)
