"""Tables of the studies of priors learned from other studies and of the known floor."""

from bayescaling.datasets.files import evidence

SCHEMES = [f"scheme-{i}" for i in range(1, 5)]
RATES = "small_lm_rates"


def tables(table):
    """Return the tables by the name that pages use; `table` writes a header and rows in Markdown."""
    changed = evidence("small_models_changed")["result"]["changed"]
    names = list(dict.fromkeys(of.partition(", ")[2] for of in changed if not of.startswith(RATES)))
    copied = [name for name in names if "copies" in changed.get(f"{SCHEMES[0]}, {name}", ())]
    header = [scheme.replace("-", " ") for scheme in SCHEMES]
    return {
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
