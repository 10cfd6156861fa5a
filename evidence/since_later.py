"""Scores of later models, predicted from those of earlier ones, compared with past scores of each benchmark."""

import numpy as np
from bayescaling.inference import intervals, rollout
from bayescaling.inference.comparison.rollout import summarised
from bayescaling.inference.comparison.scoring import crps

CUTOFFS = ("2024-09-01", "2025-01-01")
FIGURES = ("coverage_50", "coverage_80", "coverage_90", "crps", "mae", "bias")


def of_later_models(law, table, options):
    """Fit a law to models before each cutoff and predict the others' scores.

    Returns
    -------
    dict
        By cutoff: ``ok``, the number of ``fitted`` models, and ``not_foretold``, the number of scores on benchmarks
        with too few earlier ones. ``given`` has the errors of predictions from a model's ``date``, or from its date and
        ``compute``, and the errors of the benchmark's past scores.
    """
    summary, predictions = rollout(law, table, "date", list(CUTOFFS), **options)
    rows, by_cutoff = law.rows(table), {}
    for cutoff, date in zip(summary.index, CUTOFFS, strict=True):
        predicted = predictions.isel(prediction=(predictions["cutoff"] == cutoff).values)
        ahead, past = rows.iloc[predicted["row"].values], rows[rows["year"] < cutoff]
        has = ahead["model"].isin(law.with_compute(rows)).to_numpy()
        by_cutoff[date] = {
            "ok": bool(summary.at[cutoff, "ok"]),
            "fitted": int(past["model"].nunique()),
            "not_foretold": int((rows["year"] >= cutoff).sum()) - len(ahead),
            "given": {
                name: _errors(predicted.isel(prediction=chosen), ahead[chosen], past)
                for name, chosen in (("date", ~has), ("compute", has))
                if chosen.any()
            },
        }
    return by_cutoff


def _errors(predictions, ahead, past):
    summary = summarised(predictions)
    scores = past.groupby("benchmark")["score"].apply(np.asarray)
    observed = ahead["score"].to_numpy(float)
    error = ahead["benchmark"].map(scores.map(np.mean)).to_numpy() - observed
    score = [crps(scores[name][:, None], one[None])[0] for name, one in zip(ahead["benchmark"], observed, strict=True)]
    return {
        "scores": len(ahead),
        "models": int(ahead["model"].nunique()),
        **{name: intervals.finite(summary[name]) for name in FIGURES},
        "past_scores": {
            "crps": float(np.mean(score)), "mae": float(abs(error).mean()), "bias": float(error.mean())
        },
    }  # fmt: skip
