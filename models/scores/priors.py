"""Priors of the law of scores, and why they are what they are."""

from ..priors import POSITIVE, FreeParameter, named

LOGITS, YEARLY = "logits", "logits a year"

# In the order of their coordinates.
PARAMETERS = named(
    capability_centre=(
        "Normal(0, 3)",
        "Capability of the typical model, or of one of 1e24 FLOP in mid-2024, above the mean difficulty.",
        LOGITS,
    ),
    capability_sd=(
        "HalfNormal(1.5)",
        "Spread of models about what compute and date predict: up to a year or two of progress.",
        LOGITS,
    ),
    family_sd=("HalfNormal(1)", "Spread between families about what compute and date predict.", LOGITS),
    version_sd=(
        "HalfNormal(1)",
        "Spread of versions of one model, its thinking budgets among them: up to a year or two of progress.",
        LOGITS,
    ),
    compute_slope=(
        "TruncatedNormal(0.5, 0.5, 0, 10)",
        "Capability bought by an e-fold of training compute: 0.03 to 1.5, that is 0.07 to 3.5 logits a decade.",
        "logits an e-fold",
        POSITIVE,
    ),
    yearly_gain=(
        "Normal(1, 1)",
        "Capability gained a year at fixed compute: -1 to 3 covers every published reading.",
        YEARLY,
    ),
    yearly_gain_change=(
        "Normal(0, 1)",
        "How much faster it is gained after the break: -2 to 2, so that either direction is as likely.",
        YEARLY,
    ),
    break_place=(
        "Uniform(0, 1)",
        "Where the break lies between the 10th and the 90th percentile of the dates of models of known compute: "
        "uniform, since only scores inform the date. Beyond these percentiles too few models lie on one side to show a "
        "break.",
    ),
    acceleration=(
        "Normal(0, 0.5)",
        "Yearly change of the yearly gain: within two years the gain changes by -2 to 2, as it may at a break.",
        "logits a year squared",
    ),
    gain_step_sd=(
        "HalfNormal(0.5)",
        "Spread of the change of the yearly gain from one half-year to the next. Over four of them, two years, the sd "
        "of the change is about 1, as at a break.",
        YEARLY,
    ),
    log_slope_ratio=(
        "Normal(0, 0.5)",
        "Log ratio of what compute buys after the break to what it buys before: a factor of 2.7 either way.",
    ),
    unknown_centre=("Normal(0, 3)", "Capability in mid-2024 of the typical model whose compute is not known.", LOGITS),
    unknown_yearly_gain=(
        "Normal(1, 1)",
        "Capability that such models gain a year, what more compute buys them included.",
        YEARLY,
    ),
    unknown_sd=("HalfNormal(1.5)", "Their spread about that, which that of their sizes is in.", LOGITS),
    difficulty_sd=(
        "HalfNormal(5)",
        "Spread of difficulties: up to 10, from benchmarks that the weakest model passes to ones that none does.",
        LOGITS,
    ),
    log_slope_sd=(
        "HalfNormal(1)",
        "Spread of the logarithms of slopes: benchmarks may differ tenfold in how fast scores rise with capability.",
    ),
    log_noise_centre=(
        "Normal(-2.3, 0.7)",
        "Log of the sd of a score near 1/2, of the typical benchmark: 0.025 to 0.4, from a few thousand "
        "well-posed questions to almost no agreement.",
    ),
    log_noise_sd=(
        "LogNormal(-1, 0.5)",
        "Spread of that between benchmarks, 0.14 to 1: factors of 1.15 to 2.7 either way. It avoids 0, for no two "
        "benchmarks scatter alike, and few benchmarks of few scores would leave the sampler a funnel there.",
    ),
    logit_ceiling_centre=(
        "Normal(3, 1)",
        "Highest mean score of the typical benchmark: 0.95, between 0.73 and 0.993. In re-examined test sets 3% of "
        "labels were wrong on average, and 6% in MMLU; ambiguous questions come on top.",
        LOGITS,
    ),
    logit_ceiling_sd=(
        "LogNormal(-0.5, 0.5)",
        "Spread of that between benchmarks, 0.23 to 1.6. Most are far from their ceilings and barely inform it, so the "
        "prior avoids 0.",
        LOGITS,
    ),
)
WITHIN_SD = FreeParameter(
    "capability_sd",
    "LogNormal(-0.9, 0.4)",
    "Spread of models of one family about what compute and date predict. Most families have two or three, which barely "
    "inform it, so the prior avoids 0: 0.19 to 0.9.",
    LOGITS,
)
OF_PACE = ("compute_slope", "yearly_gain", "unknown_centre", "unknown_yearly_gain", "unknown_sd")
OF_FORMS = {
    "linear": (),
    "break": ("yearly_gain_change",),
    "sampled_break": ("yearly_gain_change", "break_place"),
    "acceleration": ("acceleration",),
    "random_walk": ("gain_step_sd",),
}
CHANGES = {name for names in OF_FORMS.values() for name in names}


def free_parameters(law):
    """Return the free parameters of a law, in the order of their coordinates."""
    absent = {
        *(CHANGES - {*OF_FORMS.get(law.pace, ())}),
        *(OF_PACE if law.pace is None else ()),
        *(() if law.family_effects else ("family_sd",)),
        *(() if law.version_effects else ("version_sd",)),
        *(() if law.slope_by_period else ("log_slope_ratio",)),
        *(() if law.ceilings else ("logit_ceiling_centre", "logit_ceiling_sd")),
    }
    parameters = PARAMETERS | ({"capability_sd": WITHIN_SD} if law.family_effects else {})
    return tuple(q for name, q in parameters.items() if name not in absent)
