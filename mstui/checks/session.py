"""The guided check of one incident, as a value: what is likely, what to ask next, what came out.

A session follows from the knowledge, the incident's case and the journal's answers alone: whoever has these sees the
same, after a restart and on another terminal. Answers are filed by what they are about, so their order decides nothing
but which of two words on one question holds. It has no clock, no disk and no language; see `session_screen` for texts.

It first asks the symptom's checks, each about the likeliest cause; trouble found proposes a cause, which a person
accepts or rejects. When none is left it goes where the symptom leads: another symptom, or a flow. It never calls a
cause found because a question was left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, FrozenSet, List, Mapping, Optional, Sequence, Set, Tuple

from mstui.checks.session_ask import Ask, cause_ask, place_ask, state_ask, step_ask
from mstui.checks.session_notes import (
    CAUSE,
    FACT,
    OPEN,
    SEEN,
    SET,
    Given,
    Notes,
    Pen,
    bisection,
    entry,
    outcome_entry,
    places_note,
    read,
    undoing,
)
from mstui.checks.session_rank import CLEAN, FOUND, HEALTHY, POINTED, Outcome, proposal, verdicts, with_words
from mstui.knowledge import walk as walking
from mstui.knowledge.bisect import Bisection
from mstui.knowledge.ranking import Observation, Ranked, next_step, questions, rank
from mstui.knowledge.resolve import END, FLOW, SYMPTOM
from mstui.knowledge.schema import Knowledge, Pair
from mstui.knowledge.walk import NO, YES, Place, Walk
from mstui.model.checks import FACTS, ProbeResult
from mstui.model.journal import Entry

WITHOUT_ENTRY = "flow:scenes"
"""Where an incident begins whose symptom is not known here"""


@dataclass(frozen=True)
class Case:
    """What a session is about, and what was seen without asking anybody."""

    symptoms: Tuple[str, ...] = ()
    """the incident's own symptom first, then those that joined it"""
    flow: str = ""
    """a flow to walk without an incident ("checklist", "check1#C1.2")"""
    observations: Mapping[str, Observation] = field(default_factory=dict)
    probes: Mapping[str, ProbeResult] = field(default_factory=dict)
    version: str = ""
    """the run's MindSpore version; empty: not known"""


@dataclass(frozen=True)
class Session:
    """Where a guided check stands."""

    base: Knowledge
    case: Case
    entries: Tuple[Entry, ...]
    notes: Notes
    symptoms: Tuple[str, ...]
    """the case's, and those that were gone on with"""
    ranked: Tuple[Ranked, ...]
    """likeliest first; ruled out ones last, never left out"""
    ask: Optional[Ask]
    """what to ask next; None when there is an outcome"""
    outcome: Optional[Outcome]
    walks: Tuple[Walk, ...]
    """flows gone through, the current one last"""
    pointed: Tuple[str, ...]
    """causes that trouble found in flows points to, in the order of the answers"""
    answered: int
    """questions answered, in all parts"""
    remaining: int
    """questions that can still come in this part: the symptom's checks, or the flow"""

    @property
    def facts(self) -> Mapping[str, float]:
        """Figures that a person entered: for evidence and probes."""
        return self.notes.facts

    @property
    def bisection(self) -> Optional[Bisection]:
        """The search that belongs to the question, once its places are named."""
        return bisection(self.notes, self.ask.assist) if self.ask is not None and self.ask.assist else None

    def plus(self, entries: Sequence[Entry]) -> Session:
        """The session with further entries."""
        return session(self.base, self.case, (*self.entries, *entries))

    def seen(self, case: Case) -> Session:
        """The session after something new was seen of the run."""
        return session(self.base, case, self.entries)

    # --- what a person does: each gives the entries to add to the journal

    def answer(self, pen: Pen, word: str, *, value: Optional[float] = None, note: str = "") -> Tuple[Entry, ...]:
        """An answer to the question that is shown. Raises ValueError when there is none, or this is no answer to it."""
        if self.ask is None or word not in self.ask.choices:
            message = f"{word!r} is no answer here"
            raise ValueError(message)
        return self._say(pen, Given(self.ask.subject, word, value, note))

    def judge(self, pen: Pen, cause: str, word: str, note: str = "") -> Tuple[Entry, ...]:
        """A person's word on any cause: "yes" it is this, "no" it is not. Raises ValueError for what is unknown."""
        if cause not in self.base.causes or word not in (YES, NO):
            message = f"{cause!r}: {word!r}"
            raise ValueError(message)
        return self._say(pen, Given(f"{CAUSE}{cause}", word, note=note))

    def declare(self, pen: Pen, fact: str, value: float) -> Tuple[Entry, ...]:
        """A figure that only a person knows. Raises ValueError for an unknown one."""
        if fact not in FACTS:
            message = f"unknown fact {fact!r}"
            raise ValueError(message)
        return self._say(pen, Given(f"{FACT}{fact}", SET, value))

    def observe(self, pen: Pen, evidence: str, *, true: bool) -> Tuple[Entry, ...]:
        """A fact of the knowledge that a person knows to be true or false. Raises ValueError for an unknown one."""
        if evidence not in self.base.evidence:
            message = f"unknown evidence {evidence!r}"
            raise ValueError(message)
        return self._say(pen, Given(f"{SEEN}{evidence}", YES if true else NO))

    def name_places(self, pen: Pen, names: Sequence[str]) -> Tuple[Entry, ...]:
        """The places to bisect, in order. Raises ValueError when there are none, too many, or nothing to bisect."""
        if self.ask is None or not self.ask.assist:
            message = "nothing to bisect here"
            raise ValueError(message)
        return self._say(pen, places_note(self.ask.assist, names))

    def undo(self, pen: Pen, who: str = "") -> Tuple[Entry, ...]:
        """Take back the last word of a person, or of anybody; nothing when there is none."""
        last = self.notes.last(who)
        return () if last is None else self._say(pen, undoing(last))

    def _say(self, pen: Pen, given: Given) -> Tuple[Entry, ...]:
        """The entry for a word, and one for the outcome when it changes that."""
        said = entry(pen, given)
        after = self.plus([said]).outcome
        if after == self.outcome:
            return (said,)
        if after is None:
            return (said, outcome_entry(pen, OPEN, ""))
        return (said, outcome_entry(pen, after.kind, after.causes[0] if after.causes else ""))


def session(base: Knowledge, case: Case, entries: Sequence[Entry]) -> Session:
    """Where the guided check stands after these entries of its incident, oldest first."""
    return _Going(base, case, tuple(entries)).go()


class _Going:
    """One way through the parts of a session; thrown away afterwards."""

    def __init__(self, base: Knowledge, case: Case, entries: Tuple[Entry, ...]) -> None:
        self._base = base
        self._case = case
        self._entries = entries
        self._notes = read(entries)
        self._answers = self._notes.answers
        self._observations = {**case.observations, **_declared(base, self._notes)}
        self._symptoms: List[str] = [symptom for symptom in case.symptoms if symptom in base.symptoms]
        self._walks: List[Walk] = []
        self._say: Optional[Pair] = None
        self._remaining = 0

    def go(self) -> Session:
        """Through answered parts to the first open question, or to an outcome."""
        opened = self._open_causes()
        confirmed = self._confirmed()
        if confirmed:
            return self._made(None, Outcome(FOUND, confirmed))
        begun: Set[Place] = set()
        led: Set[str] = set()
        leading = opened or (self._symptoms[0] if self._symptoms else "")
        target = "" if leading else f"{FLOW}{self._case.flow}" if self._case.flow else WITHOUT_ENTRY
        while True:
            if target.startswith(FLOW):
                place = walking.parse_place(self._base, target)
                if place in begun:
                    return self._ended()
                begun.add(place)
                walk, ask = self._walk(place)
                if ask is not None:
                    return self._made(ask, None)
                if walk.outcome != "symptom":
                    return self._ended(walk)
                target = f"{SYMPTOM}{walk.symptom}"
            if target.startswith(SYMPTOM):
                leading = target[len(SYMPTOM) :]
                if leading in led:
                    return self._ended()
                self._symptoms += [leading] if leading not in self._symptoms else []
            led.add(leading)
            ask = self._check()
            if ask is not None:
                return self._made(ask, None)
            then = self._base.symptoms[leading].then
            self._say = then.say
            if then.to == END:
                return self._ended()
            target = then.to

    # --- the parts

    def _check(self) -> Optional[Ask]:
        """The next question of the symptoms' checks, or whether it is a cause that trouble points to."""
        ranked = self._rank()
        said = verdicts(self._base, self._notes, self._walks)
        proposed = proposal(self._base, self._symptoms, ranked, said, self._notes)
        steps = {question.step for question in questions(self._base, self._symptoms)}
        self._remaining = len(steps - set(said))
        if proposed:
            return cause_ask(proposed)
        step = next_step(self._base, self._symptoms, ranked, said)
        return None if step is None else step_ask(self._base, step, self._case.probes)

    def _walk(self, place: Place) -> Tuple[Walk, Optional[Ask]]:
        """A flow as far as its answers go, and its open question."""
        before = self._walks[-1] if self._walks else None
        proofs: FrozenSet[str] = before.proofs if before else frozenset()
        reference = before.reference if before else None
        walk = walking.begin(self._base, place.flow, place.state, reference=reference, proofs=proofs)
        self._walks.append(walk)
        while not walk.ended:
            state = walking.state_at(self._base, walk.place)
            word = self._answers.get(f"{walk.place.flow}:{walk.place.state}") or self._known(state.step)
            if word not in state.answers:
                self._remaining = self._still(walk)
                return walk, self._state(walk)
            walk = walking.answer(self._base, walk, word)
            self._walks[-1] = walk
        return walk, None

    def _known(self, step: str) -> str:
        """What was answered to the same check elsewhere; leaving it out there does not leave it out here."""
        if not step:
            return ""
        told = {
            walking.state_at(self._base, each.place).step: each.answer for walk in self._walks for each in walk.trail
        }
        return next((word for word in (self._answers.get(step), told.get(step)) if word in (YES, NO)), "")

    def _state(self, walk: Walk) -> Ask:
        state = walking.state_at(self._base, walk.place)
        search = bisection(self._notes, state.assist) if state.assist else None
        if search is not None and not search.over:
            return place_ask(state.assist, search)
        return state_ask(self._base, walk.place, self._case.probes, search)

    def _still(self, walk: Walk) -> int:
        """Questions of the current flow that can still come, the one that is asked included."""
        flow = walk.place.flow
        been = {each.place for each in walk.trail}
        found = {walk.place}
        queue = [walk.place]
        while queue:
            for target in walking.state_at(self._base, queue.pop()).answers.values():
                place = walking.parse_place(self._base, target, flow) if not target.startswith(SYMPTOM) else walk.place
                if place.flow == flow and place not in found | been:
                    found.add(place)
                    queue.append(place)
        return sum(not walking.state_at(self._base, place).is_end for place in found)

    # --- causes

    def _rank(self) -> Tuple[Ranked, ...]:
        # Not what probes say: the same facts are evidence already, and count once more when a person confirms them.
        said = verdicts(self._base, self._notes, self._walks)
        ranked = rank(self._base, self._symptoms, self._observations, said)
        return with_words(self._base, ranked, self._walks, self._notes)

    def _open_causes(self) -> str:
        """Go on with the symptoms that accepted causes are; the last of them leads."""
        leading = ""
        for cause in self._accepted():
            opens = self._base.causes[cause].opens
            if opens and opens not in self._symptoms:
                self._symptoms.append(opens)
                leading = opens
        return leading

    def _confirmed(self) -> Tuple[str, ...]:
        return tuple(cause for cause in self._accepted() if not self._base.causes[cause].opens)[-1:]

    def _accepted(self) -> List[str]:
        said = self._notes.about(CAUSE)
        return [cause for cause, given in said.items() if given.answer == YES and cause in self._base.causes]

    # --- the end

    def _pointed(self) -> Tuple[str, ...]:
        rejected = {cause for cause, given in self._notes.about(CAUSE).items() if given.answer == NO}
        found: Dict[str, None] = {}
        for walk in self._walks:
            found.update(dict.fromkeys(walking.accused(self._base, walk)))
        return tuple(cause for cause in found if cause not in rejected)

    def _likeliest(self, causes: Sequence[str]) -> Tuple[str, ...]:
        """Likeliest first, without those that are ruled out unless all are."""
        known = {each.cause: (at, each.refuted) for at, each in enumerate(self._rank())}
        unknown = (len(known), False)
        found = sorted(causes, key=lambda cause: known.get(cause, unknown)[0])
        return tuple(cause for cause in found if not known.get(cause, unknown)[1]) or tuple(found)

    def _ended(self, walk: Optional[Walk] = None) -> Session:
        """The session when nothing is left to ask."""
        place = walk.place if walk is not None and walking.state_at(self._base, walk.place).is_end else None
        kind = walk.outcome if walk is not None else CLEAN
        causes = walk.causes if walk is not None else ()
        pointed = self._pointed()
        if kind == FOUND:
            causes = self._likeliest(causes)
        elif kind in (CLEAN, HEALTHY) and pointed:
            kind, causes = POINTED, pointed
        self._remaining = 0
        return self._made(None, Outcome(kind, causes, place, self._say))

    def _made(self, ask: Optional[Ask], outcome: Optional[Outcome]) -> Session:
        return Session(
            base=self._base,
            case=self._case,
            entries=self._entries,
            notes=self._notes,
            symptoms=tuple(self._symptoms),
            ranked=self._rank(),
            ask=ask,
            outcome=outcome,
            walks=tuple(self._walks),
            pointed=self._pointed(),
            answered=sum(each.answer != SET for each in self._notes.given),
            remaining=0 if ask is None else max(self._remaining, 1),
        )


def _declared(base: Knowledge, notes: Notes) -> Dict[str, Observation]:
    """Facts that a person knows, as observations."""
    said = notes.about(SEEN)
    return {key: Observation(given.answer == YES) for key, given in said.items() if key in base.evidence}
