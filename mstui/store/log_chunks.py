"""Places of records in a file with a mark each, a level or a step: growing chunks, and full ones that take little room.

A full chunk keeps how far apart its records are, in as few bytes as that takes, and where every STRIDE-th lies; marks
that are all the same, or rise evenly, take none. Lookups work out no more than they are asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple, Union

import numpy as np
import numpy.typing as npt

from mstui.model.logs import LogLevel
from mstui.model.records import IntArray
from mstui.store.columns import GROWTH_DIVISOR, LEAST_ROOM

CHUNK = 1 << 16
"""Records that share one base: one look at all their levels costs a few microseconds."""
MOST_APART = (1 << 32) - 1
"""Bytes from a chunk's base to its last record, so that a place takes four bytes."""
STRIDE = 256
"""Of a full chunk the place of every so many records is kept: a lookup adds up no more than that many distances."""

MarkArray = npt.NDArray[np.integer[Any]]


class GrowingChunk(NamedTuple):
    """Records as they stood after one append; only [:n] has a meaning."""

    base: int
    n: int
    places: npt.NDArray[np.uint32]
    """byte offset less base"""
    own_marks: MarkArray
    """level or step"""
    counts: npt.NDArray[np.int64]
    """records of each level; empty where marks are steps"""
    low: int
    """least mark"""

    def offsets(self, begin: int, end: int) -> IntArray:
        """Byte offsets of records by their number in the chunk."""
        return self.places[begin:end].astype(np.int64) + self.base

    def marks(self, begin: int, end: int) -> MarkArray:
        """Levels or steps of records by their number in the chunk."""
        return self.own_marks[begin:end]

    def behind(self, offset: int) -> int:
        """Records that begin at or before an offset."""
        away = offset - self.base
        if away < 0:
            return 0
        return int(np.searchsorted(self.places[: self.n], np.uint32(min(away, MOST_APART)), side="right"))

    @property
    def nbytes(self) -> int:
        """Bytes held, the room kept free for more included."""
        return self.places.nbytes + self.own_marks.nbytes + self.counts.nbytes


class FullChunk(NamedTuple):
    """The same of a chunk to which nothing is added any more."""

    base: int
    n: int
    apart: npt.NDArray[np.unsignedinteger[Any]]
    """[n] bytes from each record to the next one; the last has no meaning"""
    anchors: npt.NDArray[np.uint32]
    """byte offset less base of every STRIDE-th record"""
    own_marks: MarkArray
    """level or step of each record, or two numbers: that of the first one, and by how much each is more"""
    even: bool
    """it is those two"""
    counts: npt.NDArray[np.int64]
    low: int

    def offsets(self, begin: int, end: int) -> IntArray:
        """Byte offsets of records by their number in the chunk."""
        begin, end = max(begin, 0), min(end, self.n)
        if begin >= end:
            return np.empty(0, dtype=np.int64)
        anchor = begin // STRIDE
        first = anchor * STRIDE
        places = np.empty(end - first, dtype=np.int64)
        places[0] = int(self.anchors[anchor]) + self.base
        places[1:] = self.apart[first : end - 1]
        found: IntArray = np.cumsum(places)[begin - first :]
        return found

    def marks(self, begin: int, end: int) -> MarkArray:
        """Levels or steps of records by their number in the chunk."""
        if not self.even:
            return self.own_marks[begin:end]
        begin, end = max(begin, 0), max(min(end, self.n), begin, 0)
        first, more = int(self.own_marks[0]), int(self.own_marks[1])
        if not more:
            return np.full(end - begin, first, dtype=self.own_marks.dtype)
        return np.arange(first + begin * more, first + end * more, more, dtype=self.own_marks.dtype)

    def behind(self, offset: int) -> int:
        """Records that begin at or before an offset."""
        away = offset - self.base
        if away < 0:
            return 0
        anchor = int(np.searchsorted(self.anchors, np.uint32(min(away, MOST_APART)), side="right")) - 1
        first = anchor * STRIDE
        places = self.offsets(first, first + STRIDE)
        return first + int(np.searchsorted(places, offset, side="right"))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.apart.nbytes + self.anchors.nbytes + self.own_marks.nbytes + self.counts.nbytes


Chunk = Union[GrowingChunk, FullChunk]
Chunks = Tuple[Chunk, ...]


def appended(chunks: Chunks, offsets: IntArray, marks: MarkArray, *, counted: bool) -> Chunks:
    """Chunks with more records behind. What was published before keeps its meaning."""
    done = list(chunks)
    begin = 0
    while begin < len(offsets):
        last = done[-1] if done else None
        first = int(offsets[begin])
        if (
            not isinstance(last, GrowingChunk)
            or marks.dtype.itemsize > last.own_marks.dtype.itemsize
            or first - last.base > MOST_APART
        ):
            none = np.zeros(len(LogLevel) if counted else 0, dtype=np.int64)
            last = GrowingChunk(
                first, 0, np.empty(0, dtype=np.uint32), np.empty(0, dtype=marks.dtype), none, np.iinfo(np.int64).max
            )
            done.append(last)
        fit = int(np.searchsorted(offsets, last.base + MOST_APART, side="right"))
        end = min(fit, begin + CHUNK - last.n)
        last = _filled(last, offsets[begin:end], marks[begin:end])
        done[-1] = last if last.n < CHUNK else _full(last)
        begin = end
    return tuple(done)


def _filled(chunk: GrowingChunk, offsets: IntArray, marks: MarkArray) -> GrowingChunk:
    n, end = chunk.n, chunk.n + len(offsets)
    places, own = chunk.places, chunk.own_marks
    if end > len(places):
        room = min(CHUNK, max(end + end // GROWTH_DIVISOR, LEAST_ROOM))
        places, own = np.empty(room, dtype=np.uint32), np.empty(room, dtype=own.dtype)
        places[:n], own[:n] = chunk.places[:n], chunk.own_marks[:n]
    places[n:end] = offsets - chunk.base
    own[n:end] = marks
    counts = chunk.counts
    if len(counts):
        counts = counts + np.bincount(marks, minlength=len(counts))[: len(counts)]
    return GrowingChunk(chunk.base, end, places, own, counts, min(chunk.low, int(marks.min())))


def _full(chunk: GrowingChunk) -> FullChunk:
    n = chunk.n
    places, marks = chunk.places[:n], chunk.own_marks[:n]
    apart = np.zeros(n, dtype=np.uint32)
    apart[:-1] = places[1:] - places[:-1]
    most = int(apart.max())
    narrow = next(kind for kind in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(kind).max)
    more = int(marks[1]) - int(marks[0]) if n > 1 else 0
    # levels are unsigned: less and less cannot be said with them
    even = 0 <= more <= np.iinfo(marks.dtype).max and bool(
        (marks.astype(np.int64) == int(marks[0]) + more * np.arange(n, dtype=np.int64)).all()
    )
    kept = np.array([marks[0], more], dtype=marks.dtype) if even else marks.copy()
    return FullChunk(chunk.base, n, apart.astype(narrow), places[::STRIDE].copy(), kept, even, chunk.counts, chunk.low)
