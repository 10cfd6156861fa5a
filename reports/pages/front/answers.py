"""The questions of a report and their answers, as data: page, terminal and results.json have the same."""

import math

from ....inference.estimands import strength as grading
from ....inference.estimands.strength import STRONG, WEAK, Facts, times_outside, width
from ....inference.estimands.study_exponents import KAPLAN_EXPONENT
from ....inference.words import HIGH, LOW, MIDDLE, digits, month, position
from ... import optimum
from ...cache.whole import CLAIMS
from ...html import prose
from ...laws import DEFAULT

LEVEL = 0.95  # of intervals
TEMPLATE = "answers.md.jinja"
WORDS = {"digits": digits, "position": position, "times_outside": times_outside, "KAPLAN_EXPONENT": KAPLAN_EXPONENT}


def answers(document):
    """Return the answers to the questions whose pages were computed, from the content of results.json."""
    made = {key: make(document) for key, (_, _, make) in ANSWERED.items() if key in document}
    return [
        answer(write_texts(section, named), facts, rests_on, document["diagnostics"], page=page, slug=CLAIMS[section])
        for key, (facts, rests_on, named) in made.items()
        for section, page, _ in (ANSWERED[key],)
    ]


def write_texts(section, named):
    """Return the texts of an answer, by their names, from a section of the template and what it names."""
    return prose.texts(__file__, TEMPLATE, **{section: named}, **WORDS)


def answer(texts, facts, rests_on, diagnostics, *, page, slug=""):
    """Grade an answer, and return it with its texts, those of `write_texts`.

    The facts have ``chains`` from `diagnostics`, those in results.json of the fits that the number rests on. `page` is
    the page, or the place of it, that has more, and `slug` the page of the claim.

    Returns
    -------
    dict
        ``question`` and ``answer``, one sentence with one number and its interval. ``number`` is that number with its
        interval and unit, ``doubt`` one line on what it depends on most, ``frame`` a frame of reference, empty for
        none, and ``depends`` what the number depends on. Then ``facts`` as a dict, ``grades``, the ``strength``,
        ``because``, why it is not stronger, ``raises``, what would raise it by one grade, and ``data``, the tables.
    """
    facts = facts._replace(chains=all(diagnostics[name]["ok"] for name in rests_on))
    return {
        "page": page,
        **{name: texts[name] for name in ("question", "answer", "number", "doubt")},
        "frame": texts.get("frame", ""),
        "depends": tuple(texts.get("depends", ())),
        "slug": slug,
        "facts": {name: None if isinstance(x, float) and math.isinf(x) else x for name, x in facts._asdict().items()},
        "rests_on": rests_on,
        "grades": grading.grades(facts),
        "strength": grading.strength(facts),
        "because": "; ".join(grading.reasons(facts)) or "nothing",
        "raises": "; ".join(grading.raises(facts)),
        "data": sorted({diagnostics[name]["data"] for name in rests_on}),
    }


def ratio(medians):
    """Return the ratio of the largest to the smallest of medians, None of one alone."""
    finite = [x for x in medians if x is not None]
    return max(finite) / min(finite) if len(finite) > 1 else None


def make_facts(check, **more):
    """Return the facts of an answer: those of its law, from the check of the fit, and others."""
    return Facts(**{"chains": True} | {key: check[key] for key in ("verdict", "p", "size")} | more)


def furthest(q, others):
    """Return the name and the summary of which the median lies furthest from another, None of none."""
    finite = {name: interval for name, interval in others.items() if interval[MIDDLE] and q[MIDDLE]}
    return max(finite.items(), key=lambda pair: abs(math.log(pair[1][MIDDLE] / q[MIDDLE])), default=None)


def size_parts(document, law, rivals, compute, label=str, question="How big should the next model be?", **group):
    """Return facts, fits and names of the answer on the best size at a budget in FLOP.

    It is that of the law recommended, next to rivals, which predict about as well. `label` turns the name of a law into
    what a sentence calls it. A law of groups needs its ``group``.
    """

    def at_budget(name):
        return optimum.at_budget(document, compute, name, **group)

    at, others = at_budget(law), {label(name): at_budget(name)["parameters"] for name in rivals}
    facts = make_facts(
        document["laws"][law]["verdict"],
        width=width(at["parameters"]),
        sensitivity=ratio([at["parameters"][MIDDLE], *(q[MIDDLE] for q in others.values())]),
        decades=at["extrapolation"],
        compute=compute,
    )
    named = {
        "question": question,
        "at": at,
        "rivals": others,
        "furthest": furthest(at["parameters"], others),
        "law": label(law),
        "beyond": beyond(at),
        "earlier": document.get("earlier_runs"),
    }
    return facts, (law, *rivals), named


def beyond(at):
    """Write how far a budget lies beyond the largest run."""
    return times_outside(at["extrapolation"]) if at["extrapolation"] > 0 else "not above"


def _progress(document):
    gain = document["compute_equivalent_gain"]
    quoted = gain["quoted"]
    q, rivals = quoted["doubling_months"], quoted["rivals"].values()
    medians = [rival["doubling_months"][MIDDLE] for rival in rivals]
    subsets = {name: of for name, of in document["subsets"].items() if of["chains"]}
    probabilities = [of["p_progress"] for of in (quoted, *rivals, *subsets.values())]
    of_subsets = {name: of["doubling_months"] for name, of in subsets.items()}
    facts = make_facts(
        quoted["verdict"],
        width=width(q),
        sensitivity=ratio([q[MIDDLE], *medians, *(of[MIDDLE] for of in of_subsets.values())]),
        decades=0.0,
        direction=(min(probabilities), max(probabilities)),
    )
    named = {"q": q, "medians": [x for x in medians if x is not None], "rows": gain["rows"], "years": quoted["years"]}
    named |= {"subsets": of_subsets, "furthest": furthest(q, of_subsets)}
    named["far"] = document["pooled_doubling_months"]["by_paper_stacking"]
    return facts, (quoted["fit"],), named


def _since(document):
    entry = document["since"]
    gains, faster = entry["gains"], entry["p_faster"].values()
    ends = {"least": min(faster), "most": max(faster)}
    facts = make_facts(
        entry["laws"][entry["fits"]["break"]]["verdict"],
        width=width(gains["after"]),
        decades=0.0,
        direction=tuple(ends.values()),
    )
    named = {
        "gains": gains,
        "form": entry["quoted"].replace(", ", " and "),
        "rival": entry["rival"],
        "faster": ends,
        "analyses": len(faster),
        "sure": grading.grade_of_direction(ends["least"]) != WEAK,
        "moment": month(entry["break_year"]),
        "factor": entry["periods"]["all"]["model"]["factor"],
    }
    return facts, tuple(entry["fits"].values()), named


def _time_horizons(document):
    entry = document["time_horizons"]
    q, trends = entry["doubling_months"], entry["trends"]
    rivals = {name: of for name, of in trends.items() if of["rival"]}
    medians = [of["doubling_months"][MIDDLE] for of in rivals.values()]
    alone, best = trends["estimates alone"]["doubling_months"], entry["best_at_release"]["published"]
    facts = make_facts(
        entry["verdict"], width=width(q), sensitivity=ratio([q[MIDDLE], *medians, alone[MIDDLE], best[MIDDLE]])
    )
    never = [of["dates_reached"]["a month of work"]["p_not_until"] for of in rivals.values()]
    named = {
        "q": q,
        "medians": [x for x in medians if x is not None],
        "forms": list(rivals),
        "never": max(never, default=None),
        "reached": entry["dates_reached"],
        "longest": entry["longest"],
        "hours": entry["hours"][entry["longest"]]["0.5"],
        "estimates": entry["estimate_factor"],
        "alone": alone,
        "best": best,
        "rows": entry["rows"],
        "size": entry["verdict"]["size"],
    }
    return facts, (entry["fit"],), named


def _next_model(document):
    law, rivals = optimum.preferred(document), optimum.rivals(document)
    return size_parts(document, law, rivals, optimum.BUDGET, lambda name: f"the {optimum.NAMES[name]} law")


def _embeddings(document):
    entry = document["reconciliation"]
    by_law, direction = entry["by_law"], entry["direction"]
    accepted = {name: by_law[name] for name in direction["laws"]}
    name = DEFAULT if DEFAULT in accepted else next(iter(accepted))
    exponents = {other: entry["nonembedding"] for other, entry in accepted.items()}
    probabilities = [entry["p_rises"] for entry in accepted.values()]
    facts = make_facts(
        accepted[name]["verdict"],
        width=width(exponents[name]),
        sensitivity=ratio([q[MIDDLE] for q in exponents.values()]),
        decades=entry["decades_beyond"],
        direction=(min(probabilities), max(probabilities)),
    )
    others = {f"the {other} law": q for other, q in exponents.items() if other != name}
    named = {
        "rises": direction["rises"],
        "law": f"the {name} law",
        "counted": accepted[name]["total"],
        "without": exponents[name],
        "others": others,
        "furthest": furthest(exponents[name], others),
        "medians": [entry["nonembedding"][MIDDLE] for entry in by_law.values()],
        "decades": entry["decades_beyond"],
    }
    return facts, tuple(name for name in accepted if name in document["diagnostics"]), named


def _arithmetic(document):
    entry = document["lengths"]
    shares = {name: entry["accuracy"][name]["ood"] for name in ("abacus", *entry["rivals"])}
    abacus, further = shares.pop("abacus"), [row["p_first"] for row in entry["rivals"].values()]
    others = [of["beyond"][MIDDLE] for of in entry["other_laws"]["abacus"].values()]
    facts = make_facts(
        entry["verdict"],
        width=width(abacus),
        sensitivity=ratio([abacus[MIDDLE], *others]),
        direction=(min(further), max(further)),
    )
    named = {
        "abacus": abacus,
        "rivals": shares,
        "lengths": {name: of["0.5"] for name, of in entry["lengths"]["typical"].items() if name in ("abacus", *shares)},
        "least": min(further),
        "sure": grading.grade_of_direction(min(further)) == STRONG,
        "trained": entry["train_digits"],
        "longest": entry["longest"],
    }
    return facts, ("lengths",), named


def _truth(document):
    truth = document["small_lm"]["truth"]
    quoted = {name: entry["quoted"] for name, entry in truth.items()}
    missed = {name: floor["E_minus_entropy"] for name, floor in quoted.items() if not floor["holds"]}
    named = {
        "truth": truth,
        "missed": missed,
        "nearest": min(abs(floor["E_minus_entropy"][end]) for floor in quoted.values() for end in (LOW, HIGH)),
        "by_law": {
            "Chinchilla's law": sum(entry["holds"] for entry in truth.values()),
            "the coupled": sum(entry["coupled"]["holds"] for entry in truth.values()),
        },
        "why_missed": document["small_lm"]["why_missed"],
    }
    facts = Facts(chains=True, share=(len(truth) - len(missed), len(truth), LEVEL))
    return facts, tuple(f"small models, {name}" for name in truth), named


def _experts(document):
    entry = document["experts"]
    worth = {name: of["answers"]["worth"] for name, of in entry["laws"].items()}
    quoted, rivals = entry["quoted"], {name: worth[name] for name in entry["rivals"]}
    facts = make_facts(
        entry["laws"][quoted]["verdict"],
        width=width(worth[quoted]),
        sensitivity=ratio([worth[quoted][MIDDLE], *(q[MIDDLE] for q in rivals.values())]),
        decades=0.0,
    )
    shrinks = entry["laws"][quoted]["answers"].get("shrinks")
    named = entry | {"q": worth[quoted], "rivals": rivals, "worth": worth, "shrinks": shrinks}
    return facts, (f"experts, {quoted}", *(f"experts, {name}" for name in rivals)), named


def _speedruns(document):
    entry = document["speedruns"]
    quoted = entry["paces"][entry["quoted"]]
    others = {name: entry["paces"][name] for name in entry["rivals"]}
    main = [f"{kind} by the time so far" for kind in ("gains", "waits")]
    checks = [entry["laws"][name]["verdict"] for name in main]
    facts = make_facts(
        min(checks, key=lambda check: check["p"]),
        width=width(quoted),
        sensitivity=ratio([quoted[MIDDLE], *(q[MIDDLE] for q in others.values())]),
        decades=0.0,
        row="record",
    )
    named = entry | {
        "q": quoted,
        "medians": sorted(q[MIDDLE] for q in others.values()),
        "far": furthest(quoted, others),
    }
    return facts, tuple(f"speedruns, {name}" for name in entry["laws"]), named


def _mixtures(document):
    entry = document["mixtures"]
    facts = make_facts(entry["verdict"], width=width(entry["correlation"]), decades=0.0)
    return facts, ("mixtures",), entry


# By the key of results.json that an answer follows from: section of the template, page, and function for the rest.
ANSWERED = {
    "compute_equivalent_gain": ("progress", "progress", _progress),
    "since": ("since", "since", _since),
    "time_horizons": ("time_horizons", "horizons", _time_horizons),
    "allocation": ("sizes", "chinchilla", _next_model),
    "reconciliation": ("embeddings", "embeddings", _embeddings),
    "lengths": ("arithmetic", "arithmetic", _arithmetic),
    "small_lm": ("small_models", "small-models", _truth),
    "experts": ("experts", "experts", _experts),
    "speedruns": ("speedruns", "speedruns", _speedruns),
    "mixtures": ("mixtures", "mixtures", _mixtures),
}
