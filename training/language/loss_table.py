"""Tables of runs L(N, D), which `bayescaling.read` takes unchanged, of the records of language models."""

import numpy as np

# Column by variable or coordinate of a record, where the names differ.
RENAMED = {"flop": "training_flop", "loss_eval": "loss", "loss_eval_se": "loss_se"}
COLUMNS = (
    *("parameters", "tokens", "training_flop", "loss", "d_model", "vocabulary", "parameters_nonembedding"),
    *("loss_se", "loss_oracle", "excess", "excess_se", "layers", "context", "optimiser", "schedule"),
    *("learning_rate_peak", "batch_tokens", "budget_fraction", "annealed", "seed", "scheme", "run"),
)
ENTROPY = {"entropy": "irreducible_loss", "entropy_se": "irreducible_loss_se"}


def table(dataset, scheme=None, *, curves=False):
    """Make a table of runs L(N, D), as `bayescaling.read` takes it, of the dataset that `train` returns.

    It has the runs of one `scheme`, by default those of any. Every evaluation of a run at a constant rate counts as a
    run of that many tokens. Of a run that anneals only the last one does, or with `curves` all.

    Its columns are parameters (N_T), tokens, training_flop (6 N_T D), loss (nats per token), d_model, vocabulary and
    parameters_nonembedding. Then come loss_se, loss_oracle, excess, excess_se and what describes the run. `annealed` is
    the share of the schedule that was done. For a corpus of known law irreducible_loss is the entropy, the least
    expected loss, and irreducible_loss_se its error. Rows without a finite loss are left out.
    """
    rows = dataset.to_dataframe().reset_index().rename(columns=RENAMED)
    rows["annealed"] = rows["step"] / rows["updates"]
    wanted = rows["scheme"].str.split().map(lambda names: bool(names) if scheme is None else scheme in names)
    ended = (rows["schedule"] == "constant") | (rows["annealed"] == 1)
    rows = rows[np.isfinite(rows["loss"]) & wanted & (ended | curves)]
    entropy = {column: dataset.attrs[name] for name, column in ENTROPY.items() if name in dataset.attrs}
    return rows[list(COLUMNS)].assign(**entropy).reset_index(drop=True)
