"""Pan and zoom of the shared x axis. Pure arithmetic on (low, high); None is "everything, and follow"."""

from __future__ import annotations

from typing import Optional, Tuple

Range = Tuple[float, float]

MARGIN = 0.05
"""share of the range that may lie empty behind the last point"""


def _kept_inside(low: float, span: float, data: Range) -> Range:
    low = min(low, data[1] + span * MARGIN - span)
    low = max(low, data[0])
    return (low, low + span)


def panned(shown: Range, data: Range, fraction: float) -> Optional[Range]:
    """The range moved by a part of itself, not beyond the data; None when everything shows already."""
    span = shown[1] - shown[0]
    if not span < data[1] - data[0]:
        return None
    return _kept_inside(shown[0] + span * fraction, span, data)


def zoomed(shown: Range, data: Range, factor: float, anchor: Optional[float], gap: float) -> Optional[Range]:
    """The range `factor` times narrower around `anchor`, at least `gap` wide; None when all data fit in.

    Without an anchor the present stays where it is if it shows, else the middle does.
    """
    span = max((shown[1] - shown[0]) / factor, gap)
    if not 0 < span < data[1] - data[0]:
        return None
    fixed = anchor if anchor is not None else data[1] if data[1] <= shown[1] else (shown[0] + shown[1]) / 2
    fixed = min(max(fixed, shown[0]), shown[1])
    part = (fixed - shown[0]) / (shown[1] - shown[0]) if shown[1] > shown[0] else 0.5
    return _kept_inside(fixed - span * part, span, data)


def containing(shown: Range, x: float) -> Range:
    """The range moved just so far that x lies inside with a margin."""
    span = shown[1] - shown[0]
    margin = span * MARGIN
    if x < shown[0]:
        return (x - margin, x - margin + span)
    if x > shown[1]:
        return (x + margin - span, x + margin)
    return shown
