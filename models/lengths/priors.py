"""Priors of the law of length generalisation, and why they are what they are."""

from ..priors import named

SEEDS = (
    "Spread between runs that differ in nothing but the seed. Two or three seeds barely inform it, so the prior "
    "matters: it avoids zero, for no two seeds end with one curve, "
)

LEVEL, EFFECT = "embedding", "effect"  # dimensions of quantities with several values
WITH_EFFECTS = ("log_reach", "log_steepness", "logit_lapse")
FREE_PARAMETERS = named(
    log_reach=(
        "Normal(0.5, 1)",
        "Half-length over training length: 0.23 to 12, from models that fail within the training lengths to ones that "
        "go tenfold beyond.",
        "e-folds",
    ),
    log_steepness=(
        "Normal(2, 1)",
        "Fall of the logit for each e-fold of length: 1 to 52; accuracy goes from 90% to 10% within 9% of the length "
        "or over a factor of 80.",
    ),
    logit_lapse=(
        "Normal(-4, 2)",
        "Share of problems that are wrong at any length: 0.04% to 48%, from a trained model to one that training left "
        "half done.",
    ),
    logit_shorter=(
        "Normal(-2, 1.5)",
        "Weight of the shorter operand: 0.7% to 72%; near 0 the longer operand alone counts, at 1/2 both alike.",
    ),
    log_precision=(
        "Normal(3.4, 1.5)",
        "Precision of the beta-binomial: 1.6 to 570; cells of one accuracy scatter almost from 0 to 1, or barely more "
        "than a binomial does.",
    ),
    log_reach_effect=(
        "Normal(0, 0.7)",
        "An architecture, a doubling or an interaction multiplies the half-length by 0.25 to 4.",
        "e-folds",
    ),
    log_steepness_effect=("Normal(0, 0.5)", "The steepness is multiplied by 0.4 to 2.7."),
    logit_lapse_effect=("Normal(0, 1)", "The odds of a lapse are multiplied by 0.14 to 7."),
    log_reach_sd=("Gamma(2, 6)", SEEDS + "and has half-lengths differ by 4% to 93%.", "e-folds"),
    log_steepness_sd=("Gamma(2, 6)", SEEDS + "and has steepnesses differ by 4% to 93%."),
    logit_lapse_sd=("Gamma(2, 2)", SEEDS + "and is 0.12 to 2.8 on the logit of the lapse."),
    logit_shorter_sd=("Gamma(2, 4)", SEEDS + "and is 0.06 to 1.4 on the logit of the weight."),
    log_precision_sd=("Gamma(2, 4)", SEEDS + "and has precisions differ by 6% to fourfold."),
)
