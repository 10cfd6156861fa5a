"""Text of the documentation that is made of numbers of a report, by the names that its pages use."""

import ast
from pathlib import Path

from bayescaling.datasets.files import evidence
from bayescaling.inference.words import HIGH, LOW, MIDDLE, digits, flop, months, plain, probability, sizes, yearly
from bayescaling.reports.pages.front.page import _row
from bayescaling.reports.pages.since.forms import form_name

PAPERS = {
    "ho": ("Ho et al. 2024",),
    "chinchilla": ("Hoffmann et al. 2022", "Besiroglu et al. 2024"),
    "pearce": ("Kaplan et al. 2020", "Pearce and Song 2024"),
}
STAN = Path(__file__).resolve().parents[1] / "tests" / "inference" / "test_stan.py"
NAMES = {"chinchilla": "Chinchilla", "coupled": "coupled", "offsets": "offsets"}


def table(header, rows):
    """Write a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def substitutions(headline):
    """Return the texts by name.

    Parameters
    ----------
    headline : dict
        The content of ``headline.json``.

    Returns
    -------
    dict of str to str
    """
    laws, best, lengths = headline["laws"], headline["best"], headline["lengths"]
    by_page = {each["page"]: each for each in headline["answers"]}
    since = headline["since"]
    found = {
        "answers": "\n\n".join(
            f"**{each['question']}** {each['answer']} {each['number']} {each['moves']} "
            f"*Strength: {each['strength']}, since {each['because']}.*"
            for each in headline["answers"]
        ),
        "quotable": "\n".join(f"- {said}" for said in headline["quotable"]),
        "not_quotable": "\n".join(f"- {said}" for said in headline["not_quotable"]),
        "best_law": NAMES[best],
        "n_star": sizes(laws[best]["at_1e24"]["parameters"]),
        "d_star": sizes(laws[best]["at_1e24"]["tokens"]),
        "exponent": plain(laws[best]["constants"]["exponent_parameters"]),
        "exponent_chinchilla": plain(laws["chinchilla"]["constants"]["exponent_parameters"]),
        "robust_ratio": f"{laws['chinchilla']['robust_ratio']:.1f}",
        "chinchilla_verdict": laws["chinchilla"]["verdict"],
        "laws": table(
            ("law", "elpd", "E", "exponent of N*", "N* at 1e24 FLOP", "tokens per parameter there", "verdict"),
            [
                (
                    NAMES[name],
                    f"{law['elpd']:.1f}",
                    plain(law["constants"]["E"]),
                    plain(law["constants"]["exponent_parameters"]),
                    sizes(law["at_1e24"]["parameters"]),
                    plain(law["at_1e24"]["tokens_per_parameter"], "{:.0f}"),
                    law["verdict"],
                )
                for name, law in laws.items()
            ],
        ),
        "beyond": f"{laws[best]['at_1e24']['extrapolation']:.1f}",
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
            ("positions", "digits at which half of the sums are right", "P(Abacus goes further)"),
            [
                (name, digits(of["0.5"]), _further(lengths["p_abacus_further"], name))
                for name, of in lengths["typical"].items()
            ],
        ),
        "since": _since(since),
        "since_forms": _since_forms(evidence("since_forms")["result"]),
        "since_forms_date": evidence("since_forms")["made"],
        "eci": f"{since['rows']['models']} models; the compute of {since['rows']['computes']} is Confident or Likely",
        "stan": _stan(laws),
        "seed": str(headline["made"]["seed"]),
        "draws": f"{headline['made']['chains']} chains of {headline['made']['draws']:,}",
    }
    for page, each in by_page.items():
        found[f"answer_{page}"] = f"{each['answer']} {each['number']}"
        found[f"moves_{page}"] = each["moves"]
        found[f"strength_{page}"] = f"{each['strength']}: {each['because']}"
    for name, sources in PAPERS.items():
        found[f"claims_{name}"] = _claims([c for c in headline["claims"] if c["source"] in sources])
    return found


def _claims(claims):
    header = ("claim", "source", "published", "ours [95%]", "P(ours ≥ published)", "verdict")
    rows = [_row(claim) for claim in claims]
    return table(header, [(c["claim"], c["source"], c["theirs"], c["shown"], c["p"], c["verdict"]) for c in rows])


def _further(known, name):
    return probability(known[name]) if name in known else "–"


def _times(q):
    """Median and interval to two digits, without powers of ten."""
    q = {name: q[name] and float(f"{q[name]:.2g}") for name in (LOW, MIDDLE, HIGH)}
    return plain(q, "{:,.0f}" if q[MIDDLE] >= 10 else "{:.1f}")


def _stan(laws):
    assigned = [n for n in ast.parse(STAN.read_text(encoding="utf-8")).body if isinstance(n, ast.Assign)]
    known = next(ast.literal_eval(n.value) for n in assigned if n.targets[0].id == "OF_RUNS")
    rows = [
        (NAMES[law], name, f"{mean:.4f} ± {sd:.4f}", f"{ours['mean']:.4f} ± {ours['sd']:.4f}")
        for law, quantities in known.items()
        for name, (mean, sd) in quantities.items()
        if (ours := laws[law]["posterior"].get(name))
    ]
    return table(("law", "quantity", "Stan", "here"), rows)


def _since(found):
    labels = {"all": "one pace", "before": "before the break", "after": "after the break"}
    rows = [
        (labels[period], unit, plain(row["gain"], "{:.2f}"), yearly(row["factor"]))
        for period in labels
        for unit, row in found["periods"][period].items()
    ]
    header = ("period", "unit", "gain at fixed compute, logits a year [95%]", "fall of compute at fixed capability")
    return table(header, rows) + _paces(found["left_out"])


def _since_forms(evidence):
    """Tabulate forms of the trend: gains, P(faster), and how well each predicts what is left out."""
    rows = []
    for variant, by_form in evidence["answers"].items():
        left_out = evidence["left_out"].get(variant)
        for form, of in by_form.items():
            apart = ["–", "–"]
            if left_out is not None:
                found = (left_out[by]["forms"][form] for by in ("model", "family"))
                apart = [f"{each['elpd_diff']:.1f} ± {each['dse']:.1f}" for each in found]
            rows.append((form_name(variant, form), *_gains(of), *apart))
    for variant, left_out in evidence["left_out"].items():
        rows.append((form_name(variant, "averaged"), *_gains(left_out["model"]["averaged"]), "–", "–"))
    header = ("form", "mid-2023", "mid-2025", "P(faster)", "elpd by model", "elpd by family")
    return table(header, rows)


def _gains(of):
    gains = (plain(of["gains"][when], "{:.2f}") for when in ("before", "after"))
    return *gains, probability(of["p_faster"]) if "p_faster" in of else "–"


def _paces(left_out):
    """Say which pace foretells models left out better, where that was computed."""
    if left_out is None:
        return ""
    best, other = sorted(left_out.values(), key=lambda each: -each["elpd"])
    said = {id(left_out["linear"]): "one pace throughout", id(left_out["break"]): "a pace that changes"}
    apart = f"{-other['elpd_diff']:.1f} ± {other['dse']:.1f}"
    return f"\n\nModels left out are foretold better with {said[id(best)]}, by {apart} nats."
