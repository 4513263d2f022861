"""What is kept of long rows gives the extremes that looking at every point gives, however the rows grow."""

from __future__ import annotations

import numpy as np
import pytest

from mstui.model.records import IntArray, ValueArray
from mstui.store import blocks
from mstui.store.blocks import BLOCK, Blocks


@pytest.fixture(autouse=True)
def _every_row_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LEAST_A_COLUMN", 1)


def check(known: Blocks, values: ValueArray, bounds: IntArray) -> None:
    begins, ends = bounds[:-1], bounds[1:]
    low, high = known.reduced(values, begins, ends)
    for i, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist())):
        for found, best in ((low[i], values[begin:end].min()), (high[i], values[begin:end].max())):
            assert found == best or (np.isnan(found) and np.isnan(best))


def cuts(rng: np.random.Generator, number: int) -> IntArray:
    inner = rng.integers(0, number, rng.integers(1, 40))
    bounds: IntArray = np.unique(np.concatenate((inner, [number]))).astype(np.int64)
    return bounds


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_grows_in_place_has_its_own_extremes_in_every_column(dtype: type) -> None:
    rng = np.random.default_rng(3)
    room: ValueArray = np.empty((2, 20 * BLOCK), dtype=dtype)
    known, number = Blocks(), 0
    while number < room.shape[1]:
        more = min(int(rng.integers(1, 3 * BLOCK)), room.shape[1] - number)
        room[:, number : number + more] = rng.normal(size=(2, more))
        room[0, number] = rng.choice([np.nan, np.inf, -np.inf, 1.0])
        number += more
        for row in (0, 1):
            for _ in range(3):
                check(known, room[row, :number], cuts(rng, number))


def test_borders_of_blocks_are_borders_of_columns_too() -> None:
    values = np.arange(6 * BLOCK, dtype=np.float64)[:]
    known = Blocks()
    for bounds in ([0, BLOCK, 2 * BLOCK, 6 * BLOCK], [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 1], [0, 1], [7, 8]):
        check(known, values, np.array(bounds, dtype=np.int64))


def test_another_array_at_the_same_place_is_another_row() -> None:
    known = Blocks()
    room = np.zeros(4 * BLOCK)
    check(known, room[:], np.array([0, 4 * BLOCK]))
    fresh: ValueArray = np.frombuffer(room.data, dtype=np.float64)
    room[:] = 5.0
    check(known, fresh[:], np.array([0, 4 * BLOCK]))


def test_a_shorter_view_of_a_row_counts_only_its_own_points() -> None:
    known = Blocks()
    room = np.arange(8 * BLOCK, dtype=np.float64)
    check(known, room[:], np.array([0, 8 * BLOCK]))
    check(known, room[: 3 * BLOCK + 5], np.array([0, BLOCK, 3 * BLOCK + 5]))
    check(known, room[: 5 * BLOCK], np.array([0, 5 * BLOCK]))


def test_only_so_many_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_ROWS", 3)
    known = Blocks()
    room = np.arange(10 * 2 * BLOCK, dtype=np.float64).reshape(10, 2 * BLOCK)
    for row in (*range(10), *range(10)):
        check(known, room[row], np.array([0, 2 * BLOCK]))
    assert len(known) == 3
