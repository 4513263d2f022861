"""One curve as evidence looks at it: what is finite, what lies before a step, its level, its noise. No judgement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Tuple

import numpy as np

from mstui.detect.naming import is_held_out
from mstui.detect.robust import median, scatter
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray, Series

BEGINNING = 5
"""First finite points whose median is where a curve began: one batch may be odd."""
LAST_PART = 5
"""The end of a run is its last fifth, but at least so many points."""


@dataclass(frozen=True)
class Curve:
    """The points of one (rank, tag) that hold now."""

    rank_id: int
    tag: str
    role: Role
    parameter: str
    statistic: str
    series: Series

    def __len__(self) -> int:
        return self.series.total

    @cached_property
    def held_out(self) -> bool:
        """Measured on data that is not trained on, by its name."""
        return is_held_out(self.tag)

    @cached_property
    def steps(self) -> IntArray:
        """[n] rising."""
        parts = [part.steps for part in self.series.current]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, np.int64)

    @cached_property
    def walls(self) -> FloatArray:
        """[n] Unix seconds."""
        parts = [part.wall_times for part in self.series.current]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    @cached_property
    def values(self) -> FloatArray:
        """[n] float64, NaN and infinities included."""
        parts = [part.values.astype(np.float64, copy=False) for part in self.series.current]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    @cached_property
    def restarts(self) -> Tuple[int, ...]:
        """Steps at which a later generation begins."""
        return self.series.restarts

    @cached_property
    def finite(self) -> BoolArray:
        """[n]."""
        return np.isfinite(self.values)

    @cached_property
    def good(self) -> FloatArray:
        """Finite values."""
        return self.values[self.finite]

    @cached_property
    def good_steps(self) -> IntArray:
        """Their steps."""
        return self.steps[self.finite]

    @cached_property
    def bad_step(self) -> Optional[int]:
        """Step of the first value that is not finite; None without one."""
        return None if bool(self.finite.all()) else int(self.steps[int((~self.finite).argmax())])

    def before(self, step: int, most: int) -> FloatArray:
        """The last finite values in front of `step`, at most so many."""
        end = int(np.searchsorted(self.good_steps, step, side="left"))
        return self.good[max(0, end - most) : end]

    def between(self, first: int, last: int) -> FloatArray:
        """Values, finite or not, with first <= step <= last."""
        begin = int(np.searchsorted(self.steps, first, side="left"))
        end = int(np.searchsorted(self.steps, last, side="right"))
        return self.values[begin:end]

    def at(self, step: int) -> Optional[float]:
        """The newest value that is not after `step`, finite or not; None without one."""
        end = int(np.searchsorted(self.steps, step, side="right"))
        return float(self.values[end - 1]) if end else None

    def number_of(self, step: int) -> int:
        """How many records lie in front of `step`."""
        return int(np.searchsorted(self.steps, step, side="left"))

    @cached_property
    def began(self) -> float:
        """Where the curve began; NaN without a finite point."""
        return median(self.good[:BEGINNING])

    @cached_property
    def end(self) -> FloatArray:
        """The finite values of the last fifth."""
        return self.good[-max(LAST_PART, len(self.good) // LAST_PART) :]

    @cached_property
    def level(self) -> float:
        """Median of the last fifth; NaN without a finite point."""
        return median(self.end)

    @cached_property
    def middle(self) -> float:
        """Median of all finite values; NaN without any."""
        return median(self.good)

    @cached_property
    def noise(self) -> float:
        """Scatter of the last fifth around its own straight line, as a share of the level; NaN where it has no size."""
        level = abs(self.level)
        if not level > 0.0 or len(self.end) < LAST_PART:
            return math.nan
        return scatter(detrended(self.end), 0.0) / level

    @cached_property
    def gap(self) -> float:
        """Usual distance of two records in steps; NaN below two."""
        return median(np.diff(self.steps).astype(np.float64)) if len(self) > 1 else math.nan


def detrended(values: FloatArray) -> FloatArray:
    """Values less their straight line."""
    if len(values) < 3:
        return values - values.mean() if len(values) else values
    x = np.arange(len(values)) - (len(values) - 1) / 2.0
    slope = float((x * values).sum() / (x * x).sum())
    return np.asarray(values - values.mean() - slope * x)


def slope_of(values: FloatArray) -> Tuple[float, float]:
    """Slope a point of the least-squares line, and its standard error; (0, inf) below 4 points."""
    if len(values) < 4:
        return 0.0, math.inf
    x = np.arange(len(values)) - (len(values) - 1) / 2.0
    squares = float((x * x).sum())
    slope = float((x * values).sum()) / squares
    rest = detrended(values)
    return slope, float(np.sqrt((rest * rest).sum() / (len(values) - 2) / squares))


def smoothed(values: FloatArray, width: int) -> FloatArray:
    """Running means over `width` points."""
    if len(values) < width:
        return values[:0]
    return np.asarray(np.convolve(values, np.full(width, 1.0 / width), mode="valid"))
