"""The window that shows one alert as a whole: every symptom with its evidence, what was noted, and what is likely.

It reads from the monitor whenever it draws. What is done about an alert is the panel's part: the window hands on keys.
"""

from __future__ import annotations

from typing import Awaitable, Callable, List, Mapping, Optional, Sequence

from mstui.i18n import _, aside, commas, current_language, enumerated, headed, ngettext
from mstui.model.alert_view import Alert, LikelyCause
from mstui.model.alerts import Happening, Scope
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.alert_words import (
    GRADES,
    TEXT_LIMIT,
    entry_text,
    glyph,
    scope_text,
    state_text,
    title,
    when_text,
)
from mstui.tui.fetching import Fetching
from mstui.tui.lines import Row
from mstui.tui.messages import Fetched
from mstui.tui.overlay import TextOverlay
from mstui.tui.wrapping import wrap

MOST_PLACES = 20
"""further places that are named; more are counted"""
MOST_ENTRIES = 200
"""newest entries of the history that are shown"""
MOST_CAUSES = 3
INDENT = 4
NEXT, PREVIOUS = "n", "N"
MARKED = "> "

Act = Callable[[int], Awaitable[None]]
"""does something about the symptom with this place in the timeline, after the window has closed"""


class AlertWindow(TextOverlay):
    """One symptom is marked; the keys that lead elsewhere go to where that one began."""

    def __init__(
        self,
        monitor: MonitorApi,
        run_key: str,
        alert_id: str,
        at: int,
        close: Callable[[], None],
        acts: Mapping[str, Act],
        clock: Callable[[], float],
        *,
        ranks: bool,
        ascii_only: bool = False,
    ) -> None:
        """`at`: the symptom that is marked first; `acts`: by key."""
        super().__init__("", self._lines, close, follows_data=True, ascii_only=ascii_only)
        self._monitor = monitor
        self._run_key = run_key
        self._alert_id = alert_id
        self._acts = acts
        self._clock = clock
        self._ranks = ranks
        self.at = at
        self._fetching = Fetching(self)
        self._likely: Sequence[LikelyCause] = ()
        """as a worker has ranked them"""
        self._starts: List[int] = []
        """line at which each symptom begins, as drawn last"""
        self._name_it(self._alert())

    def on_mount(self) -> None:
        """Have the causes ranked."""
        monitor, run_key, alert_id, language = self._monitor, self._run_key, self._alert_id, current_language()
        self._fetching.ask(alert_id, lambda: monitor.fetch_causes(run_key, alert_id, language))

    def on_fetched(self, message: Fetched) -> None:
        """Show what a worker has ranked."""
        answer = self._fetching.take(message)
        if answer is not None and isinstance(answer.value, Sequence) and answer.value:
            self._likely = answer.value
            self.screen.refresh(repaint=False, layout=True)
            self.redraw()

    def press(self, key: str, character: Optional[str]) -> None:
        """The symptom before or after, what the panel can do, or what every text can do."""
        if key in (NEXT, PREVIOUS):
            self._mark(self.at + (1 if key == NEXT else -1))
        elif key in self._acts:
            self.close()
            self.screen.call_later(self._acts[key], self.at)
        else:
            super().press(key, character)

    def more_hint(self) -> str:
        """The keys that lead elsewhere."""
        parts = [_("n N symptom")] if len(self._starts) > 1 else []
        return "  ".join([*parts, _("g check"), _("a ack"), _("J curve"), _("l log")])

    def _mark(self, at: int) -> None:
        self.at = min(max(at, 0), max(len(self._starts) - 1, 0))
        if self._starts:
            self.top = self._starts[self.at]
        self.redraw()

    def _alert(self) -> Optional[Alert]:
        found = (alert for alert in self._monitor.alerts(self._run_key) if alert.id == self._alert_id)
        return next(found, None)

    def _name_it(self, alert: Optional[Alert]) -> None:
        if alert is None:
            self.title_text = _("alert {id}").format(id=self._alert_id)
            return
        grade = GRADES[alert.severity]
        sign = glyph(alert.severity, ascii_only=self.ascii_only)
        self.title_text = f"{sign} {_(grade.word)}  {title(alert.incident.head.symptom)}  {alert.id}"

    def _lines(self, width: int) -> Sequence[Row]:
        alert = self._alert()
        self._name_it(alert)
        if alert is None:
            self._starts = []
            return [((line, "dim"),) for line in wrap(_("This alert is no longer there."), width)]
        now = self._clock()
        state = state_text(alert, now, ascii_only=self.ascii_only)
        rows: List[Row] = [((line, "strong"),) for line in wrap(state, width)]
        rows += self._causes(alert, width)
        self._starts = []
        self.at = min(self.at, len(alert.incident.happenings) - 1)
        for i, happening in enumerate(alert.incident.happenings):
            rows.append(())
            self._starts.append(len(rows))
            rows += self._happening(happening, width, now, marked=i == self.at and len(alert.incident.happenings) > 1)
        rows += self._history(width, now)
        rows += [(), ((_("In a shell: mstui ack {id}").format(id=alert.id), "dim"),)]
        return rows

    def _causes(self, alert: Alert, width: int) -> List[Row]:
        """The likeliest causes, where they have been ranked."""
        causes = [cause for cause in alert.causes or self._likely if not cause.refuted][:MOST_CAUSES]
        rows: List[Row] = [(), ((_("Likely causes (g checks them):"), "strong"),)] if causes else []
        for cause in causes:
            text = headed(cause.title, cause.word) if cause.word else cause.title
            rows += self._indented(safe(text, TEXT_LIMIT, ascii_only=self.ascii_only), "text", width)
        return rows

    def _happening(self, happening: Happening, width: int, now: float, *, marked: bool) -> List[Row]:
        grade = GRADES[happening.severity]
        sign = glyph(happening.severity, ascii_only=self.ascii_only)
        head = f"{sign} {_(grade.word)}  {title(happening.symptom)}"
        rows: List[Row] = [((MARKED if marked else "  ", "key"), (head, grade.look))]
        for sentence in self._where(happening, now):
            rows += self._indented(sentence, "dim", width)
        for evidence in happening.evidence:
            said = safe(evidence.say(), TEXT_LIMIT, ascii_only=self.ascii_only)
            for i, line in enumerate(wrap(said, max(width - INDENT - 2, 1))):
                rows.append(((" " * INDENT + ("  " if i else "- ") + line, "text"),))
        return rows

    def _where(self, happening: Happening, now: float) -> List[str]:
        """Where and when, in sentences."""
        begun = _("began at step {step}").format(step=happening.step)
        if happening.detected_step != happening.step:
            begun = commas([begun, _("seen at step {step}").format(step=happening.detected_step)])
        if happening.wall_time:
            begun = aside(begun, when_text(happening.wall_time, now))
        said = [begun]
        where = self._scope(happening.scope)
        said += [where] if where else [_("the whole run")]
        if happening.others:
            places = [self._scope(scope) or _("the whole run") for scope in happening.others[:MOST_PLACES]]
            left = len(happening.others) - MOST_PLACES
            places += [_("{n} more").format(n=left)] if left > 0 else []
            n = len(happening.others)
            also = ngettext("also in {n} place: {places}", "also in {n} places: {places}", n)
            said.append(also.format(n=n, places=enumerated(places)))
        if happening.repeats:
            n = happening.repeats
            said.append(ngettext("seen again once", "seen again {n} times", n).format(n=n))
        if happening.cleared_step is not None:
            said.append(_("cleared at step {step}").format(step=happening.cleared_step))
        return said

    def _scope(self, scope: Scope) -> str:
        text = scope_text(scope, ranks=self._ranks, ascii_only=self.ascii_only)
        if scope.layer and scope.tag and scope.layer != scope.tag:
            text = aside(text, safe(scope.tag, TEXT_LIMIT, ascii_only=self.ascii_only))
        return text

    def _history(self, width: int, now: float) -> List[Row]:
        """What was noted, oldest first."""
        entries = self._monitor.alert_entries(self._run_key, self._alert_id)[-MOST_ENTRIES:]
        rows: List[Row] = [(), ((_("History"), "strong"),)] if entries else []
        for entry in entries:
            text = entry_text(entry, now, ascii_only=self.ascii_only)
            rows += self._indented(f"{when_text(entry.at, now)}  {text}", "text", width)
        return rows

    @staticmethod
    def _indented(text: str, look: str, width: int) -> List[Row]:
        return [((" " * INDENT + line, look),) for line in wrap(text, max(width - INDENT, 1))]
