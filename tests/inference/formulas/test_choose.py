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
def test_the_usual_formula_of_a_table(columns, formula):
    assert propose(pd.DataFrame(columns))[0].formula == formula


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": X, "b": X}, "no column is called as a loss"),
        ({"seed": np.arange(12.0), "val_loss": FALLS}, "could be a function of no column"),
    ],
)
def test_a_table_that_tells_no_formula_is_refused_with_a_command(columns, words):
    with pytest.raises(bs.InputError, match=words) as error:
        propose(pd.DataFrame(columns))
    assert "fit '" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_the_formula_that_predicts_better_is_chosen_and_the_other_named():
    fit, others = fit_usual(pd.DataFrame({"n_images": X, "test_error": FALLS}), draws=500, tune=500)
    assert fit.law.label == "test_error ~ E + A * n_images**-alpha"
    assert len(others) == 1
    assert "'test_error ~ A * n_images**-alpha' predicts the rows worse by" in others[0]


def test_the_last_readings_of_a_panel_of_sizes_and_objects_of_lists_are_read(tmp_path):
    panel = pd.DataFrame({"Step": [0, 10]})
    for size in ("3M", "10M", "30M"):
        panel[f"Group: params_{size} - val/loss"] = [9.0, 3.0]
        panel[f"Group: params_{size} - val/loss__MIN"] = [9.0, 3.0]
    panel.to_csv(tmp_path / "panel.csv", index=False)
    with pytest.warns(bs.errors.TableNote):
        read = bs.read(tmp_path / "panel.csv", "columns")
    assert read["params"].tolist() == [3e6, 1e7, 3e7]
    assert read["val/loss"].tolist() == [3, 3, 3]
    (tmp_path / "runs.json").write_text('{"a": {"x": [1, 2], "y": [3, 4]}, "b": {"x": [1, 2], "y": [5, 6]}}')
    with pytest.warns(bs.errors.TableNote, match="2 objects"):
        read = bs.read(tmp_path / "runs.json", "columns")
    assert read["y"].tolist() == [3, 4, 5, 6]
    assert read["run"].tolist() == ["a", "a", "b", "b"]
