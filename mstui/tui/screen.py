"""The actions that open a window, a prompt, or leave: the last layer of the one screen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from mstui.errors import MstuiError
from mstui.i18n import _
from mstui.model.roles import Role
from mstui.model.series import SeriesKey
from mstui.safe_text import safe
from mstui.tui.action import APP
from mstui.tui.actions import ACTIONS, bindings
from mstui.tui.alarm import Alarm, title_text
from mstui.tui.alert_window import AlertWindow
from mstui.tui.check_actions import CheckActions
from mstui.tui.header import run_name
from mstui.tui.help import help_rows, keys_text
from mstui.tui.liveness import of_listed
from mstui.tui.messages import (
    ChoiceWanted,
    DetailsWanted,
    EvidenceWanted,
    LineWanted,
    PointWanted,
    RecordWanted,
    RoleWanted,
    VerdictWanted,
)
from mstui.tui.overlay import Choice, Chooser, TextOverlay
from mstui.tui.panel import Panel
from mstui.tui.panels.alerts import AlertsPanel
from mstui.tui.panels.curves import CurvesPanel
from mstui.tui.panels.log import LogPanel
from mstui.tui.panels.ranks import RanksPanel
from mstui.tui.panels.tags import ROLE_WORDS
from mstui.tui.prompt import Prompt, Verdict
from mstui.tui.selection import find_run, selected_run
from mstui.tui.view_actions import filter_of

if TYPE_CHECKING:
    from mstui.export import Exported
    from mstui.tui.app import MstuiApp

MAX_LISTED = 2000
"""runs offered by name; beyond, the runs panel's filter finds what is wanted"""


class WatchScreen(CheckActions):
    """Everything a person can do."""

    BINDINGS = bindings(APP)  # type: ignore[assignment]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._alarm = Alarm()

    @property
    def mstui(self) -> MstuiApp:
        """The application, by its own type."""
        from mstui.tui.app import MstuiApp

        assert isinstance(self.app, MstuiApp)
        return self.app

    async def action_help(self) -> None:
        """Help of the focused panel, then of everything."""
        panel = self.focused_panel
        spec = self.specs.get(panel.id or "") if panel is not None else None
        title = _("help")
        over = TextOverlay(
            title, lambda width: help_rows(spec, self.keys, width), self.close_over, ascii_only=self.ascii_only
        )
        await self.open_over(over)

    # --- filter

    async def action_filter(self) -> None:
        """Search in the log; filter runs and ranks where their panel has the focus, tags everywhere else."""
        own_prompt = getattr(self.focused_panel, "own_prompt", None)
        if own_prompt is not None:
            await self.open_over(own_prompt(self.close_over))
            return
        field = filter_of(self.focused_panel)
        label = {"run_filter": _("filter runs"), "rank_filter": _("filter ranks")}.get(field, _("filter tags"))

        def tried(text: str) -> Verdict:
            return self._try_filter(text, field)

        await self.open_over(Prompt(label, getattr(self.view, field), tried, self.close_over))

    def _try_filter(self, text: str, field: str) -> Verdict:
        """Apply what can be understood of a filter, and say what cannot."""
        from mstui.tui.filtering import problem, run_hits, tags_left, unread_runs

        self.change_view(**{field: text})
        trouble = problem(text)
        if trouble:
            return Verdict(trouble, bad=True)
        unread = 0
        ranks = self.panels.get("ranks")
        if field == "run_filter":
            (hits, total), unread = run_hits(self.monitor, text), unread_runs(self.monitor, text)
        elif field == "rank_filter" and isinstance(ranks, RanksPanel):
            hits, total = ranks.hits()
        else:
            hits, wordings = tags_left(self.monitor, self.view.run_key, text)
            return Verdict(wordings[0], bad=not hits, shorter=wordings[1:])
        note = " " + _("{n} not read").format(n=unread) if unread else ""
        return Verdict(f"[{hits}/{total}]{note}", bad=not hits)

    # --- choosers

    async def choose(
        self, title: str, choices: Sequence[Choice], chosen: Any, current: str = "", *, sentences: bool = False
    ) -> None:
        """Let a person pick one; `chosen` is called with its value, and not at all on escape."""
        looks = {"sentences": sentences, "ascii_only": self.ascii_only}
        await self.open_over(Chooser(title, choices, chosen, self.close_over, current=current, **looks))

    async def action_command_palette(self) -> None:
        """Every action by its words, and the choices that have no key of their own."""
        panel = self.focused_panel
        scope = (panel.id or APP) if panel is not None else APP
        usable = [action for action in ACTIONS if action.scope in (APP, scope) and action.id != "command-palette"]
        choices = [Choice(action.method, _(action.tooltip), keys_text(action, self.keys)) for action in usable]
        choices += [
            Choice("choose_theme", _("Choose a theme")),
            Choice("choose_run", _("Choose a run")),
            Choice("screenshot", _("Save a picture of the whole screen as SVG")),
        ]
        if "layers" in self.panels:
            choices.append(Choice("choose_metric", _("Choose the statistic of the layer map")))

        def chosen(method: str) -> None:
            target = self if hasattr(self, f"action_{method}") else panel
            self.call_later(getattr(target, f"action_{method}"))

        await self.choose(_("commands"), choices, chosen, sentences=True)

    async def action_choose_theme(self) -> None:
        """Pick a theme by name."""
        choices = [Choice(name, safe(name)) for name in self.mstui.theme_names()]
        await self.choose(_("theme"), choices, self._use_theme, self.mstui.palette.name)

    def action_theme(self) -> None:
        """Next theme."""
        names = list(self.mstui.theme_names())
        now = self.mstui.palette.name
        self._use_theme(names[(names.index(now) + 1) % len(names) if now in names else 0])

    def _use_theme(self, name: str) -> None:
        try:
            self.mstui.use_theme(name)
        except MstuiError as error:
            self.say(error.what)
        else:
            self.say(_("theme: {name}").format(name=name))

    async def action_choose_run(self) -> None:
        """Pick a run by name."""
        runs = self.monitor.runs()[:MAX_LISTED]
        now = self.now()
        ascii_only = self.ascii_only
        choices = [
            Choice(run.key, safe(run_name(run), ascii_only=ascii_only), of_listed(run, now).text) for run in runs
        ]
        await self.choose(_("run"), choices, lambda key: self.change_view(run_key=key), self.view.run_key)

    async def action_choose_metric(self) -> None:
        """Pick the statistic of the layer map."""
        names = self._metrics()
        choices = [Choice(name, safe(name, ascii_only=self.ascii_only)) for name in names]
        await self.choose(
            _("metric"), choices, lambda name: self.change_view(layer_metric=name), self.view.layer_metric
        )

    def _metrics(self) -> Tuple[str, ...]:
        tags = self.monitor.tags(self.view.run_key)
        return tuple(dict.fromkeys(tag.statistic for tag in tags if tag.statistic))

    async def on_choice_wanted(self, message: ChoiceWanted) -> None:
        """Let a person pick from a panel's list."""
        message.stop()
        await self.choose(message.title, message.choices, message.chosen, message.current)

    async def on_role_wanted(self, message: RoleWanted) -> None:
        """Ask what a tag is."""
        message.stop()
        choices = [Choice(role.value, _(word)) for role, word in ROLE_WORDS.items()]

        def chosen(value: str) -> None:
            self.monitor.set_role(message.tag, Role(value))
            text = _("{tag} is now: {role}").format(tag=message.tag, role=_(ROLE_WORDS[Role(value)]))
            self.say(text)

        title = _("What is {tag}?").format(tag=safe(message.tag, ascii_only=self.ascii_only))
        await self.choose(title, choices, chosen, message.current)

    # --- windows to read

    async def action_run_info(self) -> None:
        """All that is known of the run under the selection of the runs panel, of the selected run everywhere else."""
        from mstui.tui.run_info import run_info_rows

        current = getattr(self.focused_panel, "current_run", None)
        key = (current() if current is not None else None) or self.view.run_key
        if find_run(self.monitor.runs(), key) is None:
            self.say(_("no run yet"))
            return

        def lines(width: int) -> List[Any]:
            run = find_run(self.monitor.runs(), key)  # again, for it may have changed, or gone
            if run is None:
                return [((_("This run is no longer there."), "dim"),)]
            return run_info_rows(self.monitor, run, self.now(), width, ascii_only=self.ascii_only)

        over = TextOverlay(_("run info"), lines, self.close_over, follows_data=True, ascii_only=self.ascii_only)
        await self.open_over(over)

    async def on_details_wanted(self, message: DetailsWanted) -> None:
        """Open what a tag holds: of the selected rank, or of the lowest one that has it."""
        from mstui.tui.details_window import DetailsWindow

        message.stop()
        tag, view = message.tag, self.view
        if tag.kind is None:
            return
        run = selected_run(self)
        ranks = (view.rank_id, *(rank.rank_id for rank in run.ranks)) if run is not None else (view.rank_id,)
        keys = [SeriesKey(view.run_key, rank, tag.tag) for rank in ranks]
        key = next((key for key in keys if self.monitor.payload_steps(key, tag.kind)), keys[0])
        await self.open_over(DetailsWindow(self.monitor, key, tag, self.close_over, ascii_only=self.ascii_only))

    async def on_record_wanted(self, message: RecordWanted) -> None:
        """Open a whole record of a log."""
        from mstui.tui.log_record import RecordWindow

        message.stop()
        files, place = self.monitor.log_files(self.view.run_key), message.row.place
        path = next((file.path for file in files if file.key == place.file), place.file.path)
        over = RecordWindow(
            self.monitor, message.row, path, self.close_over, self._copy_out, ascii_only=self.ascii_only
        )
        await self.open_over(over)

    def on_line_wanted(self, message: LineWanted) -> None:
        """Show the log at a record."""
        message.stop()
        panel = self.panels.get("log")
        if isinstance(panel, LogPanel):
            self._show("log")
            panel.show_place(message.place)

    def on_point_wanted(self, message: PointWanted) -> None:
        """Put the value cursor where a log record or an alert is on the curve."""
        message.stop()
        panel = self.panels.get("curves")
        if not isinstance(panel, CurvesPanel) or not panel.put_cursor(message.rank_id, message.step, message.tag):
            self.say(_("no curve has a point near step {step}").format(step=message.step))
            return
        if not panel.display:
            self.change_view(view="curves", zoomed="")
        self.set_focus(panel)

    # --- alerts

    async def on_evidence_wanted(self, message: EvidenceWanted) -> None:
        """Open all that is known of an alert."""
        message.stop()
        panel, run = self.panels.get("alerts"), selected_run(self)
        if not isinstance(panel, AlertsPanel):
            return
        over = AlertWindow(
            *(self.monitor, self.view.run_key, message.alert_id, message.at, self.close_over),
            *(panel.acts(message.alert_id), self.now),
            ranks=run is not None and len(run.ranks) > 1,
            ascii_only=self.ascii_only,
        )
        await self.open_over(over)

    async def on_verdict_wanted(self, message: VerdictWanted) -> None:
        """Open the list of rules that could judge, and of those that could not."""
        from mstui.tui.verdict_words import verdict_rows

        message.stop()
        monitor, run_key = self.monitor, self.view.run_key

        def lines(width: int) -> List[Any]:
            verdict, alerts = monitor.verdict(run_key), monitor.alerts(run_key)
            run, health = find_run(monitor.runs(), run_key), monitor.journal_health()
            status = None if run is None else run.status
            return verdict_rows(verdict, alerts, health, width, ascii_only=self.ascii_only, status=status)

        over = TextOverlay(_("verdict"), lines, self.close_over, follows_data=True, ascii_only=self.ascii_only)
        await self.open_over(over)

    def data_shown(self) -> None:
        """Ring where something critical is new; say the worst in the terminal's title. Both can be turned off."""
        view, monitor = self.view, self.monitor
        news = self._alarm.look(monitor, [key for key in (view.run_key, *view.overlay) if key])
        if news and self.settings.bell:
            self.app.bell()
        if self.settings.title:
            run = selected_run(self)
            name = run_name(run) if run is not None else ""
            self.mstui.say_title(title_text(name, monitor.alerts(view.run_key), ascii_only=self.ascii_only))

    # --- out of the screen

    def action_mouse(self) -> None:
        """Give the mouse to the terminal, or take it back."""
        on = self.mstui.toggle_mouse()
        self.say(_("mouse captured") if on else _("mouse left to the terminal: drag selects text"))

    def action_copy(self) -> None:
        """Copy the focused panel's text to the clipboard and to a file."""
        panel = self.focused_panel
        copy_text = getattr(panel, "copy_text", None)
        text = (copy_text() if copy_text is not None else "") or panel_text(panel)
        if not text:
            self.say(_("nothing to copy"))
            return
        self._copy_out(text)

    def _copy_out(self, text: str) -> None:
        """To the clipboard and to a file."""
        self.app.copy_to_clipboard(text)
        self._say_written(_("copied, and written to {path}"), self.mstui.write_copy(text))

    def action_screenshot(self) -> None:
        """Save the screen as SVG."""
        svg = self.app.export_screenshot(title="mstui")
        self._say_written(_("written to {path}"), self.mstui.write_out("screen", ".svg", svg))

    async def action_export(self) -> None:
        """Choose what the focused panel is saved as."""
        choices = [
            Choice("csv", _("CSV: the numbers"), letter="c"),
            Choice("svg", _("SVG: a picture without loss"), letter="s"),
            Choice("png", _("PNG: a picture"), letter="p"),
            Choice("txt", _("text: what is on the screen"), letter="t"),
        ]
        await self.choose(_("export"), choices, self._export)

    def _export(self, kind: str) -> None:
        panel = self.focused_panel
        if kind == "txt":
            name = (panel.id if panel is not None else None) or "panel"
            self._say_written(_("written to {path}"), self.mstui.write_out(name, ".txt", panel_text(panel)))
            return
        self.say(_("saving ..."))
        from mstui.tui.export_source import source_of

        source = source_of(self, panel)

        def work() -> None:
            from mstui.tui.exporting import exported

            try:
                content = exported(self, source, kind, self.mstui.palette)
            except MstuiError as error:
                self.app.call_from_thread(self.say, error.what)
                return
            written = self.mstui.write_out(*content)
            self.app.call_from_thread(self._say_written, _("written to {path}"), written)

        self.run_worker(work, thread=True, group="export", exclusive=True)

    def _say_written(self, message: str, written: Exported) -> None:
        self.say(written.problem or message.format(path=written.path))

    async def action_quit(self) -> None:
        """Leave; the training is not touched."""
        self.app.exit()


def panel_text(panel: Optional[Panel]) -> str:
    """The rows of a panel as plain text, without trailing blanks."""
    if panel is None:
        return ""
    lines: List[str] = ["".join(text for text, _look in row).rstrip() for row in panel.rows]
    return os.linesep.join(lines).rstrip() + os.linesep
