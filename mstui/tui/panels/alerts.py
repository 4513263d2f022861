"""The alerts of the selected run: what is active on top, the symptoms that followed under what came first.

Which rules could judge stands above the list, always. The panel notes what a person says; it judges nothing.
"""

from __future__ import annotations

from typing import Awaitable, Callable, ClassVar, Dict, List, NamedTuple, Optional, Sequence, Tuple

from textual.binding import BindingType

from mstui.i18n import _, clauses, mark
from mstui.journal.foreign import left_out_text
from mstui.journal.who import user_at_host
from mstui.model.alert_view import Alert
from mstui.model.alerts import Happening
from mstui.model.journal import AlertState, Entry
from mstui.model.runs import RunStatus
from mstui.model.series import SeriesKey
from mstui.safe_text import safe
from mstui.tui.actions import bindings
from mstui.tui.alert_asking import Person, ack_question, intended_question, snooze_question, taken_back
from mstui.tui.alert_rows import Style, alert_row, style_for, timeline_row
from mstui.tui.alert_window import Act
from mstui.tui.alert_words import TEXT_LIMIT, counts_text, listed, state_text
from mstui.tui.found_cause import cause_found
from mstui.tui.lines import Row
from mstui.tui.listing import ListPanel
from mstui.tui.messages import CheckWanted, EvidenceWanted, LineWanted, ManualWanted, PointWanted, VerdictWanted
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.selection import first_loss, selected_run
from mstui.tui.verdict_words import failure_waits, journal_text, verdict_row
from mstui.tui.wrapping import wrap

UNFOLDED_FROM = 14
"""rows of the panel from which the symptoms that followed are shown without being asked for"""
DETAIL_FROM = 8
"""rows of the panel from which some tell of the selected alert"""
DETAIL_LINES = 3
"""lines of evidence under the list"""


class Line(NamedTuple):
    """One row of the list."""

    alert: Alert
    at: int
    """place in the incident's happenings; 0 is the alert itself"""

    @property
    def happening(self) -> Happening:
        """The symptom that it is about."""
        return self.alert.incident.happenings[self.at]


class AlertsPanel(ListPanel[Line]):
    """`host.view.run_key` says whose."""

    TITLE = mark("alerts")
    BINDINGS: ClassVar[List[BindingType]] = [*bindings("alerts")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self.person = Person(user_at_host(), host.now)
        self._folds: Dict[str, bool] = {}
        """alerts that a person has unfolded (True) or folded, by id"""
        self._seen: Sequence[Alert] = ()
        """what is drawn"""
        self._style = Style(0.0, ranks=False, ascii_only=False)

    # ---- what is listed

    def alerts(self) -> Sequence[Alert]:
        """Of the selected run, in the order of the monitor."""
        return self.host.monitor.alerts(self.host.view.run_key)

    def unfolded(self, alert: Alert) -> bool:
        """The symptoms that followed are shown."""
        return self._folds.get(alert.id, self.size.height >= UNFOLDED_FROM)

    def items(self) -> Sequence[Line]:
        """Alerts, each with what followed under it where it is unfolded."""
        lines: List[Line] = []
        for alert in listed(self.alerts()):
            shown = len(alert.incident.happenings) if self.unfolded(alert) else 1
            lines += [Line(alert, at) for at in range(shown)]
        return lines

    def key_of(self, item: Line) -> Tuple[str, int]:
        """By id, and place in the timeline."""
        return (item.alert.id, item.at)

    def item_row(self, item: Line, width: int) -> Row:
        """The alert, or a symptom of its timeline."""
        if item.at:
            return timeline_row(item.alert, item.happening, width, self._style)
        followed = bool(item.alert.incident.timeline)
        return alert_row(item.alert, width, self._style, unfolded=self.unfolded(item.alert) if followed else None)

    def empty(self) -> str:
        """Nothing raised is not the same as healthy: the row above says what was judged."""
        run_key = self.host.view.run_key
        if not run_key:
            return _("no run is chosen")
        waits = failure_waits(self.host.monitor.verdict(run_key), self._status())
        return _("not judged yet") if waits else _("nothing has been raised")

    def _status(self) -> Optional[RunStatus]:
        run = selected_run(self.host)
        return None if run is None else run.status

    def detail(self, item: Line, width: int) -> Tuple[Row, ...]:
        """The state in a sentence, and the evidence; a small panel that is only looked at has rather more alerts."""
        if self.size.height < (DETAIL_FROM if self.has_focus else UNFOLDED_FROM):
            return ()
        ascii_only = self.host.ascii_only
        found = cause_found(self.host.monitor.alert_entries(self.host.view.run_key, item.alert.id))
        state = clauses([state_text(item.alert, self.host.now(), ascii_only=ascii_only), *([found] if found else [])])
        rows: List[Row] = [((" ", "text"), (line, "info")) for line in wrap(state, width - 2)[:2]]
        said = "; ".join(evidence.say() for evidence in item.happening.evidence)
        lines = wrap(safe(said, TEXT_LIMIT, ascii_only=ascii_only), width - 2)
        if len(lines) > DETAIL_LINES:
            lines[DETAIL_LINES - 1] = lines[DETAIL_LINES - 1][: width - 3] + self.ellipsis
        return (*rows, *(((" ", "text"), (line, "dim")) for line in lines[:DETAIL_LINES]))

    def title(self, width: int) -> Row:
        """How many in which state."""
        del width
        counts = counts_text(self.alerts())
        return ((counts, "strong" if any(alert.rings for alert in self.alerts()) else "dim"),) if counts else ()

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The verdict, what is wrong with the journal, then the list."""
        monitor, view = self.host.monitor, self.host.view
        alerts = self._seen = self.alerts()
        self._style = style_for(alerts, self.host.now(), ranks=self._many_ranks(), ascii_only=self.host.ascii_only)
        rows: List[Row] = []
        if view.run_key:
            verdict = monitor.verdict(view.run_key)
            ascii_only, status = self.host.ascii_only, self._status()
            said = verdict_row(verdict, alerts, max(width - 2, 0), ascii_only=ascii_only, status=status)
            rows.append(((" ", "text"), *said))
        health = monitor.journal_health()
        trouble = journal_text(health, ascii_only=self.host.ascii_only)
        rows += [((" ", "text"), (line, "warning")) for line in wrap(trouble, width - 2)[:2]]
        rows += [((" ", "text"), (line, "dim")) for line in wrap(left_out_text(health.foreign), width - 2)[:1]]
        rows = rows[: max(height - 1, 0)]
        return (*rows, *super().body(width, height - len(rows)))

    def wants_room(self) -> bool:
        """Of no run there is nothing to say."""
        return bool(self.host.view.run_key)

    def data_changed(self) -> None:
        """Another alert, or one in another state, shows at once; what changes with each step waits its turn."""
        if self.alerts() is self._seen:
            super().data_changed()
        elif self.display:
            self.redraw()

    def clock_ticked(self) -> None:
        """Ages grow though nothing happens."""
        self.redraw()

    def _many_ranks(self) -> bool:
        run = selected_run(self.host)
        return run is not None and len(run.ranks) > 1

    # ---- moving

    def action_alert_up(self) -> None:
        """The line above."""
        self.move(-1)

    def action_alert_down(self) -> None:
        """The line below."""
        self.move(1)

    def action_alert_top(self) -> None:
        """The first line."""
        self.to_top()

    def action_alert_bottom(self) -> None:
        """The last line."""
        self.to_bottom()

    def action_alert_page_down(self) -> None:
        """A page down."""
        self.page(1)

    def action_alert_page_up(self) -> None:
        """A page up."""
        self.page(-1)

    def action_alert_fold(self) -> None:
        """Show or hide what followed."""
        line = self._current()
        if line is None:
            return
        if not line.alert.incident.timeline:
            self.host.say(_("nothing followed from it"))
            return
        self._folds[line.alert.id] = not self.unfolded(line.alert)
        self.select((line.alert.id, 0))

    # ---- what a person says

    def _current(self) -> Optional[Line]:
        line = self.current()
        if line is None:
            self.host.say(self.empty())
        return line

    def note(self, entries: Sequence[Entry], said: str) -> None:
        """Store entries and say so, or that they cannot be kept."""
        monitor = self.host.monitor
        monitor.note(self.host.view.run_key, entries)
        trouble = journal_text(monitor.journal_health(), ascii_only=self.host.ascii_only)
        self.host.say(f"{said}  {trouble}" if trouble else said)

    async def action_alert_ack(self) -> None:
        """Acknowledge the selected alert."""
        line = self._current()
        if line is not None:
            await self.host.ask(ack_question([line.alert], self.person, self.note))

    async def action_alert_ack_all(self) -> None:
        """Acknowledge every active alert."""
        active = [alert for alert in self.alerts() if alert.standing.state is AlertState.ACTIVE]
        if active:
            await self.host.ask(ack_question(active, self.person, self.note))
        else:
            self.host.say(_("no alert is active"))

    async def action_alert_unack(self) -> None:
        """Take back an acknowledgement, a snooze, or the word that it is intended."""
        line = self._current()
        if line is None:
            return
        entries = taken_back(line.alert, self.person)
        if entries:
            self.note(entries, _("taken back"))
        else:
            self.host.say(_("nobody has said anything of it that holds"))

    async def action_alert_snooze(self) -> None:
        """Be silent for a while."""
        line = self._current()
        if line is not None:
            await self.host.ask(snooze_question(line.alert, self.person, self.note))

    async def action_alert_intended(self) -> None:
        """Say that it is meant to be so."""
        line = self._current()
        if line is not None:
            await self.host.ask(intended_question(line.alert, self.person, self.note))

    # ---- where it leads

    def action_alert_open(self) -> None:
        """The evidence in a window."""
        line = self._current()
        if line is not None:
            self.post_message(EvidenceWanted(line.alert.id, line.at))

    def action_alert_check(self) -> None:
        """The checks of this alert."""
        line = self._current()
        if line is not None:
            self.post_message(CheckWanted(line.alert.id, line.at))

    async def check(self) -> None:
        """The same, from the evidence window."""
        self.action_alert_check()

    def to_manual(self, happening: Happening) -> None:
        """What the manual says of a symptom."""
        self.post_message(ManualWanted(happening.symptom.value))

    def explained(self) -> str:
        """The manual's entry of the selected symptom."""
        line = self.current()
        return line.happening.symptom.value if line is not None else ""

    def action_alert_verdict(self) -> None:
        """Which rules could judge."""
        self.post_message(VerdictWanted())

    def action_alert_to_curve(self) -> None:
        """The point on the curve at which it began."""
        line = self._current()
        if line is not None:
            self.to_curve(line.happening)

    def to_curve(self, happening: Happening) -> None:
        """Put the value cursor where a symptom began: on its tag, or on the loss where it is about the whole run."""
        self.post_message(PointWanted(happening.scope.rank_id, happening.step, self._tag_of(happening)))

    def to_log(self, happening: Happening) -> None:
        """Show the log record of the step at which a symptom began."""
        key = SeriesKey(self.host.view.run_key, happening.scope.rank_id, self._tag_of(happening))
        place = self.host.monitor.log_place(key, happening.step)
        if place is None:
            self.host.say(_("No log of this rank tells of this step."))
        else:
            self.post_message(LineWanted(place))

    def _tag_of(self, happening: Happening) -> str:
        tags = self.host.monitor.tags(self.host.view.run_key)
        if any(tag.tag == happening.scope.tag and tag.kind is None for tag in tags):
            return happening.scope.tag
        run = selected_run(self.host)
        loss = first_loss(self.host, run) if run is not None else None
        return loss.tag if loss is not None else ""

    def acts(self, alert_id: str) -> Dict[str, Act]:
        """What the keys of the evidence window do, given the symptom that is marked there."""

        def about(do: Callable[[Happening], None]) -> Act:
            async def act(at: int) -> None:
                alert = next((alert for alert in self.alerts() if alert.id == alert_id), None)
                if alert is not None:
                    do(alert.incident.happenings[min(at, len(alert.incident.happenings) - 1)])

            return act

        def on_alert(do: Callable[[], Awaitable[None]]) -> Act:
            async def act(at: int) -> None:
                del at
                self.select((alert_id, 0))
                await do()

            return act

        return {
            "J": about(self.to_curve),
            "l": about(self.to_log),
            "a": on_alert(self.action_alert_ack),
            "u": on_alert(self.action_alert_unack),
            "z": on_alert(self.action_alert_snooze),
            "I": on_alert(self.action_alert_intended),
            "g": on_alert(self.check),
            "E": about(self.to_manual),
        }


PANEL = PanelSpec(
    "alerts",
    mark("alerts"),
    mark(
        "One row for each trouble: how grave (critical, error, warning, watch, info), what, the step at which it "
        "began, where (+2: in two more places, x5: seen five times), since when, and its state. What followed from a "
        "trouble is under it: f unfolds. a acknowledges, z snoozes, I says that it is intended, u takes that back; "
        "everybody who watches this run with the same state directory sees it. enter shows the evidence, V which "
        "rules could judge. The first line says how many did: no alert means little where few rules had data."
    ),
    lambda host: AlertsPanel(host, "alerts"),
)
