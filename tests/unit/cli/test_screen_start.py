"""The screen starts from the command line, and a killed one leaves a usable terminal and no directory behind."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

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
        assert terminal.close() == 0
        assert b"\x1b[?1049l" in b"".join(chunk.data for chunk in terminal.chunks)
    assert os.listdir(tmp_path / "replays") == []
