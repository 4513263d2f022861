"""data-order-s: the loss repeats itself from epoch to epoch, as it does when the data come in the same order."""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED
from mstui.detect.track import RING, Track
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

LEAST_PERIOD = 8
"""Points an epoch: fewer have no order to speak of."""
EPOCHS = 4


class DataOrder(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.DATA_ORDER)
        self.waits = Evidence(mark("the steps of an epoch are not known"))

    def tick(self, track: Track) -> None:
        """Correlate the last points with those of one epoch before."""
        per_epoch = self.context.scene.steps_per_epoch
        if per_epoch is None or track.count < LEAST_PERIOD * EPOCHS:
            return
        steps = track.recent_steps(RING)
        gap = float(np.median(np.diff(steps)))
        period = round(per_epoch / gap) if gap > 0 else 0
        if period < LEAST_PERIOD or len(steps) < EPOCHS * period:
            return
        self.judged = True
        values = track.recent(EPOCHS * period)
        rows = values.reshape(EPOCHS, period)
        residuals = (rows - rows.mean(axis=1, keepdims=True)).ravel()
        x = np.arange(len(residuals)) - (len(residuals) - 1) / 2
        residuals = residuals - (x * residuals).sum() / (x * x).sum() * x
        ahead, behind = residuals[period:], residuals[:-period]
        scale = float(np.sqrt((ahead**2).sum() * (behind**2).sum()))
        alike = float((ahead * behind).sum()) / scale if scale > 0 else 0.0
        if alike >= self.context["alike"]:
            shown = Evidence(
                mark("the loss of an epoch is {alike:.2f} correlated with that of the epoch before, {n} points apart"),
                {"alike": alike, "n": period},
            )
            self._case.hit(Severity.WATCH, int(steps[-EPOCHS * period]), track.step, track.wall, shown)
        elif alike < self.context["alike"] / 2:
            self._case.clear(track.step, track.wall)

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="data-order",
    title=mark("Data not shuffled"),
    symptoms=(Symptom.DATA_ORDER,),
    make=DataOrder,
    needs=mark("a training loss over four epochs, and the number of steps of an epoch"),
    watches=_watches,
    ticks=True,
    parameters=(Parameter("alike", 0.5, mark("correlation"), mark("shuffled epochs have none"), CHECKED),),
    false_alarms=(mark("a learning rate that cycles once an epoch"),),
)
