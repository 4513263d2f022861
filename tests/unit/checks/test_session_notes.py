"""Words of persons become entries of the journal and are read back as they were said."""

from __future__ import annotations

from typing import List, Optional

import pytest
from hypothesis import given as anything
from hypothesis import settings
from hypothesis import strategies as st

from mstui.checks.session_notes import (
    MOST_PLACES_TEXT,
    Given,
    Pen,
    bisection,
    entry,
    number,
    place_subject,
    places_note,
    read,
    undoing,
)
from mstui.journal import Journal
from mstui.model.journal import Entry, EntryKind

PEN = Pen("incident", 7.0, "ann@host")
OTHER = Pen("incident", 8.0, "bob@host")


def said(*words: Given, pen: Pen = PEN) -> List[Entry]:
    return [entry(pen, word) for word in words]


@pytest.mark.parametrize("value", [None, 0.0, 2.302585092994046, -1e-30])
@pytest.mark.parametrize("note", ["", "a note", "=5 is what I saw", "=", "no yes"])
def test_an_answer_with_figure_and_note_comes_back_as_it_was_said(value: Optional[float], note: str) -> None:
    written = entry(PEN, Given("st.loss0", "no", value, note))
    assert read([written]).given == (Given("st.loss0", "no", value, note, "ann@host", 7.0),)


@settings(deadline=None)
@anything(st.text(), st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
def test_no_note_is_taken_for_a_figure(note: str, value: Optional[float]) -> None:
    (back,) = read([entry(PEN, Given("st.lr", "yes", value, note))]).given
    assert (back.answer, back.value) == ("yes", value)
    assert back.note == " ".join(note.split())[:1000]


def test_the_last_word_on_a_subject_holds_and_an_undo_brings_the_earlier_one_back() -> None:
    entries = said(Given("st.lr", "yes"), Given("st.init", "no"), Given("st.lr", "no"))
    assert read(entries).answers == {"st.init": "no", "st.lr": "no"}
    last = read(entries).last()
    assert last is not None
    entries += said(undoing(last))
    assert read(entries).answers == {"st.lr": "yes", "st.init": "no"}


def test_an_undo_never_takes_back_what_somebody_else_has_said_meanwhile() -> None:
    entries = said(Given("st.lr", "yes"))
    seen_by_ann = read(entries).last()
    assert seen_by_ann is not None
    entries += said(Given("st.lr", "no"), pen=OTHER)
    entries += said(undoing(seen_by_ann))
    (holds,) = read(entries).given
    assert (holds.answer, holds.who) == ("no", "bob@host")


def test_an_undo_of_nothing_changes_nothing() -> None:
    entries = said(Given("st.lr", "yes"), undoing(Given("st.init", "yes", who="ann@host")))
    assert read(entries).answers == {"st.lr": "yes"}
    assert read(entries).last("carol@host") is None


def test_other_kinds_of_entries_are_passed_over_and_what_is_not_understood_is_counted() -> None:
    entries = [
        Entry("incident", EntryKind.ACKNOWLEDGED, 1.0, comment="yes", subject="st.lr"),
        Entry("incident", EntryKind.ANSWER, 1.0, comment="", subject="st.lr"),
        Entry("incident", EntryKind.ANSWER, 1.0, comment="yes =many", subject="st.lr"),
        Entry("incident", EntryKind.ANSWER, 1.0, comment="yes", subject=""),
    ]
    notes = read(entries)
    assert (notes.given, notes.unread) == ((), 3)


@pytest.mark.parametrize(
    ("typed", "value"), [("10", 10.0), (" 2.5e-3 ", 0.0025), ("nan", None), ("inf", None), ("ten", None), ("", None)]
)
def test_a_figure_is_a_finite_number(typed: str, value: Optional[float]) -> None:
    assert number(typed) == value


def test_facts_are_figures_and_the_last_one_holds() -> None:
    entries = said(Given("fact:classes", "set", 10.0), Given("fact:classes", "set", 100.0), Given("fact:target", "set"))
    assert read(entries).facts == {"classes": 100.0}


@settings(deadline=None, max_examples=60)
@anything(st.integers(1, 60), st.data())
def test_bisecting_finds_the_first_place_that_differs(count: int, data: st.DataObject) -> None:
    names = [f"block{at}" for at in range(count)]
    wrong = data.draw(st.integers(0, count))
    entries = said(places_note("bisect-forward", names))
    for _look in range(count.bit_length() + 2):
        search = bisection(read(entries), "bisect-forward")
        assert search is not None
        if search.over:
            break
        agrees = names.index(search.next_place) < wrong
        entries += said(Given(place_subject("bisect-forward", search.next_place), "yes" if agrees else "no"))
    assert search is not None
    assert search.over
    assert search.found == (names[wrong] if wrong < count else "")


def test_a_place_that_nobody_can_look_at_is_left_out_of_the_search() -> None:
    entries = said(places_note("bisect-forward", ["a", "b", "c"]), Given("place:bisect-forward:c", "no"))
    entries += said(Given("place:bisect-forward:b", "unsure"))
    search = bisection(read(entries), "bisect-forward")
    assert search is not None
    assert (search.places, search.next_place) == (("a", "c"), "a")


def test_answers_of_an_earlier_list_of_places_do_not_count_for_a_new_one() -> None:
    entries = said(places_note("bisect-forward", ["a", "b"]), Given("place:bisect-forward:b", "no"))
    entries += said(places_note("bisect-forward", ["b", "c"]))
    search = bisection(read(entries), "bisect-forward")
    assert search is not None
    assert (search.good, search.bad, search.next_place) == (-1, None, "c")
    assert bisection(read(entries), "bisect-backward") is None


def test_names_of_places_are_kept_once_and_without_line_breaks() -> None:
    assert places_note("bisect-forward", [" a\nb ", "", "a b", "c"]).note == "a b\nc"


@pytest.mark.parametrize("names", [[], ["", " "], ["x" * 70 + str(at) for at in range(100)]])
def test_no_places_and_too_many_are_refused(names: List[str]) -> None:
    with pytest.raises(ValueError, match=str(MOST_PLACES_TEXT)):
        places_note("bisect-forward", names)


def test_the_longest_list_of_places_comes_back_whole_from_the_journal(tmp_path: object) -> None:
    names = [f"backbone.layer{at:03d}.block.conv" for at in range(120)]
    journal = Journal(str(tmp_path))
    journal.add("run", said(places_note("bisect-forward", names)))
    journal.close()
    search = bisection(read(Journal(str(tmp_path)).entries("run")["incident"]), "bisect-forward")
    assert search is not None
    assert search.places == tuple(names)
