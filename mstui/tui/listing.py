"""Base of the panels that are lists: a selection, a scroll position, and only the visible rows are ever built."""

from __future__ import annotations

from typing import Generic, Hashable, List, Optional, Sequence, Tuple, TypeVar

from textual.timer import Timer

from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad
from mstui.tui.lines import Row
from mstui.tui.panel import Panel

Item = TypeVar("Item")

LIST_EVERY_S = 2.0
"""Seconds between two drawings of a list because of new data; a key draws it at once."""


class ListPanel(Panel, Generic[Item]):
    """Keeps its selection on the same thing while the list changes around it."""

    selected = 0
    top = 0
    _drawn_at = float("-inf")
    _later: Optional[Timer] = None
    _selected_key: Optional[Hashable] = None
    _page = 1

    def data_changed(self) -> None:
        """New data: a list of newest values at the pace at which it is read. The link is for the curves."""
        wait = self._drawn_at + LIST_EVERY_S - self.host.budget.now()
        if wait > 0:
            if self._later is None:
                self._later = self.set_timer(wait, self._draw_later)
            return
        self._drawn_at = self.host.budget.now()
        super().data_changed()

    def _draw_later(self) -> None:
        self._later = None
        self.data_changed()

    def items(self) -> Sequence[Item]:
        """Everything that is listed, now. Called for every drawing: keep it cheap."""
        raise NotImplementedError

    def key_of(self, item: Item) -> Hashable:
        """What makes an item the same one later."""
        raise NotImplementedError

    def item_row(self, item: Item, width: int) -> Row:
        """One row, without the selection."""
        raise NotImplementedError

    def before_rows(self, items: Sequence[Item], width: int) -> None:
        """The items whose rows are asked for next, for rows that depend on their neighbours."""
        del items, width

    def empty(self) -> str:
        """What to say when there is nothing."""
        raise NotImplementedError

    def detail(self, item: Item, width: int) -> Tuple[Row, ...]:
        """Rows about the selected item, shown under the list when there is room."""
        del item, width
        return ()

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """The page that holds the selection, and its detail below."""
        items = self.items()
        if not items:
            return (((" " + fit(self.empty(), max(width - 1, 0), middle=False), "dim"),),)
        self._settle(items)
        detail = self.detail(items[self.selected], width)[: max(height // 2, 0)]
        room = max(height - len(detail), 1)
        self._page = room
        self.top = max(min(self.top, self.selected, max(len(items) - room, 0)), self.selected - room + 1, 0)
        rows: List[Row] = []
        shown = items[self.top : self.top + room]
        self.before_rows(shown, width - 1)
        for i, item in enumerate(shown, self.top):
            row = self.item_row(item, width - 1)
            if i == self.selected and self.has_focus:
                rows.append(((">", "key selected"), *((text, f"{look} selected") for text, look in row)))
            else:
                rows.append(((">" if i == self.selected else " ", "dim"), *row))
        rows += [()] * (height - len(detail) - len(rows))
        return (*rows, *detail)

    def position(self, items: Sequence[Item]) -> str:
        """`3/16` for the title."""
        return f"{min(self.selected + 1, len(items))}/{len(items)}"

    def current(self) -> Optional[Item]:
        """The selected item."""
        items = self.items()
        if not items:
            return None
        self._settle(items)
        return items[self.selected]

    def select(self, key: Hashable) -> None:
        """Put the selection on this item once it is listed."""
        self._selected_key = key
        self.redraw()

    def move(self, by: int) -> None:
        """Move the selection; it stops at the ends."""
        items = self.items()
        if not items:
            return
        self._settle(items)
        self.selected = min(max(self.selected + by, 0), len(items) - 1)
        self._selected_key = self.key_of(items[self.selected])
        self.redraw()

    def page(self, pages: int) -> None:
        """Move by what is visible."""
        self.move(pages * self._page)

    def to_top(self) -> None:
        """The first item."""
        self.move(-len(self.items()))

    def to_bottom(self) -> None:
        """The last item."""
        self.move(len(self.items()))

    @property
    def ellipsis(self) -> str:
        """What stands for text that was cut."""
        return ASCII_ELLIPSIS if self.host.ascii_only else ELLIPSIS

    def padded(self, text: str, cells: int) -> str:
        """Cut in the middle or filled to a width."""
        return pad(text, max(cells, 0), ellipsis=self.ellipsis)

    def _settle(self, items: Sequence[Item]) -> None:
        """Find the selected item again after the list has changed."""
        if self._selected_key is not None and not (
            self.selected < len(items) and self.key_of(items[self.selected]) == self._selected_key
        ):
            for i, item in enumerate(items):
                if self.key_of(item) == self._selected_key:
                    self.selected = i
                    return
        self.selected = min(self.selected, len(items) - 1)
