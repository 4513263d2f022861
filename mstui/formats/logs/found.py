"""What one call of the decoder has found so far: values, places of records and of steps, events. It reads nothing."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import numpy as np

from mstui.formats.logs.points import Points
from mstui.model.logs import LevelArray, LogEvent, LogRecords, LogSteps
from mstui.model.records import IntArray


class Found:
    """What one call of the decoder has found so far."""

    def __init__(self) -> None:
        self.points = Points()
        self.rank_points: Dict[int, Points] = {}
        """by the rank that a launcher's prefix names"""
        self.events: List[LogEvent] = []
        self.understood = 0
        self._offsets: List[IntArray] = []
        self._levels: List[LevelArray] = []
        self._late: List[int] = []
        self._late_levels = bytearray()
        self._steps: List[Tuple[IntArray, IntArray]] = []
        self._late_steps: List[Tuple[int, int]] = []

    @property
    def records(self) -> int:
        """Records that have begun."""
        return sum(map(len, self._offsets)) + len(self._late)

    def begin(self, offset: int, level: int) -> None:
        """A record begins."""
        self._late.append(offset)
        self._late_levels.append(level)

    def begin_many(self, offsets: IntArray, level: int) -> None:
        """Records of one level begin, all of them understood."""
        self._flush()
        self._offsets.append(offsets)
        self._levels.append(np.full(len(offsets), level, np.uint8))
        self.understood += len(offsets)

    def log_records(self) -> LogRecords:
        """Where the records begin."""
        self._flush()
        if not self._offsets:
            return LogRecords(np.empty(0, np.int64), np.empty(0, np.uint8))
        return LogRecords(np.concatenate(self._offsets), np.concatenate(self._levels))

    def step(self, step: int, offset: int) -> None:
        """The record at this offset tells of a step."""
        self._late_steps.append((step, offset))

    def steps_many(self, steps: IntArray, offsets: IntArray) -> None:
        """Records that tell of a step each."""
        self._flush_steps()
        self._steps.append((steps, offsets))

    def log_steps(self) -> Optional[LogSteps]:
        """The records that tell of a step; None when none does."""
        self._flush_steps()
        if not self._steps:
            return None
        steps, offsets = zip(*self._steps)
        return LogSteps(np.concatenate(steps), np.concatenate(offsets))

    def _flush_steps(self) -> None:
        if self._late_steps:
            steps, offsets = zip(*self._late_steps)
            self._steps.append((np.array(steps, np.int64), np.array(offsets, np.int64)))
            self._late_steps = []

    def _flush(self) -> None:
        if self._late:
            self._offsets.append(np.array(self._late, np.int64))
            self._levels.append(np.array(self._late_levels, np.uint8))
            self._late = []
            self._late_levels = bytearray()
