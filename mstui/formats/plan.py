"""Records that carry many payloads (a histogram for every parameter) in the order of the record before.

A plan is the list of tags and kinds of one record. Following it costs one comparison a value; the first byte that
differs sends the record to the general walk.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import List, Optional, Tuple

from mstui.formats.wire import Dialect, Event, read_varint, signed
from mstui.model.records import BlobKind

MIN_VALUES = 4
"""Values from which on a plan pays."""
MAX_PLAN_BYTES = 1 << 20
"""Sum of the tags' bytes that a plan may hold."""

_F64 = struct.Struct("<d").unpack_from


@dataclass(frozen=True, eq=False)
class Plan:
    """Order of the values of a record; the wire bytes of each up to its payload. Equal only to itself."""

    heads: Tuple[Tuple[bytes, int, bool], ...]
    """the bytes between a value's length and its payload (tag and key), how many they are, and whether the payload is
    a float32"""
    tags: Tuple[str, ...]
    blobs: Tuple[Tuple[BlobKind, str], ...]


@dataclass
class Followed:
    """One record by the plan."""

    step: int
    wall_time: float
    places: List[int]
    offsets: List[int]
    lengths: List[int]


def make_plan(data: bytes, start: int, event: Event, dialect: Dialect) -> Optional[Plan]:
    """The plan of a record that was walked; None when its values are not tag and payload alone, in this order.

    None too when a value is a tensor whose meaning its content decides.
    """
    if event.version or event.skipped or event.wide or len(event.blobs) + len(event.tags) < MIN_VALUES:
        return None
    found = sorted(
        [(at, 4, True) for at in event.places] + [(at, size, False) for _, _, at, size in event.blobs],
    )
    body = _summary(data, start)
    if body is None:
        return None
    heads, total = [], 0
    position = body
    for at, size, is_scalar in found:
        if data[position] != 0x0A:
            return None
        length, inside = read_varint(data, position + 1)
        if inside >= at or inside + length != at + size:
            return None
        head_end = at
        if not is_scalar:
            head_end = _before_length(data, inside, at)
            if not head_end or data[head_end - 1] >> 3 == dialect.tensor_field:
                return None
        heads.append((data[inside:head_end], head_end - inside, is_scalar))
        total += head_end - inside
        position = at + size
    if total > MAX_PLAN_BYTES:
        return None
    return Plan(tuple(heads), tuple(event.tags), tuple((kind, tag) for kind, tag, _, _ in event.blobs))


def _summary(data: bytes, start: int) -> Optional[int]:
    """Where the first value of a record of wall time, step and summary begins."""
    if data[start] != 0x09 or data[start + 9] != 0x10:
        return None
    at = read_varint(data, start + 10)[1]
    return read_varint(data, at + 1)[1] if data[at] == 0x2A else None


def _before_length(data: bytes, inside: int, at: int) -> int:
    """Where the payload's own length begins, when what stands before it is a tag and one key; 0 otherwise."""
    if data[inside] != 0x0A:
        return 0
    size, text = read_varint(data, inside + 1)
    key = text + size
    return key + 1 if key < at and read_varint(data, key + 1)[1] == at else 0


def follow(plan: Plan, data: bytes, start: int, end: int) -> Optional[Followed]:
    """The record data[start:end], which must be long enough to be no scalar record, by the plan; None if it differs."""
    if data[start] != 0x09 or data[start + 9] != 0x10:
        return None
    wall_time = _F64(data, start + 1)[0]
    step, at = read_varint(data, start + 10)
    if data[at] != 0x2A:
        return None
    length, position = read_varint(data, at + 1)
    if position + length != end:
        return None
    places: List[int] = []
    offsets: List[int] = []
    lengths: List[int] = []
    startswith = data.startswith
    for head, head_size, is_scalar in plan.heads:
        if position >= end or data[position] != 0x0A:
            return None
        length = data[position + 1]
        position += 2
        if length >= 0x80:
            more = data[position]
            if more < 0x80:
                length += (more << 7) - 0x80
                position += 1
            else:
                length, position = read_varint(data, position - 1)
        stop = position + length
        if not startswith(head, position):
            return None
        position += head_size
        if is_scalar:
            if position + 4 != stop:
                return None
            places.append(position)
        else:
            size = data[position]
            position += 1
            if size >= 0x80:
                more = data[position]
                if more < 0x80:
                    size += (more << 7) - 0x80
                    position += 1
                else:
                    size, position = read_varint(data, position - 1)
            if position + size != stop:
                return None
            offsets.append(position)
            lengths.append(size)
        position = stop
    return Followed(signed(step), wall_time, places, offsets, lengths) if position == end else None
