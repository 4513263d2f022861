"""Rules that look at evaluations: accuracies, and losses on held-out data."""

from __future__ import annotations

import numpy as np

from mstui.model.alerts import Severity
from tests.unit.detect.feeding import Stream, cleared, decay, flat, raised


def only(found: list[tuple[str, int]], symptom: str) -> list[int]:
    return [step for each, step in found if each == symptom]


def evaluated(loss: np.ndarray, accuracy: list[float], val: list[float], every: int = 30) -> Stream:  # type: ignore[type-arg]
    return (
        Stream()
        .add("loss", loss)
        .add("accuracy/val", accuracy, every=every, first=every)
        .add("loss/val", val, every=every, first=every)
    )


def test_two_evaluations_at_chance() -> None:
    found = raised(evaluated(flat(120), [0.11, 0.09, 0.1, 0.1], [2.3, 2.31, 2.3, 2.3]).judge())
    assert only(found, "metric-chance") == [60]


def test_a_slow_starter_is_at_chance_at_its_first_evaluation_only() -> None:
    assert raised(evaluated(decay(120), [0.12, 0.4, 0.7, 0.8], [2.2, 1.5, 0.9, 0.7]).judge(end=True)) == []


def test_an_accuracy_at_chance_with_a_loss_that_fell_is_no_guess() -> None:
    found = raised(evaluated(decay(120), [0.12, 0.13, 0.3, 0.5], [2.0, 1.6, 0.9, 0.7]).judge())
    assert only(found, "metric-chance") == []


def test_accuracies_in_percent_are_the_same() -> None:
    found = raised(evaluated(flat(120), [11.0, 9.0, 10.0, 10.0], [2.3, 2.31, 2.3, 2.3]).judge())
    assert only(found, "metric-chance") == [60]


def test_chance_clears_when_it_learns() -> None:
    found = evaluated(flat(120), [0.11, 0.09, 0.5, 0.6], [2.3, 2.31, 1.2, 1.0]).judge()
    assert "metric-chance" in dict(cleared(found))


def test_one_evaluation_is_enough_at_the_end() -> None:
    stream = Stream().add("loss", flat(60)).add("accuracy/val", [0.1], first=60)
    assert only(raised(stream.judge()), "metric-chance") == []
    assert only(raised(stream.judge(end=True)), "metric-chance") == [60]


def test_training_far_ahead_of_validation() -> None:
    stream = evaluated(decay(120), [0.3, 0.45, 0.5, 0.5], [2.0, 1.9, 1.9, 1.9])
    stream.add("accuracy/train", [0.4, 0.8, 0.9, 0.95], every=30, first=30)
    assert only(raised(stream.judge()), "metric-low") == [60]


def test_a_metric_that_is_lost_again() -> None:
    assert only(raised(evaluated(decay(120), [0.4, 0.8, 0.2, 0.2], [1.5, 0.9, 1.4, 1.4]).judge()), "metric-low") == [90]


def test_an_evaluation_loss_far_above_the_first_training_loss() -> None:
    stream = Stream().add("loss", flat(120)).add("loss/val", [2.3, 60.0, 70.0], every=30, first=30)
    assert only(raised(stream.judge()), "metric-low") == [60]


def test_an_evaluation_loss_that_never_moved_is_told_at_the_end() -> None:
    stream = Stream().add("loss", decay(120, left=2.0)).add("loss/val", [2.29, 2.28, 2.29, 2.28], every=30, first=30)
    assert only(raised(stream.judge()), "metric-low") == []
    assert only(raised(stream.judge(end=True)), "metric-low") == [120]


def test_overfit_after_two_evaluations_far_above_the_best() -> None:
    stream = Stream().add("loss", decay(200, left=0.01)).add("loss/val", [1.6, 1.0, 1.3, 1.5, 1.7], every=40, first=40)
    assert only(raised(stream.judge()), "overfit") == [160]


def test_both_losses_rising_is_not_overfitting() -> None:
    loss = np.concatenate((decay(80), np.linspace(0.4, 2.0, 120)))
    stream = Stream().add("loss", loss).add("loss/val", [1.6, 1.0, 1.3, 1.5, 1.7], every=40, first=40)
    assert only(raised(stream.judge()), "overfit") == []


def test_rises_near_zero_are_no_overfitting() -> None:
    stream = (
        Stream().add("loss", decay(200, left=0.001)).add("loss/val", [0.02, 0.01, 0.02, 0.03, 0.03], every=40, first=40)
    )
    assert raised(stream.judge()) == []


def test_a_new_best_clears_overfitting() -> None:
    stream = (
        Stream().add("loss", decay(240, left=0.01)).add("loss/val", [1.6, 1.0, 1.3, 1.5, 1.7, 0.9], every=40, first=40)
    )
    assert ("overfit", 240) in cleared(stream.judge())


def test_nothing_is_said_of_a_metric_that_is_no_share() -> None:
    stream = Stream().add("loss", decay(120)).add("accuracy/val", [-3.0, 400.0, 1e9], every=30, first=30)
    assert raised(stream.judge(), Severity.INFO) == []


def test_a_held_out_loss_below_that_of_training_is_not_over_fitted() -> None:
    trained = decay(200, start=2.3, left=0.6)  # label smoothing keeps it up
    held = [0.02, 0.03, 0.07, 0.15, 0.18]
    assert raised(Stream().add("loss", trained).add("loss/val", held, every=40, first=40).judge()) == []
    worse = [0.8, 0.9, 1.2, 1.5, 1.8]
    assert "overfit" in [
        name for name, _step in raised(Stream().add("loss", trained).add("loss/val", worse, every=40, first=40).judge())
    ]


def test_a_gap_in_the_midst_of_first_learning_must_last() -> None:
    def judged(held: list[float], trained: list[float]) -> list[str]:
        stream = Stream().add("loss", decay(150))
        stream.add("accuracy/val", held, every=30, first=30).add("accuracy/train", trained, every=30, first=30)
        return [name for name, _step in raised(stream.judge())]

    assert judged([0.25, 0.9, 0.95, 0.96, 0.97], [0.5, 0.93, 0.97, 0.97, 0.98]) == []
    assert "metric-low" in judged([0.25, 0.4, 0.5, 0.55, 0.55], [0.5, 0.7, 0.8, 0.85, 0.9])


def test_another_fold_is_another_net() -> None:
    stream = Stream()
    for seed in (1, 2):
        stream.add("loss", decay(150, seed=seed))
        stream.add("accuracy/val", [0.3, 0.7, 0.9, 0.92, 0.93], every=30, first=30)
        stream.add("loss/val", [1.5, 0.8, 0.4, 0.35, 0.34], every=30, first=30)
    assert raised(stream.judge()) == []


def test_a_training_that_was_stopped_as_it_began_to_learn_has_a_low_metric() -> None:
    def judged(left: float, accuracy: float) -> list[str]:
        rng = np.random.default_rng(7)
        values = np.linspace(2.3, 2.3 * left, 40) + rng.normal(0, 0.01, 40)
        stream = Stream().add("loss", values)
        stream.add("accuracy/val", [accuracy], first=40).add("loss/val", [float(values[-1])], first=40)
        return [name for name, _step in raised(stream.judge(end=True))]

    assert "metric-low" in judged(0.8, 0.35)
    assert "metric-low" not in judged(0.8, 0.6)
    assert "metric-low" not in judged(0.4, 0.35)
