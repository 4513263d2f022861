"""What the processes of one run have told in their logs: events of all files put together, each thing said once.

Here equal events become one draft. Which of them is the cause, and whether the training went on afterwards, is decided
in `fact_causes` and `fact_sequel`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from mstui.formats.logs import rules
from mstui.model.batch import FileKey
from mstui.model.log_view import LogPlace, ProcessFact, Weight
from mstui.model.logs import EventKind, LogEvent
from mstui.monitor.fact_words import RETRY, meaning_of, weight_of
from mstui.monitor.log_ranks import RankMap
from mstui.monitor.log_times import LogTimes
from mstui.safe_text import safe
from mstui.store.log_index import LogIndexView

LONGEST_TEXT = 500
"""Characters of a fact's text."""
MEANING_BYTES = 4096
"""Behind a traceback: in it lies the block with the device's own message, if one follows."""
SAME_S = 3600.0
"""Equal words of one failure come within this time: a peer's time-out is half an hour by default."""
MOST_FACTS = 200
"""Facts of a run; the least weighty and oldest are left out."""

SILENT_KINDS = frozenset((EventKind.RANK_MAP, EventKind.STARTUP))
"""What a healthy start says: of use here, and no news to anybody"""
CRASHES = frozenset((EventKind.TRACEBACK, EventKind.EXCEPTION))
NEWEST_LEADS = frozenset((EventKind.CHECKPOINT, EventKind.GRAPH_COMPILATION))
"""Of these the last one is what matters"""
_BY_TEXT = frozenset((EventKind.FAULT_TOLERANCE, EventKind.DATA_PIPELINE, EventKind.PROBE_ALERT))
_BY_CODE = frozenset(
    (
        EventKind.OUT_OF_MEMORY,
        EventKind.HCCL_TIMEOUT,
        EventKind.DEVICE_LINK,
        EventKind.TASK_FAILED,
        EventKind.ASCEND_CODE,
        EventKind.WORKER_EXIT,
    )
)
EXPLAINS = frozenset(
    (
        *_BY_CODE,
        EventKind.NAN_STOP,
        EventKind.SCALE_ABORT,
        EventKind.NORM_STREAK,
        EventKind.DATA_PIPELINE,
        EventKind.FAULT_TOLERANCE,
        EventKind.NODE_TIMEOUT,
        EventKind.JOB_FAILED,
    )
)
"""Kinds that say why a process raised an exception"""
_SCHEDULER_SUMS_UP = "timed out node"

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")
_KEY_CHARACTERS = 200


class Told(NamedTuple):
    """One event in one file."""

    file: FileKey
    event: LogEvent
    rank: Optional[int]
    """of the process that told it"""
    wall: Optional[float]
    """its stamp, or that of the record before it"""

    @property
    def end(self) -> int:
        """Byte behind the record."""
        return self.event.offset + self.event.length


@dataclass
class Draft:
    """A fact in the making: one thing, and everybody who told it."""

    kind: EventKind
    told: List[Told]
    """in the order in which they explain: the first one leads"""
    more: int = 0
    """events that are counted and not kept"""
    rank: Optional[int] = None
    """the process that it is about"""
    weight: Weight = Weight.NEWS
    meaning: str = ""
    consequence: bool = False
    overcome: bool = False
    """the process has made steps since"""
    ranks: Tuple[int, ...] = field(default=())

    @property
    def lead(self) -> Told:
        """Who says it first, or with NEWEST_LEADS last."""
        return self.told[0]

    def fact(self) -> ProcessFact:
        """As the screens see it."""
        lead = self.lead
        walls = [told.wall for told in self.told if told.wall is not None]
        return ProcessFact(
            self.kind,
            self.weight,
            self.rank,
            LogPlace(lead.file, lead.event.offset),
            lead.wall,
            lead.event.step,
            safe(lead.event.text, LONGEST_TEXT),
            safe(self.meaning, LONGEST_TEXT),
            safe(lead.event.code),
            len(self.told) + self.more,
            max(walls, default=None),
            self.consequence,
            self.ranks,
        )


class _Log(NamedTuple):
    view: LogIndexView
    events: Tuple[LogEvent, ...]
    counts: Mapping[EventKind, int]


class Events:
    """The events of every log of a run. Belongs to the monitor's thread."""

    def __init__(self) -> None:
        self._logs: Dict[FileKey, _Log] = {}

    def look(self, view: LogIndexView) -> bool:
        """Take what a log says now; True when that is more, or something else, than before."""
        known = self._logs.get(view.key)
        counts = view.event_counts
        if known is not None and known.counts == counts:
            self._logs[view.key] = known._replace(view=view)
            return False
        self._logs[view.key] = _Log(view, view.events, counts)
        return bool(counts) or known is not None

    @property
    def views(self) -> Mapping[FileKey, LogIndexView]:
        """Every log, in no order."""
        return {key: log.view for key, log in self._logs.items()}

    def by_file(self) -> Iterable[Tuple[FileKey, Tuple[LogEvent, ...]]]:
        """Events of every file."""
        return [(key, self._logs[key].events) for key in sorted(self._logs)]

    def surplus(self) -> Mapping[EventKind, int]:
        """Events that are counted and not kept, by kind."""
        out: Dict[EventKind, int] = {}
        for log in self._logs.values():
            for kind, count in log.counts.items():
                out[kind] = out.get(kind, 0) + count
            for event in log.events:
                out[event.kind] -= 1
        return out


def drafts(events: Events, ranks: RankMap, times: LogTimes) -> List[Draft]:
    """Everything that was told, equal things together. Neither weighed against each other nor in order."""
    groups: Dict[Tuple[EventKind, str], List[Draft]] = {}
    views = events.views
    for file, own in events.by_file():
        for event in _explained(own):
            if event.kind in SILENT_KINDS:
                continue
            told = Told(file, event, ranks.of_event(file, event), _wall(event, views[file], times))
            key = _key(event)
            group = groups.setdefault(key, [])
            draft = next((each for each in group if _same(each, told)), None)
            if draft is None:
                group.append(Draft(key[0], [told]))
            else:
                draft.told.append(told)
    found = [draft for group in groups.values() for draft in group]
    for kind, count in events.surplus().items():
        likely = max((each for each in found if each.kind is kind), key=lambda each: len(each.told), default=None)
        if likely is not None:
            likely.more = count
    for draft in found:
        _finish(draft)
    return found


def _explained(events: Tuple[LogEvent, ...]) -> List[LogEvent]:
    """Events of one file, a traceback and what explains it made one."""
    out: List[LogEvent] = []
    trace: Optional[LogEvent] = None
    for event in sorted(events, key=lambda each: each.offset):
        if event.kind in CRASHES:
            meant = rules.said(event.text, codes=True)
            if meant is not None and meant.kind in EXPLAINS:
                event = replace(event, kind=meant.kind, code=meant.code, fields={**event.fields, **meant.fields})
            trace = event
            out.append(event)
            continue
        if trace is not None and event.kind in EXPLAINS:
            behind = event.offset - (trace.offset + trace.length)
            if behind < 0 and trace.kind not in CRASHES:
                continue  # the exception's own line, told once more
            if behind < MEANING_BYTES and trace.kind in CRASHES and event.kind not in _OTHERS:
                whole = event.offset + event.length - trace.offset
                out[out.index(trace)] = replace(
                    event, offset=trace.offset, length=whole, wall_time=trace.wall_time or event.wall_time
                )
                trace = None
                continue
        out.append(event)
    return out


_OTHERS = frozenset((EventKind.WORKER_EXIT, EventKind.NODE_TIMEOUT, EventKind.JOB_FAILED, EventKind.FAULT_TOLERANCE))
"""Behind a traceback these are somebody else's words"""


def _key(event: LogEvent) -> Tuple[EventKind, str]:
    if event.kind in CRASHES:
        return EventKind.TRACEBACK, _shape(event.text)
    if event.kind is EventKind.WORKER_EXIT:
        return event.kind, f"{event.fields.get('pid', event.rank_id)} {event.code}"
    if event.kind is EventKind.NODE_TIMEOUT:
        return event.kind, RETRY if RETRY in event.fields else ""
    if event.kind in _BY_CODE:
        return event.kind, event.code or event.fields.get("host", "")
    return event.kind, _shape(event.text) if event.kind in _BY_TEXT else ""


def _shape(text: str) -> str:
    """The text without its numbers: ranks, sizes and addresses differ between processes."""
    return _NUMBERS.sub("#", text[: 2 * _KEY_CHARACTERS])[:_KEY_CHARACTERS]


def _same(draft: Draft, told: Told) -> bool:
    """Do equal words belong to the same happening: a process crashes once, and one failure does not last for hours."""
    if draft.kind is not EventKind.TRACEBACK and draft.kind not in EXPLAINS:
        return True
    before = [each.wall for each in draft.told if each.wall is not None]
    if told.wall is not None and before and not min(before) - SAME_S <= told.wall <= max(before) + SAME_S:
        return False
    if draft.kind is not EventKind.TRACEBACK:
        return True
    own = [each.event.step for each in draft.told if each.file == told.file]
    return not own or told.event.step in own


def _finish(draft: Draft) -> None:
    """Put the tellers in order and say what can be said of the event alone."""
    if draft.kind in NEWEST_LEADS:
        draft.told.sort(key=lambda each: (each.wall or 0.0, each.file, each.event.offset), reverse=True)
    else:
        draft.told.sort(key=_explaining)
    if draft.kind is EventKind.TRACEBACK and all(told.event.kind is EventKind.EXCEPTION for told in draft.told):
        draft.kind = EventKind.EXCEPTION
    event = replace(draft.lead.event, kind=draft.kind)
    draft.weight = min((weight_of(replace(told.event, kind=draft.kind)) for told in draft.told), key=_HEAVIEST.index)
    draft.meaning = meaning_of(event)
    draft.ranks = tuple(sorted({told.rank for told in draft.told if told.rank is not None}))
    many = draft.kind in NEWEST_LEADS and len(draft.ranks) > 1
    draft.rank = None if many else draft.lead.rank


_HEAVIEST = (Weight.FATAL, Weight.TROUBLE, Weight.NEWS)


def _explaining(told: Told) -> Tuple[bool, bool, float, FileKey, int]:
    sums_up = _SCHEDULER_SUMS_UP in told.event.text
    wall = told.wall if told.wall is not None else float("inf")
    return sums_up, told.rank is None, wall, told.file, told.event.offset


def _wall(event: LogEvent, view: LogIndexView, times: LogTimes) -> Optional[float]:
    if event.wall_time is not None:
        return event.wall_time
    number = view.index_of(event.offset)
    return None if number is None else times.at(view, number)


def by_importance(found: Iterable[Draft]) -> List[Draft]:
    """What explains most first, then by time; at most MOST_FACTS."""
    ordered = sorted(
        found,
        key=lambda each: (
            each.consequence,
            _HEAVIEST.index(each.weight),
            each.overcome,
            each.lead.wall if each.lead.wall is not None else float("inf"),
        ),
    )
    return ordered[:MOST_FACTS]
