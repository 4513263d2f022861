"""Figures as glyphs: which level, which scale, which ends."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.records import FloatArray
from mstui.tui.heat import (
    ASCII_RAMP,
    BAD,
    EMPTY,
    LEVELS,
    MIDDLE_LEVEL,
    RAMP,
    HeatScale,
    heat_spans,
    legend,
    nice_above,
    nice_below,
    round_outwards,
    scale_for,
)

NAN = float("nan")


def array(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float64)


def test_both_ramps_have_a_glyph_for_each_level_and_none_is_wide_anywhere() -> None:
    assert len(RAMP) == len(ASCII_RAMP) == LEVELS == len(set(RAMP)) == len(set(ASCII_RAMP))
    assert {unicodedata.east_asian_width(glyph) for glyph in RAMP} == {"N"}
    assert ASCII_RAMP.isascii()
    assert " " not in RAMP + ASCII_RAMP, "a blank means that there is no figure"


def test_magnitudes_are_spread_by_decades_with_round_ends() -> None:
    scale = scale_for(array(0.0123, 1.0, 870.0, NAN, math.inf), log=True)
    assert scale == HeatScale(0.01, 1000.0, log=True)
    assert scale.levels(array(0.0, 0.01, 3.1, 1000.0, 1e9, NAN)).tolist() == [0, 0, 3, 7, 7, EMPTY]


def test_shares_are_linear() -> None:
    scale = scale_for(array(0.0, 0.5, 0.97), log=False)
    assert scale == HeatScale(0.0, 1.0, log=False)
    assert scale.levels(array(0.0, 0.3, 0.97)).tolist() == [0, 2, 7]


def test_negative_values_make_a_logarithmic_scale_linear() -> None:
    assert not scale_for(array(-1.0, 1.0), log=True).log


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ((3.0, 3.0), MIDDLE_LEVEL),
        ((0.0, 0.0), 0),
        ((1.0,), MIDDLE_LEVEL),
        ((5e-324,), MIDDLE_LEVEL),
    ],
)
@pytest.mark.parametrize("log", [True, False])
def test_a_constant_map_has_one_level(values: tuple[float, ...], level: int, log: bool) -> None:
    assert set(scale_for(array(*values), log=log).levels(array(*values)).tolist()) == {level}


def test_a_map_without_a_finite_figure_is_empty() -> None:
    scale = scale_for(array(NAN, math.inf), log=True)
    assert scale.levels(array(NAN)).tolist() == [EMPTY]


def test_a_scale_seldom_moves_as_values_grow() -> None:
    ends = {scale_for(array(1.0, 100.0 + step), log=True).high for step in range(1, 900)}
    assert ends == {200.0, 500.0, 1000.0}


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_every_finite_value_has_a_level_and_larger_is_never_fainter(values: list[float], log: bool) -> None:
    rising = array(*sorted(values))
    found = scale_for(rising, log=log).levels(rising).tolist()
    assert found == sorted(found)
    assert min(found) >= 0
    assert max(found) < LEVELS


@given(finite, finite)
def test_rounding_never_cuts_the_range(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    down, up = round_outwards(low, high)
    assert down <= low <= high <= up
    span = high - low
    if math.isfinite(span) and span > 1e-300:
        assert up - down <= 1.41 * span


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_round_numbers_lie_on_either_side(value: float) -> None:
    assert 0 < nice_below(value) <= value <= nice_above(value) < math.inf


def test_neighbours_of_one_look_are_one_span_and_nan_is_a_letter() -> None:
    spans = heat_spans([0, 0, 7, BAD, BAD, EMPTY], repeat=2, ascii_only=True)
    assert spans == [("....", "heat-0"), ("@@", "heat-7"), ("xxxx", "critical"), ("  ", "text")]


def test_the_legend_names_both_ends() -> None:
    text = "".join(part for part, _ in legend(HeatScale(0.001, 20.0, log=True), ascii_only=True))
    assert text == "0.001 .:-=+*#@ 20"
