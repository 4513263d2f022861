"""Pages of logs: of one file in its order, of several files in the order of their time stamps.

Nothing is merged as a whole: in every file the place of the page is found by halving, and a page's worth of rows around
it is read. Reads the disk: on a worker thread.
"""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.model.batch import FileKey
from mstui.model.log_view import LogPage, LogPlace, LogRow
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.log_rows import rows
from mstui.monitor.log_times import LogTimes, ReadLog
from mstui.store.log_index import LogIndexView

MOST_MERGED = 64
"""Files that are merged: in each a page's worth of rows is read. Of more, those that were written last."""
MOST_ROWS = 2000
"""Rows of a page, before and after its place."""

_Key = Tuple[float, int, int]
"""time, number of the file, number of the record"""


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
    keys: List[_Key]


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
    note = _("{n} records can no longer be read: the file has changed").format(n=lost) if lost else ""
    return LogPage(tuple(found), begin == 0 and view.complete, end >= total, total, begin, note)


def _merged(shelf: LogShelf, least_level: int, around: Optional[LogPlace], before: int, after: int) -> LogPage:
    views = list(shelf.views)
    note = ""
    if len(views) > MOST_MERGED:
        newest = sorted(
            views,
            key=lambda view: (around is not None and view.key == around.file, shelf.modified(view.key)),
            reverse=True,
        )
        kept = {view.key for view in newest[:MOST_MERGED]}
        note = _("{n} of {total} logs, those written last; choose a rank to see another").format(
            n=MOST_MERGED, total=len(views)
        )
        views = [view for view in views if view.key in kept]
    anchor = _anchor(shelf, views, least_level, around)
    parts: List[_Part] = []
    lost = 0
    for order, view in enumerate(views):
        chosen = view.select(least_level)
        at = len(chosen) if anchor is None else _behind(shelf, view, least_level, order, anchor)
        begin, end = max(at - before - 1, 0), min(at + after + 1, len(chosen))
        found = rows(view, chosen.numbers(begin, end).tolist(), shelf.read, shelf.times, shelf.ranks)
        lost += max(end - begin, 0) - len(found)
        parts.append(_Part(view, begin, len(chosen), found, _keys(shelf, view, order, found)))
    if lost:
        note = " ".join(filter(None, (note, _("{n} records can no longer be read: a file has changed").format(n=lost))))
    return _cut(parts, anchor, before, after, note)


def _anchor(
    shelf: LogShelf, views: Sequence[LogIndexView], least_level: int, around: Optional[LogPlace]
) -> Optional[_Key]:
    """The place of the page in the order of all files; None for the end."""
    if around is None:
        return None
    order, view = next((order, view) for order, view in enumerate(views) if view.key == around.file)
    number = view.index_of(around.offset)
    chosen = view.select(least_level)
    if number is None:
        number = 0
    elif len(chosen):
        place = min(chosen.before(number), len(chosen) - 1)
        number = int(chosen.numbers(place, place + 1)[0])
    return shelf.times.between(view, number, shelf.modified(view.key)), order, number


def _behind(shelf: LogShelf, view: LogIndexView, least_level: int, order: int, anchor: _Key) -> int:
    """How many selected records of a file come before the anchor in the order of all files."""
    chosen = view.select(least_level)
    if order == anchor[1]:
        return chosen.before(anchor[2])
    low, high = 0, len(chosen)
    end_time = shelf.modified(view.key)
    while low < high:
        middle = (low + high) // 2
        number = int(chosen.numbers(middle, middle + 1)[0])
        if (shelf.times.between(view, number, end_time), order, number) < anchor:
            low = middle + 1
        else:
            high = middle
    return low


def _keys(shelf: LogShelf, view: LogIndexView, order: int, found: Sequence[LogRow]) -> List[_Key]:
    """Where rows of one file stand among those of all; never falling, for a file's own order is kept."""
    keys: List[_Key] = []
    latest = float("-inf")
    end_time = shelf.modified(view.key)
    for row in found:
        number = view.index_of(row.place.offset) or 0
        latest = max(latest, shelf.times.between(view, number, end_time))
        keys.append((latest, order, number))
    return keys


def _cut(parts: Sequence[_Part], anchor: Optional[_Key], before: int, after: int, note: str) -> LogPage:
    """Put the rows of all files together and keep those around the anchor."""
    merged = [(key, row) for part in parts for key, row in zip(part.keys, part.rows)]
    merged.sort(key=lambda each: each[0])
    if anchor is None:
        at = len(merged) - 1
    else:
        wanted = (anchor[1], anchor[2])
        at = next((place for place, (key, _row) in enumerate(merged) if key[1:] == wanted), len(merged) - 1)
    begin, end = max(at - before, 0), min(at + after + 1, len(merged))
    first = {key[1]: 0 for key, _row in merged}
    for key, _row in merged[:begin]:
        first[key[1]] += 1
    shown = dict.fromkeys(first, 0)
    for key, _row in merged[begin:end]:
        shown[key[1]] += 1
    behind = left = total = 0
    complete = True
    for order, part in enumerate(parts):
        total += part.total
        skipped = part.begin + first.get(order, 0)
        behind += skipped
        left += part.total - skipped - shown.get(order, 0)
        complete = complete and part.view.complete
    return LogPage(
        tuple(row for _key, row in merged[begin:end]),
        at_start=behind == 0 and complete,
        at_end=left <= 0,
        total=total,
        behind=behind,
        note=note,
    )
