"""One series as a chart of a given width needs it: range, columns, average, what was overwritten, spread over ranks.

Drawing, colours and value scales are the screen's business.
"""

from __future__ import annotations

import math
from typing import List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray
from mstui.model.series import CurveView
from mstui.monitor_api import CurveQuery
from mstui.store.axis import STEP_LIMIT, Axis, Native, axis_for, rounded_end
from mstui.store.band import Bands
from mstui.store.blocks import Blocks
from mstui.store.composed import Composed
from mstui.store.reduce import Columns, Extremes, extremes
from mstui.store.run_store import Store
from mstui.store.smoothing import averages

LEAST_WIDTH = 2.0**40
"""A range is no narrower than this part of where it lies: float64 tells its columns apart."""


def _reduced(composed: Composed, axis: Axis, edges: Native, blocks: Blocks) -> Columns:
    columns = Columns(len(edges) - 1, blocks)
    for start, native, points in zip(composed.starts.tolist(), axis.natives(composed), composed.series.current):
        columns.add(native, points.values, edges, start)
    return columns


def _superseded(composed: Composed, axis: Axis, edges: Native, blocks: Blocks) -> Extremes:
    if axis.by_step:
        return extremes([(points.steps, points.values) for points in composed.series.superseded], edges, blocks)
    return extremes(composed.old_by_wall if composed.series.superseded else (), edges, blocks)


def _smooth(composed: Composed, columns: Columns, smoothing: float) -> FloatArray:
    if not smoothing > 0.0:
        return columns.last.copy()
    out = np.full(len(columns.last), np.nan)
    wanted = np.flatnonzero(~np.isnan(columns.last))
    if len(wanted):
        out[wanted] = averages([points.values for points in composed.series.current], columns.end[wanted], smoothing)
    return out


def _band(bands: Bands, query: CurveQuery, axis: Axis, edges: Native) -> Extremes:
    """Least minimum and greatest maximum over the other ranks; empty where there is none."""
    found = bands.band(query.key, axis, edges) if query.band else None
    return (np.empty(0), np.empty(0)) if found is None else found


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


def curve(
    store: Store, query: CurveQuery, epoch_steps: Optional[float] = None, bands: Optional[Bands] = None
) -> Optional[CurveView]:
    """Reduce one series; None when there is none.

    epoch_steps: steps an epoch has, where the caller knows; otherwise a tag that records the epoch is looked for. When
    epochs are asked for and not known, the view is by step and its `axis` says so. Masks and counts are of the points
    that hold now; of the superseded ones only old_lo and old_hi tell. With `bands` a band that needs much work comes
    over several calls (see mstui.store.band); without, all of it comes at once and nothing is kept.
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
    columns = _reduced(composed, axis, edges, store.blocks)
    old_lo, old_hi = _superseded(composed, axis, edges, store.blocks)
    band_lo, band_hi = _band(bands or Bands(store, work=math.inf), query, axis, edges)
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
        series.sources,
        series.disagreement,
    )
