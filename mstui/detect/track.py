"""The memory of one curve for slow judgements: its whole course in at most 64 blocks, and its last points.

Blocks are equally wide and double their width when there are too many, so that a judgement on blocks means the same
for 30 points and for a million. Judgements are made at fixed numbers of points ("ticks"), so that it does not matter
how the points arrive. Non-finite values never come in here.
"""

from __future__ import annotations

import math
from typing import Callable, List, Optional

import numpy as np

from mstui.detect.base import Chunk
from mstui.detect.robust import median, scatter_of_neighbours
from mstui.detect.scene import LARGEST_LOG
from mstui.model.records import FloatArray, IntArray

MOST_BLOCKS = 64
"""Blocks kept; twice as many as a test on fifths of the course needs."""
RING = 512
"""Last points kept as they were."""
TICK_SHARE = 32
"""From one tick to the next the curve grows by a 32nd: a judgement comes at most 3 % of the course late."""
LONGEST_STRIDE = 4 * RING
"""Points between two ticks at most: of a course that long a swing or a rise worth a word lasts as many."""
START = 40
"""Points whose median is the level that a curve began at."""

FIRST_SIGMAS = 4.0
NOISE_POINTS = 64
"""Last points whose neighbours tell the noise of single points."""


def stride(count: int) -> int:
    """Points from one tick to the next, after `count` of them."""
    return min(max(1, count // TICK_SHARE), LONGEST_STRIDE)


class Track:
    """One curve."""

    def __init__(self) -> None:
        self.count = 0
        self.width = 1
        """points a block"""
        self.first = float("nan")
        self.lowest = float("inf")
        self.largest = 0.0
        """largest magnitude"""
        self.step = 0
        self.wall = 0.0
        """of the newest point"""
        self._means: List[float] = []
        self._lasts: List[int] = []
        self._part: List[FloatArray] = []
        self._part_length = 0
        self._ring_values: FloatArray = np.empty(0)
        self._ring_steps: IntArray = np.empty(0, np.int64)
        self._head: FloatArray = np.empty(0)
        self._next_tick = 1
        self._cache: Optional[FloatArray] = None

    def feed(self, chunk: Chunk, tick: Callable[[], None]) -> None:
        """Take finite points in and stop at every tick."""
        begin, length = 0, len(chunk)
        while begin < length:
            take = min(length - begin, self._next_tick - self.count)
            self._take(chunk.steps[begin : begin + take], chunk.walls, chunk.values[begin : begin + take], begin + take)
            begin += take
            if self.count == self._next_tick:
                self._next_tick += stride(self.count)
                tick()

    def _take(self, steps: IntArray, walls: FloatArray, values: FloatArray, end: int) -> None:
        if not self.count:
            self.first = float(values[0])
        self.count += len(values)
        self.step, self.wall = int(steps[-1]), float(walls[end - 1])
        low, high = float(values.min()), float(values.max())
        self.lowest = min(self.lowest, low)
        self.largest = max(self.largest, high, -low)
        if len(self._head) < START:
            self._head = np.concatenate((self._head, values[: START - len(self._head)]))
        self._ring_values = np.concatenate((self._ring_values, values))[-RING:]
        self._ring_steps = np.concatenate((self._ring_steps, steps))[-RING:]
        self._add_blocks(steps, values)
        self._cache = None

    def _add_blocks(self, steps: IntArray, values: FloatArray) -> None:
        position = 0
        while position < len(values):
            take = min(len(values) - position, self.width - self._part_length)
            self._part.append(values[position : position + take])
            self._part_length += take
            position += take
            if self._part_length == self.width:
                whole = self._part[0] if len(self._part) == 1 else np.concatenate(self._part)
                self._means.append(float(whole.mean()))
                self._lasts.append(int(steps[position - 1]))
                self._part, self._part_length = [], 0
                if len(self._means) == MOST_BLOCKS:
                    self._merge()

    def _merge(self) -> None:
        means = self._means
        self._means = [(means[i] + means[i + 1]) / 2 for i in range(0, len(means), 2)]
        self._lasts = self._lasts[1::2]
        self.width *= 2

    @property
    def blocks(self) -> FloatArray:
        """Means of the whole blocks, oldest first; the last, unfinished one is left out."""
        if self._cache is None:
            self._cache = np.array(self._means)
        return self._cache

    @property
    def block_steps(self) -> List[int]:
        """The last step of each block."""
        return self._lasts

    def recent(self, most: int) -> FloatArray:
        """The last points, at most so many."""
        return self._ring_values[-most:]

    def recent_steps(self, most: int) -> IntArray:
        """Their steps."""
        return self._ring_steps[-most:]

    def certainly_above_first(self, level: float) -> bool:
        """Is this level above the very first point, by more than the noise of single points? Positive curves only."""
        return self.lowest > 0.0 and level > self.first * math.exp(min(FIRST_SIGMAS * self._noise(), LARGEST_LOG))

    def first_level(self) -> float:
        """The first point as a level: it may lie anywhere within its noise, so the upper end of that."""
        return self.first * math.exp(min(FIRST_SIGMAS / 2 * self._noise(), LARGEST_LOG))

    def _noise(self) -> float:
        """Scatter of the logs of single points, from neighbours."""
        return scatter_of_neighbours(np.log(self.recent(NOISE_POINTS)))

    def start(self, most: int = START) -> float:
        """Median of the first points, at most so many; NaN without any."""
        return median(self._head[:most])
