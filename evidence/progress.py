"""Studies of algorithmic progress: years to come, what the rate depends on, variants, and when the rate changed."""

import warnings

import bayescaling as bs
from bayescaling.inference import intervals
from bayescaling.inference.progress import contributions, rate_at_optimum
from bayescaling.inference.progress.change_points import NONE, acceleration, change_of_pace, pace_by_year
from bayescaling.inference.progress.compare import against, score_progress
from bayescaling.inference.progress.fitting import VARIANTS, new_fitter
from bayescaling.inference.progress.futures import by_cutoff, compare_futures
from bayescaling.inference.progress.influence import prior_grid
from bayescaling.models.progress.specifications import SPECIFICATIONS
from bayescaling.reports.pages.progress.entries import MAIN, quoted_entry, rate_quantiles, times
from bayescaling.reports.results import law_entry
from study import laws_of, register, selected

TABLE = "lm_progress"
WALK = bs.laws.Progress(MAIN, pace="random_walk")
PACES = {f"{MAIN}, change in {year}": bs.laws.Progress(MAIN, cutoff=float(year)) for year in (2016, 2018, 2020)}
PACES |= {f"{MAIN}, random walk": WALK}
OWN = ("rho", "gamma_transformer")  # what only some variants have
BRIEF = {"seed": 1, "draws": 500, "tune": 500, "least_ess": 400}
SPECIFIED = [bs.laws.Progress(k) for k in SPECIFICATIONS]
QUOTED = bs.laws.Progress(MAIN, paper_effects=True)
ALONE = bs.laws.Progress(1, paper_effects=True)  # the same of one benchmark, which has one intercept
SPLITS = (2018, 2019, 2020)  # years, which leave from 51 to 180 rows on either side
VARIED = [bs.laws.Progress(MAIN, **options) for options in VARIANTS.values()]


@register("years to come predicted from those before", laws_of(TABLE, [*SPECIFIED, *PACES.values()]), seed=1)
def progress_future(parts, *, seed):
    """Predict the year after each cutoff from what was dated before it, by every specification."""
    laws = {k: bs.laws.Progress(k) for k in SPECIFICATIONS} | PACES
    table, rows = compare_futures(new_fitter(), laws, seed=seed)
    return {
        "leave_future_out": by_cutoff(rows[MAIN]).to_dict("records"),
        "leave_future_out_by_specification": intervals.entries(table),
    }


@register("progress under other priors", laws_of(TABLE, [bs.laws.Progress(MAIN)]), **BRIEF)
def progress_sensitivity(parts, *, seed, **brief):
    """Change priors of the main specification."""
    return {"prior_grid": {str(MAIN): _records(prior_grid(new_fitter(), bs.laws.Progress(MAIN), seed=seed, **brief))}}


def _records(table):
    return [
        {name: x if isinstance(x, (str, int)) else intervals.finite(x) for name, x in row.items()}
        for row in table.to_dict("records")
    ]


@register("variants of the main specification of progress", laws_of(TABLE, [bs.laws.Progress(MAIN), *VARIED]), **BRIEF)
def progress_variants(parts, *, seed, **brief):
    """Fit variants of the main specification."""
    fitter = new_fitter()

    def fitted(name, **options):
        return parts.fit(name, lambda: fitter.fit(law=bs.laws.Progress(MAIN, **options), seed=seed, **brief))

    fits = {name: fitted(name, **options) for name, options in {"main": {}, **VARIANTS}.items()}
    rows = fits["main"]["observed_data"].sizes["evaluation"]
    alike = {name: fit for name, fit in fits.items() if fit["observed_data"].sizes["evaluation"] == rows}
    scores = intervals.entries(against(score_progress(alike, seed=seed), "main"))  # of those with the same rows
    return {
        "variants": {name: _variant(fit) | scores.get(name, {}) for name, fit in fits.items()},
        "transformer_by_form": {
            name: _transformer(fit) for name, fit in fits.items() if name.startswith("transformer_")
        },
    }


@register("progress in some of the evaluations", laws_of(TABLE, [QUOTED, ALONE]), seed=1)
def progress_subsets(parts, *, seed):
    """Fit the quoted law to the rows of one benchmark, of some years, of one architecture, of one kind of evidence."""
    table = bs.load(TABLE)
    subsets = {f"before {year}": table["year"] < year for year in SPLITS}
    subsets |= {f"from {year}": table["year"] >= year for year in SPLITS}
    subsets |= {"transformers": table["transformer"] == 1, "other architectures": table["transformer"] == 0}
    subsets |= {f"{name} alone": table["benchmark"] == name for name in table["benchmark"].unique()}
    subsets |= {f"evidence {name}": table["evidence"] == name for name in table["evidence"].unique()}

    def entry(rows):
        law = QUOTED if table.loc[rows, "benchmark"].nunique() > 1 else ALONE
        fit = bs.fit(law, selected(table, rows), seed=seed, check=False)
        return quoted_entry(fit) | {"papers": fit.rows["paper"].nunique(), "chains": fit.diagnostics["ok"]}

    return {name: parts.entry(name, lambda rows=rows: entry(rows)) for name, rows in subsets.items()}


def _variant(fit):
    record, posterior = fit.record, fit["posterior"]
    doubling = _times(rate_at_optimum.first_rate(fit))
    return {
        "doubling_months": doubling,
        "p_progress": doubling.pop("p_progress"),
        "rows": record["data"]["rows"],
        "parameters": {name: intervals.summary(posterior[name]) for name in OWN if name in posterior},
    } | {name: record["diagnostics"][name] for name in ("divergences", "ess_bulk_min", "r_hat_max")}


def _times(rate):
    return {name: intervals.finite(x) for name, x in times(rate).items()}


def _transformer(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.DiagnosticWarning)
        gain = contributions.transformer_gain(fit)
    return {
        "loss_reduction_percent": intervals.summary(gain["loss_reduction_percent"]),
        "p_gain": float((gain["loss_reduction_percent"] > 0).mean()),
    }


@register("when the rate of progress changed", laws_of(TABLE, [bs.laws.Progress(MAIN), WALK]), **BRIEF)
def progress_pace(parts, *, seed, **brief):
    """Let the rate of the main specification change once, at each of several dates, and as a random walk."""
    fitter = new_fitter()
    change = parts.entry("one change", lambda: _one_change(fitter, {"seed": seed, **brief}))
    walk = parts.fit("random walk", lambda: fitter.fit(law=WALK, seed=seed, **brief))
    path, p_faster = pace_by_year(walk)
    return change | {"random_walk": {"law": law_entry(walk), "p_faster": p_faster, **_by_year(path)}}


def _one_change(fitter, options):
    result = change_of_pace(bs.laws.Progress(MAIN), fitter=fitter, **options)

    def change(cutoff):
        rates = acceleration(result.fits[cutoff])
        return {name: _times(rates[name]) for name in ("before", "after")}

    return {
        "p_change": result.p_change,
        "p_faster": result.p_faster,
        "cutoffs": {
            f"{cutoff}": {name: intervals.finite(x) for name, x in row.items()}
            | ({} if cutoff == NONE else change(cutoff))
            for cutoff, row in result.table.iterrows()
        },
        **_by_year(result.path),
    }


def _by_year(path):
    years = {f"{year:g}": rate_quantiles(path.sel(year=year).values) for year in path["year"].values}
    return {"doubling_months": years}
