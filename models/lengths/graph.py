"""The PyMC model of the law of lengths: what users see, other samplers draw from, and densities are tested against."""

from ..backend import pymc
from .curve import log_likelihood
from .draws import UNITS
from .priors import EFFECT, LEVEL, WITH_EFFECTS


def model(law, rows, reference=None):
    """Build the PyMC model of this law on a table of counts.

    A run's parameters u are sampled as ``z``, by what its counts and its condition say together: with counts that
    put u at m with information i, and a condition that puts it at mu with spread s, u has mean
    ``(mu + i s**2 m) / (1 + i s**2)`` and deviation ``z s / sqrt(1 + i s**2)``. z is then nearly standard normal
    whatever the spread, from a run of many cells to one of none.

    Parameters
    ----------
    rows : DataFrame
        From `rows`.
    reference : dict, optional
        From `reference`; by default that of the rows.

    Returns
    -------
    pymc.Model
        With `pymc.Data` for the design, so that it is compiled once and refitted to other counts.
    """
    pm = pymc()

    reference = reference or law.reference(rows)
    priors = law.prior_of
    coords = {LEVEL: reference["levels"], EFFECT: reference["effects"]}
    with pm.Model(coords=coords) as model:
        d = {name: pm.Data(name, x) for name, x in law.design_arrays(rows, reference).items()}
        values = {}
        for part in law.parts:
            values[part] = priors[part].variable(part, dims=None if part == "log_precision" else LEVEL)
            if part in WITH_EFFECTS and reference["effects"]:
                values[f"{part}_effect"] = priors[f"{part}_effect"].variable(f"{part}_effect", dims=EFFECT)
        if law.seeds:
            values |= {f"{part}_sd": priors[f"{part}_sd"].variable(f"{part}_sd") for part in law.parts}
            values[UNITS] = pm.Flat(UNITS, shape=(len(reference["runs"]), len(law.parts)))
        curve, log_density = law.curves(values, d)
        if law.seeds:
            pm.Potential("deviations", log_density.sum())
        pm.Potential(
            law.scale,
            log_likelihood(curve, d["log_train"], d, law.shape, lambda values, _: values.sum()),
        )
    return model
