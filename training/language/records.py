"""Records of language models, and their tables of runs L(N, D), which `bayescaling.read` takes as they are."""

import functools

import numpy as np

from ..sweeps import records
from .departures import DEPARTURES

MEASURED = ("loss_train", "loss_eval", "loss_eval_se", "loss_oracle", "excess", "excess_se", "wall_seconds")
UNITS = {
    **dict.fromkeys(MEASURED[:-1], "nats per token"),
    "wall_seconds": "s",
    "tokens": "tokens",
    "flop": "FLOP",
    "parameters": "parameters, gains of norms apart",
    "parameters_nonembedding": "parameters, gains of norms apart",
}
COLUMNS = {
    "parameters": "parameters",
    "tokens": "tokens",
    "flop": "training_flop",
    "loss_eval": "loss",
    "d_model": "d_model",
    "vocabulary": "vocabulary",
    "parameters_nonembedding": "parameters_nonembedding",
    "loss_eval_se": "loss_se",
    "loss_oracle": "loss_oracle",
    "excess": "excess",
    "excess_se": "excess_se",
    "layers": "layers",
    "context": "context",
    "schedule": "schedule",
    "learning_rate_peak": "learning_rate_peak",
    "budget_fraction": "budget_fraction",
    "annealed": "annealed",
    "seed": "seed",
    "scheme": "scheme",
    "run": "run",
}
ENTROPY = {"entropy": "irreducible_loss", "entropy_se": "irreducible_loss_se"}


def record(run, outcome, device, precision):
    """Make the record of one run.

    Parameters
    ----------
    run : Run
    outcome : Outcome
        Finished or diverged; evaluations that a diverged run did not reach are NaN.
    device : torch.device
    precision : str

    Returns
    -------
    xarray.Dataset
        Dimensions run (of length 1) and step (updates). Variables loss_train (mean since the evaluation before),
        loss_eval and loss_eval_se, loss_oracle (the true law on the same tokens), excess (loss_eval - loss_oracle) and
        excess_se, in nats per token; learning_rate, tokens, flop (6 N_T D) and wall_seconds. What describes the run are
        coordinates along run. Attributes give versions, the configuration, and for a corpus of known law the entropy
        that no loss can be below, with its standard error.
    """
    model = run.model

    def computed(steps):
        tokens = (steps * run.batch_tokens).astype(float)
        return {"tokens": tokens, "flop": model.training_flop(tokens)}

    described = {
        "parameters": model.parameters,
        "parameters_nonembedding": model.parameters_nonembedding,
        "d_model": model.d_model,
        "layers": model.layers,
        "vocabulary": model.vocabulary,
        "context": model.context,
        "schedule": run.optimisation.schedule,
        "updates": run.optimisation.updates,
        "budget_fraction": run.budget_fraction,
        "scheme": "",
    }
    dataset = records.record(
        run,
        outcome,
        device,
        precision,
        measured=MEASURED,
        computed=computed,
        described=described,
        units=UNITS,
        departures=DEPARTURES,
    )
    if hasattr(run.corpus, "irreducible_loss"):
        entropy, error = _entropy(run.corpus, model.context)
        dataset.attrs |= {"entropy": entropy, "entropy_se": error}
    return dataset


def table(dataset, scheme=None, *, curves=False):
    """Make a table of runs L(N, D), as `bayescaling.read` takes it.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `train` gives it.
    scheme : str, optional
        Keep the runs of this scheme; by default those of any.
    curves : bool
        Keep all evaluations of runs that anneal. By default such a run gives only its last one, while every evaluation
        of a run at a constant rate counts as a run of that many tokens.

    Returns
    -------
    pandas.DataFrame
        A row a run: parameters (N_T), tokens, training_flop (6 N_T D), loss (nats per token), d_model, vocabulary,
        parameters_nonembedding, then loss_se, loss_oracle, excess, excess_se and what describes the run. `annealed` is
        the share of the schedule that was done. For a corpus of known law irreducible_loss and irreducible_loss_se are
        the entropy that no loss can be below on average. Rows without a finite loss are left out.
    """
    rows = dataset.to_dataframe().reset_index()
    rows["annealed"] = rows["step"] / rows["updates"]
    wanted = rows["scheme"].str.split().map(lambda names: bool(names) if scheme is None else scheme in names)
    ended = (rows["schedule"] == "constant") | (rows["annealed"] == 1)
    rows = rows[np.isfinite(rows["loss_eval"]) & wanted & (ended | curves)]
    known = {column: dataset.attrs[name] for name, column in ENTROPY.items() if name in dataset.attrs}
    return rows[list(COLUMNS)].rename(columns=COLUMNS).assign(**known).reset_index(drop=True)


@functools.lru_cache(maxsize=16)
def _entropy(corpus, context):
    return corpus.irreducible_loss(context)
