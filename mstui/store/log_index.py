"""Where the records of one text log lie, which of them tell of a step, and what they say of the process.

A byte or two a record (see mstui.store.log_chunks). One writer appends, any number of threads read a frozen view. Texts
stay in the file; reading them, and judging events, is the monitor's business.
"""

from __future__ import annotations

from collections import deque
from typing import Deque, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.logs import EventKind, LevelArray, LogEvent, LogLevel, LogSteps
from mstui.model.records import IntArray
from mstui.store.log_chunks import Chunk, Chunks, MarkArray, appended

MOST_EVENTS = 64
"""Events of one kind that are kept from the beginning, and as many of the newest: a training that overflows at every
step says so a million times, and the first time and the last are what matters."""


class _Part(NamedTuple):
    """One stretch of the file as published."""

    records: Chunks = ()
    steps: Chunks = ()
    events: Tuple[LogEvent, ...] = ()
    counts: Mapping[EventKind, int] = {}


class _Kept:
    """The events of one stretch that are kept, by kind."""

    def __init__(self) -> None:
        self._first: Dict[EventKind, List[Tuple[int, LogEvent]]] = {}
        self._newest: Dict[EventKind, Deque[Tuple[int, LogEvent]]] = {}
        self.counts: Dict[EventKind, int] = {}
        self._seen = 0

    def add(self, event: LogEvent) -> None:
        numbered = (self._seen, event)
        self._seen += 1
        self.counts[event.kind] = self.counts.get(event.kind, 0) + 1
        first = self._first.setdefault(event.kind, [])
        if len(first) < MOST_EVENTS:
            first.append(numbered)
        else:
            self._newest.setdefault(event.kind, deque(maxlen=MOST_EVENTS)).append(numbered)

    def events(self) -> Tuple[LogEvent, ...]:
        """In the order of the file."""
        every = [each for kept in (self._first, self._newest) for some in kept.values() for each in some]
        return tuple(event for _, event in sorted(every, key=lambda each: each[0]))


class _Growing:
    """One stretch of the file while it is read."""

    def __init__(self) -> None:
        self.part = _Part()
        self._events = _Kept()

    def add(self, batch: Batch) -> None:
        records, steps, events, counts = self.part
        if batch.log_records is not None and len(batch.log_records.offsets):
            levels = np.minimum(batch.log_records.levels, np.uint8(max(LogLevel))).astype(np.uint8)
            records = appended(records, batch.log_records.offsets, levels, counted=True)
        if batch.log_steps is not None and len(batch.log_steps.steps):
            told = batch.log_steps.steps
            short = np.iinfo(np.int32)
            narrow = bool((told >= short.min).all() and (told <= short.max).all())
            marks: MarkArray = told.astype(np.int32) if narrow else told.astype(np.int64)
            steps = appended(steps, batch.log_steps.offsets, marks, counted=False)
        if batch.log_events:
            for event in batch.log_events:
                self._events.add(event)
            events, counts = self._events.events(), dict(self._events.counts)
        self.part = _Part(records, steps, events, counts)


class Selection:
    """Records of a view whose level is high enough, in file order. Counted beforehand, looked up when asked."""

    def __init__(self, chunks: Chunks, starts: IntArray, least_level: int) -> None:
        self._chunks = chunks
        self._starts = starts
        self._least = least_level
        counts = [int(each.counts[least_level:].sum() + self._prints(each.counts)) for each in chunks]
        self._before: IntArray = np.cumsum([0, *counts], dtype=np.int64)

    def _prints(self, counts: IntArray) -> int:
        """A record without a level is kept up to INFO."""
        return int(counts[LogLevel.UNKNOWN]) if LogLevel.UNKNOWN < self._least <= LogLevel.INFO else 0

    def __len__(self) -> int:
        return int(self._before[-1])

    def _within(self, chunk: int, end: int) -> npt.NDArray[np.bool_]:
        levels = self._chunks[chunk].marks(0, end)
        kept: npt.NDArray[np.bool_] = levels >= self._least
        if self._least <= LogLevel.INFO:
            kept |= levels == LogLevel.UNKNOWN
        return kept

    def numbers(self, begin: int, end: int) -> IntArray:
        """Record numbers of the selected ones from the begin-th up to, not including, the end-th."""
        begin, end = max(begin, 0), min(end, len(self))
        if end <= begin:
            return np.empty(0, dtype=np.int64)
        first = int(np.searchsorted(self._before, begin, side="right")) - 1
        last = int(np.searchsorted(self._before, end, side="left"))
        found = [
            np.flatnonzero(self._within(chunk, self._chunks[chunk].n)) + int(self._starts[chunk])
            for chunk in range(first, last)
        ]
        skipped = int(self._before[first])
        chosen: IntArray = np.concatenate(found)[begin - skipped : end - skipped]
        return chosen

    def before(self, number: int) -> int:
        """How many selected records come before the record with this number."""
        chunk = int(np.searchsorted(self._starts, number, side="right")) - 1
        if chunk < 0 or chunk >= len(self._chunks):
            return 0 if chunk < 0 else len(self)
        within = self._within(chunk, number - int(self._starts[chunk]))
        return int(self._before[chunk]) + int(np.count_nonzero(within))


class LogIndexView:
    """A log at one moment. Records are numbered in file order among those that are known at that moment.

    While the tail is read ahead, numbers in it rise as its history is filled in; byte offsets always stay.
    """

    def __init__(self, key: FileKey, parts: Sequence[_Part], gap: Optional[int]) -> None:
        """`gap`: parts in front of bytes that are not read yet; None when there are none."""
        self.key = key
        self.complete = gap is None
        """nothing is left unread between what is known"""
        self._parts = tuple(parts)
        self._gap = gap
        self._chunks: Chunks = tuple(chunk for part in parts for chunk in part.records)
        self._starts: IntArray = np.cumsum([0, *(chunk.n for chunk in self._chunks)], dtype=np.int64)
        """of each chunk the number of its first record, and the number of all"""
        ahead = parts[:gap] if gap is not None else ()
        self._records_before_gap = sum(chunk.n for part in ahead for chunk in part.records)
        self._selections: Dict[int, Selection] = {}

    @property
    def records(self) -> int:
        """Records known."""
        return int(self._starts[-1])

    def offsets(self, begin: int, end: int) -> IntArray:
        """[end - begin] byte offsets of the records with these numbers; fewer where there are fewer."""
        found = [chunk.offsets(low, high) for chunk, low, high in self._cut(begin, end)]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def levels(self, begin: int, end: int) -> LevelArray:
        """[end - begin] uint8, LogLevel."""
        found = [chunk.marks(low, high) for chunk, low, high in self._cut(begin, end)]
        if len(found) == 1:
            return found[0].view(np.uint8)
        return np.concatenate(found).view(np.uint8) if found else np.empty(0, dtype=np.uint8)

    def _cut(self, begin: int, end: int) -> List[Tuple[Chunk, int, int]]:
        begin, end = max(begin, 0), min(end, self.records)
        if end <= begin:
            return []
        first = int(np.searchsorted(self._starts, begin, side="right")) - 1
        last = int(np.searchsorted(self._starts, end, side="left"))
        cut = []
        for at in range(first, last):
            start = int(self._starts[at])
            cut.append((self._chunks[at], max(begin - start, 0), min(end - start, self._chunks[at].n)))
        return cut

    def index_of(self, offset: int) -> Optional[int]:
        """The record that holds this byte: the last one known that begins at or before it; None before the first."""
        for at in range(len(self._chunks) - 1, -1, -1):
            if self._chunks[at].base <= offset:
                return int(self._starts[at]) + self._chunks[at].behind(offset) - 1
        return None

    def end_of(self, index: int) -> Optional[int]:
        """Byte where a record ends, which is where the next one begins.

        None for the last one that is read, in front of a gap or of the end: how far it goes only its text tells.
        """
        if not 0 <= index < self.records - 1 or (not self.complete and index == self._records_before_gap - 1):
            return None
        return int(self.offsets(index + 1, index + 2)[0])

    def select(self, least_level: int) -> Selection:
        """Records of at least this LogLevel. Those without a level are among them up to INFO."""
        found = self._selections.get(least_level)
        if found is None:
            found = self._selections[least_level] = Selection(self._chunks, self._starts, least_level)
        return found

    # ---- steps ----

    def place_of_step(self, step: int) -> Optional[int]:
        """Byte offset of the first record that tells of a step, or of the last step told before it; None without any.

        Of a step that was told again after a restart, where it was told last.
        """
        chunks = [chunk for part in self._parts for chunk in part.steps]
        found: Optional[int] = None
        told: Optional[int] = None
        for chunk in reversed(chunks):
            steps = chunk.marks(0, chunk.n)
            end = chunk.n
            if told is None:
                if chunk.low > step:
                    continue
                end = int(np.flatnonzero(steps <= step)[-1]) + 1
                told = int(steps[end - 1])
            others = np.flatnonzero(steps[:end] != told)
            first = int(others[-1]) + 1 if len(others) else 0
            if first < end:
                found = int(chunk.offsets(first, first + 1)[0])
            if first:
                break
        return found

    def step_at(self, offset: int) -> Optional[int]:
        """The step that the record at this offset tells of, or the last one told before it; None where none is known.

        Behind a gap, what was told before it may be in the gap: nothing in front of it counts.
        """
        for number in range(len(self._parts) - 1, -1, -1):
            part = self._parts[number]
            for chunk in reversed(part.steps):
                at = chunk.behind(offset)
                if at:
                    return int(chunk.marks(at - 1, at)[0])
            if number == self._gap and part.records and part.records[0].base <= offset:
                return None
        return None

    def steps(self, begin: int, end: int) -> LogSteps:
        """Records that tell of a step and begin at a byte from `begin` up to, not including, `end`; in file order."""
        steps: List[IntArray] = [np.empty(0, dtype=np.int64)]
        offsets: List[IntArray] = [np.empty(0, dtype=np.int64)]
        for part in self._parts:
            for chunk in part.steps:
                low, high = chunk.behind(begin - 1), chunk.behind(end - 1)
                if low < high:
                    steps.append(chunk.marks(low, high).astype(np.int64))
                    offsets.append(chunk.offsets(low, high))
        return LogSteps(np.concatenate(steps), np.concatenate(offsets))

    # ---- events ----

    @property
    def events(self) -> Tuple[LogEvent, ...]:
        """In file order: of each kind the first ones and the newest ones, MOST_EVENTS of each in each stretch."""
        if len(self._parts) == 1:
            return self._parts[0].events
        return tuple(event for part in self._parts for event in part.events)

    @property
    def event_counts(self) -> Mapping[EventKind, int]:
        """Events of each kind, those not kept included."""
        counts: Dict[EventKind, int] = {}
        for part in self._parts:
            for kind, number in part.counts.items():
                counts[kind] = counts.get(kind, 0) + number
        return counts


_Known = Tuple[Tuple[_Part, ...], Optional[int]]
"""stretches of a file, and how many of them lie in front of bytes that are not read yet"""


class LogIndex:
    """One log, growing at both of the places where it is read. `add` belongs to the writer, the rest to anyone."""

    def __init__(self, key: FileKey) -> None:
        self.key = key
        self._history: Tuple[_Growing, ...] = ()
        self._tail: Optional[_Growing] = None
        self._known: _Known = ((), None)
        self._view: Tuple[_Known, LogIndexView] = (self._known, LogIndexView(key, (), None))

    def add(self, batch: Batch) -> None:
        """Take in what one turn of reading gave, and publish it at once."""
        if batch.reset:
            self._history, self._tail = (), None
        if batch.drop_tail:
            self._tail = None
        if batch.part is Part.TAIL:
            self._tail = self._tail or _Growing()
            self._tail.add(batch)
        else:
            self._history = self._history or (_Growing(),)
            self._history[-1].add(batch)
        if batch.joined and self._tail is not None:
            self._history, self._tail = (*self._history, self._tail), None
        parts = [growing.part for growing in self._history]
        gap: Optional[int] = None
        if self._tail is not None:
            gap = len(parts)
            parts.append(self._tail.part)
        self._known = (tuple(parts), gap)

    @property
    def records(self) -> int:
        """Records known."""
        return self.view().records

    def view(self) -> LogIndexView:
        """What is known now; stays as it is."""
        known, view = self._view
        if known is not self._known:
            known = self._known
            view = LogIndexView(self.key, *known)
            self._view = (known, view)
        return view

    @property
    def bytes_used(self) -> int:
        """Bytes that the places take, the room kept free for more included. Events are few."""
        chunks = [chunk for part in self._known[0] for chunk in (*part.records, *part.steps)]
        return sum(chunk.nbytes for chunk in chunks)
