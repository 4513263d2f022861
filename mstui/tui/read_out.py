"""The value cursor's read-out: one line a run with raw and averaged value, step and time."""

from __future__ import annotations

from typing import List, Sequence

from mstui import safe_text
from mstui.i18n import _
from mstui.model.series import XAxis
from mstui.monitor_api import CursorReading
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import NO_CLOCK, clock, number
from mstui.tui.x_axis import format_x

VALUE_WIDTH = 11
"""cells of a value: a float32 in full with its sign and exponent"""
_NAME_SHARE = 3
"""a run's name takes at most this part of the line"""
_LINES_SHARE = 4
"""the read-out takes at most this part of the panel"""


def most_lines(height: int) -> int:
    """Lines that a panel of so many rows can spare."""
    return max(height // _LINES_SHARE, 1)


def _facts(reading: CursorReading, axis: XAxis) -> str:
    where = "" if axis in (XAxis.STEP, XAxis.WALL) else f" ({_(axis.value)} {format_x(axis, reading.x)})"
    return _("raw {raw}  avg {smooth}  step {step}{where}  {time}  {index}/{total}").format(
        raw=number(reading.value, VALUE_WIDTH),
        smooth=number(reading.smooth, VALUE_WIDTH),
        step=reading.step,
        where=where,
        time=clock(reading.wall_time) if reading.wall_time > 0 else NO_CLOCK,
        index=reading.index + 1,
        total=reading.total,
    )


def read_out_text(run: str, tag: str, reading: CursorReading, axis: XAxis) -> str:
    """One reading as a line of text for the clipboard."""
    return f"{run}  rank {reading.key.rank_id}  {safe_text.safe(tag)}  {_facts(reading, axis)}"


def read_out_rows(
    readings: Sequence[CursorReading], names: Sequence[Span], axis: XAxis, width: int, *, ascii_only: bool
) -> List[Row]:
    """One row a reading, after the run's name and look; cut to `width` cells."""
    ellipsis = safe_text.ASCII_ELLIPSIS if ascii_only else safe_text.ELLIPSIS
    rows: List[Row] = []
    for reading, (text, look) in zip(readings, names):
        name = safe_text.fit(text, width // _NAME_SHARE, ellipsis=ellipsis)
        gap = "  "[: max(width - safe_text.width(name), 0)]
        room = width - safe_text.width(name) - len(gap)
        facts = safe_text.fit(_facts(reading, axis), room, middle=False, ellipsis=ellipsis)
        rows.append(((name, f"strong {look}"), (gap, "text"), (facts, "text")))
    return rows
