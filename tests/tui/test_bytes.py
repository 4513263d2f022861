"""What a real terminal is sent while a run grows: bounds on bytes, twice what is promised, and never on time."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import List, Tuple

import pytest

from bench.drip import scalars, version
from bench.terminal import Terminal

TAGS = ["loss/auto", *(f"metric_{i}/loss" for i in range(1, 6))]
ROUGH = 0.1
"""noise of the values, so that every point shows"""
FRAME_BEGINS = b"\x1b[?2026h"
REDRAW = {(120, 40): 1_000, (200, 60): 1_300}
"""bytes of a redraw of six charts, one new point each"""
SECOND = 1_500
"""bytes a second at any data rate"""
FAST_S = 8.0
SLACK = 2
AGES = 4
"""changes of the age in the header while nothing is written, in the seconds that the test waits"""
HEADER_CHANGE = 60
"""bytes of one"""
RAISED, TAKEN_BACK = 1_500, 900
"""bytes of an alert that comes (badge, strip, mark, the chart whose loss is NaN), and of one that is active again"""


class Writer:
    """A training that writes its six scalars when told to."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "events.out.events.summary.1700000000.host_MS"
        self.path.write_bytes(version(time.time()))
        self.step = 0

    def spoil(self) -> None:
        """One record whose values are all NaN."""
        self.step += 1
        with self.path.open("ab") as file:
            file.write(scalars(self.step, time.time(), TAGS, float("nan")))

    def write(self, records: int) -> None:
        """So many records in one write."""
        now = time.time()
        last = self.step + records
        with self.path.open("ab") as file:
            file.write(b"".join(scalars(step, now, TAGS, ROUGH) for step in range(self.step + 1, last + 1)))
        self.step = last


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    folder = tmp_path / "run"
    folder.mkdir()
    return Writer(folder)


def watch(writer: Writer, tmp_path: Path, columns: int = 120, rows: int = 40) -> Terminal:
    command = [sys.executable, "-m", "mstui", "watch", str(writer.path.parent), "--lang", "en"]
    command += ["--state-dir", str(tmp_path / "state")]
    root = str(Path(__file__).resolve().parents[2])
    return Terminal(command, columns, rows, {"PYTHONPATH": root, "XDG_CONFIG_HOME": str(tmp_path)})


def only_curves(terminal: Terminal) -> None:
    """Wait for the first picture and let the charts fill the screen."""
    assert terminal.wait_for("loss/auto", 30), "\n".join(terminal.screen())
    terminal.send("o")
    assert terminal.wait_for(r"metric_5/loss", 10), "\n".join(terminal.screen())
    terminal.pump(2.0, quiet=1.0)


def sent_since(terminal: Terminal, mark: int) -> bytes:
    return b"".join(chunk.data for chunk in terminal.chunks[mark:])


@pytest.mark.parametrize("size", sorted(REDRAW), ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_redraw_costs_what_has_changed(writer: Writer, tmp_path: Path, size: Tuple[int, int]) -> None:
    writer.write(2_000)
    with watch(writer, tmp_path, *size) as terminal:
        only_curves(terminal)
        mark = len(terminal.chunks)
        for _ in range(6):
            writer.write(1)
            assert terminal.wait_for(rf"step {writer.step}\b", 20), "\n".join(terminal.screen())
        frames = [len(frame) for frame in sent_since(terminal, mark).split(FRAME_BEGINS)[1:]]
        assert frames
        assert sum(frames) / len(frames) <= SLACK * REDRAW[size]


def test_bytes_a_second_do_not_follow_the_data_rate(writer: Writer, tmp_path: Path) -> None:
    writer.write(2_000)
    with watch(writer, tmp_path) as terminal:
        only_curves(terminal)
        mark, begun = len(terminal.chunks), terminal.now()
        while terminal.now() - begun < FAST_S:
            writer.write(20)
            terminal.pump(0.1)
        seconds = terminal.now() - begun
        sent = len(sent_since(terminal, mark))
        assert terminal.wait_for(rf"step {writer.step}\b", 20), "\n".join(terminal.screen())
        assert 0 < sent <= SLACK * SECOND * seconds


def test_a_log_that_grows_fast_keeps_to_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    path = folder / "train.log"

    def write(first: int, number: int) -> None:
        with path.open("a") as file:
            for i in range(first, first + number):
                stamp = time.strftime("%Y-%m-%d %H:%M:%S")
                file.write(f"{stamp},000 - mindformers[callback.py:529] - INFO - record {i} of a log that grows fast\n")

    write(0, 2_000)
    command = [sys.executable, "-m", "mstui", "watch", str(folder), "--lang", "en", "--state-dir", str(tmp_path / "s")]
    root = str(Path(__file__).resolve().parents[2])
    with Terminal(command, 120, 40, {"PYTHONPATH": root, "XDG_CONFIG_HOME": str(tmp_path)}) as terminal:
        terminal.pump(3.0, quiet=1.0)
        terminal.send("4")
        assert terminal.wait_for(r"record 1999\b", 30), "\n".join(terminal.screen())
        mark, begun, last = len(terminal.chunks), terminal.now(), 2_000
        while terminal.now() - begun < 2 * FAST_S:
            write(last, 100)
            last += 100
            terminal.pump(0.1)
        seconds = terminal.now() - begun
        sent = len(sent_since(terminal, mark))
        assert terminal.wait_for(rf"record {last - 1}\b", 30), "\n".join(terminal.screen())
        assert 0 < sent <= SLACK * SECOND * seconds


def test_a_young_run_does_not_redraw_its_charts_with_every_point(writer: Writer, tmp_path: Path) -> None:
    writer.write(20)
    with watch(writer, tmp_path) as terminal:
        only_curves(terminal)
        frames: List[int] = []
        for _ in range(10):
            mark = len(terminal.chunks)
            writer.write(1)
            assert terminal.wait_for(rf"step {writer.step}\b", 20), "\n".join(terminal.screen())
            frames.append(len(sent_since(terminal, mark)))
        assert sorted(frames)[len(frames) // 2] <= SLACK * REDRAW[120, 40]


@pytest.mark.parametrize("key", ["3", "1"])
def test_alerts_at_rest_send_nothing_but_their_age(writer: Writer, tmp_path: Path, key: str) -> None:
    writer.write(2_000)
    writer.spoil()
    with watch(writer, tmp_path, 80, 24) as terminal:
        assert terminal.wait_for("critical 1", 30), "\n".join(terminal.screen())
        terminal.send(key)
        assert terminal.wait_for("Loss is NaN", 10), "\n".join(terminal.screen())
        terminal.pump(3.0, quiet=1.0)
        mark = len(terminal.chunks)
        terminal.pump(6.0)
        assert len(sent_since(terminal, mark)) <= 2 * AGES * HEADER_CHANGE


def test_an_alert_that_is_raised_or_taken_back_repaints_little(writer: Writer, tmp_path: Path) -> None:
    writer.write(2_000)
    with watch(writer, tmp_path, 80, 24) as terminal:
        assert terminal.wait_for("judged", 30), "\n".join(terminal.screen())
        terminal.pump(2.0, quiet=1.0)
        mark = len(terminal.chunks)
        writer.spoil()
        assert terminal.wait_for("critical: Loss is NaN", 20), "\n".join(terminal.screen())
        terminal.pump(1.0, quiet=0.5)
        assert len(sent_since(terminal, mark)) <= SLACK * RAISED
        terminal.send("3")
        assert terminal.wait_for("Loss is NaN", 10)
        terminal.send("aseen\r")
        assert terminal.wait_for("acked", 20), "keys that come at once with the one that asks are the answer"
        terminal.pump(1.0, quiet=0.5)
        mark = len(terminal.chunks)
        terminal.send("u")
        assert terminal.wait_for("active again: the acknowledgement was taken back", 20), "\n".join(terminal.screen())
        assert len(sent_since(terminal, mark)) <= SLACK * TAKEN_BACK


def test_nothing_is_sent_while_nothing_changes_but_the_age(writer: Writer, tmp_path: Path) -> None:
    writer.write(200)
    with watch(writer, tmp_path) as terminal:
        only_curves(terminal)
        mark = len(terminal.chunks)
        terminal.pump(6.0)
        sent = sent_since(terminal, mark)
        assert len(sent) <= AGES * HEADER_CHANGE
        assert set(re.findall(rb"\x1b\[(\d+);\d+H", sent)) <= {b"1"}
