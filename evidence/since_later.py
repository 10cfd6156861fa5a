"""Scores of later models, foretold from those of earlier ones, beside past scores of each benchmark."""

import numpy as np
from bayescaling.inference import intervals, rollout
from bayescaling.inference.comparison.rollout import summarised
from bayescaling.inference.comparison.scoring import crps

CUTOFFS = ("2024-09-01", "2025-01-01")
SAID = ("coverage_50", "coverage_80", "coverage_90", "crps", "mae", "bias")


def of_later_models(law, table, options):
    """Fit a law to models before each cutoff and predict the others' scores.

    Parameters
    ----------
    law : Scores
    table : DataFrame
    options : dict
        Of `fit`.

    Returns
    -------
    dict
        By cutoff: ``ok``, ``fitted`` models, ``not_foretold`` scores on benchmarks of which too little is known, and
        by what is given of a model, its date or its compute too, how well its scores were predicted, and how well by
        the past scores of the benchmark.
    """
    summary, predictions = rollout(law, table, "date", list(CUTOFFS), **options)
    rows, found = law.rows(table), {}
    for cutoff, said in zip(summary.index, CUTOFFS, strict=True):
        own = predictions.isel(prediction=(predictions["cutoff"] == cutoff).values)
        ahead, past = rows.iloc[own["row"].values], rows[rows["year"] < cutoff]
        has = ahead["model"].isin(law.with_compute(rows)).to_numpy()
        found[said] = {
            "ok": bool(summary.at[cutoff, "ok"]),
            "fitted": int(past["model"].nunique()),
            "not_foretold": int((rows["year"] >= cutoff).sum()) - len(ahead),
            "given": {
                name: _judged(own.isel(prediction=chosen), ahead[chosen], past)
                for name, chosen in (("date", ~has), ("compute", has))
                if chosen.any()
            },
        }
    return found


def _judged(predictions, ahead, past):
    summary = summarised(predictions)
    scores = past.groupby("benchmark")["score"].apply(np.asarray)
    observed = ahead["score"].to_numpy(float)
    error = ahead["benchmark"].map(scores.map(np.mean)).to_numpy() - observed
    score = [crps(scores[name][:, None], one[None])[0] for name, one in zip(ahead["benchmark"], observed, strict=True)]
    return {
        "scores": len(ahead),
        "models": int(ahead["model"].nunique()),
        **{name: intervals.finite(summary[name]) for name in SAID},
        "past_scores": {
            "crps": float(np.mean(score)), "mae": float(abs(error).mean()), "bias": float(error.mean())
        },
    }  # fmt: skip
