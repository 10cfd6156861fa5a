"""The PyMC model of a law of the loss: what users see, other samplers draw from, and densities are tested against."""

import numpy as np

from ..backend import pymc


def model(law, rows, reference=None):
    """Build the PyMC model of a law on runs.

    Parameters
    ----------
    rows : DataFrame
        Runs, as `rows` returns them.
    reference : dict, optional
        Centre of the sampled quantities; by default that of the rows.

    Returns
    -------
    pymc.Model
        With `pymc.Data` for the design (``parameters``, ``tokens``, ``observed``, ...) and the reference, so that
        it is compiled once and refitted by changing data.
    """
    pm = pymc()

    reference = reference or law.reference(rows)
    law.check(rows, reference)
    with pm.Model() as model:
        data = {name: pm.Data(name, array) for name, array in law.design_arrays(rows, reference).items()}
        centre = {name: pm.Data(name, x) for name, x in reference.items()}
        values = {name: prior.variable(name) for name, prior in law.prior_of.items()}
        law.observe(law.scale, values, centre, data)
        potential = law.potential(values, centre)
        if potential is not None:
            pm.Potential("potential", potential)
    return model


def observe(law, name, values, reference, data):
    """Register the observations as `name` in the PyMC model of the context, from arrays of `design_arrays`.

    Where rows share effects, the log density of the rows of each effect together is a potential.
    """
    pm = pymc()

    if law.effects_of:
        pm.Potential(name, law.density_of_rows(values, data | reference).sum())
        return

    def split(arguments):
        return (arguments[:-1], arguments[-1]) if law.measurement_error else (arguments, None)

    def logp(value, mean, *arguments):
        arguments, halfwidth = split(arguments)
        return law.residuals.logp(value - mean, *arguments, halfwidth=halfwidth)

    def random(mean, *arguments, rng=None, size=None):
        arguments, halfwidth = split(arguments)
        shape = np.broadcast_shapes(np.shape(mean), tuple(size or ()))
        return mean + law.residuals.draw(rng, shape, *arguments, halfwidth=halfwidth)

    mean = law.on_scale(law.mean(law.constants(values, reference), data))
    halfwidth = (data["halfwidth"],) if law.measurement_error else ()
    arguments = (*law.residuals.arguments(values, reference, data, fitted=True), *halfwidth)
    pm.CustomDist(name, mean, *arguments, logp=logp, random=random, observed=data["observed"])
