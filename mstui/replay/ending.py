"""What became of the process that wrote a recording, as far as the run.toml beside it tells.

A process that hangs and one that was killed leave the same bytes; only who was there can tell. It refuses to guess:
where nothing is told, nothing is known.
"""

from __future__ import annotations

import math
import os
from typing import Dict, Optional, Sequence

from mstui.config import read_toml
from mstui.detect.base import Process
from mstui.errors import ConfigError
from mstui.replay.recording import Track

RUN_FILE = "run.toml"
UNKNOWN = Process()


class Endings:
    """Of every run of a recording. Belongs to the thread that asks for processes."""

    def __init__(self, root: str, tracks: Sequence[Track], wait_s: float) -> None:
        """`wait_s`: seconds behind the last record in which the recording's silence passes, however long it was."""
        self._root = os.path.abspath(root)
        self._wait_s = wait_s
        self._over_at: Optional[float] = None
        self._silences: Dict[str, Optional[float]] = {}
        """by folder: seconds for which a process was still there behind its last record; None where that is not told"""
        self._lasts: Dict[str, float] = {}
        """by run, Unix seconds of its last record; only runs whose process was still there, and whose records tell"""
        for track in tracks:
            run = self._run_of(track.path)
            if run is not None and track.stamped:
                self._lasts[run] = max(self._lasts.get(run, -math.inf), float(track.times[-1]))

    def still_runs(self, path: str) -> bool:
        """Was the process still there that wrote this file, so that nobody has closed it?"""
        return self._run_of(path) is not None

    def process(self, run_key: str, now: float) -> Process:
        """What is seen of a run's process; to be asked for when everything has been played. `now`: Unix seconds."""
        folder = os.path.normpath(os.path.join(self._root, run_key))
        silence, last = self._silence(folder), self._lasts.get(folder)
        if self._over_at is None:
            self._over_at = now
        if silence is None or now - self._over_at < self._wait_s:
            return UNKNOWN
        return Process(running=True, seen_at=None if last is None else last + silence)

    def _run_of(self, path: str) -> Optional[str]:
        """The nearest folder above a file whose run.toml says that the process was still there."""
        folder = os.path.dirname(os.path.abspath(path))
        while self._silence(folder) is None:
            if folder == self._root or os.path.dirname(folder) == folder:
                return None
            folder = os.path.dirname(folder)
        return folder

    def _silence(self, folder: str) -> Optional[float]:
        if folder not in self._silences:
            self._silences[folder] = _told(os.path.join(folder, RUN_FILE))
        return self._silences[folder]


def _told(path: str) -> Optional[float]:
    """Seconds; None where the file does not say that the process was running. Anybody may have a file of this name."""
    try:
        observed = read_toml(path).get("observe")
    except ConfigError:
        return None
    if not isinstance(observed, dict) or observed.get("process") != "running":
        return None
    seconds = observed.get("seconds_after_last_record")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.0 <= seconds < math.inf:
        return None
    return float(seconds)
