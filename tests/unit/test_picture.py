"""Text pictures draw anything finite and say the rest in words."""

from __future__ import annotations

from typing import List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui import picture
from mstui.model.histogram import Histogram, HistogramStats
from mstui.picture import curve_picture, histogram_picture, log_ticks, nice_ticks, thin
from mstui.safe_text import width as cell_width

NAN, INF = float("nan"), float("inf")


def draw(values: List[float], **options: object) -> str:
    ys = np.array(values, dtype=np.float64)
    arguments = {"title": "loss", "x_label": "step", "width": 50, "height": 10, **options}
    return curve_picture(np.arange(float(len(ys))), ys, **arguments)  # type: ignore[arg-type]


def braille(text: str) -> int:
    return sum("\u2801" <= char <= "\u28ff" for char in text)


HARD = {
    "one infinity": [1.0, INF, 2.0],
    "minus infinity": [1.0, -INF, 2.0],
    "constant": [5.0] * 4,
    "zero": [0.0, 0.0],
    "subnormal": [1e-310, 3e-310, 2e-310],
    "smallest": [5e-324, 0.0],
    "huge": [1e38, 2e38, 1.5e38],
    "whole range of floats": [-1.7e308, 1.7e308, 0.0],
    "one point": [3.0],
    "neighbouring floats": [1.0, 1.0000000000000002],
}


@pytest.mark.parametrize("log", [False, True], ids=["linear", "log"])
@pytest.mark.parametrize("values", HARD.values(), ids=HARD.keys())
def test_hard_values_are_drawn(values: List[float], log: bool) -> None:
    text = draw(values, log=log)
    lines = text.split("\n")
    assert lines[0].strip() == "loss"
    if any(np.isfinite(v) and (v > 0 or not log) for v in values):
        assert braille(text) > 0
        assert lines[1].lstrip().startswith("┌")
    assert "\x1b" not in text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=64), max_size=80), st.booleans(), st.integers(1, 90), st.integers(1, 30))
def test_no_value_breaks_a_picture(values: List[float], log: bool, width: int, height: int) -> None:
    text = draw(values, log=log, width=width, height=height)
    frame = [line for line in text.split("\n") if "│" in line or "┤" in line]
    assert all(cell_width(line) <= max(width, picture.MIN_WIDTH) for line in frame)


def test_what_is_not_finite_is_said() -> None:
    text = draw([1.0, NAN, NAN, 2.0, INF, -INF, 3.0])
    assert text.split("\n")[-3:] == ["NaN: 2 points, from 1 to 2", "+Inf: 1 point, at 4", "-Inf: 1 point, at 5"]


def test_nothing_finite_is_said() -> None:
    assert draw([NAN, NAN]) == "loss\nnothing to draw in 2 points\nNaN: 2 points, from 0 to 1"
    assert draw([]) == "loss\nnothing to draw in 0 points"


def test_a_log_axis_says_what_it_cannot_show() -> None:
    text = draw([1.0, 0.0, -2.0, 100.0], log=True)
    assert text.endswith("\n2 values are not above 0, not drawn")
    assert "100┤" in text


def test_the_line_is_broken_at_nan() -> None:
    whole, broken = draw([1.0] * 50), draw([1.0] * 20 + [NAN] * 10 + [1.0] * 20)
    assert braille(broken) < 0.9 * braille(whole)


def test_ascii_is_ascii() -> None:
    text = draw([1.0, NAN, 3.0], title="损失 loss", ascii_only=True)
    assert text.isascii()
    assert "*" in text


def test_titles_from_files_are_harmless_and_fit() -> None:
    first = draw([1.0, 2.0], title="a\x1b[31m\u202e" + "损" * 200).split("\n")[0]
    assert "\x1b" not in first
    assert cell_width(first) <= 50


def test_thinning_keeps_both_extremes_of_every_column() -> None:
    rng = np.random.default_rng(1)
    xs, ys = np.arange(100_000.0), rng.normal(size=100_000)
    ys[54_321] = 1e6
    kept = thin(xs, ys, 100)
    assert len(kept) == 200
    assert 54_321 in kept
    assert ys[kept].min() == ys.min()
    assert bool((np.diff(kept) > 0).all())


def test_pictures_leave_nothing_behind() -> None:
    assert draw([1.0, 2.0, 3.0]) == (draw([9.0, 8.0]) and draw([1.0, 2.0, 3.0]))


TICKS = {
    "plain": (0.0, 10.0, 5, (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)),
    "crossing zero": (-1.0, 1.0, 4, (-1.0, -0.5, 0.0, 0.5, 1.0)),
    "nothing": (3.0, 3.0, 5, (3.0,)),
    "too small for a step": (1e-310, 2e-310, 5, (1e-310, 2e-310)),
}


@pytest.mark.parametrize(("low", "high", "wanted", "ticks"), TICKS.values(), ids=TICKS.keys())
def test_ticks_are_round(low: float, high: float, wanted: int, ticks: object) -> None:
    assert nice_ticks(low, high, wanted) == ticks


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_ticks_lie_in_the_range_and_are_few(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    ticks = nice_ticks(low, high, 5)
    slack = (high / 2 - low / 2) * 1e-6
    assert 1 <= len(ticks) <= 21
    assert all(low - slack <= tick <= high + slack for tick in ticks)


def test_log_ticks_are_decades() -> None:
    assert log_ticks(-3.2, 2.1, 5) == (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0)
    assert log_ticks(0.1, 0.4, 5) == (0.1, 0.4)
    assert len(log_ticks(-300, 300, 5)) <= 7


def histogram(lefts: List[float], widths: List[float], counts: List[int], nan: int = 0) -> Histogram:
    stats = HistogramStats(10, 0.0, -1.0, 1.0, 0.25, sum(counts) + nan, nan, 0, 0)
    return Histogram(stats, np.array(lefts), np.array(widths), np.array(counts, dtype=np.int64))


def test_a_histogram_is_bars_and_words() -> None:
    text = histogram_picture(histogram([-1, 0, 1], [1, 1, 1], [1, 5, 2], nan=3), title="w", width=40, height=10)
    assert "█" in text
    assert text.endswith("11 elements, mean 0.25, min -1, max 1\nNaN: 3 elements")


def test_a_histogram_in_ascii() -> None:
    text = histogram_picture(histogram([0, 1], [1, 1], [1, 2]), title="w", width=40, height=10, ascii_only=True)
    assert text.isascii()
    assert "#" in text


EDGE_HISTOGRAMS = {
    "no buckets": ([], [], []),
    "no counts": ([0.0], [1.0], [0]),
    "zero width": ([1.0, 1.0], [0.0, 0.0], [2, 3]),
    "forged": ([NAN, INF, -1e308], [1.0, 1.0, 1e308], [2, 3, -7]),
    "many": (list(np.arange(500.0)), [1.0] * 500, [1] * 500),
}


@pytest.mark.parametrize(("lefts", "widths", "counts"), EDGE_HISTOGRAMS.values(), ids=EDGE_HISTOGRAMS.keys())
def test_edge_histograms_are_shown(lefts: List[float], widths: List[float], counts: List[int]) -> None:
    assert "elements, mean" in histogram_picture(histogram(lefts, widths, counts), title="w", width=40, height=10)
