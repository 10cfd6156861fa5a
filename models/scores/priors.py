"""Priors of the law of scores, and why they are what they are."""

from ..priors import POSITIVE, FreeParameter

LOGITS, YEARLY = "logits", "logits a year"

OF_SCORES = (
    FreeParameter(
        "difficulty_sd",
        "HalfNormal(5)",
        "Spread of difficulties: up to 10, from benchmarks that the weakest model passes to ones that none does.",
        LOGITS,
    ),
    FreeParameter(
        "log_slope_sd",
        "HalfNormal(1)",
        "Spread of the logarithms of slopes: benchmarks may differ tenfold in how fast scores rise with capability.",
    ),
    FreeParameter(
        "log_noise_centre",
        "Normal(-2.3, 0.7)",
        "Log of the sd of a score near 1/2, of the typical benchmark: 0.025 to 0.4, from a few thousand "
        "well-posed questions to almost no agreement.",
    ),
    FreeParameter(
        "log_noise_sd",
        "LogNormal(-1, 0.5)",
        "Spread of that between benchmarks, 0.14 to 1: factors of 1.15 to 2.7 either way. It avoids 0, for no two "
        "benchmarks scatter alike, and few benchmarks of few scores would leave the sampler a funnel there.",
    ),
)
OF_CEILINGS = (
    FreeParameter(
        "logit_ceiling_centre",
        "Normal(3, 1)",
        "Highest mean score of the typical benchmark: 0.95, between 0.73 and 0.993. In re-examined test sets 3% of "
        "labels were wrong on average, and 6% in MMLU; ambiguous questions come on top.",
        LOGITS,
    ),
    FreeParameter(
        "logit_ceiling_sd",
        "LogNormal(-0.5, 0.5)",
        "Spread of that between benchmarks, 0.23 to 1.6. Most are far from their ceilings and barely inform it, so the "
        "prior avoids 0.",
        LOGITS,
    ),
)
CENTRE = FreeParameter(
    "capability_centre",
    "Normal(0, 3)",
    "Capability of the typical model, or of one of 1e24 FLOP in mid-2024, above the mean difficulty.",
    LOGITS,
)
SD = FreeParameter(
    "capability_sd",
    "HalfNormal(1.5)",
    "Spread of models about what compute and date predict: up to a year or two of progress.",
    LOGITS,
)
WITHIN_SD = FreeParameter(
    "capability_sd",
    "LogNormal(-0.9, 0.4)",
    "Spread of models of one family about what compute and date predict. Most families have two or three, which barely "
    "inform it, so the prior avoids 0: 0.19 to 0.9.",
    LOGITS,
)
FAMILY_SD = FreeParameter(
    "family_sd", "HalfNormal(1)", "Spread between families about what compute and date predict.", LOGITS
)
VERSION_SD = FreeParameter(
    "version_sd",
    "HalfNormal(1)",
    "Spread of versions of one model, its thinking budgets among them: up to a year or two of progress.",
    LOGITS,
)
OF_PACE = (
    FreeParameter(
        "compute_slope",
        "TruncatedNormal(0.5, 0.5, 0, 10)",
        "Capability bought by an e-fold of training compute: 0.03 to 1.5, that is 0.07 to 3.5 logits a decade.",
        "logits an e-fold",
        support=POSITIVE,
    ),
    FreeParameter(
        "yearly_gain",
        "Normal(1, 1)",
        "Capability gained a year at fixed compute: -1 to 3 covers every published reading.",
        YEARLY,
    ),
)
CHANGE = FreeParameter(
    "yearly_gain_change",
    "Normal(0, 1)",
    "How much faster it is gained after the break: -2 to 2, so that either direction is as likely.",
    YEARLY,
)
BREAK_PLACE = FreeParameter(
    "break_place",
    "Uniform(0, 1)",
    "Where the break lies between the 10th and the 90th percentile of the dates of models of known compute: uniform, "
    "since only scores inform the date. Beyond these percentiles too few models lie on one side to show a break.",
)
ACCELERATION = FreeParameter(
    "acceleration",
    "Normal(0, 0.5)",
    "Yearly change of the yearly gain: within two years the gain changes by -2 to 2, as it may at a break.",
    "logits a year squared",
)
WALK_SD = FreeParameter(
    "gain_step_sd",
    "HalfNormal(0.5)",
    "Spread of the change of the yearly gain from one half-year to the next. Over four of them, two years, the sd of "
    "the change is about 1, as at a break.",
    YEARLY,
)
SLOPE_RATIO = FreeParameter(
    "log_slope_ratio",
    "Normal(0, 0.5)",
    "Log ratio of what compute buys after the break to what it buys before: a factor of 2.7 either way.",
)
OF_FORMS = {
    "linear": (),
    "break": (CHANGE,),
    "sampled_break": (CHANGE, BREAK_PLACE),
    "acceleration": (ACCELERATION,),
    "random_walk": (WALK_SD,),
}
OF_UNKNOWN = (
    FreeParameter(
        "unknown_centre",
        "Normal(0, 3)",
        "Capability in mid-2024 of the typical model whose compute is not known.",
        LOGITS,
    ),
    FreeParameter(
        "unknown_yearly_gain",
        "Normal(1, 1)",
        "Capability that such models gain a year, what more compute buys them included.",
        YEARLY,
    ),
    FreeParameter("unknown_sd", "HalfNormal(1.5)", "Their spread about that, which that of their sizes is in.", LOGITS),
)


def free_parameters(law):
    """Return the free parameters of a law, in the order of their coordinates."""
    parameters = [CENTRE, WITHIN_SD if law.family_effects else SD]
    if law.family_effects:
        parameters.append(FAMILY_SD)
    if law.version_effects:
        parameters.append(VERSION_SD)
    if law.pace is not None:
        parameters += [*OF_PACE, *OF_FORMS[law.pace], *([SLOPE_RATIO] if law.slope_by_period else []), *OF_UNKNOWN]
    return (*parameters, *OF_SCORES, *(OF_CEILINGS if law.ceilings else ()))
