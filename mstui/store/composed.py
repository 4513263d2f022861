"""A series with what charts, cursors and rules need to know beyond its points, each worked out once and on demand.

Belongs to one moment: when points are added, the run store makes another one. Views only, no copies, unless wall times
run backwards; a merged series (mstui.store.merged) is made of copies already.
"""

from __future__ import annotations

from functools import cached_property
from typing import List, Optional, Sequence, Tuple

import numpy as np

from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.model.series import Disagreement, Points, Series, SeriesKey
from mstui.model.sources import Source
from mstui.store.columns import CLEAN, Row
from mstui.store.generations import Generations
from mstui.store.rhythm import LATEST_TIME

SCAN_CHUNK = 65536
"""Points looked at together when the first non-finite one is searched: most searches end in the first chunk."""


class Composed:
    """One series at one moment."""

    def __init__(
        self,
        key: SeriesKey,
        generations: Generations,
        rows: Sequence[Row],
        revision: int,
        sources: Tuple[Source, ...] = (),
        *,
        disagreement: Optional[Disagreement] = None,
        walls_rise: bool = True,
    ) -> None:
        """`rows`: what the points were taken from, each of which tells of itself whether it runs back in time.

        `walls_rise`: False where the points were put together anew, and run back in time although no row does.
        """
        self.series = Series(
            key,
            generations.current,
            generations.superseded,
            tuple(step for step, _ in generations.restarts),
            revision,
            sources,
            disagreement,
        )
        self.restart_walls = tuple(wall for _, wall in generations.restarts)
        """wall time of each of series.restarts"""
        self.clean = all(row.first_bad == CLEAN for row in rows)
        """no NaN and no infinity in any generation"""
        self._rows_rise = walls_rise and all(row.wall_fall == CLEAN for row in rows)

    @cached_property
    def starts(self) -> IntArray:
        """[len(current) + 1] index of each stretch's first point among all current ones, and their number."""
        return np.cumsum([0, *(len(points) for points in self.series.current)], dtype=np.int64)

    @property
    def total(self) -> int:
        """Points in `current`."""
        return int(self.starts[-1])

    @cached_property
    def rising_walls(self) -> Tuple[FloatArray, ...]:
        """Wall times of each current stretch as a running maximum over all of them: an axis cannot go back.

        What a writer without a clock leaves (zero, NaN) counts as the time before it; in front, as the first real one.
        """
        walls = [points.wall_times for points in self.series.current]
        are_times = walls[0][0] > 0.0 and walls[-1][-1] < LATEST_TIME
        if self._rows_rise and are_times and all(a[-1] <= b[0] for a, b in zip(walls, walls[1:])):
            return tuple(walls)
        times = [np.where((each > 0.0) & (each < LATEST_TIME), each, np.nan) for each in walls]
        highest = next((float(each[np.argmin(np.isnan(each))]) for each in times if not np.isnan(each).all()), 0.0)
        out: List[FloatArray] = []
        for each in times:
            # fmax passes NaN over
            risen = np.fmax.accumulate(np.fmax(each, highest))
            out.append(risen)
            highest = float(risen[-1])
        return tuple(out)

    @cached_property
    def old_by_wall(self) -> Tuple[Tuple[FloatArray, ValueArray], ...]:
        """Wall times and values of each superseded stretch in rising wall order."""
        out: List[Tuple[FloatArray, ValueArray]] = []
        for points in self.series.superseded:
            walls = points.wall_times
            if self._rows_rise and bool(np.all(walls[1:] >= walls[:-1])):
                out.append((walls, points.values))
            else:
                order = np.argsort(walls, kind="stable")
                out.append((walls[order], points.values[order]))
        return tuple(out)

    @cached_property
    def first_non_finite(self) -> Optional[int]:
        """Index of the first NaN or infinity among the current points."""
        return None if self.clean else self.next_non_finite(0)

    def next_non_finite(self, index: int) -> Optional[int]:
        """Index of the first NaN or infinity at or behind an index; does not wrap."""
        if self.clean:
            return None
        starts: List[int] = self.starts.tolist()
        for start, points in zip(starts, self.series.current):
            begin = max(index - start, 0)
            while begin < len(points):
                bad = ~np.isfinite(points.values[begin : begin + SCAN_CHUNK])
                if bad.any():
                    return start + begin + int(np.argmax(bad))
                begin += SCAN_CHUNK
        return None

    def place(self, index: int) -> Tuple[Points, int]:
        """The stretch that holds the current point with this index, and its place there."""
        stretch = int(np.searchsorted(self.starts, index, side="right")) - 1
        return self.series.current[stretch], index - int(self.starts[stretch])
