"""Reports on tables and fits of the user."""

import html
import json
import re
import shlex

import bayescaling as bs
import numpy as np
import pandas as pd
import pytest
from bayescaling.inference.comparison.differences import differences, is_apart
from bayescaling.inference.fitted import results_of
from bayescaling.inference.intervals import parameters
from bayescaling.inference.quoted import quote_draws
from bayescaling.inference.words import size as sizes_of
from bayescaling.plots.style import PUBLISHED as SOURCES
from bayescaling.reports.cache import store
from bayescaling.reports.pages.own import build
from bayescaling.reports.pages.own.custom import best_and_rivals

SHORT = {"draws": 200, "tune": 300, "chains": 2}
PUBLISHED = tuple(SOURCES)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def table(tmp_path_factory, runs):
    """Write a custom table, whose column, source and groups have names that a page must not run."""
    path = tmp_path_factory.mktemp("own") / "runs <b>&.csv"
    frame = runs.iloc[::2][["parameters", "tokens", "loss"]].reset_index(drop=True)
    frame[HOSTILE] = np.where(np.arange(len(frame)) % 2, "=cmd()", "<img src=x onerror=alert(1)>")
    frame.loc[::2, "loss"] *= 1.05
    frame.to_csv(path, index=False)
    return path


def run(*arguments, command="report"):
    """Run a command and return its exit status and what it printed."""
    import contextlib
    import io
    import sys
    import warnings

    from bayescaling.commands.cli import main

    printed, errors = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(),
        pytest.raises(SystemExit) as left,
    ):
        warnings.simplefilter("default")
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        patch.setattr(sys, "argv", ["bayescaling", command, *map(str, arguments)])
        main()
    return left.value.code, printed.getvalue(), errors.getvalue()


@pytest.fixture(scope="module")
def report(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("own") / "report"
    options = ["--draws", 200, "--tune", 300, "--chains", 2, "--json", "--backdrop", "--where", "loss > 2"]
    code, printed, errors = run("--data", table, "--law", "chinchilla", "--law", "coupled", "--out", out, *options)
    assert code == 0, errors
    return out, json.loads(printed)


@pytest.fixture
def first_screen(well_made, card_counts):
    """A function that checks the first screen of a report and returns its answers and the codes of its figures."""

    def check(out, document, *, figures, budget=False):
        text = (out / "index.html").read_text(encoding="utf-8")
        page = well_made(text)
        assert len(page.of("li", class_="card")) == len(document["answers"]) > 0
        for answer in document["answers"]:
            words, numbers = card_counts(answer)
            assert words <= 35 and numbers <= 9, answer
        front = text[text.index('<div class="front">') : text.index('<section class="part"')]
        assert front.count('<figure class="drawn"') == figures
        assert bool(page.of("form", class_="budget")) == budget == (document["optimum"] is not None)
        plain = html.unescape(re.sub("<[^>]*>", "", front)).replace("\xa0", " ")
        assert all(answer["answer"] in plain and answer["strength"] in plain for answer in document["answers"])
        (title,) = page.of("h1")
        rows = {law["rows"] for law in document["laws"].values()}
        assert all(name in title["text"] for name in document["provenance"]["data"])
        assert all(re.search(rf", {count:,} [a-z]", title["text"]) for count in rows)
        assert not [source for source in PUBLISHED if source in plain]
        codes = [html.unescape(code) for code in re.findall("<pre[^>]*>(.*?)</pre>", text, re.S)]
        return document["answers"], codes

    return check


def test_a_table_of_runs_has_the_first_screen_of_the_built_in_tables(report, first_screen, monkeypatch):
    out, document = report
    (size, trust), codes = first_screen(out, document, figures=3, budget=True)
    best = max(document["laws"], key=lambda name: document["laws"][name]["elpd_loo"])
    fit = bs.open(out / "posteriors" / f"{best}.nc")
    largest = float((6 * fit.rows["parameters"] * fit.rows["tokens"]).max())
    draws = fit.allocate(10 * largest)["parameters"]
    low, middle, high = (sizes_of(x) for x in np.quantile(draws, [0.025, 0.5, 0.975]))
    assert size["number"] == f"{middle} [{low}, {high}] parameters" and size["number"] in size["answer"]
    assert re.fullmatch(r"\S+ tokens; 10 times the largest run\.", size["doubt"])
    other = next(name for name in document["laws"] if name != best)
    compared = document["comparison"]["models"][other]
    apart = compared["elpd_diff"] < -max(2 * compared["dse"], 4)
    assert (f"under the {other} law, which predicts about as well" in size["answer"]) == (not apart)
    grid = document["optimum"]
    assert grid["law"] == best and len(grid["rivals"]) == (not apart)
    place = len(grid["log10_compute"]) // 2
    again = np.quantile(fit.allocate(10.0 ** grid["log10_compute"][place])["tokens"], [0.025, 0.5, 0.975])
    np.testing.assert_allclose(grid["tokens"][place], np.log10(again), atol=2e-3)
    least = np.log10(float((6 * fit.rows["parameters"] * fit.rows["tokens"]).min()))
    assert len(grid["loss"]) == len(grid["tokens"]) and 0 < least - grid["log10_compute"][0] <= 2
    entry = document["rollout"]
    assert entry["fitted"] + entry["predicted"] == len(fit.rows) and 0 <= entry["coverage_90"] <= 1
    assert f"in compute: of {entry['predicted']} larger runs, {entry['coverage_90']:.0%} [" in trust["answer"]
    ahead = largest / entry["cutoff"]
    assert (
        trust["facts"]["decades"] == pytest.approx(np.log10(ahead)) and f"a factor of {ahead:.2g} " in trust["answer"]
    )
    word = {"strong": "Yes, ", "fair": "Mostly, "}.get(trust["grades"]["share"], ("No, ", "Not settled, "))
    assert trust["answer"].startswith(word) and trust["strength"] != "strong"
    # Figures reach the budget of the card, and the code under one draws it, in the folder of the report.
    assert sum(finding.startswith(size["answer"][: len("At 1.23e22 FLOP")]) for finding in document["findings"]) == 3
    monkeypatch.chdir(out)
    text = (out / "index.html").read_text(encoding="utf-8")
    for code in codes:
        if "rollout" not in code:
            *lines, last = code.splitlines()
            scope = {}
            exec("\n".join(lines), scope)
            assert html.escape(eval(last, scope).finding, quote=False) in text.replace("&#39;", "'")
    assert {re.search(r"bs\.(plot_\w+)\(", code)[1] for code in codes} == {
        "plot_fit", "plot_valley", "plot_rollout", "plot_compare", "plot_ppc"
    }  # fmt: skip


def test_a_law_that_the_comparison_cannot_tell_apart_is_a_rival():
    elpd = pd.DataFrame({"best": [1.0, 1.0, 1.0], "near": [0.5, 0.6, 0.5], "far": [-2.0, -2.1, -2.0]})
    table = differences(elpd).sort_values("elpd_diff", ascending=False)
    assert (table["elpd_diff"] < -2 * table["dse"])[["near", "far"]].all()
    assert is_apart(table["elpd_diff"], table["dse"]).to_dict() == {"best": False, "near": False, "far": True}
    assert best_and_rivals(dict.fromkeys(elpd), table) == ("best", ["near"])


def test_the_numbers_are_those_of_the_saved_fits(report):
    out, document = report
    assert document == json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(document["laws"]) == ["chinchilla", "coupled"] and set(document["stacking"]) == set(document["laws"])
    for name, entry in document["laws"].items():
        fit = bs.open(out / "posteriors" / f"{name}.nc")
        assert entry["rows"] == len(fit.rows) and (fit.rows["loss"] > 2).all()
        assert entry["parameters"] == parameters(fit)
        budgets = [budget for budget in document["allocation"] if budget["law"] == name]
        again = fit.allocate([budget["compute"] for budget in budgets])
        for i, budget in enumerate(budgets):
            assert budget["parameters"]["q50"] == pytest.approx(float(np.quantile(again["parameters"][..., i], 0.5)))
    assert {"isoflop", "frontier", "huber_free_scale"} <= set(document["point_estimates"])


def test_the_groups_that_the_table_pools_are_found_and_named(report):
    _, document = report
    assert f"means by column {HOSTILE}" in document["laws"]["chinchilla"]["verdict"]["rejected_by"]


def test_text_of_a_table_is_shown_and_not_run(report):
    text = (report[0] / "index.html").read_text(encoding="utf-8")
    body = text[text.index("<body>") :]
    assert HOSTILE not in body and "<img src=x" not in body and "runs <b>&.csv" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body and "runs &lt;b&gt;&amp;.csv" in body


def test_the_page_says_what_the_document_says(report):
    out, document = report
    text = (out / "index.html").read_text(encoding="utf-8")
    for entry in document["laws"].values():
        assert f"{entry['elpd_loo']:.1f} ± {entry['elpd_se']:.1f}" in text
    assert "on chinchilla_runs" in text  # the backdrop
    assert len(re.sub(r"(?s)<(script|style|svg|pre).*?</\1>|<[^>]+>", " ", text).split()) < 1650
    assert "On reading: where loss &gt; 2 left out " in text


def test_fits_that_saw_other_rows_are_shown_and_not_compared(fitter, runs, tmp_path, quiet):
    fits = {"all": fitter.fit(runs, seed=1, **SHORT), "some": fitter.fit(runs.iloc[40:], seed=1, **SHORT)}
    document = bs.report(tmp_path / "two", fits, compute=2e23, published=True)
    assert document["answers"][0]["answer"].startswith("At 2e23 FLOP, ")
    assert sum(finding.startswith("At 2e23 FLOP, ") for finding in document["findings"]) == 3
    assert PUBLISHED[0] in (tmp_path / "two" / "index.html").read_text(encoding="utf-8")
    assert document["optimum"]["log10_compute"][-1] >= max(np.log10(at["compute"]) for at in document["allocation"])
    assert "stacking" not in document and set(document["laws"]) == {"all", "some"}
    assert "Not compared" in (tmp_path / "two" / "index.html").read_text(encoding="utf-8")


def test_evaluations_and_counts_have_pages_too(progress_fitter, lengths_fit, tmp_path, quiet, first_screen):
    fits = {f"progress-{k}": progress_fitter.fit(law=bs.laws.Progress(k), seed=1, **SHORT) for k in (7, 16)}
    document = bs.report(tmp_path / "progress", fits)
    rate = bs.progress.compute_equivalent_gain(fits["progress-7"]).values
    doubling = document["laws"]["progress-7"]["tables"]["doubling_months"]["all"]
    assert doubling["p_progress"] == (rate > 0).mean()
    assert doubling["q50"] == pytest.approx(12 * np.log(2) / np.median(rate), rel=0.02)
    text = (tmp_path / "progress" / "index.html").read_text(encoding="utf-8")
    assert "What do these evaluations show?" in text and f"{doubling['q50']:.1f}" in text
    (answer,), codes = first_screen(tmp_path / "progress", document, figures=1)
    assert answer["answer"].startswith("Algorithmic progress halves the compute for a given loss every ")
    assert "bs.plot_doubling(fits, " in codes[0]
    with pytest.raises(bs.InputError, match="one of counts; make a report for each kind"):
        bs.report(tmp_path / "both", fits | {"lengths": lengths_fit})
    with pytest.raises(bs.InputError, match="compute: a report on counts has no budget"):
        bs.report(tmp_path / "budget", {"lengths": lengths_fit}, compute=1e22)
    document = bs.report(tmp_path / "counts", {"lengths": lengths_fit})
    cards, codes = first_screen(tmp_path / "counts", document, figures=1)
    assert all(f"halved at {card['number']} digits" in card["answer"] for card in cards) and "plot_lengths" in codes[0]
    assert "What do these counts show?" in (tmp_path / "counts" / "index.html").read_text(encoding="utf-8")


def test_scores_have_a_page_too(scores_design, tmp_path, quiet, not_in_results, first_screen):
    table = type(scores_design)(seed=20, models=24).table
    laws = [bs.laws.Scores(), bs.laws.Scores(pace="linear")]
    document = bs.report(tmp_path, laws=laws, table=table, seed=1, **SHORT)
    plain, dated = document["laws"].values()
    assert set(plain["tables"]) == {"ranks"} and "all" in dated["tables"]["fall_of_compute"]
    fit = bs.open(tmp_path / "posteriors" / "scores.nc")
    best = next(iter(plain["tables"]["ranks"]))
    capability = bs.scores.capabilities(fit).sel(model=best)
    assert plain["answers"][f"capability of {best}, logits"]["q50"] == pytest.approx(float(capability.median()))
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    missing, count = not_in_results(text, document)
    assert "What do these scores show?" in text and not missing and count > 24
    first_screen(tmp_path, document, figures=1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["a.nc", "--data", "t.csv"], "FILE.nc and --data"),
        (["--law", "coupled"], "--law: only for a custom table; name it with --data"),
        (["--published"], "--published: only for a custom table"),
        (["--where", "loss > 2", "--unit", "loss=bits"], "--unit, --where: only for a custom table"),
        (["a.nc", "--where", "loss > 2", "--draws", "1000"], "--draws, --where: FILE.nc holds what was fitted"),
        (["a.nc", "--group", "corpus"], "--group: FILE.nc holds what was fitted"),
        (["--shared", "alpha"], "--shared: only for a custom table"),
        (["--data", "t.csv", "--page", "chinchilla"], "--page: only for the built-in tables"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(arguments, message):
    code, printed, errors = run(*arguments)
    assert code == 2 and not printed and message in errors and errors.count("\n") == 1


def test_a_report_on_a_table_is_resumed_and_keeps_its_verdicts(runs, tmp_path, own_cache, quiet, monkeypatch):
    store.clear()
    law, settings, table = bs.laws.Chinchilla(), {"seed": 1} | SHORT, runs.iloc[::2].reset_index(drop=True)
    first = bs.report(tmp_path / "first", laws=[law], table=table, **settings)
    monkeypatch.setattr(build, "fit", refused)
    again = bs.report(tmp_path / "again", laws=[law], table=table, **settings)
    assert again["laws"] == first["laws"] and again["seconds"] == first["seconds"]
    fit = bs.open(tmp_path / "again" / "posteriors" / "chinchilla.nc")
    assert results_of(fit).get("verdict")["verdict"] == first["laws"]["chinchilla"]["verdict"]["verdict"]
    other = bs.laws.Chinchilla(priors={"alpha": "LogNormal(-1, 0.4)"})
    for changed in ([law, table, {"seed": 2}], [law, table, {"fresh": True}], [law, table[1:], {}], [other, table, {}]):
        with pytest.raises(AssertionError, match="fitted again"):
            bs.report(tmp_path / "other", laws=[changed[0]], table=changed[1], **settings | changed[2])


def refused(*_, **__):
    raise AssertionError("fitted again")


@pytest.fixture(scope="module")
def grouped(table, tmp_path_factory):
    """A report on groups whose names a page must not run, and its fit."""
    out = tmp_path_factory.mktemp("groups") / "report"
    shared = "beta,nu_minus_one,sigma_parameters,sigma_tokens"
    options = ["--law", "chinchilla", "--group", HOSTILE, "--shared", shared, "--draws", 200, "--tune", 300, "--json"]
    code, printed, errors = run("--data", table, "--out", out, "--chains", 2, *options)
    assert code == 0, errors
    (path,) = (out / "posteriors").glob("*.nc")
    return out, json.loads(printed), bs.open(path)


def test_groups_of_ones_own_table_have_quantities_and_optima_of_their_own(grouped):
    out, document, fit = grouped
    (entry,) = document["laws"].values()
    groups, posterior = entry["groups"], fit["posterior"]
    assert groups["by"] == HOSTILE and sum(groups["rows"].values()) == len(fit.rows)
    assert list(groups["spread"]) == ["alpha"] and "beta" not in groups["quantities"]
    for group in groups["rows"]:
        exponent = posterior["exponent_parameters"].sel(group=group, drop=True)
        exponent = quote_draws(fit, exponent)
        alpha = groups["exponent"]["by_group"][group]
        assert alpha["q50"] == pytest.approx(float(np.quantile(exponent, 0.5)))
        assert f"{alpha['q50']:.3f} [{alpha['q2.5']:.3f}, {alpha['q97.5']:.3f}]" in (out / "index.html").read_text(
            "utf-8"
        )
        assert entry["robust"][f"alpha[{group}]"]["posterior_sd"] > 0
        allocations = [allocation for allocation in document["allocation"] if allocation["group"] == group]
        runs = fit.rows
        runs = runs[runs[HOSTILE] == group]
        flop = 6 * runs["parameters"] * runs["tokens"]
        assert allocations[0]["compute"] == pytest.approx(flop.max()) and allocations[0]["extrapolation"] == 0
        at = fit.allocate(allocations[1]["compute"], group=group)
        assert allocations[1]["parameters"]["q50"] == pytest.approx(float(np.quantile(at["parameters"], 0.5)))
    typical = posterior["beta"] / (posterior["typical_alpha"] + posterior["beta"])
    quoted = quote_draws(fit, typical)
    assert groups["exponent"]["typical"]["q50"] == pytest.approx(float(np.quantile(quoted, 0.5)))
    assert groups["exponent"]["new"]["sd"] > float(typical.std())  # without what the rows add to its width


def test_each_group_has_a_card(grouped, first_screen):
    out, document, _ = grouped
    cards, _ = first_screen(out, document, figures=3)
    (entry,) = document["laws"].values()
    assert [card["question"] for card in cards[:-1]] == [
        f"How big should the next model of {name} be?" for name in entry["groups"]["rows"]
    ]


def test_names_of_groups_are_shown_and_not_run(grouped):
    out, _, _ = grouped
    text = (out / "index.html").read_text(encoding="utf-8")
    body = re.sub(r"<script.*?</script>", "", text[text.index("<body>") :], flags=re.DOTALL)
    assert "<img src=x" not in body and "&amp;lt;" not in body and "&lt;img src=x" in body


def test_a_fit_of_groups_is_reported_and_has_no_backdrop(grouped, tmp_path, quiet):
    _, document, fit = grouped
    with pytest.raises(bs.InputError, match="to compare with its groups; leave it out"):
        bs.report(tmp_path / "no", {"mine": fit}, backdrop=True)
    assert not (tmp_path / "no").exists()
    again = bs.report(tmp_path / "again", {"mine": fit})
    assert again["laws"]["mine"]["groups"] == next(iter(document["laws"].values()))["groups"]


def test_laws_of_another_kind_than_the_table_are_refused(table, tmp_path):
    for arguments in (["--data", table, "--law", "progress-7"], ["--data", tmp_path / "missing.csv"]):
        code, _, errors = run(*arguments, "--out", tmp_path / "new")
        assert code == 2 and str(arguments[1].name) in errors and errors.count("\n") == 1
        assert not (tmp_path / "new").exists()


REFUSED = {  # what is wrong with a table of 16 runs, and the words of the options that fix it
    "a blank": (lambda runs: runs.assign(loss=runs["loss"].where(runs.index != 3)), r"\((--drop-missing)\)"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_table_that_fit_refuses_is_refused_alike_with_a_command_that_works(fault, tmp_path, monkeypatch, quiet):
    monkeypatch.chdir(tmp_path)
    change, fix = REFUSED[fault]
    sizes, tokens = map(np.ravel, np.meshgrid(np.geomspace(1e7, 1e9, 4), np.geomspace(1e9, 1e11, 4)))
    losses = (1.8 + 400 / sizes**0.34 + 400 / tokens**0.28) * np.exp(0.003 * np.random.default_rng(0).normal(size=16))
    runs = pd.DataFrame({"parameters": sizes, "tokens": tokens, "loss": losses})
    change(runs).to_csv("mine.csv", index=False)
    code, _, printed = run("--data", "mine.csv", command="fit")
    again, _, reported = run("--data", "mine.csv", "--out", "new")
    assert code == again == 2 and reported.replace("report --law", "fit") == printed and printed.count("error: ") == 1
    assert not (tmp_path / "new").exists()
    words = shlex.split(re.search(fix, reported.strip())[1])
    table = [] if "--data" in words else ["--data", "mine.csv"]
    code, _, errors = run(*table, *words, "--draws", 100, "--tune", 200, "--chains", 2, "--out", "new")
    assert code == 0 and (tmp_path / "new" / "index.html").exists(), errors


def test_a_table_of_any_columns_has_a_page_in_its_own_words(tmp_path, quiet):
    n, rng = np.geomspace(1e3, 1e6, 12), np.random.default_rng(0)
    error = (0.05 + 6 * n**-0.4) * np.exp(0.02 * rng.standard_normal(12))
    pd.DataFrame({"n_images": n, "test_error": error, "loss": 1.0}).to_csv(tmp_path / "mine.csv", index=False)
    code, _, errors = run("--data", tmp_path / "mine.csv", "--draws", 300, "--tune", 300, "--out", tmp_path / "new")
    assert code == 0, errors
    document = json.loads((tmp_path / "new" / "results.json").read_text(encoding="utf-8"))
    (law, entry), ahead = next(iter(document["laws"].items())), document["answers"][0]
    assert law == "test_error ~ E + A * n_images**-alpha"
    assert entry["at_medians"].startswith("test_error = 0.") and entry["ranges"] == "n_images from 1e3 to 1e6"
    assert ahead["question"] == "test_error at n_images = 1e7" and ahead["facts"]["decades"] == pytest.approx(1)
    text = re.sub(
        r"<(style|script).*?</\1>|<[^>]+>", " ", (tmp_path / "new" / "index.html").read_text("utf-8"), flags=re.S
    )
    page = text[: text.rindex("How to cite")].replace("\N{MINUS SIGN}", "-")
    assert entry["at_medians"] in page and not re.search(r"\b(tokens|nats|Cross-entropy|largest run)\b", page)


def test_an_option_that_no_law_has_is_refused(table, tmp_path):
    code, _, errors = run("--data", table, "--option", "run_effect=true", "--out", tmp_path / "new")
    assert code == 2 and "run_effects" in errors and errors.count("\n") == 1


def test_counts_of_one_run_have_a_report(tmp_path, quiet):
    counts = bs.load("arithmetic_runs")
    one = counts[counts["run"] == counts["run"].iloc[0]]
    document = bs.report(tmp_path / "one", laws=["lengths"], table=one, draws=100, tune=200, chains=2)
    entry = document["laws"]["lengths"]
    assert entry["elpd_se"] is None
    assert f"{abs(entry['elpd_loo']):.1f}" in (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
