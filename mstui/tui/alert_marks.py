"""Where alerts show in other panels: a glyph on the x axis at the onset, and before a layer or a rank that is named."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, TypeVar

from mstui.model.alert_view import Alert
from mstui.model.alerts import Happening, Severity
from mstui.model.journal import AlertState
from mstui.model.series import SeriesKey, XAxis
from mstui.tui.alert_words import GRADES
from mstui.tui.lines import Span
from mstui.tui.panel import Host
from mstui.tui.selection import first_loss, selected_run

Name = TypeVar("Name")

ASCII_MARK = "!"
"""one cell; "!!" would take two"""
MOST_MARKS = 50
"""of one chart; its axis has not many more cells"""


class OnsetMark(NamedTuple):
    """A glyph of one cell at a place on the x axis."""

    x: float
    glyph: str
    look: str


Marks = Dict[str, Tuple[OnsetMark, ...]]
"""by tag, the gravest last"""


def _mark_glyph(severity: Severity, *, ascii_only: bool) -> str:
    return ASCII_MARK if ascii_only else GRADES[severity].glyph


def _told(alert: Alert) -> bool:
    """Grave enough for a mark, and not what a person wants."""
    return alert.severity >= Severity.WARN and alert.standing.state is not AlertState.INTENDED


def onset_marks(host: Host, axis: XAxis) -> Marks:
    """For each tag, where symptoms began that are about it. Those of the whole run are marked on the loss."""
    found: Dict[str, List[Tuple[Severity, OnsetMark]]] = {}
    run = selected_run(host)
    if run is None:
        return {}
    loss: Optional[str] = None
    for alert in host.monitor.alerts(run.key):
        if not _told(alert):
            continue
        for happening in alert.incident.happenings:
            if happening.severity < Severity.WARN:
                continue
            tag = happening.scope.tag
            if not tag:
                if loss is None:
                    first = first_loss(host, run)
                    loss = first.tag if first is not None else ""
                tag = loss
            x = _x_of(host, happening, tag, axis)
            if x is None:
                continue
            active = alert.standing.state is AlertState.ACTIVE
            look = GRADES[happening.severity].look if active else "marker"
            sign = _mark_glyph(happening.severity, ascii_only=host.ascii_only)
            found.setdefault(tag, []).append((happening.severity, OnsetMark(x, sign, look)))
    return {
        tag: tuple(each for _severity, each in sorted(marks, key=lambda pair: pair[0])[-MOST_MARKS:])
        for tag, marks in found.items()
    }


def _x_of(host: Host, happening: Happening, tag: str, axis: XAxis) -> Optional[float]:
    """The onset on this axis; None where the series has no point that tells."""
    if axis is XAxis.STEP:
        return float(happening.step)
    for rank in dict.fromkeys((happening.scope.rank_id, host.view.rank_id)):
        key = SeriesKey(host.view.run_key, rank, tag)
        reading = host.monitor.reading(key, XAxis.STEP, happening.step, 0.0)
        there = None if reading is None else host.monitor.reading_at(key, axis, reading.index, 0.0)
        if there is not None:
            return there.x
    return None


def named_layers(host: Host) -> Dict[str, Span]:
    """Layers that an active alert is about: the glyph and look of the gravest."""
    return _named(host, lambda happening: [s.layer for s in (happening.scope, *happening.others) if s.layer])


def named_ranks(host: Host) -> Dict[int, Span]:
    """Ranks that an active alert names; what is about the whole run names none."""
    return _named(
        host, lambda happening: [s.rank_id for s in (happening.scope, *happening.others) if s.tag or s.rank_id]
    )


def _named(host: Host, names_of: Callable[[Happening], Iterable[Name]]) -> Dict[Name, Span]:
    gravest: Dict[Name, Severity] = {}
    for alert in host.monitor.alerts(host.view.run_key):
        if not alert.rings:
            continue
        for happening in alert.incident.happenings:
            if happening.severity < Severity.WARN or happening.cleared_step is not None:
                continue
            for name in names_of(happening):
                gravest[name] = max(gravest.get(name, Severity.WARN), happening.severity)
    return {
        name: (_mark_glyph(severity, ascii_only=host.ascii_only), GRADES[severity].look)
        for name, severity in gravest.items()
    }
