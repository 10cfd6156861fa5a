"""The page on embedding parameters: Kaplan and Chinchilla reconciled, and how much an embedding counts."""

from ....inference.estimands.study_exponents import BASES, KAPLAN_EXPONENT
from ....inference.intervals import summary
from ....inference.words import borne, equal_to, flop, probability
from ...html import tables, verdicts
from ...drawing.style import BASIS_LABELS
from ...html import prose
from . import figures
from .analysis import BUDGETS, MAIN, OMEGAS, at_least


def _sizes_table(findings):
    rows = [
        {"estimator": label, "γ": f"{e['gamma']:,.0f}", "δ": f"{e['delta']:.3f}",
         "width over depth": f"{e['aspect_ratio']:.1f}" if e["aspect_ratio"] else "–"}
        for label, e in zip(
            ("least squares of log N_T", "regression of log N_E on log N_x",
             "least squares, δ = 1/3"), findings.estimates.values(), strict=True)
    ]  # fmt: skip
    posterior = {n: summary(findings.sizes["posterior"][n]) for n in ("gamma", "delta", "aspect_ratio")}
    rows.append(
        {
            "estimator": "posterior",
            "γ": tables.interval(posterior["gamma"], "{:,.0f}"),
            "δ": tables.interval(posterior["delta"], "{:.3f}"),
            "width over depth": tables.interval(posterior["aspect_ratio"], "{:.1f}"),
        }
    )
    rows.append(
        {"estimator": "published: Pearce and Song 2024", "γ": "47,491", "δ": "0.34", "width over depth": "39.2"}
    )
    note = (
        "Posterior: median [95%]. Width over depth: what γ and a vocabulary of 32,000 imply at δ = 1/3; for the "
        "posterior, at the geometric-mean size. The paper combines its γ, estimated with δ = 0.34, with δ = 1/3."
    )
    fits = ["configurations" if row["estimator"] == "posterior" else "" for row in rows]
    return tables.html(rows, note=note, title="Estimates of γ and δ", fits=fits)


def _by_law_table(findings):
    rows = []
    for name, one in findings.document["reconciliation"]["by_law"].items():
        best = one["elpd_diff"] == 0
        rows.append(
            [
                name,
                tables.interval(one["total"], "{:.3f}"),
                tables.interval(one["nonembedding"], "{:.3f}"),
                probability(one["p_above_0.73"]),
                "best" if best else f"{one['elpd_diff']:+.1f} ± {one['dse']:.1f}",
                "yes" if one["rejected"] else "no",
            ]
        )
    header = ["law and noise", "all parameters", "without embeddings", "P(≥ 0.73)", "elpd difference", "rejected"]
    note = (
        "Exponent of the optimal size that the study would have measured, median [95%], with γ and δ of the "
        "configurations' posterior. Elpd difference to the best law, ± one standard error; a law more than two "
        "standard errors behind is rejected. The offsets law has N + n0 and D + d0, and extrapolates n0 to models "
        "far smaller than those that inform it."
    )
    return tables.of_rows(header, rows, note, title="The exponent by law and noise")


def _exponents_table(findings):
    rows = []
    for basis in BASES:
        ours = findings.exponents[basis]
        row = {
            "counted": BASIS_LABELS[basis],
            "from": f"{MAIN} law, posterior",
            "size": tables.interval(summary(ours["size"]), "{:.3f}"),
            "size, exact budgets": tables.interval(summary(findings.exact[basis]["size"]), "{:.3f}"),
            "loss": tables.interval(summary(ours["loss"]), "{:.3f}"),
            "loss above E": tables.interval(summary(ours["reducible_loss"]), "{:.3f}"),
        }
        rows.append(row)
        for source in findings.published:
            grid, exact = (findings.fixed[source, basis, flag] for flag in (False, True))
            rows.append(
                {
                    "counted": BASIS_LABELS[basis],
                    "from": source,
                    "size": f"{float(grid['size'][0]):.3f}",
                    "size, exact budgets": f"{float(exact['size'][0]):.3f}",
                    "loss": f"{float(grid['loss'][0]):.3f}",
                    "loss above E": f"{float(grid['reducible_loss'][0]):.3f}",
                }
            )
    note = (
        "Exponents in compute over the frontier of 20 models from 10<sup>2.9</sup> to 10<sup>9.2</sup> N<sub>x</sub>, "
        "100 budgets, each curve read at the nearest of 1,000 points (exact budgets: at the budget). Published sets of "
        "constants with γ = 47,491, δ = 1/3. Pearce and Song print 0.78 and 0.74 without embeddings."
    )
    fits = [MAIN if MAIN in row["from"] else "" for row in rows]
    return tables.html(rows, note=note, title="Exponents under Chinchilla's form", fits=fits)


def _by_study_table(findings):
    rows = [
        {"studied": label, "exponent": tables.interval(summary(x), "{:.3f}"), "P(≥ 0.73)": probability(at_least(x))}
        for label, x in findings.by_study
    ]
    note = (
        "Ranges of size: exact budgets at which the ends of the range are optimal, 200 models, sizes of Chinchilla's "
        "models. Vocabulary and shape: the range of Kaplan's study; the other at Chinchilla's value (32,000 and 54). "
        f"All under the {MAIN} law."
    )
    return tables.html(rows, note=note, title="The exponent by what is studied", fits=MAIN)


def _omega_table(findings):
    entry = findings.document["reconciliation"]["omega"]["loo"]
    rows = []
    for label, name in OMEGAS.items():
        allocation = findings.allocations[32_000][name]
        row = {
            "counting": label.replace("omega", "ω")
            .replace("ω 0", "ω = 0 (Kaplan's)")
            .replace("ω 1", "ω = 1 (Hoffmann's)"),
            "elpd": f"{entry[label]['elpd_loo']:.1f}",
            "difference to ω = 1": f"{entry[label]['difference_to_omega_1']:+.1f} ± {entry[label]['its_se']:.1f}",
        }
        for i, budget in ((0, BUDGETS[0]), (len(BUDGETS) - 1, BUDGETS[-1])):
            row[f"N_T* at {flop(budget)}"] = tables.si_interval(summary(allocation["parameters"].isel(compute=i)))
        rows.append(row)
    return tables.html(
        rows,
        note="elpd in nats on log loss; ± one standard error of the difference.",
        title="What the counting of embeddings changes",
        fits=list(OMEGAS.values()),
    )


def _omega_by_law(findings):
    rows = [
        [
            name,
            tables.interval(one["omega"], "{:.2f}"),
            f"{one['omega']['sd']:.2f}",
            f"{one['robust_sd']:.2f}",
            probability(one["p_above_half"]),
            f"{one['elpd_loo']:.1f}",
            f"{one['difference_to_omega_1']:+.1f} ± {one['its_se']:.1f}",
        ]
        for name, one in findings.document["reconciliation"]["omega"]["by_law"].items()
    ]
    header = ["law and noise", "ω", "sd", "robust sd", "P(ω > ½)", "elpd", "difference to ω = 1"]
    note = (
        "Median [95%] of ω; sd of the posterior, and the largest robust (sandwich) sd. Coupled: with an outer exponent "
        "κ on both terms. One sigma: scatter that does not depend on size. The last column compares elpd with the same "
        "law and noise at ω = 1, ± one standard error."
    )
    return tables.of_rows(header, rows, note, title="ω by law and noise")


def _planning_table(findings, vocabulary):
    rows = []
    for name, allocation in findings.allocations[vocabulary].items():
        for i, budget in enumerate(BUDGETS):
            at = allocation.isel(compute=i)
            rows.append(
                {
                    "law": name,
                    "C (FLOP)": flop(budget).partition(" ")[0],
                    "N_T*": tables.si_interval(summary(at["parameters"])),
                    "N_x*": tables.si_interval(summary(at["parameters_nonembedding"])),
                    "D* (tokens)": tables.si_interval(summary(at["tokens"])),
                    "loss (nats/token)": borne(summary(at["loss"])),
                }
            )
    return tables.html(
        rows,
        title=f"Vocabulary {vocabulary:,}, width over depth 54",
        note="Median [95%]. An N<sub>x</sub>* of 1,000 or less is no usable model: the vocabulary takes the budget.",
    )


def sections(findings, published):
    """Return the sections of the page, in order; see `Page.sections`."""
    study = findings.document["reconciliation"]
    blocks = {
        "by_law": figures.by_law(study["by_law"]),
        "by_law_table": _by_law_table(findings),
        "by_study": _by_study_table(findings),
        "sizes": figures.sizes(findings.table, findings.sizes),
        "sizes_table": _sizes_table(findings),
        "measured_exponents": figures.measured_exponents(findings.exponents, findings.fixed),
        "exponents_table": _exponents_table(findings),
        "local_exponent": figures.local_exponent(findings.local),
        "omega": figures.omega({name: findings.fits[name] for name in study["omega"]["by_law"]}),
        "omega_by_law": _omega_by_law(findings),
        "omega_table": _omega_table(findings),
        "comparison": tables.comparison(findings.comparison, title="Laws and countings compared by leave-one-out"),
        "planning": [_planning_table(findings, vocabulary) for vocabulary in findings.allocations],
    }
    return prose.sections(
        __file__,
        blocks,
        document=findings.document,
        equal_to=equal_to,
        verdicts=verdicts,
        KAPLAN_EXPONENT=KAPLAN_EXPONENT,
        MAIN=MAIN,
    )
