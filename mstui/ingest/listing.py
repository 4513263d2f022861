"""Runs and files by name, as far as nobody has read them."""

from __future__ import annotations

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.forest import Forest
from mstui.model.faults import ReadFault
from mstui.model.runs import FileState, FileStatus


class DiscoveredRun(NamedTuple):
    """One run by name, loaded or not."""

    key: str
    path: str
    files: Tuple[DiscoveredFile, ...]
    """in the order in which the training wrote them"""
    loaded: bool

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)

    @property
    def modified(self) -> float:
        """mtime of the newest file, Unix seconds."""
        return max((file.modified for file in self.files), default=0.0)


class RunListing:
    """The runs of a tree, listed anew when the tree changes."""

    def __init__(self, tree: Forest) -> None:
        self._tree = tree
        self._state: Tuple[int, frozenset[str]] = (-1, frozenset())
        self._runs: Tuple[DiscoveredRun, ...] = ()

    def runs(self, loaded: frozenset[str]) -> Tuple[DiscoveredRun, ...]:
        """See `Ingestor.runs`."""
        state = (self._tree.revision, loaded)
        if self._state != state:
            by_key: Dict[str, List[DiscoveredFile]] = {}
            for file in self._tree.files():
                by_key.setdefault(file.key.run_key, []).append(file)
            before = {run.key: run for run in self._runs}
            runs = {key: before[key] for key in loaded if key in before}
            for key, files in by_key.items():
                ordered = tuple(sorted(files, key=lambda f: f.key))
                run = DiscoveredRun(key, self._tree.run_path(key), ordered, key in loaded)
                runs[key] = before[key] if before.get(key) == run else run
            self._state, self._runs = state, tuple(run for _, run in sorted(runs.items()))
        return self._runs

    def unread(self, run_key: Optional[str]) -> Iterator[FileStatus]:
        """Every file of a run, or of the tree, as QUEUED; folders that could not be entered as DENIED."""
        for file in self._tree.files():
            if run_key in (None, file.key.run_key):
                yield _listed(file)
        for where, fault in self._tree.denied():
            if run_key in (None, where.run_key):
                yield _denied_folder(where.run_key, where.rank_id or 0, fault)


def _listed(file: DiscoveredFile) -> FileStatus:
    """A file that nobody has asked to read."""
    key = file.key
    return FileStatus(
        key.path,
        key.run_key,
        key.rank_id,
        "",
        FileState.QUEUED,
        file.size,
        0,
        0,
        0,
        modified=file.modified,
        source=key.source,
    )


def _denied_folder(run_key: str, rank_id: int, fault: ReadFault) -> FileStatus:
    return FileStatus(
        fault.path,
        run_key,
        rank_id,
        "",
        FileState.DENIED,
        0,
        0,
        0,
        0,
        faults=(fault,),
        fault_count=1,
        modified=0.0,
        detail=fault.detail,
    )
