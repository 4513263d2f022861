"""One stretch of a log, line by line: which lines make a record, what they measure, what they say.

A record begins at a header, at metrics, at a traceback, or at a line that continues nothing; everything else belongs to
the record before it. Nothing here waits for a later line: what a line gives is given at once, so that the last line of
a training that has died counts too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

from mstui.formats.logs import tracebacks
from mstui.formats.logs.burst import Burst
from mstui.formats.logs.found import Found
from mstui.formats.logs.headers import RICH_INDENT, Header, Stamps, parse
from mstui.formats.logs.producer import AnyShape, Hit
from mstui.formats.logs.rules import EXCEPTION, Said, said
from mstui.formats.logs.state import Reading, State
from mstui.model.logs import EventKind, LogEvent, LogLevel

if TYPE_CHECKING:
    from mstui.model.runs import Fact

LONGEST_EVENT_TEXT = 1000
"""Characters of an event's text."""
_AROUND = " \t{}|"
"""What may stand around metrics that make up a whole message."""


USUAL = 4
"""Shapes tried before all others: trainings print few, in turn."""


def _whole(message: str, hit: Hit) -> bool:
    """Does a match make up a message."""
    start, end = hit.start(), hit.end()
    return not ((start and message[:start].strip(_AROUND)) or (end < len(message) and message[end:].strip(_AROUND)))


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


class Reader:
    """Reads frames in order."""

    def __init__(self, shapes: Sequence[AnyShape], stamps: Stamps) -> None:
        self.state = State()
        self.burst = Burst()
        self.arrival = 0.0
        """stands in for the time of records without a stamp"""
        self._guards = [(word, number, shape) for number, shape in enumerate(shapes) for word in shape.words]
        self._stamps = stamps
        self._usual: List[Tuple[str, AnyShape]] = []
        """shapes that made up whole messages lately, each with its guard"""
        self._joins = False
        self._understood = True
        self._any_record = False
        self._trace: Optional[tracebacks.Open] = None
        self._chained = False
        self._log_lost = False
        self._rich: Optional[str] = None
        self._rich_hits: List[AnyShape] = []
        self._rank: Optional[int] = None
        self._record = 0
        """offset of the record that lines are added to"""
        self._told_step: Optional[Tuple[int, int]] = None
        """last step told of, and the record that did"""
        self._pending_at = 0
        """offset of the record whose values wait for their step"""
        self._facts: Dict[str, Fact] = {}

    def new_facts(self) -> Dict[str, Fact]:
        """What the lines have said of the training since this was asked last."""
        known = self.state.facts_known()
        new = {name: fact for name, fact in known.items() if self._facts.get(name) != fact}
        self._facts = known
        return new

    def after_bulk(self, *, joins: bool, last_step: int, last_wall: Optional[float], offset: int, told: int) -> None:
        """A run of metric lines has been read elsewhere: `offset` is the last record, `told` the last with a step."""
        self._record = offset
        self._told_step = (last_step, told)
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
        """Tell an event of a line of metrics that was read elsewhere."""
        self.burst.progress()
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
        if self._rich is None:
            for word, last in self._usual:
                if word in message:
                    for hit in last.find(message):
                        if _whole(message, hit):
                            return [(last, hit)], True
                        break
        found: List[Tuple[int, int, int, AnyShape, Hit]] = []
        tried = -1
        for word, number, shape in self._guards:
            if word in message or (shape.whole_line and word in text):
                if number == tried:
                    continue
                tried = number
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
            if _whole(message, hit):
                word = next(word for word in shape.words if word in message)
                self._usual = [(word, shape), *(each for each in self._usual if each[1] is not shape)][:USUAL]
                return hits, True
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
        level = header.level if header is not None else LogLevel.ERROR if failed else LogLevel.UNKNOWN
        out.begin(frame.offset, level)
        self._record = frame.offset
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
            waiting = state.pending
            reading = shape.take(hit, state)
            before, state.before = state.before, []
            for each in before:
                self._keep(each, frame, wall, self._pending_at, out)
            if reading is not None:
                self._keep(reading, frame, wall, self._record, out)
            if state.pending is not waiting:
                self._pending_at = self._record
            facts, state.facts = state.facts, []
            for fact in facts:
                told = Said(fact.kind, fact.code, dict(fact.fields), fact.step, None)
                message = header.message if header is not None else frame.text
                self._tell(told, message, frame, header, out)

    def _keep(self, reading: Reading, frame: Frame, wall: Optional[float], record: int, out: Found) -> None:
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
            if self._told_step is not None:
                record = max(record, self._told_step[1])
            if self._told_step != (reading.step, record):
                self._told_step = (reading.step, record)
                out.step(reading.step, record)

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
