"""What persons say of incidents stays with them: across restarts, processes, and disks that refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import List, Optional, Sequence

import pytest

from mstui.journal import Journal
from mstui.model.alerts import Happening, Incident, Scope, Severity, Symptom
from mstui.model.journal import FOR_EVER, AlertState, Entry, EntryKind, Reopening, Until, UntilKind
from mstui.monitor.alert_book import AlertBook, Run, identity_of, incident_ids, magnitude

AT = 1000.0
RUN = Run("run", "identity", step=100, restarts=0)


def happening(symptom: Symptom = Symptom.LOSS_SPIKE, **changes: object) -> Happening:
    base = Happening(symptom, Severity.WARN, Scope(0, "loss"), 40, 40, AT, ())
    return replace(base, **changes)  # type: ignore[arg-type]


def incident(*happenings: Happening, number: int = 1) -> Incident:
    return Incident(number, happenings or (happening(),))


def over(at: float = AT + 50) -> Incident:
    return incident(happening(cleared_step=60, cleared_wall=at))


def book_in(folder: Path) -> AlertBook:
    return AlertBook(Journal(str(folder)))


def state(book: AlertBook) -> AlertState:
    (alert,) = book.alerts[RUN.key]
    return alert.standing.state


def say(book: AlertBook, kind: EntryKind, until: Until = FOR_EVER, run: Run = RUN, at: float = AT + 10) -> None:
    (alert,) = book.alerts[run.key]
    book.note(run, Entry(alert.id, kind, at, who="li@host", until=until))


def kinds(book: AlertBook) -> List[EntryKind]:
    return [entry.kind for entries in book.entries[RUN.key].values() for entry in entries]


def test_an_incident_is_noted_once_with_the_time_of_its_record(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    assert book.update(RUN, [incident()], AT + 5)
    assert not book.update(RUN, [incident()], AT + 6)
    ((entry,),) = book.entries[RUN.key].values()
    assert (entry.kind, entry.at, entry.who) == (EntryKind.RAISED, AT, "")
    again = book_in(tmp_path)
    again.update(RUN, [incident()], AT + 500)
    assert kinds(again) == [EntryKind.RAISED]


def test_what_began_and_ended_before_anybody_looked_is_noted_as_both(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [over()], AT + 500)
    ((raised, cleared),) = book.entries[RUN.key].values()
    assert (raised.kind, raised.at) == (EntryKind.RAISED, AT)
    assert (cleared.kind, cleared.at) == (EntryKind.CLEARED, AT + 50)
    (alert,) = book.alerts[RUN.key]
    assert (alert.standing.state, alert.standing.since) == (AlertState.CLEARED, AT + 50)


def test_it_opens_again_when_it_comes_back(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    book.update(RUN, [over()], AT + 60)
    back = incident(happening(cleared_step=60, cleared_wall=AT + 50), happening(step=90, wall_time=AT + 90))
    book.update(RUN, [back], AT + 100)
    (alert,) = book.alerts[RUN.key]
    assert (alert.standing.state, alert.standing.reopened) == (AlertState.ACTIVE, Reopening.BACK)
    assert alert.standing.since == AT + 90


@pytest.mark.parametrize("kind", [EntryKind.ACKNOWLEDGED, EntryKind.INTENDED])
def test_a_restart_of_mstui_keeps_what_was_said(tmp_path: Path, kind: EntryKind) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    say(book, kind)
    book.update(RUN, [incident()], AT + 11)
    before = state(book)
    assert before is not AlertState.ACTIVE
    book.close()
    again = book_in(tmp_path)
    again.update(RUN, [incident()], AT + 500)
    assert state(again) is before


ENDINGS = {
    "worse": (Until(UntilKind.WORSE), RUN, happening(severity=Severity.CRITICAL), Reopening.WORSE),
    "restart": (Until(UntilKind.RESTART), RUN._replace(restarts=1), happening(), Reopening.RESTART),
    "step": (Until(UntilKind.STEP, 150), RUN._replace(step=150), happening(), Reopening.STEP),
    "time": (Until(UntilKind.TIME, AT + 30), RUN, happening(), Reopening.TIME),
}


@pytest.mark.parametrize(("until", "later", "then", "reopened"), ENDINGS.values(), ids=ENDINGS.keys())
def test_an_acknowledgement_ends_as_was_said(
    tmp_path: Path, until: Until, later: Run, then: Happening, reopened: Reopening
) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    say(book, EntryKind.ACKNOWLEDGED, until)
    book.update(RUN, [incident()], AT + 20)
    assert state(book) is AlertState.ACKNOWLEDGED
    book.update(later, [incident(then)], AT + 40)
    (alert,) = book.alerts[RUN.key]
    assert (alert.standing.state, alert.standing.reopened) == (AlertState.ACTIVE, reopened)


def test_what_is_intended_stays_silent_for_its_symptom_and_tag_and_no_other(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    say(book, EntryKind.INTENDED)
    other = happening(scope=Scope(0, "aux/loss"))
    found: Sequence[Incident] = [incident(), incident(happening(step=70), number=2), incident(other, number=3)]
    book.update(RUN, found, AT + 20)
    states = [alert.standing.state for alert in book.alerts[RUN.key]]
    assert states == [AlertState.INTENDED, AlertState.INTENDED, AlertState.ACTIVE]
    first = book.alerts[RUN.key][0]
    book.note(RUN, Entry(first.id, EntryKind.UNACKNOWLEDGED, AT + 30, who="li@host"))
    book.update(RUN, found, AT + 31)
    assert [alert.standing.state for alert in book.alerts[RUN.key]] == [AlertState.ACTIVE] * 3


def test_what_another_process_notes_shows_after_a_look(tmp_path: Path) -> None:
    mine, other = book_in(tmp_path), book_in(tmp_path)
    for book in (mine, other):
        book.look(AT)
        book.update(RUN, [incident()], AT)
    mine.look(AT + 1)
    say(other, EntryKind.ACKNOWLEDGED)
    mine.look(AT + 1.5)
    assert not mine.update(RUN, [incident()], AT + 1.5), "not yet looked"
    mine.look(AT + 2.5)
    assert mine.update(RUN, [incident()], AT + 2.5)
    assert state(mine) is AlertState.ACKNOWLEDGED


def test_two_that_see_an_incident_differently_do_not_correct_each_other_for_ever(tmp_path: Path) -> None:
    one, other = book_in(tmp_path), book_in(tmp_path)
    for turn in range(5):
        now = AT + 10 * turn
        for book, seen in ((one, incident()), (other, over())):
            book.look(now)
            book.update(RUN, [seen], now)
    assert kinds(one).count(EntryKind.RAISED) <= 2
    assert kinds(one).count(EntryKind.CLEARED) <= 2


def test_an_incident_that_is_not_found_any_more_is_noted_as_cleared(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    book.update(RUN, [], AT + 20)
    assert book.alerts[RUN.key] == ()
    assert kinds(book) == [EntryKind.RAISED, EntryKind.CLEARED]


def test_a_disk_that_refuses_is_said_and_forgets_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    book = book_in(blocked)
    book.update(RUN, [incident()], AT)
    say(book, EntryKind.ACKNOWLEDGED)
    book.update(RUN, [incident()], AT + 11)
    assert state(book) is AlertState.ACKNOWLEDGED
    assert not book.health.ok
    assert book.health.unsaved == 2
    assert "file" in book.health.detail
    blocked.unlink()
    book.look(AT + 20)
    assert book.health.ok
    again = book_in(blocked)
    again.update(RUN, [incident()], AT + 30)
    assert state(again) is AlertState.ACKNOWLEDGED


def test_a_word_about_an_unknown_incident_is_kept(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.note(RUN, Entry("feed", EntryKind.ACKNOWLEDGED, AT, who="li@host"))
    assert Journal(str(tmp_path)).entries(RUN.identity)["feed"][0].who == "li@host"


def test_ids_are_those_of_the_symptom_that_came_first_whatever_is_known_of_it_later() -> None:
    ids = incident_ids("run", [incident(), incident(happening(Symptom.STALL), number=2)])
    later = incident(happening(step=38, severity=Severity.ERROR), happening(Symptom.LOSS_NAN))
    assert incident_ids("run", [later]) == ids[:1]
    assert len(set(ids)) == 2
    assert incident_ids("other", [later]) != ids[:1]
    twice = incident_ids("run", [incident(), incident(number=2)])
    assert len(set(twice)) == 2


STARTED = {"the same": (5, True), "another second": (6, False), "no event file": (None, False)}


@pytest.mark.parametrize(("started", "same"), STARTED.values(), ids=STARTED.keys())
def test_a_run_is_its_folder_and_the_second_of_its_first_file(started: Optional[int], same: bool) -> None:
    assert (identity_of("/runs/a", 5) == identity_of("/runs/a", started)) is same
    assert identity_of("/runs/a", started) != identity_of("/runs/b", started)
    assert identity_of("/runs/\udcff", started) != identity_of("/runs/\udcfe", started), "names that are no text"


def test_what_is_seen_in_more_places_or_is_graver_is_worse() -> None:
    one = magnitude(incident())
    assert magnitude(incident(happening(others=(Scope(1, "loss"),)))) == 2 * one
    assert magnitude(incident(happening(severity=Severity.ERROR))) > 2 * one


def test_what_is_forgotten_has_no_alerts(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    book.update(RUN, [incident()], AT)
    book.forget(RUN.key)
    assert RUN.key not in book.alerts
    assert RUN.key not in book.entries


def test_what_records_without_a_time_show_counts_from_when_it_was_noted(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    timeless = incident(happening(wall_time=0.0))
    book.update(RUN, [timeless], AT + 5)
    assert not book.update(RUN, [timeless], AT + 60)
    (alert,) = book.alerts[RUN.key]
    assert (alert.standing.state, alert.standing.since) == (AlertState.ACTIVE, AT + 5)
    again = book_in(tmp_path)
    again.update(RUN, [timeless], AT + 500)
    assert again.alerts[RUN.key][0].standing.since == AT + 5
