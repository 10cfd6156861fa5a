"""The PyMC model of the law of scores: what users see, other samplers draw from, and densities are tested against."""

from ..backend import pymc
from .item import expected, items, logits, prior_of_items
from .noise import FREEDOM, NOISES


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
    reference = reference or law.reference(rows)
    noise, shape = NOISES[law.noise], law.units(reference)[0].shape
    with pm.Model() as model:
        d = {name: pm.Data(name, x) for name, x in law.design_arrays(rows, reference).items()}
        values = {name: prior.variable(name) for name, prior in law.prior_of.items()}
        raw = pm.Flat("benchmark_units", shape=shape)
        pm.Potential("benchmarks", prior_of_items(values, raw, d).sum())
        families = pm.Normal("family_units", 0, 1, shape=len(reference["families"])) if law.family_effects else None
        steps = ()
        if law.pace == "random_walk":
            count = len(reference["half_years"])
            walk = pm.Normal("gain_steps", 0, 1, shape=count)
            steps = [walk[i] for i in range(count)]
        mean, variance = expected(values, law.pace, d, families, steps)
        if law.version_effects:
            units = pm.Normal("version_units", 0, 1, shape=len(reference["versions"]))
            versions = values["version_sd"] * units
        scattered = {"mu": mean, "sigma": variance**0.5, "shape": len(reference["models"])}
        if law.scatter == "t4":
            capability = pm.StudentT("capability", nu=FREEDOM, **scattered)
        else:
            capability = pm.Normal("capability", **scattered)
        benchmarks = items(values, raw, d)
        for where, sign in (("inner", 1), ("low", 1), ("high", -1)):
            ability, item = capability[d[f"{where}_model"]], d[f"{where}_item"]
            if law.version_effects:
                ability = ability + d[f"{where}_nested"] * versions[d[f"{where}_version"]]
            eta, own = sign * logits(ability, benchmarks, item), benchmarks.log_noise[item]
            if where == "inner":
                found = noise.log_density(eta, own, d["inner_log_score"], d["inner_log_rest"])
            else:
                found = noise.log_below(eta, own)
            pm.Potential(f"{where}_scores", found.sum())
    return model
