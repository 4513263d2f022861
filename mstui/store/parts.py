"""What the run store keeps: files in two parts, ranks of files, runs of ranks. Published by replacing, never changed.

Only the writing thread calls what changes something; see mstui.store.run_store for the rules of reading.
"""

from __future__ import annotations

import bisect
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from mstui.model.batch import FileKey
from mstui.model.records import BlobKind
from mstui.store.blob_index import BlobIndex, BlobState
from mstui.store.columns import ColumnStore, GroupState
from mstui.store.generations import LEFTOVER_STEP
from mstui.store.rhythm import LATEST_TIME

TagName = Tuple[Optional[BlobKind], str]
"""kind None for scalars"""


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
        self.points: Dict[TagName, int] = {}
        self.busiest: Optional[str] = None
        """the scalar tag with most points, the first of them"""

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

    def recount(self) -> None:
        """Count the points of every tag again after something was forgotten."""
        self.points = {}
        self.busiest = None
        for file in self.files:
            for piece in file.pieces:
                for tag in piece.columns.tags:
                    found = piece.columns.state(tag)
                    if found is not None:
                        self._add((None, tag), found[0].n)
                for kind, tag in piece.blobs.names:
                    state = piece.blobs.state(kind, tag)
                    if state is not None:
                        self._add((kind, tag), state.n)

    def _add(self, name: TagName, number: int) -> int:
        total = self.points.get(name, 0) + number
        self.points[name] = total
        kind, tag = name
        if kind is None and (self.busiest is None or total > self.points[None, self.busiest]):
            self.busiest = tag
        return total

    def count(self, name: TagName, number: int) -> int:
        """Add to a tag's points; gives back the new sum."""
        return self._add(name, number)


class Run:
    """One run's ranks and the list of its tags."""

    def __init__(self) -> None:
        self.ranks: Dict[int, Rank] = {}
        self.most: Dict[TagName, int] = {}
        """points of the rank that has most, by tag in order of first appearance"""
        self.first_wall: Optional[float] = None

    def saw_wall(self, wall: float) -> None:
        """Zero and NaN are what a writer without a clock leaves."""
        if 0.0 < wall < LATEST_TIME and (self.first_wall is None or wall < self.first_wall):
            self.first_wall = wall


def last_step_of(state: GroupState) -> int:
    """Step of the newest record that is not the remainder which MindSpore flushes at the end."""
    step = int(state.steps[state.n - 1])
    return int(state.steps[state.n - 2]) if step == LEFTOVER_STEP and state.n > 1 else step


def newest(ranks: List[Rank], name: TagName) -> Optional[Tuple[Union[GroupState, BlobState], int]]:
    """State (and row) of the newest file that holds a tag, on the lowest rank that has it."""
    kind, tag = name
    for rank in ranks:
        for file in reversed(rank.files):
            for piece in reversed(file.pieces):
                if kind is None:
                    found = piece.columns.state(tag)
                    if found is not None:
                        return found
                else:
                    state = piece.blobs.state(kind, tag)
                    if state is not None:
                        return state, 0
    return None
