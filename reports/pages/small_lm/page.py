"""The page on small language models trained for this package, whose true floor is known."""

from ....datasets import load
from ....plots import plot_intervals
from ...html import prose, tables
from ...html.illustrations import pictured
from .analysis import COUPLED, MAIN, SCHEMES

ELSEWHERE = "small_lm_rates, "  # begins the names of changes that are runs on another language
LEVEL = 0.9  # of the intervals whose coverage is counted


def _chart(truth):
    """Draw the fitted floor of each scheme of training under both laws, and the known one."""
    rows, holding = {}, sum(of["holds"] for of in truth.values())
    for scheme, words in SCHEMES.items():
        name, of = f"{_spelt(scheme).capitalize()} ({words})", truth[scheme]
        rows |= {f"{name}, Chinchilla": of["fitted"], f"{name}, coupled": of[COUPLED]["fitted"]}
    return pictured(
        plot_intervals,
        rows,
        "Fitted floor of the loss (nats/token)",
        references={"known floor": truth[MAIN]["known"]},
        title=f"The interval of Chinchilla's law contains the known floor under {holding} of {len(truth)} ways of "
        "training",
        caption="Medians and 95% intervals of the irreducible loss E by scheme of training, under Chinchilla's law and "
        "the coupled law. The dotted line is the entropy of the language, which no model can go below.",
        source="Data: small_lm_runs; the coupled law from a study",
    )


def _floor_table(entry):
    """Return the table of the fitted floor by scheme of training, under both laws."""
    rows = []
    for scheme, words in SCHEMES.items():
        of = entry["truth"][scheme]
        coupled = of[COUPLED]
        rows.append(
            {
                "scheme of training": f"{_spelt(scheme)}: {words}",
                "Chinchilla's law": tables.interval(of["fitted"], "{:.2f}"),
                "contains it": _yes(of["holds"]),
                "law misses": f"{size:.1%}" if (size := _misfit(entry["schemes"][scheme])) else "not rejected",
                "coupled law": tables.interval(coupled["fitted"], "{:.2f}"),
                "coupled contains it": _yes(coupled["holds"]),
                "elpd gained": f"{coupled['elpd_diff']:+.1f} ± {coupled['dse']:.1f}",
            }
        )
    note = (
        f"E in nats per token: median and 95% interval. The known floor is {entry['truth'][MAIN]['known']:.3f}. Law "
        "misses: the mean misfit of Chinchilla's law, as a share of the loss, where its tests reject it. Elpd gained: "
        "by the coupled law, in nats, ± one standard error."
    )
    fits = [f"small models, {scheme}" for scheme in SCHEMES]
    return tables.html(rows, note=note, title="The fitted floor by scheme of training", fits=fits)


def _misfit(scheme):
    """Return the mean misfit of the law of a scheme that its rows reject, else None."""
    verdict = scheme["law"]["verdict"]
    return None if verdict["verdict"] == "fits" else verdict["size"]


def _yes(holds):
    return "yes" if holds else "no"


def _spelt(scheme):
    return scheme.replace("-", " ")


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["small_lm"]
    of_other = {name.removeprefix(ELSEWHERE): of for name, of in entry["changed"].items() if name.startswith(ELSEWHERE)}
    calibration = entry["calibration"]
    covers = calibration["quantities"]["E"]
    error = (LEVEL * (1 - LEVEL) / calibration["simulations"]) ** 0.5
    return prose.sections(
        __file__,
        {"chart": _chart(entry["truth"]), "floors": _floor_table(entry)},
        findings=findings,
        runs=load("small_lm_runs"),
        of_other=of_other,
        calibration=calibration,
        covers=covers,
        as_often=abs(covers["coverage_90"] - LEVEL) <= 2 * error,
    )
