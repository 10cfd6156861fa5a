"""Changes at one size: the closed form, false claims at any number of looks, and one number on all surfaces."""

import json

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.commands.cli import app
from bayescaling.inference.decisions import change
from scipy import integrate, stats
from typer.testing import CliRunner

RUNNER = CliRunner()
SCATTER = 0.0012


def table(gain=0.004, seeds=8, seed=3, **columns):
    rng = np.random.default_rng(seed)
    loss = 3.28 + SCATTER * rng.standard_normal(2 * seeds) - gain * np.repeat([0, 1], seeds)
    names = np.repeat(["old", "new"], seeds)
    return pd.DataFrame({"recipe": names, "seed": [*range(seeds)] * 2, "val_loss": loss, **columns})


@pytest.mark.parametrize(("t", "counts", "df"), [(0.3, (3, 4), 5), (2.5, (8, 8), 14), (-6.0, (5, 20), 40)])
def test_the_bayes_factor_and_the_probabilities_are_those_of_integration(t, counts, df):
    n = counts[0] * counts[1] / sum(counts)

    def density(effect):
        return stats.nct.pdf(t, df, effect * n**0.5) * stats.cauchy.pdf(effect, scale=change.SCALE)

    below, above = (integrate.quad(density, *ends, limit=500)[0] for ends in ((-60, 0), (0, 60)))
    factor = (below + above) / stats.t.pdf(t, df)
    assert np.exp(change.log_factor(t, n, df)) == pytest.approx(factor, rel=2e-3)
    judged = change.judge(t * 0.001, 0.001, n, df)
    assert judged["p_same"] == pytest.approx(1 / (1 + factor), rel=2e-3)
    assert judged["p_better"] == pytest.approx(factor / (1 + factor) * above / (below + above), rel=2e-3)


def test_the_interval_holds_the_gains_that_are_not_rejected():
    n, df, error = 4.0, 14, 0.0005
    of = change.judge(0.003, error, n, df)
    for end in (of["q2.5"], of["q97.5"]):
        factor = change.log_factor((0.003 - end) / error, n, df)
        assert float(factor) == pytest.approx(np.log(20), abs=1e-6)
    assert of["direction"] == "better" and of["q2.5"] > 0


def first_claims(gain, repeats, seeds, seed):
    """Return the sign of the gain when each path, looked at after each pair of runs, is first claimed, or 0."""
    x = np.random.default_rng(seed).standard_normal((2, repeats, seeds))
    x[1] -= gain
    k = np.arange(1, seeds + 1)
    mean = x.cumsum(-1) / k
    squares = ((x**2).cumsum(-1) - k * mean**2).sum(0)[:, 1:]
    t = ((mean[0] - mean[1]) / np.sqrt(2 / k))[:, 1:] / np.sqrt(squares / (2 * k[1:] - 2))
    claims = change.log_factor(t, k[1:] / 2, 2 * k[1:] - 2) >= np.log(20)
    signs = np.sign(t)[np.arange(repeats), claims.argmax(1)]
    return np.where(claims.any(1), signs, 0.0)


def test_a_change_that_does_nothing_is_claimed_in_at_most_a_twentieth_however_often_it_is_looked_at():
    signs = first_claims(0.0, 4000, 60, seed=1)
    false = np.mean(signs != 0)
    assert 0.005 < false < 0.05
    assert abs(np.mean(signs)) < 4 * (false / 4000) ** 0.5


def test_a_change_of_four_scatters_is_found_by_six_runs_and_never_the_other_way():
    signs = first_claims(4.0, 500, 6, seed=2)
    assert np.mean(signs == 1) > 0.9 and not (signs == -1).any()


def test_old_and_new_swapped_swaps_better_and_worse():
    one, other = (bs.worth(table(0.002), name).iloc[0] for name in ("old", "new"))
    assert one["p_better"] == pytest.approx(other["p_worse"], rel=1e-9)
    assert one["p_same"] == pytest.approx(other["p_same"], rel=1e-9)
    assert [one["q2.5"], one["q50"]] == pytest.approx([-other["q97.5"], -other["q50"]], rel=1e-9)
    assert one["p_better"] + one["p_worse"] + one["p_same"] == pytest.approx(1.0)


def test_one_number_in_python_on_the_terminal_in_json_and_in_the_figure(tmp_path):
    table().to_csv(tmp_path / "runs.csv", index=False)
    command = ["worth", str(tmp_path / "runs.csv"), "--baseline", "old"]
    result = bs.worth(tmp_path / "runs.csv", "old")
    printed, document = (RUNNER.invoke(app, [*command, *more]).output for more in ((), ("--json",)))
    assert printed.split() == str(result).split()
    (entry,) = json.loads(document)["worth"]
    assert entry == json.loads(json.dumps(result.entries()[0]))
    assert entry["group"] == "new" and entry["direction"] == "better" and entry["gain"]["q50"] == result["q50"].iloc[0]
    axes = result.plot()
    last = axes.table[(axes.table["x"] == 8) & (axes.table["y"] != 0)]
    for column, name in (("y", "q50"), ("low", "q2.5"), ("high", "q97.5")):
        assert last[column].dropna().tolist() == [result[name].iloc[0]]
    drawn = RUNNER.invoke(app, ["plot", *command, "--out", str(tmp_path / "gain.svg")])
    assert drawn.exit_code == 0 and (tmp_path / "gain.svg").exists()


def test_seeds_that_decide_are_those_that_more_runs_with_the_same_gain_need():
    few = table(0.0015, seeds=4)
    of = bs.worth(few, "old").iloc[0]
    more = int(of["more_seeds"])
    assert of["direction"] == "open" and 0 < more < change.MOST
    for extra, direction in ((more - 1, "open"), (more, "better")):
        count, df = 4 + extra, of["df"] + 2 * extra
        error = of["error"] * (4 / count) ** 0.5
        assert change.judge(of["q50"], error, count / 2, df)["direction"] == direction


def test_other_recipes_tell_the_scatter_unless_theirs_is_another():
    runs, rng = table(0.003, seeds=3), np.random.default_rng(5)
    others = {}
    for name, scatter in (("alike", SCATTER), ("wild", 20 * SCATTER)):
        loss = 3.3 + scatter * rng.standard_normal(12)
        others[name] = pd.DataFrame({"recipe": name, "seed": range(12), "val_loss": loss})
    alone = bs.worth(runs, "old").loc["new"]
    alike = bs.worth(pd.concat([runs, others["alike"]]), "old")
    assert alone["df"] == 4 and alike.loc["new", "df"] == 15
    wild = bs.worth(pd.concat([runs, others["wild"]]), "old")
    assert wild.loc["new", "df"] == 4 and wild.loc["new", "scatter"] == pytest.approx(alone["scatter"])
    assert "Scatters differ by recipe" in " ".join(str(wild).split())


def test_a_recipe_that_scatters_more_counts_with_its_own_scatter():
    rng = np.random.default_rng(8)
    losses = {"old": 3.28 + 0.001 * rng.standard_normal(12), "new": 3.279 + 0.0016 * rng.standard_normal(4)}
    runs = pd.concat([pd.DataFrame({"recipe": name, "loss": x}) for name, x in losses.items()])
    of, sds = bs.worth(runs, "old").iloc[0], {name: x.std(ddof=1) for name, x in losses.items()}
    pooled = ((11 * sds["old"] ** 2 + 3 * sds["new"] ** 2) / 14) ** 0.5
    assert sds["new"] > pooled > sds["old"] and of["scatter"] == pytest.approx(pooled) and of["df"] == 14
    assert of["error"] == pytest.approx((pooled**2 / 12 + sds["new"] ** 2 / 4) ** 0.5)


def test_runs_in_flight_count_for_as_much_as_their_forecasts_tell():
    runs = {"recipe": ["old"] * 4 + ["new"] * 4, "loss": [3.281, 3.279, 3.28, 3.2795, 3.271, 3.269, 3.27, 3.2705]}

    def judged(sd):
        of = change.judged(runs | {"sd": [0.0] * 4 + [sd] * 4}, baseline="old", by="recipe", source="runs")
        return of.iloc[0]

    ended, near, far = (judged(sd) for sd in (0.0, 1e-7, 0.05))
    assert near["q2.5"] < ended["q2.5"] and near["direction"] == ended["direction"] == "better"
    assert far["direction"] == "open" and far["p_better"] < near["p_better"]
    assert far["q2.5"] < 0 < far["q50"]
    assert far["error"] == pytest.approx(0.05, rel=0.02)


def test_a_column_for_each_recipe_is_the_same_table_and_a_score_gains_as_a_loss_falls():
    long = table(0.003)
    wide = long.pivot(index="seed", columns="recipe", values="val_loss").reset_index()
    same, of = (bs.worth(x, "old").iloc[0] for x in (long, wide))
    assert same.to_dict() == of.to_dict()
    score = long.assign(accuracy=1 - long["val_loss"]).drop(columns="val_loss")
    of = bs.worth(score, "old")
    assert of["q50"].iloc[0] == pytest.approx(same["q50"]) and of["direction"].iloc[0] == same["direction"]
    assert "gain in accuracy" in str(of) and "nats" not in str(of) and of.entries()[0]["measure"] == "accuracy"
    with pytest.raises(bs.InputError, match=r"runs of .* are at step 1 to 8"):
        bs.worth(wide.rename(columns={"seed": "step"}).assign(step=range(1, len(wide) + 1)), "old")


@pytest.mark.filterwarnings("ignore::bayescaling.errors.TableNote")
def test_logs_that_have_not_ended_are_forecast(tmp_path):
    rng, rows = np.random.default_rng(4), []
    for recipe, level in (("old", 3.0), ("new", 2.7)):
        for seed in range(2):
            steps = np.arange(20, (2000 if (recipe, seed) != ("new", 1) else 1500) + 1, 20)
            loss = level + 6 * (steps + 50.0) ** -0.5 + 0.002 * rng.standard_normal(len(steps))
            rows.append(pd.DataFrame({"recipe": recipe, "seed": seed, "step": steps, "loss": loss}))
            lines = (f"step {step}: loss {x:.5f}\n" for step, x in zip(steps, loss, strict=True))
            (tmp_path / f"{recipe}-{seed}.log").write_text("".join(lines))
    (tmp_path / "long.csv").write_text(pd.concat(rows).to_csv(index=False))
    ended, ahead = bs.worth(str(tmp_path / "*.log"), "old", until=1500), ["--until", "2k", "--json"]
    assert ended.attrs["by"] == "recipe" and not any(ended.attrs["runs"]["sd"])
    assert ended["q50"].item() == pytest.approx(0.3, abs=0.01)
    said = RUNNER.invoke(app, ["worth", str(tmp_path / "long.csv"), "--baseline", "old", *ahead])
    (entry,) = json.loads(said.stdout)["worth"]
    assert entry["gain"]["q50"] == pytest.approx(0.3, abs=0.01) and entry["seeds"] == entry["baseline_seeds"] == 2
    runs = bs.worth(tmp_path / "long.csv", "old", until=2000).attrs["runs"]
    assert [sd > 0 for sd in runs["sd"]] == [False, False, False, True]
    assert runs["loss"][-1] == pytest.approx(2.7 + 6 * 2050**-0.5, abs=4 * runs["sd"][-1])


@pytest.mark.parametrize(
    ("change_of", "options", "message"),
    [
        (lambda x: x[x["recipe"] == "old"], {}, 'all runs are of recipe "old"'),
        (lambda x: x[x["seed"] == 0], {}, "there is one run of each recipe"),
        (lambda x: x.assign(val_loss=3.28), {}, "losses are equal in each recipe"),
        (lambda x: x, {"baseline": "odl"}, 'no column has "odl"; name the column of recipes'),
        (lambda x: x, {"baseline": "odl", "group": "recipe"}, 'baseline: recipe "odl" is unknown; did you mean "old"'),
        (lambda x: x, {"group": "recip"}, 'column "recip" is unknown; did you mean "recipe"'),
        (lambda x: x.assign(parameters=[1e8, 2e8] * 8), {}, 'column "parameters" has 2 values.*fit --group'),
        (lambda x: x.assign(step=[900, 1000] * 8), {}, 'runs of "new" are at step 900 to 1000'),
        (lambda x: x.rename(columns={"val_loss": "y"}), {}, "no column of losses among.*--column loss=NAME"),
        (lambda x: x.assign(val_loss=[*x["val_loss"][:-1], np.nan]), {}, 'row 16 has no loss in column "val_loss"'),
        (lambda x: x.assign(recipe=[*x["recipe"][:-1], None]), {}, "row 16 has no recipe"),
        (lambda x: x, {"compute": 1e20}, "leave out compute"),
    ],
)
def test_what_cannot_be_compared_is_one_line_with_the_way_out(change_of, options, message):
    with pytest.raises(bs.InputError, match=message) as refusal:
        bs.worth(change_of(table()).reset_index(drop=True), **{"baseline": "old"} | options)
    assert "\n" not in str(refusal.value)


def test_the_command_refuses_options_of_fits_in_one_line(tmp_path):
    table().to_csv(tmp_path / "runs.csv", index=False)
    for more, message in ((["--within", "1e19:1e20"], "--within: for fits"), (["--baseline", "odl"], "no column has")):
        said = RUNNER.invoke(app, ["worth", str(tmp_path / "runs.csv"), "--baseline", "old", *more])
        assert said.exit_code != 0 and message in str(said.exception)
