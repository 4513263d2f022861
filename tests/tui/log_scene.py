"""A training that tells of itself in logs, as the screen's tests show it: two ranks, one of which crashes."""

from __future__ import annotations

from dataclasses import replace
from typing import List

from mstui.model.batch import FileKey
from mstui.model.log_view import LogFile, LogPlace, LogRow, ProcessFact, Weight
from mstui.model.logs import EventKind, LogLevel
from mstui.model.runs import RankInfo, RunStatus
from mstui.model.sources import Source, SourceKind
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import RUN, scene

LINE = 100
"""bytes of a record"""
TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: bad shard 7'


def log_key(rank: int, run: str = RUN) -> FileKey:
    """The log of one rank."""
    return FileKey(run, rank, int(START), f"/runs/{run}/worker_{rank}.log", Source(SourceKind.LOG, "worker"))


def log_row(rank: int, number: int, text: str, level: LogLevel = LogLevel.INFO, **more: object) -> LogRow:
    """Record `number` of a rank's log, a second after the one before."""
    place = LogPlace(log_key(rank), number * LINE)
    row = LogRow(place, rank, level, START + number, "callback.py:313", text, 1)
    return replace(row, **more)  # type: ignore[arg-type]


def records(number: int, ranks: int = 2) -> List[LogRow]:
    """Loss lines of all ranks in the order of their times; every hundredth is a warning."""
    rows: List[LogRow] = []
    for i in range(number):
        for rank in range(ranks):
            if i % 100 == 99:
                rows.append(log_row(rank, i, f"overflow, loss scale adjust to {1024 + i}.0", LogLevel.WARNING))
            else:
                rows.append(
                    log_row(rank, i, f"{{ Epoch:[  1/ 10], step:[{i:5}/ 5000], loss: {3 - i / 1000:.4f}", step=i)
                )
    return rows


def put_records(monitor: FakeMonitor, rows: List[LogRow], run: str = RUN) -> None:
    """Set a run's records; its files follow from them."""
    monitor.log_rows[run] = rows
    files = sorted({row.place.file for row in rows})
    monitor.log_file_list[run] = [
        LogFile(key, key.path, sum(row.place.file == key for row in rows), len(rows), len(rows), complete=True)
        for key in files
    ]
    monitor.bump()


def crash(number: int) -> ProcessFact:
    """Rank 1 raises."""
    place = LogPlace(log_key(1), number * LINE)
    text, meaning = "ValueError: bad shard 7", "The training script raised an exception."
    return ProcessFact(EventKind.TRACEBACK, Weight.FATAL, 1, place, START + number, 299, text, meaning)


def logs_scene(number: int = 300) -> FakeMonitor:
    """The usual scene, whose newest run has two ranks and their logs; rank 1 has crashed, rank 0 has noticed."""
    monitor = scene()
    rows = records(number)
    tb = log_row(1, number, TRACEBACK.partition("\n")[0], LogLevel.ERROR, lines=3, event=EventKind.TRACEBACK)
    lost = log_row(0, number + 1, "Client connected end of file! Peer Worker ip: 10.0.0.2", LogLevel.WARNING)
    put_records(monitor, [*rows, tb, lost])
    monitor.log_texts[tb.place] = TRACEBACK
    follows = ProcessFact(
        *(EventKind.PEER_CLOSED, Weight.FATAL, 0, lost.place, START + number + 1, None),
        *(lost.text, "Another process of the job has gone."),
        consequence=True,
    )
    monitor.facts[RUN] = [crash(number), follows]
    states = (RunStatus.LIVE, RunStatus.FAILED)
    ranks = tuple(RankInfo(rank, 1000, START + 2000, status, 1, 10, 10) for rank, status in enumerate(states))
    monitor.run_list[0] = replace(monitor.run_list[0], ranks=ranks, status=RunStatus.FAILED)
    monitor.bump()
    return monitor
