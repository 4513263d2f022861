"""What persons and mstui have noted about incidents: entries that are only ever added, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Optional


class EntryKind(Enum):
    """What happened to an incident."""

    RAISED = "raised"
    CLEARED = "cleared"
    """the symptom is gone"""
    ACKNOWLEDGED = "acknowledged"
    UNACKNOWLEDGED = "unacknowledged"
    SNOOZED = "snoozed"
    INTENDED = "intended"
    """what raised it is meant to be so: this rule stays silent for this tag of this run"""
    ANSWER = "answer"
    """an answer to a check; `subject` is the check, `comment` the answer"""
    OUTCOME = "outcome"
    """what was found in the end; `subject` is the cause"""


class UntilKind(Enum):
    """For how long an acknowledgement or a snooze holds."""

    EVER = "ever"
    TIME = "time"
    """until a time, Unix seconds"""
    STEP = "step"
    """until a step of the training"""
    RESTART = "restart"
    """until the training is started again"""
    WORSE = "worse"
    """until the figure that raised it is twice as bad"""


class Until(NamedTuple):
    """When an acknowledgement ends."""

    kind: UntilKind = UntilKind.EVER
    value: float = 0.0
    """Unix seconds, or a step; 0.0 for the other kinds"""


FOR_EVER = Until()


@dataclass(frozen=True)
class Bearing:
    """Where an incident stands while something is noted about it: what an `Until` is measured by later."""

    step: Optional[int] = None
    restarts: int = 0
    """times that the training has been started again so far"""
    magnitude: Optional[float] = None
    """how bad it is, by the figure of the rule that raised it; larger is worse"""


NO_BEARING = Bearing()


@dataclass(frozen=True)
class Entry:
    """One line of the journal."""

    incident: str
    """id of the incident; the same in every mstui that watches the run"""
    kind: EntryKind
    at: float
    """Unix seconds"""
    who: str = ""
    """user@host; empty when mstui itself noted it"""
    comment: str = ""
    subject: str = ""
    until: Until = FOR_EVER
    bearing: Bearing = NO_BEARING
    seq: int = 0
    """place in the journal; 0 for an entry that could not be stored yet"""


class AlertState(Enum):
    """What an incident asks of the person who watches."""

    ACTIVE = "active"
    ACKNOWLEDGED = "acknowledged"
    SNOOZED = "snoozed"
    INTENDED = "intended"
    CLEARED = "cleared"


class Reopening(Enum):
    """Why an incident that had been dealt with is active again."""

    TIME = "time"
    STEP = "step"
    RESTART = "restart"
    WORSE = "worse"
    BACK = "back"
    """it had cleared and has come back"""
    TAKEN_BACK = "taken-back"
    """somebody has taken the acknowledgement back"""


@dataclass(frozen=True)
class Standing:
    """An incident's state, and where it comes from."""

    state: AlertState
    since: float
    """Unix seconds"""
    entry: Optional[Entry] = None
    """the acknowledgement, snooze or word "intended" that holds, or the last one that held"""
    reopened: Optional[Reopening] = None
