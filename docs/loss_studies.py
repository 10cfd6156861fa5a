"""Tables of studies of laws of the loss, and of the grades of answers."""

from bayescaling.datasets.files import evidence

OURS = "annealing, 300 steps, power 0.7"
SCHEMES = [f"scheme-{i}" for i in range(1, 5)]
RATES = "small_lm_rates"
TRUTHS = {"right": "Chinchilla's law", "wrong": "the coupled law, kappa 0.7"}
DECISIONS = {
    "fit": "fit, exponents pooled",
    "fit, exponents shared": "fit, exponents shared",
    "largest pair": "largest pair",
    "share with a direction": "fit claims a direction",
    "fit, where a direction is claimed": "and is right",
}
LADDERS = {
    "right": "all cut, the curve law is right",
    "annealing differs": "all cut, annealing differs by run",
    "the three largest cut": "the three largest cut, it differs",
}
NAMED = {"rpj-open_lm_1b-32.0": "1.4B on 921B tokens", "rpj-open_lm_7b-1.0": "6.9B on 138B tokens"}
PUBLISHED = {"rpj-open_lm_1b-32.0": 3.64, "rpj-open_lm_7b-1.0": 0.05}  # relative errors on 17 tasks
PLACES = {"at the largest run": "largest run", "at 10 times its compute": "ten times"}


def tables(table):
    """Return the tables by the name that pages use; `table` writes a header and rows in Markdown."""
    changed = evidence("small_models_changed")["result"]["changed"]
    names = list(dict.fromkeys(of.partition(", ")[2] for of in changed if not of.startswith(RATES)))
    copied = [name for name in names if "copies" in changed.get(f"{SCHEMES[0]}, {name}", ())]
    header = [scheme.replace("-", " ") for scheme in SCHEMES]
    return {
        **_curves(evidence("curves")["result"], table),
        "ladders": _ladders(evidence("curves_ladder")["result"], table),
        "tasks": _tasks(evidence("tasks")["result"], table),
        "tasks-paper": _tasks_of_the_paper(evidence("tasks")["result"]["of the paper"]["error_17_tasks"], table),
        "grades": _grades(evidence("grades")["result"], table),
        "common-drift": _common_drift(evidence("alike")["result"], table),
        "worth-coverage": _worth_coverage(evidence("worth")["result"], table),
        "worth-decisions": _worth_decisions(evidence("worth")["result"], table),
        "pooled-priors": _pooled_priors(evidence("pooled_priors")["result"]["predicted"], table),
        "floor-changed": table(
            ("law or change", *header), [(name, *_by_scheme(changed, name, _median)) for name in names]
        ),
        "floor-copies": table(("copies of", *header), [(name, *_by_scheme(changed, name, _copies)) for name in copied]),
        "floor-rates": table(
            ("learning rate of each size", "median of E minus the entropy [95% interval]"),
            [(of.partition(", ")[2], _interval(one)) for of, one in changed.items() if of.startswith(RATES)],
        ),
    }


def _grades(result, table):
    """Tabulate how often intervals, or directions, of each grade hold, and how near the medians are."""
    rows = [
        (kind, grade, of["answers"], f"{of['held']:.0%}", f"{of['factor_median']:.2f}", f"{of['factor_90']:.2f}")
        for kind, by_grade in result.items()
        for grade, of in by_grade.items()
        if of["answers"]
    ]
    return table(("answer", "grade", "answers", "right", "median wrong by a factor of", "nine in ten by at most"), rows)


def _ladders(result, table):
    """Tabulate how often intervals of N* hold, and how wide they are, by what the ladder's losses are."""
    ofs = [result[truth] for truth in LADDERS]
    rows = [(way, *(_held(of[way]) for of in ofs)) for way in list(result["right"])[1:]]
    return table(("runs", *LADDERS.values()), rows)


def _curves(result, table):
    """Tabulate forecasts of runs that were cut short and of schedules left out, and how often intervals hold."""
    header = ("share of the run", "mean error", "90% intervals hold", "mean width", "CRPS", "power law", "last reading")
    texts = {"curves-cut": table(header, [(f"{float(cut):.0%}", *_forecast(of)) for cut, of in result["cut"].items()])}
    rows = []
    for size, forms in result["forms"].items():
        of, fitted = result["schedules_left_out"][size], (forms[OURS], forms["multi-power"])
        means = (of, *fitted, of["published"])
        rows.append((size, *(f"{x['mae']:.4f}" for x in means), *(f"{x['worst']:.2%}" for x in (of, of["published"]))))
    header = ("size", "mean error", "by least squares", "multi-power law", "published", "worst error", "published")
    texts["curves-schedules"] = table(header, rows)
    last = result["schedules_left_out"]["last"]
    held = (f"{of['0.9']:.0%}" for of in result["simulated"].values())
    cuts = (f"{float(cut):.0%}" for cut in result["simulated"])
    return texts | {
        "curves-held": f"{last['held']['0.9'] * last['cases']:.0f}",
        "curves-simulated": f"{', '.join(held)} after {', '.join(cuts)} of the run",
    }


def _forecast(of):
    law = of["law"]
    yield from (f"{law['mae']:.4f}", f"{law['held']['0.9']:.0%}", f"{law['width']:.3f}", f"{law['crps']:.4f}")
    yield from (f"{of[name]:.4f}" for name in ("power law", "last reading"))


def _tasks(result, table):
    """Tabulate how often intervals of errors on tasks hold, by what is carried of the loss."""
    rows = [
        (way, f"{of['coverage_90']:.0%}", f"{100 * of['width_90']:.1f} points", f"{100 * of['crps']:.2f} points")
        for way, of in result.items()
        if way != "of the paper"
    ]
    return table(("carried of the loss", "90% intervals hold", "mean width", "CRPS"), rows)


def _tasks_of_the_paper(of, table):
    """Tabulate the error on 17 tasks of the two models that the paper predicts."""
    low, middle, high, _ = of["ways"]["its distribution"]
    rows = [
        (NAMED[run], f"{PUBLISHED[run]}%", f"{abs(m / x - 1):.1%}", f"{x:.1%}", f"{m:.1%} [{a:.1%}, {b:.1%}]")
        for run, x, m, a, b in zip(of["run"], of["error"], middle, low, high, strict=True)
    ]
    return table(("model", "relative error in the paper", "of the median", "error", "median and 90% interval"), rows)


def _common_drift(result, table):
    """Tabulate what groups miss in common, and how often intervals of differences hold, by law and source."""
    rows = []
    for law, of in result.items():
        for source, one in of["by_source"].items():
            shares = one["common_share"].values()
            held = (f"{by['coverage_90']:.0%}" for by in one["predicted"].values())
            rows.append((f"{law}: {source}", f"{min(shares):.2f} to {max(shares):.2f}", *held))
    header = ("law: source", "common share", "law alone", "two independent drifts", "learned from the other sources")
    return table(header, rows)


def _worth_coverage(result, table):
    rows = [
        (f"{truth}, {name}", *(_held(result[key][place][way]) for way in ("quoted", "law alone", "exponents shared")))
        for key, truth in TRUTHS.items()
        for place, name in PLACES.items()
    ]
    return table(("truth, budget", "quoted, exponents pooled", "without the drift", "quoted, exponents shared"), rows)


def _held(of):
    return f"{of['coverage_90']:.0%}, a factor of {of['median_factor_90']:.1f}"


def _worth_decisions(result, table):
    rows = [
        (f"{truth}, {name}", *(f"{result[key][place]['decision_right'][way]:.0%}" for way in DECISIONS))
        for key, truth in TRUTHS.items()
        for place, name in PLACES.items()
    ]
    return table(("truth, budget of the decision", *DECISIONS.values()), rows)


def _by_scheme(changed, name, written):
    ofs = [changed.get(f"{scheme}, {name}") for scheme in SCHEMES]
    return ["-" if of is None else written(of) for of in ofs]


def _median(of):
    if not of["ok"]:
        return "did not converge"
    return f"{of['E_minus_entropy']['q50']:+.2f}{'' if of['holds'] else ', missed'}"


def _copies(of):
    return f"{of['copies']['bias']:+.2f} ± {of['copies']['bias_se']:.2f}, {of['copies']['coverage_90']:.0%}"


def _interval(of):
    low, middle, high = (of["E_minus_entropy"][end] for end in ("q2.5", "q50", "q97.5"))
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]{'' if of['holds'] else ', missed'}"


def _pooled_priors(predicted, table):
    """Tabulate scores of predictions from few runs by the priors of the fit."""
    rows = [
        (fitted, name, f"{of['all']['crps']:.2f}%", f"{of['all']['interval_score']:.0f}%", *_coverage(of))
        for fitted, by_name in predicted.items()
        for name, of in by_name.items()
    ]
    header = ("fitted", "priors", "mean CRPS", "interval score", "90% intervals hold", "of Hoffmann et al.'s runs")
    return table(header, rows)


def _coverage(of):
    return [f"{one['coverage_90']:.0%}" for one in (of["all"], of["by_source"]["Hoffmann et al. 2022"])]
