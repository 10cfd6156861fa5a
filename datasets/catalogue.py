"""The built-in tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..errors import InputError
from .formats import open_table
from .schemas import check
from .score_tables import SCORE_TABLES
from .table import Table
from .wording import listed, quoted, suggestion

FOLDER = Path(__file__).parent / "tables"
CHINCHILLA_VOCABULARY = 32000


FACTS = "published figures (facts only), given with their source"

TABLES = {
    table.name: table
    for table in (
        Table(
            "chinchilla_runs",
            245,
            "runs",
            "Training runs of the Chinchilla study: size, compute and final loss",
            "read off Hoffmann et al. 2022 (arXiv 2203.15556), figure 4; sizes snapped to its table A9",
            FACTS,
            {
                "parameters": "parameters N, snapped to the published sizes",
                "tokens": "training tokens D, derived as training_flop/(6 parameters)",
                "training_flop": "training compute C, FLOP",
                "loss": "final training loss, nats per token",
                "loss_halfwidth": "half-width of the reading of the loss, nats per token",
                "d_model": "width of the residual stream",
                "vocabulary": "size of the vocabulary, derived: 32000 for every run",
                "parameters_nonembedding": "parameters outside the embedding, derived as parameters - 32000 d_model",
                "parameters_digitised": "parameters as read off the figure",
            },
            {
                "tokens": lambda runs: runs["training_flop"] / (6 * runs["parameters"]),
                "vocabulary": lambda runs: CHINCHILLA_VOCABULARY,
                "parameters_nonembedding": lambda runs: runs["parameters"] - CHINCHILLA_VOCABULARY * runs["d_model"],
            },
        ),
        Table(
            "chinchilla_models",
            50,
            "configurations",
            "Sizes and widths of the models of the Chinchilla study",
            "Hoffmann et al. 2022 (arXiv 2203.15556), table A9",
            FACTS,
            {
                "parameters": "parameters N, derived as a million parameters_millions",
                "parameters_millions": "parameters, millions",
                "d_model": "width of the residual stream",
            },
            {"parameters": lambda models: 1e6 * models["parameters_millions"]},
        ),
        Table(
            "small_lm_runs",
            495,
            "runs",
            "Readings of small transformers trained on a synthetic language of known entropy, in four schemes",
            'this package: the sweep "small", on a CPU',
            "that of this package",
            {
                "parameters": "parameters N, embeddings included, gains of norms apart",
                "tokens": "training tokens D so far",
                "training_flop": "training compute so far, FLOP, derived as 6 parameters tokens",
                "loss": "loss on held-out text, nats per token",
                "d_model": "width of the residual stream",
                "vocabulary": "size of the vocabulary",
                "parameters_nonembedding": "parameters outside the embeddings",
                "loss_se": "standard error of loss over sequences, nats per token",
                "loss_oracle": "loss of the true law on the same text, nats per token",
                "excess": "loss less loss_oracle, nats per token",
                "excess_se": "standard error of excess over sequences, nats per token",
                "layers": "number of layers",
                "context": "length of the context, tokens",
                "schedule": "constant or cosine",
                "learning_rate_peak": "peak learning rate",
                "budget_fraction": "length of the whole run as a share of the full budget of its size",
                "annealed": "share of the run that was done at this reading",
                "seed": "of the initial weights and of the order of the training text",
                "scheme": "schemes that the run is part of, separated by spaces",
                "run": "name of the run, a hash of its configuration",
                "irreducible_loss": "entropy of the language given the context, nats per token: no loss can be below",
                "irreducible_loss_se": "its standard error, nats per token",
            },
            {"training_flop": lambda runs: 6.0 * runs["parameters"] * runs["tokens"]},
        ),
        Table(
            "data_constrained_runs",
            308,
            "runs",
            "Training runs on repeated data: size, tokens seen, distinct tokens and loss",
            "Muennighoff et al. 2023 (arXiv 2305.16264), huggingface/datablations at 1370131",
            "Apache-2.0",
            {
                "parameters": "parameters N",
                "tokens": "training tokens seen D, repetitions included",
                "training_flop": "training compute, FLOP, derived as 6 parameters tokens",
                "loss": "loss on held-out text, nats per token",
                "unique_tokens": "distinct training tokens U, at most D",
                "run": "name of the run",
                "kind": "base, seed (cells of four seeds), dedup (another corpus) or opt",
                "seed": "1 to 4 for the runs of kind seed, else missing",
                "in_published_fit": "1 for the 182 runs of the paper's fit, else 0",
                "scalebench_split": "train or test in a benchmark of extrapolation; missing outside the 182 runs",
            },
            {"training_flop": lambda runs: 6.0 * runs["parameters"] * runs["tokens"]},
        ),
        Table(
            "overtraining_runs",
            104,
            "runs",
            "Training runs on three corpora, 5 to 640 tokens per parameter, with losses and errors on tasks",
            "Gadre et al. 2024 (arXiv 2403.08540), mlfoundations/scaling at a003c49",
            "MIT",
            {
                "parameters": "parameters N",
                "tokens": "training tokens D",
                "training_flop": "training compute, FLOP, derived as 6 parameters tokens",
                "loss": "loss on the validation set of C4, nats per token",
                "loss_lower95": "lower end of its 95% interval over sequences, nats per token",
                "loss_upper95": "upper end of its 95% interval over sequences, nats per token",
                "corpus": "trained on: C4, RedPajama or RefinedWeb",
                "run": "name of the run",
                "token_multiplier": "tokens per parameter",
                "parameters_nonembedding": "parameters outside the embeddings",
                "loss_paloma_c4": "loss on Paloma's part of C4, nats per token",
                "loss_paloma_redpajama": "loss on Paloma's part of RedPajama, nats per token",
                "loss_paloma_refinedweb": "loss on Paloma's part of RefinedWeb, nats per token",
                "loss_paloma_ptb": "loss on Paloma's part of Penn Treebank, nats per token",
                "loss_paloma_code": "loss on Paloma's code in 100 programming languages, nats per token",
                "error_17_tasks": "top-1 error, mean of the 17 tasks that the paper foretells",
                "error_46_tasks": "top-1 error, mean of all 46 tasks",
            },
            {"training_flop": lambda runs: 6.0 * runs["parameters"] * runs["tokens"]},
        ),
        Table(
            "lm_progress",
            231,
            "evaluations",
            "Language-model evaluations of 2012 to 2023 on WikiText-103, WikiText-2 and Penn Treebank",
            'Ho et al. 2024 (arXiv 2403.05812), reconstructed; Epoch AI, "Data on AI Models"',
            "CC-BY 4.0 (Epoch AI) and published figures (facts only), given with their source",
            {
                "system": "name of the system",
                "paper_id": "number of the paper, by title",
                "paper": "title of the paper",
                "publication_date": "date of publication",
                "year": "date of publication, years",
                "benchmark": "wt103, wt2 or ptb",
                "parameters": "parameters N",
                "dataset_tokens": "size of the training set D, tokens",
                "epochs": "passes over the training set, where known",
                "vocabulary": "size of the vocabulary, where known",
                "training_compute_flop": "training compute, FLOP, where the authors give it",
                "transformer": "1 for a transformer, 0 for another architecture",
                "perplexity": "perplexity on WikiText-103 if reported, else WikiText-2, else Penn Treebank",
                "evidence": "exact: known independently and reproduced; solved: some value inverted and reproduced",
            },
        ),
        Table(
            "attribution_systems",
            6,
            "systems",
            "Systems between which progress is attributed to scaling and to algorithms",
            "Ho et al. 2024 (arXiv 2403.05812), table 1",
            FACTS,
            {
                "system": "name of the system",
                "publication_date": "date of publication",
                "parameters": "parameters N",
                "dataset_tokens": "size of the training set D, tokens",
                "transformer": "1 for a transformer, 0 for another architecture",
            },
        ),
        Table(
            "arithmetic_runs",
            1728,
            "counts",
            "Sums that small transformers get right, by the lengths of both operands and the embedding of positions",
            "this package: a sweep of arithmetic, whose settings the notes have, on a CPU",
            "that of this package",
            {
                "run": "name of the run, a hash of its configuration",
                "arm": "part of the sweep",
                "task": "kind of problem",
                "embedding": "how digits are told their places",
                "architecture": "standard, injection or looped",
                "layers": "layers of the block",
                "recurrences": "times the block is passed",
                "d_model": "width",
                "k_max": "offsets of Abacus embeddings in training",
                "train_digits": "greatest length of an operand in training, digits",
                "seed": "of the initial weights and of the problems",
                "parameters": "parameters, embeddings included",
                "samples": "problems trained on",
                "flop": "training compute, FLOP",
                "length_a": "length of the first operand, digits",
                "length_b": "length of the second operand, digits",
                "correct": "problems right, to the last token",
                "total": "problems asked",
                "split": "id: no operand longer than in training; ood: longer, up to 100; ood100: beyond 100 digits",
            },
        ),
        Table(
            "arithmetic_offsets",
            520,
            "offsets",
            "Sums that small transformers get right, by embedding and, of Abacus, the offset at which it is judged",
            'this package: the sweep "small" of arithmetic, on a CPU',
            "that of this package",
            {
                "run": "name of the run, a hash of its configuration",
                "embedding": "how digits are told their places",
                "architecture": "standard, injection or looped",
                "layers": "layers of the block",
                "recurrences": "times that the block is run",
                "d_model": "width",
                "k_max": "offsets of Abacus embeddings in training",
                "train_digits": "greatest length of an operand in training, digits",
                "seed": "of the initial weights and of the problems",
                "offset": "rows by which places of Abacus embeddings are shifted when judged, 0 for others",
                "length": "length of both operands, digits",
                "correct": "problems right, to the last token",
                "total": "problems asked",
            },
        ),
        Table(
            "published",
            269,
            "published",
            "Estimates that papers report, to set beside one's own",
            "the papers named in its source column",
            FACTS,
            {
                "quantity": "name of the quantity",
                "estimate": "the estimate, in the unit",
                "low": "lower end of its interval, where given, in the unit",
                "high": "upper end of its interval, where given, in the unit",
                "unit": "months, %, x (a factor) or nats^2; missing for a pure number or a constant of a law",
                "source": "the paper",
                "note": "where in the paper, and what the estimate stands on",
            },
        ),
        *SCORE_TABLES,
    )
}


def catalogue() -> pd.DataFrame:
    """List the built-in tables.

    Returns
    -------
    pandas.DataFrame
        A row per table: ``name``, ``rows``, ``kind``, ``description``, ``source``, ``licence``.

    Examples
    --------
    >>> "chinchilla_runs" in set(catalogue()["name"])
    True
    """
    fields = ["name", "rows", "kind", "description", "source", "licence"]
    return pd.DataFrame([{field: getattr(table, field) for field in fields} for table in TABLES.values()])


def load(name: str) -> pd.DataFrame:
    """Load a built-in table, checked against its schema.

    Parameters
    ----------
    name : str
        A name listed by `catalogue`.

    Returns
    -------
    pandas.DataFrame
        The table, indexed from 0; `notes` tells the columns, their units and the limits of the data. Dates are
        datetimes, sizes and measurements float64. ``attrs["source"]`` is the name.

    Raises
    ------
    InputError
        If there is no such table.

    Examples
    --------
    >>> len(load("chinchilla_runs"))
    245
    """
    table = _entry(name)
    frame, label, _ = open_table(FOLDER / f"{name}.csv")
    if table.joined:
        models = load(table.joined)
        frame = frame.join(
            models.set_index("model")[[column for column in table.columns if column in models][1:]], "model"
        )
    dates = {column: pd.to_datetime(frame[column]) for column in ("publication_date", "date") if column in frame}
    frame = frame.assign(**dates).assign(**table.derived)[list(table.columns)]
    frame = check(frame, name, label=label).reset_index(drop=True)
    frame.attrs["source"] = name
    return frame


def notes(name: str) -> str:
    """Source, licence, method, limits and columns of a table, by the name that `load` takes.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> notes("chinchilla_runs").splitlines()[0][:17]
    '# chinchilla_runs'
    """
    table = _entry(name)
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    columns = "\n".join(f"- `{column}`: {meaning}" for column, meaning in table.columns.items())
    return f"{text.rstrip()}\n\n## Columns\n\n{columns}\n"


def _entry(name):
    if name not in TABLES:
        raise InputError(
            f"there is no built-in table {quoted(name)}; the tables are {listed(TABLES)}{suggestion(name, TABLES)}"
        )
    return TABLES[name]
