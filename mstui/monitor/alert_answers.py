"""The part of the façade that answers for alerts. What a person says is queued and shows with the next turn."""

from __future__ import annotations

from typing import Callable, Mapping, Optional, Sequence

from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.alerts import Verdict
from mstui.model.journal import Entry
from mstui.monitor.alerts import Alerts


class AlertAnswers:
    """What MonitorApi says of alerts."""

    def __init__(self, alerts: Alerts, wake: Callable[[], None]) -> None:
        self._alerts = alerts
        self._wake_for_notes = wake

    def alerts(self, run_key: str) -> Sequence[Alert]:
        """Incidents of a loaded run, in the order in which they were raised."""
        return self._alerts.alerts(run_key)

    def verdict(self, run_key: str) -> Optional[Verdict]:
        """Which rules could judge; None for a run that is not loaded, or whose history is still being read."""
        return self._alerts.verdicts.get(run_key)

    def objectives(self, run_key: str) -> Mapping[str, str]:
        """What each loss of a run is taken to be supposed to do, by tag: "descending", "signed", "reward", ..."""
        return {tag: each.value for tag, each in self._alerts.objectives.get(run_key, {}).items()}

    def alert_entries(self, run_key: str, alert_id: str) -> Sequence[Entry]:
        """What was noted about an incident, oldest first, as of the last turn."""
        return self._alerts.entries(run_key, alert_id)

    def note(self, run_key: str, entries: Sequence[Entry]) -> None:
        """A person acknowledges, snoozes, calls intended, answers a check, or takes it back."""
        self._alerts.note(run_key, entries)
        self._wake_for_notes()

    def journal_health(self) -> JournalHealth:
        """Can what persons say be kept."""
        return self._alerts.health
