"""A log that is rotated while it is followed loses no line and gives none twice."""

from __future__ import annotations

import logging
import logging.handlers
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Iterator, List

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.runs import FileState
from tests.unit.ingest.logs import LogFollower, line, lines

NAMES = ("train.log", "worker_0.log", "nohup.out")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


@pytest.fixture
def small() -> ReadLimits:
    """Limits so small that a few kilobytes behave as a gigabyte would."""
    return ReadLimits(block=512, record=2048, tail_first_above=1024, tail=256, prime=128, tail_most=4096)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as out:
        out.write(data)


def make_room(path: Path, most: int) -> None:
    """X.log.1 becomes X.log.2, and so on."""
    for number in range(most - 1, 0, -1):
        old = path.with_name(f"{path.name}.{number}")
        if old.exists():
            old.replace(path.with_name(f"{path.name}.{number + 1}"))


def shift(path: Path, most: int = 9) -> None:
    """What RotatingFileHandler and logrotate do: X.log becomes X.log.1 once there is room."""
    make_room(path, most)
    if path.exists():
        path.replace(path.with_name(f"{path.name}.1"))


def copytruncate(path: Path, to: str = ".1") -> None:
    shutil.copyfile(path, path.with_name(path.name + to))
    os.truncate(path, 0)


def aside_by_rename(log: Path) -> None:
    shift(log, 99)


def aside_by_copy(log: Path) -> None:
    """Between two lines of the writer: what falls between copy and truncation is lost, whoever reads."""
    make_room(log, 99)
    copytruncate(log)


@pytest.mark.parametrize("name", NAMES)
def test_lines_written_between_the_last_look_and_a_rename_are_read_under_the_new_name(
    tmp_path: Path, name: str
) -> None:
    log = tmp_path / name
    log.write_bytes(lines(1, 30))
    follower = LogFollower(tmp_path).look()
    append(log, lines(31, 40))
    shift(log)
    log.write_bytes(lines(41, 50))
    follower.look()
    assert follower.contents() == [list(range(1, 41)), list(range(41, 51))]
    assert follower.faults() == []


def test_a_content_keeps_its_key_through_many_rotations(log: Path) -> None:
    follower = LogFollower(log.parent)
    last = 0
    for _round in range(5):
        log.write_bytes(lines(last + 1, last + 10))
        follower.look()
        append(log, lines(last + 11, last + 14))
        shift(log)
        last += 14
    follower.look()
    assert [steps[0] for steps in follower.contents()] == [1, 15, 29, 43, 57]
    assert follower.steps() == list(range(1, 71))
    keys = sorted(follower.steps_of)
    assert [follower.ingestor.log_path(key) for key in keys] == [f"{log}.{number}" for number in range(5, 0, -1)]
    assert follower.text(keys[0]) == lines(1, 14)
    assert {key.path for key in keys} == {str(log)}


def test_several_rotations_between_two_looks_are_put_in_order(log: Path) -> None:
    log.write_bytes(lines(1, 30))
    follower = LogFollower(log.parent).look()
    for first in (31, 41, 51):
        append(log, line(first))
        shift(log)
        log.write_bytes(lines(first + 1, first + 9))
    follower.look()
    assert follower.steps() == list(range(1, 61))
    assert follower.faults() == []


def test_the_handler_of_python_itself(log: Path) -> None:
    handler = logging.handlers.RotatingFileHandler(log, maxBytes=700, backupCount=3)
    logger = logging.getLogger("test_rotation")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)
    follower = LogFollower(log.parent)
    for step in range(1, 301):
        logger.info("epoch: 1 step: %d, loss is %f", step, step / 7)
        if step % 7 == 0:
            follower.look(1.0)
    logger.removeHandler(handler)
    handler.close()
    follower.look()
    assert follower.steps() == list(range(1, 301))
    assert len(list(log.parent.iterdir())) == 4


@pytest.mark.parametrize("to", [".1", "-20260506", ".2026-05-06"])
def test_a_copy_that_is_made_before_the_truncation_is_the_same_content(log: Path, to: str) -> None:
    log.write_bytes(lines(1, 30))
    follower = LogFollower(log.parent).look()
    append(log, lines(31, 40))
    shutil.copyfile(log, f"{log}{to}")
    follower.look()
    assert follower.contents() == [list(range(1, 41))]
    os.truncate(log, 0)
    append(log, lines(41, 42))
    follower.look()
    assert follower.contents() == [list(range(1, 41)), [41, 42]]
    assert follower.faults() == []
    assert follower.ingestor.log_path(min(follower.steps_of)) == f"{log}{to}"


def test_a_copy_seen_half_way_is_not_read_as_a_log_of_its_own(log: Path) -> None:
    log.write_bytes(lines(1, 300))
    follower = LogFollower(log.parent).look()
    data = log.read_bytes()
    copy = log.with_name("train.log.1")
    for part in (0, 100, 3000, len(data)):
        copy.write_bytes(data[:part])
        follower.look(1.0)
        assert follower.contents() == [list(range(1, 301))]
    os.truncate(log, 0)
    follower.look()
    append(log, lines(301, 310))
    follower.look()
    assert follower.contents() == [list(range(1, 301)), list(range(301, 311))]


def test_lines_of_a_copied_log_that_nobody_had_read_are_read_in_the_copy(log: Path) -> None:
    log.write_bytes(lines(1, 30))
    follower = LogFollower(log.parent).look()
    append(log, lines(31, 60))
    copytruncate(log)
    append(log, lines(61, 200))  # grown beyond where reading had stopped
    follower.look()
    assert follower.contents() == [list(range(1, 61)), list(range(61, 201))]


@pytest.mark.parametrize("again", [5, 200])
def test_a_log_written_anew_in_place_is_another_content_and_the_old_points_stay(log: Path, again: int) -> None:
    log.write_bytes(lines(1, 30))
    follower = LogFollower(log.parent).look()
    inode = log.stat().st_ino
    log.write_bytes(lines(11, 10 + again))
    assert log.stat().st_ino == inode
    follower.look()
    assert follower.contents() == [list(range(1, 31)), list(range(11, 11 + again))]
    first, second = sorted(follower.steps_of)
    assert (first.path, second.path) == (str(log), str(log))
    assert follower.ingestor.read_log(first, 0, 10) is None
    assert follower.ingestor.read_log(second, 0, 9) == b"epoch: 1 "
    assert follower.faults() == ["truncated" if again == 5 else "replaced"]


def test_an_inode_that_is_used_again_is_no_proof(log: Path) -> None:
    """With one backup the removed file's inode goes to the new log on most file systems."""
    older = log.with_name("train.log.1")
    older.write_bytes(lines(1, 20))
    log.write_bytes(lines(21, 40))
    follower = LogFollower(log.parent).look()
    append(log, lines(41, 45))
    # the same inode under the live name, by hand: what the file system may do
    older.write_bytes(lines(46, 60))
    kept = log.with_name("kept.tmp")
    log.replace(kept)
    older.replace(log)
    kept.replace(older)
    follower.look()
    assert follower.contents() == [list(range(1, 21)), list(range(21, 46)), list(range(46, 61))]


def test_rotated_files_that_lie_there_at_the_start_are_history_in_the_right_order(log: Path) -> None:
    for suffix, first in (("", 31), (".1", 21), (".2", 11), (".10", 1)):
        path = log.with_name(log.name + suffix)
        path.write_bytes(lines(first, first + 9))
        os.utime(path, (1.7e9, 1.7e9))  # copied: all of one second
    follower = LogFollower(log.parent).look()
    assert follower.steps() == list(range(1, 41))
    assert len(follower.contents()) == 4


def test_dated_files_are_ordered_by_their_dates(log: Path) -> None:
    for suffix, first in ((".2026-05-07", 11), (".2026-05-06", 1), ("", 21)):
        log.with_name(log.name + suffix).write_bytes(lines(first, first + 9))
    assert LogFollower(log.parent).look().steps() == list(range(1, 31))


def test_a_rotation_while_history_is_read_goes_on_with_it(log: Path, small: ReadLimits) -> None:
    log.write_bytes(lines(1, 400))
    follower = LogFollower(log.parent, limits=small)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    for _turn in range(4):
        follower.turn(0.0)
    assert follower.status(log).state is FileState.READING
    append(log, lines(401, 410))
    shift(log)
    log.write_bytes(lines(411, 420))
    follower.look()
    assert follower.contents() == [list(range(1, 411)), list(range(411, 421))]
    for key in follower.places_of:
        assert follower.text(key) == Path(follower.ingestor.log_path(key)).read_bytes()


def test_a_rotation_before_the_first_look_loses_nothing(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    shift(log)
    log.write_bytes(lines(11, 20))
    follower.look()
    assert follower.steps() == list(range(1, 21))


def test_a_log_given_as_path_is_followed_through_rotation(log: Path) -> None:
    log.with_name("train.log.1").write_bytes(lines(1, 10))
    log.write_bytes(lines(11, 20))
    log.with_name("other.log").write_bytes(lines(500, 510))
    follower = LogFollower(log).look()
    assert follower.steps() == list(range(1, 21))
    append(log, lines(21, 25))
    shift(log)
    follower.look()
    assert follower.steps() == list(range(1, 26))
    log.write_bytes(lines(26, 30))
    follower.look()
    assert follower.steps() == list(range(1, 31))
    assert {key.run_key for key in follower.steps_of} == {"."}


def test_a_log_that_vanishes_for_one_look_goes_on(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent).look()
    hidden = log.parent / "hidden"
    hidden.mkdir()
    log.replace(hidden / "x")
    follower.look()
    assert follower.status(log).state is FileState.VANISHED
    (hidden / "x").replace(log)
    append(log, lines(11, 12))
    follower.look()
    assert follower.contents() == [list(range(1, 13))]


def test_a_log_renamed_to_a_name_of_its_own_is_not_read_twice(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent).look()
    log.replace(log.with_name("before.log"))
    log.write_bytes(lines(11, 20))
    follower.look()
    assert sorted(follower.contents()) == [list(range(1, 11)), list(range(11, 21))]


def test_hints_in_any_order_settle_a_rotation(log: Path) -> None:
    orders: List[List[str]] = [["", ".1"], [".1", ""], [".1"], [""]]
    for order in orders:
        for old in log.parent.iterdir():
            old.unlink()
        log.write_bytes(lines(1, 10))
        follower = LogFollower(log.parent).look()
        append(log, lines(11, 12))
        shift(log)
        log.write_bytes(lines(13, 20))
        for suffix in order:
            hints: Any = {f"{log}{suffix}"}
            while not follower.turn(60.0, dirty_paths=hints):
                hints = set()
        follower.look()
        assert (order, follower.contents()) == (order, [list(range(1, 13)), list(range(13, 21))])


def test_a_run_that_is_forgotten_and_loaded_again_is_read_from_the_start(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent).look()
    shift(log)
    log.write_bytes(lines(11, 20))
    follower.look()
    follower.ingestor.unload(".")
    assert follower.ingestor.read_log(min(follower.steps_of), 0, 5) is None
    follower.steps_of.clear()
    follower.look()
    assert follower.steps() == list(range(1, 21))


class Training(threading.Thread):
    """Writes one line a step, puts the log aside now and then, and never waits for a reader."""

    def __init__(self, log: Path, last: int, put_aside: Callable[[Path], None]) -> None:
        super().__init__()
        self.log = log
        self.last = last
        self.put_aside = put_aside

    def run(self) -> None:
        for step in range(1, self.last + 1):
            with self.log.open("ab", buffering=0) as out:
                whole = line(step)
                out.write(whole[: step % 20])
                out.write(whole[step % 20 :])
            if step % 37 == 0:
                self.put_aside(self.log)


@pytest.fixture
def quick_turns() -> Iterator[None]:
    """Else the reader's thread keeps the writer's waiting for milliseconds at every call of the system."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("quick_turns")
@pytest.mark.parametrize("put_aside", [aside_by_rename, aside_by_copy])
def test_under_a_writer_that_does_not_wait(log: Path, put_aside: Callable[[Path], None]) -> None:
    training = Training(log, 600, put_aside)
    follower = LogFollower(log.parent)
    training.start()
    while training.is_alive():
        follower.look(1.0)
    training.join()
    follower.look()
    follower.look()
    assert follower.steps() == list(range(1, 601))


def test_a_launcher_that_truncates_its_logs_at_every_start(tmp_path: Path) -> None:
    """msrun opens worker_N.log anew: the same inode, the same first lines, whatever length."""
    log = tmp_path / "worker_0.log"
    follower = LogFollower(tmp_path)
    expected = []
    for start, count in enumerate((40, 10, 90, 90, 300), 1):
        run = list(range(start, start + count))
        with log.open("wb") as out:
            out.write(b"[WARNING] ME(%d:1,MainProcess):start\n" % start + b"".join(line(step) for step in run))
        follower.look()
        expected.append(run)
    assert follower.contents() == expected


def test_a_log_that_was_gone_is_found_under_another_name(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent).look()
    hidden = log.parent / "hidden"
    hidden.mkdir()
    log.replace(hidden / "x")
    follower.look()
    assert follower.status(log).state is FileState.VANISHED
    (hidden / "x").replace(log.with_name("train.log.1"))
    append(log.with_name("train.log.1"), lines(11, 12))
    follower.look()
    assert follower.contents() == [list(range(1, 13))]
    assert follower.status(f"{log}.1").state is FileState.CURRENT


def test_the_oldest_file_of_a_rotation_may_go_without_a_word(log: Path) -> None:
    log.write_bytes(lines(1, 10))
    follower = LogFollower(log.parent).look()
    for first in (11, 21, 31):
        shift(log, 1)  # only one is kept
        log.write_bytes(lines(first, first + 9))
        follower.look()
    assert follower.contents() == [list(range(first, first + 10)) for first in (1, 11, 21, 31)]
    assert follower.faults() == []
    assert {Path(status.path).name for status in follower.ingestor.files()} == {"train.log", "train.log.1"}
