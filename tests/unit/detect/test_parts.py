"""Streaks, tracks, medians, names, evaluations: what the rules are built of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.detect.base import Chunk
from mstui.detect.evaluations import chance, guesses, knows_something
from mstui.detect.naming import Objective, is_held_out, objective_of
from mstui.detect.robust import median, scatter, scatter_of_neighbours
from mstui.detect.streaks import Streak
from mstui.detect.track import MOST_BLOCKS, RING, TICK_SHARE, Track, stride
from tests.unit.detect.feeding import Stream, decay, flat


def turns(streak: Streak, bad: list[int], first: int = 1, every: int = 1) -> list[tuple[int, bool, int]]:
    steps = first + every * np.arange(len(bad))
    return [(int(steps[turn.at]), turn.bad, turn.onset) for turn in streak.feed(np.array(bad, bool), steps)]


def test_a_streak_counts_in_a_row() -> None:
    assert turns(Streak(3, 2), [1, 1, 0, 1, 1, 1, 1, 0, 0, 0]) == [(6, True, 4), (9, False, 8)]


def test_a_streak_goes_on_over_pieces() -> None:
    streak = Streak(3, 2)
    assert turns(streak, [1, 1]) == []
    assert turns(streak, [1, 0], first=3) == [(3, True, 1)]
    assert turns(streak, [0], first=5) == [(5, False, 4)]


def test_a_streak_may_have_to_last_for_steps() -> None:
    assert turns(Streak(2, 2, span=10), [1] * 20) == [(11, True, 1)]
    assert turns(Streak(2, 2, span=10), [1] * 4, every=10) == [(11, True, 1)]


def test_a_veto_puts_a_turn_off() -> None:
    steps = np.arange(1, 7)
    found = list(Streak(2, 2).feed(np.ones(6, bool), steps, lambda at, _n: at < 4))
    assert [(turn.at, turn.onset) for turn in found] == [(4, 1)]


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 5), st.integers(1, 5), st.integers(1, 9))
def test_any_cut_of_a_streak_gives_the_same_turns(bad: list[bool], needed: int, enough: int, cut: int) -> None:
    whole = turns(Streak(needed, enough), [int(each) for each in bad])
    streak, pieces = Streak(needed, enough), []
    for begin in range(0, len(bad), cut):
        pieces += turns(streak, [int(each) for each in bad[begin : begin + cut]], first=begin + 1)
    assert pieces == whole


def test_blocks_hold_the_whole_course() -> None:
    track, ticks = Track(), []
    values = np.arange(1.0, 1001.0)
    track.feed(Chunk.of(np.arange(1000), np.arange(1000.0), values), lambda: ticks.append(track.count))
    assert track.count == 1000
    assert len(track.blocks) < MOST_BLOCKS
    assert track.blocks[0] == values[: track.width].mean()
    assert np.all(np.diff(track.blocks) == track.width)
    assert track.recent(5).tolist() == [996, 997, 998, 999, 1000]
    assert ticks[:4] == [1, 2, 3, 4]
    assert all(b - a == stride(a) for a, b in zip(ticks, ticks[1:]))


def test_between_two_ticks_a_course_grows_by_a_32nd_at_most() -> None:
    assert all(stride(count) <= max(1, count // TICK_SHARE) for count in (1, 100, 10_000, 10**9))
    assert stride(RING * TICK_SHARE) == RING  # no point leaves the ring unseen before there are so many


def test_the_first_point_counts_within_its_noise() -> None:
    track = Track()
    values = flat(60, noise=0.3, level=1.0)
    values[0] = 0.6
    track.feed(Chunk.of(np.arange(60), np.arange(60.0), values), lambda: None)
    assert not track.certainly_above_first(1.0)
    assert track.certainly_above_first(100.0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_the_median_is_the_median(values: list[float]) -> None:
    assert median(np.array(values)) == pytest.approx(float(np.median(values)), abs=1e-9)


def test_scatter_is_that_of_the_noise() -> None:
    noise = np.random.default_rng(1).normal(0, 2.0, 4000)
    assert scatter(noise, 0.0) == pytest.approx(2.0, rel=0.1)
    assert scatter_of_neighbours(noise + 0.01 * np.arange(4000)) == pytest.approx(2.0, rel=0.1)
    assert scatter_of_neighbours(noise[:1]) == 0.0
    assert math.isnan(median(noise[:0]))


@pytest.mark.parametrize(
    ("tag", "objective"),
    [
        ("loss", Objective.DESCENDING),
        ("train/loss", Objective.DESCENDING),
        ("gan/d_loss", Objective.ADVERSARIAL),
        ("G_loss", Objective.ADVERSARIAL),
        ("discriminator/loss", Objective.ADVERSARIAL),
        ("episode_reward", Objective.REWARD),
        ("loss/kl", Objective.UNORDERED),
        ("policy_loss", Objective.UNORDERED),
        ("grad_loss_total", Objective.DESCENDING),
        ("generated_text_loss", Objective.DESCENDING),
    ],
)
def test_objectives_by_name(tag: str, objective: Objective) -> None:
    assert objective_of(tag) is objective


@pytest.mark.parametrize(
    ("tag", "held_out"),
    [("loss/val", True), ("eval/accuracy", True), ("val_loss", True), ("test-acc", True), ("accuracy/train", False),
     ("value_loss", False), ("latest/accuracy", False), ("Validation Loss", True)],
)  # fmt: skip
def test_held_out_by_name(tag: str, held_out: bool) -> None:
    assert is_held_out(tag) is held_out


def scene_of(stream: Stream):  # type: ignore[no-untyped-def]
    engine, _found = stream.engine()
    engine.advance(all_come=True)
    return engine.scene


def test_chance_is_told_by_the_first_loss() -> None:
    assert chance(scene_of(Stream().add("loss", decay(600))), 0, 60) == pytest.approx(0.1, rel=0.1)
    assert chance(scene_of(Stream().add("loss", decay(600, start=4.9))), 0, 60) == pytest.approx(
        math.exp(-4.9), rel=0.2
    )


def test_a_loss_that_began_huge_tells_it_where_it_rests() -> None:
    values = np.concatenate((np.full(5, 3000.0), flat(60)))
    assert chance(scene_of(Stream().add("loss", values)), 0, 65) == pytest.approx(0.1, rel=0.1)


def test_guesses_are_counted_from_the_newest() -> None:
    scene = scene_of(Stream().add("loss", flat(120)).add("accuracy/val", [0.4, 0.1, 0.11], every=30, first=30))
    assert guesses(scene, 0, 120, 1.5, 0.94) == 2
    assert guesses(scene, 0, 30, 1.5, 0.94) == 0


def test_an_uninformed_net_gives_every_batch_the_same_loss() -> None:
    assert knows_something(scene_of(Stream().add("loss", flat(60))), 0, 60) is False
    tuned = Stream().add("loss", flat(60, level=1.9, noise=0.1)).add("accuracy/val", [0.7], first=30)
    assert knows_something(scene_of(tuned.add("loss/val", [1.8], first=30)), 0, 60) is True
    assert knows_something(scene_of(Stream().add("loss", flat(60, level=1.9, noise=0.1))), 0, 60) is None
