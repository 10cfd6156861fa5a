"""How a law is named in a sentence: by its name and by what makes it another than the usual one."""

from ..datasets.wording import shortened


def title(law):
    """Name of a law, its options other than the defaults and the priors that were replaced.

    Returns
    -------
    str
        On one line, such as ``progress-7, cutoff=2018, prior share (0, 1)``.
    """
    usual = type(law)().options
    said = [_option(name, value) for name, value in law.options.items() if name != "priors" and value != usual[name]]
    priors = [f"prior {name} {_prior(prior)}" for name, prior in law.options["priors"].items()]
    return ", ".join([law.name, *filter(None, said), *priors])


def _option(name, value):
    if name == "specification":
        return "" if isinstance(value, int) else " | ".join(filter(None, (value["parameters"], value["data"])))
    if value is True:
        return name
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={shortened(value)}"


def _prior(prior):
    return prior if isinstance(prior, str) else "({:g}, {:g})".format(*prior)
