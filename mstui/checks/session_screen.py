"""A session in words: one question with everything that belongs to it, the causes, and the outcome with its fix.

Texts are in the language asked for, whichever is spoken, and exact for the run's MindSpore version. What came from
files or persons is made safe here. It decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Collection, Iterator, List, Mapping, Optional, Sequence, Tuple

from mstui.checks.session import Session
from mstui.checks.session_ask import Ask, AskKind
from mstui.checks.session_notes import bisection
from mstui.checks.session_rank import POINTED, REPORT
from mstui.checks.words import Speaker
from mstui.i18n import mark
from mstui.knowledge.bisect import Bisection, both_snippets
from mstui.knowledge.ranking import Ranked, Reason
from mstui.knowledge.schema import Pair, Passage, Source
from mstui.knowledge.walk import NO, YES, Place, state_at
from mstui.model.checks import FACTS, ProbeResult, ProbeState
from mstui.safe_text import safe

ASK_CAUSE = mark("Is it this: {title}?")
EXPECT_CAUSE = mark("With this changed, the trouble is gone.")
ASK_PLACE = mark("Does {place} agree with the reference?")
EXPECT_PLACE = mark("Shape and numbers agree within rounding.")
WHY_PLACE = mark("Looks until the first place that differs is known: {n} at most.")
FIRST_DIFFERENT = mark("The first place that differs is {place}.")
ALL_AGREE = mark("All {n} places agree.")
ACCEPTED, REJECTED = mark("it is this"), mark("it is not this")
STATES: Mapping[ProbeState, str] = {
    ProbeState.OK: mark("answered by itself: as expected"),
    ProbeState.BAD: mark("answered by itself: trouble found"),
    ProbeState.UNKNOWN: mark("cannot answer itself"),
}
PROBED = mark("{how}. {told}")
TEXT_LIMIT = 500
"""Characters of one sentence that holds what files or persons wrote"""


@dataclass(frozen=True)
class Choice:
    """One answer: the word to give back, and how it reads."""

    word: str
    text: str


@dataclass(frozen=True)
class Figure:
    """A figure that only a person knows."""

    id: str
    text: str
    value: Optional[float]
    """what was entered"""


@dataclass(frozen=True)
class CauseLine:
    """One cause of the list."""

    id: str
    title: str
    word: str
    """how sure one may be; never certain"""
    score: int
    refuted: bool
    """shown struck through"""
    reasons: Tuple[Tuple[int, str], ...]
    """points and sentence, what moved it most first"""


@dataclass(frozen=True)
class Screen:
    """One question on one screen."""

    subject: str
    part: str
    """the symptom or flow that asks"""
    ask: str
    do: str
    code: str
    """to copy; for this MindSpore version"""
    reference: str
    """what to put into the reference implementation; empty for most"""
    expect: str
    why: str
    choices: Tuple[Choice, ...]
    offered: str
    """the answer that was found without asking; empty: none"""
    found: str
    """what the probe says: how it came out and its sentence; empty without a probe"""
    evidence: Tuple[str, ...]
    """further facts that were read about the causes in question"""
    wants: Tuple[Figure, ...]
    sources: Tuple[str, ...]


@dataclass(frozen=True)
class Ending:
    """The outcome in words."""

    title: str
    said: str
    """what the end says of itself; empty for most"""
    causes: Tuple[CauseLine, ...]
    fixes: Tuple[Tuple[str, str, str], ...]
    """cause, what to do, code to copy; in the order of the causes"""
    report: bool
    """a draft for the framework's maintainers is due"""
    sources: Tuple[str, ...]


class SessionWords:
    """What to show of a session in one language."""

    def __init__(self, session: Session, language: str) -> None:
        self._session = session
        self._base = session.base
        self._language = language
        self._say = Speaker(language)

    def screen(self) -> Optional[Screen]:
        """The question; None when there is an outcome."""
        ask = self._session.ask
        if ask is None:
            return None
        build: Mapping[AskKind, Callable[[Ask], Screen]] = {
            AskKind.STEP: self._step,
            AskKind.STATE: self._state,
            AskKind.CAUSE: self._cause,
            AskKind.PLACE: self._place,
        }
        return build[ask.kind](ask)

    def causes(self, *, hidden: bool = False) -> Tuple[CauseLine, ...]:
        """The causes, likeliest first; without those that are not worth a line unless asked for."""
        return tuple(self._line(each) for each in self._session.ranked if hidden or not each.hidden)

    def ending(self) -> Optional[Ending]:
        """The outcome; None while something is asked."""
        outcome = self._session.outcome
        if outcome is None:
            return None
        said = outcome.say.text(self._language) if outcome.say is not None else ""
        sources: List[Source] = []
        if outcome.place is not None:
            state = state_at(self._base, outcome.place)
            said = state.ask.text(self._language)
            sources += state.sources
        lines = {each.id: each for each in self.causes(hidden=True)}
        fixes = []
        for cause in outcome.causes:
            known = self._base.causes[cause]
            fix = known.fix.at(self._session.case.version)
            fixes.append((cause, fix.text.text(self._language), fix.code))
            sources += known.fix_sources
        return Ending(
            title=self.outcome_title(outcome.kind),
            said=said,
            causes=tuple(lines[cause] if cause in lines else self._bare(cause) for cause in outcome.causes),
            fixes=tuple(fixes),
            report=outcome.kind == REPORT,
            sources=self.sources(sources),
        )

    def outcome_title(self, kind: str) -> str:
        """An outcome's name."""
        return self.label("accuses" if kind == POINTED else kind)

    def answered(self) -> Tuple[Tuple[str, str, str], ...]:
        """What was said so far: the question, the answer with its figure and note, and who gave it."""
        said = self._session.notes.given
        words = (self._word(each.subject, each.answer, each.value, each.note) for each in said)
        return tuple((self.subject_title(each.subject), word, safe(each.who)) for each, word in zip(said, words))

    def searches(self) -> Tuple[Tuple[str, str], ...]:
        """What bisecting found so far: its title, and a sentence; an empty one while it goes on."""
        notes = self._session.notes
        found = []
        for assist in self._base.assists.values():
            search = bisection(notes, assist.id)
            if search is not None:
                found.append((assist.title.text(self._language), self._searched(search) if search.over else ""))
        return tuple(found)

    def subject_title(self, subject: str) -> str:
        """What an answer is about."""
        base, language = self._base, self._language
        kind, colon, key = subject.partition(":")
        if subject in base.steps:
            return base.steps[subject].ask.text(language)
        if kind in base.flows and key in base.flows[kind].states:
            return self._state_title(Place(kind, key))
        if kind == "cause" and key in base.causes:
            return base.causes[key].title.text(language)
        if kind == "fact" and key in FACTS:
            return self._say(FACTS[key])
        if kind == "seen" and key in base.evidence:
            return base.evidence[key].yes.text(language)
        if kind in ("place", "places"):
            assist, _colon, name = key.partition(":")
            title = base.assists[assist].title.text(language) if assist in base.assists else safe(assist)
            return f"{title}: {safe(name)}" if name else title
        return safe(f"{kind}{colon}{key}")

    def label(self, key: str) -> str:
        """A word of the manual's own."""
        return self._base.labels[key].text(self._language)

    def sources(self, sources: Sequence[Source]) -> Tuple[str, ...]:
        """Where statements come from, each once."""
        known = ((self._base.documents[each.document].title.text(self._language), each.section) for each in sources)
        return tuple(dict.fromkeys(f"{title}: {section}" for title, section in known))

    # --- the four kinds of questions

    def _step(self, ask: Ask) -> Screen:
        step = self._base.steps[ask.id]
        about = [q for s in self._session.symptoms for q in self._base.symptoms[s].questions if q.step == ask.id]
        causes = {cause for question in about for cause in (question.accuses, *question.also)}
        part = next(
            (s for s in self._session.symptoms if any(q.step == ask.id for q in self._base.symptoms[s].questions)), ""
        )
        return self._screen(
            ask, self._symptom_title(part), step.ask, step.do, step.expect, step.why, step.sources, causes
        )

    def _state(self, ask: Ask) -> Screen:
        flow, _colon, key = ask.id.partition(":")
        state = state_at(self._base, Place(flow, key))
        step = self._base.steps.get(state.step)
        part = self._base.flows[flow].title.text(self._language)
        if step is not None:
            shown = self._screen(ask, part, step.ask, step.do, step.expect, step.why, step.sources, state.accuses)
        else:
            sources = state.sources or self._base.flows[flow].sources
            shown = self._screen(ask, part, state.ask, state.do, state.expect, state.why, sources, state.accuses)
        return shown

    def _cause(self, ask: Ask) -> Screen:
        cause = self._base.causes[ask.id]
        title = cause.title.text(self._language)
        shown = self._screen(ask, self._symptom_title(self._session.symptoms[0] if self._session.symptoms else ""),
                             cause.title, cause.fix, None, cause.about, cause.fix_sources, (ask.id,))  # fmt: skip
        return replace(shown, ask=self._say(ASK_CAUSE, title=title), expect=self._say(EXPECT_CAUSE))

    def _place(self, ask: Ask) -> Screen:
        assist = self._base.assists[ask.assist]
        search = self._session.bisection
        after = [search.answer(agrees=agrees).steps_left for agrees in (True, False)] if search is not None else [0]
        here, reference = both_snippets(assist, ask.id, self._session.case.version)
        shown = self._screen(ask, assist.title.text(self._language), assist.title, assist.here, None, None,
                             assist.sources, ())  # fmt: skip
        return replace(
            shown,
            ask=self._say(ASK_PLACE, place=safe(ask.id)),
            code=here,
            reference=reference,
            expect=self._say(EXPECT_PLACE),
            why=self._say(WHY_PLACE, n=max(after) + 1),
        )

    def _screen(
        self,
        ask: Ask,
        part: str,
        title: Pair,
        do: Optional[Passage],
        expect: Optional[Pair],
        why: Optional[Pair],
        sources: Sequence[Source],
        causes: Collection[str],
    ) -> Screen:
        passage = do.at(self._session.case.version) if do is not None else None
        return Screen(
            subject=ask.subject,
            part=part,
            ask=title.text(self._language),
            do=passage.text.text(self._language) if passage is not None else "",
            code=passage.code if passage is not None else "",
            reference="",
            expect=expect.text(self._language) if expect is not None else "",
            why=why.text(self._language) if why is not None else "",
            choices=tuple(Choice(word, self._word(ask.subject, word)) for word in ask.choices),
            offered=ask.offered,
            found=self._found(ask),
            evidence=tuple(self._evidence(causes)),
            wants=tuple(Figure(key, self._say(FACTS[key]), self._session.facts.get(key)) for key in ask.wants),
            sources=self.sources(sources),
        )

    # --- pieces

    def _found(self, ask: Ask) -> str:
        """What answers the question without asking: a search that is over, or a probe."""
        search = self._session.bisection
        if ask.kind is AskKind.STATE and search is not None and search.over:
            return self._searched(search)
        return self.probed(ask.probe) if ask.probe is not None else ""

    def _searched(self, search: Bisection) -> str:
        if search.found:
            return self._say(FIRST_DIFFERENT, place=safe(search.found))
        return self._say(ALL_AGREE, n=len(search.places)) if search.places else ""

    def probed(self, probe: ProbeResult) -> str:
        """How a probe came out, and its sentence."""
        return self._say(PROBED, how=self._say(STATES[probe.state]), told=self._say(probe.sentence, **probe.numbers))

    def _evidence(self, causes: Collection[str]) -> Iterator[str]:
        """Facts that were read and that moved one of these causes, each once."""
        reasons = (reason for each in self._session.ranked if each.cause in causes for reason in each.reasons)
        said = (self._reason(reason) for reason in reasons if reason.id in self._base.evidence)
        yield from dict.fromkeys(said)

    def _reason(self, reason: Reason) -> str:
        """A reason's sentence; what was observed is only known in the language spoken."""
        text = reason.said(self._language) if self._say.spoken else reason.text.text(self._language)
        if reason.id in self._base.steps or reason.id.partition(":")[0] in self._base.flows:
            text += f" {self.label(NO if reason.points > 0 else YES)}"  # a check: trouble raises, its absence lowers
        return safe(text, TEXT_LIMIT)

    def _line(self, each: Ranked) -> CauseLine:
        title = self._base.causes[each.cause].title.text(self._language)
        reasons = tuple((reason.points, self._reason(reason)) for reason in each.reasons)
        return CauseLine(each.cause, title, self.label(each.word), each.score, each.refuted, reasons)

    def _bare(self, cause: str) -> CauseLine:
        return CauseLine(cause, self._base.causes[cause].title.text(self._language), "", 0, refuted=False, reasons=())

    def _symptom_title(self, symptom: str) -> str:
        return self._base.symptoms[symptom].title.text(self._language) if symptom else ""

    def _state_title(self, place: Place) -> str:
        state = state_at(self._base, place)
        step = self._base.steps.get(state.step)
        return (step.ask if step is not None else state.ask).text(self._language)

    def _word(self, subject: str, word: str, value: Optional[float] = None, note: str = "") -> str:
        """An answer as it reads, with its figure and note."""
        kind, _colon, key = subject.partition(":")
        options = (
            self._base.flows[kind].states[key].options
            if kind in self._base.flows and key in self._base.flows[kind].states
            else {}
        )
        if word in options:
            text = options[word].text(self._language)
        elif kind == "cause" and word in (YES, NO):
            text = self._say(ACCEPTED if word == YES else REJECTED)
        else:
            text = self.label(word) if word in self._base.labels else ""
        figure = f"{value:g}" if value is not None else ""
        return " ".join(filter(None, (text, figure, safe(note, TEXT_LIMIT))))
