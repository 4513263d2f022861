"""What a person said in a guided check, as entries of the journal, and read back from them. Pure: no clock, no disk.

Every entry of kind ANSWER has a subject and a comment. Subjects: the id of a check ("st.lr"), a state of a flow
("check1:C1.2"), "cause:ID" (is it this?), "fact:ID" (a figure that only a person knows), "seen:ID" (a fact that only a
person knows), "places:ASSIST" and "place:ASSIST:NAME" (bisecting). A comment is a word, perhaps "=NUMBER", perhaps a
note. Nothing is ever taken out: "undo" names the subject and whose last word on it no longer holds, so that two persons
who answer at once never take back each other's words unseen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.knowledge.bisect import PLACE_LIMIT, Bisection
from mstui.knowledge.walk import NO, SKIP, UNSURE, YES
from mstui.model.journal import NO_BEARING, Bearing, Entry, EntryKind

UNDO = "undo"
SET = "set"
"""The word of a subject that has a value instead of an answer"""
OPEN = "open"
"""Comment of an OUTCOME entry that takes the earlier outcome back"""

CAUSE, FACT, SEEN, PLACES, PLACE_ANSWER = "cause:", "fact:", "seen:", "places:", "place:"

NO_VALUE = "=-"
"""Stands for no number where the note itself begins with "=" """
MOST_PLACES_TEXT = 3_900
"""Characters of one list of places: the journal keeps 4000 of a comment"""
MOST_NOTE = 1_000
"""Characters of a note that are kept"""


class Pen(NamedTuple):
    """Who writes about which incident, and when."""

    incident: str
    at: float
    """Unix seconds"""
    who: str = ""
    """user@host"""
    bearing: Bearing = NO_BEARING


@dataclass(frozen=True)
class Given:
    """One word that holds."""

    subject: str
    answer: str
    value: Optional[float] = None
    note: str = ""
    who: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Notes:
    """Everything that holds: what was not taken back and not said anew."""

    given: Tuple[Given, ...] = ()
    """in the order in which it was said, each subject once"""
    unread: int = 0
    """entries that could not be understood: a later version of mstui wrote them"""

    @property
    def answers(self) -> Mapping[str, str]:
        """Subject to word."""
        return {each.subject: each.answer for each in self.given}

    @property
    def facts(self) -> Mapping[str, float]:
        """Figures that a person entered, by the ids of `mstui.model.checks.FACTS`."""
        found = self.about(FACT)
        return {key: each.value for key, each in found.items() if each.value is not None}

    def about(self, kind: str) -> Dict[str, Given]:
        """What was said about subjects of one kind, by the subject's own id."""
        return {each.subject[len(kind) :]: each for each in self.given if each.subject.startswith(kind)}

    def last(self, who: str = "") -> Optional[Given]:
        """The latest word of a person, or of anybody."""
        return next((each for each in reversed(self.given) if not who or each.who == who), None)


def read(entries: Iterable[Entry]) -> Notes:
    """The notes of one incident from its entries, oldest first. Other kinds of entries are passed over."""
    said: List[Given] = []
    unread = 0
    for entry in entries:
        if entry.kind is not EntryKind.ANSWER:
            continue
        given = _parse(entry)
        if given is None:
            unread += 1
        elif given.answer == UNDO:
            _take_back(said, given)
        else:
            said.append(given)
    latest = {each.subject: at for at, each in enumerate(said)}
    return Notes(tuple(said[at] for at in sorted(latest.values())), unread)


def undoing(given: Given) -> Given:
    """The word that takes another one back."""
    return Given(given.subject, UNDO, note=given.who)


def entry(pen: Pen, given: Given) -> Entry:
    """The journal's entry for a word."""
    parts = [given.answer]
    note = " ".join(given.note.split())[:MOST_NOTE] if not given.subject.startswith(PLACES) else given.note
    if given.value is not None:
        parts.append(f"={given.value!r}")
    elif note.startswith("="):
        parts.append(NO_VALUE)
    if note:
        parts.append(note)
    comment = " ".join(parts)
    return Entry(pen.incident, EntryKind.ANSWER, pen.at, pen.who, comment, given.subject, bearing=pen.bearing)


def outcome_entry(pen: Pen, kind: str, cause: str) -> Entry:
    """What was found in the end; kind OPEN takes it back."""
    return Entry(pen.incident, EntryKind.OUTCOME, pen.at, pen.who, kind, cause, bearing=pen.bearing)


def number(text: str) -> Optional[float]:
    """A finite number as a person types it; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


# --- bisecting


def places_note(assist: str, names: Sequence[str]) -> Given:
    """The places to bisect, in order, each once. Raises ValueError when there are none or too many for one entry."""
    known = [" ".join(name.split())[:PLACE_LIMIT] for name in names]
    text = "\n".join(dict.fromkeys(name for name in known if name))
    if not text or len(text) > MOST_PLACES_TEXT:
        message = f"{len(text)} characters of names; 1 to {MOST_PLACES_TEXT} can be kept"
        raise ValueError(message)
    return Given(f"{PLACES}{assist}", SET, note=text)


def place_subject(assist: str, name: str) -> str:
    """What an answer about one place is filed under."""
    return f"{PLACE_ANSWER}{assist}:{name}"


def bisection(notes: Notes, assist: str) -> Optional[Bisection]:
    """The search as far as the answers go; None before places are named.

    Only answers since the list was named count. A place that nobody can look at is left out of the search.
    """
    names: Tuple[str, ...] = ()
    said: Dict[str, str] = {}
    prefix = place_subject(assist, "")
    for each in notes.given:
        if each.subject == f"{PLACES}{assist}":
            names, said = tuple(each.note.split("\n")), {}
        elif each.subject.startswith(prefix):
            said[each.subject[len(prefix) :]] = each.answer
    if not names:
        return None
    places = tuple(name for name in names if said.get(name) not in (SKIP, UNSURE))
    differ = [at for at, name in enumerate(places) if said.get(name) == NO]
    bad = min(differ) if differ else None
    agree = [at for at, name in enumerate(places[:bad]) if said.get(name) == YES]
    return Bisection(places, max(agree, default=-1), bad)


def _take_back(said: List[Given], undo: Given) -> None:
    for at in reversed(range(len(said))):
        if (said[at].subject, said[at].who) == (undo.subject, undo.note):
            del said[at]
            return


def _parse(written: Entry) -> Optional[Given]:
    word, _space, rest = written.comment.partition(" ")
    if not word or not written.subject:
        return None
    value: Optional[float] = None
    if rest.startswith("="):
        figure, _space, rest = rest.partition(" ")
        value = None if figure == NO_VALUE else number(figure[1:])
        if value is None and figure != NO_VALUE:
            return None
    return Given(written.subject, word, value, rest, written.who, written.at)
