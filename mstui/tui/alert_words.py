"""Alerts in words: severity, place, state, the badge, one row each. Pure functions over what the monitor says.

A word and a glyph come before any colour. It judges nothing and reads nothing.
"""

from __future__ import annotations

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _, aside, commas, headed, mark
from mstui.journal.until import until_text
from mstui.model.alert_view import Alert, worst
from mstui.model.alerts import TITLES, Happening, Scope, Severity, Symptom
from mstui.model.journal import AlertState, Entry, EntryKind, Reopening, UntilKind
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.safe_text import fit, safe, width
from mstui.tui.numbers import age, clock, count, moment
from mstui.tui.process_words import Badge, serious
from mstui.tui.process_words import badge as fact_badge

STEP_DIGITS = 6
"""digits of a step that are written in full where room is short"""
LEAST_NAME = 4
"""cells below which the name of a tag is left out rather than cut"""
TEXT_LIMIT = 500
"""characters of a comment, a tag or an evidence sentence that are shown"""


class Grade(NamedTuple):
    """How a severity is shown."""

    glyph: str
    ascii_glyph: str
    word: str
    look: str


GRADES: Mapping[Severity, Grade] = {
    Severity.CRITICAL: Grade("‼", "!!", mark("critical"), "critical"),
    Severity.ERROR: Grade("✗", "X", mark("error"), "critical"),
    Severity.WARN: Grade("!", "!", mark("warning"), "warning"),
    Severity.WATCH: Grade("-", "-", mark("watch"), "info"),
    Severity.INFO: Grade("i", "i", mark("info"), "dim"),
}
STATES: Mapping[AlertState, str] = {
    AlertState.ACTIVE: mark("active"),
    AlertState.SNOOZED: mark("snoozed"),
    AlertState.ACKNOWLEDGED: mark("acked"),
    AlertState.INTENDED: mark("intended"),
    AlertState.CLEARED: mark("cleared"),
}
"""in the order in which alerts are listed"""
REOPENED: Mapping[Reopening, str] = {
    Reopening.TIME: mark("active again: the time is over"),
    Reopening.STEP: mark("active again: the step is reached"),
    Reopening.RESTART: mark("active again: the training was restarted"),
    Reopening.WORSE: mark("active again: twice as bad as when it was acknowledged"),
    Reopening.BACK: mark("active again: it had cleared and has come back"),
    Reopening.TAKEN_BACK: mark("active again: the acknowledgement was taken back"),
}
NOTED: Mapping[EntryKind, str] = {
    EntryKind.RAISED: mark("raised"),
    EntryKind.CLEARED: mark("cleared"),
    EntryKind.ACKNOWLEDGED: mark("acknowledged"),
    EntryKind.UNACKNOWLEDGED: mark("taken back"),
    EntryKind.SNOOZED: mark("snoozed"),
    EntryKind.INTENDED: mark("called intended"),
    EntryKind.ANSWER: mark("answered"),
    EntryKind.OUTCOME: mark("found"),
}
BACK = mark("returned")
"""the state of an alert that is active again, in one word"""
TOLD_BY: Mapping[EventKind, Tuple[Symptom, ...]] = {
    EventKind.NAN_STOP: (Symptom.LOSS_NAN, Symptom.LOSS_INF),
    EventKind.OVERFLOW: (Symptom.OVERFLOW_STREAK, Symptom.SCALE_COLLAPSE),
    EventKind.SCALE_ABORT: (Symptom.SCALE_COLLAPSE, Symptom.OVERFLOW_STREAK),
}
"""Symptoms that are the same thing as a fact that a process has told: one badge says both. A fatal one is a crash."""


def glyph(severity: Severity, *, ascii_only: bool) -> str:
    """One or two cells."""
    grade = GRADES[severity]
    return grade.ascii_glyph if ascii_only else grade.glyph


def title(symptom: Symptom) -> str:
    """What a person calls it."""
    return _(TITLES[symptom])


def listed(alerts: Sequence[Alert]) -> List[Alert]:
    """Active ones first, the gravest of them on top, then by time."""
    order = list(STATES)
    return sorted(
        alerts, key=lambda a: (order.index(a.standing.state), -a.severity, a.incident.head.wall_time, a.incident.number)
    )


class Place(NamedTuple):
    """Where something is seen: `rank 1`, `fc1.weight`, `+3 x5`; each may be empty."""

    rank: str
    what: str
    more: str
    """in how many places more, and how often"""

    def text(self) -> str:
        """All of it."""
        return " ".join(part for part in self if part)

    def fitted(self, cells: int, ellipsis: str) -> str:
        """In so many cells: the name is cut, rank and counts stay as long as they can."""
        used = sum(width(part) + 1 for part in (self.rank, self.more) if part)
        what = fit(self.what, cells - used, ellipsis=ellipsis) if cells - used >= LEAST_NAME else ""
        return fit(Place(self.rank, what, self.more).text(), cells, middle=False, ellipsis=ellipsis)


def scope_text(scope: Scope, *, ranks: bool, ascii_only: bool) -> str:
    """`rank 1 fc1.weight`; empty for the whole run. `ranks`: the run has several."""
    return _scope(scope, ranks=ranks, ascii_only=ascii_only).text()


def _scope(scope: Scope, *, ranks: bool, ascii_only: bool) -> Place:
    named = ranks and (scope.tag or scope.rank_id)
    rank = _("rank {rank}").format(rank=scope.rank_id) if named else ""
    return Place(rank, safe(scope.layer or scope.tag, TEXT_LIMIT, ascii_only=ascii_only), "")


def place_of(happening: Happening, *, ranks: bool, ascii_only: bool) -> Place:
    """Where, in how many places more, and how often: `rank 1 loss +3 x5`."""
    more = [f"+{len(happening.others)}"] if happening.others else []
    more += [f"x{count(happening.repeats + 1)}"] if happening.repeats else []
    return _scope(happening.scope, ranks=ranks, ascii_only=ascii_only)._replace(more=" ".join(more))


def step_text(step: int) -> str:
    """`step 120`; a long one is rounded."""
    shown = str(step) if len(str(step)) <= STEP_DIGITS else count(step)
    return _("step {step}").format(step=shown)


def state_word(alert: Alert) -> str:
    """In one word."""
    return _(BACK) if alert.standing.reopened is not None else _(STATES[alert.standing.state])


def state_look(alert: Alert) -> str:
    """What still asks for a decision stands out; the rest is dim."""
    return "strong" if alert.standing.state is AlertState.ACTIVE else "dim"


def when_text(at: float, now: float) -> str:
    """`14:32:05` on the same day, with the date on another."""
    return clock(at) if moment(at)[:10] == moment(now)[:10] else moment(at)


def held_text(entry: Entry, now: float) -> str:
    """`until step 500`, `for ever`."""
    ends = when_text(entry.until.value, now) if entry.until.kind is UntilKind.TIME else ""
    return until_text(entry.until, ends)


def entry_text(entry: Entry, now: float, *, ascii_only: bool) -> str:
    """`acknowledged by li@node7 until step 500: known bad shard`."""
    text = _(NOTED[entry.kind])
    if entry.kind in (EntryKind.ANSWER, EntryKind.OUTCOME) and entry.subject:
        text += " " + safe(entry.subject, TEXT_LIMIT, ascii_only=ascii_only)
    if entry.who:
        text = _("{what} by {who}").format(what=text, who=safe(entry.who, ascii_only=ascii_only))
    if entry.kind in (EntryKind.ACKNOWLEDGED, EntryKind.SNOOZED):
        text += " " + held_text(entry, now)
    if entry.comment:
        text = headed(text, safe(entry.comment, TEXT_LIMIT, ascii_only=ascii_only))
    return text


def state_text(alert: Alert, now: float, *, ascii_only: bool) -> str:
    """The state in a sentence: since when, by whom, until when, or why it is active again."""
    standing = alert.standing
    since = _("{age} ago").format(age=age(now - standing.since))
    if standing.reopened is not None:
        text = _(REOPENED[standing.reopened])
        if standing.entry is not None and standing.reopened is not Reopening.BACK:
            return aside(text, entry_text(standing.entry, now, ascii_only=ascii_only))
        return commas([text, since])
    if standing.state is AlertState.ACTIVE:
        return _("active, raised {age}").format(age=since)
    if standing.state is AlertState.CLEARED:
        ended = alert.incident.happenings[-1].cleared_step
        text = _("cleared") if ended is None else _("cleared at step {step}").format(step=ended)
        if standing.entry is None:
            return commas([text, since])
        return aside(text, entry_text(standing.entry, now, ascii_only=ascii_only))
    if standing.entry is None:
        return commas([_(STATES[standing.state]), since])
    return commas([entry_text(standing.entry, now, ascii_only=ascii_only), since])


def counts_text(alerts: Sequence[Alert]) -> str:
    """`2 active, 1 acked`; empty without any."""
    parts = []
    for state, word in STATES.items():
        number = sum(alert.standing.state is state for alert in alerts)
        if number:
            parts.append(f"{number} {_(word)}")
    return commas(parts)


def same_as_fact(alert: Alert, facts: Sequence[ProcessFact]) -> bool:
    """The fact that the header would show is what this alert is about."""
    told = serious(facts)
    if not told:
        return False
    symptoms = TOLD_BY.get(told[0].kind, ())
    if told[0].weight is Weight.FATAL:
        symptoms += (Symptom.CRASH,)
    return any(each.symptom in symptoms for each in alert.incident.happenings)


def badges(alerts: Sequence[Alert], facts: Sequence[ProcessFact], *, ascii_only: bool) -> Tuple[Badge, ...]:
    """The worst active alert with the number of its severity, then what a process has told.

    Where both are one thing there is one badge: the alert's glyph with the words of the fact, which say more.
    """
    told = fact_badge(facts, ascii_only=ascii_only)
    gravest = worst(tuple(alerts))
    if gravest is None:
        return () if told is None else (told,)
    grade = GRADES[gravest.severity]
    number = sum(alert.rings and alert.severity is gravest.severity for alert in alerts)
    sign = glyph(gravest.severity, ascii_only=ascii_only)
    ringing = Badge(f"{sign} {_(grade.word)} {number}", grade.look)
    if told is None:
        return (ringing,)
    if not any(alert.rings and same_as_fact(alert, facts) for alert in alerts):
        return (ringing, told)
    words = told.text.partition(" ")[2]
    more = f" +{number - 1}" if number > 1 else ""
    return (Badge(f"{sign} {words}{more}", grade.look),)


def short_badge(alerts: Sequence[Alert], *, ascii_only: bool) -> Optional[Badge]:
    """`‼2`, where there is hardly any room."""
    gravest = worst(tuple(alerts))
    if gravest is None:
        return None
    number = sum(alert.rings and alert.severity is gravest.severity for alert in alerts)
    return Badge(f"{glyph(gravest.severity, ascii_only=ascii_only)}{number}", GRADES[gravest.severity].look)


def headline(alert: Alert, cells: int, *, ranks: bool, ascii_only: bool) -> str:
    """`Overflow streak at step 120 (rank 1 loss_scale), then Loss is NaN`: how it began, and the gravest of it.

    The place is left out where there is no room for it.
    """
    head = alert.incident.head
    text = _("{symptom} at step {step}").format(symptom=title(head.symptom), step=head.step)
    where = scope_text(head.scope, ranks=ranks, ascii_only=ascii_only)
    gravest = max(alert.incident.happenings, key=lambda each: each.severity)
    then = [_("then {symptom}").format(symptom=title(gravest.symptom))] if gravest.severity > head.severity else []
    full = commas([aside(text, where) if where else text, *then])
    return full if width(full) <= cells else commas([text, *then])
