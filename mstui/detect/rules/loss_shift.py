"""loss-shift: at a restart the loss continues at another level than it had.

A training that goes on from a checkpoint continues its curve. A level far above that of the steps before tells of a
state that was lost: optimiser, learning rate, scale, or the order of the data. Elsewhere a step of the level is no
trouble of its own: a fall follows a learning rate, a rise is what loss-diverge and loss-spike are about.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED, HCCL
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role

WINDOW = 32
"""Points on each side of the edge, at most."""
LEAST = 8
"""Points on each side of the edge, at least."""
SIGMAS = 5.0


class LossShift(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_SHIFT)
        self._steps = np.empty(0, np.int64)
        self._values: FloatArray = np.empty(0)
        self._before: FloatArray = np.empty(0)
        self._edge = 0
        self._wall: Optional[float] = None
        """of the newest point"""
        self._gap = 0.0
        """seconds between the two newest points"""
        self._after: FloatArray = np.empty(0)
        self.waits = Evidence(mark("no restart so far"))

    def points(self, chunk: Chunk) -> None:
        """Keep the last points; after an edge, collect and compare."""
        good = chunk.good()
        if not len(good):
            return
        walls = good.walls if self._wall is None else np.concatenate(([self._wall], good.walls))
        gaps = np.diff(walls)
        ahead = len(good) - len(gaps)
        usual = np.concatenate(([self._gap], gaps[:-1])) if len(gaps) else gaps
        silent = (gaps > self.context["silence"]) & (gaps > self.context["times"] * usual)
        self._wall = float(walls[-1])
        self._gap = float(gaps[-1]) if len(gaps) else self._gap
        begin = 0
        for edge in (np.flatnonzero(silent) + ahead).tolist():
            self._piece(good, begin, edge)
            self._edge_at(int(good.steps[edge]))
            begin = edge
        self._piece(good, begin, len(good))

    def _piece(self, chunk: Chunk, begin: int, end: int) -> None:
        """Points without a long silence between them."""
        if begin == end:
            return
        good = Chunk.of(chunk.steps[begin:end], chunk.walls[begin:end], chunk.values[begin:end])
        if len(self._before) and len(self._after) < LEAST:
            missing = LEAST - len(self._after)
            self._after = np.concatenate((self._after, good.values[:missing]))
            if len(self._after) == LEAST:
                self._compare(int(good.steps[missing - 1]), float(good.walls[missing - 1]))
        self._values = np.concatenate((self._values, good.values[-4 * WINDOW :]))[-4 * WINDOW :]
        self._steps = np.concatenate((self._steps, good.steps[-4 * WINDOW :]))[-4 * WINDOW :]

    def _compare(self, step: int, wall: float) -> None:
        self.judged = True
        before, after = float(np.median(self._before)), float(np.median(self._after))
        scatter = 1.4826 * float(np.median(np.abs(self._before - before)))
        bar = max(SIGMAS * scatter, self.context["rise"] * abs(before))
        if after - before > bar:
            shown = Evidence(
                mark("level {after:.4g} after the restart at step {edge}, {before:.4g} before it"),
                {"after": after, "before": before, "edge": self._edge},
            )
            self._case.hit(Severity.ERROR, self._edge, step, wall, shown)

    def segment(self, step: int) -> None:
        """The edge: keep what was recorded just before the step from which it goes on."""
        self._case.clear(step, 0.0)
        self._edge_at(step)
        self._wall, self._gap = None, 0.0

    def _edge_at(self, step: int) -> None:
        earlier = self._values[self._steps < step][-WINDOW:]
        self._before = earlier if len(earlier) >= LEAST else np.empty(0)
        self._after = np.empty(0)
        self._edge = step
        self._values, self._steps = np.empty(0), np.empty(0, np.int64)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-shift",
    title=mark("Loss level changed"),
    symptoms=(Symptom.LOSS_SHIFT,),
    make=LossShift,
    needs=mark("a training loss from before and after a restart or a long silence"),
    watches=_watches,
    parameters=(
        Parameter(
            "rise",
            0.2,
            mark("of the level before"),
            mark("data in another order bring a few percent"),
            CHECKED,
        ),
        Parameter(
            "silence",
            1800.0,
            mark("seconds without a record"),
            mark("an evaluation or a checkpoint is over by then; after it the process is likely to be another"),
            HCCL,
        ),
        Parameter(
            "times",
            50.0,
            mark("times the gap before it"),
            mark("slow steps may take half an hour each"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("a restart that is meant to begin from nothing"),),
)
