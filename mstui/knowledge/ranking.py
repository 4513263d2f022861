"""Which cause is likeliest: prior, plus evidence, plus answered checks. Pure: the same input gives the same order.

It computes no evidence. What is not known moves nothing, and a cause that was ruled out stays in the list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from mstui.knowledge.schema import Knowledge, Pair, Question, Suspect

LIKELY_FROM = 6
"""Score from which a cause is called likely"""
POSSIBLE_FROM = 3
"""Score from which it is called possible; below, it is not ruled out"""
REFUTES = 5
"""Points that the checks of a cause take away together when all are as expected"""
ACCUSES = 5
"""Points that a check with trouble gives the cause that it accuses"""
ALSO_ACCUSES = 3
"""Points that it gives the causes it makes likelier as well"""
ALSO_CLEARS = 2
"""Points that such a check takes from those when all is as expected: it spoke of them, but not of them alone"""
FOLLOWER = 2
"""Points less in the prior of a cause that only later symptoms of an incident suspect"""


class Verdict(Enum):
    """How a check came out, whoever answered it."""

    OK = "ok"
    """as expected"""
    BAD = "bad"
    """trouble found"""
    SKIPPED = "skipped"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Observation:
    """What is known of one fact."""

    value: Optional[bool]
    """None: could not be told"""
    sentence: str = ""
    """the fact in words with its numbers, in the language spoken; empty: the declared sentence will do"""
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Reason:
    """One thing that moved a cause."""

    id: str
    """of the evidence or of the check"""
    points: int
    text: Pair
    """the declared sentence"""
    observed: str = ""
    """the observation's own sentence, better where there is one"""

    def said(self, language: str) -> str:
        """What to show."""
        return self.observed or self.text.text(language)


@dataclass(frozen=True)
class Ranked:
    """A cause with its score and what moved it."""

    cause: str
    prior: int
    score: int
    why: Pair
    reasons: Tuple[Reason, ...]
    refuted: bool
    """its checks were all as expected: shown struck through, never left out"""

    @property
    def hidden(self) -> bool:
        """Below 0 without having been checked: not worth a line."""
        return self.score < 0 and not self.refuted

    @property
    def word(self) -> str:
        """Label id of how sure one may be; nothing is ever called certain."""
        if self.refuted:
            return "refuted"
        if self.score >= LIKELY_FROM:
            return "likely"
        return "possible" if self.score >= POSSIBLE_FROM else "not-ruled-out"


@dataclass
class _Case:
    prior: int
    why: Pair
    weights: Dict[Tuple[str, bool], int] = field(default_factory=dict)


def rank(
    base: Knowledge,
    symptoms: Sequence[str],
    observations: Mapping[str, Observation],
    verdicts: Mapping[str, Verdict],
) -> Tuple[Ranked, ...]:
    """The causes of an incident, likeliest first and refuted ones last.

    `symptoms` holds the incident's own symptom first, then those that joined it; unknown ids are passed over. Equal
    scores keep the documented order.
    """
    cases = _cases(base, symptoms)
    asked = questions(base, symptoms)
    ranked: List[Ranked] = []
    for cause, case in cases.items():
        moved = [*_evidence(base, case, observations), *_checks(base, cause, asked, verdicts)]
        ranked.append(
            Ranked(
                cause=cause,
                prior=case.prior,
                score=case.prior + sum(reason.points for reason in moved),
                why=case.why,
                reasons=tuple(sorted(moved, key=lambda reason: -abs(reason.points))),
                refuted=_refuted(cause, asked, verdicts),
            )
        )
    return tuple(sorted(ranked, key=lambda each: (each.refuted, -each.score)))


def questions(base: Knowledge, symptoms: Sequence[str]) -> Tuple[Question, ...]:
    """The checks of an incident in documented order, each step and accusation once."""
    found: Dict[Tuple[str, str], Question] = {}
    for symptom in symptoms:
        if symptom in base.symptoms:
            for question in base.symptoms[symptom].questions:
                found.setdefault((question.step, question.accuses), question)
    return tuple(found.values())


def next_step(
    base: Knowledge, symptoms: Sequence[str], ranked: Sequence[Ranked], verdicts: Mapping[str, Verdict]
) -> Optional[str]:
    """The check to ask next: the first open one about the likeliest cause; None when all are answered."""
    open_ones = [question for question in questions(base, symptoms) if question.step not in verdicts]
    for each in ranked:
        if each.refuted or each.score < 0:
            continue
        for question in open_ones:
            if question.accuses == each.cause:
                return question.step
        for question in open_ones:
            if each.cause in question.also:
                return question.step
    return open_ones[0].step if open_ones else None


def _cases(base: Knowledge, symptoms: Sequence[str]) -> Dict[str, _Case]:
    """Suspects of all symptoms; the first symptom that weighs a fact for a cause decides its weight."""
    cases: Dict[str, _Case] = {}
    known = [base.symptoms[symptom] for symptom in symptoms if symptom in base.symptoms]
    for at, symptom in enumerate(known):
        for suspect in symptom.suspects:
            _join(cases, suspect, suspect.prior - (FOLLOWER if at else 0))
    return cases


def _join(cases: Dict[str, _Case], suspect: Suspect, prior: int) -> None:
    case = cases.setdefault(suspect.cause, _Case(prior, suspect.why))
    case.prior = max(case.prior, prior)
    for weight in suspect.weights:
        case.weights.setdefault((weight.evidence, weight.when), weight.points)


def _evidence(base: Knowledge, case: _Case, observations: Mapping[str, Observation]) -> List[Reason]:
    found = []
    for (key, when), points in case.weights.items():
        seen = observations.get(key)
        if seen is not None and seen.value is when:
            declared = base.evidence[key]
            text = declared.yes if when else (declared.no or declared.yes)
            found.append(Reason(key, points, text, seen.sentence))
    return found


def _checks(base: Knowledge, cause: str, asked: Sequence[Question], verdicts: Mapping[str, Verdict]) -> List[Reason]:
    """What answered checks do to a cause, each step once: an accusation counts before a mention."""
    about = [question for question in asked if question.accuses == cause]
    share = -(-REFUTES // len(about)) if about else 0
    points: Dict[str, int] = {}
    for question in about:
        verdict = verdicts.get(question.step)
        if verdict is Verdict.BAD:
            points[question.step] = ACCUSES
        elif verdict is Verdict.OK:
            points[question.step] = -share
    for question in asked:
        verdict = verdicts.get(question.step)
        if cause in question.also and verdict in (Verdict.BAD, Verdict.OK):
            points.setdefault(question.step, ALSO_ACCUSES if verdict is Verdict.BAD else -ALSO_CLEARS)
    return [Reason(step, value, base.steps[step].ask) for step, value in points.items()]


def _refuted(cause: str, asked: Sequence[Question], verdicts: Mapping[str, Verdict]) -> bool:
    about = [question for question in asked if question.accuses == cause]
    return bool(about) and all(verdicts.get(question.step) is Verdict.OK for question in about)
