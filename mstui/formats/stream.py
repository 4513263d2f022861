"""The decoder that the three event formats share: bytes at a record boundary in, columns, references and faults out.

It keeps no bytes. What it does keep (known headers, tags, templates, the last plan, plugin names) only saves time, but
for the plugin names, which TensorBoard writers may give once a tag.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

import numpy as np

from mstui.formats.base import Decoded
from mstui.formats.collect import Gathering
from mstui.formats.crc import masked_crc
from mstui.formats.dialects import LINEAGE, TENSORBOARD, dialect_of_record
from mstui.formats.framing import (
    FOOTER_BYTES,
    HEADER_BYTES,
    MAX_RECORD_BYTES,
    OVERHEAD_BYTES,
    Frames,
    Run,
    Stop,
    Walker,
    next_boundary,
)
from mstui.formats.plan import Plan, follow, make_plan
from mstui.formats.shelf import Shelf
from mstui.formats.template import Rows, Template, make_template
from mstui.formats.tensorboard_tensor import TensorResolver
from mstui.formats.wire import Dialect, Malformed, Tags, walk_event
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.records import IntArray

_TEMPLATE_ROWS = 16
"""Records of one length from which on a template pays."""
_TEMPLATE_TRIES = 8
"""Templates tried on the records of one length in one call; the rest goes to the general walk."""
_SORT_ROWS = 256
"""Records that a template left over from which on they are sorted by tag."""
_PLAN_BYTES = 512
"""Records from this size on are tried with the plan of the record before."""

_U32 = struct.Struct("<I").unpack_from
_NONE: IntArray = np.empty(0, dtype=np.int64)


@dataclass
class _Work:
    """State of one call."""

    data: bytes
    gathering: Gathering
    records: int = 0
    version: str = ""
    last_good: int = -1
    """start of the last record whose checksums are right"""
    bad: List[Tuple[int, int]] = field(default_factory=list)
    """start and whole length of records whose payload's checksum is wrong"""
    faults: List[ReadFault] = field(default_factory=list)


class EventStreamDecoder:
    """Decodes one file of events. See `mstui.formats.base.Decoder`."""

    def __init__(self, path: str, dialect: Dialect) -> None:
        self._path = path
        self._dialect = dialect
        self._resolver = TensorResolver() if dialect is TENSORBOARD else None
        self._walker = Walker()
        self._tags = Tags()
        self._shelf = Shelf()
        self._plan: Optional[Plan] = None

    def decode(self, data: bytes, base: int, *, at_end: bool, condemn: bool = False) -> Decoded:
        """Decode the records in `data`; see the protocol."""
        work = _Work(data, Gathering(data, base))
        position = index = 0
        suspect: Optional[ReadFault] = None
        while True:
            frames = self._walker.walk(data, position, index)
            if base == 0 and position == 0 and frames.offsets:
                self._listen(data, frames.offsets[0], frames.offsets[0] + frames.lengths[0])
            self._records(work, frames)
            position, index = frames.position, frames.count
            if frames.stop not in (Stop.BAD_LENGTH, Stop.OVERSIZED):
                break
            found = next_boundary(data, position + 1)
            resume = found
            if found is None:
                # the last bytes may be the beginning of a good header, unless nothing will ever follow them
                resume = len(data) if at_end else len(data) - HEADER_BYTES + 1
            assert resume is not None
            fault = self._lost(base, position, resume - position, frames)
            if found is None and at_end and not condemn:
                suspect = fault
                break
            work.faults.append(fault)
            if found is not None:
                work.last_good = max(work.last_good, position)
            position = resume
            if found is None:
                break
        if found_rest := self._trailing(work, base, at_end=at_end and not condemn):
            position, suspect = found_rest.offset - base, found_rest
        need = 0
        if suspect is None and position < len(data):
            need = frames.need if frames.stop is Stop.TORN and position == frames.position else HEADER_BYTES
        work.faults.sort(key=lambda fault: fault.offset)
        return Decoded(
            consumed=position,
            records=work.records,
            columns=work.gathering.columns(),
            blobs=work.gathering.blobs(),
            faults=tuple(work.faults),
            skipped_values=work.gathering.skipped,
            need=need,
            suspect=suspect,
            version=work.version,
        )

    def _listen(self, data: bytes, start: int, end: int) -> None:
        """Follow what the file's first record says of its dialect, whatever the name promised."""
        payload = data[start:end]
        if masked_crc(payload) != _U32(data, end)[0]:
            return
        said = dialect_of_record(payload)
        if said is None or said is self._dialect or (said is LINEAGE and self._dialect is TENSORBOARD):
            return
        self._dialect = said
        self._resolver = TensorResolver() if said is TENSORBOARD else None

    def _fault(self, kind: FaultKind, offset: int, length: int, detail: str) -> ReadFault:
        return ReadFault(self._path, kind, offset, length, detail, 0.0)

    def _lost(self, base: int, position: int, length: int, frames: Frames) -> ReadFault:
        if frames.stop is Stop.OVERSIZED:
            detail = f"the record claims {frames.need} bytes, more than the {MAX_RECORD_BYTES} that are read"
            return self._fault(FaultKind.OVERSIZED, base + position, length, detail)
        return self._fault(FaultKind.DAMAGED, base + position, length, "checksum of the record's length is wrong")

    def _trailing(self, work: _Work, base: int, *, at_end: bool) -> Optional[ReadFault]:
        """Turn bad records into faults; the first one that nothing good follows is suspect at the end of the file."""
        suspect = None
        for start, length in sorted(work.bad):
            fault = self._fault(FaultKind.DAMAGED, base + start, length, "checksum of the record is wrong")
            if at_end and start > work.last_good:
                suspect = fault
                break
            work.faults.append(fault)
        return suspect

    # -- records ------------------------------------------------------------------------------------------------------

    def _records(self, work: _Work, frames: Frames) -> None:
        """Decode every framed record: shapes that repeat by templates, the others one by one."""
        slow: List[Tuple[int, int, int]] = []
        strays: Dict[int, List[Tuple[int, int]]] = {}
        for run in frames.runs:
            self._run(work, run, strays, slow)
        if len(frames.offsets) < _TEMPLATE_ROWS and not strays:
            slow.extend(zip(frames.indices, frames.offsets, frames.lengths))
        else:
            for index, offset, length in zip(frames.indices, frames.offsets, frames.lengths):
                strays.setdefault(length, []).append((index, offset))
            for length, found in strays.items():
                if len(found) < _TEMPLATE_ROWS:
                    slow.extend((index, offset, length) for index, offset in found)
                else:
                    self._group(work, length, sorted(found), slow)
        slow.sort()
        self._one_by_one(work, slow)

    def _run(
        self, work: _Work, run: Run, strays: Dict[int, List[Tuple[int, int]]], slow: List[Tuple[int, int, int]]
    ) -> None:
        """A run whose first record has (or makes) a template; what does not match it is left over."""
        rows = Rows(work.data, run.offset, run.stride, run.count)
        indices = run.index + run.every * np.arange(run.count, dtype=np.int64)
        template = self._template(work.data[run.offset : run.offset + run.length + FOOTER_BYTES])
        if template is None:
            slow.extend((run.index + run.every * k, run.offset + run.stride * k, run.length) for k in range(run.count))
            return
        left, last = self._take(work, template, rows, indices)
        if last >= 0:
            work.last_good = max(work.last_good, run.offset + run.stride * last - HEADER_BYTES)
        if len(left):
            strays.setdefault(run.length, []).extend(
                (run.index + run.every * k, run.offset + run.stride * k) for k in left.tolist()
            )

    def _group(self, work: _Work, length: int, found: List[Tuple[int, int]], slow: List[Tuple[int, int, int]]) -> None:
        """Records of one length that lie anywhere."""
        table = np.array(found, dtype=np.int64)
        for _ in range(_TEMPLATE_TRIES):
            if len(table) < _TEMPLATE_ROWS:
                break
            first = int(table[0, 1])
            template = self._template(work.data[first : first + length + FOOTER_BYTES])
            if template is None:
                slow.append((int(table[0, 0]), first, length))
                table = table[1:]
                continue
            before = len(table)
            table = self._take_from(work, template, table)
            if len(table) >= _SORT_ROWS and len(table) > before // 2:
                table = self._sorted(work, template, table)
        slow.extend((index, offset, length) for index, offset in table.tolist())

    def _sorted(self, work: _Work, template: Template, table: IntArray) -> IntArray:
        """Many tags whose names are equally long: sort the records by tag, each tag has its template. What is left."""
        left: List[IntArray] = []
        whole = template.length + FOOTER_BYTES
        for piece in template.sort_by_fixed_bytes(_gather(work.data, table[:, 1], template.length)):
            part = table[piece]
            own = None
            if len(part) >= _TEMPLATE_ROWS:
                first = int(part[0, 1])
                own = self._template(work.data[first : first + whole])
            if own is not None:
                part = self._take_from(work, own, part)
            left.append(part)
        rest = np.concatenate(left)
        return rest[np.argsort(rest[:, 0])]

    def _take(self, work: _Work, template: Template, rows: Rows, indices: IntArray) -> Tuple[IntArray, int]:
        """Gather the rows that match. Positions of those that do not, and of the last that does (-1: none)."""
        match, taken = template.take(rows)
        if match.all():
            work.gathering.add_taken(indices, template, taken)
            work.records += len(indices)
            return _NONE, len(indices) - 1
        good = np.flatnonzero(match)
        if not len(good):
            return np.flatnonzero(~match), -1
        work.gathering.add_taken(indices[good], template, taken)
        work.records += len(good)
        return np.flatnonzero(~match), int(good[-1])

    def _take_from(self, work: _Work, template: Template, table: IntArray) -> IntArray:
        """`_take` for records that lie anywhere, as rows of index and offset; the rows that are left."""
        left, last = self._take(work, template, _gather(work.data, table[:, 1], template.length), table[:, 0])
        if last >= 0:
            work.last_good = max(work.last_good, int(table[last, 1]) - HEADER_BYTES)
        return table[left]

    def _template(self, record: bytes) -> Optional[Template]:
        """The template that this record (payload and checksum) fits, a new one if need be; None if it can have none."""
        length = len(record) - FOOTER_BYTES
        payload = record[:length]
        known = self._shelf.find(payload)
        if known is not None:
            return known
        if masked_crc(payload) != _U32(record, length)[0]:
            return None
        made = make_template(payload, self._dialect, self._tags, self._resolver)
        if made is not None:
            self._shelf.put(made)
        return made

    def _one_by_one(self, work: _Work, records: List[Tuple[int, int, int]]) -> None:
        """The general walk, in file order."""
        data, gathering, dialect = work.data, work.gathering, self._dialect
        for index, offset, length in records:
            end = offset + length
            start = offset - HEADER_BYTES
            if masked_crc(data[offset:end]) != _U32(data, end)[0]:
                work.bad.append((start, length + OVERHEAD_BYTES))
                continue
            work.last_good = max(work.last_good, start)
            if length >= _PLAN_BYTES and self._follow(work, index, offset, end):
                work.records += 1
                continue
            try:
                event = walk_event(data, offset, end, dialect, self._tags, self._resolver)
            except Malformed as reason:
                base = gathering.base
                work.faults.append(self._fault(FaultKind.MALFORMED, base + start, length + OVERHEAD_BYTES, str(reason)))
                continue
            work.records += 1
            gathering.add_event(index, event)
            if event.version and not index and not gathering.base:
                work.version = event.version
            if length >= _PLAN_BYTES:
                self._plan = make_plan(data, offset, event, dialect)

    def _follow(self, work: _Work, index: int, offset: int, end: int) -> bool:
        plan = self._plan
        if plan is None:
            return False
        try:
            got = follow(plan, work.data, offset, end)
        except (IndexError, struct.error, Malformed):
            return False
        if got is None:
            return False
        work.gathering.add_followed(index, plan, got)
        return True


def _gather(data: bytes, offsets: IntArray, length: int) -> Rows:
    """Copy records that lie anywhere behind each other."""
    whole = length + FOOTER_BYTES
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, dtype=np.uint8), whole)
    return Rows(windows[offsets], 0, whole, len(offsets))
