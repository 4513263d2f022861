"""What a restart supersedes: from the rows of one series, file after file, to what holds now and what was overwritten.

A generation begins where the step falls. It supersedes every earlier point whose step is not below its first one. Equal
steps in a row are duplicates (MindSpore writes some records twice): both stay, the later one counts as the value.
Pure functions over arrays; files and threads are the run store's business.
"""

from __future__ import annotations

from typing import List, NamedTuple, Sequence, Tuple

import numpy as np

from mstui.model.records import IntArray
from mstui.model.series import Points
from mstui.store.columns import Row

MOST_STRETCHES = 64
"""Above this many generations (two writers that interleave their steps make thousands) one sorted copy is cheaper for
everybody than views."""
LEFTOVER_STEP = 0
"""MindSpore writes what is still pooled when a training ends with this step."""

_NEVER = np.iinfo(np.int64).max


class Generations(NamedTuple):
    """The points of one series by what became of them."""

    current: Tuple[Points, ...]
    superseded: Tuple[Points, ...]
    restarts: Tuple[Tuple[int, float], ...]
    """step and wall time of the first point of each later generation"""


class _Stretches(NamedTuple):
    """Pieces of rows in which the step never falls: row index, begin, end, and the steps at both ends."""

    row: IntArray
    begin: IntArray
    end: IntArray
    first_step: IntArray
    last_step: IntArray
    opens_file: IntArray
    """1 for the first stretch of a file"""
    closes_file: IntArray
    """1 for the last stretch of a file"""


def _stretches(rows: Sequence[Row], files: Sequence[int]) -> _Stretches:
    owner: List[IntArray] = []
    begins: List[IntArray] = []
    ends: List[IntArray] = []
    firsts: List[IntArray] = []
    lasts: List[IntArray] = []
    for index, row in enumerate(rows):
        begin = np.concatenate((np.zeros(1, dtype=np.int64), row.falls))
        end = np.append(row.falls, len(row.steps))
        owner.append(np.full(len(begin), index, dtype=np.int64))
        begins.append(begin)
        ends.append(end)
        firsts.append(row.steps[begin])
        lasts.append(row.steps[end - 1])
    row_index = np.concatenate(owner)
    file = np.asarray(files, dtype=np.int64)[row_index]
    change = np.flatnonzero(np.diff(file)) + 1
    opens = np.zeros(len(file), dtype=np.int64)
    opens[np.append(0, change)] = 1
    closes = np.zeros(len(file), dtype=np.int64)
    closes[np.append(change - 1, len(file) - 1)] = 1
    return _Stretches(
        row_index,
        np.concatenate(begins),
        np.concatenate(ends),
        np.concatenate(firsts),
        np.concatenate(lasts),
        opens,
        closes,
    )


def _points(row: Row, begin: int, end: int) -> Points:
    return Points(row.steps[begin:end], row.wall_times[begin:end], row.values[begin:end])


def _cuts(first: IntArray, last: IntArray) -> Tuple[IntArray, IntArray]:
    """Per stretch: does a restart begin here, and from which step on later restarts supersede it."""
    restart = np.zeros(len(first), dtype=np.int64)
    restart[1:] = first[1:] < last[:-1]
    cut = np.full(len(first), _NEVER, dtype=np.int64)
    if len(first) > 1:
        starts = np.where(restart == 1, first, _NEVER)[1:]
        cut[:-1] = np.minimum.accumulate(starts[::-1])[::-1]
    return restart, cut


def compose(rows: Sequence[Row], files: Sequence[int]) -> Generations:
    """Tell what holds from what a restart overwrote.

    rows: of one series, none of them empty, in the order in which the training wrote them. files[i] tells the rows of
    one file from those of the next. A file whose last stretch is one lone point that fell back to LEFTOVER_STEP holds
    MindSpore's remainder, not a restart: that point is kept with the superseded ones.
    """
    if not rows:
        return Generations((), (), ())
    if len(rows) == 1 and not len(rows[0].falls):
        only = rows[0]
        return Generations((Points(only.steps, only.wall_times, only.values),), (), ())

    every = _stretches(rows, files)
    leftover = (
        (every.closes_file == 1)
        & (every.opens_file == 0)
        & (every.end - every.begin == 1)
        & (every.first_step == LEFTOVER_STEP)
    )
    leftover[1:] &= every.first_step[1:] < every.last_step[:-1]
    kept = np.flatnonzero(~leftover)
    restart, cut = _cuts(every.first_step[kept], every.last_step[kept])
    starts = kept[restart == 1]
    restarts = tuple(
        (int(every.first_step[i]), float(rows[int(every.row[i])].wall_times[every.begin[i]])) for i in starts
    )
    cuts = np.full(len(leftover), np.iinfo(np.int64).min, dtype=np.int64)
    cuts[kept] = cut
    if len(leftover) > MOST_STRETCHES:
        return _merged(rows, every, cuts, restarts)

    current: List[Points] = []
    superseded: List[Points] = []
    for i, limit in enumerate(cuts.tolist()):
        row, begin, end = rows[int(every.row[i])], int(every.begin[i]), int(every.end[i])
        split = end if limit == _NEVER else begin + int(np.searchsorted(row.steps[begin:end], limit))
        if split > begin:
            current.append(_points(row, begin, split))
        if split < end:
            superseded.append(_points(row, split, end))
    return Generations(tuple(current), tuple(superseded), restarts)


def _merged(
    rows: Sequence[Row], every: _Stretches, cuts: IntArray, restarts: Tuple[Tuple[int, float], ...]
) -> Generations:
    """The same as one copy: what holds now is sorted as it stands, what was overwritten is sorted by step."""
    steps = np.concatenate([row.steps for row in rows])
    walls = np.concatenate([row.wall_times for row in rows])
    values = np.concatenate([row.values for row in rows])
    limits = np.repeat(cuts, every.end - every.begin)
    # the limit of the newest generation is the largest integer, which a step may equal
    holds = (steps < limits) | (limits == _NEVER)
    now = Points(steps[holds], walls[holds], values[holds])
    old = np.flatnonzero(~holds)
    old = old[np.argsort(steps[old], kind="stable")]
    past = (Points(steps[old], walls[old], values[old]),) if len(old) else ()
    return Generations((now,), past, restarts)
