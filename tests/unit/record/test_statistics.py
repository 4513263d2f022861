"""From the device's vector to values: scales, untouched rows, and what is not finite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mstui.model.roles import Role
from mstui.record.statistics import Subject, Values, activation_scalars, gradient_scalars, weight_scalars
from mstui.store.roles import classify


def gradient(*fields: float) -> Values:
    return np.array(fields, dtype=np.float64)[:, None]


def test_the_loss_scale_is_taken_out_and_shares_are_not_touched() -> None:
    fields = gradient(1024 * 5.0, 1024 * 8.0, 1024 * 12.0, 1024 * 3.0, -1024.0, 6, 8, 0)
    found = dict(gradient_scalars(fields, [Subject("w", 8)], [True], 1024.0))
    assert found == {
        "grad_norm/global": 5.0, "grad_norm/w": 5.0, "grad_mean/w": 1.0, "grad_abs_mean/w": 1.5, "grad_max/w": 3.0,
        "grad_min/w": -1.0, "grad_zero_frac/w": 0.25, "grad_nonfinite/w": 0.0,
    }  # fmt: skip


def test_rows_that_no_batch_has_touched_do_not_count() -> None:
    # 10 rows of 4, 8 of them untouched: 32 zeros of theirs and 2 of the others
    found = dict(gradient_scalars(gradient(3.0, 4.0, 6.0, 2.0, -1.0, 6, 40, 8), [Subject("t", 40, 10)], [True], 1.0))
    assert found["grad_mean/t"] == pytest.approx(4 / 8)
    assert found["grad_zero_frac/t"] == pytest.approx(2 / 8)


def test_a_table_that_nothing_has_touched_has_a_gradient_of_zeros() -> None:
    found = dict(gradient_scalars(gradient(0, 0, 0, -3e38, 3e38, 0, 40, 10), [Subject("t", 40, 10)], [True], 1.0))
    assert found["grad_max/t"] == found["grad_min/t"] == found["grad_mean/t"] == 0.0
    assert found["grad_zero_frac/t"] == 1.0


def test_one_bad_value_makes_all_else_nan_and_is_counted() -> None:
    found = dict(gradient_scalars(gradient(1.0, 1.0, 1.0, 1.0, 0.0, 0, 7, 0), [Subject("w", 8)], [True], 1.0))
    assert math.isnan(found["grad_norm/w"])
    assert math.isnan(found["grad_norm/global"])
    assert found["grad_nonfinite/w"] == 1.0
    assert math.isnan(found["grad_max/w"])
    assert math.isnan(found["grad_zero_frac/w"])


def test_the_global_norm_is_over_all_columns_chosen_or_not() -> None:
    fields = np.hstack([gradient(3.0, 0, 0, 0, 0, 0, 4, 0), gradient(4.0, 0, 0, 0, 0, 0, 4, 0)])
    found = dict(gradient_scalars(fields, [Subject("a", 4), Subject("b", 4)], [True, False], 1.0))
    assert found["grad_norm/global"] == 5.0
    assert "grad_norm/b" not in found


def test_a_step_away_from_zero_has_no_ratio() -> None:
    found = dict(weight_scalars(gradient(0.0, 0.0, 0.0, 1.0), [Subject("b", 4)]))
    assert found == {"weight_norm/b": 0.0, "weight_abs_mean/b": 0.0}
    moved = dict(weight_scalars(gradient(2.0, 4.0, 2.0, 0.5), [Subject("b", 4)]))
    assert moved["update_ratio/b"] == 0.25


def test_a_mean_that_is_not_finite_tells_of_a_bad_value_outside_of_the_examples() -> None:
    found = dict(activation_scalars(np.array([0.5, 0.0, math.nan, 1.0, 0.0]), "relu", saturates=False))
    assert found["act_nonfinite/relu"] == 1.0
    assert math.isnan(found["act_zero_frac/relu"])


def test_every_tag_has_the_role_that_the_reader_gives_it() -> None:
    tags = [tag for tag, _ in gradient_scalars(gradient(1, 1, 1, 1, 1, 1, 1, 0), [Subject("p.w", 1)], [True], 1.0)]
    tags += [tag for tag, _ in weight_scalars(gradient(1, 1, 1, 1), [Subject("p.w", 1)])]
    tags += [tag for tag, _ in activation_scalars(np.zeros(5), "p.w", saturates=True)]
    for tag in tags:
        meaning = classify(tag)
        if tag == "grad_norm/global":
            assert meaning.role is Role.GRAD_NORM
            continue
        statistic, _, parameter = tag.partition("/")
        assert (meaning.role, meaning.parameter, meaning.statistic) == (Role.PARAMETER, parameter, statistic)
    named = {
        "loss": Role.LOSS, "learning_rate": Role.LEARNING_RATE, "learning_rate/1": Role.LEARNING_RATE,
        "loss_scale": Role.LOSS_SCALE, "overflow": Role.OVERFLOW, "epoch": Role.EPOCH, "loss/val": Role.EVAL_LOSS,
        "accuracy/val": Role.EVAL_METRIC,
    }  # fmt: skip
    assert {tag: classify(tag).role for tag in named} == named
