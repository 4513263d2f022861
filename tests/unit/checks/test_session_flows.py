"""Every flow walked by machine through every branch, as a session that a person answers."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Set, Tuple

import pytest

from mstui.checks.session import Case, Session, session
from mstui.checks.session_ask import AskKind
from mstui.checks.session_notes import Given, Pen, entry
from mstui.checks.session_screen import SessionWords
from mstui.knowledge.loader import knowledge
from mstui.knowledge.schema import CHINESE, OUTCOMES
from mstui.model.journal import Entry

BASE = knowledge()
PEN = Pen("i", 1.0, "ann@host")
FLOWS = sorted(BASE.flows)
LONGEST = sum(len(flow.states) for flow in BASE.flows.values()) + len(BASE.steps)
VERSIONS = ("", "1.10.1", "2.0.0", "2.3.1", "2.7.0")

Spot = Tuple[str, Optional[bool]]
"""The subject that is asked, and whether there is a reference: what the way on depends on"""


def say(at: Session, word: str) -> Session:
    return at.plus(at.answer(PEN, word))


def spot(at: Session) -> Spot:
    assert at.ask is not None
    return at.ask.subject, at.walks[-1].reference if at.walks else None


def explore(flow: str) -> Dict[Spot, Session]:
    """A session at every question that can be reached from a flow's start, by the fewest answers."""
    found: Dict[Spot, Session] = {}
    queue = [session(BASE, Case(flow=flow), ())]
    while queue:
        at = queue.pop(0)
        if at.ask is None or at.ask.kind is not AskKind.STATE or spot(at) in found:
            continue
        found[spot(at)] = at
        queue += [say(at, word) for word in at.ask.choices]
    return found


EXPLORED = {flow: explore(flow) for flow in FLOWS}


def branches() -> Iterator[Tuple[str, Session, str]]:
    for flow, found in EXPLORED.items():
        for at in found.values():
            assert at.ask is not None
            for word in at.ask.choices:
                yield flow, at, word


def everything(prefer: str) -> Tuple[Entry, ...]:
    """One word on every question that there is; answers said after it hold instead."""
    words = {f"cause:{cause}": "no" if prefer in ("yes", "no") else prefer for cause in BASE.causes}
    words.update(dict.fromkeys(BASE.steps, prefer))
    for flow in BASE.flows.values():
        for state in flow.states.values():
            if state.answers:
                words[f"{flow.id}:{state.id}"] = prefer if prefer in state.answers else next(iter(state.answers))
    return tuple(entry(PEN, Given(subject, word)) for subject, word in words.items())


def test_every_question_of_every_flow_is_asked_by_some_session() -> None:
    subjects = {subject for found in EXPLORED.values() for subject, _reference in found}
    questions = {f"{flow.id}:{state.id}" for flow in BASE.flows.values() for state in flow.states.values()
                 if not state.is_end and not state.gate}  # fmt: skip
    assert questions <= subjects


@pytest.mark.parametrize("prefer", ["yes", "no", "skip", "unsure"])
def test_after_every_single_answer_a_session_comes_to_an_outcome(prefer: str) -> None:
    rest = everything(prefer)
    count = 0
    for _flow, at, word in branches():
        after = session(BASE, at.case, (*rest, *at.entries, *at.answer(PEN, word)))
        assert after.ask is None, "every question is answered, so none can be left"
        assert after.outcome is not None
        assert after.outcome.kind in (*OUTCOMES, "pointed")
        count += 1
    assert count > 400


@pytest.mark.parametrize("prefer", ["yes", "no"])
@pytest.mark.parametrize("flow", FLOWS)
def test_no_question_of_a_flow_is_asked_twice(flow: str, prefer: str) -> None:
    at = session(BASE, Case(flow=flow), ())
    seen: List[str] = []
    while at.ask is not None:
        seen.append(at.ask.subject)
        assert len(set(seen)) == len(seen) <= LONGEST
        at = say(at, prefer if prefer in at.ask.choices else at.ask.choices[0])


def test_every_end_of_every_flow_is_reached_and_has_words_in_both_languages() -> None:
    reached: Set[Tuple[str, str]] = set()
    for _flow, at, word in branches():
        after = say(at, word)
        if after.outcome is not None and after.outcome.place is not None:
            reached.add((after.outcome.place.flow, after.outcome.place.state))
            for language in ("en", CHINESE):
                ending = SessionWords(after, language).ending()
                assert ending is not None
                assert ending.title
                assert ending.said
                assert ending.report == (after.outcome.kind == "report")
                assert len(ending.fixes) == len(ending.causes) == len(after.outcome.causes)
                assert all(fix for _cause, fix, _code in ending.fixes)
    ends = {(flow.id, state.id) for flow in BASE.flows.values() for state in flow.states.values() if state.is_end}
    assert reached == ends


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("language", ["en", CHINESE])
def test_every_question_of_every_flow_says_what_to_do(language: str, version: str) -> None:
    for found in EXPLORED.values():
        for at in found.values():
            shown = SessionWords(at.seen(Case(flow=at.case.flow, version=version)), language).screen()
            assert shown is not None
            assert shown.ask
            assert shown.do
            assert shown.part
            assert shown.sources
            assert len({choice.text for choice in shown.choices}) == len(shown.choices) >= 2


@pytest.mark.parametrize("word", ["skip", "unsure"])
def test_leaving_a_question_out_never_finds_a_cause(word: str) -> None:
    for _flow, at, said in branches():
        if said == word:
            after = say(at, said)
            assert after.outcome is None or after.outcome.kind != "found"


def test_every_branch_is_the_same_when_it_is_rebuilt_from_the_journal_and_can_be_undone() -> None:
    for _flow, at, word in branches():
        after = say(at, word)
        assert session(BASE, at.case, after.entries) == after
        back = after.plus(after.undo(PEN))
        assert (back.ask, back.outcome) == (at.ask, at.outcome)


def test_a_draft_for_the_maintainers_is_due_where_an_operator_cannot_be_replaced() -> None:
    at = session(BASE, Case(flow="check1#C1.2"), ())
    for word in ("no", "no", "no"):
        at = say(at, word)
    ending = SessionWords(at, "en").ending()
    assert ending is not None
    assert (ending.report, ending.causes[0].id) == (True, "op-precision")
