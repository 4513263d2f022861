"""Repaint a changed span from where it begins.

Textual writes a dirty row from the left edge of its widget to the end of the span. A chart grows at its right edge, so
that is nearly always a whole row of three-byte characters. `SpanCompositor` writes the span alone; the picture is the
same. It stands on names that Textual does not promise (`Screen._compositor`, `ChopsUpdate`), hence the upper bound of
Textual's version in pyproject.toml.

A window that lies over panels is not cut where they begin or end below it: a wide character of a Chinese text would be
lost where a cut goes through it.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, cast

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from mstui.tui.overlay import Overlay


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
        self._all_cuts: List[List[int]] = []
        self._needed_cuts: List[List[int]] = []

    @property
    def cuts(self) -> List[List[int]]:
        """Columns at which something begins or ends on each line, without those that a window covers."""
        found = super().cuts
        if found is not self._all_cuts:
            windows = [place[0] for widget, place in self.visible_widgets.items() if isinstance(widget, Overlay)]
            self._all_cuts, self._needed_cuts = found, [_needed(cuts, y, windows) for y, cuts in enumerate(found)]
        return self._needed_cuts

    def update_widgets(self, widgets: Set[Widget]) -> None:
        """Note what has to be painted again; what changed below a window has not changed for the eye.

        It is painted when the window goes.
        """
        above: Set[Widget] = {widget for widget in widgets if isinstance(widget, Overlay)}
        covers = [place[0] for widget, place in self.visible_widgets.items() if isinstance(widget, Overlay)]
        noted, self._dirty_regions = self._dirty_regions, set()
        super().update_widgets(widgets - above)
        below = {each for each in self._dirty_regions if not any(cover.contains_region(each) for cover in covers)}
        self._dirty_regions = noted | below
        super().update_widgets(above)

    def _render_chops(self, crop: Region, is_rendered_line: Callable[[int], bool]) -> Sequence[Mapping[int, Strip]]:
        """The pieces of each line, from the topmost widget down; the first one at a cut wins."""
        cuts = self.cuts
        chops: List[Dict[int, Optional[Strip]]] = [dict.fromkeys(line[:-1]) for line in cuts]
        for region, clip, strips in self._get_renders(crop):
            shown = region.intersection(clip)
            first, last = shown.column_span
            for y, strip in zip(shown.line_range, strips):
                if not is_rendered_line(y):
                    continue
                inside = [cut for cut in cuts[y] if first <= cut <= last]
                for begin, end in zip(inside, inside[1:]):
                    if chops[y][begin] is None:
                        chops[y][begin] = strip.crop(begin - first, end - first)
        return cast("Sequence[Mapping[int, Strip]]", chops)

    def render_partial_update(self) -> Optional[ChopsUpdate]:
        """What changed since the last time."""
        update = super().render_partial_update()
        return None if update is None else SpanUpdate(update, self._sent)


def _needed(cuts: List[int], y: int, windows: Sequence[Region]) -> List[int]:
    """The cuts of a line that do not go through a window."""
    across = [window for window in windows if window.y <= y < window.bottom]
    return [cut for cut in cuts if not any(window.x < cut < window.right for window in across)]


def use_spans(screen: Screen[Any], sent: Callable[[int], None]) -> None:
    """Give a screen that is not running yet the smaller updates; `sent` is told the bytes of each."""
    screen._compositor = SpanCompositor(sent)  # noqa: SLF001  # the only place where Textual lets a compositor be chosen
