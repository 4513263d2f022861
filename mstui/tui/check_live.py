"""A guided check that stays on the screen while the run and other persons go on: what is taken over, and what is held.

The question under a person's fingers does not change because of new data; the causes beside it do. What a person has
said is never lost to an answer of the monitor that was asked for before. Pure: no widget, no clock.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import List, NamedTuple, Optional, Sequence, Tuple

from mstui.checks.session import Session
from mstui.checks.session_ask import Ask, AskKind, state_ask, step_ask
from mstui.checks.session_notes import CAUSE, Given
from mstui.knowledge.walk import YES, Place
from mstui.model.journal import Entry


class Taken(NamedTuple):
    """What became of a newer session."""

    session: Session
    by_others: Tuple[Given, ...] = ()
    """what others have said since, newest last"""
    more: bool = False
    """an outcome is held although something new could be asked"""


class Standing:
    """The session that is shown."""

    def __init__(self) -> None:
        self.session: Optional[Session] = None
        self.more = False
        """more can be asked than the outcome on the screen says"""
        self._newest: Optional[Session] = None
        """the last one that the monitor gave, its question included"""
        self._pending: List[Entry] = []
        """what was said here and did not come back from the monitor yet"""

    def say(self, entries: Sequence[Entry]) -> None:
        """A person has said something: the next question is that of the newest evidence."""
        if self.session is None:
            return
        self._pending += entries
        base = self._newest if self._newest is not None else self.session
        self.session = self._newest = base.plus(entries)
        self.more = False

    def go_on(self) -> None:
        """Leave an outcome that new data has overtaken."""
        if self.more and self._newest is not None:
            self.session, self.more = self._newest, False

    def take(self, fresh: Session) -> Tuple[Given, ...]:
        """A newer session from the monitor; what others have said since."""
        missing = _missing(self._pending, fresh.entries)
        self._pending = missing
        if missing:
            fresh = fresh.plus(missing)
        self._newest = fresh
        taken = take(self.session, fresh)
        self.session, self.more = taken.session, taken.more
        return taken.by_others


def take(shown: Optional[Session], fresh: Session) -> Taken:
    """The newer session with the question that is shown, unless somebody has said something since."""
    if shown is None:
        return Taken(fresh)
    if _said(shown) != _said(fresh):
        known = Counter(_said(shown))
        news = tuple(each for each in fresh.notes.given if not known[_word(each)])
        return Taken(fresh, news)
    if shown.ask is None:
        if fresh.ask is None:
            return Taken(fresh)
        return Taken(replace(fresh, ask=None, outcome=shown.outcome, remaining=0), more=True)
    return Taken(replace(fresh, ask=_again(shown.ask, fresh), outcome=None, remaining=max(fresh.remaining, 1)))


def accepted(session: Session) -> Tuple[str, ...]:
    """Causes that a person said it is."""
    return tuple(cause for cause, given in session.notes.about(CAUSE).items() if given.answer == YES)


def _again(ask: Ask, fresh: Session) -> Ask:
    """The same question with what is found without asking now."""
    if fresh.ask is not None and fresh.ask.subject == ask.subject:
        return fresh.ask
    if ask.kind is AskKind.STEP:
        return step_ask(fresh.base, ask.id, fresh.case.probes)
    if ask.kind is AskKind.STATE:
        flow, _colon, state = ask.id.partition(":")
        return state_ask(fresh.base, Place(flow, state), fresh.case.probes)
    return ask


def _word(given: Given) -> Tuple[object, ...]:
    return (given.subject, given.answer, given.value, given.note, given.who, given.at)


def _said(session: Session) -> List[Tuple[object, ...]]:
    return [_word(each) for each in session.notes.given]


def _content(entry: Entry) -> Tuple[object, ...]:
    return (entry.kind, entry.at, entry.who, entry.comment, entry.subject)


def _missing(pending: Sequence[Entry], known: Sequence[Entry]) -> List[Entry]:
    """Entries that are not among the known ones, in their order."""
    there = Counter(_content(entry) for entry in known)
    missing: List[Entry] = []
    for entry in pending:
        content = _content(entry)
        if there[content]:
            there[content] -= 1
        else:
            missing.append(entry)
    return missing
