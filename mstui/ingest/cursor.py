"""One step of reading: bytes from where a cursor stands, through the decoder, and the cursor moves.

Here lies the verdict on a last record that looks wrong. It knows nothing of names, inodes and states: see `tail`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Optional

from mstui.formats.base import Decoded, Decoder
from mstui.i18n import _
from mstui.ingest.disk import OpenFile
from mstui.ingest.evidence import Suspect, first_suspect
from mstui.ingest.limits import ReadLimits
from mstui.ingest.tally import Tally
from mstui.model.faults import FaultKind, ReadFault


@dataclass
class Cursor:
    """One place at which a file is being read, and what was counted there."""

    start: int
    offset: int
    tally: Tally
    need: int = 0
    """size that the file must reach before the record at `offset` can be whole; 0 when not known"""
    suspect: Optional[Suspect] = None


class Piece(NamedTuple):
    """What one step gave."""

    decoded: Decoded
    ended: bool
    """nothing more can be had before `end` until the file changes"""
    begin: int
    """offset of the first byte that was read"""
    taken: bytes
    """what is finished of the bytes that were read: see `decoded.consumed`"""


def advance(
    opened: OpenFile, decoder: Decoder, cursor: Cursor, end: int, size: int, now: float, limits: ReadLimits, path: str
) -> Piece:
    """Decode at most one block, or one record that is longer than a block, towards `end` and move the cursor.

    end: where to stop, the size of the file or a place before it. What is read never exceeds what the file holds.
    """
    want = min(limits.block, end - cursor.offset)
    while True:
        data = opened.read_at(cursor.offset, want)
        reached = cursor.offset + len(data) >= end or len(data) < want
        at_end = reached and end == size
        decoded = decoder.decode(data, cursor.offset, at_end=at_end)
        if at_end and decoded.suspect is not None:
            decoded = _judge(decoded, decoder, data, cursor, now, limits)
        else:
            cursor.suspect = None
        if decoded.consumed or reached:
            break
        if cursor.offset + decoded.need > end:
            reached = True
            break
        if decoded.need > limits.record:
            decoded = _skip_oversized(decoded, cursor.offset, path)
            break
        if len(data) >= limits.record:
            decoded = decoder.decode(data, cursor.offset, at_end=False, condemn=True)
            break
        want = min(max(decoded.need, 2 * len(data)), limits.record, end - cursor.offset)
    begin = cursor.offset
    cursor.offset += decoded.consumed
    cursor.need = cursor.offset + decoded.need if decoded.need else 0
    lines = data.count(b"\n", 0, decoded.consumed) if decoded.log_records is not None else 0
    cursor.tally.add(decoded, lines, now)
    return Piece(decoded, reached or not decoded.consumed, begin, data[: decoded.consumed])


def _judge(decoded: Decoded, decoder: Decoder, data: bytes, cursor: Cursor, now: float, limits: ReadLimits) -> Decoded:
    """The last record looks wrong: wait for it, or call it damage once it has stood unchanged for long enough."""
    offset = cursor.offset + decoded.consumed
    rest = data[decoded.consumed :]
    seen = cursor.suspect.again(offset, rest, now) if cursor.suspect else first_suspect(offset, rest, now)
    if decoded.consumed or seen.looks < limits.condemn_looks or now - seen.since < limits.condemn_after_s:
        cursor.suspect = seen
        return decoded
    cursor.suspect = None
    return decoder.decode(data, cursor.offset, at_end=True, condemn=True)


def _skip_oversized(decoded: Decoded, offset: int, path: str) -> Decoded:
    detail = _("a record of {n} bytes is more than mstui holds in memory; skipped by its checked length").format(
        n=decoded.need
    )
    fault = ReadFault(path, FaultKind.OVERSIZED, offset, decoded.need, detail, 0.0)
    return replace(decoded, consumed=decoded.need, need=0, faults=(*decoded.faults, fault))
