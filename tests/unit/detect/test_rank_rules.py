"""Ranks that are slower than others, and what is aimed at."""

from __future__ import annotations

from typing import List

import numpy as np

from mstui.model.records import FloatArray
from tests.unit.detect.feeding import START, Stream, cleared, decay, raised


def of_ranks(times: List[FloatArray]) -> Stream:
    """One loss a rank, with so many seconds from step to step."""
    stream = Stream()
    for rank, each in enumerate(times):
        stream.add("loss", decay(len(each), seed=rank), rank=rank)
        place = len(stream.series) - 1
        number, tag, steps, _walls, values = stream.series[place]
        stream.series[place] = (number, tag, steps, START + np.cumsum(each), values)
    return stream


def steps_of(n: int, seed: int, seconds: float = 0.2) -> FloatArray:
    times: FloatArray = seconds * np.exp(np.random.default_rng(seed).normal(0, 0.1, n))
    return times


def test_a_rank_that_takes_twice_as_long_is_told_after_four_windows() -> None:
    slow = steps_of(200, 3)
    slow[99:] *= 2.0
    found = of_ranks([steps_of(200, 1), steps_of(200, 2), slow]).judge()
    told = [each for each in found if each.rule == "straggler"]
    assert [(each.scope.rank_id, each.step, each.detected_step) for each in told] == [(2, 102, 141)]


def test_the_rank_that_came_first_may_be_the_slow_one() -> None:
    found = of_ranks([steps_of(100, 1, 0.4), steps_of(100, 2), steps_of(100, 3)]).judge()
    assert {each.scope.rank_id for each in found if each.rule == "straggler"} == {0}


def test_ranks_of_one_pace_are_none_and_a_rank_that_catches_up_is_no_more() -> None:
    assert raised(of_ranks([steps_of(200, rank) for rank in range(4)]).judge()) == []
    for_a_while = steps_of(300, 3)
    for_a_while[60:160] *= 1.7
    found = of_ranks([steps_of(300, 1), for_a_while]).judge()
    assert [name for name, _step in raised(found)] == ["slow-down"]
    assert [name for name, _step in cleared(found)] == ["slow-down"]


def test_stragglers_are_the_same_however_the_points_are_cut() -> None:
    stream = of_ranks([steps_of(120, 1), steps_of(120, 2, 0.5)])
    assert raised(stream.judge()) == raised(stream.judge(cut=7))


def test_what_was_aimed_at_and_not_reached_is_told_at_the_end() -> None:
    accuracies = np.linspace(0.4, 0.85, 6)

    def judged(**facts: float) -> List[str]:
        stream = Stream(facts).add("loss", decay(300)).add("accuracy/val", accuracies, every=50, first=50)
        return [name for name, _step in raised(stream.judge(end=True))]

    assert judged() == []
    assert judged(target_accuracy=0.8, target_loss=0.5) == []
    assert judged(target_accuracy=90.0) == ["metric-low"]
    assert judged(target_loss=0.1) == ["loss-slow"]
