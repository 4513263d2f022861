"""At any zoom and on any axis no finite extreme and no non-finite point is lost, and nothing is made up."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import SeriesKey, XAxis
from mstui.monitor_api import CurveQuery
from mstui.store.cursor import next_non_finite, reading, reading_at
from mstui.store.curve import curve
from mstui.store.run_store import Store

VALUES = st.one_of(
    st.floats(width=32, allow_subnormal=True),
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1e38, 1e-45]),
)
POINTS = st.lists(st.tuples(st.integers(0, 300), VALUES, st.integers(-3, 30)), min_size=1, max_size=60)
ZOOM = st.one_of(st.none(), st.tuples(st.floats(-50, 400), st.floats(0.01, 500)))
KEY = SeriesKey("run", 0, "loss")


def store_of(points: list[tuple[int, float, int]]) -> Store:
    steps = np.asarray([step for step, _, _ in points], dtype=np.int64)
    walls = 1e9 + np.cumsum([wait for _, _, wait in points], dtype=np.float64)
    values = np.asarray([[value for _, value, _ in points]], dtype=np.float32)
    store = Store()
    store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (ScalarColumns(("loss",), steps, walls, values),)))
    return store


@given(POINTS, ZOOM, st.integers(1, 50), st.sampled_from([XAxis.STEP, XAxis.EPOCH]))
def test_every_point_in_the_range_is_in_the_view(
    points: list[tuple[int, float, int]], zoom: tuple[float, float] | None, columns: int, axis: XAxis
) -> None:
    store = store_of(points)
    x_range = None if zoom is None else (zoom[0], zoom[0] + zoom[1])
    seen = curve(store, CurveQuery(KEY, columns, axis, x_range, smoothing=0.5), 10.0)
    series = store.series(KEY)
    assert seen is not None
    assert series is not None
    assert seen.axis is axis
    steps = np.concatenate([part.steps for part in series.current])
    values = np.concatenate([part.values for part in series.current])
    x = steps / 10.0 if axis is XAxis.EPOCH else steps.astype(np.float64)
    inside = values[(x >= seen.x_range[0]) & (x <= seen.x_range[1])]
    finite = inside[np.isfinite(inside)]
    # rounding may bring in what lies on the very edge
    near = (x >= seen.x_range[0] - 1e-6) & (x <= seen.x_range[1] + 1e-6)
    assert len(inside) <= int(seen.count.sum()) <= int(near.sum())
    if x_range is None:
        assert int(seen.count.sum()) == len(steps)
    if len(finite):
        assert np.nanmin(seen.lo) <= finite.min()
        assert np.nanmax(seen.hi) >= finite.max()
    assert bool(seen.nan.any()) >= bool(np.isnan(inside).any())
    assert bool(seen.pos_inf.any()) >= bool((inside == np.inf).any())
    assert bool(seen.neg_inf.any()) >= bool((inside == -np.inf).any())
    held = set(values.tolist())
    for array in (seen.lo, seen.hi, seen.first, seen.last):
        assert {v for v in array.tolist() if not math.isnan(v)} <= held
    some = ~np.isnan(seen.lo)
    assert bool(np.all(seen.lo[some] <= seen.hi[some]))
    assert bool(np.all(seen.count[some] > 0))
    assert np.array_equal(np.isnan(seen.smooth), ~some)


@given(POINTS, st.integers(1, 50), st.sampled_from([XAxis.RELATIVE, XAxis.WALL]))
def test_on_time_axes_the_whole_range_holds_every_point_of_every_generation(
    points: list[tuple[int, float, int]], columns: int, axis: XAxis
) -> None:
    store = store_of(points)
    seen = curve(store, CurveQuery(KEY, columns, axis))
    series = store.series(KEY)
    assert seen is not None
    assert series is not None
    assert int(seen.count.sum()) == series.total
    values = np.concatenate([part.values for part in series.current])
    finite = values[np.isfinite(values)]
    if len(finite):
        assert np.nanmin(seen.lo) == finite.min()
        assert np.nanmax(seen.hi) == finite.max()
    assert bool(seen.nan.any()) == bool(np.isnan(values).any())


@given(POINTS, st.floats(-20, 320), st.sampled_from(list(XAxis)))
def test_the_cursor_finds_the_nearest_point_and_every_non_finite_one(
    points: list[tuple[int, float, int]], x: float, axis: XAxis
) -> None:
    store = store_of(points)
    series = store.series(KEY)
    assert series is not None
    every = [reading_at(store, KEY, axis, index, 0.0, 10.0) for index in range(series.total)]
    xs = [one.x for one in every if one is not None]
    assert len(xs) == series.total
    assert xs == sorted(xs)
    if axis is XAxis.WALL:
        x += 1e9
    found = reading(store, KEY, axis, x, 0.0, 10.0)
    assert found is not None
    assert abs(found.x - x) <= min(abs(each - x) for each in xs) + 1e-6
    values = np.concatenate([part.values for part in series.current])
    bad = np.flatnonzero(~np.isfinite(values)).tolist()
    walked, at = [], -1
    for _ in bad:
        following = next_non_finite(store, KEY, at)
        assert following is not None
        walked.append(following)
        at = following
    assert walked == bad
    assert next_non_finite(store, KEY, at) == (bad[0] if bad else None)
