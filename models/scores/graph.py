"""The PyMC model of the law of scores: what users see, other samplers draw from, and densities are tested against."""

from ..backend import pymc
from .item import PARTS, expected, items, logits
from .noise import NOISES


def model(law, rows, reference=None):
    """Build the PyMC model of this law on a table of scores.

    Parameters
    ----------
    rows : DataFrame
        From `rows`.
    reference : dict, optional
        From `reference`; by default that of the rows.

    Returns
    -------
    pymc.Model
        With `pymc.Data` for the design, so that it is compiled once and refitted to other scores.
    """
    pm = pymc()
    import pytensor.tensor as pt

    reference = reference or law.reference(rows)
    noise, (count, _) = NOISES[law.noise], law.start(reference)[1].shape
    with pm.Model() as model:
        d = {name: pm.Data(name, x) for name, x in law.design_arrays(rows, reference).items()}
        values = {name: prior.variable(name) for name, prior in law.prior_of.items()}
        centres = pt.stack([0.0, 0.0, values["log_noise_centre"]])
        sds = pt.stack([values[f"{part}_sd"] for part in PARTS])
        raw = pm.Normal("benchmark_units", centres, sds, shape=(count, len(PARTS)))
        families = pm.Normal("family_units", 0, 1, shape=len(reference["families"])) if law.family_effects else None
        mean, variance = expected(values, law.pace, d, families)
        capability = pm.Normal("capability", mean, variance**0.5, shape=len(reference["models"]))
        slope, difficulty, log_noise = items(values, raw, d)
        for where, sign in (("inner", 1), ("low", 1), ("high", -1)):
            item = d[f"{where}_item"]
            eta = sign * logits(capability, slope, difficulty, d[f"{where}_model"], item)
            if where == "inner":
                found = noise.log_density(eta, log_noise[item], d["inner_log_score"], d["inner_log_rest"])
            else:
                found = noise.log_below(eta, log_noise[item])
            pm.Potential(f"{where}_scores", found.sum())
    return model
