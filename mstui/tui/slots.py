"""Textual's view of layout.arrange: every widget straight on the screen, no containers, one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, List, Optional

from textual.geometry import NULL_OFFSET, NULL_SPACING, Offset, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement

if TYPE_CHECKING:
    from textual.widget import Widget

RegionOf = Callable[["Widget", Size], Optional[Region]]
"""the place of a widget for a size of the screen; None for none"""


class SlotLayout(Layout):
    """Puts each child where the screen's table says; a child without a place is not shown."""

    name = "slots"

    def __init__(self, region_of: RegionOf) -> None:
        self._region_of = region_of

    def arrange(self, parent: Widget, children: List[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Placements in the order of the children: later ones lie on top."""
        del parent, greedy
        placements: List[WidgetPlacement] = []
        for child in children:
            region = self._region_of(child, size)
            if region is not None and region.area:
                placements.append(WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child))
        return placements


def centred(size: Size, width: int, height: int) -> Region:
    """A region of at most the wanted size in the middle of the screen."""
    width, height = min(width, size.width), min(height, size.height)
    return Region.from_offset(Offset((size.width - width) // 2, (size.height - height) // 2), (width, height))
