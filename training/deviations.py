"""How runs deviate from the studies that they follow.

The guide `deviations.md` states what each study did, and what runs do here. By the name of a deviation in records, a
function returns whether a run deviates so; without one all runs do.
"""

from .language.presets import GPT2_VOCABULARY, PRESETS


def list_names(deviations, run):
    """List the names of the deviations that hold of a run."""
    return [name for name, holds in deviations.items() if holds is None or holds(run)]


_PAPER = PRESETS["schemes"]
_SIZES = {tuple(size) for size in _PAPER["model"]["sizes"]}
_RATES, _BUDGETS = _PAPER["stages"][1]["learning_rates"], _PAPER["stages"][-1]["budgets"]

# From Pearce and Song 2024, arXiv:2406.12907, section 3.
LANGUAGE = {
    "corpus": None,
    "not stated": None,
    "optimiser": lambda run: run.optimisation.optimiser != "adamw" or run.optimisation.rate_width > 0,
    "vocabulary": lambda run: run.model.vocabulary != GPT2_VOCABULARY,
    "other size": lambda run: (
        (run.model.d_model, run.model.layers) not in _SIZES
        or run.model.context != 16
        or run.model.experts > 1
        or run.batch_tokens != 65536
        or run.optimisation.learning_rate not in _RATES
        or run.budget_fraction not in _BUDGETS
    ),
}

# From McLeish et al. 2024, arXiv:2405.17399, and from its code, mcleish7/arithmetic at commit 55af9d5. Where the paper
# and its code differ, the presets follow the code, which was run.
ARITHMETIC = {
    "length of training": None,
    "fresh problems": None,
    "offsets": lambda run: "abacus" in run.model.parts,
    "mean over an update": lambda run: run.objective.average == "tokens" and run.plan.batch > run.plan.microbatch,
    "buckets": lambda run: run.buckets,
    "precision": None,
    "noise in tests": lambda run: run.model.noise > 0,
    "tested by one pass": None,
    "tested at other offsets": lambda run: run.grid.offsets != (0,),
    "injection": lambda run: (
        run.model.recurrences > 1
        and run.model.injection != ("first-layer" if run.task.name == "multiplication" else "every-layer")
    ),
    "pairs of OR": lambda run: run.task.name == "or" and run.task.pairs == "equal",
    "lengths of OR": lambda run: run.task.name == "or" and max(map(max, run.grid.cells)) != 40,
    "end of sorting": lambda run: run.task.name == "sorting" and run.task.end_counts,
    "starts of hints in tests": lambda run: run.task.hinted and run.task.tested_hints == "random",
    "hints of answers": lambda run: run.task.hinted,
    "gradients of the full pass": lambda run: run.objective.alpha < 1 and run.objective.all_gradients,
    "average of multiplication": lambda run: run.task.name == "multiplication" and run.objective.average != "positions",
    "objective": lambda run: run.objective.alpha != 1 or run.objective.divide_gradients,
    "other layers": lambda run: run.model.block != "post-norm" or run.model.initial != "deepnorm",
    "other size": lambda run: (
        run.model.d_model != 1024
        or run.plan.batch != 8192
        or run.plan.ramp != 0.6
        or run.optimisation.learning_rate not in (1e-4, 6e-5)
        or run.optimisation.schedule != "trapezoid"
        or (run.optimisation.rise, run.optimisation.fall) != (0.1, 0.1)
    ),
}
