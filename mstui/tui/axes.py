"""The y axis of a chart: its ends, the dot row of a value, ticks and their labels.

Every finite float is a possible value: subnormals, 1e308 and its negative, a range narrower than a float's last digit.
Ends lie on a coarse grid and are kept as long as the data use enough of them, because a moved end repaints the chart.
"""

from __future__ import annotations

import math
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.model.records import FloatArray
from mstui.tui.numbers import number
from mstui.tui.state import Scale

LABEL_WIDTH = 7
"""cells that always suffice for one digit of any float64: -5e-324"""
_MOST_DECIMALS = 6
"""more than a label has room for"""
_LARGEST = float(np.finfo(np.float64).max)
_FINEST = 1e-300
"""ranges below this are drawn as a constant: steps between subnormals leave no room for a grid"""
_SAME = 1e-12
"""a range this small against its values is a constant with rounding noise"""
_CONSTANT_PAD = 0.1
"""share of a constant's value left free above and below it"""
_GRID_PARTS = 10
"""the ends lie on a 1-2-5 grid of about this many parts of the range"""
_KEEP_SHARE = 0.4
"""ends are kept until the data use less than this part of them"""
_HEADROOM = 0.25
"""part of the data's range by which an end that was passed lies beyond them: a slow drift passes few ends"""
_LOG_FROM = 3.0
"""ratio of the ends from which a logarithmic axis ends at 1, 2 or 5 times a power of ten"""
_SYMLOG_DECADES = 3
"""decades below the largest magnitude that a symmetric logarithmic axis tells apart at least"""
_MOST_DECADES = 12
"""decades that it tells apart at most: with more of them each has less than a row of a chart"""
_OTHER_DECADES = 2
"""decades by which the smallest magnitude that is told apart may miss the one wanted before ends are chosen anew"""
_EXPONENT_FROM = 1e3
"""magnitudes from which a label has an exponent where any other of the axis has one"""
_MANTISSAS = (1.0, 2.0, 5.0, 10.0)
_ROUNDING = 1e-9
"""part of a grid step by which a multiple may miss it"""


class YAxis(NamedTuple):
    """How values become dot rows. `low` < `high`, both finite."""

    scale: Scale
    low: float
    high: float
    linear_below: float = _FINEST
    """symmetric log: magnitudes around and below this are spaced linearly"""

    def _spaced(self, values: FloatArray) -> FloatArray:
        if self.scale is Scale.LINEAR:
            halves: FloatArray = values * 0.5
            return halves  # so that the difference of the ends cannot overflow
        with np.errstate(all="ignore"):
            if self.scale is Scale.LOG:
                logs: FloatArray = np.where(values > 0, np.log10(values), np.nan)
                return logs
            scaled: FloatArray = np.log1p(np.fabs(values) / self.linear_below)
            signed: FloatArray = np.copysign(scaled, values)
        return signed

    def rows(self, values: FloatArray, dot_rows: int) -> FloatArray:
        """Dot row of each value, 0 at the top; NaN for what is not finite or has no place on the scale."""
        ends = self._spaced(np.array([self.low, self.high]))
        with np.errstate(all="ignore"):
            part = (ends[1] - self._spaced(values)) / (ends[1] - ends[0])
            found: FloatArray = np.where(np.isfinite(part), part, np.nan) * float(dot_rows - 1)
        return found

    def share(self, low: float, high: float) -> float:
        """Part of the axis between two values."""
        rows = self.rows(np.array([low, high]), 2)
        return float(rows[0] - rows[1])


NOTHING = YAxis(Scale.LINEAR, 0.0, 1.0)
"""the axis of a chart without a finite value"""


def choose_axis(
    low: float, high: float, wanted: Scale, previous: Optional[YAxis] = None, small: float = math.nan
) -> YAxis:
    """The axis for data between low and high (NaN when there are none), near `previous` if that still fits.

    LOG becomes SYMLOG where a value is zero or negative. small: the magnitude of the smaller ones among the data, which
    a symmetric logarithmic axis should still tell apart; NaN where it is not known.
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return NOTHING
    scale = Scale.SYMLOG if wanted is Scale.LOG and low <= 0 else wanted
    finest = _linear_below(max(abs(low), abs(high)), small)
    if previous is not None and previous.scale is scale and _as_fine(previous, scale, finest, low, high):
        if previous.low <= low and high <= previous.high:
            return previous
        if scale is Scale.LINEAR:  # the others' ends are a factor of 2 apart at least
            low, high = _beyond(low, high, previous)
    if scale is Scale.LOG and high / low >= _LOG_FROM:
        return YAxis(scale, _round_down(low), _round_up(high))
    if scale is Scale.SYMLOG and not _constant(low, high):
        return YAxis(scale, *_symmetric_ends(low, high, finest), finest)
    linear = _linear_ends(low, high)
    if scale is Scale.LOG and linear[0] <= 0:
        linear = (low / 2 or low, linear[1])
    return YAxis(scale, *linear, finest)


def _linear_below(largest: float, small: float) -> float:
    """Where the linear middle of a symmetric logarithmic axis ends."""
    power = _power(largest)
    wanted = _power(small) if 0 < small < largest else largest
    return max(min(wanted, power / 10.0**_SYMLOG_DECADES), power / 10.0**_MOST_DECADES, _FINEST)


def _as_fine(previous: YAxis, scale: Scale, finest: float, low: float, high: float) -> bool:
    """Do the data use enough of an axis, and does it tell as small ones apart."""
    alike = 10.0**_OTHER_DECADES
    if scale is Scale.SYMLOG and not previous.linear_below / alike <= finest <= previous.linear_below * alike:
        return False
    return previous.share(low, high) >= _KEEP_SHARE


def _beyond(low: float, high: float, passed: YAxis) -> Tuple[float, float]:
    """The data's ends with room on the side where they have left an axis, but not across zero."""
    room = (high / 2 - low / 2) * (2 * _HEADROOM)
    bottom = max(low - room, 0.0 if low >= 0 else -_LARGEST) if low < passed.low else low
    top = min(high + room, 0.0 if high <= 0 else _LARGEST) if high > passed.high else high
    return bottom, top


def _constant(low: float, high: float) -> bool:
    span = high / 2 - low / 2
    return span < _FINEST or span <= _SAME * max(abs(low), abs(high))


def _linear_ends(low: float, high: float) -> Tuple[float, float]:
    if _constant(low, high):
        pad = max(abs(low), abs(high)) * _CONSTANT_PAD or 1.0
        pad = max(pad, _FINEST)
        low, high = max(low - pad, -_LARGEST), min(high + pad, _LARGEST)
    step = nice_step((high / 2 - low / 2) / _GRID_PARTS * 2)
    bottom, top = math.floor(low / step + _ROUNDING) * step, math.ceil(high / step - _ROUNDING) * step
    return max(min(bottom, low), -_LARGEST), min(max(top, high), _LARGEST)


def _symmetric_ends(low: float, high: float, finest: float) -> Tuple[float, float]:
    bottom = -_round_up(-low) if low < -finest else (_round_down(low) if low > finest else -finest if low < 0 else 0.0)
    top = _round_up(high) if high > finest else (-_round_down(-high) if high < -finest else finest if high > 0 else 0.0)
    return (bottom, top) if bottom < top else _linear_ends(low, high)


def _power(value: float) -> float:
    """The power of ten at or below a magnitude."""
    return float(10.0 ** math.floor(math.log10(value))) if value > _FINEST else _FINEST


def nice_step(least: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten at or above `least`."""
    least = min(least, _LARGEST)
    power = _power(least)
    for mantissa in _MANTISSAS:
        if power * mantissa >= least * (1 - _ROUNDING):
            return min(power * mantissa, _LARGEST)
    return min(power * _MANTISSAS[-1], _LARGEST)


def _round_up(value: float) -> float:
    return max(nice_step(value), value)


def _round_down(value: float) -> float:
    power = _power(value)
    return min(max((power * m for m in _MANTISSAS if power * m <= value), default=value), value)


def multiples(step: float, low: float, high: float, most: int) -> List[float]:
    """The multiples of a step between two ends; empty when there are more than `most`."""
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    if last - first >= most:
        return []
    return [k * step for k in range(first, last + 1)]


def _linear_ticks(low: float, high: float, most: int) -> List[float]:
    step = nice_step((high / 2 - low / 2) / most * 2)
    for _ in range(len(_MANTISSAS)):
        ticks = multiples(step, low, high, most)
        if ticks:
            return ticks if len(ticks) > 1 else [low, high]
        step = nice_step(step * (1 + 2 * _SAME + 2 * _ROUNDING))
    return [low, high]


def _decades(low: float, high: float) -> List[int]:
    return list(range(math.ceil(math.log10(low) - _ROUNDING), math.floor(math.log10(high) + _ROUNDING) + 1))


def _log_ticks(axis: YAxis, most: int) -> List[float]:
    exponents = _decades(axis.low, axis.high)
    if len(exponents) > 1:
        return [10.0**e for e in exponents[:: -(-len(exponents) // most)]]
    power = _power(axis.low)
    fine = [power * ten * m for ten in (1.0, 10.0) for m in _MANTISSAS[:3] if axis.low <= power * ten * m <= axis.high]
    return fine if 1 < len(fine) <= most else _linear_ticks(axis.low, axis.high, most)


def _symlog_ticks(axis: YAxis, most: int) -> List[float]:
    up = _decades(axis.linear_below, axis.high) if axis.high > axis.linear_below else []
    down = _decades(axis.linear_below, -axis.low) if -axis.low > axis.linear_below else []
    sides = bool(up) + bool(down)
    if not sides or axis.low > 0 or axis.high < 0:
        one_side = _decades(*sorted((abs(axis.low), abs(axis.high)))) if axis.low > 0 or axis.high < 0 else []
        if len(one_side) < 2:
            return _linear_ticks(axis.low, axis.high, most)
        kept = [10.0**e for e in one_side[:: -(-len(one_side) // most)]]
        return kept if axis.low > 0 else [-tick for tick in reversed(kept)]
    every = -(-max(len(up), len(down)) // max((most - 1) // sides, 1))
    ticks = [-(10.0**e) for e in down[::-every]] + [0.0] + [10.0**e for e in reversed(up[::-every])]
    return ticks[:most] if len(ticks) > most else ticks


def y_ticks(axis: YAxis, most: int) -> List[float]:
    """At most `most` (>= 2) round values between the ends, rising."""
    if axis.scale is Scale.LOG:
        return _log_ticks(axis, most)
    if axis.scale is Scale.SYMLOG:
        return _symlog_ticks(axis, most)
    return _linear_ticks(axis.low, axis.high, most)


def y_labels(ticks: Sequence[float], width: int = LABEL_WIDTH) -> List[str]:
    """Texts of rising ticks, each at most `width` cells and no two alike.

    Ticks that would read alike are told as differences from the lowest one ("12345", "+0.001"); what still reads alike
    is left empty.
    """
    texts = _same_decimals(ticks, width) or _same_form(ticks, width)
    if len(set(texts)) < len(texts):
        differences = (float(f"{tick - ticks[0]:.{_MOST_DECIMALS}g}") for tick in ticks[1:])
        texts = texts[:1] + [f"+{number(difference, width - 1)}" for difference in differences]
    return [text if text not in texts[:i] else "" for i, text in enumerate(texts)]


def _same_form(ticks: Sequence[float], width: int) -> List[str]:
    """Where one tick has an exponent, all large ones have one: `1e6` below `1e8`, not 1000000."""
    texts = [number(tick, width) for tick in ticks]
    if not any("e" in text for text in texts):
        return texts
    for i, (tick, text) in enumerate(zip(ticks, texts)):
        if "e" not in text and abs(tick) >= _EXPONENT_FROM:
            shorter = number(tick, len(text) - 1)
            texts[i] = shorter if "e" in shorter and float(shorter) == tick else text
    return texts


def _same_decimals(ticks: Sequence[float], width: int) -> List[str]:
    """Evenly spaced ticks with the decimals that their distance needs; empty when they do not fit or are not even."""
    if len(ticks) < 2:
        return []
    step = ticks[1] - ticks[0]
    if not _FINEST < step < 10.0**width or abs(ticks[-1] - ticks[0] - step * (len(ticks) - 1)) > step * _ROUNDING:
        return []
    decimals = max(-math.floor(math.log10(step) + _ROUNDING), 0)
    if decimals > _MOST_DECIMALS:
        return []
    texts = [f"{tick + 0.0:.{decimals}f}" for tick in ticks]
    return texts if all(len(text) <= width for text in texts) else []
