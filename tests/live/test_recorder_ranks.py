"""The recorder in a real training of two workers: each rank has its folder, and nothing of the training changes."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Dict

import pytest

from mstui.ingest.watch import WatchMode
from mstui.monitor import Monitor
from tests.live.recorder_reading import facts, scalars
from tests.live.two_worker_jobs import MSRUN, started

SCRIPT = Path(__file__).with_name("recorder_two_ranks.py")
LONGEST_S = 240.0
RANKS = (0, 1)
SHARED, UNLIKE = "graph --broadcast", "graph"

pytestmark = [
    pytest.mark.mindspore,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="needs the extra mstui[mindspore]"),
    pytest.mark.skipif(MSRUN is None, reason="msrun comes with MindSpore"),
]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Path]:
    """Where each job has left its files; they run at once, for each mostly waits for its cluster to form."""
    folders = {options: tmp_path_factory.mktemp("job") for options in (UNLIKE, SHARED, "pynative")}
    running = {}
    for options, folder in folders.items():
        mode, *rest = options.split()
        running[options] = started(folder, SCRIPT, mode, str(folder), *rest)
    try:
        for options, process in running.items():
            assert process.wait(LONGEST_S) == 0, (folders[options] / "console.log").read_text("utf-8")[-3000:]
    finally:
        for process in running.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return folders


def report(folder: Path, rank_id: int) -> Dict[str, Any]:
    """What the script has left of one rank."""
    loaded: Dict[str, Any] = json.loads((folder / f"{rank_id}.json").read_text("utf-8"))
    return loaded


@pytest.mark.parametrize("options", [UNLIKE, SHARED, "pynative"])
@pytest.mark.parametrize("rank_id", RANKS)
def test_each_rank_trains_as_without_the_recorder(jobs: Dict[str, Path], options: str, rank_id: int) -> None:
    found = report(jobs[options], rank_id)
    assert found["broadcast"] is (options == SHARED)
    assert found["with"] == found["without"]


@pytest.mark.parametrize("options", [UNLIKE, SHARED, "pynative"])
def test_each_rank_has_a_folder_with_its_losses_and_statistics(jobs: Dict[str, Path], options: str) -> None:
    for rank_id in RANKS:
        folder = jobs[options] / "summary" / f"rank_{rank_id}"
        known, recorded = facts(folder), scalars(folder)
        assert (known["custom/rank_id"], known["custom/device_num"]) == (rank_id, 2)
        losses = [float.fromhex(text) for text in report(jobs[options], rank_id)["with"]["losses"]]
        assert [recorded[step]["loss"] for step in sorted(recorded)] == pytest.approx(losses, rel=1e-6)
        first = 1 if options == "pynative" else 2
        assert [step for step in recorded if "grad_norm/global" in recorded[step]] == [first, 3, 6, 9]


def test_the_gradients_that_ranks_hand_to_their_optimizers_are_the_same(jobs: Dict[str, Path]) -> None:
    one, other = (scalars(jobs[UNLIKE] / "summary" / f"rank_{rank_id}") for rank_id in RANKS)
    assert one[3]["loss"] != other[3]["loss"]
    assert one[3]["grad_norm/global"] == pytest.approx(other[3]["grad_norm/global"], rel=1e-5)


def test_mstui_finds_one_run_of_two_ranks(jobs: Dict[str, Path]) -> None:
    monitor = Monitor(str(jobs[UNLIKE] / "summary"), watch=WatchMode.POLL)
    while monitor.run_once(time.time()).more:
        pass
    [run] = monitor.runs()
    assert tuple(sorted(rank.rank_id for rank in run.ranks)) == RANKS
