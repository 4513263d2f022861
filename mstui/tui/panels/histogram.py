"""The histogram of one parameter: over its recorded steps, or one step in detail.

It keeps the few histograms that it draws and asks a worker for those that are missing. It computes nothing that the
file does not hold; NaN and infinities are counted by the writer and shown beside the picture, never in it.
"""

from __future__ import annotations

from typing import ClassVar, Dict, List, NamedTuple, Optional, Sequence, Tuple

from textual.binding import BindingType

from mstui import safe_text
from mstui.i18n import _, mark
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind
from mstui.model.series import SeriesKey
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.tui.actions import bindings
from mstui.tui.fetching_panel import FetchingPanel
from mstui.tui.histogram_bins import Edges, edges_of
from mstui.tui.histogram_rows import (
    Column,
    detail_rows,
    gap_between,
    heat_room,
    note,
    over_steps_rows,
    stats_line,
)
from mstui.tui.lines import Row, Span
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.parameters import short_name
from mstui.tui.wrapping import paragraph_rows

MOST_KEPT = 1024
"""histograms kept in memory; with 90 buckets each that is about 2 MB"""
LEAST_NAME = 10
"""cells that the parameter's name keeps before the rest of the title gives way"""
STATISTIC_ORDER = ("weight", "gradient")
"""which of a parameter's histograms comes first; the others follow by their first appearance"""


class Kept(NamedTuple):
    """One histogram, ready to be brought to rows."""

    stats: HistogramStats
    edges: Edges


Place = Tuple[SeriesKey, int, int]
"""series, position in histogram_steps, step: with the step, since a restart can move positions"""


class HistogramPanel(FetchingPanel):
    """Value distribution of the chosen parameter."""

    TITLE = mark("histogram")
    BINDINGS: ClassVar[List[BindingType]] = [*bindings("histogram")]

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._kept: Dict[Place, Optional[Kept]] = {}
        """None: can no longer be read"""
        self._seen: Tuple[Optional[SeriesKey], Tuple[int, ...]] = (None, ())
        self._detail = False
        self._statistic = ""
        """chosen among the histograms of one parameter; empty for the first"""

    # ---- what the keys and the screen call

    def action_histogram_earlier(self) -> None:
        """Select the recorded step before."""
        self._move(-1)

    def action_histogram_later(self) -> None:
        """Select the recorded step after."""
        self._move(+1)

    def action_histogram_mode(self) -> None:
        """Over steps, or one step in detail."""
        self._detail = not self._detail
        self._look()
        self.redraw()

    def action_histogram_kind(self) -> None:
        """The next histogram of the same parameter: its weights, its gradients."""
        tags = self._candidates()
        chosen = self._chosen(tags)
        if chosen is None or len(tags) < 2:
            self.host.say(_("This parameter has no other histogram."))
            return
        self._statistic = tags[(tags.index(chosen) + 1) % len(tags)].statistic
        self._look()
        self.redraw()

    def selected(self) -> Optional[Place]:
        """The histogram that the title names: its series, position and step; None when there is none."""
        tag = self._chosen(self._candidates())
        steps = self.host.monitor.histogram_steps(self._key(tag)) if tag else ()
        if tag is None or not steps:
            return None
        at = self._position(len(steps))
        return (self._key(tag), at, steps[at])

    def _taken(self, value: object) -> None:
        """Keep the histograms."""
        if isinstance(value, dict):
            self._kept.update(value)

    # ---- which histogram

    def _candidates(self) -> List[TagInfo]:
        """The histograms of the chosen parameter (or the tag of that name); without a choice those of the first."""
        view = self.host.view
        tags = [tag for tag in self.host.monitor.tags(view.run_key) if tag.kind is BlobKind.HISTOGRAM]
        wanted = view.parameter
        if not wanted and tags:
            first = min(tags, key=lambda tag: tag.first_seen)
            wanted = first.parameter or first.tag
        found = [tag for tag in tags if wanted in (tag.parameter, tag.tag)]
        order = {name: place for place, name in enumerate(STATISTIC_ORDER)}
        return sorted(found, key=lambda tag: (order.get(tag.statistic, len(order)), tag.first_seen))

    def _chosen(self, tags: Sequence[TagInfo]) -> Optional[TagInfo]:
        return next((tag for tag in tags if tag.statistic == self._statistic), tags[0] if tags else None)

    def _key(self, tag: TagInfo) -> SeriesKey:
        return SeriesKey(self.host.view.run_key, self.host.view.rank_id, tag.tag)

    def _position(self, number_of_steps: int) -> int:
        index = self.host.view.histogram_index
        return min(max(index if index >= 0 else number_of_steps + index, 0), number_of_steps - 1)

    def _move(self, by: int) -> None:
        tag = self._chosen(self._candidates())
        steps = self.host.monitor.histogram_steps(self._key(tag)) if tag else ()
        if not steps:
            return
        # Only the newest is followed; any other is meant as that step, however many come after it.
        position = min(max(self._position(len(steps)) + by, 0), len(steps) - 1)
        self.host.change_view(histogram_index=-1 if position == len(steps) - 1 else position)

    # ---- fetching

    def _inner_width(self) -> int:
        return self.size.width - 1 if self.left_rule else self.size.width

    def _wanted(self, key: SeriesKey, steps: Sequence[int], width: int) -> List[Place]:
        """The steps that fit the width, evenly and always with the newest; in detail only the selected one."""
        selected = self._position(len(steps))
        if self._detail:
            return [(key, selected, steps[selected])]
        gap = gap_between(len(steps), heat_room(width))
        indices = list(range(0, len(steps), gap))
        if indices[-1] != len(steps) - 1:
            indices.append(len(steps) - 1)
        return [(key, index, steps[index]) for index in indices]

    def _look(self) -> None:
        """Ask for the histograms that the picture needs and that are not here."""
        if not self.display or not self.size.width:
            return
        tag = self._chosen(self._candidates())
        if tag is None:
            return
        key, monitor = self._key(tag), self.host.monitor
        steps = monitor.histogram_steps(key)
        if not steps:
            return
        self._forget(key, steps)
        wanted = self._wanted(key, steps, self._inner_width())
        selected = self._position(len(steps))
        missing = [place for place in wanted if place not in self._kept]
        if (key, selected, steps[selected]) not in {*self._kept, *missing}:
            missing.append((key, selected, steps[selected]))
        if not missing:
            return
        if len(self._kept) + len(missing) > MOST_KEPT:
            keep = set(wanted)
            self._kept = {place: kept for place, kept in self._kept.items() if place in keep}
        self._fetching.ask(tuple(missing), lambda: _read(monitor, key, missing))

    def _forget(self, key: SeriesKey, steps: Tuple[int, ...]) -> None:
        """A restart records steps again: what was read of this series may be superseded."""
        seen_key, seen = self._seen
        if seen_key == key and steps[: len(seen)] != seen:
            self._kept = {place: kept for place, kept in self._kept.items() if place[0] != key}
        self._seen = (key, steps)

    # ---- drawing

    def title(self, width: int) -> Row:
        """Parameter, NaN count, which of its histograms, and the selected step.

        Where that does not fit, the name is shortened first; then the counts go, then what it is a histogram of, and
        the step last.
        """
        tags = self._candidates()
        tag = self._chosen(tags)
        if tag is None:
            return ()
        ascii_only, key = self.host.ascii_only, self._key(tag)
        parts: List[Tuple[int, Span]] = []
        """(how soon it gives way, text and look)"""
        steps = self.host.monitor.histogram_steps(key)
        if steps:
            at = self._position(len(steps))
            kept = self._kept.get((key, at, steps[at]))
            if kept is not None:
                parts.append((1, note(kept.stats, kept.edges)))
        if tag.statistic:
            parts.append((2, (safe_text.safe(tag.statistic, ascii_only=ascii_only), "text")))
        if len(tags) > 1:
            parts.append((4, (f"{tags.index(tag) + 1}/{len(tags)}", "dim")))
        if steps:
            parts.append((0, (_("step {step}").format(step=steps[at]), "text")))
            parts.append((3, (f"{at + 1}/{len(steps)}", "dim")))
        room = width - safe_text.width(_(self.TITLE)) - len("-  -")
        full = tag.parameter or tag.tag
        least = min(safe_text.width(safe_text.safe(full, ascii_only=ascii_only)), LEAST_NAME)
        while parts and least + _cells(parts) > room:
            parts.remove(max(parts))
        name = short_name(full, max(room - _cells(parts), 0), ascii_only=ascii_only)
        return ((name, "strong"), *(span for _soon, part in parts for span in ((" ", "text"), part)))

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The picture, or why there is none."""
        tag = self._chosen(self._candidates())
        steps = self.host.monitor.histogram_steps(self._key(tag)) if tag else ()
        if tag is None or not steps:
            return paragraph_rows(self._why_empty(), width, height)
        key, at = self._key(tag), self._position(len(steps))
        if self._detail:
            return self._draw_detail((key, at, steps[at]), width, height)
        columns = []
        for place in self._wanted(key, steps, width):
            kept = self._kept.get(place)
            columns.append(
                Column(
                    index=place[1],
                    step=place[2],
                    edges=kept.edges if kept else None,
                    non_finite=kept.stats.non_finite if kept else 0,
                    unreadable=place in self._kept and kept is None,
                )
            )
        if not any(column.edges or column.unreadable for column in columns):
            return paragraph_rows(((_("Reading histograms ..."), "dim"),), width, height)
        return over_steps_rows(columns, at, width, height, ascii_only=self.host.ascii_only)

    def _draw_detail(self, place: Place, width: int, height: int) -> Tuple[Row, ...]:
        kept = self._kept.get(place)
        if kept is None:
            text = _("This histogram can no longer be read.") if place in self._kept else _("Reading histograms ...")
            return paragraph_rows(((text, "dim"),), width, height)
        head = paragraph_rows(((stats_line(kept.stats), "text"),), width, height)
        return head + detail_rows(kept.edges, width, height - len(head), ascii_only=self.host.ascii_only)

    def _why_empty(self) -> Sequence[Tuple[str, str]]:
        view = self.host.view
        if not view.run_key:
            return ((_("No run is chosen."), "dim"),)
        if not any(tag.kind is BlobKind.HISTOGRAM for tag in self.host.monitor.tags(view.run_key)):
            hint = _("For weights: {code}.").format(
                code="SummaryCollector(collect_specified_data={'histogram_regular': '.*'}, ...)"
            )
            return ((_("This run has no histogram so far."), "text"), (hint, "dim"))
        name = safe_text.safe(view.parameter, ascii_only=self.host.ascii_only)
        return ((_("No histogram of {name} so far.").format(name=name), "text"),)


def _cells(parts: Sequence[Tuple[int, Span]]) -> int:
    """Of parts of a title, with the blank before each."""
    return sum(1 + safe_text.width(text) for _soon, (text, _look) in parts)


def _read(monitor: MonitorApi, key: SeriesKey, places: Sequence[Place]) -> Dict[Place, Optional[Kept]]:
    """Runs in a worker."""
    found: Sequence[Optional[Histogram]] = monitor.fetch_histograms(key, [index for _key, index, _step in places])
    return {
        place: None if histogram is None else Kept(histogram.stats, edges_of(histogram))
        for place, histogram in zip(places, found)
    }


PANEL = PanelSpec(
    id="histogram",
    title=mark("histogram"),
    help=mark(
        "The values of the parameter chosen in the layer map. Over steps: one column for each recorded step, one row "
        "for each stretch of values, named by its lower edge; the denser the glyph, the more of the values lie there. "
        "The outermost rows also hold what lies beyond them, counted at the right (^ above, v below). d shows one step "
        "in detail, h and l the steps before and after. NaN and infinities are counted in the title and marked x."
    ),
    build=lambda host: HistogramPanel(host, "histogram"),
)
