"""The stages of a report: their results, made once and kept, and what is said of the one that runs."""

import copy
import sys
import time
import warnings
from contextlib import contextmanager

from ...errors import DiagnosticWarning
from ...inference.progress_messages import lasting
from . import kept

EVERY = 60.0  # seconds between two lines


class Stages:
    """Makes the results of the stages of a long job, or takes them from the cache; says which one runs.

    Parameters
    ----------
    names : sequence of str
    progress : bool
        On standard error: a bar in a terminal, elsewhere a line a minute while stages begin.
    extras : sequence of str
        Those that `extra` gives.
    full : bool
        Make them where they are not kept.
    fresh : bool
        Make every result, whatever is kept.
    journal : Path, optional
        A file to which each stage is written when it begins (+) and when it is done (-).
    ahead : callable, optional
        Given these stages before the first result is made that is not kept, makes others with it and keeps them all;
        returns the keys of those that it made.
    **settings
        What all results follow from.

    Attributes
    ----------
    seconds : dict of str to float
        What making each result took, whenever that was.
    warned : list of str
        Diagnostic warnings, those of kept results too.
    extras : dict of str to str
        When each result that `extra` gave was made, None where it was not.
    keys : list of str
        Under which results were looked for.
    """

    def __init__(self, names, progress, *, extras=(), full=False, fresh=False, journal=None, ahead=None, **settings):
        self._journal, self._fresh, self._once = journal, fresh, {"ahead": ahead, "made": ()}
        self.seconds, self.warned, self.extras, self.keys, self._done = {}, [], {}, [], set()
        self._names, self._full, self._settings = names, full, settings
        terminal = sys.stderr.isatty()
        self._bars, self._lines = progress and terminal, progress and not terminal
        self._last = {"at": time.monotonic()}  # shared with parts of the job
        self._asked = set(names) - (set() if full else set(extras))

    def __enter__(self):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<28}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not self._bars)
        self._bar.start()
        self._task = self._bar.add_task("", total=len(self._names), left=self.time_left())
        return self

    def __exit__(self, *_):
        self._bar.stop()

    def show(self, name):
        """Show which stage runs."""
        self._write("+", name)
        left = self.time_left()
        self._bar.update(self._task, description=name, left=left)
        if self._lines and time.monotonic() - self._last["at"] >= EVERY:
            self._last["at"] = time.monotonic()
            steps = [name, f"{len(self._done)} of {len(self._names)} stages done", *filter(None, [left])]
            print(", ".join(steps), file=sys.stderr, flush=True)

    def _write(self, sign, name):
        if self._journal is not None:
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(f"{sign}{name}\n")

    def time_left(self):
        """Say how long the stages that are left took when they were made last, if all of them ever were."""
        times = kept.times()
        left = self._asked - self._done
        known = [times[name] for name in left if name in times]
        return f"about {lasting(sum(known))} left" if left and len(known) == len(left) else ""

    def advance(self, name):
        """Show that a stage is done."""
        self._write("-", name)
        self._done.add(name)
        self._bar.update(self._task, completed=len(self._done), left=self.time_left())

    def of(self, **more):
        """Return the stages of a part of the job, whose results follow from more than the settings."""
        part = copy.copy(self)
        part._settings = self._settings | more
        return part

    def extra(self, name, make, *, default=None, **more):
        """Return the result of a stage as a call does, `default` where it is not kept and no full report is made."""
        self.show(name)
        found = self._kept(name, more, wanted=self._full)
        if found is None and not self._full:
            self.extras[name] = None
            self.advance(name)
            return default
        found = found or self._made(name, make, more)
        self.extras[name] = found["made"]
        return self._told(name, found)

    def there(self, *names):
        """Those of some extra results that are there."""
        return [name for name in names if self.extras.get(name)]

    def update(self, found, name, make, *, extra=False, **more):
        """Set the attributes of `found` that ``make(found)`` sets, or those kept; parameters as for a call.

        An `extra` stage sets none where it is not kept and no full report is made.
        """

        def changed():
            before, own = vars(found), copy.copy(found)
            vars(own).update({attribute: _copied(value) for attribute, value in before.items()})
            make(own)
            return {name: value for name, value in vars(own).items() if not _same(value, before.get(name))}

        vars(found).update(self.extra(name, changed, default={}, **more) if extra else self(name, changed, **more))

    def __call__(self, name, make, *, of=(), **more):
        """Return the result of a stage, made now or kept.

        Parameters
        ----------
        name : str
        make : callable
            Without arguments.
        of : iterable of Fit
            Fits whose results the stage computes: each holds them, whether the stage is made now or was cached.
        **more
            What the result follows from besides the settings.
        """
        self.show(name)
        found = self._kept(name, more)
        if found is None:
            found = self._made(name, make, more, of)
        else:
            for fit, computed in zip(of, found["computed"], strict=True):
                fit.computed |= computed
        return self._told(name, found)

    def _key(self, name, more):
        return kept.key_of(stage=name, **self._settings, **more)

    def _kept(self, name, more, *, wanted=True):
        """Return a result that is kept; where it is not and is wanted, after those of all pages were made ahead."""
        key = self._key(name, more)
        self.keys.append(key)
        found = self._known(key)
        ahead = self._once.pop("ahead", None) if found is None and wanted else None
        if ahead is None:
            return found
        self._once["made"] = ahead(self)
        return self._known(key)

    def _known(self, key):
        """Return a result that is kept and may be used."""
        return None if self._fresh and key not in self._once["made"] else kept.get(key)

    def _made(self, name, make, more, of=()):
        """Make a result and keep it, with all that is said of it."""
        start = time.perf_counter()
        with _collected() as warned:
            result = make()
        seconds = round(time.perf_counter() - start, 3)
        found = {"result": result, "seconds": seconds, "warned": warned, "made": time.strftime("%Y-%m-%d")}
        found["computed"] = [fit.light for fit in of]
        kept.put(self._key(name, more), found)
        kept.learn(name, seconds)
        return found

    def _told(self, name, found):
        """Say what is said of a result, and return it."""
        self.seconds[name] = found["seconds"]
        self.warned += found["warned"]
        told(found["warned"], 5)
        self.advance(name)
        return found["result"]


def told(messages, level=3):
    """Say diagnostic warnings again."""
    for message in messages:
        warnings.warn(message, DiagnosticWarning, stacklevel=level)


def _copied(value):
    """Copy dicts and lists, those within them too, but nothing that they hold."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list) else value


def _same(one, other):
    """Whether two values are the same object, or dicts and lists of the same objects."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other


@contextmanager
def _collected():
    """Give a list that the diagnostic warnings of the block are put into; other warnings are passed on."""
    messages = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DiagnosticWarning)
        yield messages
    for warning in caught:
        if issubclass(warning.category, DiagnosticWarning):
            messages.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
