"""Histograms brought to rows, whatever a file says."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.histogram import Histogram, HistogramStats
from mstui.tui.histogram_bins import Edges, bars, bin_over_steps, edges_of


def histogram(lefts: Sequence[float], widths: Sequence[float], counts: Sequence[int]) -> Histogram:
    stats = HistogramStats(0, 0.0, 0.0, 0.0, 0.0, sum(counts), 0, 0, 0)
    return Histogram(stats, np.array(lefts, np.float64), np.array(widths, np.float64), np.array(counts, np.int64))


def edges(lefts: Sequence[float], widths: Sequence[float], counts: Sequence[int]) -> Edges:
    return edges_of(histogram(lefts, widths, counts))


def normal(centre: float, spread: float) -> Edges:
    counts, cuts = np.histogram(np.random.default_rng(7).normal(centre, spread, 4000), bins=60)
    return edges(cuts[:-1].tolist(), np.diff(cuts).tolist(), counts.tolist())


def test_negative_widths_and_disorder_are_put_right() -> None:
    found = edges([3.0, 1.0], [-1.0, 1.0], [5, 6])
    assert found.low.tolist() == [1.0, 2.0]
    assert found.high.tolist() == [2.0, 3.0]
    assert found.counts.tolist() == [6.0, 5.0]


def test_what_has_no_finite_edge_is_counted() -> None:
    found = edges([0.0, math.nan, 1.0, 1e308], [1.0, 1.0, math.inf, 1e308], [1, 2, 4, 8])
    assert (found.total, found.unplaced) == (1.0, 14.0)


def test_each_step_keeps_its_whole_mass_and_what_lies_beyond_is_counted() -> None:
    tailed = edges([-100.0, 0.0, 1.0, 100.0], [1.0, 1.0, 1.0, 1.0], [1, 500, 500, 2])
    found = bin_over_steps([tailed, tailed], 12)
    assert found.shares.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert (found.below, found.above) == (2.0, 4.0)
    assert found.edges[0] > -1
    assert found.edges[-1] < 4


def test_one_exploding_step_does_not_flatten_the_others() -> None:
    steps = [normal(0, 0.1) for _ in range(20)] + [normal(0, 1e4)]
    found = bin_over_steps(steps, 10)
    assert found.edges[-1] - found.edges[0] < 2
    assert found.shares[-1, 0] + found.shares[-1, -1] > 0.9, "the exploding step lies in the outer rows"
    assert found.below + found.above > 3900
    assert found.most_inside < 0.5


def test_a_blow_up_that_lasts_is_the_picture() -> None:
    steps = [normal(0, 0.1) for _ in range(10)] + [normal(0, 1e4) for _ in range(5)]
    found = bin_over_steps(steps, 10)
    assert found.edges[-1] > 1e4


def test_row_edges_are_round_and_seldom_move() -> None:
    ends = {tuple(bin_over_steps([normal(0, 1 + grown / 100)], 10).edges.tolist()) for grown in range(30)}
    assert len(ends) <= 4
    assert all(edge == pytest.approx(round(edge, 6)) for row in ends for edge in row)


@pytest.mark.parametrize(
    "one",
    [
        edges([], [], []),
        edges([2.0], [0.0], [7]),
        edges([0.0], [0.0], [7]),
        edges([-3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1, 1, 9]),
        edges([0.0, 1.0], [1.0, 1.0], [0, 0]),
        edges([1e308], [0.0], [1]),
        edges([-1.7e308, 1.7e308], [1.0, 1.0], [1, 1]),
        edges([5e-324], [5e-324], [3]),
        edges([1.0], [1e-16], [3]),
        edges([0.0], [1.0], [2**62]),
        edges([0.0], [1.0], [-5]),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_strange_histograms_are_drawn_sensibly(one: Edges, rows: int) -> None:
    found = bin_over_steps([one], rows)
    assert np.isfinite(found.edges).all()
    assert found.edges.tolist() == sorted(found.edges.tolist())
    assert found.shares.sum() == pytest.approx(1.0 if one.total else 0.0)
    joined = bars(one, rows)
    assert len(joined) <= rows
    assert sum(bar.count for bar in joined) == one.total


def test_a_constant_lies_in_one_row_amid_empty_ones() -> None:
    shares = bin_over_steps([edges([2.0], [0.0], [7])], 9).shares[0]
    assert np.flatnonzero(shares).size == 1
    assert 0 < int(shares.argmax()) < 8


any_float = st.floats(width=64)


@given(
    st.lists(st.lists(st.tuples(any_float, any_float, st.integers(0, 2**40)), max_size=6), max_size=4),
    st.integers(1, 12),
)
def test_no_histogram_breaks_the_picture(made: list[list[tuple[float, float, int]]], rows: int) -> None:
    steps = [edges([b[0] for b in one], [b[1] for b in one], [b[2] for b in one]) for one in made]
    found = bin_over_steps(steps, rows)
    assert found.shares.shape == (len(steps), rows)
    assert np.isfinite(found.edges).all()
    for one, shares in zip(steps, found.shares):
        assert shares.sum() == pytest.approx(1.0 if one.total else 0.0)
        assert (shares >= -1e-9).all()
