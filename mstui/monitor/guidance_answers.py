"""The part of the façade that answers for causes and guided checks. These calls belong on a worker thread.

The knowledge and what looks at evidence are imported when somebody asks first: most sessions raise no alert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple, Optional, Sequence

from mstui.detect.base import Process
from mstui.model.alerts import Verdict
from mstui.model.runs import Fact
from mstui.monitor.alerts import Alerts
from mstui.monitor.payload_reader import PayloadReader, ReadRange
from mstui.store.run_store import Store

if TYPE_CHECKING:
    from mstui.checks.session import Session
    from mstui.model.alert_view import Alert, LikelyCause
    from mstui.monitor.guidance import Guide


class Standpoint(NamedTuple):
    """What the monitor knows of a run besides what is stored."""

    facts: Mapping[str, Fact]
    verdict: Optional[Verdict]
    process: Process
    now: float
    """Unix seconds"""


class GuidanceAnswers:
    """What MonitorApi says of causes and checks."""

    _store: Store
    _payloads: PayloadReader
    _read_range: ReadRange

    def __init__(self, alerts: Alerts, stand: Callable[[str], Standpoint]) -> None:
        """`stand`: what is known of a run besides what is stored."""
        self._alerts_of = alerts
        self._stand_at = stand
        self._guide: Optional[Guide] = None

    def fetch_session(self, run_key: str, alert_id: str, flow: str = "") -> Optional[Session]:
        """The guided check of an incident with the answers so far, or a flow; None for an unknown incident."""
        alert = self._alert_with(run_key, alert_id)
        if alert is None and not flow:
            return None
        entries = self._alerts_of.entries(run_key, alert_id)
        return self._guided().session(run_key, alert, flow, entries, self._stand_at(run_key))

    def fetch_causes(self, run_key: str, alert_id: str, language: str) -> Sequence[LikelyCause]:
        """Causes of an incident, the likeliest first; empty for one that is not known."""
        alert = self._alert_with(run_key, alert_id)
        if alert is None:
            return ()
        entries = self._alerts_of.entries(run_key, alert_id)
        return self._guided().causes(run_key, alert, entries, self._stand_at(run_key), language)

    def _forget_guidance(self, run_key: str) -> None:
        """The run is not loaded any more: what was seen of it holds its arrays."""
        if self._guide is not None:
            self._guide.forget(run_key)

    def _alert_with(self, run_key: str, alert_id: str) -> Optional[Alert]:
        return next((each for each in self._alerts_of.alerts(run_key) if each.id == alert_id), None)

    def _guided(self) -> Guide:
        if self._guide is None:
            from mstui.monitor.guidance import Guide

            self._guide = Guide(self._store, self._payloads.histograms, self._read_range)
        return self._guide
