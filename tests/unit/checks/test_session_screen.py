"""What a session shows: exact for the version, in the language asked for, harmless whatever files and persons wrote."""

from __future__ import annotations

from typing import Dict, Iterator

import pytest

from mstui import i18n
from mstui.checks.session import Case, Session, session
from mstui.checks.session_notes import Given, Pen, entry
from mstui.checks.session_screen import Screen, SessionWords
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation
from mstui.knowledge.schema import CHINESE
from mstui.knowledge.wrapping import wrap
from mstui.model.alerts import Number
from mstui.model.checks import CLASSES, ProbeResult, ProbeState

BASE = knowledge()
PEN = Pen("i", 1.0, "ann@host")
HOSTILE = "\x1b[31mred\u202e [bold]`x`\n\x00"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = i18n.current_language()
    i18n.set_language("en")
    yield
    i18n.set_language(before)


def begin(*symptoms: str, **more: object) -> Session:
    return session(BASE, Case(symptoms, **more), ())  # type: ignore[arg-type]


def ask_until(at: Session, subject: str) -> Session:
    while at.ask is not None and at.ask.subject != subject:
        at = at.plus(at.answer(PEN, "yes"))
    assert at.ask is not None, f"{subject} is never asked"
    return at


def screen(at: Session, language: str = "en") -> Screen:
    shown = SessionWords(at, language).screen()
    assert shown is not None
    return shown


@pytest.mark.parametrize("language", ["en", CHINESE])
@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_every_check_of_every_symptom_has_all_its_texts(symptom: str, language: str) -> None:
    at = begin(symptom)
    while at.ask is not None and at.ask.subject.startswith("st."):
        shown = screen(at, language)
        assert shown.part == BASE.symptoms[at.symptoms[0]].title.text(language) or at.symptoms[1:]
        assert all((shown.ask, shown.do, shown.expect, shown.why, shown.sources))
        assert [choice.word for choice in shown.choices] == ["yes", "no", "skip", "unsure"]
        at = at.plus(at.answer(PEN, "skip"))


@pytest.mark.parametrize(
    ("version", "want", "never"),
    [("1.10.1", "keep_prob=0.9", "p=0.1"), ("2.0.0", "p=0.1", "keep_prob"), ("2.3.1", "p=0.1", "keep_prob")],
)
def test_the_runs_version_chooses_the_text(version: str, want: str, never: str) -> None:
    at = ask_until(begin("loss-flat", version=version), "st.dropout")
    assert want in screen(at).code
    assert never not in screen(at).code


def test_without_a_version_both_are_told() -> None:
    shown = screen(ask_until(begin("loss-flat"), "st.dropout"))
    assert "keep_prob" in shown.do
    assert "2.x takes p" in shown.do


def test_a_fix_is_for_the_runs_version_too() -> None:
    for version, want in (("1.9.0", "keep_prob"), ("2.4.0", "p=")):
        at = begin("loss-flat", version=version)
        at = at.plus(at.judge(PEN, "dropout-inverted", "yes"))
        ending = SessionWords(at, "en").ending()
        assert ending is not None
        ((cause, _text, code),) = ending.fixes
        assert cause == "dropout-inverted"
        assert want in code


def test_a_probe_is_shown_with_its_numbers_and_what_it_offers() -> None:
    numbers: Dict[str, Number] = {"n": 9, "total": 10, "log": HOSTILE}
    probes = {"overflow-rate": ProbeResult(ProbeState.BAD, "{n} of {total} steps in {log}", numbers)}
    at = begin("loss-flat", probes=probes)
    while at.ask is not None and at.ask.subject != "st.overflow":
        at = at.plus(at.answer(PEN, "yes"))
    shown = screen(at)
    assert shown.offered == "no"
    assert shown.found.startswith("answered by itself: trouble found. 9 of 10 steps in <1b>[31mred")
    assert shown.found.isprintable()


def test_facts_that_were_read_about_the_causes_in_question_are_shown_once() -> None:
    seen = {
        "overflow-all": Observation(value=True, sentence="Every step overflowed."),
        "lr-tiny": Observation(value=True),
    }
    at = ask_until(begin("loss-flat", observations=seen), "st.overflow")
    assert screen(at).evidence == ("Every step overflowed.",)


def test_in_the_language_not_spoken_the_declared_sentence_stands_in() -> None:
    seen = {"overflow-all": Observation(value=True, sentence="Every step overflowed.")}
    at = ask_until(begin("loss-flat", observations=seen), "st.overflow")
    assert screen(at, CHINESE).evidence == (BASE.evidence["overflow-all"].yes.zh,)


def test_a_proposed_cause_is_shown_with_its_fix_and_why() -> None:
    at = ask_until(begin("loss-flat", version="2.3.0"), "st.overflow")
    at = at.plus(at.answer(PEN, "no"))
    shown = screen(at)
    cause = BASE.causes["loss-scale-bad"]
    assert shown.ask == f"Is it this: {cause.title.en}?"
    assert (shown.do, shown.code) == (cause.fix.at("2.3.0").text.en, cause.fix.at("2.3.0").code)
    assert shown.why == cause.about.en
    assert [choice.text for choice in shown.choices] == ["it is this", "it is not this", "skip", "not sure"]


def test_figures_that_would_help_are_asked_for_and_shown_once_entered() -> None:
    at = ask_until(begin("loss-huge"), "st.loss0")
    figure = screen(at).wants[0]
    assert (figure.id, figure.text, figure.value) == (CLASSES, "number of classes, or vocabulary size", None)
    at = at.plus(at.declare(PEN, CLASSES, 1000))
    assert screen(at).wants[0].value == 1000.0


def test_the_list_strikes_ruled_out_causes_through_and_never_calls_one_certain() -> None:
    at = begin("loss-flat", observations={"overflow-all": Observation(value=True)})
    lines = SessionWords(at, "en").causes()
    assert (lines[0].id, lines[0].word) == ("loss-scale-bad", "likely")
    assert lines[0].reasons[0] == (5, BASE.evidence["overflow-all"].yes.en)
    at = at.plus(at.judge(PEN, "loss-scale-bad", "no", note="scale is fixed\x1b[2J"))
    last = next(line for line in SessionWords(at, "en").causes() if line.id == "loss-scale-bad")
    assert (last.refuted, last.word) == (True, "ruled out")
    assert (-5, "scale is fixed<1b>[2J") in last.reasons
    assert {line.word for line in SessionWords(at, "en").causes()} <= {
        "likely",
        "possible",
        "not ruled out",
        "ruled out",
    }


def test_bisecting_prints_what_to_put_into_script_and_reference_for_the_version() -> None:
    for version, want in (("2.3.0", "x.mean()"), ("1.9.0", "ReduceMean")):
        at = session(BASE, Case(flow="check1#C1.2", version=version), ())
        at = at.plus(at.name_places(PEN, ["conv1", "it's \\ {place}", "fc"]))
        at = at.plus(at.answer(PEN, "no"))
        shown = screen(at)
        assert want in shown.code
        assert shown.reference.startswith("print('")
        assert "2 at most" in shown.why
        assert "\\" not in shown.code


def test_a_search_that_is_over_says_what_it_found() -> None:
    at = session(BASE, Case(flow="check1#C1.2"), ())
    at = at.plus(at.name_places(PEN, ["conv1", "fc"]))
    for word in ("no", "yes"):
        at = at.plus(at.answer(PEN, word))
    assert (screen(at).found, screen(at).offered) == ("The first place that differs is fc.", "no")
    at = session(BASE, Case(flow="check1#C1.2"), ())
    at = at.plus(at.name_places(PEN, ["conv1", "fc"]))
    at = at.plus(at.answer(PEN, "yes"))
    assert (screen(at).found, screen(at).offered) == ("All 2 places agree.", "yes")


def test_what_was_said_is_listed_with_figure_note_and_person() -> None:
    at = begin("loss-flat")
    at = at.plus(at.answer(Pen("i", 1.0, "ann\x07@host"), "unsure", note=HOSTILE))
    at = at.plus(at.declare(PEN, CLASSES, 10))
    at = at.plus(at.observe(PEN, "mix-confirmed", true=True))
    at = at.plus(at.judge(PEN, "no-shuffle", "no"))
    rows = SessionWords(at, "en").answered()
    assert rows[0][0] == BASE.steps["st.moves"].ask.en
    assert rows[0][1].startswith("not sure <1b>[31mred")
    assert rows[0][2] == "ann<07>@host"
    assert rows[1] == ("number of classes, or vocabulary size", "10", "ann@host")
    assert rows[2][0] == BASE.evidence["mix-confirmed"].yes.en
    assert rows[3][:2] == (BASE.causes["no-shuffle"].title.en, "it is not this")
    assert all(part.isprintable() for row in rows for part in row)


@pytest.mark.parametrize(
    "subject", ["st.gone", "flow:gone", "cause:gone", "fact:gone", "seen:gone", "check1:gone", HOSTILE]
)
def test_answers_about_what_a_later_version_knows_are_listed_and_decide_nothing(subject: str) -> None:
    first = begin("loss-flat")
    at = first.plus([entry(PEN, Given(subject, "yes"))])
    assert (at.ask, at.ranked, at.outcome) == (first.ask, first.ranked, first.outcome)
    ((title, word, _who),) = SessionWords(at, "en").answered()
    assert title.isprintable()
    assert word in ("yes", "it is this")


def test_nothing_is_asked_when_there_is_an_outcome() -> None:
    at = begin("loss-flat")
    assert SessionWords(at, "en").ending() is None
    at = at.plus(at.judge(PEN, "no-shuffle", "yes"))
    words = SessionWords(at, CHINESE)
    assert words.screen() is None
    ending = words.ending()
    assert ending is not None
    assert ending.title == "找到原因"
    assert ending.causes[0].title == BASE.causes["no-shuffle"].title.zh


@pytest.mark.parametrize("language", ["en", CHINESE])
def test_one_question_with_all_its_texts_leaves_half_a_small_screen_for_the_causes(language: str) -> None:
    cases = [Case((symptom,)) for symptom in BASE.symptoms] + [Case(flow=flow) for flow in BASE.flows]
    for case in cases:
        at = session(BASE, case, ())
        while at.ask is not None:
            shown = screen(at, language)
            code = shown.code.splitlines()
            lines = sum(len(wrap(text, 76)) for text in (shown.ask, shown.do, shown.expect, shown.why) if text)
            assert lines + len(code) <= 12, shown.subject
            assert all(len(line) <= 76 for line in code), shown.subject
            at = at.plus(at.answer(PEN, "no" if "no" in at.ask.choices else at.ask.choices[0]))
