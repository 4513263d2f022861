"""Decides which file is read next: the present before the past, and nobody starves.

Runs are listed by `discover` and read only when loaded. One turn reads, until its time is up: the ends of the newest
files (newest first), then what grew, then history, one block a file in rotation. It has no clock and no thread of its
own; the monitor calls it. It refuses to keep points: what was read goes out as batches.
"""

from __future__ import annotations

import os
import time
from collections import deque
from typing import AbstractSet, Callable, Deque, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from mstui.formats.base import Format
from mstui.ingest.discover import ScanLimits, ScanProgress
from mstui.ingest.disk import Disk, RealDisk
from mstui.ingest.filesystems import Mounts, read_mounts
from mstui.ingest.forest import Forest
from mstui.ingest.limits import ReadLimits
from mstui.ingest.listing import DiscoveredRun, RunListing
from mstui.ingest.log_keeper import LogKeeper
from mstui.ingest.log_reader import LogReader
from mstui.ingest.opening import Claims
from mstui.ingest.tail import TailReader
from mstui.ingest.trouble import NEVER
from mstui.model.batch import Batch, FileKey
from mstui.model.runs import FileStatus
from mstui.model.sources import Source

__all__ = ["DiscoveredRun", "Ingestor", "Progress", "Turn"]

SCAN_EVERY_S = 5.0
"""pause between two cycles over the tree; file events bring new files sooner"""
SCAN_SHARE = 0.005
"""of the time at most goes into scanning: a large tree is gone over less often"""
SCAN_MOST_S = 60.0
"""but at least this often"""
NO_PATHS: AbstractSet[str] = frozenset()


class Turn(NamedTuple):
    """What one turn gave."""

    batches: Tuple[Batch, ...]
    changed_files: Tuple[FileStatus, ...]
    """files whose status is another than before the turn"""
    done: bool
    """False: time was up before the work was; call again at once"""


class Progress(NamedTuple):
    """How much of the loaded runs is read."""

    bytes_total: int
    bytes_read: int
    history_left: int
    """bytes of history still to come; 0 when everything shown is whole"""


class Ingestor:
    """All files below one root."""

    def __init__(
        self,
        root: str,
        formats: Sequence[Format],
        *,
        monotonic: Callable[[], float] = time.monotonic,
        disk: Optional[Disk] = None,
        limits: Optional[ReadLimits] = None,
        scan_limits: Optional[ScanLimits] = None,
        mounts: Callable[[], Mounts] = read_mounts,
        paths: Sequence[str] = (),
    ) -> None:
        """`paths`: what to watch, when it is not all of `root`, which is what they share then (see `forest`).

        `monotonic` measures budgets only; when things happened comes in as `now`, Unix seconds.
        """
        self._formats = tuple(formats)
        self._monotonic = monotonic
        self._disk = disk or RealDisk()
        self._limits = limits or ReadLimits()
        claims = Claims(self._formats, self._disk)
        self._tree = Forest(
            root, paths, claims.kind_of, claims.peek, self._disk, monotonic, limits=scan_limits, mounts=mounts
        )
        self.root = self._tree.root
        self._logs = LogKeeper(self._tree, self._formats, self._disk, self._limits)
        self._loaded: Set[str] = set()
        self._followed: Set[str] = set()
        """loaded runs of which files are followed already"""
        self._readers: Dict[str, TailReader] = {}
        """by the path at which their content lies now"""
        self._urgent: Dict[str, TailReader] = {}
        """to be looked at, because something is said to have changed"""
        self._due: Dict[str, TailReader] = {}
        """to be looked at, because it is time"""
        self._due_folders: Dict[str, None] = {}
        """to be looked at for new files"""
        self._folders: Tuple[str, ...] = ()
        self._first: List[TailReader] = []
        """newest files that were never opened, the newest last"""
        self._older: Deque[TailReader] = deque()
        """other files that were never opened"""
        self._live: Dict[str, TailReader] = {}
        self._history: Dict[str, TailReader] = {}
        self._reported: Dict[str, FileStatus] = {}
        self._enlisted = (-1, frozenset(self._loaded))
        self._listing = RunListing(self._tree)
        self._next_scan = 0.0
        self._scan_cost_s = 0.0
        self.scan_every_s = 0.0
        """seconds between two cycles over the tree, longer where one takes long; 0.0 before the first is finished"""

    def scan(self, now: float, budget_s: float) -> ScanProgress:
        """Go on looking for files, for about `budget_s` seconds; begins a new cycle when it is time for one."""
        if now >= self._next_scan or self._next_scan - now > SCAN_MOST_S:
            begun = self._monotonic()
            finished = self._tree.scan(now, budget_s)
            self._scan_cost_s += self._monotonic() - begun
            if finished:
                self.scan_every_s = min(max(SCAN_EVERY_S, self._scan_cost_s / SCAN_SHARE), SCAN_MOST_S)
                self._next_scan = now + self.scan_every_s
                self._scan_cost_s = 0.0
        return self._tree.progress

    def load(self, run_key: str) -> None:
        """Read this run's files from now on."""
        self._loaded.add(run_key)

    def unload(self, run_key: str) -> None:
        """Forget this run's readers. Loaded again, it is read from the start."""
        self._loaded.discard(run_key)
        self._enlisted = (-1, frozenset())
        self._followed.discard(run_key)
        for path in [path for path, reader in self._readers.items() if reader.key.run_key == run_key]:
            self._drop(path)
        self._folders = tuple(sorted({os.path.dirname(path) for path in self._readers}))

    def turn(
        self, now: float, budget_s: float, dirty_paths: AbstractSet[str] = NO_PATHS, everything: bool = False
    ) -> Turn:
        """Look at what is said to have changed (at every loaded file with `everything`) and read for `budget_s`."""
        deadline = self._monotonic() + budget_s
        self._take_hints(dirty_paths, now)
        self._enlist()
        if everything:
            self._due.update(self._readers)
            self._due_folders.update(dict.fromkeys((self.root, *self._folders)))
        for path, reader in self._readers.items():
            if now >= reader.wake_at:
                self._urgent[path] = reader
        touched: Dict[str, TailReader] = {}
        batches: List[Batch] = []
        done = self._work(now, deadline, touched, batches) and not self._enlist()
        return Turn(tuple(batches), self._changes(touched.values()), done)

    def next_due(self) -> float:
        """Unix seconds at which a file wants to be looked at again by itself; infinity when none does."""
        return min((reader.wake_at for reader in self._readers.values()), default=NEVER)

    def runs(self) -> Tuple[DiscoveredRun, ...]:
        """Every run seen so far, in the order of their keys; the same objects until something changes.

        A loaded run whose files are all gone stays listed: its points are still shown, and somebody has to say so.
        """
        return self._listing.runs(frozenset(self._loaded))

    def run_path(self, run_key: str) -> str:
        """Where a run lies."""
        return self._tree.run_path(run_key)

    def files(self, run_key: Optional[str] = None) -> Tuple[FileStatus, ...]:
        """Every known file of a run, or of the root; also folders that could not be entered, as DENIED."""
        found: Dict[str, FileStatus] = {}
        for path, reader in self._readers.items():
            if run_key in (None, reader.key.run_key):
                known = None if reader.stirred else self._reported.get(path)
                found[path] = known or reader.status()
        for status in self._listing.unread(run_key):
            found.setdefault(status.path, status)
        return tuple(found.values())

    def read_range(self, path: str, offset: int, length: int) -> Optional[bytes]:
        """Bytes of a loaded file as it was read; None when it has changed since or cannot be read. Any thread."""
        reader = self._readers.get(path)
        return reader.read_range(offset, length) if reader else None

    def read_log(self, file: FileKey, offset: int, length: int) -> Optional[bytes]:
        """Bytes of a log's content, wherever it lies now; None when it can no longer be read. Any thread."""
        reader = self._logs.find(file)
        return reader.read_range(offset, length) if reader else None

    def log_path(self, file: FileKey) -> str:
        """Where a log's content lies now, or lay last. Any thread."""
        reader = self._logs.find(file)
        return reader.path if reader else file.path

    def folders(self) -> Tuple[str, ...]:
        """Folders that hold files of loaded runs."""
        return self._folders

    @property
    def loaded(self) -> frozenset[str]:
        """Keys of the loaded runs."""
        return frozenset(self._loaded)

    @property
    def watchable(self) -> bool:
        """May the whole tree be watched recursively, as far as one can know?"""
        return self._tree.watchable

    @property
    def scan_progress(self) -> ScanProgress:
        """How far the listing has come."""
        return self._tree.progress

    @property
    def progress(self) -> Progress:
        """How much of the loaded runs is read."""
        total = read = left = 0
        for reader in self._readers.values():
            total += reader.size
            read += reader.consumed
            left += reader.history_left
        return Progress(total, read, left)

    def _take_hints(self, paths: Iterable[str], now: float) -> None:
        for path in paths:
            reader = self._readers.get(path)
            if reader is not None:
                self._urgent[path] = reader
                continue
            self._tree.touch(path, now)
            below = path + os.sep
            self._urgent.update({p: r for p, r in self._readers.items() if p.startswith(below)})

    def _enlist(self) -> bool:
        """Make readers for files of loaded runs that have none yet. True when there were such."""
        state = (self._tree.revision, frozenset(self._loaded))
        if self._enlisted == state:
            return False
        self._enlisted = state
        fresh = [f for f in self._tree.files() if f.key.run_key in self._loaded and f.key.path not in self._readers]
        if not fresh:
            return False
        logs, ask = self._logs.admit([f for f in fresh if f.log is not None], self._followed, self._busy)
        made: List[TailReader] = [
            TailReader(f, self._formats, self._disk, self._limits, born=f.key.run_key in self._followed)
            for f in fresh
            if f.log is None
        ]
        made += logs
        self._readers.update({reader.path: reader for reader in made})
        self._urgent.update({reader.path: reader for reader in ask})
        self._followed.update(reader.key.run_key for reader in made)
        if self._logs.unsettled:
            self._enlisted = (-1, frozenset())
        if not made:
            return self._logs.unsettled
        newest: Dict[Tuple[str, int, Source, str], TailReader] = {}
        for reader in self._readers.values():
            group = (reader.key.run_key, reader.key.rank_id, reader.key.source, reader.stream)
            other = newest.get(group)
            if other is None or reader.key > other.key:
                newest[group] = reader
        heads = {id(reader) for reader in newest.values()}
        modified = {file.path: file.modified for file in fresh}
        for reader in sorted(made, key=lambda r: modified[r.path]):
            if id(reader) in heads:
                reader.tail_first = True
                self._first.append(reader)
            else:
                self._older.append(reader)
        for reader in self._readers.values():
            if id(reader) not in heads and not reader.superseded:
                reader.superseded = reader.stirred = True
        self._first.sort(key=lambda r: modified.get(r.path, 0.0))
        self._folders = tuple(sorted({os.path.dirname(path) for path in self._readers}))
        return True

    def _busy(self, reader: TailReader) -> bool:
        """Is this reader still to be looked at."""
        return reader.path in self._urgent or reader.live_pending

    def _settle(self, displaced: LogReader, now: float) -> None:
        """A log's name holds another content: follow the contents to where they lie now."""
        settled = self._logs.settle(displaced, self._readers, now)
        for path, reader in (*settled.moved, *settled.lost):
            if self._readers.get(path) is reader:
                self._drop(path, keep=True)
        for _path, reader in settled.moved:
            self._readers[reader.path] = self._urgent[reader.path] = reader
            if reader.history_pending:
                self._history[reader.path] = reader
        self._enlisted = (-1, frozenset())

    def _work(self, now: float, deadline: float, touched: Dict[str, TailReader], batches: List[Batch]) -> bool:
        """Do what there is to do in the order of the present first. False when time was up before."""

        def read(reader: TailReader, step: Callable[[float], Optional[Batch]]) -> None:
            touched[reader.path] = reader
            batch = step(now)
            if batch is not None:
                batches.append(batch)
            if isinstance(reader, LogReader) and reader.displaced is not None:
                self._settle(reader, now)
                return
            if reader.live_pending:
                self._live[reader.path] = reader
            if reader.history_pending:
                self._history[reader.path] = reader

        def look(reader: TailReader) -> None:
            touched[reader.path] = reader
            if reader.look(now):
                self._live[reader.path] = reader
            elif isinstance(reader, LogReader) and reader.displaced is not None:
                self._settle(reader, now)

        def over() -> bool:
            return self._monotonic() >= deadline

        while self._first:
            reader = self._first.pop()
            look(reader)
            if self._live.pop(reader.path, None) is not None:
                read(reader, reader.read)
            if over():
                break
        while self._urgent and not (over() and touched):
            look(self._urgent.pop(next(iter(self._urgent))))
        while self._due_folders and not over():
            folder = next(iter(self._due_folders))
            del self._due_folders[folder]
            self._tree.refresh(folder, now)
        while self._due and not (over() and touched):
            look(self._due.pop(next(iter(self._due))))
        while self._live and not (over() and batches):
            reader = self._live.pop(next(iter(self._live)))
            read(reader, reader.read)
        self._read_history(over, read, look)
        return not (
            self._first or self._urgent or self._due_folders or self._due or self._live or self._older or self._history
        )

    def _read_history(
        self,
        over: Callable[[], bool],
        read: Callable[[TailReader, Callable[[float], Optional[Batch]]], None],
        look: Callable[[TailReader], None],
    ) -> None:
        """One block a file in rotation; at least one block a turn, for a busy present must not stop it for ever."""
        if self._first:
            return
        while self._older or self._history:
            if self._history:
                reader = self._history.pop(next(iter(self._history)))
                if reader.history_pending:
                    read(reader, reader.fill)
                    if over():
                        return
            if self._older:
                reader = self._older.popleft()
                look(reader)
                if self._live.pop(reader.path, None) is not None:
                    read(reader, reader.read)
                    if over():
                        return

    def _changes(self, touched: Iterable[TailReader]) -> Tuple[FileStatus, ...]:
        changed = []
        for reader in touched:
            if not reader.stirred or self._readers.get(reader.path) is not reader:
                continue
            reader.stirred = False
            status = reader.status()
            if self._reported.get(reader.path) != status:
                self._reported[reader.path] = status
                changed.append(status)
        return tuple(changed)

    def _drop(self, path: str, *, keep: bool = False) -> None:
        reader = self._readers.pop(path)
        if isinstance(reader, LogReader) and self._logs.find(reader.key) is reader and not keep:
            self._logs.forget(reader)
        for waiting in (self._urgent, self._due, self._live, self._history, self._reported):
            waiting.pop(path, None)
        self._first = [r for r in self._first if r is not reader]
        self._older = deque(r for r in self._older if r is not reader)
