"""loss-nan, loss-inf: a loss that is no number any more. Every further step is wasted.

Speaks at the first such value. A loss on held-out data counts from its second evaluation on: untrained nets may
overflow.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Rule, Subject
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role


class LossNonfinite(Detector):
    """One loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._nan = Case(context, Symptom.LOSS_NAN)
        self._inf = Case(context, Symptom.LOSS_INF)
        self._held_out = context.series is not None and context.series.subject.role is Role.EVAL_LOSS
        self._seen = 0

    def points(self, chunk: Chunk) -> None:
        """Look for the first value that is not finite."""
        self.judged = True
        before, self._seen = self._seen, self._seen + len(chunk)
        if chunk.whole:
            return
        for case, bad in ((self._nan, np.isnan(chunk.values)), (self._inf, np.isinf(chunk.values))):
            if case.severity is Severity.CRITICAL or not bad.any():
                continue
            for index in np.flatnonzero(bad)[:2].tolist():  # the first, and the first that is not the very first point
                self._hit(case, chunk, index, first=before + index == 0)

    def _hit(self, case: Case, chunk: Chunk, index: int, *, first: bool) -> None:
        severity = Severity.CRITICAL
        if self._held_out:
            severity = Severity.WATCH if first else Severity.ERROR
        step = int(chunk.steps[index])
        shown = Evidence(
            mark("{tag} is {value} at step {step}"),
            {"tag": self.context.scope.tag, "value": str(float(chunk.values[index])), "step": step},
        )
        case.hit(severity, step, step, float(chunk.walls[index]), shown)

    def segment(self, step: int) -> None:
        """Only a new start can heal it."""
        self._seen = 0
        for case in (self._nan, self._inf):
            case.clear(step, 0.0, Evidence(mark("a new start at step {step}"), {"step": step}))


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role in (Role.LOSS, Role.PARTIAL_LOSS, Role.EVAL_LOSS)


RULE = Rule(
    name="loss-nonfinite",
    title=mark("Loss is NaN or infinite"),
    symptoms=(Symptom.LOSS_NAN, Symptom.LOSS_INF),
    make=LossNonfinite,
    needs=mark("a loss, from a summary or a log"),
    watches=_watches,
    false_alarms=(mark("a loss that a script sets to NaN on purpose, to say that a batch was left out"),),
)
