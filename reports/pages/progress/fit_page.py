"""The page on whether the specifications fit the evaluations: tests of their residuals, and the residuals."""

import numpy as np
import scipy.special

from ....datasets.wording import p_value, plural
from ....inference.checks.chains import PARETO_K_LIMIT
from ....inference.checks.law_tests import BY_COLUMN
from ....inference.words import in_words
from ...drawing import checks, tables, verdicts
from ...drawing.style import BLUE, GREEN, LEGEND, ORANGE, figure
from ...results import rejected_by
from .analysis import EFFECTS, INDEPENDENT, MAIN
from .wording import in_a_row, name_of

COLOURS = {"wt103": BLUE, "wt2": ORANGE, "ptb": GREEN}


def _text(found):
    plain, effects = (found.misfit[noise] for noise in (INDEPENDENT, EFFECTS))
    rejected = {noise: [k for k, tests in each.items() if rejected_by(tests)] for noise, each in found.misfit.items()}
    own = rejected_by(plain[MAIN])
    with_effects = rejected_by(effects[MAIN])
    return [
        "Given its coefficients, a specification says what distribution each residual has, and so what sums of them "
        "have: by benchmark, along the date within each, and by paper. The same coefficients are tested as were "
        "fitted, so that probabilities err high.",
        f"Rows taken as independent, specification {MAIN} is {f'rejected by {own}' if own else 'not rejected'}; with "
        f"an effect of each paper it is {f'rejected by {with_effects}' if with_effects else 'not rejected'}. Rejected "
        f"are, of all, {in_a_row(sorted(rejected[INDEPENDENT]))} without effects and "
        f"{in_a_row(sorted(rejected[EFFECTS]))} with them.",
    ]


def checks_said(found):
    """Say of the specifications under each noise how many the rows reject, and how reliable leave-one-out was."""
    said = []
    for noise, each in found.misfit.items():
        rejected = sorted(k for k, tests in each.items() if rejected_by(tests))
        main = in_words(rejected_by(each[MAIN]))
        said.append(
            verdicts.marked(
                not main,
                f"{noise[0].upper()}{noise[1:]}: specification {MAIN} is "
                f"{f'rejected by {main}' if main else 'not rejected'}; of all {len(each)}, {len(rejected)} are "
                f"rejected ({in_a_row(rejected)}).",
            )
        )
    pit = found.misfit[INDEPENDENT][MAIN].get("loo_pit")
    if pit is not None:
        said.append(verdicts.of_pit(f"Specification {MAIN}", {"misfit": {"loo_pit": pit}}))
    refitted = found.comparison["refitted"].sum()
    left = int((found.comparison["pareto_k_max"] > PARETO_K_LIMIT).sum())
    said.append(
        verdicts.marked(
            left == 0,
            f"Pareto k above {PARETO_K_LIMIT:g} is left after refits in {left} of {len(found.comparison)} "
            f"specifications ({plural(int(refitted), 'row was', 'rows were')} refitted).",
        )
    )
    return said


def _table(found):
    tests = [test for test in found.misfit[INDEPENDENT][MAIN] if not test.startswith(BY_COLUMN)]
    header = ("specification", *(f"{in_words(test)}, {noise}" for noise in found.misfit for test in (*tests, "groups")))
    rows = []
    for k in found.comparison.index:
        cells = []
        for of in (found.misfit[noise][k] for noise in found.misfit):
            cells += [p_value(of[test]["p"], "") for test in tests] + [_of_column(of)]
        rows.append((name_of(k), *cells))
    note = (
        "Posterior means of tail probabilities; below 0.01 a specification does not fit. Groups: of the columns that "
        "name groups of rows, the one whose groups differ most, its probability corrected for their number."
    )
    fits = [(f"progress-{k}", f"progress-{k}, {EFFECTS}") for k in found.comparison.index]
    return tables.of_rows(header, rows, note, title="Tail probabilities of tests, by specification", fits=fits)


def _of_column(tests):
    """Say which column names groups that differ, and how probably as much by chance."""
    found = {test: of["p"] for test, of in tests.items() if test.startswith(BY_COLUMN)}
    return ", ".join(f"{p_value(p, '')} ({test.removeprefix(BY_COLUMN)})" for test, p in found.items()) or "–"


def residuals(fit):
    """Standardised residuals of evaluations against their date, by benchmark: posterior mean and 95% interval."""
    import plotly.graph_objects as go

    table, draws = fit.rows, fit.draws
    z = scipy.special.ndtri(np.clip(draws.cdf().transpose(..., "evaluation").values, 1e-300, 1 - 1e-16))
    low, high = np.quantile(z, [0.025, 0.975], axis=(0, 1))
    middle = z.mean((0, 1))
    traces = []
    for name, colour in COLOURS.items():
        own = (table["benchmark"] == name).to_numpy()
        spread = {"type": "data", "array": (high - middle)[own], "arrayminus": (middle - low)[own], "width": 0,
                  "thickness": 1, "color": "#d1d5db"}  # fmt: skip
        traces.append(
            go.Scatter(
                x=table["year"][own],
                y=middle[own],
                error_y=spread,
                mode="markers",
                marker={"color": colour, "size": 6},
                name=f"{name} ({own.sum()})",
                text=table["system"][own],
                hovertemplate="%{text}<br>%{x:.1f}<br>%{y:+.2f}<extra>" + name + "</extra>",
            )
        )
    said = f"Standardised residuals of specification {MAIN} by date: posterior means and 95% intervals"
    titles = {"x": {"title": "Date"}, "y": {"title": "Standardised residual"}}
    drawn = figure(*traces, **titles, height=380, caption=said)
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def sections(found):
    """Sections of the page, in order; see `Page.sections`."""
    main = found.fits[MAIN]
    return [
        {
            "title": "Do the specifications fit?",
            "text": _text(found),
            "blocks": [residuals(main), checks.loo_pit(main, f"specification {MAIN}"), _table(found)],
        }
    ]
