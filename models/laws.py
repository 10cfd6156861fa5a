"""The laws by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..datasets.wording import check_choice, quoted, suggestion, unknown
from ..errors import InputError
from . import catalogue, published
from .law import Law

if TYPE_CHECKING:
    from .catalogue import *  # noqa: F403

NO_LAWS = ("LossLaw", "Sampled", "Specification", "Formula")
BY_OPTION = {"progress": "specification", "formula": "formula"}
CLOSE = 0.8  # to the name of a published law
# Names that state an option of a law.
WITH_OPTION: dict[str, tuple[str, dict[str, Any]]] = {
    f"progress-{k}": ("Progress", {"specification": k}) for k in range(1, 21)
}
# Classes of laws by name. Those of the package are texts, and imported on first use.
LAWS: dict[str, type[Law] | str] = {
    re.sub(r"(?<=.)(?=[A-Z])", "-", name).lower(): name
    for name in catalogue.__all__
    if name not in (*NO_LAWS, *(of for of, _ in WITH_OPTION.values()))
}
AnyLaw = TypeVar("AnyLaw", bound=Law)


def __getattr__(name: str) -> Any:
    if name in catalogue.__all__:
        return getattr(catalogue, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*catalogue.__all__, "names", "register"])


if not TYPE_CHECKING:  # a type checker reads the names in `catalogue.pyi`
    __all__ = __dir__()


def kind_of(name: str) -> type[Law]:
    """Return the class of a law by name.

    Examples
    --------
    >>> kind_of("progress-7").__name__
    'Progress'
    """
    kind = WITH_OPTION[name][0] if name in WITH_OPTION else LAWS[name]
    return __getattr__(kind) if isinstance(kind, str) else kind


def names() -> tuple[str, ...]:
    """Return the names of the laws that can be fitted.

    Examples
    --------
    >>> names()[0]
    'chinchilla'
    """
    return (*LAWS, *WITH_OPTION)


def register(kind: type[AnyLaw]) -> type[AnyLaw]:
    """Register a custom law, so that `law`, the command line's process and `open` accept its name.

    Parameters
    ----------
    kind : type
        A class of laws, such as a subclass of `LossLaw`.

    Returns
    -------
    type
        The class itself, so that this may be used as a decorator.

    Raises
    ------
    InputError
        If another law has the name.

    Examples
    --------
    >>> register(kind_of("chinchilla")).name
    'chinchilla'
    """
    if kind.name in names() and kind_of(kind.name).__qualname__ != kind.__qualname__:
        raise InputError(f"there is a law called {quoted(kind.name)} already; give this one another name")
    LAWS[kind.name] = kind
    return kind


def law(name: str, **options: Any) -> Any:
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
    if name in published.laws():
        return published.find(name).law(**options)
    if BY_OPTION.get(name) in options:  # classes whose laws follow from one option
        kind: Any = __getattr__(name.capitalize())
    elif name in names():
        kind, options = kind_of(name), WITH_OPTION.get(name, ("", {}))[1] | options
    else:
        formula = " or write a formula such as 'loss ~ E + A * parameters**-alpha', the law of one column"
        near = suggestion(name, published.laws(), CLOSE)
        raise InputError(f"{unknown('law', name, names())}{near};{formula}; bayescaling laws lists published ones")
    names_of_options = [f.name for f in fields(kind)]
    for option in options:
        check_choice(f"option of the {name} law,", option, names_of_options)
    return kind._from_options(options, law)


def as_law(value: AnyLaw | str, priors: Mapping[str, Any] | None = None) -> AnyLaw:
    """Return a law from the law itself or from its name, with `priors` in the place of its priors of these names.

    Raises
    ------
    InputError
        If there is no law of the name, what is given is neither a law nor text, or a prior cannot be used.

    Examples
    --------
    >>> as_law("coupled").label
    'coupled'
    """
    if isinstance(value, str):
        value = law("formula", formula=value) if "~" in value else law(value)
    result: Any = value
    if not issubclass(type(result), Law):
        raise InputError(
            f'law is of type {type(value).__name__}; pass a law such as Chinchilla() or its name "chinchilla", '
            "and the table as table=..."
        )
    if priors is None:
        return result
    if not isinstance(priors, Mapping):
        raise InputError(f'priors must be a dict such as {{"alpha": "HalfNormal(1)"}}, not {quoted(priors)}')
    return replace(result, priors={**result.priors, **priors})
