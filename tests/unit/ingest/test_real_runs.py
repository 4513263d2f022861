"""Files that MindSpore itself wrote are listed and read to their last whole record."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Callable, Dict

import pytest

from mstui.model.runs import FileState

RUNS = Path(__file__).resolve().parents[2] / "data" / "summary"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The runs with the modes a writer leaves behind, which a repository does not keep."""
    root = tmp_path / "runs"
    shutil.copytree(RUNS, root)
    for path in root.rglob("events.*"):
        path.chmod(0o600 if path.parent.name == "torn_writer_killed" else 0o400)
        os.utime(path, (1.7e9, 1.7e9))
    return root


def test_every_real_file_is_read_to_its_last_whole_record(copied: Path, follow: Callable[..., Any]) -> None:
    expected: Dict[str, Dict[str, Any]] = json.loads((RUNS / "expected.json").read_text())
    follower = follow(copied).look().look()
    read = {os.path.relpath(status.path, copied): status for status in follower.ingestor.files()}
    summaries = {name for name in expected if (copied / name).is_file()}
    assert summaries <= set(read)
    assert len(summaries) > 15
    for name, status in read.items():
        whole = expected[name]["complete_bytes"] if name in summaries else status.size
        assert (name, status.consumed) == (name, whole)
        if name in summaries:
            assert (name, status.records) == (name, expected[name]["events"])
        assert status.fault_count == 0
        torn = name.startswith("torn_writer_killed")
        assert (name, status.state) == (name, FileState.WAITING if torn else FileState.CLOSED)


def test_two_ranks_in_one_folder_are_one_run(copied: Path, follow: Callable[..., Any]) -> None:
    runs = {run.key: run for run in follow(copied, load=False).look().ingestor.runs()}
    assert {file.key.rank_id for file in runs["two_ranks"].files} == {0, 1}
    assert {file.stream for file in runs["two_ranks"].files} == {"_MS", "_lineage"}
