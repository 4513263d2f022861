"""Thousands of scalar records of one shape at once: compared with one decoded record, decoded by column views.

The bytes that may vary are the wall time, the step and the values. Every other byte of a record is compared with the
template's, the step's continuation bits are checked, and the payload's checksum is verified: by linearity, looking up
only the varying bytes. What does not match in every respect is left to the general decoder; nothing is assumed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.formats.crc import crc32c, mask_array, masked_crc, position_table
from mstui.formats.framing import FOOTER_BYTES
from mstui.formats.wire import Dialect, Event, Malformed, Resolver, Tags, read_varint, walk_event
from mstui.model.records import FloatArray, IntArray

MAX_TEMPLATE_BYTES = 8192
"""Longer records are few per megabyte; the general decoder is good enough for them."""
_MAX_LOOKUPS = 320
"""With more varying bytes a checksum over the whole record is quicker than looking them up, if it is compiled."""
_MAX_STEP_BYTES = 9
"""A step of ten bytes is negative; those go to the general decoder."""
_WALL_AT, _STEP_AT = 1, 10
"""Offsets in a payload that begins with the wall time's key, the wall time, the step's key, the step."""
_MOST_TAGS = 32
"""With more tags the fixed bytes lie in so many pieces that comparing whole rows under a mask is quicker, and a list of
the pieces would be larger than the record: every rank of a run has a template."""
_ROWS_BYTES = 384 << 10
"""Rows are worked on in chunks of about this size, which stay in the processor's second cache."""

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: the golden ratio."""

BoolArray = npt.NDArray[np.bool_]
_U32 = struct.Struct("<I").unpack_from


@dataclass(frozen=True)
class Rows:
    """Records of one length at a constant distance in a buffer: payload and checksum of each."""

    buffer: Any
    """bytes, or a contiguous uint8 array"""
    offset: int
    stride: int
    count: int

    def column(self, at: int, kind: str) -> npt.NDArray[Any]:
        """One field of every record, as a view."""
        return np.ndarray((self.count,), kind, self.buffer, self.offset + at, (self.stride,))

    def payloads(self, length: int) -> npt.NDArray[np.uint8]:
        """[count, length] bytes, as a view."""
        return np.ndarray((self.count, length), "u1", self.buffer, self.offset, (self.stride, 1))

    def part(self, first: int, count: int) -> Rows:
        """Some of them."""
        return Rows(self.buffer, self.offset + first * self.stride, self.stride, count)


@dataclass(frozen=True)
class Taken:
    """What a template made of the rows that matched it."""

    steps: IntArray
    wall_times: FloatArray
    narrow: npt.NDArray[np.float32]
    """[len(tags), n]"""
    wide: FloatArray
    """[len(wide_tags), n]"""


class Template:
    """One shape of record."""

    def __init__(self, payload: bytes, event: Event, start: int, step_bytes: int) -> None:
        size = len(payload)
        self.length = size
        self.tags = tuple(event.tags)
        self.wide_tags = tuple(tag for tag, _, _ in event.wide)
        self._step_bytes = step_bytes
        self._places = [at - start for at in event.places]
        self._wide_places = [at - start for _, _, at in event.wide]
        variable = np.zeros(size, dtype=bool)
        variable[_WALL_AT : _WALL_AT + 8] = True
        variable[_STEP_AT : _STEP_AT + step_bytes] = True
        for at in self._places:
            variable[at : at + 4] = True
        for at in self._wide_places:
            variable[at : at + 8] = True
        template = np.frombuffer(payload, dtype=np.uint8)
        self.mask = np.where(variable, np.uint8(0), np.uint8(0xFF))
        """0xFF for bytes that must be equal, 0 for those that may vary"""
        self.fixed = (template & self.mask).tobytes()
        """the record with its varying bytes zeroed"""
        many = len(self._places) + len(self._wide_places) > _MOST_TAGS
        self._runs = [] if many else _fixed_runs(template, variable)
        varying = np.flatnonzero(variable).tolist()
        self._lookups = [(at, position_table(size - 1 - at)) for at in varying] if len(varying) <= _MAX_LOOKUPS else []
        self._crc = crc32c(payload)
        for at, table in self._lookups:
            self._crc ^= int(table[payload[at]])  # as if the varying bytes were zero: each row looks up its own
        self._chunk = max(_ROWS_BYTES // (size + FOOTER_BYTES), 64)

    def has_step_of(self, payload: bytes) -> bool:
        """Is this record's step as wide as the template's?"""
        return _step_width(payload) == self._step_bytes

    def sort_by_fixed_bytes(self, rows: Rows) -> List[IntArray]:
        """Positions of the rows, those together that are equal wherever the template is fixed (by a hash).

        A wrong meeting of two hashes costs time only: `take` compares.
        """
        hashes = np.zeros(rows.count, dtype=np.uint64)
        for at, kind, _ in self._runs:
            hashes *= _HASH_FACTOR
            hashes += rows.column(at, kind)
        if not self._runs:
            fixed = rows.payloads(self.length) & self.mask
            hashes[:] = [crc32c(row.tobytes()) for row in fixed]
        order = np.argsort(hashes, kind="stable")
        changes = np.flatnonzero(np.diff(hashes[order])) + 1
        return np.split(order, changes)

    def take(self, rows: Rows) -> Tuple[BoolArray, Taken]:
        """Which rows match in every respect, and their figures."""
        count = rows.count
        match = np.empty(count, dtype=bool)
        taken = Taken(
            np.empty(count, dtype=np.int64),
            np.empty(count, dtype=np.float64),
            np.empty((len(self._places), count), dtype=np.float32),
            np.empty((len(self._wide_places), count), dtype=np.float64),
        )
        for first in range(0, count, self._chunk):
            part = rows.part(first, min(self._chunk, count - first))
            span = slice(first, first + part.count)
            match[span] = self._matches(part)
            self._fill(part, taken, span)
        if match.all():
            return match, taken
        return match, Taken(taken.steps[match], taken.wall_times[match], taken.narrow[:, match], taken.wide[:, match])

    def _matches(self, rows: Rows) -> BoolArray:
        last = _STEP_AT + self._step_bytes - 1
        match: BoolArray = rows.column(last, "u1") < 0x80
        for at in range(_STEP_AT, last):
            match &= rows.column(at, "u1") >= 0x80
        for at, kind, wanted in self._runs:
            match &= rows.column(at, kind) == wanted
        if not self._runs:
            fixed = np.frombuffer(self.fixed, dtype=np.uint8)
            match &= (rows.payloads(self.length) & self.mask == fixed).all(axis=1)
        match &= self._checksums(rows)
        return match

    def _fill(self, rows: Rows, taken: Taken, span: slice) -> None:
        steps = taken.steps[span]
        steps[:] = rows.column(_STEP_AT, "u1") & np.uint8(0x7F)
        for place in range(1, self._step_bytes):
            steps |= (rows.column(_STEP_AT + place, "u1") & np.uint8(0x7F)).astype(np.int64) << (7 * place)
        taken.wall_times[span] = rows.column(_WALL_AT, "<f8")
        for line, at in enumerate(self._places):
            taken.narrow[line, span] = rows.column(at, "<f4")
        for line, at in enumerate(self._wide_places):
            taken.wide[line, span] = rows.column(at, "<f8")

    def _checksums(self, rows: Rows) -> BoolArray:
        stored = rows.column(self.length, "<u4")
        if not self._lookups:
            crcs = np.array([masked_crc(row.tobytes()) for row in rows.payloads(self.length)], dtype=np.uint32)
            return np.equal(crcs, stored)
        crcs = np.full(rows.count, self._crc, dtype=np.uint32)
        for at, table in self._lookups:
            crcs ^= table.take(rows.column(at, "u1"))
        return np.equal(mask_array(crcs), stored)


def _step_width(payload: bytes) -> int:
    """Bytes of the varint that stands where a step should; 0 when it does not end."""
    for width in range(1, _MAX_STEP_BYTES + 1):
        if _STEP_AT + width > len(payload):
            break
        if payload[_STEP_AT + width - 1] < 0x80:
            return width
    return 0


def _fixed_runs(template: npt.NDArray[np.uint8], variable: BoolArray) -> List[Tuple[int, str, np.generic]]:
    """The bytes that must equal the template's, as few and wide integers as possible."""
    runs: List[Tuple[int, str, np.generic]] = []
    at, size = 0, len(variable)
    while at < size:
        if variable[at]:
            at += 1
            continue
        end = at
        while end < size and not variable[end]:
            end += 1
        while at < end:
            width = next(w for w in (8, 4, 2, 1) if w <= end - at)
            kind = f"<u{width}"
            runs.append((at, kind, template[at : at + width].view(kind)[0]))
            at += width
    return runs


def make_template(payload: bytes, dialect: Dialect, tags: Tags, resolver: Optional[Resolver]) -> Optional[Template]:
    """A template from one record; None unless it is wall time, step and one summary of nothing but scalars.

    The record's own checksum must have been verified.
    """
    size = len(payload)
    if size > MAX_TEMPLATE_BYTES or size < _STEP_AT + 4 or payload[0] != 0x09 or payload[_STEP_AT - 1] != 0x10:
        return None
    width = _step_width(payload)
    at = _STEP_AT + width
    try:
        if not width or payload[at] != 0x2A:
            return None
        length, inside = read_varint(payload, at + 1)
        if inside + length != size:
            return None
        event = walk_event(payload, 0, size, dialect, tags, resolver)
    except (IndexError, Malformed):
        return None
    if not event.plain or not (event.tags or event.wide):
        return None
    return Template(payload, event, 0, width)
