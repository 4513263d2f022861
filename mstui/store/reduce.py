"""Points reduced to pixel columns: smallest and largest value of each, so that no spike is lost at any zoom.

Rising arrays are cut by binary search and reduced in the width they are kept in; nothing is sampled. What is not finite
is kept in masks.
"""

from __future__ import annotations

from typing import Iterable, Optional, Tuple

import numpy as np

from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.store.axis import Native
from mstui.store.blocks import Blocks

Extremes = Tuple[FloatArray, FloatArray]
"""lo and hi, one of each a column"""


class Columns:
    """What has been reduced into pixel columns so far. Stretches are added in the order of their points."""

    def __init__(self, number: int, blocks: Optional[Blocks] = None) -> None:
        """`blocks`: what is known of long rows; None: nothing is kept."""
        self._blocks = blocks if blocks is not None else Blocks()
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
        lo, hi = self._blocks.reduced(values, begins, ends)
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


def extremes(stretches: Iterable[Tuple[Native, ValueArray]], edges: Native, blocks: Blocks) -> Extremes:
    """Only the smallest and largest finite value of each column."""
    lo: FloatArray = np.full(len(edges) - 1, np.nan)
    hi: FloatArray = np.full(len(edges) - 1, np.nan)
    for native, values in stretches:
        bounds = np.searchsorted(native, edges)
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        if not len(filled):
            continue
        low, high = blocks.reduced(values, bounds[filled], bounds[filled + 1])
        if np.isfinite(low).all() and np.isfinite(high).all():
            lo[filled], hi[filled] = np.fmin(lo[filled], low), np.fmax(hi[filled], high)
        else:
            columns = Columns(len(lo), blocks)
            columns.add(native, values, edges)
            lo, hi = np.fmin(lo, columns.lo), np.fmax(hi, columns.hi)
    return lo, hi
