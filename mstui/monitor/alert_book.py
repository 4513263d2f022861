"""What persons have said of the incidents of each run, from the journal, and what mstui notes there itself.

Belongs to the monitor's thread. Ids are made of the run and of the symptom that an incident begins with, so that every
mstui that watches the run gives an incident the same one without asking, and that it stays the same when its onset is
known better.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from typing import Counter as CounterType
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.journal import Journal
from mstui.journal.standing import standing
from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.alerts import Incident, IncidentState
from mstui.model.journal import AlertState, Bearing, Entry, EntryKind, Standing

ID_DIGITS = 8
"""Of a SHA-256: two of a thousand incidents share an id once in ten thousand runs"""
GRAVER = 10.0
"""Times worse that an incident counts when its severity rises by one"""
LOOK_EVERY_S = 1.0
"""Seconds between two looks for what other processes have noted"""
_LAST_WORD = frozenset((EntryKind.RAISED, EntryKind.CLEARED))


class Run(NamedTuple):
    """A run as the journal knows it, and where it stands."""

    key: str
    identity: str
    """the same in every mstui: see `identity_of`"""
    step: Optional[int]
    restarts: int
    answers: Tuple[str, ...] = ()
    """other identities under which answers to its checklists may have been filed: see `identities`"""


def identity_of(real_path: str, started: Optional[int]) -> str:
    """A name for one training: its folder, and the second at which its first event file was made, where one was.

    Another training in the same folder is another run; one that was restarted from a checkpoint is the same.
    """
    told = f"{real_path}|{started if started is not None else ''}".encode("utf-8", "surrogateescape")
    return hashlib.sha256(told).hexdigest()[:16]


def incident_ids(identity: str, incidents: Sequence[Incident]) -> List[str]:
    """An id for each incident of a run."""
    seen: CounterType[str] = Counter()
    ids = []
    for incident in incidents:
        name = incident.head.symptom.value
        seen[name] += 1
        told = f"{identity}|{name}|{seen[name]}".encode("utf-8", "surrogateescape")
        ids.append(hashlib.sha256(told).hexdigest()[:ID_DIGITS])
    return ids


def magnitude(incident: Incident) -> float:
    """How bad it is, to be compared with itself later: in how many places and how often it was seen, and how grave."""
    seen = sum(1 + len(each.others) + each.repeats for each in incident.happenings)
    return float(seen * GRAVER**incident.severity)


def subject_of(incident: Incident) -> str:
    """What "intended" is remembered for: this symptom of this tag, whenever it comes again in the run."""
    return f"{incident.head.symptom.value}|{incident.head.scope.tag}"


class AlertBook:
    """Alerts of every loaded run."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._entries: Dict[str, Tuple[Tuple[str, ...], Dict[str, List[Entry]]]] = {}
        """by identity of the run: its other names at the last reading, and what was read, by incident"""
        self._looked_at = float("-inf")
        self._seen: Dict[Tuple[str, str], IncidentState] = {}
        """by identity of the run and incident: how it stood when it was compared with the journal"""
        self.alerts: Mapping[str, Tuple[Alert, ...]] = {}
        """by run key, in the order in which they were raised; replaced, never changed"""
        self.entries: Mapping[str, Mapping[str, Tuple[Entry, ...]]] = {}
        """by run key and incident, oldest first; replaced, never changed"""

    @property
    def health(self) -> JournalHealth:
        """Can the journal be kept."""
        state = self._journal.state
        return JournalHealth(state.ok, state.detail, state.unsaved, state.lost, state.foreign)

    def note(self, run: Run, entry: Entry) -> None:
        """A person's word about an incident of a run; where it stands is added here."""
        alert = next((each for each in self.alerts.get(run.key, ()) if each.id == entry.incident), None)
        if alert is not None:
            entry = replace(entry, bearing=_bearing(run, alert.incident))
            if entry.kind is EntryKind.INTENDED and not entry.subject:
                entry = replace(entry, subject=subject_of(alert.incident))
        self._add(run.identity, [entry])

    def look(self, now: float) -> None:
        """Read what other processes have noted, from time to time; store what could not be stored before."""
        if 0.0 <= now - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = now
        if self._journal.state.unsaved:
            self._journal.flush()
        if self._journal.changed():
            self._entries = {}

    def update(self, run: Run, incidents: Sequence[Incident], now: float) -> bool:
        """Bring the alerts of a run up to date. True when they are others than before."""
        known = self._known(run)
        ids = incident_ids(run.identity, incidents)
        news: List[Entry] = []
        for alert_id, incident in zip(ids, incidents):
            # Only what has changed here is noted: two mstui that see it differently would correct each other for ever.
            if self._seen.get((run.identity, alert_id)) is not incident.state:
                self._seen[run.identity, alert_id] = incident.state
                bearing = _bearing(run, incident)
                news += [
                    Entry(alert_id, kind, at or now, subject=subject_of(incident), bearing=bearing)
                    for kind, at in _changes(known.get(alert_id, ()), incident)
                ]
        for identity, alert_id in [each for each in self._seen if each[0] == run.identity and each[1] not in ids]:
            # Judged anew, it is not there any more.
            if self._seen.pop((identity, alert_id)) is IncidentState.OPEN:
                news.append(Entry(alert_id, EntryKind.CLEARED, now))
        if news:
            self._add(run.identity, news)
            known = self._known(run)
        intended = intended_in(known)
        found = tuple(
            self._alert(run, alert_id, incident, known, intended, now) for alert_id, incident in zip(ids, incidents)
        )
        entries = {incident: tuple(noted) for incident, noted in known.items()}
        if found == self.alerts.get(run.key, ()) and entries == self.entries.get(run.key, {}):
            return False
        self.entries = {**self.entries, run.key: entries}
        self.alerts = {**self.alerts, run.key: found}
        return True

    def forget(self, run_key: str) -> None:
        """The run is not loaded any more."""
        self.alerts = {key: alerts for key, alerts in self.alerts.items() if key != run_key}
        self.entries = {key: entries for key, entries in self.entries.items() if key != run_key}

    def close(self) -> None:
        """Store what is left."""
        self._journal.close()

    def _alert(
        self,
        run: Run,
        alert_id: str,
        incident: Incident,
        known: Mapping[str, Sequence[Entry]],
        intended: Mapping[str, Entry],
        now: float,
    ) -> Alert:
        stands = standing(
            known.get(alert_id, ()),
            _bearing(run, incident),
            now,
            raised_at=_raised_at(known.get(alert_id, ()), incident, now),
            present=incident.state is IncidentState.OPEN,
        )
        meant = intended.get(subject_of(incident))
        if meant is not None and stands.state in (AlertState.ACTIVE, AlertState.CLEARED):
            stands = Standing(AlertState.INTENDED, meant.at, meant)
        return Alert(alert_id, run.key, incident, stands)

    def _known(self, run: Run) -> Dict[str, List[Entry]]:
        found = self._entries.get(run.identity)
        if found is None or found[0] != run.answers:
            found = self._entries[run.identity] = run.answers, self._journal.entries(run.identity, run.answers)
        return found[1]

    def _add(self, identity: str, entries: Sequence[Entry]) -> None:
        self._journal.add(identity, entries)
        self._entries.pop(identity, None)


def _changes(entries: Sequence[Entry], incident: Incident) -> List[Tuple[EntryKind, float]]:
    """What the journal does not know yet of an incident, and since when, 0.0 where that is not known."""
    last = next((entry.kind for entry in reversed(entries) if entry.kind in _LAST_WORD), None)
    found: List[Tuple[EntryKind, float]] = []
    if last is None:
        found.append((EntryKind.RAISED, incident.head.wall_time))
    elif last is EntryKind.CLEARED and incident.state is IncidentState.OPEN:
        found.append((EntryKind.RAISED, max(each.wall_time for each in incident.happenings)))
    if last is not EntryKind.CLEARED and incident.state is IncidentState.CLEARED:
        found.append((EntryKind.CLEARED, max(each.cleared_wall for each in incident.happenings)))
    return found


def _raised_at(entries: Sequence[Entry], incident: Incident, now: float) -> float:
    """When it was raised; where its records have no time, when the first mstui noted it."""
    noted = (entry.at for entry in entries if entry.kind is EntryKind.RAISED)
    return incident.head.wall_time or next(noted, now)


def _bearing(run: Run, incident: Incident) -> Bearing:
    return Bearing(run.step, run.restarts, magnitude(incident))


def intended_in(known: Mapping[str, Sequence[Entry]]) -> Dict[str, Entry]:
    """What a person has called intended and not taken back, by subject; of a run's entries by incident."""
    found: Dict[str, Entry] = {}
    for entries in known.values():
        meant: Optional[Entry] = None
        for entry in entries:
            if entry.kind is EntryKind.INTENDED:
                meant = entry
            elif entry.kind is EntryKind.UNACKNOWLEDGED:
                meant = None
        if meant is not None:
            found[meant.subject] = meant
    return found
