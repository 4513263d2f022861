"""The screen starts from the command line, and a killed one leaves a usable terminal and no directory behind."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from bench.terminal import Terminal

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0


def test_a_replay_on_the_screen_ends_cleanly_when_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mstui", "replay", "loss_nan", "--at", "step 300", "--state-dir", str(tmp_path)]
    environ = {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    with Terminal(command, 80, 24, environ) as terminal:
        assert terminal.wait_for("LIVE", PATIENCE_S), terminal.screen()
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.pump(PATIENCE_S)
        os.waitid(os.P_PID, terminal.pid, os.WEXITED | os.WNOWAIT)
        assert terminal.wait_for_end(30) == 0
        assert b"\x1b[?1049l" in b"".join(chunk.data for chunk in terminal.chunks)
    assert os.listdir(tmp_path / "replays") == []


@pytest.mark.parametrize("hang_up", [signal.SIG_DFL, signal.SIG_IGN], ids=["SIGHUP", "SIGHUP is ignored"])
def test_a_terminal_that_is_closed_ends_the_replay_and_keeps_the_view(tmp_path: Path, hang_up: signal.Handlers) -> None:
    command = [sys.executable, "-m", "mstui", "replay", "loss_nan", "--at", "step 300", "--state-dir", str(tmp_path)]
    environ = {"PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    before = signal.signal(signal.SIGHUP, hang_up)
    try:
        terminal = Terminal(command, 80, 24, environ)
    finally:
        signal.signal(signal.SIGHUP, before)
    with terminal:
        assert terminal.wait_for("LIVE", PATIENCE_S), terminal.screen()
        terminal.send("x")
        assert terminal.wait_for("x: epoch", PATIENCE_S), terminal.screen()
        terminal.hang_up()
        assert terminal.wait_for_end(PATIENCE_S) == 0
    assert os.listdir(tmp_path / "replays") == []
    (kept,) = (tmp_path / "views").iterdir()
    assert json.loads(kept.read_text())["axis"] == "epoch"
