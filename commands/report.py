"""What the command ``report`` does where it is given a table or fits of one's own."""

from pathlib import Path

import typer

from ..errors import InputError
from . import options, tables

LAWS = {"data": ("chinchilla", "coupled"), "evaluations": ("progress-7", "progress-12", "progress-14", "progress-16")}
KIND_OF = {"data": "runs or counts", "evaluations": "evaluations"}


SUBJECTS = {"files": "FILE.nc", "data": "--data", "evaluations": "--evaluations"}
ALWAYS = {"out", "json", "fresh", "processes", "scheduler"}
SAMPLING = {"draws", "tune", "chains", "sampler", "seed"}


def asked_for(given):
    """Whether a report on a table or fits of one's own is asked for, refusing what does not go together.

    Parameters
    ----------
    given : set of str
        Names of the parameters of the command that its user gave.

    Raises
    ------
    InputError
    """
    subjects = [name for name in SUBJECTS if name in given]
    if len(subjects) > 1:
        named = " and ".join(SUBJECTS[name] for name in subjects)
        raise InputError(f"{named}: a report is on one of them; make one report for each")
    if subjects == ["files"]:
        meaning, mend = ALWAYS | {"files", "backdrop"}, "FILE.nc holds what was fitted; fit again for another"
    elif subjects:
        meaning, mend = given - {"page", "full"}, "a report on a table of one's own is one page"
    else:
        meaning, mend = (
            ALWAYS | SAMPLING | {"page", "full"},
            "for a table of one's own; name it with --data or --evaluations",
        )
    if strange := sorted(given - meaning):
        raise InputError(f"{', '.join('--' + name.replace('_', '-') for name in strange)}: {mend}")
    return bool(subjects)


def run(out, files, data, evaluations, laws, grouping, *, backdrop, progress, fresh, **sampling):
    """Make the report and return the content of ``results.json``.

    Parameters
    ----------
    out : Path
    files : list of Path or None
        Fits to report on.
    data, evaluations : str or None
        In their place a table to fit, a built-in one or a file.
    laws : list of str or None
        Names of the laws that are fitted to it.
    grouping : options.Grouping
    backdrop, progress, fresh : bool
    **sampling
        As for `fit`.

    Raises
    ------
    InputError
    """
    from ..inference import storage
    from ..reports import report as make_report
    from . import parsing

    showing = {"backdrop": backdrop, "progress": progress, "fresh": fresh}
    if files:
        if len(set(files)) < len(files):
            raise InputError("a file is named twice; name each fit once")
        return make_report(out, _named(files, storage.open), **showing)
    option, table = ("data", data) if data else ("evaluations", evaluations)
    chosen = [parsing.in_groups(name, {}, {}, grouping) for name in laws or LAWS[option]]
    kinds = {law.kind for law in chosen}
    if len(kinds) > 1 or (option == "evaluations") != (kinds == {"evaluations"}):
        raise InputError(
            f"--law {', '.join(law.name for law in chosen)}: laws of {' and '.join(sorted(kinds))}; --{option} is for "
            f"laws of {KIND_OF[option]}, of one kind"
        )
    table = parsing.table_for(chosen[0], table, grouping)
    return make_report(out, laws=chosen, table=table, **showing, **sampling)


def _named(files, opened):
    """Fits by the names of their files, with their folders where names are the same."""
    names = [path.stem for path in files]
    return {str(path) if names.count(path.stem) > 1 else path.stem: opened(path) for path in files}


@options.works(most=4)
@options.shares(options.Grouping)
def report(
    context: typer.Context,
    files: options.ReportFiles = None,
    out: options.ReportOut = Path("report"),
    data: options.OwnRuns = None,
    evaluations: options.OwnEvaluations = None,
    law: options.Laws = None,
    backdrop: options.Backdrop = False,
    page: options.Pages = None,
    draws: options.Draws = 1000,
    tune: options.Tune = 1000,
    chains: options.Chains = 4,
    sampler: options.Sampler = None,
    seed: options.Seed = 1,
    full: options.Full = False,
    fresh: options.Fresh = False,
    *,
    grouping,
):
    """Write an HTML report, results.json and the posteriors: on the built-in tables, a table of one's own, or fits."""
    from ..reports import report as make_report
    from ..reports.pages.front import lines

    sampling = {"seed": seed, "sampler": sampler, "draws": draws, "tune": tune, "chains": chains}
    always = {"progress": not grouping.json, "fresh": fresh}
    if asked_for(options.given(context)):
        document = run(out, files, data, evaluations, law, grouping, backdrop=backdrop, **always, **sampling)
    else:
        document = make_report(out, pages=page, full=full, **always, **sampling)
    if grouping.json:
        tables.print_json(document)
    else:
        for line in lines(document):
            print(line)
        print(f"written to {out / 'index.html'}, {out / 'results.json'} and {out / 'posteriors'}")
