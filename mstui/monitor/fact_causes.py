"""Which of several failures is the cause: the process whose exit code says so, or whose log just ends.

A killed process writes nothing. Its peers lose their connections, its launcher kills the others and exits, and half a
minute later the scheduler misses whoever was killed first, which need not be the one that failed first.
"""

from __future__ import annotations

import re
import signal
from typing import Iterable, List, NamedTuple, Optional, Sequence

from mstui.i18n import _
from mstui.model.log_view import Weight
from mstui.model.logs import EventKind
from mstui.monitor.fact_words import RETRY, exit_meaning, killed_by
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.process_facts import Draft

RELATED_S = 7200.0
"""A failure and what follows from it: time-outs of collective communication may be set to an hour."""
CLOCKS_S = 60.0
"""Seconds by which hosts' clocks and buffered lines may turn an order round."""
OVERFLOW_STREAK = 20
"""Overflows in a row that are more than a dynamic loss scale on its way to its level."""

_FOLLOW = frozenset((EventKind.PEER_CLOSED, EventKind.NODE_TIMEOUT, EventKind.JOB_FAILED))
"""Only ever said because a process has ended"""
_OF_PEERS = frozenset((EventKind.HCCL_TIMEOUT, EventKind.DEVICE_LINK, EventKind.FAULT_TOLERANCE))
"""What the peers of a process that ended may say too"""
_PEER_WORDS = re.compile(
    r"(?i)hccl|collective|connection|socket|end of file|timed? ?out|all ?reduce|broadcast|communicat|peer"
)
_KILLED_BY_LAUNCHER = (int(signal.SIGKILL), int(signal.SIGTERM))


class Setting(NamedTuple):
    """What is known of the run besides its events."""

    ranks: Sequence[int]
    """those that have logs of their own"""
    finished: frozenset[int]
    """those that have come to the planned end"""
    step_gap: int
    """steps between records"""


def find_causes(found: Sequence[Draft], ranks: RankMap, setting: Setting) -> None:
    """Say of each draft which process it is about, how heavy it is, and whether it only follows from another."""
    for draft in found:
        _name(draft, ranks)
    _exits(found)
    causes = [
        draft for draft in found if draft.weight is Weight.FATAL and not draft.consequence and draft.kind not in _FOLLOW
    ]
    for draft in found:
        if draft.kind is EventKind.NODE_TIMEOUT and RETRY in draft.lead.event.fields:
            continue
        if draft.kind in _FOLLOW:
            draft.consequence = draft.consequence or any(_related(cause, draft) for cause in causes)
        elif _is_a_peers(draft) and any(_explains(cause, draft) for cause in causes):
            draft.consequence = True
    left = [draft for draft in found if draft.kind in _FOLLOW and not draft.consequence]
    if left:
        _without_a_cause(left, setting)
    for draft in found:
        if draft.kind is EventKind.OVERFLOW and _is_a_streak(draft, setting.step_gap):
            draft.weight = Weight.TROUBLE
            draft.meaning = _("the gradients overflow again and again")


def _name(draft: Draft, ranks: RankMap) -> None:
    """The process that a draft is about, where that is not the one that told it."""
    fields = draft.lead.event.fields
    if draft.kind is EventKind.WORKER_EXIT:
        draft.rank = ranks.pids.get(fields.get("pid", ""), draft.rank)
        draft.ranks = ()
    elif draft.kind is EventKind.NODE_TIMEOUT:
        nodes = {told.event.code for told in draft.told if told.event.code}
        draft.rank = ranks.nodes.get(nodes.pop()) if len(nodes) == 1 else None
        draft.ranks = ()
    elif draft.kind is EventKind.JOB_FAILED:
        draft.rank = None
    elif draft.kind is EventKind.HCCL_TIMEOUT and fields.get("peer_rank", "").isdigit():
        draft.rank = int(fields["peer_rank"])


def _exits(found: Sequence[Draft]) -> None:
    """A process that told why it ended explains its exit code; another one is told by its exit code alone."""
    exits = [draft for draft in found if draft.kind is EventKind.WORKER_EXIT]
    exits.sort(key=_when)
    for place, draft in enumerate(exits):
        own = [each for each in found if _is_own_end(each) and _related(each, draft)]
        told = next((each for each in own if draft.rank is not None and draft.rank in each.ranks), None)
        if told is None and killed_by(draft.lead.event.code) is None:
            nameless = [each for each in own if not each.ranks and each.lead.file == draft.lead.file]
            told = next((each for each in nameless if each.lead.event.offset < draft.lead.event.offset), None)
            if told is not None and draft.rank is not None:
                told.rank, told.ranks = draft.rank, (draft.rank,)
        signal_number = killed_by(draft.lead.event.code)
        draft.meaning = exit_meaning(draft.lead.event.code, silent=told is None)
        draft.consequence = told is not None or (
            signal_number in _KILLED_BY_LAUNCHER
            and any(_related(each, draft) and each.lead.file == draft.lead.file for each in exits[:place])
        )


def _is_own_end(draft: Draft) -> bool:
    """Does it tell why the process that wrote it ended."""
    return draft.weight is Weight.FATAL and draft.kind not in _FOLLOW and draft.kind is not EventKind.WORKER_EXIT


def _is_a_peers(draft: Draft) -> bool:
    if draft.kind in (EventKind.TRACEBACK, EventKind.EXCEPTION):
        return _PEER_WORDS.search(draft.lead.event.text) is not None
    return draft.kind in _OF_PEERS


def _explains(cause: Draft, draft: Draft) -> bool:
    """Is the cause another process's, of a kind that is no peer's word itself, and not later."""
    return (
        cause is not draft
        and not _is_a_peers(cause)
        and _related(cause, draft)
        and (cause.rank is None or cause.rank not in draft.ranks)
        and _when(cause) <= _when(draft) + CLOCKS_S
    )


def _related(one: Draft, other: Draft) -> bool:
    """Can two drafts be of one failure, as far as their times tell."""
    first, second = one.lead.wall, other.lead.wall
    return first is None or second is None or abs(first - second) <= RELATED_S


def _when(draft: Draft) -> float:
    return draft.lead.wall if draft.lead.wall is not None else float("inf")


def _without_a_cause(left: Sequence[Draft], setting: Setting) -> None:
    """Only consequences are known. Whose log just ends is the cause, if that is one; else the first one leads."""
    for draft in left:
        if draft.kind is EventKind.PEER_CLOSED:
            silent = [rank for rank in setting.ranks if rank not in draft.ranks]
            draft.rank = silent[0] if len(silent) == 1 and draft.ranks else None
            if draft.rank is not None and draft.rank not in setting.finished:
                draft.weight = Weight.FATAL
                draft.meaning = _(
                    "its log just ends and its peers lost their connections: it was killed, by the kernel when "
                    "the host ran out of memory or by somebody, or its host failed"
                )
            elif setting.ranks and setting.finished.issuperset(setting.ranks):
                draft.weight = Weight.NEWS
    heavy = [draft for draft in left if draft.weight is Weight.FATAL and RETRY not in draft.lead.event.fields]
    for draft in _but_the_first(heavy):
        draft.consequence = True


def _but_the_first(heavy: Sequence[Draft]) -> Iterable[Draft]:
    ordered: List[Draft] = sorted(heavy, key=lambda each: (each.kind is not EventKind.PEER_CLOSED, _when(each)))
    first: Optional[Draft] = ordered[0] if ordered else None
    return [draft for draft in ordered[1:] if first is not None and _related(first, draft)]


def _is_a_streak(draft: Draft, step_gap: int) -> bool:
    steps = sorted({told.event.step for told in draft.told if told.event.step is not None})
    longest = run = 1
    for before, after in zip(steps, steps[1:]):
        run = run + 1 if after - before <= step_gap else 1
        longest = max(longest, run)
    return longest >= OVERFLOW_STREAK
