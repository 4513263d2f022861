"""Several PATHs as one tree: what is found below each of them, with keys that hold for all.

The files of each PATH are placed as if it were the root, so that a summary folder and a log file given together are one
training. Where two PATHs would then put files of one record and rank into one run, they hold different trainings: the
runs of each get its name. It opens no file and walks no folder itself: see `discover`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

from mstui.ingest.arrange import DiscoveredFile, Homes, arrange, homes_of
from mstui.ingest.discover import Discovery, ScanLimits, ScanProgress
from mstui.ingest.disk import Disk
from mstui.ingest.filesystems import Mounts
from mstui.ingest.names import ROOT_RUN, Place, place
from mstui.model.batch import FileKey
from mstui.model.faults import ReadFault
from mstui.model.sources import Source, SourceKind


class Forest:
    """The trees below all PATHs, as far as they have been seen."""

    def __init__(
        self,
        root: str,
        paths: Sequence[str],
        kind_of: Callable[[str], Optional[SourceKind]],
        peek: Callable[[str], SourceKind],
        disk: Disk,
        monotonic: Callable[[], float],
        *,
        limits: Optional[ScanLimits],
        mounts: Callable[[], Mounts],
    ) -> None:
        """`root`: what all PATHs share."""
        self.root = os.path.abspath(root)
        own = list(dict.fromkeys(os.path.abspath(path) for path in paths or (root,)))
        self._trees = tuple(
            Discovery(path, kind_of, peek, disk, monotonic, limits=limits, mounts=mounts) for path in own
        )
        self._monotonic = monotonic
        self._scanning = 0
        self._labels: Optional[Tuple[str, ...]] = None if len(own) > 1 else ("",)
        """for each tree, what goes before its run keys; None until all trees have been seen"""
        self._arranged: Tuple[int, List[DiscoveredFile]] = (-1, [])
        self._homes: Homes = {}

    @property
    def revision(self) -> int:
        """Rises when the listing changed."""
        return sum(tree.revision for tree in self._trees) + (self._labels is not None)

    def scan(self, now: float, budget_s: float) -> bool:
        """Go on with the cycle over all trees, for about `budget_s` seconds. True when the cycle is finished."""
        deadline = self._monotonic() + budget_s
        while self._trees[self._scanning].scan(now, max(deadline - self._monotonic(), 0.0)):
            self._scanning = (self._scanning + 1) % len(self._trees)
            if not self._scanning:
                if self._labels is None:
                    self._labels = self._told_apart()
                return True
            if self._monotonic() >= deadline:
                break
        return False

    def touch(self, path: str, now: float) -> None:
        """Look at one place at once, because something is said to have changed there."""
        for tree in self._trees:
            tree.touch(path, now)

    def refresh(self, path: str, now: float) -> None:
        """Read one known folder again if it has changed, and what is new below it."""
        for tree in self._trees:
            tree.refresh(path, now)

    def files(self) -> List[DiscoveredFile]:
        """Every file seen, in no particular order. With several PATHs: none until all have been seen once."""
        revision = self.revision
        if self._arranged[0] != revision:
            self._arranged = (revision, self._collect())
            if self.progress.complete:
                self._homes.update(homes_of(self._arranged[1]))
        return self._arranged[1]

    def logs_in(self, folder: str) -> List[DiscoveredFile]:
        """Text logs of one folder, as they were listed last."""
        return [file for file in self.files() if file.log is not None and os.path.dirname(file.path) == folder]

    def denied(self) -> List[Tuple[Place, ReadFault]]:
        """Folders that could not be entered, and where they belong."""
        labels = self._labels or ("",) * len(self._trees)
        return [
            (where._replace(run_key=_under(label, where.run_key)), fault)
            for tree, label in zip(self._trees, labels)
            for where, fault in tree.denied()
        ]

    def run_path(self, run_key: str) -> str:
        """Where a run lies."""
        return self.root if run_key == ROOT_RUN else os.path.join(self.root, run_key)

    @property
    def watchable(self) -> bool:
        """The tree is small enough, as far as one can know, to be watched as a whole."""
        return len(self._trees) == 1 and self._trees[0].root == self.root and self._trees[0].watchable

    @property
    def progress(self) -> ScanProgress:
        """How far the scan has come."""
        each = [tree.progress for tree in self._trees]
        return ScanProgress(
            all(one.complete for one in each) and self._labels is not None,
            sum(one.folders for one in each),
            sum(one.files for one in each),
            next((one.note for one in each if one.note), ""),
        )

    def _collect(self) -> List[DiscoveredFile]:
        if self._labels is None:
            return []
        if len(self._trees) == 1:
            return arrange(self._trees[0].files(), self._homes)
        found: Dict[str, DiscoveredFile] = {}
        for tree, label in zip(self._trees, self._labels):
            kept = self._folder_of(tree)
            for file in tree.files():
                found.setdefault(file.path, _from(file, label, kept))
        return arrange(found.values(), self._homes)

    def _told_apart(self) -> Tuple[str, ...]:
        """For each tree, the name to put before its run keys: where trees hold different trainings under one key."""
        names = tuple(_name(self._folder_of(tree)) for tree in self._trees)
        holders: Dict[Tuple[object, ...], Set[str]] = defaultdict(set)
        for tree, name in zip(self._trees, names):
            for file in arrange(tree.files(), {}):
                record = file.key.source.name if file.log is not None and file.log.known else ""
                holders[file.key.run_key, file.key.rank_id, file.key.source.kind, record].add(name)
        clashing = {name for group in holders.values() if len(group) > 1 for name in group}
        return tuple(name if name in clashing and name != ROOT_RUN else "" for name in names)

    def _folder_of(self, tree: Discovery) -> str:
        """The folder that a PATH is or lies in, from the root downwards."""
        alone = any(file.path == tree.root for file in tree.files())
        return os.path.relpath(os.path.dirname(tree.root) if alone else tree.root, self.root)


def _name(relative: str) -> str:
    """A run key for a PATH as a whole: its folders without those that only say what is kept."""
    return place([] if relative == os.curdir else relative.split(os.sep), "").run_key


def _under(label: str, run_key: str) -> str:
    if not label:
        return run_key
    return label if run_key == ROOT_RUN else f"{label}/{run_key}"


def _from(file: DiscoveredFile, label: str, kept: str) -> DiscoveredFile:
    """A file of one of several PATHs."""
    where = file.where._replace(
        run_key=_under(label, file.where.run_key),
        host_key=_under(label, file.where.host_key),
        folders=tuple(_under(label, "/".join(file.where.folders) or ROOT_RUN).split("/"))
        if label
        else file.where.folders,
    )
    key = file.key
    source = key.source
    if source.kind is SourceKind.SUMMARY and kept != os.curdir:
        source = Source(source.kind, f"{kept}/{source.name}" if source.name else kept)
    return file._replace(
        key=FileKey(_under(label, key.run_key), key.rank_id, key.started, key.path, source), where=where
    )
