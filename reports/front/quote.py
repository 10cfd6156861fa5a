"""What of a report can be quoted as it stands, and what cannot."""

from ..drawing import optimum
from ..drawing.words import MIDDLE, NOISES, flop, in_words, months, plain, size


def quotable(document):
    """Sentences that carry all that a reader needs to repeat them."""
    said = []
    if gain := document.get("compute_equivalent_gain"):
        said.append(
            f"Algorithmic progress halves the compute for a given loss every {months(gain['doubling_months'])} months "
            f"({len(document['progress'])} specifications mixed by how well they predict papers left out, "
            f"{NOISES[gain['noise']]}, {gain['rows']} evaluations at their own sizes and dates)."
        )
    if "allocation" in document:
        law = optimum.preferred(document)
        a = document["laws"][law]["parameters"]["exponent_parameters"]
        medians = [document["laws"][n]["parameters"]["exponent_parameters"][MIDDLE] for n in optimum.planned(document)]
        said.append(
            f"Compute-optimal parameters grow as compute to the {plain(a)} (all parameters, {optimum.NAMES[law]} law; "
            f"medians of {len(medians)} laws {min(medians):.2f} to {max(medians):.2f})."
        )
    if found := document.get("reconciliation"):
        without, counted = (found["local_exponent"][basis]["posterior"] for basis in ("nonembedding", "total"))
        said.append(
            f"A study like that of Kaplan et al. would have measured an exponent of {plain(without)} without embedding "
            f"parameters and of {plain(counted)} with all (embedding-corrected law)."
        )
    if found := document.get("equal_cost"):
        q = found["lengths"]["typical"]["abacus"]["0.5"]
        said.append(
            f"Small models with Abacus embeddings, trained on sums of up to {found['train_digits']} digits, have half "
            f"of sums right at {plain(q, '{:.1f}')} digits."
        )
    return said


def not_quotable(document):
    """Sentences on what is not to be repeated, and why."""
    said = []
    if "pooled_doubling_months" in document:
        far = document["pooled_doubling_months"]["by_paper_stacking"]
        said.append(
            f"A doubling time at 1e25 FLOP in 2023 ({months(far)} months mixed) without its specification, budget and "
            "date: there specifications differ."
        )
    if "allocation" in document:
        largest, last = optimum.largest_run(document), optimum.budgets(document, optimum.preferred(document))[-2]
        each = [
            optimum.at_budget(document, last["compute"], name)["parameters"][MIDDLE]
            for name in optimum.planned(document)
        ]
        chinchilla = document["laws"]["chinchilla"]
        robust, verdict = chinchilla["robust"]["exponent_parameters"], in_words(chinchilla["verdict"]["sentence"])
        said += [
            f"One N* far beyond the largest run ({flop(largest)}): at {flop(last['compute'])} laws say "
            f"{size(min(each))} to {size(max(each))}. Nor the row called stacked, whose ends are those of its laws.",
            f"Intervals of the Chinchilla law's constants as if complete: {verdict}; without trusting it the interval "
            f"of its exponent is {robust['ratio']:.1f} times as wide.",
        ]
    if "equal_cost" in document:
        said.append("Digits of the small arithmetic models as if of large ones: they say in which order, not how far.")
    return said


def reading():
    """How the page is to be read."""
    return (
        "A number in brackets is an equal-tailed 95% interval of the posterior: 95 of 100 draws lie in it. Never: at "
        "that end of the interval there is no progress. P: posterior probability. elpd: how well a law predicts what "
        "it was not fitted to, in nats; more is better. Decades beyond: powers of ten above the largest run. Holds: "
        "the published estimate lies within our interval. Strength: strong, fair or weak, and why."
    )
