"""The layer map: parameters in the order of the network over steps, one glyph a cell.

It shows where in the network a trouble begins. It reads nothing itself: the map comes from the monitor through a
worker, and the old one stays until the new one is there.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, ClassVar, List, Optional, Sequence, Tuple

from textual.binding import BindingType

from mstui import safe_text
from mstui.i18n import _, mark
from mstui.monitor_api import LayerMap
from mstui.tui.actions import bindings
from mstui.tui.alert_marks import named_layers
from mstui.tui.fetching_panel import FetchingPanel
from mstui.tui.heat import heat_spans, legend
from mstui.tui.layer_table import (
    LAST_WIDTH,
    MARK_WIDTH,
    Geometry,
    LayerTable,
    TableRow,
    divide,
    make_table,
    name_column,
    step_text,
)
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import number
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.parameters import short_name
from mstui.tui.short_names import short_names
from mstui.tui.wrapping import paragraph_rows

if TYPE_CHECKING:
    from mstui.model.filters import Lookup

REFETCH_SECONDS = 2.0
"""least time between two fetches of the same map: a map is decoded from many histograms"""

LEGEND_FROM_WIDTH = 56
AXIS_FROM_HEIGHT = 4
"""body rows from which one is spent on the steps"""
NO_LEAD: Span = (" ", "strong")
"""before a row that is neither selected nor named by an alert"""


class LayersPanel(FetchingPanel):
    """Layers x steps for one statistic."""

    TITLE = mark("layers")
    BINDINGS: ClassVar[List[BindingType]] = [*bindings("layers")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._table: Optional[LayerTable] = None
        self._none_found = False
        self._of: Tuple[str, int] = ("", 0)
        """run and rank that the table, or its absence, is about"""
        self._asked: Tuple[object, ...] = ()
        """run, rank, metric and columns of the last fetch"""
        self._asked_revision = -1
        self._asked_at = 0.0
        self._timer_set = False
        self._top = 0
        self._filtered: Tuple[TableRow, ...] = ()
        self._filtered_for: Tuple[str, Optional[LayerTable]] = ("", None)

    # ---- what the screen and the keys call

    def next_metric(self) -> None:
        """Show the next of the statistics that this run has."""
        if self._table is None or not self._table.source.metrics:
            self.host.say(_("There is no other statistic to show."))
            return
        metrics, wanted = self._table.source.metrics, self.host.view.layer_metric
        now = wanted if wanted in metrics else self._table.source.metric
        at = metrics.index(now) if now in metrics else -1
        self.host.change_view(layer_metric=metrics[(at + 1) % len(metrics)])

    def action_layer_up(self) -> None:
        """Select the row above."""
        self._select(-1)

    def action_layer_down(self) -> None:
        """Select the row below."""
        self._select(+1)

    def action_layer_top(self) -> None:
        """Select the first row."""
        self._select_row(0)

    def action_layer_bottom(self) -> None:
        """Select the last row."""
        self._select_row(-1)

    def action_layer_open(self) -> None:
        """Let the histogram of the selected parameter fill the screen."""
        rows = self._shown()
        if not rows:
            return
        chosen = self._selected(rows)
        self.host.change_view(parameter=rows[chosen or 0].parameter, zoomed="histogram")

    def _taken(self, value: object) -> None:
        """Make a table of the map, unless another run is wanted by now."""
        self._asked_at = self.host.now()
        if self._of == self._wanted_run():
            self._table = make_table(value) if isinstance(value, LayerMap) else None
            self._none_found = self._table is None

    # ---- fetching

    def _wanted_run(self) -> Tuple[str, int]:
        return self.host.view.run_key, self.host.view.rank_id

    def _look(self) -> None:
        """Ask for a map where the present one is not what the view wants, or is old."""
        view, monitor = self.host.view, self.host.monitor
        run = self._wanted_run()
        if run != self._of:
            self._of, self._table, self._none_found, self._top = run, None, False, 0
        if not self.display or not view.run_key or not self.size.width:
            return
        columns = max(self._geometry(self._inner_width()).heat_width, 1)
        wanted = (*run, view.layer_metric, columns)
        revision = monitor.revision
        if wanted == self._asked:
            filling = self._table is not None and not self._table.source.complete
            if revision == self._asked_revision and not filling:
                return
            wait = self._asked_at + REFETCH_SECONDS - self.host.now()
            if 0 < wait <= REFETCH_SECONDS or self._fetching.busy:
                self._look_later(max(wait, 0.0))
                return
        self._asked, self._asked_revision, self._asked_at = wanted, revision, self.host.now()
        self._fetching.ask(
            (wanted, revision),
            lambda: monitor.fetch_layer_map(view.run_key, view.rank_id, view.layer_metric, columns),
        )

    def _look_later(self, seconds: float) -> None:
        if self._timer_set or self._fetching.busy:  # a fetch that ends looks again
            return
        self._timer_set = True
        self.set_timer(seconds, self._timer_rang)

    def _timer_rang(self) -> None:
        self._timer_set = False
        self._look()

    # ---- selection

    def _shown(self) -> Sequence[TableRow]:
        """The rows that the tag filter leaves; all of them where it matches no parameter.

        The filter is shared with tags and curves: one that is about the loss must not empty the map.
        """
        text = self.host.view.tag_filter
        if self._filtered_for != (text, self._table):
            rows = () if self._table is None else self._table.rows
            from mstui.model.filters import parse  # most screens start without a filter

            wanted = parse(text)
            self._filtered_for = (text, self._table)
            self._filtered = tuple(row for row in rows if wanted.matches(row.parameter, _figures(row))) or rows
        return self._filtered

    def _selected(self, rows: Sequence[TableRow]) -> Optional[int]:
        name = self.host.view.parameter
        return next((i for i, row in enumerate(rows) if row.parameter == name), None)

    def _select(self, by: int) -> None:
        rows = self._shown()
        at = self._selected(rows)
        if at is None:
            self._select_row(0 if by > 0 else -1)
        elif 0 <= at + by < len(rows):
            self._select_row(at + by)

    def _select_row(self, index: int) -> None:
        rows = self._shown()
        if rows:
            self.host.change_view(parameter=rows[index].parameter)

    # ---- drawing

    def title(self, width: int) -> Row:
        """Statistic and its place among all, scale, and whether the map is still being filled."""
        if self._table is None:
            return ()
        source, ascii_only = self._table.source, self.host.ascii_only
        spans: List[Span] = [(safe_text.safe(source.metric, ascii_only=ascii_only), "strong")]
        if source.metric in source.metrics:
            spans.append((f" {source.metrics.index(source.metric) + 1}/{len(source.metrics)}", "dim"))
        shown, total = len(self._shown()), len(self._table.rows)
        if shown < total:
            spans.append((f" [{shown}/{total}]", "match"))
        if not source.complete:
            spans.append((" " + _("filling in"), "info"))
        if width >= LEGEND_FROM_WIDTH:
            spans += ((" ", "text"), *legend(self._table.scale, ascii_only=ascii_only))
        else:
            low, high = (number(end, LAST_WIDTH) for end in (self._table.scale.low, self._table.scale.high))
            spans.append((f" {low}..{high}", "dim"))
        spans.append((" " + (_("log") if self._table.scale.log else _("lin")), "dim"))
        return tuple(spans)

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The map's rows from the scroll position on, and the steps below."""
        table = self._table
        if table is None or not table.rows:
            return paragraph_rows(self._why_empty(), width, height)
        rows = self._shown()
        axis = height >= AXIS_FROM_HEIGHT
        room = max(height - axis, 0)
        selected = self._selected(rows)
        self._scroll(selected, len(rows), room)
        geometry = self._geometry(width)
        alerted = named_layers(self.host)
        shown = rows[self._top : self._top + room]
        names = self._names([row.parameter for row in shown], geometry, table.names.prefix)
        drawn = [
            self._draw_row(row, name, geometry, selected=index == selected, lead=alerted.get(row.parameter, NO_LEAD))
            for index, (row, name) in enumerate(zip(shown, names), self._top)
        ]
        if axis:
            drawn.append(self._draw_axis(table, geometry, len(rows), room))
        return tuple(drawn)

    def _why_empty(self) -> Sequence[Tuple[str, str]]:
        view = self.host.view
        if not view.run_key:
            return ((_("No run is chosen."), "dim"),)
        run = next((run for run in self.host.monitor.runs() if run.key == view.run_key), None)
        if run is not None and run.bytes_read < run.bytes_total:
            share = run.bytes_read / run.bytes_total
            return ((_("Reading: {share:.0%} of this run's files.").format(share=share), "dim"),)
        if not self._none_found and self._table is None:
            return ((_("Reading the layer map ..."), "dim"),)
        return (
            (_("This run records no statistic of single parameters."), "text"),
            (
                _("For weights: {code}. For gradients: mstui's recorder, which comes in a later version.").format(
                    code="SummaryCollector(collect_specified_data={'histogram_regular': '.*'}, ...)"
                ),
                "dim",
            ),
        )

    def _inner_width(self) -> int:
        return self.size.width - 1 if self.left_rule else self.size.width

    def _geometry(self, width: int) -> Geometry:
        if self._table is not None:
            return divide(width, self._table.names, len(self._table.source.steps))
        tags = self.host.monitor.tags(self.host.view.run_key)
        return divide(width, name_column([tag.parameter for tag in tags if tag.parameter]), 0)

    def _scroll(self, selected: Optional[int], total: int, room: int) -> None:
        if selected is not None:
            self._top = min(max(self._top, selected - room + 1), selected)
        self._top = max(min(self._top, total - room), 0)

    def _names(self, parameters: Sequence[str], geometry: Geometry, prefix: str) -> Sequence[str]:
        """Names of the rows that show, shortened together, so that they stay apart."""
        ascii_only = self.host.ascii_only
        ellipsis = safe_text.ASCII_ELLIPSIS if ascii_only else safe_text.ELLIPSIS
        names = [safe_text.safe(name.removeprefix(prefix), ascii_only=ascii_only) for name in parameters]
        cut = partial(short_name, ascii_only=ascii_only)
        return short_names(names, geometry.name_width, ellipsis=ellipsis, cut=cut)

    def _draw_row(self, row: TableRow, name: str, geometry: Geometry, *, selected: bool, lead: Span) -> Row:
        ascii_only = self.host.ascii_only
        cells = row.levels[len(row.levels) - geometry.columns :]
        gap = geometry.heat_width - geometry.columns * geometry.repeat + 1
        spans: List[Span] = [
            (">", "strong") if selected and lead is NO_LEAD else lead,
            (safe_text.pad(name, geometry.name_width), "selected" if selected else "text"),
            (" ", "text"),
            *heat_spans(cells, repeat=geometry.repeat, ascii_only=ascii_only),
            (" " * gap, "text"),
        ]
        if geometry.both:
            return (*spans, _newest(row), (" ", "text"), _noted(row))
        return (*spans, _noted(row) if row.mark else _newest(row))

    def _draw_axis(self, table: LayerTable, geometry: Geometry, total: int, room: int) -> Row:
        """Which rows are shown, the first and last step, and what the number at the rows' end is."""
        shown = len(table.source.steps) - geometry.columns
        steps, starts = table.source.steps[shown:], (table.source.starts or table.source.steps)[shown:]
        which = f"{self._top + 1}-{min(self._top + room, total)}/{total}" if total > room else ""
        first, last = (step_text(starts[0]), step_text(steps[-1])) if steps else ("", "")
        drawn = geometry.columns * geometry.repeat
        text = last.rjust(drawn)
        if len(first) + 1 + len(last) <= drawn:
            text = first + last.rjust(drawn - len(first))
        text = text.ljust(geometry.heat_width + 1)
        label = safe_text.fit(_("newest"), LAST_WIDTH, middle=False)
        label = " " * (LAST_WIDTH - safe_text.width(label)) + label
        return ((" " + safe_text.pad(which, geometry.name_width) + " " + text + label, "dim"),)


def _figures(row: TableRow) -> Lookup:
    """What a comparison in a filter may ask of a parameter: `last`."""
    return lambda name: row.last if name == "last" else None


def _newest(row: TableRow) -> Span:
    if math.isnan(row.last) and not row.last_is_bad:
        return "-".rjust(LAST_WIDTH), "dim"
    return number(row.last, LAST_WIDTH).rjust(LAST_WIDTH), "critical" if row.last_is_bad else "text"


def _noted(row: TableRow) -> Span:
    return safe_text.fit(row.mark, MARK_WIDTH, middle=False), row.mark_look


PANEL = PanelSpec(
    id="layers",
    title=mark("layers"),
    help=mark(
        "One row for each parameter, in the order of the network; one column for each stretch of steps. The denser the "
        "glyph, the larger the figure; the ends of the scale stand in the title. x is NaN or infinity. At a row's end: "
        "the newest figure, then the step at which NaN was first recorded, or since which the layer is dead, that is, "
        "zero to the end. Below: the first and the last recorded step. w shows the next statistic, enter the "
        "parameter's histogram."
    ),
    build=lambda host: LayersPanel(host, "layers"),
)
