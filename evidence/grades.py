"""A study of the grades of answers: how often intervals of strong, fair and weak answers hold the truth, and how near.

Each answer is of one simulated table. In half of them the law that is fitted is not the one that was simulated. It is
graded by what a report knows, such as the check of the law, the median of another law, and the distance from the runs.

- exponent and size: a ladder of sizes at several ratios of tokens, at up to 300 times the compute of its largest run.
- difference and direction: two recipes, as in ``worth.py``, at up to ten times the largest run.
- doubling time: evaluations of some of the papers of ``lm_progress``.
"""

from functools import cache, partial

import bayescaling as bs
import numpy as np
import pandas as pd
import worth
from bayescaling.inference.estimands.strength import GRADES, Facts, strength, width
from bayescaling.inference.intervals import parameters, summary
from bayescaling.inference.progress.rate_at_rows import fall, row_slopes
from bayescaling.inference.words import HIGH, LOW, MIDDLE
from bayescaling.models.loss import coupled
from study import register

FITTED = ("coupled", "chinchilla")
KAPPA = {"coupled": 0.6, "chinchilla": 1.0}
DECADES = (0.0, 2.5)  # beyond the largest run
SPECIFICATIONS = (7, 10)  # the first is fitted
SHARE_OF_PAPERS = (0.4, 1.0)
WIDEST = 1e9  # that stands for an interval without an end
FAR = float(np.log(1000))  # of a median that is infinite or of the other sign
KINDS = ("exponent", "size", "doubling time", "difference", "direction")


def ladder(rng, kappa):
    """Draw the runs of a ladder, and their constants."""
    sizes = np.geomspace(3e7, 3e7 * 10 ** rng.uniform(1, 2.5), rng.integers(4, 10))
    ratios = np.geomspace(rng.uniform(3, 10), rng.uniform(40, 200), rng.integers(3, 7))
    n, ratio = (x.ravel() for x in np.meshgrid(sizes, ratios, indexing="ij"))
    alpha, beta = rng.uniform(0.28, 0.42, 2)
    centre_n, centre_d = np.exp(np.log(n).mean()), np.exp(np.log(ratio * n).mean())
    terms = rng.uniform(0.2, 0.6, 2)
    constants = {"E": rng.uniform(1.5, 2.0), "A": terms[0] * centre_n**alpha, "B": terms[1] * centre_d**beta}
    constants |= {"alpha": alpha, "beta": beta, "kappa": kappa}
    noise = np.exp(rng.uniform(np.log(0.001), np.log(0.01)))
    loss = coupled.loss(n, ratio * n, **constants) * np.exp(noise * rng.standard_normal(len(n)))
    return bs.read(pd.DataFrame({"parameters": n, "tokens": ratio * n, "loss": loss})), constants


def of_ladder(entropy, settings):
    """Answer for the exponent and for the best size of one ladder."""
    rng = np.random.default_rng(entropy)
    simulated, name = rng.choice(FITTED, 2)
    runs, constants = ladder(rng, KAPPA[simulated])
    decades = max(rng.uniform(-1, DECADES[1]), DECADES[0])
    compute = 10**decades * float((6 * runs["parameters"] * runs["tokens"]).max())
    laws = (name, *set(FITTED) - {name})
    fit, rival = (fitter(law).fit(runs, seed=entropy[-1], **settings) for law in laws)
    true = {"exponent": constants["beta"] / (constants["alpha"] + constants["beta"])}
    true["size"] = float(coupled.optimum(compute, **constants)[0])
    ours, others = (
        {
            "exponent": parameters(of)["exponent_parameters"],
            "size": summary(of.allocate(compute)["parameters"], ratio=True),
        }
        for of in (fit, rival)
    )
    beyond = {"exponent": 0.0, "size": decades}
    return {
        kind: graded(ours[kind], true[kind], fit, others=[others[kind][MIDDLE]], decades=beyond[kind]) for kind in true
    }


@cache
def fitter(name):
    """Return the compiled law."""
    return bs.Fitter(name, ladder(np.random.default_rng(1), 1.0)[0])


def graded(q, true, fit, *, others=(), decades=None, direction=None):
    """Grade an answer, and compare it with the truth."""
    check = fit.check()
    medians = [x for x in (q[MIDDLE], *others) if x is not None]
    facts = Facts(
        chains=fit.diagnostics["ok"],
        **{name: check[name] for name in ("verdict", "p", "size")},
        width=min(width(q), WIDEST),
        sensitivity=max(medians) / min(medians) if len(medians) > 1 else None,
        decades=decades,
        direction=direction,
    )
    low, high = q[LOW], q[HIGH]
    held = (low is None or low <= true) and (high is None or true <= high)
    error = abs(float(np.log(q[MIDDLE] / true))) if q[MIDDLE] and q[MIDDLE] / true > 0 else FAR
    return {"held": bool(held), "log_error": min(error, FAR), "facts": facts._asdict()}


def of_pair(entropy, settings):
    """Answer for the multiplier of a changed recipe, and for its direction."""
    rng = np.random.default_rng([*entropy, 1])
    kappa = rng.choice([*worth.KAPPA.values()])
    constants, runs = worth.drawn(kappa, entropy)
    compute = 10 ** max(rng.uniform(-0.5, 1.0), 0.0) * float((6 * runs["parameters"] * runs["tokens"]).max())
    fit = worth.fitter().fit(runs, seed=entropy[-1], **settings)
    result = bs.worth(fit, "baseline", compute).isel(group=0, compute=0)
    decades, q = float(result["extrapolation"]), summary(result["multiplier"], ratio=True)
    true, better = np.exp(worth.multiplier(constants, compute)), float(result["p_better"])
    p = max(better, 1 - better)
    claim = graded(q, true, fit, decades=decades, direction=(p, p))
    claim["held"] = bool((true > 1) == (better > 0.5))
    return {"difference": graded(q, true, fit, decades=decades), "direction": claim}


def of_papers(entropy, settings):
    """Answer for the doubling time from evaluations of some papers."""
    rng = np.random.default_rng(entropy)
    table, simulated = bs.load("lm_progress"), rng.choice(SPECIFICATIONS)
    names = table["paper_id"].unique()
    papers = rng.choice(names, round(rng.uniform(*SHARE_OF_PAPERS) * len(names)), replace=False)
    law, rows = bs.laws.Progress(int(simulated)), table[table["paper_id"].isin(papers)].reset_index(drop=True)
    rows.attrs = dict(table.attrs)
    draw = truth(law, law.rows(rows), rng)
    yearly, slope = row_slopes(draw)
    months = float(12 * np.log(2) * slope.mean() / yearly.mean())
    rows[law.observed] = np.exp(draw.replicate(rng).values.reshape(-1))
    fit = bs.progress.new_fitter(rows).fit(law=bs.laws.Progress(SPECIFICATIONS[0]), seed=entropy[-1], **settings)
    p = float((bs.progress.compute_equivalent_gain(fit) > 0).mean())
    return {"doubling time": graded(fall(fit)["halving"], months, fit, decades=0.0, direction=(p, p))}


@cache
def published(specification):
    """Return the fit of a specification to all evaluations."""
    return bs.progress.fit_all(specifications=[specification], draws=500, tune=500)[specification]


def truth(law, rows, rng):
    """Return one posterior draw of the fit to all evaluations, as draws of some rows."""
    fit = published(law.options["specification"])
    draws = fit["unconstrained_posterior"].to_dataset()
    one = {dim: [int(rng.integers(draws.sizes[dim]))] for dim in ("chain", "draw")}
    return law.draws(draws.isel(one), rows, fit.draws.reference)


def _laws():
    progress = bs.laws.Progress(SPECIFICATIONS[0])
    return [(bs.laws.Coupled(), bs.load("chinchilla_runs")), (progress, bs.load("lm_progress"))]


@register("how often intervals of strong, fair and weak answers hold the truth, and how near their medians are", _laws,
          seed=1, answers=200, draws=500, tune=500, chains=4, least_ess=200)  # fmt: skip
def grades(parts, *, seed, answers, **settings):
    """Simulate answers of each kind, and summarise them by grade."""
    entries = {kind: [] for kind in KINDS}
    for name, make in (("ladder", of_ladder), ("pair", of_pair), ("papers", of_papers)):
        for i in range(answers):
            for kind, entry in parts.entry(f"{name} {i}", partial(make, [seed, i], settings)).items():
                entries[kind].append(entry)
    entries["all"] = [entry for kind in KINDS[:-1] for entry in entries[kind]]
    return {
        kind: {grade: summarised([x for x in of if strength(Facts(**x["facts"])) == grade]) for grade in GRADES}
        for kind, of in entries.items()
    }


def summarised(entries):
    """Return how many answers there are, how many intervals or directions hold, and by what factor medians are off."""
    if not entries:
        return {"answers": 0}
    factors = np.exp([entry["log_error"] for entry in entries])
    return {
        "answers": len(entries),
        "held": float(np.mean([entry["held"] for entry in entries])),
        "factor_median": float(np.median(factors)),
        "factor_90": float(np.quantile(factors, 0.9)),
    }
