"""Protobuf's wire format, just enough for event records: scalars are decoded, every other payload is only located.

Knows no message class. Unknown fields are skipped by their wire type; whatever does not fit inside the record raises
Malformed, and nothing is allocated by a length that the bytes claim.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Tuple, Union

from mstui.model.records import BlobKind

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types: the low three bits of a field's key. The two others are proto1 groups, which no event has."""

_MAX_VARINT_BYTES = 10
_U64_MASK = (1 << 64) - 1
_TAG_CACHE_BYTES = 512
"""Longer tags are decoded each time; a cache of megabyte names would be a leak."""
_TAG_CACHE_ENTRIES = 65536
_VERSION_CHARS = 128
_BEYOND = "a field reaches beyond the message it belongs to"

_F64 = struct.Struct("<d").unpack_from


class Malformed(ValueError):  # noqa: N818  (it names what the record is; it never leaves this package)
    """The bytes are not a message of the expected kind."""


def read_varint(data: bytes, position: int) -> Tuple[int, int]:
    """(value as unsigned 64 bits, position behind it). Raises IndexError at the end of the data."""
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    value = byte & 0x7F
    for place in range(1, _MAX_VARINT_BYTES):
        byte = data[position + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value & _U64_MASK, position + place + 1
    message = "a number longer than ten bytes"
    raise Malformed(message)


def signed(value: int) -> int:
    """An int64 from its 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def skip(data: bytes, position: int, key: int) -> int:
    """Position behind the field whose key was just read; may lie beyond the message, the caller checks."""
    wire = key & 7
    if key < 8:
        message = "field number 0"
        raise Malformed(message)
    if wire == BYTES:
        length, position = read_varint(data, position)
        return position + length
    if wire == FIXED32:
        return position + 4
    if wire == FIXED64:
        return position + 8
    if wire == VARINT:
        return read_varint(data, position)[1]
    message = f"wire type {wire}"
    raise Malformed(message)


def fields(data: bytes, position: int, end: int) -> List[Tuple[int, int, int, int]]:
    """Every field of a message: (number, wire type, start of its content, length of its content).

    Raises Malformed when a field reaches beyond `end`.
    """
    found = []
    try:
        while position < end:
            key, position = read_varint(data, position)
            if key & 7 == BYTES:
                length, position = read_varint(data, position)
                after = position + length
            else:
                after = skip(data, position, key)
            if after > end:
                break
            found.append((key >> 3, key & 7, position, after - position))
            position = after
        else:
            return found
    except IndexError:
        pass
    raise Malformed(_BEYOND)


class Tags:
    """Tag texts by their bytes, so that one tag is one str object. Bounded."""

    def __init__(self) -> None:
        self.known: Dict[bytes, str] = {}

    def learn(self, raw: bytes) -> str:
        """Decode; bytes that are not UTF-8 stay visible as escapes."""
        text = sys.intern(raw.decode("utf-8", "backslashreplace"))  # a thousand ranks have the same tags
        if len(raw) <= _TAG_CACHE_BYTES:
            if len(self.known) >= _TAG_CACHE_ENTRIES:
                self.known.clear()
            self.known[raw] = text
        return text


Located = Union[BlobKind, str]
"""what becomes of a payload: indexed under its kind, or counted under a word"""


@dataclass(frozen=True)
class Dialect:
    """How one family of writers uses the fields of Event and Summary.Value."""

    name: str
    scalar_key: int
    """key byte of the float32 scalar in a Value"""
    value_fields: Mapping[int, Located]
    """length-delimited fields of a Value"""
    event_fields: Mapping[int, Located]
    """length-delimited fields of an Event that stand for themselves"""
    tensor_field: int = 0
    """field of a Value whose meaning a plugin name decides (TensorBoard); 0: there is none"""
    metadata_field: int = 0
    """field of a Value that names the plugin"""


class Event:
    """One record, decoded or located. Offsets are those in the data that was walked."""

    __slots__ = ("blobs", "places", "plain", "skipped", "step", "tags", "version", "wall_time", "wide")

    def __init__(self) -> None:
        self.wall_time = 0.0
        self.step = 0
        self.version = ""
        self.tags: List[str] = []
        self.places: List[int] = []
        """where each float32 scalar lies"""
        self.wide: List[Tuple[str, float, int]] = []
        """scalars of more than 32 bits: tag, value, and where its float64 lies (-1: not one as such)"""
        self.blobs: List[Tuple[BlobKind, str, int, int]] = []
        self.skipped: List[str] = []
        self.plain = True
        """nothing but scalars, whose meaning this record alone decides"""


class Resolver:
    """Decides what a TensorBoard tensor is. Without one (MindSpore) no dialect has a tensor field."""

    def resolve(
        self, data: bytes, event: Event, tag: str, tensor: Tuple[int, int], metadata: Optional[Tuple[int, int]]
    ) -> None:
        """Add what the tensor holds to the event."""
        raise NotImplementedError

    def learn(self, data: bytes, tag: str, metadata: Tuple[int, int]) -> None:
        """Remember what a Value without a tensor says of its tag."""
        raise NotImplementedError


def walk_event(data: bytes, start: int, end: int, dialect: Dialect, tags: Tags, resolver: Optional[Resolver]) -> Event:
    """Decode the record data[start:end]. Raises Malformed, and nothing else."""
    event = Event()
    position = start
    try:
        while position < end:
            key = data[position]
            position += 1
            if key == 0x09:
                event.wall_time = _F64(data, position)[0]
                position += 8
            elif key == 0x10:
                value, position = read_varint(data, position)
                event.step = signed(value)
            elif key & 7 == BYTES or key >= 0x80:
                if key >= 0x80:
                    key, position = read_varint(data, position - 1)
                    if key & 7 != BYTES:
                        position = skip(data, position, key)
                        continue
                length, position = read_varint(data, position)
                after = position + length
                if after > end:
                    raise Malformed(_BEYOND)
                number = key >> 3
                if number == 5:
                    _walk_summary(data, position, after, event, dialect, tags, resolver)
                elif number == 3:
                    event.version = data[position : min(after, position + _VERSION_CHARS)].decode(
                        "utf-8", "backslashreplace"
                    )
                    event.plain = False
                else:
                    _locate(event, dialect.event_fields.get(number), "", position, length)
                position = after
            else:
                position = skip(data, position, key)
        if position == end:
            return event
    except (IndexError, struct.error):
        pass
    raise Malformed(_BEYOND)


def _locate(event: Event, what: Optional[Located], tag: str, position: int, length: int) -> None:
    if what is None:
        return
    event.plain = False
    if isinstance(what, BlobKind):
        event.blobs.append((what, tag, position, length))
    else:
        event.skipped.append(what)


def _walk_summary(
    data: bytes, position: int, end: int, event: Event, dialect: Dialect, tags: Tags, resolver: Optional[Resolver]
) -> None:
    """Every Value of a Summary. Of the alternatives inside one Value the last one holds, as protobuf has it."""
    known = tags.known
    scalar_key, value_fields = dialect.scalar_key, dialect.value_fields
    while position < end:
        key = data[position]
        position += 1
        if key != 0x0A:
            if key >= 0x80:
                key, position = read_varint(data, position - 1)
            position = skip(data, position, key)
            continue
        length = data[position]
        position += 1
        if length >= 0x80:
            length, position = read_varint(data, position - 1)
        stop = position + length
        if stop > end:
            raise Malformed(_BEYOND)
        tag = ""
        scalar = -1
        what: Optional[Located] = None
        where = (0, 0)
        metadata: Optional[Tuple[int, int]] = None
        while position < stop:
            key = data[position]
            position += 1
            if key == scalar_key:
                scalar = position
                position += 4
                continue
            if key >= 0x80:
                key, position = read_varint(data, position - 1)
            if key & 7 != BYTES:
                position = skip(data, position, key)
                continue
            length = data[position]
            position += 1
            if length >= 0x80:
                length, position = read_varint(data, position - 1)
            after = position + length
            if after > stop:
                raise Malformed(_BEYOND)
            if key == 0x0A:
                raw = data[position:after]
                tag = known.get(raw) or tags.learn(raw)
            else:
                number = key >> 3
                located = value_fields.get(number)
                if located is not None:
                    what, where, scalar = located, (position, length), -1
                elif number == dialect.metadata_field:
                    metadata = (position, length)
            position = after
        if position != stop:
            raise Malformed(_BEYOND)
        if scalar >= 0:
            event.tags.append(tag)
            event.places.append(scalar)
            if metadata is not None and resolver is not None:
                resolver.learn(data, tag, metadata)
        elif what is BlobKind.TENSOR and dialect.tensor_field and resolver is not None:
            resolver.resolve(data, event, tag, where, metadata)
        elif what is not None:
            _locate(event, what, tag, *where)
    if position != end:
        raise Malformed(_BEYOND)
