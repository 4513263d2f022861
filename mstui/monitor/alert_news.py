"""What has changed among the alerts of a run since it was last told, one line each.

For those who read lines instead of a screen. It repeats nothing, and leaves out what is for information only.
"""

from __future__ import annotations

import math
from typing import Dict, List, NamedTuple, Optional, Sequence

from mstui.i18n import _
from mstui.model.alert_view import Alert
from mstui.model.alerts import TITLES, Severity, Verdict
from mstui.model.journal import AlertState
from mstui.monitor.alert_words import happening_line, head_line, severity_word, state_words
from mstui.safe_text import safe

COUNT_EVERY_S = 10.0
"""Seconds between two lines that say how many rules have judged: more of them can, the longer a training goes on."""


class _Told(NamedTuple):
    """What was said of an alert."""

    severity: Severity
    state: AlertState
    happenings: int


class AlertNews:
    """Remembers what it has told of one run."""

    def __init__(self) -> None:
        self._told: Dict[str, _Told] = {}
        self._judged: Optional[int] = None
        """rules that had judged when that was told"""
        self._counted_at = -math.inf

    def lines(self, alerts: Sequence[Alert], verdict: Optional[Verdict], now: float) -> List[str]:
        """What is new; `now` in Unix seconds."""
        found = []
        if verdict is not None and len(verdict.judged) != self._judged and now - self._counted_at >= COUNT_EVERY_S:
            self._judged, self._counted_at = len(verdict.judged), now
            count = len(verdict.judged) + len(verdict.not_judged)
            found.append(_("judged {n} of {total} rules").format(n=len(verdict.judged), total=count))
        for alert in alerts:
            if alert.severity >= Severity.WATCH:
                found += self._about(alert)
        return found

    def _about(self, alert: Alert) -> List[str]:
        now = _Told(alert.severity, alert.standing.state, len(alert.incident.happenings))
        before = self._told.get(alert.id)
        self._told[alert.id] = now
        if before == now:
            return []
        name = _(TITLES[alert.incident.head.symptom])
        if before is None:
            state = "" if now.state is AlertState.ACTIVE else f", {_stands(alert)}"
            return [f"{head_line(alert)} [{alert.id}{state}]", *_sequel(alert, 1)]
        lines = _sequel(alert, before.happenings)
        if now.severity > before.severity and not lines:
            words = _("{severity} {title}: graver than before [{id}]")
            lines.append(words.format(severity=severity_word(now.severity), title=name, id=alert.id))
        if now.state is not before.state:
            lines.append(
                _("{severity} {title}: {state} [{id}]").format(
                    severity=severity_word(now.severity), title=name, state=_stands(alert), id=alert.id
                )
            )
        return lines


def _sequel(alert: Alert, begin: int) -> List[str]:
    """What followed and matters, from the happening of this number on."""
    return [
        _("{id} then {happening}").format(id=alert.id, happening=happening_line(each))
        for each in alert.incident.happenings[begin:]
        if each.severity >= Severity.WARN
    ]


def _stands(alert: Alert) -> str:
    """Its state, and whose word that is."""
    entry = alert.standing.entry
    words = state_words(alert)
    if entry is None or not entry.who or alert.standing.state in (AlertState.ACTIVE, AlertState.CLEARED):
        return words
    return _("{state} by {who}").format(state=words, who=safe(entry.who))
