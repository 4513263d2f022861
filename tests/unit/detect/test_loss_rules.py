"""Rules that look at the loss: each fires at the exact step, is silent on its traps, and clears."""

from __future__ import annotations

import numpy as np
import pytest

from mstui.model.alerts import Severity
from mstui.model.records import FloatArray
from tests.unit.detect.feeding import Stream, cleared, decay, flat, raised


def only(found: list[tuple[str, int]], symptom: str) -> list[int]:
    return [step for each, step in found if each == symptom]


def test_a_healthy_curve_rings_nothing() -> None:
    assert raised(Stream().add("loss", decay(400)).judge(end=True)) == []


# loss-nan, loss-inf


def test_nan_is_told_at_its_own_step() -> None:
    values = decay(60)
    values[41] = np.nan
    assert raised(Stream().add("loss", values).judge()) == [("loss-nan", 42)]


def test_infinity_and_nan_are_two_symptoms() -> None:
    values = decay(60)
    values[40], values[43:] = np.inf, np.nan
    assert raised(Stream().add("loss", values).judge()) == [("loss-inf", 41), ("loss-nan", 44)]


def test_the_first_evaluation_of_an_untrained_net_may_overflow() -> None:
    stream = Stream().add("loss", decay(60)).add("loss/val", [np.inf, 2.0, 1.5], every=20, first=20)
    assert raised(stream.judge()) == []
    assert raised(stream.judge(), Severity.WATCH) == [("loss-inf", 20)]


def test_a_new_start_heals_nan() -> None:
    values = decay(40)
    values[30:] = np.nan
    stream = Stream().add("loss", values).add("loss", decay(60)[20:], first=21)
    found = stream.judge()
    assert raised(found) == [("loss-nan", 31)]
    assert ("loss-nan", 21) in cleared(found)


def test_what_follows_from_nan_does_not_ring_any_more() -> None:
    values = decay(60)
    values[20:] = np.nan
    stream = Stream().add("loss", values).add("act_zero_frac/act", [0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1], every=6)
    assert raised(stream.judge()) == [("loss-nan", 21)]


# loss-huge


def test_huge_when_the_median_of_five_is_a_hundred_times_the_start() -> None:
    values = flat(40)
    values[20:] = 1e6
    found = raised(Stream().add("loss", values).judge())
    assert only(found, "loss-huge") == [23]  # three of the last five


def test_huge_from_the_first_points_on() -> None:
    found = raised(Stream().add("loss", 3e4 * decay(60)).judge())
    assert only(found, "loss-huge") == [5]


def test_two_enormous_points_are_a_spike_and_not_a_level() -> None:
    values = flat(80, noise=0.005)
    values[50:52] = 5e4
    assert only(raised(Stream().add("loss", values).judge()), "loss-huge") == []


def test_huge_clears_when_the_loss_has_come_back() -> None:
    values = flat(100)
    values[20:30] = 1e6
    assert ("loss-huge", 40) in cleared(Stream().add("loss", values).judge())


# loss-zero


def test_zero_five_times_in_a_row() -> None:
    values = decay(60)
    values[30:] = 0.0
    assert only(raised(Stream().add("loss", values).judge()), "loss-zero") == [35]


def test_single_zeros_are_empty_batches() -> None:
    values = decay(200)
    values[::7] = 0.0
    assert only(raised(Stream().add("loss", values).judge()), "loss-zero") == []


def test_zero_is_right_where_held_out_data_are_right_as_well() -> None:
    values = decay(60)
    values[30:] = 0.0
    assert raised(Stream().add("loss", values).add("accuracy/val", [0.99], first=25).judge()) == []


# loss-flat and its kin


def test_flat_from_the_start_is_told_once_an_epoch_is_over() -> None:
    stream = Stream().add("loss", flat(100)).add("loss/val", [2.3, 2.3, 2.3], every=30, first=30)
    steps = only(raised(stream.judge()), "loss-flat")
    assert len(steps) == 1
    assert 40 <= steps[0] <= 50


def test_flat_without_plan_or_epochs_waits_for_more_points() -> None:
    steps = only(raised(Stream().add("loss", flat(300)).judge()), "loss-flat")
    assert steps
    assert steps[0] >= 100


def test_noise_that_hides_a_fall_is_no_flat_curve() -> None:
    rng = np.random.default_rng(3)
    values = 2.3 * np.exp(rng.normal(0, 0.5, 150))
    assert only(raised(Stream().add("loss", values).judge()), "loss-flat") == []


def test_a_warm_up_is_waited_for() -> None:
    stream = Stream({"planned_steps": 400}).add("loss", flat(150)).add("learning_rate", np.linspace(1e-7, 1e-3, 150))
    assert only(raised(stream.judge()), "loss-flat") == []


def test_a_net_that_was_trained_before_may_stay_where_it_is() -> None:
    stream = (
        Stream()
        .add("loss", flat(200, level=0.13, noise=0.2))
        .add("accuracy/val", [0.97, 0.97, 0.98], every=50, first=50)
        .add("loss/val", [0.1, 0.1, 0.1], every=50, first=50)
    )
    assert raised(stream.judge(end=True)) == []


def test_flat_clears_when_it_falls_after_all() -> None:
    late = decay(400, start=2.303, left=0.3)
    stream = Stream().add("loss", np.concatenate((flat(140), late)))
    found = stream.judge()
    assert only(raised(found), "loss-flat") != []
    assert "loss-flat" in dict(cleared(found))


def test_an_end_with_little_gained_is_slow_and_still_falling() -> None:
    rng = np.random.default_rng(2)
    values = (2.3 - 0.5 * np.arange(120) / 120) * np.exp(rng.normal(0, 0.01, 120))
    assert raised(Stream().add("loss", values).judge(end=True)) == [("loss-slow", 120), ("underfit", 120)]


def test_a_plateau_after_a_fall_is_no_reason_to_ring() -> None:
    values = np.concatenate((decay(200, left=0.4), flat(400, level=0.4, noise=0.03)))
    found = Stream().add("loss", values).judge(end=True)
    assert raised(found) == []
    assert "plateau" in dict(raised(found, Severity.INFO))


# loss-oscillate


def wave(n: int, height: float = 0.5, period: int = 10, noise: float = 0.05) -> FloatArray:
    rng = np.random.default_rng(4)
    values: FloatArray = 40.0 * np.exp(height * np.sin(2 * np.pi * np.arange(n) / period) + rng.normal(0, noise, n))
    return values


def test_waves_are_told_after_a_window() -> None:
    assert only(raised(Stream().add("loss", wave(100)).judge()), "loss-oscillate") == [40]


def test_noise_of_batches_is_no_wave() -> None:
    rng = np.random.default_rng(5)
    values = 2.0 * np.exp(rng.normal(0, 0.6, 2000))
    assert only(raised(Stream().add("loss", values).judge()), "loss-oscillate") == []


def test_one_hump_is_no_wave() -> None:
    values = flat(200)
    values[60:80] *= 1 + np.hanning(20)
    assert only(raised(Stream().add("loss", values).judge()), "loss-oscillate") == []


def test_a_wave_that_follows_the_learning_rate_is_its_own_doing() -> None:
    rate = 1e-3 * (1.2 + np.sin(2 * np.pi * np.arange(100) / 10))
    stream = Stream().add("loss", wave(100)).add("learning_rate", rate)
    assert only(raised(stream.judge()), "loss-oscillate") == []


# loss-spike


def spiky(n: int = 200, at: int = 120, height: float = 40.0, length: int = 1) -> FloatArray:
    values = decay(n)
    values[at : at + length] = height
    return values


def test_a_spike_above_the_first_level_rings_at_its_step() -> None:
    assert raised(Stream().add("loss", spiky()).judge()) == [("loss-spike", 121)]


def test_a_small_spike_is_only_listed() -> None:
    found = Stream().add("loss", spiky(height=2.2)).judge()
    assert raised(found) == []
    assert raised(found, Severity.WATCH) == [("loss-spike", 121)]


def test_a_spike_that_stays_becomes_graver() -> None:
    values = decay(200)
    values[120:] += 1.0
    found = [each for each in raised(Stream().add("loss", values).judge()) if each[0] == "loss-spike"]
    assert found
    assert 121 < found[0][1] <= 140


def test_a_spike_clears_when_it_is_over() -> None:
    assert ("loss-spike", 133) in cleared(Stream().add("loss", spiky()).judge())


@pytest.mark.parametrize("seed", range(5))
def test_skewed_noise_makes_no_spikes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert raised(Stream().add("loss", 0.4 * np.exp(rng.normal(0, 0.5, 1000))).judge()) == []


# loss-diverge


def test_a_climb_back_to_the_start_is_critical() -> None:
    values = np.concatenate((decay(120), np.linspace(0.3, 4.0, 60)))
    found = Stream().add("loss", values).judge()
    steps = only(raised(found), "loss-diverge")
    assert steps
    assert 125 <= steps[0] <= 150
    assert max(each.severity for each in found) is Severity.CRITICAL


def test_divergence_clears_when_it_comes_back() -> None:
    values = np.concatenate((decay(120), np.linspace(0.3, 3.0, 40), np.linspace(3.0, 0.25, 40), flat(120, level=0.25)))
    assert "loss-diverge" in dict(cleared(Stream().add("loss", values).judge()))


def test_an_adversarial_curve_may_climb() -> None:
    values = np.concatenate((decay(120), np.linspace(0.3, 4.0, 60)))
    assert only(raised(Stream().add("gan/d_loss", values).judge()), "loss-diverge") == []


def test_a_reward_is_supposed_to_climb() -> None:
    assert raised(Stream().add("reward", np.linspace(0.1, 9.0, 200)).judge(end=True)) == []


def test_a_loss_that_passes_zero_is_judged_without_ratios() -> None:
    rng = np.random.default_rng(8)
    values = 170 * np.exp(-np.arange(500) / 100) - 120 + rng.normal(0, 4, 500)
    assert raised(Stream().add("loss", values).judge(end=True)) == []


# loss-shift


def test_a_restart_at_another_level_is_told_after_eight_points() -> None:
    stream = Stream().add("loss", decay(100)).add("loss", 2.0 + decay(40, left=0.1), first=81)
    assert ("loss-shift", 88) in raised(stream.judge())


def test_a_restart_that_goes_on_is_silent() -> None:
    curve = decay(140)
    stream = Stream().add("loss", curve[:100]).add("loss", curve[80:], first=81)
    assert raised(stream.judge()) == []


# lr-anomaly and data-order


def test_a_learning_rate_of_zero_is_listed() -> None:
    rate = np.full(60, 1e-3)
    rate[30:] = 0.0
    found = Stream().add("loss", decay(60)).add("learning_rate", rate).judge()
    assert raised(found, Severity.WATCH) == [("lr-anomaly", 35)]


def test_a_schedule_may_end_at_zero() -> None:
    rate = np.concatenate((np.full(92, 1e-3), np.zeros(8)))
    stream = Stream({"planned_steps": 100}).add("loss", decay(100)).add("learning_rate", rate)
    assert raised(stream.judge(), Severity.WATCH) == []


def test_a_leap_of_the_learning_rate_is_listed_and_a_cycle_is_not() -> None:
    rate = np.full(60, 1e-3)
    rate[40:] = 0.5
    assert raised(Stream().add("learning_rate", rate).judge(), Severity.WATCH) == [("lr-anomaly", 41)]
    cycle = 1e-3 * (1.05 + np.sin(2 * np.pi * np.arange(200) / 20))
    assert raised(Stream().add("learning_rate", cycle).judge(), Severity.WATCH) == []


def test_the_same_order_in_every_epoch_is_listed() -> None:
    pattern = np.random.default_rng(6).normal(0, 0.2, 25)
    stream = Stream({"custom/steps_per_epoch": 25}).add("loss", decay(200) * np.exp(np.tile(pattern, 8)))
    assert "data-order-s" in dict(raised(stream.judge(), Severity.WATCH))
    shuffled = Stream({"custom/steps_per_epoch": 25}).add("loss", decay(200, noise=0.2))
    assert "data-order-s" not in dict(raised(shuffled.judge(), Severity.WATCH))


# what trainings of other kinds taught (bench/zoo.py)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_that_grew_is_no_climb(seed: int) -> None:
    rng = np.random.default_rng(seed)
    quiet = np.linspace(1.0, 0.5, 24) + rng.normal(0, 0.02, 24)
    assert raised(Stream().add("loss", np.concatenate((quiet, np.abs(0.5 + rng.normal(0, 0.2, 60))))).judge()) == []


def test_a_loss_that_a_log_rounds_to_nothing_is_not_zero() -> None:
    fading = np.round(2.3 * np.exp(-np.arange(80) / 6.0), 3)
    assert ("loss-zero", 56) not in raised(Stream().add("loss", fading).judge())
    assert not [name for name, _step in raised(Stream().add("loss", fading).judge()) if name == "loss-zero"]
    sudden = np.concatenate((np.round(decay(40, left=1.0), 3), np.zeros(20)))
    assert ("loss-zero", 45) in raised(Stream().add("loss", sudden).judge())


def test_a_loss_that_is_still_huge_does_not_converge_though_it_falls() -> None:
    values = 2e5 * np.exp(-np.arange(120) / 40.0) * np.exp(np.random.default_rng(1).normal(0, 0.05, 120))
    assert "loss-flat" in [name for name, _step in raised(Stream().add("loss", values).judge())]
    within = 30 * np.exp(-np.arange(120) / 40.0)
    assert "loss-flat" not in [name for name, _step in raised(Stream().add("loss", within).judge())]


def test_swings_far_above_any_guess_are_no_noise_of_batches() -> None:
    swings = 6000 * np.exp(np.random.default_rng(2).normal(0, 0.3, 120))
    assert "loss-oscillate" in [name for name, _step in raised(Stream().add("loss", swings).judge())]
    assert "loss-oscillate" not in [name for name, _step in raised(Stream().add("loss", swings / 3000).judge())]


def test_a_short_training_that_learns_until_its_end_is_underfitted() -> None:
    rng = np.random.default_rng(5)
    values = 2.33 - 0.0022 * np.arange(40) + rng.normal(0, 0.01, 40)
    assert "underfit" in [name for name, _step in raised(Stream().add("loss", values).judge(end=True))]
    ready = 2.33 * np.exp(-np.arange(40) / 6.0) + 0.2
    assert raised(Stream().add("loss", ready).judge(end=True)) == []


def test_a_level_that_is_higher_after_a_long_silence_is_a_restart_that_lost_something() -> None:
    stream = Stream().add("loss", np.concatenate((decay(100), decay(60, seed=2, left=1.5, start=1.8))))
    rank, tag, steps, walls, values = stream.series[0]
    assert "loss-shift" not in [name for name, _step in raised(stream.judge())]
    stream.series[0] = (rank, tag, steps, walls + np.where(steps > 100, 7200.0, 0.0), values)
    assert ("loss-shift", 108) in raised(stream.judge())
    assert raised(stream.judge()) == raised(stream.judge(cut=1))


def test_fine_tuning_without_an_evaluation_may_rest_where_it_is() -> None:
    def judged(level: float, noise: float) -> list[str]:
        stream = Stream().add("loss", flat(200, level=level, noise=noise))
        return [name for name, _step in raised(stream.judge(end=True))]

    assert judged(1.1, 0.08) == []
    assert judged(1.1, 0.005) == ["loss-flat"]


def test_a_net_that_was_thrown_into_a_guess_does_not_rest() -> None:
    thrown = np.concatenate(([2.3], flat(30, level=4.0, noise=0.2), flat(170, level=2.3, noise=0.005)))
    assert "loss-flat" in [name for name, _step in raised(Stream().add("loss", thrown).judge(end=True))]


def test_a_slow_start_that_gathers_speed_does_fall() -> None:
    early = {"custom/steps_per_epoch": 30}
    counter = np.repeat([1.0, 2.0, 3.0], 30)[:60]
    gathering = 4.85 - 0.00002 * np.arange(60) ** 2 + np.random.default_rng(1).normal(0, 0.001, 60)
    assert raised(Stream(early).add("loss", gathering).add("epoch", counter).judge()) == []
    resting = 4.85 + np.random.default_rng(1).normal(0, 0.001, 60)
    assert [name for name, _step in raised(Stream(early).add("loss", resting).add("epoch", counter).judge())] == [
        "loss-flat"
    ]
