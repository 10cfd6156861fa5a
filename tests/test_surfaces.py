"""One question has one answer on every surface: what a fit prints, commands, JSON, methods, figures and the page."""

import html
import json
import re

import bayescaling as bs
import pytest
from bayescaling.commands.cli import app
from bayescaling.inference.intervals import ends, summary
from bayescaling.inference.summary import answers
from bayescaling.inference.words import digits, durations, months, plain, sizes
from typer.testing import CliRunner

pytestmark = pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning", "ignore::bayescaling.errors.TableNote")

BUDGET, RUN = 1e24, {"parameters": [7e9], "tokens": [140e9]}
LLAMAS = ("llama", "llama 2", "llama 3", "llama 3.1", "yi", "qwen", "falcon")
BENCHMARKS = ("MMLU", "HellaSwag", "Winogrande", "GSM8K", "ARC AI2", "BBH")


def weirdml():
    table = bs.load("weirdml")
    few = table["model"].isin(table["model"].unique()[::4]) & table["threshold"].isin([50, 90])
    return table[few].reset_index(drop=True)


def scores():
    table = bs.load("eci_scores")
    return table[table["family"].isin(LLAMAS) & table["benchmark"].isin(BENCHMARKS)].reset_index(drop=True)


FITS = {
    "coupled": lambda: ("coupled", bs.load("chinchilla_runs")),
    "progress": lambda: ("progress-7", bs.load("lm_progress")),
    "progress, rejected": lambda: (bs.laws.Progress(7, paper_effects=False), bs.load("lm_progress")),
    "horizons": lambda: (bs.laws.Horizons(noise="binomial"), weirdml()),
    "trend": lambda: ("trend", bs.load("training_compute")),
    "scores": lambda: (bs.laws.Scores(pace="linear"), scores()),
    "lengths": lambda: ("lengths", bs.load("arithmetic_runs")),
}
# Whose reports are made in the thorough run; of evaluations the law that the rows reject has more to state.
LONG = ("progress", "horizons", "trend", "scores", "lengths")


@pytest.fixture(scope="module", params=[pytest.param(x, marks=[pytest.mark.thorough] * (x in LONG)) for x in FITS])
def place(request, tmp_path_factory):
    """A folder with a fit in a file, which is named after it, and its report."""
    folder = tmp_path_factory.mktemp(request.param)
    draws = 1000 if request.param == "lengths" else 500  # from which its chains converge
    fit = bs.fit(*FITS[request.param](), seed=1, draws=draws, tune=500, chains=2)
    fit.save(folder / "fit.nc")
    run("report", folder / "fit.nc", "--out", folder / "report")
    return folder


def run(*arguments):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(x) for x in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def one_line(text):
    """A text without tags and line breaks."""
    text = re.sub(r"<(script|style).*?</\1>", " ", str(text), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("\xa0", " ").split())


def drawn(axes):
    """The title and the caption of a figure."""
    return one_line(f"{axes.get_title(loc='left')} {axes.caption}")


def surfaces(fit, path):
    """Every surface of the estimands of a fit: by estimand its interval, its form, the texts and the JSON values."""
    printed, shown = one_line(fit), json.loads(run("show", path, "--json"))
    page = one_line((path.parent / "report/index.html").read_text(encoding="utf-8"))
    results = json.loads((path.parent / "report/results.json").read_text(encoding="utf-8"))
    (entry,) = results["laws"].values()
    texts = {"print(fit)": printed, "show": one_line(run("show", path))}
    for one in answers(fit):
        values = {"show --json": shown["answers"][one.label], "results.json": entry["answers"][one.label]}
        yield one.label, one.value, one.form, texts, values
    yield from KINDS[fit.law.kind](fit, path, texts | {"page": page}, results)


def of_runs(fit, path, texts, results):
    largest = 10 * float(fit.rows["training_flop"].max())
    for budget in (largest, BUDGET):
        q = summary(fit.allocate(budget)["parameters"])
        entry = json.loads(run("allocate", path, "--compute", budget, "--json"))["allocation"][0]
        of = {
            "allocate": one_line(run("allocate", path, "--compute", budget)),
            "method": one_line(fit.allocate(budget)),
        }
        of |= texts if budget == largest else {}
        values = {"allocate --json": entry["parameters"]}
        values |= {} if budget != largest else {"results.json": results["allocation"][1]["parameters"]}
        yield f"parameters at {budget:g}", q, sizes, of, values
    exponents = fit.study_exponents()
    q = summary(exponents["nonembedding"]["size"])
    title = drawn(bs.plot_reconcile(fit))
    values = {"reconcile --json": json.loads(run("reconcile", path, "--json"))["exponents"]["nonembedding"]["size"]}
    texts = {"reconcile": one_line(run("reconcile", path)), "method": one_line(exponents), "figure": title}
    yield "exponent without embeddings", q, plain, texts, values
    predicted = fit.predict(bs.load("chinchilla_runs").head(1).assign(**RUN))
    command = ("predict", path, "--parameters", "7B", "--tokens", "140B")
    values = {"predict --json": json.loads(run(*command, "--json"))["runs"][0]}
    yield (
        "loss",
        predicted.table().iloc[0],
        plain,
        {"predict": one_line(run(*command)), "method": one_line(predicted)},
        values,
    )


def of_evaluations(fit, path, texts, results):
    q = ends(bs.progress.gain_times(fit).loc["all"])
    command = ("show", path, "--table", "doubling_months")
    document = json.loads(run(*command, "--json"))
    (entry,) = results["laws"].values()
    values = {
        "show --json": document["doubling_months"]["all"],
        "results.json": entry["tables"]["doubling_months"]["all"],
    }
    texts = texts | {"doubling": one_line(run(*command)), "quote": " ".join(fit.summary().quote)}
    yield "doubling time", q, months, texts, values


def of_horizons(fit, path, texts, results):
    document = json.loads(run("show", path, "--table", "all", "--json"))
    printed = one_line(run("show", path, "--table", "all"))
    title = drawn(bs.plot_horizons(fit))
    q = ends(bs.progress.doubling_days(fit).loc["all"])
    of = {name: x for name, x in texts.items() if name != "page"}
    yield (
        "days",
        q,
        months,
        of | {"horizons": printed, "figure": title},
        {"show --json": document["doubling_days"]["all"]},
    )
    table = bs.horizons.summary(fit, [0.5])
    best = table["q50"].idxmax()[0]
    values = {"show --json": document["minutes"][best]["0.5"]}
    yield best, ends(table.loc[(best, 0.5)]), durations, {"page": texts["page"], "horizons": printed}, values


def of_values(fit, path, texts, results):
    command = ("show", path, "--table", "days")
    document = json.loads(run(*command, "--json"))
    title = drawn(bs.plot_trend(fit))
    q = ends(bs.progress.doubling_days(fit).loc["all"])
    values = {"show --json": document["days"]["all"]}
    yield "days", q, months, texts | {"trend": one_line(run(*command)), "figure": title}, values


def of_scores(fit, path, texts, results):
    first = fit["posterior"]["capability"].median(("chain", "draw")).to_series().idxmax()
    q = summary(fit["posterior"]["capability"].sel(model=first))
    yield first, q, lambda q: plain(q, "{:.2f}"), texts, {}


def of_counts(fit, path, texts, results):
    table = bs.lengths.summary(fit, 0.5).droplevel("share")
    first = table["q50"].idxmax()
    yield first, ends(table.loc[first]), digits, texts, {}


KINDS = {
    "runs": of_runs,
    "evaluations": of_evaluations,
    "horizons": of_horizons,
    "values": of_values,
    "scores": of_scores,
    "counts": of_counts,
}
QUANTILES = ("q2.5", "q50", "q97.5")


def differences(q, form, texts, values):
    """Names of the surfaces that give another number than a method."""
    quantiles = q if isinstance(q, float) else [q[name] for name in QUANTILES]
    quantiles_of = {name: x if isinstance(x, float) else [x[key] for key in QUANTILES] for name, x in values.items()}
    other = [name for name, x in quantiles_of.items() if x != pytest.approx(quantiles, rel=1e-9)]
    return other + [name for name, text in texts.items() if form(q) not in text]


def test_every_surface_gives_the_number_of_the_method(place):
    fit, count = bs.open(place / "fit.nc"), 0
    assert fit.diagnostics["ok"]
    for label, q, form, texts, values in surfaces(fit, place / "fit.nc"):
        assert differences(q, form, texts, values) == [], (label, form(q))
        count += len(texts) + len(values)
        # A difference that is planted on one surface is found there, and nowhere else.
        for name, text in texts.items():
            planted = text.replace(form(q), form(q)[::-1])
            assert differences(q, form, texts | {name: planted}, values) == [name]
        for name, x in values.items():
            planted = 0.9 * x if isinstance(x, float) else x | {"q97.5": 1.01 * x["q97.5"]}
            assert differences(q, form, texts, values | {name: planted}) == [name]
    assert count >= 8


def test_what_does_not_hold_is_said_wherever_its_number_is(place):
    """The rows reject three of these laws; each surface states it, and which interval it gives."""
    fit, path = bs.open(place / "fit.nc"), place / "fit.nc"
    judged = fit.check()
    fit.save(path)  # with the check, as the command does
    commands = (("allocate", path, "--compute", BUDGET), ("reconcile", path))
    if fit.law.kind != "runs":
        commands = (("show", path, "--table", "all"),)
    for command in (("show", path), *commands):
        printed = one_line(run(*command))
        assert ("Tests that reject it" in printed or "not that of the rows" in printed) == bool(judged["rejected_by"])
        document = json.loads(run(*command, "--json"))
        held = document.get("standing") or document[str(path)]["standing"]
        assert held["verdict"] == judged["verdict"] and held["converged"]
