"""Which charts are shown and where: the choice of tags, and the grid of small multiples. Pure functions."""

from __future__ import annotations

from typing import NamedTuple, Sequence, Tuple

from mstui.model.roles import Role
from mstui.monitor_api import TagInfo
from mstui.tui.filtering import tag_figures

CHART_WIDTH, CHART_HEIGHT = 55, 12
"""least cells of a chart, where there is room for more than one"""
GAP = 1
"""blank columns between two charts"""
WAITING = frozenset([Role.PARAMETER, Role.EPOCH])
"""roles without a chart of their own until a filter names them: the layer map and the header show them"""


class Choice(NamedTuple):
    """The charts that a filter leaves."""

    tags: Tuple[str, ...] = ()
    hits: int = 0
    total: int = 0
    """scalar tags of the run"""
    error: str = ""
    """what in the filter was not understood; the rest of it filters"""


def choose_tags(infos: Sequence[TagInfo], text: str, shown: Sequence[str]) -> Choice:
    """The scalar tags that match a filter; WAITING ones last and only when there is a filter.

    Without a hit, `shown` stay: a half-typed word should not empty the screen.
    """
    scalars = [info for info in infos if info.kind is None]
    plain = [info for info in scalars if info.role not in WAITING]
    if not text.strip():
        chosen = plain or scalars
        return Choice(tuple(info.tag for info in chosen), len(chosen), len(scalars))
    from mstui.model.filters import parse  # most screens start without a filter

    wanted = parse(text)
    ordered = plain + [info for info in scalars if info.role in WAITING]
    found = tuple(info.tag for info in ordered if wanted.matches(info.tag, tag_figures(info)))
    known = {info.tag for info in scalars}
    return Choice(found or tuple(tag for tag in shown if tag in known), len(found), len(scalars), wanted.problem)


class Grid(NamedTuple):
    """Equal charts in rows and columns, so that their x axes line up."""

    columns: int
    rows: int
    chart_width: int
    chart_heights: Tuple[int, ...]
    """of each row; what does not divide goes to the upper ones"""

    @property
    def size(self) -> int:
        """Charts on a page."""
        return self.columns * self.rows


def grid_for(width: int, height: int, charts: int) -> Grid:
    """The grid for so many cells and at most so many charts (>= 1)."""
    rows = max(min(height // CHART_HEIGHT, charts), 1)
    most = max((width + GAP) // (CHART_WIDTH + GAP), 1)
    columns = max(min(most, -(-charts // rows)), 1)
    rows = min(rows, -(-charts // columns)) or 1
    share, rest = divmod(max(height, 0), rows)
    heights = tuple(share + (1 if i < rest else 0) for i in range(rows))
    return Grid(columns, rows, max((width - GAP * (columns - 1)) // columns, 1), heights)
