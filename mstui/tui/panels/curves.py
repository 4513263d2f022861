"""The curves: small multiples of the selected run's scalar tags, the loss first, with a value cursor.

What keys do to the charts: focus, pages, cursor, range of x, scale. The drawing is in mstui.tui.curve_charts.
"""

from __future__ import annotations

from typing import ClassVar, Dict, List, Optional

from textual.binding import BindingType

from mstui.i18n import _, mark
from mstui.model.series import SeriesKey, XAxis
from mstui.tui.actions import bindings
from mstui.tui.curve_charts import CurveCharts
from mstui.tui.messages import LineWanted
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.state import Cursor, Scale
from mstui.tui.x_range import Range, containing, panned, zoomed

PAN_SHARE = 0.25
"""part of the range that one key press pans"""
ZOOM_FACTOR = 2.0
MANY_POINTS = 10
"""points that the cursor's long step covers"""
HISTORY_LIMIT = 50
"""earlier ranges that can be gone back to"""
_SCALES = (Scale.LINEAR, Scale.LOG, Scale.SYMLOG)


class CurvesPanel(CurveCharts):
    """The charts and their keys."""

    BINDINGS: ClassVar[List[BindingType]] = [*bindings("curves")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._panning = False
        """the last change of the range was a pan: one more needs no new entry in the history"""

    # ---- value cursor

    def toggle_cursor(self) -> None:
        """Cursor off, or on at the last point that shows in the focused chart."""
        view, tag = self.host.view, self.focused_tag()
        if view.cursor is not None:
            self.host.change_view(cursor=None)
            return
        if tag is None or self._shown is None:
            self.host.say(_("There is no point to read yet."))
            return
        reading = self.host.monitor.reading(self._key(tag), view.axis, self._shown.x_range[1], view.smoothing)
        if reading is None:
            self.host.say(_("There is no point to read yet."))
            return
        self.host.change_view(cursor=Cursor(tag, reading.index))

    def put_cursor(self, rank_id: int, step: int, wanted: str = "") -> bool:
        """Put the cursor on the point nearest to a step: of this tag or the focused chart, else of the first with any.

        False when this rank has no point at all; the selected rank is tried then.
        """
        if wanted and wanted not in self.choice().tags:
            self.host.change_view(tag_filter="")
        view, monitor = self.host.view, self.host.monitor
        first, tags = wanted or self.focused_tag(), self.choice().tags
        for rank in dict.fromkeys((rank_id, view.rank_id)):
            for tag in (*(tag for tag in tags if tag == first), *tags):
                key = SeriesKey(view.run_key, rank, tag)
                reading = monitor.reading(key, XAxis.STEP, step, view.smoothing)
                there = None if reading is None else monitor.reading_at(key, view.axis, reading.index, view.smoothing)
                if there is not None:
                    x_range = None if view.x_range is None else containing(view.x_range, there.x)
                    cursor = Cursor(tag, there.index)
                    self.host.change_view(rank_id=rank, chart=tags.index(tag), cursor=cursor, x_range=x_range)
                    return True
        return False

    def _move_cursor(self, index: int) -> None:
        """Put the cursor on another point of its series and bring it into view."""
        view, now = self.host.view, self._reading()
        if now is None or view.cursor is None:
            return
        index = max(min(index, now.total - 1), 0)
        reading = self.host.monitor.reading_at(now.key, view.axis, index, view.smoothing)
        x_range = view.x_range
        if reading is not None and x_range is not None:
            x_range = containing(x_range, reading.x)
        self.host.change_view(cursor=Cursor(view.cursor.tag, index), x_range=x_range)

    def _step(self, by: int) -> None:
        """The cursor by so many points, or without a cursor the focus by so many charts."""
        reading = self._reading()
        if reading is None:
            self._focus(self._at() + by)
        else:
            self._move_cursor(reading.index + by)

    def _focus(self, at: int) -> None:
        """Focus a chart; the cursor goes with it, to the point nearest in x."""
        tags, view = self.choice().tags, self.host.view
        if not tags:
            return
        at = max(min(at, len(tags) - 1), 0)
        reading = self._reading()
        cursor = None
        if reading is not None:
            there = self.host.monitor.reading(self._key(tags[at]), view.axis, reading.x, view.smoothing)
            cursor = Cursor(tags[at], there.index) if there is not None else None
        self.host.change_view(chart=at, cursor=cursor)

    # ---- range of x

    def pan(self, fraction: float) -> None:
        """Move the range by a part of itself (negative: earlier)."""
        if self._shown is None:
            return
        moved = panned(self._shown.x_range, self._shown.data_range, fraction)
        if moved is not None:
            self._set_range(moved, panning=True)

    def zoom(self, factor: float) -> None:
        """Look `factor` times closer (below 1: from farther off), around the cursor if it is on."""
        if self._shown is None:
            return
        data = self._shown.data_range
        gap = (data[1] - data[0]) / max(self._shown.total - 1, 1)
        self._set_range(zoomed(self._shown.x_range, data, factor, self._marker(), gap))

    def zoom_all(self) -> None:
        """Everything, and follow."""
        self._set_range(None)

    def zoom_back(self) -> None:
        """The range before."""
        history = self.host.view.x_history
        if not history:
            self.host.say(_("There is no earlier view."))
            return
        self._panning = False
        self.host.change_view(x_range=history[-1], x_history=history[:-1], **self._cursor_inside(history[-1]))

    def _set_range(self, wanted: Optional[Range], *, panning: bool = False) -> None:
        view = self.host.view
        if wanted == view.x_range:
            return
        history = view.x_history
        if not (panning and self._panning):
            history = (*history, view.x_range)[-HISTORY_LIMIT:]
        self._panning = panning
        self.host.change_view(x_range=wanted, x_history=history, **self._cursor_inside(wanted))

    def _cursor_inside(self, wanted: Optional[Range]) -> Dict[str, Cursor]:
        """The change that keeps the cursor in view, if one is needed."""
        reading, view = self._reading(), self.host.view
        if reading is None or view.cursor is None or wanted is None or wanted[0] <= reading.x <= wanted[1]:
            return {}
        edge = min(max(reading.x, wanted[0]), wanted[1])
        there = self.host.monitor.reading(reading.key, view.axis, edge, view.smoothing)
        return {} if there is None else {"cursor": Cursor(view.cursor.tag, there.index)}

    # ---- actions

    def toggle_scale(self) -> None:
        """Next y scale of the focused chart."""
        tag, view = self.focused_tag(), self.host.view
        if tag is None:
            return
        scale = _SCALES[(_SCALES.index(view.scale_of(tag)) + 1) % len(_SCALES)]
        others = tuple(pair for pair in view.scales if pair[0] != tag)
        self.host.change_view(scales=others if scale is Scale.LINEAR else (*others, (tag, scale)))

    def leave(self) -> bool:
        """Leave the cursor, else the single chart. False when there was nothing to leave."""
        if self.host.view.cursor is not None:
            self.host.change_view(cursor=None)
            return True
        if self.single:
            self.action_one_chart()
            return True
        return False

    def action_cursor(self) -> None:
        """Value cursor on or off."""
        self.toggle_cursor()

    def action_scale(self) -> None:
        """Next y scale."""
        self.toggle_scale()

    def action_pan_left(self) -> None:
        """Look earlier."""
        self.pan(-PAN_SHARE)

    def action_pan_right(self) -> None:
        """Look later."""
        self.pan(PAN_SHARE)

    def action_zoom_in(self) -> None:
        """Look closer."""
        self.zoom(ZOOM_FACTOR)

    def action_zoom_out(self) -> None:
        """Look from farther off."""
        self.zoom(1 / ZOOM_FACTOR)

    def action_zoom_all(self) -> None:
        """Everything, and follow."""
        self.zoom_all()

    def action_zoom_back(self) -> None:
        """The range before."""
        self.zoom_back()

    def action_chart_left(self) -> None:
        """One point back, or the chart before."""
        self._step(-1)

    def action_chart_right(self) -> None:
        """One point on, or the next chart."""
        self._step(1)

    def action_chart_up(self) -> None:
        """The chart above."""
        self._focus_row(-1)

    def action_chart_down(self) -> None:
        """The chart below."""
        self._focus_row(1)

    def _focus_row(self, by: int) -> None:
        at = self._at() + by * self._page()[0].columns
        if 0 <= at < len(self.choice().tags):
            self._focus(at)

    def action_cursor_left_ten(self) -> None:
        """Ten points back."""
        self._move_by_many(-MANY_POINTS)

    def action_cursor_right_ten(self) -> None:
        """Ten points on."""
        self._move_by_many(MANY_POINTS)

    def _move_by_many(self, by: int) -> None:
        reading = self._reading()
        if reading is not None:
            self._move_cursor(reading.index + by)

    def action_cursor_first(self) -> None:
        """The first point, or the first chart."""
        if self._reading() is None:
            self._focus(0)
        else:
            self._move_cursor(0)

    def action_cursor_last(self) -> None:
        """The last point, or the last chart."""
        reading = self._reading()
        if reading is None:
            self._focus(len(self.choice().tags) - 1)
        else:
            self._move_cursor(reading.total - 1)

    def action_cursor_next_bad(self) -> None:
        """The next NaN or infinity of the cursor's series, round from the start; without a cursor, one is put there."""
        reading, tag = self._reading(), self.focused_tag()
        if reading is None and tag is None:
            return
        key, after = (reading.key, reading.index) if reading is not None else (self._key(tag or ""), -1)
        index = self.host.monitor.next_non_finite(key, after)
        if index is None:
            self.host.say(_("Every value of this chart is finite."))
            return
        if reading is None:
            self.host.change_view(cursor=Cursor(key.tag, index))
        self._move_cursor(index)

    def action_page_down(self) -> None:
        """Next page of charts."""
        self._turn(1)

    def action_page_up(self) -> None:
        """Page of charts before."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        size = self._page()[0].size
        page = self._at() // size + by
        if 0 <= page * size < len(self.choice().tags):
            self._focus(page * size)

    def action_curve_to_log(self) -> None:
        """The log record of the step under the cursor, or of the newest one."""
        tag = self.focused_tag()
        reading = self._reading()
        if reading is None and tag is not None:
            reading = self.host.monitor.reading_at(self._key(tag), self.host.view.axis, -1, 0.0)
        place = None if reading is None else self.host.monitor.log_place(reading.key, reading.step)
        if place is None:
            self.host.say(_("No log of this rank tells of this step."))
        else:
            self.post_message(LineWanted(place))

    def action_one_chart(self) -> None:
        """The focused chart alone, or the grid again."""
        self.single = not self.single
        self.redraw()


PANEL = PanelSpec(
    id="curves",
    title=mark("curves"),
    help=mark(
        "Each chart is one scalar tag of the selected run, the loss first. The bright line is the exponential average "
        "(+ - 0), the dim one the raw values. The row under a chart marks NaN (x), +Inf (^) and -Inf (v); R on the x "
        "axis is a restart, and what it has overwritten is drawn dim. With several ranks the dotted area is the spread "
        "of the others. v reads values; [ ] { } = change the range of x for all charts."
    ),
    build=lambda host: CurvesPanel(host, "curves"),
)
