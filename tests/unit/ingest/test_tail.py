"""One file is read right whatever happens to it between two looks."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable, Set

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.faults import FaultKind
from mstui.model.runs import FileState


@pytest.fixture
def path(tmp_path: Path, events: Any) -> Path:
    return tmp_path / str(events.name)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as out:
        out.write(data)


def kinds(follower: Any, path: Path) -> list[FaultKind]:
    return [fault.kind for fault in follower.status(path).faults]


def test_a_file_that_grows_at_any_split_is_read_whole(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = events.run(1, 3)
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        follower = follow(path.parent).look()
        append(path, data[cut:])
        assert follower.look().steps(path) == [1, 2, 3]
        assert follower.status(path).state is FileState.CURRENT
        assert follower.status(path).fault_count == 0
        path.unlink()


def test_a_torn_record_waits_and_is_read_when_it_is_whole(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = events.run(1, 2)
    path.write_bytes(data[:-5])
    follower = follow(path.parent).look()
    for _ in range(50):
        follower.look()
    assert follower.status(path).state is FileState.WAITING
    assert follower.steps(path) == [1]
    append(path, data[-5:])
    assert follower.look().steps(path) == [1, 2]


def test_a_file_that_waits_for_a_long_record_is_not_decoded_before_it_can_be_whole(
    path: Path, events: Any, follow: Callable[..., Any], disk: Any
) -> None:
    whole = events.run(1, 1) + events.scalar(2, tag="t" * 100_000)
    path.write_bytes(whole[:200])
    follower = follow(path.parent, disk=disk).look()
    disk.reads.clear()
    for end in range(200, 50_000, 10_000):
        path.write_bytes(whole[:end])
        follower.look()
    assert max(length for _, _, length in disk.reads) < 5_000
    path.write_bytes(whole)
    assert follower.look().steps(path) == [1, 2]


def test_zeros_at_the_end_that_turn_into_data_are_read(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = events.run(1, 9)
    path.write_bytes(data[:150] + bytes(len(data) - 150))
    follower = follow(path.parent).look()
    assert follower.status(path).state is FileState.SUSPECT
    follower.look(4.0)
    path.write_bytes(data)
    assert follower.look(1.0).steps(path) == list(range(1, 10))
    assert follower.status(path).fault_count == 0


def test_a_file_of_zeros_that_turns_into_events_is_read(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = events.run(1, 9)
    path.write_bytes(bytes(len(data)))
    follower = follow(path.parent).look()
    assert follower.status(path).state is FileState.SUSPECT
    path.write_bytes(data)
    assert follower.look(1.0).steps(path) == list(range(1, 10))
    assert follower.status(path).fault_count == 0


@pytest.mark.parametrize("zeros", [4096, 300])
def test_zeros_at_the_beginning_that_turn_into_data_late_are_read_after_all(
    path: Path, events: Any, follow: Callable[..., Any], zeros: int
) -> None:
    data = events.run(1, 200)
    path.write_bytes(bytes(zeros) + data[zeros:])
    follower = follow(path.parent)
    for _ in range(6):
        follower.look()
    assert kinds(follower, path) == [FaultKind.DAMAGED]
    assert follower.steps(path)[-1] == 200
    path.write_bytes(data)
    assert follower.look().steps(path) == list(range(1, 201))


def test_a_wrong_checksum_at_the_end_is_condemned_only_when_it_stays(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    data = bytearray(events.run(1, 3))
    data[-1] ^= 1
    path.write_bytes(data)
    follower = follow(path.parent)
    follower.look()
    for _ in range(8):
        follower.look(1.0)
        assert follower.status(path).state is FileState.SUSPECT
    for _ in range(4):
        follower.look(1.0)
    status = follower.status(path)
    assert (status.state, follower.steps(path)) == (FileState.CURRENT, [1, 2])
    assert [(fault.kind, fault.offset + fault.length) for fault in status.faults] == [(FaultKind.DAMAGED, len(data))]
    assert status.skipped_bytes == status.faults[0].length
    append(path, events.scalar(4))
    assert follower.look().steps(path) == [1, 2, 4]


def test_a_wrong_checksum_that_is_put_right_in_time_is_no_damage(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    data = bytearray(events.run(1, 3))
    right = bytes(data)
    data[-1] ^= 1
    path.write_bytes(data)
    follower = follow(path.parent).look()
    follower.look(9.0)
    path.write_bytes(right)
    assert follower.look(9.0).steps(path) == [1, 2, 3]
    assert follower.status(path).fault_count == 0


def test_a_suspect_that_keeps_changing_is_not_condemned(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = bytearray(events.run(1, 3))
    right = data[-1]
    follower = follow(path.parent)
    for flip in range(1, 12):
        data[-1] = right ^ flip
        path.write_bytes(data)
        follower.look(5.0)
        assert follower.status(path).state is FileState.SUSPECT


def test_good_data_behind_a_wrong_record_condemns_it_at_once(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    data = bytearray(events.run(1, 3))
    data[-1] ^= 1
    path.write_bytes(data)
    follower = follow(path.parent).look()
    append(path, events.scalar(4) + events.scalar(5))
    assert follower.look(1.0).steps(path) == [1, 2, 4, 5]
    assert kinds(follower, path) == [FaultKind.DAMAGED]


def test_a_damaged_length_at_the_end_gives_one_fault_however_the_file_grows(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    lost = bytearray(events.scalar(2))
    lost[3] ^= 0xFF
    path.write_bytes(events.run(1, 1) + bytes(lost[:20]))
    follower = follow(path.parent)
    for _ in range(5):
        follower.look()
    append(path, bytes(lost[20:]) + events.scalar(3))
    follower.look()
    assert follower.steps(path) == [1, 3]
    status = follower.status(path)
    assert (status.fault_count, status.skipped_bytes) == (1, len(lost))


def test_a_truncated_file_is_read_again_from_the_start(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 50))
    follower = follow(path.parent).look()
    path.write_bytes(events.run(100, 101))
    assert follower.look().steps(path) == [100, 101]
    assert kinds(follower, path) == [FaultKind.TRUNCATED]
    assert follower.keeper.order[-1].reset


def test_a_file_truncated_to_nothing_is_forgotten(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 50))
    follower = follow(path.parent).look()
    path.write_bytes(b"")
    assert follower.look().steps(path) == []
    assert follower.status(path).state is FileState.EMPTY
    append(path, events.run(7, 8))
    assert follower.look().steps(path) == [7, 8]


def test_a_file_replaced_by_another_is_read_again(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 5))
    follower = follow(path.parent).look()
    other = path.with_name("incoming")
    other.write_bytes(events.run(1000, 1009))
    other.replace(path)
    assert follower.look().steps(path) == list(range(1000, 1010))
    assert kinds(follower, path) == [FaultKind.REPLACED]


def test_a_copy_of_the_same_content_goes_on_where_the_old_one_stopped(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    """rsync puts a new inode under the name with every round, and FUSE gives numbers as it likes."""
    path.write_bytes(events.run(1, 5))
    follower = follow(path.parent).look()
    for last in (6, 7):
        other = path.with_name("incoming")
        other.write_bytes(events.run(1, last))
        other.replace(path)
        follower.look()
    assert follower.steps(path) == [1, 2, 3, 4, 5, 6, 7]
    assert follower.status(path).fault_count == 0
    assert not any(batch.reset for batch in follower.keeper.order)


def test_a_rewrite_to_the_same_size_is_noticed(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 9))
    follower = follow(path.parent).look()
    path.write_bytes(events.run(11, 19))
    assert len(events.run(1, 9)) == len(events.run(11, 19))
    assert follower.look().steps(path) == list(range(11, 20))
    assert kinds(follower, path) == [FaultKind.REPLACED]


def test_a_rewrite_to_the_same_size_within_one_tick_of_the_clock_is_noticed(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 9))
    before = path.stat()
    follower = follow(path.parent).look(0.0)
    path.write_bytes(events.run(11, 19))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert follower.look(3.0).steps(path) == list(range(11, 20))


def test_a_rewrite_to_a_larger_size_is_noticed_though_a_record_is_awaited(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 3) + events.scalar(4, tag="t" * 5000)[:100])
    follower = follow(path.parent).look()
    path.write_bytes(events.run(50, 70))
    assert follower.look().steps(path) == list(range(50, 71))


def test_a_file_that_vanishes_keeps_its_points_and_goes_on_when_it_returns(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 3))
    follower = follow(path.parent).look()
    away = path.with_name("away")
    path.rename(away)
    follower.look()
    assert follower.status(path).state is FileState.VANISHED
    assert follower.steps(path) == [1, 2, 3]
    append(away, events.scalar(4))
    away.rename(path)
    assert follower.look().steps(path) == [1, 2, 3, 4]
    assert follower.status(path).state is FileState.CURRENT
    assert kinds(follower, path) == [FaultKind.VANISHED]


def test_a_directory_deleted_and_made_again_is_read_afresh(
    tmp_path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path = tmp_path / "run" / events.name
    path.parent.mkdir()
    path.write_bytes(events.run(1, 9))
    follower = follow(tmp_path).look()
    shutil.rmtree(path.parent)
    follower.look()
    assert follower.status(path).state is FileState.VANISHED
    path.parent.mkdir()
    path.write_bytes(events.run(500, 501))
    assert follower.look().steps(path) == [500, 501]


def test_a_file_that_cannot_be_opened_says_whose_it_is_and_what_to_ask_for(
    path: Path, events: Any, follow: Callable[..., Any], disk: Any
) -> None:
    path.write_bytes(events.run(1, 3))
    path.chmod(0o400)
    disk.open_errors[str(path)] = PermissionError(errno.EACCES, "Permission denied")
    follower = follow(path.parent, disk=disk).look()
    for _ in range(20):
        follower.look()
    status = follower.status(path)
    assert status.state is FileState.DENIED
    assert (status.faults[0].kind, status.fault_count) == (FaultKind.DENIED, 1)
    for word in ("owner", "group", "mode 0400", f"chmod -R g+rX {path.parent}"):
        assert word in status.detail
    del disk.open_errors[str(path)]
    assert follower.look(11.0).steps(path) == [1, 2, 3]
    assert follower.status(path).detail == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_sees_the_owner_of_a_folder_that_is_closed_to_him(tmp_path: Path, events: Any) -> None:
    folder = tmp_path / "summary"
    folder.mkdir()
    (folder / events.name).write_bytes(events.run(1, 2))
    folder.chmod(0o700)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    code = f"""
        import os, sys, time
        sys.path[:0] = {sys.path!r}
        from mstui.formats.base import Format
        from mstui.ingest.ingestor import Ingestor
        from mstui.registry import collect
        formats = collect("mstui.formats.decoders", "FORMAT", Format)
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        ingestor = Ingestor({str(folder)!r}, formats)
        ingestor.scan(time.time(), 5.0)
        for status in ingestor.files():
            print(status.state.name, status.detail)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith("DENIED ")
    for word in ("owner root", "mode 0700", f"ask root to run: chmod -R a+rX {folder}"):
        assert word in done.stdout


def test_an_empty_file_is_empty(path: Path, follow: Callable[..., Any], disk: Any) -> None:
    path.write_bytes(b"")
    assert follow(path.parent, disk=disk).look().status(path).state is FileState.EMPTY


@pytest.mark.parametrize("content", [b"PK\x03\x04 a zip archive", b"\x89PNG" * 200, b"hello\n" * 1000])
def test_a_file_with_the_name_and_another_content_is_not_events(
    path: Path, follow: Callable[..., Any], content: bytes
) -> None:
    path.write_bytes(content)
    follower = follow(path.parent)
    for _ in range(10):
        follower.look()
    status = follower.status(path)
    assert (status.state, status.fault_count, status.consumed) == (FileState.NOT_EVENTS, 1, 0)
    assert kinds(follower, path) == [FaultKind.NOT_EVENTS]


def test_a_short_beginning_that_turns_out_to_be_something_else_is_not_events(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.version()[:3])
    follower = follow(path.parent).look()
    assert follower.status(path).state is FileState.WAITING
    path.write_bytes(b"hello, this is a log file of some kind\n" * 9)
    assert follower.look().status(path).state is FileState.NOT_EVENTS


def test_a_file_that_was_something_else_and_becomes_events_is_read(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(b"not yet" * 100)
    follower = follow(path.parent).look()
    path.write_bytes(events.run(1, 4))
    assert follower.look().steps(path) == [1, 2, 3, 4]


def test_a_fifo_under_the_name_does_not_hang_the_reader(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 2))
    follower = follow(path.parent).look()
    path.unlink()
    os.mkfifo(path)
    follower.now += 1.0
    follower.ingestor.turn(follower.now, 1.0, everything=True)
    assert follower.status(path).state is FileState.NOT_EVENTS


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO])
def test_an_error_of_the_system_is_retried_with_growing_pauses(
    path: Path, events: Any, follow: Callable[..., Any], disk: Any, number: int
) -> None:
    path.write_bytes(events.run(1, 3))
    disk.open_errors[str(path)] = OSError(number, os.strerror(number))
    follower = follow(path.parent, disk=disk).look()
    pauses = []
    for _ in range(8):
        pauses.append(follower.ingestor.next_due() - follower.now)
        follower.look(pauses[-1])
    status = follower.status(path)
    assert status.state is FileState.UNREADABLE
    assert (status.detail, status.fault_count) == (os.strerror(number), 1)
    assert [round(pause) for pause in pauses] == [1, 2, 4, 8, 16, 32, 60, 60]
    disk.open_errors.clear()
    assert follower.look(60.0).steps(path) == [1, 2, 3]


def test_a_file_is_closed_when_the_writer_took_the_write_permission_and_all_is_read(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 2))
    follower = follow(path.parent).look(0.0)
    path.chmod(0o400)
    assert follower.look(0.1).status(path).state is FileState.CURRENT
    path.chmod(0o600)
    append(path, events.scalar(3))
    path.chmod(0o400)
    assert follower.look(0.3).steps(path) == [1, 2, 3]
    assert follower.look(3.0).status(path).state is FileState.CLOSED


def test_the_last_bytes_that_come_after_the_mode_are_read(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    data = events.run(1, 3)
    path.write_bytes(data[:-10])
    follower = follow(path.parent).look(0.0)
    with path.open("ab") as out:
        path.chmod(0o400)
        assert follower.look(0.1).status(path).state is FileState.WAITING
        out.write(data[-10:])
    follower.look(0.1)
    assert follower.look(2.0).steps(path) == [1, 2, 3]
    assert follower.status(path).state is FileState.CLOSED


def test_a_closed_file_that_ends_inside_a_record_is_torn(path: Path, events: Any, follow: Callable[..., Any]) -> None:
    path.write_bytes(events.run(1, 3)[:-10])
    path.chmod(0o400)
    follower = follow(path.parent).look()
    assert follower.look().status(path).state is FileState.TORN


def test_a_file_with_a_newer_one_behind_it_that_ends_inside_a_record_is_torn(
    path: Path, events: Any, follow: Callable[..., Any]
) -> None:
    path.write_bytes(events.run(1, 3)[:-10])
    newer = path.with_name(path.name.replace("1796033791", "1796033999"))
    follower = follow(path.parent).look()
    assert follower.status(path).state is FileState.WAITING
    newer.write_bytes(events.run(4, 5))
    assert follower.look().status(path).state is FileState.TORN
    assert follower.steps(newer) == [4, 5]


def test_a_record_that_is_too_large_is_skipped_and_said(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits, disk: Any
) -> None:
    large = events.scalar(2, tag="t" * 5000)
    path.write_bytes(events.run(1, 1) + large + events.scalar(3))
    follower = follow(path.parent, limits=small, disk=disk).look()
    assert follower.steps(path) == [1, 3]
    status = follower.status(path)
    assert [(fault.kind, fault.length) for fault in status.faults] == [(FaultKind.OVERSIZED, len(large))]
    assert max(length for _, _, length in disk.reads) <= 4096


def test_a_record_longer_than_a_block_is_read(
    path: Path, events: Any, follow: Callable[..., Any], small: ReadLimits
) -> None:
    path.write_bytes(events.run(1, 1) + events.scalar(2, tag="t" * 1500) + events.scalar(3))
    assert sorted(follow(path.parent, limits=small).look().steps(path)) == [1, 2, 3]


def test_a_decoder_that_breaks_takes_only_its_file_with_it(
    path: Path, events: Any, follow: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mstui.formats.stream import EventStreamDecoder

    other = path.with_name(path.name.replace(".0.", ".1."))
    path.write_bytes(events.run(1, 3))
    other.write_bytes(events.run(1, 3))
    real = EventStreamDecoder.decode

    def decode(self: EventStreamDecoder, *args: Any, **options: Any) -> Any:
        if self._path == str(path):
            raise IndexError("\x1b[31mboom")
        return real(self, *args, **options)

    monkeypatch.setattr(EventStreamDecoder, "decode", decode)
    follower = follow(path.parent).look()
    assert follower.steps(other) == [1, 2, 3]
    status = follower.status(path)
    assert status.state is FileState.UNREADABLE
    assert "IndexError: <1b>[31mboom" in status.detail


def test_no_file_is_held_open_between_turns(
    path: Path, events: Any, follow: Callable[..., Any], held: Callable[[Path], Set[str]]
) -> None:
    for rank in range(20):
        path.with_name(path.name.replace(".0.", f".{rank}.")).write_bytes(events.run(1, 50))
    follower = follow(path.parent)
    follower.ingestor.scan(follower.now, 1.0)
    follower.ingestor.load(".")
    for _ in range(30):
        follower.ingestor.turn(follower.now, 0.0)
        assert held(path.parent) == set()


def test_what_is_read_never_exceeds_what_the_file_holds(
    path: Path, events: Any, follow: Callable[..., Any], disk: Any
) -> None:
    """A length field that lies, with a right checksum, claims 400 MB."""
    claim = (400 << 20).to_bytes(8, "little")
    header = claim + events.frame(claim)[-4:]
    path.write_bytes(events.run(1, 1) + header + b"payload")
    follower = follow(path.parent, disk=disk).look()
    assert follower.status(path).state is FileState.WAITING
    assert all(offset + length <= path.stat().st_size for _, offset, length in disk.reads)
