"""The collector against commands that are shell scripts: good, slow, failing, endless, and with children that hang."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional

import psutil
import pytest

from mstui.hardware.collector import VARIABLE, Collector, Limits, find_command
from mstui.hardware.command import Bounds, Ending, clean_environment, run
from mstui.model.hardware import Hardware, HardwareState

SAMPLES = Path(__file__).parents[2] / "data" / "npu_smi"
TABLE = SAMPLES / "info_910B_8cards.txt"
PATIENCE_S = 20.0
"""until a test gives up"""
SHORT = Limits(every_s=0.01, most_s=0.05, bounds=Bounds(time_s=0.3, output=100_000, linger_s=0.05, kill_s=1.0))
GENEROUS = Bounds(time_s=PATIENCE_S, output=100_000, linger_s=0.05, kill_s=1.0)


def script(folder: Path, body: str, name: str = "npu-smi") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


def environ(command: str) -> Dict[str, str]:
    return {**os.environ, VARIABLE: command}


@dataclass
class Watched:
    """A collector, and what it knew each time when it said that something changed."""

    limits: Limits
    known: List[Hardware] = field(default_factory=list)
    turn: threading.Condition = field(default_factory=threading.Condition)
    collector: Optional[Collector] = None
    clock: float = 1000.0

    def start(self, command: str) -> Collector:
        self.collector = Collector(environ(command), self._changed, clock=lambda: self.clock, limits=self.limits)
        self.collector.show()
        return self.collector

    def _changed(self) -> None:
        assert self.collector is not None
        with self.turn:
            self.known.append(self.collector.snapshot())
            self.turn.notify_all()

    def until(self, fits: Callable[[Hardware], bool]) -> Hardware:
        def found() -> Optional[Hardware]:
            return next((known for known in self.known if fits(known)), None)

        with self.turn:
            assert self.turn.wait_for(lambda: found() is not None, PATIENCE_S), self.known
            first = found()
        assert first is not None
        return first

    def until_state(self, state: HardwareState) -> Hardware:
        return self.until(lambda known: known.state is state)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched(SHORT)
    yield made
    if made.collector is not None:
        made.collector.stop()


@pytest.fixture
def patient(watched: Watched) -> Watched:
    """For commands that are meant to succeed on a machine that is busy."""
    watched.limits = Limits(every_s=0.01, most_s=0.05, bounds=GENEROUS)
    return watched


def gone(pid: int) -> bool:
    """A process has ended; one that nobody has waited for counts as ended."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return gone(pid)


def test_a_good_command_gives_the_chips(tmp_path: Path, patient: Watched) -> None:
    patient.start(script(tmp_path, f"cat {TABLE}"))
    known = patient.until_state(HardwareState.OK)
    assert known.table is not None
    assert [chip.ai_core_percent for chip in known.table.chips] == [0, 96, 3, 0]
    assert known.answered == 1000.0
    assert known.reason == ""


def test_the_usages_of_the_card_that_is_looked_at_are_asked_for_too(tmp_path: Path, patient: Watched) -> None:
    body = f'if [ "$2" = -t ]; then [ "$*" = "info -t usages -i 1" ] && cat {SAMPLES}/usages.txt; else cat {TABLE}; fi'
    patient.start(script(tmp_path, body)).look_at(1)
    usages = patient.until(lambda known: known.usages is not None and known.usages.npu == 1).usages
    assert usages is not None
    assert usages.of_chip(0)["HBM Usage Rate(%)"] == "86"


def test_until_somebody_says_which_card_it_is_the_first_one_and_none_may_be_said(
    tmp_path: Path, patient: Watched
) -> None:
    collector = patient.start(script(tmp_path, f'[ "$2" = -t ] && echo "key : $4"; cat {TABLE}'))
    usages = patient.until(lambda known: known.usages is not None).usages
    assert usages is not None
    assert usages.npu == 0
    collector.look_at(None)
    patient.until(lambda known: known.usages is None)


def test_usages_that_fail_leave_the_table_as_it_is(tmp_path: Path, patient: Watched) -> None:
    patient.start(script(tmp_path, f'[ "$2" = -t ] && exit 3; cat {TABLE}')).look_at(0)
    known = patient.until(lambda known: known.usages is not None)
    assert known.state is HardwareState.OK
    assert known.usages is not None
    assert "3" in known.usages.trouble


def test_a_slow_command_is_killed_and_the_state_says_after_how_long(tmp_path: Path, watched: Watched) -> None:
    pid_file = tmp_path / "pid"
    watched.start(script(tmp_path, f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 1000"))
    known = watched.until_state(HardwareState.FAILED)
    assert known.reason == "npu-smi did not answer in 0.3 s"
    assert known.table is None
    watched.until(lambda _known: pid_file.exists())
    assert watched.collector is not None
    watched.collector.stop()
    assert wait_until_gone(int(pid_file.read_text()))


def test_a_hanging_child_of_a_child_goes_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    inner = script(tmp_path, "sleep 1000 & echo $! > " + str(pid_file) + "; wait", "inner")
    command = script(tmp_path, f"{inner} & wait")
    bounds = Bounds(time_s=PATIENCE_S, output=1000, linger_s=0.05, kill_s=1.0)
    done = run([command], os.environ, bounds, lambda: pid_file.exists() and bool(pid_file.read_text().strip()))
    assert done.ending is Ending.STOPPED
    assert wait_until_gone(int(pid_file.read_text()))


def test_an_answer_counts_though_a_child_keeps_the_output_open(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = script(tmp_path, f"sleep 1000 & echo $! > {pid_file}; echo here; exit 0")
    done = run([command], os.environ, GENEROUS, lambda: False)
    assert (done.ending, done.code, done.out) == (Ending.EXITED, 0, "here\n")
    assert wait_until_gone(int(pid_file.read_text()))


def test_a_command_that_closes_its_output_and_hangs_is_killed(tmp_path: Path) -> None:
    bounds = Bounds(time_s=0.3, output=1000, linger_s=0.05, kill_s=1.0)
    done = run([script(tmp_path, "exec sleep 1000 >&- 2>&-")], os.environ, bounds, lambda: False)
    assert done.ending is Ending.TIMED_OUT
    assert done.left is None


def test_huge_output_is_cut_short_and_nothing_of_it_is_used(tmp_path: Path, patient: Watched) -> None:
    patient.start(script(tmp_path, f"cat {TABLE}; yes '| 9 910B | OK | 1 2 3 / 4 |'"))
    known = patient.until_state(HardwareState.FAILED)
    assert known.table is None
    assert "more than 100000 bytes" in known.reason


def test_a_failing_command_is_quoted_harmlessly(tmp_path: Path, patient: Watched) -> None:
    patient.start(script(tmp_path, "printf 'dcmi init failed\\033[2J ret is -8005\\n' >&2; exit 5"))
    known = patient.until_state(HardwareState.FAILED)
    assert known.reason == "npu-smi ended with 5: dcmi init failed<1b>[2J ret is -8005"


def test_an_answer_of_another_form_is_a_failure_and_its_lines_are_counted(tmp_path: Path, patient: Watched) -> None:
    patient.start(script(tmp_path, "echo hello; echo world"))
    assert "2 lines not understood" in patient.until_state(HardwareState.FAILED).reason


def test_after_an_answer_a_failure_makes_it_stale_and_an_answer_makes_it_good_again(
    tmp_path: Path, patient: Watched
) -> None:
    broken = tmp_path / "broken"
    patient.start(script(tmp_path, f"[ -e {broken} ] && exit 7; cat {TABLE}"))
    patient.until_state(HardwareState.OK)
    broken.touch()
    known = patient.until_state(HardwareState.STALE)
    assert known.table is not None
    assert len(known.table.chips) == 4
    assert known.answered == 1000.0
    assert "7" in known.reason
    with patient.turn:
        patient.known.clear()
    broken.unlink()
    assert patient.until_state(HardwareState.OK).reason == ""


def test_a_command_that_goes_away_is_said(tmp_path: Path, patient: Watched) -> None:
    command = script(tmp_path, f"cat {TABLE}")
    patient.start(command)
    patient.until_state(HardwareState.OK)
    os.unlink(command)
    assert VARIABLE in patient.until_state(HardwareState.STALE).reason


def test_figures_grow_stale_by_time_alone(tmp_path: Path, patient: Watched) -> None:
    collector = patient.start(script(tmp_path, f"cat {TABLE}"))
    patient.until_state(HardwareState.OK)
    collector.stop()
    patient.clock += patient.limits.stale_s + 1
    assert collector.snapshot().state is HardwareState.STALE


def test_without_the_command_there_is_no_thread_and_no_noise() -> None:
    before = threading.active_count()
    collector = Collector({"PATH": "/nonexistent"}, lambda: None, clock=time.time)
    collector.show()
    assert threading.active_count() == before
    assert collector.snapshot().state is HardwareState.ABSENT
    assert "npu-smi" in collector.snapshot().reason
    collector.stop()


def test_a_command_that_appears_later_is_found_when_it_is_shown_again(tmp_path: Path) -> None:
    collector = Collector({"PATH": str(tmp_path)}, lambda: None, clock=time.time)
    collector.show()
    assert collector.snapshot().state is HardwareState.ABSENT
    script(tmp_path, "exit 1")
    collector.hide()
    collector.show()
    assert collector.snapshot().state is not HardwareState.ABSENT
    collector.stop()


def test_nothing_is_run_while_nobody_looks(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    answered = threading.Semaphore(0)

    def changed() -> None:
        collector.hide()
        answered.release()

    command = script(tmp_path, f"echo >> {runs}; cat {TABLE}")
    limits = Limits(every_s=0.001, bounds=GENEROUS)
    collector = Collector(environ(command), changed, clock=time.time, limits=limits)
    collector.look_at(None)
    collector.show()
    assert answered.acquire(timeout=PATIENCE_S)
    assert not answered.acquire(timeout=100 * limits.every_s)
    assert len(runs.read_bytes()) == 1
    collector.show()
    assert answered.acquire(timeout=PATIENCE_S)
    collector.stop()
    assert len(runs.read_bytes()) == 2


def test_stopping_does_not_wait_for_the_command(tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = script(tmp_path, f"touch {started}; exec sleep 1000")
    limits = Limits(bounds=Bounds(time_s=1000.0, output=1000, linger_s=0.05, kill_s=1.0))
    collector = Collector(environ(command), lambda: None, clock=time.time, limits=limits)
    collector.show()
    thread = collector._thread
    assert thread is not None
    deadline = time.monotonic() + PATIENCE_S
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    collector.stop()
    assert not thread.is_alive()
    collector.stop()


def test_no_second_command_is_run_while_one_cannot_be_ended(
    tmp_path: Path, patient: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Immortal:
        alive = True

        def poll(self) -> Optional[int]:
            return None if self.alive else 0

    immortal = Immortal()
    collector = Collector(
        environ(script(tmp_path, f"cat {TABLE}")), patient._changed, clock=lambda: 1000.0, limits=patient.limits
    )
    patient.collector = collector
    collector._left.append(immortal)  # type: ignore[arg-type]  # no process of a test can sit in a driver
    collector.show()
    assert "cannot be ended" in patient.until_state(HardwareState.FAILED).reason
    immortal.alive = False
    patient.until_state(HardwareState.OK)


def test_the_command_sees_a_small_environment(tmp_path: Path) -> None:
    given = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/lib", "HOME": "/", "LANG": "zh_CN.UTF-8", "SECRET": "x"}
    assert clean_environment(given) == {
        "PATH": os.environ["PATH"],
        "LD_LIBRARY_PATH": "/lib",
        "HOME": "/",
        "LC_ALL": "C",
    }
    done = run([script(tmp_path, "env; pwd")], given, GENEROUS, lambda: False)
    assert "SECRET" not in done.out
    assert done.out.endswith("\n/\n")


def test_the_command_has_no_input(tmp_path: Path) -> None:
    assert run([script(tmp_path, "cat; echo end")], os.environ, GENEROUS, lambda: False).out == "end\n"


def test_what_cannot_be_run_says_so(tmp_path: Path, patient: Watched) -> None:
    path = tmp_path / "npu-smi"
    path.write_bytes(b"\x00\x01\x02")
    path.chmod(0o755)
    patient.start(str(path))
    assert "could not be run" in patient.until_state(HardwareState.FAILED).reason


def test_the_command_is_looked_for_in_full_paths_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)
    assert find_command({"PATH": f".:{tmp_path}"}) == path
    assert find_command({"PATH": ".:"}) is None
    assert find_command({}) is None
    assert find_command({"PATH": str(tmp_path), VARIABLE: ""}) is None
    assert find_command({"PATH": str(tmp_path), VARIABLE: "npu-smi"}) is None
    assert find_command({"PATH": "", VARIABLE: path}) == path
