"""However logs interleave and whatever their clocks say: every record once on the pages, each file in its own order."""

from __future__ import annotations

from typing import Dict, List, Tuple

from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.model.batch import FileKey
from mstui.model.log_view import LogPlace, LogQuery
from mstui.model.logs import LogLevel
from tests.unit.monitor.log_runs import RUN, LogRun

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

Record = Tuple[int, str, bool]
"""seconds since the record before it (below zero: it was buffered), level, has a stamp"""

records = st.lists(st.tuples(st.integers(-2, 5), st.sampled_from(LEVELS), st.booleans()), min_size=0, max_size=25)


def logs(files: List[List[Record]]) -> LogRun:
    """Files of ranks, read."""
    run = LogRun()
    for rank, lines in enumerate(files):
        clock = 100
        text = ""
        for number, (wait, level, stamped) in enumerate(lines):
            clock += wait
            head = f"[{level}] 2026-05-06 10:{clock // 60:02}:{clock % 60:02},000 [a.py:1] f: " if stamped else ""
            text += f"{head}epoch: 1 step: {number + 1}, loss is 0.5\n"
        run.put(f"worker_{rank}.log", text.encode())
    return run


@settings(max_examples=60, deadline=None)
@given(
    files=st.lists(records, min_size=1, max_size=4),
    size=st.integers(1, 9),
    level=st.sampled_from([LogLevel.UNKNOWN, LogLevel.INFO, LogLevel.WARNING]),
)
def test_pages_hold_every_record_once_and_each_file_in_its_order(
    files: List[List[Record]], size: int, level: LogLevel
) -> None:
    run = logs(files)
    query = LogQuery(RUN, least_level=level)
    page = run.logs.page(query, None, 1000, 0)
    places = [row.place for row in page.rows]
    by_file: Dict[FileKey, List[int]] = {}
    for place in places:
        by_file.setdefault(place.file, []).append(place.offset)
    assert all(offsets == sorted(set(offsets)) for offsets in by_file.values())
    wanted = [
        line
        for lines in files
        for line in lines
        if (LogLevel[line[1]] if line[2] else LogLevel.UNKNOWN) >= level or (not line[2] and level <= LogLevel.INFO)
    ]
    assert len(places) == page.total == len(wanted)
    walked: List[LogPlace] = []
    part = run.logs.page(query, None, size, 0)
    walked = [row.place for row in part.rows]
    while not part.at_start:
        part = run.logs.page(query, walked[0], size, 0)
        walked = [row.place for row in part.rows[:-1]] + walked
    assert walked == places
    for at in (0, len(places) // 2, len(places) - 1) if places else ():
        around = run.logs.page(query, places[at], size, size)
        assert [row.place for row in around.rows] == places[max(at - size, 0) : at + size + 1]
        assert around.behind == max(at - size, 0)
    hits = run.logs.hits(query, "loss", lambda _hits: True)
    assert sorted(hits.places) == sorted(places)
    for file, offsets in by_file.items():
        assert [place.offset for place in hits.places if place.file == file] == offsets
