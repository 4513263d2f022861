"""Search in logs: plain words in any case, all of them in one record, or a regular expression that cannot hang.

The newest records first: blocks are read from the ends of the files, in turns, so that the present of every rank is
searched before anybody's past. Reads the disk: on a worker thread.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Protocol, Sequence, Set, Tuple

import numpy as np

from mstui.errors import FilterError
from mstui.formats.logs import lines
from mstui.i18n import _
from mstui.model.batch import FileKey
from mstui.model.log_view import LogHits, LogPlace
from mstui.model.logs import LogLevel
from mstui.model.patterns import Pattern, PatternError
from mstui.model.records import IntArray
from mstui.monitor.log_pages import Key, LogShelf
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


class _Block(NamedTuple):
    """Bytes of one file, and the records in them."""

    data: bytes
    offsets: IntArray
    """where the records begin, counted from the block's first byte; the first one may begin before it"""

    def holding(self, places: Sequence[int]) -> Sequence[int]:
        """The records, counted from the block's first, that hold bytes at these places; rising, each once."""
        found: List[int] = np.unique(np.searchsorted(self.offsets, places, side="right") - 1).tolist()
        return [each for each in found if each >= 0]


class _Needle(Protocol):
    """What is searched for in a block."""

    block_bytes: int
    tell_bytes: int

    def records(self, block: _Block) -> Sequence[int]:
        """The records that hold it, counted from the block's first; rising."""
        ...


class _Words:
    """Plain words that a record must all hold, in any case as far as ASCII has cases."""

    block_bytes = BLOCK_BYTES
    tell_bytes = TELL_BYTES

    def __init__(self, words: str) -> None:
        spelled = [_spellings(word) for word in sorted(words.split(), key=len, reverse=True)]
        self._rarest, self._others = spelled[0], spelled[1:]

    def records(self, block: _Block) -> Sequence[int]:
        low = block.data.lower()
        places = [found.start() for needle in self._rarest for found in re.finditer(re.escape(needle), low)]
        found = block.holding(places) if places else ()
        if not self._others:
            return found
        ends = [*block.offsets[1:].tolist(), len(low)]
        return [each for each in found if self._holds_others(low, max(int(block.offsets[each]), 0), ends[each])]

    def _holds_others(self, low: bytes, begin: int, end: int) -> bool:
        return all(any(low.find(each, begin, end) >= 0 for each in spellings) for spellings in self._others)


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

    def records(self, block: _Block) -> Sequence[int]:
        places: List[int] = []
        at = 0
        for raw in block.data.split(b"\n"):
            text = lines.clean(raw.replace(b"\0", b"")).text[:LONGEST_LINE]
            if text and self._pattern.search(text):
                places.append(at)
            at += len(raw) + 1
        return block.holding(places) if places else ()


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
        self._views = shelf.views
        self._times = shelf.times
        self._modified = shelf.modified
        self._size = size
        self._found: List[Tuple[Key, LogPlace]] = []
        self._sorted = True
        self.count = 0
        self.searched = 0

    def add(self, order: int, step: _Step) -> None:
        view = self._views[order]
        self.searched += step.searched
        self.count += len(step.numbers)
        for number in step.numbers[: MOST_HITS - len(self._found)]:
            offset = int(view.offsets(number, number + 1)[0])
            when = self._times.between(view, number, self._modified(view.key)) if len(self._views) > 1 else 0.0
            key = (when, order, number)
            self._found.append((key, LogPlace(view.key, offset)))
            self._sorted = False

    def now(self) -> LogHits:
        if not self._sorted:
            self._found = _in_order(self._found)
            self._sorted = True
        places = tuple(place for _key, place in self._found)
        return LogHits(places, self.count, min(self.searched, self._size), self._size)


def _in_order(found: Sequence[Tuple[Key, LogPlace]]) -> List[Tuple[Key, LogPlace]]:
    """By time, but each file in its own order: a time that is estimated may lie behind the stamp that follows it."""
    latest: Dict[int, float] = {}
    rising: List[Tuple[Key, LogPlace]] = []
    for (when, order, number), place in sorted(found, key=lambda each: each[0][1:]):
        latest[order] = max(when, latest.get(order, when))
        rising.append(((latest[order], order, number), place))
    rising.sort(key=lambda each: each[0])
    return rising


def _walk(view: LogIndexView, size: int, least_level: int, needle: _Needle, shelf: LogShelf) -> Iterator[_Step]:
    """Search one file from its end, block by block, each beginning where a record begins.

    What lies in front of a tail that was read ahead is passed over: nobody knows its records yet.
    """
    end = size
    least_found = view.records
    while end > 0 and view.records:
        first = view.index_of(max(end - needle.block_bytes, 0))
        before_gap = first
        if first is None or _is_before_gap(view, first):
            first = 0 if first is None else first + 1
        else:
            before_gap = None
        begin = int(view.offsets(first, first + 1)[0])
        if begin >= end:
            if before_gap is None:
                return
            end = int(view.offsets(before_gap, before_gap + 1)[0])
            continue
        if end - begin > 2 * needle.block_bytes:
            begin = end - needle.block_bytes  # inside of one huge record
        last = view.index_of(end - 1)
        data = shelf.read(view.key, begin, end - begin)
        new: List[int] = []
        if data is not None and last is not None:
            found = needle.records(_Block(data, view.offsets(first, last + 1) - begin))
            levels = view.levels(first, last + 1)
            new = [first + each for each in found if _is_kept(int(levels[each]), least_level)]
            new = [each for each in reversed(new) if each < least_found]
        least_found = new[-1] if new else least_found
        yield _Step(new, end - begin)
        end = begin


def _is_before_gap(view: LogIndexView, number: int) -> bool:
    return view.end_of(number) is None and number < view.records - 1


def _is_kept(level: int, least_level: int) -> bool:
    return level >= least_level or (level == LogLevel.UNKNOWN and least_level <= LogLevel.INFO)
