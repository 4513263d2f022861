"""When a record was written: its own stamp, that of the record before it, or a time between two stamps.

Time stamps stay in the files; which records have a header is known from their levels, so few bytes are read to find
one. Reads the disk: on a worker thread, or on the monitor's thread for single records.
"""

from __future__ import annotations

from typing import Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from mstui.formats.logs import lines
from mstui.formats.logs.headers import Stamps, parse
from mstui.model.batch import FileKey
from mstui.model.logs import LogLevel
from mstui.model.records import IntArray
from mstui.store.log_index import LogIndexView

ReadLog = Callable[[FileKey, int, int], Optional[bytes]]
"""(file, offset, length) -> bytes, fewer at the end of the file; None when it can no longer be read"""

HEADER_BYTES = 512
"""Bytes of a record in which its stamp is looked for: behind a launcher's prefix, in front of the message."""
SPAN_BYTES = 1 << 18
"""Bytes that are read at once for the stamps of neighbouring records."""
BLOCK = 256
"""Records whose levels are looked at first for one that has a header: most logs have one in every few."""
MOST_FILES = 64
"""Files of which the places of rare headers are kept."""
MOST_TRIED = 4
"""Records with a level that are read on either side: tracebacks have a level and no stamp."""
MOST_KEPT = 200_000
"""Stamps kept, about 100 bytes each."""
PACE_S = 1.0
"""Between two records of which nothing tells when they came: so the n-th from the last stamp, or from the end, of
several ranks stand side by side."""
LONGEST_SILENCE_S = 7 * 86400.0
"""From a file's last stamp to the time of its last byte. A file that was copied has a new time: what lies further
away is no time of its records."""


class LogTimes:
    """Stamps of records, looked up once. Any thread."""

    def __init__(self, read: ReadLog) -> None:
        self._read = read
        self._kept: Dict[FileKey, Dict[int, Optional[float]]] = {}
        self._count = 0
        self._levels: Dict[FileKey, Tuple[LogIndexView, IntArray]] = {}

    def stamp(self, view: LogIndexView, number: int) -> Optional[float]:
        """The record's own stamp, Unix seconds."""
        found = self.stamps(view, (number,))
        return found[0] if found else None

    def stamps(self, view: LogIndexView, numbers: Sequence[int]) -> List[Optional[float]]:
        """Own stamps of records with rising numbers, read in one go where they lie close together."""
        if not numbers:
            return []
        first = numbers[0]
        offsets = view.offsets(first, numbers[-1] + 1)
        wanted: List[int] = offsets[[number - first for number in numbers if number - first < len(offsets)]].tolist()
        kept = self._of_file(view)
        missing = [offset for offset in wanted if offset not in kept]
        if missing:
            self._look_up(view, missing)
            kept = self._of_file(view)
        return [kept.get(offset) for offset in wanted]

    def _look_up(self, view: LogIndexView, offsets: Sequence[int]) -> None:
        """Read the stamps of records that begin at these rising offsets."""
        stamps = Stamps()
        begin = offsets[0]
        data: Optional[bytes] = b""
        for offset in offsets:
            if offset + HEADER_BYTES > begin + len(data or b""):
                begin = offset
                close = [each for each in offsets if begin <= each <= begin + SPAN_BYTES]
                data = self._read(view.key, begin, close[-1] - begin + HEADER_BYTES)
            if data is not None:
                self.keep(view, offset, _stamp(data[offset - begin : offset - begin + HEADER_BYTES], stamps))

    def _of_file(self, view: LogIndexView) -> Dict[int, Optional[float]]:
        kept = self._kept.get(view.key)
        if kept is None:
            kept = self._kept[view.key] = {}
        return kept

    def keep(self, view: LogIndexView, offset: int, stamp: Optional[float]) -> None:
        """Remember a stamp that was read elsewhere."""
        if self._count >= MOST_KEPT:
            self._kept = {}
            self._count = 0
        self._of_file(view)[offset] = stamp
        self._count += 1

    def at(self, view: LogIndexView, number: int) -> Optional[float]:
        """Its own stamp, else that of the nearest record before it; None when none is near."""
        return self._near(view, number, -1)[1]

    def between(self, view: LogIndexView, number: int, end_time: float) -> float:
        """Its own stamp, else a time between the stamps around it, as if the records between had come evenly.

        end_time: Unix seconds of the file's last byte, which stands for a stamp behind the last record.
        """
        before, first = self._near(view, number, -1)
        if before == number and first is not None:
            return first
        after, last = self._near(view, number + 1, 1)
        if last is None:
            after, last = view.records - 1, end_time
            if first is None:
                return end_time - (after - number) * PACE_S
            if not 0.0 <= last - first <= LONGEST_SILENCE_S:
                return first + (number - before) * PACE_S
        if first is None:
            return last - (after - number) * PACE_S
        if last <= first or after <= before:
            return first
        return first + (last - first) * (number - before) / (after - before)

    def _near(self, view: LogIndexView, number: int, way: int) -> Tuple[int, Optional[float]]:
        """The nearest record with a stamp from this one on, backwards or forwards, and its stamp.

        A record without a level may have a stamp too (Megatron): the first one is always read.
        """
        own = self.stamp(view, number)
        if own is not None:
            return number, own
        begin, end = (
            (max(number - BLOCK, 0), number) if way < 0 else (number + 1, min(number + 1 + BLOCK, view.records))
        )
        told = np.flatnonzero(view.levels(begin, end) != LogLevel.UNKNOWN) + begin
        more = begin > 0 if way < 0 else end < view.records
        if len(told) < MOST_TRIED and more:
            told = self._with_level(view)
            at = int(np.searchsorted(told, number))
            told = told[max(at - MOST_TRIED, 0) : at] if way < 0 else told[at : at + MOST_TRIED]
        for each in (told[: -MOST_TRIED - 1 : -1] if way < 0 else told[:MOST_TRIED]).tolist():
            value = self.stamp(view, each)
            if value is not None:
                return each, value
        return number, None

    def _with_level(self, view: LogIndexView) -> IntArray:
        """Numbers of the records that have a level, for a log in which they are rare."""
        kept = self._levels.get(view.key)
        if kept is None or kept[0] is not view:
            numbers: IntArray = np.flatnonzero(view.levels(0, view.records) != LogLevel.UNKNOWN)
            kept = view, numbers
            if len(self._levels) >= MOST_FILES:
                self._levels = {}
            self._levels[view.key] = kept
        return kept[1]


def _stamp(data: bytes, stamps: Stamps) -> Optional[float]:
    header = parse(lines.clean(data.partition(b"\n")[0]).text, stamps)
    return header.wall_time if header is not None else None
