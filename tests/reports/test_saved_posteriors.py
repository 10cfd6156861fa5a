import bayescaling as bs
import pytest
from bayescaling.inference.comparison.weights import stacking
from bayescaling.inference.progress.compare import pooled_rates, score_progress
from bayescaling.inference.progress.rate_at_rows import compute_equivalent_gain
from bayescaling.reports.cache.stages import Stages
from bayescaling.reports.output import POSTERIORS, prepare, write_posteriors
from bayescaling.reports.pages.progress import entries, page, specifications

SPECIFICATIONS = (7, 14)
SEED = 2


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")  # few draws do
def test_the_doubling_time_follows_from_the_saved_posteriors_alone(tmp_path, monkeypatch):
    few = {k: specifications.SPECIFICATIONS[k] for k in SPECIFICATIONS}
    monkeypatch.setattr(specifications, "SPECIFICATIONS", few)
    with Stages(page.STAGES, False, all=True) as stage:
        analysed = page.analyse(stage, bs.load("published"), {}, seed=SEED, draws=150, tune=300, chains=2)
    reported = analysed.document["compute_equivalent_gain"]["by_noise"]["paper effects"]
    prepare(tmp_path)
    write_posteriors(tmp_path, analysed.posteriors)
    del analysed

    opened = {k: bs.open(tmp_path / POSTERIORS / f"progress-{k}-paper-effects.nc") for k in SPECIFICATIONS}
    assert all(fit.law.options["paper_effects"] for fit in opened.values())
    weights = stacking(score_progress(opened, seed=SEED).paperwise)
    rates = {k: compute_equivalent_gain(fit).values for k, fit in opened.items()}
    pooled = pooled_rates(rates, dict(zip(rates, weights, strict=True)), seed=SEED)
    again = entries.rate_quantiles(pooled)
    assert again["q2.5"] < again["q50"]
    assert again == {name: x if x is None else pytest.approx(x, rel=1e-6) for name, x in reported.items()}
