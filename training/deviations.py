"""How runs deviate from the studies that they follow: one entry for each fact in which study and run differ."""

from collections.abc import Callable
from typing import NamedTuple

from .language.presets import BUDGETS, GPT2_VOCABULARY, PAPER, RATES


class Deviation(NamedTuple):
    """One deviation: a word or two for records, what the study did, what a run here does, and of which runs it holds.

    `holds` takes a run and returns whether it deviates so; without it every run does.
    """

    name: str
    study: str
    here: str
    holds: Callable[..., bool] | None = None


def list_names(deviations, run):
    """List the names of the deviations that hold of a run."""
    return [deviation.name for deviation in deviations if deviation.holds is None or deviation.holds(run)]


def table(deviations):
    """Write deviations as a table in Markdown."""
    rows = [f"| `{deviation.name}` | {deviation.study} | {deviation.here} |" for deviation in deviations]
    return "\n".join(["| | the study | here |", "|---|---|---|", *rows])


_SIZES = {tuple(size) for size in PAPER["model"]["sizes"]}

# From Pearce and Song 2024, arXiv:2406.12907, section 3.
LANGUAGE = (
    Deviation(
        "corpus",
        "BookCorpus",
        "As `corpus` states: by default a synthetic language of known entropy, the same number of words",
    ),
    Deviation(
        "not stated",
        "Widths, depths, tied embeddings, the optimiser and the initial weights are not stated; sizes are: .8M, 1.6M, "
        "2.1M, 3.3M, 4.6M",
        "Widths and depths that give those sizes with tied embeddings; AdamW with decay .01 and GPT-3's averages, "
        "GPT-2's initial weights",
    ),
    Deviation(
        "optimiser",
        "Not stated",
        "As `optimiser` and `rate_width` state: Muon for the matrices of blocks, or rates that fall with the width",
        lambda run: run.optimisation.optimiser != "adamw" or run.optimisation.rate_width > 0,
    ),
    Deviation(
        "vocabulary",
        "50,257 words, so that N_x/N_T runs from .4% to 13%",
        "Another number of words, with which embeddings take another share of a model",
        lambda run: run.model.vocabulary != GPT2_VOCABULARY,
    ),
    Deviation(
        "other size",
        "(d, L) = (16, 1), (32, 3), (40, 4), (60, 6), (80, 8) in effect, context 16, 65,536 tokens an update, rates "
        "0.001, 0.005, 0.01, 0.05, up to 8,000 updates, twice that in scheme 4",
        "As the sweep states: other models, batches or rates",
        lambda run: (
            (run.model.d_model, run.model.layers) not in _SIZES
            or run.model.context != 16
            or run.batch_tokens != 65536
            or run.optimisation.learning_rate not in RATES
            or run.budget_fraction not in BUDGETS
        ),
    ),
)

# From McLeish et al. 2024, arXiv:2405.17399, and from its code, mcleish7/arithmetic at commit 55af9d5. Where the paper
# and its code differ, the presets follow the code, which was run.
ARITHMETIC = (
    Deviation(
        "length of training",
        "A fixed time, 24 h of an RTX A4000 for addition (`budget=24`), by which the rate and the batches change: at "
        "25 to 30 TFLOP/s 2.2 to 2.6 exaFLOP, three or four passes through 20M problems",
        "A number of problems, by which the rate and the batches change: 20M for addition, .65 exaFLOP with 122M "
        "parameters; `samples` may be raised",
    ),
    Deviation(
        "fresh problems",
        "A stored set of 20M problems, drawn with replacement, read several times (`create_data_split.py`)",
        "New problems in every update, all pairs of lengths equally often",
    ),
    Deviation(
        "offsets",
        "0 to 100, both included (`max_abacus_len: 100`, `random.randint(0, max_k)` in `embeddings.py`)",
        "0 to `k_max` - 1",
        lambda run: "abacus" in run.model.parts,
    ),
    Deviation(
        "mean over an update",
        "The mean over the tokens of each microbatch, and then over microbatches (`torch_default.py`, `backward`)",
        "The mean over the tokens of the whole update",
        lambda run: run.objective.average == "tokens" and run.plan.batch > run.plan.microbatch,
    ),
    Deviation(
        "buckets",
        "All problems padded to the longest",
        "Problems of similar length go through the model together, which leaves out padding and changes no loss",
        lambda run: run.buckets,
    ),
    Deviation(
        "precision",
        "float16 under autocast, with scaled gradients",
        "bfloat16 where a GPU has it, else float32",
    ),
    Deviation(
        "noise in tests",
        "The initial state is random in evaluation too (`initialize_state` in `crammed_depthrecurrent.py`)",
        "No noise in evaluation, so that a model has one answer",
        lambda run: run.model.noise > 0,
    ),
    Deviation(
        "tested by one pass",
        "Token by token, greedily",
        "By one pass through the model, which gives the same: greedy decoding is right if and only if every token is, "
        "read after the right ones",
    ),
    Deviation(
        "tested at other offsets",
        "Offset 0",
        "Other offsets of Abacus embeddings besides, the same weights",
        lambda run: run.grid.offsets != (0,),
    ),
    Deviation(
        "injection",
        "In looped models before every layer of the block (section 3.2, appendix A.7.3), and for multiplication before "
        "its first layer alone (section 4.2); the public code has the latter for all (`TransformerBlock.forward`), an "
        "ablation in the paper",
        "As the architecture states: `+first` has the first layer alone, `+none` no layer, and else every layer",
        lambda run: (
            run.model.recurrences > 1
            and run.model.injection != ("first-layer" if run.task.name == "multiplication" else "every-layer")
        ),
    ),
    Deviation(
        "pairs of OR",
        "Every problem equally often, so that a pair of lengths (i, j) has weight min(i, j) "
        "(`create_pos_or_variants.py`)",
        "As `pairs` states: every pair of lengths equally often",
        lambda run: run.task.name == "or" and run.task.pairs == "equal",
    ),
    Deviation(
        "lengths of OR",
        "Vectors of up to 40 digits (`pos_arth_ood` in `arithmetic_eval_quicker.py`)",
        "As `longest` states",
        lambda run: run.task.name == "or" and max(map(max, run.grid.cells)) != 40,
    ),
    Deviation(
        "end of sorting",
        "The labels alone are compared (`sort_eval.py`)",
        "As `end_counts` states: the end must be right too",
        lambda run: run.task.name == "sorting" and run.task.end_counts,
    ),
    Deviation(
        "starts of hints in tests",
        "Index hints begin at the first of the pool (`index_hints_helper` in `arithmetic_eval_quicker.py`)",
        "As `tested_hints` states: at a random one",
        lambda run: run.task.hinted and run.task.tested_hints == "random",
    ),
    Deviation(
        "hints of answers",
        "Index hints that a model writes in an answer are not compared, its digits are",
        "Hints must be right too, since one pass reads the right ones",
        lambda run: run.task.hinted,
    ),
    Deviation(
        "gradients of the full pass",
        "In the pass through all recurrences the last half has gradients (`forward_progressive`)",
        "As `all_gradients` states: all have",
        lambda run: run.objective.alpha < 1 and run.objective.all_gradients,
    ),
    Deviation(
        "average of multiplication",
        "The sum over the tokens of the answer, divided by all positions B (S - 1) "
        "(`loss_reduction=none` in `crammed_depthrecurrent.py`)",
        "As `average` states",
        lambda run: run.task.name == "multiplication" and run.objective.average != "positions",
    ),
    Deviation(
        "objective",
        "The progressive loss alone (`alpha: 1.0`), although the paper describes a combination with the full pass; "
        "gradients are not divided (`throttle` multiplies by 1 at 4 recurrences)",
        "As `alpha` and `divide_gradients` state",
        lambda run: run.objective.alpha != 1 or run.objective.divide_gradients,
    ),
    Deviation(
        "other layers",
        "LayerNorm after each addition, gated GELU, deepnorm's initial weights",
        "As `block` and `initial` state: RMSNorm before attention and SwiGLU, or other initial weights",
        lambda run: run.model.block != "post-norm" or run.model.initial != "deepnorm",
    ),
    Deviation(
        "other size",
        "Width 1,024, batches of 8,192 problems reached over the first 60%, rate 1e-4 (6e-5 for multiplication with "
        "FIRE), a tenth of the run up and a tenth down",
        "As the sweep states: a smaller model, other batches or another rate",
        lambda run: (
            run.model.d_model != 1024
            or run.plan.batch != 8192
            or run.plan.ramp != 0.6
            or run.optimisation.learning_rate not in (1e-4, 6e-5)
            or run.optimisation.schedule != "trapezoid"
            or (run.optimisation.rise, run.optimisation.fall) != (0.1, 0.1)
        ),
    ),
)
