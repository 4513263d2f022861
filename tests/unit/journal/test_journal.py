"""The journal on disk: several writers, a killed writer, a disk that refuses."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mstui.journal import Journal
from mstui.model.journal import Bearing, Entry, EntryKind, Until, UntilKind

WRITER = """
import sys
from mstui.journal import Journal
from mstui.model.journal import Entry, EntryKind
state_dir, who, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
journal = Journal(state_dir)
print("ready", flush=True)
for at in range(number):
    journal.add("run", [Entry("incident", EntryKind.ACKNOWLEDGED, float(at), who=who)])
    while not journal.flush():  # it waits for a second only
        pass
    print(at, flush=True)
"""


def writer(state_dir: Path, who: str, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(state_dir), who, str(number)], stdout=subprocess.PIPE, text=True
    )


FULL = Entry(
    "a1b2",
    EntryKind.ACKNOWLEDGED,
    12.5,
    who="li@host",
    comment="知道了; nightly\nrun",
    subject="",
    until=Until(UntilKind.STEP, 400.0),
    bearing=Bearing(step=2**53, restarts=3, magnitude=float("inf")),
)


def test_what_is_noted_comes_back_as_it_was(tmp_path: Path) -> None:
    assert Journal(str(tmp_path)).add("run", [FULL])
    [again] = Journal(str(tmp_path)).entries("run")["a1b2"]
    assert again == Entry(**{**FULL.__dict__, "seq": 1})


def test_a_magnitude_that_is_not_a_number_is_kept_as_none(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    assert journal.add("run", [Entry("i", EntryKind.RAISED, 1.0, bearing=Bearing(magnitude=float("nan")))])
    assert journal.entries("run")["i"][0].bearing.magnitude is None


def test_runs_do_not_see_each_other(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.add("one", [Entry("i", EntryKind.RAISED, 1.0)])
    assert journal.entries("two") == {}


def test_nothing_is_made_on_the_disk_before_there_is_something_to_note(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "state"))
    assert journal.entries("run") == {}
    assert not journal.changed()
    assert journal.state.ok
    assert not (tmp_path / "state").exists()


def test_the_directory_is_the_persons_own(tmp_path: Path) -> None:
    Journal(str(tmp_path / "state")).add("run", [FULL])
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_the_beginning_of_an_id_finds_the_incident(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.add("run", [FULL, Entry("a1c3", EntryKind.RAISED, 1.0), Entry("%", EntryKind.RAISED, 1.0)])
    assert journal.incidents_like("a1b") == [("run", "a1b2")]
    assert journal.incidents_like("a1") == [("run", "a1b2"), ("run", "a1c3")]
    assert journal.incidents_like("%") == [("run", "%")]


def test_another_process_is_noticed(tmp_path: Path) -> None:
    mine, theirs = Journal(str(tmp_path)), Journal(str(tmp_path))
    mine.add("run", [FULL])
    assert not mine.changed()
    theirs.add("run", [Entry("a1b2", EntryKind.UNACKNOWLEDGED, 13.0)])
    assert mine.changed()
    assert not mine.changed()
    assert len(mine.entries("run")["a1b2"]) == 2


def test_two_processes_that_note_at_once_lose_nothing(tmp_path: Path) -> None:
    number = 150
    processes = [writer(tmp_path, who, number) for who in ("one", "two")]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    entries = Journal(str(tmp_path)).entries("run")["incident"]
    assert sorted((entry.who, entry.at) for entry in entries) == [
        (who, float(at)) for who in ("one", "two") for at in range(number)
    ]


def test_a_writer_killed_in_the_middle_leaves_whole_entries_and_a_usable_journal(tmp_path: Path) -> None:
    process = writer(tmp_path, "victim", 100_000)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    told = -1
    until = time.monotonic() + 0.4
    while time.monotonic() < until:
        told = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate(timeout=30)[0].split()
    told = max([told, *map(int, rest[:-1])])
    journal = Journal(str(tmp_path))
    stored = [entry.at for entry in journal.entries("run")["incident"]]
    assert stored[: told + 1] == [float(at) for at in range(told + 1)]
    assert journal.add("run", [FULL])


def test_a_journal_that_cannot_be_written_says_so_and_keeps_what_is_noted(tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where the directory should be")
    journal = Journal(str(blocked))
    assert not journal.add("run", [FULL])
    assert not journal.state.ok
    assert str(blocked) in journal.state.detail
    assert journal.state.unsaved == 1
    assert journal.entries("run") == {"a1b2": [FULL]}
    blocked.unlink()
    assert journal.add("run", [Entry("b", EntryKind.RAISED, 1.0)])
    assert journal.state == (True, "", 0, 0, 0)
    assert len(Journal(str(blocked)).entries("run")) == 2


def test_a_full_disk_is_said_and_what_was_noted_waits(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.add("run", [FULL])
    assert journal._connection is not None
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    big = [Entry("i", EntryKind.ANSWER, 1.0, comment="x" * 4000) for _ in range(100)]
    assert not journal.add("run", big)
    assert "full" in journal.state.detail
    assert journal.flush()
    assert len(journal.entries("run")["i"]) == 100


def test_a_read_only_journal_can_still_be_read(tmp_path: Path) -> None:
    Journal(str(tmp_path)).add("run", [FULL])
    journal = Journal(str(tmp_path))
    journal.entries("run")
    assert journal._connection is not None
    journal._connection.execute("PRAGMA query_only = 1")
    assert not journal.add("run", [Entry("b", EntryKind.RAISED, 1.0)])
    assert set(journal.entries("run")) == {"a1b2", "b"}


def test_a_journal_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").write_bytes(b"not a database, for certain" * 100)
    journal = Journal(str(tmp_path))
    assert not journal.add("run", [FULL])
    assert "not a database" in journal.state.detail
    assert journal.entries("run") == {"a1b2": [FULL]}


def test_entries_of_a_later_version_are_left_out_and_counted(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.add("run", [FULL, FULL])
    other = sqlite3.connect(tmp_path / "journal.sqlite3")
    other.execute("UPDATE entries SET kind = 'escalated' WHERE seq = 1")
    other.commit()
    other.close()
    assert [entry.seq for entry in journal.entries("run")["a1b2"]] == [2]
    assert journal.state.foreign == 1
    journal.entries("another run")
    assert journal.state.foreign == 1, "what was left out of one run is not forgotten by reading another"


@pytest.mark.parametrize("kept", [True, False], ids=["on disk", "in memory"])
def test_answers_to_checks_are_read_under_other_names_too_and_nothing_else_is(kept: bool, tmp_path: Path) -> None:
    journal = Journal(str(tmp_path) if kept else "")
    answer = Entry("checklist", EntryKind.ANSWER, 1.0, comment="yes", subject="st.lr")
    later = Entry("checklist", EntryKind.ANSWER, 2.0, comment="undo", subject="st.lr")
    meant = Entry("a1", EntryKind.INTENDED, 1.5, subject="loss-spike|loss")
    journal.add("folder", [answer, meant])
    journal.add("run", [later])
    found = journal.entries("run", ["folder", "nobody"])
    assert list(found) == ["checklist"]
    assert sorted(entry.at for entry in found["checklist"]) == [1.0, 2.0]
    if kept:
        assert [entry.at for entry in found["checklist"]] == [1.0, 2.0], "in the order in which they were noted"
    assert journal.entries("run") == {"checklist": found["checklist"][-1:]} or not kept


def test_what_another_name_holds_of_a_later_version_is_counted_for_answers_only(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path))
    journal.add("folder", [FULL, Entry("checklist", EntryKind.ANSWER, 1.0, comment="yes", subject="st.lr")])
    other = sqlite3.connect(tmp_path / "journal.sqlite3")
    other.execute("UPDATE entries SET until_kind = 'blue moon'")
    other.commit()
    other.close()
    assert journal.entries("run", ["folder"]) == {}
    assert journal.state.foreign == 1


def test_without_a_state_directory_everything_stays_in_memory() -> None:
    journal = Journal("")
    assert not journal.add("run", [FULL])
    assert journal.entries("run") == {"a1b2": [FULL]}
    assert journal.incidents_like("a1") == [("run", "a1b2")]
    assert not journal.changed()


def test_a_held_lock_is_waited_for_and_then_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mstui.journal.journal.BUSY_S", 0.05)
    Journal(str(tmp_path)).add("run", [FULL])
    holder = sqlite3.connect(tmp_path / "journal.sqlite3", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    journal = Journal(str(tmp_path))
    assert not journal.add("run", [Entry("b", EntryKind.RAISED, 1.0)])
    assert "locked" in journal.state.detail
    holder.execute("COMMIT")
    holder.close()
    assert journal.flush()
    assert os.listdir(tmp_path) == ["journal.sqlite3"]
