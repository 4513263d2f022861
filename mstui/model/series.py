"""One tag of one rank, as points; and the reduced view of it that a chart of a given width needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.model.sources import Source

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SeriesKey:
    """What one curve is."""

    run_key: str
    rank_id: int
    tag: str


class Disagreement(NamedTuple):
    """Two sources of one rank tell different values of one tag at the same step, beyond what printing rounds off."""

    compared: int
    """steps that both have"""
    differing: int
    step: int
    """the first step at which they differ"""
    value: float
    """of the source that holds"""
    other: float
    source: Source
    other_source: Source


@dataclass(frozen=True)
class Points:
    """A stretch of one generation: steps never fall. Arrays are views into the store; nobody writes to them."""

    steps: IntArray
    wall_times: FloatArray
    values: ValueArray

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Series:
    """Every point of a series.

    A training that restarts from a checkpoint records some steps again. `current` is what holds now, in rising step
    order: for each step the newest generation that reached it. `superseded` is what a restart overwrote.
    """

    key: SeriesKey
    current: Tuple[Points, ...]
    superseded: Tuple[Points, ...]
    restarts: Tuple[int, ...]
    """step at which each later generation begins"""
    revision: int
    sources: Tuple[Source, ...] = ()
    """where the points come from, the most exact first"""
    disagreement: Optional[Disagreement] = None

    @property
    def total(self) -> int:
        """Points in `current`."""
        return sum(len(p) for p in self.current)


class XAxis(Enum):
    """What a chart's x means."""

    STEP = "step"
    EPOCH = "epoch"
    RELATIVE = "relative"
    """hours since the run's first record"""
    WALL = "wall"


@dataclass(frozen=True)
class CurveView:
    """A series reduced to `columns` pixel columns. Empty columns hold NaN in lo, hi, last and smooth.

    lo and hi are over finite values, so a spike one point wide is kept at any zoom. What is not finite is in the masks.
    """

    key: SeriesKey
    axis: XAxis
    x_range: Tuple[float, float]
    """x at the left edge of the first and the right edge of the last column"""
    lo: FloatArray
    hi: FloatArray
    first: FloatArray
    last: FloatArray
    """finite value that comes first/last in the column"""
    smooth: FloatArray
    """exponential average at the end of the column; equal to last when smoothing is 0"""
    count: IntArray
    """points in the column, the non-finite ones included"""
    nan: BoolArray
    pos_inf: BoolArray
    neg_inf: BoolArray
    old_lo: FloatArray
    old_hi: FloatArray
    """superseded generations"""
    band_lo: FloatArray
    band_hi: FloatArray
    """over the other ranks; empty arrays when there is one rank"""
    restarts: Tuple[float, ...]
    """x of the restarts inside the range"""
    total: int
    """points of the whole series"""
    latest: Optional[Tuple[int, float, float]]
    """step, wall_time and value (maybe not finite) of the newest point of the whole series"""
    first_non_finite: Optional[int]
    """step of the first NaN or infinity of the whole series"""
    data_range: Tuple[float, float] = field(default=(float("nan"), float("nan")))
    """x of the first and last point of the whole series"""
    sources: Tuple[Source, ...] = ()
    """where the points come from, the most exact first"""
    disagreement: Optional[Disagreement] = None
