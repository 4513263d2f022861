"""The decoder of text logs: bytes in; scalars, places of records, events out. Opens nothing, keeps no bytes.

Frames are read one by one (`reader`), except for long runs of the most frequent lines, which are read at once with the
same result (`Bulk`). The unfinished last frame stays unconsumed. Stretches of one file may be read in turn (the tail
before the history): each has a memory of its own, found by the offset at which it goes on.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.formats.base import Decoded
from mstui.formats.logs.foresight import Foresight, foresee, was_right
from mstui.formats.logs.found import Found
from mstui.formats.logs.headers import Stamps
from mstui.formats.logs.lines import LONGEST_FRAME, Frame, clean, complete_until, frames_until
from mstui.formats.logs.own_patterns import OwnShape
from mstui.formats.logs.producer import AnyShape, Bulk, Producer
from mstui.formats.logs.reader import Reader
from mstui.formats.logs.rules import Said
from mstui.formats.logs.search import Search
from mstui.formats.logs.templates import LONGEST_LINE, Templates
from mstui.i18n import _
from mstui.model.faults import FaultKind, ReadFault
from mstui.registry import collect

LEAST_RUN = 24
"""Matches in a row that are worth arrays; fewer are read one by one."""
STRETCHES_KEPT = 4
"""Stretches of one file that may go on: history, tail, and what a repeated reading leaves behind."""
_UNUSUAL = (b"\r", b"\0", b"\x1b")
"""Bytes that ask for a frame to be cleaned."""
PRODUCERS = "mstui.formats.logs.producers"
SETS_KEPT = 8
"""Sets of own patterns in use at a time: one for each combination of `files` that fits a log."""


class _Known(NamedTuple):
    """What is the same for every log that is read with the same patterns."""

    search: Search
    bulks: Tuple[Bulk, ...]
    templates: Templates


@lru_cache(maxsize=SETS_KEPT)
def _known_with(own: Tuple[OwnShape, ...]) -> _Known:
    """All producers, behind these patterns of a person's own."""
    producers = collect(PRODUCERS, "PRODUCER", Producer)
    shapes: Tuple[AnyShape, ...] = (*own, *(shape for producer in producers for shape in producer.shapes))
    # A pattern of one's own may claim any line: then each is looked at.
    bulks = () if own else tuple(each.bulk for each in producers if each.bulk is not None)
    return _Known(Search(shapes), bulks, Templates())


@dataclass
class _Stretch:
    """Where one stretch stands between two calls."""

    reader: Reader
    bulk: Optional[Bulk] = None
    fresh: bool = True
    """no record of the line at hand has begun"""
    skip_from: Optional[int] = None
    """file offset from which on a frame that is too long is left out"""
    nul_told: bool = False


class TextLogDecoder:
    """Decodes one text log."""

    def __init__(self, path: str, own: Sequence[OwnShape] = ()) -> None:
        """`path` goes into faults only. `own`: patterns of a person's own; they come before the others."""
        self.arrival = 0.0
        """Unix seconds given to values whose record has no time stamp; 0 or below: the time before them"""
        self._path = path
        self._own = own
        self._known = _known_with(tuple(own))
        self._stamps = Stamps()
        self._stretches: Dict[int, _Stretch] = {}
        self._foresight: Optional[Foresight] = None

    def decode(self, data: bytes, base: int, *, at_end: bool, condemn: bool = False) -> Decoded:  # noqa: ARG002
        """Decode the records in `data`; see `Decoder`. A text log has no checksums: nothing in it is suspect."""
        stretch = self._stretches.get(base)
        if stretch is None:
            stretch = _Stretch(self._reader())
        work = _Work(self._path, data, base, stretch, self._known, self._stamps)
        stretch.reader.arrival = self.arrival
        given_up = self._given_up()
        consumed = work.run()
        if self._given_up() > given_up:
            stretch.reader.state.skip("pattern-too-costly", self._given_up() - given_up)
        if consumed:
            self._stretches.pop(base, None)
            while len(self._stretches) >= STRETCHES_KEPT:
                self._stretches.pop(next(iter(self._stretches)))
            self._stretches[base + consumed] = stretch
        found = work.found
        return Decoded(
            consumed=consumed,
            records=found.records,
            columns=found.points.columns(),
            faults=tuple(work.faults),
            skipped_values=stretch.reader.take_skipped(),
            log_records=found.log_records(),
            log_events=tuple(found.events),
            log_understood=found.understood,
            log_steps=found.log_steps(),
            facts=stretch.reader.new_facts(),
            rank_columns={rank: points.columns() for rank, points in sorted(found.rank_points.items())},
        )

    def foresee(self, head: bytes, data: bytes, base: int) -> Optional[int]:
        """Prepare to read the end of the file before its history; see `Foreseeing`."""
        self._foresight = foresee(head, data, base, self._reader, self._read_lines)
        if self._foresight is None:
            return None
        reader = self._reader()
        reader.state = copy.deepcopy(self._foresight.state)
        self._stretches[self._foresight.offset] = _Stretch(reader)
        return self._foresight.offset

    def was_right(self) -> bool:
        """Has the history left what the end was read with; see `Foreseeing`."""
        foresight, self._foresight = self._foresight, None
        history = None if foresight is None else self._stretches.get(foresight.offset)
        if foresight is None or history is None:
            return False
        return was_right(foresight, history.reader, self._reader, self._read_lines)

    def _reader(self) -> Reader:
        return Reader(self._known.search, self._stamps)

    def _read_lines(self, reader: Reader, data: bytes, offset: int) -> None:
        """Read lines of which only what they leave behind matters."""
        _Work(self._path, data, offset, _Stretch(reader), self._known, self._stamps).run()

    def _given_up(self) -> int:
        return sum(each.given_up for each in self._own)


class _Work:
    """One call of `decode`."""

    def __init__(self, path: str, data: bytes, base: int, stretch: _Stretch, known: _Known, stamps: Stamps) -> None:
        self.found = Found()
        self.faults: List[ReadFault] = []
        self._path = path
        self._data = data
        self._base = base
        self._stretch = stretch
        self._stamps = stamps
        self._templates = known.templates
        self._bulks = [bulk for bulk in known.bulks if all(guard in data for guard in bulk.guards)]

    def run(self) -> int:
        """Read everything that is finished; gives back how many bytes that is."""
        data, base, stretch = self._data, self._base, self._stretch
        known, replay, found = self._templates.get, stretch.reader.replay, self.found
        lines_end = complete_until(data)
        position = 0
        while position < lines_end:
            if self._bulks and self._stretch.fresh and self._stretch.skip_from is None:
                after = self._read_runs(position, lines_end)
                if after > position:
                    position = after
                    continue
            end = data.index(b"\n", position) + 1
            if stretch.fresh and stretch.skip_from is None:
                raw = data[position : end - 1]
                template = known(raw) if len(raw) <= LONGEST_LINE else None
                if template is not None and replay(template, raw, base + position, base + end - 1, found, fresh=True):
                    position = end
                    continue
            self._line(position, end)
            position = end
        finished = frames_until(data, lines_end)
        if finished > lines_end:
            self._frames(lines_end, finished)
        if len(data) - finished > LONGEST_FRAME + 1 and self._stretch.skip_from is None:
            self._cut(finished)
        if self._stretch.skip_from is not None:
            finished = max(finished, len(data) - 1 if data.endswith(b"\r") else len(data))
        return finished

    def _cut(self, begin: int) -> None:
        """Read what is read of a frame that is too long."""
        self._frame(begin, begin + LONGEST_FRAME)
        self._stretch.skip_from = self._base + begin + LONGEST_FRAME

    def _told_cut(self, end: int) -> None:
        """A frame that was too long is over."""
        stretch = self._stretch
        if stretch.skip_from is not None:
            detail = _("a line longer than {n} bytes; the rest of it is not read").format(n=LONGEST_FRAME)
            length = self._base + end - stretch.skip_from
            self.faults.append(ReadFault(self._path, FaultKind.OVERSIZED, stretch.skip_from, length, detail, 0.0))
            stretch.skip_from = None

    def _read_runs(self, position: int, end: int) -> int:
        """Read the run of frequent lines that begins here, if one does; gives back where it is over."""
        data = self._data
        for bulk in self._bulks:
            matches = bulk.run(data, position, end)
            if not matches:
                continue
            over = matches[-1].end()
            if len(matches) < LEAST_RUN or not self._take_run(bulk, matches, position, over):
                while position < over:
                    line_end = data.index(b"\n", position) + 1
                    self._line(position, line_end)
                    position = line_end
            return over
        return position

    def _take_run(self, bulk: Bulk, matches: Sequence[re.Match[bytes]], begin: int, end: int) -> bool:
        """Read a run at once; False when it must be read line by line."""
        reader = self._stretch.reader
        data = self._data
        if any(data.find(sign, begin, end) >= 0 for sign in _UNUSUAL):
            return False
        groups = [match.groups() for match in matches]
        feeds = np.flatnonzero(np.frombuffer(data, np.uint8, end - begin, begin) == ord("\n"))
        if len(feeds) != bulk.lines(groups):
            return False
        rows = bulk.read(groups, reader.state, self._stamps, reader.arrival)
        if rows is None:
            return False
        starts = np.concatenate(([0], feeds[:-1] + 1)) + (begin + self._base)
        self.found.begin_many(starts, bulk.level)
        places = np.array([match.start() for match in matches], np.int64) + self._base
        self.found.steps_many(rows.steps, places)
        self.found.points.add_bulk(rows)
        reader.after_bulk(
            joins=bulk.joins,
            last_step=int(rows.steps[-1]),
            last_wall=float(rows.wall_times[-1]) if bulk.stamped else None,
            offset=int(starts[-1]),
            told=int(places[-1]),
        )
        for row, fact in rows.events:
            offset = matches[row].start()
            stop = data.index(b"\n", offset)
            event = Said(fact.kind, fact.code, dict(fact.fields), fact.step, None)
            frame = Frame(clean(data[offset:stop]).text, None, self._base + offset, self._base + stop, fresh=True)
            reader.tell_alone(event, frame, self.found)
        if rows.events and rows.events[-1][0] < len(matches) - 1:
            reader.burst.progress()
        return True

    def _line(self, begin: int, end: int) -> None:
        self._frames(begin, end)
        self._stretch.fresh = True

    def _frames(self, begin: int, end: int) -> None:
        """Read frames that are finished: up to and with a line feed, or up to and with a carriage return."""
        data = self._data
        if data.find(b"\r", begin, end) < 0:
            self._frame(begin, end - 1 if data[end - 1] == ord("\n") else end)
            return
        at = begin
        for part in data[begin:end].rstrip(b"\n").split(b"\r"):
            self._frame(at, at + len(part))
            at += len(part) + 1

    def _frame(self, begin: int, end: int) -> None:
        stretch = self._stretch
        if stretch.skip_from is not None:
            self._told_cut(end)
            return
        if end - begin > LONGEST_FRAME:
            self._cut(begin)
            self._told_cut(end)
            return
        raw = self._data[begin:end]
        short = len(raw) <= LONGEST_LINE
        template = self._templates.get(raw) if short else None
        if template is not None:
            offset = self._base + begin
            if stretch.reader.replay(template, raw, offset, offset + len(raw), self.found, fresh=stretch.fresh):
                stretch.fresh = False
                return
        if b"\0" in raw:
            raw, short = self._without_nul(raw, self._base + begin), False
        if not raw or raw.isspace():
            return
        text = clean(raw)
        if not text.text.strip():
            return
        frame = Frame(text.text, text.rank, self._base + begin, self._base + end, fresh=stretch.fresh)
        template = stretch.reader.read(
            frame, self.found, text if short and text.plain and self._templates.asks_for(raw) else None
        )
        if template is not None:
            self._templates.learn(raw, template)
        stretch.fresh = False

    def _without_nul(self, raw: bytes, offset: int) -> bytes:
        """The bytes without NULs, which a power failure or a network file system leaves behind."""
        count = raw.count(b"\0")
        stretch = self._stretch
        stretch.reader.state.skip("nul-bytes", count)
        if not stretch.nul_told:
            stretch.nul_told = True
            detail = _("NUL bytes in a text log, left out; the first of them")
            self.faults.append(ReadFault(self._path, FaultKind.DAMAGED, offset, count, detail, 0.0))
        return raw.replace(b"\0", b"")
