"""Alerts through a running monitor: what a person says shows, is kept, and is shared."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Callable, List, Sequence

import pytest

from mstui.detect.base import Process
from mstui.ingest.watch import WatchMode
from mstui.journal import Journal
from mstui.model.alerts import Symptom
from mstui.model.journal import AlertState, Entry, EntryKind
from mstui.monitor import Monitor
from mstui.monitor.alerts import STATUS_KNOWN_S
from tests.unit.monitor.judged_runs import FINISHED, NOW, alerts_of, judged, look, losses, monitor_of, write_log

PATIENCE_S = 30.0
"""A thread that has not done it by then never will."""


def said(alert_id: str, kind: EntryKind = EntryKind.ACKNOWLEDGED) -> Entry:
    return Entry(alert_id, kind, NOW, who="li@host")


def wait_until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_a_person_says_shows_with_the_next_turn_and_after_a_restart(tmp_path: Path) -> None:
    write_log(tmp_path / "run", losses(1, 40, bad_from=30))
    monitor = judged(tmp_path / "run", state=str(tmp_path / "state"))
    (alert,) = alerts_of(monitor)
    assert alert.standing.state is AlertState.ACTIVE
    monitor.note(alert.run_key, [said(alert.id)])
    monitor.look_once(NOW)
    (alert,) = alerts_of(monitor)
    assert alert.standing.state is AlertState.ACKNOWLEDGED
    assert [entry.kind for entry in monitor.alert_entries(alert.run_key, alert.id)] == [
        EntryKind.RAISED,
        EntryKind.ACKNOWLEDGED,
    ]
    monitor.close()
    (again,) = alerts_of(judged(tmp_path / "run", state=str(tmp_path / "state")))
    assert (again.id, again.standing.state) == (alert.id, AlertState.ACKNOWLEDGED)


def test_a_run_is_looked_at_again_as_soon_as_its_status_can_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = ["Traceback (most recent call last):\n", '  File "train.py", line 3, in <module>\n', "ValueError: no\n"]
    write_log(tmp_path, [*losses(1, 40), *trace])
    now = [NOW]
    monitor = monitor_of(tmp_path, now)
    with monkeypatch.context() as patched:
        patched.setattr(monitor, "_listed", lambda _now: ())  # where a thread reads, the list is made after the look
        look(monitor, now)
    assert alerts_of(monitor) == ()
    due = monitor._alerts.due(NOW)
    assert due == NOW + STATUS_KNOWN_S, "not at the next look at the silence"
    look(monitor, now, due - NOW)
    assert [alert.incident.head.symptom for alert in alerts_of(monitor)] == [Symptom.CRASH]
    assert monitor._alerts.due(now[0]) > now[0], "who waits for it gets to sleep"


def test_an_id_is_the_same_whichever_folder_is_watched(tmp_path: Path) -> None:
    summary = Path(__file__).parents[2] / "data" / "summary" / "short_nan"
    folder = tmp_path / "out" / "run" / "summary"
    folder.mkdir(parents=True)
    for path in summary.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    found = {alerts_of(judged(root))[0].id for root in (folder, folder.parent, tmp_path / "out")}
    assert len(found) == 1


def test_intended_is_remembered_for_that_rule_and_tag_of_that_run_only(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    for name in ("one", "two"):
        write_log(tmp_path / name, losses(1, 40, bad_from=30))
    monitor = judged(tmp_path / "one", state=state)
    (alert,) = alerts_of(monitor)
    monitor.note(alert.run_key, [said(alert.id, EntryKind.INTENDED)])
    monitor.look_once(NOW)
    monitor.close()
    (same,) = alerts_of(judged(tmp_path / "one", state=state))
    (other,) = alerts_of(judged(tmp_path / "two", state=state))
    assert (same.standing.state, other.standing.state) == (AlertState.INTENDED, AlertState.ACTIVE)


def test_a_running_monitor_takes_a_word_at_once_and_keeps_the_last_one_when_it_stops(tmp_path: Path) -> None:
    write_log(tmp_path / "run", losses(1, 40, bad_from=30))
    state = str(tmp_path / "state")
    monitor = Monitor(str(tmp_path / "run"), watch=WatchMode.POLL, journal=Journal(state), process=FINISHED)
    heard = threading.Event()
    monitor.start(lambda _revision: heard.set())
    try:
        wait_until(lambda: bool(monitor.runs() and monitor.alerts(monitor.runs()[0].key)))
        (alert,) = alerts_of(monitor)
        monitor.note(alert.run_key, [said(alert.id)])
        wait_until(lambda: alerts_of(monitor)[0].standing.state is AlertState.ACKNOWLEDGED)
        assert heard.is_set()
        monitor.note(alert.run_key, [said(alert.id, EntryKind.UNACKNOWLEDGED)])
    finally:
        monitor.stop()
    ((*_earlier, last),) = Journal(state).entries(Journal(state).incidents_like(alert.id)[0][0]).values()
    assert last.kind is EntryKind.UNACKNOWLEDGED


def test_two_monitors_of_one_run_tell_each_other(tmp_path: Path) -> None:
    write_log(tmp_path / "run", losses(1, 40, bad_from=30))
    now = [NOW]
    both = [
        monitor_of(tmp_path / "run", now, journal=Journal(str(tmp_path / "state")), process=FINISHED) for _ in range(2)
    ]
    for monitor in both:
        look(monitor, now, 2.0)
    (alert,) = alerts_of(both[0])
    both[0].note(alert.run_key, [said(alert.id)])
    for _ in range(2):
        for monitor in both:
            look(monitor, now, 2.0)
    assert [alerts_of(monitor)[0].standing.state for monitor in both] == [AlertState.ACKNOWLEDGED] * 2
    assert len(both[1].alert_entries(alert.run_key, alert.id)) == 2, "raised once, acknowledged once"


def test_the_process_is_looked_for_only_where_nothing_else_tells(tmp_path: Path) -> None:
    path = write_log(tmp_path, losses(1, 40))
    asked: List[Sequence[str]] = []

    def looked_for(_run: str, paths: Callable[[], Sequence[str]], _now: float) -> Process:
        asked.append(paths())
        return Process(running=True)

    now = [NOW]
    monitor = monitor_of(tmp_path, now, look_for_process=looked_for)
    look(monitor, now)
    look(monitor, now, 86_400.0)
    assert asked[0] == [str(path)]
    verdict = monitor.verdict(monitor.runs()[0].key)
    assert verdict is not None
    asked.clear()
    told = monitor_of(tmp_path, now, look_for_process=looked_for, process=FINISHED)
    look(told, now)
    assert not asked


def test_a_run_that_stands_still_while_its_process_lives_is_found_in_time() -> None:
    from mstui.assets import SAMPLE_RUNS, asset_dir

    hang = Path(asset_dir(SAMPLE_RUNS)) / "hang"
    now = [NOW]
    monitor = monitor_of(hang, now, look_for_process=lambda *_asked: Process(running=True))
    look(monitor, now)
    look(monitor, now, 10 * 86_400.0)
    assert Symptom.STALL in [each.symptom for alert in alerts_of(monitor) for each in alert.incident.happenings]
