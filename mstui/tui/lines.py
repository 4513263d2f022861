"""A widget that is a grid of styled text and repaints only the cells that changed.

Bytes written to the terminal are paid for by people on slow links: a row that is the same costs nothing, a row that
differs costs the spans that differ.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import List, Optional, Sequence, Tuple

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from mstui.tui.palette import TERMINAL_PALETTE, Palette

Span = Tuple[str, str]
"""text and look"""
Row = Tuple[Span, ...]

NEVER = (-1, -1)
"""size of a widget that was not drawn yet"""
BACKDROP = Color(0, 0, 0)
"""what NO_COLOR's filter takes for the background; it has no effect on a picture without colours"""

SPAN_GAP = 16
"""Unchanged cells between two changed spans that are cheaper to repaint than to skip: a cursor move and a new style
cost about as many bytes."""


def row_cells(row: Row, width: int) -> List[Span]:
    """One (text, look) for each of `width` cells; a wide character's second cell is empty text."""
    cells: List[Span] = []
    for text, look in row:
        for character in text:
            size = get_character_cell_size(character)
            if size == 0 and cells:
                cells[-1] = (cells[-1][0] + character, cells[-1][1])
                continue
            cells.append((character, look))
            if size == 2:
                cells.append(("", look))
        if len(cells) >= width:
            break
    del cells[width:]
    cells.extend([(" ", "text")] * (width - len(cells)))
    return cells


def changed_spans(old: Row, new: Row, width: int) -> List[Tuple[int, int]]:
    """(start, length) in cells of what differs between two rows, near spans joined."""
    before, after = row_cells(old, width), row_cells(new, width)
    spans: List[Tuple[int, int]] = []
    start = last = -1
    for x in range(width):
        if before[x] == after[x]:
            continue
        if start >= 0 and x - last > SPAN_GAP:
            spans.append((start, last - start + 1))
            start = -1
        if start < 0:
            start = x
        # A wide character whose second cell looks unchanged must not be cut in half: the terminal would show a blank.
        last = x + 1 if x + 1 < width and not after[x + 1][0] else x
    if start >= 0:
        spans.append((start, last - start + 1))
    return spans


class Lines(Widget):
    """Base of every panel: override `draw`, call `redraw` when something may have changed."""

    ALLOW_SELECT = False

    def __init__(self, *, id: Optional[str] = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._rows: Tuple[Row, ...] = ()
        self._strips: List[Optional[Strip]] = []
        self._drawn_size: Tuple[int, int] = NEVER

    @property
    def palette(self) -> Palette:
        """The looks of the current theme."""
        found = getattr(self.app, "palette", None)
        return found if isinstance(found, Palette) else TERMINAL_PALETTE

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """The rows to show, at most `height`; each is cut or padded to `width` cells."""
        raise NotImplementedError

    @property
    def rows(self) -> Tuple[Row, ...]:
        """What is drawn now."""
        return self._rows

    def redraw(self) -> bool:
        """Draw again and repaint the cells that differ. True when something did."""
        width, height = self.size
        if width <= 0 or height <= 0:
            return False
        if self._drawn_size != (width, height):
            self._draw_whole(width, height)
            self.refresh()
            return True
        old, self._rows = self._rows, self._drawn(width, height)
        regions: List[Region] = []
        for y, (before, after) in enumerate(zip(old, self._rows)):
            if before == after:
                continue
            spans = changed_spans(before, after, width)
            if spans:
                self._strips[y] = None
                regions.extend(Region(x, y, length, 1) for x, length in spans)
        if regions:
            self.refresh(*regions)
        return bool(regions)

    def repaint_all(self) -> None:
        """Draw every cell again (after a change of theme)."""
        self._drawn_size = NEVER
        self.redraw()

    def on_resize(self) -> None:
        """Draw for the new size; nothing is repainted when the compositor has asked for these rows already."""
        self.redraw()

    def render_lines(self, crop: Region) -> List[Strip]:
        """The rows inside a region, drawn now if they never were for this size.

        Textual's own way pads every row with the widget's background: a style sequence a row that we do not need.
        """
        width, height = self.size
        if self._drawn_size != (width, height):
            self._draw_whole(width, height)
        strips = [self._strip(y) for y in range(crop.y, crop.bottom)]
        if crop.x == 0 and crop.width == width:
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def _drawn(self, width: int, height: int) -> Tuple[Row, ...]:
        rows = tuple(self.draw(width, height))[:height]
        return rows + ((),) * (height - len(rows))

    def _draw_whole(self, width: int, height: int) -> None:
        self._drawn_size = (width, height)
        self._rows = self._drawn(width, height)
        self._strips = [None] * height

    def _strip(self, y: int) -> Strip:
        if y >= len(self._strips):
            return Strip([Segment(" " * self.size.width, self.palette.style("text"))], self.size.width)
        strip = self._strips[y]
        if strip is None:
            strip = self._strips[y] = self._make_strip(self._rows[y])
        return strip

    def _make_strip(self, row: Row) -> Strip:
        width, style = self.size.width, self.palette.style
        used = sum(cell_len(text) for text, _ in row)
        if used < width:
            row = (*row, (" " * (width - used), "text"))
        segments = [
            Segment("".join(text for text, _ in spans), style(look)) for look, spans in groupby(row, key=itemgetter(1))
        ]
        strip = Strip(segments, max(used, width))
        for line_filter in self.app.get_line_filters():
            strip = strip.apply_filter(line_filter, BACKDROP)
        return strip.crop(0, width) if used > width else strip
