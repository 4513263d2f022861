"""What the focused panel shows, taken from the screen so that a worker can save it.

Reads widgets and memory only; the files are made by mstui.tui.exporting, which costs more to import.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple

from mstui.model.series import SeriesKey
from mstui.monitor_api import TagInfo
from mstui.tui.curve_charts import CurveCharts
from mstui.tui.curve_source import CurveSource, Shown
from mstui.tui.filtering import filtered_tags
from mstui.tui.lines import Row
from mstui.tui.panel import Host, Panel
from mstui.tui.panels.histogram import HistogramPanel, Place


class Source(NamedTuple):
    """What is to be saved, taken from the screen before a worker saves it."""

    panel_id: str
    shown: Optional[Shown] = None
    """of the focused chart"""
    listed: Tuple[SeriesKey, ...] = ()
    """of the scalars that the filter leaves, with the runs drawn together"""
    histogram: Optional[Place] = None
    """that the histogram panel shows"""
    rows: Tuple[Row, ...] = ()
    width: int = 1


def source_of(host: Host, panel: Optional[Panel]) -> Source:
    """What the focused panel shows now. Belongs on the UI thread."""
    panel_id = panel.id if panel is not None and panel.id else "curves"
    if isinstance(panel, CurveCharts):
        return Source(panel_id, panel.export_data())
    if isinstance(panel, HistogramPanel):
        return Source(panel_id, histogram=panel.selected(), rows=panel.rows, width=panel.size.width)
    curves = CurveSource(host)
    curves.refresh()
    tags: Sequence[TagInfo] = filtered_tags(host.monitor.tags(host.view.run_key), host.view.tag_filter)
    listed = tuple(key for tag in tags if tag.kind is None for key in curves.keys(tag.tag))
    rows, width = (panel.rows, panel.size.width) if panel is not None else ((), 1)
    return Source(panel_id, listed=listed, rows=rows, width=width)
