from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.series import Points, Series, SeriesKey
from mstui.tui.trend import STEADY, seconds_per_step, trend


def points(values: Sequence[float], first: int = 0, gap: int = 10, seconds: float = 2.0) -> Points:
    steps = np.arange(len(values), dtype=np.int64) * gap + first
    return Points(steps, 1e9 + steps * seconds, np.asarray(values, dtype=np.float64))


def series(*parts: Points) -> Series:
    return Series(SeriesKey("r", 0, "t"), parts, (), (), 1)


def known(found: Any) -> Any:
    assert found is not None
    return found


def test_no_point_has_no_trend() -> None:
    assert trend(series()) is None
    assert trend(series(points([]))) is None


def test_one_point_has_a_value_and_nothing_to_compare() -> None:
    found = known(trend(series(points([3.0]))))
    assert found.now == 3.0
    assert found.word == ("", "")


@pytest.mark.parametrize(("value", "word"), [(math.nan, "NaN"), (math.inf, "+Inf"), (-math.inf, "-Inf")])
def test_what_is_not_finite_is_named(value: float, word: str) -> None:
    assert known(trend(series(points([1.0] * 50 + [value])))).word == (word, "")


def test_earlier_is_a_tenth_of_the_run_before() -> None:
    found = known(trend(series(points(list(range(1001))))))
    assert found.newest == 1000
    assert found.now == pytest.approx(1000 - 25, abs=1)
    assert found.earlier == pytest.approx(900 - 25, abs=2)
    assert found.word == ("up", "11%")


def test_exact_compares_two_values() -> None:
    found = known(trend(series(points(list(range(1001)))), exact=True))
    assert (found.now, found.earlier) == (1000, 900)


def test_the_words_agree_with_the_figures_that_are_shown() -> None:
    values = [0.3, 0.2] * 500 + [0.9]
    found = known(trend(series(points(values))))
    assert found.newest == 0.9
    assert found.now == found.earlier
    assert found.word == ("steady", "")


def test_few_points_compare_with_the_start() -> None:
    assert known(trend(series(points([4.0, 2.0])))).word == ("down", "50%")


def test_a_constant_is_steady_and_a_change_from_zero_has_no_percentage() -> None:
    assert known(trend(series(points([5.0] * 100)))).word == ("steady", "")
    assert known(trend(series(points([0.0] * 100)))).word == ("steady", "")
    assert known(trend(series(points([0.0] * 95 + [3.0] * 5)))).word == ("up", "")
    assert known(trend(series(points([0.0] * 95 + [-3.0] * 5)))).word == ("down", "")


def test_an_exact_figure_whose_newest_value_fell_off_is_down() -> None:
    found = known(trend(series(points([0.9, 0.92, 0.93] + [0.94] * 17 + [0.1])), exact=True))
    assert (found.now, found.earlier) == (0.1, 0.94)
    assert found.word == ("down", "89%")


def test_an_infinity_a_while_ago_keeps_its_name() -> None:
    found = known(trend(series(points([math.inf] * 95 + [3.0] * 5)), exact=True))
    assert found.earlier == math.inf
    assert found.word == ("", "")


@pytest.mark.parametrize(
    ("earlier", "now", "word"),
    [
        (1.0, 10.99, ("up", "999%")),
        (1.0, 11.0, ("up", "x11")),
        (-1.0, -2000.0, ("down", "x2e3")),
        (1.0, -2000.0, ("down", "")),
        (1e-3, 1e30, ("up", ">9e9")),
        (5e-324, 1e300, ("up", "")),
        (1e308, -1e308, ("down", "")),
    ],
)
def test_amounts_are_bounded(earlier: float, now: float, word: Any) -> None:
    assert known(trend(series(points([earlier] * 95 + [now] * 5)))).word == word


def test_one_spike_is_not_a_trend() -> None:
    values = [1.0] * 1000
    values[-3] = 1e6
    assert known(trend(series(points(values)))).word == ("steady", "")


def test_a_large_change_is_a_factor() -> None:
    word, amount = known(trend(series(points([1.0] * 95 + [1e4] * 5)))).word
    assert (word, amount) == ("up", "x1e4")


def test_a_restart_does_not_hide_what_was_earlier() -> None:
    found = known(trend(series(points([2.0] * 100), points([1.0] * 3, first=1000))))
    assert found.earlier == 2.0


def test_seconds_a_step_come_from_the_times_of_writing() -> None:
    assert seconds_per_step(points([0.0] * 50, gap=10, seconds=0.5), 50) == pytest.approx(0.5)
    assert math.isnan(seconds_per_step(points([1.0]), 1))
    assert math.isnan(seconds_per_step(points([1.0] * 5, gap=0), 5))


@given(st.lists(st.floats(width=32), min_size=1, max_size=60))
def test_any_values_give_words(values: Sequence[float]) -> None:
    found = known(trend(series(points(values))))
    word, amount = found.word
    assert word in ("", "NaN", "+Inf", "-Inf", "steady", "up", "down")
    assert len(amount) <= 4
    if word in ("up", "down", "steady"):
        assert math.isfinite(found.now)
        assert math.isfinite(found.earlier)
    if word == "up":
        assert found.now > found.earlier
    if word == "down":
        assert found.now < found.earlier
    if word == "steady":
        assert abs(found.now - found.earlier) <= STEADY * abs(found.earlier)


def test_a_clock_that_was_set_is_no_step_time() -> None:
    walls = np.array([0.0, 1e9, 1e9 + 2, 1e9 + 4, math.nan, 1e308, 1e9 + 8, 1e9 + 10])
    steps = np.arange(len(walls), dtype=np.int64)
    assert seconds_per_step(Points(steps, walls, np.zeros(len(walls))), len(walls)) == 2.0
    assert math.isnan(seconds_per_step(Points(steps, np.zeros(len(walls)), np.zeros(len(walls))), len(walls)))
