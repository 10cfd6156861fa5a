"""PyMC models of the laws written by hand, variable by variable: what densities are tested against."""

from bayescaling.models.arrays import pick
from bayescaling.models.backend import pymc
from bayescaling.models.lengths.curve import log_likelihood
from bayescaling.models.lengths.law import UNITS
from bayescaling.models.lengths.priors import EFFECT, LEVEL, WITH_EFFECTS
from bayescaling.models.loss import grouping
from bayescaling.models.loss.grouped_density import CODES, CODES_OF_EFFECTS, OF_GROUPS
from bayescaling.models.loss.grouping import GROUP
from bayescaling.models.loss.noise import OF_EFFECTS
from bayescaling.models.scores.item import expected, logits, place_of_capabilities, placed_items, prior_of_items
from bayescaling.models.scores.noise import FREEDOM, NOISES


def model(law, rows, reference=None):
    """Build the model of a law."""
    reference = reference or law.reference(rows)
    kinds = {"counts": lengths, "scores": scores, "evaluations": progress}
    build = grouped if law.grouped_by else kinds.get(law.kind, loss)
    return build(law, rows, reference)


def loss(law, rows, reference):
    pm = pymc()

    with pm.Model() as model:
        data = {name: pm.Data(name, array) for name, array in law.design_arrays(rows, reference).items()}
        centre = {name: pm.Data(name, x) for name, x in reference.items()}
        values = {name: prior.variable(name) for name, prior in law.prior_of.items()}
        observe(law, law.scale, values, centre, data)
        potential = law.potential and law.potential(values, centre)
        if potential is not None:
            pm.Potential("potential", potential)
    return model


def observe(law, name, values, reference, data):
    """Register the observations as `name` in the PyMC model of the context, from arrays of `design_arrays`.

    Where rows share effects, the log density of the rows of each effect together is a potential.
    """
    pm = pymc()

    if law.effects_of:
        pm.Potential(name, law._density_of_rows(values, data | reference).sum())
        return

    def split(arguments):
        return (arguments[:-1], arguments[-1]) if law.measurement_error else (arguments, None)

    def logp(value, mean, *arguments):
        arguments, halfwidth = split(arguments)
        return law.residuals.logp(value - mean, *arguments, halfwidth=halfwidth)

    mean = law.on_scale(law.mean(law.constants(values, reference), data))
    halfwidth = (data["halfwidth"],) if law.measurement_error else ()
    arguments = (*law.residuals.arguments(values, reference, data, fitted=True), *halfwidth)
    pm.CustomDist(name, mean, *arguments, logp=logp, observed=data["observed"])


def lengths(law, rows, reference):
    pm = pymc()

    priors = law.prior_of
    coords = {LEVEL: reference["levels"], EFFECT: reference["effects"]}
    with pm.Model(coords=coords) as model:
        d = {name: pm.Data(name, x) for name, x in law.density(rows, reference).arrays.items()}
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
        pm.Potential(law.scale, log_likelihood(curve, d["log_train"], d, law.shape))
    return model


def scores(law, rows, reference):
    pm = pymc()
    noise, shape = NOISES[law.noise], law.blocks(reference)["benchmark_units"][1].shape
    with pm.Model() as model:
        d = {name: pm.Data(name, x) for name, x in law.density(rows, reference).arrays.items()}
        values = {name: prior.variable(name) for name, prior in law.prior_of.items()}
        benchmarks, raw, log_scale = placed_items(values, pm.Flat("benchmark_units", shape=shape), d)
        pm.Potential("benchmarks", (prior_of_items(values, raw) + log_scale).sum())
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
        place, log_sd = place_of_capabilities(values, benchmarks, mean, variance, d)
        capability = place + log_sd.exp() * pm.Flat("capability", shape=len(reference["models"]))
        scattered = {"mu": mean, "sigma": variance**0.5}
        kind = pm.StudentT.dist(nu=FREEDOM, **scattered) if law.scatter == "t4" else pm.Normal.dist(**scattered)
        pm.Potential("capabilities", (pm.logp(kind, capability) + log_sd).sum())
        for where, sign in (("inner", 1), ("low", 1), ("high", -1)):
            ability, item = capability[d[f"{where}_model"]], d[f"{where}_item"]
            if law.version_effects:
                ability = ability + d[f"{where}_nested"] * versions[d[f"{where}_version"]]
            eta, log_noise = sign * logits(ability, benchmarks, item), benchmarks.log_noise[item]
            if where == "inner":
                log_density = noise.log_density(eta, log_noise, d["inner_log_score"], d["inner_log_rest"])
            else:
                log_density = noise.log_below(eta, log_noise)
            pm.Potential(f"{where}_scores", log_density.sum())
    return model


def grouped(law, rows, reference):
    pm = pymc()
    of_groups = law.of_groups
    with pm.Model(coords={GROUP: reference["groups"]}) as model:
        data = {name: pm.Data(name, x) for name, x in law.density(rows, reference).arrays.items()}
        values = {}
        for name, prior in law.prior_of.items():
            if name in law.pooled:
                kind = getattr(pm, grouping.DISTRIBUTIONS[prior.support])
                values[name] = kind(name, *grouping.locate_population(name, prior, values), dims=GROUP)
            else:
                values[name] = prior.variable(name, dims=GROUP if name in of_groups else None)
        values, data = _at_rows(law, values, data)
        observe(law.law, law.scale, values, data, data)
    return model


def _at_rows(law, values, data):
    """Return the quantities of the law at each row, and the data with the reference there."""
    columns = {
        name: pick(values[name], data[CODES_OF_EFFECTS if law.effects_of and name in OF_EFFECTS else CODES])
        for name in law.law.prior_of
    }
    return columns, data | {name: pick(x, data[CODES]) for name, x in _origin(data).items()}


def _origin(data):
    return {name.removeprefix(OF_GROUPS): x for name, x in data.items() if name.startswith(OF_GROUPS)}


def progress(law, rows, reference):
    pm = pymc()
    with pm.Model() as model:
        density = law.density(rows, reference)
        shapes = {n: x.shape if density.axes[n] is None else (None, *x.shape[1:]) for n, x in density.arrays.items()}
        d = {name: pm.Data(name, x, shape=shapes[name]) for name, x in density.arrays.items()}
        terms = density.rest({"z": pm.Flat("z", shape=law.dimension)}, d)
        pm.Potential("log_prior", terms["z"])
        pm.Potential("log_likelihood", terms[law.scale].sum())
    return model
