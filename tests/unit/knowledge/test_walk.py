"""Every flow walked by machine through every branch."""

from __future__ import annotations

from random import Random
from typing import Dict, Iterator, List, Optional, Set, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.knowledge.loader import knowledge
from mstui.knowledge.schema import OUTCOMES
from mstui.knowledge.walk import (
    NO,
    SKIP,
    UNSURE,
    YES,
    Place,
    Walk,
    accused,
    answer,
    begin,
    choices,
    reachable,
    state_at,
)

BASE = knowledge()
FLOWS = sorted(BASE.flows)
LONGEST = 2 * sum(len(flow.states) for flow in BASE.flows.values())
"""No walk is longer: each state at most once, a gate at most twice"""


def run(walk: Walk, prefer: Tuple[str, ...] = (YES,)) -> Walk:
    """Answer on with the first preferred answer, else the first there is, until it ends."""
    for _step in range(LONGEST):
        if walk.ended:
            return walk
        known = choices(BASE, walk)
        walk = answer(BASE, walk, next((word for word in prefer if word in known), known[0]))
    message = f"no end after {LONGEST} answers: {walk.trail[-5:]}"
    raise AssertionError(message)


def explore(flow: str) -> Dict[Place, Walk]:
    """A walk to every place that can be reached from a flow's start, breadth first; every answer of each is tried."""
    found: Dict[Place, Walk] = {}
    seen: Set[Tuple[Place, Optional[bool]]] = set()
    queue = [begin(BASE, flow)]
    while queue:
        walk = queue.pop(0)
        found.setdefault(walk.place, walk)
        if walk.ended or (walk.place, walk.reference) in seen:
            continue
        seen.add((walk.place, walk.reference))
        queue += [answer(BASE, walk, word) for word in choices(BASE, walk)]
    return found


EXPLORED = {flow: explore(flow) for flow in FLOWS}


def edges() -> Iterator[Tuple[str, Place, str]]:
    for flow, found in EXPLORED.items():
        for place, walk in found.items():
            for word in choices(BASE, walk):
                yield flow, place, word


@pytest.mark.parametrize("flow", FLOWS)
def test_every_state_of_a_flow_is_reached_from_its_start_or_by_another_flow(flow: str) -> None:
    by_anyone = {place for found in EXPLORED.values() for place in found}
    by_anyone |= {each.place for found in EXPLORED.values() for walk in found.values() for each in walk.trail}
    missing = [state for state in BASE.flows[flow].states if Place(flow, state) not in by_anyone]
    assert missing == []
    assert all(reachable(BASE, BASE.flows[flow]).values())


@pytest.mark.parametrize("prefer", [(YES,), (NO,), (SKIP,), (UNSURE,)])
def test_after_every_single_answer_the_walk_comes_to_an_end(prefer: Tuple[str, ...]) -> None:
    count = 0
    for flow, place, word in edges():
        walk = run(answer(BASE, EXPLORED[flow][place], word), prefer)
        assert walk.outcome in (*OUTCOMES, "symptom")
        count += 1
    assert count > 400


@pytest.mark.parametrize("flow", FLOWS)
def test_every_end_of_a_flow_can_be_reached(flow: str) -> None:
    ends = {state.id for state in BASE.flows[flow].states.values() if state.is_end}
    reached = {walk.place.state for found in EXPLORED.values() for walk in found.values()
               if walk.ended and walk.place.flow == flow}  # fmt: skip
    assert ends <= reached


def test_all_kinds_of_outcomes_occur() -> None:
    outcomes = {walk.outcome for found in EXPLORED.values() for walk in found.values() if walk.ended}
    assert outcomes >= set(OUTCOMES)
    handed = {answer(BASE, EXPLORED[flow][place], word).symptom for flow, place, word in edges()} - {""}
    assert handed == {"crash", "grad-vanish", "metric-low"}


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FLOWS), st.randoms(use_true_random=False))
def test_no_walk_goes_round_in_circles(flow: str, random: Random) -> None:
    walk = begin(BASE, flow)
    while not walk.ended:
        walk = answer(BASE, walk, random.choice(choices(BASE, walk)))
        assert len(walk.trail) <= LONGEST
    asked = [each.place for each in walk.trail if not each.by_itself]
    assert len(set(asked)) == len(asked), "no state is asked twice"


def test_checks_one_to_three_pass_in_order_with_a_reference() -> None:
    walk = run(begin(BASE, "check1", "C1.0"), prefer=(YES,))
    assert (walk.outcome, walk.place) == ("found", Place("check1", "C1.port"))
    walk = begin(BASE, "check1", "C1.0")
    for word in (YES, NO, YES):  # reference; losses differ; all forward operators agree
        walk = answer(BASE, walk, word)
    assert walk.place == Place("check2", "C2.2"), "check 2's gate has seen check 1 pass"
    assert walk.trail[-1].by_itself
    walk = answer(BASE, walk, YES)
    assert walk.place == Place("check3", "C3.2")
    for word in (YES, YES, YES):
        walk = answer(BASE, walk, word)
    assert walk.place.flow == "scenes"


def test_without_a_reference_the_flow_takes_its_other_way() -> None:
    walk = answer(BASE, begin(BASE, "check1", "C1.0"), NO)
    assert walk.reference is False
    assert state_at(BASE, walk.place).step == "st.loss0"
    for _question in range(3):
        walk = answer(BASE, walk, YES)
    assert walk.place == Place("check2", "C2.N1")
    walk = answer(BASE, walk, YES)
    for _question in range(2):
        walk = answer(BASE, walk, YES)
    assert walk.place == Place("check3", "C3.N4")


def test_a_gate_sends_back_once_and_lets_pass_on_return() -> None:
    walk = answer(BASE, begin(BASE, "check2"), NO)
    assert walk.place == Place("check1", "C1.pre")
    trail: List[str] = []
    while walk.place.flow != "check2" or walk.place.state == "C2.1":
        assert not walk.ended, walk
        trail.append(walk.place.state)
        walk = answer(BASE, walk, NO if walk.place.state == "C1.1" else YES)
    assert walk.place == Place("check2", "C2.2")


def test_what_an_earlier_walk_proved_is_not_asked_again() -> None:
    walk = begin(BASE, "check3", proofs=frozenset({"check-2"}))
    assert walk.place == Place("check3", "C3.2")
    assert [each.by_itself for each in walk.trail] == [True]


def test_an_operator_that_cannot_be_replaced_is_reported_and_waited_for() -> None:
    walk = begin(BASE, "check1", "C1.2")
    for word in (NO, NO):
        walk = answer(BASE, walk, word)
    assert answer(BASE, walk, NO).outcome == "report"
    assert answer(BASE, walk, YES).outcome == "wait"
    assert answer(BASE, walk, NO).causes == ("op-precision",)


@pytest.mark.parametrize("word", [SKIP, UNSURE])
def test_leaving_a_question_out_never_claims_that_a_cause_is_found(word: str) -> None:
    claims = []
    for flow, place, said in edges():
        if said == word and answer(BASE, EXPLORED[flow][place], said).outcome == "found":
            claims.append(place)
    assert claims == []


def test_the_three_scenes_lead_three_ways() -> None:
    walk = answer(BASE, begin(BASE, "scenes", "M1"), YES)
    assert choices(BASE, walk) == ("1", "2", "3", "none")
    assert [answer(BASE, walk, word).place.flow for word in ("1", "2", "3")] == ["check1", "scene2", "scene3"]
    assert answer(BASE, walk, "none").outcome == "healthy"


def test_model_eval_skips_the_question_about_set_train() -> None:
    walk = begin(BASE, "scene3", "E2.api")
    assert answer(BASE, walk, YES).place.state == "E2.bn"
    assert answer(BASE, walk, NO).place.state == "E2"


def test_no_answers_name_the_causes_they_accuse_once() -> None:
    walk = begin(BASE, "ported-script", "P1")
    walk = answer(BASE, answer(BASE, answer(BASE, walk, NO), YES), NO)
    assert accused(BASE, walk) == ("bn-momentum-inverted", "dropout-inverted")


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="no answer here"):
        answer(BASE, begin(BASE, "check1"), "perhaps")
    with pytest.raises(ValueError, match="no answer here"):
        answer(BASE, run(begin(BASE, "check1", "C1.4")), YES)
