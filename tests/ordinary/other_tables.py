"""Small tables of the kinds that are no runs, as people have them: dated values, counts, evaluations."""

import numpy as np
import pandas as pd
from small_tables import horizons, scores


def dates(years):
    """Return dates as text, of years with decimals."""
    days = pd.to_timedelta((np.asarray(years) - 2000) * 365.25, unit="D")
    return (pd.Timestamp("2000-01-01") + days).strftime("%Y-%m-%d")


def values(rng):
    """Simulate prices that fall tenfold a year."""
    years = np.sort(rng.uniform(2022, 2026, 12))
    price = 60 * 10 ** (2022 - years) * np.exp(0.3 * rng.standard_normal(12))
    return pd.DataFrame({"date": dates(years), "value": price, "model": [f"model {i}" for i in range(12)]})


def counts(rng):
    """Simulate sums right of 100 by length, of two runs of each of two embeddings."""
    rows = [
        (run, 5, length, length, rng.binomial(100, 1 / (1 + np.exp(length - 6 - skill))), 100, embedding)
        for run, embedding, skill in zip("abcd", ("abacus", "nope") * 2, rng.standard_normal(4), strict=True)
        for length in (2, 4, 6, 8, 12)
    ]
    return pd.DataFrame(rows, columns=["run", "train_digits", "length_a", "length_b", "correct", "total", "embedding"])


def evaluations(rng):
    """Simulate evaluations on three benchmarks, whose losses fall with sizes and dates."""
    years, parameters, tokens = (
        rng.uniform(2014, 2023, 40),
        10 ** rng.uniform(7, 10, 40),
        10 ** rng.uniform(7.5, 10, 40),
    )
    ahead = years - 2014
    loss = 1.6 + 20 / (parameters * np.exp(0.5 * ahead)) ** 0.2 + 20 / (tokens * np.exp(0.3 * ahead)) ** 0.2
    table = {
        "publication_date": dates(years),
        "benchmark": rng.choice(["wt103", "wt2", "ptb"], 40),
        "parameters": parameters,
    }
    table |= {"dataset_tokens": tokens, "transformer": (years > 2018).astype(int)}
    return pd.DataFrame(table | {"perplexity": np.exp(loss + 0.03 * rng.standard_normal(40))})


def dated_horizons(rng):
    """Simulate successes on tasks with the dates of the models."""
    table, _ = horizons(int(rng.integers(40)))
    return table.assign(date=dates(table.pop("year")))


TABLES = {
    "values": values,
    "counts": counts,
    "evaluations": evaluations,
    "horizons": dated_horizons,
    "scores": lambda rng: scores(int(rng.integers(40)))[0],
}
