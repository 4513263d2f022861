"""Alerts in words, for every front end that writes lines: severity, symptom, place, step, evidence.

Texts that come from files are safe to show.
"""

from __future__ import annotations

from typing import List, Mapping, Sequence

from mstui.i18n import _, aside, clauses, commas, headed, mark
from mstui.model.alert_view import Alert
from mstui.model.alerts import TITLES, Evidence, Happening, Scope, Severity, Symptom
from mstui.model.journal import AlertState, Reopening
from mstui.safe_text import safe

SEVERITY_WORDS: Mapping[Severity, str] = {
    Severity.INFO: mark("INFO"),
    Severity.WATCH: mark("WATCH"),
    Severity.WARN: mark("WARNING"),
    Severity.ERROR: mark("ERROR"),
    Severity.CRITICAL: mark("CRITICAL"),
}
STATE_WORDS: Mapping[AlertState, str] = {
    AlertState.ACTIVE: mark("active"),
    AlertState.ACKNOWLEDGED: mark("acknowledged"),
    AlertState.SNOOZED: mark("snoozed"),
    AlertState.INTENDED: mark("intended"),
    AlertState.CLEARED: mark("cleared"),
}
REOPENED_WORDS: Mapping[Reopening, str] = {
    Reopening.TIME: mark("active again: the time is over"),
    Reopening.STEP: mark("active again: the step is reached"),
    Reopening.RESTART: mark("active again: the training was started again"),
    Reopening.WORSE: mark("active again: twice as bad"),
    Reopening.BACK: mark("active again: it has come back"),
    Reopening.TAKEN_BACK: mark("active again: the acknowledgement was taken back"),
}


_SYMPTOMS = frozenset(symptom.value for symptom in Symptom)


def severity_word(severity: Severity) -> str:
    """The word that is read before any colour."""
    return _(SEVERITY_WORDS[severity])


def state_words(alert: Alert) -> str:
    """Its state, and why it is active again where it is."""
    reopened = alert.standing.reopened
    return _(STATE_WORDS[alert.standing.state]) if reopened is None else _(REOPENED_WORDS[reopened])


def place_words(scope: Scope) -> str:
    """Series and rank; empty for what is about the whole run."""
    parts = [safe(scope.tag)] if scope.tag else []
    if scope.rank_id:
        parts.append(_("rank {rank}").format(rank=scope.rank_id))
    return commas(parts)


def places_words(happening: Happening) -> str:
    """The place where it was seen first, and how many more there are."""
    first = place_words(happening.scope)
    if not happening.others:
        return first
    return _("{place} and {n} more").format(place=first, n=len(happening.others))


def said(evidence: Sequence[Evidence]) -> str:
    """All of it in one line."""
    return clauses(each.say() for each in evidence)


def happening_line(happening: Happening) -> str:
    """One symptom in one line: `WARNING Loss spike at step 40 (loss): 9.3 at step 40; the level before was 0.4`."""
    line = _("{severity} {title} at step {step}").format(
        severity=severity_word(happening.severity), title=_(TITLES[happening.symptom]), step=happening.step
    )
    where = places_words(happening)
    if where:
        line = aside(line, where)
    words = said(happening.evidence)
    return headed(line, words) if words else line


def head_line(alert: Alert) -> str:
    """The incident by its first symptom, with the gravest word of all of them."""
    head = happening_line(alert.incident.head)
    if alert.severity > alert.incident.head.severity:
        head += " " + _("(now {severity})").format(severity=severity_word(alert.severity))
    return head


def subject_line(subject: str) -> str:
    """The symptom and tag that an entry of the journal is about: `Loss is NaN (loss)`.

    What a later version of mstui has noted is shown as it stands there.
    """
    symptom, _bar, tag = subject.partition("|")
    if symptom not in _SYMPTOMS:
        return safe(subject)
    title = _(TITLES[Symptom(symptom)])
    return aside(title, safe(tag)) if tag else title


def timeline_lines(alert: Alert) -> List[str]:
    """What followed, one line each."""
    return [_("then {happening}").format(happening=happening_line(each)) for each in alert.incident.timeline]
