"""Text of README and documentation that is made from the numbers of a report, by the names that pages use."""

import ast
import re
from pathlib import Path

import experiment_tables
import ledger_table
import loss_studies
from bayescaling.datasets.files import evidence
from bayescaling.inference.words import (
    HIGH,
    LOW,
    MIDDLE,
    dates,
    digits,
    factor,
    flop,
    months,
    plain,
    position,
    probability,
    sizes,
    times,
    yearly,
)
from bayescaling.reports import speeds
from bayescaling.reports.pages.front.page import _row
from bayescaling.reports.pages.since.forms import OF_SCORES, form_name
from bayescaling.training.deviations import ARITHMETIC, LANGUAGE
from bayescaling.training.deviations import table as deviations

PAPERS = {
    "ho": ("Ho et al. 2024",),
    "chinchilla": ("Hoffmann et al. 2022", "Besiroglu et al. 2024"),
    "pearce": ("Kaplan et al. 2020", "Pearce and Song 2024"),
}
STAN = Path(__file__).resolve().parents[1] / "tests" / "inference" / "test_stan.py"
SHORTEST, APART = 1.0, 1.3  # minutes of METR's shortest task, and factor beyond which two horizons differ
COVERED = "horizons", *("doubling time" + of for of in ("", ", scatter known", ", least squares on true horizons"))
NAMES = {"chinchilla": "Chinchilla", "coupled": "coupled", "offsets": "offsets"}


def table(header, rows):
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def substitutions(headline):
    """Return the texts by name, str, from the content of ``headline.json``."""
    laws, best, lengths = headline["laws"], headline["best"], headline["lengths"]
    by_page = {answer["page"]: answer for answer in headline["answers"]}
    since = headline["since"]
    weirdml, metr = (evidence(f"horizons_{name}")["result"] for name in ("weirdml", "metr"))
    texts = {
        "findings": table(
            ("question", "answer", "strength"),
            [(answer["question"], _answered(answer), answer["strength"]) for answer in headline["answers"]],
        ),
        "reasons": table(
            ("question", "strength", "reason", "what would raise it by one grade"),
            [
                tuple(answer[key] for key in ("question", "strength", "because", "raises"))
                for answer in headline["answers"]
            ],
        ),
        "quotable": "\n".join(f"- {sentence}" for sentence in headline["quotable"]),
        "not_quotable": "\n".join(f"- {sentence}" for sentence in headline["not_quotable"]),
        "best_law": NAMES[best],
        "n_star": sizes(laws[best]["at_1e24"]["parameters"]),
        "d_star": sizes(laws[best]["at_1e24"]["tokens"]),
        "exponent": plain(laws[best]["constants"]["exponent_parameters"]),
        "exponent_chinchilla": plain(laws["chinchilla"]["constants"]["exponent_parameters"]),
        "robust_ratio": f"{laws['chinchilla']['robust_ratio']:.1f}",
        "chinchilla_misfit": misfit(laws["chinchilla"]["verdict"]),
        "laws": table(
            (
                "law",
                "elpd",
                "E",
                "exponent of N*",
                "N* at 1e24 FLOP",
                "tokens per parameter there",
                "misfit of the loss",
            ),
            [
                (
                    NAMES[name],
                    f"{law['elpd']:.1f}",
                    plain(law["constants"]["E"]),
                    plain(law["constants"]["exponent_parameters"]),
                    sizes(law["at_1e24"]["parameters"]),
                    factor(_rounded(law["at_1e24"]["tokens_per_parameter"])),
                    misfit(law["verdict"]),
                )
                for name, law in laws.items()
            ],
        ),
        "doubling": months(headline["progress"]["quoted"]["doubling_months"]),
        "evaluations": str(headline["progress"]["rows"]),
        "far": months(headline["far"]["by_paper_stacking"]),
        "since_2014": _times(headline["effective_compute_since_2014"]),
        "attribution": table(
            ("from", "to", "share of the gain from progress, the rest from scaling"),
            [(row["from"], row["to"], plain(row["progress"], "{:.2f}")) for row in headline["attribution"]],
        ),
        "rule_gains": table(
            ("compute", "compute saved by Chinchilla's rule over Kaplan's (times)"),
            [(flop(row["compute"]), plain(row["gain"], "{:.2f}")) for row in headline["chinchilla_over_kaplan"]],
        ),
        "train_digits": str(lengths["train_digits"]),
        "lengths": table(
            ("positions", "longer sums right", "half of the accuracy left at (digits)", "P(Abacus goes further)"),
            [
                (position(name), plain(lengths["beyond"][name], "{:.1%}"), digits(of["0.5"]), _further(lengths, name))
                for name, of in lengths["typical"].items()
            ],
        ),
        "since": _since(since),
        "since_scores": _since_scores(evidence("since_scores")["result"]),
        "since_scores_date": evidence("since_scores")["made"],
        "since_forms": _since_forms(evidence("since_forms")["result"]),
        "since_forms_date": evidence("since_forms")["made"],
        "how_fast": _how_fast(headline),
        "horizons_models": _horizons_of_models(weirdml),
        "horizons_trends": _horizons_by_trend(weirdml),
        "horizons_metr": _horizons_of_metr(metr["models"]),
        "horizons_unweighted": digits(metr["models"]["o1"]["effects of tasks"]),
        "horizons_weighted": digits(metr["models"]["o1"]["effects of tasks, their weights"]),
        "horizons_coverage": _horizons_covered(evidence("horizons_recovery")["result"]),
        "horizons_bias": factor(weirdml["fits"]["linear"]["estimate_factor"]),
        "compute_factor": plain(_latest("values_compute", "forms"), "{:.1f}"),
        "metr_2023": months(_latest("values_horizons", "2023", "days")),
        "metr_2019": months(_latest("values_horizons", "2019", "days")),
        "metr_published": plain(speeds.published("horizons.doubling_days.since_2023"), "{:.1f}"),
        "metr_change": f"{-evidence('values_horizons')['result']['2023']['forms']['linear']['elpd_diff']:.1f}",
        "horizons_forecasts": _forecasts_scored(evidence("horizons_forecasts")["result"], "log minutes"),
        "ledger": table(ledger_table.HEADER, ledger_table.rows()),
        "scores_forecasts": _forecasts_scored(evidence("scores_forecasts")["result"], "share of right answers"),
        "eci": f"{since['rows']['models']} models; the compute of {since['rows']['computes']} is Confident or Likely",
        "stan": _stan(laws),
        "seed": str(headline["made"]["seed"]),
        "draws": f"{headline['made']['chains']} chains of {headline['made']['draws']:,}",
    }
    for page, answer in by_page.items():
        depends = "\n".join(f"- {point}" for point in answer["depends"])
        texts[f"answer-{page}"] = f"{_answered(answer)} {answer['frame']}\n\n{depends}\n\n"
        texts[f"answer-{page}"] += f"Strength: {answer['strength']}. Reasons: {answer['because']}."
    for name, sources in PAPERS.items():
        texts[f"claims-{name}"] = _claims([c for c in headline["claims"] if c["source"] in sources])
    texts |= {"deviations-arithmetic": deviations(ARITHMETIC), "deviations-language": deviations(LANGUAGE)}
    texts |= experiment_tables.tables(table) | loss_studies.tables(table)
    texts |= {f"keys-{kind}": _keys(rows) for kind, rows in _sweep_keys().items()}
    return {name.replace("_", "-"): text for name, text in texts.items()}


def misfit(sentence):
    """Shorten the sentence on a law that its rows reject to the misfit, its place and the p values of the tests."""
    pattern = r"the law .*?(\S+) of the loss on average, and by (\S+) in (.*?)\. Tests that reject it: (.*?)\. Of"
    parts = re.match(pattern, sentence)
    return f"{parts[1]} on average, {parts[2]} in {parts[3]} ({parts[4]})" if parts else sentence


def _sweep_keys():
    """Read the keys of sweeps without loading torch."""
    from bayescaling.training import arithmetic, sweep_keys

    return {"language": sweep_keys(), "arithmetic": arithmetic.sweep_keys()}


def _keys(rows):
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows.itertuples(index=False)]
    return table(tuple(rows.columns), cells)


def _answered(answer):
    """Return the sentence of an answer, and its number where the sentence does not have it."""
    sentence = f"**{answer['answer']}**"
    return sentence if answer["number"] in answer["answer"] else f"{sentence} {answer['number']}"


def _claims(claims):
    header = ("claim", "source", "published", "ours [95%]", "P(ours ≥ published)", "result")
    rows = [_row(claim) for claim in claims]
    cells = [(c["claim"], c["source"], c["theirs"], c["shown"], c["p"], c["verdict"]) for c in rows]
    return table(header, [(*row[:-1], row[-1].replace("moved", "disagrees")) for row in cells])


def _further(lengths, name):
    return probability(lengths["rivals"][name]["p_first"]) if name in lengths["rivals"] else "–"


def _times(q):
    """Return a median and its interval to two digits, without powers of ten."""
    q = _rounded(q)
    return plain(q, "{:,.0f}" if q[MIDDLE] >= 10 else "{:.1f}")


def _rounded(q):
    """Round a median and its interval to two digits."""
    return {name: q[name] and float(f"{q[name]:.2g}") for name in (LOW, MIDDLE, HIGH)}


def _stan(laws):
    assigned = [n for n in ast.parse(STAN.read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)]
    of_stan = next(ast.literal_eval(n.value) for n in assigned if n.targets[0].id == "OF_RUNS")
    rows = [
        (NAMES[law], name, f"{mean:.4f} ± {sd:.4f}", f"{ours['mean']:.4f} ± {ours['sd']:.4f}")
        for law, quantities in of_stan.items()
        for name, (mean, sd) in quantities.items()
        if (ours := laws[law]["posterior"].get(name))
    ]
    return table(("law", "quantity", "Stan", "here"), rows)


def _since(since):
    labels = {"all": "constant rate", "before": "before the break", "after": "after the break"}
    rows = [
        (labels[period], unit, plain(row["gain"], "{:.2f}"), yearly(row["factor"]))
        for period in labels
        for unit, row in since["periods"][period].items()
    ]
    header = ("period", "unit", "gain at fixed compute, logits a year [95%]", "fall of compute at fixed capability")
    return table(header, rows)


def _since_scores(evidence):
    """Tabulate forms of the scores: gains, how well each predicts what is left out, and convergence."""
    rows = []
    for name, words in OF_SCORES.items():
        of, forms = evidence["answers"][name], [x["forms"][name] for x in evidence["left_out"]["break"].values()]
        gains = [of["linear"]["gains"]["after"], *of["break"]["gains"].values()]
        apart = (f"{x['elpd_diff']:.1f} ± {x['dse']:.1f}" for x in forms)
        chains = [by_pace["diagnostics"] for by_pace in of.values()]
        r_hat, draws = max(x["r_hat_max"] for x in chains), min(x["ess_bulk_min"] for x in chains)
        rows.append((words, *(plain(q, "{:.2f}") for q in gains), *apart, f"{r_hat:.3f}, {draws:.0f}"))
    header = ("form", "constant", "to May 2024", "since", "elpd by model", "elpd by family", "r_hat, draws")
    return table(header, rows)


def _since_forms(evidence):
    """Tabulate forms of the trend: gains, P(faster), and how well each predicts what is left out."""
    rows = []
    for variant, by_form in evidence["answers"].items():
        left_out = evidence["left_out"].get(variant)
        for form, of in by_form.items():
            apart = ["–", "–"]
            if left_out is not None:
                numbers = (left_out[by]["forms"][form] for by in ("model", "family"))
                apart = [f"{form_numbers['elpd_diff']:.1f} ± {form_numbers['dse']:.1f}" for form_numbers in numbers]
            rows.append((form_name(variant, form), *_gains(of), *apart))
    for variant, left_out in evidence["left_out"].items():
        rows.append((form_name(variant, "averaged"), *_gains(left_out["model"]["averaged"]), "–", "–"))
    header = ("form", "mid-2023", "mid-2025", "P(faster)", "elpd by model", "elpd by family")
    return table(header, rows)


def _how_fast(headline):
    """Tabulate doubling times of loss, scores, horizons and compute, each with its data and the published value."""
    progress, since = headline["progress"], headline["since"]
    capability = since["periods"]["all"]["family"]["halving"]
    loss = progress["quoted"]["doubling_months"]
    rows = speeds.rows(loss, progress["rows"], capability, since["rows"]["models"], speeds.of_studies())
    return table(("what", "months", "data", "published"), rows)


def _latest(study, *keys):
    """Return an interval of a study by its keys; of forms of a trend that of the best."""
    result = evidence(study)["result"]
    best = result.get("best")
    for key in keys:
        result = result[key]
    return result[best] if keys[-1] == "forms" else result


def _horizons_of_models(weirdml):
    """Tabulate hours of half of the runs, with and without calibration, and the published ones."""
    named = {"calibrated": weirdml["fits"]["linear"], "estimates": weirdml["fits"]["estimates alone"]}
    rows = []
    for model, (alone, calibrated) in weirdml["published_hours"].items():
        hours = [of["hours"][model]["typical, 0.5"] for of in (named["estimates"], named["calibrated"])]
        rows.append((model, digits(hours[0]), f"{alone:.1f}", digits(hours[1]), f"{calibrated:.1f}"))
    header = ("model", "hours by estimates", "published", "hours calibrated", "published")
    return table(header, rows)


def _horizons_by_trend(weirdml):
    """Tabulate doubling times by trend, with how well each predicts models left out."""
    rows = []
    for trend, left_out in weirdml["compared"].items():
        fit = weirdml["fits"][trend]
        days = fit["doubling_days"]
        apart = f"{left_out['elpd_diff']:.1f} ± {left_out['dse']:.1f}"
        week = fit["dates_reached"]["a week of work"]
        rows.append((trend, "; ".join(months(of) for of in days.values()), dates(week), apart))
    return table(("trend", "days in which horizons double", "a week of work", "elpd by model left out"), rows)


def _horizons_of_metr(models):
    """Tabulate minutes of half of the runs by METR's method and by the law, and the steps that change them most."""
    rows = []
    for model, of in models.items():
        if of["weights of families"][MIDDLE] < SHORTEST:
            continue
        steps = [f"{step} × {times(x)}" for step, x in of["factors"].items() if not 1 / APART < x < APART]
        apart = not 1 / APART < of["law"][MIDDLE] / of["published"] < APART
        equal = f"{of['weights of tasks'][MIDDLE]:.1f}"
        cells = digits(of["weights of families"]), equal, digits(of["law"]), "; ".join(steps) if apart else "–"
        rows.append((model, f"{of['published']:.1f}", *cells))
    header = ("model", "published", "their method", "with equal weights", "ours", "what the difference consists of")
    return table(header, rows)


def _horizons_covered(cases):
    """Tabulate how often intervals of simulated tables hold the truth."""
    rows = []
    for case, of in cases.items():
        cells = (f"{of[name]['90%']:.0%}" if name in of else "–" for name in COVERED)
        rows.append((case, f"{of['converged']:.0%}", *cells))
    return table(("case", "converged", *COVERED), rows)


def _forecasts_scored(forecasts, unit):
    """Tabulate how forecasts of later models from past quarters did."""
    rows = [
        (name, *(f"{100 * share:.0f}%" for share in of["coverage"].values()), f"{of['crps']:.3f}")
        for name, of in forecasts.items()
        if name != "cuts"
    ]
    return table(("forecast", "in 50% intervals", "in 90% intervals", f"CRPS, {unit}"), rows)


def _gains(of):
    gains = (plain(of["gains"][when], "{:.2f}") for when in ("before", "after"))
    return *gains, probability(of["p_faster"]) if "p_faster" in of else "–"
