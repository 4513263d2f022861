"""TFRecord framing: where the records of a block lie, and where the next good one begins after damage.

A record is: u64 length | u32 masked crc32c(length) | payload | u32 masked crc32c(payload), little endian.
Only the framing is looked at; nothing here knows what a payload holds, and a payload's checksum is left to the decoder
(which can verify thousands at once), except where a boundary must be proven.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import Enum
from typing import Dict, List, Optional, Tuple

import numpy as np

from mstui.formats.crc import CrcArray, length_crc, length_crcs, masked_crc

HEADER_BYTES = 12
FOOTER_BYTES = 4
OVERHEAD_BYTES = HEADER_BYTES + FOOTER_BYTES
MAX_RECORD_BYTES = 512 << 20
"""A longer record is not read: MindInsight's own limit is 500 MB an event, and a length field may lie."""

_PROBE = 64
"""Records walked one by one before a cycle of lengths is guessed."""
_PROBE_LIMIT = 4096
"""The probe doubles up to this while no cycle shows."""
_MAX_PERIOD = 64
"""Longest cycle looked for: writers that give every tag a record of its own repeat after as many tags."""
_FIRST_PROOF = 64
"""Cycles proven in the first bulk comparison; it grows fourfold while the guess holds."""
_LAST_PROOF = 1 << 20
_LEAST_CYCLES = 8
"""Fewer than this are walked one by one: a run costs as much as some dozens of records."""
_KNOWN_HEADERS = 4096
"""Different lengths whose header bytes are remembered."""
_FIRST_SCAN = 512
"""Bytes searched at first for a boundary; fourfold each time, so that the cost follows the size of the damage."""
_LAST_SCAN = 1 << 20
_SCAN_BUDGET = 16
"""Payload bytes checksummed during one search, as a multiple of the bytes searched: a forged file may hold a right
header at every twelfth byte, each claiming megabytes."""

_U64 = struct.Struct("<Q").unpack_from
_U32 = struct.Struct("<I").unpack_from


class Stop(Enum):
    """Why a walk ended."""

    END = 0
    """exactly at the end of the data"""
    SHORT_HEADER = 1
    """the rest is shorter than a header"""
    TORN = 2
    """a proven header whose record reaches beyond the data"""
    BAD_LENGTH = 3
    """the length's checksum is wrong"""
    OVERSIZED = 4
    """a proven header with a length above MAX_RECORD_BYTES"""


@dataclass(frozen=True)
class Run:
    """Records of one length at a constant distance, every header proven."""

    offset: int
    """of the first one's payload"""
    stride: int
    """bytes from one payload to the next"""
    count: int
    length: int
    index: int
    """number of the first one among the records of the walk"""
    every: int
    """how much that number grows from one to the next"""


@dataclass
class Frames:
    """What a walk found. Records are numbered in file order; the numbers of singles and runs interleave."""

    count: int = 0
    runs: List[Run] = field(default_factory=list)
    offsets: List[int] = field(default_factory=list)
    """payload offsets of the records that are in no run"""
    lengths: List[int] = field(default_factory=list)
    indices: List[int] = field(default_factory=list)
    position: int = 0
    """where the walk stopped: a record boundary"""
    stop: Stop = Stop.END
    need: int = 0
    """bytes of the record at `position`, for TORN and OVERSIZED"""


class Walker:
    """Finds records. Remembers headers that it has proven, which is a cache and nothing else."""

    def __init__(self) -> None:
        self._known: Dict[bytes, int] = {}

    def walk(self, data: bytes, position: int, first_index: int = 0) -> Frames:
        """Every whole record from `position` on, until something stops the walk.

        Training writes the same shapes over and over: after a short sequential probe the cycle of lengths is guessed
        and then proven in bulk, by comparing all twelve header bytes of the following cycles through strided views.
        The result is that of a sequential walk, whatever the guess.
        """
        frames = Frames(count=first_index, position=position)
        probe = _PROBE
        while True:
            begun = len(frames.lengths)
            if not self._step(data, frames, probe):
                return frames
            period = _period(frames.lengths[begun:])
            if not period:
                probe = min(probe * 2, _PROBE_LIMIT)
                continue
            if _gallop(data, frames, frames.lengths[-period:]):
                probe = _PROBE

    def _step(self, data: bytes, frames: Frames, limit: int) -> bool:
        """Walk `limit` records one by one; False when the walk is over."""
        known = self._known
        position, index, size = frames.position, frames.count, len(data)
        add_offset, add_length = frames.offsets.append, frames.lengths.append
        begun = index
        goes_on = True
        for _ in range(limit):
            header = data[position : position + HEADER_BYTES]
            length = known.get(header, -1)
            if length < 0:
                if len(header) < HEADER_BYTES:
                    frames.stop = Stop.SHORT_HEADER if header else Stop.END
                    goes_on = False
                    break
                length = _U64(header)[0]
                if _U32(header, 8)[0] != length_crc(length):
                    frames.stop = Stop.BAD_LENGTH
                    goes_on = False
                    break
                if length > MAX_RECORD_BYTES:
                    frames.stop, frames.need = Stop.OVERSIZED, length + OVERHEAD_BYTES
                    goes_on = False
                    break
                if len(known) >= _KNOWN_HEADERS:
                    known.clear()
                known[header] = length
            after = position + OVERHEAD_BYTES + length
            if after > size:
                frames.stop, frames.need = Stop.TORN, length + OVERHEAD_BYTES
                goes_on = False
                break
            add_offset(position + HEADER_BYTES)
            add_length(length)
            position = after
            index += 1
        frames.indices.extend(range(begun, index))
        frames.position, frames.count = position, index
        return goes_on


def _period(lengths: List[int]) -> int:
    """Length of the cycle in which the last lengths repeat; 0 when they do not."""
    last = len(lengths)
    for period in range(1, min(_MAX_PERIOD, last // 2) + 1):
        if lengths[last - period :] == lengths[last - 2 * period : last - period]:
            half = last // 2
            if lengths[half:] == lengths[half - period : last - period]:
                return period
    return 0


def _gallop(data: bytes, frames: Frames, cycle: List[int]) -> bool:
    """Prove as many further cycles as there are and add them as runs; False when there are too few to be worth it."""
    start, period = frames.position, len(cycle)
    stride = sum(cycle) + OVERHEAD_BYTES * period
    places: List[Tuple[int, int, int]] = []
    at = 0
    for length in cycle:
        places.append((at, length, length_crc(length)))
        at += length + OVERHEAD_BYTES
    proven, batch = 0, _FIRST_PROOF
    position = start
    while True:
        number = min(batch, (len(data) - position) // stride)
        good = number
        for at, length, crc in places:
            if not good:
                break
            same = np.ndarray((good,), "<u8", data, position + at, (stride,)) == length
            same &= np.ndarray((good,), "<u4", data, position + at + 8, (stride,)) == crc
            if not same.all():
                good = int(same.argmin())
        proven += good
        position += good * stride
        if good < number or not number:
            break
        batch = min(batch * 4, _LAST_PROOF)
    if proven >= _LEAST_CYCLES:
        for place, (at, length, _) in enumerate(places):
            frames.runs.append(Run(start + at + HEADER_BYTES, stride, proven, length, frames.count + place, period))
        frames.count += proven * period
        frames.position = position
        return True
    return False


def find_boundary(data: bytes) -> Optional[int]:
    """First offset at which a record begins: its length's checksum is right, and its payload's if it is all there."""
    return next_boundary(data, 0)


def next_boundary(data: bytes, start: int) -> Optional[int]:
    """`find_boundary` from an offset on."""
    position, span = start, _FIRST_SCAN
    last = len(data) - HEADER_BYTES
    budget = _SCAN_BUDGET * (len(data) - start)
    while position <= last:
        count = min(span, last - position + 1)
        high: CrcArray = np.ndarray((count,), "<u4", data, position + 4, (1,))
        candidates = np.flatnonzero(high == 0)
        if len(candidates):
            low: CrcArray = np.ndarray((count,), "<u4", data, position, (1,))[candidates]
            stored: CrcArray = np.ndarray((count,), "<u4", data, position + 8, (1,))[candidates]
            right = (low <= MAX_RECORD_BYTES) & (length_crcs(low) == stored)
            for found in candidates[right].tolist():
                at = position + int(found)
                length = _U64(data, at)[0]
                end = at + HEADER_BYTES + length
                if end + FOOTER_BYTES > len(data):
                    return at
                budget -= length
                if budget < 0:
                    return None
                if masked_crc(data[at + HEADER_BYTES : end]) == _U32(data, end)[0]:
                    return at
        position += count
        span = min(span * 4, _LAST_SCAN)
    return None
