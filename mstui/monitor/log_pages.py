"""Pages of logs: of one file in its order, of several files in the order of their time stamps.

Nothing is merged as a whole: in every file the place of the page is found by halving, and a page's worth of rows around
it is read. Reads the disk: on a worker thread.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, ngettext
from mstui.model.batch import FileKey
from mstui.model.log_view import LogPage, LogPlace, LogRow
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.log_rows import rows
from mstui.monitor.log_times import LogTimes, ReadLog
from mstui.store.log_index import LogIndexView

MOST_MERGED = 64
"""Files that are merged: in each a page's worth of rows is read. Of more, those that were written last."""
OUT_OF_ORDER = 32
"""Records of one file that may bear older stamps than one before them, in a row: what a process had buffered when a
traceback was written, what a launcher copies from another log."""
LEAST_REACH = 8
"""Rows of each file that are read first on either side of a place; more where the page needs more."""
MOST_ROWS = 2000
"""Rows of a page, before and after its place."""

Key = Tuple[float, int, int]
"""time, number of the file, number of the record among the selected ones of the file"""


class LogShelf(NamedTuple):
    """The logs that a query selects, and how to read them."""

    views: Sequence[LogIndexView]
    """in the order of their keys"""
    ranks: RankMap
    read: ReadLog
    times: LogTimes
    modified: Callable[[FileKey], float]
    """Unix seconds of a file's last byte"""


class _Part(NamedTuple):
    """What one file gives to a merged page."""

    view: LogIndexView
    begin: int
    """selected records before its rows"""
    total: int
    """selected records"""
    rows: List[LogRow]
    keys: List[Key]
    lost: int
    """records that can no longer be read"""


def page(shelf: LogShelf, least_level: int, around: Optional[LogPlace], before: int, after: int) -> LogPage:
    """Rows around a place; around None: up to the newest record."""
    before, after = min(max(before, 0), MOST_ROWS), min(max(after, 0), MOST_ROWS)
    if around is not None and all(view.key != around.file for view in shelf.views):
        around = None
    if not shelf.views:
        return LogPage((), at_start=True, at_end=True, total=0)
    if len(shelf.views) == 1:
        return _single(shelf, shelf.views[0], least_level, around, before, after)
    return _merged(shelf, least_level, around, before, after)


def _single(
    shelf: LogShelf, view: LogIndexView, least_level: int, around: Optional[LogPlace], before: int, after: int
) -> LogPage:
    chosen = view.select(least_level)
    total = len(chosen)
    at = total - 1
    if around is not None:
        number = view.index_of(around.offset)
        at = min(chosen.before(number), total - 1) if number is not None else 0
    begin, end = max(at - before, 0), min(at + after + 1, total)
    found = rows(view, chosen.numbers(begin, end).tolist(), shelf.read, shelf.times, shelf.ranks)
    lost = max(end - begin, 0) - len(found)
    said = ngettext(
        "{n} record can no longer be read: the file has changed",
        "{n} records can no longer be read: the file has changed",
        lost,
    )
    note = said.format(n=lost) if lost else ""
    return LogPage(tuple(found), begin == 0 and view.complete, end >= total, total, begin, note)


def _merged(shelf: LogShelf, least_level: int, around: Optional[LogPlace], before: int, after: int) -> LogPage:
    views, note = _most_recent(shelf, around)
    queues = [Queue(shelf, view, order, least_level) for order, view in enumerate(views)]
    anchor: Optional[Key] = None
    if around is not None:
        anchor = next(queue for queue in queues if queue.view.key == around.file).key_at(around.offset)
    reach = max((before + after) // len(queues), LEAST_REACH)
    spans = [_Span(queue.total if anchor is None else queue.before(anchor), reach, reach) for queue in queues]
    while True:
        parts = [_read(shelf, queue, span, before, after) for queue, span in zip(queues, spans)]
        found, wider = _cut(parts, spans, anchor, before, after)
        if not wider:
            break
        for order in wider:
            spans[order] = spans[order]._replace(back=4 * spans[order].back, ahead=4 * spans[order].ahead)
    lost = sum(part.lost for part in parts)
    if lost:
        said = ngettext(
            "{n} record can no longer be read: a file has changed",
            "{n} records can no longer be read: a file has changed",
            lost,
        )
        note = " ".join(filter(None, (note, said.format(n=lost))))
    return replace(found, note=note)


class _Span(NamedTuple):
    """Which records of a queue are read for a page."""

    at: int
    """where the page's place stands"""
    back: int
    ahead: int


def _read(shelf: LogShelf, queue: Queue, span: _Span, before: int, after: int) -> _Part:
    begin = max(span.at - min(span.back, before + 1), 0)
    end = min(span.at + min(span.ahead, after + 1), queue.total)
    found = rows(queue.view, queue.numbers(begin, end), shelf.read, shelf.times, shelf.ranks)
    lost = max(end - begin, 0) - len(found)
    return _Part(queue.view, begin, queue.total, found, queue.keys(begin, found), lost)


def _most_recent(shelf: LogShelf, around: Optional[LogPlace]) -> Tuple[Sequence[LogIndexView], str]:
    """The files that are merged, and what is to be said of the others."""
    if len(shelf.views) <= MOST_MERGED:
        return shelf.views, ""
    newest = sorted(
        shelf.views,
        key=lambda view: (around is not None and view.key == around.file, shelf.modified(view.key)),
        reverse=True,
    )
    kept = {view.key for view in newest[:MOST_MERGED]}
    note = _("{n} of {total} logs, those written last; choose a rank to see another").format(
        n=MOST_MERGED, total=len(shelf.views)
    )
    return [view for view in shelf.views if view.key in kept], note


class Queue:
    """The selected records of one file, in file order, and where they stand among those of all files.

    A record stands no earlier than those before it in its file: buffered lines bear older stamps than what stands in
    front of them.
    """

    def __init__(self, shelf: LogShelf, view: LogIndexView, order: int, least_level: int) -> None:
        self.view = view
        self._chosen = view.select(least_level)
        self.total = len(self._chosen)
        self._times = shelf.times
        self._order = order
        self._end_time = shelf.modified(view.key)

    def numbers(self, begin: int, end: int) -> List[int]:
        """Record numbers of the selected ones from the begin-th to, not including, the end-th."""
        found: List[int] = self._chosen.numbers(begin, end).tolist()
        return found

    def _time(self, at: int) -> float:
        return self._times.between(self.view, self.numbers(at, at + 1)[0], self._end_time)

    def _window(self, end: int) -> List[float]:
        """Times of the records in front of the end-th, as many as may be out of order."""
        numbers = self.numbers(max(end - OUT_OF_ORDER, 0), end)
        stamps = self._times.stamps(self.view, numbers)
        return [
            stamp if stamp is not None else self._times.between(self.view, number, self._end_time)
            for number, stamp in zip(numbers, stamps)
        ]

    def key_at(self, offset: int) -> Key:
        """Where the record at this offset stands, or the next one that is selected."""
        number = self.view.index_of(offset)
        at = max(min(self._chosen.before(number or 0), self.total - 1), 0)
        return max(self._window(at + 1), default=self._end_time), self._order, at

    def before(self, anchor: Key) -> int:
        """How many records stand before the anchor."""
        when, order, at = anchor
        if order == self._order:
            return at

        def is_behind(time: float) -> bool:
            return time > when or (time == when and self._order > order)

        low, high = 0, self.total
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_behind(self._time(middle)) else (middle + 1, high)
        while low > 0:
            window = self._window(low)
            earlier = next((place for place, time in enumerate(window) if is_behind(time)), None)
            if earlier is None:
                break
            low -= len(window) - earlier
        return low

    def keys(self, begin: int, found: Sequence[LogRow]) -> List[Key]:
        """Where rows stand, of which the first is the begin-th record."""
        keys: List[Key] = []
        latest = max(self._window(begin), default=float("-inf"))
        for row in found:
            number = self.view.index_of(row.place.offset) or 0
            latest = max(latest, self._times.between(self.view, number, self._end_time))
            keys.append((latest, self._order, self._chosen.before(number)))
        return keys


def _cut(
    parts: Sequence[_Part], spans: Sequence[_Span], anchor: Optional[Key], before: int, after: int
) -> Tuple[LogPage, Sequence[int]]:
    """Put the rows of all files together and keep those around the anchor.

    Gives back too the files of which more must be read: the page shows all that was read of them on one side.
    """
    merged = [(key, row) for part in parts for key, row in zip(part.keys, part.rows)]
    merged.sort(key=lambda each: each[0])
    at = len(merged) - 1
    if anchor is not None:
        at = next((place for place, (key, _row) in enumerate(merged) if key[1:] == anchor[1:]), at)
    begin, end = max(at - before, 0), min(at + after + 1, len(merged))
    first, shown = Counter(key[1] for key, _row in merged[:begin]), Counter(key[1] for key, _row in merged[begin:end])
    wider: List[int] = []
    behind = left = 0
    for order, (part, span) in enumerate(zip(parts, spans)):
        skipped = part.begin + first[order]
        behind += skipped
        left += part.total - skipped - shown[order]
        back = span.back <= before and not first[order] and part.begin > 0
        ahead = span.ahead <= after and first[order] + shown[order] == len(part.rows) < part.total - part.begin
        if back or ahead:
            wider.append(order)
    complete = all(part.view.complete for part in parts)
    page = LogPage(
        tuple(row for _key, row in merged[begin:end]),
        at_start=behind == 0 and complete,
        at_end=left <= 0,
        total=sum(part.total for part in parts),
        behind=behind,
    )
    return page, wider
