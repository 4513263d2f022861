"""The rank that a person asked for at the start: shown as soon as it is there, and missed in words until then.

It refuses to decide for a person who has chosen another rank meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from mstui.i18n import _
from mstui.model.runs import RunInfo, WatchState, ranks_text
from mstui.tui.selection import lowest_rank


class Answer(NamedTuple):
    """What is to be done about it now."""

    rank_id: Optional[int] = None
    """select this one"""
    message: str = ""
    """say this"""


class AskedRank:
    """Of one start of the program."""

    def __init__(self, rank_id: Optional[int]) -> None:
        """`rank_id`: None when nobody asked for one."""
        self._asked = rank_id
        self._run_key = ""
        self._instead = 0
        self._told = False

    def begin(self, run: RunInfo) -> int:
        """The rank to begin with: the one that was asked for, or the lowest while it is not there."""
        self._run_key, self._instead = run.key, lowest_rank(run)
        if self._asked is not None and _has(run, self._asked):
            self._instead, self._asked = self._asked, None
        return self._instead

    def look(self, run: RunInfo, rank_id: int, watch: WatchState) -> Answer:
        """The run that is shown, and its rank: has the one that was asked for come, or is it plain that it has not?"""
        if self._asked is None:
            return Answer()
        if (run.key, rank_id) != (self._run_key, self._instead):
            self._asked = None
            return Answer()
        if _has(run, self._asked):
            found, self._asked = self._asked, None
            return Answer(rank_id=found)
        if self._told or not run.loaded or not run.ranks or watch.bytes_read < watch.bytes_total:
            return Answer()
        self._told = True
        return Answer(message=_("no rank {rank}; ranks: {ranks}").format(rank=self._asked, ranks=ranks_text(run)))


def _has(run: RunInfo, rank_id: int) -> bool:
    return any(rank.rank_id == rank_id for rank in run.ranks)
