"""Hands the points of a stored run to the rules, each point once and in the order of the training's steps.

The store may compose a curve anew at any time: sources are merged, history comes behind the tail, a restart overwrites
steps. What the rules get only ever goes on: points behind the last step that was handed over, and from the step of a
restart on once more. What comes late for a step that has been judged is left out, and told: only who begins anew gets
the points as they are now. Nothing is copied: what is handed over are views into the store.

Of a run with many ranks the first ones are handed over whenever something has come. The others take turns, so that what
a second costs does not grow with their number; but one that holds a value that is no number has its turn at once.
"""

from __future__ import annotations

from collections import deque
from typing import Callable, Deque, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from mstui.detect.base import Subject
from mstui.model.histogram import Histogram
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.model.series import Points, SeriesKey
from mstui.monitor.pieces import NOTHING, Piece, Window, attempts, behind, cut
from mstui.monitor_api import TagInfo
from mstui.store.columns import CLEAN
from mstui.store.run_store import BlobPlaces, Store

RANKS_IN_FULL = 8
"""Ranks of which everything is judged, every parameter too, whenever something has come."""
OWN_OF_A_RANK = frozenset(
    (Role.LOSS, Role.PARTIAL_LOSS, Role.GRAD_NORM, Role.OVERFLOW, Role.EVAL_LOSS, Role.EVAL_METRIC)
)
"""What is judged of the others: what a rank may have otherwise than its peers. Learning rate and loss scale are set by
one schedule, and parameters would be two hundred thousand curves of a thousand ranks."""
OTHERS_AT_ONCE = 4
"""Of the others, ranks that are handed over together: up to 20 ms when they are new, 4 ms while records come."""
FIRST_WITH_BAD_VALUES = 16
"""Of ranks in which a value has just turned out to be no number, those that are judged at once, the earliest ones: they
tell where it began, and often it is in all of them a step later."""
MAY_BREAK = frozenset((Role.LOSS, Role.PARTIAL_LOSS, Role.GRAD_NORM))
"""What is looked at for values that are no numbers"""
MOST_HISTOGRAMS = 256
"""Histograms of one tag that are decoded for the rules, those that come first: what they are judged for (weights that
stand still, start at zero, or differ between ranks) shows at the beginning. Each costs 0.1 ms."""

EVALUATIONS = frozenset((Role.EVAL_METRIC, Role.EVAL_LOSS))

Wants = Callable[[Subject, str], bool]
ReadHistograms = Callable[[BlobPlaces, Sequence[int]], Sequence[Optional[Histogram]]]


class _Given(NamedTuple):
    """What has been handed over of one series."""

    last: int
    restarts: int
    points: int
    """that held then, all of them handed over"""


class _Watched(NamedTuple):
    """The tags that any rule looks at."""

    scalars: Tuple[TagInfo, ...]
    histograms: Tuple[TagInfo, ...]
    others: Tuple[TagInfo, ...]
    """scalars of ranks that take turns"""
    may_break: Tuple[str, ...]


class Supply:
    """The points of one run that the rules have not had."""

    def __init__(self, run_key: str, store: Store, histograms: ReadHistograms, watches: Wants, wants: Wants) -> None:
        """`watches`, `wants`: does any rule look at the points, at the histograms of this tag."""
        self._run_key = run_key
        self._store = store
        self._read = histograms
        self._watches = watches
        self._wants = wants
        self._watched = _Watched((), (), (), ())
        self._known: Dict[Tuple[str, Subject], Tuple[bool, bool]] = {}
        """by tag, what `watches` and `wants` have said"""
        self._given: Dict[Tuple[int, str], _Given] = {}
        self._revisions: Dict[int, int] = {}
        self._decoded: Dict[Tuple[int, str], int] = {}
        self._fronts: Dict[int, int] = {}
        """by rank, the highest step of which anything has been handed over"""
        self._turns: Deque[int] = deque()
        """ranks that take turns, the next one first"""
        self._broken: Set[int] = set()
        """ranks of which it is known that a value is no number"""
        self._furthest = NOTHING
        self.new_ranks = 0
        """ranks that have not had a turn yet"""
        self.late = False
        """points have come for steps that had been handed over"""
        self.uneven = False
        """a rank has been handed over after another one had gone further: a difference between ranks may be told of the
        other one"""
        self.points = 0
        """handed over so far"""

    def windows(self) -> Iterator[Window]:
        """What has come since this was last asked of the first ranks, in the order in which it is to be handed over.

        And of ranks in which something is no number any more.
        """
        self._look_at_tags()
        ranks = self._store.ranks(self._run_key)
        known = set(self._turns)
        self._turns.extend(rank_id for rank_id in ranks[RANKS_IN_FULL:] if rank_id not in known)
        rounds: List[List[Piece]] = []
        histograms: List[Tuple[int, str, Subject, Histogram]] = []
        self._furthest = max((self._fronts.get(rank_id, NOTHING) for rank_id in ranks[:RANKS_IN_FULL]), default=NOTHING)
        for rank_id in ranks[:RANKS_IN_FULL]:
            if self._is_new(rank_id):
                self._collect(rank_id, self._watched.scalars, rounds)
                for info in self._watched.histograms:
                    histograms += self._histograms(rank_id, info)
        self._furthest = NOTHING  # no parameter of the others is judged, so none can be told of the wrong rank
        for rank_id in self._just_broken():
            self._collect(rank_id, self._watched.others, rounds)
        self._count_new()
        histograms.sort(key=lambda each: (each[3].stats.step, each[0], each[1]))
        if histograms and not rounds:
            yield Window((), tuple(histograms))
        for number, pieces in enumerate(rounds):
            yield from cut(pieces, tuple(histograms) if number == 0 else ())

    def others(self) -> Iterator[Window]:
        """What has come of the other ranks, in turns: who stops begins with the next one when it asks again."""
        rounds: List[List[Piece]] = []
        number = 0
        for _ in range(len(self._turns)):
            rank_id = self._turns.popleft()
            self._turns.append(rank_id)
            if self._is_new(rank_id):
                self._collect(rank_id, self._watched.others, rounds)
                number += 1
            if number == OTHERS_AT_ONCE:
                yield from self._windows_of(rounds)
                rounds, number = [], 0
        yield from self._windows_of(rounds)

    def _windows_of(self, rounds: Sequence[Sequence[Piece]]) -> Iterator[Window]:
        self._count_new()
        for pieces in rounds:
            yield from cut(pieces, ())

    @property
    def behind(self) -> bool:
        """Something has come of ranks that wait for their turn."""
        return any(map(self._has_more, self._turns))

    def _has_more(self, rank_id: int) -> bool:
        rank = self._store.rank(self._run_key, rank_id)
        return rank is not None and self._revisions.get(rank_id) != rank.revision

    def _is_new(self, rank_id: int) -> bool:
        """Has anything come of this rank? It counts as handed over from now on."""
        rank = self._store.rank(self._run_key, rank_id)
        if rank is None or self._revisions.get(rank_id) == rank.revision:
            return False
        self._revisions[rank_id] = rank.revision
        return True

    def _count_new(self) -> None:
        self.new_ranks = sum(rank_id not in self._revisions for rank_id in self._turns)

    def _look_at_tags(self) -> None:
        """Which tags are to be handed over; asked of the rules once a tag."""
        scalars: List[TagInfo] = []
        histograms: List[TagInfo] = []
        for info in self._store.tags(self._run_key):
            name = (info.tag, subject_of(info))
            said = self._known.get(name)
            if said is None:
                said = self._known[name] = (self._watches(name[1], info.tag), self._wants(name[1], info.tag))
            if info.kind is None and said[0]:
                scalars.append(info)
            elif info.kind is BlobKind.HISTOGRAM and said[1]:
                histograms.append(info)
        others = tuple(info for info in scalars if info.role in OWN_OF_A_RANK)
        may_break = tuple(info.tag for info in others if info.role in MAY_BREAK)
        self._watched = _Watched(tuple(scalars), tuple(histograms), others, may_break)

    def _just_broken(self) -> List[int]:
        """Of the ranks that take turns those with a first value that is no number, the earliest first.

        If there are many, the later ones have the next turns.
        """
        found: List[Tuple[int, int]] = []
        for rank_id in self._turns:
            if rank_id not in self._broken and self._has_more(rank_id):
                step = self._broken_at(rank_id)
                if step is not None:
                    self._broken.add(rank_id)
                    found.append((step, rank_id))
        ordered = [rank_id for _step, rank_id in sorted(found)]
        chosen, next_ones = ordered[:FIRST_WITH_BAD_VALUES], ordered[FIRST_WITH_BAD_VALUES:]
        if next_ones:
            moved = frozenset(next_ones)
            self._turns = deque((*next_ones, *(rank_id for rank_id in self._turns if rank_id not in moved)))
        return [rank_id for rank_id in chosen if self._is_new(rank_id)]

    def _broken_at(self, rank_id: int) -> Optional[int]:
        """The step of the first value that is no number, as far as the columns of the rank's files tell at a glance."""
        rank = self._store.rank(self._run_key, rank_id)
        found: Optional[int] = None
        for file in () if rank is None else rank.files:
            for piece in file.pieces:
                for tag in self._watched.may_break:
                    place = piece.columns.state(tag)
                    bad = int(place[0].first_bad[place[1]]) if place is not None else CLEAN
                    if place is not None and bad != CLEAN:
                        step = int(place[0].steps[bad])
                        found = step if found is None else min(found, step)
        return found

    def _collect(self, rank_id: int, tags: Iterable[TagInfo], rounds: List[List[Piece]]) -> None:
        """Add what has come of one rank, each attempt of a curve to a round of its own."""
        front = self._fronts.get(rank_id, NOTHING)
        for info in tags:
            for number, piece in enumerate(self._pieces(rank_id, info, front)):
                while len(rounds) <= number:
                    rounds.append([])
                rounds[number].append(piece)

    def _pieces(self, rank_id: int, info: TagInfo, front: int) -> List[Piece]:
        key = SeriesKey(self._run_key, rank_id, info.tag)
        series = self._store.series(key)
        given = self._given.get((rank_id, info.tag))
        if series is None or not series.current:
            return []
        current, superseded = series.current, series.superseded
        if info.role in EVALUATIONS and len(series.sources) > 1:
            current, superseded = self._exact(key, current), self._exact(key, superseded)
        restart = series.restarts[-1] if series.restarts else None
        holds = sum(map(len, current))
        tries: List[List[Points]]
        if given is None:
            tries = [list(current)] if restart is None else attempts(current, superseded, series.restarts)
        elif restart is not None and len(series.restarts) > given.restarts:
            tries = [behind(current, restart - 1)]
        else:
            more = behind(current, given.last)
            tries = [more]
            self.late |= holds - sum(map(len, more)) != given.points
            self.late |= bool(more) and int(more[0].steps[0]) < front
        last = int(current[-1].steps[-1]) if current else (given.last if given is not None else NOTHING)
        self._given[rank_id, info.tag] = _Given(last, len(series.restarts), holds)
        pieces = [Piece(rank_id, info.tag, subject_of(info), tuple(parts)) for parts in tries if parts]
        if given is None and pieces:
            self.late |= pieces[0].first < front
        if pieces and pieces[0].first < self._furthest:
            self.uneven = True
        self._fronts[rank_id] = max(self._fronts.get(rank_id, NOTHING), last)
        self.points += sum(piece.size for piece in pieces)
        return pieces

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
        places = self._store.blobs(SeriesKey(self._run_key, rank_id, info.tag), BlobKind.HISTOGRAM)
        begin = self._decoded.get((rank_id, info.tag), 0)
        end = min(len(places.steps), MOST_HISTOGRAMS) if places is not None else 0
        if places is None or end <= begin:
            return
        self._decoded[rank_id, info.tag] = end
        for found in self._read(places, range(begin, end)):
            if found is not None:
                yield rank_id, info.tag, subject_of(info), found


def subject_of(info: TagInfo) -> Subject:
    """What a tag is about, as rules ask for it."""
    return Subject(info.role, info.parameter, info.statistic)
