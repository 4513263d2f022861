"""Repaint a changed span from where it begins.

Textual writes a dirty row from the left edge of its widget to the end of the span. A chart grows at its right edge, so
that is nearly always a whole row of three-byte characters. `SpanCompositor` writes the span alone; the picture is the
same. It stands on names that Textual does not promise (`Screen._compositor`, `ChopsUpdate`), hence the upper bound of
Textual's version in pyproject.toml.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor
from textual.screen import Screen


class SpanUpdate(ChopsUpdate):
    """Writes each span's own cells, and tells how many bytes that was."""

    def __init__(self, update: ChopsUpdate, sent: Callable[[int], None]) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)
        self._sent = sent

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
        text = "".join(parts)
        self._sent(len(text.encode("utf-8", "replace")))
        return text


class SpanCompositor(Compositor):
    """Textual's compositor with smaller partial updates."""

    def __init__(self, sent: Callable[[int], None]) -> None:
        super().__init__()
        self._sent = sent

    def render_partial_update(self) -> Optional[ChopsUpdate]:
        """What changed since the last time."""
        update = super().render_partial_update()
        return None if update is None else SpanUpdate(update, self._sent)


def use_spans(screen: Screen[Any], sent: Callable[[int], None]) -> None:
    """Give a screen that is not running yet the smaller updates; `sent` is told the bytes of each."""
    screen._compositor = SpanCompositor(sent)  # noqa: SLF001  # the only place where Textual lets a compositor be chosen
