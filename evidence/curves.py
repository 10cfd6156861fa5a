"""A study of runs in flight: schedules left out, runs cut short, forms of the law, known truths.

Each error that the law has on other curves is learned from two sizes and tested on the third. Runs of one size have one
start and one seed, so that 27 curves inform less than their number.
"""

from functools import partial

import bayescaling as bs
import numpy as np
from bayescaling.datasets.schedules import RateSchedule
from bayescaling.inference.comparison.scoring import crps
from bayescaling.models.curves.areas import MEMORY, POWER, areas
from scipy.optimize import least_squares, minimize, minimize_scalar
from scipy.stats import norm
from study import laws_of, register

TABLE, SIZES = "schedule_curves", ("25M", "100M", "400M")
FITTED = ("cosine_24000", "constant_24000", "wsdcon_9")  # the other six are predicted, as in the publication
CUTS = (0.2, 0.4, 0.6, 0.8)
ENDS = (0.05, 0.5, 0.95)
PUBLISHED = {  # Luo et al. 2025: mean absolute and worst relative error on the six; L0, A, alpha, B, C, beta, gamma
    "25M": (0.0038, 0.0041, (3.040454, 0.524686, 0.507869, 363.7875, 2.065608, 0.582790, 0.641423)),
    "100M": (0.0044, 0.0058, (2.651448, 0.601152, 0.452958, 437.9464, 2.132456, 0.597852, 0.655236)),
    "400M": (0.0048, 0.0100, (2.374745, 0.654212, 0.428787, 523.4246, 2.024627, 0.593505, 0.634725)),
}
START = (3.0, 0.09, 0.5, 0.04)  # of least squares: loss, share that training removes, its power, share of annealing
START_OUT = 0.05  # share of a run, at its start, without which the power law in steps predicts better
PEAK, WARMUP, EVERY = 3e-4, 2160, 32  # of all schedules; steps between which rates are added up
STARTS = ((-1.5, 0.1, -2.5, -6.0), (-3.0, 0.05, -3.0, -5.0))  # of the errors below


@register(
    "losses of runs in flight and under other schedules", laws_of(TABLE, [bs.laws.Curve()]), seed=1, simulations=200
)
def curves(parts, *, seed, simulations):
    """Make all parts, and score forecasts with errors learned from other sizes."""
    left_out = {size: parts.entry(f"left out {size}", partial(_left_out, size, seed)) for size in SIZES}
    cut = {size: _cut(parts, size, seed) for size in SIZES}
    cases = {size: [*left_out[size], *cut[size]] for size in SIZES}
    errors = {size: _learned([case for other in SIZES if other != size for case in cases[other]]) for size in SIZES}
    scored = {size: [_scored(case, errors[size]) for case in cases[size]] for size in SIZES}
    every = [case for size in SIZES for case in scored[size]]
    others = [case for case in every if case["cut"] is None]
    places = [x for i in range(simulations) for x in parts.entry(f"simulated {i}", partial(_simulated, [seed, i]))]
    return {
        "errors": errors | {"all": _learned([case for size in SIZES for case in cases[size]])},
        "schedules_left_out": {size: _whole(left_out[size], errors[size]) for size in SIZES} | {"last": _mean(others)},
        "cut": {str(cut): _compared([case for case in every if case["cut"] == cut]) for cut in CUTS},
        "forms": {size: parts.entry(f"forms {size}", partial(_forms, size)) for size in SIZES},
        "simulated": {
            str(cut): {f"{level:g}": float(np.mean([abs(x - 0.5) < level / 2 for c, x in places if c == cut]))
                       for level in (0.5, 0.9)}
            for cut in CUTS
        },
    }  # fmt: skip


def _readings(size):
    table = bs.load(TABLE)
    table = table[table["run"].str.startswith(f"{size} ")]
    return {run.split()[1]: of for run, of in table.groupby("run")}


def _left_out(size, seed):
    runs, table = _readings(size), bs.load(TABLE)
    fit = bs.fit("curve", table[table["run"].isin([f"{size} {run}" for run in FITTED])], seed=seed)
    return [_case(fit, of, None, seed) | {"cut": None} for run, of in runs.items() if run not in FITTED]


def _cut(parts, size, seed):
    cases = [(of, parts.entry(f"cut {size} {run}", partial(_cut_run, of, seed))) for run, of in _readings(size).items()]
    return [case | _points(readings, case["cut"]) for readings, of_run in cases for case in of_run]


def _cut_run(readings, seed):
    fits = {cut: bs.fit("curve", readings[_progress(readings) <= cut], seed=seed) for cut in CUTS}
    return [_case(fit, readings, readings["run"].iloc[0], seed) | {"cut": cut} for cut, fit in fits.items()]


def _progress(readings):
    return (readings["clock"] - readings["clock"].iloc[0]) / np.ptp(readings["clock"])


def _points(readings, cut):
    progress = _progress(readings)
    late = readings[(progress >= START_OUT) & (progress <= cut)]
    x, y = np.log(late["step"] / readings["step"].iloc[-1]), late["loss"]
    best = minimize_scalar(lambda power: _power_law(power, x, y)[1].sum(), bounds=(0.01, 3), method="bounded")
    return {"power law": float(_power_law(best.x, x, y)[0].sum()), "last reading": float(y.iloc[-1])}


def _power_law(power, x, y):
    """Return least-squares coefficients of a constant and of a power of steps, and the squared error."""
    return np.linalg.lstsq(np.stack([np.ones(len(x)), np.exp(-power * x)], 1), y, rcond=None)[:2]


def _case(fit, readings, run, seed):
    """Return what the law predicts of the last reading of a run, draw by draw, and its medians along the way."""
    rows, peak, before = fit.rows, readings["rate"].max(), None
    if run is not None:
        last = rows.iloc[-1]
        before, ahead = (last["area"], last["annealed"]), readings[readings["clock"] > last["clock"]]
        clock, rate = np.r_[last["clock"], ahead["clock"]], np.r_[last["rate"], ahead["rate"] / peak]
    else:
        clock, rate = readings["clock"].to_numpy(), readings["rate"].to_numpy() / peak
    places = *areas(clock, rate, peak=1.0, before=before), clock
    loss, gain = fit.draws.ahead(run, *places, np.random.default_rng(seed))
    noise = fit["posterior"]["noise"] * fit["posterior"]["loss_centre"]
    return {
        "run": readings["run"].iloc[0],
        "observed": float(readings["loss"].iloc[-1]),
        "beyond": float(max(np.log(clock[-1] / rows["clock"].max()), 0.0)),
        "draws": [x.values.ravel()[::4].tolist() for x in (loss[..., -1], gain[..., -1], noise)],
        "path": [x.median(("chain", "draw")).values.tolist() for x in (loss, gain)] if run is None else [],
        "losses": readings["loss"].tolist() if run is None else [],
        "ok": fit.diagnostics["ok"],
    }


def _terms(case, errors):
    """Return the loss and the gain of each draw, the mean error of the gain, and the sd of all errors."""
    loss, gain, noise = map(np.array, case["draws"])
    mean, sd = (0.0, errors["unseen"]) if case["cut"] else (errors["other_mean"], errors["other_sd"])
    return loss + gain * mean, np.sqrt((gain * sd) ** 2 + noise**2 + (loss * errors["beyond"] * case["beyond"]) ** 2)


def _log_score(case, errors):
    mean, sd = _terms(case, errors)
    return float(np.log(norm.pdf(case["observed"], mean, sd).mean() + 1e-300))


def _learned(cases):
    """Return the errors of greatest log score."""

    def errors(z):
        return {"unseen": np.exp(z[0]), "other_mean": z[1], "other_sd": np.exp(z[2]), "beyond": np.exp(z[3])}

    tries = [minimize(lambda z: -sum(_log_score(case, errors(z)) for case in cases), start, method="Nelder-Mead",
                      options={"xatol": 1e-3, "fatol": 1e-2}) for start in STARTS]  # fmt: skip
    return {name: float(x) for name, x in errors(min(tries, key=lambda of: of.fun).x).items()}


def _scored(case, errors):
    mean, sd = _terms(case, errors)
    draws = mean + sd * np.random.default_rng(1).standard_normal(len(case["draws"][0]))
    ends, observed = np.quantile(draws, ENDS), case["observed"]
    score = float(crps(draws[:, None], np.array([observed]))[0])
    place = float((draws < observed).mean())
    return case | {"miss": ends[1] - observed, "place": place, "crps": score, "width": ends[2] - ends[0]}


def _mean(cases):
    return {
        "cases": len(cases),
        "mae": float(np.mean([abs(case["miss"]) for case in cases])),
        "held": {level: float(np.mean([abs(case["place"] - 0.5) < float(level) / 2 for case in cases]))
                 for level in ("0.5", "0.9")},
        "crps": float(np.mean([case["crps"] for case in cases])),
        "width": float(np.mean([case["width"] for case in cases])),
        "converged": float(np.mean([case["ok"] for case in cases])),
    }  # fmt: skip


def _compared(cases):
    points = {name: float(np.mean([abs(case[name] - case["observed"]) for case in cases]))
              for name in ("power law", "last reading")}  # fmt: skip
    return {"law": _mean(cases)} | points


def _whole(cases, errors):
    """Return the mean absolute and the worst relative error over a curve, averaged over curves as published."""
    miss = [np.array(c["path"][0]) + errors["other_mean"] * np.array(c["path"][1]) - c["losses"] for c in cases]
    worst = [np.abs(x / np.array(case["losses"])).max() for x, case in zip(miss, cases, strict=True)]
    size = cases[0]["run"].split()[0]
    published = dict(zip(("mae", "worst"), PUBLISHED[size], strict=False))
    return {"mae": float(np.mean([np.abs(x).mean() for x in miss])), "worst": float(np.mean(worst)),
            "published": published}  # fmt: skip


def _forms(size):
    """Fit two forms of the law by least squares to three curves, and predict the others."""
    runs = _readings(size)
    steps = {run: np.arange(0, of["step"].iloc[-1] + EVERY, EVERY) for run, of in runs.items()}
    rates = {run: _rates(run, steps[run]) for run in runs}
    return {
        f"annealing, {MEMORY:g} steps, power {POWER:g}": _tested(_annealing(runs, steps, rates), START, runs),
        "multi-power": _tested(partial(_multi_power, runs, steps, rates), PUBLISHED[size][2], runs),
    }


def _rates(run, steps):
    kind, *places = run.split("_")
    kinds = {"wsd": "exponential", "wsdld": "linear", "wsdcon": "linear"}
    final, start, end = 3e-5, WARMUP, float(places[-1])
    if kind == "wsdcon":
        final, start, end = float(places[0]) * 1e-5, 7999, 8000
    elif kind in kinds:
        start = float(places[0])
    text = f"{kinds.get(kind, kind)}:peak={PEAK},warmup={WARMUP},from={start:g},final={final:g}"
    return RateSchedule(text).rates(steps, end)


def _annealing(runs, steps, rates):
    """Return the annealing law as a function of its constants and a run."""
    places = {}
    for run, of in runs.items():
        both = areas(steps[run][1:], rates[run][1:])
        places[run] = [np.interp(of["step"], steps[run][1:], x) for x in both]

    def form(z, run):
        area, annealed = places[run]
        return z[0] * (1 + z[1] * ((area / 2e4) ** -z[2] - 1) - z[3] * annealed)

    return form


def _multi_power(runs, steps, rates, z, run):
    """Return the multi-power law of Luo et al. 2025 at the readings of a run."""
    loss, a, alpha, b, c, beta, gamma = z
    step, rate = steps[run], rates[run]
    total = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(step))])
    falls, at = -np.diff(rate), np.interp(runs[run]["step"], step, total)
    some = falls != 0
    since = np.maximum(at[:, None] - (total[1:] + total[:-1])[some] / 2, 0.0)
    effect = 1 - (1 + abs(c) * rate[1:][some] ** -gamma * since) ** -beta
    return loss + a * at**-alpha - b * effect @ falls[some]


def _tested(form, start, runs):
    """Fit a form by least squares to three curves, and return its mean absolute error on the others."""

    def errors(z):
        return np.concatenate([(form(z, run) - runs[run]["loss"]) / len(runs[run]) ** 0.5 for run in FITTED])

    fit = least_squares(errors, start, x_scale=np.abs(start), loss="soft_l1", f_scale=0.002)
    miss = [np.array(form(fit.x, run) - of["loss"]) for run, of in runs.items() if run not in FITTED]
    return {"mae": float(np.mean([np.abs(x).mean() for x in miss]))}


def _simulated(entropy):
    """Simulate a run under the law with a truth of the prior, and place its last block among the draws, by cut."""
    rng, law, table = np.random.default_rng(entropy), bs.laws.Curve(), bs.load(TABLE)
    rows = law.rows(table[table["run"] == rng.choice(table["run"].unique())])
    truth, last, places = law.prior_draws(rng, law.reference(rows), rows), rows.iloc[-1], []
    rows = rows.assign(loss=truth.replicate(rng).values[0, 0])
    for cut in CUTS:
        seen = rows[rows["clock"] <= cut * last["clock"]]
        if len(seen) >= 8:
            fit = bs.Fitter(law, seen).sample(seed=entropy[1], least_ess=0, draws=500, tune=700)
            at = (np.array([last[name]]) for name in ("area", "annealed", "clock"))
            draws = fit.draws.ahead(last["run"], *at, rng)[0].values
            noise = fit.posterior["noise"] * fit.posterior["loss_centre"] / min(last["readings"], 4) ** 0.5
            draws = draws[..., 0] + noise.values * rng.standard_normal(noise.shape)
            places.append((cut, float((draws < rows["loss"].iloc[-1]).mean())))
    return places
