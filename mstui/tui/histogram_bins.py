"""Histograms brought to the rows of a panel: a value range that one outlier cannot ruin, and the mass in each row.

Whatever a file says is drawn somehow: buckets of zero or negative width, no bucket at all, figures at the ends of the
float range. What cannot be placed on a value axis (a bucket whose edge is NaN or infinite) is counted. It refuses to
fetch and to paint.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np

from mstui.model.histogram import Histogram
from mstui.model.records import FloatArray

CLIPPED_TAIL = 0.01
"""share of a step's mass at either end that the value range may leave out"""
FAR_OFF = 4.0
"""a step that reaches so many times farther than the median step is an outlier"""
FEW_STEPS = 0.1
"""share of the steps that may be outliers; more of them are the picture itself"""
ROUND_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0)
"""heights that a row may have, times a power of ten"""
ROUND_WITHIN = 1e300
"""magnitudes, and one over it row heights, between which rounding cannot leave the range of floats"""
HALF_OF_CONSTANT = 0.5
"""where every value is the same, the range reaches so far to either side, relative to the value (1 for zero)"""


@dataclass(frozen=True, eq=False)
class Edges:
    """Buckets in rising order with low <= high, all finite. Compared by identity: arrays are not worth comparing."""

    low: FloatArray
    high: FloatArray
    counts: FloatArray
    unplaced: float
    """elements in buckets that have no finite edges"""

    @property
    def total(self) -> float:
        """Elements that can be placed."""
        return float(self.counts.sum())


class Binned(NamedTuple):
    """Several histograms on one value axis."""

    edges: FloatArray
    """rows + 1 values, rising"""
    shares: FloatArray
    """(histograms, rows): share of a histogram's placed elements; the outer rows hold what lies beyond too"""
    most_inside: float
    """largest share without what lies beyond: the measure for intensity, or one far-off step would pale the rest"""
    below: float
    above: float
    """elements of all histograms together that lie beyond the ends"""


@dataclass(frozen=True)
class Bar:
    """Some neighbouring buckets of one histogram."""

    left: float
    count: float
    share: float


def edges_of(histogram: Histogram) -> Edges:
    """The buckets with their edges in order."""
    n = min(len(histogram.lefts), len(histogram.widths), len(histogram.counts))
    lefts = np.asarray(histogram.lefts[:n], dtype=np.float64)
    counts = np.maximum(np.asarray(histogram.counts[:n], dtype=np.float64), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        rights = lefts + histogram.widths[:n]
    good = np.isfinite(lefts) & np.isfinite(rights)
    low, high = np.minimum(lefts, rights)[good], np.maximum(lefts, rights)[good]
    order = np.lexsort((high, low))
    return Edges(low[order], high[order], counts[good][order], float(counts[~good].sum()))


def bin_over_steps(histograms: Sequence[Edges], rows: int) -> Binned:
    """Every histogram on `rows` rows over a range that outliers cannot ruin."""
    edges = _row_edges(*_robust_range(histograms), rows)
    shares = np.zeros((len(histograms), rows))
    below = above = most = 0.0
    for i, one in enumerate(histograms):
        total = one.total
        if not total:
            continue
        at = _mass_below(one, edges)
        shares[i] = np.diff(at) / total
        most = max(most, float(shares[i].max()))
        shares[i, 0] += at[0] / total
        shares[i, -1] += (total - at[-1]) / total
        below += at[0]
        above += total - at[-1]
    return Binned(edges, shares, most, below, above)


def bars(one: Edges, rows: int) -> List[Bar]:
    """Neighbouring buckets joined evenly so that at most `rows` bars remain."""
    buckets, total = len(one.counts), one.total
    if not buckets or rows <= 0:
        return []
    joined = math.ceil(buckets / rows)
    found = []
    for start in range(0, buckets, joined):
        count = float(one.counts[start : start + joined].sum())
        found.append(Bar(float(one.low[start]), count, count / total if total else 0.0))
    return found


def _robust_range(histograms: Sequence[Edges]) -> Tuple[float, float]:
    """From 1 to 99 % of the mass of every step, a few far-off steps left out; never empty."""
    placed = [one for one in histograms if one.total > 0]
    if not placed:
        return 0.0, 1.0
    low = np.array([_quantile(one, CLIPPED_TAIL) for one in placed])
    high = np.array([_quantile(one, 1 - CLIPPED_TAIL) for one in placed])
    centre = float(np.median(low / 2 + high / 2))
    with np.errstate(over="ignore"):
        reach = np.maximum(high - centre, centre - low)
        far = reach > FAR_OFF * np.median(reach)
    if far.sum() <= FEW_STEPS * len(placed):
        low, high = low[~far], high[~far]
    start, end = float(low.min()), float(high.max())
    if not end > start:
        pad = HALF_OF_CONSTANT * (abs(start) or 1.0)
        start, end = max(start - pad, -sys.float_info.max), min(end + pad, sys.float_info.max)
    return start, end


def _quantile(one: Edges, share: float) -> float:
    """The value below which this share of the elements lies, a bucket's elements spread evenly over it."""
    used = np.cumsum(one.counts)
    target = share * used[-1]
    i = min(int(np.searchsorted(used, target, side="left")), len(used) - 1)
    if not one.counts[i]:
        return float(one.low[i])
    part = (target - (used[i] - one.counts[i])) / one.counts[i]
    return float(one.low[i] * (1 - part) + one.high[i] * part)


def _row_edges(start: float, end: float, rows: int) -> FloatArray:
    """rows + 1 edges that cover the range, on multiples of a round number: short to read, and seldom moving."""
    span, far = end - start, max(abs(start), abs(end))
    if far < ROUND_WITHIN and span / rows > 1 / ROUND_WITHIN and far / (span / rows) < 1 / sys.float_info.epsilon:
        power = 10.0 ** math.floor(math.log10(span / rows))
        for step in ROUND_STEPS:
            first = math.floor(start / (step * power))
            if (first + rows) * step * power >= end:
                return np.arange(first, first + rows + 1) * (step * power)
    return np.linspace(start / 2, end / 2, rows + 1) * 2  # halves: the range may be wider than any float


def _mass_below(one: Edges, edges: FloatArray) -> FloatArray:
    """Elements below each edge, a bucket's elements spread evenly over it.

    A bucket without width is one point, and a point on the uppermost edge lies below it: the last row is closed, as
    numpy's and MindSpore's last bucket is.
    """
    half = one.high / 2 - one.low / 2
    reached = edges[:, None] / 2 - one.low[None, :] / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = np.clip(reached / half, 0.0, 1.0)
    point = half <= 0
    part[:, point] = edges[:, None] > one.low[None, point]
    part[-1, point] = edges[-1] >= one.low[point]
    found: FloatArray = part @ one.counts
    return found
