"""The actions that change what is looked at: views, focus, axis, smoothing, and those handed on to a panel."""

from __future__ import annotations

from typing import Mapping, Optional, Sequence, Tuple, TypeVar

from textual.actions import SkipAction

from mstui.i18n import _, mark
from mstui.model.series import XAxis
from mstui.tui.host_screen import HostScreen
from mstui.tui.panel import Panel

T = TypeVar("T")

SMOOTHING_STEPS: Tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99)
"""finer towards 1, where each step doubles how far the average looks back"""
AXIS_WORDS: Mapping[XAxis, str] = {
    XAxis.STEP: mark("step"),
    XAxis.EPOCH: mark("epoch"),
    XAxis.RELATIVE: mark("relative"),
    XAxis.WALL: mark("wall"),
}
USUAL_SMOOTHING = 0.6
"""what "raw" goes back to when nothing was averaged before"""


def filter_of(panel: Optional[Panel]) -> str:
    """The filter that belongs to a panel, as a field of the view: runs and ranks have their own."""
    own = {"runs": "run_filter", "ranks": "rank_filter"}
    return own.get(panel.id or "", "tag_filter") if panel is not None else "tag_filter"


class ViewActions(HostScreen):
    """One method an action; the table in actions.py says which keys they have."""

    _last_smoothing = USUAL_SMOOTHING

    # --- views and focus

    def action_view_curves(self) -> None:
        """Show the curves."""
        self._show("curves")

    def action_view_layers(self) -> None:
        """Show the layer map."""
        self._show("layers")

    def action_view_alerts(self) -> None:
        """Show the alerts."""
        self._show("alerts")

    def action_view_log(self) -> None:
        """Show the text logs."""
        self._show("log")

    def action_view_runs(self) -> None:
        """Show runs and tags."""
        self._show("runs")

    def action_view_files(self) -> None:
        """Show the files."""
        self._show("files")

    def action_view_ranks(self) -> None:
        """Show the ranks of the selected run."""
        self._show("ranks")

    def action_view_hardware(self) -> None:
        """Show the chips."""
        self._show("hardware")

    def _show(self, view: str) -> None:
        if view not in self.panels:
            raise SkipAction
        self.change_view(view=view, zoomed="")
        panel = self.panels[view]
        if panel.display:
            self.set_focus(panel)

    def action_only(self) -> None:
        """Let the focused panel fill the body, or go back."""
        panel = self.focused_panel
        zoomed = "" if self.view.zoomed or panel is None else panel.id or ""
        self.change_view(zoomed=zoomed)

    def action_next_panel(self) -> None:
        """Focus the next visible panel."""
        self._cycle(1)

    def action_previous_panel(self) -> None:
        """Focus the visible panel before."""
        self._cycle(-1)

    def _cycle(self, by: int) -> None:
        visible = self.visible_panels()
        if not visible:
            return
        panel = self.focused_panel
        at = visible.index(panel) if panel in visible else -by
        self.set_focus(visible[(at + by) % len(visible)])

    def action_back(self) -> None:
        """Leave one thing: what the panel is in, the zoomed panel, the filter of the focused panel."""
        panel = self.focused_panel
        leave = getattr(panel, "leave", None)
        if leave is not None and leave():
            return
        if self.view.cursor is not None:
            self.change_view(cursor=None)
        elif self.view.zoomed:
            self.change_view(zoomed="")
        else:
            wanted = filter_of(panel)
            if getattr(self.view, wanted):
                self.change_view(**{wanted: ""})

    # --- curves

    def action_smooth_more(self) -> None:
        """Average more of the past."""
        self._smooth(next((s for s in SMOOTHING_STEPS if s > self.view.smoothing + 1e-9), SMOOTHING_STEPS[-1]))

    def action_smooth_less(self) -> None:
        """Average less of the past."""
        lower = [s for s in SMOOTHING_STEPS if s < self.view.smoothing - 1e-9]
        self._smooth(lower[-1] if lower else 0.0)

    def action_smooth_off(self) -> None:
        """No averaging, or the last one again."""
        if self.view.smoothing:
            self._last_smoothing = self.view.smoothing
            self._smooth(0.0)
        else:
            self._smooth(self._last_smoothing)

    def _smooth(self, smoothing: float) -> None:
        self.change_view(smoothing=smoothing)
        self.say(_("smoothing {value:g}").format(value=smoothing) if smoothing else _("no smoothing"))

    def action_axis(self) -> None:
        """Next meaning of x. Ranges and cursor of the old axis would mean nothing on the new one."""
        axis = _after(tuple(XAxis), self.view.axis)
        self.change_view(axis=axis, x_range=None, x_history=())
        self.say(_("x axis: {axis}").format(axis=_(AXIS_WORDS[axis])))

    def action_superseded(self) -> None:
        """Show or hide what a restart has overwritten."""
        self.change_view(show_superseded=not self.view.show_superseded)
        self.say(_("overwritten points shown") if self.view.show_superseded else _("overwritten points hidden"))

    def action_band(self) -> None:
        """Show or hide the spread over ranks."""
        self.change_view(band=not self.view.band)
        self.say(_("spread over ranks shown") if self.view.band else _("spread over ranks hidden"))

    def action_scale(self) -> None:
        """Next y scale."""
        self._hand_to("curves", "action_scale")

    def action_pan_left(self) -> None:
        """Look earlier."""
        self._hand_to("curves", "action_pan_left")

    def action_pan_right(self) -> None:
        """Look later."""
        self._hand_to("curves", "action_pan_right")

    def action_zoom_in(self) -> None:
        """Zoom in on x."""
        self._hand_to("curves", "action_zoom_in")

    def action_zoom_out(self) -> None:
        """Zoom out of x."""
        self._hand_to("curves", "action_zoom_out")

    def action_zoom_all(self) -> None:
        """Show all steps and follow."""
        self._hand_to("curves", "action_zoom_all")

    def action_zoom_back(self) -> None:
        """Back to the view before."""
        self._hand_to("curves", "action_zoom_back")

    def action_cursor(self) -> None:
        """Value cursor on or off; its keys are those of the curves panel, so the panel gets the focus."""
        panel = self.panels.get("curves")
        if panel is not None and panel.display:
            self.set_focus(panel)
        self._hand_to("curves", "action_cursor")

    def action_metric(self) -> None:
        """Next statistic of the layer map."""
        self._hand_to("layers", "next_metric")

    def _hand_to(self, panel_id: str, method: str) -> None:
        panel = self.panels.get(panel_id)
        if panel is None or not panel.display:
            self.say(_("The panel that this key belongs to is not on the screen: 1 curves, 2 layers"))
            return
        getattr(panel, method)()

    def action_read_now(self) -> None:
        """Look at every file at once."""
        self.monitor.read_now()
        self.say(_("reading every file now"))


def _after(values: Sequence[T], value: T) -> T:
    return values[(values.index(value) + 1) % len(values)]
