"""From steps and wall times to a chart's x, and back to where its pixel columns begin.

Every axis is a straight line over one rising array that the store already has: native = x * factor + offset. Nothing is
ever computed per point.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.series import SeriesKey, XAxis
from mstui.store.composed import Composed
from mstui.store.run_store import Store

SECONDS_AN_HOUR = 3600.0
ENDS_AN_OCTAVE = 16
"""An end that is rounded up moves this often while a run doubles its length; at most 1/16 of the chart is ahead."""
LEAST_UNIT = {XAxis.STEP: 1.0, XAxis.EPOCH: 1e-3, XAxis.RELATIVE: 1.0 / SECONDS_AN_HOUR, XAxis.WALL: 1.0}
"""The smallest distance by which an end moves: one step, one second."""
STEP_SLACK = 1e-9
"""Relative: x * factor may land beside the whole step that it means."""
WALL_SLACK = 1e-6
"""Seconds by which a range is opened at both ends, more than the rounding of Unix times in float64."""
_FLOAT_STEPS = 2.0**-50
"""Relative: the least width of a range that floats can divide; beyond step 2^50 one step more is the same float."""
STEP_LIMIT = float(2**62)
"""Steps beyond this are no counter of a training; float64 could not tell them apart."""

Native = Union[IntArray, FloatArray]


class Axis(NamedTuple):
    """A line from x to the native unit: steps (int64) or Unix seconds (float64)."""

    kind: XAxis
    factor: float = 1.0
    offset: float = 0.0

    @property
    def by_step(self) -> bool:
        """Native values are steps."""
        return self.kind in (XAxis.STEP, XAxis.EPOCH)

    def natives(self, composed: Composed) -> Sequence[Native]:
        """The rising native array of each current stretch."""
        if self.by_step:
            return [points.steps for points in composed.series.current]
        return composed.rising_walls

    def x(self, native: float) -> float:
        """A native value as x."""
        return (native - self.offset) / self.factor

    def native(self, x: float) -> float:
        """An x as native value."""
        return x * self.factor + self.offset

    def edges(self, x_range: Tuple[float, float], columns: int) -> Native:
        """[columns + 1] native values: column i holds the points from edges[i] up to, not including, edges[i + 1].

        Both ends of the range belong to it.
        """
        edges: FloatArray = np.linspace(x_range[0], x_range[1], columns + 1) * self.factor + self.offset
        if not self.by_step:
            edges[0] -= WALL_SLACK
            edges[-1] += WALL_SLACK
            return edges
        slack = STEP_SLACK * np.maximum(np.abs(edges), 1.0)
        whole = np.ceil(edges - slack)
        whole[-1] = np.floor(edges[-1] + slack[-1]) + 1.0
        steps: IntArray = np.clip(whole, -STEP_LIMIT, STEP_LIMIT).astype(np.int64)
        return steps

    def data_range(self, composed: Composed) -> Tuple[float, float]:
        """x of the first and the last current point."""
        natives = self.natives(composed)
        return self.x(float(natives[0][0])), self.x(float(natives[-1][-1]))


def steps_per_epoch(store: Store, run_key: str, rank_id: int) -> Optional[float]:
    """Steps an epoch has, from a tag that records the epoch; None when there is none or it has not changed twice.

    Where the tag has a record an epoch and not with all the others, each record is a change.
    """
    for kind, tag in store.tag_names(run_key):
        if kind is None and store.roles.meaning(tag).role is Role.EPOCH:
            composed = store.composed(SeriesKey(run_key, rank_id, tag))
            if composed is not None:
                found = _slope(composed) or _distance_of_marks(composed, store.step_gap(run_key))
                if found is not None:
                    return found
    return None


def _slope(composed: Composed) -> Optional[float]:
    """Of the newest stretches, as many as it takes to see the epoch change twice."""
    stretches = composed.series.current
    for begin in range(len(stretches) - 1, -1, -1):
        steps = np.concatenate([points.steps for points in stretches[begin:]])
        values = np.concatenate([points.values for points in stretches[begin:]]).astype(np.float64)
        changes = np.flatnonzero(values[1:] > values[:-1]) + 1
        if len(changes) >= 2:
            first, last = int(changes[0]), int(changes[-1])
            rise = float(steps[last] - steps[first])
            epochs = float(values[last] - values[first])
            return rise / epochs if rise > 0.0 and math.isfinite(epochs) and epochs > 0.0 else None
    return None


def _distance_of_marks(composed: Composed, gap: Optional[int]) -> Optional[float]:
    """Of two records that mark the end of an epoch each: they lie farther apart than the records of other curves.

    gap: steps between those.
    """
    current = composed.series.current
    if gap is None or sum(map(len, current)) != 2:
        return None
    distance = int(current[-1].steps[-1]) - int(current[0].steps[0])
    one = float(current[-1].values[-1]) - float(current[0].values[0]) == 1.0
    return float(distance) if one and distance > gap else None


def axis_for(store: Store, key: SeriesKey, kind: XAxis, epoch_steps: Optional[float] = None) -> Axis:
    """The axis for one series. Falls back to steps where epochs or wall times are not known; `kind` tells."""
    if kind is XAxis.EPOCH:
        each = epoch_steps if epoch_steps is not None else steps_per_epoch(store, key.run_key, key.rank_id)
        if each is not None and math.isfinite(each) and each > 0.0:
            return Axis(XAxis.EPOCH, each)
    elif kind is XAxis.WALL:
        return Axis(XAxis.WALL)
    elif kind is XAxis.RELATIVE:
        begin = store.first_wall(key.run_key)
        if begin is not None:
            return Axis(XAxis.RELATIVE, SECONDS_AN_HOUR, begin)
    return Axis(XAxis.STEP)


def rounded_end(first: float, last: float, kind: XAxis) -> float:
    """An end at or behind `last` that stays the same while `last` grows a little."""
    span = last - first
    least = max(LEAST_UNIT[kind], abs(first) * _FLOAT_STEPS)
    if not math.isfinite(span) or span <= 0.0:
        return first + least
    unit = max(2.0 ** math.floor(math.log2(span)) / ENDS_AN_OCTAVE, least)
    return max(first + math.ceil(span / unit) * unit, last)
