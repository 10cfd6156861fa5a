"""Named sweeps: the experiment of [PS24] section 3, and small ones for a CPU.

[PS24] is Pearce and Song 2024, "Reconciling Kaplan and Chinchilla scaling laws", arXiv:2406.12907. Its sizes,
vocabulary, context, tokens in an update, updates, learning rates and schemes are used. Widths and depths are those that
give its sizes with tied embeddings; the optimiser and the initial weights, which it does not state, are this package's.
"""

RATES = [0.001, 0.005, 0.01, 0.05]
BUDGETS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0]
GPT2_VOCABULARY = 50257

PAPER = {
    "corpus": {"kind": "synthetic", "vocabulary": GPT2_VOCABULARY, "exponent": 1.4},
    "model": {"sizes": [[16, 1], [32, 3], [40, 4], [60, 6], [80, 8]], "heads": 4, "tied": True, "context": 16},
    "training": {
        "batch_tokens": 65536,
        "updates": [4000, 4000, 4000, 8000, 8000],
        "evaluations": 20,
        "evaluation_tokens": 2**20,
        "seeds": [0],
    },
}
# The paper's widths, depths and budgets with a vocabulary that makes a step several times cheaper. The embeddings
# shrink with it, so these are other models: layers hold 4% to 65% of all parameters. In the paper they hold .4% to 13%.
NARROW = PAPER | {"corpus": PAPER["corpus"] | {"vocabulary": 4096}}
DEMO = {
    "corpus": {"kind": "synthetic", "vocabulary": 256, "exponent": 1.4},
    "model": {"sizes": [[4, 1], [8, 1], [16, 1], [16, 2]], "heads": 2, "tied": True, "context": 16},
    "training": {
        "batch_tokens": 4096,
        "updates": [400, 400, 600, 600],
        "evaluations": 10,
        "evaluation_tokens": 2**16,
        "seeds": [0],
    },
}
# The sweep that made the table small_lm_runs, on one core.
SMALL = {
    "corpus": {"kind": "synthetic", "vocabulary": 1024, "exponent": 1.4},
    "model": DEMO["model"] | {"sizes": [[4, 1], [8, 1], [16, 1], [16, 2], [32, 2]]},
    "training": DEMO["training"] | {"updates": [600, 600, 800, 800, 1000], "seeds": [0, 1, 2]},
}
SMALL_RATES = [0.003, 0.01, 0.03]
# Every learning rate with every batch, for the law `RateAndBatch`: the sweep that made the table small_lm_rates.
TUNING = {
    "corpus": DEMO["corpus"],
    "model": DEMO["model"] | {"sizes": [[8, 1], [16, 1], [16, 2], [32, 2]]},
    "training": DEMO["training"] | {"updates": 300, "evaluations": 2},
    "stages": [
        {
            "name": "rates",
            "schedule": "cosine",
            "learning_rates": [0.001, 0.003, 0.01, 0.03, 0.1],
            "budgets": [0.25, 0.5, 1.0],
            "batch_tokens": [512, 1024, 2048],
        }
    ],
}


def scheme_stages(rates):
    """Return the stages of schemes 1 to 4 of [PS24], by scheme, for learning rates of which scheme 1 uses the first.

    The last stage of each is the scheme itself; earlier ones choose its learning rates.
    """
    fixed = {"name": "scheme-1", "schedule": "constant", "learning_rates": rates[:1], "budgets": [1.0]}
    best = {"name": "scheme-2", "schedule": "constant", "learning_rates": rates, "budgets": [1.0], "keep": "best"}
    cosine = {"name": "scheme-3", "schedule": "cosine", "learning_rates": "best", "budgets": [1.0]}
    several = {"name": "scheme-4", "schedule": "cosine", "learning_rates": "best", "budgets": BUDGETS}
    return {
        "scheme-1": [fixed],
        "scheme-2": [best],
        "scheme-3": [best, cosine],
        "scheme-4": [best, several],
        "schemes": [fixed, best, cosine, several],
    }


PRESETS = {name: PAPER | {"stages": stages} for name, stages in scheme_stages(RATES).items()}
PRESETS["schemes-small"] = NARROW | {"stages": scheme_stages(RATES)["schemes"]}
for name, base in (("demo", DEMO), ("small", SMALL)):
    PRESETS[name] = base | {"stages": scheme_stages(SMALL_RATES)["schemes"]}
PRESETS["rates"] = TUNING
