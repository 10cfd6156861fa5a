"""The page on small language models trained for this package, whose true floor is known."""

import pandas as pd

from ....datasets.wording import p_value
from ....inference.points.curves import COUNTED
from ....inference.words import probability
from ...drawing import tables, verdicts
from ...drawing.style import BASIS_LABELS
from ...findings import section
from . import figures
from .analysis import CALIBRATION, COUPLED, LEFT_OUT, MAIN, ONE_RATE, SCHEMES

SOURCE = "Pearce and Song 2024"


def published_exponents(published):
    """Take the published exponents of envelopes, by what is counted and scheme."""
    rows = published[published["quantity"].str.startswith("small_lm.exponent.")]
    named = (quantity.split(".")[2:] for quantity in rows["quantity"])
    return {
        (basis, scheme.replace("scheme", "scheme-")): estimate
        for (basis, scheme), estimate in zip(named, rows["estimate"], strict=True)
    }


def _answer(found):
    """Say whether the fitted floor is the known one."""
    schemes = found.entry["schemes"]
    inside = [scheme for scheme, one in schemes.items() if _holds_zero(one["E_minus_entropy"])]
    floors = ", ".join(
        f"{scheme.replace('-', ' ')} {tables.interval(one['E_minus_entropy'], '{:+.3f}')}"
        for scheme, one in schemes.items()
    )
    verdict = (
        "<b>Yes, in every scheme of training</b>"
        if len(inside) == len(schemes)
        else f"<b>In {len(inside)} of {len(schemes)} schemes of training</b>"
    )
    return (
        f"{verdict} the 95% interval of the fitted irreducible loss E holds the true entropy of the language, "
        f"{found.truth['entropy']:.4f} nats per token. E less the truth is {floors}."
    )


def _holds_zero(q):
    return q["q2.5"] <= 0 <= q["q97.5"]


def _why_missed(found):
    """Say why E is missed at one rate, what changes that and what does not; None where it is not missed."""
    why, changed = found.entry["why_missed"], found.entry["changed"]
    if why is None:
        return None
    of_one_rate = {
        name.removeprefix(f"{ONE_RATE}, "): one for name, one in changed.items() if name.startswith(ONE_RATE)
    }
    still = [name for name, one in of_one_rate.items() if not one["holds"]]
    return (
        f"<b>Why scheme 1 misses E.</b> {why} In scheme 1 how well the rate suits a model changes with its size, and "
        "no law of the loss in sizes can tell the two apart. The interval still misses the entropy with any of these "
        f"changes alone: {', '.join(still)}."
    )


def _other_law(found):
    """Say what coupled terms find; where they predict better and miss, the floor is not known from these runs."""
    truth = found.entry["truth"]
    better = [s for s, one in truth.items() if one[COUPLED]["elpd_diff"] > 2 * one[COUPLED]["dse"]]
    missed = [s for s in better if not truth[s][COUPLED]["holds"]]
    if not missed:
        return "Coupled terms find the entropy in every scheme in which they predict the runs better."
    each = "; ".join(
        f"{scheme.replace('-', ' ')} {truth[scheme][COUPLED]['E_minus_entropy']['q50']:+.2f} nats" for scheme in missed
    )
    return (
        "<b>The floor depends on the law.</b> The coupled law predicts the runs better than Chinchilla's form by more "
        f"than two standard errors in {len(better)} of {len(truth)} schemes. It misses the entropy in {len(missed)} of "
        f"these ({each}). E is an extrapolation below the lowest loss of any run, "
        f"{found.runs['loss'].min():.2f} nats; read it with an error of a few tenths of a nat."
    )


def _moves(found):
    entry = found.entry
    main = entry["schemes"][MAIN]
    envelope, second = (entry["schemes"][scheme]["exponent"]["total"] for scheme in (MAIN, "scheme-2"))
    weights = "; ".join(
        f"{label} {tables.interval(q, '{:.2f}')} (P(ω &gt; ½) = {q['p_above_half']:.2f})"
        for label, q in entry["omega"].items()
    )
    return [
        *filter(None, [_why_missed(found), _other_law(found)]),
        "The fitted law's optimal size grows with exponent "
        f"{tables.interval(main['exponent']['total']['law'], '{:.2f}')} in compute counting all parameters and "
        f"{tables.interval(main['exponent']['nonembedding']['law'], '{:.2f}')} without embeddings (scheme 4).",
        f"Counting all parameters, the envelope of the curves has exponent {_beside(envelope)} in scheme 4, and "
        f"{_beside(second)} in scheme 2. Where the probability is small, the runs are not as the law says.",
        f"ω, what an embedding parameter counts: {weights}.",
        "Far smaller than the paper's models, which need a GPU: this is a demonstration of the method, not a "
        "replication.",
    ]


def _checks(found):
    entry = found.entry
    said = [
        check(scheme.replace("-", " "), entry["schemes"][scheme]["law"])
        for scheme in SCHEMES
        for check in (verdicts.of_law, verdicts.of_pareto)
    ]
    return said + _of_calibration(entry.get("calibration"))


def _of_calibration(calibration):
    if calibration is None:
        return []
    of_e = calibration["quantities"]["E"]
    return [
        f"Simulated from the law fitted to scheme 4, runs at the same sizes and tokens give E back with a bias of "
        f"{of_e['bias']:+.3f} ± {of_e['bias_se']:.3f}, and the 90% interval covers it in {of_e['coverage_90']:.0%} of "
        f"{calibration['simulations']} simulations. What E misses beyond that is the form of the law: models this "
        "small, trained this briefly, do not follow it exactly."
    ]


def _replicated(entry):
    """Envelope of replicated runs in words."""
    if entry is None:
        return "one best size"
    fixed = entry["q2.5"] == entry["q97.5"]
    return f"{entry['q50']:.2f}, does not move" if fixed else tables.interval(entry, "{:.2f}")


def _beside(entry):
    """Envelope observed beside that of runs replicated from the law."""
    observed, law = entry["envelope"], entry["envelope_of_the_law"]
    found = "none, one size being best throughout," if observed is None else f"{observed:.2f}"
    p = "" if law is None or law["p"] is None else f" (one as far out has {p_value(law['p'])})"
    return f"{found} where runs replicated from its law have {_replicated(law)}{p}"


def _changed_table(found):
    entry = found.entry
    rows, fits = [], []
    for scheme, one in entry["truth"].items():
        other = one[COUPLED]
        name = scheme.replace("-", " ")
        rows.append([name, "as reported", tables.interval(one["E_minus_entropy"], "{:+.3f}"), _held(one), "–"])
        elpd = f"{other['elpd_diff']:+.1f} ± {other['dse']:.1f}"
        rows.append([name, "coupled terms", tables.interval(other["E_minus_entropy"], "{:+.3f}"), _held(other), elpd])
        fits += [f"small models, {scheme}", f"small models, {scheme}, {COUPLED}"]
        for label, changed in entry["changed"].items():
            of, _, change = label.partition(", ")
            if of == scheme and change != COUPLED:
                rows.append([name, change, tables.interval(changed["E_minus_entropy"], "{:+.3f}"), _held(changed), "–"])
                fits.append(f"small models, {label}")
    header = ["scheme", "changed", "E minus the entropy", "holds it", "elpd gained"]
    note = (
        "One thing changed at a time in Chinchilla's law with its noise by size and, in schemes 1 to 3, random effects "
        "by run. Elpd gained: leave-one-out against the law as reported, ± one standard error."
    )
    return tables.of_rows(header, rows, note, title="What moves the fitted floor", fits=fits)


def _held(one):
    return "yes" if one["holds"] else "no"


def _exponent_table(found, published):
    rows = []
    for basis in COUNTED:
        for scheme in SCHEMES:
            entry = found.entry["schemes"][scheme]["exponent"][basis]
            by_seed = [x for x in entry["envelope_by_seed"].values() if x is not None]
            theirs, ours = published.get((basis, scheme)), entry["envelope_of_the_law"]
            rows.append(
                {
                    "counted": BASIS_LABELS[basis],
                    "scheme": f"{scheme.replace('-', ' ')}: {SCHEMES[scheme]}",
                    "envelope": "–" if entry["envelope"] is None else f"{entry['envelope']:.2f}",
                    "by seed": f"{min(by_seed):.2f} to {max(by_seed):.2f}" if len(by_seed) > 1 else "–",
                    "envelope of the law": _replicated(ours),
                    "p": "–" if ours is None or ours["p"] is None else p_value(ours["p"], ""),
                    "the law": tables.interval(entry["law"], "{:.2f}"),
                    SOURCE: "–" if theirs is None else f"{theirs:.2f}",
                }
            )
    note = (
        "Exponents of the optimal size in compute. Envelope: the size of least loss at each of 100 budgets (approach 1 "
        "of Hoffmann et al. 2022), which moves in steps with few sizes; the envelope of the law is the same estimator "
        "on runs replicated from posterior draws, scatter included, and p the two-sided probability among them of one "
        "as far out as that observed. The law: β/(α+β), and without embeddings the slope "
        f"over the sizes trained. {SOURCE}: table 1, on BookCorpus with 50,257 tokens, models of 0.8 to 4.6 million."
    )
    fits = [f"small models, {scheme}" for _ in COUNTED for scheme in SCHEMES]
    return tables.html(pd.DataFrame(rows), note=note, fits=fits)


def _law_tables(found):
    rows, diagnostics = [], []
    for scheme, entry in found.entry["schemes"].items():
        law = entry["law"]
        parameters = law["parameters"]
        rows.append(
            {
                "scheme": scheme.replace("-", " "),
                "E (nats/token)": tables.interval(parameters["E"], "{:.3f}"),
                "E less the truth": tables.interval(entry["E_minus_entropy"], "{:+.3f}"),
                "P(E above it)": probability(entry["p_E_above_entropy"]),
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
        "Rows of one run, the readings of its curve, share its luck: in schemes 1 to 3 each run has an effect of its "
        "own, integrated out. In scheme 4 every row is a run of its own."
    )
    fits = [f"small models, {scheme}" for scheme in found.entry["schemes"]]
    return [
        tables.html(pd.DataFrame(rows), rowname="scheme", fits=fits, title="The law fitted to each scheme"),
        tables.html(pd.DataFrame(diagnostics), rowname="scheme", note=note, fits=fits, title="Diagnostics by scheme"),
    ]


def _runs_table(found):
    rows = []
    for scheme, entry in found.entry["schemes"].items():
        if "runs_left_out" not in entry:
            continue
        left_out, independent = entry["runs_left_out"], entry["independent_rows"]
        rows.append(
            {
                "scheme": scheme.replace("-", " "),
                "elpd gained": f"{left_out['difference']:+.1f} ± {left_out['se']:.1f}",
                "E less the truth": tables.interval(entry["E_minus_entropy"], "{:+.3f}"),
                "as independent rows": tables.interval(independent["E_minus_entropy"], "{:+.3f}"),
                "exponent": tables.interval(entry["exponent"]["total"]["law"], "{:.2f}"),
                "exponent, independent rows": tables.interval(independent["exponent"], "{:.2f}"),
            }
        )
    note = (
        "Elpd gained: log score of whole runs left out, with an effect of each run less that with readings counted as "
        "independent rows, ± one standard error over runs. Readings counted as independent make intervals too narrow."
    )
    return tables.html(pd.DataFrame(rows), rowname="scheme", note=note)


def _calibration_table(found):
    names = {"E": "E (nats/token)", "alpha": "α", "beta": "β", "exponent_parameters": "β/(α+β)", "sigma": "scatter"}
    calibration = found.entry["calibration"]
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
        f"anew; {calibration['not_converged']} of the fits had warnings. ± one standard error."
    )
    return tables.html(pd.DataFrame(rows), rowname="quantity", note=note)


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    theirs = published_exponents(published)
    runs = found.runs
    sizes = sorted(runs["parameters"].unique())
    floors, diagnostics = _law_tables(found)
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [
                _answer(found),
                f"{runs['run'].nunique()} transformers of {sizes[0]:,.0f} to {sizes[-1]:,.0f} parameters, trained on a "
                f"CPU on a synthetic language of {runs['vocabulary'].iloc[0]:,.0f} words whose entropy is known, in "
                "the four schemes of Pearce and Song (2024), with "
                f"{runs['seed'].nunique()} seeds.",
            ],
            "blocks": [figures.floor(found, SCHEMES), floors],
        },
        {"role": "moves", "title": "What could change it", "points": _moves(found), "blocks": []},
        {"role": "checks", "title": "Checks", "points": _checks(found), "blocks": []},
        *({"role": "details"} | each for each in _details(found, theirs, diagnostics)),
    ]


def _details(found, theirs, diagnostics):
    return [
        {
            "title": "The curves of the small models",
            "text": ["Means over seeds, each scheme in a panel."],
            "blocks": [figures.curves(found, SCHEMES), diagnostics],
        },
        {
            "title": "What moves the fitted floor",
            "text": [],
            "blocks": [_changed_table(found)],
        },
        {
            "title": "Schemes compared: the exponent",
            "text": [],
            "blocks": [figures.exponents(found, SCHEMES, theirs), _exponent_table(found, theirs)],
        },
        section(found, LEFT_OUT, "Small models: runs left out whole", lambda: {"blocks": [_runs_table(found)]}),
        section(
            found, CALIBRATION, "Small models: is the floor found?", lambda: {"blocks": [_calibration_table(found)]}
        ),
        {
            "title": "How much an embedding parameter counts, on small models",
            "text": [
                "ω on scheme 4 alone, and with Chinchilla's runs at once: ω shared, α and β partially pooled, all else "
                "each corpus's own."
            ],
            "blocks": [figures.omega(found.omega | found.elsewhere)],
        },
    ]
