"""From the entries about one incident to its state. Pure: no clock, no disk.

An acknowledgement ends by its own condition and by nothing else. A symptom that had cleared and comes back opens the
incident again where no acknowledgement holds.
"""

from __future__ import annotations

from typing import Iterable, Optional

from mstui.model.journal import AlertState, Bearing, Entry, EntryKind, Reopening, Standing, UntilKind

TWICE = 2.0
"""Times the magnitude at the acknowledgement that counts as "twice as bad"."""

_DEALT_WITH = {
    EntryKind.ACKNOWLEDGED: AlertState.ACKNOWLEDGED,
    EntryKind.SNOOZED: AlertState.SNOOZED,
    EntryKind.INTENDED: AlertState.INTENDED,
}


def standing(entries: Iterable[Entry], bearing: Bearing, now: float, *, raised_at: float, present: bool) -> Standing:
    """The incident's state.

    entries: about this incident, oldest first; bearing: where it stands now; raised_at: Unix seconds; present: the
    symptom holds.
    """
    holds: Optional[Entry] = None
    reopened: Optional[Reopening] = None
    since = raised_at
    cleared_at: Optional[float] = None
    for entry in entries:
        if entry.kind in _DEALT_WITH:
            holds, reopened, since = entry, None, entry.at
        elif entry.kind is EntryKind.UNACKNOWLEDGED and holds is not None:
            holds, reopened, since = None, Reopening.TAKEN_BACK, entry.at
        elif entry.kind is EntryKind.CLEARED:
            cleared_at = entry.at
        elif entry.kind is EntryKind.RAISED and cleared_at is not None:
            cleared_at = None
            if holds is None:
                reopened, since = Reopening.BACK, entry.at
    last = holds
    if holds is not None:
        ended = _ended(holds, bearing, now)
        if ended is not None:
            holds, reopened = None, ended
            since = holds_until(last, now)
    if holds is not None and holds.kind is EntryKind.INTENDED:
        return Standing(AlertState.INTENDED, since, holds)
    if not present:
        return Standing(AlertState.CLEARED, cleared_at if cleared_at is not None else since, last, None)
    if holds is not None:
        return Standing(_DEALT_WITH[holds.kind], since, holds)
    return Standing(AlertState.ACTIVE, since, last, reopened)


def taken_back_by(stands: Standing) -> Optional[Entry]:
    """The person's word that holds and can be taken back; None where nobody has said anything that does.

    It may be about another incident: what is intended holds for every alert of the same symptom and tag.
    """
    if stands.reopened is not None or stands.state is AlertState.ACTIVE:
        return None
    return stands.entry


def holds_until(entry: Optional[Entry], now: float) -> float:
    """Unix seconds at which an entry that has ended did so, as far as that is known; now otherwise."""
    if entry is not None and entry.until.kind is UntilKind.TIME:
        return entry.until.value
    return now


def _ended(entry: Entry, bearing: Bearing, now: float) -> Optional[Reopening]:
    """Why an acknowledgement no longer holds; None while it does."""
    until, then = entry.until, entry.bearing
    if until.kind is UntilKind.TIME and now >= until.value:
        return Reopening.TIME
    if until.kind is UntilKind.STEP and bearing.step is not None and bearing.step >= until.value:
        return Reopening.STEP
    if until.kind is UntilKind.RESTART and bearing.restarts > then.restarts:
        return Reopening.RESTART
    if until.kind is UntilKind.WORSE and _twice_as_bad(bearing.magnitude, then.magnitude):
        return Reopening.WORSE
    return None


def _twice_as_bad(now: Optional[float], then: Optional[float]) -> bool:
    if now is None or then is None:
        return False
    return now != then and (now != now or now >= TWICE * then > 0.0)
