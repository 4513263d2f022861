"""What the one screen does by itself: holds the panels, places them, tells them of new data and changes of the view.

It asks the monitor only through its façade and decides nothing about training.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple

from textual import events
from textual.app import ComposeResult
from textual.geometry import Region, Size
from textual.layout import Layout
from textual.timer import Timer
from textual.widget import Widget

from mstui.config import CONFIG_NAME, Settings
from mstui.i18n import _
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.model.runs import RunInfo
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.action import APP
from mstui.tui.alert_asking import Question
from mstui.tui.ask import AskPrompt
from mstui.tui.asked_rank import AskedRank
from mstui.tui.budget import LinkBudget
from mstui.tui.compositor import use_spans
from mstui.tui.footer import Footer
from mstui.tui.header import Header
from mstui.tui.layout import VITALS_HEIGHT, Slot, arrange
from mstui.tui.lines import Lines
from mstui.tui.liveness import dead_rows
from mstui.tui.messages import Committed
from mstui.tui.over_screen import OverScreen
from mstui.tui.overlay import Overlay, TextOverlay
from mstui.tui.panel import Panel, PanelSpec
from mstui.tui.panels.vitals import rows_for
from mstui.tui.prompt import Prompt
from mstui.tui.selection import find_run, lowest_rank
from mstui.tui.slots import SlotLayout
from mstui.tui.state import ViewState
from mstui.tui.strip import AlertStrip

MAPS = frozenset(["layers", "histogram"])
"""panels that only show statistics of single parameters"""
AGE_TICK_S = 2.0
"""how often the header looks at its clock; what it shows changes in coarse steps, so that most looks cost no byte"""


class HostScreen(OverScreen):
    """Implements Host. Its subclasses add the actions."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = "HostScreen { overflow: hidden; }"

    def __init__(
        self,
        monitor: MonitorApi,
        settings: Settings,
        view: ViewState,
        specs: Sequence[PanelSpec],
        *,
        keys: Mapping[str, Sequence[str]],
        clock: Callable[[], float],
    ) -> None:
        super().__init__()
        self._monitor = monitor
        self.settings = settings
        self._view = view
        self.specs = {spec.id: spec for spec in specs}
        self.keys = keys
        self._clock = clock
        self.budget = LinkBudget(time.monotonic)
        self.header = Header(self)
        self.strip = AlertStrip(self)
        self.footer = Footer()
        self.footer.keys = keys
        self.panels: Dict[str, Panel] = {spec.id: spec.build(self) for spec in specs}
        self._slots: Dict[Tuple[int, int, str, str, FrozenSet[str], int], List[Slot]] = {}
        self._usable = frozenset(key for key, panel in self.panels.items() if panel.wants_room())
        self._vitals_rows = VITALS_HEIGHT
        self._timer: Optional[Timer] = None
        self._last_flush = 0.0
        self._shown_revision = -1
        self._announced = ""
        self._asked_rank = AskedRank(settings.rank)
        self._told_dead = False
        self.config_path = CONFIG_NAME
        """the configuration file that a person may write into; it need not exist"""
        self.first_resumed: Optional[Callable[[], None]] = None
        """called once when everything is laid out"""
        self._layout = SlotLayout(self._region)
        use_spans(self, self.budget.spend)

    # --- Host

    @property
    def monitor(self) -> MonitorApi:
        """Where numbers come from."""
        return self._monitor

    @property
    def view(self) -> ViewState:
        """What the person has chosen."""
        return self._view

    @property
    def ascii_only(self) -> bool:
        """Draw with ASCII characters only."""
        return bool(self.settings.ascii)

    def now(self) -> float:
        """Unix seconds."""
        return self._clock()

    def change_view(self, **changes: Any) -> None:
        """Replace fields of the view; every visible panel is redrawn."""
        old, new = self._view, replace(self._view, **changes)
        if new == old:
            return
        if new.run_key != old.run_key:
            run = find_run(self._monitor.runs(), new.run_key)
            rank = changes.get("rank_id", lowest_rank(run) if run is not None else 0)
            new = replace(new, rank_id=rank, cursor=None)
        drawn = [key for key in (new.run_key, *new.overlay) if key]
        colours = new.colours + tuple(key for key in dict.fromkeys(drawn) if key not in new.colours)
        self._view = new = replace(new, colours=colours)
        wanted, had = set(drawn), {key for key in (old.run_key, *old.overlay) if key}
        for key in sorted(wanted - had):
            self._monitor.load(key)
        for key in sorted(had - wanted):
            self._monitor.unload(key)
        if not self._place_if_needed() and (new.view, new.zoomed) != (old.view, old.zoomed):
            self.place()
        for panel in self.panels.values():
            panel.view_changed()
        self._redraw_frame()
        self._show_keys()

    def say(self, message: str) -> None:
        """Show a short message in the footer until the next key."""
        self.footer.message = safe(message, ascii_only=self.ascii_only)
        self.footer.redraw()

    async def ask(self, question: Question) -> None:
        """Show a line to type an answer in; returns when it has the keys."""
        await self.open_over(AskPrompt(question, self.close_over, ascii_only=self.ascii_only))

    # --- life

    def compose(self) -> ComposeResult:
        """Every widget at once: mounting later would repaint."""
        self._mark_places(self.app.size)
        yield self.header
        yield from self.panels.values()
        yield self.strip
        yield self.footer

    def on_mount(self) -> None:
        """Focus before the first picture is painted, and look at what the monitor has already."""
        self.set_focus(self.first_panel())
        self._show_keys()
        self.set_interval(AGE_TICK_S, self._tick)
        self._choose_run()

    def on_screen_resume(self) -> None:
        """Textual's own handler, which asks for a whole repaint, runs after this one; what waits is called then."""
        if self.first_resumed is not None:
            self.call_later(self.call_later, self.first_resumed)
            self.first_resumed = None

    def on_committed(self, message: Committed) -> None:
        """New data: draw at most `refresh_hz` times a second."""
        message.stop()
        if self._timer is not None:
            return
        wait = self._last_flush + 1 / self.settings.refresh_hz - time.monotonic()
        if wait <= 0:
            self._flush()
        else:
            self._timer = self.set_timer(wait, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._last_flush = time.monotonic()
        revision = self._monitor.revision
        if revision == self._shown_revision:
            return
        self._shown_revision = revision
        view = self._view
        self._choose_run()
        self._place_if_needed()
        if self._view is view:  # a change of the view has just made every panel draw what is new
            for panel in self.visible_panels():
                panel.data_changed()
        over = self.overlay
        if over is not None:
            over.data_changed()
        self._redraw_frame()
        self.data_shown()
        self._tell_if_dead()

    def _redraw_frame(self) -> bool:
        """Header and strip; True when something of them changed."""
        changed = self.header.redraw()
        return (self.strip.display and self.strip.redraw()) or changed

    def data_shown(self) -> None:
        """What is new is on the screen. For subclasses: what should be heard of it."""

    def _tick(self) -> None:
        """The header alone, where nothing else was drawn lately; what it paints counts as a redraw."""
        now = time.monotonic()
        if self._timer is not None or now - self._last_flush < max(AGE_TICK_S, 1 / self.settings.refresh_hz):
            return
        if self._redraw_frame():
            self._last_flush = now
        for panel in self.visible_panels():
            panel.clock_ticked()
        if not self._view.run_key:  # nothing is committed while nothing is found, but what is said about it changes
            for panel in self.visible_panels():
                panel.redraw()
        self._tell_if_dead()

    def _tell_if_dead(self) -> None:
        watch = self._monitor.watch_state()
        if watch.alive or self._told_dead:
            return
        self._told_dead = True
        reason = safe(watch.detail or _("unknown"), ascii_only=self.ascii_only)
        over = TextOverlay(
            _("NOT LIVE"), lambda width: dead_rows(reason, width), self.close_over, ascii_only=self.ascii_only
        )
        self.call_later(self.open_over, over)

    def _choose_run(self) -> None:
        """Select the run that was asked for, else the newest with data; later only say that a newer one is there."""
        runs = self._monitor.runs()
        if not runs:
            return
        if not self._view.run_key:
            wanted = find_run(runs, self.settings.run) if self.settings.run else None
            run = wanted or next((run for run in runs if run.bytes_total), None)
            if run is not None:
                rank = self._asked_rank.begin(run)
                self._announced = runs[0].key
                # Runs that were drawn with another one last time are not loaded yet, and may be gone.
                overlay = tuple(key for key in self._view.overlay if key != run.key and find_run(runs, key) is not None)
                self._view = replace(self._view, overlay=())
                self.change_view(run_key=run.key, rank_id=rank, overlay=overlay)
                if self.settings.run and wanted is None:
                    self.say(_("no run {run} yet; runs found: {n}").format(run=self.settings.run, n=len(runs)))
            return
        newest = runs[0]
        selected = find_run(runs, self._view.run_key)
        if selected is not None:
            self._look_for_rank(selected)
        newer = selected is None or newest.last_data > selected.last_data
        if newest.key not in (self._view.run_key, self._announced) and newest.bytes_total and newer:
            self._announced = newest.key
            self.say(_("newer run: {run}").format(run=newest.key))

    def _look_for_rank(self, run: RunInfo) -> None:
        rank_id, message = self._asked_rank.look(run, self._view.rank_id, self._monitor.watch_state())
        if message:
            self.say(message)
        if rank_id is not None:
            self.change_view(rank_id=rank_id)

    # --- places

    @property
    def layout(self) -> Layout:
        """Ours, whatever a style sheet says: Textual's styles know only the layouts it comes with."""
        return self._layout

    def slots(self, size: Size) -> List[Slot]:
        """The table of places for a size of the screen and the present view."""
        key = (size.width, size.height, self._view.view, self._view.zoomed, self._usable, self._vitals_rows)
        if key not in self._slots:
            self._slots.clear()
            self._slots[key] = arrange(*key)
        return self._slots[key]

    def _usable_panels(self) -> FrozenSet[str]:
        """Panels that have something to show, or that were asked for: a run without statistics has no maps."""
        view = self._view
        asked = (view.view, view.zoomed)
        panels = frozenset(key for key, panel in self.panels.items() if key in asked or panel.wants_room())
        if view.view == "layers" or view.zoomed in MAPS:
            return panels
        tags = self._monitor.tags(view.run_key)
        if any(tag.role is Role.PARAMETER or tag.kind is BlobKind.HISTOGRAM for tag in tags):
            return panels
        return panels - MAPS

    def _region(self, widget: Widget, size: Size) -> Optional[Region]:
        if isinstance(widget, Overlay):
            return widget.region_in(size)
        if isinstance(widget, Prompt):
            return Region(0, max(size.height - 1, 0), size.width, 1)
        found = (slot for slot in self.slots(size) if slot.panel == widget.id)
        return next((Region(slot.x, slot.y, slot.width, slot.height) for slot in found), None)

    def _mark_places(self, size: Size) -> None:
        """Tell every widget how it is placed, before the layout asks."""
        placed = {slot.panel: slot for slot in self.slots(size)}
        self.header.compact = placed["header"].compact
        self.footer.display, self.strip.display = "footer" in placed, "strip" in placed
        for panel_id, panel in self.panels.items():
            slot = placed.get(panel_id)
            panel.display = slot is not None
            if slot is not None and (panel.left_rule, panel.compact) != (slot.left_rule, slot.compact):
                panel.left_rule, panel.compact = slot.left_rule, slot.compact
                panel.redraw()

    def _place_if_needed(self) -> bool:
        usable, rows = self._usable_panels(), rows_for(self._monitor.tags(self._view.run_key))
        if (usable, rows) == (self._usable, self._vitals_rows):
            return False
        self._usable, self._vitals_rows = usable, rows
        self.place()
        return True

    def place(self) -> None:
        """Lay the panels out again after a change of the view."""
        self._mark_places(self.app.size)
        self.header.refresh(repaint=False, layout=True)  # of a child: only that drops the arrangement kept by a parent
        focused = self.focused
        if self.overlay is None and (focused is None or not focused.display):
            self.set_focus(self.first_panel())

    def on_resize(self, event: events.Resize) -> None:
        """Runs before Textual lays out for the new size."""
        self._mark_places(event.size)
        focused = self.focused
        if focused is not None and not focused.display:
            self.set_focus(self.first_panel())

    def repaint(self) -> None:
        """Draw every cell again, in another theme."""
        for child in self.children:
            if isinstance(child, Lines) and child.display:
                child.repaint_all()

    def visible_panels(self) -> List[Panel]:
        """Panels that have a place, in reading order."""
        return [self.panels[slot.panel] for slot in self.slots(self.app.size) if slot.panel in self.panels]

    def first_panel(self) -> Optional[Panel]:
        """What should have the focus when nothing has it: the panel that the view is named after."""
        visible = self.visible_panels()
        named = (panel for panel in visible if panel.id == self._view.view)
        return next(named, visible[0] if visible else None)

    # --- focus, messages

    @property
    def focused_panel(self) -> Optional[Panel]:
        """The panel that keys go to, also while an overlay or the prompt is open."""
        widget = self.focused
        if not isinstance(widget, Panel):
            widget = self._before
        return widget if isinstance(widget, Panel) else None

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The footer shows the keys of what has the focus."""
        del event
        self._show_keys()

    def on_key(self, event: events.Key) -> None:
        """Any key takes a message away; the key then does what it does."""
        del event
        self._clear_message()

    def _clear_message(self) -> None:
        if self.footer.message:
            self.footer.message = ""
            self.footer.redraw()

    def _show_keys(self) -> None:
        panel = self.focused_panel
        self.footer.scope = (panel.id or APP) if panel is not None else APP
        self.footer.redraw()
