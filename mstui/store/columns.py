"""Scalars of one stretch of one file, in columns: what every curve, check and export is cut from.

One writer appends, any number of threads read. A reader takes one published tuple and sees a consistent past: what
lies below its length is never written again. Restarts, ranks and files are the run store's business, not this module's.
"""

from __future__ import annotations

import math
import mmap
import sys
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray, ScalarColumns, ValueArray

GROWTH_DIVISOR = 8
"""A full array grows by this part of itself: a point is copied 8 times over a run, unused room stays below 1/8."""
MAPPED_GROWTH_DIVISOR = 2
"""The same for arrays that have pages of their own, where unused room costs nothing: copied twice over a run."""
LONG_ROW = 4 * 1024 * 1024
"""Bytes from which a row makes room for LONG_GROWTH times as much: while an array moves, its points are there twice."""
LONG_GROWTH = 8
LEAST_ROOM = 16
"""Records a new group makes room for, so that the first appends of a live run do not each move it."""
OWN_PAGES_FROM = 256 * 1024
"""Bytes from which an array is mapped by itself."""
CLEAN = -1
"""Stands for "no such index" where an index is kept."""


class GroupState(NamedTuple):
    """A group as it stood after one append. The arrays may be longer than n; only [:n] has a meaning."""

    n: int
    steps: IntArray
    wall_times: FloatArray
    values: ValueArray
    """[rows, capacity]"""
    falls: IntArray
    """indices whose step is lower than the one before"""
    first_bad: IntArray
    """[rows] index of the first NaN or infinity, or CLEAN"""
    wall_fall: int
    """index of the first wall time found to be below its predecessor or not finite, or CLEAN"""


class Row(NamedTuple):
    """Every point of one tag in one ColumnStore, as views."""

    steps: IntArray
    wall_times: FloatArray
    values: ValueArray
    falls: IntArray
    first_bad: int
    wall_fall: int


def _room(shape: Tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array with arbitrary content. Memory that nothing is written to costs address space only.

    Large ones are zero and get pages of their own: numpy asks for huge pages, which makes the unused end of every row
    resident, and the allocator keeps what a move sets free. Both together cost half as much again as the points.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < OWN_PAGES_FROM:
        return np.empty(shape, dtype=dtype)
    if sys.platform != "win32":
        try:
            pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            return np.zeros(shape, dtype=dtype)  # the system's limit of mappings, or of address space
        return np.frombuffer(pages, dtype=dtype).reshape(shape)
    return np.zeros(shape, dtype=dtype)


def _grown(array: npt.NDArray[Any], used: int, capacity: int) -> npt.NDArray[Any]:
    """A longer array with the same beginning."""
    fresh = _room((*array.shape[:-1], capacity), array.dtype)
    if fresh.nbytes < OWN_PAGES_FROM or array[..., :used].any():
        fresh[..., :used] = array[..., :used]
    return fresh


def _all_grown(arrays: Sequence[npt.NDArray[Any]], used: int, capacity: int) -> List[npt.NDArray[Any]]:
    return [_grown(each, used, capacity) for each in arrays]


def _written(array: npt.NDArray[Any], begin: int, more: npt.NDArray[Any]) -> None:
    """Write behind what is there. Zeros are there already in large arrays: times that nobody knows take no memory."""
    if array.nbytes < OWN_PAGES_FROM or more.any():
        array[begin : begin + len(more)] = more


def _capacity(records: int, itemsize: int) -> int:
    """Records to make room for when so many are there, of so many bytes in one row."""
    size = records * itemsize
    if size >= LONG_ROW:
        return LONG_GROWTH * records
    return max(records + records // (MAPPED_GROWTH_DIVISOR if size >= OWN_PAGES_FROM else GROWTH_DIVISOR), LEAST_ROOM)


class _Group:
    """Tags that have always been written together."""

    __slots__ = ("state", "tags")

    def __init__(self, tags: Tuple[str, ...], state: GroupState) -> None:
        self.tags = tags
        self.state = state

    @classmethod
    def empty(cls, tags: Tuple[str, ...], dtype: npt.DTypeLike, room: int) -> _Group:
        nothing = np.empty(0, dtype=np.int64)
        state = GroupState(
            0,
            _room((room,), np.int64),
            _room((room,), np.float64),
            _room((len(tags), room), dtype),
            nothing,
            np.full(len(tags), CLEAN, dtype=np.int64),
            CLEAN,
        )
        return cls(tags, state)

    def append(self, steps: IntArray, walls: FloatArray, values: ValueArray) -> bool:
        """Add records; values is [rows, number]. True when the arrays had to move."""
        old = self.state
        n, end = old.n, old.n + len(steps)
        own_steps, own_walls, own_values = old.steps, old.wall_times, old.values
        moved = False
        if end > len(own_steps):
            arrays = (own_steps, own_walls, own_values)
            try:
                own_steps, own_walls, own_values = _all_grown(arrays, n, _capacity(end, own_steps.itemsize))
            except MemoryError:  # a system that gives no more address space than it has memory
                own_steps, own_walls, own_values = _all_grown(arrays, n, end + end // GROWTH_DIVISOR)
            moved = True
        if values.dtype.itemsize > own_values.dtype.itemsize:
            own_values = own_values.astype(values.dtype)
            moved = True
        own_steps[n:end] = steps
        _written(own_walls, n, walls)
        own_values[:, n:end] = values

        before = max(n - 1, 0)
        falls, wall_fall = old.falls, old.wall_fall
        fell = own_steps[before + 1 : end] < own_steps[before : end - 1]
        if fell.any():
            falls = np.concatenate((falls, np.flatnonzero(fell) + before + 1))
        if wall_fall == CLEAN:
            # "not >=" instead of "<": a NaN wall time is no place on a time axis either, nor is infinity
            back = ~(own_walls[before + 1 : end] >= own_walls[before : end - 1])
            if back.any():
                wall_fall = int(np.argmax(back)) + before + 1
            elif not math.isfinite(own_walls[end - 1]):
                wall_fall = end - 1

        first_bad = old.first_bad
        finite = np.isfinite(values)
        if not finite.all():
            first_bad = first_bad.copy()
            for row in np.flatnonzero(~finite.all(axis=1)):
                if first_bad[row] == CLEAN:
                    first_bad[row] = n + int(np.argmin(finite[row]))
        self.state = GroupState(end, own_steps, own_walls, own_values, falls, first_bad, wall_fall)
        return moved

    def part(self, rows: List[int]) -> _Group:
        """A new group of some of the rows, with its own copy of the steps and wall times."""
        old = self.state
        n = old.n
        state = GroupState(
            n,
            old.steps[:n].copy(),
            old.wall_times[:n].copy(),
            old.values[rows, :n],
            old.falls,
            old.first_bad[rows],
            old.wall_fall,
        )
        return _Group(tuple(self.tags[row] for row in rows), state)


class ColumnStore:
    """Groups of tags by partition refinement: a tag is in exactly one group, hence a series is one contiguous row."""

    def __init__(self) -> None:
        self._where: Dict[str, Tuple[_Group, int]] = {}
        self._groups: Tuple[_Group, ...] = ()

    def append(self, columns: ScalarColumns) -> bool:
        """Add records behind what is there. True when arrays moved, so that views held elsewhere keep old ones alive.

        A tag that stands twice in the same columns counts once, with the last of its values.
        """
        number = len(columns.steps)
        if not number or not columns.tags:
            return False
        first = self._where.get(columns.tags[0])
        if first is not None and first[0].tags == columns.tags:
            return first[0].append(columns.steps, columns.wall_times, columns.values)
        return self._append_refining(columns)

    def _append_refining(self, columns: ScalarColumns) -> bool:
        source = {tag: row for row, tag in enumerate(columns.tags)}
        by_group: Dict[int, Tuple[_Group, List[str]]] = {}
        new: List[str] = []
        for tag in source:
            place = self._where.get(tag)
            if place is None:
                new.append(tag)
            else:
                by_group.setdefault(id(place[0]), (place[0], []))[1].append(tag)
        moved = False
        for group, tags in by_group.values():
            if len(tags) < len(group.tags):
                group = self._split(group, set(tags))
                moved = True
            rows = [source[tag] for tag in group.tags]
            moved |= group.append(columns.steps, columns.wall_times, columns.values[rows])
        if new:
            room = max(len(columns.steps), LEAST_ROOM)
            group = _Group.empty(tuple(new), columns.values.dtype, room)
            group.append(columns.steps, columns.wall_times, columns.values[[source[tag] for tag in new]])
            self._publish((*self._groups, group), (group,))
        return moved

    def _split(self, group: _Group, tags: Iterable[str]) -> _Group:
        """Part a group in two; gives back the one with these tags."""
        chosen = set(tags)
        inside = group.part([row for row, tag in enumerate(group.tags) if tag in chosen])
        outside = group.part([row for row, tag in enumerate(group.tags) if tag not in chosen])
        others = tuple(each for each in self._groups if each is not group)
        self._publish((*others, inside, outside), (inside, outside))
        return inside

    def _publish(self, groups: Tuple[_Group, ...], changed: Tuple[_Group, ...]) -> None:
        for group in changed:
            for row, tag in enumerate(group.tags):
                self._where[tag] = (group, row)
        self._groups = groups

    def state(self, tag: str) -> Optional[Tuple[GroupState, int]]:
        """The group state that holds a tag, and its row. The state is a new object after every append to the group."""
        place = self._where.get(tag)
        return None if place is None else (place[0].state, place[1])

    def row(self, tag: str) -> Optional[Row]:
        """Every point of a tag; None when it has none here."""
        place = self._where.get(tag)
        return None if place is None else row_of(place[0].state, place[1])

    @property
    def tags(self) -> Tuple[str, ...]:
        """Every tag, in order of first appearance."""
        return tuple(self._where)

    @property
    def width(self) -> int:
        """Number of tags."""
        return len(self._where)

    def states(self) -> Tuple[GroupState, ...]:
        """Every group as it stands."""
        return tuple(group.state for group in self._groups)

    @property
    def points(self) -> int:
        """Scalars held."""
        return sum(state.n * len(state.values) for state in self.states())

    @property
    def bytes_used(self) -> int:
        """Bytes of the points held."""
        return sum(
            state.n * (state.steps.itemsize + state.wall_times.itemsize + len(state.values) * state.values.itemsize)
            for state in self.states()
        )

    @property
    def bytes_reserved(self) -> int:
        """Bytes of address space, the untouched room at the arrays' ends included."""
        return sum(state.steps.nbytes + state.wall_times.nbytes + state.values.nbytes for state in self.states())


def row_of(state: GroupState, row: int) -> Row:
    """One row of a group state."""
    n = state.n
    return Row(
        state.steps[:n],
        state.wall_times[:n],
        state.values[row, :n],
        state.falls,
        int(state.first_bad[row]),
        state.wall_fall,
    )
