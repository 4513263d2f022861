"""The layer map as a table that is ready to draw: levels of all cells, marks, names. Worked out once for each map.

It refuses to fetch and to paint: the panel does that.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NamedTuple, Sequence, Tuple

import numpy as np

from mstui import safe_text
from mstui.i18n import _
from mstui.monitor_api import LayerMap, MapRow
from mstui.tui.heat import BAD, HeatScale, scale_for
from mstui.tui.numbers import count
from mstui.tui.parameters import common_prefix

_SHARE = re.compile(r"(?:.*[_ /])?(?:\w*frac|zeros?|zero_ratio|\w*share|sparsity)")
_TALLY = re.compile(r"(?:.*[_ /])?(?:nans?|infs?|non_?finite|nan_count|inf_count)")

DEAD_COLUMNS = 3
"""zeros at the end of a row from which it is called dead: one or two may be chance"""
EXACT_STEP_DIGITS = 6

LAST_WIDTH = 8
"""cells of the newest figure's column"""
MARK_WIDTH = 11
"""cells of the column that names NaN and dead layers"""
BOTH_FROM_WIDTH = 56
"""cells from which a row has both columns; below, a mark takes the newest figure's place"""
LEAST_NAME = 6
NAME_SHARE = 3
"""names get at most the panel's width divided by this"""


class TableRow(NamedTuple):
    """One parameter."""

    parameter: str
    levels: Tuple[int, ...]
    last: float
    last_is_bad: bool
    """the newest column held NaN or infinities"""
    mark: str
    """what is wrong with the parameter, translated, with the step of the record where it began; empty if nothing"""
    mark_look: str


@dataclass(frozen=True, eq=False)
class LayerTable:
    """A whole map, compared by identity. The scale is over all rows: rows compare whichever of them are shown."""

    source: LayerMap
    scale: HeatScale
    rows: Tuple[TableRow, ...]
    names: NameColumn


class NameColumn(NamedTuple):
    """What the column of names needs to know of all of them, so that it is the same however rows are scrolled."""

    prefix: str = ""
    """what all names share and none needs to show"""
    longest: int = 0
    """cells of the longest name without the prefix; 0 when no name is known"""


class Geometry(NamedTuple):
    """How a row of a panel is divided: marker, name, space, heat, space, newest figure and mark."""

    name_width: int
    heat_width: int
    both: bool
    """newest figure and mark each have a column"""
    columns: int
    """newest columns of the map that fit"""
    repeat: int
    """cells that each column gets"""


def name_column(names: Sequence[str]) -> NameColumn:
    """Prefix and width of these names."""
    unique = list(dict.fromkeys(names))
    prefix = common_prefix(unique)
    return NameColumn(prefix, max((safe_text.width(safe_text.safe(name[len(prefix) :])) for name in unique), default=0))


def divide(width: int, names: NameColumn, columns: int) -> Geometry:
    """The geometry of rows `width` cells wide for a map of so many columns: names get what they need, heat the rest."""
    most = max(width // NAME_SHARE, LEAST_NAME)
    name_width = min(max(names.longest, LEAST_NAME), most) if names.longest else most
    both = width >= BOTH_FROM_WIDTH
    tail = LAST_WIDTH + 1 + MARK_WIDTH if both else MARK_WIDTH
    heat_width = max(width - 1 - name_width - 1 - 1 - tail, 0)
    if 0 < columns <= heat_width:
        return Geometry(name_width, heat_width, both, columns, heat_width // columns)
    return Geometry(name_width, heat_width, both, min(columns, heat_width), 1)


def is_magnitude(metric: str) -> bool:
    """A norm or the like: spread over decades, and zero means that nothing moves. Shares and NaN counts are not."""
    return not _SHARE.fullmatch(metric.lower()) and not _TALLY.fullmatch(metric.lower())


def make_table(source: LayerMap) -> LayerTable:
    """Levels by one scale over the whole map: logarithmic for magnitudes, linear for shares and counts."""
    columns = len(source.steps)
    values = np.full((len(source.rows), columns), np.nan)
    bad = np.zeros(values.shape, dtype=np.bool_)
    for i, row in enumerate(source.rows):
        cells, flags = row.cells[:columns], row.non_finite[:columns]
        values[i, : len(cells)] = cells
        bad[i, : len(flags)] = flags
    bad |= np.isinf(values)
    magnitude = is_magnitude(source.metric)
    scale = scale_for(values[~bad], log=magnitude)
    levels = scale.levels(values)
    levels[bad] = BAD
    rows = []
    for row, row_levels, row_values, row_bad in zip(source.rows, levels.tolist(), values, bad):
        mark, look = _mark(row, source.steps, row_values.tolist(), row_bad.tolist(), magnitude=magnitude)
        rows.append(TableRow(row.parameter, tuple(row_levels), row.last, _ends_bad(row), mark, look))
    return LayerTable(source, scale, tuple(rows), name_column([row.parameter for row in rows]))


def step_text(step: int) -> str:
    """A step in full while it is short."""
    text = str(step)
    return text if len(text) <= EXACT_STEP_DIGITS else count(step)


def _ends_bad(row: MapRow) -> bool:
    return bool(row.non_finite and row.non_finite[-1]) or row.last in (float("inf"), float("-inf"))


def _mark(
    row: MapRow, steps: Sequence[int], values: Sequence[float], bad: Sequence[bool], *, magnitude: bool
) -> Tuple[str, str]:
    """First NaN, else dead (zero to the end), else nothing; with a look. The map may tell steps only by its columns."""
    if True in bad:
        began = row.first_bad if row.first_bad is not None else steps[bad.index(True)]
        return _("NaN {step}").format(step=step_text(began)), "critical"
    known = [(step, value) for step, value in zip(steps, values) if not math.isnan(value)]
    if not magnitude or not known:
        return "", "text"
    zeros = 0
    while zeros < len(known) and known[-1 - zeros][1] == 0:
        zeros += 1
    if zeros == len(known) and row.zero_since == row.first:
        return _("dead"), "warning"
    if zeros == len(known) or zeros >= DEAD_COLUMNS:
        began = row.zero_since if row.zero_since is not None else known[-zeros][0]
        return _("dead {step}").format(step=step_text(began)), "warning"
    return "", "text"
