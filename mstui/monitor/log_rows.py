"""Records of a log as rows: read from the file, their headers taken apart, their texts made harmless.

Reads the disk, boundedly: on a worker thread.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from mstui.formats.logs import lines
from mstui.formats.logs.headers import Stamps, parse
from mstui.model.log_view import NO_RANK, LogPlace, LogRow
from mstui.model.logs import EventKind, LogLevel
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.log_times import LogTimes, ReadLog
from mstui.safe_text import safe
from mstui.store.log_index import LogIndexView

LONGEST_ROW = 1000
"""Characters of a row's text: more than any terminal is wide."""
LONGEST_ORIGIN = 200
RECORD_BYTES = 1 << 18
"""Bytes of one record that are read to count its lines."""
SPAN_BYTES = 1 << 22
"""Bytes that are read in one go for neighbouring rows."""
BYTES_A_CHARACTER = 4
"""Most bytes of a character in UTF-8 and GBK: what has to be read for so many characters."""


class _Piece(NamedTuple):
    """One record and its bytes, or as many as are looked at."""

    number: int
    offset: int
    data: bytes


def extent(view: LogIndexView, number: int, most: int) -> int:
    """Bytes of a record, at most so many. Of one whose end is not known, as many as may belong to it."""
    begin = int(view.offsets(number, number + 1)[0])
    end = view.end_of(number)
    return most if end is None else min(end - begin, most)


def rows(view: LogIndexView, numbers: Sequence[int], read: ReadLog, times: LogTimes, ranks: RankMap) -> List[LogRow]:
    """Rows of the records with these rising numbers; those that can no longer be read are left out."""
    events = {event.offset: event.kind for event in view.events}
    stamps = Stamps()
    out: List[LogRow] = []
    before: Optional[int] = None
    wall: Optional[float] = None
    for span in _spans(view, numbers):
        pieces = _read(view, span, read)
        steps = _steps(view, pieces)
        for piece in pieces:
            row = _row(view, piece, stamps, ranks, events, steps)
            times.keep(view, piece.offset, row.wall_time)
            if row.wall_time is None:
                wall = wall if before == piece.number - 1 else times.at(view, piece.number)
                row = replace(row, wall_time=wall)
            wall, before = row.wall_time, piece.number
            out.append(row)
    return out


def text(view: LogIndexView, offset: int, most: int, read: ReadLog) -> str:
    """A whole record, its lines made harmless, at most so many characters; empty when it can no longer be read."""
    number = view.index_of(offset)
    if number is None:
        return ""
    data = read(view.key, offset, extent(view, number, BYTES_A_CHARACTER * most))
    if data is None:
        return ""
    out: List[str] = []
    left = most
    for raw in data.replace(b"\0", b"").rstrip().split(b"\n"):
        line = safe(lines.clean(raw.rpartition(b"\r")[2] or raw.rstrip(b"\r")).text.expandtabs(), max(left, 1))
        out.append(line)
        left -= len(line) + 1
        if left <= 0:
            break
    return "\n".join(out)[:most]


def _spans(view: LogIndexView, numbers: Sequence[int]) -> List[List[int]]:
    """Neighbouring records that are read in one go."""
    spans: List[List[int]] = []
    size = 0
    for number in numbers:
        length = extent(view, number, RECORD_BYTES)
        neighbour = bool(spans) and spans[-1][-1] == number - 1
        whole = neighbour and view.end_of(number - 1) is not None
        if not whole or size + length > SPAN_BYTES:
            spans.append([])
            size = 0
        spans[-1].append(number)
        size += length
    return spans


def _read(view: LogIndexView, span: Sequence[int], read: ReadLog) -> List[_Piece]:
    offsets = view.offsets(span[0], span[-1] + 1).tolist()
    begin = offsets[0]
    end = offsets[-1] + extent(view, span[-1], RECORD_BYTES)
    if end - begin > SPAN_BYTES + RECORD_BYTES:
        end = begin + SPAN_BYTES + RECORD_BYTES
    data = read(view.key, begin, end - begin)
    if data is None:
        return []
    ends = [*offsets[1:], end]
    pieces = [
        _Piece(number, offset, data[offset - begin : min(until - begin, offset - begin + RECORD_BYTES)])
        for number, offset, until in zip(span, offsets, ends)
    ]
    return [piece for piece in pieces if piece.data]


def _steps(view: LogIndexView, pieces: Sequence[_Piece]) -> Dict[int, int]:
    if not pieces:
        return {}
    told = view.steps(pieces[0].offset, pieces[-1].offset + 1)
    return dict(zip(told.offsets.tolist(), told.steps.tolist()))


def _row(
    view: LogIndexView,
    piece: _Piece,
    stamps: Stamps,
    ranks: RankMap,
    events: Mapping[int, EventKind],
    steps: Mapping[int, int],
) -> LogRow:
    raw = piece.data.replace(b"\0", b"") if b"\0" in piece.data else piece.data
    first = raw.partition(b"\n")[0]
    cleaned = lines.clean(first.partition(b"\r")[0])
    header = parse(cleaned.text, stamps)
    rank = cleaned.rank
    message, origin, wall = cleaned.text, "", None
    if header is not None:
        message, wall = header.message, header.wall_time
        origin = " ".join(part for part in (header.source, header.pid and f"pid {header.pid}") if part)
        rank = header.rank if header.rank is not None else rank
    if rank is None:
        rank = ranks.of_file(view.key)
    level = view.levels(piece.number, piece.number + 1)
    known_end = view.end_of(piece.number) is not None or piece.number == view.records - 1
    return LogRow(
        LogPlace(view.key, piece.offset),
        rank if rank is not None else NO_RANK,
        LogLevel(int(level[0])),
        wall,
        safe(origin, LONGEST_ORIGIN),
        safe(message.strip(), LONGEST_ROW),
        raw.rstrip().count(b"\n") + 1 if known_end else 1,
        steps.get(piece.offset),
        events.get(piece.offset),
    )
