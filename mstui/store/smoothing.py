"""The exponential average of a curve at chosen points, each from a bounded look back.

Debiased: the weights of what is there add up to one, so a curve begins at its first value and not at zero. A value that
is not finite has no weight. Nothing is carried from call to call.
"""

from __future__ import annotations

import math
from typing import Any, List, Sequence

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from mstui.model.records import FloatArray, IntArray, ValueArray

MOST_SMOOTHING = 0.99
"""More turns every curve into a line."""
FORGOTTEN = 1e-4
"""The look back ends where everything older would weigh less than this part of the whole."""


def look_back(smoothing: float) -> int:
    """Points that an average looks back over, its own included."""
    if smoothing <= 0.0:
        return 1
    return 1 + math.ceil(math.log(FORGOTTEN) / math.log(min(smoothing, MOST_SMOOTHING)))


def averages(parts: Sequence[ValueArray], ends: IntArray, smoothing: float) -> FloatArray:
    """Exponential averages at the points `ends` (rising indices over all parts together).

    smoothing is the weight of the past, 0 to MOST_SMOOTHING. NaN where no finite value lies within the look back.
    """
    weight = min(max(smoothing, 0.0), MOST_SMOOTHING)
    total = sum(len(part) for part in parts)
    window = min(look_back(weight), max(total, 1))
    out: List[FloatArray] = []
    start = 0
    before: ValueArray = np.full(window - 1, np.nan, dtype=np.float32)
    for part in parts:
        stop = start + len(part)
        low, high = np.searchsorted(ends, (start, stop))
        own = ends[low:high] - start
        early = own[own < window - 1]
        if len(early):
            head = np.concatenate((before, part[: window - 1]))
            out.append(_weigh(sliding_window_view(head, window)[early], weight))
        late = own[len(early) :]
        if len(late):
            out.append(_weigh(sliding_window_view(part, window)[late - (window - 1)], weight))
        if window > 1:
            before = np.concatenate((before, part[-(window - 1) :]))[-(window - 1) :]
        start = stop
    return np.concatenate(out) if out else np.empty(0, dtype=np.float64)


def _weigh(windows: ValueArray, weight: float) -> FloatArray:
    """Average of each row; the last column is the newest. Weights below one keep 1e308 from overflowing.

    In float64 whatever the values are: rounded to float32, the average of a constant learning rate would differ from it
    by a last digit, and a chart of nothing else would show that digit from top to bottom.
    """
    length = windows.shape[1]
    weights: FloatArray = (1.0 - weight) * weight ** np.arange(length - 1, -1, -1, dtype=np.float64)
    finite = np.isfinite(windows)
    if finite.all():
        return _row_sums(windows, weights) / float(weights.sum())
    mass = _row_sums(finite, weights)
    sums = _row_sums(np.where(finite, windows, 0), weights)
    return np.divide(sums, mass, out=np.full(len(sums), np.nan), where=mass > 0.0)


def _row_sums(rows: npt.NDArray[Any], weights: FloatArray) -> FloatArray:
    """Weighted sum of each row. Not by BLAS: its threads go on spinning after so small a product."""
    sums: FloatArray = np.einsum("ij,j->i", rows, weights)
    return sums
