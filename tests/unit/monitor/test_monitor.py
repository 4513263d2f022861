"""The monitor from files to answers, one synchronous turn at a time, on files that MindSpore wrote."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path
from typing import List, NoReturn, Optional

import numpy as np
import pytest

from mstui.ingest.disk import RealDisk
from mstui.ingest.watch import WatchMode
from mstui.model.roles import Role
from mstui.model.runs import FileState, RunStatus
from mstui.model.series import Series, SeriesKey, XAxis
from mstui.monitor import Monitor
from mstui.monitor_api import CurveQuery
from mstui.store.band import Bands
from mstui.store.run_store import Store

SAMPLES = Path(__file__).parents[2] / "data" / "summary"
NOW = 1_800_000_000.0


def read_all(monitor: Monitor, now: float = NOW) -> None:
    """Turns until there is nothing left to read."""
    while monitor.run_once(now).more:
        pass


def monitor_of(path: Path, **options: object) -> Monitor:
    """A monitor that has read everything."""
    monitor = Monitor(str(path), clock=lambda: NOW, **options)  # type: ignore[arg-type]
    read_all(monitor)
    return monitor


def test_a_summary_directory_gives_its_loss_first() -> None:
    monitor = monitor_of(SAMPLES / "long_spike")
    (run,) = monitor.runs()
    tags = monitor.tags(run.key)
    assert tags[0].role is Role.LOSS
    assert run.last_step == 336
    assert run.step_gap == 2
    view = monitor.curve(CurveQuery(SeriesKey(run.key, 0, tags[0].tag), columns=40))
    assert view is not None
    assert np.nanmax(view.hi) == pytest.approx(480, rel=0.02), "the spike is on the curve"


def test_the_list_of_runs_is_made_once_a_moment_and_anew_after_a_change() -> None:
    now = [NOW]
    monitor = Monitor(str(SAMPLES / "long_spike"), clock=lambda: now[0])
    read_all(monitor)
    listed = monitor.runs()
    assert monitor.runs() is listed
    now[0] += 1.0
    later = monitor.runs()
    assert later is not listed
    monitor.set_role("loss/auto", Role.OTHER)
    assert monitor.runs() is not later


def test_a_finished_run_has_its_facts_and_a_plan() -> None:
    monitor = monitor_of(SAMPLES / "default_pynative")
    (run,) = monitor.runs()
    assert run.status is RunStatus.ENDED
    assert run.facts["optimizer"]
    assert run.facts["planned_steps"] == 60


def test_nothing_is_lost_between_the_first_point_and_the_last() -> None:
    monitor = monitor_of(SAMPLES / "short_nan")
    (run,) = monitor.runs()
    key = SeriesKey(run.key, 0, monitor.tags(run.key)[0].tag)
    series = monitor.series(key)
    assert series is not None
    assert series.total == 7
    bad = monitor.next_non_finite(key, -1)
    assert bad is not None
    reading = monitor.reading_at(key, XAxis.STEP, bad, 0.6)
    assert reading is not None
    assert reading.value == float("inf")
    assert reading.step == 7


def test_two_ranks_in_one_folder_are_one_run() -> None:
    monitor = monitor_of(SAMPLES / "two_ranks")
    (run,) = monitor.runs()
    assert [rank.rank_id for rank in run.ranks] == [0, 1]


def test_of_many_runs_only_the_newest_is_read() -> None:
    monitor = monitor_of(SAMPLES)
    runs = monitor.runs()
    assert len(runs) > 10
    loaded = [run for run in runs if run.loaded]
    assert len(loaded) == 1
    assert all(file.state is FileState.QUEUED for file in monitor.files() if file.run_key != loaded[0].key)


def test_a_run_is_read_when_it_is_asked_for_and_forgotten_when_it_is_let_go(tmp_path: Path) -> None:
    for name in ("long_spike", "loss_scale"):
        shutil.copytree(SAMPLES / name, tmp_path / name)
    monitor = monitor_of(tmp_path, first_run="loss_scale")
    assert not monitor.tags("long_spike")
    monitor.load("long_spike")
    read_all(monitor)
    assert monitor.tags("long_spike")
    monitor.unload("long_spike")
    read_all(monitor)
    assert not monitor.tags("long_spike")
    assert {run.key for run in monitor.runs()} == {"long_spike", "loss_scale"}


def test_histograms_are_decoded_when_somebody_looks() -> None:
    monitor = monitor_of(SAMPLES / "default_pynative")
    (run,) = monitor.runs()
    tag = next(info for info in monitor.tags(run.key) if info.kind is not None and info.kind.value == "histogram")
    key = SeriesKey(run.key, 0, tag.tag)
    steps = monitor.histogram_steps(key)
    assert steps[:3] == (1, 10, 20)
    (first, missing) = monitor.fetch_histograms(key, (0, 999))
    assert missing is None
    assert first is not None
    assert first.stats.step == 1
    assert int(first.counts.sum()) == first.stats.count - first.stats.non_finite
    (stats,) = monitor.fetch_histogram_stats(key, (0,))
    assert stats == first.stats


def test_a_histogram_of_a_file_that_was_replaced_is_not_shown_as_the_old_one(tmp_path: Path) -> None:
    source = next((SAMPLES / "default_pynative").glob("*_MS"))
    target = tmp_path / source.name
    shutil.copy(source, target)
    monitor = monitor_of(tmp_path)
    (run,) = monitor.runs()
    tag = next(info for info in monitor.tags(run.key) if info.kind is not None)
    key = SeriesKey(run.key, 0, tag.tag)
    assert monitor.fetch_histograms(key, (0,))[0] is not None
    other = tmp_path / "other"
    shutil.copy(next((SAMPLES / "long_spike").glob("*_MS")), other)
    os.replace(other, target)
    read_all(monitor, NOW + 10)
    assert not monitor.histogram_steps(key)
    assert monitor.fetch_histograms(key, (0,)) == [None]
    faults = [fault.kind.value for file in monitor.files() for fault in file.faults]
    assert faults == ["replaced"]


def test_every_call_answers_for_a_run_that_does_not_exist() -> None:
    monitor = monitor_of(SAMPLES / "loss_scale")
    key = SeriesKey("nowhere", 7, "nothing")
    assert monitor.series(key) is None
    assert monitor.curve(CurveQuery(key, 10)) is None
    assert monitor.reading(key, XAxis.STEP, 1.0, 0.5) is None
    assert monitor.reading_at(key, XAxis.STEP, 0, 0.5) is None
    assert monitor.next_non_finite(key, 0) is None
    assert monitor.points_around(key, 5, 5) is None
    assert monitor.histogram_steps(key) == ()
    assert monitor.fetch_histograms(key, (0, 1)) == [None, None]
    assert monitor.fetch_histogram_stats(key, (0,)) == [None]
    assert monitor.fetch_layer_map("nowhere", 0, "", 10) is None
    assert list(monitor.tags("nowhere")) == []


def test_an_empty_directory_is_watched_until_something_comes(tmp_path: Path) -> None:
    monitor = monitor_of(tmp_path)
    assert list(monitor.runs()) == []
    shutil.copy(next((SAMPLES / "loss_scale").glob("*_MS")), tmp_path)
    read_all(monitor, NOW + 60)
    assert [run.last_step for run in monitor.runs()] != [None]


def test_a_persons_word_on_a_role_wins() -> None:
    monitor = monitor_of(SAMPLES / "loss_scale")
    (run,) = monitor.runs()
    monitor.set_role("overflow", Role.LOSS)
    assert any(info.tag == "overflow" and info.role is Role.LOSS for info in monitor.tags(run.key))


@pytest.mark.parametrize("mode", [WatchMode.EVENTS, WatchMode.POLL], ids=lambda mode: mode.value)
def test_the_thread_follows_a_file_that_grows_and_stops_when_asked(tmp_path: Path, mode: WatchMode) -> None:
    source = next((SAMPLES / "long_spike").glob("*_MS"))
    data = source.read_bytes()
    target = tmp_path / source.name
    target.write_bytes(data[:30_000])
    seen = threading.Event()
    revisions: List[int] = []

    def listener(revision: int) -> None:
        revisions.append(revision)
        seen.set()

    monitor = Monitor(str(tmp_path), watch=mode)
    monitor.start(listener)
    try:
        assert _wait_for_points(monitor, seen, 1) < 169
        with target.open("ab") as stream:
            stream.write(data[30_000:])
        assert _wait_for_points(monitor, seen, 169) == 169
        assert monitor.watch_state().mode == mode.value
        assert monitor.watch_state().alive
        assert revisions == sorted(revisions)
    finally:
        monitor.stop()
        monitor.stop()
    assert not any(thread.name == "mstui-monitor" for thread in threading.enumerate())


def _wait_for_points(monitor: Monitor, seen: threading.Event, least: int) -> int:
    total = 0
    for _ in range(200):
        seen.wait(0.1)
        seen.clear()
        series = monitor.series(SeriesKey(".", 0, "loss"))
        total = 0 if series is None else series.total
        if total >= least:
            break
    return total


def test_a_listener_that_fails_stops_the_thread_and_is_said(tmp_path: Path) -> None:
    shutil.copy(next((SAMPLES / "loss_scale").glob("*_MS")), tmp_path)
    calls: List[int] = []

    def listener(revision: int) -> None:
        calls.append(revision)
        if len(calls) == 1:
            message = "the screen is gone"
            raise RuntimeError(message)

    monitor = Monitor(str(tmp_path), watch=WatchMode.POLL)
    monitor.start(listener)
    for _ in range(100):
        if not monitor.watch_state().alive:
            break
        threading.Event().wait(0.05)
    monitor.stop()
    state = monitor.watch_state()
    assert not state.alive
    assert "the screen is gone" in state.detail
    assert len(calls) == 2


def test_listing_runs_costs_the_same_for_any_number_of_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = monitor_of(SAMPLES / "long_spike")
    asked: List[SeriesKey] = []
    series = Store.series

    def noted(store: Store, key: SeriesKey) -> Optional[Series]:
        asked.append(key)
        return series(store, key)

    monkeypatch.setattr(Store, "series", noted)
    (run,) = monitor.runs()
    assert run.seconds_per_step is not None
    assert len(monitor.tags(run.key)) > 1
    assert asked == []


def test_a_run_that_is_deleted_while_it_is_shown_is_said_to_be_unreadable_and_comes_back(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "long_spike", tmp_path / "run")
    monitor = monitor_of(tmp_path)
    assert monitor.runs()[0].status is not RunStatus.UNREADABLE
    shutil.rmtree(tmp_path / "run")
    read_all(monitor, NOW + 100.0)
    assert [(run.key, run.status) for run in monitor.runs()] == [("run", RunStatus.UNREADABLE)]
    shutil.copytree(SAMPLES / "long_spike", tmp_path / "run")
    read_all(monitor, NOW + 200.0)
    assert [run.status for run in monitor.runs()] != [RunStatus.UNREADABLE]
    assert monitor.runs()[0].last_step == 336


def test_a_run_whose_files_may_not_be_opened_is_unreadable_and_not_being_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SAMPLES / "long_spike", tmp_path / "run")

    def denied(_disk: RealDisk, path: str) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(RealDisk, "open", denied)
    monitor = monitor_of(tmp_path)
    (run,) = monitor.runs()
    assert {file.state for file in monitor.files(run.key)} == {FileState.DENIED}
    assert (run.loaded, run.status) == (True, RunStatus.UNREADABLE)


def test_a_run_without_a_record_has_no_data_once_its_file_was_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "events.out.events.summary.1760000000.0.x_MS"
    path.write_bytes(b"")
    os.utime(path, (NOW, NOW))
    (run,) = monitor_of(tmp_path).runs()
    assert (run.loaded, run.status) == (True, RunStatus.PENDING)


def test_a_spread_over_many_ranks_asks_to_be_drawn_again_until_it_is_whole(tmp_path: Path) -> None:
    source = next((SAMPLES / "long_spike").glob("*_MS"))
    for rank in range(3):
        (tmp_path / f"rank_{rank}").mkdir()
        shutil.copy(source, tmp_path / f"rank_{rank}" / source.name)
    monitor = monitor_of(tmp_path)
    (run,) = monitor.runs()
    loss = next(tag.tag for tag in monitor.tags(run.key) if tag.role is Role.LOSS)
    monitor._bands = Bands(monitor._store, work=1)
    seen = []
    for _turn in range(4):
        view = monitor.curve(CurveQuery(SeriesKey(run.key, 0, loss), 10, band=True))
        assert view is not None
        before = monitor.revision
        monitor.run_once(monitor._clock())
        seen.append((len(monitor._bands._kept), monitor.revision > before))
    assert [again for _, again in seen] == [True, False, False, False]


def test_ranks_are_listed_side_by_side_and_again_only_when_something_is_new(tmp_path: Path) -> None:
    source = next((SAMPLES / "long_spike").glob("*_MS"))
    for rank in range(3):
        (tmp_path / f"rank_{rank}").mkdir()
        shutil.copy(source, tmp_path / f"rank_{rank}" / source.name)
    monitor = monitor_of(tmp_path)
    (run,) = monitor.runs()
    table = monitor.rank_table(run.key)
    assert table is not None
    assert [row.rank_id for row in table.rows] == [0, 1, 2]
    assert {row.last_step for row in table.rows} == {run.last_step}
    assert table.loss_tag
    assert all(row.loss is not None for row in table.rows)
    assert monitor.rank_table(run.key) is table
    assert monitor.rank_table("another") is None
