"""Does a process on this host write a run's files? Read from /proc, which tells it without asking the process.

An open file is proof that somebody may write to it. No open file is proof of nothing: the training may run on another
host, in another container, or open its files only to write. So the answer is "running" or "not known", never "ended".
It refuses to touch anything but /proc and the files of the run, and those only on local file systems.
"""

from __future__ import annotations

import os
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from mstui.detect.base import Process
from mstui.ingest.filesystems import Mounts, read_mounts
from mstui.ingest.filesystems import is_remote as is_remote_type

PROC = "/proc"
LOOK_EVERY_S = 10.0
"""Seconds for which an answer holds"""
BUDGET_S = 0.05
"""Longest look: some thousand open files. What is left is looked at the next time."""
MOST_RUNS = 64
"""Runs whose answers are kept"""
OWN_NAME = "mstui"
"""Programs of this name write beside a training, into a log of their own"""

UNKNOWN, RUNNING = Process(), Process(running=True)

_Place = Tuple[int, int]
"""device and inode"""


class _Answer(NamedTuple):
    at: float
    process: Process
    writer: Optional[int]
    """the process that was found"""
    next_pid: int
    """where the next look begins; 0 after a whole one"""


class ProcessOnHost:
    """Looks for the writers of a run's files, seldom and briefly. Belongs to one thread."""

    def __init__(
        self,
        proc: str = PROC,
        *,
        mounts: Callable[[], Mounts] = read_mounts,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        """`proc`: where the process table lies. `timer`: seconds, for the budget."""
        self._proc = proc
        self._mounts = mounts
        self._timer = timer
        self._answers: Dict[str, _Answer] = {}

    def __call__(self, run: str, paths: Callable[[], Sequence[str]], now: float) -> Process:
        """What is known of the process that writes a run's files. `now`: Unix seconds.

        `paths` is asked only when it is time for a look.
        """
        before = self._answers.get(run)
        if before is not None and 0.0 <= now - before.at < LOOK_EVERY_S:
            return before.process
        if len(self._answers) >= MOST_RUNS:
            self._answers.clear()
        self._answers[run] = self._look(paths(), before, now)
        return self._answers[run].process

    def _look(self, paths: Sequence[str], before: Optional[_Answer], now: float) -> _Answer:
        deadline = self._timer() + BUDGET_S
        wanted = self._local(paths)
        if not wanted:
            return _Answer(now, UNKNOWN, None, 0)
        if before is not None and before.writer is not None and self._writes(before.writer, wanted):
            return _Answer(now, RUNNING, before.writer, 0)
        begin = before.next_pid if before is not None else 0
        pids = [pid for pid in self._pids() if pid != os.getpid()]
        for pid in (*(each for each in pids if each <= begin), *(each for each in pids if each > begin)):
            if self._timer() > deadline:
                return _Answer(now, UNKNOWN, None, pid)
            if self._writes(pid, wanted):
                return _Answer(now, RUNNING, pid, 0)
        return _Answer(now, UNKNOWN, None, 0)

    def _local(self, paths: Iterable[str]) -> Dict[str, List[_Place]]:
        """Files by their last name, with what tells them apart whatever path a container sees them under."""
        mounts = self._mounts()
        remote: Dict[str, bool] = {}
        found: Dict[str, List[_Place]] = {}
        for path in paths:
            folder, name = os.path.split(path)
            if folder not in remote:
                remote[folder] = is_remote_type(mounts.type_of(folder))
            if remote[folder]:
                continue
            try:
                status = os.stat(path)
            except OSError:
                continue
            found.setdefault(name, []).append((status.st_dev, status.st_ino))
        return found

    def _pids(self) -> List[int]:
        """Newest first: a training is younger than what the host started with."""
        try:
            return sorted((int(name) for name in os.listdir(self._proc) if name.isdigit()), reverse=True)
        except OSError:
            return []

    def _writes(self, pid: int, wanted: Dict[str, List[_Place]]) -> bool:
        """Has it one of the files open for writing? Processes of other users cannot be looked into, and say no."""
        folder = os.path.join(self._proc, str(pid), "fd")
        try:
            numbers = os.listdir(folder)
        except OSError:
            return False
        for number in numbers:
            link = os.path.join(folder, number)
            try:
                target = os.readlink(link)
                if not target.startswith("/") or os.path.basename(target) not in wanted:
                    continue
                status = os.stat(link)
            except OSError:
                continue
            if (status.st_dev, status.st_ino) not in wanted[os.path.basename(target)]:
                continue
            if self._for_writing(pid, number) and not self._is_own(pid):
                return True
        return False

    def _for_writing(self, pid: int, number: str) -> bool:
        """The flags that a file was opened with are octal digits in the table of its process."""
        for line in self._read(pid, "fdinfo", number).splitlines():
            if line.startswith(b"flags:"):
                try:
                    flags = int(line.split()[1], 8)
                except (ValueError, IndexError):
                    return False
                return flags & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)
        return False

    def _is_own(self, pid: int) -> bool:
        """Another mstui whose lines go into a file beside the training's."""
        words = self._read(pid, "cmdline").split(b"\0")[:3]
        return any(os.path.basename(word) == OWN_NAME.encode() for word in words)

    def _read(self, pid: int, *names: str) -> bytes:
        try:
            with open(os.path.join(self._proc, str(pid), *names), "rb") as stream:
                return stream.read(4096)
        except OSError:
            return b""
