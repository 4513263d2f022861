"""The life of an open guided check: when it reads, what it takes over, and how a person's words are kept.

What is said goes to the journal at once, so that leaving loses nothing. The run is read again at most every few
seconds. It draws nothing and knows no keys.
"""

from __future__ import annotations

import time
from typing import Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from textual.geometry import Offset, Region, Size
from textual.timer import Timer

from mstui.checks.session import Session
from mstui.checks.session_notes import Given, Pen
from mstui.checks.session_screen import SessionWords
from mstui.export import Exported
from mstui.i18n import _, current_language
from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.journal import AlertState, Entry
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.alert_window import Act
from mstui.tui.check_live import Standing
from mstui.tui.fetching import Fetching
from mstui.tui.messages import Fetched
from mstui.tui.overlay import Overlay

LOOK_EVERY_S = 5.0
"""seconds between two looks at the evidence while the window is open"""
HEADER_ROWS = 1
"""rows of the screen above the window"""


class Services(NamedTuple):
    """What the window needs of the application."""

    monitor: MonitorApi
    clock: Callable[[], float]
    """Unix seconds"""
    who: str
    """user@host"""
    copy: Callable[[str], str]
    """to the clipboard and to a file; what became of it, in words"""
    save: Callable[[Session, str, str, str], List[Exported]]
    """write the story of a run's incident in a language; for a worker"""
    say: Callable[[str], None]
    """what is to be known though the window is closed"""
    tick: Callable[[], float] = time.monotonic


class LiveCheck(Overlay):
    """`alert_id` empty: the flow alone."""

    def __init__(
        self,
        services: Services,
        run_key: str,
        alert_id: str,
        close: Callable[[], None],
        *,
        flow: str = "",
        acts: Optional[Mapping[str, Act]] = None,
        ascii_only: bool = False,
    ) -> None:
        super().__init__("", close, ascii_only=ascii_only)
        self._acts = acts or {}
        """key -> what the alert panel does with this alert, offered once there is an outcome"""
        self._services = services
        self._run_key = run_key
        self._flow = flow
        self._incident = alert_id or flow.partition("#")[0]
        """what answers are filed under"""
        self.standing = Standing()
        self.notice = ""
        self._fetching = Fetching(self)
        self._said = 0
        """how often something was said here: an answer that was asked for before is not taken"""
        self._gone = False
        self._asked_at = float("-inf")
        self._timer: Optional[Timer] = None
        self._entries: Sequence[Entry] = ()
        """of the incident, as the monitor last had them"""
        self._turned_at = float("-inf")
        self._undo_others = False
        """the next undo takes back what somebody else has said"""
        self._marked = 0
        """cause of the outcome that keys are about"""
        self._was_cleared: Optional[bool] = None
        self._health: Optional[JournalHealth] = None

    # ---- place, life

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """Everything below the header."""
        return columns, max(rows - HEADER_ROWS, 1)

    def region_in(self, size: Size) -> Region:
        """Below the header."""
        return Region.from_offset(Offset(0, min(HEADER_ROWS, size.height - 1)), self.wanted(size.width, size.height))

    def on_mount(self) -> None:
        """Read where the check stands."""
        self._entries = self._services.monitor.alert_entries(self._run_key, self._incident)
        self._ask()

    def on_fetched(self, message: Fetched) -> None:
        """Take over what a worker has read, unless something was said meanwhile."""
        answer = self._fetching.take(message)
        if answer is None:
            return
        if answer.request != self._request():
            self._ask()
            return
        if not isinstance(answer.value, Session):
            self._gone = True
            self.notice = _("This alert is no longer there.")
        else:
            self._gone = False
            self._take(answer.value)
        self.redraw()

    def data_changed(self) -> None:
        """Look again: at once when somebody has noted something, else when the last look is old enough."""
        entries = self._services.monitor.alert_entries(self._run_key, self._incident)
        news = entries != self._entries
        self._entries = entries
        before = self.notice
        self._see_alert()
        wait = self._asked_at + LOOK_EVERY_S - self._services.tick()
        if news or wait <= 0:
            self._ask()
        elif self._timer is None:
            self._timer = self.set_timer(wait, self._look_later)
        health = self._services.monitor.journal_health()
        if (before, self._health) != (self.notice, health):
            self._health = health
            self.redraw()

    def _look_later(self) -> None:
        self._timer = None
        self._ask()

    def _request(self) -> Tuple[str, str, str, int]:
        return (self._run_key, self._incident, self._flow, self._said)

    def _ask(self) -> None:
        self._asked_at = self._services.tick()
        monitor, run_key, incident, flow = self._services.monitor, self._run_key, self._incident, self._flow
        self._fetching.ask(self._request(), lambda: monitor.fetch_session(run_key, incident, flow))

    def _take(self, fresh: Session) -> None:
        before = self.standing.session
        others = [given for given in self.standing.take(fresh) if given.who != self._services.who]
        after = self.standing.session
        if before is None or after is None:
            return
        if others:
            self._tell_others(others, SessionWords(after, current_language()))
        if before.ask is not None and after.ask is not None and before.ask.subject == after.ask.subject:
            if before.ask.offered and before.ask.offered != after.ask.offered:
                self._turned_at = self._services.tick()
        else:
            self.top = 0

    def _tell_others(self, others: Sequence[Given], words: SessionWords) -> None:
        given = others[-1]
        word = next((text for title, text, who in reversed(words.answered()) if who == safe(given.who)), given.answer)
        said = _("{who} answered meanwhile: {question} {answer}")
        self.notice = said.format(who=safe(given.who), question=words.subject_title(given.subject), answer=word)

    def _alert(self) -> Optional[Alert]:
        alerts = self._services.monitor.alerts(self._run_key)
        return next((alert for alert in alerts if alert.id == self._incident), None)

    def _see_alert(self) -> None:
        """Say it when the alert clears while its check is open, and when it comes back."""
        alert = self._alert()
        if alert is None:
            return
        cleared = alert.standing.state is AlertState.CLEARED
        if self._was_cleared is not None and cleared != self._was_cleared:
            step = alert.incident.happenings[-1].cleared_step
            self.notice = _("This alert has come back.") if not cleared else _("This alert has cleared meanwhile.")
            if cleared and step is not None:
                self.notice = _("This alert has cleared meanwhile, at step {step}.").format(step=step)
        self._was_cleared = cleared

    # ---- what a person says

    def _pen(self) -> Pen:
        return Pen(self._incident, self._services.clock(), self._services.who)

    def _note(self, entries: Sequence[Entry]) -> None:
        """Keep it, and go on with what is known already."""
        if not entries:
            return
        if self._run_key:
            self._services.monitor.note(self._run_key, entries)
        else:
            self.notice = _("No run is chosen: the answers are not kept.")
        self._said += 1
        self.standing.say(entries)
        self.top = self._marked = 0
        self._ask()

    def _undo(self, session: Session, words: SessionWords, *, others: bool) -> None:
        """One's own last word; another person's only when asked twice."""
        own, last = session.notes.last(self._services.who), session.notes.last()
        if last is None:
            self.notice = _("Nothing was answered yet.")
            return
        if own is None and not others:
            self._undo_others = True
            said = _("The last answer is from {who}: b again takes it back.")
            self.notice = said.format(who=safe(last.who) or _("somebody"))
            return
        given = own or last
        self._note(session.undo(self._pen(), given.who))
        self.notice = _("Taken back: {question}").format(question=words.subject_title(given.subject))
