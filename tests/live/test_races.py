"""Directories that disappear, come back and change hands under a running monitor."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Callable

import pytest

from mstui.ingest.watch import WatchMode
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor

SAMPLES = Path(__file__).parents[1] / "data" / "summary"
PATIENCE_S = 20.0


def eventually(condition: Callable[[], bool]) -> bool:
    """Does it become true before patience ends?"""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.mark.parametrize("mode", [WatchMode.EVENTS, WatchMode.POLL], ids=lambda mode: mode.value)
def test_a_directory_that_is_deleted_and_made_again_is_followed_on(tmp_path: Path, mode: WatchMode) -> None:
    root = tmp_path / "summary"
    shutil.copytree(SAMPLES / "long_spike", root)
    monitor = Monitor(str(root), watch=mode)
    monitor.start(lambda _: None)

    def points(tag: str) -> int:
        series = monitor.series(SeriesKey(".", 0, tag))
        return 0 if series is None else series.total

    try:
        assert eventually(lambda: points("loss") == 169)
        shutil.rmtree(root)
        assert eventually(lambda: any(file.state.value == "vanished" for file in monitor.files()))
        assert points("loss") == 169, "what was read stays on the screen"
        shutil.copytree(SAMPLES / "loss_scale", root)
        assert eventually(lambda: points("loss_scale") > 0)
        assert monitor.watch_state().alive
    finally:
        monitor.stop()


def test_a_second_rank_that_appears_later_joins_the_run(tmp_path: Path) -> None:
    files = sorted((SAMPLES / "two_ranks").glob("*_MS"))
    shutil.copy(files[1], tmp_path)
    monitor = Monitor(str(tmp_path))
    monitor.start(lambda _: None)
    try:
        assert eventually(lambda: bool(monitor.runs()) and len(monitor.runs()[0].ranks) == 1)
        shutil.copy(files[0], tmp_path)
        assert eventually(lambda: [rank.rank_id for rank in monitor.runs()[0].ranks] == [0, 1])
    finally:
        monitor.stop()
