"""A process that has a run's file open for writing is a training that runs; nothing else is proof of anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import List, Optional

import pytest

from mstui.detect.base import Process
from mstui.ingest.filesystems import Mounts
from mstui.monitor.process_on_host import BUDGET_S, LOOK_EVERY_S, ProcessOnHost

NOW = 1_800_000_000.0
RUNNING, UNKNOWN = Process(running=True), Process()


class FakeHost:
    """A process table of its own, with one run's file in reach."""

    def __init__(self, root: Path) -> None:
        self.proc = root / "proc"
        self.proc.mkdir()
        (self.proc / "cpuinfo").write_text("")
        self.log = root / "run" / "train.log"
        self.log.parent.mkdir()
        self.log.write_text("x")
        self.kind = "ext4"
        self.clock: List[float] = [0.0]
        self.cost = 0.0

    def start(self, pid: int, opened: Path, flags: str = "0100001", command: str = "python\0train.py\0") -> None:
        """A process with one open file."""
        folder = self.proc / str(pid)
        (folder / "fd").mkdir(parents=True)
        (folder / "fdinfo").mkdir()
        (folder / "fd" / "5").symlink_to(opened)
        (folder / "fdinfo" / "5").write_text(f"pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n")
        (folder / "cmdline").write_text(command)

    def look(self) -> ProcessOnHost:
        """Somebody who looks at it."""

        def timer() -> float:
            self.clock[0] += self.cost
            return self.clock[0]

        return ProcessOnHost(str(self.proc), mounts=lambda: Mounts((("/", self.kind),)), timer=timer)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    return FakeHost(tmp_path)


OPENED = {
    "for writing": ("0100001", None, RUNNING),
    "for appending and reading": ("02102002", None, RUNNING),
    "for reading only, as tail does": ("0100000", None, UNKNOWN),
    "by another mstui that writes its lines there": ("0100001", "/usr/bin/python\0/usr/bin/mstui\0watch\0", UNKNOWN),
    "with flags that make no sense": ("x", None, UNKNOWN),
}


@pytest.mark.parametrize(("flags", "command", "expected"), OPENED.values(), ids=OPENED.keys())
def test_a_file_that_is_open(host: FakeHost, flags: str, command: Optional[str], expected: Process) -> None:
    host.start(77, host.log, flags, command or "python\0train.py\0")
    assert host.look()("run", lambda: [str(host.log)], NOW) == expected


def test_a_file_of_the_same_name_elsewhere_is_another_one(host: FakeHost, tmp_path: Path) -> None:
    other = tmp_path / "train.log"
    other.write_text("y")
    host.start(77, other)
    assert host.look()("run", lambda: [str(host.log)], NOW) == UNKNOWN


def test_the_same_file_counts_under_whatever_path_a_container_sees_it(host: FakeHost, tmp_path: Path) -> None:
    other = tmp_path / "mounted" / "train.log"
    other.parent.mkdir()
    os.link(host.log, other)
    host.start(77, other)
    assert host.look()("run", lambda: [str(host.log)], NOW) == RUNNING


def test_files_on_a_network_are_not_touched(host: FakeHost) -> None:
    host.start(77, host.log)
    host.kind = "nfs4"
    assert host.look()("run", lambda: [str(host.log)], NOW) == UNKNOWN


def test_an_answer_holds_for_a_while_and_is_never_that_it_has_ended(host: FakeHost) -> None:
    host.start(77, host.log)
    look = host.look()
    assert look("run", lambda: [str(host.log)], NOW) == RUNNING
    (host.proc / "77" / "fd" / "5").unlink()
    assert look("run", lambda: [str(host.log)], NOW + LOOK_EVERY_S - 0.1) == RUNNING
    assert look("run", lambda: [str(host.log)], NOW + LOOK_EVERY_S) == UNKNOWN


def test_the_clock_may_be_set_back(host: FakeHost) -> None:
    look = host.look()
    assert look("run", lambda: [str(host.log)], NOW) == UNKNOWN
    host.start(77, host.log)
    assert look("run", lambda: [str(host.log)], NOW - 5.0) == RUNNING


def test_a_long_table_is_looked_at_in_several_looks(host: FakeHost, tmp_path: Path) -> None:
    for pid in range(100, 109):
        host.start(pid, tmp_path)
    host.start(3, host.log)
    look = host.look()
    host.cost = BUDGET_S / 3.5
    found = [look("run", lambda: [str(host.log)], NOW + LOOK_EVERY_S * turn) for turn in range(5)]
    assert found[0] == UNKNOWN
    assert found[3:] == [RUNNING, RUNNING]


def test_no_process_table_and_no_files_are_no_error(tmp_path: Path) -> None:
    look = ProcessOnHost(str(tmp_path / "absent"))
    assert look("none", list, NOW) == UNKNOWN
    assert look("gone", lambda: [str(tmp_path / "gone")], NOW) == UNKNOWN
    (tmp_path / "there").write_text("")
    assert look("there", lambda: [str(tmp_path / "there")], NOW) == UNKNOWN


@pytest.mark.skipif(not os.path.isdir("/proc/self/fdinfo"), reason="needs Linux's /proc")
def test_a_real_process_that_writes_is_seen(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    code = "import sys; f = open(sys.argv[1], 'a'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        look = ProcessOnHost(mounts=Mounts)
        found = [look("run", lambda: [str(log)], NOW + LOOK_EVERY_S * turn) for turn in range(100)]
        process.communicate(b"")
    assert RUNNING in found
    with log.open("a"):
        assert ProcessOnHost(mounts=Mounts)("run", lambda: [str(log)], NOW) == UNKNOWN, "we ourselves are no training"
