"""grad-explode: the norm of all gradients leaps, begins far too large, or is no number.

A leap is a multiple of the recent median, large enough in itself. A norm that is not finite is a skipped step where a
loss scaler watches (the overflow rules count those), and a fault where none does.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED, MEASURED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role

WINDOW = 128
"""Points of which the median is the usual norm."""
KNOWN_FROM = 10
"""Points from which on there is a usual norm."""
FEW = 4
"""Points among which two must be beyond the limit, before there is a usual norm."""
CALM = 20
"""Points below the limit after which it is over."""


class GradExplode(Detector):
    """The norm of all gradients of one rank."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.GRAD_EXPLODE)
        self._begin()

    def _begin(self) -> None:
        self._window: FloatArray = np.empty(0)
        self._count = 0
        self._large: list[int] = []
        self._calm = 0

    def points(self, chunk: Chunk) -> None:
        """One comparison with the limit for all points, and a look at each only where one is beyond it."""
        self.judged = True
        limit = self.context["norm"]
        quiet = chunk.whole and float(chunk.values.max()) < limit
        if quiet and not self._case.open:
            self._window = np.concatenate((self._window, chunk.values[-WINDOW:]))[-WINDOW:]
            self._count += len(chunk)
            return
        beyond = ~chunk.finite | (chunk.values >= limit)
        begin = 0
        marks = np.flatnonzero(beyond).tolist()
        for index in marks:
            self._fine(chunk, begin, index)
            self._one(float(chunk.values[index]), int(chunk.steps[index]), float(chunk.walls[index]))
            begin = index + 1
        self._fine(chunk, begin, len(chunk))

    def _fine(self, chunk: Chunk, begin: int, end: int) -> None:
        if begin >= end:
            return
        self._window = np.concatenate((self._window, chunk.values[begin:end]))[-WINDOW:]
        self._count += end - begin
        if not self._case.open:
            return
        need = CALM - self._calm
        self._calm += end - begin
        if self._calm >= CALM:
            at = begin + max(0, need - 1)
            back = Evidence(mark("below {limit:.3g} for {n} points"), {"limit": self.context["norm"], "n": CALM})
            self._case.clear(int(chunk.steps[at]), float(chunk.walls[at]), back)

    def _one(self, value: float, step: int, wall: float) -> None:
        self._count += 1
        self._calm = 0
        if not np.isfinite(value):
            if not self.context.scene.of_role(self.context.scope.rank_id, Role.OVERFLOW):
                shown = Evidence(mark("the norm is {value} at step {step}"), {"value": str(value), "step": step})
                self._case.hit(Severity.ERROR, step, step, wall, shown)
            return
        self._large = [each for each in (*self._large, self._count) if each > self._count - FEW]
        known = len(self._window) >= KNOWN_FROM
        usual = float(np.median(self._window)) if len(self._window) else 0.0
        if known:
            bad = value >= self.context["leap"] * usual or len(self._large) >= FEW - 1
        else:
            bad = len(self._large) >= 2 or value >= self.context["leap"] * self.context["norm"]
        if bad:
            shown = Evidence(
                mark("norm {value:.3g} at step {step}; the usual one is {usual:.3g}"),
                {"value": value, "step": step, "usual": usual},
            )
            self._case.hit(Severity.ERROR if usual and value > 100 * usual else Severity.WARN, step, step, wall, shown)
        elif known:
            self._window = np.append(self._window, value)[-WINDOW:]

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._begin()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.GRAD_NORM


RULE = Rule(
    name="grad-explode",
    title=mark("Gradients explode"),
    symptoms=(Symptom.GRAD_EXPLODE,),
    make=GradExplode,
    needs=mark("the norm of all gradients, not clipped"),
    watches=_watches,
    parameters=(
        Parameter(
            "norm",
            100.0,
            mark("norm"),
            mark("healthy runs here stay below 15, also in their first steps"),
            MEASURED,
        ),
        Parameter(
            "leap",
            10.0,
            mark("times the usual"),
            mark("an outlier batch brings a few times the usual norm"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("norms of gradients that are summed over devices, or still hold the loss scale"),),
)
