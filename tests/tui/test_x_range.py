from __future__ import annotations

from typing import List, Sequence, Tuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.series import CurveView, SeriesKey, XAxis
from mstui.tui.x_range import HOLD_S, LEAST_AHEAD, MOST_AHEAD, FollowedRange, followed

EMPTY = np.empty(0)
NO = np.empty(0, dtype=np.bool_)
THIRD = 1 / 3 + 1e-9


def view(data: Tuple[float, float], shown: Tuple[float, float], axis: XAxis = XAxis.STEP) -> CurveView:
    return CurveView(
        SeriesKey("r", 0, "t"),
        axis,
        shown,
        *(EMPTY,) * 5,
        EMPTY.astype(np.int64),
        *(NO,) * 3,
        *(EMPTY,) * 4,
        (),
        0,
        None,
        None,
        data,
    )


class Run:
    """Charts that are looked at again and again, as the panel does it."""

    def __init__(self) -> None:
        self.range = FollowedRange()
        self.range.start("charts")
        self.moves = 0

    def look(self, last: float, now: float, *, first: float = 0.0, settled: bool = True) -> Tuple[float, float]:
        shown = dict(self.range.kept).get(XAxis.STEP, (first, max(last, first + 1.0)))
        if self.range.look([view((first, last), shown)], now, settled=settled):
            self.moves += 1
        return dict(self.range.kept)[XAxis.STEP]


def test_the_first_range_is_the_stores_and_is_kept_while_the_data_fit() -> None:
    followed_range = FollowedRange()
    followed_range.start("charts")
    assert not followed_range.kept
    assert not followed_range.look([view((0.0, 90.0), (0.0, 96.0))], 0.0, settled=True)
    assert followed_range.kept == ((XAxis.STEP, (0.0, 96.0)),)
    assert not followed_range.look([view((0.0, 96.0), (0.0, 96.0))], 1.0, settled=True)
    assert followed_range.look([view((0.0, 97.0), (0.0, 96.0))], 2.0, settled=True)


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0, 1000.0])
def test_an_end_lasts_about_as_long_at_any_rate(rate: float) -> None:
    run = Run()
    begun = 100.0 * rate
    for look in range(240):
        run.look(begun + rate * look / 2, look / 2)
    assert 1 <= run.moves <= 120 / HOLD_S + 1


def test_a_young_run_has_no_more_than_a_third_of_its_charts_empty() -> None:
    run = Run()
    for look in range(200):
        last = 1.0 + 50 * look
        low, high = run.look(last, look / 2)
        assert low <= last <= high
        assert (high - last) <= (high - low) * THIRD or look == 0
    assert run.moves < 30


def test_a_slow_run_gets_as_much_room_as_a_rounded_end_would() -> None:
    _low, high = followed((0.0, 100.0), (0.0, 101.0), 0.001)
    assert high == pytest.approx(101 * (1 + LEAST_AHEAD))


def test_how_fast_history_is_read_says_nothing_about_the_training() -> None:
    run = Run()
    for look in range(20):
        run.look(100_000.0 * look, look / 2, settled=False)
    low, high = run.look(2_000_000.0, 10.5, settled=False)
    assert high - 2_000_000 <= (high - low) * LEAST_AHEAD


def test_a_burst_counts_over_the_time_that_it_took_to_come() -> None:
    run = Run()
    run.look(1000.0, 0.0)
    _low, high = run.look(1300.0, 30.0)
    assert high == pytest.approx(1300 + 10 * HOLD_S)


def test_what_begins_earlier_than_known_moves_only_the_beginning() -> None:
    assert followed((50.0, 120.0), (0.0, 100.0), 5.0) == (0.0, 120.0)


def test_data_that_have_become_far_shorter_get_a_new_end() -> None:
    low, high = followed((0.0, 1000.0), (0.0, 100.0), 0.0)
    assert low == 0.0
    assert high == pytest.approx(100 * (1 + LEAST_AHEAD))


def test_other_charts_begin_anew() -> None:
    followed_range = FollowedRange()
    followed_range.start("charts")
    followed_range.look([view((0.0, 90.0), (0.0, 96.0))], 0.0, settled=True)
    followed_range.start("charts")
    assert followed_range.kept
    followed_range.start("others")
    assert followed_range.kept == ()


def test_charts_that_answered_in_two_ranges_are_asked_again_for_the_one_that_holds_both() -> None:
    followed_range = FollowedRange()
    followed_range.start("charts")
    views = [view((0.0, 50.0), (0.0, 52.0)), view((10.0, 90.0), (10.0, 96.0))]
    assert followed_range.look(views, 0.0, settled=True)
    assert followed_range.kept == ((XAxis.STEP, (0.0, 96.0)),)


def test_each_axis_has_a_range_of_its_own() -> None:
    followed_range = FollowedRange()
    followed_range.start("charts")
    views = [view((0.0, 50.0), (0.0, 52.0)), view((0.0, 2.0), (0.0, 2.1), XAxis.EPOCH)]
    assert not followed_range.look(views, 0.0, settled=True)
    assert dict(followed_range.kept) == {XAxis.STEP: (0.0, 52.0), XAxis.EPOCH: (0.0, 2.1)}


def test_a_series_without_a_place_on_x_changes_nothing() -> None:
    followed_range = FollowedRange()
    followed_range.start("charts")
    assert not followed_range.look([view((float("nan"), float("nan")), (0.0, 1.0))], 0.0, settled=True)
    assert followed_range.kept == ()


LOOK = st.tuples(st.floats(0, 1e9), st.floats(-5, 100), st.booleans())


@given(st.lists(LOOK, min_size=1, max_size=20), st.sampled_from([0.0, -1e6, 1.7e9]))
def test_any_looks_leave_the_data_inside_and_settle_at_once(
    looks: Sequence[Tuple[float, float, bool]], first: float
) -> None:
    run = Run()
    now, seen = 0.0, [0.0]
    for last, pause, settled in looks:
        now += pause
        seen.append(last)
        end = first + last
        low, high = run.look(end, now, first=first, settled=settled)
        assert low == first
        assert high >= end
        assert (
            high - end <= (high - low) * (MOST_AHEAD / (1 + MOST_AHEAD)) * (1 + 1e-6) + 1e-6
            or end == first
            or (high - low) <= 1.0
        )
        assert not run.range.look([view((first, end), (low, high))], now, settled=settled)


def test_a_clock_that_goes_back_only_forgets_the_speed() -> None:
    run = Run()
    ends: List[float] = [run.look(100.0 + i, 50.0 - i)[1] for i in range(20)]
    assert all(end >= 100 + i for i, end in enumerate(ends))
