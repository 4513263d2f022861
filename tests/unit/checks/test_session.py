"""A guided check from the alert to its outcome: what is asked, what is proposed, what comes out."""

from __future__ import annotations

from random import Random
from typing import Dict, Mapping, Sequence, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.checks.session import Case, Session, session
from mstui.checks.session_ask import AskKind
from mstui.checks.session_notes import Pen
from mstui.journal import Journal
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation, questions
from mstui.knowledge.schema import OUTCOMES
from mstui.model.alerts import Symptom
from mstui.model.checks import CLASSES, FIRST_LOSS, ProbeResult, ProbeState
from mstui.model.journal import EntryKind

BASE = knowledge()
ANN, BOB = Pen("i", 1.0, "ann@host"), Pen("i", 2.0, "bob@host")
LONGEST = 2 * len(BASE.steps) + 2 * len(BASE.causes) + sum(len(flow.states) for flow in BASE.flows.values())
"""No session is longer: each check, each cause and each state at most once, with room"""


def begin(*symptoms: str, **more: object) -> Session:
    return session(BASE, Case(symptoms, **more), ())  # type: ignore[arg-type]


def say(at: Session, *words: str, pen: Pen = ANN) -> Session:
    for word in words:
        at = at.plus(at.answer(pen, word))
    return at


def until(at: Session, answers: Mapping[str, str], otherwise: str = "yes", most: int = LONGEST) -> Session:
    """Answer on: by subject, by kind of question, else with one word where it is known, until something comes out."""
    for _question in range(most):
        if at.ask is None:
            return at
        word = answers.get(at.ask.subject, answers.get(at.ask.kind.value, otherwise))
        at = say(at, word if word in at.ask.choices else at.ask.choices[0])
    message = f"no outcome after {most} answers: {at.notes.given[-5:]}"
    raise AssertionError(message)


def asked(at: Session) -> str:
    assert at.ask is not None
    return at.ask.subject


# --- one symptom


def test_it_first_asks_about_the_likeliest_cause() -> None:
    at = begin("loss-nan", observations={"overflow-before": Observation(value=True)})
    assert at.ranked[0].cause == "fp16-overflow"
    assert asked(at) == "st.overflow"
    assert at.ask is not None
    assert at.ask.kind is AskKind.STEP
    assert (at.answered, at.outcome) == (0, None)


def test_trouble_proposes_the_cause_it_accuses_and_a_yes_finds_it() -> None:
    at = begin("loss-flat")
    while asked(at) != "st.overflow":
        at = say(at, "yes")
    at = say(at, "no")
    assert (asked(at), at.ask and at.ask.steps) == ("cause:loss-scale-bad", ("st.overflow",))
    assert at.outcome is None, "it is only proposed"
    at = say(at, "yes")
    assert at.outcome is not None
    assert (at.outcome.kind, at.outcome.causes) == ("found", ("loss-scale-bad",))
    assert at.ask is None


def test_a_rejected_cause_is_struck_through_and_the_checks_go_on() -> None:
    at = begin("loss-flat")
    while asked(at) != "st.overflow":
        at = say(at, "yes")
    at = say(at, "no", "no")
    rejected = next(each for each in at.ranked if each.cause == "loss-scale-bad")
    assert rejected.refuted
    assert asked(at).startswith("st.")
    assert at.outcome is None


def test_a_cause_left_open_is_not_proposed_again() -> None:
    at = begin("loss-flat")
    while asked(at) != "st.overflow":
        at = say(at, "yes")
    at = say(at, "no", "unsure")
    seen = []
    while at.ask is not None and at.ask.kind is not AskKind.STATE:
        seen.append(asked(at))
        at = say(at, "yes")
    assert "cause:loss-scale-bad" not in seen
    assert not next(each for each in at.ranked if each.cause == "loss-scale-bad").refuted


def test_a_cause_that_trouble_only_makes_likelier_waits_for_its_own_checks() -> None:
    at = begin("loss-flat")
    while asked(at) != "st.lr":
        at = say(at, "yes")
    at = say(at, "no")
    assert asked(at) == "cause:lr-too-small"
    at = say(at, "no")
    assert asked(at).startswith("st."), "lr-too-large has checks of its own"


def test_answers_move_the_causes_at_once() -> None:
    at = begin("loss-flat")
    before = {each.cause: each.score for each in at.ranked}
    at = say(at, "no")
    after = {each.cause: each.score for each in at.ranked}
    moved = {cause for cause in before if before[cause] != after[cause]}
    assert "frozen-by-mistake" in moved
    assert at.ranked[0].cause == "frozen-by-mistake"


def test_progress_counts_answers_and_never_grows_within_a_part() -> None:
    at = begin("loss-flat")
    total = len({question.step for question in questions(BASE, ["loss-flat"])})
    assert (at.answered, at.remaining) == (0, total)
    left = total
    while at.ask is not None and at.ask.kind is AskKind.STEP:
        at = say(at, "yes")
        if at.ask is not None and at.ask.kind is AskKind.STEP:
            assert at.remaining == left - 1
            left = at.remaining
    assert at.answered == total


@pytest.mark.parametrize("word", ["skip", "unsure"])
@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_leaving_everything_out_never_finds_a_cause(symptom: str, word: str) -> None:
    at = until(begin(symptom), {}, otherwise=word)
    assert at.outcome is not None
    assert at.outcome.kind not in ("found", "pointed")
    assert not any(each.refuted for each in at.ranked)


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
@pytest.mark.parametrize("answers", [{"cause": "yes"}, {"cause": "no"}], ids=["accepting", "rejecting"])
@pytest.mark.parametrize("word", ["yes", "no"])
def test_every_symptom_comes_to_an_outcome(symptom: str, answers: Dict[str, str], word: str) -> None:
    at = until(begin(symptom), answers, otherwise=word)
    assert at.outcome is not None
    assert at.outcome.kind in (*OUTCOMES, "pointed")
    if word == "no" and answers["cause"] == "yes":
        assert at.outcome.kind == "found"


def test_every_symptom_that_is_detected_can_be_checked() -> None:
    assert {symptom.value for symptom in Symptom} <= set(BASE.symptoms)


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_every_cause_that_a_check_accuses_can_be_reached_by_answering(symptom: str) -> None:
    for question in BASE.symptoms[symptom].questions:
        at = until(begin(symptom), {question.step: "no", f"cause:{question.accuses}": "yes", "cause": "no"})
        judged = {cause: each.answer for cause, each in at.notes.about("cause:").items()}
        assert judged.get(question.accuses) == "yes", question


def test_an_incident_whose_symptom_is_not_known_begins_with_the_scenes() -> None:
    assert asked(begin("no-such-symptom")) == "scenes:M0"
    assert begin("no-such-symptom", flow="").symptoms == ()


def test_symptoms_that_joined_bring_their_checks() -> None:
    alone = {question.step for question in questions(BASE, ["loss-nan"])}
    both = begin("loss-nan", "scale-collapse")
    assert both.remaining >= len(alone)
    assert both.symptoms == ("loss-nan", "scale-collapse")


# --- probes and evidence


def until_asked(at: Session, step: str) -> Session:
    while asked(at) != step:
        at = say(at, "yes")
    return at


def test_a_probe_offers_its_answer_and_moves_the_causes_when_it_is_confirmed() -> None:
    probes = {"overflow-rate": ProbeResult(ProbeState.BAD, "{n} of {total} steps overflow", {"n": 9, "total": 10})}
    plain, probed = begin("loss-flat"), begin("loss-flat", probes=probes)
    assert probed.ranked == plain.ranked, "what it rests on is evidence already"
    at = until_asked(probed, "st.overflow")
    assert at.ask is not None
    assert at.ask.offered == "no"
    score = {each.cause: each.score for each in at.ranked}["loss-scale-bad"]
    confirmed = say(at, at.ask.offered)
    assert {each.cause: each.score for each in confirmed.ranked}["loss-scale-bad"] == score + 5
    assert asked(confirmed) == "cause:loss-scale-bad"


def test_a_persons_word_counts_more_than_a_probe() -> None:
    probes = {"overflow-rate": ProbeResult(ProbeState.BAD, "overflow")}
    at = say(until_asked(begin("loss-flat", probes=probes), "st.overflow"), "yes")
    assert not asked(at).startswith("cause:")
    assert {each.cause: each for each in at.ranked}["loss-scale-bad"].refuted


def test_a_probe_that_cannot_tell_offers_nothing() -> None:
    probes = {"overflow-rate": ProbeResult(ProbeState.UNKNOWN, "no overflow flag")}
    at = begin("loss-flat", probes=probes)
    while asked(at) != "st.overflow":
        at = say(at, "yes")
    assert at.ask is not None
    assert (at.ask.offered, at.ask.probe) == ("", probes["overflow-rate"])


def test_a_fact_that_only_a_person_knows_moves_causes_as_read_ones_do() -> None:
    at = begin("loss-spike")
    score = {each.cause: each.score for each in at.ranked}["mix-switch"]
    at = at.plus(at.observe(ANN, "mix-confirmed", true=True))
    assert {each.cause: each.score for each in at.ranked}["mix-switch"] > score


def test_figures_that_a_person_enters_are_kept_for_probes() -> None:
    at = begin("loss-huge")
    at = at.plus(at.declare(ANN, CLASSES, 10))
    at = at.plus(at.declare(BOB, FIRST_LOSS, 2.31))
    assert at.facts == {CLASSES: 10.0, FIRST_LOSS: 2.31}
    assert at.answered == 0
    at = at.plus(at.undo(ANN, "bob@host"))
    assert at.facts == {CLASSES: 10.0}


def test_something_new_seen_of_the_run_keeps_the_answers() -> None:
    at = say(begin("loss-nan"), "yes")
    later = at.seen(Case(("loss-nan", "crash"), version="2.3.0"))
    assert later.notes == at.notes
    assert later.symptoms == ("loss-nan", "crash")


def test_what_is_no_answer_here_is_refused() -> None:
    at = begin("loss-flat")
    with pytest.raises(ValueError, match="no answer here"):
        at.answer(ANN, "perhaps")
    with pytest.raises(ValueError, match="unknown fact"):
        at.declare(ANN, "weather", 1.0)
    with pytest.raises(ValueError, match="unknown evidence"):
        at.observe(ANN, "weather", true=True)
    with pytest.raises(ValueError, match="nothing to bisect"):
        at.name_places(ANN, ["a"])
    with pytest.raises(ValueError, match="weather"):
        at.judge(ANN, "weather", "yes")
    ended = at.plus(at.judge(ANN, "lr-too-large", "yes"))
    with pytest.raises(ValueError, match="no answer here"):
        ended.answer(ANN, "yes")


# --- where it goes on


def test_a_symptom_without_open_checks_leads_on_to_the_next_symptom() -> None:
    at = begin("act-saturated")
    while "grad-vanish" not in at.symptoms:
        at = say(at, "yes")
    assert at.symptoms == ("act-saturated", "grad-vanish")
    at = until(at, {})
    assert at.symptoms[:3] == ("act-saturated", "grad-vanish", "loss-slow")
    assert at.walks, "and then to a flow"


def test_a_joined_symptom_is_still_gone_on_with() -> None:
    at = until(begin("act-saturated", "grad-vanish"), {"grad-vanish": "yes"})
    assert "loss-slow" in at.symptoms


def test_accepting_a_cause_that_is_a_symptom_goes_on_with_it() -> None:
    opening = next(cause for cause in BASE.causes.values() if cause.opens)
    at = begin("loss-slow")
    at = at.plus(at.judge(ANN, opening.id, "yes"))
    assert at.outcome is None
    assert opening.opens in at.symptoms
    assert asked(at) in {question.step for question in questions(BASE, at.symptoms)}


def test_a_check_answered_for_the_symptom_is_not_asked_again_in_a_flow() -> None:
    at = until(begin("loss-flat"), {"check1:C1.0": "no"}, most=LONGEST)
    subjects = [each.subject for each in at.notes.given]
    assert "check1:C1.0" in subjects
    assert "check1:C1.N3" not in subjects, "st.lossfn was answered before"
    assert any(each.place.state == "C1.N3" for walk in at.walks for each in walk.trail)


def test_a_check_left_out_for_the_symptom_is_asked_again_in_a_flow() -> None:
    at = until(begin("loss-flat"), {"st.lossfn": "skip", "check1:C1.0": "no"})
    assert "check1:C1.N3" in [each.subject for each in at.notes.given]


def test_trouble_found_in_a_flow_points_to_causes_and_is_no_clean_end() -> None:
    at = until(session(BASE, Case(flow="checklist"), ()), {"checklist:hp.01": "no"})
    assert at.outcome is not None
    assert at.outcome.kind == "pointed"
    assert at.outcome.causes == ("lr-too-large", "lr-too-small")
    assert at.ranked[0].cause == "lr-too-large"
    at = at.plus(at.judge(ANN, "lr-too-large", "no"))
    assert at.pointed == ("lr-too-small",)


def test_a_checklist_without_trouble_ends_clean() -> None:
    at = until(session(BASE, Case(flow="checklist"), ()), {})
    assert at.outcome is not None
    assert at.outcome.kind in ("clean", "healthy")


def test_a_flow_can_begin_at_one_of_its_states() -> None:
    assert asked(session(BASE, Case(flow="check1#C1.2"), ())) == "check1:C1.2"


# --- bisecting


def at_bisection() -> Session:
    return session(BASE, Case(flow="check1#C1.2", version="2.3.0"), ())


def test_bisecting_asks_place_after_place_and_offers_the_answer_it_finds() -> None:
    at = at_bisection()
    at = at.plus(at.name_places(ANN, ["conv1", "conv2", "fc", "loss"]))
    places = []
    while at.ask is not None and at.ask.kind is AskKind.PLACE:
        places.append(at.ask.id)
        at = say(at, "yes" if at.ask.id in ("conv1", "conv2") else "no")
    assert places == ["loss", "conv2", "fc"]
    assert at.bisection is not None
    assert at.bisection.found == "fc"
    assert at.ask is not None
    assert (at.ask.subject, at.ask.offered) == ("check1:C1.2", "no")
    assert asked(say(at, at.ask.offered)) == "check1:C1.3"


def test_bisecting_where_all_agree_offers_yes() -> None:
    at = at_bisection()
    at = say(at.plus(at.name_places(ANN, ["conv1", "fc"])), "yes")
    assert at.ask is not None
    assert (at.ask.kind, at.ask.offered) == (AskKind.STATE, "yes")


def test_bisecting_comes_back_after_a_restart_and_can_be_undone() -> None:
    at = at_bisection()
    at = say(at.plus(at.name_places(ANN, ["a", "b", "c", "d", "e"])), "no")
    again = session(BASE, at.case, at.entries)
    assert again == at
    assert asked(again.plus(again.undo(ANN))) == "place:bisect-forward:e"


# --- the journal


def random_walk(random: Random, case: Case, most: int = 60) -> Session:
    at = session(BASE, case, ())
    for _step in range(most):
        if at.ask is None:
            return at
        at = say(at, random.choice(at.ask.choices), pen=random.choice((ANN, BOB)))
    return at


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(BASE.symptoms)), st.randoms(use_true_random=False))
def test_after_every_answer_the_journal_alone_gives_the_same_session(symptom: str, random: Random) -> None:
    case = Case((symptom,))
    at = random_walk(random, case, most=25)
    for count in range(len(at.entries) + 1):
        assert session(BASE, case, at.entries[:count]) == session(BASE, case, ()).plus(at.entries[:count])
    assert session(BASE, case, at.entries) == at


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([*sorted(BASE.symptoms), *(f"flow:{flow}" for flow in BASE.flows)]), st.randoms())
def test_undoing_everything_comes_back_to_the_beginning(start: str, random: Random) -> None:
    case = Case(flow=start[5:]) if start.startswith("flow:") else Case((start,))
    first = session(BASE, case, ())
    at = random_walk(random, case, most=20)
    count = len(at.notes.given)
    for _step in range(count):
        at = at.plus(at.undo(ANN))
    assert at.notes == first.notes
    assert (at.ask, at.outcome, at.ranked) == (first.ask, first.outcome, first.ranked)
    assert at.undo(ANN) == ()


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_in_which_two_persons_answer_decides_nothing(random: Random) -> None:
    case = Case(("loss-flat",))
    at = random_walk(random, case, most=20)
    shuffled = [entry for entry in at.entries if entry.kind is EntryKind.ANSWER]
    random.shuffle(shuffled)
    other = session(BASE, case, shuffled)
    assert (other.ask, other.outcome, other.answered, other.remaining) == (
        at.ask,
        at.outcome,
        at.answered,
        at.remaining,
    )
    assert [each.cause for each in other.ranked] == [each.cause for each in at.ranked]


def test_a_second_person_sees_what_the_first_has_answered(tmp_path: object) -> None:
    anns, bobs = Journal(str(tmp_path)), Journal(str(tmp_path))
    case = Case(("loss-flat",))
    at = begin("loss-flat")
    assert anns.add("run", at.answer(ANN, "yes"))
    seen = session(BASE, case, bobs.entries("run")["i"])
    assert seen.answered == 1
    assert asked(seen) != asked(at)
    assert bobs.add("run", seen.answer(BOB, "skip"))
    both = session(BASE, case, anns.entries("run")["i"])
    assert [each.who for each in both.notes.given] == ["ann@host", "bob@host"]


def test_two_persons_who_answer_the_same_question_at_once_leave_the_later_word() -> None:
    at = begin("loss-flat")
    both = (*at.answer(ANN, "yes"), *at.answer(BOB, "no"))
    after = at.plus(both)
    assert after.answered == 1
    assert asked(after).startswith("cause:")


def test_the_outcome_is_noted_when_it_comes_and_when_it_is_taken_back() -> None:
    at = begin("loss-flat")
    words = at.judge(ANN, "no-shuffle", "yes")
    assert [(each.kind, each.subject, each.comment) for each in words] == [
        (EntryKind.ANSWER, "cause:no-shuffle", "yes"),
        (EntryKind.OUTCOME, "no-shuffle", "found"),
    ]
    at = at.plus(words)
    back = at.undo(BOB)
    assert [(each.kind, each.subject, each.comment) for each in back] == [
        (EntryKind.ANSWER, "cause:no-shuffle", "undo ann@host"),
        (EntryKind.OUTCOME, "", "open"),
    ]
    assert at.plus(back).outcome is None


def outcomes(cases: Sequence[Case]) -> Tuple[str, ...]:
    random = Random(3)
    return tuple(at.outcome.kind for at in (random_walk(random, case, LONGEST) for case in cases) if at.outcome)


def test_every_kind_of_outcome_can_be_reached() -> None:
    cases = [Case(flow=flow) for flow in sorted(BASE.flows) for _again in range(12)]
    assert set(outcomes(cases)) >= {*OUTCOMES, "pointed"}
