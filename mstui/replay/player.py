"""Plays a recorded run as if it were being written: whole records, in time order, into a directory of its own.

The engine has no clock: `advance(elapsed)` appends what is due. Bytes go over as they are, damage included. It refuses
to write anywhere but into its target.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

import numpy as np

from mstui.detect.base import Process
from mstui.errors import StartError
from mstui.i18n import _
from mstui.replay.ending import UNKNOWN, Endings
from mstui.replay.recording import BLOCK, NO_STEP, Track, aligned, recorded_files, scan, scan_log

MAX_WAIT_S = 3.0
"""Longest pause between two records, whatever the recorded one was: somebody is looking"""
TURN_S = 0.1
"""Pause between two looks at the clock; well below the time in which a person notices a step"""
CLOSED_MODE = 0o400
"""What MindSpore's writer leaves behind when it closes a file"""

_PLACES = re.compile(r"^\s*(?:step\s*)?(\d{1,18})\s*$", re.IGNORECASE)


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


class Replay:
    """One recording on its way into a target directory."""

    def __init__(self, source: str, target: str, *, speed: float = 1.0, at_step: Optional[int] = None) -> None:
        """`speed`: times the recorded pace. `at_step`: everything up to this step is written by the first `advance`.

        Raises StartError when the source holds no records.
        """
        self._target = target
        self._root = source if os.path.isdir(source) else os.path.dirname(os.path.abspath(source))
        found = [scan(path) if is_events else scan_log(path) for path, is_events in recorded_files(source)]
        self._tracks = aligned([track for track in found if track is not None])
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
        self._endings = Endings(self._root, self._tracks, MAX_WAIT_S)
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

    def process(self, run_key: str, _paths: Callable[[], Sequence[str]], now: float) -> Process:
        """What is known of the process that writes a run: that it hangs, once all is played, where the recording says.

        For `Monitor`, whose clock `now` is. By its records' own clock it is seen when the recording was made.
        """
        return self._endings.process(run_key, now) if self._done == len(self._due) else UNKNOWN

    def _newest_step(self, until: int) -> Optional[int]:
        highest = int(self._steps[:until].max(initial=NO_STEP))
        return None if highest == NO_STEP else highest

    def _append(self, index: int, end: int) -> None:
        track = self._tracks[index]
        copy = self._copy_of(track)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        begin = self._copied[index]
        with open(track.path, "rb") as source, open(copy, "ab") as target:
            source.seek(begin)
            while begin < end:
                block = source.read(min(BLOCK, end - begin))
                if not block:
                    break  # the recording shrank meanwhile; what is gone cannot be played
                target.write(block)
                begin += len(block)
        self._copied[index] = end

    def _copy_of(self, track: Track) -> str:
        return os.path.join(self._target, os.path.relpath(track.path, self._root))

    def _close(self) -> None:
        """A writer closes all of its files together. One that was killed closed none, and left a torn record.

        One that hangs has not closed them yet.
        """
        for track in self._tracks:
            if not track.torn and not track.log and not self._endings.still_runs(track.path):
                os.chmod(self._copy_of(track), CLOSED_MODE)
