"""Whether the chains of a fit may be trusted: the figures, and the sentences that go with them."""

import warnings

import numpy as np

from ...datasets.wording import plural
from ...errors import DiagnosticWarning
from ..diagnostics import convergence

R_HAT_LIMIT = 1.01
ESS_PER_CHAIN = 100
PARETO_K_LIMIT = 0.7
TAILS = (0.05, 0.95)
LEAST_EFFICIENCY = 50  # points of equal weight: the density of a run is then known to 14%, its logarithm to 0.14


def diagnose_chains(posterior, sample_stats):
    """Summarise convergence of two Datasets of dims (chain, draw, ...) in a dict.

    Of all quantities that vary it has ``r_hat_max``, ``ess_bulk_min`` and ``ess_tail_min``, rank-normalised and split
    (Vehtari et al. 2021), with tails of 5% and 95%. It also has ``divergences``, ``max_treedepth`` (iterations stopped
    there), ``draws`` (of all chains), ``distinct_draws`` and ``ok``. No ESS exceeds the number of distinct draws where
    draws return. ``warnings`` is a list of sentences that is empty when ``ok``.
    """
    chains, flat = posterior.sizes["chain"], _flat(posterior)
    varying = flat[:, (flat[1:] != flat[:-1]).any(0)]  # NaN differs from everything
    with np.errstate(invalid="ignore"):  # what is infinite in some draws has neither figure
        r_hat, bulk, tail = convergence(varying.reshape(chains, posterior.sizes["draw"], -1), TAILS)
    diagnosis = {
        "r_hat_max": float(np.fmax.reduce(r_hat, initial=np.nan)) if chains > 1 else None,
        "ess_bulk_min": float(np.fmin.reduce(bulk, initial=np.nan)),
        "ess_tail_min": float(np.fmin.reduce(tail, initial=np.nan)),
        "divergences": int(sample_stats["diverging"].sum()),
        "max_treedepth": int(sample_stats.get("reached_max_treedepth", np.zeros(1)).sum()),
    }
    faults = []
    if diagnosis["r_hat_max"] is None:
        faults.append("one chain: r_hat cannot be computed; run at least 4 chains")
    elif not diagnosis["r_hat_max"] <= R_HAT_LIMIT:
        faults.append(f"r_hat reaches {diagnosis['r_hat_max']:.3f} (above {R_HAT_LIMIT}): chains disagree, draw more")
    if not diagnosis["ess_bulk_min"] >= ESS_PER_CHAIN * chains:
        faults.append(f"bulk ESS falls to {diagnosis['ess_bulk_min']:.0f} (below {ESS_PER_CHAIN * chains}): draw more")
    if not diagnosis["ess_tail_min"] >= ESS_PER_CHAIN * chains:
        faults.append(f"tail ESS falls to {diagnosis['ess_tail_min']:.0f} (below {ESS_PER_CHAIN * chains}): draw more")
    if diagnosis["divergences"]:
        faults.append(
            f"{plural(diagnosis['divergences'], 'divergence')}: the posterior may be biased; add rows, or fit a law "
            "with fewer quantities"
        )
    if diagnosis["max_treedepth"]:
        faults.append(
            f"{plural(diagnosis['max_treedepth'], 'iteration')} reached the largest tree depth: "
            "sampling was inefficient"
        )
    if missing := int(np.isnan(flat).any(1).sum()):
        faults.append(f"{missing} of {len(flat)} draws are not numbers (NaN): the law cannot be computed there")
    return with_distinct(diagnosis | {"ok": not faults, "warnings": faults}, posterior)


def with_distinct(diagnosis, sampled):
    """Add to a diagnosis how many draws of a Dataset are distinct, and a fault where these are too few."""
    flat = _flat(sampled)
    draws, distinct, faults = len(flat), len(np.unique(flat, axis=0)), list(diagnosis["warnings"])
    least = ESS_PER_CHAIN * sampled.sizes["chain"]
    if distinct < min(least, draws):
        faults.append(f"{distinct} of {draws} draws are distinct (below {least}): draw more")
    # Autocorrelations see a draw that stays where it was, but take one that returns later for a new one.
    chains = flat.reshape(sampled.sizes["chain"], sampled.sizes["draw"], -1)
    moves = len(chains) + int((chains[:, 1:] != chains[:, :-1]).any(-1).sum())
    ess = ("ess_bulk_min", "ess_tail_min") if distinct < moves else ()
    capped = {name: min(diagnosis[name], float(distinct)) for name in ess}
    return diagnosis | capped | {"draws": draws, "distinct_draws": distinct, "ok": not faults, "warnings": faults}


def _flat(dataset):
    """Return draws of all chains as rows of an array, quantities as its columns."""
    whole = dataset.transpose("chain", "draw", ...)
    size = dataset.sizes["chain"] * dataset.sizes["draw"]
    return np.column_stack([v.values.reshape(size, -1) for v in whole.data_vars.values()]).astype(float)


def with_figures(diagnosis, figures):
    """Add to the result of `diagnose_chains` how exact the densities are, and a fault where they are not."""
    points = figures.get("integration_efficiency_min")
    faults = list(diagnosis["warnings"])
    if points is not None and not points >= LEAST_EFFICIENCY:
        faults.append(
            f"the density of a run depends on as few as {points:.0f} importance points (below {LEAST_EFFICIENCY}): its "
            "elpd is not reliable"
        )
    return diagnosis | figures | {"ok": not faults, "warnings": faults}


def sentence(diagnosis):
    """Return one line for a person."""
    r_hat_text = "n/a" if diagnosis["r_hat_max"] is None else f"{diagnosis['r_hat_max']:.3f}"
    figures = (
        f"{plural(diagnosis['divergences'], 'divergence')}, r_hat at most {r_hat_text}, "
        f"bulk ESS at least {diagnosis['ess_bulk_min']:.0f}, tail ESS at least {diagnosis['ess_tail_min']:.0f}"
    )
    if diagnosis.get("distinct_draws", 0) < diagnosis.get("draws", 0):
        figures += f", {diagnosis['distinct_draws']} of {diagnosis['draws']} draws distinct"
    if diagnosis["ok"]:
        return f"converged: {figures}"
    return f"did not converge: {figures}. {'; '.join(diagnosis['warnings'])}"


def warn(law, diagnosis):
    """Issue a `DiagnosticWarning` that names the law for diagnostics that are not ok."""
    if not diagnosis["ok"]:
        warnings.warn(f"{law.label}: {sentence(diagnosis)}", DiagnosticWarning, stacklevel=3)
