"""Rows of the histogram panel, from histograms that are here already: over steps, and one step in detail.

Pure: the same histograms and size give the same rows. It refuses to fetch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import List, Optional, Sequence, Tuple

import numpy as np

from mstui.i18n import _, enumerated
from mstui.model.histogram import HistogramStats
from mstui.tui.heat import BAD, EMPTY, HeatScale, heat_spans, nice_above
from mstui.tui.histogram_bins import Binned, Edges, bars, bin_over_steps
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import count, number

LABEL_WIDTH = 8
"""cells of a row's lower edge"""
CLIP_WIDTH = 7
"""cells at the right for the count of clipped elements"""
CLIP_FROM_WIDTH = 32
"""cells from which there is room for that"""
SHARE_WIDTH = 6
FULL, HALF, LEAST = "⣿", "⡇", "⡀"
"""a bar's cell, its half cell, and what is left of a bar that is too short to see"""
ASCII_FULL, ASCII_LEAST = "#", "."
AXIS_FROM_HEIGHT = 4
"""rows from which one is spent on the steps"""
PICTURES_KEPT = 4
"""pictures whose bins are remembered: moving the marker or a repaint bins nothing again"""


@dataclass(frozen=True, eq=False)
class Column:
    """One recorded step."""

    index: int
    step: int
    edges: Optional[Edges]
    """None while it is being read, or when it cannot be"""
    non_finite: int
    unreadable: bool


def heat_room(width: int) -> int:
    """Columns of steps that fit."""
    return max(width - LABEL_WIDTH - 1 - (CLIP_WIDTH if width >= CLIP_FROM_WIDTH else 0), 1)


def gap_between(steps: int, room: int) -> int:
    """Every how manieth step is drawn: a power of two, so that a new step seldom changes the choice."""
    gap = 1
    while -(-steps // gap) + 1 > room and gap < steps:
        gap *= 2
    return gap if steps > room else 1


def note(stats: HistogramStats, edges: Edges) -> Span:
    """`3 NaN, 1 +Inf of 4096`: always said, so that its absence is never read as health."""
    total = count(stats.count)
    parts = [
        f"{count(found)} {name}"
        for found, name in (
            (stats.nan_count, "NaN"),
            (stats.pos_inf_count, "+Inf"),
            (stats.neg_inf_count, "-Inf"),
        )
        if found
    ]
    if edges.unplaced:
        parts.append(_("{n} in broken buckets").format(n=count(int(edges.unplaced))))
    if not parts:
        return _("no NaN in {total}").format(total=total), "dim"
    return _("{bad} of {total}").format(bad=enumerated(parts), total=total), "critical"


def stats_line(stats: HistogramStats) -> str:
    """The figures of one histogram in words."""
    return _("min {min}  max {max}  mean {mean}  count {count}  NaN {nan}  +Inf {pos}  -Inf {neg}").format(
        min=number(stats.minimum, LABEL_WIDTH),
        max=number(stats.maximum, LABEL_WIDTH),
        mean=number(stats.mean, LABEL_WIDTH),
        count=count(stats.count),
        nan=count(stats.nan_count),
        pos=count(stats.pos_inf_count),
        neg=count(stats.neg_inf_count),
    )


def over_steps_rows(
    columns: Sequence[Column], selected: int, width: int, height: int, *, ascii_only: bool
) -> Tuple[Row, ...]:
    """Value bins from the largest down, a NaN row where there is any, and the steps with a mark under the selected."""
    room = heat_room(width)
    columns = columns[-room:]
    repeat = max(room // len(columns), 1)
    axis = height >= AXIS_FROM_HEIGHT
    bad_row = any(column.non_finite or column.unreadable for column in columns)
    bins = max(height - axis - bad_row, 1)
    binned = _binned(tuple(column.edges for column in columns), bins)
    scale = HeatScale(0.0, nice_above(binned.most_inside) if binned.most_inside > 0 else 1.0, log=False)
    levels = scale.levels(binned.shares)
    levels[binned.shares <= 0] = EMPTY
    drawn = repeat * len(columns)
    rows: List[Row] = []
    for i in reversed(range(bins)):
        clipped = _clipped(binned, i, bins) if width >= CLIP_FROM_WIDTH else ""
        rows.append(
            (
                (number(float(binned.edges[i]), LABEL_WIDTH).rjust(LABEL_WIDTH) + " ", "dim"),
                *heat_spans(levels[:, i].tolist(), repeat=repeat, ascii_only=ascii_only),
                (" " * (room - drawn), "text"),
                (clipped, "warning"),
            )
        )
    if bad_row:
        rows.append((("NaN/Inf".rjust(LABEL_WIDTH) + " ", "critical"), *_bad_spans(columns, repeat)))
    if axis:
        at = max((i for i, column in enumerate(columns) if column.index <= selected), default=0)
        text = _axis_text(columns[0].step, columns[-1].step, at * repeat + repeat // 2, drawn)
        rows.append(((" " * (LABEL_WIDTH + 1) + text, "dim"),))
    return tuple(rows[:height])


def detail_rows(edges: Edges, width: int, height: int, *, ascii_only: bool) -> Tuple[Row, ...]:
    """One bar a row, smallest values first: lower edge, bar, share."""
    found = bars(edges, height)
    if not any(bar.count for bar in found):
        return (((" " + _("There is no finite value at this step."), "dim"),),) if height > 0 else ()
    room = max(width - LABEL_WIDTH - 1 - 1 - SHARE_WIDTH, 1)
    most = max(bar.share for bar in found)
    return tuple(
        (
            (number(bar.left, LABEL_WIDTH).rjust(LABEL_WIDTH) + " ", "dim"),
            (_bar(bar.share / most, room, something=bar.count > 0, ascii_only=ascii_only).ljust(room), "smooth"),
            (f" {bar.share:.1%}".rjust(SHARE_WIDTH + 1), "text"),
        )
        for bar in found
    )


@lru_cache(maxsize=PICTURES_KEPT)
def _binned(edges: Tuple[Optional[Edges], ...], rows: int) -> Binned:
    """Edges are compared by identity, which is right: they are never changed."""
    nothing = np.zeros(0)
    return bin_over_steps([one or Edges(nothing, nothing, nothing, 0.0) for one in edges], rows)


def _clipped(binned: Binned, row: int, rows: int) -> str:
    """The count beyond the range, at the row next to it."""
    parts = []
    if row == rows - 1 and binned.above >= 0.5:  # less is what is left of rounding
        parts.append(f"^{count(round(binned.above))}")
    if row == 0 and binned.below >= 0.5:
        parts.append(f"v{count(round(binned.below))}")
    return " ".join(parts)[:CLIP_WIDTH].rjust(CLIP_WIDTH) if parts else ""


def _bad_spans(columns: Sequence[Column], repeat: int) -> Sequence[Span]:
    spans: List[Span] = []
    for column in columns:
        if column.unreadable:
            spans.append(("?" * repeat, "warning"))
        else:
            spans.extend(heat_spans([BAD if column.non_finite else EMPTY], repeat=repeat))
    return spans


def _axis_text(first: int, last: int, mark_at: int, drawn: int) -> str:
    """Both ends and a `^` under the selected column; an end that would meet the mark moves beside it or is left out."""
    cells = [" "] * drawn
    cells[mark_at] = "^"
    right = count(last)
    end = drawn if mark_at < drawn - len(right) else mark_at
    start = end - len(right)
    if start >= 0:
        cells[start:end] = right
    left = count(first)
    begin = mark_at + 1 if mark_at < len(left) else 0
    if all(cell == " " for cell in cells[begin : begin + len(left) + 1]) and begin + len(left) < drawn:
        cells[begin : begin + len(left)] = left
    return "".join(cells)


def _bar(share: float, room: int, *, something: bool, ascii_only: bool) -> str:
    """A bar of 0 to `room` cells; what is too short to see but not nothing leaves a dot."""
    if ascii_only:
        text = ASCII_FULL * int(share * room + 0.5)
        return text or (ASCII_LEAST if something else "")
    halves = int(share * room * 2 + 0.5)
    text = FULL * (halves // 2) + HALF * (halves % 2)
    return text or (LEAST if something else "")
