"""Runs `alerts`, `ack`, `unack`, `snooze` and `intended`: what a screen says and asks of alerts, in a shell.

The words go into the journal that every mstui on this host reads; none need be running.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import click

from mstui.cli.checking import Judged, judge, print_json, rows
from mstui.cli.settings import read_settings
from mstui.config import Settings, default_state_dir, override
from mstui.errors import StartError
from mstui.i18n import _, headed, mark, ngettext
from mstui.journal import Journal
from mstui.journal.foreign import left_out_text
from mstui.journal.standing import standing, taken_back_by
from mstui.journal.until import parse_until, until_text
from mstui.journal.who import user_at_host
from mstui.model.alert_view import Alert
from mstui.model.journal import FOR_EVER, NO_BEARING, AlertState, Entry, EntryKind, Until, UntilKind
from mstui.monitor.alert_book import intended_in
from mstui.monitor.alert_words import head_line, subject_line
from mstui.report import alert_lines, incident_json
from mstui.safe_text import safe

IDS_SHOWN = 20
"""Alerts listed in an error"""
COMMENT_SHOWN = 200
SCHEMA = 1
UNTIL_FORMS = "ever | 30m | step:500 | restart | worse | 2027-01-31T08:00"

KIND_WORDS: Mapping[EntryKind, str] = {
    EntryKind.RAISED: mark("raised"),
    EntryKind.CLEARED: mark("cleared"),
    EntryKind.ACKNOWLEDGED: mark("acknowledged"),
    EntryKind.UNACKNOWLEDGED: mark("acknowledgement taken back"),
    EntryKind.SNOOZED: mark("snoozed"),
    EntryKind.INTENDED: mark("intended"),
    EntryKind.ANSWER: mark("check answered"),
    EntryKind.OUTCOME: mark("outcome"),
}


class _Found(NamedTuple):
    """The alert that a person named."""

    run: str
    """the run's identity in the journal"""
    incident: str
    title: str = ""
    """what it is, in words; empty where nothing was noted of that"""

    def told(self, what: str) -> str:
        """One line about it."""
        line = f"{self.incident} {what}"
        return headed(line, self.title) if self.title else line


class _Noted(NamedTuple):
    """What became of a person's word."""

    found: _Found
    stored: bool
    trouble: str = ""
    """why it could not be stored"""
    needless: bool = False
    """there was nothing to take back"""


def alerts(
    path: str, config: Optional[str], options: Mapping[str, Any], *, as_data: bool, everything: bool, history: bool
) -> int:
    """Print the alerts of one run: those that are there, all of them, or what was noted about each."""
    judged = judge(path, config, options, journal_kept=True)
    try:
        _trouble(judged)
        found = judged.monitor.alerts(judged.run.key)
        shown = found if everything or history else [each for each in found if _is_open(each)]
        if as_data:
            print_json(_json(judged, shown))
        elif history:
            click.echo("\n".join(_history(judged, shown)) or _("no alerts"))
        else:
            click.echo("\n".join(alert_lines(shown)) or _("no alerts"))
            if len(shown) < len(found):
                n = len(found) - len(shown)
                said = ngettext(
                    "{n} more is cleared or intended; --all lists it",
                    "{n} more are cleared or intended; --all lists them",
                    n,
                )
                click.echo(said.format(n=n))
    finally:
        judged.monitor.close()
    return 0


def note(
    kind: EntryKind,
    alert_id: str,
    path: Optional[str],
    config: Optional[str],
    options: Mapping[str, Any],
    *,
    until: str = "ever",
    comment: str = "",
) -> int:
    """Note a person's word about an alert.

    Raises StartError for an id that is unknown or stands for several, for an `until` that cannot be understood, and for
    a journal that cannot be written.
    """
    now = time.time()
    held = parse_end(until, now)
    entry = Entry("", kind, now, user_at_host(), comment, until=held)
    if path is None:
        noted = _note_in_journal(entry, alert_id, config, options)
    else:
        noted = _note_in_run(entry, alert_id, path, config, options)
    if noted.needless:
        click.echo(noted.found.told(_("nothing to take back")))
        return 0
    if not noted.stored:
        remedy = _("Nothing was noted. Make it writable, or name another place with --state-dir.")
        raise StartError(_("the journal cannot be written"), noted.trouble, remedy)
    words = _(KIND_WORDS[kind])
    if kind in (EntryKind.ACKNOWLEDGED, EntryKind.SNOOZED):
        words += " " + until_text(held, _clock(held.value) if held.kind is UntilKind.TIME else "")
    click.echo(noted.found.told(words))
    return 0


def parse_end(text: str, now: float) -> Until:
    """`ever`, `30m`, `step:500`, `restart`, `worse`, or a local time as 2027-01-31T08:00. Raises StartError."""
    found = parse_until(text.replace(":", " ", 1) if text.casefold().startswith("step") else text, now)
    if found is not None:
        return found
    try:
        end = datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        remedy = _("Expected: {expected}").format(expected=UNTIL_FORMS)
        raise StartError(_("cannot understand for how long: {text}").format(text=safe(text)), "", remedy) from None
    if end <= now:
        raise StartError(_("this time is over: {text}").format(text=safe(text)), "", "")
    return Until(UntilKind.TIME, end)


def _note_in_journal(entry: Entry, alert_id: str, config: Optional[str], options: Mapping[str, Any]) -> _Noted:
    """Without looking at the run: all that is known of the alert is what the journal tells."""
    if entry.until.kind in (UntilKind.RESTART, UntilKind.WORSE):
        remedy = _("Give the path that is watched as well: mstui ack {id} PATH.")
        raise StartError(_("this is measured by how the run stands now"), "", remedy.format(id=safe(alert_id)))
    settings = _settings(config, options)
    journal = Journal(settings.state_dir)
    try:
        known = [_Found(*each) for each in journal.incidents_like(_spelt(alert_id))]
        remedy = _(
            "`mstui alerts PATH` lists the alerts of a run. Only those that a mstui has seen are in the journal."
        )
        found = _only(known, alert_id, journal.state.detail or settings.state_dir, remedy)
        of_run = journal.entries(found.run)
        noted = of_run.get(found.incident, [])
        subject = next((each.subject for each in reversed(noted) if each.kind is EntryKind.RAISED), "")
        found = found._replace(title=subject_line(subject))
        about = found.incident
        if entry.kind is EntryKind.INTENDED:
            entry = replace(entry, subject=subject)
        elif entry.kind is EntryKind.UNACKNOWLEDGED:
            stands = standing(noted, NO_BEARING, entry.at, raised_at=0.0, present=True)
            said = taken_back_by(stands) or intended_in(of_run).get(subject)
            if said is None:
                return _Noted(found, stored=False, needless=True)
            about = said.incident
        stored = journal.add(found.run, [replace(entry, incident=about)])
        return _Noted(found, stored, journal.state.detail)
    finally:
        journal.close()


def _note_in_run(entry: Entry, alert_id: str, path: str, config: Optional[str], options: Mapping[str, Any]) -> _Noted:
    """Judge the run, and note where the alert stands now."""
    judged = judge(path, config, options, journal_kept=True)
    monitor, run = judged.monitor, judged.run
    try:
        listed = monitor.alerts(run.key)
        spelt = _spelt(alert_id)
        known = [_Found("", alert.id, head_line(alert)) for alert in listed if alert.id.startswith(spelt)]
        names = "\n  ".join(alert_lines(listed[:IDS_SHOWN])) or _("no alerts")
        found = _only(known, alert_id, safe(run.path), names)
        about = found.incident
        if entry.kind is EntryKind.UNACKNOWLEDGED:
            said = next(taken_back_by(alert.standing) for alert in listed if alert.id == found.incident)
            if said is None:
                return _Noted(found, stored=False, needless=True)
            about = said.incident
        monitor.note(run.key, [replace(entry, incident=about)])
        monitor.look_once(judged.now)
        health = monitor.journal_health()
        return _Noted(found, health.ok and not health.unsaved, health.detail)
    finally:
        monitor.close()


def _only(known: Sequence[_Found], alert_id: str, where: str, remedy: str) -> _Found:
    """The one that is meant."""
    if len(known) == 1:
        return known[0]
    if not known:
        raise StartError(_("no alert {id}").format(id=safe(alert_id)), where, remedy)
    names = ", ".join(each.incident for each in known[:IDS_SHOWN])
    what = _("{n} alerts begin with {id}").format(n=len(known), id=safe(alert_id))
    raise StartError(what, where, _("Name one of them: {names}").format(names=names))


def _spelt(alert_id: str) -> str:
    return alert_id.strip().lower()


def _settings(config: Optional[str], options: Mapping[str, Any]) -> Settings:
    """Where the journal is; an option wins over the files."""
    settings = read_settings(None, config, options)
    return settings if settings.state_dir else override(settings, state_dir=default_state_dir())


def _is_open(alert: Alert) -> bool:
    return alert.standing.state not in (AlertState.CLEARED, AlertState.INTENDED)


def _trouble(judged: Judged) -> None:
    """A journal that cannot be kept, or not be read as a whole, is said, and no reason to stop."""
    health = judged.monitor.journal_health()
    if not health.ok:
        click.echo(_("the journal cannot be kept: {detail}").format(detail=health.detail), err=True)
    if health.foreign:
        click.echo(left_out_text(health.foreign), err=True)


def _json(judged: Judged, shown: Sequence[Alert]) -> Mapping[str, Any]:
    found = []
    for alert in shown:
        entry = alert.standing.entry
        history = judged.monitor.alert_entries(judged.run.key, alert.id)
        found.append(
            {
                **incident_json(alert),
                "since": alert.standing.since,
                "by": entry.who if entry is not None else None,
                "comment": entry.comment if entry is not None else None,
                "history": [_entry_json(each) for each in history],
            }
        )
    return {"schema": SCHEMA, "run": judged.run.key, "path": judged.run.path, "alerts": found}


def _entry_json(entry: Entry) -> Mapping[str, Any]:
    until = {"kind": entry.until.kind.value, "value": entry.until.value} if entry.until != FOR_EVER else None
    return {
        "kind": entry.kind.value,
        "at": entry.at,
        "who": entry.who,
        "comment": entry.comment,
        "subject": entry.subject,
        "until": until,
        "step": entry.bearing.step,
    }


def _history(judged: Judged, shown: Sequence[Alert]) -> List[str]:
    lines: List[str] = []
    for alert, line in zip(shown, alert_lines(shown)):
        lines.append(line)
        entries = judged.monitor.alert_entries(judged.run.key, alert.id)
        lines += [f"  {row}" for row in rows([_entry_row(entry) for entry in entries])] if entries else []
    return lines


def _entry_row(entry: Entry) -> Tuple[str, ...]:
    until = entry.until
    held = "" if until == FOR_EVER else until_text(until, _clock(until.value) if until.kind is UntilKind.TIME else "")
    subject = safe(entry.subject) if entry.kind in (EntryKind.ANSWER, EntryKind.OUTCOME) else ""
    said = " ".join(part for part in (subject, held, safe(entry.comment, COMMENT_SHOWN)) if part)
    return _clock(entry.at), _(KIND_WORDS[entry.kind]), safe(entry.who or "mstui"), said


def _clock(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return f"{at:g}"
