"""A series reduced to the pixel columns of a chart: smallest and largest value of each, so that no spike is lost.

The store's rising arrays are cut by binary search and reduced in the width they are kept in; nothing is sampled. What
is not finite is kept in masks. Drawing, colours and value scales are the screen's business.
"""

from __future__ import annotations

import math
from typing import Iterable, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.model.series import CurveView, SeriesKey
from mstui.monitor_api import CurveQuery
from mstui.store.axis import STEP_LIMIT, Axis, Native, axis_for, rounded_end
from mstui.store.composed import Composed
from mstui.store.run_store import Store
from mstui.store.smoothing import averages

LEAST_WIDTH = 2.0**40
"""A range is no narrower than this part of where it lies: float64 tells its columns apart."""

Extremes = Tuple[FloatArray, FloatArray]
"""lo and hi, one of each a column"""


class Columns:
    """What has been reduced into pixel columns so far. Stretches are added in the order of their points."""

    def __init__(self, number: int) -> None:
        self.lo: FloatArray = np.full(number, np.nan)
        self.hi: FloatArray = np.full(number, np.nan)
        self.first: FloatArray = np.full(number, np.nan)
        self.last: FloatArray = np.full(number, np.nan)
        self.count: IntArray = np.zeros(number, dtype=np.int64)
        self.end: IntArray = np.zeros(number, dtype=np.int64)
        """index, over all stretches, of the column's last point; only where count > 0"""
        self.nan = np.zeros(number, dtype=np.bool_)
        self.pos_inf = np.zeros(number, dtype=np.bool_)
        self.neg_inf = np.zeros(number, dtype=np.bool_)

    def add(self, native: Native, values: ValueArray, edges: Native, offset: int = 0) -> None:
        """Reduce one stretch; offset is the index of its first point over all stretches."""
        bounds = np.searchsorted(native, edges)
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        if not len(filled):
            return
        begins, ends = bounds[filled], bounds[filled + 1]
        self.count[filled] += ends - begins
        self.end[filled] = ends - 1 + offset
        seen = values[: ends[-1]]
        with np.errstate(invalid="ignore"):
            lo, hi = np.minimum.reduceat(seen, begins), np.maximum.reduceat(seen, begins)
        # one NaN makes a column's minimum NaN, one infinity makes its minimum or maximum infinite
        whole = np.isfinite(lo) & np.isfinite(hi)
        if whole.all():
            self._merge(filled, lo, hi, values[begins], values[ends - 1])
            return
        clean = np.flatnonzero(whole)
        self._merge(filled[clean], lo[clean], hi[clean], values[begins[clean]], values[ends[clean] - 1])
        some = np.flatnonzero(~whole)
        self.nan[filled[some]] |= np.isnan(lo[some])
        self._add_dirty(filled[some], values, begins[some], ends[some])

    def _add_dirty(self, columns: IntArray, values: ValueArray, begins: IntArray, ends: IntArray) -> None:
        """Columns that hold something not finite: note the infinities, and reduce the rest."""
        points = np.concatenate([values[begin:end] for begin, end in zip(begins.tolist(), ends.tolist())])
        stops = np.cumsum(ends - begins)
        starts = stops - (ends - begins)
        infinite = np.isinf(points)
        if infinite.any():
            self.pos_inf[columns] |= np.maximum.reduceat(points == np.inf, starts)
            self.neg_inf[columns] |= np.maximum.reduceat(points == -np.inf, starts)
            np.copyto(points, np.nan, where=infinite)
        bad = np.isnan(points)
        spans = [slice(start, stop) for start, stop in zip(starts.tolist(), stops.tolist())]
        first = starts + [int(bad[span].argmin()) for span in spans]
        last = stops - 1 - [int(bad[span][::-1].argmin()) for span in spans]
        some = np.flatnonzero(~bad[first])
        if len(some):
            with np.errstate(invalid="ignore"):
                lo, hi = np.fmin.reduceat(points, starts)[some], np.fmax.reduceat(points, starts)[some]
            self._merge(columns[some], lo, hi, points[first[some]], points[last[some]])

    def _merge(self, columns: IntArray, lo: ValueArray, hi: ValueArray, first: ValueArray, last: ValueArray) -> None:
        self.lo[columns] = np.fmin(self.lo[columns], lo)
        self.hi[columns] = np.fmax(self.hi[columns], hi)
        earlier = self.first[columns]
        self.first[columns] = np.where(np.isnan(earlier), first, earlier)
        self.last[columns] = last


def _reduced(composed: Composed, axis: Axis, edges: Native) -> Columns:
    columns = Columns(len(edges) - 1)
    for start, native, points in zip(composed.starts.tolist(), axis.natives(composed), composed.series.current):
        columns.add(native, points.values, edges, start)
    return columns


def _extremes(stretches: Iterable[Tuple[Native, ValueArray]], edges: Native) -> Extremes:
    """Only the smallest and largest finite value of each column."""
    lo: FloatArray = np.full(len(edges) - 1, np.nan)
    hi: FloatArray = np.full(len(edges) - 1, np.nan)
    for native, values in stretches:
        bounds = np.searchsorted(native, edges)
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        if not len(filled):
            continue
        begins, seen = bounds[filled], values[: bounds[-1]]
        with np.errstate(invalid="ignore"):
            low, high = np.minimum.reduceat(seen, begins), np.maximum.reduceat(seen, begins)
        if np.isfinite(low).all() and np.isfinite(high).all():
            lo[filled], hi[filled] = np.fmin(lo[filled], low), np.fmax(hi[filled], high)
        else:
            columns = Columns(len(lo))
            columns.add(native, values, edges)
            lo, hi = np.fmin(lo, columns.lo), np.fmax(hi, columns.hi)
    return lo, hi


def _superseded(composed: Composed, axis: Axis, edges: Native) -> Extremes:
    if axis.by_step:
        return _extremes([(points.steps, points.values) for points in composed.series.superseded], edges)
    return _extremes(composed.old_by_wall if composed.series.superseded else (), edges)


def _smooth(composed: Composed, columns: Columns, smoothing: float) -> FloatArray:
    if not smoothing > 0.0:
        return columns.last.copy()
    out = np.full(len(columns.last), np.nan)
    wanted = np.flatnonzero(~np.isnan(columns.last))
    if len(wanted):
        out[wanted] = averages([points.values for points in composed.series.current], columns.end[wanted], smoothing)
    return out


def _band(store: Store, query: CurveQuery, axis: Axis, edges: Native) -> Extremes:
    """Least minimum and greatest maximum over the other ranks."""
    lo = hi = np.empty(0, dtype=np.float64)
    if not query.band:
        return lo, hi
    for rank in store.ranks(query.key.run_key):
        if rank == query.key.rank_id:
            continue
        composed = store.composed(SeriesKey(query.key.run_key, rank, query.key.tag))
        if composed is None:
            continue
        kept = composed.extremes
        if kept is None or kept[0] != axis or not np.array_equal(kept[1], edges):
            values = [points.values for points in composed.series.current]
            kept = composed.extremes = (axis, edges, _extremes(zip(axis.natives(composed), values), edges))
        low, high = kept[2]
        lo = low if not len(lo) else np.fmin(lo, low)
        hi = high if not len(hi) else np.fmax(hi, high)
    return lo, hi


def _whole_range(store: Store, query: CurveQuery, axis: Axis, epoch_steps: Optional[float]) -> Tuple[float, float]:
    """From the first x of all curves in the picture to a rounded end behind their last."""
    first, last = math.inf, -math.inf
    for key in dict.fromkeys((query.key, *query.ranges)):
        composed = store.composed(key)
        own = axis if key == query.key else axis_for(store, key, query.axis, epoch_steps)
        if composed is not None and own.kind is axis.kind:
            begin, end = own.data_range(composed)
            first, last = min(first, begin), max(last, end)
    return first, rounded_end(first, last, axis.kind)


def _usable(x_range: Tuple[float, float]) -> Tuple[float, float]:
    """The range as given, unless it has no width or goes where no step and no time can be."""
    low, high = (min(max(float(x), -STEP_LIMIT), STEP_LIMIT) for x in sorted(x_range))
    return (low, high) if high > low else (low, low + max(1.0, abs(low) / LEAST_WIDTH))


def _restarts(composed: Composed, axis: Axis, x_range: Tuple[float, float], columns: int) -> Tuple[float, ...]:
    """x of the restarts inside the range, no more than one a column."""
    natives: npt.NDArray[np.float64] = np.asarray(
        composed.series.restarts if axis.by_step else composed.restart_walls, dtype=np.float64
    )
    xs = np.unique((natives - axis.offset) / axis.factor)
    xs = xs[(xs >= x_range[0]) & (xs <= x_range[1])]
    places = ((xs - x_range[0]) / (x_range[1] - x_range[0]) * columns).astype(np.int64)
    _, one = np.unique(places, return_index=True)
    out: List[float] = xs[one].tolist()
    return tuple(out)


def curve(store: Store, query: CurveQuery, epoch_steps: Optional[float] = None) -> Optional[CurveView]:
    """Reduce one series; None when there is none.

    epoch_steps: steps an epoch has, where the caller knows; otherwise a tag that records the epoch is looked for. When
    epochs are asked for and not known, the view is by step and its `axis` says so. Masks and counts are of the points
    that hold now; of the superseded ones only old_lo and old_hi tell.
    """
    composed = store.composed(query.key)
    if composed is None:
        return None
    series = composed.series
    axis = axis_for(store, query.key, query.axis, epoch_steps)
    given = dict(query.kept).get(axis.kind) if query.x_range is None else query.x_range
    if query.x_range is not None and axis.kind is not query.axis:
        given = None
    if given is not None and all(map(math.isfinite, given)):
        x_range = _usable(given)
    else:
        x_range = _usable(_whole_range(store, query, axis, epoch_steps))
    number = max(query.columns, 1)
    edges = axis.edges(x_range, number)
    columns = _reduced(composed, axis, edges)
    old_lo, old_hi = _superseded(composed, axis, edges)
    band_lo, band_hi = _band(store, query, axis, edges)
    newest = series.current[-1]
    bad = composed.first_non_finite
    first_bad: Optional[int] = None
    if bad is not None:
        points, place = composed.place(bad)
        first_bad = int(points.steps[place])
    return CurveView(
        query.key,
        axis.kind,
        x_range,
        columns.lo,
        columns.hi,
        columns.first,
        columns.last,
        _smooth(composed, columns, query.smoothing),
        columns.count,
        columns.nan,
        columns.pos_inf,
        columns.neg_inf,
        old_lo,
        old_hi,
        band_lo,
        band_hi,
        _restarts(composed, axis, x_range, number) if series.restarts else (),
        composed.total,
        (int(newest.steps[-1]), float(newest.wall_times[-1]), float(newest.values[-1])),
        first_bad,
        axis.data_range(composed),
    )
