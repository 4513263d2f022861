"""What a person is asked before something is noted about an alert, and the entries that follow from the answer.

It knows no widget: a Question goes to the screen, which shows the line to type in.
"""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Sequence, Tuple

from mstui.i18n import _, aside
from mstui.journal.standing import taken_back_by
from mstui.journal.until import Said, forms_by_length, parse_said, parse_snooze, until_text
from mstui.model.alert_view import Alert
from mstui.model.journal import Entry, EntryKind, UntilKind
from mstui.safe_text import safe
from mstui.tui.alert_words import title, when_text
from mstui.tui.prompt import Verdict

SNOOZE = "30m"
"""what a snooze begins with"""
MOST_NAMED = 24
"""characters of a tag in a question"""

Note = Callable[[Sequence[Entry], str], None]
"""entries to store, and what to say when they are"""


class Question(NamedTuple):
    """One line to type in. Where its room is small, a shorter wording is shown, not a cut one."""

    label: Tuple[str, ...]
    """wordings, the longest first"""
    text: str
    """what stands there at first"""
    hint: Tuple[str, ...]
    """shown while nothing is typed; wordings, the longest first"""
    judge: Callable[[str], Verdict]
    """how it is understood"""
    accept: Callable[[str], None]
    """called with a text that `judge` has not called bad"""


class Person(NamedTuple):
    """Who answers, and when."""

    who: str
    clock: Callable[[], float]

    def entries(self, alerts: Sequence[Alert], kind: EntryKind, said: Said) -> List[Entry]:
        """One entry an alert."""
        at = self.clock()
        if said.until is None:
            return []
        return [Entry(alert.id, kind, at, self.who, said.comment, until=said.until) for alert in alerts]


def about(alerts: Sequence[Alert]) -> str:
    """`Loss is NaN`, or how many they are."""
    if len(alerts) == 1:
        return title(alerts[0].incident.head.symptom)
    return _("{n} alerts").format(n=len(alerts))


def ack_question(alerts: Sequence[Alert], person: Person, note: Note) -> Question:
    """A comment, and until when: enter alone is for ever and without a word."""

    def judge(text: str) -> Verdict:
        return _held(parse_said(text, person.clock()), person)

    def accept(text: str) -> None:
        said = parse_said(text, person.clock())
        what = _("acknowledged: {about}, {held}").format(about=about(alerts), held=judge(text).text)
        note(person.entries(alerts, EntryKind.ACKNOWLEDGED, said), what)

    label = [_("acknowledge {about}:").format(about=about(alerts))]
    if len(alerts) == 1:  # the list above marks which
        label.append(_("acknowledge:"))
    hint = tuple(_("comment until {forms}").format(forms=forms) for forms in forms_by_length())
    return Question(tuple(label), "", (*hint, _("comment")), judge, accept)


def snooze_question(alert: Alert, person: Person, note: Note) -> Question:
    """How long, then a comment."""

    def judge(text: str) -> Verdict:
        return _held(parse_snooze(text, person.clock()), person)

    def accept(text: str) -> None:
        said = parse_snooze(text, person.clock())
        what = _("snoozed: {about}, {held}").format(about=about([alert]), held=judge(text).text)
        note(person.entries([alert], EntryKind.SNOOZED, said), what)

    label = (_("snooze {about} for:").format(about=about([alert])), _("snooze for:"))
    return Question(label, SNOOZE, forms_by_length(), judge, accept)


def intended_question(alert: Alert, person: Person, note: Note) -> Question:
    """A comment; it holds for this symptom of this tag in this run."""
    tag = safe(alert.incident.head.scope.tag, MOST_NAMED)
    what = aside(about([alert]), tag) if tag else about([alert])

    def judge(text: str) -> Verdict:
        del text
        return Verdict(_("for this run"))

    def accept(text: str) -> None:
        entry = Entry(alert.id, EntryKind.INTENDED, person.clock(), person.who, " ".join(text.split()))
        note([entry], _("intended: {what} stays silent in this run; u takes it back").format(what=what))

    label = (_("{what} is intended:").format(what=what), _("{what} is intended:").format(what=about([alert])))
    return Question((*label, _("intended:")), "", (_("why"),), judge, accept)


def taken_back(alert: Alert, person: Person) -> List[Entry]:
    """Nothing where nobody has said anything that holds."""
    said = taken_back_by(alert.standing)
    if said is None:
        return []
    return [Entry(said.incident, EntryKind.UNACKNOWLEDGED, person.clock(), person.who)]


def _held(said: Said, person: Person) -> Verdict:
    if said.until is None:
        whole, *shorter = (_("until what? {forms}").format(forms=forms) for forms in forms_by_length())
        return Verdict(whole, bad=True, shorter=tuple(shorter))
    ends = when_text(said.until.value, person.clock()) if said.until.kind is UntilKind.TIME else ""
    return Verdict(until_text(said.until, ends))
