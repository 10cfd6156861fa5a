"""The coefficients of a law of algorithmic progress by the names that people use."""

import numpy as np

from ...datasets.deferred import xr
from ..draws import DRAWS
from .design import intercepts
from .specifications import ARCHITECTURES, KNOTS, STEPS


def _by_label(law, columns, values, which):
    """Return values from slots and, if several, their dim and labels: benchmarks, architectures or mixed levels."""
    labels = [column.label for column in columns]
    chosen = values[..., which]
    if labels == ["all"]:
        return (chosen[..., 0],)
    return chosen, {law.benchmarks: "benchmark", ARCHITECTURES: "architecture"}.get(tuple(labels), "level"), labels


NAMES = {"y": "year", "after": "year_change", "hinge": "year_change"}
NAMES |= {step: f"year_change_{knot}" for step, knot in zip(STEPS, KNOTS, strict=True)}


def named_coefficients(law, reference, c):
    """Return the coefficients by name, as DataArrays of dims (chain, draw, [benchmark | architecture | level]).

    ``alpha_`` and ``beta_`` stand for the terms of parameters and of data. Names end in ``const``, ``year`` (yearly
    fall), ``year_change`` (its change at the cutoff), and ``param`` or ``data`` (the exponent, at the year ``Yc`` if
    it changes). Others end in ``param_rate`` or ``data_rate`` (its yearly change there), or in
    ``compute`` (specification 18). ``shared_year`` is one coefficient that serves both.
    """
    out = {}

    def put(name, values, dim=None, labels=None):
        dims, coords = ((*DRAWS, dim), {dim: labels}) if dim else (DRAWS, {})
        out[name] = xr.DataArray(values, dims=dims, coords=coords)

    def put_levels(name, values):
        if len(law.levels) > 1:
            put(name, values, "benchmark", list(law.levels))
        else:
            put(name, values[..., 0])

    sizes_n, sizes_d = law.sizes
    put_levels("alpha_const", intercepts(law, reference, c, 0))
    size = "compute" if sizes_n[0].factors == ("c",) else "param"
    put(f"alpha_{size}", *_by_label(law, sizes_n, c["alpha"], list(range(len(sizes_n)))))
    sides = [("alpha", size, "drift_parameters", 0)]
    if sizes_d:
        put_levels("beta_const", intercepts(law, reference, c, 1))
        put("beta_data", *_by_label(law, sizes_d, c["beta"], list(range(len(sizes_d)))))
        sides.append(("beta", "data", "drift_data", 1))
    for prefix, sized, key, side in sides:
        places, groups = law.places_of_drifts(side), {}
        for at, j in enumerate(places):
            groups.setdefault((law.drifts[j].timed[0], law.drifts[j].kind), []).append(at)
        for (factor, kind), which in groups.items():
            drifts = [law.drifts[places[at]] for at in which]
            shared = kind == "year" and drifts[0].shared
            if shared and side == 1:
                continue
            of = "shared" if shared else prefix
            name = f"{prefix}_{sized}_rate" if kind == "rate" else f"{of}_{NAMES[factor]}"
            values, *labels = _by_label(law, [drift.columns[side] for drift in drifts], c[key], which)
            scales = np.asarray(reference["rate_scales"][side])[places[which]]
            put(name, values / (scales if labels else scales[0]), *labels)
    if law.spec.vocabulary:
        put("gamma_vocabulary", c["vocabulary"][..., 0])
    if law.transformer:
        put("gamma_transformer", c["gamma_transformer"][..., 0])
        put("transformer_factor", np.exp(c["log_factor"][..., 0]))
    if law.irreducible:
        put_levels("irreducible", c["irreducible"])
    put("sigma", c["sigma"][..., 0])
    if law.scatter == "by_benchmark":
        put("sigma_benchmark", c["sigma"] * np.exp(c["log_scatter"]), "benchmark", list(law.benchmarks))
    if law.pace == "random_walk":
        put("pace_sd", c["pace_sd"][..., 0])
    if law.noise == "student_t":
        put("nu", c["nu"][..., 0])
    if law.paper_effects:
        tau, sigma = c["paper_sd"][..., 0], c["sigma"][..., 0]
        put("paper_sd", tau)
        put("rho", tau**2 / (tau**2 + sigma**2))
    put_levels("loss_centre", c["loss_centre"])
    if sizes_d:
        put_levels("parameter_share", c["share"])
    return out
