"""One run judged once, without a screen: as text, as JSON, and as an exit code.

What it says is what the monitor says. It refuses to call a run healthy of which no rule could judge anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from mstui.i18n import _, aside, clauses, commas, current_language, enumerated, headed, mark, ngettext
from mstui.model.alert_view import Alert
from mstui.model.alerts import TITLES, Happening, Scope, Severity, Symptom, Verdict
from mstui.model.journal import AlertState
from mstui.model.log_view import ProcessFact, Weight
from mstui.model.runs import FileState, FileStatus, RunInfo
from mstui.monitor.alert_words import head_line, state_words, timeline_lines
from mstui.monitor.fact_words import fact_line
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe

SCHEMA = 1
"""Version of the JSON. Fields may be added under a number; removing one, or changing what it means, raises it."""
EXIT_HEALTHY, EXIT_ILL, EXIT_UNREADABLE, EXIT_UNKNOWN = 0, 1, 2, 3
FACTS_SHOWN = 10
"""Facts of the logs in the text; the JSON has all that are no mere news"""
CAUSES_SHOWN = 3
"""Likely causes in the text; the JSON has all that are not refuted"""
ABOUT_THE_PROCESS = frozenset(("crash", "stall"))
"""Rules that say nothing of the training: a process that ends well may have learnt nothing"""
NO_OBJECTIVES: Mapping[str, str] = {}
OBJECTIVE_WORDS: Mapping[str, str] = {
    "descending": mark("falls"),
    "signed": mark("falls, and may be negative"),
    "adversarial": mark("two nets pull at it"),
    "reward": mark("rises"),
    "unordered": mark("no direction"),
}
NAMES_SHOWN = 10
"""Other runs that are named in a line"""

_UNREAD = (
    FileState.DENIED,
    FileState.UNREADABLE,
    FileState.NOT_EVENTS,
    FileState.NOT_RECOGNISED,
    FileState.VANISHED,
    FileState.TORN,
    FileState.SUSPECT,
    FileState.QUEUED,
)
"""States in which a file, or its end, has not been read"""
_UNREAD_WORDS: Mapping[FileState, str] = {
    FileState.DENIED: mark("cannot be opened"),
    FileState.UNREADABLE: mark("cannot be read"),
    FileState.NOT_EVENTS: mark("is not an event file"),
    FileState.NOT_RECOGNISED: mark("is a text of which no line is understood; a pattern of your own can be given"),
    FileState.VANISHED: mark("vanished"),
    FileState.TORN: mark("ends inside a record, and its writer is gone"),
    FileState.SUSPECT: mark("the checksum of its last record is wrong"),
    FileState.QUEUED: mark("was not read"),
}


class Health(Enum):
    """The verdict on a run."""

    HEALTHY = "healthy"
    """rules judged, and none found anything from warn on that is still there"""
    WARN = "warn"
    ERROR = "error"
    CRITICAL = "critical"
    STALLED = "stalled"
    """nothing is wrong but that nothing comes any more"""
    NOT_JUDGED = "not-judged"
    UNREADABLE = "unreadable"
    """there is nothing that could be read"""


_HEALTH_WORDS: Mapping[Health, str] = {
    Health.HEALTHY: mark("healthy, as far as it was judged"),
    Health.WARN: mark("not well"),
    Health.ERROR: mark("ill"),
    Health.CRITICAL: mark("critically ill"),
    Health.STALLED: mark("stalled"),
    Health.NOT_JUDGED: mark("not judged: no rule had what it needs yet"),
    Health.UNREADABLE: mark("nothing of it can be read"),
}
_BY_SEVERITY: Mapping[Severity, Health] = {
    Severity.WARN: Health.WARN,
    Severity.ERROR: Health.ERROR,
    Severity.CRITICAL: Health.CRITICAL,
}


@dataclass(frozen=True)
class Report:
    """One run as it was judged."""

    run: RunInfo
    alerts: Tuple[Alert, ...]
    verdict: Verdict
    unread: Tuple[FileStatus, ...]
    """files that were not read to their end, or of which bytes were lost"""
    others: Tuple[str, ...] = ()
    """keys of the runs beside it, newest data first"""
    objectives: Mapping[str, str] = field(default_factory=dict)
    """what each loss was taken to be supposed to do, by tag"""
    facts: Tuple[ProcessFact, ...] = ()
    """what the processes and their probes have told in logs, mere news left out"""

    @property
    def standing(self) -> Tuple[Alert, ...]:
        """What counts: not over, and not called intended by a person."""
        settled = (AlertState.CLEARED, AlertState.INTENDED)
        return tuple(alert for alert in self.alerts if alert.standing.state not in settled)

    @property
    def health(self) -> Health:
        """The verdict."""
        grave = [alert for alert in self.standing if alert.severity >= Severity.WARN]
        ill = [alert.severity for alert in grave if not _is_stall(alert)]
        if ill:
            return _BY_SEVERITY[max(ill)]
        if grave:
            return Health.STALLED
        if any(rule not in ABOUT_THE_PROCESS for rule in self.verdict.judged):
            return Health.HEALTHY
        nothing = self.run.bytes_total == 0 or self.run.bytes_read > 0
        return Health.NOT_JUDGED if nothing and not self._all_unread else Health.UNREADABLE

    @property
    def _all_unread(self) -> bool:
        """Every file of it is one that nothing can be read of."""
        hopeless = (FileState.DENIED, FileState.UNREADABLE, FileState.NOT_EVENTS, FileState.NOT_RECOGNISED)
        return bool(self.unread) and sum(file.state in hopeless for file in self.unread) == self.run.file_count

    def exit_code(self, fail_on: Severity) -> int:
        """0 healthy, 1 at or above the level, 2 nothing readable, 3 stalled or not judged."""
        grave = [alert for alert in self.standing if alert.severity >= Severity.WARN]
        if any(alert.severity >= fail_on and not _is_stall(alert) for alert in grave):
            return EXIT_ILL
        if any(_is_stall(alert) for alert in grave):
            return EXIT_UNKNOWN
        health = self.health
        if health is Health.UNREADABLE:
            return EXIT_UNREADABLE
        return EXIT_UNKNOWN if health is Health.NOT_JUDGED else EXIT_HEALTHY


def make_report(monitor: MonitorApi, run: RunInfo, objectives: Mapping[str, str] = NO_OBJECTIVES) -> Report:
    """The run as the monitor has judged it. `objectives`: what each loss was taken to be supposed to do, by tag."""
    verdict = monitor.verdict(run.key)
    unread = tuple(file for file in monitor.files(run.key) if file.state in _UNREAD or file.skipped_bytes)
    others = tuple(each.key for each in monitor.runs() if each.key != run.key)
    language = current_language()
    alerts = tuple(
        replace(alert, causes=tuple(monitor.fetch_causes(run.key, alert.id, language)))
        for alert in monitor.alerts(run.key)
    )
    facts = tuple(fact for fact in monitor.process_facts(run.key) if fact.weight is not Weight.NEWS)
    return Report(run, alerts, verdict or Verdict((), ()), unread, others, objectives, facts)


def as_text(report: Report) -> List[str]:
    """Lines for a person."""
    run = report.run
    health = report.health
    stands = [_(_HEALTH_WORDS[health])]
    stands += [] if run.last_step is None else [_("step {step}").format(step=run.last_step)]
    lines = [headed(safe(run.path), commas(stands))]
    for alert in report.alerts:
        lines.append("")
        lines.append(f"{head_line(alert)} [{commas([alert.id, state_words(alert)])}]")
        lines += [f"  {line}" for line in timeline_lines(alert)]
        likely = [cause for cause in alert.causes if not cause.refuted][:CAUSES_SHOWN]
        lines += ["  ? " + aside(safe(cause.title), cause.word) for cause in likely]
    lines += _fact_lines(report.facts)
    lines.append("")
    lines += verdict_lines(report.verdict)
    if report.objectives:
        taken = enumerated(aside(safe(tag), _(OBJECTIVE_WORDS[word])) for tag, word in report.objectives.items())
        lines.append(_("losses were taken as: {losses}").format(losses=taken))
    for file in report.unread:
        lines.append(_("unread: {path}: {reason}").format(path=safe(file.path), reason=_reason(file)))
    if report.others:
        names = ", ".join(safe(key) for key in report.others[:NAMES_SHOWN])
        words = ngettext(
            "{n} other run is not judged; --run chooses it: {names}",
            "{n} other runs are not judged; --run chooses one: {names}",
            len(report.others),
        )
        lines.append(words.format(n=len(report.others), names=names))
    return lines


def _fact_lines(facts: Sequence[ProcessFact]) -> List[str]:
    """What no rule judges is told all the same, in the words of the logs."""
    if not facts:
        return []
    lines = ["", _("the logs say:"), *(f"  {fact_line(fact)}" for fact in facts[:FACTS_SHOWN])]
    more = len(facts) - FACTS_SHOWN
    if more > 0:
        lines.append("  " + ngettext("{n} more fact in the logs", "{n} more facts in the logs", more).format(n=more))
    return lines


def verdict_lines(verdict: Verdict) -> List[str]:
    """How much of the rules could judge, and what the others lack."""
    count = len(verdict.judged) + len(verdict.not_judged)
    lines = [_("judged {n} of {total} rules").format(n=len(verdict.judged), total=count)]
    words = _("not judged: {rule} ({because}); needs {needs}")
    lines += [
        words.format(rule=each.rule, because=each.because.say(), needs=each.needs.say()) for each in verdict.not_judged
    ]
    return lines


def as_json(report: Report, fail_on: Severity) -> Dict[str, Any]:
    """The same as plain values; see docs/check.md. Texts are as the files hold them."""
    return {
        "schema": SCHEMA,
        "run": report.run.key,
        "path": report.run.path,
        "verdict": report.health.value,
        "exit_code": report.exit_code(fail_on),
        "last_step": report.run.last_step,
        "objectives": dict(report.objectives),
        "judged": list(report.verdict.judged),
        "not_judged": [
            {"rule": each.rule, "because": each.because.say(), "needs": each.needs.say()}
            for each in report.verdict.not_judged
        ],
        "incidents": [incident_json(alert) for alert in report.alerts],
        "facts": [_fact_json(fact) for fact in report.facts],
        "unread": [
            {"path": file.path, "state": file.state.value, "reason": _reason(file), "skipped_bytes": file.skipped_bytes}
            for file in report.unread
        ],
    }


def incident_json(alert: Alert) -> Dict[str, Any]:
    """One incident: its first symptom, the gravest severity of all of them, and what followed."""
    return {
        "id": alert.id,
        **_happening_json(alert.incident.head),
        "worst": severity_name(alert.severity),
        "state": alert.standing.state.value,
        "reopened": None if alert.standing.reopened is None else alert.standing.reopened.value,
        "timeline": [_happening_json(each) for each in alert.incident.timeline],
        "causes": [
            {"id": cause.id, "score": cause.score, "because": list(cause.because)}
            for cause in alert.causes
            if not cause.refuted
        ],
    }


def _happening_json(happening: Happening) -> Dict[str, Any]:
    return {
        "symptom": happening.symptom.value,
        "title": _(TITLES[happening.symptom]),
        "severity": severity_name(happening.severity),
        "step": happening.step,
        "detected_step": happening.detected_step,
        "wall_time": happening.wall_time if math.isfinite(happening.wall_time) else None,
        "cleared_step": happening.cleared_step,
        "scope": _scope_json(happening.scope),
        "others": [_scope_json(scope) for scope in happening.others],
        "repeats": happening.repeats,
        "evidence": [each.say() for each in happening.evidence],
    }


def _scope_json(scope: Scope) -> Dict[str, Any]:
    return {"tag": scope.tag, "layer": scope.layer, "rank": scope.rank_id}


def _fact_json(fact: ProcessFact) -> Dict[str, Any]:
    return {
        "kind": fact.kind.value,
        "weight": fact.weight.value,
        "rank": fact.rank_id,
        "step": fact.step,
        "wall_time": fact.wall_time,
        "text": fact.text,
        "meaning": fact.meaning,
        "code": fact.code,
        "count": fact.count,
        "consequence": fact.consequence,
        "path": fact.place.file.path,
    }


def severity_name(severity: Severity) -> str:
    """As options and JSON spell it."""
    return severity.name.lower()


def alert_lines(alerts: Sequence[Alert]) -> List[str]:
    """A list of alerts, one line each with its id first."""
    return [f"{alert.id}  {_state(alert)}  {head_line(alert)}" for alert in alerts]


def _state(alert: Alert) -> str:
    who = alert.standing.entry.who if alert.standing.entry is not None else ""
    words = state_words(alert)
    if who and alert.standing.state in (AlertState.ACKNOWLEDGED, AlertState.SNOOZED, AlertState.INTENDED):
        words = _("{state} by {who}").format(state=words, who=safe(who))
    return words


def _is_stall(alert: Alert) -> bool:
    """Nothing but silence."""
    return all(each.symptom is Symptom.STALL for each in alert.incident.happenings)


def _reason(file: FileStatus) -> str:
    words = [_(_UNREAD_WORDS[file.state])] if file.state in _UNREAD_WORDS else []
    if file.detail:
        words.append(safe(file.detail))
    if file.skipped_bytes:
        n = file.skipped_bytes
        said = ngettext("{n} byte is damaged and was passed over", "{n} bytes are damaged and were passed over", n)
        words.append(said.format(n=n))
    return clauses(words)


def chosen_run(runs: Sequence[RunInfo], wanted: Optional[str]) -> Optional[RunInfo]:
    """The run that a person named, else the one that is loaded, else the newest."""
    if wanted is not None:
        return next((run for run in runs if run.key == wanted), None)
    return next((run for run in runs if run.loaded), runs[0] if runs else None)
