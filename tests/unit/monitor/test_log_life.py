"""A training with text logs is alive by its steps, never by bytes."""

from __future__ import annotations

from typing import List, Optional

import pytest

from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.model.sources import Source, SourceKind
from mstui.monitor.log_life import COMPILING_S, START_S, LogRank, log_status, of_ranks, together

NOW = 1_800_000_000.0
QUIET = 60.0

TRAINING = LogRank(NOW - 1, failed=False, over=False, compiling=False, finished=False, at_end=False, own=True)
STARTING = TRAINING._replace(newest_step=0.0)


def log(state: FileState = FileState.CURRENT, *, age: float = 1.0, size: int = 100) -> FileStatus:
    source = Source(SourceKind.LOG, "worker_N.log")
    return FileStatus(
        *("/run/worker_0.log", "run", 0, "text-log", state, size, size, 1, 0), modified=NOW - age, source=source
    )


@pytest.mark.parametrize(
    ("case", "files", "rank", "expected"),
    [
        ("a step a second ago", [log()], TRAINING, RunStatus.LIVE),
        ("bytes now, the last step long ago", [log()], TRAINING._replace(newest_step=NOW - 300), RunStatus.STALE),
        ("a step, then its process died", [log()], TRAINING._replace(failed=True), RunStatus.FAILED),
        ("another process died and the job with it", [log()], TRAINING._replace(over=True), RunStatus.STOPPED),
        ("the planned end", [log()], TRAINING._replace(at_end=True, finished=True), RunStatus.ENDED),
        (
            "so near the end that the rest is not told, and silent",
            [log(age=900)],
            TRAINING._replace(newest_step=NOW - 900, finished=True),
            RunStatus.ENDED,
        ),
        ("as near, and still going", [log()], TRAINING._replace(finished=True), RunStatus.LIVE),
        ("no step yet", [log()], STARTING, RunStatus.PENDING),
        ("no step, silent since long", [log(age=START_S + 1)], STARTING, RunStatus.STALE),
        ("silent while a graph compiles", [log(age=START_S + 1)], STARTING._replace(compiling=True), RunStatus.PENDING),
        ("compiling for hours", [log(age=COMPILING_S + 1)], STARTING._replace(compiling=True), RunStatus.STALE),
        ("died before the first step", [log()], STARTING._replace(failed=True), RunStatus.FAILED),
        ("nothing of it is understood", [log(FileState.NOT_RECOGNISED)], STARTING, RunStatus.UNREADABLE),
        ("nothing may be read", [log(FileState.DENIED)], STARTING, RunStatus.UNREADABLE),
        ("still empty", [log(FileState.EMPTY, size=0)], STARTING, RunStatus.PENDING),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rank_is_what_its_logs_say(case: str, files: List[FileStatus], rank: LogRank, expected: RunStatus) -> None:
    assert log_status(files, rank, quiet_s=QUIET, now=NOW) is expected, case


@pytest.mark.parametrize(
    ("by_summary", "by_log", "expected"),
    [
        (None, RunStatus.STALE, RunStatus.STALE),
        (RunStatus.LIVE, RunStatus.FAILED, RunStatus.FAILED),
        (RunStatus.ENDED, RunStatus.STALE, RunStatus.ENDED),
        (RunStatus.STALE, RunStatus.LIVE, RunStatus.LIVE),
        (RunStatus.LIVE, RunStatus.PENDING, RunStatus.LIVE),
        (RunStatus.PENDING, RunStatus.STALE, RunStatus.STALE),
        (RunStatus.STALE, RunStatus.STOPPED, RunStatus.STOPPED),
        (RunStatus.STOPPED, RunStatus.UNREADABLE, RunStatus.STOPPED),
    ],
)
def test_a_summary_and_a_log_are_judged_together(
    by_summary: Optional[RunStatus], by_log: RunStatus, expected: RunStatus
) -> None:
    assert together(by_summary, by_log) is expected


@pytest.mark.parametrize(
    ("ranks", "over", "expected"),
    [
        ([RunStatus.LIVE, RunStatus.STALE], False, RunStatus.LIVE),
        ([RunStatus.LIVE, RunStatus.FAILED], False, RunStatus.FAILED),
        ([RunStatus.STALE, RunStatus.STALE], True, RunStatus.FAILED),
        ([RunStatus.ENDED, RunStatus.PENDING], False, RunStatus.ENDED),
        ([RunStatus.PENDING, RunStatus.UNREADABLE], False, RunStatus.PENDING),
        ([RunStatus.STALE, RunStatus.PENDING], False, RunStatus.STALE),
        ([RunStatus.UNREADABLE], False, RunStatus.UNREADABLE),
        ([], False, RunStatus.PENDING),
    ],
)
def test_a_run_is_what_its_ranks_are(ranks: List[RunStatus], over: bool, expected: RunStatus) -> None:
    assert of_ranks(ranks, over=over) is expected
