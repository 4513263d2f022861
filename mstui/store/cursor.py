"""The point under the value cursor: nearest to an x, by index, the next one that is not finite, and what lies around.

Indices count the points that hold now; superseded generations have no cursor.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.model.series import Points, SeriesKey, XAxis
from mstui.monitor_api import CursorReading
from mstui.store.axis import STEP_LIMIT, Axis, axis_for
from mstui.store.composed import Composed
from mstui.store.run_store import Store
from mstui.store.smoothing import averages


def reading(
    store: Store, key: SeriesKey, axis: XAxis, x: float, smoothing: float, epoch_steps: Optional[float] = None
) -> Optional[CursorReading]:
    """The point nearest to x; of points that share one x the last, of two equally near the earlier. None without any.

    An axis that is not known falls back to steps as it does for the curve.
    """
    composed = store.composed(key)
    if composed is None:
        return None
    line = axis_for(store, key, axis, epoch_steps)
    index = _nearest(composed, line, line.native(x) if x == x else float("inf"))
    return _read(composed, line, index, smoothing)


def reading_at(
    store: Store, key: SeriesKey, axis: XAxis, index: int, smoothing: float, epoch_steps: Optional[float] = None
) -> Optional[CursorReading]:
    """The point with this index, negative from the end; None when there is none."""
    composed = store.composed(key)
    if composed is None:
        return None
    place = index + composed.total if index < 0 else index
    if not 0 <= place < composed.total:
        return None
    return _read(composed, axis_for(store, key, axis, epoch_steps), place, smoothing)


def next_non_finite(store: Store, key: SeriesKey, after_index: int) -> Optional[int]:
    """Index of the next NaN or infinity behind a point, wrapping round; None when there is none at all."""
    composed = store.composed(key)
    if composed is None:
        return None
    found = composed.next_non_finite(max(after_index + 1, 0))
    return composed.next_non_finite(0) if found is None else found


def points_around(store: Store, key: SeriesKey, step: int, number: int) -> Optional[Points]:
    """About `number` current points around a step: as many before as behind it where there are enough."""
    composed = store.composed(key)
    if composed is None:
        return None
    middle = _nearest(composed, Axis(XAxis.STEP), float(step))
    wanted = min(max(number, 1), composed.total)
    begin = min(max(middle - wanted // 2, 0), composed.total - wanted)
    parts = []
    for start, points in zip(composed.starts.tolist(), composed.series.current):
        own = slice(max(begin - start, 0), max(begin + wanted - start, 0))
        if len(points.steps[own]):
            parts.append(Points(points.steps[own], points.wall_times[own], points.values[own]))
    if len(parts) == 1:
        return parts[0]
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.wall_times for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def _nearest(composed: Composed, axis: Axis, native: float) -> int:
    """Index of the current point nearest to a native value."""
    natives = axis.natives(composed)
    stretch = max(sum(float(each[0]) <= native for each in natives) - 1, 0)
    own = natives[stretch]
    # Comparing in the array's own type: a float against int64 would copy a million steps.
    wanted = _as_step(native) if axis.by_step else native
    at = int(np.searchsorted(own, wanted, side="right")) - 1
    index = int(composed.starts[stretch]) + at
    if at < 0:
        return 0
    if index + 1 >= composed.total:
        return index
    following = own[at + 1] if at + 1 < len(own) else natives[stretch + 1][0]
    if float(following) - native >= native - float(own[at]):
        return index
    # the point behind is nearer: the last one of those that share its place
    right = stretch if at + 1 < len(own) else stretch + 1
    last = int(np.searchsorted(natives[right], following, side="right")) - 1
    return int(composed.starts[right]) + last


def _as_step(native: float) -> np.int64:
    """The whole step at or below a native value, within what a step can be."""
    return np.int64(int(min(max(native, -STEP_LIMIT), STEP_LIMIT) // 1))


def _read(composed: Composed, axis: Axis, index: int, smoothing: float) -> CursorReading:
    points, place = composed.place(index)
    stretch = int(np.searchsorted(composed.starts, index, side="right")) - 1
    value = float(points.values[place])
    smooth = value
    if smoothing > 0.0:
        ends = np.asarray([index], dtype=np.int64)
        smooth = float(averages([each.values for each in composed.series.current], ends, smoothing)[0])
    return CursorReading(
        composed.series.key,
        int(points.steps[place]),
        float(points.wall_times[place]),
        value,
        smooth,
        axis.x(float(axis.natives(composed)[stretch][place])),
        index,
        composed.total,
    )
