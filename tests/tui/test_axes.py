from __future__ import annotations

import math
import re
from typing import List, Set, Tuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mstui.model.series import XAxis
from mstui.tui.axes import LABEL_WIDTH, NOTHING, choose_axis, nice_step, y_labels, y_ticks
from mstui.tui.state import Scale
from mstui.tui.x_axis import axis_cells, format_duration, format_range, format_step, format_wall, format_x, x_ticks

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALES = st.sampled_from(list(Scale))


@given(FINITE, FINITE, SCALES, st.integers(2, 5))
@settings(max_examples=1500, deadline=None)
def test_any_finite_range_gets_finite_ends_around_it_and_labels_that_fit(
    a: float, b: float, scale: Scale, most: int
) -> None:
    low, high = min(a, b), max(a, b)
    axis = choose_axis(low, high, scale)
    assert math.isfinite(axis.low)
    assert math.isfinite(axis.high)
    assert axis.low < axis.high
    assert axis.low <= low
    assert high <= axis.high
    rows = axis.rows(np.array([low, high]), 40)
    assert np.isfinite(rows).all()
    assert (rows >= -1e-6).all()
    assert (rows <= 39 + 1e-6).all()
    ticks = y_ticks(axis, most)
    assert len(ticks) <= most
    assert all(math.isfinite(tick) for tick in ticks)
    assert all(x < y for x, y in zip(ticks, ticks[1:]))
    labels = y_labels(ticks)
    assert len(labels) == len(ticks)
    assert all(len(label) <= LABEL_WIDTH for label in labels)
    shown = [label for label in labels if label]
    assert shown
    assert len(set(shown)) == len(shown)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 5))
@settings(max_examples=300, deadline=None)
def test_an_ordinary_range_has_at_least_two_labels(low: float, span: float, most: int) -> None:
    assert len([label for label in y_labels(y_ticks(choose_axis(low, low + span, Scale.LINEAR), most)) if label]) >= 2


@given(st.lists(FINITE, min_size=2, max_size=5, unique=True), st.integers(1, 12))
@settings(max_examples=500, deadline=None)
def test_labels_never_leave_their_column(ticks: List[float], width: int) -> None:
    assert all(len(label) <= width for label in y_labels(sorted(ticks), width))


def test_ends_lie_on_a_round_grid() -> None:
    axis = choose_axis(0.31, 4.27, Scale.LINEAR)
    assert (axis.low, axis.high) == (0.0, 4.5)


def test_ends_stay_while_the_data_use_enough_of_them() -> None:
    first = choose_axis(0.31, 4.27, Scale.LINEAR)
    assert choose_axis(0.1, 4.4, Scale.LINEAR, first) is first
    assert choose_axis(1.0, 3.0, Scale.LINEAR, first) is first


def test_ends_move_when_the_data_leave_them_or_shrink() -> None:
    first = choose_axis(0.31, 4.27, Scale.LINEAR)
    assert choose_axis(0.31, 6.0, Scale.LINEAR, first).high >= 6.0
    assert choose_axis(0.31, 0.5, Scale.LINEAR, first).high < 1.0
    assert choose_axis(0.31, 4.27, Scale.LOG, first).scale is Scale.LOG


def moves(values: List[float], scale: Scale = Scale.LINEAR) -> int:
    """How often the axis of a growing series moves."""
    axis, moved = None, -1
    for end in range(20, len(values)):
        found = choose_axis(min(values[:end]), max(values[:end]), scale, axis)
        moved += found is not axis
        axis = found
    return moved


def test_a_slow_drift_moves_the_axis_a_few_times_while_it_doubles() -> None:
    assert moves([float(i) for i in range(20, 640)]) <= 4 * 5
    assert moves([1e-3 * (1 - i / 2000) for i in range(1000)]) <= 16
    assert moves([5.0 + 1e-3 * i for i in range(1000)]) <= 20


def test_room_for_a_drift_does_not_cross_zero() -> None:
    first = choose_axis(1.0, 4.0, Scale.LINEAR)
    assert choose_axis(0.05, 4.0, Scale.LINEAR, first).low >= 0.0
    down = choose_axis(-4.0, -1.0, Scale.LINEAR)
    assert choose_axis(-4.0, -0.05, Scale.LINEAR, down).high <= 0.0


@given(FINITE, FINITE, FINITE, FINITE, SCALES)
@settings(max_examples=500, deadline=None)
def test_an_axis_after_another_one_holds_the_data_too(a: float, b: float, c: float, d: float, scale: Scale) -> None:
    before = choose_axis(min(a, b), max(a, b), scale)
    axis = choose_axis(min(c, d), max(c, d), scale, before)
    assert math.isfinite(axis.low)
    assert math.isfinite(axis.high)
    assert axis.low <= min(c, d)
    assert max(c, d) <= axis.high
    assert axis.low < axis.high


def test_log_becomes_symlog_where_a_value_is_not_positive() -> None:
    assert choose_axis(0.0, 1.0, Scale.LOG).scale is Scale.SYMLOG
    assert choose_axis(-3.0, 1.0, Scale.LOG).scale is Scale.SYMLOG
    assert choose_axis(1e-9, 1.0, Scale.LOG).scale is Scale.LOG


def test_log_ticks_are_powers_of_ten() -> None:
    assert y_labels(y_ticks(choose_axis(2e-5, 0.9, Scale.LOG), 5)) == ["1e-4", "0.001", "0.01", "0.1", "1"]


def test_symlog_keeps_zero_and_both_sides() -> None:
    ticks = y_ticks(choose_axis(-1000.0, 1000.0, Scale.SYMLOG), 5)
    assert 0.0 in ticks
    assert ticks[0] < 0 < ticks[-1]


def test_small_values_keep_rows_of_their_own_below_an_explosion() -> None:
    axis = choose_axis(1.2, 8e7, Scale.SYMLOG, None, 1.3)
    rows = axis.rows(np.array([1.2, 3.0]), 40)
    assert rows[0] - rows[1] > 1
    assert y_labels(y_ticks(axis, 5)) == ["1", "100", "1e4", "1e6", "1e8"]
    assert np.ptp(choose_axis(0.9, 8e7, Scale.SYMLOG).rows(np.array([1.0, 3.0]), 40)) < 0.1, "without being told"


def test_zeros_and_a_few_strays_do_not_stretch_a_symmetric_axis() -> None:
    plain = choose_axis(-5.0, 8.0, Scale.SYMLOG, None, 0.5)
    assert plain == choose_axis(-5.0, 8.0, Scale.SYMLOG)
    assert choose_axis(-5.0, 8.0, Scale.SYMLOG, None, 1e-30).linear_below >= 1e-12
    assert choose_axis(-5.0, 8.0, Scale.SYMLOG, plain, 1e-30) is not plain
    assert choose_axis(-5.0, 8.0, Scale.SYMLOG, plain, 1e-4) is plain, "near enough: nothing is painted anew"


def test_negative_values_alone_have_decades_too() -> None:
    axis = choose_axis(-8e7, -1.2, Scale.SYMLOG, None, 1.3)
    assert y_labels(y_ticks(axis, 5)) == ["-1e8", "-1e6", "-1e4", "-100", "-1"]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (75.25, 100.25, ("76", "100")),
        (75.0, 100.0, ("75", "100")),
        (75.25, 75.5, ("75.25", "75.5")),
        (-0.5, 3.2, ("0", "3")),
        (math.nan, math.inf, ("NaN", "+Inf")),
    ],
)
def test_a_stretch_of_steps_is_told_by_whole_ones(low: float, high: float, shown: Tuple[str, str]) -> None:
    assert format_range(XAxis.STEP, low, high) == shown
    assert format_range(XAxis.EPOCH, 1.25, 2.5) == ("1.25", "2.5")


def test_equal_decades_take_equal_rows_on_a_log_axis() -> None:
    axis = choose_axis(1.0, 1000.0, Scale.LOG)
    assert np.diff(axis.rows(np.array([1.0, 10.0, 100.0, 1000.0]), 31)).round(6).tolist() == [-10.0, -10.0, -10.0]


def test_a_log_axis_has_no_place_for_zero_and_nothing_has_one_for_nan() -> None:
    axis = choose_axis(1.0, 10.0, Scale.LOG)
    assert np.isnan(axis.rows(np.array([0.0, -1.0, math.nan, math.inf]), 8)).all()


def test_no_data_have_an_axis_too() -> None:
    assert choose_axis(math.nan, math.nan, Scale.LOG) is NOTHING


def test_ticks_that_would_read_alike_are_told_as_differences() -> None:
    assert y_labels([123456.001, 123456.002, 123456.003]) == ["123456", "+0.001", "+0.002"]


@pytest.mark.parametrize(
    ("least", "step"), [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (2.5, 5.0), (7.0, 10.0), (0.03, 0.05), (3e307, 5e307)]
)
def test_steps_are_one_two_or_five_times_a_power_of_ten(least: float, step: float) -> None:
    assert nice_step(least) == pytest.approx(step)


@given(st.sampled_from(list(XAxis)), FINITE, FINITE, st.integers(0, 220))
@settings(max_examples=1000, deadline=None)
def test_x_labels_of_any_range_stay_inside_and_apart(axis: XAxis, a: float, b: float, cells: int) -> None:
    assume(a != b)
    end = 0
    for tick in x_ticks(axis, min(a, b), max(a, b), cells):
        assert end <= tick.cell < cells
        end = tick.cell + 1 + len(tick.label)
        assert end <= cells


def test_x_ticks_of_steps_are_round_and_short() -> None:
    assert [tick.label for tick in x_ticks(XAxis.STEP, 0, 50_000, 60)] == ["0", "10k", "20k", "30k", "40k", ""]


def test_x_ticks_of_relative_time_are_round_times() -> None:
    labels = [tick.label for tick in x_ticks(XAxis.RELATIVE, 0.0, 3.4, 60)]
    assert labels == ["0", "1h", "2h", "3h"]


def test_x_ticks_of_wall_time_fall_on_round_local_times() -> None:
    labels = [tick.label for tick in x_ticks(XAxis.WALL, 1_700_000_123.0, 1_700_007_000.0, 60)]
    assert len(labels) >= 3
    assert all(label[-2:] in ("00", "30") for label in labels if label)


@pytest.mark.parametrize(
    ("taken", "row"),
    [
        (set(), "+0----------+50---------+100-------+"),
        ({13}, "+0--------50+*----------+100-------+"),
        ({15}, "+0--------50+--*--------+100-------+"),
        ({16}, "+0----------+50-*-------+100-------+"),
        ({12, 24}, "+0----------*50---------*100-------+"),
        ({13, 9}, "+0-------*--+*----------+100-------+"),
        ({1}, "+*----------+50---------+100-------+"),
    ],
)
def test_a_mark_never_stands_in_a_number(taken: Set[int], row: str) -> None:
    ticks = x_ticks(XAxis.STEP, 0, 150, 36)
    cells = axis_cells(ticks, 36, taken, "-", "+")
    assert "".join("*" if i in taken else cell for i, cell in enumerate(cells)) == row


@given(st.integers(1, 120), st.integers(0, 10**7), st.integers(1, 10**7), st.sets(st.integers(0, 119), max_size=40))
def test_every_number_of_the_axis_row_is_a_label_of_its_own(cells: int, low: int, span: int, taken: Set[int]) -> None:
    ticks = x_ticks(XAxis.STEP, low, low + span, cells)
    row = "".join("*" if i in taken else cell for i, cell in enumerate(axis_cells(ticks, cells, taken, "-", "+")))
    assert len(row) == cells
    assert set(re.findall(r"[^-+*]+", row)) <= {tick.label for tick in ticks}
    others = taken - {tick.cell for tick in ticks}
    assert not any({row[cell - 1 : cell], row[cell + 1 : cell + 2]} - {"", *"-+*"} for cell in others if cell < cells)


@pytest.mark.parametrize(
    ("step", "text"), [(0, "0"), (950, "950"), (12_000, "12k"), (12_500, "12.5k"), (3.1e6, "3.1M"), (2e9, "2G")]
)
def test_steps_are_written_short(step: float, text: str) -> None:
    assert format_step(step) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25s"), (45, "45s"), (720, "12m"), (5400, "1h30m"), (90_000, "1d1h"), (-60, "-1m"), (59.7, "1m")],
)
def test_durations_have_at_most_two_units(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_places_without_a_calendar_are_plain_numbers() -> None:
    assert format_wall(-5.0) == "-5"
    assert format_wall(1e300) == "1e300"
    assert format_x(XAxis.EPOCH, 2.5) == "2.5"
