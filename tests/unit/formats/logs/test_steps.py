"""Global steps from epochs and the steps inside them."""

from __future__ import annotations

from typing import List, Tuple

import numpy as np
import pytest

from mstui.formats.logs.steps import STEP_LIMIT, StepCounter

CASES: List[Tuple[str, List[Tuple[int, int]], List[int]]] = [
    ("every step", [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)], [1, 2, 3, 4, 5]),
    ("one line an epoch", [(1, 9), (2, 9), (3, 9)], [9, 18, 27]),
    ("epochs and steps from 0", [(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 2, 3]),
    ("a second training", [(1, 1), (1, 2), (1, 1), (1, 2)], [1, 2, 1, 2]),
    ("recovery one epoch back", [(1, 1), (1, 3), (2, 1), (2, 2), (1, 3), (2, 1)], [1, 3, 4, 5, 3, 4]),
    ("a log that begins later", [(5, 1), (5, 2), (6, 1)], [1, 2, 11]),
    ("an epoch that was cut short", [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1)], [1, 2, 3, 4, 6, 8, 9]),
]


@pytest.mark.parametrize(("_name", "pairs", "expected"), CASES, ids=[case[0] for case in CASES])
def test_steps_go_on_over_the_epochs(_name: str, pairs: List[Tuple[int, int]], expected: List[int]) -> None:
    counter = StepCounter()
    assert [counter.place(epoch, step) for epoch, step in pairs] == expected
    many = StepCounter().place_many(np.array([e for e, _ in pairs]), np.array([s for _, s in pairs]))
    assert many.tolist() == expected


def test_a_printed_number_of_steps_is_taken() -> None:
    counter = StepCounter()
    assert [counter.place(190, 5004, 5004), counter.place(191, 1, 5004)] == [190 * 5004, 190 * 5004 + 1]


def test_the_times_of_an_epoch_tell_how_many_steps_it_had() -> None:
    counter = StepCounter()
    counter.place(1, 3)  # printed each third step only
    counter.finished(2911.926, 582.385)
    assert counter.place(2, 1) == 6


@pytest.mark.parametrize(
    ("epoch_ms", "step_ms"), [(100.0, 0.0), (1.0, 2.0), (100.0, 40.0), (1e6, 0.004), (float("inf"), 1.0)]
)
def test_times_that_are_not_exact_enough_tell_nothing(epoch_ms: float, step_ms: float) -> None:
    counter = StepCounter()
    counter.finished(epoch_ms, step_ms)
    assert counter.per_epoch is None


def test_nonsense_stays_a_step() -> None:
    assert StepCounter().place(10**9, 10**14, 10**14) == STEP_LIMIT
