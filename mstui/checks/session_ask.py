"""The question that a session asks: what it is about, what may be answered, and what is offered. It has no texts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Dict, Mapping, Optional, Tuple

from mstui.checks.session_notes import CAUSE, place_subject
from mstui.checks.session_rank import Proposal
from mstui.knowledge.bisect import Bisection
from mstui.knowledge.loader import EVERYDAY_ANSWERS
from mstui.knowledge.schema import Knowledge
from mstui.knowledge.walk import NO, YES, Place, state_at
from mstui.model.checks import CLASSES, FIRST_LOSS, TARGET, ProbeResult, ProbeState

WANTED: Mapping[str, Tuple[str, ...]] = {
    "st.loss0": (CLASSES, FIRST_LOSS),
    "st.label": (CLASSES,),
    "check1:C1.1": (FIRST_LOSS,),
    "check1:C1.3": (FIRST_LOSS,),
    "scenes:M2": (TARGET,),
    "st.late": (TARGET,),
}
"""Figures that a person can add to a question; with them its probe may tell more"""

_OFFERED = {ProbeState.OK: YES, ProbeState.BAD: NO}


class AskKind(Enum):
    """What a question is about."""

    STEP = "step"
    """a check of a symptom; `id` is the check"""
    STATE = "state"
    """a state of a flow; `id` is "flow:state" """
    CAUSE = "cause"
    """is it this cause? `id` is the cause, `steps` the checks that point to it"""
    PLACE = "place"
    """does this place agree? `id` is its name"""


@dataclass(frozen=True)
class Ask:
    """One question."""

    kind: AskKind
    id: str
    subject: str
    """what the answer is filed under in the journal"""
    choices: Tuple[str, ...] = EVERYDAY_ANSWERS
    offered: str = ""
    """the answer that was found without asking, to be confirmed; empty: none"""
    probe: Optional[ProbeResult] = None
    """what the probe of this check said, also where it offers nothing"""
    wants: Tuple[str, ...] = ()
    """ids of figures that would help"""
    assist: str = ""
    """id of the help that bisects; empty: none"""
    steps: Tuple[str, ...] = ()


def step_ask(base: Knowledge, step: str, probes: Mapping[str, ProbeResult]) -> Ask:
    """A check of a symptom."""
    probe = probes.get(base.steps[step].probe)
    return Ask(AskKind.STEP, step, step, offered=_offer(probe), probe=probe, wants=WANTED.get(step, ()))


def state_ask(
    base: Knowledge, place: Place, probes: Mapping[str, ProbeResult], search: Optional[Bisection] = None
) -> Ask:
    """A state of a flow; a search that is over offers its answer."""
    state = state_at(base, place)
    step = base.steps.get(state.step)
    name = f"{place.flow}:{place.state}"
    probe = probes.get(state.probe or (step.probe if step is not None else ""))
    wants: Dict[str, None] = dict.fromkeys((*WANTED.get(name, ()), *WANTED.get(state.step, ())))
    offered = _offer(probe)
    if probe is not None and FIRST_LOSS in wants and "theory" in probe.numbers:
        offered = ""  # the flow asks for a reference; theory is something to know, and no answer
    if search is not None:
        offered = NO if search.found else YES if search.places else ""
    return Ask(
        AskKind.STATE,
        name,
        name,
        choices=tuple(state.answers),
        offered=offered if offered in state.answers else "",
        probe=probe,
        wants=tuple(wants),
        assist=state.assist,
    )


def cause_ask(proposed: Proposal) -> Ask:
    """Is it this cause?"""
    return Ask(AskKind.CAUSE, proposed.cause, f"{CAUSE}{proposed.cause}", steps=proposed.steps)


def place_ask(assist: str, search: Bisection) -> Ask:
    """Does the next place of a search agree?"""
    name = search.next_place
    return Ask(AskKind.PLACE, name, place_subject(assist, name), assist=assist)


def _offer(probe: Optional[ProbeResult]) -> str:
    return _OFFERED.get(probe.state, "") if probe is not None else ""
