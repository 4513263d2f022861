"""The ranks of one run side by side: figures of each, and who differs from the others. Facts, no judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional, Tuple

from mstui.model.roles import Role
from mstui.model.runs import RunStatus


class BadValue(NamedTuple):
    """The first NaN or infinity of one rank."""

    tag: str
    step: int


class BadWave(NamedTuple):
    """Ranks whose first NaN or infinity is at the same step."""

    step: int
    ranks: Tuple[int, ...]
    """rising"""
    tags: Tuple[str, ...]
    """in which it was seen, those of the lowest rank first"""


class OddFigure(NamedTuple):
    """A rank's newest value of one tag, far from those of the other ranks."""

    rank_id: int
    role: Role
    tag: str
    value: float
    median: float
    """over the ranks"""
    score: float
    """robust z: distance from the median in standard deviations, as the median absolute deviation tells them"""


class RankRow(NamedTuple):
    """One rank. What it does not record is None."""

    rank_id: int
    status: RunStatus
    last_step: Optional[int]
    behind: Optional[int]
    """steps that the rank farthest ahead is ahead of it; 0 for that rank itself"""
    last_data: float
    """Unix seconds of its newest byte; 0.0 if none"""
    loss: Optional[float] = None
    """newest value, NaN and infinities included"""
    grad_norm: Optional[float] = None
    step_time_s: Optional[float] = None
    """median seconds a step over its recent records"""
    bad: Optional[BadValue] = None
    odd: Tuple[OddFigure, ...] = ()
    slower: Optional[float] = None
    """its step time over the median of all ranks, where that is enough to call it a straggler"""
    stopped: bool = False
    """nothing new from it while other ranks go on"""


@dataclass(frozen=True)
class RankTable:
    """All ranks of a run."""

    run_key: str
    rows: Tuple[RankRow, ...]
    """by rising rank"""
    front_step: Optional[int] = None
    """the highest last step"""
    loss_tag: str = ""
    grad_norm_tag: str = ""
    loss_median: Optional[float] = None
    grad_norm_median: Optional[float] = None
    step_time_median_s: Optional[float] = None
    bad: Tuple[BadWave, ...] = ()
    """by rising step: the first is where a value went bad first"""
    odd: Tuple[OddFigure, ...] = ()
    """the farthest first"""
    stragglers: Tuple[int, ...] = ()
    """the slowest first"""
    stopped: Tuple[int, ...] = ()
    """the one that is farthest behind first"""
