"""Walking a flow: where one is, what may be answered, where an answer leads. Pure values; progress is kept elsewhere.

A walk asks no state twice, so it always ends. Where it would come back to one, everything on the way is ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Dict, FrozenSet, Mapping, Optional, Tuple

from mstui.knowledge.resolve import FLOW, SYMPTOM
from mstui.knowledge.schema import Flow, Knowledge, State

YES, NO, SKIP, UNSURE = "yes", "no", "skip", "unsure"


@dataclass(frozen=True)
class Place:
    """A state of a flow."""

    flow: str
    state: str


@dataclass(frozen=True)
class Answered:
    """One answer of the trail."""

    place: Place
    answer: str
    by_itself: bool = False
    """a gate that was proved before"""


@dataclass(frozen=True)
class Walk:
    """Where a walk stands, and how it came there."""

    place: Place
    trail: Tuple[Answered, ...] = ()
    proofs: FrozenSet[str] = field(default_factory=frozenset)
    """checks that passed"""
    reference: Optional[bool] = None
    """whether there is a reference implementation; None: not asked yet"""
    outcome: str = ""
    """one of schema.OUTCOMES once it has ended; "symptom" when it goes on with one"""
    causes: Tuple[str, ...] = ()
    """causes that the end names"""
    symptom: str = ""
    """symptom to go on with"""

    @property
    def ended(self) -> bool:
        """Whether nothing is asked any more."""
        return bool(self.outcome)


def state_at(base: Knowledge, place: Place) -> State:
    """The state of a place that the knowledge has."""
    return base.flows[place.flow].states[place.state]


def parse_place(base: Knowledge, target: str, current: str = "") -> Place:
    """A target such as "flow:check1", "flow:check1#C1.2", or the id of a state of the current flow."""
    if target.startswith(FLOW):
        name, _hash, state = target[len(FLOW) :].partition("#")
        return Place(name, state or base.flows[name].start)
    return Place(current, target)


def begin(
    base: Knowledge,
    flow: str,
    state: str = "",
    *,
    reference: Optional[bool] = None,
    proofs: FrozenSet[str] = frozenset(),
) -> Walk:
    """A walk at the start of a flow, or at one of its states, with what is known from earlier walks."""
    start = Place(flow, state or base.flows[flow].start)
    return _enter(base, Walk(start, reference=reference, proofs=proofs), start)


def accused(base: Knowledge, walk: Walk) -> Tuple[str, ...]:
    """Causes that the walk's "no" answers accuse, in the order of the answers, each once."""
    found: Dict[str, None] = {}
    for each in walk.trail:
        if each.answer == NO:
            found.update(dict.fromkeys(state_at(base, each.place).accuses))
    return tuple(found)


def choices(base: Knowledge, walk: Walk) -> Tuple[str, ...]:
    """What may be answered here; empty when the walk has ended."""
    return () if walk.ended else tuple(state_at(base, walk.place).answers)


def answer(base: Knowledge, walk: Walk, said: str) -> Walk:
    """The walk after an answer. Raises ValueError when it has ended or does not know the answer."""
    state = None if walk.ended else state_at(base, walk.place)
    if state is None or said not in state.answers:
        message = f"{said!r} is no answer here"
        raise ValueError(message)
    return _follow(base, walk, state, said, by_itself=False)


def _follow(base: Knowledge, walk: Walk, state: State, said: str, *, by_itself: bool) -> Walk:
    proofs, reference = walk.proofs, walk.reference
    if state.passes and said in (YES, SKIP):
        proofs = proofs | {state.passes}
    if state.asks_reference and not by_itself:
        reference = said == YES
    went = replace(walk, trail=(*walk.trail, Answered(walk.place, said, by_itself)), proofs=proofs, reference=reference)
    target = state.answers[said]
    if target.startswith(SYMPTOM):
        return replace(went, outcome="symptom", symptom=target[len(SYMPTOM) :], causes=state.accuses)
    return _enter(base, went, parse_place(base, target, walk.place.flow))


def _enter(base: Knowledge, walk: Walk, place: Place) -> Walk:
    state = state_at(base, place)
    if state.without_reference and walk.reference is False:
        return _enter(base, walk, Place(place.flow, state.without_reference))
    here = replace(walk, place=place)
    if state.is_end:
        return replace(here, outcome=state.outcome, causes=state.accuses)
    been = any(each.place == place for each in walk.trail)
    if state.gate and (been or state.gate in walk.proofs):
        once = sum(each.place == place and each.by_itself for each in walk.trail)
        return replace(here, outcome="clean") if once else _follow(base, here, state, YES, by_itself=True)
    return replace(here, outcome="clean") if been else here


def reachable(base: Knowledge, flow: Flow) -> Mapping[str, bool]:
    """Each state of a flow, and whether some other state leads to it or it is a start; for tests and the manual."""
    led: Dict[str, bool] = {state: state == flow.start for state in flow.states}
    for other in base.flows.values():
        for state in other.states.values():
            for target in state.answers.values():
                if not target.startswith(SYMPTOM):
                    place = parse_place(base, target, other.id)
                    if place.flow == flow.id:
                        led[place.state] = True
            if other.id == flow.id and state.without_reference:
                led[state.without_reference] = True
    return led
