"""Which series one chart shows, in which order, and the query for each."""

from __future__ import annotations

from typing import Dict, NamedTuple, Sequence, Tuple

from mstui.model.runs import RunInfo
from mstui.model.series import SeriesKey, XAxis
from mstui.monitor_api import CurveQuery
from mstui.safe_text import safe
from mstui.tui.header import run_name
from mstui.tui.panel import Host

Kept = Tuple[Tuple[XAxis, Tuple[float, float]], ...]


class Shown(NamedTuple):
    """The series of one chart with the query in force, from the lowest curve to the topmost."""

    tag: str
    curves: Tuple[Tuple[SeriesKey, CurveQuery], ...]


class CurveSource:
    """Turns the view's choices into queries."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runs: Dict[str, RunInfo] = {}

    def refresh(self) -> None:
        """Look at the list of runs; once a redraw, for it is asked about every curve."""
        self._runs = {run.key: run for run in self._host.monitor.runs()}

    def name(self, run_key: str) -> str:
        """What a person calls the run; safe to show."""
        run = self._runs.get(run_key)
        return safe(run_name(run) if run is not None else run_key, ascii_only=self._host.ascii_only)

    def keys(self, tag: str) -> Tuple[SeriesKey, ...]:
        """Series of a tag, from the lowest to the topmost: overlaid runs, the selected one, the pinned one."""
        view = self._host.view
        runs = [key for key in view.overlay if key != view.run_key]
        runs.append(view.run_key)
        if view.pinned in runs:
            runs.remove(view.pinned)
            runs.append(view.pinned)
        return tuple(SeriesKey(run, self._rank(run), tag) for run in runs)

    def _rank(self, run_key: str) -> int:
        """The selected rank where the run has it, else the run's lowest."""
        wanted = self._host.view.rank_id
        if run_key == self._host.view.run_key:
            return wanted
        run = self._runs.get(run_key)
        ranks = [rank.rank_id for rank in run.ranks] if run is not None else []
        return wanted if wanted in ranks or not ranks else min(ranks)

    def shown(self, tag: str, page: Sequence[str], columns: int, kept: Kept = ()) -> Shown:
        """The curves of one chart. The charts of a page share their x range: `kept`, or that of all of them."""
        view = self._host.view
        ranges = () if kept and view.x_range is None else tuple(key for other in page for key in self.keys(other))
        found = []
        for key in self.keys(tag):
            run = self._runs.get(key.run_key)
            several = run is not None and len(run.ranks) > 1
            query = CurveQuery(
                key,
                columns,
                view.axis,
                view.x_range,
                view.smoothing,
                band=view.band and several and key.run_key == view.run_key,
                ranges=ranges,
                kept=kept if view.x_range is None else (),
            )
            found.append((key, query))
        return Shown(tag, tuple(found))
