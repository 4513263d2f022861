"""One stretch of a log, line by line: which lines make a record, what they measure, what they say.

A record begins at a header, at metrics, at a traceback, or at a line that continues nothing; everything else belongs to
the record before it. Nothing here waits for a later line: what a line gives is given at once, so that the last line of
a training that has died counts too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Mapping, Optional, Sequence, Tuple

from mstui.formats.logs import tracebacks
from mstui.formats.logs.burst import Burst
from mstui.formats.logs.headers import RICH_INDENT, Header, Stamps, parse
from mstui.formats.logs.points import Points
from mstui.formats.logs.producer import AnyShape, Hit
from mstui.formats.logs.rules import EXCEPTION, Said, said
from mstui.formats.logs.state import Reading, State
from mstui.model.logs import EventKind, LogEvent, LogLevel

LONGEST_EVENT_TEXT = 1000
"""Characters of an event's text."""
_AROUND = " \t{}|"
"""What may stand around metrics that make up a whole message."""


class Frame:
    """A cleaned frame and where it lies in the file."""

    __slots__ = ("end", "fresh", "offset", "rank", "text")

    def __init__(self, text: str, rank: Optional[int], offset: int, end: int, *, fresh: bool) -> None:
        self.text = text
        self.rank = rank
        self.offset = offset
        self.end = end
        self.fresh = fresh
        """no record of the same line was before it"""


@dataclass
class Found:
    """What one call of the decoder has found so far."""

    points: Points = field(default_factory=Points)
    offsets: List[int] = field(default_factory=list)
    levels: List[int] = field(default_factory=list)
    events: List[LogEvent] = field(default_factory=list)
    understood: int = 0


class Reader:
    """Reads frames in order."""

    def __init__(self, shapes: Sequence[AnyShape], stamps: Stamps) -> None:
        self.state = State()
        self.burst = Burst()
        self.arrival = 0.0
        """stands in for the time of records without a stamp"""
        self._shapes = shapes
        self._stamps = stamps
        self._last_shape: Optional[AnyShape] = None
        self._joins = False
        self._understood = True
        self._any_record = False
        self._trace: Optional[tracebacks.Open] = None
        self._chained = False
        self._log_lost = False
        self._rich: Optional[str] = None
        self._rich_hits: List[AnyShape] = []
        self._rank: Optional[int] = None

    def after_bulk(self, *, joins: bool, last_step: int, last_wall: Optional[float]) -> None:
        """A run of metric lines has been read elsewhere; the last one is the last record."""
        self.state.last_step = last_step
        self.state.last_wall = last_wall
        self.burst.progress()
        if last_wall is not None:
            self.burst.stamp(last_wall)
        self._joins = joins
        self._any_record = self._understood = True
        self._rich = None
        self._chained = self._log_lost = False

    def read(self, frame: Frame, out: Found) -> bool:
        """Read one frame. True when a record began with it."""
        text = frame.text
        header = parse(text, self._stamps)
        if header is not None and header.wall_time is not None:
            self.burst.stamp(header.wall_time)
        message = self._unwrap(text, header)
        hits, whole = self._search(message, text)
        if self._trace is not None and header is None:
            kind = tracebacks.exception_of(text, metrics=bool(hits))
            if kind is not None:
                self._measure(hits, frame, None, out)
                self._end_trace(self._trace, frame, kind, out)
                return False
            if not hits and not tracebacks.begins(text):
                self._continue_trace(self._trace, frame, out)
                return False
        event = None if whole else self._event(message, header)
        began = self._begin(frame, header, hits, event, out)
        if began and header is None:
            self._log_lost = event is not None and event.kind is EventKind.LOG_LOST
        elif header is not None:
            self._log_lost = self._chained = False
        if hits:
            self._measure(hits, frame, header, out)
        if event is not None:
            self._tell(event, message, frame, header, out)
        if hits or event is not None or header is not None:
            self._understand(out)
        if text.strip() in tracebacks.CHAIN:
            self._chained = True
        if tracebacks.begins(message):
            wall, rank = (header.wall_time, header.rank) if header else (None, None)
            self._trace = tracebacks.Open(
                frame.offset, wall, rank if rank is not None else frame.rank, 0, self._log_lost, self._chained
            )
            self._joins = True
        return began

    def tell_alone(self, event: Said, frame: Frame, out: Found) -> None:
        """Tell an event of a line that was read elsewhere."""
        header = parse(frame.text, self._stamps)
        self._tell(event, header.message if header is not None else frame.text, frame, header, out)

    def _unwrap(self, text: str, header: Optional[Header]) -> str:
        """The message, joined with the lines before it where rich has wrapped it."""
        if header is not None:
            self._rich = header.message if header.wrapped else None
            self._rich_hits = []
            return header.message
        if self._rich is None:
            return text
        if not text.startswith(RICH_INDENT):
            self._rich = None
            return text
        self._rich = f"{self._rich} {text.strip()}"[:LONGEST_EVENT_TEXT]
        return self._rich

    def _search(self, message: str, text: str) -> Tuple[List[Tuple[AnyShape, Hit]], bool]:
        """Matches that claim no text twice, leftmost and longest first; do they make up the whole message."""
        last = self._last_shape
        if last is not None and self._rich is None:
            for hit in last.find(text if last.whole_line else message):
                if not (message[: hit.start()].strip(_AROUND) or message[hit.end() :].strip(_AROUND)):
                    return [(last, hit)], True
                break
        found: List[Tuple[int, int, int, AnyShape, Hit]] = []
        for number, shape in enumerate(self._shapes):
            for word in shape.words:
                if word in text:
                    break
            else:
                if self._rich is None or not any(word in message for word in shape.words):
                    continue
            hits_here = shape.find(text if shape.whole_line else message)
            found += [(hit.start(), -hit.end(), number, shape, hit) for hit in hits_here]
        if not found:
            return [], False
        found.sort(key=lambda each: each[:3])
        hits: List[Tuple[AnyShape, Hit]] = []
        until = 0
        for start, end, _number, shape, hit in found:
            if start >= until:
                until = -end
                if self._rich is None or shape not in self._rich_hits:
                    hits.append((shape, hit))
        if self._rich is not None:
            self._rich_hits += [shape for shape, _hit in hits]
        if len(hits) == 1 and not hits[0][0].whole_line:
            shape, hit = hits[0]
            whole = not (message[: hit.start()].strip(_AROUND) or message[hit.end() :].strip(_AROUND))
            self._last_shape = shape if whole else self._last_shape
            return hits, whole
        return hits, False

    def _event(self, message: str, header: Optional[Header]) -> Optional[Said]:
        quiet = header is not None and header.level in (LogLevel.DEBUG, LogLevel.INFO)
        found = said(message, codes=not quiet)
        if found is None and not quiet:
            exception = EXCEPTION.match(message)
            if exception is not None:
                return Said(EventKind.EXCEPTION, "", {"type": exception["type"]}, None, None)
        return found

    def _begin(
        self,
        frame: Frame,
        header: Optional[Header],
        hits: Sequence[Tuple[AnyShape, Hit]],
        event: Optional[Said],
        out: Found,
    ) -> bool:
        """Begin a record where one begins."""
        trace = header is None and tracebacks.begins(frame.text)
        failed = trace or (header is None and event is not None and EXCEPTION.match(frame.text) is not None)
        if header is None and not self._stands_alone(frame, hits, event, failed=failed, trace=trace):
            return False
        out.offsets.append(frame.offset)
        level = header.level if header is not None else LogLevel.ERROR if failed else LogLevel.UNKNOWN
        out.levels.append(int(level))
        self._joins = header is not None or failed or (event is not None and event.kind is EventKind.LOG_LOST)
        self._understood = False
        self._any_record = True
        return True

    def _stands_alone(
        self,
        frame: Frame,
        hits: Sequence[Tuple[AnyShape, Hit]],
        event: Optional[Said],
        *,
        failed: bool,
        trace: bool,
    ) -> bool:
        """Does a frame without header begin a record."""
        if not self._any_record:
            return True
        if not frame.fresh or self._rich is not None or (trace and (self._chained or self._log_lost)):
            return False
        if failed or any(shape.own_record for shape, _hit in hits):
            return True
        if frame.text.startswith((" ", "\t")) and not hits:
            return False
        if event is not None and event.kind is EventKind.LOG_LOST:
            return True
        return not self._joins

    def _understand(self, out: Found) -> None:
        if not self._understood:
            self._understood = True
            out.understood += 1

    def _measure(
        self, hits: Sequence[Tuple[AnyShape, Hit]], frame: Frame, header: Optional[Header], out: Found
    ) -> None:
        """Take the values and the facts of metrics."""
        state = self.state
        wall = header.wall_time if header is not None else None
        for shape, hit in hits:
            reading = shape.take(hit, state)
            before, state.before = state.before, []
            for each in (*before, reading) if reading is not None else before:
                self._keep(each, frame, wall, out)
            facts, state.facts = state.facts, []
            for fact in facts:
                told = Said(fact.kind, fact.code, dict(fact.fields), fact.step, None)
                message = header.message if header is not None else frame.text
                self._tell(told, message, frame, header, out)

    def _keep(self, reading: Reading, frame: Frame, wall: Optional[float], out: Found) -> None:
        state = self.state
        if frame.rank is not None:
            if self._rank is None:
                self._rank = frame.rank
            elif frame.rank != self._rank:
                state.skip("other-rank", len(reading.values))
                return
        own = reading.wall_time if reading.wall_time is not None else wall
        out.points.add(reading.step, own if own is not None else self.arrival, reading.values)
        if reading.moves:
            state.last_step, state.last_wall = reading.step, own
            self.burst.progress()

    def _tell(self, event: Said, message: str, frame: Frame, header: Optional[Header], out: Found) -> None:
        text = message.strip()[:LONGEST_EVENT_TEXT]
        if not self.burst.admits(event.kind, event.code, text):
            return
        fields = event.fields
        if header is not None and header.pid and event.kind is EventKind.RANK_MAP:
            fields = {"pid": header.pid, **fields}
        wall, rank = (header.wall_time, header.rank) if header is not None else (None, None)
        self._append(event, frame.offset, frame.end, text, fields, wall, rank if rank is not None else frame.rank, out)

    def _append(
        self,
        event: Said,
        offset: int,
        end: int,
        text: str,
        fields: Mapping[str, str],
        wall: Optional[float],
        rank: Optional[int],
        out: Found,
    ) -> None:
        out.events.append(
            LogEvent(
                kind=event.kind,
                offset=offset,
                length=end - offset,
                text=text,
                wall_time=wall,
                step=event.step if event.step is not None else self.state.last_step,
                rank_id=event.rank if event.rank is not None else rank,
                code=event.code,
                fields=fields,
            )
        )

    def _continue_trace(self, trace: tracebacks.Open, frame: Frame, out: Found) -> None:
        if trace.lines < tracebacks.MOST_LINES:
            self._trace = trace._replace(lines=trace.lines + 1)
        else:
            self._end_trace(trace, frame, "", out)

    def _end_trace(self, trace: tracebacks.Open, frame: Frame, kind: str, out: Found) -> None:
        """A traceback is whole: tell it, and what its exception means."""
        self._trace = None
        self._understand(out)
        if trace.lost_log:
            self._log_lost = True
            return
        text = frame.text.strip()[:LONGEST_EVENT_TEXT] if kind else tracebacks.MARK
        fields = {"type": kind}
        if trace.chained:
            fields["chained"] = "1"
        told = Said(EventKind.TRACEBACK, "", fields, None, trace.rank)
        self._append(told, trace.offset, frame.end, text, fields, trace.wall_time, trace.rank, out)
        meant = said(frame.text, codes=True)
        if meant is not None:
            self._tell(meant, frame.text, frame, None, out)
