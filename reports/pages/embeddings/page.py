"""The page on embedding parameters: Kaplan and Chinchilla reconciled, and how much an embedding counts."""

import pandas as pd

from ....inference.estimands.study_exponents import BASES, KAPLAN_EXPONENT
from ....inference.intervals import summary
from ....inference.words import borne, equal_to, flop, probability
from ...drawing import tables, verdicts
from ...drawing.style import BASIS_LABELS
from . import figures
from .analysis import BUDGETS, MAIN, OMEGAS, at_least


def _answer(found):
    """Say what a study without embeddings would have measured, by law and noise, and how sure the direction is."""
    entry = found.document["reconciliation"]
    by_law, direction = entry["by_law"], entry["direction"]
    best, *others = direction["laws"]
    rejected = [name for name in by_law if name not in direction["laws"]]
    said = [
        "<b>Yes in direction, under every law and noise that the runs do not reject.</b> Leaving embeddings out raises "
        "the exponent of the optimal size in compute."
        if direction["rises"]
        else "<b>The laws that the runs do not reject disagree on the direction.</b>",
        f"Under the law that predicts the runs best ({best}) the exponent is {_median(by_law[best]['total'])} counting "
        f"all parameters and {tables.interval(by_law[best]['nonembedding'], '{:.3f}')} without embeddings.",
        f"Kaplan et al. had {KAPLAN_EXPONENT}: the probability of at least that is "
        f"{probability(by_law[best]['p_above_0.73'])}.".replace("<", "&lt;").replace(">", "&gt;"),
    ]
    said += [_under(name, by_law[name]) + ", and the runs do not reject it." for name in others]
    if rejected:
        medians = [by_law[name]["nonembedding"]["q50"] for name in rejected]
        said.append(
            "Under laws and noises that predict the runs worse by more than two standard errors the median runs from "
            f"{min(medians):.2f} to {max(medians):.2f} without embeddings."
        )
    return " ".join(said)


def _under(name, one):
    return (
        f"Under the {name} law the exponent is {_median(one['total'])} with all parameters and "
        f"{tables.interval(one['nonembedding'], '{:.3f}')} without embeddings"
    )


def _median(q):
    return f"{q['q50']:.2f}"


def _beyond(found):
    """Say how far the study lies outside the runs."""
    decades = found.document["reconciliation"]["decades_beyond"]
    if not decades:
        return "The budgets of the study lie within the compute of the fitted runs."
    side = "below the smallest" if decades < 0 else "above the largest"
    return (
        f"The budgets of the study reach {abs(decades):.1f} decades of compute {side} fitted run, so the exponents are "
        "extrapolations of each law."
    )


def _moves(found):
    omega = found.document["reconciliation"]["omega"]
    zero, free = (omega["loo"][label] for label in ("omega 0", "omega free"))
    medians = [one["omega"]["q50"] for one in omega["by_law"].values()]
    return [
        "<b>The sizes, the vocabulary and the shape studied</b> change the exponent. The table shows by how much under "
        "Chinchilla's form.",
        f"<b>How much an embedding parameter counts.</b> ω = {tables.interval(omega['omega'], '{:.2f}')} of another "
        f"one under the law and noise that predict best ({omega['law']}; P(ω &gt; ½) "
        f"{equal_to(omega['p_above_half'])}). The answer depends on both: the medians run from {min(medians):.2f} "
        f"to {max(medians):.2f}. Leaving embeddings out (ω = 0) costs {-zero['difference_to_omega_1']:.1f} ± "
        f"{zero['its_se']:.1f} of elpd (one standard error) against ω = 1; a free ω changes it by "
        f"{free['difference_to_omega_1']:+.1f} ± {free['its_se']:.1f}. The runs are of one vocabulary and few have "
        "many embedding parameters: they say little of ω above 1.",
        "<b>Sizes far below the runs.</b> The smallest run has 44 million parameters, and the study's models start at "
        "800. No posterior holds the misfit of its law there; the laws disagree by more than any interval.",
        "<b>Not evidence.</b> Where N<sub>T</sub> is known, the embedding-corrected law is the Chinchilla law with an "
        "error of size, not a rival hypothesis of the loss: their difference in elpd says nothing of embeddings.",
    ]


def _checks(found):
    laws = found.document["laws"]
    names = dict.fromkeys((MAIN, found.document["reconciliation"]["omega"]["law"]))
    said = [
        check(name, laws[name])
        for name in names
        if name in laws
        for check in (verdicts.of_law, verdicts.of_pit, verdicts.of_pareto)
    ]
    return [each for each in said if each]


def _sizes_table(found):
    rows = [
        {"estimator": label, "γ": f"{e['gamma']:,.0f}", "δ": f"{e['delta']:.3f}",
         "width over depth": f"{e['aspect_ratio']:.1f}" if e["aspect_ratio"] else "–"}
        for label, e in zip(
            ("least squares of log N_T", "regression of log N_E on log N_x",
             "least squares, δ = 1/3"), found.estimates.values(), strict=True)
    ]  # fmt: skip
    posterior = {n: summary(found.sizes["posterior"][n]) for n in ("gamma", "delta", "aspect_ratio")}
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
        "Posterior: median [95%]. Width over depth: what γ and a vocabulary of 32,000 imply at δ = 1/3, for the "
        "posterior at the geometric-mean size; the paper puts its γ, estimated with δ = 0.34, with δ = 1/3."
    )
    fits = ["configurations" if row["estimator"] == "posterior" else "" for row in rows]
    return tables.html(pd.DataFrame(rows), rowname="estimator", note=note, title="Estimates of γ and δ", fits=fits)


def _by_law_table(found):
    rows = []
    for name, one in found.document["reconciliation"]["by_law"].items():
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
        "standard errors behind is rejected. Offsets adds N + n0 and D + d0, and extrapolates n0 to models far "
        "smaller than it was learned from."
    )
    return tables.of_rows(header, rows, note, title="The exponent by law and noise")


def _exponents_table(found):
    rows = []
    for basis in BASES:
        ours = found.exponents[basis]
        row = {
            "counted": BASIS_LABELS[basis],
            "from": f"{MAIN} law, posterior",
            "size": tables.interval(summary(ours["size"]), "{:.3f}"),
            "size, exact budgets": tables.interval(summary(found.exact[basis]["size"]), "{:.3f}"),
            "loss": tables.interval(summary(ours["loss"]), "{:.3f}"),
            "loss above E": tables.interval(summary(ours["reducible_loss"]), "{:.3f}"),
        }
        rows.append(row)
        for source in found.published:
            grid, exact = (found.fixed[source, basis, flag] for flag in (False, True))
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
    return tables.html(pd.DataFrame(rows), note=note, title="Exponents under Chinchilla's form", fits=fits)


def _moved_table(found):
    rows = [
        {"studied": label, "exponent": tables.interval(summary(x), "{:.3f}"), "P(≥ 0.73)": probability(at_least(x))}
        for label, x in found.moved
    ]
    note = (
        "Ranges of size: exact budgets at which the ends of the range are optimal, 200 models, sizes of Chinchilla's "
        "models. Vocabulary and shape: the range of Kaplan's study; the other at Chinchilla's value (32,000 and 54). "
        f"All under the {MAIN} law."
    )
    return tables.html(
        pd.DataFrame(rows), rowname="studied", note=note, title="The exponent by what is studied", fits=MAIN
    )


def _omega_table(found):
    entry = found.document["reconciliation"]["omega"]["loo"]
    rows = []
    for label, name in OMEGAS.items():
        allocation = found.allocations[32_000][name]
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
        pd.DataFrame(rows),
        rowname="counting",
        note="elpd in nats on log loss; ± one standard error of the difference.",
        title="What the counting of embeddings changes",
        fits=list(OMEGAS.values()),
    )


def _omega_by_law(found):
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
        for name, one in found.document["reconciliation"]["omega"]["by_law"].items()
    ]
    header = ["law and noise", "ω", "sd", "robust sd", "P(ω > ½)", "elpd", "difference to ω = 1"]
    note = (
        "Median [95%] of ω; sd of the posterior, and the largest of those that do not trust the law. Coupled: with an "
        "outer exponent κ on both terms. One sigma: scatter that does not depend on size. The last column compares "
        "with the same law and noise at ω = 1, ± one standard error."
    )
    return tables.of_rows(header, rows, note, title="ω by law and noise")


def _planning_table(found, vocabulary):
    rows = []
    for name, allocation in found.allocations[vocabulary].items():
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
        pd.DataFrame(rows),
        title=f"Vocabulary {vocabulary:,}, width over depth 54",
        note="Median [95%]. An N<sub>x</sub>* of a thousand or less is no model: the vocabulary takes the budget.",
    )


def sections(found, published):
    """Sections of the page, in order; see `Page.sections`."""
    return [
        {
            "role": "answer",
            "title": "Answer",
            "text": [
                _answer(found),
                f"{_beyond(found)} The study is that of Kaplan et al.: synthetic training curves, one study for each "
                "posterior draw.",
            ],
            "blocks": [figures.by_law(found.document["reconciliation"]["by_law"]), _by_law_table(found)],
        },
        {"role": "moves", "title": "What could change it", "points": _moves(found), "blocks": [_moved_table(found)]},
        {"role": "checks", "title": "Checks", "points": _checks(found), "blocks": []},
        *({"role": "details"} | each for each in _details(found)),
    ]


def _details(found):
    main = found.document["laws"][MAIN]["parameters"]
    return [
        {
            "title": "How embedding parameters grow",
            "text": [
                "The 50 models of the Chinchilla study: all parameters over those outside the embeddings, and the "
                "relation N<sub>T</sub> = N<sub>x</sub> + γ N<sub>x</sub><sup>δ</sup> of Pearce and Song (2024), "
                "normal on log N<sub>T</sub>. Estimators weigh the models differently and disagree."
            ],
            "blocks": [figures.sizes(found.table, found.sizes), _sizes_table(found)],
        },
        {
            "title": "The exponent under Chinchilla's form",
            "text": [
                "The law of Pearce and Song (2024): Chinchilla's sum of two terms, here the embedding-corrected law, "
                "next to the same law at published constants."
            ],
            "blocks": [figures.measured_exponents(found.exponents, found.fixed), _exponents_table(found)],
        },
        {
            "title": "The exponent by size",
            "text": [
                "Minimising the loss on 6 N<sub>x</sub> D instead of 6 N<sub>T</sub> D makes the optimum grow faster "
                "where embeddings are many: from β/(αδ+β) for the smallest models over a hump to β/(α+β) for the "
                "largest (equation 17 of the paper, any δ). "
                f"Under the {MAIN} law E is {tables.interval(main['E'], '{:.3f}')}, α "
                f"{tables.interval(main['alpha'], '{:.3f}')}, β {tables.interval(main['beta'], '{:.3f}')}."
            ],
            "blocks": [figures.local_exponent(found.local)],
        },
        {
            "title": "How much does an embedding parameter count?",
            "text": [
                "L = E + A/(N<sub>x</sub> + ω N<sub>E</sub>)<sup>α</sup> + B/D<sup>β</sup> on the 245 runs, ω with an "
                "Exponential(1) prior."
            ],
            "blocks": [
                figures.omega({name: found.fits[name] for name in found.document["reconciliation"]["omega"]["by_law"]}),
                _omega_by_law(found),
                _omega_table(found),
                tables.comparison(found.comparison, title="Laws and countings compared by leave-one-out"),
            ],
        },
        {
            "title": "Planning with a vocabulary and a shape",
            "text": [
                "Compute-optimal sizes at C = 6 N<sub>T</sub> D under each law: what a "
                "vocabulary changes. For the size of a next model use the row recommended under “How "
                "big should the next model be?”, whose law predicts better than any of these."
            ],
            "blocks": [_planning_table(found, vocabulary) for vocabulary in found.allocations],
        },
    ]
