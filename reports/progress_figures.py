"""Figures of algorithmic progress: doubling times, comparison of specifications, and how all of them are worded."""

import numpy as np

from ..inference import growth
from ..models.growth import doubling_months, doubling_quantiles
from ..models.specifications import NO_PROGRESS, SPECIFICATIONS
from .chinchilla_page import published_constants
from .progress_analysis import MAIN, TOP
from .style import BLUE, GREEN, GREY, ORANGE, RED, SIZES, figure, line

MONTHS = "Doubling time of effective compute (months)"
SHORTEST, LONGEST = 1.0, 120.0
NEVER = 170.0
PUBLISHED = "Ho et al. 2024"
LEGEND = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "traceorder": "normal"}
PROBABILITIES = {"q2.5": 0.025, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q97.5": 0.975}
DOUBLING = "progress.doubling_months."
REMARKS = {
    1: "one intercept",
    2: "one intercept, data only",
    3: "one intercept, parameters only",
    4: "one intercept, years by benchmark in N",
    5: "one intercept, years by benchmark in D",
    6: "one intercept, years by benchmark",
    7: "the paper's main one",
    8: "progress in data only",
    9: "progress in parameters only",
    10: "years by benchmark",
    11: "years and exponents by benchmark",
    12: "one year slope for both terms",
    13: "exponents by architecture",
    14: "progress through exponents only",
    15: "progress through exponents too",
    16: "no progress",
    17: "no progress, exponents by architecture",
    18: "compute only",
    19: "with vocabulary",
    20: "diminishing returns of epochs",
}
POOLED = {
    "stacking": "stacking",
    "by_paper_stacking": "stacking by paper",
    "pseudo_bma": "pseudo-BMA+",
    "equal": "equal weights",
    "top10": f"{TOP} best of 1 to 15",
}
VARIANT_NAMES = {
    "main": "specification 7",
    "student_t": "Student-t residuals",
    "log_loss": "residuals of log loss",
    "pooling": "benchmarks' spread estimated",
    "paper_effects": "paper effects",
    "irreducible": "irreducible loss by benchmark",
    "transformer_exp": "transformer factor exp(γ)",
    "transformer_sigmoid": "transformer factor σ(γ)",
    "non_transformers": "non-transformers only",
    "tokens_seen_imputed": "tokens seen, unknown epochs 1",
    "tokens_seen": "tokens seen, unknown epochs dropped",
    "diminishing_imputed": "diminishing returns, unknown epochs 1",
    "diminishing": "diminishing returns, unknown epochs dropped",
    "repeated_imputed": "repeated data, unknown epochs 1",
    "repeated": "repeated data, unknown epochs dropped",
    "vocabulary": "vocabulary (specification 19)",
}
VARIANT_PUBLISHED = {"paper_effects": "autocorrelation", "main": "closed_form"}
DIRECT_PUBLISHED = {"Megatron-LM (355M)": "megatron_355m", "GPT-2 (1542M)": "gpt2", "Gopher (280B)": "gopher"}


def months(x):
    """Write a doubling time; infinite is "never"."""
    if not np.isfinite(x):
        return "never"
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}"


class Published:
    """Published quantities by name, NaN where there is none."""

    def __init__(self, table):
        self.hoffmann = published_constants(table)[0]["Hoffmann et al. 2022"]
        table = table[table["source"] == PUBLISHED]
        self._rows = table.set_index("quantity")[["estimate", "low", "high"]].astype(float)
        self._notes = table.set_index("quantity")["note"]

    def __call__(self, quantity):
        """Estimate, low and high."""
        return tuple(self._rows.loc[quantity]) if quantity in self._rows.index else (np.nan,) * 3

    def note(self, quantity):
        """Where and how it was published."""
        return self._notes.get(quantity, "nothing")

    def words(self, quantity, form="{:g}"):
        """Estimate and interval in words, "–" if there is none."""
        estimate, low, high = self(quantity)
        if np.isnan(estimate):
            return "–"
        return _spanned(*(form.format(x) for x in (low, estimate, high))) if np.isfinite(low) else form.format(estimate)

    def row(self, quantity, label, **options):
        """Row of `forest`, or none; an interval that reaches below zero is said on hover, not drawn."""
        estimate, low, high = self(quantity)
        if np.isnan(estimate):
            return []
        row = {"label": label, "group": "published", "colour": ORANGE, "q50": estimate} | options
        if low > 0:
            return [row | {"q2.5": low, "q97.5": high}]
        said = [f"published interval {low:g} to {high:g}, not drawn"] if np.isfinite(low) else []
        return [row | {"said": said}]


def finite(rate):
    """Draws of a rate that are finite: those with an optimum."""
    values = np.ravel(rate)
    return values[np.isfinite(values)]


def times(rate):
    """Quantiles of the doubling time and P(progress) from draws of a rate."""
    values = finite(rate)
    quantiles = doubling_quantiles(values, list(PROBABILITIES.values()))
    return dict(zip(PROBABILITIES, quantiles, strict=True)) | {"p_progress": float((values > 0).mean())}


def words(q, prefix=""):
    """Median and 95% interval of a doubling time in words."""
    return _spanned(*(months(q[f"{prefix}{name}"]) for name in ("q2.5", "q50", "q97.5")))


def probability(p):
    """Write a probability that may be near 0 or 1."""
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"


def draws_interval(draws, form="{:.3f}"):
    """Median and 95% interval of draws in words, by quantiles only; draws that are NaN are left out."""
    return _spanned(*(form.format(x) for x in np.nanquantile(np.ravel(draws), [0.025, 0.5, 0.975])))


def _spanned(low, middle, high):
    """Write an interval that no line break splits."""
    return f"{middle}\u00a0[{low},\u00a0{high}]"


def formula(k):
    """Both predictors of a specification in one line."""
    spec = SPECIFICATIONS[k]
    return spec.parameters + (f" | {spec.data}" if spec.data else "")


def name_of(k):
    """Return number and name of a specification."""
    return f"{k}  {REMARKS[k]}"


def with_progress(found):
    """Specifications with progress, best elpd first."""
    return [k for k in found.comparison.index if k not in NO_PROGRESS]


def forest(rows, *, title=MONTHS, longest=LONGEST, row_height=24):
    """Medians with 50% and 95% intervals of doubling times on a logarithmic axis of months.

    Parameters
    ----------
    rows : list of dict
        From top to bottom: ``label``; ``group`` (its name in the legend) and ``colour``; ``q50`` and, where known,
        ``q2.5``, ``q25``, ``q75`` and ``q97.5`` in months; ``said``, more lines of its hover; ``beside`` True for a row
        that shares the place of the row above.
    title : str
        Of the axis.
    longest : float
        Times beyond it end in a triangle at the right edge.
    row_height : int
    """
    place, places, labels = 0, [], []
    for row in rows:
        if not row.get("beside"):
            place += 1
            labels.append(row["label"])
        places.append(place - (0.0 if not row.get("beside") else -0.28))
    drawn = figure(height=110 + row_height * max(len(labels), 3))
    groups = dict.fromkeys((row["group"], row["colour"]) for row in rows)
    for group, colour in groups:
        kept = [(row, y) for row, y in zip(rows, places, strict=True) if row["group"] == group]
        drawn.add_traces(_intervals(kept, colour, group, longest))
    ticks = [t for t in (1, 2, 5, 10, 20, 50, 100) if t < longest]
    edge = longest * NEVER / LONGEST
    drawn.update_xaxes(
        title={"text": title, "standoff": 8},
        type="log",
        range=np.log10([SHORTEST * 0.95, edge * 1.1]),
        tickvals=[*ticks, edge],
        ticktext=[*map(str, ticks), "never"],
    )
    drawn.update_yaxes(
        tickvals=list(range(1, len(labels) + 1)),
        ticktext=labels,
        range=[len(labels) + 0.8, 0.2],
        automargin=True,
        showgrid=False,
        ticks="",
        showline=False,
    )
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def _intervals(kept, colour, group, longest):
    import plotly.graph_objects as go

    edge = longest * NEVER / LONGEST

    def clipped(x):
        return np.clip(x, SHORTEST, longest if np.isfinite(x) and x <= longest else edge)

    traces = []
    for low, high, width, opacity in (("q2.5", "q97.5", 2, 0.8), ("q25", "q75", 6, 0.55)):
        x, y = [], []
        for row, place in kept:
            if np.isfinite(row.get(low, np.nan)):
                x += [clipped(row[low]), clipped(row[high]), None]
                y += [place, place, None]
        if x:
            style = {"width": width, "opacity": opacity, "hoverinfo": "skip", "showlegend": False, "legendgroup": group}
            traces.append(line(x, y, colour, group, **style))
    beyond = [(row, place) for row, place in kept if row.get("q97.5", 0) > longest]
    if beyond:
        traces.append(
            go.Scatter(
                x=[edge] * len(beyond),
                y=[place for _, place in beyond],
                mode="markers",
                marker={"symbol": "triangle-right", "size": 9, "color": colour},
                hoverinfo="skip",
                showlegend=False,
                legendgroup=group,
            )
        )
    traces.append(
        go.Scatter(
            x=[clipped(row["q50"]) for row, _ in kept],
            y=[place for _, place in kept],
            mode="markers",
            marker={
                "color": colour,
                "size": 9,
                "symbol": ["circle" if row["q50"] <= longest else "circle-open" for row, _ in kept],
                "line": {"color": colour if group else "white", "width": 1},
            },
            name=group,
            legendgroup=group,
            text=[_hover(row) for row, _ in kept],
            hovertemplate="%{text}<extra>" + group + "</extra>",
        )
    )
    return traces


def _hover(row):
    said = [row["label"], f"median {months(row['q50'])} months"]
    for name, low, high in (("95%", "q2.5", "q97.5"), ("50%", "q25", "q75")):
        if low in row and not np.isnan(row[low]):
            said.append(f"{name}: {months(row[low])} to {months(row[high])}")
    return "<br>".join([*said, *row.get("said", [])])


def doubling(found, published):
    """Doubling times by specification, best elpd on top, and pooled, with the published ones."""
    rows = []
    for k in with_progress(found):
        rates = growth.growth_rates(found.fits[k])
        for label, rate in rates.items():
            q = times(rate)
            name = name_of(k) if len(rates) == 1 else f"{k}  {label}"
            said = [formula(k), f"P(progress) {probability(q['p_progress'])}"]
            group, colour = (f"specification {MAIN}", RED) if k == MAIN else ("specifications, best elpd on top", BLUE)
            rows.append({"label": name, "group": group, "colour": colour, "said": said} | q)
        if k == MAIN:
            rows += published.row(DOUBLING + "closed_form", name_of(k), beside=True)
    for key, name in POOLED.items():
        q = times(found.pooled[key])
        said = [f"P(progress) {probability(q['p_progress'])}"]
        rows.append({"label": f"pooled: {name}", "group": "pooled", "colour": GREEN, "said": said} | q)
        if key == "top10":
            rows += published.row(DOUBLING + "top10", "published, ten best pairs", beside=True)
    return forest(rows)


def prior_grid(grid):
    """Doubling times of the main specification under other priors."""
    colours = dict(zip(sorted(grid["yearly_sd"].unique()), (BLUE, GREEN, RED), strict=False))
    rows = [
        {
            "label": f"shares' sd {row['share_sd']:g}, yearly sd {row['yearly_sd']:g}",
            "group": f"yearly falls' prior sd {row['yearly_sd']:g} a year",
            "colour": colours[row["yearly_sd"]],
            "said": [f"P(progress) {probability(row['p_progress'])}"],
        }
        | {name: row[name] for name in ("q2.5", "q50", "q97.5")}
        for _, row in grid.iterrows()
    ]
    return forest(rows)


def variants(found, published):
    """Doubling times of variants (by name: fit, quantiles), with the published ones."""
    rows = []
    for name, (_, q) in found.items():
        label = VARIANT_NAMES.get(name, name)
        said = [f"P(progress) {probability(q['p_progress'])}"]
        rows.append({"label": label, "group": "posterior", "colour": BLUE, "said": said} | q)
        quantity = DOUBLING + VARIANT_PUBLISHED.get(name, name)
        rows += published.row(quantity, label, beside=True)
    return forest(rows, row_height=30)


def acceleration(changes):
    """Doubling times before and after each cutoff."""
    rows = []
    for cutoff, change in changes.items():
        for name, colour in (("before", GREY), ("after", BLUE)):
            said = [f"P(faster after) {probability(change['p_faster'])}"]
            row = {"label": str(cutoff), "group": f"{name} the cutoff", "colour": colour, "said": said}
            rows.append(row | times(change[name]) | {"beside": name == "after"})
    return forest(rows, row_height=34)


def direct(found, published):
    """Doubling times straight from the data, with the published ones."""
    rows = []
    for system, estimate in found.direct.items():
        quantity = f"{DOUBLING}direct.{DIRECT_PUBLISHED.get(system)}"
        if estimate.rate is not None:
            q = dict(zip(PROBABILITIES, estimate.doubling_quantiles(tuple(PROBABILITIES.values())), strict=True))
            said = [f"{len(estimate.rows)} systems", f"P(progress) {probability(estimate.p_progress)}"]
            rows.append({"label": system, "group": "posterior", "colour": BLUE, "said": said} | q)
            rows += published.row(quantity, system, beside=True)
        else:
            rows += published.row(quantity, system)
    return forest(rows, row_height=40)


def elpd_differences(comparison, names):
    """Difference of elpd to the best specification, with two standard errors by rows and by papers."""
    import plotly.graph_objects as go

    place = np.arange(1, len(comparison) + 1)
    drawn = figure(height=110 + 26 * len(comparison))
    for name, column, colour, shift in (
        ("rows as if independent", "dse", BLUE, -0.14),
        ("summed by paper", "dse_by_paper", ORANGE, 0.14),
    ):
        drawn.add_trace(
            go.Scatter(
                x=comparison["elpd_diff"],
                y=place + shift,
                error_x={"type": "data", "array": 2 * comparison[column], "thickness": 1.5, "width": 3},
                mode="markers",
                marker={"color": colour, "size": 7},
                name=f"± 2 standard errors, {name}",
                text=[
                    f"{names[k]}<br>elpd {row['elpd']:.1f}<br>difference {row['elpd_diff']:.1f} ± {row[column]:.1f} "
                    f"(1 se)<br>largest Pareto k {row['pareto_k_max']:.2f}, {row['refitted']:.0f} rows refitted"
                    for k, row in comparison.iterrows()
                ],
                hovertemplate="%{text}<extra>" + name + "</extra>",
            )
        )
    drawn.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dash"})
    drawn.update_xaxes(title={"text": "Difference of leave-one-out elpd to the best (nats)", "standoff": 8})
    drawn.update_yaxes(
        tickvals=place, ticktext=[names[k] for k in comparison.index], autorange="reversed", automargin=True, ticks=""
    )
    return drawn.update_layout(legend=LEGEND, margin={"t": 50})


def ridge(alpha_year, beta_year, rate, marks):
    """Joint posterior of the two yearly falls, coloured by the doubling time.

    Parameters
    ----------
    alpha_year, beta_year, rate : array_like
        Draws.
    marks : dict of str to (float, float, str)
        By name: the two slopes, and what to say of them.
    """
    import plotly.graph_objects as go

    pick = np.random.default_rng(0).permutation(np.size(rate))[:2500]
    a, b, g = (np.ravel(x)[pick] for x in (alpha_year, beta_year, rate))
    time = doubling_months(np.where(g > 0, g, np.nan))
    ticks = [3, 5, 10, 20, 50]
    traces = [
        go.Scatter(
            x=a[g > 0],
            y=b[g > 0],
            mode="markers",
            marker={
                "size": 5,
                "opacity": 0.7,
                "color": np.log10(time[g > 0]),
                "colorscale": SIZES,
                "reversescale": True,
                "cmin": np.log10(ticks[0]),
                "cmax": np.log10(ticks[-1]),
                "colorbar": {
                    "title": {"text": "doubling<br>time (months)"},
                    "tickvals": np.log10(ticks),
                    "ticktext": [f"≤ {ticks[0]}", *map(str, ticks[1:-1]), f"≥ {ticks[-1]}"],
                    "len": 0.85,
                },
            },
            customdata=time[g > 0],
            name="draw with progress",
            hovertemplate="α<sub>year</sub> %{x:.4f}<br>β<sub>year</sub> %{y:.4f}<br>"
            "doubling %{customdata:.1f} months<extra>draw</extra>",
        )
    ]
    if (g <= 0).any():
        traces.append(
            go.Scatter(
                x=a[g <= 0],
                y=b[g <= 0],
                mode="markers",
                marker={"size": 5, "color": GREY, "opacity": 0.7},
                name="draw without progress (never doubles)",
                hovertemplate="α<sub>year</sub> %{x:.4f}<br>β<sub>year</sub> %{y:.4f}<extra>never doubles</extra>",
            )
        )
    looks = (("circle-open", RED, 22), ("x", ORANGE, 12), ("diamond", GREEN, 14))
    for (name, (x, y, said)), (symbol, colour, size) in zip(marks.items(), looks, strict=False):
        edge = {"color": colour, "width": 3} if symbol.endswith("open") else {"color": "white", "width": 1.5}
        traces.append(
            go.Scatter(
                x=[x],
                y=[y],
                mode="markers",
                marker={"symbol": symbol, "size": size, "color": colour, "line": edge},
                name=name,
                hovertemplate=f"α<sub>year</sub> {x:.4f}<br>β<sub>year</sub> {y:.4f}<br>{said}<extra>{name}</extra>",
            )
        )
    return figure(
        *traces,
        x={"title": "α<sub>year</sub>, yearly fall in the parameter term (per year)"},
        y={"title": "β<sub>year</sub>, yearly fall in the data term (per year)"},
        height=520,
    ).update_layout(legend=LEGEND, margin={"t": 60})
