"""The value cursor: readings, and the points around a step."""

from __future__ import annotations

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey, XAxis
from mstui.store.cursor import next_non_finite, points_around, reading, reading_at
from mstui.store.run_store import Store

KEY = SeriesKey("run", 0, "loss")


@pytest.fixture
def store() -> Store:
    """Steps 0, 10, ... 90 of a run that restarted at 50; 55 twice."""
    filled = Store()
    for second, steps in ((1, [0, 10, 20, 30, 40, 50, 60]), (2, [50, 55, 55, 60, 70, 80, 90])):
        number = np.asarray(steps, dtype=np.int64)
        values = (number + second * 1000)[None, :].astype(np.float32)
        columns = ScalarColumns(("loss",), number, number * 60.0 + second * 3600, values)
        filled.apply(Batch(FileKey("run", 0, second, str(second)), Part.HISTORY, (columns,)))
    return filled


@pytest.mark.parametrize(
    ("x", "step"),
    [
        (-5, 0),
        (0, 0),
        (4, 0),
        (5, 0),
        (6, 10),
        (44, 40),
        (46, 50),
        (54, 55),
        (1e300, 90),
        (-1e300, 0),
        (float("nan"), 90),
    ],
)
def test_the_nearest_point_is_read(store: Store, x: float, step: int) -> None:
    found = reading(store, KEY, XAxis.STEP, x, 0.0)
    assert found is not None
    assert found.step == step
    assert found.x == step
    assert found.value == step + (2000 if step >= 50 else 1000)
    assert found.smooth == found.value
    assert found.total == 12


def test_of_duplicates_the_last_is_read(store: Store) -> None:
    for x in (54.0, 55.0, 56.0):
        found = reading(store, KEY, XAxis.STEP, x, 0.0)
        assert found is not None
        assert (found.step, found.index) == (55, 7)


def test_by_index_from_both_ends_and_not_beyond_them(store: Store) -> None:
    first, last = reading_at(store, KEY, XAxis.RELATIVE, 0, 0.9), reading_at(store, KEY, XAxis.RELATIVE, -1, 0.9)
    assert first is not None
    assert last is not None
    assert (first.step, first.index, first.x) == (0, 0, 0.0)
    assert first.smooth == pytest.approx(1000.0)
    assert (last.step, last.index) == (90, 11)
    assert last.x == pytest.approx(2.5)
    assert 1000 < last.smooth < last.value
    assert reading_at(store, KEY, XAxis.STEP, 12, 0.0) is None
    assert reading_at(store, KEY, XAxis.STEP, -13, 0.0) is None


def test_a_series_that_is_not_there_has_no_reading() -> None:
    store = Store()
    assert reading(store, KEY, XAxis.STEP, 0.0, 0.0) is None
    assert reading_at(store, KEY, XAxis.STEP, 0, 0.0) is None
    assert next_non_finite(store, KEY, 0) is None
    assert points_around(store, KEY, 0, 5) is None


@pytest.mark.parametrize(
    ("step", "number", "steps"),
    [
        (0, 3, [0, 10, 20]),
        (90, 3, [70, 80, 90]),
        (40, 4, [20, 30, 40, 50]),
        (70, 3, [60, 70, 80]),
        (30, 1, [30]),
        (30, 0, [30]),
        (0, 100, [0, 10, 20, 30, 40, 50, 55, 55, 60, 70, 80, 90]),
    ],
)
def test_points_around_a_step(store: Store, step: int, number: int, steps: list[int]) -> None:
    found = points_around(store, KEY, step, number)
    assert found is not None
    assert found.steps.tolist() == steps
    assert len(found.values) == len(found.wall_times) == len(steps)
