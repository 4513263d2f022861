"""Tags of the selected run, grouped by role."""

from __future__ import annotations

import re
from typing import Dict, Hashable, Mapping, Optional, Sequence, Tuple

from mstui.i18n import _, mark
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor_api import TagInfo
from mstui.safe_text import safe
from mstui.tui.actions import bindings
from mstui.tui.chart_grid import choose_tags
from mstui.tui.filtering import filtered_tags, problem
from mstui.tui.kind_words import KIND_WORDS, READABLE, listed_name
from mstui.tui.lines import Row
from mstui.tui.listing import ListPanel
from mstui.tui.messages import DetailsWanted, RoleWanted
from mstui.tui.numbers import count, number
from mstui.tui.panel import Host, PanelSpec
from mstui.tui.short_names import short_names

ROLE_WORDS: Mapping[Role, str] = {
    Role.LOSS: mark("loss"),
    Role.EVAL_METRIC: mark("metric"),
    Role.EVAL_LOSS: mark("eval loss"),
    Role.GRAD_NORM: mark("grad norm"),
    Role.UPDATE_RATIO: mark("update ratio"),
    Role.LOSS_SCALE: mark("loss scale"),
    Role.OVERFLOW: mark("overflow"),
    Role.LEARNING_RATE: mark("learning rate"),
    Role.STEP_TIME: mark("step time"),
    Role.THROUGHPUT: mark("throughput"),
    Role.EPOCH: mark("epoch"),
    Role.PARTIAL_LOSS: mark("part of loss"),
    Role.PARAMETER: mark("parameter"),
    Role.OTHER: mark("other"),
}
WITH_POINTS, WITH_ROLE = 44, 62
"""columns from which the number of points, and the role, are shown"""
VALUE_WIDTH, POINTS_WIDTH, ROLE_WIDTH = 9, 6, 13


class TagsPanel(ListPanel[TagInfo]):
    """One row a tag; the role is named at the first row of its group."""

    BINDINGS = bindings("tags")  # type: ignore[assignment]
    TITLE = mark("tags")

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._listed: Tuple[TagInfo, ...] = ()
        self._listed_for: Tuple[object, ...] = ()
        self._first_of_role: Mapping[Role, TagInfo] = {}
        self._total = 0
        self._problem = ""
        self._short: Mapping[str, str] = {}
        """visible names as they are shown"""

    def items(self) -> Sequence[TagInfo]:
        """What the filter leaves, rebuilt when data or filter have changed."""
        view = self.host.view
        wanted = (self.host.monitor.revision, view.run_key, view.tag_filter)
        if wanted != self._listed_for:
            self._listed_for = wanted
            tags = self.host.monitor.tags(view.run_key)
            self._total = len(tags)
            listed = filtered_tags(tags, view.tag_filter)
            self._problem = problem(view.tag_filter)
            self._listed = tuple(listed)
            first: Dict[Role, TagInfo] = {}
            for tag in listed:
                first.setdefault(tag.role, tag)
            self._first_of_role = first
        return self._listed

    def key_of(self, item: TagInfo) -> Hashable:
        """A histogram and a scalar may have the same tag."""
        return (item.tag, item.kind)

    def empty(self) -> str:
        """Why nothing is listed."""
        return _("no tag matches the filter") if self._total else _("no tags yet")

    def title(self, width: int) -> Row:
        """Hit count and filter, or the position."""
        del width
        items = self.items()
        if self._problem:
            return ((safe(self._problem, ascii_only=self.host.ascii_only), "critical"),)
        text = safe(self.host.view.tag_filter, ascii_only=self.host.ascii_only)
        if text:
            return ((f"[{len(items)}/{self._total}] ", "info"), (text, "match"))
        return ((self.position(items), "dim"),)

    def before_rows(self, items: Sequence[TagInfo], width: int) -> None:
        """Shorten the names together, so that they stay apart."""
        names = [self._shown_tag(item) for item in items]
        self._short = dict(zip(names, short_names(names, max(_name_width(width), 0), ellipsis=self.ellipsis)))

    def _shown_tag(self, item: TagInfo) -> str:
        return safe(listed_name(item), ascii_only=self.host.ascii_only)

    def item_row(self, item: TagInfo, width: int) -> Row:
        """Name, newest value or kind, points, role."""
        if item.kind is None:
            value = number(item.last_value, VALUE_WIDTH) if item.last_value is not None else "-"
        else:
            value = _(KIND_WORDS.get(item.kind, item.kind.value))
        tail = " " + self.padded(value, VALUE_WIDTH)
        if width >= WITH_POINTS:
            tail += f" {count(item.points):>{POINTS_WIDTH}}"
        if width >= WITH_ROLE:
            first = self._first_of_role.get(item.role) is item
            tail += "  " + self.padded(_(ROLE_WORDS[item.role]) if first else "", ROLE_WIDTH)
        name = self._shown_tag(item)
        shown = self.padded(self._short.get(name, name), _name_width(width))
        return ((shown, "match" if self.host.view.tag_filter else "text"), (tail, "dim"))

    # --- actions

    def action_tag_up(self) -> None:
        """The tag above."""
        self.move(-1)

    def action_tag_down(self) -> None:
        """The tag below."""
        self.move(1)

    def action_tag_top(self) -> None:
        """The first tag."""
        self.to_top()

    def action_tag_bottom(self) -> None:
        """The last tag."""
        self.to_bottom()

    def action_tag_page_down(self) -> None:
        """A page down."""
        self.page(1)

    def action_tag_page_up(self) -> None:
        """A page up."""
        self.page(-1)

    def action_tag_open(self) -> None:
        """Show this tag where it is drawn."""
        item = self.current()
        if item is None:
            return
        if item.kind is BlobKind.HISTOGRAM:
            self.host.change_view(parameter=item.parameter or item.tag, view="layers", zoomed="histogram")
        elif item.kind in READABLE:
            self.post_message(DetailsWanted(item))
        elif item.kind is not None:
            self.host.say(_("This kind of value is counted, not drawn."))
        elif item.role is Role.PARAMETER:
            self.host.change_view(parameter=item.parameter, layer_metric=item.statistic, view="layers", zoomed="")
        else:
            self._show_chart(item)

    def _show_chart(self, item: TagInfo) -> None:
        view = self.host.view
        charts = choose_tags(self.host.monitor.tags(view.run_key), view.tag_filter, ()).tags
        index: Optional[int] = charts.index(item.tag) if item.tag in charts else None
        if index is None:
            self.host.change_view(tag_filter=f"/^{re.escape(item.tag)}$/", chart=0, view="curves", zoomed="")
        else:
            self.host.change_view(chart=index, view="curves", zoomed="", cursor=None)

    def action_tag_role(self) -> None:
        """Ask what this tag is."""
        item = self.current()
        if item is None:
            return
        if not item.tag:
            self.host.say(_("This has no tag, and so no role."))
        else:
            self.post_message(RoleWanted(item.tag, item.role.value))


def _name_width(width: int) -> int:
    """Cells for a name in a row of so many."""
    room = width - VALUE_WIDTH - 1
    return room - (POINTS_WIDTH + 1) * (width >= WITH_POINTS) - (ROLE_WIDTH + 2) * (width >= WITH_ROLE)


PANEL = PanelSpec(
    "tags",
    mark("tags"),
    mark(
        "Every tag of the selected run, grouped by its role, with its newest value, its number of points and its "
        "kind. The filter is shared with the curves: words must all occur, | is or, ! is not, /.../ is a regular "
        "expression, and comparisons such as last<2 or points>100 look at the figures. R says what a tag is. "
        "Enter draws a tag, or opens what it holds: text, tensor, graph, lineage."
    ),
    lambda host: TagsPanel(host, "tags"),
)
