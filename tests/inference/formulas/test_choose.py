import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.formulas.choose import fit_usual, propose

X = np.exp(np.linspace(np.log(500), np.log(5e5), 12))
RNG = np.random.default_rng(0)


def noisy(y, sd=0.01):
    return y * np.exp(sd * np.random.default_rng(1).standard_normal(len(y)))


FALLS = noisy(0.05 + 6 * X**-0.45)
ONE = {"n_images": X, "seed": np.arange(12) % 3, "lr": 0.1, "test_error": FALLS, "test_acc": 1 - FALLS}
SIZES = {"num_params": X * 1e3, "tokens_per_sec": 1e9 / X, "gpu_memory_mb": X + 900, "train_loss": FALLS * 0.9}
COUNTS = {"num_demos": X, "n_success": np.floor(20 * (1 - (1 + X / 3e3) ** -0.9)), "n_trials": 20}
GROUPS = {"optimizer": ["adamw", "muon"] * 6, "params": np.repeat(X[::2], 2), "val_loss": noisy(2 + 40 * X**-0.3)}
MIX = pd.DataFrame(RNG.dirichlet([2, 2, 2], 12), columns=["train_web", "train_code", "train_books"])
ABOVE_CHANCE = 25 + 60 / (1 + np.exp(-3 * (np.log10(X) - 4)))


@pytest.mark.parametrize(
    ("columns", "formula"),
    [
        (ONE, "test_error ~ E + A * n_images**-alpha"),
        (SIZES | {"val_loss": FALLS}, "val_loss ~ E + A * num_params**-alpha"),
        (COUNTS, "n_success / n_trials ~ 1 - (1 + num_demos / x0)**-b"),
        (GROUPS, "val_loss ~ E + A[optimizer] * params**-alpha[optimizer]"),
        ({"train_flops": X * 1e12, "elo": 100 * np.log(X)}, "elo ~ e0 + slope * log10(train_flops)"),
        (
            {"FLOPs (1E21)": X, "acc": ABOVE_CHANCE, "random_baseline": 25.0},
            "acc ~ random_baseline + (top - random_baseline) / (1 + exp(-k * (log10(`FLOPs (1E21)`) - m)))",
        ),
        (
            dict(MIX) | {"code/val_loss": 1 + np.exp(-MIX["train_code"])},
            "`code/val_loss` ~ c + exp(t_web * train_web + t_code * train_code + t_books * train_books)",
        ),
        (
            {"N": RNG.permutation(X), "D": RNG.permutation(X), "w_bits": [3, 4, 8, 16] * 3, "final_loss": FALLS},
            "final_loss ~ E + A * (N * (1 - exp(-w_bits / g)))**-alpha + B * D**-beta",
        ),
        (
            {"active_params": X, "total_params": RNG.permutation(X) + X, "tokens": RNG.permutation(X), "loss": FALLS},
            "loss ~ E + A * active_params**-alpha * (total_params / active_params)**-gamma + B * tokens**-beta",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_the_usual_formula_of_a_table(columns, formula):
    assert propose(pd.DataFrame(columns))[0].formula == formula


@pytest.mark.parametrize(
    ("columns", "formula"),
    [
        ({"x": X, "y": FALLS}, "y ~ E + A * x**-alpha"),
        ({"A": X, "E": FALLS}, "E ~ p2 + p1 * A**-alpha"),
        ({"n_cells": X, "pearson": 0.9 - FALLS}, "pearson ~ top - A * n_cells**-alpha"),
        ({"env_steps": X, "episode_return": 100 * np.log(X) - 900}, "episode_return ~ e0 + slope * log10(env_steps)"),
        ({"compute": X, "best_batch": noisy(X**0.3)}, "best_batch ~ A * compute**alpha"),
        (
            {"width": np.tile([8, 32, 128, 512], 3), "n_traj": np.repeat([1e3, 4e3, 2e4], 4), "std_rmse": 0.1 * FALLS}
            | {"mean_rmse": noisy(0.1 + 2 * np.tile([8, 32, 128, 512], 3) ** -0.5, 0.2)},
            "mean_rmse ~ E + A * width**-alpha + B * n_traj**-beta",
        ),
        (
            {"params": X, "D": RNG.permutation(X), "accuracy": 0.9 - FALLS, "flops": 6 * X**2},
            "accuracy ~ top - A * params**-alpha - B * D**-beta",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_columns_of_any_name_have_a_formula(columns, formula):
    proposals = [proposal.formula for proposal in propose(pd.DataFrame(columns))]
    assert proposals[0].replace(" + B * D", " - B * D") == formula
    for text in proposals:
        bs.laws.Formula(text).suited(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"name": ["a"] * 12, "seed": np.arange(12.0)}, "no column of numbers could be a response"),
        ({"seed": np.arange(12.0), "val_loss": FALLS}, "could be a function of no column"),
    ],
)
def test_a_table_that_tells_no_formula_is_refused_with_a_command(columns, words):
    with pytest.raises(bs.InputError, match=words) as error:
        propose(pd.DataFrame(columns))
    assert "fit '" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_response_that_changes_with_no_column_is_named():
    for x, y in (("samples", "score"), ("A", "E")):  # the second are names of constants elsewhere
        with pytest.warns(bs.errors.TableNote, match=f'"{y}" hardly changes with "{x}"'):
            propose(pd.DataFrame({x: X, y: np.random.default_rng(2).random(12)}))


def test_the_formula_that_predicts_better_is_chosen_and_the_other_named():
    fit, others = fit_usual(pd.DataFrame({"n_images": X, "test_error": FALLS}), draws=500, tune=500)
    assert fit.law.label == "test_error ~ E + A * n_images**-alpha"
    assert list(others) == ["test_error ~ A * n_images**-alpha"]
    assert "predicts the rows worse by" in others["test_error ~ A * n_images**-alpha"]


READ = {
    "sweep.csv": "seed,n=1000,n=3000,n=10000\n0,.5,.4,.3\n1,.51,.41,.31\n",
    "results.json": '{"25M": {"val_loss": 3.5}, "60M": {"val_loss": 3.3}, "1.3B": {"val_loss": 2.9}}',
    "lists.json": '{"experiment": "cells", "n": [10, 20, 40], "error": [0.5, 0.4, 0.3]}',
    "log.csv": "params,epoch,loss\n"
    + "".join(f"{n},{k},{9 / n + 1 / k}\n" for n in (10, 20, 40) for k in (1, 2, 3, 4)),
    "table.csv": 'samples,Acc (%)\n"1,000",61.2 ± 0.8\n"2,000",66.0 ± 0.7\n"9,000",70.1 ± 0.2\n',
    "words.csv": "hours,WER\n10,40%\n100,20%\n1000,diverged\n",
    "pivot.csv": "params\\tokens,1B,4B,16B\n30M,4.1,3.9,3.8\n1B,3.5,3.2,3.0\n",
}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "sweep.csv",
            {"seed": [0, 1] * 3, "n": [1e3, 1e3, 3e3, 3e3, 1e4, 1e4], "value": [0.5, 0.51, 0.4, 0.41, 0.3, 0.31]},
        ),
        ("results.json", {"size": [25e6, 6e7, 1.3e9], "val_loss": [3.5, 3.3, 2.9]}),
        ("lists.json", {"n": [10, 20, 40], "error": [0.5, 0.4, 0.3]}),
        (
            "log.csv",
            {"params": [10, 20, 40], "epoch": [4] * 3, "loss": [9 / 10 + 1 / 4, 9 / 20 + 1 / 4, 9 / 40 + 1 / 4]},
        ),
        ("table.csv", {"samples": [1e3, 2e3, 9e3], "Acc (%)": [61.2, 66.0, 70.1], "Acc (%) ±": [0.8, 0.7, 0.2]}),
        ("words.csv", {"hours": [10, 100, 1000], "WER": [0.4, 0.2, np.nan]}),
        ("pivot.csv", {"params": [3e7, 1e9] * 3, "tokens": [1e9, 1e9, 4e9, 4e9, 16e9, 16e9]}),
    ],
)
@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_tables_as_people_have_them_are_read(tmp_path, name, columns):
    (tmp_path / name).write_text(READ[name])
    read = bs.read(tmp_path / name, "columns")
    for column, values in columns.items():
        np.testing.assert_allclose(read[column].to_numpy(), values, rtol=1e-12, err_msg=column)


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_a_folder_of_logs_is_read_by_the_last_entry_and_the_sizes_of_its_files(tmp_path):
    for size, loss in (("3M", 3.0), ("10M", 2.5), ("30M", 2.2)):
        (tmp_path / f"{size}.csv").write_text(f"step,val_loss\n0,9\n100,{loss}\n")
    read = bs.read(tmp_path, "columns")
    assert dict(zip(read["size"], read["val_loss"], strict=True)) == {3e6: 3.0, 1e7: 2.5, 3e7: 2.2}
    curve = bs.read(tmp_path, "columns", needed=["step"])
    assert len(curve) == 6  # a formula of the steps needs every reading


def test_the_last_readings_of_a_panel_of_sizes_and_objects_of_lists_are_read(tmp_path):
    panel = pd.DataFrame({"Step": [0, 10]})
    for size in ("3M", "10M", "30M"):
        panel[f"Group: params_{size} - val/loss"] = [9.0, 3.0]
        panel[f"Group: params_{size} - val/loss__MIN"] = [8.0, 2.5]
        panel[f"Group: params_{size} - val/loss__MAX"] = [9.0, 3.5]
    panel.to_csv(tmp_path / "panel.csv", index=False)
    with pytest.warns(bs.errors.TableNote):
        read = bs.read(tmp_path / "panel.csv", "columns")
    assert read["params"].tolist() == [3e6, 1e7, 3e7]
    assert read["val/loss"].tolist() == [3, 3, 3]
    law = bs.laws.Formula("`val/loss` ~ E + A * params**-alpha").suited(read)
    np.testing.assert_allclose(law.error_sizes(law.rows(read))[0], 0.5)
    (tmp_path / "runs.json").write_text('{"a": {"x": [1, 2], "y": [3, 4]}, "b": {"x": [1, 2], "y": [5, 6]}}')
    with pytest.warns(bs.errors.TableNote, match="2 objects"):
        read = bs.read(tmp_path / "runs.json", "columns")
    assert read["y"].tolist() == [3, 4, 5, 6]
    assert read["run"].tolist() == ["a", "a", "b", "b"]


def test_a_loss_that_rises_with_size_is_refused():
    x = np.geomspace(1e7, 1e10, 12)
    table = pd.DataFrame({"params": x, "val_loss": noisy(2.5 + 0.1 * np.log10(x / 1e7), 0.003)})
    with pytest.raises(bs.InputError, match=r"val_loss rises with params .rank correlation .*where a loss falls"):
        propose(table)
    with pytest.raises(bs.InputError, match=r"rises with params .*only falls with it"):
        bs.fit("val_loss ~ E + A * params**-alpha", table)
    assert propose(table.rename(columns={"val_loss": "accuracy"}))  # which may rise
