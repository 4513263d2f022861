"""A replay writes the recorded bytes, whole records at a time, in time order, and nothing else."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from pathlib import Path
from typing import Iterable, Optional, Tuple

import pytest

from mstui.assets import SAMPLE_RUNS, asset_dir
from mstui.detect.base import Process
from mstui.errors import StartError
from mstui.formats.crc import length_crc, masked_crc
from mstui.model.alerts import Symptom
from mstui.model.runs import RunStatus
from mstui.monitor import Monitor
from mstui.replay import MAX_WAIT_S, Replay, make_target, parse_place, player, recording, remove_target


def frame(payload: bytes) -> bytes:
    length = len(payload)
    return struct.pack("<QI", length, length_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def event(wall_time: float, step: Optional[int] = None, filler: int = 20) -> bytes:
    head = b"\x09" + struct.pack("<d", wall_time)
    if step is not None:
        head += b"\x10" + varint(step)
    return frame(head + b"\x1a" + varint(filler) + b"x" * filler)


def record(path: Path, events: Iterable[Tuple[float, Optional[int]]]) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = b"".join(event(when, step) for when, step in events)
    path.write_bytes(content)
    return content


MS = "events.out.events.summary.1796045352.0.sample_MS"


def test_writes_what_is_due_and_only_whole_records(tmp_path: Path) -> None:
    content = record(tmp_path / "run" / MS, [(100.0 + s, s) for s in range(5)])
    size = len(content) // 5
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"))
    copy = tmp_path / "out" / MS
    assert played.advance(0.0).written == 1
    assert copy.read_bytes() == content[:size]
    assert played.advance(0.9).written == 1
    assert played.advance(2.5).step == 2
    assert copy.read_bytes() == content[: 3 * size]
    progress = played.advance(60.0)
    assert (progress.written, progress.total, progress.next_due) == (5, 5, None)
    assert copy.read_bytes() == content


def test_speed_divides_the_pauses(tmp_path: Path) -> None:
    record(tmp_path / MS, [(0.0, 1), (10.0, 2)])
    assert Replay(str(tmp_path), str(tmp_path / "out"), speed=10.0).advance(0.0).next_due == 1.0


def test_long_pauses_are_cut_short(tmp_path: Path) -> None:
    record(tmp_path / MS, [(0.0, 1), (86400.0, 2)])
    assert Replay(str(tmp_path), str(tmp_path / "out")).advance(0.0).next_due == MAX_WAIT_S


def test_begins_at_a_step(tmp_path: Path) -> None:
    record(tmp_path / MS, [(float(s), s * 100) for s in range(20)])
    played = Replay(str(tmp_path), str(tmp_path / "out"), at_step=1250)
    first = played.advance(0.0)
    assert (first.written, first.step, first.next_due) == (13, 1200, 1.0)


def test_a_step_behind_the_end_writes_everything(tmp_path: Path) -> None:
    record(tmp_path / MS, [(float(s), s) for s in range(20)])
    played = Replay(str(tmp_path), str(tmp_path / "out"), at_step=1250)
    assert played.last_step == 19
    assert played.advance(0.0).next_due is None


def test_ranks_are_interleaved_by_time_and_keep_their_folders(tmp_path: Path) -> None:
    record(tmp_path / "run/rank_0" / MS, [(0.0, 1), (2.0, 2)])
    record(tmp_path / "run/rank_1" / MS, [(1.0, 1), (3.0, 2)])
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"))
    sizes = []
    for elapsed in (0.0, 1.0, 2.0, 3.0):
        played.advance(elapsed)
        copies = [tmp_path / "out" / rank / MS for rank in ("rank_0", "rank_1")]
        sizes.append(tuple(len(c.read_bytes()) if c.exists() else 0 for c in copies))
    one = sizes[0][0]
    assert sizes == [(one, 0), (one, one), (2 * one, one), (2 * one, 2 * one)]


def test_times_that_fall_keep_the_order_of_the_file(tmp_path: Path) -> None:
    content = record(tmp_path / MS, [(5.0, 1), (1.0, 2), (float("nan"), 3), (float("inf"), 4), (6.0, 5)])
    played = Replay(str(tmp_path), str(tmp_path / "out"))
    assert played.advance(0.0).written == 4
    assert played.advance(1.0).written == 5
    assert (tmp_path / "out" / MS).read_bytes() == content


def test_a_closed_file_ends_closed_and_a_torn_one_does_not(tmp_path: Path) -> None:
    whole = record(tmp_path / MS, [(0.0, 1), (1.0, 2)])
    torn = tmp_path / "torn" / MS
    torn.parent.mkdir()
    torn.write_bytes(whole[:-3])
    for source, closed in ((tmp_path / MS, True), (torn, False)):
        out = tmp_path / f"out{closed}"
        Replay(str(source), str(out)).advance(9.0)
        assert (out / MS).read_bytes() == source.read_bytes()
        assert (stat.S_IMODE(os.stat(out / MS).st_mode) == 0o400) is closed


def test_damage_is_played_as_it_is(tmp_path: Path) -> None:
    content = bytearray(b"".join(event(float(s), s) for s in range(6)))
    size = len(content) // 6
    content[2 * size] ^= 0xFF
    (tmp_path / MS).write_bytes(content)
    played = Replay(str(tmp_path), str(tmp_path / "out"))
    assert played.advance(100.0).total == 5
    assert (tmp_path / "out" / MS).read_bytes() == content


def test_blocks_need_not_end_at_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = record(tmp_path / MS, [(float(s), s) for s in range(50)])
    monkeypatch.setattr(recording, "BLOCK", 37)
    played = Replay(str(tmp_path), str(tmp_path / "out"))
    assert played.advance(100.0).total == 50
    assert (tmp_path / "out" / MS).read_bytes() == content


def test_negative_and_missing_steps(tmp_path: Path) -> None:
    record(tmp_path / MS, [(0.0, None), (0.0, -5)])
    assert Replay(str(tmp_path), str(tmp_path / "out")).last_step == -5


@pytest.mark.parametrize(
    "content", [b"", b"not an event file at all, but long enough for a header"], ids=["empty", "text"]
)
def test_says_when_there_is_nothing_to_play(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MS).write_bytes(content)
    with pytest.raises(StartError, match="no records"):
        Replay(str(tmp_path), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_checkpoint_folders_are_left_alone(tmp_path: Path) -> None:
    record(tmp_path / "ckpt" / MS, [(0.0, 1)])
    with pytest.raises(StartError, match="no records"):
        Replay(str(tmp_path), str(tmp_path / "out"))


def test_plays_until_it_is_told_to_stop(tmp_path: Path) -> None:
    record(tmp_path / MS, [(float(s), s) for s in range(100)])
    now = [0.0]
    waits = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        now[0] += 1.0
        return len(waits) == 4

    Replay(str(tmp_path), str(tmp_path / "out")).run(lambda: now[0], wait)
    assert (tmp_path / "out" / MS).stat().st_size == 4 * ((tmp_path / MS).stat().st_size // 100)


@pytest.mark.parametrize("name", ["healthy", "loss_nan"])
def test_the_bundled_runs_come_out_byte_for_byte(tmp_path: Path, name: str) -> None:
    source = Path(asset_dir(SAMPLE_RUNS)) / name
    played = Replay(str(source), str(tmp_path))
    half = played.advance(20.0)
    assert 0 < half.written < half.total
    assert played.advance(1e6).next_due is None
    recorded = {path.name: path.read_bytes() for path in source.iterdir() if path.name.startswith("events.")}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == recorded


PLACES = {"step 1200": 1200, "1200": 1200, " Step 7 ": 7, "step12": 12}


@pytest.mark.parametrize(("text", "step"), PLACES.items())
def test_reads_places(text: str, step: int) -> None:
    assert parse_place(text) == step


@pytest.mark.parametrize("text", ["", "half", "step -1", "1e3", "step", "9" * 40])
def test_refuses_other_places(text: str) -> None:
    with pytest.raises(StartError, match="cannot go to"):
        parse_place(text)


def test_left_over_directories_go_and_those_in_use_stay(tmp_path: Path) -> None:
    mine = make_target(str(tmp_path))
    dead = tmp_path / "replays" / "replay-999999999-x"
    other = tmp_path / "replays" / "something"
    dead.mkdir()
    other.mkdir()
    second = make_target(str(tmp_path))
    assert (os.path.isdir(mine), dead.exists(), other.exists()) == (True, False, True)
    assert os.listdir(second) == []
    remove_target(second)
    remove_target(second)
    assert not os.path.exists(second)


LOGS = Path(__file__).parents[1] / "data" / "logs"


def log(path: Path, text: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return text.encode()


def stamped(second: int, words: str) -> str:
    return f"[INFO] 2026-05-06 10:00:{second:02},000 [train.py:1] log: {words}\n"


def test_a_log_grows_line_by_line_at_the_pace_of_its_stamps(tmp_path: Path) -> None:
    lines = [stamped(second, f"line {second}") for second in range(4)]
    log(tmp_path / "run" / "info.log", "".join(lines))
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"))
    copy = tmp_path / "out" / "info.log"
    played.advance(0.0)
    assert copy.read_text() == lines[0]
    played.advance(2.5)
    assert copy.read_text() == "".join(lines[:3])
    assert played.advance(100.0).next_due is None
    assert copy.read_bytes() == (tmp_path / "run" / "info.log").read_bytes()
    assert stat.S_IMODE(copy.stat().st_mode) != 0o400, "nobody closes a log"


def test_lines_of_a_log_without_stamps_come_when_the_summary_has_their_step(tmp_path: Path) -> None:
    record(tmp_path / "run" / MS, [(100.0 + 2 * step, step) for step in range(1, 4)])
    lines = [f"epoch: 1 step: {step}, loss is {1 / step}\n" for step in range(1, 4)]
    log(tmp_path / "run" / "train.log", "".join(lines))
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"))
    copy = tmp_path / "out" / "train.log"
    played.advance(0.0)
    assert copy.read_text() == lines[0]
    played.advance(2.1)
    assert copy.read_text() == "".join(lines[:2])
    assert played.last_step == 3


def test_ranks_without_stamps_go_in_step_and_go_on_after_the_last_stamp(tmp_path: Path) -> None:
    for rank in range(2):
        steps = "".join(f"epoch: 1 step: {step}, loss is 0.5\n" for step in range(1, 5))
        log(tmp_path / "run" / f"worker_{rank}.log", stamped(rank, "begin") + steps)
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"))
    played.advance(2.1)
    written = [(tmp_path / "out" / f"worker_{rank}.log").read_text().count("loss is") for rank in range(2)]
    assert written == [4, 2]


def test_bytes_of_a_log_go_over_as_they_are(tmp_path: Path) -> None:
    source = tmp_path / "run"
    shutil.copytree(LOGS / "msrun_worker_sigkill", source)
    shutil.copy(LOGS / "mindnlp" / "trainer_tqdm_cr.log", source)
    shutil.copy(LOGS / "odd" / "nul_bytes_after_power_loss.log", source)
    played = Replay(str(source), str(tmp_path / "out"))
    elapsed = 0.0
    while played.advance(elapsed).next_due is not None:
        elapsed += 0.7
    for path in source.iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes(), path.name


def test_at_a_step_plays_logs_up_to_it_at_once(tmp_path: Path) -> None:
    log(tmp_path / "run" / "a.log", "".join(f"epoch: 1 step: {step}, loss is 0.5\n" for step in range(1, 100)))
    played = Replay(str(tmp_path / "run"), str(tmp_path / "out"), at_step=50)
    assert played.advance(0.0).step == 50


def test_one_log_alone_can_be_played(tmp_path: Path) -> None:
    log(tmp_path / "a.log", stamped(1, "one") + stamped(2, "two"))
    played = Replay(str(tmp_path / "a.log"), str(tmp_path / "out"))
    played.advance(10.0)
    assert (tmp_path / "out" / "a.log").read_bytes() == (tmp_path / "a.log").read_bytes()


HANGS = '[observe]\nprocess = "running"\nseconds_after_last_record = 900\n'


def hung(folder: Path, told: str = HANGS) -> Replay:
    record(folder / "run" / MS, [(100.0, 1), (101.0, 2)])
    (folder / "run" / "run.toml").write_text(told)
    return Replay(str(folder / "run"), str(folder / "out"))


def process_of(played: Replay, now: float, run: str = ".") -> Process:
    return played.process(run, tuple, now)


def test_who_hangs_has_not_closed_its_files(tmp_path: Path) -> None:
    hung(tmp_path).advance(9.0)
    assert stat.S_IMODE((tmp_path / "out" / MS).stat().st_mode) != player.CLOSED_MODE


def test_its_process_is_seen_behind_the_last_record_as_long_after_it_as_when_it_was_recorded(tmp_path: Path) -> None:
    played = hung(tmp_path)
    played.advance(0.0)
    assert process_of(played, 5000.0) == Process()
    played.advance(9.0)
    assert process_of(played, 5010.0) == Process(), "the silence has just begun"
    assert process_of(played, 5010.0 + MAX_WAIT_S) == Process(running=True, seen_at=1001.0)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "[observe",
        "observe = 3",
        '[observe]\nprocess = "ended"\nseconds_after_last_record = 9',
        '[observe]\nprocess = "running"',
        '[observe]\nprocess = "running"\nseconds_after_last_record = -1',
        '[observe]\nprocess = "running"\nseconds_after_last_record = nan',
        '[observe]\nprocess = "running"\nseconds_after_last_record = "9"',
    ],
)
def test_a_file_of_that_name_that_says_nothing_of_the_kind_changes_nothing(tmp_path: Path, told: str) -> None:
    played = hung(tmp_path, told)
    played.advance(9.0)
    assert stat.S_IMODE((tmp_path / "out" / MS).stat().st_mode) == player.CLOSED_MODE
    for now in (0.0, 1e6):
        assert process_of(played, now) == Process()


def test_of_several_runs_the_one_that_hangs_does(tmp_path: Path) -> None:
    for name in ("good", "bad/rank_0"):
        record(tmp_path / "runs" / name / MS, [(100.0, 1), (101.0, 2)])
    (tmp_path / "runs" / "bad" / "run.toml").write_text(HANGS)
    played = Replay(str(tmp_path / "runs"), str(tmp_path / "out"))
    played.advance(9.0)
    closed = {
        name: stat.S_IMODE((tmp_path / "out" / name / MS).stat().st_mode) == player.CLOSED_MODE
        for name in ("good", "bad/rank_0")
    }
    assert closed == {"good": True, "bad/rank_0": False}
    for run, running in (("good", None), ("bad", True)):
        process_of(played, 0.0, run)
        assert process_of(played, 1e6, run).running is running


def test_the_bundled_hang_ends_in_the_stall_that_it_promises(tmp_path: Path) -> None:
    played = Replay(str(Path(asset_dir(SAMPLE_RUNS)) / "hang"), str(tmp_path))
    played.advance(1e6)
    now = [2_000_000_000.0]
    monitor = Monitor(str(tmp_path), clock=lambda: now[0], look_for_process=played.process)
    for _look in range(3):
        monitor.look_once(now[0])
        now[0] += 5.0
    (alert,) = monitor.alerts(".")
    assert alert.incident.head.symptom is Symptom.STALL
    assert alert.incident.head.evidence[0].numbers["silence"] == pytest.approx(900.0)
    (run,) = monitor.runs()
    assert run.status in (RunStatus.LIVE, RunStatus.STALE)
