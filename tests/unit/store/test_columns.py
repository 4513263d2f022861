"""Columns: every tag in one group, every series one contiguous row, snapshots that do not change."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from mstui.model.records import ScalarColumns
from mstui.store import columns as module
from mstui.store.columns import CLEAN, ColumnStore

TEN = tuple(f"tag{i}" for i in range(10))


def columns(tags: tuple[str, ...], steps: list[int], dtype: npt.DTypeLike = np.float32) -> ScalarColumns:
    number = np.asarray(steps, dtype=np.int64)
    rows = np.asarray([number * 10 + row for row in range(len(tags))], dtype=dtype)
    return ScalarColumns(tags, number, number.astype(np.float64) + 0.5, rows)


def test_tags_written_together_share_steps_and_wall_times() -> None:
    store = ColumnStore()
    store.append(columns(("a", "b"), [1, 2]))
    a, b = store.row("a"), store.row("b")
    assert a is not None
    assert b is not None
    assert np.shares_memory(a.steps, b.steps)
    assert np.shares_memory(a.wall_times, b.wall_times)
    assert a.values.tolist() == [10, 20]
    assert b.values.tolist() == [11, 21]


def test_a_batch_with_part_of_a_group_splits_it_and_loses_no_point() -> None:
    store = ColumnStore()
    store.append(columns(("a", "b", "c"), [1, 2]))
    store.append(columns(("c", "a"), [3]))
    store.append(columns(("b", "d"), [4]))
    rows = {tag: store.row(tag) for tag in "abcd"}
    read = {tag: (row.steps.tolist(), row.values.tolist()) for tag, row in rows.items() if row is not None}
    assert read == {
        "a": ([1, 2, 3], [10, 20, 31]),
        "b": ([1, 2, 4], [11, 21, 40]),
        "c": ([1, 2, 3], [12, 22, 30]),
        "d": ([4], [41]),
    }
    assert store.tags == ("a", "b", "c", "d")


def test_a_tag_twice_in_one_batch_keeps_the_last_value() -> None:
    store = ColumnStore()
    store.append(columns(("a", "a"), [1]))
    row = store.row("a")
    assert row is not None
    assert row.values.tolist() == [11]


def test_a_snapshot_stays_as_it_was_while_the_writer_goes_on() -> None:
    store = ColumnStore()
    store.append(columns(TEN, [0]))
    held = store.row("tag3")
    assert held is not None
    for step in range(1, 500):
        store.append(columns(TEN, [step]))
    store.append(columns(("tag3",), [500]))
    assert held.steps.tolist() == [0]
    assert held.values.tolist() == [3]
    now = store.row("tag3")
    assert now is not None
    assert now.steps.tolist() == list(range(501))
    assert now.values.flags.c_contiguous


def test_float64_sources_keep_their_width_also_when_they_come_later() -> None:
    store = ColumnStore()
    store.append(columns(("a",), [1]))
    store.append(ScalarColumns(("a",), np.array([2]), np.array([2.0]), np.array([[0.1]])))
    row = store.row("a")
    assert row is not None
    assert row.values.dtype == np.float64
    assert row.values.tolist() == [10.0, 0.1]


def test_falls_of_the_step_are_noted_inside_and_between_batches() -> None:
    store = ColumnStore()
    for steps in ([1, 2, 2], [1, 5, 4], [4], [3]):
        store.append(columns(("a",), steps))
    row = store.row("a")
    assert row is not None
    assert row.falls.tolist() == [3, 5, 7]


def test_the_first_non_finite_point_is_known_for_each_row() -> None:
    store = ColumnStore()
    store.append(columns(("a", "b", "c"), [1, 2]))
    bad = np.array([[1, np.nan], [1, 2], [-np.inf, 1]], dtype=np.float32)
    store.append(ScalarColumns(("a", "b", "c"), np.array([3, 4]), np.array([3.0, 4.0]), bad))
    store.append(ScalarColumns(("a", "b", "c"), np.array([5]), np.array([5.0]), bad[:, 1:]))
    found = [row.first_bad for row in map(store.row, "abc") if row is not None]
    assert found == [3, CLEAN, 2]


@pytest.mark.parametrize(
    ("walls", "fall"),
    [([1.0, 2.0, 2.0], CLEAN), ([1.0, 2.0, 1.5], 2), ([np.nan, 1.0], 0), ([1.0, np.nan, 2.0], 1)],
)
def test_wall_times_that_do_not_rise_are_noted(walls: list[float], fall: int) -> None:
    whole, single = ColumnStore(), ColumnStore()
    steps = np.arange(len(walls), dtype=np.int64)
    whole.append(ScalarColumns(("a",), steps, np.array(walls), np.zeros((1, len(walls)))))
    for i, wall in enumerate(walls):
        single.append(ScalarColumns(("a",), steps[i : i + 1], np.array([wall]), np.zeros((1, 1))))
    for store in (whole, single):
        row = store.row("a")
        assert row is not None
        assert (row.wall_fall < 0) == (fall < 0)


def test_large_and_small_arrays_hold_the_same() -> None:
    store = ColumnStore()
    for begin in range(0, 200_000, 50_000):
        store.append(columns(("a", "b"), list(range(begin, begin + 50_000)), np.float64))
    row = store.row("b")
    assert row is not None
    assert np.array_equal(row.steps, np.arange(200_000))
    assert np.array_equal(row.values, np.arange(200_000) * 10.0 + 1)
    assert np.array_equal(row.wall_times, np.arange(200_000) + 0.5)


def test_an_empty_batch_changes_nothing() -> None:
    store = ColumnStore()
    store.append(columns((), []))
    store.append(columns(("a",), []))
    assert store.tags == ()
    assert store.points == 0


@pytest.mark.parametrize(("tags", "limit"), [(TEN, 8.0), (("a",), 24.0)])
def test_a_point_costs_no_more_bytes_than_promised(tags: tuple[str, ...], limit: float) -> None:
    store = ColumnStore()
    for begin in range(0, 20_000, 100):
        store.append(columns(tags, list(range(begin, begin + 100))))
    assert store.points == 20_000 * len(tags)
    assert store.bytes_used / store.points <= limit
    assert store.bytes_reserved / store.points <= limit


def test_a_long_row_keeps_its_points_when_it_moves_and_unknown_times_stay_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "OWN_PAGES_FROM", 1024)
    monkeypatch.setattr(module, "LONG_ROW", 4096)
    store = ColumnStore()
    for begin in range(0, 3000, 100):
        steps = np.arange(begin, begin + 100)
        walls = np.zeros(100) if begin != 1500 else np.full(100, 5.0)
        store.append(ScalarColumns(("a", "b"), steps, walls, np.vstack([steps + 0.5, np.zeros(100)])))
    row = store.row("a")
    other = store.row("b")
    assert row is not None
    assert other is not None
    assert np.array_equal(row.steps, np.arange(3000))
    assert np.array_equal(row.values, np.arange(3000) + 0.5)
    assert not other.values.any()
    assert np.array_equal(np.flatnonzero(row.wall_times), np.arange(1500, 1600))
    assert store.bytes_reserved > store.bytes_used


def test_where_address_space_is_short_a_long_row_grows_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG_ROW", 4096)
    usual = module._room

    def short(shape: tuple[int, ...], dtype: npt.DTypeLike) -> object:
        if shape[-1] > 2000:
            raise MemoryError
        return usual(shape, dtype)

    monkeypatch.setattr(module, "_room", short)
    store = ColumnStore()
    for begin in range(0, 1500, 100):
        steps = np.arange(begin, begin + 100)
        store.append(ScalarColumns(("a",), steps, steps + 1.0, steps[None, :] + 0.5))
    row = store.row("a")
    assert row is not None
    assert np.array_equal(row.values, np.arange(1500) + 0.5)
