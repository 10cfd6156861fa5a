"""The log of a sweep: a line of JSON for each report of a run, which is its loss curve, and one when it is finished."""

import json
import math
import time


class Log:
    """A log to which lines are appended, and which `track` takes too, as a dict. A number that is not finite is null.

    A run that resumes repeats the steps since its last checkpoint: of lines of one step the last counts.
    """

    def __init__(self, path, track=None):
        self.path, self.track = path, track
        # A killed process may have left a part of a line.
        self.start = "" if not path.exists() or path.read_bytes()[-1:] in (b"", b"\n") else "\n"

    def write(self, entry):
        """Append a line with the time, in seconds since 1970."""
        entry = {"time": time.time()} | entry
        line = {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in entry.items()}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.start + json.dumps(line) + "\n")
        self.start = ""
        if self.track is not None:
            self.track(entry)

    def reporter(self, run, shown=None):
        """Make the report that the training loop calls, which logs the loss and then shows it."""

        def report(step, loss):
            rate = run.optimisation.rate(step - 1)
            entry = {"run": run.name, "step": step, "loss_train": loss, "learning_rate": rate}
            self.write(entry | {"tokens": run.tokens_done(step)})
            if shown:
                shown(step, loss)

        return report
