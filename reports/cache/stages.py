"""The stages of a job: their results, made once and then read from the cache, and a display of the one that runs."""

import copy
import hashlib
import json
import time
import warnings

from ...datasets.files import evidence
from ...datasets.progress_messages import Bar, lasting
from ...errors import DiagnosticWarning, TableNote
from ...inference.fitted import light_results, results_of
from ..results import to_json
from . import store
from .whole import warn_again

IGNORED = ("created", "seconds")  # entries of the record of a fit that nothing in a report depends on


class Stages:
    """Makes the results of the stages of a long job, or reads them from the cache, and shows which one runs.

    Parameters
    ----------
    names : sequence of str
    progress : bool
        On standard error: a bar in a terminal, elsewhere a line a minute while stages begin.
    fresh : bool
        Make every result, whatever is in the cache.
    all : bool
        Make what `study` otherwise reads from the long studies, too.
    ahead : callable, optional
        Called before the first result is made: makes others in parallel, returns their keys.
    **settings
        What all results follow from.

    Attributes
    ----------
    seconds : dict of str to float
        What making each result took, whenever that was.
    warned, keys : list of str
        Diagnostic warnings of all results, and their keys.
    studies : dict of str to dict
        Results of the studies that were made, by name.
    """

    def __init__(self, names, progress, *, fresh=False, all=False, ahead=None, **settings):
        self._names, self._fresh, self._all, self.studies = names, fresh, all, {}
        self._settings = settings | {"all": all}
        self.seconds, self.warned, self.keys, self._done = {}, [], [], set()
        self._shared = {"ahead": ahead, "made": ()}  # with parts of the job
        self._bar = Bar(progress)

    def __enter__(self):
        self._bar.__enter__().begin(len(self._names))
        return self

    def __exit__(self, *error):
        self._bar.__exit__(*error)

    def part(self, **more):
        """Return the stages of a part of the job, which follow from more settings."""
        part = copy.copy(self)
        part._settings = self._settings | more
        return part

    def __call__(self, name, make, *, of=None, **more):
        """Return the result of a stage, made now or read from the cache.

        Parameters
        ----------
        name : str
        make : callable
            Without arguments.
        of : dict of str to Fit, optional
            Fits of other stages that the result follows from. Each holds what the stage computed of it, even where the
            result comes from the cache.
        **more
            What the result follows from besides the settings.
        """
        fits = of or {}
        digests = [[label, digest(fit)] for label, fit in fits.items()]
        key = store.key_of(stage=name, of=digests, **self._settings, **more)
        self.keys.append(key)
        self.show(name)
        entry = self._cached(key)
        if entry is None:
            if ahead := self._shared.pop("ahead", None):
                self._shared["made"] = ahead()
                entry = self._cached(key)
            entry = entry or _made(key, name, make, fits)
        for fit, computed in zip(fits.values(), entry["computed"], strict=True):
            results_of(fit).update(computed)
        self.seconds[name] = entry["seconds"]
        self.warned += entry["warned"]
        warn_again(entry["warned"], 4)
        warn_again(entry["notes"], 4, TableNote)
        self.advance(name)
        return entry["result"]

    def study(self, name, make, **more):
        """Return the result and the fits of a long study: from ``evidence`` and none, or as `make` returns them."""
        if not self._all:
            self.show(name)
            self.advance(name)
            return copy.deepcopy(evidence(name)["result"]), {}
        result, fits = self(name, make, **more)
        self.studies[name] = json.loads(to_json(result))
        return self.studies[name], fits

    def _cached(self, key):
        return None if self._fresh and key not in self._shared["made"] else store.get(key)

    def show(self, name):
        """Show which stage runs."""
        self._bar.move(name, len(self._done), f"{len(self._done)} of {len(self._names)} stages", self.time_left())

    def advance(self, name):
        """Show that a stage is done."""
        self._done.add(name)
        self.show(name)

    def time_left(self):
        """Return how long the remaining stages took when they were last made, "" unless all of them ever were."""
        times, left = store.times(), set(self._names) - self._done
        durations = [times[name] for name in left if name in times]
        return f"about {lasting(sum(durations))} left" if left and len(durations) == len(left) else ""


def digest(fit):
    """Return the digest of a fit: of its record and its draws, not of when it was made."""
    record = {name: entry for name, entry in fit.record.items() if name not in IGNORED}
    content = hashlib.sha256(json.dumps(record, sort_keys=True).encode())
    for name, draws in sorted(fit["posterior"].data_vars.items()):
        content.update(name.encode() + draws.values.tobytes())
    return content.hexdigest()


def _made(key, name, make, fits):
    """Make a result and save it with its warnings and notes, its time, and what the fits computed."""
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        for category in (DiagnosticWarning, TableNote):
            warnings.simplefilter("always", category)
        result = make()
    seconds = round(time.perf_counter() - start, 3)
    warned, notes = ([str(x.message) for x in caught if x.category is of] for of in (DiagnosticWarning, TableNote))
    for warning in caught:
        if warning.category not in (DiagnosticWarning, TableNote):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    entry = {"result": result, "seconds": seconds, "warned": warned, "notes": notes}
    entry["computed"] = [light_results(fit) for fit in fits.values()]
    store.put(key, entry)
    store.learn(name, seconds)
    return entry
