"""Least and greatest value of every few hundred points of a long row, so that a redraw need not look at all of them.

Worked out when they are asked for, and only for points that have come since. Points never change where they lie (see
mstui.store.columns); an array that has moved is another array, and its blocks are made anew. Refuses short rows: what
looking at them costs is less than what would be kept.
"""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import IntArray, ValueArray

BLOCK = 512
"""Points of a block: a chart of 200 columns then looks at 100,000 points and one in 256 of the others."""
LEAST_A_COLUMN = 16 * BLOCK
"""Points of a column below which looking at all of them takes less than putting blocks and the rest together."""
MOST_ROWS = 128
"""Rows kept: more than any screen shows."""

Ends = Tuple[ValueArray, ValueArray]
"""least and greatest, NaN where there is one"""


class _Kept(NamedTuple):
    array: weakref.ReferenceType[npt.NDArray[Any]]
    """what owns the points; without it their place in memory may hold anything"""
    low: ValueArray
    high: ValueArray


class Blocks:
    """Blocks of the rows that were drawn lately. Any thread asks; entries are replaced, never changed."""

    def __init__(self) -> None:
        self._kept: Dict[int, _Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def reduced(self, values: ValueArray, begins: IntArray, ends: IntArray) -> Ends:
        """Extremes of values[begin:end] for each pair; every pair ends where the next one begins, none is empty."""
        many = int(ends[-1] - begins[0]) >= LEAST_A_COLUMN * len(begins)
        blocks = self._of(values) if many else None
        if blocks is None:
            seen = values[: ends[-1]]
            with np.errstate(invalid="ignore"):
                return np.minimum.reduceat(seen, begins), np.maximum.reduceat(seen, begins)
        # of each column: points up to its first whole block, whole blocks, points behind the last one
        first, last = -(-begins // BLOCK), ends // BLOCK
        whole = first < last
        left = np.where(whole, first * BLOCK, ends)
        right = np.where(whole, last * BLOCK, ends)
        low: List[ValueArray] = []
        high: List[ValueArray] = []
        for begin, a, b, c, d, end in zip(*(each.tolist() for each in (begins, left, first, last, right, ends))):
            low += (values[begin:a], blocks[0][b:c], values[d:end])
            high += (values[begin:a], blocks[1][b:c], values[d:end])
        lengths = (left - begins) + np.where(whole, last - first, 0) + (ends - right)
        starts = np.cumsum(lengths) - lengths
        with np.errstate(invalid="ignore"):
            return np.minimum.reduceat(np.concatenate(low), starts), np.maximum.reduceat(np.concatenate(high), starts)

    def _of(self, values: ValueArray) -> Optional[Ends]:
        owner = values.base
        if not isinstance(owner, np.ndarray) or not values.flags.c_contiguous:
            return None
        place = int(values.__array_interface__["data"][0])
        kept = self._kept.pop(place, None)
        if kept is None or kept.array() is not owner:
            nothing = values[:0]
            kept = _Kept(weakref.ref(owner), nothing, nothing)
        known = len(kept.low)
        number = len(values) // BLOCK
        if number > known:
            more = values[known * BLOCK : number * BLOCK].reshape(number - known, BLOCK)
            low, high = more.min(axis=1), more.max(axis=1)
            kept = kept._replace(low=np.concatenate((kept.low, low)), high=np.concatenate((kept.high, high)))
        self._kept[place] = kept
        while len(self._kept) > MOST_ROWS:
            self._kept.pop(next(iter(self._kept)), None)
        return kept.low[:number], kept.high[:number]
