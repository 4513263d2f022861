"""Numbers as text: short, honest, never wider than asked."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.tui.numbers import age, clock, count, data_size, duration, number


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.0, 8, "0"),
        (-0.0, 8, "0"),
        (1.3127, 8, "1.3127"),
        (2.5, 8, "2.5"),
        (17234.56, 8, "17235"),
        (17234.56, 4, "2e4"),
        (17234.56, 5, "17235"),
        (12480, 8, "12480"),
        (1234567890, 8, "1.2346e9"),
        (1234567890, 10, "1234567890"),
        (3e-4, 8, "3e-4"),
        (0.00123, 8, "0.00123"),
        (0.00123, 5, "0.001"),
        (-1.2345e-5, 6, "-1e-5"),
        (-1.2345e-5, 7, "-1.2e-5"),
        (5e-324, 8, "4.9e-324"),
        (1.7976931348623157e308, 8, "1.8e308"),
        (0.99999999, 6, "1"),
        (float("nan"), 3, "NaN"),
        (math.inf, 4, "+Inf"),
        (math.inf, 3, "Inf"),
        (-math.inf, 4, "-Inf"),
        (-math.inf, 3, "###"),
        (float("nan"), 2, "##"),
        (123456, 2, "##"),
        (1.5, 0, ""),
    ],
)
def test_a_number_keeps_as_many_digits_as_fit(value: float, width: int, text: str) -> None:
    assert number(value, width) == text


@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 14))
def test_a_number_is_never_wider_than_asked_and_never_another_number(value: float, width: int) -> None:
    text = number(value, width)
    assert len(text) <= width
    if math.isfinite(value) and width >= 9:
        read = float(text)
        rounded_up_past_the_largest = math.isinf(read) and abs(value) > 1e308
        assert rounded_up_past_the_largest or read == pytest.approx(value, rel=0.5, abs=0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (45e-6, "45us"),
        (0.212, "212ms"),
        (0.9999, "1.0s"),
        (1.5, "1.5s"),
        (9.97, "10s"),
        (42, "42s"),
        (59.7, "1m00s"),
        (725, "12m05s"),
        (3 * 3600 + 12 * 60, "3h12m"),
        (86400 * 2 + 4 * 3600, "2d04h"),
        (86400 * 5000, "5000d"),
        (1e12, ">27y"),
        (-90, "-1m30s"),
        (float("nan"), "NaN"),
        (math.inf, "+Inf"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(st.floats())
def test_a_duration_has_a_bounded_width(seconds: float) -> None:
    assert len(duration(seconds)) <= 8
    assert len(age(seconds)) <= 5


def test_an_age_changes_seldom() -> None:
    first_minute = [age(tenth / 10) for tenth in range(600)]
    assert sorted(set(first_minute), key=first_minute.index) == ["<5s", "5s", "10s", "20s", "30s", "45s"]
    assert [age(60), age(119.9), age(120), age(3600), age(86400 * 3)] == ["1m", "1m", "2m", "1h", "3d"]


def test_an_age_from_a_clock_that_is_ahead_is_young() -> None:
    assert age(-100.0) == "<5s"
    assert age(float("nan")) == "NaN"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0"),
        (9999, "9999"),
        (10_000, "10.0k"),
        (12_480, "12.4k"),
        (125_999, "125k"),
        (1_250_000, "1.25M"),
        (999_999, "999k"),
        (-12_480, "-12.4k"),
        (10**19, "10.0E"),
        (10**400, ">999E"),
    ],
)
def test_a_count_is_exact_while_it_is_short(n: int, text: str) -> None:
    assert count(n) == text


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (10 * 1024, "10 KiB"),
        (1024**2 - 1, "1023 KiB"),
        (200 * 1024**2, "200 MiB"),
        (3 * 1024**3 // 2, "1.5 GiB"),
        (-2048, "-2.0 KiB"),
        (10**30, ">1023EiB"),
    ],
)
def test_a_size_uses_binary_units(n: int, text: str) -> None:
    assert data_size(n) == text


@given(st.integers())
def test_counts_and_sizes_have_a_bounded_width(n: int) -> None:
    assert len(count(n)) <= 6
    assert len(data_size(n)) <= 9


def test_a_clock_is_local_and_survives_impossible_times() -> None:
    moment = time.mktime((2026, 7, 1, 13, 4, 5, 0, 0, -1))
    assert clock(moment) == "13:04:05"
    assert {clock(float("nan")), clock(math.inf), clock(1e300)} == {"--:--:--"}
