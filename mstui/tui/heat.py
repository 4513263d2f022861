"""Figures as one glyph a cell that reads with and without colour: levels, glyph ramps, scales and their legend.

Glyphs outside ASCII are Braille only, which every terminal draws one cell wide; the familiar shades and blocks are two
cells wide in many Chinese terminals. It refuses to know what the figures mean.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np

from mstui.model.records import FloatArray, IntArray
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import number
from mstui.tui.palette import HEAT_LOOKS

LEVELS = HEAT_LOOKS
RAMP = "⠐⠒⠖⠶⠷⠿⡿⣿"
ASCII_RAMP = ".:-=+*#@"
BAD_GLYPH = "x"
"""a cell that is not a finite number; a letter, because it must be found without colour"""
EMPTY, BAD = -1, -2
"""levels of a cell without a figure, and of one that is not finite"""
MIDDLE_LEVEL = LEVELS // 2 - 1
"""level of every cell of a map whose figures are all the same"""

LEGEND_NUMBER_WIDTH = 7
_NICE = (1.0, 2.0, 5.0)
_STEPS_PER_RANGE = 10
"""a linear scale's ends lie on a grid about ten times finer than its range"""


def ramp(*, ascii_only: bool) -> str:
    """One glyph a level, from faint to dense."""
    return ASCII_RAMP if ascii_only else RAMP


class HeatScale(NamedTuple):
    """Which figure has which level. `low` and `high` lie on round numbers, so that they seldom move."""

    low: float
    high: float
    log: bool

    def levels(self, values: FloatArray) -> IntArray:
        """Level of each value, 0 to LEVELS - 1; EMPTY for NaN. Values beyond an end have the level of the end."""
        with np.errstate(all="ignore"):
            if not self.high > self.low:
                share = np.full(values.shape, (MIDDLE_LEVEL + 0.5) / LEVELS if self.high else 0.0)
            elif self.log:
                decades = math.log10(self.high) - math.log10(self.low)
                share = (np.log10(np.maximum(values, self.low)) - math.log10(self.low)) / decades
            else:  # halves: the distance of two floats may be larger than any float
                share = (values / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        found = np.clip(np.nan_to_num(share) * LEVELS, 0, LEVELS - 1).astype(np.int64)
        found[np.isnan(values)] = EMPTY
        return found


def scale_for(values: FloatArray, *, log: bool) -> HeatScale:
    """The scale over all finite values. Logarithmic only if asked and no value is negative; zeros then are level 0."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return HeatScale(0.0, 0.0, log=False)
    low, high = float(finite.min()), float(finite.max())
    if log and low >= 0 and high > 0:
        low = float(finite[finite > 0].min())
        return HeatScale(nice_below(low), nice_above(high), log=True) if high > low else HeatScale(low, high, log=True)
    return HeatScale(*round_outwards(low, high), log=False)


def nice_below(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in _NICE if step * power <= value]
    return max(steps) if steps and power > 0 else value


def nice_above(value: float) -> float:
    """The smallest of 1, 2, 5, 10 times a power of ten that is not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in (*_NICE, 10.0) if step * power >= value]
    return min(steps) if steps and power > 0 and math.isfinite(min(steps)) else value


def round_outwards(low: float, high: float) -> Tuple[float, float]:
    """The range widened to round numbers; as it is where it is too wide or too narrow for arithmetic."""
    span = high - low
    if not 0 < span < math.inf:
        return low, high
    step = nice_below(span / _STEPS_PER_RANGE) if span / _STEPS_PER_RANGE > 0 else 0.0
    if not step or not max(abs(low), abs(high)) / step < 1 / np.finfo(np.float64).eps:
        return low, high
    return min(math.floor(low / step) * step, low), max(math.ceil(high / step) * step, high)


def heat_spans(levels: Sequence[int], *, repeat: int = 1, ascii_only: bool = False) -> List[Span]:
    """Each level as `repeat` cells, neighbours of one look joined."""
    glyphs = ramp(ascii_only=ascii_only)
    spans: List[Span] = []
    for level, same in groupby(levels):
        cells = repeat * sum(1 for _ in same)
        if level == EMPTY:
            spans.append((" " * cells, "text"))
        elif level == BAD:
            spans.append((BAD_GLYPH * cells, "critical"))
        else:
            spans.append((glyphs[level] * cells, f"heat-{level}"))
    return spans


def legend(scale: HeatScale, *, ascii_only: bool) -> Row:
    """`0.001 .:-=+*#@ 20`: what the glyphs mean."""
    return (
        (number(scale.low, LEGEND_NUMBER_WIDTH) + " ", "dim"),
        *heat_spans(range(LEVELS), ascii_only=ascii_only),
        (" " + number(scale.high, LEGEND_NUMBER_WIDTH), "dim"),
    )
