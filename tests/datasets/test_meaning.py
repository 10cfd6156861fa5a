"""Tables as users bring them: each is read correctly, or refused in one message that names the option to use."""

import re
import shlex
from pathlib import Path

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands import options, parsing
from bayescaling.errors import TableNote, TableWarning

STRANGERS = Path(__file__).with_name("strangers")
SIZES = np.repeat(np.geomspace(2e7, 1e9, 4), 3)
TOKENS = np.tile([1e9, 4e9, 2e10], 4)
LOSS = 1.8 + 450 / SIZES**0.35 + 2000 / TOKENS**0.37
RUNS = pd.DataFrame({"N": SIZES, "D": TOKENS, "loss": LOSS})
EXPONENT = 0.514
pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")


def refused(source, **reading):
    source = STRANGERS / f"{source}.csv" if isinstance(source, str) else source
    with pytest.raises(bs.InputError) as error:
        bs.read(source, **reading)
    assert str(error.value).isprintable() and len(str(error.value)) <= 600
    return str(error.value)


FLAGS = ("perplexity", "drop_missing")


def asked(words):
    """Return the options of `read` that words of a command line are, and the words."""
    chosen, rest = {}, shlex.split(words)
    while rest:
        name = rest.pop(0)[2:].replace("-", "_")
        value = True if name in FLAGS else rest.pop(0)
        if name in ("column", "unit", "ignore"):
            chosen.setdefault(name, []).append(value)
        else:
            chosen[name] = float(value) if name in ("bytes_per_token", "flop_per_parameter_token") else value
    read = parsing.reader_options(options.Reading(**chosen))
    return {name: x for name, x in read.items() if x not in (None, False, 0, {}, [])}


def proposed(message):
    """Return the words of a command line that a message names first."""
    return re.search(r"\((--(?:[^()']|'[^']*'|\([^()]*\))*)\)", message)[1]


# What is refused at the first try, words of the message, and the second try, which the message names.
TRIES = {
    "counts_by_part": (
        [],
        "--column loss=val_bpb --column parameters=params_head+params_blocks --unit loss=bits-per-byte "
        "--ignore budget_flops --bytes-per-token 4.3",
        28,
    ),
    "bpb": (['"val_bpb" (0.8 to 1.33)'], "--column loss=val_bpb --unit loss=bits-per-byte --bytes-per-token 4.3", 24),
    "steps_batch_seq": (['"parameters" found'], "--column 'tokens=steps*batch_size*seq_len'", 24),
    "epochs": (["--column unique_tokens=dataset_size"], "--column 'tokens=dataset_size*epochs'", 24),
    "two_counts": (['"n_params_non_embed" 1,', "--ignore flops"], "--column parameters=n_params_non_embed", 24),
    "five_sizes": ([], "--column 'tokens=total_steps*tokens_per_step'", 5),
    "moe": ([], "--column 'training_flop=step*flops_per_step'", 36),
}


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize("name", TRIES)
def test_the_second_try_is_named_by_the_first_and_succeeds(name):
    words, second, rows = TRIES[name]
    message = refused(name)
    assert f"({second})" in message
    assert all(word in message for word in words), message
    table = bs.read(STRANGERS / f"{name}.csv", **asked(second))
    assert len(table) == rows
    assert (table["training_flop"] / (6 * table["parameters"] * table["tokens"])).round(9).eq(1).all()


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("bpb", {"loss": "val_bpb"}, ["in bits per byte by its name", "--unit loss=bits-per-byte"]),
        ("steps_batch_seq", {"tokens": "steps"}, ["counts steps", "steps*batch_size*seq_len", "--unit tokens=1"]),
        ("accuracy_percent", {"loss": "accuracy"}, ["rises with compute", "fit '100 - accuracy ~ E + A * "]),
        ("mse", {"loss": "val_mse", "tokens": "samples"}, ["no cross entropy", "fit 'val_mse ~ E + A * "]),
        ("five_sizes", {"tokens": "tokens_per_step"}, ["is a rate", "total_steps*tokens_per_step"]),
        ("moe", {"training_flop": "flops_per_step", "loss": "loss_validation"}, ["is a rate", "step*flops_per_step"]),
    ],
)
def test_a_column_that_is_chosen_is_checked_by_its_name_too(name, columns, words):
    message = refused(name, columns=columns)
    assert all(word in message for word in words), message


ERROR_RATES = [
    "top1_error",
    "err%",
    "word_error_rate",
    "miss_rate",
    "1-acc",
    "100 - top1",
    "Top-5 err. (%)",
    "fail_rate",
]
ACCURACIES = ["top5", "exact_match", "pass@1", "success_rate", "Top-1 Acc. (%)", "f1", "1-shot acc", "score"]


@pytest.mark.parametrize("name", [*ERROR_RATES, *ACCURACIES])
@pytest.mark.parametrize("scale", [1, 100])
@pytest.mark.parametrize("tokens", ["D", "images_seen"])
def test_scores_and_error_rates_are_refused_with_the_formula_of_an_error_rate(name, scale, tokens):
    error = (2 + 1200 * SIZES**-0.28 + 3000 * TOKENS**-0.3) / 100
    table = pd.DataFrame({"N": SIZES, tokens: TOKENS, name: scale * (1 - error if name in ACCURACIES else error)})
    law = bs.laws.Formula(re.search("fit '(.*?)'", refused(table))[1]).suited(bs.read(table, "columns"))
    assert law.columns == ("N", tokens)
    np.testing.assert_allclose(law.response(table), scale * error, rtol=1e-12)


def test_the_tokens_that_follow_from_flop_are_noted():
    with pytest.warns(TableNote, match="derived tokens: 0.33 to 500 per parameter, by C = 6ND"):
        bs.read(STRANGERS / "forward_flop.csv")
    with pytest.warns(TableNote, match=r"derived tokens: 1 to 1,500 per parameter, by C = 2ND"):
        table = bs.read(STRANGERS / "forward_flop.csv", flop_per_parameter_token=2)
    assert table["tokens"].min() == pytest.approx(1e9)


def test_a_budget_is_set_aside_where_both_sizes_are_there():
    with pytest.warns(TableNote, match=r'"flop_budget" is 0.373 to 0.544 of 6ND: C = 6ND is used'):
        table = bs.read(STRANGERS / "isoflop_budgets.csv")
    assert "flop_budget" in table


# Columns of other names, units and forms: the second try is that of the message --------------------------------------

COMPUTE = 6 * SIZES * TOKENS
PASSES = np.tile([1.0, 2.0, 4.0], 4)
NAMES = [f"N{size:.12g}-D{tokens:.12g}" for size, tokens in zip(SIZES, TOKENS, strict=True)]
DEVICES = {"steps": TOKENS / 2**20, "per_device_batch": 16, "gpus": 64, "grad_accum": 1, "ctx": 1024}
SECOND_TRIES = [
    ("log10_flops", {"D": None, "log10_flops": np.log10(COMPUTE)}, "training_flop=10**log10_flops"),
    ("ln(D)", {"D": None, "ln(D)": np.log(TOKENS)}, "tokens=exp(`ln(D)`)"),
    ("ln_loss", {"loss": None, "ln_loss": np.log(LOSS)}, "loss=exp(ln_loss)"),
    ("log_loss", {"loss": None, "log_loss": LOSS}, "loss=log_loss"),  # of scikit-learn
    ("negative", {"loss": -LOSS}, "loss=-loss"),
    ("log_likelihood", {"loss": None, "log_likelihood": -LOSS}, "loss=-log_likelihood"),
    ("perplexity", {"loss": None, "wikitext_ppl": np.exp(LOSS)}, "--column perplexity=wikitext_ppl --perplexity"),
    ("perplexity in a loss", {"loss": np.exp(LOSS + 0.9)}, "--column perplexity=loss --perplexity"),
    ("logarithms", {"N": np.log10(SIZES), "D": np.log10(TOKENS)}, "'parameters=10**N' --column 'tokens=10**D'"),
    ("two units", {"N": SIZES / 1e6, "D": TOKENS / 1e9}, "--unit parameters=1e6 --unit tokens=1e9"),
    ("petaflop days", {"D": None, "compute": COMPUTE / 8.64e19}, "--unit training_flop=8.64e19"),
    ("tokens of an epoch", {"D": TOKENS / PASSES, "epochs": PASSES}, "tokens=D*epochs"),
    ("unique tokens", {"D": None, "unique_tokens": TOKENS / PASSES, "epochs": PASSES}, "tokens=unique_tokens*epochs"),
    ("a ratio", {"D": None, "tokens_per_param": TOKENS / SIZES}, "tokens=N*tokens_per_param"),
    ("a device", {"D": None, **DEVICES}, "tokens=steps*per_device_batch*grad_accum*gpus*ctx"),
    ("a context", {"D": None, "steps": TOKENS / 2**20, "batch_size": 1024}, "tokens=steps*batch_size*1024"),
    ("FLOP a token", {"N": None, "flops_per_token": 6 * SIZES}, "training_flop=D*flops_per_token"),
    ("characters", {"D": None, "chars": 4 * TOKENS}, "--column tokens=chars --unit tokens=0.25"),
    ("no embeddings", {"N": None, "non_embedding_params": SIZES}, "parameters=non_embedding_params"),
    ("a model", {"N": None, "Model": [f"{size / 1e6:.9g}M" for size in SIZES]}, "parameters=Model"),
    ("a name", {"N": None, "model": [f"net-{size / 1e6:.9g}m" for size in SIZES]},
     "--column run=model --from-name 'net-{parameters}'"),
    ("sizes in a name", {"N": None, "D": None, "run": NAMES}, "--from-name 'N{parameters}-D{tokens}'"),
    ("two columns", {"params": SIZES * 2}, "parameters=N"),
    ("nested", {"D": 1e5, "config.tokens": TOKENS}, "tokens=config.tokens"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableWarning")
@pytest.mark.parametrize(("changes", "words"), [x[1:] for x in SECOND_TRIES], ids=[x[0] for x in SECOND_TRIES])
def test_the_second_try_reads_what_is_true(changes, words):
    table = RUNS.drop(columns=[name for name, x in changes.items() if x is None and name in RUNS])
    table = table.assign(**{name: x for name, x in changes.items() if x is not None})
    options_ = proposed(refused(table))
    assert words in options_.replace("''", "'") or words in options_.replace("'", "")
    frame = bs.read(table, **asked(options_))
    np.testing.assert_allclose(frame["parameters"], SIZES, rtol=1e-6)
    np.testing.assert_allclose(frame["tokens"], TOKENS, rtol=1e-6)
    moved = 0.9 if np.max(changes.get("loss", 0) if changes.get("loss") is not None else 0) > 50 else 0
    np.testing.assert_allclose(frame["loss"], LOSS + moved)


BITS = RUNS.rename(columns={"loss": "loss_bits"})
DATA = RUNS.rename(columns={"D": "dataset_size"})
FORWARD = RUNS.assign(forward_flops=2 * SIZES * TOKENS)
BY_STEP = RUNS.assign(N=np.repeat([1e5, 1e6, 1e7, 1e8], 3), D=np.tile([1000, 5000, 20000], 4))
EXPERTS = RUNS.assign(total_parameter_count=8 * SIZES).rename(columns={"N": "active_parameter_count"})
RATES = {"tokens_per_second": 1e5, "target_param_data_ratio": 20.0, "flops_per_step": 1e15}
MANY = pd.DataFrame({f"setting {i}": [1.0] for i in range(40)} | {"N": [1e7], "Toke": [1e9]})
C = "training_flop"
# Tables that would be read wrong, with words of the message; after "not " words that are not in it.
REFUSED = [
    (RUNS[["N", "D"]].assign(acc=1 - LOSS / 10, acc_err=LOSS / 100), {},
     ["fit '1 - acc ~ E + A * N**-alpha + B * D**-beta'"]),
    (RUNS[["N", "loss"]].assign(**RATES), {}, ["--column tokens=NAME"]),
    (RUNS[["D", "loss"]].assign(params_wte=1e6, params_embed=2e6), {}, ["--column parameters=NAME"]),
    (RUNS[["D", "loss"]].assign(params_wte=1e6, my_params=RUNS["N"]), {}, ["--column parameters=my_params"]),
    ("counts_by_part", {"columns": {"loss": "val_bpb", "parameters": "params_embed"}},
     ["counts some of them", "parameters=params_head+params_blocks"]),
    (RUNS.assign(params_blocks=SIZES, params_head=1e6), {"columns": {"parameters": "params_blocks"}},
     ["--unit parameters=1"]),
    (MANY, {}, ['"Toke"', "more; name one with"]),
    (DATA.assign(epochs=2), {}, ["dataset_size*epochs"]),
    (RUNS.assign(epochs=PASSES), {}, ["tokens=D*epochs"]),
    (FORWARD, {"columns": {C: "forward_flops"}}, ["--flop-per-parameter-token 2"]),
    (FORWARD.rename(columns={"forward_flops": "C"}), {}, ["--flop-per-parameter-token 2"]),
    (RUNS, {"flop_per_parameter_token": 0}, ["positive number"]),
    (RUNS, {"flop_per_parameter_token": 2}, ["there is none"]),
    (RUNS[["D", "loss"]].assign(size="small"), {}, ["two of"]),
    (RUNS.assign(N=np.where(SIZES < 1e8, SIZES / 1e6, SIZES)), {}, ["write parameters in one unit", "not 1e6"]),
    (RUNS[["N", "loss"]].assign(GFLOPs=2 * SIZES / 1e9), {}, ["as FLOP of one token have", "not 1e18"]),
    (RUNS[["N", "loss"]].assign(gpu_hours=COMPUTE / 1e18), {},
     ["gpu_hours*1.44e18", "3600 x the FLOP/s that one device reaches"]),
    (RUNS.assign(loss=np.where(SIZES > 5e8, LOSS, 14)), {}, ["more than 13 nats per token", "--perplexity"]),
    (BY_STEP, {}, ["multiples of 1000 up to 2e+04, as steps have"]),
]  # fmt: skip
MORE_NAMES = [
    (RUNS.rename(columns={"N": all_, "D": tokens}).assign(**{part: 0.9 * SIZES}), {},
     {"parameters": SIZES, "parameters_nonembedding": None if part == "x" else 0.9 * SIZES})
    for part, all_ in (("n_params_non_embed", "n_params"), ("N_no_emb", "params_all"), ("x", "size"))
    for tokens in ("tokens_trained", "tokens")
]  # fmt: skip
UNITS = {"flops_e21": 1e21, "FLOPs (x10^21)": 1e21, "compute_pf_days": 8.64e19, "petaflop_s_days": 8.64e19,
         "exaflops": 1e18, "train compute PF-days": 8.64e19, "flops_budget": 1, "budget_flops": 1,
         "compute_budget": 1}  # fmt: skip
# Tables that are read, with the columns of the result, None where one is not there.
READ = [
    *MORE_NAMES,
    *((RUNS[["N", "loss"]].assign(**{name: COMPUTE / unit}), {}, {"tokens": TOKENS}) for name, unit in UNITS.items()),
    *((pd.DataFrame({n: SIZES / 1e9, d: TOKENS / 1e9, "loss": LOSS}), {}, {"parameters": SIZES, "tokens": TOKENS})
      for n, d in (("paramsB", "tokensB"), ("billions of params", "billion_tokens"))),
    (EXPERTS, {}, {"parameters": SIZES, "total_parameter_count": 8 * SIZES}),
    (RUNS.rename(columns={"N": "params_blocks"}), {"columns": {"parameters": "params_blocks"}}, {"parameters": SIZES}),
    (DATA.assign(epochs=2), {"unit": {"tokens": 1}}, {"tokens": TOKENS}),  # the user is believed
    (DATA.assign(epochs=1), {}, {"tokens": TOKENS}),
    (BITS, {"columns": {"loss": "loss_bits"}, "unit": {"loss": "nats"}}, {"loss": LOSS}),
    (FORWARD.rename(columns={"forward_flops": "C"}), {"flop_per_parameter_token": 2}, {C: COMPUTE}),
    (RUNS.assign(epochs=PASSES, C=COMPUTE), {}, {"tokens": TOKENS}),  # the FLOP confirm the tokens of all epochs
    (RUNS.assign(epochs=PASSES, C=COMPUTE, train_tokens=TOKENS), {}, {"tokens": TOKENS}),
    (BY_STEP, {"unit": {"tokens": 1}}, {"tokens": BY_STEP["D"]}),
    (RUNS[["loss"]].assign(size="small", error=LOSS / 9), {"columns": {"parameters": "size"}, "needed": "error"},
     {"loss": LOSS}),  # a size that is no number, where none is needed
]  # fmt: skip


@pytest.mark.parametrize(("table", "reading", "words"), REFUSED)
def test_what_would_be_read_wrong_is_refused(table, reading, words):
    message = refused(table, **reading)
    assert all((word.removeprefix("not ") in message) != word.startswith("not ") for word in words), message


@pytest.mark.parametrize(("table", "reading", "columns"), READ)
def test_what_is_told_by_a_name_or_an_option_is_read(table, reading, columns):
    frame = bs.read(table, **reading)
    for name, values in columns.items():
        assert (name in frame) == (values is not None)
        if values is not None:
            np.testing.assert_allclose(frame[name], values, rtol=1e-12)


def test_runs_that_diverged_are_told_from_perplexities():
    diverged = RUNS.assign(loss=[*LOSS[:-1], 9999.0])
    assert proposed(refused(diverged)) == "--where 'loss < 13'"
    assert len(bs.read(diverged, where="loss < 13")) == 11


@pytest.mark.parametrize("factor", [1e-3, 1e-2])
def test_a_size_that_is_wrong_in_one_row_is_pointed_at(factor):
    noise = np.exp(0.003 * np.random.default_rng(1).standard_normal(48))
    sizes, tokens = np.repeat(np.geomspace(2e7, 3e9, 8), 6), np.tile(np.geomspace(1e9, 1e11, 6), 8)
    table = pd.DataFrame({"N": sizes, "D": tokens, "loss": (1.8 + 450 / sizes**0.35 + 2000 / tokens**0.37) * noise})
    bs.read(table)
    with pytest.warns(TableWarning, match="row 9 .counting from 0. has"):
        bs.read(table.assign(D=np.where(np.arange(48) == 9, factor * tokens, tokens)))


# Rows -----------------------------------------------------------------------------------------------------------------


def test_copies_of_rows_are_left_out():
    with pytest.warns(TableNote, match="45 of 60 rows are exact copies of others"):
        table = bs.read(STRANGERS / "duplicates.csv")
    assert len(table) == 15 and table.attrs["reading"][0]["rows_left_out"] == 45
    assert len(bs.read(STRANGERS / "duplicates.csv", keep_copies=True)) == 60
    assert len(bs.read(pd.concat([RUNS, RUNS.assign(seed=1)]))) == 24
    twice = RUNS.assign(config=[{"lr": 1}] * 12)
    assert len(bs.read(pd.concat([twice, twice], ignore_index=True))) == 12


def test_readings_of_one_run_are_refused_until_the_user_chooses():
    message = refused("checkpoints")
    assert '"run_id" names 8 runs with 7 rows each' in message
    assert all(word in message for word in ("--last-of run_id", "--column run=run_id", "--ignore run_id"))
    path = STRANGERS / "checkpoints.csv"
    assert len(bs.read(path, last_of="run_id")) == 8
    assert len(bs.read(path, ignore="run_id")) == 56
    assert bs.read(path, columns={"run": "run_id"}, needed="run")["run"].nunique() == 8
    with pytest.warns(TableWarning, match="readings of one run are not independent"):
        bs.read(path, columns={"run": "run_id"})


def test_names_of_sizes_are_no_runs():
    sizes = [f"{size / 1e6:.0f}M" for size in SIZES]
    assert len(bs.read(RUNS.assign(model=sizes, experiment="a", run_id=np.arange(12)))) == 12
    even = RUNS.assign(D=np.tile([1e9, 2e9, 3e9], 4), name=sizes)
    assert '"name" names 4 runs' in refused(even)
    names = [f"{size}-{seed}" for seed in "ab" for size in sizes]
    both = pd.concat([RUNS, RUNS.assign(loss=LOSS * 1.001)], ignore_index=True).assign(model=names)
    assert '"model" names 8 runs with 3 rows each' in refused(both)


def test_what_diverged_is_left_out_and_an_outlier_is_pointed_at():
    assert "drop_missing=True (--drop-missing)" in refused("diverged")
    with pytest.warns() as notes:
        table = bs.read(STRANGERS / "diverged.csv", drop_missing=True)
    texts = [str(note.message) for note in notes]
    assert '(1 lack loss, 1 with loss "diverged", 1 with infinite loss): 3 of 24 rows left out' in texts[0]
    assert "line 22 has 11.2 where its neighbours suggest 2.99" in texts[1] and "--drop-highest 1" in texts[1]
    assert len(table) == 21
    assert len(bs.read(STRANGERS / "diverged.csv", drop_missing=True, drop_highest=1)) == 20


@pytest.mark.parametrize("name", ["chinchilla_runs", "data_constrained_runs", "overtraining_runs", "small_lm_runs"])
def test_built_in_tables_are_read_without_a_refusal(name, recwarn):
    assert len(bs.read(bs.load(name))) == len(bs.load(name))
    assert not [note for note in recwarn if "outliers" in str(note.message) and name == "chinchilla_runs"]


def test_overflowed_integers_do_not_pass_for_flop():
    with np.errstate(over="ignore"):
        flop = 6 * SIZES.astype("int64") * TOKENS.astype("int64")
    assert flop.min() < 0
    assert "64-bit integer that overflowed" in refused(RUNS.assign(C=flop).drop(columns="D"), drop_missing=True)


# Columns that are arithmetic of others --------------------------------------------------------------------------------


def test_arithmetic_of_columns():
    table = RUNS.assign(steps=TOKENS / 2e6, batch=1e3, accuracy=1 - LOSS / 10, **{"seq len": 2e3}).drop(columns="D")
    columns = {"tokens": "steps*batch*`seq len`", "loss": "(1 - accuracy) * 10"}
    with pytest.warns(TableNote, match="tokens is steps\\*batch"):
        frame = bs.read(table.drop(columns="loss"), columns=columns)
    np.testing.assert_allclose(frame["tokens"], TOKENS)
    np.testing.assert_allclose(frame["loss"], LOSS)
    assert frame.attrs["reading"][0] == {"option": "columns", "of": "tokens", "expression": columns["tokens"]}


def test_a_name_goes_before_arithmetic_and_a_header_keeps_its_unit():
    table = RUNS.rename(columns={"loss": "eval/loss-1"})
    assert bs.read(table, columns={"loss": "eval/loss-1"})["loss"].tolist() == LOSS.tolist()
    assert 'did you mean "eval/loss-1"' in refused(table, columns={"loss": "eval/los-1"})
    data = RUNS[["N", "loss"]].assign(**{"tokens (B)": TOKENS / 1e9, "epochs": 1.0})
    np.testing.assert_allclose(bs.read(data, columns={"tokens": "`tokens (B)`*epochs"})["tokens"], TOKENS)
    unit = {"tokens": 1e9}
    np.testing.assert_allclose(bs.read(data, columns={"tokens": "`tokens (B)`*epochs"}, unit=unit)["tokens"], TOKENS)


def test_a_cell_that_is_no_number_is_named_in_arithmetic_too():
    table = RUNS.astype({"loss": object}).rename(columns={"loss": "score"})
    table.loc[3, "score"] = "diverged"
    columns = {"loss": "score*1"}
    assert 'column "score*1": found "diverged", which is not a number' in refused(table, columns=columns)
    assert len(bs.read(table, columns=columns, drop_missing=True)) == 11
    assert "not a positive finite number" in refused(RUNS, columns={"loss": "loss/0"})


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("D**D**D", "found inf, which is not a positive finite number"),
        ("D*10**10**10", "found inf, which is not a positive finite number"),
        ("D*'a'", "is text, of which there is no arithmetic"),
        ("D.real*2", "'.' has no meaning here"),
        ("D[0]*2", "is not there"),
        ("D*getpid(N)", "'getpid' is no function"),
        ("D*__import__('os').getpid()", "has no meaning here"),
        ("D*steps", 'there is no column "steps"'),
        ("D*True", 'there is no column "True"'),
        ("D if N else D*2", "an operator such as * is missing"),
        ("D*1j", "an operator such as * is missing"),
        (f"D*{'9' * 400}", "too large"),
        ("D//2", "after '/' a number, a name or a bracket is missing"),
        ("1*1", "is not there"),
        ("D*" * 400 + "D", "has 400 signs"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_arithmetic_runs_no_code(expression, words):
    assert words in refused(RUNS, columns={"tokens": expression})


# Fits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "words", "law"),
    [
        ("epochs", TRIES["epochs"][1], {}),
        ("counts_by_part", TRIES["counts_by_part"][1], {}),
        ("checkpoints", "--column run=run_id", {"run_effects": True}),
    ],
)
def test_the_true_exponent_is_in_the_interval(name, words, law):
    table = bs.read(STRANGERS / f"{name}.csv", **asked(words), needed="run" if law else ())
    fit = bs.fit(bs.laws.Chinchilla(**law), table, seed=1, chains=2, draws=300, tune=400)
    low, high = fit.summary().table.loc["exponent_parameters", ["q2.5", "q97.5"]]
    assert low < EXPONENT < high
