"""The parts of a guided check that need no screen: rows, the list of causes, what is held, the line to type in."""

from __future__ import annotations

from typing import List, Tuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.checks.session import Case, Session, session
from mstui.checks.session_notes import Given, Pen, entry
from mstui.checks.session_screen import CauseLine, Figure, SessionWords
from mstui.i18n import set_language
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation
from mstui.model.checks import CLASSES, FIRST_LOSS, ProbeResult, ProbeState
from mstui.safe_text import width
from mstui.tui import check_rows
from mstui.tui.check_causes import BAR_CELLS, CausesPane, bar
from mstui.tui.check_entry import FiguresEntry, PlacesEntry
from mstui.tui.check_live import Standing, accepted, take
from mstui.tui.check_rows import Style, answer_of, ending_groups, places_text, question_groups, stacked
from mstui.tui.lines import Row

BASE = knowledge()
PEN = Pen("i", 1.0, "ann@host")
STYLE = Style(76, ascii_only=False)
SCREEN_ROWS = 19
"""what the window leaves for a question at 80x24"""


def begin(*symptoms: str, entries: Tuple[Given, ...] = (), **more: object) -> Session:
    return session(BASE, Case(symptoms, **more), [entry(PEN, each) for each in entries])  # type: ignore[arg-type]


def text_of(rows: List[Row]) -> str:
    return "\n".join("".join(text for text, _look in row) for row in rows)


def shown(at: Session, style: Style = STYLE, room: int = SCREEN_ROWS, language: str = "en") -> List[Row]:
    words = SessionWords(at, language)
    screen = words.screen()
    assert screen is not None
    return stacked(question_groups(at, words, screen, style, room), room)


def ended(at: Session, language: str) -> List[Row]:
    words = SessionWords(at, language)
    ending = words.ending()
    assert ending is not None
    return stacked(ending_groups(at, words, ending, 0, accepted(at), STYLE), SCREEN_ROWS)


# --- rows


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_every_question_of_every_symptom_fits_80x24(symptom: str, language: str) -> None:
    set_language(language)
    try:
        at = begin(symptom)
        for _ in range(60):
            if at.ask is None:
                break
            rows = shown(at, language=language)
            assert len(rows) <= SCREEN_ROWS, at.ask.id
            assert all(sum(width(text) for text, _look in row) <= STYLE.columns for row in rows), at.ask.id
            at = at.plus(at.answer(PEN, "skip" if "skip" in at.ask.choices else at.ask.choices[0]))
    finally:
        set_language("en")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("flow", sorted(BASE.flows))
def test_every_state_of_every_flow_fits_80x24(flow: str, language: str) -> None:
    set_language(language)
    try:
        for state in BASE.flows[flow].states.values():
            at = session(BASE, Case(flow=f"{flow}#{state.id}"), ())
            rows = shown(at, language=language) if at.ask is not None else ended(at, language)
            assert len(rows) <= SCREEN_ROWS or state.is_end, state.id
            assert all(sum(width(text) for text, _look in row) <= STYLE.columns for row in rows), state.id
    finally:
        set_language("en")


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("cause", sorted(BASE.causes))
def test_every_cause_that_is_found_fits_80x24_with_its_fix(cause: str, language: str) -> None:
    set_language(language)
    try:
        at = begin(next(key for key, each in BASE.symptoms.items() if any(s.cause == cause for s in each.suspects)))
        at = at.plus(at.judge(PEN, cause, "yes"))
        if at.ask is None:
            rows = ended(at, language)
            assert len(rows) <= SCREEN_ROWS
            assert BASE.causes[cause].title.text(language) in text_of(rows)
    finally:
        set_language("en")


def test_facts_that_do_not_fit_are_counted() -> None:
    seen = {
        key: Observation(value=True, sentence=f"the fact {key} " + "was seen in so many words, " * 9)
        for key in BASE.evidence
    }
    at = begin("loss-flat", observations=seen)
    small, large = text_of(shown(at)), text_of(shown(at, room=200))
    assert "more facts stand with the causes: c" in small
    assert "more facts" not in large
    assert large.count("the fact") > small.count("the fact") >= check_rows.LEAST_FACTS


def test_code_is_never_shortened() -> None:
    at = begin("loss-flat")
    for _ in range(20):
        assert at.ask is not None
        words = SessionWords(at, "en")
        screen = words.screen()
        assert screen is not None
        rows = Style(40, ascii_only=False).code(screen.code)
        drawn = "".join(text_of([row]).strip() for row in rows)
        assert drawn.replace(" ", "") == "".join(screen.code.split())
        at = at.plus(at.answer(PEN, "skip"))
        if at.ask is None or not at.ask.subject.startswith("st."):
            break


def test_keys_of_answers() -> None:
    assert [answer_of(("yes", "no", "skip", "unsure"), key) for key in "ynsu1"] == ["yes", "no", "skip", "unsure", ""]
    assert [answer_of(("1", "2", "3", "none"), key) for key in "1234y"] == ["1", "2", "3", "none", ""]


def test_blank_rows_are_given_up_before_anything_else() -> None:
    groups: List[List[Row]] = [[(("a", "text"),)], [(("b", "text"),)], [(("c", "text"),)]]
    assert len(stacked(groups, 5)) == 5
    assert len(stacked(groups, 4)) == 3


def test_a_long_list_of_places_names_both_ends() -> None:
    assert places_text(["a", "b"]) == "a, b"
    assert places_text([f"p{i}" for i in range(40)]) == "p0, p1, p2, ..., p37, p38, p39  (40 places)"


# --- causes


def line(name: str, score: int = 3, *, refuted: bool = False) -> CauseLine:
    return CauseLine(name, f"Title of {name}", "possible", score, refuted=refuted, reasons=((2, "because"),))


def test_a_ruled_out_cause_is_struck_through_and_says_so() -> None:
    lines = (line("a"), CauseLine("b", "Title of b", "ruled out", 0, refuted=True, reasons=()))
    rows = CausesPane().rows(lines, STYLE, 12, focused=False)
    struck = [text for row in rows for text, look in row if "struck" in look]
    assert struck == ["Title of b"]
    assert "ruled out" in text_of(rows)


def test_the_selection_stays_on_its_cause_while_the_order_changes() -> None:
    pane = CausesPane()
    lines = [line("a"), line("b"), line("c")]
    pane.move(lines, 1)
    assert pane.current(lines[::-1]) == lines[1]
    pane.move(lines[::-1], 5)
    assert pane.selected == "a"
    assert pane.current([]) is None


@given(st.integers(1, 40), st.integers(0, 39), st.integers(1, 30))
def test_the_selected_cause_is_always_on_the_screen(number: int, selected: int, height: int) -> None:
    lines = [line(f"c{i}") for i in range(number)]
    pane = CausesPane()
    pane.move(lines, selected)
    rows = pane.rows(lines, Style(50, ascii_only=True), height, focused=True)
    assert len(rows) <= height
    if height >= 4:
        assert any(text.startswith(">") for row in rows[1:] for text, _look in row[:1])
    assert all(sum(width(text) for text, _look in row) <= 50 for row in rows)


@pytest.mark.parametrize(("score", "cells"), [(-9, 0), (0, 0), (6, 3), (12, 6), (99, 6)])
def test_a_bar_grows_with_the_score_and_has_an_end(score: int, cells: int) -> None:
    assert bar(score, ascii_only=True) == "#" * cells + "." * (BAR_CELLS - cells)
    assert len(bar(score, ascii_only=False)) == BAR_CELLS


# --- what is held, what is taken


def test_the_first_session_is_taken_as_it_is() -> None:
    fresh = begin("loss-flat")
    assert take(None, fresh).session is fresh


def test_the_question_is_held_while_nobody_has_said_anything() -> None:
    before = begin("loss-flat")
    fresh = begin("loss-flat", observations={"loss-at-chance": Observation(value=True)},
                  probes={"lr-range": ProbeResult(ProbeState.BAD, "")})  # fmt: skip
    assert fresh.ask is not None
    assert before.ask is not None
    assert fresh.ask.subject != before.ask.subject, "otherwise nothing is tested"
    held = take(before, fresh).session
    assert held.ask is not None
    assert held.ask.subject == before.ask.subject
    assert held.ranked == fresh.ranked


def test_a_held_question_is_offered_what_its_probe_says_now() -> None:
    before = begin("loss-flat")
    assert before.ask is not None
    probe = BASE.steps[before.ask.id].probe
    assert probe
    held = take(before, begin("loss-flat", probes={probe: ProbeResult(ProbeState.OK, "fine")})).session
    assert held.ask is not None
    assert (before.ask.offered, held.ask.offered) == ("", "yes")


def test_another_persons_word_is_taken_at_once() -> None:
    before = begin("loss-flat")
    assert before.ask is not None
    fresh = begin("loss-flat", entries=(Given(before.ask.subject, "yes"),))
    taken = take(before, fresh)
    assert taken.session is fresh
    assert [given.who for given in taken.by_others] == ["ann@host"]


def test_an_outcome_is_held_and_says_that_there_is_more_to_ask() -> None:
    ended = begin("loss-flat")
    while ended.ask is not None:
        ended = ended.plus(ended.answer(PEN, "yes"))
    fresh = session(BASE, Case(("loss-flat", "loss-nan")), ended.entries)
    standing = Standing()
    standing.take(ended)
    standing.take(fresh)
    assert standing.session is not None
    if fresh.ask is None:
        pytest.skip("nothing more to ask")
    assert standing.more
    assert standing.session.outcome == ended.outcome
    standing.go_on()
    assert standing.session.ask is not None
    assert not standing.more


def test_what_was_said_here_outlives_an_older_answer_of_the_monitor() -> None:
    standing = Standing()
    fresh = begin("loss-flat")
    standing.take(fresh)
    assert standing.session is not None
    standing.say(standing.session.answer(PEN, "yes"))
    asked = standing.session.ask
    standing.take(fresh)
    assert standing.session.ask == asked
    assert standing.session.answered == 1
    standing.take(session(BASE, fresh.case, standing.session.entries))
    assert standing.session.answered == 1


def test_the_same_word_said_twice_at_the_same_second_is_kept_twice() -> None:
    standing = Standing()
    fresh = begin("loss-flat")
    standing.take(fresh)
    for _ in range(2):
        assert standing.session is not None
        standing.say(standing.session.answer(PEN, "yes"))
        standing.say(standing.session.undo(PEN, "ann@host"))
    standing.take(fresh)
    assert standing.session is not None
    assert standing.session.answered == 0


# --- the line to type in


def typed(line_: object, text: str) -> None:
    for character in text:
        line_.press(character, character)  # type: ignore[attr-defined]


def test_figures_are_asked_for_one_after_the_other_the_missing_first() -> None:
    figures = (Figure(CLASSES, "classes", 10.0), Figure(FIRST_LOSS, "first loss", None))
    entry_ = FiguresEntry(figures, STYLE)
    assert entry_.label == "first loss:"
    typed(entry_, "2.3")
    entry_.press("enter", None)
    assert entry_.label == "classes (10):"
    entry_.press("enter", None)
    assert entry_.done
    assert entry_.values == [(FIRST_LOSS, 2.3)]


@pytest.mark.parametrize("text", ["ten", "nan", "inf", "1e999"])
def test_what_is_no_finite_number_is_not_taken(text: str) -> None:
    entry_ = FiguresEntry((Figure(CLASSES, "classes", None),), STYLE)
    typed(entry_, text)
    entry_.press("enter", None)
    assert not entry_.done
    assert "a number" in text_of(entry_.rows(STYLE))
    entry_.press("escape", None)
    assert entry_.done
    assert not entry_.values


def test_places_come_typed_pasted_and_from_the_run_each_once() -> None:
    places = PlacesEntry((), ("conv1", "fc"))
    typed(places, "stem, conv1")
    places.press("enter", None)
    places.paste("conv1\nblock2\r\nblock3")
    places.press("tab", None)
    assert places.names == ["stem", "conv1", "block2", "block3", "fc"]
    places.press("backspace", None)
    assert places.names[-1] == "block3"
    places.press("enter", None)
    assert places.done
    assert not places.left


def test_an_empty_list_of_places_is_left() -> None:
    places = PlacesEntry((), ())
    places.press("enter", None)
    assert places.done
    assert places.left


def test_more_places_than_the_journal_keeps_are_refused() -> None:
    places = PlacesEntry((), ())
    places.paste("\n".join(f"block{i:04d}" for i in range(1000)))
    typed(places, "x")
    places.press("enter", None)
    assert not places.done
    assert "more than one entry can keep" in text_of(places.rows(STYLE))


def test_a_reason_that_is_a_check_says_how_it_was_answered() -> None:
    at = begin("loss-flat", entries=(Given("st.lr", "no"), Given("st.init", "yes")))
    lines = {line.id: line for line in SessionWords(at, "en").causes()}
    assert "Is the learning rate sane now? no" in [said for _points, said in lines["lr-too-small"].reasons]
    assert any(said.endswith("sane? yes") for _points, said in lines["init-zero"].reasons)
