"""Incidents as the screens and reports see them: with an id that every mstui gives them, and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from mstui.model.alerts import Incident, Severity
from mstui.model.journal import AlertState, Standing


@dataclass(frozen=True)
class LikelyCause:
    """One documented cause of an incident, as far as the evidence goes."""

    id: str
    title: str
    score: float
    word: str
    """how likely it is, in a word of the person's language"""
    because: Tuple[str, ...] = ()
    """sentences that raised or lowered it"""
    refuted: bool = False


@dataclass(frozen=True)
class Alert:
    """One incident of one run."""

    id: str
    """eight hexadecimal digits; the same in every mstui that watches the run"""
    run_key: str
    incident: Incident
    standing: Standing
    causes: Tuple[LikelyCause, ...] = ()
    """the likeliest first; empty until they have been ranked"""

    @property
    def severity(self) -> Severity:
        """The gravest word of its symptoms."""
        return self.incident.severity

    @property
    def rings(self) -> bool:
        """It asks for attention: active, and grave enough for a badge."""
        return self.standing.state is AlertState.ACTIVE and self.severity >= Severity.WARN


@dataclass(frozen=True)
class JournalHealth:
    """Can what persons say be kept."""

    ok: bool
    detail: str = ""
    """what is wrong, and where"""
    unsaved: int = 0
    lost: int = 0
    foreign: int = 0
    """entries of a later mstui, left out of what was read"""


def worst(alerts: Tuple[Alert, ...]) -> Optional[Alert]:
    """The gravest of those that ring, the first raised of equals; None when none does."""
    ringing = [alert for alert in alerts if alert.rings]
    return max(ringing, key=lambda alert: (alert.severity, -alert.incident.head.wall_time), default=None)
