"""Search in logs: plain words in any case, all of them in one record, or a regular expression that cannot hang; the newest records first.

Blocks are read from the ends of the files, in turns, so that the present of every rank is searched before anybody's
past. Reads the disk: on a worker thread.
"""

from __future__ import annotations

from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Protocol, Sequence, Set, Tuple

from mstui.errors import FilterError
from mstui.formats.logs import lines
from mstui.i18n import _
from mstui.model.batch import FileKey
from mstui.model.log_view import LogHits, LogPlace
from mstui.model.logs import LogLevel
from mstui.model.patterns import Pattern, PatternError
from mstui.monitor.log_pages import LogShelf
from mstui.store.log_index import LogIndexView

BLOCK_BYTES = 4 << 20
"""Bytes that are read and searched at a time, some 10 ms of plain words."""
PATTERN_BLOCK_BYTES = 1 << 18
"""The same for regular expressions, which are a hundred times slower: somebody may want to stop."""
TELL_BYTES = 16 << 20
"""Between two reports of progress, but for the first hits."""
TELL_PATTERN_BYTES = 1 << 20
MOST_HITS = 10_000
"""Places kept, the newest of each file first: nobody steps through more; the rest is counted."""
LONGEST_LINE = 8192
"""Characters of a line that a regular expression looks at, as formats do."""


class _Needle(Protocol):
    """What is searched for in a block."""

    block_bytes: int
    tell_bytes: int

    def records(self, view: LogIndexView, data: bytes, begin: int) -> Set[int]:
        """Numbers of the records in `data`, which lies at offset `begin`, that hold it."""
        ...


class _Words:
    """Plain words that a record must all hold, in any case as far as ASCII has cases."""

    block_bytes = BLOCK_BYTES
    tell_bytes = TELL_BYTES

    def __init__(self, words: str) -> None:
        spelled = [_spellings(word) for word in sorted(words.split(), key=len, reverse=True)]
        self._rarest, self._others = spelled[0], spelled[1:]

    def records(self, view: LogIndexView, data: bytes, begin: int) -> Set[int]:
        found: Set[int] = set()
        low = data.lower()
        for needle in self._rarest:
            at = low.find(needle)
            while at >= 0:
                number = view.index_of(begin + at)
                end = at + len(needle)
                if number is not None:
                    start = max(int(view.offsets(number, number + 1)[0]) - begin, 0)
                    over = view.end_of(number)
                    end = max(end, min(over - begin, len(low))) if over is not None else len(low)
                    if all(any(low.find(each, start, end) >= 0 for each in other) for other in self._others):
                        found.add(number)
                at = low.find(needle, end)
        return found


def _spellings(word: str) -> Set[bytes]:
    """The bytes of a word in the encodings of logs, in lower case."""
    names = ("utf-8",) if word.isascii() else ("utf-8", "gbk")
    return {word.encode(name, "ignore").lower() for name in names} - {b""}


class _Regular:
    """A regular expression, on the lines as they are shown: without colours and NULs."""

    block_bytes = PATTERN_BLOCK_BYTES
    tell_bytes = TELL_PATTERN_BYTES

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = Pattern(pattern)
        except PatternError as error:
            where = _("character {n}").format(n=error.position + 1)
            raise FilterError(error.reason, where, _("Write plain words, or /a regular expression/.")) from None

    def records(self, view: LogIndexView, data: bytes, begin: int) -> Set[int]:
        found: Set[int] = set()
        at = 0
        for raw in data.split(b"\n"):
            text = lines.clean(raw.replace(b"\0", b"")).text[:LONGEST_LINE]
            if text and self._pattern.search(text):
                number = view.index_of(begin + at)
                if number is not None:
                    found.add(number)
            at += len(raw) + 1
        return found


def needle_of(words: str) -> Optional[_Needle]:
    """What a person typed; None for nothing. Raises FilterError for a regular expression that is none."""
    words = words.strip()
    if len(words) > 1 and words.startswith("/") and words.endswith("/"):
        return _Regular(words[1:-1]) if words[1:-1] else None
    return _Words(words) if words else None


class _Step(NamedTuple):
    """One block of one file."""

    numbers: Sequence[int]
    """records found, the newest first"""
    searched: int
    """bytes"""


def search(
    shelf: LogShelf,
    sizes: Callable[[FileKey], int],
    least_level: int,
    words: str,
    tell: Callable[[LogHits], bool],
) -> LogHits:
    """Search every file of a shelf. sizes: bytes of each; `tell` hears of progress and stops it with False."""
    needle = needle_of(words)
    if needle is None:
        return LogHits((), 0, 0, 0)
    size = sum(sizes(view.key) for view in shelf.views)
    walks: Dict[int, Iterator[_Step]] = {
        order: _walk(view, sizes(view.key), least_level, needle, shelf) for order, view in enumerate(shelf.views)
    }
    hits = _Hits(shelf, size)
    told = 0
    while walks:
        for order in tuple(walks):
            step = next(walks[order], None)
            if step is None:
                del walks[order]
                continue
            first = not hits.count
            hits.add(order, step)
            if hits.searched - told >= needle.tell_bytes or (first and hits.count):
                told = hits.searched
                if not tell(hits.now()):
                    return hits.now()
    if all(view.complete for view in shelf.views):
        hits.searched = size
    return hits.now()


class _Hits:
    """What has been found so far."""

    def __init__(self, shelf: LogShelf, size: int) -> None:
        self._shelf = shelf
        self._size = size
        self._keys: List[Tuple[float, int, int, int]] = []
        """time, number of the file, number of the record, offset"""
        self._sorted = True
        self.count = 0
        self.searched = 0

    def add(self, order: int, step: _Step) -> None:
        view = self._shelf.views[order]
        self.searched += step.searched
        self.count += len(step.numbers)
        end_time = self._shelf.modified(view.key)
        for number in step.numbers[: MOST_HITS - len(self._keys)]:
            when = self._shelf.times.between(view, number, end_time) if len(self._shelf.views) > 1 else 0.0
            self._keys.append((when, order, number, int(view.offsets(number, number + 1)[0])))
            self._sorted = False

    def now(self) -> LogHits:
        if not self._sorted:
            self._keys.sort()
            self._sorted = True
        places = tuple(LogPlace(self._shelf.views[order].key, offset) for _when, order, _number, offset in self._keys)
        return LogHits(places, self.count, min(self.searched, self._size), self._size)


def _walk(view: LogIndexView, size: int, least_level: int, needle: _Needle, shelf: LogShelf) -> Iterator[_Step]:
    """Search one file from its end, block by block, each beginning where a record begins.

    What lies in front of a tail that was read ahead is passed over: nobody knows its records yet.
    """
    end = size
    least_found = view.records
    while end > 0 and view.records:
        number = view.index_of(max(end - needle.block_bytes, 0))
        begin = 0 if number is None else int(view.offsets(number, number + 1)[0])
        if number is not None and _is_before_gap(view, number):
            known = int(view.offsets(number + 1, number + 2)[0])
            if known >= end:
                end = begin
                continue
            begin = known
        elif end - begin > 2 * needle.block_bytes:
            begin = end - needle.block_bytes  # inside of one huge record
        data = shelf.read(view.key, begin, end - begin)
        found = needle.records(view, data, begin) if data is not None else set()
        new = sorted((each for each in found if each < least_found), reverse=True)
        least_found = new[-1] if new else least_found
        yield _Step([each for each in new if _is_kept(view, each, least_level)], end - begin)
        end = begin


def _is_before_gap(view: LogIndexView, number: int) -> bool:
    return view.end_of(number) is None and number < view.records - 1


def _is_kept(view: LogIndexView, number: int, least_level: int) -> bool:
    level = int(view.levels(number, number + 1)[0])
    return level >= least_level or (level == LogLevel.UNKNOWN and least_level <= LogLevel.INFO)
