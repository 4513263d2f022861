"""A memory for each rank that a launcher's prefix names in one console: its steps, its loss, its loss scale."""

from __future__ import annotations

from typing import Dict, Optional

from mstui.formats.logs.state import State

MOST_RANKS = 4096
"""Ranks of one console that have a memory of their own."""


class RankStates:
    """The memories of one stretch of a log, besides that of lines without a prefix."""

    def __init__(self) -> None:
        self.first: Optional[int] = None
        """first one that a prefix names before a metric: its memory is that of lines without prefix"""
        self._others: Dict[int, State] = {}

    def of(self, rank: int, own: State) -> Optional[State]:
        """The memory of a rank; `own` is that of lines without a prefix. None where there are too many ranks."""
        if self.first is None:
            self.first = rank
        if rank == self.first:
            return own
        if rank not in self._others and len(self._others) >= MOST_RANKS:
            return None
        return self._others.setdefault(rank, State())

    def take_skipped(self, own: State) -> Dict[str, int]:
        """Values that were understood but are none, of all ranks, since this was asked last."""
        total: Dict[str, int] = {}
        for state in (own, *self._others.values()):
            for why, count in state.skipped.items():
                total[why] = total.get(why, 0) + count
            state.skipped = {}
        return total
