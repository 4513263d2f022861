"""Reads, stores and answers. `run_once` is one synchronous turn; the thread is a loop around it.

What crosses to the caller is frozen or read-only. Nothing here draws, and nothing here decides whether a training is
healthy.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Callable, Collection, Dict, List, Optional, Sequence, Tuple

from mstui.formats.base import Format
from mstui.ingest.ingestor import Ingestor
from mstui.ingest.watch import Watcher
from mstui.model.batch import Batch
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.model.runs import FileStatus, RunInfo, WatchState
from mstui.model.series import CurveView, Points, Series, SeriesKey, XAxis
from mstui.monitor.facts import LINEAGE_KINDS, RunFacts, steps_per_epoch
from mstui.monitor.layers import layer_map
from mstui.monitor.listing import describe_run
from mstui.monitor.payload_reader import PayloadReader
from mstui.monitor_api import CursorReading, CurveQuery, LayerMap, Listener, TagInfo
from mstui.registry import collect
from mstui.store import cursor
from mstui.store.curve import curve
from mstui.store.roles import Roles
from mstui.store.run_store import Store

TURN_BUDGET_S = 0.1
"""Longest turn of reading: what has come in is published at least this often while history fills in."""
SCAN_BUDGET_S = 0.05
"""Part of a turn that looking for new files may take."""
HEARTBEAT_S = 2.0
"""Every file is looked at this often even when no event named it, so that a missed event costs seconds at most."""
COALESCE_S = 0.05
"""Wait after the first event of a burst, so that a writer's many small writes become one turn."""
BREATH_S = 0.002
"""Pause between turns while history fills in: lets the UI thread take the interpreter for a key."""


@dataclass(frozen=True)
class Tick:
    """What one turn did."""

    changed: bool
    more: bool
    """there is more to read right now"""


class Monitor:
    """Follows everything under one path. Keeps mstui.monitor_api.MonitorApi."""

    def __init__(
        self,
        root: str,
        *,
        watch_mode: str = "auto",
        roles: Optional[Roles] = None,
        clock: Callable[[], float] = time.time,
        formats: Optional[Sequence[Format]] = None,
        total_steps: Optional[int] = None,
        stale_after_s: Optional[float] = None,
    ) -> None:
        """`watch_mode`: "auto", "events" or "poll". `total_steps`: the person's word on the training's length."""
        known = tuple(formats) if formats is not None else collect("mstui.formats.decoders", "FORMAT", Format)
        self._clock = clock
        self._ingestor = Ingestor(root, known)
        self._watcher = Watcher(self._ingestor.root, mode=watch_mode)
        self._store = Store(roles)
        self._payloads = PayloadReader(self._ingestor.read_range, self._format_of)
        self._facts: Dict[str, RunFacts] = {}
        self._total_steps = total_steps
        self._stale_after_s = stale_after_s
        self._lock = threading.Lock()
        """Guards the ingestor: turns and requests to load or list come from different threads."""
        self._stop = threading.Event()
        self._all_files = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._revision = 0
        self._listed: Tuple[Tuple[int, int], Tuple[RunInfo, ...]] = ((-1, -1), ())
        self._last_read = 0.0
        self._last_look = float("-inf")
        self._failure = ""
