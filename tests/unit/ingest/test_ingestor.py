"""The present is read before the past, and nothing of either is lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Callable, Dict, List, Set

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Part
from mstui.model.faults import FaultKind
from mstui.model.runs import FileState

NAME = "events.out.events.summary.{}.{}.host_MS"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME.format(1796033791, 0)


class Ticks:
    """A monotonic clock that advances a little with every look at it."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 0.001
        return self.time


def parts(batches: Any) -> List[str]:
    return [batch.part.name for batch in batches]


def test_the_tail_of_a_large_file_comes_first_and_the_history_joins_it(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    path.write_bytes(events.run(1, 200))
    follower = follow(path.parent, limits=small).look()
    order = follower.keeper.order
    assert order[0].part is Part.TAIL
    assert order[0].columns[0].steps[-1] == 200
    assert {batch.part for batch in order[1:]} == {Part.HISTORY}
    assert [batch.joined for batch in order] == [False] * (len(order) - 1) + [True]
    assert follower.steps(path) == list(range(1, 201))
    status = follower.status(path)
    assert (status.state, status.records, status.consumed) == (FileState.CURRENT, 201, status.size)


def test_the_decoder_sees_the_beginning_before_the_tail(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorBoard says once, in the first record of a tag, what kind of tag it is."""
    from mstui.formats.stream import EventStreamDecoder

    bases: List[int] = []
    real = EventStreamDecoder.decode

    def decode(self: EventStreamDecoder, data: bytes, base: int, **options: Any) -> Any:
        bases.append(base)
        return real(self, data, base, **options)

    monkeypatch.setattr(EventStreamDecoder, "decode", decode)
    path.write_bytes(events.run(1, 200))
    follower = follow(path.parent, limits=small).look()
    assert bases[0] == 0
    assert bases[1] > 7000
    assert follower.steps(path) == list(range(1, 201))


def test_a_file_that_grows_while_history_is_read_goes_on_at_its_tail(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    path.write_bytes(events.run(1, 200))
    follower = follow(path.parent, limits=small, monotonic=Ticks())
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    step, done, seen_live = 200, False, 0
    while not done:
        with path.open("ab") as out:
            step += 1
            out.write(events.scalar(step))
        turn = follower.ingestor.turn(follower.now, 0.0, {str(path)})
        for batch in turn.batches:
            follower.keeper.add(batch)
        seen_live += any(batch.part is Part.TAIL for batch in turn.batches)
        done = turn.done
    follower.look()
    assert seen_live > 10
    assert follower.steps(path) == list(range(1, step + 1))


def test_a_false_boundary_inside_a_payload_is_given_up_and_read_again(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    """A record whose tag is itself a stretch of an event file: the tail finds a record where none begins."""
    trap = events.scalar(777, tag="x").decode("latin-1")
    carrier = b"".join(events.scalar(step, tag="t" * 30) for step in range(1, 60))
    inside = events.frame(b"\x09" + bytes(8) + b"\x1a" + bytes([0x80 | 1000 & 0x7F, 1000 >> 7]) + 1000 * b"v")
    hidden = bytearray(inside)
    stretch = (trap.encode("latin-1") * 20)[: 1000 - 200]
    at = len(inside) - 4 - 1000 + 100
    hidden[at : at + len(stretch)] = stretch
    payload = bytes(hidden[12:-4])
    path.write_bytes(events.version() + carrier + events.frame(payload))
    follower = follow(path.parent, limits=small).look()
    assert any(777 in columns.steps for columns in follower.keeper.order[0].columns)
    assert any(batch.drop_tail for batch in follower.keeper.order)
    assert follower.steps(path) == list(range(1, 60))
    assert follower.status(path).records == 61


def test_damage_right_before_the_tail_loses_only_itself(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    data = events.run(1, 200)
    record = len(events.scalar(200))
    for back in range(4, 9):
        damaged = bytearray(data)
        damaged[len(data) - back * record + 2] ^= 0xFF
        path.write_bytes(damaged)
        follower = follow(path.parent, limits=small).look()
        follower.look(30.0)
        assert follower.steps(path) == [step for step in range(1, 201) if step != 201 - back]
        status = follower.status(path)
        assert (status.skipped_bytes, status.fault_count) == (record, 1)
        path.unlink()


@pytest.mark.parametrize("where", range(0, 8200, 611))
def test_damage_anywhere_in_a_large_file_loses_only_the_records_it_hit(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits, where: int
) -> None:
    pieces = [events.version()] + [events.scalar(step) for step in range(1, 201)]
    data = bytearray(b"".join(pieces))
    data[where] ^= 0x55
    hit, end = 0, 0
    while end <= where:
        end += len(pieces[hit])
        hit += 1
    path.write_bytes(data)
    follower = follow(path.parent, limits=small).look()
    follower.look(30.0)
    assert follower.steps(path) == [step for step in range(1, 201) if step != hit - 1]
    assert [fault.kind for fault in follower.status(path).faults] == [FaultKind.DAMAGED]


def test_a_large_file_that_is_replaced_while_its_history_is_read_starts_over(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    path.write_bytes(events.run(1, 200))
    follower = follow(path.parent, limits=small)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    for batch in follower.ingestor.turn(follower.now, 0.0).batches:
        follower.keeper.add(batch)
    other = path.with_name("incoming")
    other.write_bytes(events.run(1000, 1200))
    other.replace(path)
    assert follower.look().steps(path) == list(range(1000, 1201))


def test_ends_of_the_newest_files_come_before_any_history(
    tmp_path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    now = os.stat(tmp_path).st_mtime
    for index, run in enumerate(("a", "b", "c")):
        for second in (100, 200):
            path = tmp_path / run / NAME.format(second, 0)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(events.run(1, 200))
            os.utime(path, (now, now - 1000 * index - 500 * (second == 100)))
    order = follow(tmp_path, limits=small).look().keeper.order
    first = [(batch.file.run_key, batch.file.started, batch.part) for batch in order[:3]]
    assert first == [("a", 200, Part.TAIL), ("b", 200, Part.TAIL), ("c", 200, Part.TAIL)]
    assert all(batch.part is Part.HISTORY for batch in order[3:])


def test_history_goes_round_the_files_one_block_each(
    tmp_path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    for rank in range(3):
        (tmp_path / NAME.format(100, rank)).write_bytes(events.run(1, 200))
    order = follow(tmp_path, limits=small).look().keeper.order
    assert [batch.file.rank_id for batch in order[3:12]] == [order[3 + i % 3].file.rank_id for i in range(9)]
    assert {batch.file.rank_id for batch in order[3:6]} == {0, 1, 2}


def test_a_busy_present_does_not_stop_history_and_history_does_not_delay_the_present(
    tmp_path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    large, busy = tmp_path / NAME.format(100, 0), tmp_path / NAME.format(100, 1)
    large.write_bytes(events.run(1, 400))
    busy.write_bytes(events.run(1, 1))
    follower = follow(tmp_path, limits=small, monotonic=Ticks())
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    for _ in range(3):
        follower.ingestor.turn(follower.now, 0.0)
    left = follower.ingestor.progress.history_left
    for step in range(2, 12):
        with busy.open("ab") as out:
            out.write(events.scalar(step))
        turn = follower.ingestor.turn(follower.now, 0.0, {str(busy)})
        assert turn.batches[0].file.path == str(busy)
        assert turn.batches[0].columns[0].steps[-1] == step
        assert follower.ingestor.progress.history_left < left
        left = follower.ingestor.progress.history_left


def test_a_turn_ends_when_its_time_is_up_and_says_so(tmp_path: Path, events: Any, follow: Callable[..., Any]) -> None:
    for rank in range(50):
        (tmp_path / NAME.format(100, rank)).write_bytes(events.run(1, 5))
    follower = follow(tmp_path, monotonic=Ticks())
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    turn = follower.ingestor.turn(follower.now, 0.005)
    assert 0 < len(turn.batches) < 20
    assert not turn.done
    assert len(follower.look().ingestor.files()) == 50
    assert follower.ingestor.turn(follower.now, 0.005).done


def test_a_run_is_read_only_when_it_is_loaded_and_forgotten_when_unloaded(
    tmp_path: Path, events: Any, follow: Callable[..., Any], disk: Any
) -> None:
    paths = {}
    for run in ("a", "b"):
        paths[run] = tmp_path / run / NAME.format(100, 0)
        paths[run].parent.mkdir()
        paths[run].write_bytes(events.run(1, 3))
    follower = follow(tmp_path, load=False, disk=disk).look()
    assert disk.opened == []
    follower.ingestor.load("a")
    follower.look()
    assert set(disk.opened) == {str(paths["a"])}
    assert [run.loaded for run in follower.ingestor.runs()] == [True, False]
    follower.ingestor.unload("a")
    disk.opened.clear()
    follower.look()
    assert disk.opened == []
    assert follower.status(paths["a"]).state is FileState.QUEUED
    follower.ingestor.load("a")
    assert follower.look().steps(paths["a"]) == [1, 2, 3] * 2


def test_a_new_file_of_a_loaded_run_is_read_in_the_turn_that_hears_of_it(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 3))
    follower = follow(path.parent).look()
    newer = path.with_name(NAME.format(1796039999, 0))
    newer.write_bytes(events.run(4, 6))
    turn = follower.ingestor.turn(follower.now, 1.0, {str(newer)})
    assert [list(batch.columns[0].steps) for batch in turn.batches] == [[4, 5, 6]]


def test_a_new_nested_folder_of_a_loaded_run_is_read_in_the_turn_that_hears_of_it(
    tmp_path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    follower = follow(tmp_path).look()
    follower.ingestor.load(".")
    path = tmp_path / "rank_3" / "summary" / NAME.format(100, 0)
    path.parent.mkdir(parents=True)
    path.write_bytes(events.run(1, 2))
    turn = follower.ingestor.turn(follower.now, 1.0, {str(tmp_path / "rank_3")})
    assert [(batch.file.rank_id, list(batch.columns[0].steps)) for batch in turn.batches] == [(3, [1, 2])]


def test_a_hint_about_a_folder_makes_its_files_looked_at(
    tmp_path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path = tmp_path / "a" / NAME.format(100, 0)
    path.parent.mkdir()
    path.write_bytes(events.run(1, 2))
    follower = follow(tmp_path).look()
    (tmp_path / "a").rename(tmp_path / "away")
    follower.ingestor.turn(follower.now, 1.0, {str(tmp_path / "a"), str(tmp_path / "away")})
    assert follower.status(path).state is FileState.VANISHED


def test_a_loaded_run_whose_folder_is_deleted_stays_listed_until_it_is_unloaded(
    tmp_path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    for run in ("shown", "other"):
        path = tmp_path / run / NAME.format(100, 0)
        path.parent.mkdir()
        path.write_bytes(events.run(1, 2))
    follower = follow(tmp_path, load=False).look()
    follower.ingestor.load("shown")
    follower.look()
    assert [run.key for run in follower.ingestor.runs()] == ["other", "shown"]
    for run in ("shown", "other"):
        shutil.rmtree(tmp_path / run)
    follower.look()
    assert [run.key for run in follower.ingestor.runs()] == ["shown"], "its points are still on the screen"
    assert follower.status(tmp_path / "shown" / NAME.format(100, 0)).state is FileState.VANISHED
    follower.ingestor.unload("shown")
    follower.look()
    assert follower.ingestor.runs() == ()


def test_nothing_to_do_gives_nothing_and_opens_nothing(
    tmp_path: Path, events: Any, follow: Callable[..., Any], disk: Any
) -> None:
    for rank in range(10):
        (tmp_path / NAME.format(100, rank)).write_bytes(events.run(1, 5))
    follower = follow(tmp_path, disk=disk).look()
    follower.look()
    disk.opened.clear()
    disk.listed.clear()
    turn = follower.ingestor.turn(follower.now, 1.0, everything=True)
    assert (turn.batches, turn.changed_files, turn.done) == ((), (), True)
    assert disk.opened == []
    assert follower.ingestor.runs() is follower.ingestor.runs()


def test_a_run_that_did_not_change_stays_the_same_object(
    tmp_path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        (tmp_path / run / NAME.format(100, 0)).write_bytes(events.run(1, 2))
    follower = follow(tmp_path, load=False).look()
    before = follower.ingestor.runs()
    (tmp_path / "b" / NAME.format(200, 0)).write_bytes(events.run(3, 4))
    after = follower.look().ingestor.runs()
    assert after is not before
    assert after[0] is before[0]
    assert len(after[1].files) == 2


def test_changed_files_are_told_once(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 2))
    follower = follow(path.parent).look()
    with path.open("ab") as out:
        out.write(events.scalar(3)[:-2])
    turn = follower.ingestor.turn(follower.now, 1.0, {str(path)})
    assert [(status.path, status.state) for status in turn.changed_files] == [(str(path), FileState.WAITING)]
    assert follower.ingestor.turn(follower.now, 1.0, {str(path)}).changed_files == ()


def test_a_range_is_read_while_the_file_is_the_one_that_was_read(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    data = events.run(1, 9)
    path.write_bytes(data)
    follower = follow(path.parent).look()
    read = follower.ingestor.read_range
    assert read(str(path), 30, 40) == data[30:70]
    assert read(str(path), 0, len(data) + 1) is None
    assert read(str(path), -1, 4) is None
    assert read(str(path.with_name("other")), 0, 4) is None
    with path.open("ab") as out:
        out.write(events.scalar(10))
    assert read(str(path), 30, 40) == data[30:70]
    path.write_bytes(events.run(11, 19))
    assert read(str(path), 30, 40) is None
    path.unlink()
    assert read(str(path), 30, 40) is None


def test_progress_counts_bytes_of_loaded_runs(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    path.write_bytes(events.run(1, 200))
    follower = follow(path.parent, limits=small)
    follower.ingestor.scan(follower.now, 10.0)
    follower.ingestor.load(".")
    follower.ingestor.turn(follower.now, 0.0)
    before = follower.ingestor.progress
    size = path.stat().st_size
    assert before.bytes_total == size
    assert before.bytes_read + before.history_left == size
    assert before.history_left > 0
    after = follower.look().ingestor.progress
    assert (after.bytes_read, after.history_left) == (size, 0)


def test_ranks_that_share_a_folder_are_told_apart(tmp_path: Path, events: Any, follow: Callable[..., Any]) -> None:
    for rank in range(4):
        (tmp_path / NAME.format(100 + rank, rank)).write_bytes(events.run(rank * 10, rank * 10 + 1))
    follower = follow(tmp_path).look()
    ranks: Dict[int, List[int]] = {batch.file.rank_id: list(batch.columns[0].steps) for batch in follower.keeper.order}
    assert ranks == {rank: [rank * 10, rank * 10 + 1] for rank in range(4)}


def test_a_thousand_ranks_are_read_and_none_stays_open(
    tmp_path: Path, events: Any, follow: Callable[..., Any], held: Callable[[Path], Set[str]]
) -> None:
    data = events.run(1, 3)
    for rank in range(1000):
        folder = tmp_path / f"rank_{rank}"
        folder.mkdir()
        (folder / NAME.format(100, 0)).write_bytes(data)
    follower = follow(tmp_path).look()
    assert {run.key: len(run.files) for run in follower.ingestor.runs()} == {".": 1000}
    assert all(status.state is FileState.CURRENT for status in follower.ingestor.files())
    assert held(tmp_path) == set()
