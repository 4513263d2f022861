from __future__ import annotations

from typing import List, Tuple

import pytest

from mstui.model.alerts import TITLES, Scope, Severity, Symptom
from mstui.model.journal import AlertState, EntryKind, Reopening, Until, UntilKind
from mstui.model.log_view import LogPlace, ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.tui.alert_words import (
    GRADES,
    REOPENED,
    STATES,
    Place,
    badges,
    counts_text,
    entry_text,
    headline,
    listed,
    place_of,
    scope_text,
    short_badge,
    state_text,
)
from tests.tui.alert_scene import NOW, alert, entry, happening, nan_alert, some_alerts
from tests.tui.log_scene import crash, log_key


def texts(alerts: Tuple[object, ...], facts: Tuple[ProcessFact, ...] = ()) -> List[str]:
    return [badge.text for badge in badges(alerts, facts, ascii_only=False)]  # type: ignore[arg-type]


def test_every_severity_and_state_has_a_word_and_every_severity_a_glyph_of_its_own() -> None:
    assert set(GRADES) == set(Severity)
    assert len({grade.glyph for grade in GRADES.values()}) == len(GRADES)
    assert len({grade.ascii_glyph for grade in GRADES.values()}) == len(GRADES)
    assert all(grade.ascii_glyph.isascii() for grade in GRADES.values())
    assert set(STATES) == set(AlertState)
    assert set(REOPENED) == set(Reopening)
    assert set(TITLES) == set(Symptom)


def test_active_alerts_come_first_the_gravest_on_top() -> None:
    assert [each.incident.number for each in listed(some_alerts())] == [1, 7, 2, 4, 3, 6, 5]


def test_the_badge_counts_the_worst_that_are_active() -> None:
    assert texts(some_alerts()) == ["‼ critical 1"]
    assert texts(some_alerts()[1:]) == ["✗ error 1"]
    assert texts(some_alerts()[2:6]) == [], "acknowledged, snoozed, intended and cleared ones are silent"
    assert [badge.text for badge in badges(some_alerts(), (), ascii_only=True)] == ["!! critical 1"]


def test_what_only_needs_watching_has_no_badge() -> None:
    assert texts((alert(1, happening(Symptom.PLATEAU, Severity.WATCH, 5)),)) == []


def test_a_crash_that_is_a_fact_and_an_alert_is_one_badge() -> None:
    crashed = alert(1, happening(Symptom.CRASH, Severity.CRITICAL, 300))
    assert texts((), (crash(300),)) == ["✗ crashed rank 1"]
    assert texts((crashed,), (crash(300),)) == ["‼ crashed rank 1"]
    assert texts((crashed, nan_alert()), (crash(300),)) == ["‼ crashed rank 1 +1"]


def test_a_fact_that_is_another_trouble_keeps_its_badge() -> None:
    spike = alert(1, happening(Symptom.LOSS_SPIKE, Severity.WARN, 300))
    assert texts((spike,), (crash(300),)) == ["! warning 1", "✗ crashed rank 1"]


def test_a_stop_by_nan_is_the_alert_of_the_nan() -> None:
    place = LogPlace(log_key(1), 0)
    fact = ProcessFact(EventKind.NAN_STOP, Weight.TROUBLE, 1, place, NOW, 700, "loss is nan", "It stops itself.")
    assert texts((nan_alert(),), (fact,)) == ["‼ stopped by NaN rank 1"]


def test_the_short_badge_fits_a_row_of_forty() -> None:
    badge = short_badge(some_alerts(), ascii_only=False)
    assert badge is not None
    assert badge.text == "‼1"
    assert short_badge((), ascii_only=False) is None


def test_a_rank_is_named_only_where_there_are_several() -> None:
    assert scope_text(Scope(1, "loss"), ranks=True, ascii_only=False) == "rank 1 loss"
    assert scope_text(Scope(1, "loss"), ranks=False, ascii_only=False) == "loss"
    assert scope_text(Scope(), ranks=True, ascii_only=False) == "", "about the whole run"
    assert scope_text(Scope(2, "grad/fc", "fc"), ranks=True, ascii_only=False) == "rank 2 fc"


def test_names_from_files_are_harmless() -> None:
    assert "\x1b" not in scope_text(Scope(0, "a\x1b[31mb"), ranks=False, ascii_only=False)
    assert scope_text(Scope(0, "损失"), ranks=False, ascii_only=True).isascii()
    said = entry_text(entry(1, EntryKind.ACKNOWLEDGED, "a\x1b]0;x\x07b"), NOW, ascii_only=False)
    assert said.isprintable()


def test_a_place_says_where_else_and_how_often() -> None:
    seen = happening(Symptom.LOSS_NAN, Severity.CRITICAL, 5, Scope(3, "loss"), others=(Scope(0, "loss"),), repeats=4)
    assert place_of(seen, ranks=True, ascii_only=False) == Place("rank 3", "loss", "+1 x5")


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (30, "rank 3 grad_norm/fc1 +1 x5"),
        (22, "rank 3 grad…/fc1 +1 x5"),
        (15, "rank 3 +1 x5"),
        (6, "rank …"),
        (0, ""),
    ],
)
def test_of_a_place_the_name_is_cut_first(cells: int, text: str) -> None:
    assert Place("rank 3", "grad_norm/fc1", "+1 x5").fitted(cells, "…") == text


def test_the_headline_says_how_it_began_and_the_gravest_that_followed() -> None:
    assert headline(nan_alert(), 80, ranks=True, ascii_only=False) == (
        "Overflow streak at step 600 (rank 0 loss_scale), then Loss is NaN"
    )
    assert headline(nan_alert(), 50, ranks=True, ascii_only=False) == "Overflow streak at step 600, then Loss is NaN"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1, "active, raised 13m ago"),
        (3, "acknowledged by li@node7 until step 20000: known bad shard, 1m ago"),
        (5, "cleared at step 90, 31m ago"),
        (6, "called intended by li@node7: a cosine, 1m ago"),
        (7, "active again: the step is reached (acknowledged by li@node7 until step 20000)"),
    ],
)
def test_the_state_says_by_whom_until_when_and_why_it_is_back(number: int, said: str) -> None:
    assert state_text(some_alerts()[number - 1], NOW, ascii_only=False) == said


def test_what_came_back_by_itself_says_so() -> None:
    back = alert(1, happening(Symptom.LOSS_SPIKE, Severity.WARN, 5), reopened=Reopening.BACK)
    assert state_text(back, NOW, ascii_only=False).startswith("active again: it had cleared and has come back")


@pytest.mark.parametrize(
    ("until", "said"),
    [
        (Until(), "for ever"),
        (Until(UntilKind.STEP, 500), "until step 500"),
        (Until(UntilKind.RESTART), "until the training is restarted"),
        (Until(UntilKind.WORSE), "until it is twice as bad"),
    ],
)
def test_an_entry_says_until_when(until: Until, said: str) -> None:
    assert entry_text(entry(1, EntryKind.SNOOZED, until=until), NOW, ascii_only=False) == f"snoozed by li@node7 {said}"


def test_counts_are_in_words() -> None:
    assert counts_text(some_alerts()) == "3 active, 1 snoozed, 1 acked, 1 intended, 1 cleared"
    assert counts_text(()) == ""
