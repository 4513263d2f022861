"""What an incident's entries add up to."""

from __future__ import annotations

from typing import List, Optional

import pytest

from mstui.journal.standing import standing
from mstui.model.journal import (
    FOR_EVER,
    NO_BEARING,
    AlertState,
    Bearing,
    Entry,
    EntryKind,
    Reopening,
    Standing,
    Until,
    UntilKind,
)


def entry(kind: EntryKind, at: float, until: Until = FOR_EVER, bearing: Bearing = NO_BEARING) -> Entry:
    return Entry("i", kind, at, until=until, bearing=bearing)


def stand(entries: List[Entry], *, now: float = 100.0, bearing: Bearing = NO_BEARING, present: bool = True) -> Standing:
    return standing(entries, bearing, now, raised_at=1.0, present=present)


def test_an_incident_that_nobody_has_noted_anything_about_is_active_since_it_was_raised() -> None:
    assert stand([]) == Standing(AlertState.ACTIVE, 1.0)


def test_one_whose_symptom_is_gone_has_cleared() -> None:
    assert stand([entry(EntryKind.CLEARED, 7.0)], present=False) == Standing(AlertState.CLEARED, 7.0)


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (EntryKind.ACKNOWLEDGED, AlertState.ACKNOWLEDGED),
        (EntryKind.SNOOZED, AlertState.SNOOZED),
        (EntryKind.INTENDED, AlertState.INTENDED),
    ],
)
def test_what_a_person_says_holds(kind: EntryKind, state: AlertState) -> None:
    said = entry(kind, 5.0)
    assert stand([said]) == Standing(state, 5.0, said)


def test_taking_it_back_opens_it_again() -> None:
    found = stand([entry(EntryKind.ACKNOWLEDGED, 5.0), entry(EntryKind.UNACKNOWLEDGED, 6.0)])
    assert (found.state, found.since, found.reopened) == (AlertState.ACTIVE, 6.0, Reopening.TAKEN_BACK)


def test_taking_nothing_back_changes_nothing() -> None:
    assert stand([entry(EntryKind.UNACKNOWLEDGED, 6.0)]) == Standing(AlertState.ACTIVE, 1.0)


@pytest.mark.parametrize(
    ("until", "then", "now", "at", "reopened"),
    [
        (Until(UntilKind.TIME, 50.0), Bearing(), Bearing(), 49.9, None),
        (Until(UntilKind.TIME, 50.0), Bearing(), Bearing(), 50.0, Reopening.TIME),
        (Until(UntilKind.STEP, 300.0), Bearing(), Bearing(step=299), 60.0, None),
        (Until(UntilKind.STEP, 300.0), Bearing(), Bearing(step=300), 60.0, Reopening.STEP),
        (Until(UntilKind.STEP, 300.0), Bearing(), Bearing(step=None), 60.0, None),
        (Until(UntilKind.RESTART), Bearing(restarts=1), Bearing(restarts=1), 60.0, None),
        (Until(UntilKind.RESTART), Bearing(restarts=1), Bearing(restarts=2), 60.0, Reopening.RESTART),
        (Until(UntilKind.WORSE), Bearing(magnitude=2.0), Bearing(magnitude=3.9), 60.0, None),
        (Until(UntilKind.WORSE), Bearing(magnitude=2.0), Bearing(magnitude=4.0), 60.0, Reopening.WORSE),
        (Until(UntilKind.WORSE), Bearing(magnitude=2.0), Bearing(magnitude=float("nan")), 60.0, Reopening.WORSE),
        (Until(UntilKind.WORSE), Bearing(magnitude=0.0), Bearing(magnitude=0.0), 60.0, None),
        (Until(UntilKind.WORSE), Bearing(magnitude=None), Bearing(magnitude=9.0), 60.0, None),
        (Until(), Bearing(step=1, restarts=0, magnitude=1.0), Bearing(10**9, 99, 1e9), 1e12, None),
    ],
)
def test_an_acknowledgement_ends_by_its_own_condition(
    until: Until, then: Bearing, now: Bearing, at: float, reopened: Optional[Reopening]
) -> None:
    said = entry(EntryKind.ACKNOWLEDGED, 5.0, until, then)
    found = stand([said], now=at, bearing=now)
    assert found.reopened is reopened
    assert found.state is (AlertState.ACKNOWLEDGED if reopened is None else AlertState.ACTIVE)
    assert found.entry is said


def test_a_snooze_that_ran_out_says_when() -> None:
    assert stand([entry(EntryKind.SNOOZED, 5.0, Until(UntilKind.TIME, 50.0))]).since == 50.0


def test_what_cleared_and_comes_back_is_open_again() -> None:
    found = stand([entry(EntryKind.CLEARED, 5.0), entry(EntryKind.RAISED, 9.0)])
    assert (found.state, found.since, found.reopened) == (AlertState.ACTIVE, 9.0, Reopening.BACK)


def test_what_was_acknowledged_stays_so_when_it_comes_back() -> None:
    found = stand([entry(EntryKind.ACKNOWLEDGED, 3.0), entry(EntryKind.CLEARED, 5.0), entry(EntryKind.RAISED, 9.0)])
    assert found.state is AlertState.ACKNOWLEDGED


def test_what_is_intended_stays_so_though_the_symptom_goes() -> None:
    assert stand([entry(EntryKind.INTENDED, 3.0)], present=False).state is AlertState.INTENDED


def test_answers_change_no_state() -> None:
    assert stand([entry(EntryKind.ANSWER, 3.0), entry(EntryKind.OUTCOME, 4.0)]) == Standing(AlertState.ACTIVE, 1.0)
