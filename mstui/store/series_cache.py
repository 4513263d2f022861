"""Series as they were last asked for, so that asking again costs nothing while their points are the same.

Any thread asks; entries are replaced, never changed, and a lost race loses only work. Which points there are is told by
the ranks; this module keeps views of them, and of tags with several sources the merged copy.
"""

from __future__ import annotations

from operator import is_
from typing import Dict, Optional, Sequence, Tuple

from mstui.model.series import SeriesKey
from mstui.store.columns import GroupState, row_of
from mstui.store.composed import Composed
from mstui.store.generations import compose
from mstui.store.merged import Input, Merged, merge
from mstui.store.parts import Rank
from mstui.store.recorded import recorded, shape_of

MOST_CACHED = 512
"""Series kept as views: more than any screen shows, few beside the tags of a large model."""
MOST_MERGED = 64
"""Merged series kept, those asked for last: they are copies, and logs have about ten tags a rank."""

Names = Tuple[str, str]
_States = Tuple[GroupState, ...]


class SeriesCache:
    """Composes series and remembers them."""

    def __init__(self) -> None:
        self._series: Dict[SeriesKey, Tuple[int, _States, Composed]] = {}
        self._merged: Dict[SeriesKey, Tuple[int, Merged]] = {}
        """with the revision at which it was asked for last"""

    def __len__(self) -> int:
        return len(self._series)

    def let_go(self) -> None:
        """Arrays have moved: views of the old ones would keep them in memory. Merged series are copies of their own."""
        self._series = {}

    def clear(self) -> None:
        """Forget everything."""
        self._series, self._merged = {}, {}

    @property
    def bytes_merged(self) -> int:
        """Bytes of the merged copies."""
        return sum(merged.nbytes for _revision, merged in tuple(self._merged.values()))

    def known(self, key: SeriesKey, revision: int) -> Optional[Composed]:
        """The series, if it was composed since the store last changed."""
        cached = self._series.get(key)
        return cached[2] if cached is not None and cached[0] == revision else None

    def composed(self, key: SeriesKey, rank: Rank, names: Names, revision: int) -> Optional[Composed]:
        """The series of a rank under these names (see mstui.store.identity); None when it has no points."""
        since = rank.since  # before the points are looked at: a reset in between must not be taken for an append
        records = recorded(rank, names)
        if not records:
            return None
        cache = self._series
        cached = cache.get(key)
        parts = records[0].parts if len(records) == 1 else [part for each in records for part in each.parts]
        states = tuple([state for state, _row in parts])
        if cached is not None and len(cached[1]) == len(states) and all(map(is_, cached[1], states)):
            cache[key] = (revision, states, cached[2])
            return cached[2]
        rows = [row_of(state, row) for state, row in parts]
        if len(records) == 1:
            generations = compose(rows, records[0].files)
            composed = Composed(key, generations, rows, revision, (records[0].source,))
        else:
            inputs = [
                Input(
                    each.source,
                    (since, names, *shape_of(rank, each.parts)),
                    tuple(each.parts),
                    compose([row_of(state, row) for state, row in each.parts], each.files),
                )
                for each in records
            ]
            merged = self._merge(key, inputs, revision)
            sources = tuple(each.source for each in records)
            composed = Composed(
                key,
                merged.generations,
                rows,
                revision,
                sources,
                disagreement=merged.disagreement,
                walls_rise=merged.walls_rise,
            )
        if len(cache) >= MOST_CACHED:
            cache.clear()
        cache[key] = (revision, states, composed)
        return composed

    def _merge(self, key: SeriesKey, inputs: Sequence[Input], revision: int) -> Merged:
        cache = self._merged
        before = cache.get(key)
        merged = merge(inputs, None if before is None else before[1])
        cache[key] = (revision, merged)
        if len(cache) > MOST_MERGED:
            oldest = min(tuple(cache.items()), key=lambda each: each[1][0])
            cache.pop(oldest[0], None)
        return merged
