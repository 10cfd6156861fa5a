"""What can be said of algorithmic progress, in sentences whose figures are the posteriors'."""

import numpy as np

from ....inference.progress import rate_at_optimum
from ....inference.words import equal_to, flop, probability
from ....models.progress.specifications import NO_PROGRESS
from .analysis import EFFECTS, INDEPENDENT, MAIN
from .entries import CHANGING, WITHIN
from .published import DOUBLING
from .ridge import year_slopes
from .wording import POOLED, in_a_row, known, months, times, with_progress, words

COMPUTE_ONLY = 18
EFFECTS_WORDS = {EFFECTS: "with an effect of each paper", INDEPENDENT: "without effects of papers"}
AT = f"at the compute-optimal size of {flop(rate_at_optimum.COMPUTE)} in {rate_at_optimum.YEAR:.0f}"


def _medians(found, chosen):
    return {k: times(found.rates[k])["q50"] for k in chosen if k not in NO_PROGRESS}


def _span(medians):
    shortest, longest = min(medians, key=medians.get), max(medians, key=medians.get)
    return (
        f"from {months(medians[shortest])} (specification {shortest}) to {months(medians[longest])} months "
        f"(specification {longest})"
    )


def answer(found):
    """Say how far the answer holds and what it is not."""
    medians = {k: table.loc["all", "q50"] for k, table in found.gain_times.items() if k <= 15}
    decades = np.log10(rate_at_optimum.COMPUTE / _largest(found.table))
    return (
        f"It is the rate at the {len(found.table)} evaluations' own sizes and dates under one specification, "
        f"{EFFECTS_WORDS[found.mixed.index[0]]}. At the same sizes and dates, but without effects of papers, medians "
        f"of specifications 1 to 15 run {_span(medians)}. The rate at a "
        f"compute-optimal size of {flop(rate_at_optimum.COMPUTE)} in {rate_at_optimum.YEAR:.0f}, as published, is "
        f"{decades:.1f} decades above the largest evaluation, and there specifications differ."
    )


def findings(found, published):
    """Say in a list of sentences what would move the answer, the most useful first."""
    main, comparison = times(found.rates[MAIN]), found.comparison
    close, by_paper = _inseparable(comparison), _inseparable(comparison, "dse_by_paper")
    pooled = "; ".join(f"{name} {words(times(found.pooled[key]))}" for key, name in POOLED.items())
    still = comparison.loc[list(NO_PROGRESS)].sort_values("elpd_diff").iloc[-1]
    return [
        f"<b>The estimand.</b> {AT[0].upper()}{AT[1:]} specification {MAIN} has {words(main)} months (P(progress) "
        f"{equal_to(main['p_progress'])}; published {published.words(DOUBLING + 'closed_form')}); pooled over "
        f"specifications, in months: {pooled} (published for the ten best pairs of specification and penalty "
        f"{published.words(DOUBLING + 'top10')}).",
        f"<b>The specification.</b> By leave-one-out {len(close)} of {len(comparison)} are within two standard errors "
        f"of the best ({comparison.index[0]}), all but {in_a_row(sorted(set(comparison.index) - set(close)))} "
        f"({len(by_paper)} if differences are summed by paper first); their medians {AT} run "
        f"{_span(_medians(found, close))}.",
        f"<b>Compute alone.</b> {_compute_only(comparison, found)}",
        f"<b>Parameters or data.</b> {_ridge_sentence(found)}",
        f"<b>No progress at all.</b> The better of specifications {' and '.join(map(str, NO_PROGRESS))} lies "
        f"{-still['elpd_diff']:.1f} nats below the best, standard error "
        f"{still['dse']:.1f} by rows and {still['dse_by_paper']:.1f} by papers.",
    ]


def _largest(table):
    return float((6 * table["parameters"] * table["dataset_tokens"] * table["epochs"].fillna(1)).max())


def _compute_only(comparison, found):
    row = comparison.loc[COMPUTE_ONLY]
    good = COMPUTE_ONLY in _inseparable(comparison)
    verdict = "predicts as well as the best, as far as the data tell" if good else "predicts worse than the best"
    return (
        f"Specification {COMPUTE_ONLY}, which knows compute alone and not its split, {verdict}: rank "
        f"{row['rank']:.0f}, elpd {row['elpd_diff']:.1f} from the best (standard error {row['dse']:.1f}), doubling "
        f"{words(times(found.rates[COMPUTE_ONLY]))} months {AT}."
    )


def _ridge_sentence(found):
    from scipy.stats import spearmanr

    a, b = year_slopes(found.fits[MAIN])
    correlation = float(spearmanr(a, b).statistic)
    sure = [name for name, x in (("parameters", a), ("data", b)) if max((x > 0).mean(), (x < 0).mean()) > 0.975]
    verdict = (
        "The data do not say whether progress sits in the use of parameters or of data"
        if len(sure) < 2
        else "Progress shows in the use of both parameters and data"
    )
    return (
        f"{verdict}: the yearly falls of the two terms trade off (rank correlation {correlation:.2f}), and "
        f"P(fall &gt; 0) is {probability((a > 0).mean())} for parameters, {probability((b > 0).mean())} for data and "
        f"{probability(((a > 0) & (b > 0)).mean())} for both at once, while that of progress as a whole is "
        f"{probability(times(found.rates[MAIN])['p_progress'])}."
    )


def extrapolated(found):
    """Describe how rates depend on the budget and the date, for specifications whose exponents change."""
    chosen = [k for k in with_progress(found) if k in CHANGING]
    weight = found.comparison.loc[chosen, "stacking"].sum()
    entries = []
    for k in chosen:
        near = known(found.document["within_rows"]["doubling_months"][str(k)])
        entries.append(f"{k} has {words(times(found.rates[k]))} against {words(near)}")
    return (
        "Where exponents change with time the rate depends on budget and date, here 1e25 FLOP in 2023, as "
        f"in the paper. Months, against {flop(WITHIN[0])} in {WITHIN[1]:.0f}, closer to rows: {'; '.join(entries)}. "
        f"These specifications carry {weight:.0%} of the stacking weight, and pooled intervals their extrapolation."
    )


def _inseparable(comparison, column="dse"):
    """Specifications whose elpd is within two standard errors of the best."""
    return [k for k, row in comparison.iterrows() if -row["elpd_diff"] <= 2 * row[column]]
