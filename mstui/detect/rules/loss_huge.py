"""loss-huge: a loss of a size that no net of any use has, and that stays there.

Two forms. It began huge: the median of its first points is beyond what scaled data can give. Or it grew huge: the
median of the last five points is a hundred times what it began with. Medians, because one point beyond everything is
a spike.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray

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
        before = len(self._tail)
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
            middle = float(np.median(long))
            limit = self.context["size"]
            huge = self._count == WINDOW and middle >= limit and int(np.isfinite(long).sum()) >= FIRST_LOOK
            self._judge(0, np.array([huge]), sizes, steps, walls, limit, int(long_steps[0]), long)
            return
        windows = np.lib.stride_tricks.sliding_window_view(long, WINDOW)
        # Infinities alone are another symptom; with finite ones among them it has grown there.
        grown = (np.median(windows, axis=1) >= bar) & ((np.isfinite(windows) & (windows >= bar)).sum(axis=1) >= 2)
        first = int(grown.argmax())
        window = long[first : first + WINDOW]
        onset = int(long_steps[first + int((window >= bar).argmax())])
        skip = len(sizes) - len(grown)
        assert before == WINDOW - 1
        assert not skip
        self._judge(first, grown, sizes, steps, walls, bar, onset, window)

    def _judge(
        self,
        first: int,
        bad: BoolArray,
        sizes: FloatArray,
        steps: IntArray,
        walls: FloatArray,
        bar: float,
        onset: int,
        window: FloatArray,
    ) -> None:
        begin = 0
        if bad.any():
            value = float(np.median(window[np.isfinite(window)]))
            shown = Evidence(
                mark("median size {value:.3g} over {n} points; it began with {began:.3g}"),
                {"value": value, "n": len(window), "began": self._began},
            )
            if not self._case.open:
                self._calm.reset()
                begin = first
            self._case.hit(Severity.ERROR, onset, int(steps[first]), float(walls[first]), shown)
        if self._case.open:
            limit = min(bar, self.context["size"]) / BACK
            calm = (sizes < limit)[begin:] & ~bad[begin:]
            for turn in self._calm.feed(calm, steps[begin:]):
                if turn.bad:
                    at = begin + turn.at
                    back = Evidence(mark("below {value:.3g} for {n} points"), {"value": limit, "n": BACK_POINTS})
                    self._case.clear(int(steps[at]), float(walls[at]), back)
                    break

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
            "the labelled corpus; Megatron-LM uses 10 times the largest of 100 as its bar for spikes",
        ),
        Parameter(
            "size",
            1000.0,
            mark("of the first points"),
            mark("data and targets of unit scale give losses far below it"),
            "AUTOTRAINER (ICSE 2021), improper loss",
        ),
    ),
    false_alarms=(mark("regression on targets that are not scaled, or a loss summed over a large batch"),),
)
