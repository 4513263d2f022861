"""A histogram as MindSpore or TensorBoard records it, and the few figures of it that a heat map needs."""

from __future__ import annotations

from dataclasses import dataclass

from mstui.model.records import FloatArray, IntArray


@dataclass(frozen=True)
class HistogramStats:
    """What can be read from a histogram without its buckets. NaN where the writer stored nothing."""

    step: int
    wall_time: float
    minimum: float
    maximum: float
    mean: float
    """exact: sum over finite elements divided by their number"""
    count: int
    """all elements, the invalid ones included"""
    nan_count: int
    pos_inf_count: int
    neg_inf_count: int

    @property
    def abs_max(self) -> float:
        """Largest magnitude among the finite elements."""
        return max(abs(self.minimum), abs(self.maximum))

    @property
    def non_finite(self) -> int:
        """Elements that are NaN or infinite."""
        return self.nan_count + self.pos_inf_count + self.neg_inf_count


@dataclass(frozen=True)
class Histogram:
    """Stats and buckets. Bucket i spans lefts[i] to lefts[i] + widths[i]; zero-width buckets occur (integers)."""

    stats: HistogramStats
    lefts: FloatArray
    widths: FloatArray
    counts: IntArray
