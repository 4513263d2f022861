"""What the person has chosen to look at. One frozen value, replaced by the screen, read by every panel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Optional, Tuple

from mstui.model.series import XAxis


class Scale(Enum):
    """How a chart's y is spaced. SYMLOG is chosen instead of LOG where values are zero or negative."""

    LINEAR = "lin"
    LOG = "log"
    SYMLOG = "symlog"


@dataclass(frozen=True)
class Cursor:
    """The value cursor of the curves panel."""

    tag: str
    index: int
    """point of the selected run under the cursor, position in the current generation"""


@dataclass(frozen=True)
class ViewState:
    """Everything that decides what the screen shows, apart from the data."""

    run_key: str = ""
    """the selected run; empty until one is found"""
    rank_id: int = 0
    overlay: Tuple[str, ...] = ()
    """run keys drawn with the selected one, in the order of choosing"""
    pinned: str = ""
    """run key drawn on top of the others; empty for none"""
    colours: Tuple[str, ...] = ()
    """run keys in the order in which they were first drawn: position is the series look, for ever"""
    tag_filter: str = ""
    run_filter: str = ""
    rank_filter: str = ""
    axis: XAxis = XAxis.STEP
    smoothing: float = 0.6
    scales: Tuple[Tuple[str, Scale], ...] = ()
    """charts whose y is not linear, by tag"""
    x_range: Optional[Tuple[float, float]] = None
    """None: follow everything"""
    x_history: Tuple[Optional[Tuple[float, float]], ...] = ()
    """earlier ranges, newest last, for going back"""
    cursor: Optional[Cursor] = None
    chart: int = 0
    """index of the focused chart among those that the filter leaves"""
    show_superseded: bool = True
    band: bool = True
    layer_metric: str = ""
    parameter: str = ""
    """chosen parameter of the layer map and histogram panel"""
    histogram_index: int = -1
    """negative: counted from the newest"""
    view: str = "curves"
    """the view that fills the middle: curves, layers, alerts, log, runs"""
    zoomed: str = ""
    """id of the panel that fills the body; empty for the usual layout"""

    def scale_of(self, tag: str) -> Scale:
        """The y scale chosen for a tag."""
        return dict(self.scales).get(tag, Scale.LINEAR)

    def look_of(self, run_key: str) -> int:
        """Index of the lasting series look of a run; 0 for one that was never drawn."""
        return self.colours.index(run_key) if run_key in self.colours else 0
