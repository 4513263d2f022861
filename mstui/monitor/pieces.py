"""Points that are handed over to the rules: as views, cut into windows, attempts before a restart one after the other.

Knows no store. Nothing is copied but where attempts have to be told apart by their times.
"""

from __future__ import annotations

from typing import Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np

from mstui.detect.base import Subject
from mstui.model.histogram import Histogram
from mstui.model.records import IntArray
from mstui.model.series import Points
from mstui.store.generations import LEFTOVER_STEP

WINDOW_POINTS = 20_000
"""Points handed over together while a long history is judged: some 10 ms of work, so that a turn can stop there, and
the thread that draws takes the interpreter."""
PIECE_POINTS = 200
"""A piece costs as much as so many points, however short it is: a window of many series holds a few steps more."""
MOST_ATTEMPTS = 64
"""More of them are two writers that interleave their steps."""
NOTHING = -1
"""Step of a series of which nothing has been handed over"""


class Piece(NamedTuple):
    """Points of one series, steps rising from part to part."""

    rank_id: int
    tag: str
    subject: Subject
    parts: Tuple[Points, ...]
    """none of them empty"""

    @property
    def size(self) -> int:
        """Points in it."""
        return sum(map(len, self.parts))

    @property
    def first(self) -> int:
        """The step at which it begins."""
        return int(self.parts[0].steps[0])

    def until(self, step: int) -> Tuple[Piece, Piece]:
        """What is not behind a step, and the rest."""
        return (
            self._replace(parts=tuple(_between(self.parts, int(self.parts[0].steps[0]), step + 1))),
            self._replace(parts=tuple(behind(self.parts, step))),
        )


class Window(NamedTuple):
    """What is to be handed over next."""

    pieces: Tuple[Piece, ...]
    histograms: Tuple[Tuple[int, str, Subject, Histogram], ...] = ()


def cut(pieces: Sequence[Piece], histograms: Tuple[Tuple[int, str, Subject, Histogram], ...]) -> Iterator[Window]:
    """The same in windows of about WINDOW_POINTS, cut at steps of the longest series."""
    longest = max(pieces, key=lambda piece: piece.size)
    total = sum(piece.size for piece in pieces)
    number = -(-total // max(WINDOW_POINTS, PIECE_POINTS * len(pieces)))
    length = longest.size
    cuts = [_step_at(longest.parts, length * i // number - 1) for i in range(1, number) if length * i // number]
    rest = list(pieces)
    for step in dict.fromkeys(cuts):
        split = [piece.until(step) for piece in rest]
        told = tuple(each for each in histograms if each[3].stats.step <= step)
        histograms = histograms[len(told) :]
        yield Window(tuple(head for head, _ in split if head.parts), told)
        rest = [tail for _, tail in split if tail.parts]
    yield Window(tuple(rest), histograms)


def _step_at(parts: Sequence[Points], index: int) -> int:
    """Step of a point, counted through all parts."""
    for part in parts:
        if index < len(part):
            return int(part.steps[index])
        index -= len(part)
    return int(parts[-1].steps[-1])


def _joined(parts: Sequence[Points]) -> Points:
    """One stretch of all of them. Copies."""
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.wall_times for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def behind(stretches: Sequence[Points], step: int) -> List[Points]:
    """Points whose step is higher, looked for from the end."""
    found: List[Points] = []
    for part in reversed(stretches):
        if part.steps[0] > step:
            found.append(part)
            continue
        begin = int(np.searchsorted(part.steps, step, side="right"))
        if begin < len(part):
            found.append(Points(part.steps[begin:], part.wall_times[begin:], part.values[begin:]))
        break
    return found[::-1]


def attempts(current: Sequence[Points], superseded: Sequence[Points], restarts: Sequence[int]) -> List[List[Points]]:
    """A curve that was begun again before anybody looked: each attempt as it was, the one that holds last.

    As somebody would have been told who had watched. Where neither the parts nor their times tell which attempt was
    which: as it was up to the newest restart, steps that several attempts recorded once, then what holds now.
    """
    kept = [part for part in superseded if len(part) > 1 or part.steps[0] != LEFTOVER_STEP]
    now = behind(current, restarts[-1] - 1)
    if len(kept) == len(restarts) < MOST_ATTEMPTS:
        begins = (NOTHING, *restarts)
        cuts = [min(restarts[number:]) for number in range(len(restarts))]
        return [*([*_between(current, *each), part] for *each, part in zip(begins, cuts, kept)), now]
    joined = _joined([*current, *kept])
    if joined.wall_times.min() > 0.0:
        order = np.argsort(joined.wall_times, kind="stable")
        falls = np.flatnonzero(np.diff(joined.steps[order]) < 0) + 1
        if len(falls) < MOST_ATTEMPTS:
            return [[_chosen(joined, each)] for each in np.split(order, falls)]
    joined = _joined([*_between(current, NOTHING, restarts[-1]), *kept])
    order = np.argsort(joined.steps, kind="stable")
    newest = np.append(np.diff(joined.steps[order]) != 0, True)[: len(order)]
    return [[_chosen(joined, order[newest])], now]


def _chosen(points: Points, which: IntArray) -> Points:
    return Points(points.steps[which], points.wall_times[which], points.values[which])


def _between(stretches: Sequence[Points], begin: int, end: int) -> List[Points]:
    """Points of begin <= step < end."""
    out = []
    for part in stretches:
        first, last = np.searchsorted(part.steps, (begin, end)).tolist()
        if last > first:
            out.append(Points(part.steps[first:last], part.wall_times[first:last], part.values[first:last]))
    return out
