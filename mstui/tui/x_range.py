"""The shared x axis: pan and zoom of a chosen range, and where the end lies while everything is shown.

Arithmetic on (low, high); None is "everything, and follow". It draws nothing and reads no clock.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, Dict, List, Optional, Sequence, Tuple

from mstui.model.series import CurveView, XAxis

Range = Tuple[float, float]

MARGIN = 0.05
"""share of the range that may lie empty behind the last point"""
HOLD_S = 20.0
"""seconds for which a new end suffices at the present speed: a moved end draws every chart anew, 4 to 20 kB"""
MOST_AHEAD = 0.5
"""room ahead at most, in spans of the data: a third of the chart is empty then"""
LEAST_AHEAD = 1 / 15
"""room ahead at least, in spans of the data, as much as the store's rounded ends leave at most: a slow run's end moves
seldom without it costing much of the chart"""
SPEED_WINDOW_S = 10.0
"""seconds over which the present speed is measured; longer where data come more seldom"""
LEAST_WATCHED_S = 0.3
"""seconds below which two looks at the data tell no speed; less than the pause between two redraws"""


def _kept_inside(low: float, span: float, data: Range) -> Range:
    low = min(low, data[1] + span * MARGIN - span)
    low = max(low, data[0])
    return (low, low + span)


def panned(shown: Range, data: Range, fraction: float) -> Optional[Range]:
    """The range moved by a part of itself, not beyond the data; None when everything shows already."""
    span = shown[1] - shown[0]
    if not span < data[1] - data[0]:
        return None
    return _kept_inside(shown[0] + span * fraction, span, data)


def zoomed(shown: Range, data: Range, factor: float, anchor: Optional[float], gap: float) -> Optional[Range]:
    """The range `factor` times narrower around `anchor`, at least `gap` wide; None when all data fit in.

    Without an anchor the present stays where it is if it shows, else the middle does.
    """
    span = max((shown[1] - shown[0]) / factor, gap)
    if not 0 < span < data[1] - data[0]:
        return None
    fixed = anchor if anchor is not None else data[1] if data[1] <= shown[1] else (shown[0] + shown[1]) / 2
    fixed = min(max(fixed, shown[0]), shown[1])
    part = (fixed - shown[0]) / (shown[1] - shown[0]) if shown[1] > shown[0] else 0.5
    return _kept_inside(fixed - span * part, span, data)


def containing(shown: Range, x: float) -> Range:
    """The range moved just so far that x lies inside with a margin."""
    span = shown[1] - shown[0]
    margin = span * MARGIN
    if x < shown[0]:
        return (x - margin, x - margin + span)
    if x > shown[1]:
        return (x + margin - span, x + margin)
    return shown


class FollowedRange:
    """The range of charts that show everything.

    Its end lies ahead of the data and is kept as long as they fit: where it lies next depends on how fast the data
    come, which only who looks at them again and again can tell. That is why it is not the store's, whose answers
    depend on the question alone. One range for each kind of axis: a chart without epochs is drawn by step beside
    others by epoch.
    """

    def __init__(self) -> None:
        self._for: object = None
        self._ranges: Dict[XAxis, Range] = {}
        self._looks: Dict[XAxis, Deque[Tuple[float, float]]] = {}
        """(seconds, x of the last point) of the latest looks"""

    def start(self, pictured: object) -> None:
        """Begin a redraw; ranges are kept while `pictured` (run, charts, axis) is equal."""
        if pictured != self._for:
            self._for = pictured
            self._ranges.clear()
            self._looks.clear()

    @property
    def kept(self) -> Tuple[Tuple[XAxis, Range], ...]:
        """For CurveQuery.kept."""
        return tuple(self._ranges.items())

    def look(self, views: Sequence[CurveView], now: float, *, settled: bool) -> bool:
        """Take what the store has answered; True when a range has moved, so that the views must be asked for again.

        `settled` is False while history is read: how fast that goes says nothing about the training.
        """
        by_axis: Dict[XAxis, List[CurveView]] = {}
        for view in views:
            if all(map(math.isfinite, view.data_range)):
                by_axis.setdefault(view.axis, []).append(view)
        moved = False
        for axis, alike in by_axis.items():
            data = min(view.data_range[0] for view in alike), max(view.data_range[1] for view in alike)
            speed = self._speed(axis, data[1], now, settled=settled)
            shown = self._ranges.get(axis)
            if shown is None:
                shown = min(view.x_range[0] for view in alike), max(view.x_range[1] for view in alike)
            self._ranges[axis] = wanted = shown if _fits(shown, data) else followed(shown, data, speed)
            moved = moved or any(view.x_range != wanted for view in alike)
        return moved

    def _speed(self, axis: XAxis, last: float, now: float, *, settled: bool) -> float:
        """x a second over the latest looks; 0 when it is not known."""
        looks = self._looks.setdefault(axis, deque())
        if not settled or (looks and (last < looks[-1][1] or now < looks[-1][0])):
            looks.clear()
        if not looks or looks[-1] != (now, last):
            looks.append((now, last))
        while len(looks) > 2 and looks[1][0] < now - SPEED_WINDOW_S:
            looks.popleft()
        watched = now - looks[0][0]
        return (last - looks[0][1]) / watched if watched >= LEAST_WATCHED_S else 0.0


def _fits(shown: Range, data: Range) -> bool:
    empty, span = shown[1] - data[1], data[1] - data[0]
    return shown[0] == data[0] and empty >= 0 and (empty <= span * MOST_AHEAD or span <= 0)


def followed(shown: Range, data: Range, speed: float) -> Range:
    """A range that begins with the data: its end stays where it fits, else it lies ahead as the speed needs it."""
    if _fits((data[0], shown[1]), data):
        return (data[0], shown[1])
    span = data[1] - data[0]
    return (data[0], data[1] + min(max(speed * HOLD_S, span * LEAST_AHEAD), span * MOST_AHEAD))
