"""What has become of a figure: its newest value, what it was a while ago, and the difference in words.

Facts only: no judgement of what is good or bad.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Optional, Tuple

import numpy as np

from mstui.model.records import FloatArray
from mstui.model.series import Points, Series
from mstui.tui.numbers import number

LOOK_BACK = 0.1
"""share of the steps so far that "earlier" looks back"""
WINDOW = 0.05
"""share of the points whose median stands for "now" and "earlier" when they are compared: single steps are noise"""
MAX_WINDOW = 200
MOST_PERCENT = 999
"""beyond, a change is told as a factor"""
FACTOR_WIDTH = 3
MOST_FACTOR = 9e9
"""the largest that fits into FACTOR_WIDTH cells"""
LONGEST_PAUSE_S = 30 * 86_400.0
"""A month: what is longer is a clock that was set (0, 1970, a garbled time), not a step."""
STEADY = 0.02
"""relative change that is called steady"""


class Trend(NamedTuple):
    """Figures of one series."""

    newest: float
    """newest value, maybe not finite"""
    now: float
    """what stands for the present: the median of the newest points, or the newest value"""
    earlier: float
    """the same at the step LOOK_BACK before; NaN or an infinity when nothing there is finite"""
    change: float
    """relative difference between now and earlier; infinite where earlier is zero, NaN where there is none"""

    @property
    def word(self) -> Tuple[str, str]:
        """`NaN`, `+Inf`, `-Inf`, or "steady", "up", "down" and a percentage; empty when there is nothing to compare."""
        if math.isnan(self.newest):
            return "NaN", ""
        if math.isinf(self.newest):
            return ("+Inf" if self.newest > 0 else "-Inf"), ""
        if math.isnan(self.change):
            return "", ""
        if abs(self.change) < STEADY:
            return "steady", ""
        return ("up" if self.change > 0 else "down"), self._amount()

    def _amount(self) -> str:
        """At most 4 cells; empty where neither a percentage nor a factor says it."""
        percent = abs(self.change) * 100
        if percent < MOST_PERCENT + 0.5:
            return f"{percent:.0f}%"
        factor = self.now / self.earlier if self.earlier else math.inf
        if factor > MOST_FACTOR and math.isfinite(self.change):
            return ">" + number(MOST_FACTOR, FACTOR_WIDTH)
        return "x" + number(factor, FACTOR_WIDTH) if 0 < factor <= MOST_FACTOR else ""


def trend(series: Series, *, exact: bool = False) -> Optional[Trend]:
    """The trend of the current generation; None without points. `exact` compares two values, not two medians."""
    points = [part for part in series.current if len(part)]
    if not points:
        return None
    newest = points[-1]
    total = sum(len(part) for part in points)
    window = 1 if exact else max(1, min(int(total * WINDOW), MAX_WINDOW))
    first, last = int(points[0].steps[0]), int(newest.steps[-1])
    then = last - (last - first) * LOOK_BACK
    earlier_part = next((part for part in reversed(points) if part.steps[0] <= then), points[0])
    # A float would make numpy convert every step of the series first.
    end = max(int(np.searchsorted(earlier_part.steps, math.floor(then), side="right")), 1)
    # With few points both windows must not be the same points: the start is compared then.
    if earlier_part is newest and end >= len(newest) and total > 1:
        earlier_part, end = points[0], 1
    earlier = _standing_for(earlier_part.values[max(end - window, 0) : end])
    last_value = float(newest.values[-1])
    now = _standing_for(newest.values[-window:]) if math.isfinite(last_value) else last_value
    return Trend(last_value, now, earlier, relative_change(now, earlier) if total > 1 else math.nan)


def relative_change(now: float, earlier: float) -> float:
    """Their difference in parts of what was earlier; NaN when one of them is not finite."""
    if not (math.isfinite(now) and math.isfinite(earlier)):
        return math.nan
    if now == earlier:
        return 0.0
    return (now - earlier) / abs(earlier) if earlier else math.copysign(math.inf, now)


def seconds_per_step(points: Points, end: int) -> float:
    """Median seconds a step over the points before `end`, from when the records were written; NaN for too few."""
    start = max(end - MAX_WINDOW, 0)
    steps = points.steps[start:end].astype(np.float64)
    walls = points.wall_times[start:end]
    gaps = np.diff(steps)
    with np.errstate(all="ignore"):
        pauses = np.diff(walls)
    real = (gaps > 0) & (pauses >= 0) & (pauses < LONGEST_PAUSE_S) & (walls[:-1] > 0)
    return _median(pauses[real] / gaps[real]) if real.any() else math.nan


def _standing_for(values: FloatArray) -> float:
    """The median of what is finite, else the last value, so that an infinity keeps its name."""
    found = _median(values)
    return float(values[-1]) if math.isnan(found) else found


def _median(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite.astype(np.float64))) if len(finite) else math.nan
