"""The stretch of a log that is held for the screen: the selected record, the first one that shows, what to ask for.

No widget and no disk: pages come in, requests go out. The panel asks the monitor and draws.
"""

from __future__ import annotations

from typing import Callable, NamedTuple, Optional, Tuple

from mstui.model.log_view import LogPage, LogPlace, LogQuery, LogRow

HELD = 200
"""records asked for at either side of the place that is looked at: several pages of the largest screen"""
EDGE = 60
"""records left before the end of what is held at which more is asked for"""
NEWEST = 120
"""records held while the end is followed: two pages of the largest screen"""
NOTHING = LogPage((), at_start=True, at_end=True, total=0)


class Request(NamedTuple):
    """What a page depends on, apart from the data."""

    query: LogQuery
    around: Optional[LogPlace]
    """None: the newest record"""
    before: int
    after: int


class LogWindow:
    """Follows the newest record until it is told to look elsewhere."""

    def __init__(self) -> None:
        self.page = NOTHING
        self.loaded: Optional[Request] = None
        """what the page is the answer to"""
        self.following = True
        self.selected: Optional[LogPlace] = None
        """None: the newest record"""
        self.anchor: Optional[LogPlace] = None
        """place around which records are held; None while the end is followed"""
        self._top: Optional[LogPlace] = None

    @property
    def rows(self) -> Tuple[LogRow, ...]:
        """The records held."""
        return self.page.rows

    def request(self, query: LogQuery) -> Request:
        """What should be held."""
        if self.following or self.anchor is None:
            return Request(query, None, NEWEST, 0)
        return Request(query, self.anchor, HELD, HELD)

    def take(self, request: Request, page: LogPage) -> None:
        """Hold another page; the selection stays on its record, or on the nearest one that is left."""
        self.page, self.loaded = page, request
        if self.following:
            self.selected = None
        elif page.rows and request.around == self.anchor:  # else the page that holds the selection is still to come
            self.selected = page.rows[self.at()].place

    def index_of(self, place: LogPlace) -> Optional[int]:
        """Position of a record among those held; None when it is not."""
        return next((i for i, row in enumerate(self.rows) if row.place == place), None)

    def nearest(self, place: LogPlace) -> int:
        """Position of a record, or of the last one before it in its file; 0 when there is nothing like it."""
        exact = self.index_of(place)
        if exact is not None:
            return exact
        before = (i for i, row in enumerate(self.rows) if _same_file(row.place, place) and row.place[1] <= place.offset)
        return max(before, default=0)

    def at(self) -> int:
        """Position of the selection; the last one while the end is followed."""
        if not self.rows:
            return 0
        return len(self.rows) - 1 if self.following or self.selected is None else self.nearest(self.selected)

    def current(self) -> Optional[LogRow]:
        """The selected record."""
        return self.rows[self.at()] if self.rows else None

    def follow(self) -> None:
        """Go to the newest record and stay there."""
        self.following, self.selected, self.anchor, self._top = True, None, None, None

    def go(self, place: LogPlace) -> None:
        """Select a record, which need not be held yet."""
        self.following = False
        self.selected = place
        at = self.index_of(place)
        if at is None:
            self.anchor, self._top = place, None
        else:
            self._keep_enough(at)

    def move(self, by: int) -> None:
        """Move the selection; it stops at the ends of what is held, and more is asked for before it comes there."""
        if not self.rows or (self.following and by >= 0):
            return
        at = min(max(self.at() + by, 0), len(self.rows) - 1)
        self.following = False
        self.selected = self.rows[at].place
        self._keep_enough(at)

    def _keep_enough(self, at: int) -> None:
        short_before = at < EDGE and not self.page.at_start
        short_after = len(self.rows) - 1 - at < EDGE and not self.page.at_end
        if self.anchor is None or short_before or short_after:
            self.anchor = self.rows[at].place

    def visible(self, height: int, rows_of: Callable[[LogRow], int]) -> Tuple[int, int]:
        """(first, end) of the records that show: the selection among them, the end at the bottom while it is followed.

        rows_of: screen rows that a record takes, at least one.
        """
        if not self.rows:
            return (0, 0)
        at = self.at()
        least = self._first_that_keeps(at, height, rows_of)
        if self.following or self._top is None:
            first = least if self.following else max(least, at - height // 2)
        else:
            first = min(max(self.nearest(self._top), least), at)
        first = min(first, self._first_that_keeps(len(self.rows) - 1, height, rows_of)) if not self.following else first
        self._top = self.rows[first].place
        end, used = first, 0
        while end < len(self.rows) and used < height:
            used += rows_of(self.rows[end])
            end += 1
        return (first, end)

    def _first_that_keeps(self, last: int, height: int, rows_of: Callable[[LogRow], int]) -> int:
        """The first record of a picture at whose bottom `last` stands as a whole."""
        used = rows_of(self.rows[last])
        first = last
        while first > 0 and used + rows_of(self.rows[first - 1]) <= height:
            first -= 1
            used += rows_of(self.rows[first])
        return first


def _same_file(one: LogPlace, other: LogPlace) -> bool:
    return one.file == other.file
