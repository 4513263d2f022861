"""scale-collapse, scale-stuck: a loss scale at its floor, or one that overflows and stays where it is."""

from __future__ import annotations

from collections import deque
from typing import Deque

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

WINDOW = 200
"""Points in which halvings are counted."""
SETTLED = 100
"""Points after which the search for a scale is over."""


class LossScale(Detector):
    """The loss scale of one rank."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._collapse = Case(context, Symptom.SCALE_COLLAPSE)
        self._stuck = Case(context, Symptom.SCALE_STUCK)
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._last = float("nan")
        self._highest = 0.0
        self._halvings: Deque[int] = deque()

    def points(self, chunk: Chunk) -> None:
        """Only changes matter; a scale that stands still is read at one look."""
        good = chunk.good()
        if not len(good):
            return
        self.judged = True
        values = good.values
        changed = np.empty(len(values), bool)
        changed[0] = values[0] != self._last
        changed[1:] = values[1:] != values[:-1]
        if not self._count:
            self._highest = float(values[0])
        settled = self._collapse.chronic and not self._stuck.open
        for index in () if settled else np.flatnonzero(changed).tolist():
            self._change(float(values[index]), self._count + index, int(good.steps[index]), float(good.walls[index]))
        before = self._count
        self._count += len(values)
        self._last = float(values[-1])
        self._watch_stuck(good, before)

    def _change(self, value: float, position: int, step: int, wall: float) -> None:
        before, self._last = self._last, value
        self._highest = max(self._highest, value)
        floor = self.context["floor"]
        if value > 4 * floor:
            self._collapse.clear(step, wall)
        elif value <= floor < self._highest and not self._collapse.open:
            shown = Evidence(
                mark("the loss scale fell from {high:.0f} to {value:g} at step {step}"),
                {"high": self._highest, "value": value, "step": step},
            )
            self._collapse.hit(Severity.ERROR, step, step, wall, shown)
        if value < before and position >= SETTLED:
            self._halvings.append(position)
            while self._halvings[0] <= position - WINDOW:
                self._halvings.popleft()
            if len(self._halvings) >= self.context["halvings"] and not self._collapse.open:
                shown = Evidence(mark("{n} halvings in {window} points"), {"n": len(self._halvings), "window": WINDOW})
                self._collapse.hit(Severity.ERROR, step, step, wall, shown)
        self._stuck.clear(step, wall)

    def _watch_stuck(self, chunk: Chunk, before: int) -> None:
        """A scale that stays while steps overflow is a fixed one that does not fit. Looked at every hundred points."""
        flags = self.context.scene.one(self.context.scope.rank_id, Role.OVERFLOW)
        series = self.context.series
        if flags is None or series is None or self._stuck.open or not flags.values.any():
            return
        for at in range(SETTLED - 1 - before % SETTLED, len(chunk), SETTLED):
            step, scale = int(chunk.steps[at]), float(chunk.values[at])
            if not flags.at(step):
                continue
            _steps, recent = flags.upto(step, SETTLED)
            _own, scales = series.upto(step, SETTLED)
            if len(recent) == len(scales) == SETTLED and (recent != 0).all() and (scales == scale).all():
                shown = Evidence(
                    mark("the loss scale stays at {value:g} though {n} steps overflowed"),
                    {"value": scale, "n": SETTLED},
                )
                self._stuck.hit(Severity.WATCH, step, step, float(chunk.walls[at]), shown)
                return

    def segment(self, step: int) -> None:
        """Begin anew."""
        for case in (self._collapse, self._stuck):
            case.clear(step, 0.0)
        self._begin()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS_SCALE


RULE = Rule(
    name="loss-scale",
    title=mark("Loss scale"),
    symptoms=(Symptom.SCALE_COLLAPSE, Symptom.SCALE_STUCK),
    make=LossScale,
    needs=mark("the loss scale of each step"),
    watches=_watches,
    parameters=(
        Parameter(
            "floor",
            1.0,
            mark("scale"),
            mark("the smallest scale that dynamic scalers go to"),
            mark("MindSpore source, nn/wrap/loss_scale.py"),
        ),
        Parameter("halvings", 8.0, mark("halvings in 200 points"), mark("one in 1000 is usual"), CHECKED),
    ),
    false_alarms=(mark("a scale that was chosen as 1 from the start"),),
)
