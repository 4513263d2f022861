"""The ranks of a run side by side: who went bad first, who is odd, slow or silent. Numbers only, no judgement.

A rank is looked at again only when it has new records, and only at its newest ones; everything across ranks is one
pass over arrays. So a call costs in proportion to the ranks, whatever they have recorded.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.model.ranks import BadValue, BadWave, OddFigure, RankRow, RankTable
from mstui.model.records import FloatArray
from mstui.model.roles import Role
from mstui.model.runs import RunInfo, RunStatus
from mstui.model.series import SeriesKey
from mstui.model.sources import Source
from mstui.store.columns import CLEAN
from mstui.store.generations import LEFTOVER_STEP
from mstui.store.parts import Rank
from mstui.store.recorded import Stretch, freshest, is_rising, newest_files, newest_states, reach, shape_of
from mstui.store.rhythm import CLOCK_SET_S
from mstui.store.run_store import Store

WATCHED_ROLES = frozenset(
    [
        *(Role.LOSS, Role.EVAL_METRIC, Role.EVAL_LOSS, Role.GRAD_NORM, Role.UPDATE_RATIO, Role.LOSS_SCALE),
        *(Role.LEARNING_RATE, Role.PARTIAL_LOSS),
    ]
)
"""roles in which a NaN or an infinity means that training went wrong"""
MOST_WATCHED = 64
"""tags of these roles that are looked at for bad values, in the order of the roles: partial losses may be hundreds"""
ODD_SCORE = 6.0
"""robust z from which a rank is odd: among a thousand ranks with normal noise none is by chance"""
ODD_LEAST_PART = 0.01
"""of the median that an odd value is away from it at least, and what stands for the spread where all ranks are equal:
ranks that share one loss differ by rounding only"""
ODD_LEAST_RANKS = 4
"""ranks with a value below which "far from the others" has no meaning"""
NORMAL_MAD = 0.6745
"""median absolute deviation of a normal distribution with standard deviation 1"""
STRAGGLER_TIMES = 1.2
"""a rank whose step takes this many times the median is a straggler"""
STRAGGLER_LEAST_RANKS = 3
"""ranks with a step time below which the median is that of the straggler as well"""
RECENT_RECORDS = 32
"""pauses between records that the step time is the median of"""
BURST_PART = 0.1
"""of the mean: a median below it comes from records that were stamped in bursts, and the mean tells the step time"""
MOST_WAVES = 8
"""steps listed at which ranks went bad"""

_GOES_ON = frozenset([RunStatus.LIVE])
_SILENT = frozenset([RunStatus.STALE, RunStatus.STOPPED, RunStatus.FAILED])


_Origin = Tuple[int, str, Source]
"""rank, tag and source"""


class _Bad(NamedTuple):
    tag: str
    step: int
    never_good: bool
    """every point of the tag on this rank is NaN"""


class _Facts(NamedTuple):
    """What one rank's own records say."""

    revision: int
    loss: Optional[float]
    grad_norm: Optional[float]
    bad: Tuple[_Bad, ...]


class _Restarted(NamedTuple):
    """What was found of a tag that has begun again from an older step."""

    shape: Tuple[object, ...]
    points: int
    """of the last stretch"""
    step: Optional[int]
    """of the first bad value that holds"""


class _Watched(NamedTuple):
    loss: str
    grad_norm: str
    tags: Tuple[str, ...]


class _Kept:
    """What is known of one run's ranks from the calls before."""

    def __init__(self, watched: _Watched) -> None:
        self.watched = watched
        self.facts: Dict[int, _Facts] = {}
        self.step_times: Dict[int, Optional[float]] = {}
        self.restarted: Dict[Tuple[int, str], _Restarted] = {}
        self.never_good: Dict[_Origin, int] = {}
        """points, all of them NaN, that were looked at; -1 once there was another one"""


class RankTables:
    """Makes the table of any loaded run. Belongs to one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: Dict[str, _Kept] = {}

    def forget(self, run_key: str) -> None:
        """The run was dropped from the store."""
        self._kept.pop(run_key, None)

    def table(self, run: RunInfo) -> RankTable:
        """The ranks of a run as its RunInfo lists them, with what the store holds of each."""
        kept = self._look(run)
        front = max((rank.last_step for rank in run.ranks if rank.last_step is not None), default=None)
        ids = [rank.rank_id for rank in run.ranks]
        facts = [kept.facts.get(rank_id) for rank_id in ids]
        losses = [None if each is None else each.loss for each in facts]
        norms = [None if each is None else each.grad_norm for each in facts]
        times = [kept.step_times.get(rank_id) for rank_id in ids]
        loss_median, odd_loss = _odd(ids, losses, Role.LOSS, kept.watched.loss)
        norm_median, odd_norm = _odd(ids, norms, Role.GRAD_NORM, kept.watched.grad_norm)
        time_median, slower = _slower(times)
        going_on = any(rank.status in _GOES_ON for rank in run.ranks)
        bad = self._bad(run.key, kept, ids)
        rows: List[RankRow] = []
        for i, rank in enumerate(run.ranks):
            rank_id, last = rank.rank_id, rank.last_step
            odd = tuple(each[rank_id] for each in (odd_loss, odd_norm) if rank_id in each)
            behind = None if front is None or last is None else front - last
            stopped = going_on and rank.status in _SILENT
            rows.append(
                RankRow(
                    *(rank_id, rank.status, last, behind, rank.last_data, losses[i], norms[i], times[i]),
                    *(bad.get(rank_id), odd, slower[i], stopped),
                )
            )
        odd_ones = [each for row in rows for each in row.odd]
        stragglers = sorted((row for row in rows if row.slower is not None), key=lambda row: -(row.slower or 0.0))
        silent = sorted((row for row in rows if row.stopped), key=lambda row: -(row.behind or 0))
        return RankTable(
            run.key,
            tuple(rows),
            front,
            kept.watched.loss,
            kept.watched.grad_norm,
            loss_median,
            norm_median,
            time_median,
            _waves(bad),
            tuple(sorted(odd_ones, key=lambda each: -abs(each.score))),
            tuple(row.rank_id for row in stragglers),
            tuple(row.rank_id for row in silent),
        )

    def _look(self, run: RunInfo) -> _Kept:
        """Bring what is known of every rank up to date."""
        watched = self._watched(run.key)
        kept = self._kept.get(run.key)
        if kept is None or kept.watched != watched:
            kept = self._kept[run.key] = _Kept(watched)
        changed: List[Tuple[int, Optional[Stretch]]] = []
        for info in run.ranks:
            rank_id = info.rank_id
            rank = self._store.rank(run.key, rank_id)
            if rank is None:
                kept.facts.pop(rank_id, None)
                kept.step_times.pop(rank_id, None)
                continue
            revision = rank.revision
            known = kept.facts.get(rank_id)
            if known is not None and known.revision == revision:
                continue
            loss, grad_norm = (self._newest(run.key, rank_id, tag) for tag in (watched.loss, watched.grad_norm))
            kept.facts[rank_id] = _Facts(
                revision, _value(loss), _value(grad_norm), self._bad_of(run.key, rank_id, rank, kept)
            )
            changed.append((rank_id, loss or grad_norm or _longest(rank)))
        kept.step_times.update(zip((rank_id for rank_id, _ in changed), _step_times([each for _, each in changed])))
        return kept

    def _newest(self, run_key: str, rank_id: int, tag: str) -> Optional[Stretch]:
        """The stretch that holds the newest point of a tag."""
        latest = freshest(self._store.recorded(SeriesKey(run_key, rank_id, tag))) if tag else None
        return None if latest is None else latest.parts[-1]

    def _watched(self, run_key: str) -> _Watched:
        scalars = [tag for tag in self._store.tags(run_key) if tag.kind is None and tag.role in WATCHED_ROLES]
        loss = next((tag.tag for tag in scalars if tag.role is Role.LOSS), "")
        grad_norm = next((tag.tag for tag in scalars if tag.role is Role.GRAD_NORM), "")
        return _Watched(loss, grad_norm, tuple(tag.tag for tag in scalars[:MOST_WATCHED]))

    def _bad_of(self, run_key: str, rank_id: int, rank: Rank, kept: _Kept) -> Tuple[_Bad, ...]:
        """The first bad value of each watched tag among the points that hold now."""
        states = (state for file in rank.files for piece in file.pieces for state in piece.columns.states())
        if not any((state.first_bad != CLEAN).any() for state in states):
            return ()
        found: List[_Bad] = []
        for tag in kept.watched.tags:
            key = SeriesKey(run_key, rank_id, tag)
            records = self._store.recorded(key)
            firsts = [(state, int(state.first_bad[row])) for each in records for state, row in each.parts]
            if all(first == CLEAN for _, first in firsts):
                continue
            if len(records) > 1:
                step = self._first_bad(key)
            elif is_rising(records[0].parts):
                step = next(int(state.steps[first]) for state, first in firsts if first != CLEAN)
            else:
                step = self._bad_since_restart(key, rank, records[0].parts, kept)
            if step is None:
                continue
            never = [_is_never_good(each.parts, kept.never_good, (rank_id, tag, each.source)) for each in records]
            found.append(_Bad(tag, step, all(never)))
        return tuple(found)

    def _first_bad(self, key: SeriesKey) -> Optional[int]:
        """Step of the first bad value that holds."""
        composed = self._store.composed(key)
        if composed is None or composed.first_non_finite is None:
            return None
        points, place = composed.place(composed.first_non_finite)
        return int(points.steps[place])

    def _bad_since_restart(self, key: SeriesKey, rank: Rank, parts: Sequence[Stretch], kept: _Kept) -> Optional[int]:
        """Step of the first bad value that no restart has overwritten; of what came since the last call, if it can."""
        shape, (state, row) = shape_of(rank, parts), parts[-1]
        known = kept.restarted.get((key.rank_id, key.tag))
        if known is None or known.shape != shape:
            step = self._first_bad(key)
        else:
            step = known.step
            bad = ~np.isfinite(state.values[row, known.points : state.n])
            if step is None and bad.any():
                step = int(state.steps[known.points + int(np.argmax(bad))])
        kept.restarted[key.rank_id, key.tag] = _Restarted(shape, state.n, step)
        return step

    def _bad(self, run_key: str, kept: _Kept, ids: Sequence[int]) -> Dict[int, BadValue]:
        """The first bad value of each rank.

        A tag that is NaN from the first to the last record of a rank, while other ranks record numbers that never went
        bad, is not recorded there: stages of a pipeline that have no loss write it so.
        """
        bad = {rank_id: kept.facts[rank_id].bad for rank_id in ids if rank_id in kept.facts and kept.facts[rank_id].bad}
        doubtful = {each.tag for found in bad.values() for each in found if each.never_good}
        went_bad = {each.tag for found in bad.values() for each in found if not each.never_good}
        elsewhere = {tag for tag in doubtful - went_bad if self._is_good_somewhere(run_key, tag, ids)}
        first: Dict[int, BadValue] = {}
        for rank_id, found in bad.items():
            counted = [each for each in found if not (each.never_good and each.tag in elsewhere)]
            if counted:
                lowest = min(counted, key=lambda each: each.step)
                first[rank_id] = BadValue(lowest.tag, lowest.step)
        return first

    def _is_good_somewhere(self, run_key: str, tag: str, ids: Iterable[int]) -> bool:
        for rank_id in ids:
            parts = self._store.stretches(SeriesKey(run_key, rank_id, tag))
            if parts and all(state.first_bad[row] == CLEAN for state, row in parts):
                return True
        return False


def _longest(rank: Rank) -> Optional[Stretch]:
    """Of the newest file of the source that tells what is now, the group with most records."""
    files = newest_files(rank)
    if not files:
        return None
    file = max(files, key=lambda each: reach(newest_states(each)))
    states = (state for piece in file.pieces for state in piece.columns.states())
    return max(states, key=lambda state: state.n), 0


def _value(part: Optional[Stretch]) -> Optional[float]:
    """The newest value, that of the remainder which MindSpore flushes at the end left out."""
    if part is None:
        return None
    state, row = part
    n = state.n
    if n > 1 and state.steps[n - 1] == LEFTOVER_STEP < state.steps[n - 2]:
        n -= 1
    return float(state.values[row, n - 1])


def _is_never_good(parts: Sequence[Stretch], seen: Dict[_Origin, int], key: _Origin) -> bool:
    """Is every point NaN? Looks at each point once."""
    before, total = seen.get(key, 0), sum(state.n for state, _row in parts)
    if before < 0:
        return False
    if before > total:  # the file was begun anew
        before = 0
    end = 0
    for state, row in parts:
        begin, end = max(before - end, 0), end + state.n
        if not np.isnan(state.values[row, begin : state.n]).all():
            seen[key] = -1
            return False
    seen[key] = total
    return True


def _step_times(parts: Sequence[Optional[Stretch]]) -> List[Optional[float]]:
    """Median seconds a step of each; None where it cannot be told."""
    number = RECENT_RECORDS + 1
    steps: FloatArray = np.full((len(parts), number), np.nan)
    walls: FloatArray = np.full((len(parts), number), np.nan)
    for i, part in enumerate(parts):
        if part is not None:
            state = part[0]
            taken = min(state.n, number)
            steps[i, number - taken :] = state.steps[state.n - taken : state.n]
            walls[i, number - taken :] = state.wall_times[state.n - taken : state.n]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        rises, waits = np.diff(steps), np.diff(walls)
        told = (rises > 0.0) & (waits >= 0.0) & (waits < CLOCK_SET_S)
        paces = np.sort(np.where(told, waits / rises, np.nan))  # NaN goes to the end
        means = np.where(told, waits, 0.0).sum(axis=1) / np.where(told, rises, 0.0).sum(axis=1)
    counts = told.sum(axis=1)
    lines = np.arange(len(parts))
    # of an even number the two in the middle
    medians = (paces[lines, np.maximum(counts - 1, 0) // 2] + paces[lines, counts // 2]) / 2.0
    found = np.where(medians < BURST_PART * means, means, medians)
    return [float(each) if count and each > 0.0 else None for each, count in zip(found.tolist(), counts.tolist())]


def _odd(
    ids: Sequence[int], values: Sequence[Optional[float]], role: Role, tag: str
) -> Tuple[Optional[float], Dict[int, OddFigure]]:
    """The median over ranks, and the ranks that are far from it.

    What is not finite is bad, not odd. A zero is what stages of a pipeline write that do not know the value.
    """
    figures: FloatArray = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    known = np.isfinite(figures) & (figures != 0.0)
    if not known.any():
        return None, {}
    median = float(np.median(figures[known]))
    if int(known.sum()) < ODD_LEAST_RANKS:
        return median, {}
    away = figures - median
    least = ODD_LEAST_PART * abs(median)
    spread = max(float(np.median(np.abs(away[known]))) / NORMAL_MAD, least / ODD_SCORE)
    if not spread > 0.0:
        return median, {}
    far = np.flatnonzero(known & (np.abs(away) >= max(ODD_SCORE * spread, least))).tolist()
    return median, {
        ids[i]: OddFigure(ids[i], role, tag, float(figures[i]), median, float(away[i]) / spread) for i in far
    }


def _slower(times: Sequence[Optional[float]]) -> Tuple[Optional[float], List[Optional[float]]]:
    """The median step time over ranks, and how many times slower each straggler is."""
    known = [each for each in times if each is not None]
    median = float(np.median(known)) if known else None
    if median is None or len(known) < STRAGGLER_LEAST_RANKS:
        return median, [None] * len(times)
    return median, [each / median if each is not None and each >= STRAGGLER_TIMES * median else None for each in times]


def _waves(bad: Dict[int, BadValue]) -> Tuple[BadWave, ...]:
    by_step: Dict[int, List[int]] = {}
    for rank_id, value in sorted(bad.items()):
        by_step.setdefault(value.step, []).append(rank_id)
    return tuple(
        BadWave(step, tuple(ranks), tuple(dict.fromkeys(bad[rank_id].tag for rank_id in ranks)))
        for step, ranks in sorted(by_step.items())[:MOST_WAVES]
    )
