from __future__ import annotations

import math
from typing import List, Optional, Set, Tuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.model.series import BoolArray
from mstui.tui.canvas import (
    DOTS_X,
    DOTS_Y,
    Layer,
    area_mask,
    cell_codes,
    cell_text,
    column_mask,
    line_mask,
    stack,
)

Column = Optional[Tuple[int, int, int, int]]
"""enter, leave, top, bottom in dot rows; None for a column without a finite value"""


def slow_line(columns: List[Column], breaks: List[bool], dot_rows: int) -> Set[Tuple[int, int]]:
    """What line_mask promises, column by column, dot by dot."""
    start: List[Optional[int]] = [c[0] if c else None for c in columns]
    end: List[Optional[int]] = [c[1] if c else None for c in columns]
    extent: List[Tuple[int, int]] = [(c[2], c[3]) if c else (dot_rows, -1) for c in columns]
    full = [i for i, c in enumerate(columns) if c]
    for left, right in zip(full, full[1:]):
        if any(breaks[left + 1 : right]):
            continue
        a, b = end[left], start[right]
        assert a is not None
        assert b is not None
        for x in range(left + 1, right):
            y = round(a + (b - a) * ((x - left) / (right - left)))
            start[x] = end[x] = y
            extent[x] = (y, y)
    dots = {(y, x) for x, (top, bottom) in enumerate(extent) for y in range(top, bottom + 1)}
    for x in range(len(columns) - 1):
        a, b = end[x], start[x + 1]
        if a is None or b is None:
            continue
        middle = (a + b) // 2
        for y in range(min(a, b), max(a, b) + 1):
            upper, lower = (x, x + 1) if a < b else (x + 1, x)
            if a != b:
                dots.add((y, upper if y <= middle else lower))
    return dots


@st.composite
def pictures(draw: st.DrawFn) -> Tuple[List[Column], List[bool], int]:
    dot_rows = DOTS_Y * draw(st.integers(1, 4))
    row = st.integers(0, dot_rows - 1)

    def column() -> Column:
        if draw(st.booleans()):
            return None
        enter, leave = draw(row), draw(row)
        return (enter, leave, min(enter, leave, draw(row)), max(enter, leave, draw(row)))

    number = DOTS_X * draw(st.integers(1, 10))
    columns = [column() for _ in range(number)]
    return columns, [c is None and draw(st.booleans()) for c in columns], dot_rows


def draw(columns: List[Column], breaks: List[bool], dot_rows: int) -> BoolArray:
    enter, leave, top, bottom = (np.array([c[i] if c else math.nan for c in columns]) for i in range(4))
    return line_mask(enter, leave, top, bottom, np.array(breaks), dot_rows)


@given(pictures())
@settings(max_examples=300, deadline=None)
def test_a_curve_has_the_dots_of_the_slow_reference(picture: Tuple[List[Column], List[bool], int]) -> None:
    columns, breaks, dot_rows = picture
    mask = draw(columns, breaks, dot_rows)
    assert set(zip(*(a.tolist() for a in np.nonzero(mask)))) == slow_line(columns, breaks, dot_rows)


@given(pictures())
@settings(max_examples=100, deadline=None)
def test_every_cell_holds_exactly_the_dots_of_its_mask(picture: Tuple[List[Column], List[bool], int]) -> None:
    columns, breaks, dot_rows = picture
    mask = draw(columns, breaks, dot_rows)
    width, height = len(columns) // DOTS_X, dot_rows // DOTS_Y
    rows = stack([Layer(cell_codes(mask), "smooth")], width, height, "smooth", ascii_only=False)
    bits = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]  # from the Unicode chart of Braille patterns
    for cy, row in enumerate(rows):
        text = "".join(part for part, _look in row)
        assert len(text) == width
        for cx, char in enumerate(text):
            code = sum(bits[y][x] for y in range(4) for x in range(2) if mask[cy * 4 + y, cx * 2 + x])
            assert char == (chr(0x2800 + code) if code else " ")


def test_a_point_between_two_gaps_has_its_dot() -> None:
    nan = math.nan
    y = np.array([nan, nan, 2.0, nan, nan, 3.0])
    breaks = np.array([False, True, False, True, False, False])
    mask = line_mask(y, y, y, y, breaks, 4)
    assert np.argwhere(mask).tolist() == [[2, 2], [3, 5]]


def test_a_gap_without_a_break_is_bridged() -> None:
    y = np.array([0.0, math.nan, math.nan, 3.0])
    mask = line_mask(y, y, y, y, np.zeros(4, dtype=bool), 4)
    assert np.argwhere(mask).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def test_nothing_finite_draws_nothing() -> None:
    y = np.full(6, math.nan)
    assert not line_mask(y, y, y, y, np.ones(6, dtype=bool), 8).any()
    assert not area_mask(y, y, 8).any()


def test_values_beyond_the_canvas_stay_on_its_edge() -> None:
    y = np.array([-1e9, 1e9])
    mask = line_mask(y, y, y, y, np.zeros(2, dtype=bool), 4)
    assert mask[0, 0]
    assert mask[3, 1]


def test_an_area_leaves_every_other_dot_free() -> None:
    mask = area_mask(np.zeros(4), np.full(4, 3.0), 4)
    assert mask.sum() == 8
    assert not (mask[:, 1:] & mask[:, :-1]).any()


def test_the_topmost_layer_gives_a_shared_cell_its_look() -> None:
    low = Layer(np.array([[0x01, 0x01]], dtype=np.uint8), "raw")
    high = Layer(np.array([[0x00, 0x80]], dtype=np.uint8), "smooth")
    (row,) = stack([low, high], 2, 1, "smooth", ascii_only=False)
    assert row == ((chr(0x2801), "raw"), (chr(0x2881), "smooth"))


def test_a_covering_layer_hides_the_dots_under_it() -> None:
    low = Layer(np.array([[0x01, 0x01]], dtype=np.uint8), "raw")
    high = Layer(np.array([[0x00, 0x80]], dtype=np.uint8), "smooth", covers=True)
    (row,) = stack([low, high], 2, 1, "smooth", ascii_only=False)
    assert row == ((chr(0x2801), "raw"), (chr(0x2880), "smooth"))


def test_ascii_cells_are_ascii_and_blank_exactly_where_nothing_is() -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    text = "".join(part for row in stack([Layer(codes, "raw")], 16, 16, "text", ascii_only=True) for part, _look in row)
    assert text.isascii()
    assert [i for i, char in enumerate(text) if char == " "] == [0]
    assert text[0xFF] == "|"
    assert text[0x01] == "'"
    assert text[0x40] == "."


def test_the_cursor_line_stands_in_its_pixel_column_or_nowhere() -> None:
    assert np.flatnonzero(column_mask(3, 6, 4).any(axis=0)).tolist() == [3]
    assert not column_mask(-1, 6, 4).any()
    assert not column_mask(6, 6, 4).any()


def test_a_cell_shows_the_first_mark_that_falls_into_it() -> None:
    nan = np.array([True, False, False, False])
    pos = np.array([False, True, False, True])
    assert cell_text(((nan, "x"), (pos, "^")), 2) == "x^"
