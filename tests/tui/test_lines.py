from __future__ import annotations

from typing import List, Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Region

from mstui.tui.lines import SPAN_GAP, Lines, Row, changed_spans, row_cells

TEXTS = st.text(alphabet="ab 全é│⣿́", max_size=12)
ROWS = st.lists(st.tuples(TEXTS, st.sampled_from(["text", "dim", "ok"])), max_size=6).map(tuple)


@given(ROWS, ROWS, st.integers(1, 30))
def test_what_lies_outside_the_changed_spans_is_the_same(old: Row, new: Row, width: int) -> None:
    spans = changed_spans(old, new, width)
    inside = {x for start, length in spans for x in range(start, start + length)}
    before, after = row_cells(old, width), row_cells(new, width)
    assert all(before[x] == after[x] for x in range(width) if x not in inside)
    assert all(start >= 0 and start + length <= width for start, length in spans)


@given(ROWS, st.integers(1, 30))
def test_a_row_that_is_the_same_costs_nothing(row: Row, width: int) -> None:
    assert changed_spans(row, row, width) == []


def test_near_changes_are_one_span_and_far_ones_are_two() -> None:
    old: Row = (("." * 60, "text"),)
    near: Row = (("x" + "." * (SPAN_GAP - 2) + "x" + "." * (60 - SPAN_GAP), "text"),)
    far: Row = (("x" + "." * (SPAN_GAP + 1) + "x" + "." * (57 - SPAN_GAP), "text"),)
    assert len(changed_spans(old, near, 60)) == 1
    assert len(changed_spans(old, far, 60)) == 2


@given(ROWS, st.integers(1, 20))
def test_cells_are_as_many_as_the_width(row: Row, width: int) -> None:
    assert len(row_cells(row, width)) == width


class Board(Lines):
    """Shows rows that a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: List[Row] = []
        self.drawn = 0

    def draw(self, width: int, height: int) -> Sequence[Row]:
        self.drawn += 1
        return self.shown


class BoardApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Board()


async def test_rows_are_cut_and_padded_to_the_widget() -> None:
    app = BoardApp()
    async with app.run_test(size=(10, 3)):
        board = app.query_one(Board)
        board.shown = [(("全" * 20, "text"),), (("a", "ok"), ("b", "dim"))]
        assert board.redraw()
        strips = board.render_lines(Region(0, 0, 10, 3))
        assert [cell_len(strip.text) for strip in strips] == [10, 10, 10]
        assert strips[1].text == "ab        "


async def test_a_drawing_that_is_the_same_repaints_nothing() -> None:
    app = BoardApp()
    async with app.run_test(size=(10, 3)):
        board = app.query_one(Board)
        board.shown = [(("a", "text"),)]
        assert board.redraw()
        assert not board.redraw()
        board.shown = [(("b", "text"),)]
        assert board.redraw()


async def test_the_first_rows_are_drawn_once_although_asked_for_twice() -> None:
    app = BoardApp()
    async with app.run_test(size=(10, 3)) as pilot:
        await pilot.pause()
        board = app.query_one(Board)
        before = board.drawn
        board.render_lines(Region(0, 0, 10, 3))
        board.render_lines(Region(2, 1, 3, 1))
        assert board.drawn == before


async def test_a_part_of_the_rows_is_a_part_of_the_cells() -> None:
    app = BoardApp()
    async with app.run_test(size=(10, 3)):
        board = app.query_one(Board)
        board.shown = [(("0123456789", "text"),)] * 3
        board.redraw()
        strips = board.render_lines(Region(2, 1, 3, 2))
        assert [strip.text for strip in strips] == ["234", "234"]
