import subprocess
import sys

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.datasets import KINDS, catalogue, load, notes, sha256
from bayescaling.datasets.catalogue import FOLDER, TABLES
from bayescaling.datasets.schemas import check
from scipy.optimize import curve_fit

ROWS = {
    "chinchilla_runs": 245,
    "chinchilla_models": 50,
    "small_lm_runs": 495,
    "small_lm_rates": 180,
    "small_routed_lms": 48,
    "schedule_curves": 6265,
    "arithmetic_runs": 1728,
    "arithmetic_gpu": 4600,
    "arithmetic_offsets": 520,
    "arithmetic_equals": 480,
    "arithmetic_small": 288,
    "data_constrained_runs": 308,
    "overtraining_runs": 104,
    "routed_lms": 223,
    "speedrun_records": 90,
    "speedrun_runs": 1504,
    "regmix": 1088,
    "gemstones": 619,
    "lm_progress": 231,
    "attribution_systems": 6,
    "eci_scores": 2249,
    "eci_models": 222,
    "rosetta_scores": 1324,
    "rosetta_models": 179,
    "published": 373,
    "training_compute": 440,
    "weirdml": 7395,
    "weirdml_models": 87,
    "weirdml_times": 85,
}


def test_catalogue_lists_every_table_with_its_rows():
    listed = catalogue().set_index("name")
    assert listed["rows"].to_dict() == ROWS
    assert not listed.isna().any(axis=None)
    assert (listed.map(str).map(len) > 0).all(axis=None)


@pytest.mark.parametrize("name", ROWS)
def test_load_gives_the_listed_rows_and_columns(name):
    frame = load(name)
    assert len(frame) == ROWS[name]
    assert list(frame.columns) == list(TABLES[name].columns)
    assert frame.index.equals(pd.RangeIndex(ROWS[name]))
    assert frame.attrs["source"] == name


@pytest.mark.parametrize("name", ROWS)
def test_notes_tell_licence_and_columns(name):
    text = notes(name)
    assert text.startswith("# ")
    assert "licence" in text.lower() or "CC-BY" in text
    assert all(f"- `{column}`: " in text for column in load(name).columns)


@pytest.mark.parametrize("reach", [load, notes])
def test_unknown_table_names_the_tables_and_the_closest(reach):
    with pytest.raises(bs.InputError, match='did you mean "chinchilla_runs"') as error:
        reach("chinchila_runs")
    assert all(name in str(error.value) for name in ROWS)
    assert len(str(error.value).splitlines()) == 1


def test_chinchilla_runs_hold_together():
    runs = load("chinchilla_runs")
    np.testing.assert_allclose(6 * runs["parameters"] * runs["tokens"], runs["training_flop"], rtol=1e-12)
    moves = (runs["parameters_digitised"] / runs["parameters"] - 1).abs()
    assert moves.median() < 0.01
    assert moves.max() < 0.01
    np.testing.assert_array_equal(runs["parameters_nonembedding"] + 32000 * runs["d_model"], runs["parameters"])
    assert (runs["parameters_nonembedding"] > 0).all()


def test_every_run_has_a_published_configuration():
    models = load("chinchilla_models")
    published = set(zip(models["parameters"], models["d_model"], strict=True))
    runs = load("chinchilla_runs")
    assert set(zip(runs["parameters"], runs["d_model"], strict=True)) <= published


def test_data_constrained_runs_are_those_of_the_published_fit():
    """Equations 5 and 6 of Muennighoff et al. (2023) at their constants, with the figures of their notebook."""
    table = load("data_constrained_runs")
    assert table["kind"].value_counts().to_dict() == {"base": 230, "seed": 64, "dedup": 12, "opt": 2}
    assert (table["unique_tokens"] <= table["tokens"]).all()
    np.testing.assert_array_equal(table["training_flop"], 6 * table["parameters"] * table["tokens"])
    assert table["run"].is_unique
    runs = table[table["in_published_fit"] == 1]
    assert len(runs) == 182
    assert set(runs["kind"]) == {"base"}
    assert runs["scalebench_split"].value_counts().to_dict() == {"train": 161, "test": 21}
    n, d, u = (runs[name].to_numpy() for name in ("parameters", "tokens", "unique_tokens"))
    a, b, e, exponent, decay_d, decay_n = 6.255414, 7.3049974, 0.6254804, 0.3526596, 15.387756, 5.309743
    # With alpha = beta the optimal parameters of u tokens are G squared times u.
    optimal = np.minimum(n, u * np.exp((a - b) / exponent))
    data = u * (1 + decay_d * -np.expm1(-(d / u - 1) / decay_d))
    size = optimal * (1 + decay_n * -np.expm1(-(n / optimal - 1) / decay_n))
    loss = np.exp(e) + np.exp(a) * size**-exponent + np.exp(b) * data**-exponent
    error = np.abs(np.log(loss / runs["loss"]))
    objective = np.where(error <= 1e-3, error**2 / 2, 1e-3 * (error - 5e-4)).sum()
    assert objective == pytest.approx(0.015825937, rel=1e-6)
    residual = ((loss - runs["loss"]) ** 2).sum() / ((runs["loss"] - runs["loss"].mean()) ** 2).sum()
    assert 1 - residual == pytest.approx(0.77220, abs=5e-6)


def test_the_runs_that_the_published_fit_left_out_are_the_worst():
    base = load("data_constrained_runs").query("kind == 'base'")
    left_out = base[base["in_published_fit"] == 0]
    assert len(left_out) == 48
    assert left_out["loss"].max() == base["loss"].max() == 11.01838


def test_seeds_of_one_cell_differ_little():
    table = load("data_constrained_runs")
    cells = table[table["kind"] == "seed"].groupby(["parameters", "tokens", "unique_tokens"])["loss"]
    assert (cells.size() == 4).all()
    assert len(cells) == 16
    assert cells.std().median() == pytest.approx(0.00395, abs=5e-6)
    assert cells.std().max() == pytest.approx(0.02628, abs=5e-6)


def test_sizes_of_gemstones_follow_from_their_shapes():
    table = load("gemstones")
    width, depth = table["width"], table["depth"]
    blocks = table["parameters"] - 2 * 50304 * width - (2 * depth + 1) * width
    np.testing.assert_allclose(blocks / (depth * width**2), np.where(width == 384, 44 / 3, 15), rtol=1e-12)
    assert (table["shape"] == width.astype(str) + "x" + depth.astype(str)).all()
    assert table["series"].value_counts().to_dict() == {"hot": 220, "half learning rate": 200, "cooldown": 199}
    # Cooling down helps at equal shape and nearly equal tokens; the published exponents of N* are near one half.
    last = table[table["tokens"] > 0.98e11].groupby(["shape", "series"])["loss"].min().unstack().dropna()
    assert (last["cooldown"] < last["hot"] - 0.03).all()


def test_overtraining_runs_foretell_as_the_paper_says():
    """Equation 4 of Gadre et al. (2024) on the five runs of its table 2, with the errors of its figure 1, left."""
    table = load("overtraining_runs")
    assert table["corpus"].value_counts().to_dict() == {"RedPajama": 35, "RefinedWeb": 35, "C4": 34}
    np.testing.assert_allclose(table["tokens"] / table["parameters"], table["token_multiplier"], rtol=1e-12)
    assert (table["loss_lower95"] < table["loss"]).all() and (table["loss"] < table["loss_upper95"]).all()
    assert (table["parameters_nonembedding"] < table["parameters"]).all()
    assert table["run"].is_unique
    runs = table[table["corpus"] == "RedPajama"]
    optimal = (runs["token_multiplier"] == 20) & (runs["parameters"] < 1e9)
    over = (runs["token_multiplier"] == 320) & (runs["parameters"] < 2e7)
    five = runs[optimal | over]
    assert len(five) == 5

    def law(sizes, a, b, exponent, floor):
        return floor + a * sizes[0] ** -exponent + b * 6 ** (-exponent / 2) * sizes[1] ** -exponent

    def sizes(rows):
        return rows["parameters"].to_numpy(), rows["tokens"].to_numpy()

    constants, _ = curve_fit(law, sizes(five), five["loss"], p0=(100, 100, 0.3, 2), maxfev=10000)
    held_out = runs.set_index("run").loc[["rpj-open_lm_1b-32.0", "rpj-open_lm_7b-1.0"]]
    errors = np.abs(law(sizes(held_out), *constants) / held_out["loss"] - 1)
    np.testing.assert_allclose(errors, [0.007103, 0.007320], atol=1e-6)


def test_lm_progress_is_the_table_of_the_paper():
    table = load("lm_progress")
    assert table["benchmark"].value_counts().to_dict() == {"wt103": 103, "ptb": 80, "wt2": 48}
    assert table["transformer"].sum() == 104
    assert table["paper"].nunique() == 144
    assert (table.groupby("paper_id")["paper"].nunique() == 1).all()
    assert table["epochs"].notna().sum() == 152
    assert table["vocabulary"].notna().sum() == 185
    dates = table["publication_date"].dt
    np.testing.assert_allclose(table["year"], dates.year + (dates.day_of_year - 1) / 365, rtol=1e-12)


def test_published_estimates_lie_in_their_intervals():
    table = load("published").dropna(subset=["low", "high"])
    assert len(table) == 33
    assert ((table["low"] <= table["estimate"]) & (table["estimate"] <= table["high"])).all()


def test_numbers_are_read_to_the_last_digit():
    path = FOLDER / "lm_progress.csv"
    written = pd.read_csv(path, dtype=str)
    for column in ["year", "perplexity", "parameters"]:
        assert load("lm_progress")[column].tolist() == [float(cell) for cell in written[column]]


@pytest.mark.parametrize(
    ("name", "kind", "column", "value"),
    [
        ("chinchilla_runs", "runs", "loss", -1.0),
        ("chinchilla_runs", "runs", "loss_halfwidth", -0.1),
        ("chinchilla_runs", "runs", "d_model", np.inf),
        ("lm_progress", "evaluations", "perplexity", 1.0),
        ("lm_progress", "evaluations", "transformer", 2),
        ("lm_progress", "evaluations", "epochs", 0.0),
        ("data_constrained_runs", "runs", "unique_tokens", 0.0),
    ],
)
def test_schemas_refuse_what_cannot_be(name, kind, column, value):
    frame = load(name)
    frame.loc[3, column] = value
    with pytest.raises(bs.InputError, match=rf'row 3 .*column "{column}"') as error:
        check(frame, KINDS[kind], label=name)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["chinchilla_models", "lm_progress", "attribution_systems"])
def test_fingerprint_changes_with_any_value(name):
    frame = load(name).head(6)
    original = sha256(frame)
    seen = {original}
    for row in range(len(frame)):
        for column in frame.columns:
            changed = frame.copy()
            value = frame.at[row, column]
            if isinstance(value, str):
                changed.at[row, column] = value + " "
            elif isinstance(value, pd.Timestamp):
                changed.at[row, column] = value + pd.Timedelta(days=1)
            elif isinstance(value, float):
                changed.at[row, column] = 1.0 if np.isnan(value) else np.nextafter(value, np.inf)
            else:
                changed.at[row, column] = value + 1
            seen.add(sha256(changed))
    assert len(seen) == 1 + frame.size
    assert sha256(frame) == original


def test_fingerprint_is_of_contents_alone():
    frame = load("lm_progress")
    fingerprint = sha256(frame)
    reindexed = frame.set_axis(range(1000, 1231)).rename_axis("run")
    reindexed.attrs = {}
    assert sha256(reindexed) == fingerprint
    assert sha256(frame[frame.columns[::-1]]) == fingerprint
    assert sha256(frame.astype({"paper_id": "int32", "transformer": "Int64", "paper": object})) == fingerprint
    assert sha256(frame.astype({"publication_date": "datetime64[s]"})) == fingerprint
    assert sha256(frame[::-1]) != fingerprint
    assert sha256(frame.rename(columns={"year": "Year"})) != fingerprint
    assert sha256(frame.astype({"transformer": bool})) != fingerprint
    assert sha256(frame.head(0)) != sha256(frame.head(0).drop(columns="year"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["1", "2"], [1, 2]),
        ([1, 2], [1.0, 2.0]),
        (["ab", "c"], ["a", "bc"]),
        ([None, "x"], ["", "x"]),
        ([None, "x"], ["None", "x"]),
    ],
)
def test_fingerprint_tells_kinds_and_boundaries_apart(one, other):
    assert sha256(pd.DataFrame({"a": one})) != sha256(pd.DataFrame({"a": other}))


def test_fingerprint_takes_missing_and_zeros_alike():
    one = pd.DataFrame({"a": [0.0, np.nan], "b": pd.Series([None, "x"], dtype=object)})
    other = pd.DataFrame({"a": [-0.0, -np.nan], "b": pd.Series([np.nan, "x"], dtype=object)})
    assert sha256(one) == sha256(other)


def test_fingerprint_stays_what_it_was():
    frame = pd.DataFrame({"parameters": [1e6, 2e6], "d_model": [64, 128], "name": ["a", None], "flag": [True, False]})
    assert sha256(frame) == "95b07675b2c0680cf950e8de7fe593f9ec439ccfe7320bdf17d37bf3152d3259"


def test_import_loads_no_pandera():
    code = "import sys, bayescaling.datasets as d; d.catalogue(); sys.exit('pandera' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
