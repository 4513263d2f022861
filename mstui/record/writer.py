"""Puts records on the disk from a thread of its own, so that a slow disk never holds a training up.

The queue is bounded in records and bytes; what does not fit is dropped and counted. The first thing that the disk
refuses (full, read-only, gone) ends the recording with one warning, and the training goes on. Each record is one
write of whole bytes: whatever kills the process, what was written can be read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import threading
import time
from collections import deque
from pathlib import Path
from typing import Callable, Deque, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.i18n import _
from mstui.record import wire

LOG = logging.getLogger("mstui.record")
MOST_QUEUED = 256
"""Records that may wait. One is written in about a millisecond, so this many mean that the disk stands still."""
MOST_QUEUED_BYTES = 64 << 20
"""Histograms wait as whole tensors."""
MOST_NAMES = 100
"""Names tried, a second later each, when another writer has taken one."""
CLOSE_PATIENCE_S = 10.0
"""How long the end of a training waits for the disk."""
_WRITE_BITS = 0o222
_RECORD_OVERHEAD = 64

Scalars = Sequence[Tuple[str, float]]
Histograms = Sequence[Tuple[str, npt.NDArray[np.float32]]]


class _Item(NamedTuple):
    """One record to come: what makes its bytes, for which file, and about how many bytes it holds meanwhile."""

    suffix: str
    make: Callable[[], bytes]
    weight: int


class Writer:
    """The files of one summary directory. Only `flush` and `close` wait, a bounded time."""

    def __init__(self, directory: Path, file_id: int, clock: Callable[[], float] = time.time) -> None:
        self._directory, self._file_id, self._clock = directory, file_id, clock
        self._tags = wire.TagBytes()
        self._items: Deque[_Item] = deque()
        self._weight = 0
        self._busy = self._closing = False
        self._change = threading.Condition()
        self._files: Dict[str, int] = {}
        self._sizes: Dict[str, int] = {}
        self._second = 0
        self._thread: Optional[threading.Thread] = None
        self._process = os.getpid()
        self.dropped = 0
        """records that the full queue refused"""
        self.written = 0
        """bytes on the disk"""
        self.failure = ""
        """why nothing is written any more; empty while all is well"""

    def summary(self, step: int, scalars: Scalars, histograms: Histograms = (), wall_time: float = 0.0) -> None:
        """Values of one step."""
        when = wall_time or self._clock()
        weight = _RECORD_OVERHEAD * (1 + len(scalars)) + sum(values.nbytes for _, values in histograms)
        self._put("_MS", lambda: wire.summary_event(when, step, scalars, histograms, self._tags), weight)

    def custom(self, facts: Dict[str, wire.Fact]) -> None:
        """Custom lineage."""
        when = self._clock()
        self._put("_lineage", lambda: wire.custom_event(when, facts), _RECORD_OVERHEAD * (1 + len(facts)))

    def trained(self, facts: Dict[str, wire.Fact]) -> None:
        """Train lineage: the training has come to its end."""
        when = self._clock()
        self._put("_lineage", lambda: wire.train_event(when, facts), _RECORD_OVERHEAD)

    def evaluated(self, metrics: Dict[str, float]) -> None:
        """Evaluation lineage."""
        when = self._clock()
        self._put("_lineage", lambda: wire.evaluation_event(when, metrics), _RECORD_OVERHEAD)

    def _put(self, suffix: str, make: Callable[[], bytes], weight: int) -> None:
        with self._change:
            if self.failure or self._closing or os.getpid() != self._process:
                return
            if len(self._items) >= MOST_QUEUED or (self._items and self._weight + weight > MOST_QUEUED_BYTES):
                self.dropped += 1
                return
            self._items.append(_Item(suffix, make, weight))
            self._weight += weight
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mstui-recorder", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def flush(self, patience_s: float = CLOSE_PATIENCE_S) -> bool:
        """Wait until everything is on the disk; False when it takes longer than that."""
        with self._change:
            return self._change.wait_for(lambda: bool(self.failure) or not (self._items or self._busy), patience_s)

    def close(self, patience_s: float = CLOSE_PATIENCE_S) -> None:
        """Write what waits, take the write permission away as MindSpore does, and say what was dropped."""
        if os.getpid() != self._process:
            return
        with self._change:
            if self._closing:
                return
            self._closing = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join(patience_s)
            if self._thread.is_alive():
                LOG.warning(_("mstui: the disk was too slow; the last records of %s are missing"), self._directory)
        if self.dropped:
            LOG.warning(_("mstui: %d records were dropped because the disk was too slow"), self.dropped)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._items or self._closing)
                if not self._items:
                    break
                item = self._items.popleft()
                self._weight -= item.weight
                self._busy = True
            try:
                self._write(item)
            except OSError as error:
                self._give_up(error)
            finally:
                with self._change:
                    self._busy = False
                    self._change.notify_all()
        self._close_files()

    def _write(self, item: _Item) -> None:
        content = item.make()
        handle = self._files.get(item.suffix)
        if handle is None:
            handle = self._open(item.suffix)
            if item.suffix == "_MS":
                content = wire.version_event(self._clock()) + content
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        self._sizes[item.suffix] = self._sizes.get(item.suffix, 0) + len(content)
        self.written += len(content)

    def _open(self, suffix: str) -> int:
        self._directory.mkdir(parents=True, exist_ok=True)
        # a name of our own: a SummaryCollector that begins in the same second empties the file of that name
        host = f"{platform.node().replace(os.sep, '_') or 'host'}.mstui"
        first = self._second or int(self._clock())
        for second in range(first, first + MOST_NAMES):
            name = f"events.out.events.summary.{second}.{self._file_id}.{host}{suffix}"
            try:
                # never append to what another writer has begun, nor write over it
                handle = os.open(self._directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                continue
            self._second = self._second or second
            self._files[suffix] = handle
            return handle
        raise FileExistsError(str(self._directory))

    def _give_up(self, error: OSError) -> None:
        for suffix, handle in self._files.items():
            # half a record is worse than none
            with contextlib.suppress(OSError):
                os.ftruncate(handle, self._sizes.get(suffix, 0))
        with self._change:
            self.failure = f"{error.strerror or error}"
            self._items.clear()
            self._weight = 0
        LOG.warning(
            _("mstui: recording into %s is off (%s); the training goes on without it"), self._directory, self.failure
        )

    def _close_files(self) -> None:
        for handle in self._files.values():
            with contextlib.suppress(OSError):
                os.fchmod(handle, os.fstat(handle).st_mode & ~_WRITE_BITS & 0o777)
            with contextlib.suppress(OSError):
                os.close(handle)
        self._files.clear()
