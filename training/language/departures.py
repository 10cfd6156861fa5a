"""Departures from Pearce and Song 2024, arXiv:2406.12907, section 3."""

from ..departures import Departure
from .presets import BUDGETS, GPT2_VOCABULARY, PAPER, RATES

_SIZES = {tuple(size) for size in PAPER["model"]["sizes"]}

DEPARTURES = (
    Departure(
        "corpus",
        "BookCorpus",
        "As `corpus` says: by default a synthetic language of known entropy, the same number of words",
        lambda run: True,
    ),
    Departure(
        "not stated",
        "Widths, depths, tied embeddings, the optimiser and the initial weights are not stated; sizes are: .8M, 1.6M, "
        "2.1M, 3.3M, 4.6M",
        "Widths and depths that give those sizes with tied embeddings; AdamW with decay .01 and GPT-3's averages, "
        "GPT-2's initial weights",
        lambda run: True,
    ),
    Departure(
        "vocabulary",
        "50,257 words, so that N_x/N_T runs from .4% to 13%",
        "Another number of words, with which embeddings take another share of a model",
        lambda run: run.model.vocabulary != GPT2_VOCABULARY,
    ),
    Departure(
        "other size",
        "(d, L) = (16, 1), (32, 3), (40, 4), (60, 6), (80, 8) in effect, context 16, 65,536 tokens an update, rates "
        "0.001, 0.005, 0.01, 0.05, up to 8,000 updates, twice that in scheme 4",
        "As the sweep says: other models, batches or rates",
        lambda run: (
            (run.model.d_model, run.model.layers) not in _SIZES
            or run.model.context != 16
            or run.batch_tokens != 65536
            or run.optimisation.learning_rate not in RATES
            or run.budget_fraction not in BUDGETS
        ),
    ),
)
