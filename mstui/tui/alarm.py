"""What is said beyond the screen when a critical alert is raised: the terminal's bell, and its title.

What was there when a run's history had been read is not new: opening an old run rings nothing.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Sequence

from mstui.i18n import _
from mstui.model.alert_view import Alert, worst
from mstui.model.alerts import Severity
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.alert_words import glyph, title


class Alarm:
    """Remembers, for each run, which critical alerts have been heard."""

    def __init__(self) -> None:
        self._heard: Dict[str, FrozenSet[str]] = {}
        """critical alerts that were active at the last look, by run; runs whose history is read"""

    def look(self, monitor: MonitorApi, run_keys: Sequence[str]) -> bool:
        """True when a critical alert has become active since the last look."""
        news = False
        heard: Dict[str, FrozenSet[str]] = {}
        for key in run_keys:
            if monitor.verdict(key) is None:
                continue
            alerts = monitor.alerts(key)
            now = frozenset(a.id for a in alerts if a.rings and a.severity is Severity.CRITICAL)
            news = news or (key in self._heard and bool(now - self._heard[key]))
            heard[key] = now
        self._heard = heard
        return news


def title_text(name: str, alerts: Sequence[Alert], *, ascii_only: bool) -> str:
    """`‼ Loss is NaN: run3`, or the run's name alone while nothing is active."""
    shown = safe(name, ascii_only=ascii_only)
    gravest = worst(tuple(alerts))
    if gravest is None:
        return f"mstui: {shown}" if shown else "mstui"
    sign = glyph(gravest.severity, ascii_only=ascii_only)
    return _("{sign} {symptom}: {run}").format(
        sign=sign, symptom=title(gravest.incident.head.symptom), run=shown or "mstui"
    )
