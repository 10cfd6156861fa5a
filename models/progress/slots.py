"""Which columns a specification has and which slots of the family they take: what of the coordinates is in use."""

import numpy as np

from ...errors import InputError
from .specifications import STEPS, Column


def predictors(law):
    """Return the columns of eta_N and eta_D, changes of the year slope included."""
    extra = {"hinge": "hinge", "jump": "after"}[law.cutoff_form]

    def with_changes(columns):
        yearly = [c for c in columns if c.factors == ("y",)]
        if law.pace == "random_walk" and yearly:
            return (*columns, *(Column((step,)) for step in STEPS))
        added = [Column((extra,), c.benchmark, c.architecture) for c in yearly]
        return (*columns, *(added if law.cutoff is not None else ()))

    of_parameters, of_data = law.spec.columns(law.benchmarks)
    return with_changes(of_parameters), with_changes(of_data)


def slots(law):
    """Return the size columns of each predictor, and drifts as {key: (column of eta_N or None, of eta_D or None)}."""
    sizes = [[c for c in p if c.kind == "size"] for p in law.predictors]
    drifts = {}
    for side, predictor in enumerate(law.predictors):
        for column in predictor:
            if column.kind in ("year", "rate"):
                timed = tuple(f for f in column.factors if f not in ("n", "d", "c"))
                key = timed, column.kind, column.benchmark, column.architecture
                drifts.setdefault(key, [None, None])[side] = column
    most = law.widths
    if max(len(sizes[0]), len(sizes[1])) > most.sizes or len(drifts) > most.drifts:
        raise InputError(
            f"specification {law.spec.parameters!r}, {law.spec.data!r}: at most {most.sizes} size columns "
            f"in a predictor and {most.drifts} columns with a date can be fitted"
        )
    return sizes[0], sizes[1], drifts


def levels(law):
    """Return the levels of the intercepts: the benchmarks, or ("all",)."""
    intercepts = [c for c in law.predictors[0] if c.kind == "intercept"]
    return law.benchmarks if intercepts[0].benchmark else ("all",)


def active(law, *, sampled_only=False):
    """Return which coordinates of z have a meaning in this law, (z,) of bool.

    With `sampled_only`, only those that stand for coefficients which the paper's penalty covers.
    """
    widths = law.widths
    active = np.zeros(widths.dimension, bool)
    sizes_n, sizes_d, drifts = law.slots

    def use(name, count):
        active[widths.slices[name]] = np.arange(widths.blocks[name]) < count

    use("loss_centre", len(law.levels))
    use("share", len(law.levels) if law.predictors[1] else 0)
    use("elasticity_parameters", len(sizes_n))
    use("elasticity_data", len(sizes_d))
    use("yearly_total", len(drifts))
    split = np.zeros(widths.drifts, bool)
    split[: len(drifts)] = [None not in both and not law.spec.shared_year for both in drifts.values()]
    active[widths.slices["yearly_split"]] = split & ~law.steps_of_walk
    use("vocabulary", law.spec.vocabulary)
    use("transformer", law.transformer is not None)
    if sampled_only:
        return active
    use("irreducible_share", len(law.levels) if law.irreducible else 0)
    use("sigma", 1)
    use("nu_minus_one", law.noise == "student_t")
    use("sigma_benchmark", len(law.benchmarks) if law.scatter == "by_benchmark" else 0)
    use("paper_sd", bool(law.paper_effects))
    use("pace_sd", law.pace == "random_walk")
    if law.pooling:
        use("pooled_loss_centre", 1)
        use("pooled_share", bool(law.predictors[1]))
        use("pooled_yearly", law.drifts_by_benchmark.any())
    return active


def drifts_by_benchmark(law):
    """Return which yearly falls are one for each benchmark, (drift,) of bool; changes at the cutoff are not of them."""
    flags = [benchmark is not None and not {"hinge", "after"} & set(timed) for (timed, _, benchmark, _) in law.slots[2]]
    return np.array(flags + [False] * (law.widths.drifts - len(flags)))


def steps_of_walk(law):
    """Return which drifts are steps of a random walk of the yearly fall, (drift,) of bool."""
    flags = [timed[0] in STEPS for timed, *_ in law.slots[2]]
    return np.array(flags + [False] * (law.widths.drifts - len(flags)))


def coordinates(law):
    """Return the names of the active coordinates."""
    names = [f"{name}[{i}]" for name, width in law.widths.blocks.items() for i in range(width)]
    return [name for name, active in zip(names, law.active(), strict=True) if active]
