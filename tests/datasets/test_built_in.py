"""Schemas of the built-in tables, which ship as they are and are not checked when they are loaded."""

import hashlib

import bayescaling as bs
import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from bayescaling.datasets.columns import SIZES
from bayescaling.datasets.kinds.counts import SPLITS
from bayescaling.datasets.kinds.evaluations import BENCHMARKS
from bayescaling.datasets.kinds.scores import CONFIDENCES

CORPORA = ("C4", "RedPajama", "RefinedWeb")
MEASURED = str.split("arxiv freelaw pubmed_central wikipedia_en dm_mathematics github stackexchange gutenberg_pg_19 "
                     "pile_cc ubuntu_irc hackernews pubmed_abstracts uspto_backgrounds")  # fmt: skip
UNMEASURED = ["nih_exporter", "philpapers", "enron_emails", "europarl"]
PALOMA = ("c4", "redpajama", "refinedweb", "ptb", "code")


def schemas():
    """Pandera's schemas by name."""
    positive = pa.Check(lambda x: np.isfinite(x) & (x > 0), error="a positive finite number")
    nonnegative = pa.Check(lambda x: np.isfinite(x) & (x >= 0), error="a finite number of at least 0")
    above_one = pa.Check(lambda x: np.isfinite(x) & (x > 1), error="a finite number above 1, as a perplexity is")
    finite = pa.Check(np.isfinite, error="a finite number")
    flag = pa.Check.isin([0, 1], error="0 or 1")
    share = pa.Check(lambda x: np.isfinite(x) & (x >= 0) & (x <= 1), error="a number from 0 to 1")

    def number(check, *, nullable=False):
        return pa.Column("float64", check, nullable=nullable)

    def whole(check):
        return pa.Column("int64", check)

    def text(*allowed, nullable=False):
        return pa.Column(str, [pa.Check.isin(allowed)] if allowed else None, nullable=nullable)

    def date():
        return pa.Column("datetime64[ns]")

    of_a_model = {
        "date": date(),
        "year": number(positive),
        "family": text(),
        "training_compute_flop": number(positive, nullable=True),
        "compute_confidence": text(*CONFIDENCES, nullable=True),
    }
    small_lm = {
        **dict.fromkeys([*SIZES, "loss"], number(positive)),
        **dict.fromkeys(["d_model", "vocabulary", "parameters_nonembedding"], number(positive)),
        **dict.fromkeys(["loss_se", "loss_oracle"], number(positive)),
        "excess": number(finite),
        "excess_se": number(positive),
        **dict.fromkeys(["layers", "context"], whole(positive)),
        "schedule": text("constant", "cosine"),
        **dict.fromkeys(["learning_rate_peak", "budget_fraction", "annealed"], number(positive)),
        "seed": whole(nonnegative),
        **dict.fromkeys(["scheme", "run"], text()),
        **dict.fromkeys(["irreducible_loss", "irreducible_loss_se"], number(positive)),
    }
    of_stages = ("budget_fraction", "annealed", "scheme")
    sums = {
        **dict.fromkeys(["run", "embedding", "architecture"], text()),
        **dict.fromkeys(["layers", "recurrences", "d_model", "k_max"], number(positive)),
        **dict.fromkeys(["train_digits", "length", "total"], whole(positive)),
        **dict.fromkeys(["seed", "offset", "correct"], whole(nonnegative)),
    }
    by_operands = {
        **{name: column for name, column in sums.items() if name not in ("offset", "length")},
        **dict.fromkeys(["parameters", "samples", "flop"], number(positive)),
        **dict.fromkeys(["length_a", "length_b"], whole(positive)),
        "split": text(*SPLITS),
    }
    tables = {
        "chinchilla_runs": {
            **dict.fromkeys([*SIZES, "loss"], number(positive)),
            "loss_halfwidth": number(nonnegative),
            **dict.fromkeys(["d_model", "vocabulary", "parameters_nonembedding"], number(positive)),
            "parameters_digitised": number(positive),
        },
        "chinchilla_models": dict.fromkeys(["parameters", "parameters_millions", "d_model"], number(positive)),
        "small_lm_runs": small_lm,
        "small_lm_rates": small_lm | {"batch_tokens": number(positive)},
        "small_routed_lms": {name: column for name, column in small_lm.items() if name not in of_stages}
        | dict.fromkeys(["experts", "active_experts", "total_parameters", "active_parameters"], whole(positive))
        | {"batch_tokens": number(positive), "schedule": text("cosine")},
        "data_constrained_runs": {
            **dict.fromkeys([*SIZES, "loss", "unique_tokens"], number(positive)),
            "run": text(),
            "kind": text("base", "seed", "dedup", "opt"),
            "seed": number(positive, nullable=True),
            "in_published_fit": whole(flag),
            "scalebench_split": text("train", "test", nullable=True),
        },
        "overtraining_runs": {
            **dict.fromkeys([*SIZES, "loss", "loss_lower95", "loss_upper95"], number(positive)),
            "corpus": text(*CORPORA),
            "run": text(),
            "token_multiplier": whole(positive),
            "parameters_nonembedding": number(positive),
            **dict.fromkeys([f"loss_paloma_{part}" for part in PALOMA], number(positive)),
            **dict.fromkeys(["error_17_tasks", "error_46_tasks"], number(share)),
        },
        "gemstones": {
            **dict.fromkeys([*SIZES, "loss"], number(positive)),
            "run": text(),
            "series": text("hot", "cooldown", "half learning rate"),
            "shape": text(),
            **dict.fromkeys(["width", "depth"], whole(positive)),
        },
        "lm_progress": {
            "system": text(),
            "paper_id": whole(positive),
            "paper": text(),
            "publication_date": date(),
            "year": number(positive),
            "benchmark": text(*BENCHMARKS),
            **dict.fromkeys(["parameters", "dataset_tokens"], number(positive)),
            **dict.fromkeys(["epochs", "vocabulary", "training_compute_flop"], number(positive, nullable=True)),
            "transformer": whole(flag),
            "perplexity": number(above_one),
            "evidence": text("exact", "solved", "estimated"),
        },
        "attribution_systems": {
            "system": text(),
            "publication_date": date(),
            **dict.fromkeys(["parameters", "dataset_tokens"], number(positive)),
            "transformer": whole(flag),
        },
        "arithmetic_runs": dict.fromkeys(["arm", "task"], text()) | by_operands,
        "arithmetic_gpu": by_operands,
        **dict.fromkeys(["arithmetic_offsets", "arithmetic_equals", "arithmetic_small"], sums),
        "eci_scores": {
            **dict.fromkeys(["model", "benchmark", "version"], text()),
            "score": number(share),
            "score_source": text(nullable=True),
            **of_a_model,
            "organization": text(nullable=True),
        },
        "eci_models": {
            "model": text(),
            **of_a_model,
            "organization": text(nullable=True),
            "accessibility": text(),
            "eci": number(finite),
            **dict.fromkeys(["eci_low", "eci_high"], number(finite, nullable=True)),
        },
        "rosetta_scores": {
            **dict.fromkeys(["model", "benchmark"], text()),
            "score": number(share),
            **dict.fromkeys(["optimized", "is_math", "is_coding"], whole(flag)),
            **of_a_model,
            "model_name": text(nullable=True),
        },
        "rosetta_models": {
            "model": text(),
            "model_name": text(nullable=True),
            **of_a_model,
            "compute_2025_flop": number(positive, nullable=True),
            "compute_2025_confidence": text(nullable=True),
            "distilled": whole(flag),
            "distilled_confidence": text("high", "medium", "low", nullable=True),
        },
        "weirdml": {
            **dict.fromkeys(["model", "task", "task_family", "time_source"], text()),
            "date": date(),
            "year": number(positive),
            "threshold": whole(positive),
            "minutes": number(positive),
            "estimated_minutes": number(positive, nullable=True),
            **dict.fromkeys(["successes", "runs"], number(nonnegative)),
        },
        "weirdml_models": {"model": text(), "date": date(), "year": number(positive)},
        "weirdml_times": {
            "task": text(),
            "threshold": whole(positive),
            "task_family": text(),
            "minutes": number(positive),
            "estimated_minutes": number(positive, nullable=True),
            "time_source": text(),
        },
        "training_compute": {
            "model": text(),
            "date": date(),
            "year": number(positive),
            "value": number(positive),
            "organization": text(),
            "accessibility": text(nullable=True),
            "compute_confidence": text(*CONFIDENCES),
            "larger_before": whole(nonnegative),
        },
        "schedule_curves": {
            "run": text(),
            "step": whole(positive),
            **dict.fromkeys(["clock", "rate", "loss"], number(positive)),
        },
        "routed_lms": {
            **dict.fromkeys(["loss", "flop_per_step", "parameters"], number(positive)),
            **dict.fromkeys(["total_parameters", "experts", "active_experts"], whole(positive)),
            **dict.fromkeys(["width", "layers", "seed", "steps"], whole(positive)),
            "routing": text("Dense", "S-Base", "RL-R", "Hash"),
            "routed_share": number(share),
            **dict.fromkeys(["loss_c4", "loss_pile"], number(positive, nullable=True)),
        },
        "speedrun_records": {
            "record": whole(positive),
            "date": pa.Column("datetime64[ns]"),
            "minutes": number(positive),
        },
        "speedrun_runs": {
            "track": text("track_1_short", "track_2_medium", "track_3_optimization"),
            "date": pa.Column("datetime64[ns]", nullable=True),
            "what": text(nullable=True),
            "seed_run": number(nonnegative, nullable=True),
            **dict.fromkeys(["step", "readings"], whole(positive)),
            **dict.fromkeys(["loss", "seconds"], number(positive)),
        },
        "regmix": {
            "parameters": number(positive),
            "index": whole(nonnegative),
            "split": text("train", "test"),
            **dict.fromkeys([f"share_{source}" for source in (*MEASURED, *UNMEASURED)], number(share)),
            **dict.fromkeys([f"loss_{source}" for source in MEASURED], number(positive)),
        },
        "published": {
            "quantity": text(),
            "estimate": number(finite),
            **dict.fromkeys(["low", "high"], number(finite, nullable=True)),
            "unit": text(nullable=True),
            "source": text(),
            "note": text(nullable=True),
        },
    }
    return {name: pa.DataFrameSchema(columns, strict=True) for name, columns in tables.items()}


SCHEMAS = schemas()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_built_in_table_meets_its_schema(name):
    frame = bs.load(name)
    pd.testing.assert_frame_equal(SCHEMAS[name].validate(frame, lazy=True), frame)


def test_every_built_in_table_has_a_schema():
    assert SCHEMAS.keys() == set(bs.catalogue()["name"])


def test_sums_of_the_gpu_are_those_that_its_sweep_counted():
    sums = bs.load("arithmetic_gpu")
    by_seed = sums.groupby(["embedding", "seed", "split"])[["correct", "total"]].sum()
    shares = (by_seed["correct"] / by_seed["total"]).round(3).unstack("split")
    assert shares.loc["abacus"].to_numpy().tolist() == [[1.0, 0.808, 0.204], [1.0, 0.836, 0.175], [1.0, 0.778, 0.118]]
    assert shares.loc["abacus+equals"].to_numpy().tolist() == [[1.0, 0.576, 0.17], [1.0, 0.919, 0.233]]
    assert shares.loc["fire"].to_numpy().tolist() == [[0.991, 0.013, 0.0], [0.994, 0.01, 0.0], [0.996, 0.007, 0.0]]
    assert shares.loc["nope"].to_numpy().tolist() == [[0.995, 0.012, 0.0], [0.994, 0.006, 0.0]]
    counts = ",".join(map(str, sums["correct"])).encode()
    assert hashlib.sha256(counts).hexdigest() == "82839c9f2de305eb48eb4e892abb87c029c9d9412afd33966076aacbe9c5fa04"
    assert sums["run"].unique().tolist()[::3] == [
        "79b54d8d32c16042", "32a18b76fc7017a5", "6679eb290ac7ee1d", "8940b0985ff9e486",
    ]  # fmt: skip
    assert set(sums["flop"]) == {1304314375569408.0} and set(sums["samples"]) == {1073664.0}
    longest = sums[["length_a", "length_b"]].max(axis=1)
    # Rows of the table of Abacus embeddings that training never shows.
    assert not sums.loc[longest >= sums["train_digits"] + sums["k_max"], "correct"].any()
