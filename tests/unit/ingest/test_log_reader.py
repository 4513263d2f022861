"""What a reader of logs hands on: rows and metrics, times it can answer for, and what a log is worth."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Part
from mstui.model.logs import EventKind
from mstui.model.runs import FileState
from tests.unit.ingest.logs import LogFollower, line, lines

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "logs"
OLD = 1.7e9
SMALL = ReadLimits(block=512, record=2048, tail_first_above=1024, tail=512, prime=128, tail_most=4096)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def append(path: Path, data: bytes, mtime: float) -> None:
    with path.open("ab") as out:
        out.write(data)
    os.utime(path, (mtime, mtime))


def mindformers(first: int, last: int) -> bytes:
    """Lines that print the whole step."""
    return b"".join(
        b"2026-05-06 10:00:00,123 - mindformers[callback.py:529] - INFO - { Epoch:[  1/  2], step:[%5d/ 6500], "
        b"loss: 9.500, per_step_time: 1782ms, lr: 1e-06, overflow cond: False, loss_scale: 1.0\n" % step
        for step in range(first, last + 1)
    )


def test_records_events_steps_and_facts_are_handed_on(tmp_path: Path) -> None:
    (tmp_path / "worker_1.log").write_bytes((SAMPLES / "msrun_worker_exception/worker_1.log").read_bytes())
    follower = LogFollower(tmp_path).look()
    (key,) = follower.steps_of
    assert (key.rank_id, key.source.name) == (1, "2:worker_N.log")
    (batch,) = follower.batches
    assert batch.log_records is not None
    assert batch.log_records.offsets[0] == 0
    assert EventKind.TRACEBACK in {event.kind for event in batch.log_events}
    assert batch.log_steps is not None
    status = follower.status(key.path)
    assert status.records == len(batch.log_records.offsets) == 22
    assert (status.understood, status.measured) == (22, 8)


def test_values_without_a_stamp_get_the_mtime_when_they_came_in_live_and_none_when_they_lay_there(log: Path) -> None:
    append(log, lines(1, 3), OLD)
    follower = LogFollower(log.parent).look()
    append(log, lines(4, 5), OLD + 60)
    follower.look()
    (key,) = follower.walls_of
    assert follower.walls_of[key][Part.HISTORY] == [0.0, 0.0, 0.0, OLD + 60, OLD + 60]


def test_bytes_that_came_between_finding_and_opening_are_as_old_as_the_rest(log: Path) -> None:
    append(log, lines(1, 400), OLD)
    follower = LogFollower(log.parent, limits=SMALL)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    follower.turn(0.0)
    append(log, lines(401, 402), OLD + 60)
    follower.look()
    (key,) = follower.walls_of
    walls = [wall for part in Part for wall in follower.walls_of[key][part]]
    assert len(walls) == 402
    assert set(walls[:400]) == {0.0}


def test_a_small_log_that_comes_up_while_its_run_is_followed_is_as_new_as_its_mtime(log: Path) -> None:
    append(log, lines(1, 3), OLD)
    follower = LogFollower(log.parent).look()
    append(log.with_name("nohup.out"), lines(1, 2), OLD + 60)
    follower.look()
    walls = {key.path[-9:]: parts[Part.HISTORY] for key, parts in follower.walls_of.items()}
    assert walls == {"train.log": [0.0] * 3, "nohup.out": [OLD + 60] * 2}


def test_own_stamps_are_kept(log: Path) -> None:
    append(log, mindformers(1, 3), OLD)
    follower = LogFollower(log.parent).look()
    (key,) = follower.walls_of
    assert all(wall > OLD for wall in follower.walls_of[key][Part.HISTORY])


def test_a_large_log_whose_lines_tell_the_whole_step_shows_its_newest_points_first(log: Path) -> None:
    log.write_bytes(mindformers(1, 200))
    follower = LogFollower(log.parent, limits=SMALL).look()
    first = follower.batches[0]
    assert first.part is Part.TAIL
    assert int(first.columns[0].steps[-1]) == 200
    assert [batch.joined for batch in follower.batches].count(True) == 1
    assert follower.steps() == list(range(1, 201))


def epochs(first: int, last: int, steps: int) -> bytes:
    """Whole epochs, whose steps are counted anew in each."""
    return b"".join(
        b"epoch: %d step: %d, loss is %.6f\n" % (epoch, step, 1 / step)
        for epoch in range(first, last + 1)
        for step in range(1, steps + 1)
    )


def test_a_large_log_whose_steps_begin_again_each_epoch_is_read_from_its_end_where_that_tells_how_many(
    log: Path,
) -> None:
    log.write_bytes(epochs(1, 40, 10))
    follower = LogFollower(log.parent, limits=SMALL).look()
    first = follower.batches[0]
    assert first.part is Part.TAIL
    assert int(first.columns[0].steps[-1]) == 400
    assert [batch.joined for batch in follower.batches].count(True) == 1
    assert follower.steps() == list(range(1, 401))


def test_the_end_of_a_log_whose_epochs_were_longer_before_is_read_again_with_its_history(log: Path) -> None:
    data = epochs(1, 1, 3) + epochs(2, 20, 12) + epochs(21, 60, 10)
    log.write_bytes(data)
    follower = LogFollower(log.parent, limits=SMALL).look()
    assert int(follower.batches[0].columns[0].steps[-1]) == 600
    assert [batch.drop_tail for batch in follower.batches].count(True) == 1
    log.with_name("other").mkdir()
    whole = log.with_name("other") / "train.log"
    whole.write_bytes(data)
    assert follower.steps() == LogFollower(whole.parent).look().steps()


def test_a_large_log_whose_end_lies_within_one_epoch_shows_rows_first_and_points_in_order(log: Path) -> None:
    data = epochs(1, 2, 400)
    log.write_bytes(data)
    follower = LogFollower(log.parent, limits=SMALL)
    follower.look()
    first = follower.batches[0]
    assert (first.part, first.columns, first.log_steps) == (Part.TAIL, (), None)
    assert first.log_records is not None
    assert len(first.log_records.offsets) > 5
    assert all(not batch.columns for batch in follower.batches if batch.part is Part.TAIL)
    assert [batch.drop_tail for batch in follower.batches].count(True) == 1
    (key,) = follower.steps_of
    assert follower.steps() == list(range(1, 801))
    starts = [0] + [at + 1 for at, byte in enumerate(data[:-1]) if byte == 10]
    assert follower.places_of[key][Part.HISTORY] == starts
    assert follower.places_of[key][Part.TAIL] == []
    assert follower.status(log).state is FileState.CURRENT


def test_a_log_that_grows_while_rows_are_shown_loses_nothing(log: Path) -> None:
    log.write_bytes(lines(1, 300))
    follower = LogFollower(log.parent, limits=SMALL)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    step, done = 300, False
    while not done:
        step += 1
        with log.open("ab") as out:
            out.write(line(step))
        done = follower.turn(0.0, dirty_paths={str(log)}) or step > 900
    follower.look()
    assert step < 900
    assert follower.steps() == list(range(1, step + 1))


def test_a_log_of_which_nothing_is_understood_is_not_recognised_until_something_is(log: Path) -> None:
    log.write_bytes(b"# something else\n" * 19)
    follower = LogFollower(log.parent).look(0.0)
    assert follower.status(log).state is FileState.CURRENT
    append(log, b"# something else\n", follower.now)
    status = follower.look(1.0).status(log)
    assert status.state is FileState.NOT_RECOGNISED
    assert "20 lines" in status.detail
    assert "[[log_pattern]]" in status.detail
    append(log, line(1), follower.now)
    status = follower.look(1.0).status(log)
    assert (status.state, status.detail, status.measured > 0) == (FileState.CURRENT, "", True)


def test_a_short_log_is_judged_when_its_writer_is_silent(log: Path) -> None:
    follower = LogFollower(log.parent)
    append(log, b"# something else\n" * 3, follower.now)
    assert follower.look(1.0).status(log).state is FileState.CURRENT
    assert follower.ingestor.next_due() <= follower.now + 10.0
    assert follower.look(10.0).status(log).state is FileState.NOT_RECOGNISED


def test_a_log_that_is_understood_but_measures_nothing_says_so(log: Path) -> None:
    log.write_bytes((SAMPLES / "mindformers/mf_tre_global_norm.log").read_bytes())
    status = LogFollower(log.parent).look().status(log)
    assert (status.state, status.understood, status.measured) == (FileState.CURRENT, 5, 0)
    assert "no metric" in status.detail


def test_a_name_of_a_log_over_bytes_that_are_no_text_is_said(log: Path) -> None:
    log.write_bytes(bytes(range(256)) * 20)
    status = LogFollower(log.parent).look().status(log)
    assert (status.state, status.detail) == (FileState.NOT_EVENTS, "the first bytes are not text")


@pytest.mark.parametrize("name", ["history", "train.txt", "2026", "events.out.events.summary.1.0.host_MS.bak"])
def test_a_text_given_as_path_is_a_log_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(lines(1, 20))
    assert LogFollower(tmp_path).look().steps() == []
    assert LogFollower(path).look().steps() == list(range(1, 21))


def test_a_place_in_a_log_is_read_by_its_content(log: Path) -> None:
    log.write_bytes(lines(1, 20))
    follower = LogFollower(log.parent).look()
    (key,) = follower.steps_of
    read: List[object] = [follower.ingestor.read_log(key, at, 8) for at in (0, 34)]
    assert read == [b"epoch: 1", log.read_bytes()[34:42]]
    assert follower.ingestor.read_log(key, 10**6, 8) is None
    assert follower.ingestor.read_log(key, -1, 8) is None
