"""A run is called alive, stale, ended or stopped by what its files say."""

from __future__ import annotations

from dataclasses import replace
from typing import List

import numpy as np
import pytest

from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.monitor.liveness import STALE_AFTER_S, longest_pause, pace, run_status, seconds_per_step, stale_after

NOW = 1_800_000_000.0


def event_file(state: FileState, *, age: float = 1.0, size: int = 4096, rank_id: int = 0) -> FileStatus:
    """An event file last written `age` seconds ago."""
    return FileStatus(f"/run/{rank_id}_MS", "run", rank_id, "mindspore", state, size, size, 10, 0, modified=NOW - age)


def lineage_file(age: float) -> FileStatus:
    """A lineage file that is read."""
    return replace(event_file(FileState.CURRENT, age=age), path="/run/0_lineage", format_name="mindspore-lineage")


def status(
    files: List[FileStatus], *, ended_at: float = 0.0, last_record: float = 0.0, quiet_s: float = STALE_AFTER_S
) -> RunStatus:
    last = max((file.modified for file in files), default=NOW)
    return run_status(files, ended_at=ended_at, last_record=last_record, last_data=last, quiet_s=quiet_s, now=NOW)


@pytest.mark.parametrize(
    ("case", "files", "expected"),
    [
        ("growing", [event_file(FileState.CURRENT)], RunStatus.LIVE),
        ("in the middle of a record", [event_file(FileState.WAITING)], RunStatus.LIVE),
        ("silent for minutes", [event_file(FileState.CURRENT, age=300)], RunStatus.STALE),
        ("closed by its writer without lineage", [event_file(FileState.CLOSED)], RunStatus.STOPPED),
        ("writer gone in the middle of a record", [event_file(FileState.TORN)], RunStatus.STOPPED),
        ("created, nothing written", [event_file(FileState.EMPTY, size=0)], RunStatus.PENDING),
        ("created long ago, nothing written", [event_file(FileState.EMPTY, size=0, age=900)], RunStatus.STALE),
        ("no files at all", [], RunStatus.PENDING),
        ("nothing that may be read", [event_file(FileState.DENIED)], RunStatus.UNREADABLE),
        (
            "one file denied, another growing",
            [event_file(FileState.DENIED), event_file(FileState.CURRENT)],
            RunStatus.LIVE,
        ),
        (
            "one rank closed, another growing",
            [event_file(FileState.CLOSED, rank_id=0), event_file(FileState.CURRENT, rank_id=1)],
            RunStatus.LIVE,
        ),
        (
            "restarted in the same folder: the older file is closed, the newer one grows",
            [event_file(FileState.CLOSED, age=5000), event_file(FileState.CURRENT)],
            RunStatus.LIVE,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_status_follows_the_state_of_the_files(case: str, files: List[FileStatus], expected: RunStatus) -> None:
    assert status(files) is expected, case


def test_train_lineage_means_a_normal_end_whatever_the_mode_of_the_file() -> None:
    files = [event_file(FileState.CURRENT, age=5000), lineage_file(age=5000)]
    assert status(files, ended_at=NOW - 5000, last_record=NOW - 5001) is RunStatus.ENDED


def test_an_old_train_lineage_does_not_end_a_run_that_was_started_again() -> None:
    files = [event_file(FileState.CURRENT, age=1), lineage_file(age=50_000)]
    assert status(files, ended_at=NOW - 50_000, last_record=NOW - 2) is RunStatus.LIVE


def test_the_runs_own_rhythm_decides_how_long_silence_is_normal() -> None:
    walls = np.array([0.0, 0.1, 0.2, 600.0, 600.1, 1200.0])
    quiet = stale_after(longest_pause(walls))
    assert quiet == pytest.approx(3 * 599.9)
    assert status([event_file(FileState.CURRENT, age=1500)], quiet_s=quiet) is RunStatus.LIVE
    assert status([event_file(FileState.CURRENT, age=2000)], quiet_s=quiet) is RunStatus.STALE


@pytest.mark.parametrize("walls", [[], [5.0], [5.0, 4.0]], ids=["none", "one", "falling"])
def test_no_pause_is_known_without_two_rising_times(walls: List[float]) -> None:
    assert longest_pause(np.array(walls)) == 0.0


def test_seconds_a_step_come_from_many_records_since_flushed_ones_share_their_time() -> None:
    steps = np.array([10, 20, 30, 40])
    walls = np.array([100.0, 100.001, 120.0, 120.001])
    assert seconds_per_step(steps, walls) == pytest.approx(20.001 / 30)


@pytest.mark.parametrize(
    ("steps", "walls"),
    [
        ([1], [1.0]),
        ([5, 5], [1.0, 2.0]),
        ([1, 2], [2.0, 1.0]),
        ([1, 2], [float("nan"), 1.0]),
        ([1, 2, 3], [float("inf"), float("inf"), float("-inf")]),
        ([1, 2], [-1e308, 1e308]),
    ],
    ids=["one record", "no step taken", "clock went back", "no time", "infinite times", "more seconds than a float"],
)
def test_seconds_a_step_are_unknown_rather_than_guessed(steps: List[int], walls: List[float]) -> None:
    assert seconds_per_step(np.array(steps), np.array(walls)) is None


def test_a_clock_that_is_set_is_no_pause_so_a_dead_training_still_becomes_stale() -> None:
    steps = np.arange(6)
    walls = np.array([10.0, 12.0, 14.0, NOW, NOW + 2.0, NOW + 4.0])
    assert longest_pause(walls) == 2.0
    assert seconds_per_step(steps, walls) == pytest.approx(2.0)


def test_hostile_steps_and_times_are_looked_at_without_a_warning() -> None:
    walls = np.array([float("inf"), float("inf"), float("nan"), 5.0, 6.0])
    assert longest_pause(walls) == 1.0
    assert seconds_per_step(np.array([-(2**63), 0, 2**63 - 1]), np.array([1.0, 2.0, 3.0])) is not None


def test_steps_of_a_log_that_was_there_before_have_no_time_and_are_no_steps_in_no_time() -> None:
    steps = np.arange(1, 104)
    walls = np.append(np.zeros(100), [NOW, NOW + 0.5, NOW + 1.0])
    assert seconds_per_step(steps, walls) == pytest.approx(0.5)
    assert seconds_per_step(steps[:101], walls[:101]) is None


def test_a_log_that_is_written_in_blocks_is_measured_from_the_end_of_its_first_block() -> None:
    walls = np.repeat(NOW + 10.0 * np.arange(1, 4), 20)
    assert seconds_per_step(np.arange(1, 61), walls) == pytest.approx(0.5)
    assert seconds_per_step(np.arange(1, 21), walls[:20]) is None


def test_the_pace_is_told_by_the_most_exact_record_that_goes_on() -> None:
    summary = (np.arange(10, 200, 10), NOW - 90.0 + 5.0 * np.arange(19))
    log = (np.arange(190, 200), NOW + 0.1 * np.arange(10))
    assert pace([summary, log]) == pytest.approx(0.5)
    assert pace([(summary[0], summary[1] - 3600.0), log]) == pytest.approx(0.1), "an earlier training's summary"
    assert pace([log]) == pytest.approx(0.1)
    untimed = (np.arange(190, 200), np.zeros(10))
    assert pace([summary, untimed]) == pytest.approx(0.5)
    assert pace([untimed]) is None
    assert pace([]) is None
