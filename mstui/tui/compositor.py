"""Repaint a changed span from where it begins.

Textual writes a dirty row from the left edge of its widget to the end of the span. A chart grows at its right edge, so
that is nearly always a whole row of three-byte characters. `SpanCompositor` writes the span alone; the picture is the
same. It stands on names that Textual does not promise (`Screen._compositor`, `ChopsUpdate`), hence the upper bound of
Textual's version in pyproject.toml.
"""

from __future__ import annotations

from typing import List, Optional

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor
from textual.screen import Screen


class SpanUpdate(ChopsUpdate):
    """Writes each span's own cells."""

    def render_segments(self, console: Console) -> str:
        """The bytes for the terminal."""
        parts: List[str] = []
        for y, begin, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items()):
                if strip is None or x >= end or chop_end <= begin:
                    continue
                first, last = max(x, begin), min(chop_end, end)
                piece = strip if (first, last) == (x, chop_end) else strip.crop(first - x, last - x)
                parts.append(Control.move_to(first, y).segment.text)
                parts.append(piece.render(console))
        return "".join(parts)


class SpanCompositor(Compositor):
    """Textual's compositor with smaller partial updates."""

    def render_partial_update(self) -> Optional[ChopsUpdate]:
        """What changed since the last time."""
        update = super().render_partial_update()
        return None if update is None else SpanUpdate(update.chops, update.spans, update.chop_ends)


def use_spans(screen: Screen[object]) -> None:
    """Give a screen that is not running yet the smaller updates."""
    screen._compositor = SpanCompositor()  # noqa: SLF001  # the only place where Textual lets a compositor be chosen
