"""Plays a recorded run as if it were being written: whole records, in time order, into a directory of its own.

Event files go by the wall times of their records; text logs go line by line by their time stamps, and where they have
none by their steps.

The engine has no clock: `advance(elapsed)` appends what is due. Bytes go over as they are, damage included. It refuses
to write anywhere but into its target, and to change, interpret or skip a record.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import BinaryIO, Callable, Dict, Iterator, List, Optional, Tuple

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

MAX_WAIT_S = 3.0
"""Longest pause between two records, whatever the recorded one was: somebody is looking"""
TURN_S = 0.1
"""Pause between two looks at the clock; well below the time in which a person notices a step"""
STEP_S = 0.5
"""Between two steps of a log that has no time stamps, or none any more"""
MAX_FILES = 10_000
"""Files of one recording. A path with more is a parent of many runs."""
CLOSED_MODE = 0o400
"""What MindSpore's writer leaves behind when it closes a file"""

_BLOCK = 8 << 20
"""Bytes read at a time while looking for records"""
_LOG_HEAD = 4096
"""Bytes by which a text is known, and in which the stamp of a line is looked for"""
_HEAD = 64
"""Bytes of a payload in which wall_time and step are looked for: both writers put them first"""
_NO_STEP = np.iinfo(np.int64).min

_PLACES = re.compile(r"^\s*(?:step\s*)?(\d{1,18})\s*$", re.IGNORECASE)
_PREFIX = "replay-"


def parse_place(text: str) -> int:
    """The step that --at names: "step 1200" or "1200". Raises StartError for anything else."""
    found = _PLACES.match(text)
    if found is None:
        raise StartError(
            _('cannot go to "{place}"').format(place=text), "--at", _('Write for example --at "step 1200".')
        )
    return int(found.group(1))


@dataclass(frozen=True)
class Progress:
    """How far a replay is."""

    written: int
    """records appended so far"""
    total: int
    step: Optional[int]
    """step of the newest record that has one"""
    next_due: Optional[float]
    """elapsed seconds at which the next record is due; None when everything is written"""


@dataclass(frozen=True)
class _Track:
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


class Replay:
    """One recording on its way into a target directory."""

    def __init__(self, source: str, target: str, *, speed: float = 1.0, at_step: Optional[int] = None) -> None:
        """`speed`: times the recorded pace. `at_step`: everything up to this step is written by the first `advance`.

        Raises StartError when the source holds no records.
        """
        self._target = target
        self._root = source if os.path.isdir(source) else os.path.dirname(os.path.abspath(source))
        found = [_scan(path) if is_events else _scan_log(path) for path, is_events in _recorded_files(source)]
        self._tracks = _aligned([track for track in found if track is not None])
        if not self._tracks:
            remedy = _("Name a directory or file that MindSpore's summary or TensorBoard wrote, or a text log.")
            raise StartError(_("no records to replay"), source, remedy)
        order = np.argsort(np.concatenate([t.times for t in self._tracks]), kind="stable")
        self._files = np.repeat(np.arange(len(self._tracks)), [len(t.ends) for t in self._tracks])[order]
        self._ends = np.concatenate([t.ends for t in self._tracks])[order]
        self._steps = np.concatenate([t.steps for t in self._tracks])[order]
        times = np.concatenate([t.times for t in self._tracks])[order]
        waits = np.minimum(np.diff(times, prepend=times[:1]) / speed, MAX_WAIT_S)
        if at_step is not None:
            later = np.flatnonzero(self._steps > at_step)
            waits[: later[0] if len(later) else len(waits)] = 0.0
        self._due = np.cumsum(waits)
        self._done = 0
        self._copied = [0] * len(self._tracks)

    @property
    def last_step(self) -> Optional[int]:
        """Highest step of the recording."""
        return self._newest_step(len(self._steps))

    def advance(self, elapsed: float) -> Progress:
        """Append everything that is due `elapsed` seconds after the start."""
        until = int(np.searchsorted(self._due, elapsed, side="right"))
        if until > self._done:
            files = self._files[self._done : until]
            for index in np.unique(files).tolist():
                self._append(index, int(self._ends[self._done : until][files == index].max()))
            self._done = until
            if until == len(self._due):
                self._close()
        left = self._done < len(self._due)
        return Progress(
            self._done, len(self._due), self._newest_step(self._done), float(self._due[self._done]) if left else None
        )

    def run(self, clock: Callable[[], float], wait: Callable[[float], bool]) -> None:
        """Play to the end. `wait(seconds)` returns True when it is time to stop."""
        begun = clock()
        while self.advance(clock() - begun).next_due is not None:
            if wait(TURN_S):
                return

    def _newest_step(self, until: int) -> Optional[int]:
        highest = int(self._steps[:until].max(initial=_NO_STEP))
        return None if highest == _NO_STEP else highest

    def _append(self, index: int, end: int) -> None:
        track = self._tracks[index]
        copy = self._copy_of(track)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        begin = self._copied[index]
        with open(track.path, "rb") as source, open(copy, "ab") as target:
            source.seek(begin)
            while begin < end:
                block = source.read(min(_BLOCK, end - begin))
                if not block:
                    break  # the recording shrank meanwhile; what is gone cannot be played
                target.write(block)
                begin += len(block)
        self._copied[index] = end

    def _copy_of(self, track: _Track) -> str:
        return os.path.join(self._target, os.path.relpath(track.path, self._root))

    def _close(self) -> None:
        """A writer closes all of its files together. One that was killed closed none, and left a torn record."""
        for track in self._tracks:
            if not track.torn and not track.log:
                os.chmod(self._copy_of(track), CLOSED_MODE)


def make_target(state_dir: str) -> str:
    """A new empty directory for one replay. Those that killed processes left behind are removed on the way."""
    parent = os.path.join(state_dir, "replays")
    os.makedirs(parent, mode=0o700, exist_ok=True)
    for name in os.listdir(parent):
        owner = name[len(_PREFIX) :].split("-")[0]
        if name.startswith(_PREFIX) and owner.isdigit() and not _alive(int(owner)):
            remove_target(os.path.join(parent, name))
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)


def remove_target(path: str) -> None:
    """Remove a replay's directory, as far as it can be removed."""
    shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _recorded_files(source: str) -> Tuple[Tuple[str, bool], ...]:
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


def _scan_log(path: str) -> Optional[_Track]:
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
            while block := stream.read(_BLOCK):
                data, undecoded = data + block, undecoded + block
                decoded = decoder.decode(undecoded, stream.tell() - len(undecoded), at_end=len(block) < _BLOCK)
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
    steps = np.array([steps_at.get(begin, int(_NO_STEP)) for begin in begins.tolist()], dtype=np.int64)
    written = np.array(times, dtype=np.float64)
    if stamped:
        first = float(written[written > 0.0].min())
        written[written < first] = first
    rising = np.maximum.accumulate(written)
    return _Track(path, np.array(ends, dtype=np.int64), rising, steps, torn=False, log=True, stamped=stamped)


def _aligned(tracks: List[_Track]) -> List[_Track]:
    """Give logs without time stamps the times at which the others came to the same steps; without others, a pace."""
    known = [track for track in tracks if track.stamped]
    if not known:
        return tracks
    steps = np.concatenate([track.steps for track in known])
    times = np.concatenate([track.times for track in known])
    begun = float(times.min())
    told = np.flatnonzero(steps != _NO_STEP)
    order = told[np.argsort(steps[told], kind="stable")]
    out = []
    for track in tracks:
        if not track.stamped:
            own = np.where(track.steps == _NO_STEP, np.nan, track.steps.astype(np.float64))
            own = np.nan_to_num(np.fmax.accumulate(own), nan=-np.inf)
            when = np.interp(own, steps[order], times[order]) if len(order) else begun + track.times
            track = replace(track, times=np.maximum.accumulate(np.maximum(when, begun)))
        out.append(track)
    return out


def _scan(path: str) -> Optional[_Track]:
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
        steps.append(int(_NO_STEP))
    written = np.array(times, dtype=np.float64)
    written[~np.isfinite(written)] = np.nan
    rising = np.nan_to_num(np.fmax.accumulate(written), nan=0.0)
    return _Track(path, np.array(ends, dtype=np.int64), rising, np.array(steps, dtype=np.int64), torn)


def _walk(stream: BinaryIO) -> Iterator[Tuple[bytes, int]]:
    """The beginning of every record's payload, and the file offset behind the record. Damage is stepped over."""
    walker = Walker()
    base, data = 0, b""
    while True:
        block = stream.read(_BLOCK)
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
    """wall_time (field 1, double) and step (field 2, varint) of an event. NaN and _NO_STEP where it has none."""
    when, step = float("nan"), int(_NO_STEP)
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
