"""One stretch of a log, line by line: which lines make a record, what they measure, what they say.

A record begins at a header, at metrics, at a traceback, or at a line that continues nothing; everything else belongs to
the record before it. Nothing here waits for a later line: what a line gives is given at once, so that the last line of
a training that has died counts too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, cast

from mstui.formats.logs import tracebacks
from mstui.formats.logs.burst import Burst
from mstui.formats.logs.found import Found
from mstui.formats.logs.headers import RICH_INDENT, Header, Stamps, parse, places
from mstui.formats.logs.lines import Frame, Place, Text
from mstui.formats.logs.points import Points
from mstui.formats.logs.producer import AnyShape, Hit
from mstui.formats.logs.rank_states import RankStates
from mstui.formats.logs.rules import EXCEPTION, Said, said, settled
from mstui.formats.logs.search import Search, Take, takes
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.templates import Template, measured
from mstui.model.logs import EventKind, LogEvent, LogLevel

if TYPE_CHECKING:
    import re

    from mstui.model.runs import Fact

LONGEST_EVENT_TEXT = 1000
"""Characters of an event's text."""


class Reader:
    """Reads frames in order."""

    def __init__(self, search: Search, stamps: Stamps) -> None:
        self.state = State()
        self.burst = Burst()
        self.arrival = 0.0
        """stands in for the time of records without a stamp"""
        self._search = search
        self._stamps = stamps
        self._joins = False
        self._understood = True
        self._any_record = False
        self._trace: Optional[tracebacks.Open] = None
        self._chained = False
        self._log_lost = False
        self._rich: Optional[str] = None
        self._rich_hits: List[AnyShape] = []
        self._ranks = RankStates()
        self._record = 0
        """offset of the record that lines are added to"""
        self._told_step: Optional[Tuple[int, int]] = None
        """last step told of, and the record that did"""
        self._pending_at = 0
        """offset of the record whose values wait for their step"""
        self._facts: Dict[str, Fact] = {}

    @property
    def names_ranks(self) -> bool:
        """A launcher's prefix has named ranks: each has a memory of its own."""
        return self._ranks.first is not None

    def take_skipped(self) -> Dict[str, int]:
        """Values that were understood but are none, since this was asked last."""
        return self._ranks.take_skipped(self.state)

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

    def read(self, frame: Frame, out: Found, cleaned: Optional[Text] = None) -> Optional[Template]:
        """Read one frame. Gives back how lines that differ in digits only are read, where that is settled.

        `cleaned`: where the frame's text is from; None when nobody asks for a template.
        """
        text = frame.text
        header = parse(text, self._stamps)
        if header is not None and header.wall_time is not None:
            self.burst.stamp(header.wall_time)
        message = self._unwrap(text, header)
        hits, whole, blind = self._search.find(message, text)
        if self._rich is not None:
            hits = [each for each in hits if each[0] not in self._rich_hits]
            self._rich_hits += [shape for shape, _hit in hits]
            whole = whole and bool(hits)
        if self._trace is not None and header is None:
            kind = tracebacks.exception_of(text, metrics=bool(hits))
            if kind is not None:
                self._measure(takes(hits), frame.place, None, out)
                self._end_trace(self._trace, frame, kind, out)
                return None
            if not hits and not tracebacks.begins(text):
                self._continue_trace(self._trace, frame, out)
                return None
        event = None if whole else self._event(message, header)
        began = self._begin(frame, header, hits, event, out)
        if began and header is None:
            self._log_lost = event is not None and event.kind is EventKind.LOG_LOST
        elif header is not None:
            self._log_lost = self._chained = False
        if hits:
            self._measure(takes(hits), frame.place, header.wall_time if header is not None else None, out)
        if event is not None:
            self._tell(event, message, frame, header, out)
        if hits or event is not None or header is not None:
            self._understand(out)
        if text.strip() in tracebacks.CHAIN:
            self._chained = True
            return None
        if tracebacks.begins(message):
            wall, rank = (header.wall_time, header.rank) if header else (None, None)
            self._trace = tracebacks.Open(
                frame.offset, wall, rank if rank is not None else frame.rank, 0, self._log_lost, self._chained
            )
            self._joins = True
            return None
        if cleaned is None or not blind or event is not None or self._rich is not None:
            return None
        if not whole and not settled(message, codes=header is None or not header.quiet):
            return None
        return self._template(cleaned, header, message, hits)

    def _template(
        self, cleaned: Text, header: Optional[Header], message: str, hits: Sequence[Tuple[AnyShape, Hit]]
    ) -> Optional[Template]:
        """What this line's outline settles."""
        if self._search.may_differ(cleaned.text):
            return None
        shift = cleaned.begins + len(cleaned.text) - len(message)
        return Template(
            int(header.level) if header is not None else int(LogLevel.UNKNOWN),
            places(cleaned.text, cleaned.begins) if header is not None else None,
            cleaned.begins,
            cleaned.rank_span,
            tuple(measured(shape.take, cast("re.Match[str]", hit), shift) for shape, hit in hits),
            any(shape.own_record for shape, _hit in hits),
            cleaned.text.startswith((" ", "\t")),
        )

    def replay(self, template: Template, raw: bytes, begin: int, end: int, out: Found, *, fresh: bool) -> bool:
        """Read a line as its template says; False when what came before asks for more."""
        places = template.header
        if places is None:
            if self._rich is not None or self._trace is not None:
                return False
            self._replay_print(template, begin, out, fresh=fresh)
            if not template.hits:
                return True
            self._understand(out)
        text = raw.decode("utf-8") if template.hits or not raw.isascii() else None
        wall = None
        if places is not None:
            wall = self._stamps.at(places, raw if text is None else text)
            if wall is not None:
                self.burst.stamp(wall)
            if self._rich is not None:
                self._rich, self._rich_hits = None, []
            self._log_lost = self._chained = False
            out.begin(begin, template.level)
            out.understood += 1
            self._record = begin
            self._joins = self._any_record = self._understood = True
        if text is not None and template.hits:
            rank = int(text[slice(*template.rank)]) if template.rank is not None else None
            hits = [(hit.take, hit.groups(text)) for hit in template.hits]
            self._measure(hits, (text[template.begins :], rank, begin, end), wall, out)
        return True

    def _replay_print(self, template: Template, begin: int, out: Found, *, fresh: bool) -> None:
        """Begin a record with a line that has no header, where one begins."""
        if self._any_record and (
            not fresh or (not template.own_record and ((template.indented and not template.hits) or self._joins))
        ):
            return
        out.begin(begin, template.level)
        self._record = begin
        self._joins = self._understood = self._log_lost = False
        self._any_record = True

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

    def _event(self, message: str, header: Optional[Header]) -> Optional[Said]:
        quiet = header is not None and header.quiet
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

    def _measure(self, hits: Sequence[Tuple[Take, Any]], place: Place, wall: Optional[float], out: Found) -> None:
        """Take the values and the facts of metrics."""
        state, points = self._of_rank(place[1], out)
        for take, hit in hits:
            waiting = state.pending
            reading = take(hit, state)
            if state.before:
                before, state.before = state.before, []
                for each in before:
                    self._keep(each, state, points, wall, self._pending_at, out)
            if reading is not None:
                self._keep(reading, state, points, wall, self._record, out)
            if state.pending is not waiting:
                self._pending_at = self._record
            if not state.facts:
                continue
            facts, state.facts = state.facts, []
            frame = Frame(*place, fresh=False)
            header = parse(frame.text, self._stamps)
            for fact in facts:
                told = Said(fact.kind, fact.code, dict(fact.fields), fact.step, None)
                message = header.message if header is not None else frame.text
                self._tell(told, message, frame, header, out)

    def _of_rank(self, rank: Optional[int], out: Found) -> Tuple[State, Points]:
        """Memory and values of the rank that a launcher's prefix names, or of the file itself."""
        if rank is None:
            return self.state, out.points
        state = self._ranks.of(rank, self.state)
        if state is None:
            self.state.skip("other-rank")
            return State(), Points()
        return state, out.rank_points.setdefault(rank, Points())

    def _keep(
        self, reading: Reading, state: State, points: Points, wall: Optional[float], record: int, out: Found
    ) -> None:
        step, values, moves, own = reading
        if own is None:
            own = wall
        points.add(step, own if own is not None else self.arrival, values)
        if not moves:
            return
        state.last_step, state.last_wall = step, own
        self.burst.progress()
        if state is not self.state:
            return
        told = self._told_step
        if told is not None and told[1] >= record:
            record = told[1]
            if told[0] == step:
                return
        self._told_step = (step, record)
        out.step(step, record)

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
