"""The page on small language models trained for this package, whose true floor is known."""

from ....datasets.wording import p_value
from ....inference.points.curves import COUNTED
from ....inference.words import probability
from ...html import tables, verdicts
from ...drawing.style import BASIS_LABELS
from ...html import prose
from . import figures
from .analysis import COUPLED, MAIN, REPORTED, SCHEMES

SOURCE = "Pearce and Song 2024"


def published_exponents(published):
    """Take the published exponents of envelopes, by what is counted and scheme."""
    rows = published[published["quantity"].str.startswith("small_lm.exponent.")]
    named = (quantity.split(".")[2:] for quantity in rows["quantity"])
    return {
        (basis, scheme.replace("scheme", "scheme-")): estimate
        for (basis, scheme), estimate in zip(named, rows["estimate"], strict=True)
    }


def _replicated(entry):
    """Write the exponent of the envelope of replicated runs."""
    if entry is None:
        return "one best size"
    fixed = entry["q2.5"] == entry["q97.5"]
    return f"{entry['q50']:.2f} in all replicates" if fixed else tables.interval(entry, "{:.2f}")


def _changed_table(findings):
    truth, rows, fits = findings.entry["truth"], [], []
    reported = [(f"{scheme}, {REPORTED}", one, f"small models, {scheme}") for scheme, one in truth.items()]
    changed = [(of, one, None) for of, one in findings.entry["changed"].items() if not of.endswith(REPORTED)]
    for of, one, fit in reported + changed:
        table, _, change = of.partition(", ")
        copies = one.get("copies")
        rows.append(
            [
                table.replace("-", " "),
                change,
                tables.interval(one["E_minus_entropy"], "{:+.3f}"),
                _held(one),
                f"{copies['bias']:+.3f} ± {copies['bias_se']:.3f}" if copies else "–",
                f"{copies['coverage_90']:.0%}" if copies else "–",
            ]
        )
        fits.append(fit)
    header = ["runs", "law or change", "E minus the entropy", "holds it", "error in copies", "90% covers in copies"]
    note = (
        "As reported: Chinchilla's law. Otherwise the coupled law with one thing changed at a time; its noise depends "
        "on size and, in schemes 1 to 3, it has random effects by run. Error in copies: the median of E minus its true "
        "value, mean over tables simulated from the fit, ± one standard error. small_lm_rates: runs on another "
        "language, at several learning rates."
    )
    return tables.of_rows(header, rows, note, title="What changes the fitted floor", fits=fits)


def _held(one):
    return "did not converge" if not one.get("ok", True) else "yes" if one["holds"] else "no"


def _exponent_table(findings, published):
    rows = []
    for basis in COUNTED:
        for scheme in SCHEMES:
            entry = findings.entry["schemes"][scheme]["exponent"][basis]
            by_seed = [x for x in entry["envelope_by_seed"].values() if x is not None]
            estimate, ours = published.get((basis, scheme)), entry["envelope_of_the_law"]
            rows.append(
                {
                    "counted": BASIS_LABELS[basis],
                    "scheme": f"{scheme.replace('-', ' ')}: {SCHEMES[scheme]}",
                    "envelope": "–" if entry["envelope"] is None else f"{entry['envelope']:.2f}",
                    "by seed": f"{min(by_seed):.2f} to {max(by_seed):.2f}" if len(by_seed) > 1 else "–",
                    "envelope of the law": _replicated(ours),
                    "p": "–" if ours is None or ours["p"] is None else p_value(ours["p"], ""),
                    "the law": tables.interval(entry["law"], "{:.2f}"),
                    SOURCE: "–" if estimate is None else f"{estimate:.2f}",
                }
            )
    note = (
        "Exponents of the optimal size in compute. Envelope: the size of least loss at each of 100 budgets (approach 1 "
        "of Hoffmann et al. 2022), which changes in steps where sizes are few. Envelope of the law: the same estimator "
        "on runs replicated from posterior draws, with their scatter. p: the two-sided probability of a replicate as "
        "far out as the observed envelope. The law: β/(α+β), and without embeddings the slope over the sizes trained. "
        f"{SOURCE}: table 1, on BookCorpus with 50,257 tokens, models of 0.8 to 4.6 million parameters."
    )
    fits = [f"small models, {scheme}" for _ in COUNTED for scheme in SCHEMES]
    return tables.html(rows, note=note, fits=fits)


def _law_tables(findings):
    rows, diagnostics = [], []
    for scheme, entry in findings.entry["schemes"].items():
        law = entry["law"]
        parameters = law["parameters"]
        rows.append(
            {
                "scheme": scheme.replace("-", " "),
                "E (nats/token)": tables.interval(parameters["E"], "{:.3f}"),
                "E minus the entropy": tables.interval(entry["E_minus_entropy"], "{:+.3f}"),
                "P(E above the entropy)": probability(entry["p_E_above_entropy"]),
                "α": tables.interval(parameters["alpha"], "{:.2f}"),
                "β": tables.interval(parameters["beta"], "{:.2f}"),
                "scatter": tables.interval({k: 100 * x for k, x in parameters["sigma"].items()}, "{:.2f}%"),
            }
        )
        diagnostics.append(
            {
                "scheme": scheme.replace("-", " "),
                "runs": entry["runs"],
                "rows": entry["rows"],
                "largest k": f"{law['pareto_k_max']:.2f}",
                "r_hat": f"{law['r_hat_max']:.3f}",
                "bulk ESS": f"{law['ess_bulk_min']:.0f}",
                "divergences": law["divergences"],
            }
        )
    note = (
        "Rows of one run are readings of its curve and therefore not independent: schemes 1 to 3 have a random effect "
        "by run, which is integrated out. In scheme 4 every row is another run."
    )
    fits = [f"small models, {scheme}" for scheme in findings.entry["schemes"]]
    return [
        tables.html(rows, fits=fits, title="The law fitted to each scheme"),
        tables.html(diagnostics, note=note, fits=fits, title="Diagnostics by scheme"),
    ]


def _runs_table(findings):
    rows = []
    for scheme, entry in findings.entry["schemes"].items():
        if "runs_left_out" not in entry:
            continue
        left_out, independent = entry["runs_left_out"], entry["independent_rows"]
        rows.append(
            {
                "scheme": scheme.replace("-", " "),
                "elpd gained": f"{left_out['difference']:+.1f} ± {left_out['se']:.1f}",
                "E minus the entropy": tables.interval(entry["E_minus_entropy"], "{:+.3f}"),
                "as independent rows": tables.interval(independent["E_minus_entropy"], "{:+.3f}"),
                "exponent": tables.interval(entry["exponent"]["total"]["law"], "{:.2f}"),
                "exponent, independent rows": tables.interval(independent["exponent"], "{:.2f}"),
            }
        )
    note = (
        "Elpd gained: log score of whole runs left out with a random effect by run, minus that with readings as "
        "independent rows, ± one standard error over runs. Independent rows make intervals too narrow."
    )
    return tables.html(rows, note=note)


def _calibration_table(findings):
    names = {"E": "E (nats/token)", "alpha": "α", "beta": "β", "exponent_parameters": "β/(α+β)", "sigma": "scatter"}
    calibration = findings.entry["calibration"]
    quantities = calibration["quantities"]
    rows = [
        {
            "quantity": label,
            "truth": f"{quantities[name]['truth']:.4g}",
            "bias of the median": f"{quantities[name]['bias']:+.4f} ± {quantities[name]['bias_se']:.4f}",
            "posterior sd": f"{quantities[name]['sd']:.4f}",
            "50% covers": f"{quantities[name]['coverage_50']:.0%}",
            "90% covers": f"{quantities[name]['coverage_90']:.0%}",
        }
        for name, label in names.items()
    ]
    note = (
        f"{calibration['simulations']} simulations of all runs of scheme 4 from the median of its fit, each fitted "
        f"separately; {calibration['not_converged']} of the fits had warnings. ± one standard error."
    )
    return tables.html(rows, note=note)


def _holds_zero(q):
    return q["q2.5"] <= 0 <= q["q97.5"]


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    estimates, entry = published_exponents(published), findings.entry
    truth = entry["truth"]
    better = [name for name, one in truth.items() if one[COUPLED]["elpd_diff"] > 2 * one[COUPLED]["dse"]]
    floors, diagnostics = _law_tables(findings)
    blocks = {
        "floor": figures.floor(findings, SCHEMES),
        "floors": floors,
        "curves": figures.curves(findings, SCHEMES),
        "diagnostics": diagnostics,
        "changed": _changed_table(findings),
        "exponents": figures.exponents(findings, SCHEMES, estimates),
        "exponents_table": _exponent_table(findings, estimates),
        "left_out": _runs_table(findings),
        "calibration": _calibration_table(findings),
        "omega": figures.omega(findings.omega),
    }
    return prose.sections(
        __file__,
        blocks,
        findings=findings,
        entry=entry,
        inside=sum(_holds_zero(one["E_minus_entropy"]) for one in entry["schemes"].values()),
        better=better,
        missed=[name for name in better if not truth[name][COUPLED]["holds"]],
        replicated=_replicated,
        verdicts=verdicts,
        COUPLED=COUPLED,
        MAIN=MAIN,
        SCHEMES=SCHEMES,
    )
