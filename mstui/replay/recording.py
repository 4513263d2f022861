"""A recording as it lies on the disk: where the records of its files end, and when they were written.

Event files go by the wall times of their records; text logs go line by line by their time stamps, and where they have
none by their steps. It refuses to change, interpret or skip a record.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import BinaryIO, Dict, Iterator, List, Optional, Tuple

import numpy as np

from mstui.errors import StartError
from mstui.formats.framing import HEADER_BYTES, OVERHEAD_BYTES, Frames, Stop, Walker, next_boundary
from mstui.formats.logs.decoder import TextLogDecoder
from mstui.formats.logs.headers import Stamps, parse
from mstui.formats.logs.lines import clean
from mstui.formats.logs.text_format import claims_head, claims_name
from mstui.i18n import _
from mstui.ingest.names import is_skipped_folder, parse_file_name
from mstui.model.records import FloatArray, IntArray

STEP_S = 0.5
"""Between two steps of a log that has no time stamps, or none any more"""
MAX_FILES = 10_000
"""Files of one recording. A path with more is a parent of many runs."""
BLOCK = 8 << 20
"""Bytes read at a time while looking for records"""
NO_STEP = np.iinfo(np.int64).min
_LOG_HEAD = 4096
"""Bytes by which a text is known, and in which the stamp of a line is looked for"""
_HEAD = 64
"""Bytes of a payload in which wall_time and step are looked for: both writers put them first"""


@dataclass(frozen=True)
class Track:
    """The records of one file, in file order. The last row ends at the end of the file."""

    path: str
    ends: IntArray
    """file offset behind each record"""
    times: FloatArray
    """never falling: a file is written from front to back whatever its records say"""
    steps: IntArray
    torn: bool
    """the file ends inside a record: nobody closed it"""
    log: bool = False
    """a text log: nobody closes it either"""
    stamped: bool = True
    """its times are of its own; without, they count from 0"""


def recorded_files(source: str) -> Tuple[Tuple[str, bool], ...]:
    """Event files (True) and text logs (False)."""
    if not os.path.isdir(source):
        return ((source, not (claims_name(os.path.basename(source)) and _is_text(source))),)
    found: List[Tuple[str, bool]] = []
    for folder, below, names in os.walk(source):
        below[:] = sorted(name for name in below if not is_skipped_folder(name))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if parse_file_name(name).started is not None:
                found.append((path, True))
            elif claims_name(name) and _is_text(path):
                found.append((path, False))
        if len(found) > MAX_FILES:
            what = _("more than {n} files").format(n=MAX_FILES)
            raise StartError(what, source, _("Name the directory of one run."))
    return tuple(found)


def _is_text(path: str) -> bool:
    try:
        if os.path.islink(path):
            return False  # MindSpore links its newest log; the log itself is played
        with open(path, "rb") as stream:
            head = stream.read(_LOG_HEAD)
    except OSError:
        return False
    return bool(head) and claims_head(head)


def scan_log(path: str) -> Optional[Track]:
    """Where the lines of a text log end and when they were written."""
    decoder = TextLogDecoder(path)
    steps_at: Dict[int, int] = {}
    ends: List[int] = []
    times: List[float] = []
    stamps = Stamps()
    last, stamped, paced = 0.0, False, 0
    base, data = 0, b""
    undecoded = b""
    try:
        with open(path, "rb") as stream:
            while block := stream.read(BLOCK):
                data, undecoded = data + block, undecoded + block
                decoded = decoder.decode(undecoded, stream.tell() - len(undecoded), at_end=len(block) < BLOCK)
                undecoded = undecoded[decoded.consumed :]
                if decoded.log_steps is not None:
                    steps_at.update(zip(decoded.log_steps.offsets.tolist(), decoded.log_steps.steps.tolist()))
                at = 0
                while (feed := data.find(b"\n", at)) >= 0:
                    header = parse(clean(data[at : min(feed, at + _LOG_HEAD)]).text, stamps)
                    if header is not None and header.wall_time is not None:
                        last, stamped, paced = header.wall_time, True, 0
                    elif base + at in steps_at:
                        paced += 1
                    ends.append(base + feed + 1)
                    times.append(last + paced * STEP_S)
                    at = feed + 1
                base, data = base + at, data[at:]
    except OSError as error:
        raise StartError(error.strerror or str(error), path, _("Check the path and its permissions.")) from error
    if data:
        ends.append(base + len(data))
        times.append(last + paced * STEP_S)
    if not ends:
        return None
    begins = np.array([0, *ends[:-1]], dtype=np.int64)
    steps = np.array([steps_at.get(begin, int(NO_STEP)) for begin in begins.tolist()], dtype=np.int64)
    written = np.array(times, dtype=np.float64)
    if stamped:
        first = float(written[written > 0.0].min())
        written[written < first] = first
    rising = np.maximum.accumulate(written)
    return Track(path, np.array(ends, dtype=np.int64), rising, steps, torn=False, log=True, stamped=stamped)


def aligned(tracks: List[Track]) -> List[Track]:
    """Give logs without time stamps the times at which the others came to the same steps; without others, a pace."""
    known = [track for track in tracks if track.stamped]
    if not known:
        return tracks
    steps = np.concatenate([track.steps for track in known])
    times = np.concatenate([track.times for track in known])
    begun = float(times.min())
    told = np.flatnonzero(steps != NO_STEP)
    order = told[np.argsort(steps[told], kind="stable")]
    out = []
    for track in tracks:
        if not track.stamped:
            own = np.where(track.steps == NO_STEP, np.nan, track.steps.astype(np.float64))
            own = np.nan_to_num(np.fmax.accumulate(own), nan=-np.inf)
            when = np.interp(own, steps[order], times[order]) if len(order) else begun + track.times
            track = replace(track, times=np.maximum.accumulate(np.maximum(when, begun)))
        out.append(track)
    return out


def scan(path: str) -> Optional[Track]:
    """Where the records of a file end and when they were written; None for a file without a record."""
    ends: List[int] = []
    times: List[float] = []
    steps: List[int] = []
    try:
        with open(path, "rb") as stream:
            for head, end in _walk(stream):
                when, step = _when(head)
                ends.append(end)
                times.append(when)
                steps.append(step)
            size = stream.tell()
    except OSError as error:
        raise StartError(error.strerror or str(error), path, _("Check the path and its permissions.")) from error
    if not ends:
        return None
    torn = size > ends[-1]
    if torn:
        ends.append(size)
        times.append(times[-1])
        steps.append(int(NO_STEP))
    written = np.array(times, dtype=np.float64)
    written[~np.isfinite(written)] = np.nan
    rising = np.nan_to_num(np.fmax.accumulate(written), nan=0.0)
    return Track(path, np.array(ends, dtype=np.int64), rising, np.array(steps, dtype=np.int64), torn)


def _walk(stream: BinaryIO) -> Iterator[Tuple[bytes, int]]:
    """The beginning of every record's payload, and the file offset behind the record. Damage is stepped over."""
    walker = Walker()
    base, data = 0, b""
    while True:
        block = stream.read(BLOCK)
        data += block
        position = 0
        while True:
            frames = walker.walk(data, position)
            for offset, length in _records(frames):
                yield data[offset : offset + min(length, _HEAD)], base + offset - HEADER_BYTES + length + OVERHEAD_BYTES
            position = frames.position
            if frames.stop not in (Stop.BAD_LENGTH, Stop.OVERSIZED):
                break
            boundary = next_boundary(data, position + 1)
            if boundary is None:
                position = max(position, len(data) - HEADER_BYTES + 1)
                break
            position = boundary
        if not block:
            return
        base, data = base + position, data[position:]


def _records(frames: Frames) -> List[Tuple[int, int]]:
    """Payload offsets and lengths in file order."""
    found = list(zip(frames.offsets, frames.lengths))
    for run in frames.runs:
        found.extend((run.offset + i * run.stride, run.length) for i in range(run.count))
    return sorted(found)


def _when(head: bytes) -> Tuple[float, int]:
    """wall_time (field 1, double) and step (field 2, varint) of an event. NaN and NO_STEP where it has none."""
    when, step = float("nan"), int(NO_STEP)
    position = 0
    while position < len(head):
        key = head[position]
        if key == 0x09 and position + 9 <= len(head):
            when = float(np.frombuffer(head, "<f8", 1, position + 1)[0])
            position += 9
        elif key == 0x10:
            value, shift = 0, 0
            while position + 1 < len(head) and shift < 64:
                position += 1
                value |= (head[position] & 0x7F) << shift
                shift += 7
                if head[position] < 0x80:
                    break
            position += 1
            value &= (1 << 64) - 1
            step = value - (1 << 64) if value >= 1 << 63 else value
        else:
            break
    return when, step
