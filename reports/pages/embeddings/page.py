"""The page on embedding parameters: whether leaving them out explains the exponent of Kaplan et al."""

from ....datasets import CHINCHILLA_VOCABULARY, load
from ....inference import Fitter, compare, fit, intervals
from ....inference.comparison.differences import is_apart
from ....inference.comparison.weights import sum_error
from ....inference.estimands import study_exponents as studied
from ....inference.estimands.strength import DIRECTION, times_outside
from ....inference.estimands.study_exponents import BASES, KAPLAN_EXPONENT, study_exponents
from ....inference.words import plain, probability
from ....models.laws import Configurations, EmbeddingCorrected, EmbeddingWeighted, Kaplan
from ....models.loss.sizes import chinchilla_configurations, estimates
from ....plots import plot_intervals
from ....plots.shared import chinchilla_constants
from ... import results
from ...findings import Findings
from ...html import prose, tables
from ...html.illustrations import pictured
from ...laws import CHINCHILLA as UNWEIGHTED
from ...laws import DEFAULT
from ...laws import LAWS as OF_CHINCHILLA
from ...laws import PLANNED as OF_OTHER_MEANS
from ...results import fit_entry, verdict_entry

STAGES = ("sizes of models", "laws of embeddings", "embeddings: leave-one-out", "reconciliation", "planning",
          "embeddings: numbers")  # fmt: skip
MAIN = "embedding-corrected"
LAWS = {
    MAIN: EmbeddingCorrected(),
    "embedding-corrected, joint": EmbeddingCorrected(joint=True),
    "embedding-weighted": EmbeddingWeighted(),
    "embedding-weighted, omega 0": EmbeddingWeighted(omega=0.0),
    "embedding-weighted, one sigma": EmbeddingWeighted(scatter="one"),
    "embedding-weighted, coupled": EmbeddingWeighted(coupled=True),
    "embedding-weighted, coupled, one sigma": EmbeddingWeighted(coupled=True, scatter="one"),
    "kaplan": Kaplan(),
}
OMEGAS = {"omega 0": "embedding-weighted, omega 0", "omega 1": UNWEIGHTED, "omega free": "embedding-weighted"}
PLANNED = (UNWEIGHTED, "embedding-weighted", "embedding-weighted, omega 0", "kaplan")
# Each law that learns omega, and the same law and noise with omega held at 1.
FREE = {
    "embedding-weighted": UNWEIGHTED,
    "embedding-weighted, one sigma": "chinchilla, one sigma",
    "embedding-weighted, coupled": "coupled",
    "embedding-weighted, coupled, one sigma": "coupled, one sigma",
}
HELD = {name: OF_CHINCHILLA[name] for name in dict.fromkeys((*FREE.values(), *OF_OTHER_MEANS))}
BUDGETS = (1e15, 1e18, 1e21, 1e24)
VOCABULARIES = (8_000, 256_000)
PUBLISHED_GAMMA = 47491.0
ESTIMATORS = {
    "least_squares": "least squares of log N_T",
    "regression": "regression of log N_E on log N_x",
    "proportional": "least squares, δ = 1/3",
}
COUNTED = {"nonembedding": "without embeddings", "total": "all parameters"}
KAPLAN = "Kaplan et al. 2020"


def analyse(stage, published, earlier, *, seed=1, sampler=None, **settings):
    """Fit the laws that count embedding parameters apart, reconcile, weigh and plan; see `Page.analyse`."""
    options = {"seed": seed, "sampler": sampler, **settings}
    runs, table = load("chinchilla_runs"), chinchilla_configurations()
    sizes = stage("sizes of models", lambda: fit(Configurations(), table, check=False, **options))
    needed = {name: law for name, law in (HELD | LAWS).items() if not (name in HELD and name in earlier)}
    fitted = stage(
        "laws of embeddings",
        lambda: {name: Fitter(law, runs, sampler=sampler).fit(seed=seed, **settings) for name, law in needed.items()},
        fitted=list(needed),
    )
    fits = {name: fitted[name] if name in fitted else earlier[name] for name in (*HELD, *LAWS)}
    of_chinchilla = earlier | fits
    rivals = {name: of_chinchilla[name] for name in OF_CHINCHILLA if name in of_chinchilla}
    loo = stage(
        "embeddings: leave-one-out", lambda: {name: f.loo() for name, f in (fits | rivals).items()}, of=fits | rivals
    )
    elpd = {name: of.elpd_i.values for name, of in loo.items()}
    comparison, constants = compare(fits), chinchilla_constants(published)
    reconciliation = stage("reconciliation", lambda: _reconcile(fits[MAIN], rivals, elpd, constants), of=fits | rivals)
    planning = stage("planning", lambda: _plan(fits), of=fits)
    laws, omega = stage(
        "embeddings: numbers",
        lambda: ({name: fit_entry(f) for name, f in fits.items() if name not in HELD}, omega_entry(fits, elpd)),
        of=fits,
    )
    posterior = {name: intervals.summary(sizes["posterior"][name]) for name in ("gamma", "delta", "aspect_ratio")}
    reconciliation |= {
        "configurations": estimates(table, CHINCHILLA_VOCABULARY) | {"posterior": posterior},
        "omega": omega,
        "comparison": results.comparison_document(comparison),
        "planning": planning,
    }
    document = {"laws": laws, "reconciliation": reconciliation}
    posteriors = fits | {"configurations": sizes}
    return Findings(posteriors=posteriors, document=document, besides={"rivals": rivals})


def _reconcile(main, rivals, elpd, published):
    exponents = study_exponents(main)
    by_law = law_entries(rivals, elpd)
    accepted = {name: one for name, one in by_law.items() if not one["rejected"]}
    rises = all(one["p_rises"] > DIRECTION[0] for one in accepted.values())
    return {
        "local_exponent": {
            basis: {
                source: float(studied.frontier_exponents(of, basis=basis, gamma=PUBLISHED_GAMMA)["size"][0])
                for source, of in published.items()
            }
            | {"posterior": intervals.summary(exponents[basis]["size"])}
            for basis in BASES
        },
        "by_law": by_law,
        "direction": {"laws": list(accepted), "rises": rises},
        "decades_beyond": max(exponents.decades.values(), key=abs),
        "decades_beyond_by_basis": exponents.decades,
        "p_exponent_above_0.73": exponents.p_kaplan,
        "moved": {
            f"vocabulary {size:,}": intervals.summary(study_exponents(main, vocabulary=size)["nonembedding"]["size"])
            for size in VOCABULARIES
        },
    }


def _plan(fits):
    return [
        entry | {"vocabulary": vocabulary}
        for vocabulary in (CHINCHILLA_VOCABULARY, VOCABULARIES[-1])
        for name in PLANNED
        for entry in fits[name].allocate(BUDGETS, vocabulary=vocabulary).entries(name)
    ]


def law_entries(rivals, elpd):
    """Return entries of the exponents by law and noise, with and without embeddings, and elpd against the best.

    A law that predicts worse than the best by more than two standard errors is rejected.
    """
    order = sorted(rivals, key=lambda name: -elpd[name].sum())
    entries = {}
    for name in order:
        exponents, check = study_exponents(rivals[name]), rivals[name].check()
        difference = elpd[name] - elpd[order[0]]
        error = float(sum_error(difference))
        without, counted = (exponents[basis]["size"] for basis in BASES)
        entries[name] = {
            **{basis: intervals.summary(exponents[basis]["size"]) for basis in BASES},
            "elpd_diff": float(difference.sum()),
            "dse": error,
            "rejected": bool(is_apart(difference.sum(), error)),
            "verdict": {key: check[key] for key in ("verdict", "p", "size")},
            "p_above_0.73": exponents.p_kaplan,
            "p_rises": float((without > counted).mean()),
        }
    return entries


def omega_entry(fits, elpd):
    """Return the entry of omega: its summary by law and noise, P(omega > 1/2), and elpd of omega 0, 1 and free."""
    by = {name: _omega(fits[name]) | _against(elpd[name], elpd[held]) for name, held in FREE.items()}
    best = max(by, key=lambda name: by[name]["elpd_loo"])
    rows = {label: _against(elpd[name], elpd[UNWEIGHTED]) for label, name in OMEGAS.items()}
    return _omega(fits[best]) | {"law": best, "by_law": by, "loo": rows}


def _omega(fitted):
    omega = fitted["posterior"]["omega"]
    robust = fitted.robust_sd(omega)["robust_sd"].max()
    return {"omega": intervals.summary(omega), "robust_sd": float(robust), "p_above_half": float((omega > 0.5).mean())}


def _against(values, held):
    difference = values - held
    return {
        "elpd_loo": float(values.sum()),
        "difference_to_omega_1": float(difference.sum()),
        "its_se": float(sum_error(difference)),
    }


def _chart(by_law, names, measured):
    rows = {
        f"{name} law, {words}".capitalize(): by_law[name][basis] for name in names for basis, words in COUNTED.items()
    }
    without, counted = (plain(by_law[names[0]][basis], "{:.2f}") for basis in COUNTED)
    return pictured(
        plot_intervals,
        rows,
        "Exponent of the best size in compute",
        published={f"{KAPLAN}, {COUNTED['nonembedding']}": KAPLAN_EXPONENT}
        | {f"{source}, {COUNTED['total']}": x for source, x in measured},
        title=f"Without embeddings the exponent of the best size is {without}, with them {counted}",
        caption="Medians and 95% intervals of the exponent that the study of Kaplan et al. would have measured, under "
        "the laws that predict runs left out about as well.",
        source="Data: chinchilla_runs",
    )


def _exponents_table(study, measured):
    rows = [
        [
            name,
            *(tables.interval(one[basis], "{:.3f}") for basis in COUNTED),
            probability(one["p_above_0.73"]),
            f"{one['elpd_diff']:+.1f} ± {one['dse']:.1f}" if one["elpd_diff"] else "best",
            "yes" if one["rejected"] else "no",
        ]
        for name, one in study["by_law"].items()
    ]
    exponents = study["local_exponent"]
    constants = [
        (f"constants of {source}", *(f"{exponents[basis][source]:.3f}" for basis in COUNTED))
        for source in exponents["total"]
        if source != "posterior"
    ]
    others = [(KAPLAN, f"{KAPLAN_EXPONENT}"), *((source, None, f"{x}") for source, x in measured), *constants]
    header = ["law and noise", *COUNTED.values(), "P(≥ 0.73)", "elpd", "predicts worse"]
    note = (
        "Medians and 95% intervals. Elpd: difference to the best law in nats, ± one standard error; beyond two a law "
        "predicts worse. Sources alone: measured there. Constants: of Chinchilla's law, in the study of Kaplan et al.; "
        "Pearce and Song (2024) print 0.74 and 0.78 without embeddings."
    )
    rows += [[*row, *[None] * (len(header) - len(row))] for row in others]
    return tables.of_rows(header, rows, note, title="Exponents by law and noise, and published ones")


def _sizes_table(entry):
    columns = {"gamma": ("γ", "{:,.0f}"), "delta": ("δ", "{:.3f}"), "aspect_ratio": ("width over depth", "{:.1f}")}
    rows = [
        {"estimator": "posterior"}
        | {title: tables.interval(entry["posterior"][key], form) for key, (title, form) in columns.items()}
    ]
    rows += [
        {"estimator": label}
        | {title: form.format(entry[name][key]) if entry[name][key] else None for key, (title, form) in columns.items()}
        for name, label in ESTIMATORS.items()
    ]
    rows.append({"estimator": "Pearce and Song 2024", "γ": "47,491", "δ": "0.34", "width over depth": "39.2"})
    note = "Width over depth: what γ and a vocabulary of 32,000 imply at δ = 1/3; of the posterior, at its mean size."
    fits = ["configurations", *[""] * (len(rows) - 1)]
    return tables.html(rows, note=note, title="Estimates of γ and δ", fits=fits)


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    study = findings.document["reconciliation"]
    # The law of the answer first.
    names = sorted(study["direction"]["laws"], key=lambda name: name != DEFAULT)
    rows = published[published["quantity"] == "chinchilla.exponent_parameters"]
    measured = [*zip(rows["source"], rows["estimate"], strict=True)]
    blocks = {
        "chart": _chart(study["by_law"], names, measured),
        "exponents": _exponents_table(study, measured),
        "sizes": _sizes_table(study["configurations"]),
    }
    checks = {name: verdict_entry(findings.besides["rivals"][name]) for name in names}
    named = {"study": study, "names": names, "checks": checks, "times_outside": times_outside, "MAIN": MAIN}
    return prose.sections(__file__, blocks, **named)
