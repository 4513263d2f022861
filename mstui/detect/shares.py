"""A figure that must stay below a limit, judged by the median of its last records: the machine of several rules."""

from __future__ import annotations

from typing import Callable, Optional

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector
from mstui.detect.streaks import Streak
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.series import BoolArray

SPAN = 8
"""Steps that a streak lasts at least."""
CERTAIN_SPAN = 4
CERTAIN_RECORDS = 2
"""Records in a row for what is beyond doubt: one may be an odd batch."""


class Limit(Detector):
    """One series against a limit: raised after `records` points in a row beyond it, cleared after as many within."""

    def __init__(
        self,
        context: Context,
        symptom: Symptom,
        beyond: Callable[[FloatArray], BoolArray],
        records: int,
        shown: Callable[[float, int], Evidence],
        severity: Callable[[float, int], Optional[Severity]],
        certain: Optional[Callable[[FloatArray], BoolArray]] = None,
        span: int = SPAN,
    ) -> None:
        """`certain`: so far beyond the limit that two records are enough."""
        super().__init__(context)
        self._case = Case(context, symptom)
        self._beyond = beyond
        self._streak = Streak(records, records, span)
        self._certain = certain
        self._sure = Streak(CERTAIN_RECORDS, records, CERTAIN_SPAN)
        self._shown = shown
        self._severity = severity

    def points(self, chunk: Chunk) -> None:
        """Count points beyond the limit."""
        good = chunk.good()
        if not len(good):
            return
        bad = self._beyond(good.values)
        self.judged = True
        certain = None if self._certain is None else self._certain(good.values)
        if not self._streak.length and not self._streak.open and not bad.any():
            return
        turns = list(self._streak.feed(bad, good.steps))
        if certain is not None:
            turns += [turn for turn in self._sure.feed(certain, good.steps) if turn.bad]
            turns.sort(key=lambda turn: turn.at)
        for turn in turns:
            step, wall, value = (
                int(good.steps[turn.at]),
                float(good.walls[turn.at]),
                float(good.values[turn.at]),
            )
            if turn.bad:
                severity = self._severity(value, step)
                if severity is not None:
                    self._case.hit(severity, turn.onset, step, wall, self._shown(value, step))
            else:
                self._case.clear(step, wall, self._shown(value, step))

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._streak.reset()
        self._sure.reset()


def smooth(values: FloatArray, last: FloatArray, width: int) -> FloatArray:
    """Running medians over `width` points; `last` are the width - 1 points before."""
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate((last, values)), width)
    return np.asarray(np.median(windows, axis=1))
