"""The first of a burst: one cause makes a device, a launcher and every peer write for minutes.

A burst ends with the next line of training metrics, or with a minute between two time stamps. Inside it a kind is told
once, and again for another code or node; what only follows from an earlier event is not told. Nothing is lost by it:
the records are all there.
"""

from __future__ import annotations

from typing import Optional, Set, Tuple

from mstui.formats.logs.codes import PASSED_ON, is_inner
from mstui.model.logs import EventKind

LONGEST_PAUSE_S = 60.0
"""Between two time stamps of a burst. The scheduler needs half a minute to notice a dead worker."""
MOST_TOLD = 1000
"""Different events remembered in one burst."""

_DEVICE = frozenset(
    (
        EventKind.OUT_OF_MEMORY,
        EventKind.HCCL_TIMEOUT,
        EventKind.DEVICE_LINK,
        EventKind.TASK_FAILED,
        EventKind.ASCEND_CODE,
    )
)
"""Kinds of one failing device: the first is the cause of the others, unless they have a code of their own."""
_EVERY = frozenset(
    (EventKind.TRACEBACK, EventKind.PROBE_ALERT, EventKind.FAULT_TOLERANCE, EventKind.SKIPPED_DATA, EventKind.RANK_MAP)
)
"""Kinds of which each one is news."""
_BY_TEXT = frozenset((EventKind.OVERFLOW, EventKind.EXCEPTION, EventKind.CHECKPOINT, EventKind.GRAPH_COMPILATION))
"""Kinds that are news when they say something else."""


class Burst:
    """What has been told since the training went on last."""

    def __init__(self) -> None:
        self._told: Set[Tuple[EventKind, str]] = set()
        self._last: Optional[float] = None
        self._log_lost = False

    def stamp(self, wall_time: float) -> None:
        """A record bears this time."""
        if self._last is not None and abs(wall_time - self._last) > LONGEST_PAUSE_S:
            self._told.clear()
        self._last = wall_time

    def progress(self) -> None:
        """The training has made a step."""
        if self._told:
            self._told.clear()

    def admits(self, kind: EventKind, code: str, text: str) -> bool:
        """Is this event to be told."""
        if kind in _EVERY:
            return True
        if kind is EventKind.LOG_LOST:
            first, self._log_lost = not self._log_lost, True
            return first
        key = (kind, text if kind in _BY_TEXT else code)
        if key in self._told or not self._is_news(kind, code):
            return False
        if len(self._told) < MOST_TOLD:
            self._told.add(key)
        return True

    def _is_news(self, kind: EventKind, code: str) -> bool:
        if kind in _DEVICE:
            earlier = {told for told in self._told if told[0] in _DEVICE}
            if code in PASSED_ON:
                return not earlier
            if code.startswith("E") and is_inner(code):
                return not any(told[1].startswith("E") for told in earlier)
            return bool(code) or not earlier
        return bool(code) or kind in _BY_TEXT or not any(told[0] is kind for told in self._told)
