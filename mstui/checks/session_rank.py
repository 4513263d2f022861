"""What a person's words do to the causes of a session, which cause is proposed, and how a session ends. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from mstui.checks.session_notes import CAUSE, Notes
from mstui.knowledge.ranking import ACCUSES, ALSO_ACCUSES, REFUTES, Ranked, Reason, Verdict, questions
from mstui.knowledge.schema import Knowledge, Pair
from mstui.knowledge.walk import NO, SKIP, UNSURE, YES, Place, Walk, state_at

FOUND, CLEAN, REPORT, WAIT, HEALTHY = "found", "clean", "report", "wait", "healthy"
POINTED = "pointed"
"""Nothing is left to ask, and trouble found on the way points to causes that nobody accepted yet"""

_VERDICTS = {YES: Verdict.OK, NO: Verdict.BAD, SKIP: Verdict.SKIPPED, UNSURE: Verdict.UNSURE}


@dataclass(frozen=True)
class Outcome:
    """How a session ended."""

    kind: str
    """one of schema.OUTCOMES, or POINTED"""
    causes: Tuple[str, ...] = ()
    """likeliest first"""
    place: Optional[Place] = None
    """the end of a flow whose words say what it means"""
    say: Optional[Pair] = None
    """what the symptom says when its checks are through"""


@dataclass(frozen=True)
class Proposal:
    """A cause that trouble points to, for a person to accept or reject."""

    cause: str
    steps: Tuple[str, ...]
    """checks that found the trouble"""


def verdicts(base: Knowledge, notes: Notes, walks: Sequence[Walk]) -> Dict[str, Verdict]:
    """Check to verdict: a person's word on it, else the same check answered in a flow."""
    found: Dict[str, Verdict] = {}
    for walk in walks:
        for answered in walk.trail:
            step = state_at(base, answered.place).step
            if step and answered.answer in _VERDICTS:
                found[step] = _VERDICTS[answered.answer]
    said = notes.answers
    found.update({step: _VERDICTS[word] for step, word in said.items() if step in base.steps and word in _VERDICTS})
    return found


def with_words(base: Knowledge, ranked: Sequence[Ranked], walks: Sequence[Walk], notes: Notes) -> Tuple[Ranked, ...]:
    """The causes with what flows accuse and what a person rejected, in their new order."""
    cases: Dict[str, Ranked] = {each.cause: each for each in ranked}
    for walk in walks:
        for answered in walk.trail:
            if answered.answer == NO:
                _accuse(base, cases, answered.place)
    for cause, given in notes.about(CAUSE).items():
        if given.answer == NO and cause in base.causes:
            reason = Reason(f"{CAUSE}{cause}", -REFUTES, base.labels["refuted"], given.note)
            cases[cause] = replace(_moved(base, cases, cause, reason), refuted=True)
    return tuple(sorted(cases.values(), key=lambda each: (each.refuted, -each.score)))


def proposal(
    base: Knowledge, symptoms: Sequence[str], ranked: Sequence[Ranked], said: Mapping[str, Verdict], notes: Notes
) -> Optional[Proposal]:
    """The likeliest cause that trouble accuses and nobody has judged yet.

    One that trouble only makes likelier as well waits until its own checks are answered.
    """
    judged = notes.about(CAUSE)
    asked = questions(base, symptoms)
    bad = [question for question in asked if said.get(question.step) is Verdict.BAD]
    for each in ranked:
        if each.refuted or each.cause in judged:
            continue
        steps = [question.step for question in bad if question.accuses == each.cause]
        if not steps and not any(q.accuses == each.cause and q.step not in said for q in asked):
            steps = [question.step for question in bad if each.cause in question.also]
        if steps:
            return Proposal(each.cause, tuple(dict.fromkeys(steps)))
    return None


def _accuse(base: Knowledge, cases: Dict[str, Ranked], place: Place) -> None:
    """What trouble at a state of a flow does to the causes that it names; the first is the one it accuses."""
    state = state_at(base, place)
    step = base.steps.get(state.step)
    text = step.ask if step is not None else state.ask
    name = state.step or f"{place.flow}:{place.state}"
    for at, cause in enumerate(state.accuses):
        reason = Reason(name, ALSO_ACCUSES if at else ACCUSES, text)
        cases[cause] = _moved(base, cases, cause, reason)


def _moved(base: Knowledge, cases: Mapping[str, Ranked], cause: str, reason: Reason) -> Ranked:
    known = cases.get(cause)
    if known is None:
        known = Ranked(cause, 0, 0, base.causes[cause].about, (), refuted=False)
    if any(each.id == reason.id for each in known.reasons):
        return known  # the same check has moved it already
    reasons: List[Reason] = sorted((*known.reasons, reason), key=lambda each: -abs(each.points))
    return replace(known, score=known.score + reason.points, reasons=tuple(reasons))
