"""Hands the points of a stored run to the rules, each point once and in the order of the training's steps.

The store may compose a curve anew at any time: sources are merged, history comes behind the tail, a restart overwrites
steps. What the rules get only ever goes on: points behind the last step that was handed over, and from the step of a
restart on once more. What comes late for a step that has been judged is left out, and told: only who begins anew gets
the points as they are now.
"""

from __future__ import annotations

from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.detect.base import Subject
from mstui.model.histogram import Histogram
from mstui.model.records import BlobKind, FloatArray, IntArray, ValueArray
from mstui.model.roles import Role
from mstui.model.series import Points, Series, SeriesKey
from mstui.monitor_api import TagInfo
from mstui.store.generations import LEFTOVER_STEP
from mstui.store.run_store import BlobPlaces, Store

WINDOW_POINTS = 50_000
"""Points handed over together while a long history is judged: some 20 ms of work, so that a turn can stop there."""
RANKS_IN_FULL = 8
"""Ranks of which every parameter is judged. Of the others only what a whole run has few of (loss, norms, learning rate,
loss scale): a thousand ranks with two hundred tags each would be two hundred thousand curves a second."""
MOST_HISTOGRAMS = 256
"""Histograms of one tag that are decoded for the rules, those that come first: what they are judged for (weights that
stand still, start at zero, or differ between ranks) shows at the beginning. Each costs 0.1 ms."""

MOST_ATTEMPTS = 64
"""More of them are two writers that interleave their steps."""
EVALUATIONS = frozenset((Role.EVAL_METRIC, Role.EVAL_LOSS))
NOTHING = -1
"""Step of a series of which nothing has been handed over"""

ReadHistograms = Callable[[BlobPlaces, Sequence[int]], Sequence[Optional[Histogram]]]


class Piece(NamedTuple):
    """Points of one series, steps rising."""

    rank_id: int
    tag: str
    subject: Subject
    points: Tuple[IntArray, FloatArray, ValueArray]

    def until(self, step: int) -> Tuple[Piece, Piece]:
        """What is not behind a step, and the rest."""
        steps, walls, values = self.points
        cut = int(np.searchsorted(steps, step, side="right"))
        head = self._replace(points=(steps[:cut], walls[:cut], values[:cut]))
        return head, self._replace(points=(steps[cut:], walls[cut:], values[cut:]))


class Window(NamedTuple):
    """What is to be handed over next."""

    pieces: Tuple[Piece, ...]
    histograms: Tuple[Tuple[int, str, Subject, Histogram], ...] = ()


class _Given(NamedTuple):
    """What has been handed over of one series."""

    series: Series
    last: int
    restarts: int
    points: int
    """that held then, all of them handed over"""


class Supply:
    """The points of one run that the rules have not had."""

    def __init__(
        self, run_key: str, store: Store, histograms: ReadHistograms, wants: Callable[[Subject, str], bool]
    ) -> None:
        """`wants`: does any rule look at the histograms of this tag."""
        self._run_key = run_key
        self._store = store
        self._read = histograms
        self._wants = wants
        self._given: Dict[Tuple[int, str], _Given] = {}
        self._revisions: Dict[int, int] = {}
        self._decoded: Dict[Tuple[int, str], int] = {}
        self._fronts: Dict[int, int] = {}
        """by rank, the highest step of which anything has been handed over"""
        self._furthest = NOTHING
        self.late = False
        """points have come for steps that had been handed over"""
        self.uneven = False
        """a rank has been handed over after another one had gone further: a difference between ranks may be told of the
        other one"""
        self.points = 0
        """handed over so far"""

    def windows(self) -> Iterator[Window]:
        """What has come since this was last asked, in the order in which it is to be handed over."""
        tags = self._store.tags(self._run_key)
        rounds: List[List[Piece]] = []
        histograms: List[Tuple[int, str, Subject, Histogram]] = []
        self._furthest = max(self._fronts.values(), default=NOTHING)
        for place, rank_id in enumerate(self._store.ranks(self._run_key)):
            rank = self._store.rank(self._run_key, rank_id)
            if rank is None or self._revisions.get(rank_id) == rank.revision:
                continue
            self._revisions[rank_id] = rank.revision
            front = self._fronts.get(rank_id, NOTHING)
            full = place < RANKS_IN_FULL
            for info in tags:
                if info.kind is None and (full or info.role is not Role.PARAMETER):
                    for number, piece in enumerate(self._pieces(rank_id, info, front)):
                        while len(rounds) <= number:
                            rounds.append([])
                        rounds[number].append(piece)
                elif info.kind is BlobKind.HISTOGRAM and full:
                    histograms += self._histograms(rank_id, info)
        histograms.sort(key=lambda each: (each[3].stats.step, each[0], each[1]))
        if histograms and not rounds:
            yield Window((), tuple(histograms))
        for number, pieces in enumerate(rounds):
            yield from _cut(pieces, tuple(histograms) if number == 0 else ())

    def _pieces(self, rank_id: int, info: TagInfo, front: int) -> List[Piece]:
        key = SeriesKey(self._run_key, rank_id, info.tag)
        series = self._store.series(key)
        given = self._given.get((rank_id, info.tag))
        if series is None or not series.current or (given is not None and given.series is series):
            return []
        subject = Subject(info.role, info.parameter, info.statistic)
        current, superseded = series.current, series.superseded
        if info.role in EVALUATIONS and len(series.sources) > 1:
            current, superseded = self._exact(key, current), self._exact(key, superseded)
        restart = series.restarts[-1] if series.restarts else None
        holds = sum(map(len, current))
        if given is None:
            parts = [_joined(current)] if restart is None else _attempts(current, superseded, series.restarts)
        elif restart is not None and len(series.restarts) > given.restarts:
            parts = [_behind(current, restart - 1)]
        else:
            parts = [_behind(current, given.last)]
            self.late |= holds - len(parts[0][0]) != given.points or (len(parts[0][0]) > 0 and parts[0][0][0] < front)
        last = int(current[-1].steps[-1]) if current else (given.last if given is not None else NOTHING)
        self._given[rank_id, info.tag] = _Given(series, last, len(series.restarts), holds)
        found = [Piece(rank_id, info.tag, subject, part) for part in parts if len(part[0])]
        if given is None and found:
            self.late |= int(found[0].points[0][0]) < front
        if found and int(found[0].points[0][0]) < self._furthest:
            self.uneven = True
        self._fronts[rank_id] = max(self._fronts.get(rank_id, NOTHING), last)
        self.points += sum(len(piece.points[0]) for piece in found)
        return found

    def _exact(self, key: SeriesKey, stretches: Sequence[Points]) -> Tuple[Points, ...]:
        """Without an evaluation's second points: a log that tells of it names the last step that it printed.

        Where the most exact record has ended, the others' points hold.
        """
        records = self._store.recorded(key)
        steps = np.unique(np.concatenate([state.steps[: state.n] for state, _row in records[0].parts]))
        ended = steps[-1] + np.median(np.diff(steps)) if len(steps) > 1 else np.inf
        found = []
        for part in stretches:
            keep = np.isin(part.steps, steps) | (part.steps > ended)
            if keep.any():
                found.append(Points(part.steps[keep], part.wall_times[keep], part.values[keep]))
        return tuple(found)

    def _histograms(self, rank_id: int, info: TagInfo) -> Iterator[Tuple[int, str, Subject, Histogram]]:
        subject = Subject(info.role, info.parameter, info.statistic)
        if not self._wants(subject, info.tag):
            return
        places = self._store.blobs(SeriesKey(self._run_key, rank_id, info.tag), BlobKind.HISTOGRAM)
        begin = self._decoded.get((rank_id, info.tag), 0)
        end = min(len(places.steps), MOST_HISTOGRAMS) if places is not None else 0
        if places is None or end <= begin:
            return
        self._decoded[rank_id, info.tag] = end
        for found in self._read(places, range(begin, end)):
            if found is not None:
                yield rank_id, info.tag, subject, found


def _cut(pieces: Sequence[Piece], histograms: Tuple[Tuple[int, str, Subject, Histogram], ...]) -> Iterator[Window]:
    """The same in windows of about WINDOW_POINTS, cut at steps of the longest series."""
    total = sum(len(piece.points[0]) for piece in pieces)
    longest = max(pieces, key=lambda piece: len(piece.points[0])).points[0]
    number = -(-total // WINDOW_POINTS)
    cuts = [int(longest[len(longest) * i // number - 1]) for i in range(1, number) if len(longest) * i // number]
    rest = list(pieces)
    for step in dict.fromkeys(cuts):
        split = [piece.until(step) for piece in rest]
        told = tuple(each for each in histograms if each[3].stats.step <= step)
        histograms = histograms[len(told) :]
        yield Window(tuple(head for head, _ in split if len(head.points[0])), told)
        rest = [tail for _, tail in split if len(tail.points[0])]
    yield Window(tuple(rest), histograms)


def _joined(parts: Sequence[Points]) -> Tuple[IntArray, FloatArray, ValueArray]:
    if len(parts) == 1:
        return parts[0].steps, parts[0].wall_times, parts[0].values
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.float64)
    return (
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.wall_times for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def _behind(stretches: Sequence[Points], step: int) -> Tuple[IntArray, FloatArray, ValueArray]:
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
    return _joined(found[::-1])


def _attempts(
    current: Sequence[Points], superseded: Sequence[Points], restarts: Sequence[int]
) -> List[Tuple[IntArray, FloatArray, ValueArray]]:
    """A curve that was begun again before anybody looked: each attempt as it was, the one that holds last.

    As somebody would have been told who had watched. Where neither the parts nor their times tell which attempt was
    which: as it was up to the newest restart, steps that several attempts recorded once, then what holds now.
    """
    kept = [part for part in superseded if len(part) > 1 or part.steps[0] != LEFTOVER_STEP]
    now = _behind(current, restarts[-1] - 1)
    if len(kept) == len(restarts) < MOST_ATTEMPTS:
        begins = (NOTHING, *restarts)
        cuts = [min(restarts[number:]) for number in range(len(restarts))]
        return [*(_joined([*_between(current, *each), part]) for *each, part in zip(begins, cuts, kept)), now]
    steps, walls, values = _joined([*current, *kept])
    if walls.min() > 0.0:
        order = np.argsort(walls, kind="stable")
        falls = np.flatnonzero(np.diff(steps[order]) < 0) + 1
        if len(falls) < MOST_ATTEMPTS:
            return [(steps[each], walls[each], values[each]) for each in np.split(order, falls)]
    steps, walls, values = _joined([*_between(current, NOTHING, restarts[-1]), *kept])
    order = np.argsort(steps, kind="stable")
    newest = np.append(np.diff(steps[order]) != 0, True)[: len(order)]
    chosen = order[newest]
    return [(steps[chosen], walls[chosen], values[chosen]), now]


def _between(stretches: Sequence[Points], begin: int, end: int) -> List[Points]:
    """Points of begin <= step < end."""
    out = []
    for part in stretches:
        first, last = np.searchsorted(part.steps, (begin, end)).tolist()
        if last > first:
            out.append(Points(part.steps[first:last], part.wall_times[first:last], part.values[first:last]))
    return out
