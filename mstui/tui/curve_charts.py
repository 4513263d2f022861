"""The grid of charts that the curves panel shows: which tags, which page, how they are drawn.

It asks the monitor for reduced views and draws them; it keeps no numbers and judges nothing. Keys are the panel's.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from textual.timer import Timer

from mstui import safe_text
from mstui.i18n import _, mark
from mstui.model.series import CurveView, SeriesKey, XAxis
from mstui.monitor_api import CursorReading
from mstui.tui.alert_marks import onset_marks
from mstui.tui.chart import ChartFrame, Curve
from mstui.tui.chart_grid import GAP, Choice, Grid, choose_tags, grid_for
from mstui.tui.curve_cache import CurveCache
from mstui.tui.curve_source import CurveSource, Shown
from mstui.tui.lines import Row, Span
from mstui.tui.panel import Host, Panel, joined
from mstui.tui.patience import Patience
from mstui.tui.read_out import most_lines, read_out_rows, read_out_text
from mstui.tui.source_words import disagreement_text
from mstui.tui.x_axis import format_range
from mstui.tui.x_range import FollowedRange

CATCH_UP_S = 1.0
"""seconds after which charts that had to wait are tried again"""
NEIGHBOURS = 32
"""charts before and after a page from which its titles are told apart"""
MOST_LOOKS = 3
"""times that a redraw asks for its curves: for where they end, once more if the range moves, and for another axis"""


class CurveCharts(Panel):
    """Charts in a grid. `host.view.chart` is the focused one; the page is the one that holds it."""

    TITLE = mark("curves")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self.single = False
        """the focused chart fills the panel"""
        self._source = CurveSource(host)
        self._cache = CurveCache()
        self._followed = FollowedRange()
        self._choice = Choice()
        self._chosen_for: Tuple[object, ...] = ()
        self._shown: Optional[CurveView] = None
        """newest view of the focused chart"""
        self._patience = Patience(host.budget)
        self._later: Optional[Timer] = None
        """runs while a chart waits for room on the link"""

    # ---- what is chosen

    def choice(self) -> Choice:
        """The charts that the filter leaves, now."""
        view, monitor = self.host.view, self.host.monitor
        wanted = (view.run_key, view.tag_filter, monitor.revision)
        if wanted != self._chosen_for:
            old = self._choice.tags if self._chosen_for[:1] == wanted[:1] else ()
            self._choice = choose_tags(monitor.tags(view.run_key), view.tag_filter, old)
            self._chosen_for = wanted
        return self._choice

    def matched(self) -> Tuple[int, int]:
        """Tags that the filter matches, and scalar tags in all."""
        choice = self.choice()
        return (choice.hits, choice.total)

    def focused_tag(self) -> Optional[str]:
        """The tag of the focused chart."""
        tags = self.choice().tags
        return tags[self._at()] if tags else None

    def focused_series(self) -> Optional[SeriesKey]:
        """The selected run's series in the focused chart."""
        tag = self.focused_tag()
        return None if tag is None else self._key(tag)

    def export_data(self) -> Optional[Shown]:
        """What the focused chart shows: every series and query in force; None without a chart."""
        tag = self.focused_tag()
        if tag is None:
            return None
        grid, tags = self._page()
        return self._source.shown(tag, tags, self._frame(tag, grid, 0).columns, self._followed.kept)

    def copy_text(self) -> str:
        """The focused chart, or the cursor's read-out, in a few lines."""
        tag, view = self.focused_tag(), self.host.view
        if tag is None:
            return ""
        readings = self._readings()
        if readings:
            tag = view.cursor.tag if view.cursor is not None else tag
        else:
            newest = (self.host.monitor.reading_at(k, view.axis, -1, view.smoothing) for k in self._source.keys(tag))
            readings = [reading for reading in newest if reading is not None]
        return "\n".join(read_out_text(self._source.name(r.key.run_key), tag, r, self.axis) for r in readings)

    @property
    def axis(self) -> XAxis:
        """The x axis that the charts really have: steps, where a run does not tell its epochs."""
        return self.host.view.axis if self._shown is None else self._shown.axis

    def _key(self, tag: str) -> SeriesKey:
        return SeriesKey(self.host.view.run_key, self.host.view.rank_id, tag)

    def _at(self) -> int:
        return max(min(self.host.view.chart, len(self.choice().tags) - 1), 0)

    def _body_size(self) -> Tuple[int, int]:
        """Cells for charts: the panel without rule, title and read-out."""
        width = self.size.width - (1 if self.left_rule else 0)
        return width, self.size.height - (0 if self.compact else 1) - self._read_out_height()

    def _page(self) -> Tuple[Grid, Tuple[str, ...]]:
        """The grid, and the tags of the page that the focused chart is on."""
        tags, at = self.choice().tags, self._at()
        width, height = self._body_size()
        if self.single:
            tags, at = tags[at : at + 1], 0
        grid = grid_for(width, height, max(len(tags), 1))
        first = at // grid.size * grid.size
        return grid, tags[first : first + grid.size]

    # ---- drawing

    def data_changed(self) -> None:
        """New data: charts that would be drawn anew as a whole wait for their turn on the link."""
        with self._patience:
            super().data_changed()
        if self._patience.holding and self._later is None:
            self._later = self.set_timer(CATCH_UP_S, self._catch_up)

    def _catch_up(self) -> None:
        """Draw what had to wait, though nothing new has come."""
        self._later = None
        if self._patience.holding and self.display:
            self.data_changed()

    def draw(self, width: int, height: int) -> Tuple[Row, ...]:
        """The panel's rows, for the runs as they are listed now."""
        self._source.refresh()
        return super().draw(width, height)

    def title(self, width: int) -> Row:
        """Page, filter, x axis and range, runs in their looks; nothing that changes with each step and costs bytes."""
        choice, view = self.choice(), self.host.view
        _grid, tags = self._page()
        parts: List[Span] = []
        if choice.tags:
            first = choice.tags.index(tags[0]) + 1
            page = f"{first}-{first + len(tags) - 1}" if len(tags) > 1 else f"{first}"
            parts.append((_("{page} of {number}").format(page=page, number=len(choice.tags)), "dim"))
        if view.tag_filter.strip():
            text = safe_text.safe(view.tag_filter, ascii_only=self.host.ascii_only)
            found = _("/{filter}: {hits} of {total}") if choice.hits else _("/{filter}: no tag matches")
            look = "match" if choice.hits else "warning"
            parts.append((found.format(filter=text, hits=choice.hits, total=choice.total), look))
            if choice.error:
                parts.append((safe_text.safe(choice.error, ascii_only=self.host.ascii_only), "warning"))
        told = None if self._shown is None else self._shown.disagreement
        if told is not None:
            text = f"{self.focused_tag()}: {disagreement_text(told)}"
            parts.append((safe_text.safe(text, ascii_only=self.host.ascii_only), "warning"))
        parts.append((_("x: {axis}").format(axis=_(self.axis.value)), "dim"))
        if self.axis is not view.axis:
            parts.append((_("{axis} is not known").format(axis=_(view.axis.value)), "warning"))
        if view.x_range is not None:
            low, high = format_range(self.axis, *view.x_range)
            parts.append((_("{low} to {high}, = all").format(low=low, high=high), "info"))
        if view.overlay and tags:
            runs = [key.run_key for key in reversed(self._source.keys(tags[0]))]
            parts += [(self._source.name(run), self._look(run)) for run in runs]
        return joined(parts, width - safe_text.width(_(self.TITLE)) - len("-  -"))

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The page's charts, and the read-out under them while the cursor is on."""
        view = self.host.view
        grid, tags = self._page()
        self._cache.start((view.run_key, view.overlay, view.axis, view.x_range, view.smoothing == 0))
        self._shown = None
        if not tags:
            from mstui.tui.nothing import nothing_rows

            return nothing_rows(self.host, width, height)
        rows: List[Row] = []
        drawn: List[Tuple[str, Tuple[Row, ...]]] = []
        marker = self._marker()
        views = self._views(tags, self._frame(tags[0], grid, 0).columns)
        onsets = onset_marks(self.host, self.axis)
        beside = self._beside(tags)
        for line, chart_height in enumerate(grid.chart_heights):
            charts = [
                (
                    tag,
                    self._chart(
                        views[tag],
                        self._frame(tag, grid, chart_height, marker)._replace(
                            onsets=onsets.get(tag, ()), beside=beside
                        ),
                    ),
                )
                for tag in tags[line * grid.columns : (line + 1) * grid.columns]
            ]
            drawn.extend(charts)
        pictures = self._patience.choose(drawn, grid.chart_width, self.host.now())
        for line in range(grid.rows):
            for pieces in zip(*pictures[line * grid.columns : (line + 1) * grid.columns]):
                row: List[Span] = list(pieces[0])
                for piece in pieces[1:]:
                    row += [(" " * GAP, "text"), *piece]
                rows.append(tuple(row))
        lines = self._read_out_height()
        if lines:
            readings = self._readings()[:lines]
            names = [(self._source.name(r.key.run_key), self._look(r.key.run_key)) for r in readings]
            rows = rows[: height - lines]
            rows += read_out_rows(readings, names, self.axis, width, ascii_only=self.host.ascii_only)
        return tuple(rows)

    def _beside(self, tags: Tuple[str, ...]) -> Tuple[str, ...]:
        """Tags of the page and of the charts around it: titles must stay apart when pages are turned, too."""
        every = self.choice().tags
        first = every.index(tags[0])
        return every[max(first - NEIGHBOURS, 0) : first + len(tags) + NEIGHBOURS]

    def _frame(self, tag: str, grid: Grid, height: int, marker: Optional[float] = None) -> ChartFrame:
        view = self.host.view
        focused = self.has_focus and tag == self.focused_tag()
        return ChartFrame(
            tag,
            grid.chart_width,
            height,
            view.scale_of(tag),
            view.smoothing,
            superseded=view.show_superseded,
            marker=marker,
            title_look="title-focus" if focused else "title",
            ascii_only=self.host.ascii_only,
        )

    def _views(self, tags: Tuple[str, ...], columns: int) -> Dict[str, List[CurveView]]:
        """What to draw of each chart, from the lowest curve to the topmost, all over the same range."""
        view, monitor = self.host.view, self.host.monitor
        watch = monitor.watch_state()
        settled = watch.bytes_read >= watch.bytes_total
        self._followed.start((view.run_key, view.overlay, view.axis, tags, view.x_range))
        focused = self.focused_tag()
        for _look in range(MOST_LOOKS):
            found: Dict[str, List[CurveView]] = {tag: [] for tag in tags}
            newest_of_all: List[CurveView] = []
            for tag in tags:
                for key, query in self._source.shown(tag, tags, columns, self._followed.kept).curves:
                    newest, drawn = self._cache.view(monitor, query)
                    if newest is None or drawn is None:
                        continue
                    found[tag].append(drawn)
                    newest_of_all.append(newest)
                    if key.run_key == view.run_key and tag == focused:
                        self._shown = newest
            if view.x_range is not None or not self._followed.look(newest_of_all, self.host.now(), settled=settled):
                break
        return found

    def _chart(self, views: List[CurveView], frame: ChartFrame) -> Tuple[Row, ...]:
        own, smoothing = self.host.view.run_key, self.host.view.smoothing
        curves = [
            Curve(view, self._look(view.key.run_key), "raw" if view.key.run_key == own and smoothing else "")
            for view in views
        ]
        return self._cache.chart(curves, frame)

    # ---- value cursor

    def _reading(self) -> Optional[CursorReading]:
        """The selected run's point under the cursor; the last one when the series has become shorter."""
        cursor, view, monitor = self.host.view.cursor, self.host.view, self.host.monitor
        if cursor is None:
            return None
        key = self._key(cursor.tag)
        found = monitor.reading_at(key, view.axis, cursor.index, view.smoothing)
        return found or monitor.reading_at(key, view.axis, -1, view.smoothing)

    def _readings(self) -> List[CursorReading]:
        """One reading a run, the selected one first, the others at the same x."""
        mine, view = self._reading(), self.host.view
        if mine is None or view.cursor is None:
            return []
        keys = [key for key in self._source.keys(view.cursor.tag) if key.run_key != view.run_key]
        others = (self.host.monitor.reading(key, view.axis, mine.x, view.smoothing) for key in keys)
        return [mine, *(reading for reading in others if reading is not None)]

    def _look(self, run_key: str) -> str:
        """The lasting look of a run where several are drawn."""
        return f"series-{self.host.view.look_of(run_key)}" if self.host.view.overlay else "smooth"

    def _marker(self) -> Optional[float]:
        reading = self._reading()
        return None if reading is None else reading.x

    def _read_out_height(self) -> int:
        """Rows kept for the read-out: one a run, whether it has a point there or not."""
        cursor = self.host.view.cursor
        return 0 if cursor is None else min(len(self._source.keys(cursor.tag)), most_lines(self.size.height))
