"""Views and rows of charts that are still good, so that a redraw costs only what has changed.

A view is asked for again when the monitor's revision rose; one that looks the same is replaced by the old object, and a
chart whose objects are all the old ones keeps its rows.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.model.series import CurveView
from mstui.monitor_api import CurveQuery, MonitorApi
from mstui.tui.axes import YAxis
from mstui.tui.chart import ChartFrame, Curve, draw_chart
from mstui.tui.lines import Row

_PICTURE = (
    *("lo", "hi", "first", "last", "smooth", "nan", "pos_inf", "neg_inf", "old_lo", "old_hi", "band_lo", "band_hi"),
)
_FACTS = ("key", "axis", "x_range", "restarts", "first_non_finite")


def same_picture(a: CurveView, b: CurveView) -> bool:
    """True when two views draw alike. Counts and the newest value may differ: no chart shows them."""
    if any(getattr(a, name) != getattr(b, name) for name in _FACTS):
        return False
    pairs = ((getattr(a, name), getattr(b, name)) for name in _PICTURE)
    return all(x is y or (x.shape == y.shape and np.asarray(x).tobytes() == y.tobytes()) for x, y in pairs)


class _Held(NamedTuple):
    revision: int
    newest: Optional[CurveView]
    drawn: Optional[CurveView]
    """an older view that draws like the newest"""


class _Chart(NamedTuple):
    curves: Tuple[Curve, ...]
    frame: ChartFrame
    rows: Tuple[Row, ...]


class CurveCache:
    """What the charts of one panel show. `start` begins a redraw; what it does not ask for is forgotten."""

    def __init__(self) -> None:
        self._views: Dict[CurveQuery, _Held] = {}
        self._kept_views: Dict[CurveQuery, _Held] = {}
        self._charts: Dict[str, _Chart] = {}
        self._kept_charts: Dict[str, _Chart] = {}
        self._axes: Dict[str, YAxis] = {}
        self._axes_for: Tuple[object, ...] = ()

    def start(self, axes_for: Tuple[object, ...]) -> None:
        """Begin a redraw. Y axes stay near their old ends as long as `axes_for` is equal."""
        self._kept_views, self._views = self._views, {}
        self._kept_charts, self._charts = self._charts, {}
        if axes_for != self._axes_for:
            self._axes_for = axes_for
            self._axes.clear()
            self._kept_charts.clear()

    def view(self, monitor: MonitorApi, query: CurveQuery) -> Tuple[Optional[CurveView], Optional[CurveView]]:
        """(newest view, view to draw). The second is the same object as long as the picture is."""
        revision = monitor.revision
        held = self._views.get(query) or self._kept_views.get(query)
        if held is None or held.revision != revision:
            newest = monitor.curve(query)
            drawn = newest
            if held is not None and held.drawn is not None and newest is not None and same_picture(held.drawn, newest):
                drawn = held.drawn
            held = _Held(revision, newest, drawn)
        self._views[query] = held
        return held.newest, held.drawn

    def chart(self, curves: Sequence[Curve], frame: ChartFrame) -> Tuple[Row, ...]:
        """Rows of a chart, drawn again only when a curve or the frame has changed."""
        held = self._kept_charts.get(frame.tag)
        if held is not None and held.frame == frame and _same_curves(held.curves, curves):
            self._charts[frame.tag] = held
            return held.rows
        rows, axis = draw_chart(curves, frame, self._axes.get(frame.tag))
        if axis is not None:
            self._axes[frame.tag] = axis
        self._charts[frame.tag] = _Chart(tuple(curves), frame, rows)
        return rows


def _same_curves(a: Sequence[Curve], b: Sequence[Curve]) -> bool:
    return len(a) == len(b) and all(
        x.view is y.view and (x.look, x.raw_look) == (y.look, y.raw_look) for x, y in zip(a, b)
    )
