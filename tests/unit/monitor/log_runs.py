"""Text logs as the monitor has them after reading, without any ingest: each file is decoded in one go."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Dict, List, Optional

from mstui.formats.logs.decoder import TextLogDecoder
from mstui.model.batch import Batch, FileKey, Part
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.runs import FileState, FileStatus
from mstui.model.sources import Source, SourceKind
from mstui.monitor.logs import Logs
from mstui.store.run_store import Store

SAMPLES = Path(__file__).parents[2] / "data" / "logs"
RUN = "run"
NOW = 1_800_000_000.0

_RANK = re.compile(r"(?:rank|worker|device)[_.]?(\d+)")


class LogRun:
    """The logs of one run, read and judged."""

    def __init__(self, plan: Optional[int] = None) -> None:
        self.store = Store()
        self.statuses: Dict[str, FileStatus] = {}
        self.texts: Dict[FileKey, bytes] = {}
        self.logs = Logs(self.store, self._read, lambda file: file.path, lambda: self.statuses)
        self.reads = 0
        self._decoders: Dict[FileKey, TextLogDecoder] = {}
        self._consumed: Dict[FileKey, int] = {}
        self._plan = plan

    def _read(self, file: FileKey, offset: int, length: int) -> Optional[bytes]:
        self.reads += 1
        data = self.texts[file][offset : offset + length]
        return data if len(data) == length else None

    def put(
        self,
        name: str,
        text: bytes,
        *,
        now: float = NOW,
        caught_up: bool = False,
        started: int = 0,
        modified: Optional[float] = None,
    ) -> FileKey:
        """Append to a log, or begin it; then judge."""
        found = _RANK.search(name)
        source = Source(SourceKind.LOG, os.path.basename(name))
        key = FileKey(RUN, int(found.group(1)) if found else 0, started, name, source)
        whole = self.texts[key] = self.texts.get(key, b"") + text
        decoder = self._decoders.setdefault(key, TextLogDecoder(name))
        decoder.arrival = now
        at = self._consumed.get(key, 0)
        got = decoder.decode(whole[at:], at, at_end=True)
        self._consumed[key] = at + got.consumed
        self.statuses[name] = FileStatus(
            *(name, RUN, key.rank_id, "text-log", FileState.CURRENT, len(whole), len(whole), got.records, 0),
            modified=now if modified is None else modified,
            source=source,
        )
        batch = Batch(
            *(key, Part.HISTORY, got.columns),
            log_records=got.log_records,
            log_events=got.log_events,
            log_steps=got.log_steps,
            facts=got.facts,
        )
        self.store.apply(batch)
        self.logs.take(batch, now, caught_up=caught_up)
        self.logs.judge(lambda _run: self._plan, now, caught_up=True)
        return key

    @property
    def facts(self) -> List[ProcessFact]:
        """What the processes have told."""
        return list(self.logs.facts(RUN))

    @property
    def causes(self) -> List[ProcessFact]:
        """Facts that are fatal and follow from no other."""
        return [fact for fact in self.facts if fact.weight is Weight.FATAL and not fact.consequence]

    @property
    def failed(self) -> List[int]:
        """Ranks whose process has ended with an error."""
        return sorted(self.logs.lives[RUN].failed)


def sample(*names: str, only: str = "") -> LogRun:
    """Files or folders of samples as one run. only: a pattern that names must match."""
    run = LogRun()
    for name in names:
        path = SAMPLES / name
        for each in [path] if path.is_file() else sorted(path.rglob("*")):
            if each.is_file() and not each.is_symlink() and re.search(only, each.name):
                run.put(str(each.relative_to(SAMPLES)), each.read_bytes())
    return run
