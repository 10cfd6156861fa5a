"""The page on small language models trained for this package, whose true floor is known."""

from functools import partial

import numpy as np

from ....datasets import load
from ....inference import fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.estimands.study_exponents import exponents_within
from ....inference.points.curves import COUNTED, curve_frontier, exponents_by_curves
from ....inference.quoted import quote_draws
from ....models.draws import DRAWS
from ....models.laws import Chinchilla
from ....models.loss.sizes import least_squares
from ....plots import plot_intervals
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
from ...results import fit_entry

STUDIES = ("small_models_coverage", "small_models_changed")
STAGES = ("small models: fits", "small models: frontiers", "small models: numbers")
SCHEMES = {"scheme-1": "one rate", "scheme-2": "best rates", "scheme-3": "cosine", "scheme-4": "six budgets"}
MAIN = "scheme-4"
ONE_RATE, BEST_RATE = "scheme-1", "scheme-2"  # alike but for the learning rates of all sizes except the largest
# Changes of a study of the coupled law.
COUPLED, REPORTED, NO_EFFECTS = "coupled", "as reported", "Chinchilla's terms, no effects of sizes"
THINNED = 4
TARGET_ACCEPT = 0.98
ELSEWHERE = "small_lm_rates, "  # begins the names of changes that are runs on another language
YES = {True: "yes", False: "no"}
LEVEL = 0.9  # of the intervals whose coverage is counted


def of_scheme(runs, scheme):
    """Select the rows of a scheme from ``load("small_lm_runs")``.

    They are every reading at constant rates or of one budget, else the ends of runs.
    """
    rows = runs[[scheme in names.split() for names in runs["scheme"]]]
    if (rows["schedule"] != "constant").any() and rows["budget_fraction"].nunique() > 1:
        rows = rows[rows["annealed"] == 1]
    rows = rows.reset_index(drop=True)
    rows.attrs["source"] = f"small_lm_runs, {scheme}"
    return rows


def tables_of_schemes(runs):
    """Return the rows of each scheme and the Chinchilla law of them, by scheme.

    Readings of one curve are not independent: the law of a scheme that has several of a run has effects of runs.
    """
    tables = {scheme: of_scheme(runs, scheme) for scheme in SCHEMES}
    return tables, {
        scheme: Chinchilla(run_effects=bool(rows["run"].duplicated().any())) for scheme, rows in tables.items()
    }


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the Chinchilla law to each scheme, and read its frontier; see `Page.analyse`."""
    # Few sizes leave E and the exponents strongly dependent.
    options = {"target_accept": TARGET_ACCEPT, "seed": seed, "sampler": sampler, "check": False, **settings}
    runs = load("small_lm_runs")
    first = runs.iloc[0]
    truth = {"entropy": first["irreducible_loss"], "entropy_se": first["irreducible_loss_se"]}
    truth["oracle"] = float(first["loss_oracle"])
    tables, laws = tables_of_schemes(runs)
    fits = stage(
        "small models: fits", lambda: {name: fit(laws[name], rows, **options) for name, rows in tables.items()}
    )
    exponents = stage("small models: frontiers", lambda: _exponents(fits, tables, seed))
    findings = Findings(studies=STUDIES, posteriors={f"small models, {scheme}": f for scheme, f in fits.items()})
    entry = partial(_entry, findings, fits, tables, exponents, truth)
    findings.document = {"small_lm": stage("small models: numbers", entry, of=fits)}
    return findings


def shortfalls(tables):
    """Compute by how much runs at one rate end above those at the best rate: a Series by number of parameters.

    It is in nats per token, the mean over seeds.
    """
    ends = []
    for scheme in (ONE_RATE, BEST_RATE):
        rows = tables[scheme]
        rows = rows[rows["tokens"] == rows.groupby("run")["tokens"].transform("max")]
        ends.append(rows.groupby("parameters")["loss"].mean())
    return ends[0] - ends[1]


def _exponents(fits, tables, seed):
    entries = {}
    for scheme, table in tables.items():
        draws, posterior = fits[scheme].draws, fits[scheme]["posterior"].to_dataset()
        thinned = posterior.isel(draw=slice(None, None, THINNED))
        replicated = draws.replicate(np.random.default_rng(seed)).isel(draw=slice(None, None, THINNED))
        replicated = draws.law.from_scale(replicated.transpose(*DRAWS, "run").values.reshape(-1, len(table)))
        sizes = table.drop_duplicates("parameters")
        gamma, delta = least_squares(sizes)
        low, high = sizes[COUNTED["nonembedding"]].min(), sizes[COUNTED["nonembedding"]].max()
        laws = {
            "total": posterior["exponent_parameters"],
            "nonembedding": exponents_within(thinned, low, high, gamma=gamma, delta=delta)["size"],
        }
        entries[scheme] = {}
        for basis in COUNTED:
            observed = curve_frontier(table, basis=basis)["exponent"]
            entries[scheme][basis] = {
                "envelope": intervals.finite(observed),
                "envelope_of_the_law": _predicted(exponents_by_curves(table, replicated.T, basis=basis), observed),
                "law": intervals.summary(laws[basis]),
            }
    return entries


def _entry(findings, fits, tables, exponents, truth):
    changed = findings.study("small_models_changed")
    entry = {
        "language": truth,
        "truth": {
            scheme: _add_coupled(
                compared_floor(fitted, float(truth["entropy"])),
                changed["changed"][f"{scheme}, {COUPLED}"] | changed["coupled_elpd"][scheme],
            )
            for scheme, fitted in fits.items()
        },
        "shortfall_at_one_rate": {f"{size:.0f}": float(x) for size, x in shortfalls(tables).items()},
        "changed": changed["changed"],
        "schemes": {},
    }
    entry["why_missed"] = _why_missed(entry)
    for scheme, table in tables.items():
        excess = fitted_floor(fits[scheme]) - truth["entropy"]
        entry["schemes"][scheme] = {
            "rows": len(table),
            "runs": int(table["run"].nunique()),
            "law": fit_entry(fits[scheme]),
            "E_minus_entropy": intervals.summary(excess),
            "p_E_above_entropy": float((excess > 0).mean()),
            "exponent": exponents[scheme],
        }
    entry["calibration"] = findings.study("small_models_coverage")
    return entry


def fitted_floor(fitted):
    """Return draws of E, as wide as its robust interval where the rows reject the law."""
    return quote_draws(fitted, fitted["posterior"]["E"])


def compared_floor(fitted, entropy):
    """Return a summary of the fitted E, the entropy of the language, and whether the 95% interval holds it."""
    E = fitted_floor(fitted)
    entry = {"fitted": intervals.summary(E), "known": entropy, "E_minus_entropy": intervals.summary(E - entropy)}
    return entry | {"holds": entry["fitted"]["q2.5"] <= entropy <= entry["fitted"]["q97.5"]}


def _add_coupled(floor, coupled):
    """Return the entry of a floor with that of the coupled law, and which is quoted: this if it predicts better."""
    better = is_apart(-coupled["elpd_diff"], coupled["dse"])
    name, of = (COUPLED, coupled) if better else ("chinchilla", floor)
    return floor | {COUPLED: coupled, "quoted": {"law": name} | {key: of[key] for key in ("E_minus_entropy", "holds")}}


def _why_missed(entry):
    """Return a few sentences on what moves the median of E in the schemes that miss it; None where none does."""
    truth, sentences = entry["truth"], []
    medians = {name: of["E_minus_entropy"]["q50"] for name, of in entry["changed"].items()}
    if not truth[ONE_RATE]["holds"]:
        smaller = list(entry["shortfall_at_one_rate"].values())[:-1]
        gain = truth[BEST_RATE]["fitted"]["q50"] - truth[ONE_RATE]["fitted"]["q50"]
        sentences.append(
            "Scheme 1 trains every size at the learning rate that is best for the largest alone, so that the others "
            f"end {min(smaller):.2f} to {max(smaller):.2f} nats above their best. "
            f"Best rates (scheme 2) raise the median of E by {gain:.2f} nats."
        )
    if not truth[MAIN]["holds"]:
        effects = medians[f"{MAIN}, {REPORTED}"] - medians[f"{MAIN}, {NO_EFFECTS}"]
        sentences.append(
            f"In scheme 4 the law has random effects by size, which {'lower' if effects < 0 else 'raise'} the median "
            f"by {abs(effects):.2f} nats; without them the interval "
            f"{'contains' if entry['changed'][f'{MAIN}, {NO_EFFECTS}']['holds'] else 'also misses'} the floor."
        )
    if sentences:
        shift = max(abs(medians[f"{scheme}, normal noise"] - medians[f"{scheme}, {COUPLED}"]) for scheme in SCHEMES)
        bias = max(abs(entry["changed"][f"{scheme}, {COUPLED}"]["copies"]["bias"]) for scheme in SCHEMES)
        sentences.append(
            f"Noise is not the reason: normal noise changes the coupled law's median by at most {shift:.2f} nats, and "
            f"tables simulated from that law return E within {bias:.2f} nats."
        )
    return " ".join(sentences) or None


def _predicted(slopes, observed):
    """Return a summary of slopes of replicated envelopes, or None; ``p`` of the observed one is two-sided.

    ``one_size`` is the share of replicates whose envelope has one best size and no slope.
    """
    values = np.ravel(slopes)
    there = values[np.isfinite(values)]
    if not len(there):
        return None
    tails = (there <= observed).mean(), (there >= observed).mean()
    p = min(1.0, 2 * min(tails)) if np.isfinite(observed) else None
    return intervals.summary(there) | {"p": p, "one_size": float(1 - len(there) / len(values))}


def _chart(truth):
    rows, holding = {}, sum(of["quoted"]["holds"] for of in truth.values())
    for scheme, words in SCHEMES.items():
        name, of = f"{scheme.replace('-', ' ').capitalize()} ({words})", truth[scheme]
        rows |= {f"{name}, Chinchilla": of["fitted"], f"{name}, coupled": of[COUPLED]["fitted"]}
    return pictured(
        plot_intervals,
        rows,
        "Fitted floor of the loss (nats/token)",
        references={"known floor": truth[MAIN]["known"]},
        title=f"The interval of the law that predicts best contains the known floor under {holding} of {len(truth)} "
        "ways of training",
        caption="Medians and 95% intervals of the irreducible loss E by scheme of training, under Chinchilla's law and "
        "the coupled law. The dotted line is the entropy of the language, which no model can go below.",
        source="Data: small_lm_runs; the coupled law from a study",
    )


def _floor_table(entry):
    rows = []
    for scheme, words in SCHEMES.items():
        of = entry["truth"][scheme]
        coupled, of_law = of[COUPLED], entry["schemes"][scheme]["law"]["verdict"]
        size = of_law["size"]
        rows.append({
            "scheme of training": f"{scheme.replace('-', ' ')}: {words}",
            "Chinchilla's law": tables.interval(of["fitted"], "{:.2f}"),
            "contains it": YES[of["holds"]],
            "law misses": f"{size:.1%}" if size and of_law["verdict"] != "fits" else "not rejected",
            "coupled law": tables.interval(coupled["fitted"], "{:.2f}"),
            "coupled contains it": YES[coupled["holds"]],
            "elpd gained": f"{coupled['elpd_diff']:+.1f} ± {coupled['dse']:.1f}",
            "quoted": of["quoted"]["law"],
        })  # fmt: skip
    note = (
        f"E in nats per token: median and 95% interval. The known floor is {entry['truth'][MAIN]['known']:.3f}. Law "
        "misses: the mean misfit of Chinchilla's law, as a share of the loss, where its tests reject it. Elpd gained: "
        "by the coupled law, in nats, ± one standard error. Quoted: the coupled law where it predicts better by two "
        "standard errors and 4 nats, else Chinchilla's."
    )
    fits = [f"small models, {scheme}" for scheme in SCHEMES]
    return tables.html(rows, note=note, title="The fitted floor by scheme of training", fits=fits)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    entry = findings.document["small_lm"]
    of_other = {name.removeprefix(ELSEWHERE): of for name, of in entry["changed"].items() if name.startswith(ELSEWHERE)}
    calibration = entry["calibration"]
    covers = calibration["quantities"]["E"]
    error = (LEVEL * (1 - LEVEL) / calibration["simulations"]) ** 0.5
    blocks = {"chart": _chart(entry["truth"]), "floors": _floor_table(entry)}
    named = {"findings": findings, "runs": load("small_lm_runs"), "of_other": of_other, "calibration": calibration}
    as_often = abs(covers["coverage_90"] - LEVEL) <= 2 * error
    return prose.sections(__file__, blocks, covers=covers, as_often=as_often, **named)
