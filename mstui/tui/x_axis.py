"""The x axis of a chart: where round steps, epochs and times lie, and how they are written.

Wall times are shown in the time zone of the process that draws.
"""

from __future__ import annotations

import math
import time
from typing import Collection, List, NamedTuple, Sequence, Tuple

from mstui.model.series import XAxis
from mstui.tui.axes import nice_step
from mstui.tui.numbers import number

TICK_CELLS = 12
"""cells between ticks at least: room for `-+12.5k` and a stretch of line"""
_LABEL_CELLS = TICK_CELLS - 3
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NICE_SECONDS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
)
_LAST_WALL = 253_402_214_400.0
"""9999-12-31, the last day that calendars here know"""
_MOST_TICKS = 64
_KILO, _MEGA, _GIGA = 1e3, 1e6, 1e9
_ROUNDING = 1e-9


class Tick(NamedTuple):
    """One mark on the axis row."""

    cell: int
    label: str
    """follows the mark; empty where there is no room"""


def format_step(step: float, width: int = _LABEL_CELLS) -> str:
    """A step counter in short: 950, 12k, 12.5k, 3.1M. At most `width` cells."""
    size = abs(step)
    for unit, suffix in ((_GIGA, "G"), (_MEGA, "M"), (_KILO, "k")):
        if unit <= size < unit * _KILO:
            return f"{number(step / unit, width - 1)}{suffix}"
    return number(step, width)


def format_duration(seconds: float) -> str:
    """45s, 12m, 1h30m, 2d6h: the two largest units that are not zero."""
    if not math.isfinite(seconds) or abs(seconds) >= _LAST_WALL:
        return _plain(seconds)
    sign, left = ("-", -seconds) if seconds < 0 else ("", seconds)
    if left < 1:
        return f"{sign}{left:.3g}s"
    whole = round(left)
    parts = [
        (whole // _DAY, "d"),
        (whole % _DAY // _HOUR, "h"),
        (whole % _HOUR // _MINUTE, "m"),
        (whole % _MINUTE, "s"),
    ]
    first = next(i for i, (number, _) in enumerate(parts) if number)
    return sign + "".join(f"{number}{unit}" for number, unit in parts[first : first + 2] if number)


def format_wall(seconds: float, step: float = 1.0) -> str:
    """Local time as fine as ticks `step` seconds apart need: 11-30, 14:05 or 14:05:30."""
    if not 0 <= seconds < _LAST_WALL:
        return _plain(seconds)
    pattern = "%m-%d" if step >= _DAY else "%H:%M" if step >= _MINUTE else "%H:%M:%S"
    return time.strftime(pattern, time.localtime(seconds))


def format_x(axis: XAxis, x: float) -> str:
    """One place on an axis, for a read-out."""
    if axis is XAxis.WALL:
        return format_wall(x)
    if axis is XAxis.RELATIVE:
        return format_duration(x * _HOUR)
    return _plain(x)


def format_range(axis: XAxis, low: float, high: float) -> Tuple[str, str]:
    """Both ends of a stretch of an axis, for a title: of steps the first and the last whole one in it."""
    if axis is XAxis.STEP and math.isfinite(low) and math.isfinite(high) and math.ceil(low) <= math.floor(high):
        low, high = math.ceil(low), math.floor(high)
    return format_x(axis, low), format_x(axis, high)


def x_ticks(axis: XAxis, low: float, high: float, cells: int) -> List[Tick]:
    """Ticks of an axis whose `cells` cells span low to high, from left to right; every label ends inside the axis."""
    if cells <= 0 or not (math.isfinite(low) and math.isfinite(high)) or not low < high:
        return []
    places = _places(axis, low, high, max(cells // TICK_CELLS, 1))
    marks = [(max(min(int((x - low) / (high - low) * cells), cells - 1), 0), text) for x, text in places]
    ticks: List[Tick] = []
    for i, (cell, text) in enumerate(marks):
        end = marks[i + 1][0] if i + 1 < len(marks) else cells
        if ticks and cell <= ticks[-1].cell:
            continue
        ticks.append(Tick(cell, text if cell + 1 + len(text) <= end else ""))
    return ticks


def axis_cells(ticks: Sequence[Tick], cells: int, taken: Collection[int], line: str, mark: str) -> List[str]:
    """The axis row, one character a cell: a mark at each tick and its label, none of it in a cell that is `taken`.

    What takes cells (where a restart or an alert was) would change a number's digits. Such a label stands before its
    mark instead, and is left out where there is no room either.
    """
    row = [line] * cells

    def free(first: int, end: int) -> bool:
        return all(row[cell] == line and cell not in taken for cell in range(max(first, 0), min(end, cells)))

    for tick in ticks:
        row[tick.cell] = mark
        after, before = tick.cell + 1, tick.cell - len(tick.label)
        # One cell more each time: a letter that touches a number would be read as a part of it.
        if free(after, after + len(tick.label) + 1):
            row[after : after + len(tick.label)] = tick.label
        elif before >= 0 and free(before - 1, tick.cell):
            row[before : tick.cell] = tick.label
    return row


def _places(axis: XAxis, low: float, high: float, most: int) -> List[Tuple[float, str]]:
    span = high - low
    if not math.isfinite(span):
        return [(low, _plain(low))]
    unit = float(_HOUR) if axis is XAxis.RELATIVE else 1.0
    seconds = span * unit
    if axis in (XAxis.RELATIVE, XAxis.WALL) and 1 <= seconds < _LAST_WALL:
        step = next((s for s in _NICE_SECONDS if s >= seconds / most), 0) or nice_step(seconds / most)
        if step < seconds:
            shift = _zone_offset(low) if axis is XAxis.WALL else 0.0
            at = [s - shift for s in _multiples(low * unit + shift, high * unit + shift, step)]
            if axis is XAxis.WALL:
                return [(s, format_wall(s, step)) for s in at]
            return [(s / unit, format_duration(s) if round(s) else "0") for s in at]
    least = span / most
    step = nice_step(max(least, 1.0) if axis is XAxis.STEP else least)
    form = format_step if axis is XAxis.STEP else _plain
    return [(x, form(x)) for x in _multiples(low, high, step)]


def _plain(x: float) -> str:
    return number(x, _LABEL_CELLS)


def _multiples(low: float, high: float, step: float) -> List[float]:
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    return [k * step for k in range(first, min(last, first + _MOST_TICKS) + 1)]


def _zone_offset(seconds: float) -> float:
    """Seconds that local time is ahead, so that ticks fall on round local times."""
    return float(time.localtime(seconds).tm_gmtoff) if 0 <= seconds < _LAST_WALL else 0.0
