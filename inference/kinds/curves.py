"""What answers need of tables of loss curves, and of the law of a run in flight."""

from ...datasets.wording import shorten_number
from .. import intervals
from ..words import plain
from . import register_answers
from .record import FILE, FLOOR, Answer, KindAnswers


def _answers(fit):
    gain, last = fit["posterior"]["anneal"] * fit["posterior"]["loss_centre"], fit.rows["loss"].iloc[-1]
    yield Answer("loss now, averaged over readings", float(last), "{:.3f}".format)
    template = "A whole fall of the learning rate removes {x} nats per token of the loss ({of})."
    yield Answer("loss that a fall of the rate removes, nats per token", intervals.summary(gain), plain, template)
    yield Answer(FLOOR, intervals.summary(fit["posterior"]["E"]), plain)


register_answers(
    KindAnswers(
        name="curves",
        needed="losses of runs in flight need a fit of the law 'curve'",
        answers=_answers,
        figure="curve",
        commands=lambda fit: [("curve", FILE, "--until", shorten_number(2 * fit.rows["clock"].max()))],
    )
)
