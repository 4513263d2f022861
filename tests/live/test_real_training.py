"""A MindSpore training that is really running while mstui watches it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, Iterator, List

import pytest

from bench.terminal import Terminal
from mstui.model.runs import RunStatus
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor

SCRIPT = Path(__file__).with_name("small_training.py")
LONGEST_TRAINING_S = 120.0

pytestmark = [
    pytest.mark.mindspore,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="needs the extra mstui[mindspore]"),
]


class Training:
    """The training process and what it has printed so far."""

    def __init__(self, summary_dir: Path, *options: str, steps: int = 25, pace: float = 0.1) -> None:
        environment = {**os.environ, "GLOG_v": "3"}
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(summary_dir), str(steps), str(pace), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.losses: Dict[int, float] = {}
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                record = json.loads(line)
                self.losses[record["step"]] = record["loss"]

    @property
    def running(self) -> bool:
        """Has the process not ended yet."""
        return self.process.poll() is None

    def wait(self) -> None:
        """Until it has ended and all of its output is read."""
        self.process.wait(LONGEST_TRAINING_S)
        self._reader.join()

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def trainings() -> Iterator[List[Training]]:
    """Trainings that a test starts; all are ended afterwards."""
    started: List[Training] = []
    yield started
    for training in started:
        training.close()


def losses_seen(monitor: Monitor) -> Dict[int, float]:
    """Loss by step, as the monitor has it now."""
    series = monitor.series(SeriesKey(".", 0, "loss"))
    if series is None:
        return {}
    return {
        step: value for points in series.current for step, value in zip(points.steps.tolist(), points.values.tolist())
    }


def test_every_loss_is_seen_while_the_training_runs_and_none_is_missed(
    tmp_path: Path, trainings: List[Training]
) -> None:
    training = Training(tmp_path)
    trainings.append(training)
    monitor = Monitor(str(tmp_path))
    monitor.start(lambda _: None)
    seen_live: List[int] = []
    try:
        until = time.monotonic() + LONGEST_TRAINING_S
        while training.running and time.monotonic() < until:
            seen_live.append(len(losses_seen(monitor)))
            time.sleep(0.1)
        training.wait()
        expected = {step: pytest.approx(loss, rel=1e-6) for step, loss in training.losses.items()}
        while losses_seen(monitor) != expected and time.monotonic() < until:
            time.sleep(0.1)
        assert losses_seen(monitor) == expected
    finally:
        monitor.stop()
    assert len(training.losses) == 25
    assert len({count for count in seen_live if count}) > 5, "the curve grew while the training ran"


def test_a_training_that_is_killed_keeps_what_it_wrote_and_is_not_called_live(
    tmp_path: Path, trainings: List[Training]
) -> None:
    training = Training(tmp_path, "--die-at", "12")
    trainings.append(training)
    training.wait()
    monitor = Monitor(str(tmp_path))
    monitor.start(lambda _: None)
    try:
        until = time.monotonic() + 30.0
        while time.monotonic() < until:
            runs = monitor.runs()
            if runs and runs[0].status is RunStatus.STOPPED and len(losses_seen(monitor)) >= 11:
                break
            time.sleep(0.1)
        assert [run.status for run in monitor.runs()] == [RunStatus.STOPPED]
        seen = sorted(losses_seen(monitor))
        assert seen == list(range(1, len(seen) + 1)), "no hole"
        assert len(seen) >= 11, "only what MindSpore's queue still held is lost with the process"
    finally:
        monitor.stop()


def test_a_person_sees_the_loss_move_and_turn_into_nan_in_the_terminal(
    tmp_path: Path, trainings: List[Training]
) -> None:
    summary, state = tmp_path / "summary", tmp_path / "state"
    summary.mkdir()
    training = Training(summary, "--nan-at", "15", steps=30, pace=0.15)
    trainings.append(training)
    command = [sys.executable, "-m", "mstui", "watch", str(summary), "--state-dir", str(state), "--lang", "en"]
    with Terminal(command, 80, 24) as terminal:
        assert terminal.wait_for(r"NO DATA|loss", 30), terminal.screen()
        assert terminal.wait_for(r"step \d+.*LIVE", LONGEST_TRAINING_S), terminal.screen()
        assert training.running, "it was on the screen before the training ended"
        assert terminal.wait_for(r"loss NaN", LONGEST_TRAINING_S), terminal.screen()
        assert terminal.wait_for(r"step 30\b.*STOPPED", LONGEST_TRAINING_S), terminal.screen()
        rows = "\n".join(terminal.screen())
        assert "x" in next(line for line in terminal.screen() if "NaN" in line and "x" in line), rows
        terminal.send("q")
        terminal.pump(30)  # until the program has closed its end, which is a little before it is gone
        assert terminal.wait_for_end(30) == 0
