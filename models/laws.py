"""The laws by name."""

from dataclasses import fields

from ..datasets.wording import unknown
from ..errors import InputError
from .lengths.law import Lengths
from .loss.chinchilla import Chinchilla
from .loss.data_constrained import DataConstrained
from .loss.embedding.configurations import Configurations
from .loss.embedding.corrected import EmbeddingCorrected
from .loss.embedding.weighted import EmbeddingWeighted
from .loss.frontier import Frontier
from .loss.kaplan import Kaplan
from .progress.law import Progress
from .progress.specifications import SPECIFICATIONS

LAWS = {
    law.name: law
    for law in (
        Chinchilla,
        DataConstrained,
        Frontier,
        Kaplan,
        EmbeddingCorrected,
        EmbeddingWeighted,
        Configurations,
        Lengths,
    )
}
PROGRESS = tuple(f"progress-{k}" for k in SPECIFICATIONS)


def laws():
    """Names of the laws that can be fitted.

    Examples
    --------
    >>> laws()[0]
    'chinchilla'
    """
    return (*LAWS, *PROGRESS)


def law(name, **options):
    """Return the law called `name` with `options`.

    Raises
    ------
    InputError
        If the name or an option is unknown.

    Examples
    --------
    >>> law("progress-7", noise="student_t").label
    'progress-7, noise=student_t'
    """
    if name in PROGRESS:
        kind, options = Progress, {"specification": int(name.removeprefix("progress-"))} | options
    elif name == "progress" and "specification" in options:
        kind = Progress
    elif name in LAWS:
        kind = LAWS[name]
    else:
        raise InputError(unknown("law", name, laws()))
    known = [f.name for f in fields(kind)]
    for option in options:
        if option not in known:
            raise InputError(unknown(f"option of the {name} law,", option, known))
    return kind(**options)
