"""The journal on disk: an SQLite file that several mstui write at once, also on a network file system.

Entries are only added, each in a transaction of its own, with a rollback journal (WAL needs shared memory, which NFS
has not). A journal that cannot be written is a state with words for it, never an exception: entries are then kept in
memory and stored when it can be written again. It is used by one thread and decides nothing; see `standing`.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Sized, Tuple

from mstui.i18n import _
from mstui.model.journal import Bearing, Entry, EntryKind, Until, UntilKind
from mstui.safe_text import safe

FILE_NAME = "journal.sqlite3"
SCHEMA = 1
"""Version of the tables, in the file's user_version. A file of a later version is read as far as it is known."""
BUSY_S = 1.0
"""Longest wait for another writer. Its transactions take milliseconds; a longer wait is a hung network."""
MOST_UNSAVED = 10_000
"""Entries kept in memory while the file cannot be written; the oldest go first."""
MOST_COMMENT = 4000
"""Characters of a comment that are kept."""

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    incident TEXT NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    who TEXT NOT NULL,
    comment TEXT NOT NULL,
    subject TEXT NOT NULL,
    until_kind TEXT NOT NULL,
    until_value REAL NOT NULL,
    step INTEGER,
    restarts INTEGER NOT NULL,
    magnitude REAL
);
CREATE INDEX IF NOT EXISTS entries_of_run ON entries (run, seq);
CREATE INDEX IF NOT EXISTS entries_of_incident ON entries (incident, seq);
"""
_COLUMNS = "incident, kind, at, who, comment, subject, until_kind, until_value, step, restarts, magnitude"
_INSERT = f"INSERT INTO entries (run, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  constants
_SELECT = f"SELECT seq, {_COLUMNS} FROM entries"  # noqa: S608  constants


_KINDS = frozenset(kind.value for kind in EntryKind)
_UNTILS = frozenset(kind.value for kind in UntilKind)
_SAID = (EntryKind.ANSWER, EntryKind.OUTCOME)
"""kinds of what a person says in a guided check"""


class JournalState(NamedTuple):
    """Can the journal be kept."""

    ok: bool
    detail: str = ""
    """what is wrong, and where; safe to show"""
    unsaved: int = 0
    """entries that are in memory only"""
    lost: int = 0
    """entries that were dropped: there were too many to keep in memory"""
    foreign: int = 0
    """entries of a later version of mstui, left out of the runs that were read, each as it was read last"""


class Journal:
    """The journal of one state directory."""

    def __init__(self, state_dir: str, *, read_only: bool = False) -> None:
        """Opens nothing yet. An empty `state_dir` keeps everything in memory; `read_only` what is added."""
        self._read_only = read_only
        self._path = os.path.join(state_dir, FILE_NAME) if state_dir else ""
        self._connection: Optional[sqlite3.Connection] = None
        self._unsaved: List[Tuple[str, Entry]] = []
        self._detail = "" if self._path else _("kept in memory only: there is no state directory")
        self._refusal = ""
        """why it could not be written; a reading that succeeds says nothing of that"""
        self._lost = 0
        self._foreign: Mapping[str, int] = {}
        """by run; replaced, never changed: the state is asked by other threads"""
        self._version: Optional[int] = None

    @property
    def state(self) -> JournalState:
        """Whether it can be kept."""
        detail = self._refusal or self._detail
        return JournalState(not detail, detail, len(self._unsaved), self._lost, sum(self._foreign.values()))

    def add(self, run: str, entries: Sequence[Entry]) -> bool:
        """Note these about a run, named by its identity. False when they are in memory only."""
        kept = [replace(entry, comment=entry.comment[:MOST_COMMENT]) for entry in entries]
        self._unsaved += [(run, entry) for entry in kept]
        return self.flush()

    def flush(self) -> bool:
        """Store what could not be stored before. True when nothing is left."""
        if not self._unsaved:
            return True
        waiting = self._unsaved
        rows = [_row(*each) for each in waiting]
        stored = not self._read_only and self._attempt(lambda connection: connection.executemany(_INSERT, rows))
        if stored:
            self._unsaved = []
        elif len(waiting) > MOST_UNSAVED:
            self._lost += len(waiting) - MOST_UNSAVED
            self._unsaved = waiting[-MOST_UNSAVED:]
        return stored

    def entries(self, run: str, answers: Sequence[str] = ()) -> Dict[str, List[Entry]]:
        """Every entry about a run, by incident, oldest first; those in memory last.

        answers: other names under which a person's answers to checks about it may be; nothing else is read of those.
        """
        rows: List[Tuple[Any, ...]] = []
        query = f"{_SELECT} WHERE run = ? OR (run IN ({_places(answers)}) AND kind IN ({_places(_SAID)})) ORDER BY seq"
        arguments = (run, *answers, *(kind.value for kind in _SAID))
        self._attempt(lambda connection: rows.extend(connection.execute(query, arguments)), create=False)
        known = [row for row in rows if row[2] in _KINDS and row[7] in _UNTILS]
        self._foreign = {**self._foreign, run: len(rows) - len(known)}
        found = list(map(_entry, known))
        others = frozenset(answers)
        found += [entry for owner, entry in self._unsaved if owner == run or (owner in others and entry.kind in _SAID)]
        by_incident: Dict[str, List[Entry]] = {}
        for entry in found:
            by_incident.setdefault(entry.incident, []).append(entry)
        return by_incident

    def incidents_like(self, prefix: str) -> List[Tuple[str, str]]:
        """(run, incident) of every incident whose id begins so: for a person who types the beginning of one."""
        found: List[Tuple[str, str]] = []
        like = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        query = "SELECT DISTINCT run, incident FROM entries WHERE incident LIKE ? ESCAPE '\\' ORDER BY incident"
        self._attempt(lambda connection: found.extend(connection.execute(query, (like,)).fetchall()), create=False)
        found += [(run, entry.incident) for run, entry in self._unsaved if entry.incident.startswith(prefix)]
        return list(dict.fromkeys(found))

    def changed(self) -> bool:
        """Has another process written since this was last asked. Costs one page of the file."""
        if not self._path or (self._connection is None and not os.path.exists(self._path)):
            return False
        opened = self._connection is None
        version: List[int] = []
        self._attempt(lambda connection: version.append(_version(connection)), create=False)
        if not version:
            return False
        before, self._version = self._version, version[0]
        return opened or before != version[0]  # what was there when it was opened may not have been read yet

    def close(self) -> None:
        """Store what is left, and let go of the file."""
        self.flush()
        self._drop()

    def _attempt(self, work: Callable[[sqlite3.Connection], object], *, create: bool = True) -> bool:
        """Do one transaction; every refusal of the disk becomes the journal's state. `create`: it writes."""
        if not self._path:
            return False
        if not create and self._connection is None and not os.path.exists(self._path):
            return False
        try:
            connection = self._open()
            with connection:
                work(connection)
        except (sqlite3.Error, OSError) as error:
            detail = safe(_("{path}: {error}").format(path=self._path, error=error))
            self._refusal, self._detail = (detail, self._detail) if create else (self._refusal, detail)
            self._drop()
            return False
        self._refusal, self._detail = "" if create else self._refusal, ""
        return True

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=BUSY_S, check_same_thread=False)
            try:
                if connection.execute("PRAGMA user_version").fetchone()[0] < SCHEMA:
                    connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
            except sqlite3.Error:
                connection.close()
                raise
            self._connection = connection
            self._version = _version(connection)
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _places(values: Sized) -> str:
    """Question marks for so many values."""
    return ", ".join("?" * len(values))


def _version(connection: sqlite3.Connection) -> int:
    """A number that is another one when somebody else has written."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _row(run: str, entry: Entry) -> Tuple[object, ...]:
    bearing = entry.bearing
    return (
        run,
        entry.incident,
        entry.kind.value,
        entry.at,
        entry.who,
        entry.comment,
        entry.subject,
        entry.until.kind.value,
        entry.until.value,
        bearing.step,
        bearing.restarts,
        bearing.magnitude,
    )


def _entry(row: Tuple[Any, ...]) -> Entry:
    seq, incident, kind, at, who, comment, subject, until_kind, until_value, step, restarts, magnitude = row
    return Entry(
        str(incident),
        EntryKind(kind),
        float(at),
        str(who),
        str(comment),
        str(subject),
        Until(UntilKind(until_kind), float(until_value)),
        Bearing(step, restarts, magnitude),
        int(seq),
    )
