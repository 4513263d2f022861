from __future__ import annotations

from typing import List

import pytest
from rich.cells import cell_len

from mstui.model.runs import FileState, FileStatus
from mstui.tui.log_notices import notice_rows
from tests.tui.log_scene import logs_scene
from tests.tui.scene import RUN

UNREAD = FileStatus("/runs/a/x.log", RUN, 0, "text-log", FileState.NOT_RECOGNISED, 90, 90, 12, 0)
NOTE = "64 of 1024 logs, those written last"


def texts(cells: int = 80, height: int = 10, note: str = NOTE, *, ascii_only: bool = False) -> List[str]:
    facts = logs_scene().facts[RUN]
    rows = notice_rows(facts, 0, [UNREAD], note, cells, height, ascii_only=ascii_only)
    return ["".join(text for text, _look in row) for row in rows]


def test_trouble_then_what_is_not_understood_then_what_is_left_out() -> None:
    assert texts() == [
        "✗ p 1/2 rank 1 crashed: ValueError: bad shard 7",
        "! 12 lines of x.log are not understood. 6 tells what to do.",
        "! 64 of 1024 logs, those written last",
    ]


def test_where_there_are_few_rows_only_the_trouble_is_left() -> None:
    assert len(texts(height=3)) == 1
    assert notice_rows([], 0, [], "", 80, 10, ascii_only=False) == []


@pytest.mark.parametrize("cells", [1, 10, 40, 80])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_hostile_notes_are_harmless_and_everything_fits(cells: int, ascii_only: bool) -> None:
    for row in texts(cells, note="\x1b[2J\u202e" + "全" * 99, ascii_only=ascii_only):
        assert cell_len(row) <= cells
        assert row.isprintable()
        assert not ascii_only or row.isascii()
