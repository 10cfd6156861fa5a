"""Study of runs on several corpora: each corpus left out whole."""

import bayescaling as bs
import numpy as np
from bayescaling.inference import intervals
from bayescaling.reports.pages.corpora.page import BY, LAWS
from study import Study

TABLE = "overtraining_runs"
REFITS = {"draws": 300, "tune": 500}  # the Monte-Carlo error of a score is then 0.1, of differences of several nats


def left_out(parts, *, seed):
    """Compute log scores of corpora left out whole, and the difference of each law to the best."""

    def scored(law):
        table = bs.fit(law, bs.load(TABLE), seed=seed).loo(by=BY, seed=seed, **REFITS)
        return {
            "elpd": float(table["elpd"].sum()),
            "monte_carlo_se": intervals.finite(float(np.sqrt((table["elpd_se"].fillna(0) ** 2).sum()))),
            "corpora": {str(corpus): float(x) for corpus, x in table["elpd"].items()},
            "refitted": {str(corpus): bool(x) for corpus, x in table["refitted"].items()},
        }

    entries = {name: parts.entry(name, lambda law=law: scored(law)) for name, law in LAWS.items()}
    best = max(entry["elpd"] for entry in entries.values())
    return {name: entry | {"difference": entry["elpd"] - best} for name, entry in entries.items()}


STUDIES = {
    "corpora_left_out": Study(
        "runs on several corpora, each corpus left out whole",
        left_out,
        lambda: [(law, bs.load(TABLE)) for law in LAWS.values()],
        {"seed": 1},
    ),
}
