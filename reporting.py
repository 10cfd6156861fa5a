"""What the command ``report`` does where it is given a table or fits of one's own."""

from .errors import InputError

LAWS = {"data": ("chinchilla", "coupled"), "evaluations": ("progress-7", "progress-12", "progress-14", "progress-16")}
KIND_OF = {"data": "runs or counts", "evaluations": "evaluations"}


def asked_for(files, data, evaluations, laws, grouping):
    """Whether a report on a table or fits of one's own is asked for, refusing what excludes each other.

    Raises
    ------
    InputError
    """
    given = [name for name, x in (("FILE.nc", files), ("--data", data), ("--evaluations", evaluations)) if x]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: a report is on one of them; make one report for each")
    if laws and not (data or evaluations):
        raise InputError("--law: laws are fitted to a table; name it with --data or --evaluations")
    named = next((option for option in ("group", "pooled", "shared") if getattr(grouping, option) is not None), None)
    if named and not (data or evaluations):
        raise InputError(f"--{named}: groups are of the rows of a table that is fitted; name it with --data")
    return bool(given)


def run(out, files, data, evaluations, laws, grouping, *, backdrop, progress, **sampling):
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
    backdrop, progress : bool
    **sampling
        As for `fit`.

    Raises
    ------
    InputError
    """
    from . import inputs
    from .inference import open_fit
    from .reports import report_fits, report_table

    if files:
        if len(set(files)) < len(files):
            raise InputError("a file is named twice; name each fit once")
        return report_fits(out, _named(files, open_fit), backdrop=backdrop, progress=progress)
    option, table = ("data", data) if data else ("evaluations", evaluations)
    chosen = [inputs.in_groups(name, {}, {}, grouping) for name in laws or LAWS[option]]
    kinds = {law.kind for law in chosen}
    if len(kinds) > 1 or (option == "evaluations") != (kinds == {"evaluations"}):
        raise InputError(
            f"--law {', '.join(law.name for law in chosen)}: laws of {' and '.join(sorted(kinds))}; --{option} is for "
            f"laws of {KIND_OF[option]}, of one kind"
        )
    return report_table(
        out, chosen, inputs.table_for(chosen[0], table, grouping), backdrop=backdrop, progress=progress, **sampling
    )


def _named(files, opened):
    """Fits by the names of their files, with their folders where names are the same."""
    names = [path.stem for path in files]
    return {str(path) if names.count(path.stem) > 1 else path.stem: opened(path) for path in files}
