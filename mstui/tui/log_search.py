"""The search of the log panel: what is looked for, what has been found so far, which hit is the present one.

The monitor searches in a worker and tells of its progress; a new search ends the old one at its next word. This module
keeps the newest answer and draws nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Callable, FrozenSet, List, NamedTuple, Optional, Tuple

from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import get_current_worker

from mstui.errors import FilterError
from mstui.i18n import _
from mstui.model.log_view import LogHits, LogPlace, LogQuery
from mstui.monitor_api import MonitorApi

TYPING_S = 0.3
"""seconds without a key after which what was typed is searched for: a large file is not begun for every letter"""
TELL_EVERY_S = 0.5
"""seconds between two words of progress that reach the screen"""
NOTHING = LogHits((), 0, 0, 0)


class Found(NamedTuple):
    """What a search has to say."""

    number: int
    """of the search, counted from one"""
    hits: LogHits
    problem: str = ""
    ended: bool = False


class Searched(Message, bubble=False):
    """A search has found something, has come a stretch further, or has ended."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        self.found = found


class LogSearch:
    """One search at a time; every method belongs to the UI thread."""

    def __init__(self, panel: Widget, monotonic: Callable[[], float]) -> None:
        self._panel = panel
        self._monotonic = monotonic
        self._number = 0
        self._typing: Optional[Timer] = None
        self._start_now: Callable[[], None] = lambda: None
        self.text = ""
        self.query: Optional[LogQuery] = None
        self.hits = NOTHING
        self.problem = ""
        self.running = False
        self._held: Tuple[Tuple[LogPlace, ...], FrozenSet[LogPlace]] = ((), frozenset())

    @property
    def words(self) -> Tuple[str, ...]:
        """Words to mark in the rows, casefolded; none for a regular expression."""
        if self.text.startswith("/") or self.problem:
            return ()
        return tuple(word for word in self.text.casefold().split() if word)

    def clear(self) -> None:
        """Nothing is looked for."""
        self._number += 1
        self._stop_typing()
        self.text, self.query, self.hits, self.problem, self.running = "", None, NOTHING, "", False

    def begin(self, monitor: MonitorApi, query: LogQuery, text: str) -> None:
        """Look for this text, in a moment: more may be typed."""
        self.clear()
        if not text.strip():
            return
        self.text, self.query, self.running = text, query, True
        number = self._number
        self._start_now = lambda: self._start(monitor, query, text, number)
        self._typing = self._panel.set_timer(TYPING_S, self.hurry)

    def hurry(self) -> None:
        """Nothing more will be typed: begin, if that is still to come."""
        if self._typing is not None:
            self._stop_typing()
            self._start_now()

    def _stop_typing(self) -> None:
        if self._typing is not None:
            self._typing.stop()
            self._typing = None

    def _start(self, monitor: MonitorApi, query: LogQuery, text: str, number: int) -> None:
        if number != self._number:
            return
        panel, monotonic = self._panel, self._monotonic

        def work() -> None:
            worker = get_current_worker()
            told_at = float("-inf")

            def tell(hits: LogHits) -> bool:
                nonlocal told_at
                now = monotonic()
                if not worker.is_cancelled and now - told_at >= TELL_EVERY_S:
                    told_at = now
                    panel.post_message(Searched(Found(number, hits)))
                return not worker.is_cancelled

            try:
                found = Found(number, monitor.fetch_log_hits(query, text, tell), ended=True)
            except FilterError as error:
                found = Found(number, NOTHING, error.what, ended=True)
            if not worker.is_cancelled:
                panel.post_message(Searched(found))

        panel.run_worker(work, group="search", exclusive=True, thread=True)

    def take(self, found: Found) -> bool:
        """Keep an answer; False when it belongs to a search that is over."""
        if found.number != self._number:
            return False
        self.hits, self.problem, self.running = found.hits, found.problem, not found.ended
        return True

    def is_hit(self, place: LogPlace) -> bool:
        """Whether a record was found."""
        if self._held[0] is not self.hits.places:
            self._held = (self.hits.places, frozenset(self.hits.places))
        return place in self._held[1]

    def position(self, place: Optional[LogPlace]) -> Optional[int]:
        """Which hit a record is, counted from one over all hits; None when it is none that is held."""
        if place is None or not self.is_hit(place):
            return None
        return self.hits.count - len(self.hits.places) + self.hits.places.index(place) + 1

    def step(self, place: Optional[LogPlace], by: int) -> Optional[LogPlace]:
        """The next hit (by 1) or the one before (-1), round from the other end; None without any."""
        places = self.hits.places
        if not places:
            return None
        if place is None:
            return places[-1]
        if self.is_hit(place):
            return places[(places.index(place) + by) % len(places)]
        same: List[Tuple[int, LogPlace]] = [(each.offset, each) for each in places if each.file == place.file]
        offsets = [offset for offset, _each in same]
        at = bisect_right(offsets, place.offset) if by > 0 else bisect_left(offsets, place.offset) - 1
        if 0 <= at < len(same):
            return same[at][1]
        return places[0] if by > 0 else places[-1]

    def says(self, place: Optional[LogPlace]) -> str:
        """`3 of 128 (searching 40 %)`; what is wrong with the text instead, if something is."""
        if self.problem:
            return self.problem
        if not self.text:
            return ""
        hits = self.hits
        at = self.position(place)
        found = _("{n} found") if at is None else _("{at} of {n}")
        said = found.format(at=at, n=hits.count)
        if self.running:
            percent = min(100 * hits.searched // hits.size, 99) if hits.size else 0
            said += " " + _("(searching {percent} %)").format(percent=percent)
        return said
