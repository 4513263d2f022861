"""The spread of a tag over the ranks of a run, column by column: least minimum and greatest maximum.

A chart asks for it at every redraw, and a run may have a thousand ranks. So what was reduced is kept, and only the
points that came since are added, those of all ranks in one pass. What makes a band begin anew (another range of x,
another rank left out, points that a restart took away) is done in bounded pieces, one a call: the spread over many
ranks grows into the picture, and `unfinished` asks whoever draws to come again.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.model.records import ValueArray
from mstui.model.series import SeriesKey
from mstui.store.axis import Axis, Native
from mstui.store.columns import CLEAN
from mstui.store.recorded import Stretch, is_rising, shape_of
from mstui.store.reduce import Extremes, extremes
from mstui.store.rhythm import LATEST_TIME
from mstui.store.run_store import Store

WORK_A_CALL = 1_500_000
"""Points that one call reduces anew, about 10 ms."""
WORK_A_RANK = 6_000
"""Points that cost as much as a rank which is reduced by itself does without any."""
WORK_A_RESTART = 30_000
"""The same for one that has begun again from an older step: what that overwrote is to be told from what holds."""
FEW_POINTS = 256
"""Points of a rank up to which they are put together with those of other ranks and reduced in one pass."""
FEW_TIMES_CHEAPER = 8
"""What that saves."""
MOST_BANDS = 32
"""Bands kept, the latest ones: more than any screen shows charts."""


class _Seen(NamedTuple):
    """What of one rank is in a band."""

    revision: int
    """of the rank"""
    shape: Tuple[object, ...]
    """as long as it is the same, points were added at the ends only and none was taken away"""
    counts: Tuple[int, ...]
    """points of each stretch"""


class _Reduced:
    """One band so far."""

    def __init__(self, axis: Axis, edges: Native) -> None:
        self.axis = axis
        self.edges = edges
        self.lo = np.full(len(edges) - 1, np.nan)
        self.hi = np.full(len(edges) - 1, np.nan)
        self.seen: Dict[int, _Seen] = {}

    def add(self, more: Extremes) -> None:
        """Widen by what one rank has."""
        self.lo, self.hi = np.fmin(self.lo, more[0]), np.fmax(self.hi, more[1])

    def add_points(self, natives: Sequence[Native], parts: Sequence[ValueArray]) -> None:
        """Widen by points in any order."""
        values = np.concatenate(parts)
        columns = np.searchsorted(self.edges, np.concatenate(natives), side="right") - 1
        inside = (columns >= 0) & (columns < len(self.lo)) & np.isfinite(values)
        # arrays that were given out are never written to
        self.lo, self.hi = self.lo.copy(), self.hi.copy()
        np.fmin.at(self.lo, columns[inside], values[inside])
        np.fmax.at(self.hi, columns[inside], values[inside])


class Bands:
    """Bands of the charts shown lately. Belongs to one thread."""

    def __init__(self, store: Store, *, work: float = WORK_A_CALL) -> None:
        """`work`: points that one call may reduce anew."""
        self._store = store
        self._work = work
        self._kept: Dict[SeriesKey, _Reduced] = {}
        self.unfinished = False
        """a band was given that does not cover every rank yet; set back by whoever sees to it that it is asked again"""

    def band(self, key: SeriesKey, axis: Axis, edges: Native) -> Optional[Extremes]:
        """The spread over all ranks of the run but the key's own; None when no other has the tag."""
        reduced = self._kept.pop(key, None)
        if reduced is None or reduced.axis != axis or not np.array_equal(reduced.edges, edges):
            reduced = _Reduced(axis, edges)
        if not self._update(reduced, key):
            reduced = _Reduced(axis, edges)
            self._update(reduced, key)
        if len(self._kept) >= MOST_BANDS:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = reduced
        return (reduced.lo, reduced.hi) if reduced.seen else None

    def _update(self, reduced: _Reduced, key: SeriesKey) -> bool:
        """Add what is new. False when a rank has lost points: what they have widened cannot be taken back."""
        work = self._work
        natives: List[Native] = []
        values: List[ValueArray] = []
        for rank_id in self._store.ranks(key.run_key):
            rank = self._store.rank(key.run_key, rank_id)
            seen = reduced.seen.get(rank_id)
            if rank is None or rank_id == key.rank_id or (seen is not None and seen.revision == rank.revision):
                continue
            revision = rank.revision
            parts = self._store.stretches(SeriesKey(key.run_key, rank_id, key.tag))
            shape = (self._store.names_version(key.run_key), *shape_of(rank, parts))
            if seen is not None and seen.shape != shape:
                return False
            if not parts:
                continue
            counts = tuple(state.n for state, _row in parts)
            if seen is not None and len(seen.counts) == len(counts) and _has_own_natives(parts, reduced.axis):
                for (state, row), before in zip(parts, seen.counts):
                    if state.n > before:
                        own = state.steps if reduced.axis.by_step else state.wall_times
                        natives.append(own[before : state.n])
                        values.append(state.values[row, before : state.n])
            elif work <= 0:
                self.unfinished = True
                continue
            elif sum(counts) <= FEW_POINTS and is_rising(parts) and _has_own_natives(parts, reduced.axis):
                for state, row in parts:
                    natives.append((state.steps if reduced.axis.by_step else state.wall_times)[: state.n])
                    values.append(state.values[row, : state.n])
                work -= WORK_A_RANK // FEW_TIMES_CHEAPER
            else:
                reduced.add(self._whole(SeriesKey(key.run_key, rank_id, key.tag), parts, reduced))
                work -= (WORK_A_RANK if is_rising(parts) else WORK_A_RESTART) + sum(counts)
            reduced.seen[rank_id] = _Seen(revision, shape, counts)
        if natives:
            reduced.add_points(natives, values)
        return True

    def _whole(self, key: SeriesKey, parts: Sequence[Stretch], reduced: _Reduced) -> Extremes:
        """All that one rank has now."""
        axis, edges = reduced.axis, reduced.edges
        if is_rising(parts) and _has_own_natives(parts, axis):
            return extremes(
                (
                    ((state.steps if axis.by_step else state.wall_times)[: state.n], state.values[row, : state.n])
                    for state, row in parts
                ),
                edges,
                self._store.blocks,
            )
        composed = self._store.composed(key)
        if composed is None:
            return np.full(len(edges) - 1, np.nan), np.full(len(edges) - 1, np.nan)
        values = [points.values for points in composed.series.current]
        return extremes(zip(axis.natives(composed), values), edges, self._store.blocks)


def _has_own_natives(parts: Sequence[Stretch], axis: Axis) -> bool:
    """May places on the axis be taken from the stretches as they are? A clock that goes back is no axis."""
    if axis.by_step:
        return True
    last = 0.0
    for state, _row in parts:
        begin, end = float(state.wall_times[0]), float(state.wall_times[state.n - 1])
        if state.wall_fall != CLEAN or not last <= begin or not 0.0 < begin <= end < LATEST_TIME:
            return False
        last = end
    return True
