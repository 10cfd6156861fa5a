"""Measure how often the check rejects a true law: tables are drawn from a law, fitted with it and checked.

python tests/benchmarks/false_alarms.py --tables 200 --law chinchilla
"""

import argparse
import warnings
from collections import Counter

import bayescaling as bs
import numpy as np
from bayescaling.inference import Fitter
from bayescaling.models.draws import DRAWS
from scipy import stats

SHORT = {"draws": 300, "tune": 400, "chains": 2}
LAWS = {
    "chinchilla": bs.laws.Chinchilla(),
    "coupled": bs.laws.Coupled(),
    "progress": bs.laws.Progress(7),
    "lengths": bs.laws.Lengths(),
}


def replicated(fit, rng):
    """Return rows with observations that a random draw of a fit predicts."""
    draws = fit.draws
    z = draws.real_line()
    chain, draw = (int(rng.integers(z.sizes[name])) for name in DRAWS)
    one = draws.from_real_line(z.isel(chain=[chain], draw=[draw]))
    law, rows = draws.law, fit.rows
    observed = law.from_scale(one.replicate(rng).values[0, 0])
    return rows.assign(**{law.observed: observed.astype(rows[law.observed].dtype)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--law", choices=list(LAWS), default="chinchilla")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    law = LAWS[asked.law]
    warnings.simplefilter("ignore")
    table = law.usual_table()
    fit, rng = bs.fit(law, table, seed=asked.seed), np.random.default_rng(asked.seed)
    fitter, verdicts, tests = Fitter(law, law.rows(table)), Counter(), Counter()
    for i in range(asked.tables):
        check = fitter.fit(replicated(fit, rng), seed=asked.seed, **SHORT).check()
        verdicts[check["verdict"]] += 1
        tests.update(check["rejected_by"])
        if (i + 1) % 20 == 0:
            print(i + 1, dict(verdicts), dict(tests), flush=True)
    alarms = asked.tables - verdicts["fits"]
    low, high = stats.binomtest(alarms, asked.tables).proportion_ci()
    print(f"{asked.law}: {alarms} of {asked.tables} true laws do not pass ({low:.1%} to {high:.1%}); by {dict(tests)}")


if __name__ == "__main__":
    main()
