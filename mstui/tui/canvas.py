"""Dots to cells: curves as Braille (or ASCII) text, two dots wide and four high a cell, over numpy.

A curve comes as dot rows by pixel column (0 is the top dot, NaN is nothing). What values mean, where the axes are and
which look is whose is the chart's business.
"""

from __future__ import annotations

from typing import List, NamedTuple, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray
from mstui.model.series import BoolArray
from mstui.tui.lines import Row, Span

CodeArray = npt.NDArray[np.uint8]

DOTS_X, DOTS_Y = 2, 4
"""dots in a cell"""
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Braille's bit of each dot, by column and row"""
_BRAILLE = 0x2800
_SPACE = 0x20


def _ascii_of(code: int) -> int:
    """The character that comes nearest to a cell's dots: what counts is how high they stand and how far they reach."""
    rows = [y for y in range(DOTS_Y) if code & (_BITS[0][y] | _BITS[1][y])]
    if not rows:
        return _SPACE
    if len(rows) == DOTS_Y:
        return ord("|")
    if rows[-1] <= 1:
        return ord("'")
    if rows[0] >= DOTS_Y // 2:
        return ord(".")
    return ord("-") if code & 0x07 and code & 0x38 and len(rows) <= 2 else ord(":")


# A blank cell is a space, not U+2800: one byte instead of three, and nothing to draw for fonts without Braille.
_BRAILLE_CHARS = np.array([_SPACE, *range(_BRAILLE + 1, _BRAILLE + 256)], dtype="<u4")
_ASCII_CHARS = np.array([_ascii_of(code) for code in range(256)], dtype="<u4")


class Layer(NamedTuple):
    """Dots of one meaning. Layers are stacked; a cell takes the look of the topmost layer that has a dot in it."""

    codes: CodeArray
    """[height, width], Braille bits of each cell"""
    look: str
    covers: bool = False
    """in the cells that it touches, only its own dots show: keeps a thin line readable on top of a cloud"""


def line_mask(
    enter: FloatArray, leave: FloatArray, top: FloatArray, bottom: FloatArray, breaks: BoolArray, dot_rows: int
) -> BoolArray:
    """Dots [dot_rows, columns] of a curve whose column i starts at `enter[i]`, ends at `leave[i]`, spans top to bottom.

    All four are NaN where the column has no finite value. Neighbouring columns are joined half-way each; columns
    without a value are bridged by a straight line unless one of them `breaks` (holds a NaN or an infinity). A lone
    column keeps its own dots, so an isolated point is always visible.
    """
    columns = len(top)
    r = np.arange(dot_rows, dtype=np.int32)[:, None]
    at = np.flatnonzero(np.isfinite(top))
    if not len(at):
        return np.zeros((dot_rows, columns), dtype=np.bool_)
    start, end = np.zeros(columns, dtype=np.int32), np.zeros(columns, dtype=np.int32)
    high, low = np.full(columns, dot_rows, dtype=np.int32), np.full(columns, -1, dtype=np.int32)
    drawn = np.zeros(columns, dtype=np.bool_)
    last = dot_rows - 1
    start[at] = _dot(enter[at], last)
    end[at] = _dot(leave[at], last)
    high[at] = _dot(top[at], last)
    low[at] = _dot(bottom[at], last)
    drawn[at] = True
    if len(at) < columns:
        _bridge(at, breaks, start, end, drawn)
        gaps = drawn.copy()
        gaps[at] = False
        high[gaps] = low[gaps] = start[gaps]
    joined = drawn[:-1] & drawn[1:]
    before, after = end[:-1], start[1:]
    middle = (before + after) >> 1
    falls = joined & (after > before)
    rises = joined & (after < before)
    # The curve's part above the middle belongs to the column whose end is above, the part below to the other one.
    low[:-1] = np.where(falls, np.maximum(low[:-1], middle), low[:-1])
    high[1:] = np.where(falls, np.minimum(high[1:], middle + 1), high[1:])
    high[:-1] = np.where(rises, np.minimum(high[:-1], middle + 1), high[:-1])
    low[1:] = np.where(rises, np.maximum(low[1:], middle), low[1:])
    mask: BoolArray = (r >= high) & (r <= low)
    return mask


def _dot(rows: FloatArray, last: int) -> IntArray:
    dots: IntArray = np.rint(np.clip(rows, 0, last)).astype(np.int32)
    return dots


def _bridge(
    at: IntArray, breaks: BoolArray, start: npt.NDArray[np.int32], end: npt.NDArray[np.int32], drawn: BoolArray
) -> None:
    """Put a straight line into the empty columns between two full ones, in place."""
    broken = np.cumsum(breaks)
    whole = broken[np.maximum(at[1:] - 1, at[:-1])] == broken[at[:-1]]
    pair = np.cumsum(drawn) - 1
    empty = np.flatnonzero(~drawn & (pair >= 0) & (pair < len(at) - 1))
    if not len(empty):
        return
    k = pair[empty]
    empty, k = empty[whole[k]], k[whole[k]]
    left, right = at[k], at[k + 1]
    value = end[left] + (start[right] - end[left]) * ((empty - left) / (right - left))
    start[empty] = end[empty] = np.rint(value).astype(np.int32)
    drawn[empty] = True


def area_mask(top: FloatArray, bottom: FloatArray, dot_rows: int) -> BoolArray:
    """Every other dot between top and bottom, so that curves in front of an area stay visible; gaps are bridged."""
    columns = len(top)
    at = np.flatnonzero(np.isfinite(top) & np.isfinite(bottom))
    if not len(at):
        return np.zeros((dot_rows, columns), dtype=np.bool_)
    inside = np.arange(at[0], at[-1] + 1)
    high, low = np.full(columns, dot_rows, dtype=np.int32), np.full(columns, -1, dtype=np.int32)
    high[inside] = _dot(np.interp(inside, at, top[at]), dot_rows - 1)
    low[inside] = _dot(np.interp(inside, at, bottom[at]), dot_rows - 1)
    r = np.arange(dot_rows, dtype=np.int32)[:, None]
    mask: BoolArray = (r >= high) & (r <= low) & ((r + np.arange(columns)) % 2 == 0)
    return mask


def column_mask(column: int, columns: int, dot_rows: int) -> BoolArray:
    """A dotted vertical line at a pixel column; nothing when the column is outside."""
    mask = np.zeros((dot_rows, columns), dtype=np.bool_)
    if 0 <= column < columns:
        mask[::2, column] = True
    return mask


def cell_codes(mask: BoolArray) -> CodeArray:
    """Braille bits [height, width] of a mask [4 * height, 2 * width]."""
    dots = mask.view(np.uint8)
    codes: CodeArray = dots[0::DOTS_Y, 0::DOTS_X] * np.uint8(_BITS[0][0])
    for x in range(DOTS_X):
        for y in range(DOTS_Y):
            if x or y:
                codes |= dots[y::DOTS_Y, x::DOTS_X] * np.uint8(_BITS[x][y])
    return codes


def stack(layers: Sequence[Layer], width: int, height: int, blank_look: str, *, ascii_only: bool) -> List[Row]:
    """The rows of a canvas, layers from bottom to top.

    Blank cells take `blank_look`: few style runs, and a new dot elsewhere in the row does not change them.
    """
    codes = np.zeros((height, width), dtype=np.uint8)
    owner = np.zeros((height, width), dtype=np.int8)
    looks = [blank_look]
    for layer in layers:
        if layer.look not in looks:
            looks.append(layer.look)
        hit = layer.codes != 0
        if layer.covers:
            np.copyto(codes, layer.codes, where=hit)
        else:
            codes |= layer.codes
        owner[hit] = looks.index(layer.look)
    chars = (_ASCII_CHARS if ascii_only else _BRAILLE_CHARS)[codes]
    texts = chars.tobytes().decode("utf-32-le")
    changes = owner[:, 1:] != owner[:, :-1]
    plain = ~changes.any(axis=1)
    rows: List[Row] = []
    for y in range(height):
        text = texts[y * width : (y + 1) * width]
        if plain[y]:
            rows.append(((text, looks[owner[y, 0]]),))
            continue
        cuts = [0, *(np.flatnonzero(changes[y]) + 1).tolist(), width]
        spans: List[Span] = [(text[a:b], looks[owner[y, a]]) for a, b in zip(cuts, cuts[1:])]
        rows.append(tuple(spans))
    return rows


def cell_text(marks: Sequence[Tuple[BoolArray, str]], width: int) -> str:
    """One row of `width` cells from pixel-column masks: a cell shows the first mark of those that fall into it."""
    cells = [" "] * width
    for mask, mark in reversed(marks):
        for x in np.flatnonzero(mask.reshape(width, DOTS_X).any(axis=1)).tolist():
            cells[x] = mark
    return "".join(cells)
