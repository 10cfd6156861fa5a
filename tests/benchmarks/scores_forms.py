"""Compare forms of the trend of capability at fixed compute: what they predict, what they say of the gain.

``python tests/benchmarks/scores_forms.py --fits FOLDER --out evidence/scores_forms.json`` fits the law of scores to
``eci_scores`` with each form of the yearly gain (constant, a break at a stated date, a break at a sampled date, steady
acceleration, a random walk by half-year), also with random effects of families and without reasoning models. It writes
the gains in mid-2023 and mid-2025, the probability that the later one is larger, elpd by models and by families left
out, stacking weights and the answer averaged over forms. Fits are saved in FOLDER and used again from there.
"""

import argparse
import datetime
import json
import subprocess
import time
import warnings
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
from bayescaling.inference.diagnostics import PARETO_K_LIMIT
from bayescaling.inference.executor import mapped
from bayescaling.inference.loo.bridge import LEAST_OVERLAP
from bayescaling.inference.loo.importance import importance_sampling
from bayescaling.inference.loo.refits import Refits
from bayescaling.inference.loo.weights import stacking, sum_error
from bayescaling.inference.storage import draws_of
from bayescaling.models.scores.draws import EARLIER, LATER
from bayescaling.reports.since.rests import REASONING, WIDE_ERRORS

FORMS = ("linear", "break", "sampled_break", "acceleration", "random_walk")
FEW = ("linear", "break", "acceleration")
EXTRA = {
    "slope of compute by period": {"slope_by_period": True},
    "wide errors of computes, normal prior": {"compute_errors": WIDE_ERRORS, "compute_prior": "normal"},
}
LAWS = {
    "default": {form: {"pace": form} for form in FORMS},
    "families": {form: {"pace": form, "family_effects": True} for form in FEW},
    "no reasoning models": {form: {"pace": form} for form in FEW[1:]},
    "break": {name: {"pace": "break", **options} for name, options in EXTRA.items()},
}
SETTINGS = {"draws": 500, "tune": 500, "chains": 4, "seed": 1}
REFITTED = {"draws": 400, "tune": 500, "chains": 2}
LEVELS = {"q2.5": 0.025, "q50": 0.5, "q97.5": 0.975}
DRAWN = 4000  # of the mixture of forms


def fits(folder):
    """Fit each form and variant, or open it where it was fitted before: (variant, form) to DataTree."""
    whole = bs.load("eci_scores")
    kept = whole[~whole["model"].isin(REASONING)].reset_index(drop=True)
    kept.attrs = dict(whole.attrs)
    laws = {(variant, form): bs.Scores(**options) for variant, of in LAWS.items() for form, options in of.items()}
    found = {}
    for (variant, form), law in laws.items():
        path = folder / f"{variant}-{form}.nc".replace(" ", "_").replace(",", "")
        if not path.exists():
            start = time.time()
            fit = bs.fit(law, kept if variant == "no reasoning models" else whole, **SETTINGS)
            bs.save_fit(fit, path)
            print(f"{variant}, {form}: {time.time() - start:.0f} s", flush=True)
        found[variant, form] = bs.open_fit(path)
    return found


def quantiles(values):
    """Median and 95% interval."""
    return {name: float(np.quantile(values, p)) for name, p in LEVELS.items()}


def answer(fit):
    """Gains at fixed compute in mid-2023 and mid-2025, and the probability that the later one is larger."""
    found = bs.progress_at_fixed_compute(fit, at=(EARLIER, LATER))
    before, after = (found["gain"].sel(period=year).values.ravel() for year in (EARLIER, LATER))
    factors = {
        name: quantiles(np.exp(found["rate"].sel(period=year).values.ravel()))
        for name, year in (("before", EARLIER), ("after", LATER))
    }
    diagnostics = bs.diagnose(fit)
    entry = {"gains": {"before": quantiles(before), "after": quantiles(after)}, "factors": factors}
    if fit_law(fit).pace != "linear":
        summary = bs.progress_summary(fit)["p_progress"]
        entry["p_faster"] = float((after > before).mean())
        entry["p_faster_families"] = float(summary["change", "family"])
    if fit_law(fit).pace == "sampled_break":
        dates = fit["posterior"]["break_date"].values
        entry["break_date"] = quantiles(dates)
        entry["break_date_by_chain"] = [quantiles(chain) for chain in dates]
    entry["diagnostics"] = {key: diagnostics[key] for key in ("ok", "divergences", "r_hat_max", "ess_bulk_min")}
    return entry, (before, after)


def fit_law(fit):
    """Law of a fit."""
    return draws_of(fit).law


def left_out(fits, by, refit):
    """Elpd of each group with a known compute under each form, those of a high Pareto k refitted if requested."""
    elpd, k, joints, refitted = {}, {}, {}, {}
    for form, fit in fits.items():
        joints[form] = draws_of(fit).by_group(by)
        result = importance_sampling(fit, joints[form])
        index = joints[form]["group"].values
        elpd[form], k[form] = (pd.Series(x.values, index) for x in (result.elpd_i, result.pareto_k))
    elpd, k = pd.DataFrame(elpd), pd.DataFrame(k)
    draws = draws_of(next(iter(fits.values())))
    rows = draws.rows
    known = rows[rows["model"].isin(draws.law.with_compute(rows))][by].unique()
    elpd, k = (table[table.index.isin(known)] for table in (elpd, k))
    for form, fit in fits.items():
        own = k.index[k[form] > PARETO_K_LIMIT].tolist() if refit else []
        refits = Refits(fit, seed=1, **REFITTED)
        start = time.time()
        made = list(mapped(Refits.without_group, refits, [(by, x, joints[form].sel(group=x).values) for x in own]))
        for name, one in zip(own, made, strict=True):
            elpd.at[name, form] = one["elpd"]
        refitted[form] = {
            "refitted": len(own),
            "not_reliable": sum(one["overlap"] < LEAST_OVERLAP or one["stuck"] for one in made),
        }
        print(f"{by}, {form}: {len(own)} refits, {time.time() - start:.0f} s", flush=True)
    return elpd, k, refitted


def compared(fits, answers, draws, by, refit):
    """Elpd by form with differences from the best, stacking weights, and the answer averaged with these weights."""
    elpd, k, refitted = left_out(fits, by, refit)
    best = elpd.sum().idxmax()
    apart = elpd.sub(elpd[best], axis=0)
    weights = dict(zip(elpd.columns, stacking(elpd.to_numpy()).tolist(), strict=True))
    rng = np.random.default_rng(1)
    chosen = rng.choice(len(weights), DRAWN, p=list(weights.values()))
    mixed = [np.array([rng.choice(draws[list(weights)[i]][end]) for i in chosen]) for end in (0, 1)]
    return {
        "groups": len(elpd),
        "forms": {
            form: {
                "elpd": float(elpd[form].sum()),
                "elpd_diff": float(apart[form].sum()),
                "dse": float(sum_error(apart[form])),
                "stacking": weights[form],
                "k_above_0.7": int((k[form] > PARETO_K_LIMIT).sum()),
                **refitted[form],
            }
            for form in elpd
        },
        "averaged": {
            "gains": {"before": quantiles(mixed[0]), "after": quantiles(mixed[1])},
            "p_faster": sum(w * answers[form].get("p_faster", 0.0) for form, w in weights.items()),
        },
    }


def main():
    """Fit, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--refit", action="store_true", help="refit without each group of a Pareto k above 0.7")
    options = parser.parse_args()
    warnings.simplefilter("ignore", bs.DiagnosticWarning)
    options.fits.mkdir(parents=True, exist_ok=True)
    made = fits(options.fits)
    answers, draws = {}, {}
    for (variant, form), fit in made.items():
        answers.setdefault(variant, {})[form], draws[variant, form] = answer(fit)
    document = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "command": "python tests/benchmarks/scores_forms.py --fits FOLDER --out evidence/scores_forms.json"
        + " --refit" * options.refit,
        "code": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip(),
        "settings": SETTINGS,
        "refits": REFITTED,
        "earlier": EARLIER,
        "later": LATER,
        "answers": answers,
        "left_out": {},
    }
    for variant in ("default", "families"):
        own, of = ({form: table[variant, form] for form in LAWS[variant]} for table in (made, draws))
        document["left_out"][variant] = {
            by: compared(own, answers[variant], of, by, options.refit) for by in ("model", "family")
        }
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
