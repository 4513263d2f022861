"""Where the end of a log can be read first, with which steps, and when that is taken back."""

from __future__ import annotations

from typing import List, Optional

import pytest

from mstui.formats.base import Foreseeing
from mstui.formats.logs.decoder import TextLogDecoder


def epochs(first: int, last: int, steps: int, *, zero: int = 1, prefix: str = "") -> bytes:
    return "".join(
        f"{prefix}epoch: {epoch} step: {step}, loss is 2.5\n"
        for epoch in range(first, last + 1)
        for step in range(zero, steps + zero)
    ).encode()


def foreseen(data: bytes, tail: int, head: int = 400) -> Optional[List[int]]:
    """Steps of the end, and None where it is not read first; asserts that the history agrees."""
    decoder = TextLogDecoder("train.log")
    assert isinstance(decoder, Foreseeing)
    base = len(data) - tail
    start = decoder.foresee(data[:head], data[base:], base)
    if start is None:
        return None
    columns = decoder.decode(data[start:], start, at_end=True).columns
    steps = [int(step) for each in columns if "loss" in each.tags for step in each.steps]
    decoder.decode(data[:start], 0, at_end=False)
    assert decoder.was_right()
    return steps


@pytest.mark.parametrize("zero", [0, 1])
def test_the_steps_of_an_epoch_come_from_a_border_of_two_in_the_end(zero: int) -> None:
    data = epochs(1, 30, 100, zero=zero)
    steps = foreseen(data, 5000)
    assert steps is not None
    assert steps[-1] == 3000 - (zero == 0)


def test_epochs_may_be_counted_from_zero_as_the_beginning_tells() -> None:
    steps = foreseen(epochs(0, 29, 100), 5000)
    assert steps is not None
    assert steps[-1] == 3000


def test_within_the_first_epoch_the_steps_are_global_ones() -> None:
    steps = foreseen(epochs(1, 1, 3000), 5000)
    assert steps is not None
    assert steps[-1] == 3000


def test_time_monitor_tells_the_steps_of_an_epoch_too() -> None:
    data = epochs(1, 29, 400) + b"Train epoch time: 40000.000 ms, per step time: 100.000 ms\n" + epochs(30, 30, 20)
    steps = foreseen(data, 2000)
    assert steps is not None
    assert steps[-1] == 29 * 400 + 20


def test_without_a_border_in_the_end_or_a_beginning_that_tells_or_with_ranks_the_history_comes_first() -> None:
    assert foreseen(epochs(1, 3, 1000), 5000) is None
    assert foreseen(b"# nothing\n" * 100 + epochs(1, 30, 100), 5000) is None
    assert foreseen(epochs(1, 30, 100, prefix="[1,3]<stdout>:"), 5000) is None
    assert foreseen(epochs(1, 30, 100) + b"# nothing\n" * 600, 5900) is None


@pytest.mark.parametrize(
    "between",
    [
        epochs(11, 11, 140),
        epochs(0, 0, 5),
        b"[1,3]<stdout>:epoch: 2 step: 1, loss is 2.5\n",
        b"epoch: 11 step: 1, loss is 2.5, overflow is True, loss scale is 1024.0\n",
    ],
)
def test_a_history_that_leaves_another_state_is_no_proof(between: bytes) -> None:
    begin = epochs(1, 10, 100)
    data = begin + between + epochs(12, 30, 100)
    decoder = TextLogDecoder("train.log")
    base = len(data) - 5000
    start = decoder.foresee(begin[:400], data[base:], base)
    assert start is not None
    decoder.decode(data[start:], start, at_end=True)
    decoder.decode(data[:start], 0, at_end=False)
    assert not decoder.was_right()


def test_what_was_not_foreseen_was_not_right() -> None:
    assert not TextLogDecoder("train.log").was_right()
