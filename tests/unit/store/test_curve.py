"""A curve reduced to pixel columns: what is kept, where it lies, and how its axis behaves."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import CurveView, SeriesKey, XAxis
from mstui.monitor_api import CurveQuery
from mstui.store.curve import curve
from mstui.store.run_store import Store

KEY = SeriesKey("run", 0, "loss")
INF, NAN = math.inf, math.nan


def fill(
    store: Store,
    steps: Sequence[int],
    values: Sequence[float],
    *,
    walls: Sequence[float] | None = None,
    rank: int = 0,
    tag: str = "loss",
    dtype: npt.DTypeLike = np.float32,
) -> None:
    number = np.asarray(steps, dtype=np.int64)
    wall = 1e9 + number if walls is None else np.asarray(walls, dtype=np.float64)
    row = np.asarray(values, dtype=dtype)[None, :]
    store.apply(Batch(FileKey("run", rank, 1, "f"), Part.HISTORY, (ScalarColumns((tag,), number, wall, row),)))


def view(store: Store, query: CurveQuery, epoch_steps: float | None = None) -> CurveView:
    found = curve(store, query, epoch_steps)
    assert found is not None
    return found


def test_no_series_no_view() -> None:
    assert curve(Store(), CurveQuery(KEY, 10)) is None


def test_each_column_holds_the_smallest_the_largest_the_first_and_the_last_value() -> None:
    store = Store()
    fill(store, range(8), [3, 1, 4, 1, 5, 9, 2, 6])
    seen = view(store, CurveQuery(KEY, 2, x_range=(0, 8)))
    assert seen.lo.tolist() == [1, 2]
    assert seen.hi.tolist() == [4, 9]
    assert seen.first.tolist() == [3, 5]
    assert seen.last.tolist() == [1, 6]
    assert seen.count.tolist() == [4, 4]
    assert seen.latest == (7, 1e9 + 7, 6.0)
    assert seen.total == 8
    assert seen.data_range == (0.0, 7.0)
    assert seen.smooth.tolist() == seen.last.tolist()


def test_both_ends_of_a_given_range_belong_to_it() -> None:
    store = Store()
    fill(store, [0, 10, 20, 30], [1, 2, 3, 4])
    seen = view(store, CurveQuery(KEY, 2, x_range=(10.0, 20.0)))
    assert seen.x_range == (10.0, 20.0)
    assert seen.lo.tolist() == [2, 3]


def test_what_is_not_finite_goes_into_masks_and_leaves_the_rest() -> None:
    store = Store()
    fill(store, range(10), [INF, 1, NAN, 2, -INF, NAN, 7, 8, NAN, NAN])
    seen = view(store, CurveQuery(KEY, 5, x_range=(0, 10)))
    assert seen.pos_inf.tolist() == [True, False, False, False, False]
    assert seen.neg_inf.tolist() == [False, False, True, False, False]
    assert seen.nan.tolist() == [False, True, True, False, True]
    np.testing.assert_equal(seen.lo, [1, 2, NAN, 7, NAN])
    np.testing.assert_equal(seen.first, [1, 2, NAN, 7, NAN])
    np.testing.assert_equal(seen.last, [1, 2, NAN, 8, NAN])
    assert seen.count.tolist() == [2, 2, 2, 2, 2]
    assert seen.first_non_finite == 0
    assert seen.latest is not None
    assert math.isnan(seen.latest[2])


@pytest.mark.parametrize(
    "values",
    [
        [1.5],
        [NAN],
        [NAN, NAN, NAN],
        [2.0] * 50,
        [1e-45, 3e-45, 0.0],
        [1e38, -1e38, 3.4e38],
        [INF, 1.0],
        [-INF, INF, NAN],
    ],
    ids=["one point", "one NaN", "all NaN", "constant", "subnormal", "1e38", "Inf first", "nothing finite"],
)
@pytest.mark.parametrize("smoothing", [0.0, 0.6, 0.99])
@pytest.mark.parametrize("axis", list(XAxis))
def test_odd_series_keep_their_extremes_on_every_axis(values: list[float], smoothing: float, axis: XAxis) -> None:
    store = Store()
    fill(store, range(len(values)), values)
    seen = view(store, CurveQuery(KEY, 7, axis, smoothing=smoothing), 2.0)
    finite = np.asarray([v for v in values if math.isfinite(v)], dtype=np.float32)
    assert seen.axis is axis
    assert int(seen.count.sum()) == len(values)
    assert int(seen.nan.sum() > 0) == int(any(math.isnan(v) for v in values))
    if len(finite):
        assert np.nanmin(seen.lo) == finite.min()
        assert np.nanmax(seen.hi) == finite.max()
        smooth = seen.smooth[~np.isnan(seen.last)]
        assert bool(np.isfinite(smooth).all())
        assert bool((smooth >= finite.min() * (1 - 1e-5) - abs(finite.min()) * 1e-3).all())
    else:
        assert bool(np.isnan(seen.lo).all())
        assert bool(np.isnan(seen.smooth).all())


def test_a_range_without_a_point_is_empty_but_still_tells_of_the_series() -> None:
    store = Store()
    fill(store, [1, 2, 3], [1, 2, NAN])
    seen = view(store, CurveQuery(KEY, 4, x_range=(100, 200)))
    assert seen.count.tolist() == [0, 0, 0, 0]
    assert bool(np.isnan(seen.lo).all())
    assert not seen.nan.any()
    assert seen.total == 3
    assert seen.first_non_finite == 3


@pytest.mark.parametrize("x_range", [(5.0, 5.0), (9.0, 2.0), (NAN, 3.0), (0.0, INF)])
def test_a_range_that_is_none_still_gives_a_view(x_range: tuple[float, float]) -> None:
    store = Store()
    fill(store, range(10), range(10))
    seen = view(store, CurveQuery(KEY, 3, x_range=x_range))
    assert seen.x_range[0] < seen.x_range[1]
    assert seen.count.sum() > 0


def test_the_end_moves_seldom_and_old_columns_stay_while_a_run_grows() -> None:
    store = Store()
    rng = np.random.default_rng(3)
    fill(store, range(1000), rng.random(1000).tolist())
    before = view(store, CurveQuery(KEY, 60))
    ends = set()
    for step in range(1000, 4000):
        fill(store, [step], [0.5])
        if step % 10 == 0:
            ends.add(view(store, CurveQuery(KEY, 60)).x_range)
            assert store.last_step("run") == step
    assert 16 <= len(ends) <= 36
    again = Store()
    fill(again, range(1008), [*rng.random(0), *np.random.default_rng(3).random(1000), *[0.5] * 8])
    after = view(again, CurveQuery(KEY, 60))
    assert after.x_range == before.x_range
    np.testing.assert_array_equal(after.lo[:58], before.lo[:58])


def test_curves_that_share_a_picture_share_the_range() -> None:
    store = Store()
    fill(store, [10, 20], [1, 2])
    fill(store, [5, 400], [1, 2], tag="other")
    other = SeriesKey("run", 0, "other")
    seen = view(store, CurveQuery(KEY, 10, ranges=(KEY, other, SeriesKey("gone", 0, "loss"))))
    assert seen.x_range[0] == 5.0
    assert seen.x_range[1] >= 400.0
    assert view(store, CurveQuery(other, 10, ranges=(KEY,))).x_range == seen.x_range


def test_a_kept_range_replaces_the_rounded_one_on_its_own_axis_only() -> None:
    store = Store()
    fill(store, range(101), [1.0] * 101)
    kept = ((XAxis.STEP, (0.0, 140.0)), (XAxis.WALL, (5.0, 6.0)))
    assert view(store, CurveQuery(KEY, 10, kept=kept)).x_range == (0.0, 140.0)
    assert view(store, CurveQuery(KEY, 10, XAxis.EPOCH, kept=kept)).x_range == (0.0, 140.0), "drawn by step"
    assert view(store, CurveQuery(KEY, 10, XAxis.EPOCH, kept=kept), 10.0).x_range[1] < 12.0
    assert view(store, CurveQuery(KEY, 10, x_range=(3.0, 9.0), kept=kept)).x_range == (3.0, 9.0)


def test_superseded_generations_are_apart_and_restarts_have_an_x() -> None:
    store = Store()
    fill(store, [0, 10, 20, 30, 40, 20, 30], [1, 1, 8, 9, NAN, 2, 3])
    seen = view(store, CurveQuery(KEY, 5, x_range=(0, 50)))
    np.testing.assert_equal(seen.hi, [1, 1, 2, 3, NAN])
    np.testing.assert_equal(seen.old_hi, [NAN, NAN, 8, 9, NAN])
    assert seen.restarts == (20.0,)
    assert seen.first_non_finite is None
    assert not seen.nan.any()


def test_on_the_time_axis_a_restart_lies_behind_what_it_supersedes() -> None:
    store = Store()
    walls = [1000.0, 1010.0, 1020.0, 4600.0, 4610.0]
    fill(store, [0, 10, 20, 10, 20], [1, 2, 3, 4, 5], walls=walls)
    seen = view(store, CurveQuery(KEY, 4, XAxis.RELATIVE, x_range=(0.0, 2.0)))
    np.testing.assert_equal(seen.hi, [1, NAN, 5, NAN])
    np.testing.assert_equal(seen.old_hi, [3, NAN, NAN, NAN])
    assert seen.restarts == (1.0,)


def test_wall_times_that_go_back_are_drawn_at_the_latest_time_so_far() -> None:
    store = Store()
    fill(store, range(5), [1, 2, 3, 4, 5], walls=[100.0, 130.0, 90.0, NAN, 140.0])
    seen = view(store, CurveQuery(KEY, 2, XAxis.WALL, x_range=(100.0, 140.0)))
    assert seen.lo.tolist() == [1, 2]
    assert seen.count.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("walls", "begin"),
    [
        ([0.0, 0.0, 1e9, 1e9 + 60], 1e9),
        ([NAN, 1e9, INF, 1e9 + 60], 1e9),
        ([1e9, 1e9 + 30, 1e9 + 60, INF], 1e9),
        ([0.0, 0.0, 0.0, 0.0], 0.0),
        ([NAN, NAN, NAN, NAN], 0.0),
    ],
)
def test_records_without_a_time_do_not_stretch_the_time_axis_back_to_1970(walls: list[float], begin: float) -> None:
    store = Store()
    fill(store, range(4), [1, 2, 3, 4], walls=walls)
    seen = view(store, CurveQuery(KEY, 6, XAxis.WALL))
    assert seen.x_range[0] == begin
    assert seen.x_range[1] <= begin + 70
    assert seen.count.sum() == 4


def test_epochs_come_from_a_given_length_or_from_a_tag_and_else_the_view_is_by_step() -> None:
    store = Store()
    fill(store, range(100), range(100))
    assert view(store, CurveQuery(KEY, 10, XAxis.EPOCH)).axis is XAxis.STEP
    given = view(store, CurveQuery(KEY, 4, XAxis.EPOCH, x_range=(0.0, 4.0)), 25.0)
    assert given.axis is XAxis.EPOCH
    assert given.lo.tolist() == [0, 25, 50, 75]
    fill(store, range(100), [step // 20 for step in range(100)], tag="epoch")
    found = view(store, CurveQuery(KEY, 10, XAxis.EPOCH))
    assert found.axis is XAxis.EPOCH
    assert found.data_range[0] == 0.0
    assert found.data_range[1] == pytest.approx(99 / 20)


def test_two_marks_at_the_ends_of_epochs_tell_their_length_and_two_records_of_a_counter_do_not() -> None:
    store = Store()
    fill(store, range(1, 101), range(100))
    fill(store, [50], [1], tag="epoch")
    assert view(store, CurveQuery(KEY, 10, XAxis.EPOCH)).axis is XAxis.STEP, "one mark may be that of a resumed run"
    fill(store, [100], [2], tag="epoch")
    found = view(store, CurveQuery(KEY, 10, XAxis.EPOCH))
    assert found.axis is XAxis.EPOCH
    assert found.data_range == pytest.approx((0.02, 2.0))
    counted = Store()
    fill(counted, [20, 40], [0.5, 0.4])
    fill(counted, [20, 40], [1, 2], tag="epoch")
    assert view(counted, CurveQuery(KEY, 10, XAxis.EPOCH)).axis is XAxis.STEP, "the change lies anywhere between"


def test_the_band_covers_the_other_ranks_only() -> None:
    store = Store()
    fill(store, [0, 1], [5, 5])
    assert len(view(store, CurveQuery(KEY, 2, band=True)).band_lo) == 0
    fill(store, [0, 1], [1, 9], rank=1)
    fill(store, [0, 1], [2, NAN], rank=2)
    seen = view(store, CurveQuery(KEY, 2, x_range=(0, 2), band=True))
    assert seen.band_lo.tolist() == [1, 9]
    assert seen.band_hi.tolist() == [2, 9]
    assert len(view(store, CurveQuery(KEY, 2)).band_lo) == 0


def test_float64_values_are_not_rounded() -> None:
    store = Store()
    fill(store, [0], [0.1], dtype=np.float64)
    assert view(store, CurveQuery(KEY, 1)).lo.tolist() == [0.1]


def plain_average(values: Sequence[float], smoothing: float) -> list[float]:
    """The definition, point by point."""
    out, total, mass = [], 0.0, 0.0
    for value in values:
        total *= smoothing
        mass *= smoothing
        if math.isfinite(value):
            total += value
            mass += 1.0
        out.append(total / mass if mass else NAN)
    return out


@pytest.mark.parametrize("smoothing", [0.1, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("columns", [5, 240])
@pytest.mark.parametrize("points", [1, 3, 200, 5000])
def test_the_smoothed_curve_is_the_debiased_average_at_each_column_s_last_point(
    smoothing: float, columns: int, points: int
) -> None:
    rng = np.random.default_rng(points)
    values = (rng.standard_normal(points) + 3.0).astype(np.float32)
    if points > 100:
        values[rng.integers(0, points, points // 10)] = NAN
        values[50] = INF
    store = Store()
    half = points // 2
    steps = list(range(points))
    fill(store, steps[:half], values[:half].tolist())
    row = values[half:][None, :]
    later = np.asarray(steps[half:], dtype=np.int64)
    store.apply(
        Batch(FileKey("run", 0, 2, "g"), Part.HISTORY, (ScalarColumns(("loss",), later, 1e9 + later, row),)),
    )
    seen = view(store, CurveQuery(KEY, columns, x_range=(0, points), smoothing=smoothing))
    exact = plain_average(values.tolist(), smoothing)
    ends = np.cumsum(seen.count) - 1
    drawn = np.flatnonzero(~np.isnan(seen.last))
    np.testing.assert_allclose(seen.smooth[drawn], [exact[i] for i in ends[drawn]], rtol=1e-3)
    assert bool(np.isnan(seen.smooth[np.isnan(seen.last)]).all())


def test_smoothing_does_not_depend_on_the_zoom() -> None:
    store = Store()
    fill(store, range(1000), np.sin(np.arange(1000) / 9.0).tolist())
    near = view(store, CurveQuery(KEY, 10, x_range=(500, 510), smoothing=0.9))
    far = view(store, CurveQuery(KEY, 1000, x_range=(0, 1000), smoothing=0.9))
    np.testing.assert_allclose(near.smooth[:9], far.smooth[500:509], rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.6, 0.9, 0.99])
def test_the_average_of_a_constant_learning_rate_shows_no_last_digit(smoothing: float) -> None:
    for value in (0.25, 0.1, 3e-4):
        store = Store()
        fill(store, range(500), [value] * 500)
        smooth = view(store, CurveQuery(KEY, 100, smoothing=smoothing)).smooth
        np.testing.assert_allclose(smooth[~np.isnan(smooth)], np.float32(value), rtol=1e-13)


def test_steps_that_floats_cannot_tell_apart_still_have_a_range_with_points_in_it() -> None:
    store = Store()
    fill(store, [2**60 + i for i in range(20)], [1.0] * 20)
    seen = view(store, CurveQuery(KEY, 40))
    assert seen.x_range[0] < seen.x_range[1]
    assert int(seen.count.sum()) == 20
