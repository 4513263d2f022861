"""Persistence and hysteresis over points, done for whole chunks at once where nothing happens."""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple, Optional

import numpy as np

from mstui.model.records import IntArray
from mstui.model.series import BoolArray

Veto = Callable[[int, int], bool]
"""(index of a point, bad points in a row up to it) -> not yet"""


class Turn(NamedTuple):
    """A moment at which a streak became long enough."""

    at: int
    """of the point in the chunk"""
    bad: bool
    """True: bad for long enough; False: good again for long enough"""
    onset: int
    """step at which the streak began"""


class Streak:
    """Counts bad and good points in a row; says when `needed` bad ones over `span` steps, or `enough` good ones, came.

    The span is there because some record every step and some every hundredth: three records may be no time at all.
    """

    def __init__(self, needed: int, enough: int, span: int = 0) -> None:
        self.needed = needed
        self.span = span
        self.enough = enough
        self.open = False
        self.length = 0
        """bad points in a row, up to now"""
        self._good = 0
        self._onset = 0
        self._good_onset = 0

    def reset(self) -> None:
        """Forget everything."""
        self.open, self.length, self._good = False, 0, 0

    def feed(self, bad: BoolArray, steps: IntArray, veto: Optional[Veto] = None) -> Iterator[Turn]:
        """The turns that these points bring, in order. A `veto` puts a bad turn off, from point to point."""
        total = len(bad)
        if not total:
            return
        changes = np.flatnonzero(bad[1:] != bad[:-1]) + 1
        begin = 0
        for end in (*changes.tolist(), total):
            length = end - begin
            if bad[begin]:
                yield from self._bad(begin, length, steps, veto)
            else:
                yield from self._fine(begin, length, steps)
            begin = end

    def _bad(self, begin: int, length: int, steps: IntArray, veto: Optional[Veto]) -> Iterator[Turn]:
        if not self.length:
            self._onset = int(steps[begin])
        before, self.length = self.length, self.length + length
        self._good = 0
        if self.open or self.length < self.needed:
            return
        index = begin + max(0, self.needed - before - 1)
        if self.span:
            index = max(index, int(np.searchsorted(steps, self._onset + self.span)))
        while veto is not None and index < begin + length and veto(index, before + index - begin + 1):
            index += 1
        if index < begin + length:
            self.open = True
            yield Turn(index, True, self._onset)  # noqa: FBT003

    def _fine(self, begin: int, length: int, steps: IntArray) -> Iterator[Turn]:
        if not self._good:
            self._good_onset = int(steps[begin])
        before, self._good = self._good, self._good + length
        self.length = 0
        if self.open and self._good >= self.enough:
            self.open = False
            yield Turn(begin + max(0, self.enough - before - 1), False, self._good_onset)  # noqa: FBT003
