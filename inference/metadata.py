"""Check what the records in files must hold: they come from outside, and results depend on them."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..datasets.wording import printable, quoted, shortened
from ..errors import InputError

LONGEST = 2**24  # characters
Count = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class Entry(BaseModel):
    """Values of declared types; what a later version adds is ignored."""

    model_config = ConfigDict(strict=True, extra="allow")


class LawEntry(Entry):
    """What rebuilds a law."""

    name: str
    options: dict[str, Any]


class FittedLaw(LawEntry):
    """A law with what its quantities refer to."""

    reference: dict[str, Any]


class TableEntry(Entry):
    """Which table it was."""

    sha256: str
    rows: Count
    source: str


class SettingsEntry(Entry):
    """How the law was sampled."""

    draws: Count
    tune: Count
    chains: Count
    target_accept: float


class Diagnostics(Entry):
    """How the chains did."""

    r_hat_max: float | None
    ess_bulk_min: float
    ess_tail_min: float
    divergences: Count
    max_treedepth: Count
    ok: bool
    warnings: list[str]


class Test(Entry):
    """One test of a law."""

    statistic: float | None
    df: Count
    p: float
    size: float | None
    worst_size: float | None = None
    worst_where: str | None = None
    fits: bool
    what: str


class Verdict(Entry):
    """The result of the check of a law by its rows."""

    verdict: Literal["fits", "off", "does not fit"]
    p: float
    size: float | None
    share_of: str
    rejected_by: list[str]
    tests: dict[str, Test]
    prior_driven: dict[str, float]


class Answer(Entry):
    """One answer that a fit prints, and the sentence to quote of it."""

    label: str
    value: dict[str, float | None] | float
    text: str
    quote: str


class Standing(Entry):
    """What holds of the answers of a fit."""

    law: str
    data: str
    converged: bool
    chains: str
    verdict: Literal["fits", "off", "does not fit"] | None
    check: str | None
    robust: bool
    strength: str
    because: list[str]
    width: float | None


class Answers(Entry):
    """What a fit prints."""

    answers: list[Answer]
    standing: Standing
    remarks: list[str]


class FitRecord(Entry):
    """The record of a fit."""

    law: FittedLaw
    priors: dict[str, Any]
    data: TableEntry
    seed: Seed
    sampler: str
    settings: SettingsEntry
    seconds: dict[str, float]
    versions: dict[str, str]
    created: str
    diagnostics: Diagnostics
    verdict: Verdict | None = None
    answers: Answers | None = None


class CalibrationRecord(Entry):
    """The record of a calibration."""

    law: LawEntry
    data: TableEntry
    truth: str | dict[str, float]
    seed: Seed
    sampler: str
    settings: dict[str, int | float | None]
    versions: dict[str, str]


def parsed(text, place):
    """Read the text of a record, refusing what is no JSON object."""
    try:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ValueError
        record = json.loads(text)
        if not isinstance(record, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise InputError(f"{printable(place)}: its record is no JSON object of a usual length; make it again") from None
    return record


def check(record, form, place):
    """Refuse a record that is not of a form, naming the first entry that is not."""
    try:
        form.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        value = "" if first["type"] == "missing" else f" (found {quoted(first['input'])})"
        raise InputError(
            f"{printable(place)}: entry {shortened(where)} of its record: {first['msg']}{value}; make it again"
        ) from None
