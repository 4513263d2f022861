"""loss-huge: a loss of a size that no net of any use has, and that stays there.

Two forms. It began huge: the median of its first points is beyond what scaled data can give. Or it grew huge: the
median of the last five points is a hundred times what it began with. Medians, because one point beyond everything is
a spike.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import AUTOTRAINER_LOSS
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

WINDOW = 5
"""Points whose median is looked at: two may be anything."""
FIRST_LOOK = 3
"""Points from which on a median is taken."""
BACK = 3.0
"""It is over when points are smaller than the bar by this factor: one at the bar shall not ring again and again."""
BACK_POINTS = 10


class LossHuge(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_HUGE)
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._first: FloatArray = np.empty(0)
        self._tail: FloatArray = np.empty(0)
        self._tail_steps: IntArray = np.empty(0, np.int64)
        self._calm = Streak(BACK_POINTS, 1)

    def points(self, chunk: Chunk) -> None:
        """Compare magnitudes with the bar; nearly always one comparison for all of them."""
        sizes = np.abs(chunk.values)
        sizes[~chunk.finite] = np.inf
        begin = 0
        while self._count < WINDOW and begin < len(sizes):
            self._first = np.append(self._first, sizes[begin])
            self._look(sizes[begin : begin + 1], chunk.steps[begin : begin + 1], chunk.walls[begin : begin + 1])
            begin += 1
        if begin < len(sizes):
            self._look(sizes[begin:], chunk.steps[begin:], chunk.walls[begin:])

    @property
    def _began(self) -> float:
        """What it began with, the smaller of first point and median: one of them may be a spike itself."""
        return min(float(self._first[0]), float(np.median(self._first)))

    def _look(self, sizes: FloatArray, steps: IntArray, walls: FloatArray) -> None:
        long = np.concatenate((self._tail, sizes))
        long_steps = np.concatenate((self._tail_steps, steps))
        self._tail, self._tail_steps = long[1 - WINDOW :], long_steps[1 - WINDOW :]
        self._count += len(sizes)
        if self._count < FIRST_LOOK:
            return
        self.judged = True
        bar = self.context["growth"] * max(1.0, self._began)
        starting = self._count <= WINDOW
        if not self._case.open and (long if starting else sizes).max() < (self.context["size"] if starting else bar):
            return
        if starting:
            # One look, when it is known what it began with.
            middle, limit = float(np.median(long)), self.context["size"]
            if self._count == WINDOW and middle >= limit and int(np.isfinite(long).sum()) >= FIRST_LOOK:
                self._hit(long, int(long_steps[0]), int(steps[0]), float(walls[0]))
            self._settle_down(sizes, steps, walls, 0, bar)
            return
        windows = np.lib.stride_tricks.sliding_window_view(long, WINDOW)
        # Infinities alone are another symptom; with finite ones among them it has grown there.
        grown = (np.median(windows, axis=1) >= bar) & ((np.isfinite(windows) & (windows >= bar)).sum(axis=1) >= 2)
        at: Optional[int] = 0
        while at is not None:
            if not self._case.open:
                later = np.flatnonzero(grown[at:])
                if not len(later):
                    return
                at += int(later[0])
                window = long[at : at + WINDOW]
                onset = int(long_steps[at + int((window >= bar).argmax())])
                self._hit(window, onset, int(steps[at]), float(walls[at]))
            at = self._settle_down(sizes, steps, walls, at, bar)

    def _hit(self, window: FloatArray, onset: int, step: int, wall: float) -> None:
        shown = Evidence(
            mark("median size {value:.3g} over {n} points; it began with {began:.3g}"),
            {"value": float(np.median(window[np.isfinite(window)])), "n": len(window), "began": self._began},
        )
        self._calm.reset()
        self._case.hit(Severity.ERROR, onset, step, wall, shown)

    def _settle_down(
        self, sizes: FloatArray, steps: IntArray, walls: FloatArray, begin: int, bar: float
    ) -> Optional[int]:
        """Is it over? Gives back the index of the point after that, None where it is not over among these."""
        if not self._case.open:
            return None
        limit = min(bar, self.context["size"]) / BACK
        for turn in self._calm.feed(sizes[begin:] < limit, steps[begin:]):
            if turn.bad:
                at = begin + turn.at
                back = Evidence(mark("below {value:.3g} for {n} points"), {"value": limit, "n": BACK_POINTS})
                self._case.clear(int(steps[at]), float(walls[at]), back)
                return at + 1 if at + 1 < len(sizes) else None
        return None

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._begin()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-huge",
    title=mark("Loss is extremely large"),
    symptoms=(Symptom.LOSS_HUGE,),
    make=LossHuge,
    needs=mark("a training loss with at least 3 points"),
    watches=_watches,
    parameters=(
        Parameter(
            "growth",
            100.0,
            mark("times what it began with"),
            mark("uninformed nets begin within a few times ln C; spikes of healthy runs reach 50 for single points"),
            mark("mstui's own, measured on its labelled trainings; Megatron-LM has 10 times the largest of 100"),
        ),
        Parameter(
            "size",
            1000.0,
            mark("of the first points"),
            mark("data and targets of unit scale give losses far below it"),
            AUTOTRAINER_LOSS,
        ),
    ),
    false_alarms=(mark("regression on targets that are not scaled, or a loss summed over a large batch"),),
)
