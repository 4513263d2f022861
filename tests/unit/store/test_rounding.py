"""What is rounded off by printing, and what is another value."""

from __future__ import annotations

import numpy as np
import pytest

from mstui.model.records import FloatArray
from mstui.store.rounding import EXACT, Digits, differ, refined

TRUE = np.array([0.38436, 2.30258512, 10.5512345, 0.000123456, 1234.5678, 65536.0, 0.9999999, 3e-7])
KEPT = TRUE.astype(np.float32)


def printed(text: str) -> FloatArray:
    return np.array([float(text % value) for value in KEPT.tolist()])


@pytest.mark.parametrize("text", ["%5.3f", "%.6f", "%.2f", "%.6E", "%.4e", "%s", "%r", "%.9f"])
def test_however_a_log_prints_it_agrees_with_what_the_summary_kept(text: str) -> None:
    values = printed(text)
    digits = refined(Digits(), values)
    assert not differ(KEPT.astype(np.float64), values, EXACT, digits).any()


@pytest.mark.parametrize("text", ["%5.3f", "%.6f", "%.6E", "%s"])
def test_one_more_than_rounding_is_another_value(text: str) -> None:
    digits = refined(Digits(), printed(text))
    values = np.array([float(text % value) for value in (KEPT * 1.02 + 0.002).tolist()])
    assert differ(KEPT.astype(np.float64), values, EXACT, digits).all()


def test_the_case_of_the_brief() -> None:
    digits = refined(Digits(), np.array([0.384, 1.25, 0.391]))
    assert digits.decimals == 3
    ours = np.array([0.38436, 0.38436])
    assert differ(ours, np.array([0.384, 0.391]), EXACT, digits).tolist() == [False, True]


def test_a_value_that_is_not_finite_differs_from_every_number_and_from_no_other_that_is_not() -> None:
    nan, inf = float("nan"), float("inf")
    ours, theirs = np.array([nan, inf, -inf, nan, inf, 1.0]), np.array([nan, inf, inf, 1.0, 1.0, nan])
    assert differ(ours, theirs, EXACT, Digits(0)).tolist() == [False, False, False, True, True, True]


def test_digits_never_become_fewer_and_nothing_to_look_at_changes_nothing() -> None:
    known = Digits(5, 4)
    assert refined(known, np.array([0.5])) == known
    assert refined(known, np.array([np.nan, 0.0, np.inf])) == known
    assert refined(known, np.empty(0)) == known
    assert refined(known, np.array([0.5], dtype=np.float32)) == EXACT


def test_flags_of_no_and_yes_differ() -> None:
    digits = refined(Digits(), np.array([0.0, 1.0, 1.0]))
    assert differ(np.array([0.0, 1.0]), np.array([1.0, 1.0]), EXACT, digits).tolist() == [True, False]


def test_hostile_sizes_are_no_error() -> None:
    values = np.array([5e-324, 1.7e308, -1.7e308, 1e-300, 123456789012345680.0])
    digits = refined(Digits(), values)
    assert not differ(values, values, digits, digits).any()
    assert differ(values, values * 0.5, digits, digits)[1:].all()
