"""Tables give their values the time at which they came in, as logs do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List

import pytest

from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Part
from tests.unit.ingest.logs import LogFollower

OLD = 1.7e9
HEADER = b"param_name,shape,max,min,norm\n"
NAME = "grad_summary_%d.csv"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / (NAME % 7)


def rows(first: int, last: int) -> bytes:
    return b"".join(b"layer.%d.weight,[4],%d.5,-1.0,2.0\n" % (row, row) for row in range(first, last + 1))


def append(path: Path, data: bytes, mtime: float) -> None:
    with path.open("ab") as out:
        out.write(data)
    os.utime(path, (mtime, mtime))


def walls(follower: LogFollower) -> List[float]:
    """Of every value of `max`, in the order of the file."""
    return [
        float(wall)
        for batch in follower.batches
        for columns in batch.columns
        for tag in columns.tags
        if tag.startswith("grad_max/")
        for wall in columns.wall_times
    ]


def test_rows_that_come_in_are_as_new_as_their_file_and_those_that_lay_there_have_no_time(table: Path) -> None:
    append(table, HEADER + rows(1, 2), OLD)
    follower = LogFollower(table.parent).look()
    append(table, rows(3, 3), OLD + 60)
    follower.look()
    assert walls(follower) == [0.0, 0.0, OLD + 60]


def test_a_table_that_comes_up_while_its_run_is_followed_is_as_new_as_its_mtime(table: Path) -> None:
    append(table, HEADER + rows(1, 1), OLD)
    follower = LogFollower(table.parent).look()
    append(table.with_name(NAME % 8), HEADER + rows(1, 1), OLD + 60)
    follower.look()
    assert walls(follower) == [0.0, OLD + 60]


def test_a_table_that_is_written_anew_is_as_new_as_its_mtime(table: Path) -> None:
    append(table, HEADER + rows(1, 3), OLD)
    follower = LogFollower(table.parent).look()
    table.write_bytes(b"")
    append(table, HEADER + rows(1, 1), OLD + 60)
    follower.now += 5.0
    (batch,) = follower.ingestor.turn(follower.now, 10.0, everything=True).batches
    assert batch.reset
    assert {float(wall) for columns in batch.columns for wall in columns.wall_times} == {OLD + 60}


def test_the_history_of_a_long_table_has_no_time_and_what_follows_has(table: Path) -> None:
    append(table, HEADER + rows(1, 200), OLD)
    follower = LogFollower(table.parent, limits=ReadLimits(block=512, tail_first_above=1024)).look()
    append(table, rows(201, 201), OLD + 60)
    follower.look()
    assert {batch.part for batch in follower.batches} == {Part.HISTORY}
    found = walls(follower)
    assert (len(found), set(found[:200]), found[200]) == (201, {0.0}, OLD + 60)
