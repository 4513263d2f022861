"""What the run store keeps: files in two parts, ranks of files, runs of ranks. Published by replacing, never changed.

Only the writing thread calls what changes something; see mstui.store.run_store for the rules of reading.
"""

from __future__ import annotations

import bisect
from dataclasses import replace
from typing import Dict, Iterable, NamedTuple, Optional, Tuple

import numpy as np

from mstui.model.batch import FileKey
from mstui.model.records import BlobKind, FloatArray
from mstui.model.sources import Source, SourceKind
from mstui.store.blob_index import BlobIndex
from mstui.store.columns import ColumnStore
from mstui.store.identity import Identity
from mstui.store.log_index import LogIndex
from mstui.store.rhythm import LATEST_TIME

TagName = Tuple[Optional[BlobKind], str]
"""kind None for scalars"""

MOST_TOGETHER = 8
"""groups of tags that a rank's points are counted by; more of them are no gain over counting each tag"""


NAMED = "[rank]"
"""behind the name of a source: of its lines, those that name a rank"""


class Piece:
    """One stretch of one file."""

    __slots__ = ("blobs", "columns")

    def __init__(self) -> None:
        self.columns = ColumnStore()
        self.blobs = BlobIndex()


class FileParts(NamedTuple):
    """A file as published. `tail` is read ahead of `history`; once they meet, both are `history`, in file order."""

    key: FileKey
    history: Tuple[Piece, ...] = ()
    tail: Optional[Piece] = None

    @property
    def pieces(self) -> Tuple[Piece, ...]:
        """In file order."""
        return self.history if self.tail is None else (*self.history, self.tail)


class Rank:
    """The files of one rank, in training order. `files` is replaced, never changed."""

    def __init__(self) -> None:
        self.files: Tuple[FileParts, ...] = ()
        self.sources: Tuple[Source, ...] = ()
        """of these files, the most exact first"""
        self.has_peers = False
        """the run has other ranks"""
        self.revision = 0
        """the store's at the last batch of this rank"""
        self.since = 0
        """the store's when points of this rank were last forgotten, when another source came to have a tag, or at its
        first batch"""
        self.points: Dict[TagName, int] = {}
        """by tag; not of those in `together`"""
        self.together: Dict[Tuple[str, ...], int] = {}
        """points of each of some scalar tags that so far came in the same records only: one sum instead of hundreds"""
        self.busiest: Optional[str] = None
        """the scalar tag with most points, the first of them"""
        self._most = 0
        """points of it"""

    def find(self, key: FileKey) -> Optional[FileParts]:
        """The file as published; None before its first batch."""
        at = bisect.bisect_left([file.key for file in self.files], key)
        return self.files[at] if at < len(self.files) and self.files[at].key == key else None

    def put(self, file: FileParts) -> None:
        """Publish a file, in its place among the others or instead of its former self."""
        keys = [each.key for each in self.files]
        at = bisect.bisect_left(keys, file.key)
        behind = at + 1 if at < len(keys) and keys[at] == file.key else at
        self.files = (*self.files[:at], file, *self.files[behind:])
        if file.key.source not in self.sources:
            self.sources = tuple(sorted((*self.sources, file.key.source)))

    def recount(self) -> None:
        """Count the points of every tag again after something was forgotten."""
        self.points, self.together = {}, {}
        self.busiest, self._most = None, 0
        for file in self.files:
            for piece in file.pieces:
                for tag in piece.columns.tags:
                    found = piece.columns.state(tag)
                    if found is not None:
                        self.count((None, tag), found[0].n)
                for kind, tag in piece.blobs.names:
                    state = piece.blobs.state(kind, tag)
                    if state is not None:
                        self.count((kind, tag), state.n)

    def count(self, name: TagName, number: int) -> int:
        """Add to a tag's points; gives back the new sum."""
        total = self.points.get(name, 0) + number
        self.points[name] = total
        kind, tag = name
        if kind is None and (self.busiest is None or total > self._most):
            self.busiest, self._most = tag, total
        return total

    def count_together(self, tags: Tuple[str, ...], number: int) -> Optional[int]:
        """Add to the points of scalars that came in the same records; gives back the new sum of each of them.

        None when one of them has come without the others: then nothing is added, each has to be counted.
        """
        before = self.together.get(tags)
        if before is None:
            if not self._is_new(tags):
                return None
            before = 0
        total = self.together[tags] = before + number
        if total > self._most:
            self._most = total
            if self.busiest not in tags:
                self.busiest = tags[0]
        return total

    def _is_new(self, tags: Tuple[str, ...]) -> bool:
        """Has none of these come before? Where one has, those that it came with are counted by tag from now on."""
        names = set(tags)
        part = [known for known in self.together if not names.isdisjoint(known)]
        for known in part:
            number = self.together.pop(known)
            self.points.update(((None, tag), number) for tag in known)
        if part or not tags or len(names) < len(tags) or len(self.together) >= MOST_TOGETHER:
            return False
        return all((None, tag) not in self.points for tag in tags)


def _attributed(source: Source) -> Source:
    """The source of lines that name their rank: what a terminal shows is not shared where it says whose a value is.

    Elsewhere it is a source beside the file's own, for the same steps may be told with and without the name.
    """
    if source.shared:
        return source._replace(shared=False)
    return source._replace(name=f"{source.name} {NAMED}")


class Run:
    """One run's ranks and the list of its tags."""

    def __init__(self) -> None:
        self.ranks: Dict[int, Rank] = {}
        self.most: Dict[TagName, int] = {}
        """every tag in order of first appearance, with the points of the rank that has most; see `together` too"""
        self.together: Dict[Tuple[str, ...], int] = {}
        """the same for scalars that a rank has recorded together only"""
        self.first_wall: Optional[float] = None
        self.logs: Tuple[LogIndex, ...] = ()
        """in the order of their files; replaced, never changed"""
        self._log: Dict[FileKey, LogIndex] = {}
        self._attributed: Dict[FileKey, Dict[int, FileKey]] = {}
        """by file, what it holds of each rank that its own lines name"""
        self._exact: Dict[str, None] = {}
        self._printed: Dict[str, None] = {}
        self.names_version = 0
        """rises when one tag may have come to stand for another"""
        self._identity: Tuple[int, Identity] = (0, Identity((), ()))

    def log(self, key: FileKey) -> Optional[LogIndex]:
        """A text log; None before its first batch."""
        return self._log.get(key)

    def log_to_add_to(self, key: FileKey) -> LogIndex:
        """A text log, a new one in its place among the others."""
        found = self._log.get(key)
        if found is None:
            found = self._log[key] = LogIndex(key)
            at = bisect.bisect_left([log.key for log in self.logs], key)
            self.logs = (*self.logs[:at], found, *self.logs[at:])
        return found

    def attributed(self, key: FileKey, ranks: Iterable[int]) -> Tuple[FileKey, ...]:
        """Of every rank that lines of a file have named so far, these included: what the file holds of it."""
        known = self._attributed.get(key, {})
        for rank_id in ranks:
            if rank_id not in known:
                known = self._attributed.setdefault(key, known)
                known[rank_id] = replace(key, rank_id=rank_id, source=_attributed(key.source))
        return tuple(known.values())

    def saw_names(self, source: Source, tags: Tuple[str, ...]) -> None:
        """A source of this kind has these tags."""
        names = self._exact if source.kind is SourceKind.SUMMARY else self._printed
        before = len(names)
        names.update(dict.fromkeys(tags))
        if len(names) > before and self._exact and self._printed:
            self.names_version += 1

    def forget_names(self) -> None:
        """Find the tags anew after a file lost its points."""
        self._exact, self._printed = {}, {}
        for rank in tuple(self.ranks.values()):
            for file in rank.files:
                for piece in file.pieces:
                    self.saw_names(file.key.source, piece.columns.tags)
        self.names_version += 1

    @property
    def identity(self) -> Identity:
        """Which tags are one curve. Any thread."""
        version, identity = self._identity
        if version != self.names_version:
            version = self.names_version
            identity = Identity(tuple(self._exact), tuple(self._printed))
            self._identity = (version, identity)
        return identity

    def saw_together(self, tags: Tuple[str, ...], total: int) -> None:
        """A rank has so many points of each of these."""
        before = self.together.get(tags)
        if before is None:
            for tag in tags:
                self.most.setdefault((None, tag), 0)
        if before is None or total > before:
            self.together[tags] = total

    def points(self) -> Dict[TagName, int]:
        """Every tag in order of first appearance, with the points of the rank that has most. Any thread."""
        found = dict(self.most)
        for tags, total in tuple(self.together.items()):
            for tag in tags:
                if total > found.get((None, tag), 0):
                    found[None, tag] = total
        return found

    def saw_walls(self, walls: FloatArray) -> None:
        """Wall times of records in file order. Zero and NaN are what a writer without a clock leaves."""
        wall = float(walls[0])
        if not 0.0 < wall < LATEST_TIME:
            wall = float(walls[np.argmax((walls > 0.0) & (walls < LATEST_TIME))])
        if 0.0 < wall < LATEST_TIME and (self.first_wall is None or wall < self.first_wall):
            self.first_wall = wall
