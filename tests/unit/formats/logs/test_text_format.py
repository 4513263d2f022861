"""Which files are text logs."""

from __future__ import annotations

import pytest

from mstui.formats.logs.text_format import FORMAT
from tests.unit.formats.logs.reading import SAMPLES

LOGS = [
    *("worker_0.log", "scheduler.log", "info.log.1", "console.log", "log.txt", "log_0.txt", "train0.log", "nohup.out"),
    *("mindspore.log.27825", "mindspore.node0.user.log.INFO.20260506-102102.27825", "stdout", "stderr", "slurm-12.out"),
    *("plog-162844_20260506102658086.log", "MindYOLO_2026-05-06_time_10_00_00_rank_0.log"),
]
OTHERS = ["requirements.txt", "statistic.csv", "events.out.tfevents.1", "a.py", "rank0", "log.py", "catalog.json"]


@pytest.mark.parametrize("name", LOGS)
def test_names_of_logs_are_claimed(name: str) -> None:
    assert FORMAT.claims_name(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_not(name: str) -> None:
    assert not FORMAT.claims_name(name)


def test_heads_of_all_samples_are_text_and_event_files_are_not() -> None:
    for path in SAMPLES.rglob("*.log"):
        head = path.read_bytes()[:4096]
        assert not head or FORMAT.claims_head(head), path
    for path in (SAMPLES.parent / "summary").rglob("*"):
        if path.is_file() and b"brain.Event" in path.read_bytes()[:64]:
            assert not FORMAT.claims_head(path.read_bytes()[:4096]), path


def test_a_tail_may_be_read_first_only_where_lines_say_their_steps() -> None:
    assert FORMAT.find_boundary is not None
    tail = (SAMPLES / "mindformers/mf_1.3.log").read_bytes()[40:]
    found = FORMAT.find_boundary(tail)
    assert found is not None
    assert tail[found:].startswith(b"2026-05-06")
    assert FORMAT.find_boundary((SAMPLES / "mindspore/lossmonitor_2x.log").read_bytes()) is None
    assert FORMAT.find_boundary(b"overflow cond: no end of line") is None
