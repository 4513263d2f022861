"""Rules that look at gradients, weights, activations and scales of single parameters."""

from __future__ import annotations

import numpy as np
import pytest

from mstui.detect.base import Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Phase, Severity, Symptom
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import FloatArray
from mstui.model.roles import Role
from tests.unit.detect.feeding import Stream, cleared, decay, raised

RNG = np.random.default_rng(9)


def norms(n: int, level: float) -> FloatArray:
    values: FloatArray = level * np.exp(RNG.normal(0, 0.2, n))
    return values


# grad-explode


def test_a_norm_far_beyond_the_usual_rings_at_its_step() -> None:
    values = norms(60, 1.0)
    values[40] = 500.0
    assert raised(Stream().add("grad_norm/global", values).judge()) == [("grad-explode", 41)]


def test_a_single_large_norm_at_the_start_is_waited_for() -> None:
    values = norms(60, 1.0)
    values[0] = 150.0
    assert raised(Stream().add("grad_norm/global", values).judge()) == []
    values[1] = 150.0
    assert raised(Stream().add("grad_norm/global", values).judge()) == [("grad-explode", 2)]


def test_a_norm_that_is_no_number_is_the_scaler_s_business_where_there_is_one() -> None:
    values = norms(60, 1.0)
    values[30] = np.inf
    assert raised(Stream().add("grad_norm/global", values).judge()) == [("grad-explode", 31)]
    flags = np.zeros(60)
    flags[30] = 1
    assert raised(Stream().add("grad_norm/global", values).add("overflow", flags).judge()) == []


def test_explosion_clears_after_twenty_calm_points() -> None:
    values = norms(60, 1.0)
    values[20] = 500.0
    assert cleared(Stream().add("grad_norm/global", values).judge()) == [("grad-explode", 41)]


# grad-nonfinite


def broken(*bad: int, n: int = 60, value: float = np.nan) -> FloatArray:
    values = norms(n, 1.0)
    values[list(bad)] = value
    return values


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_gradient_of_one_layer_that_is_no_number_is_told_with_the_layer(value: float) -> None:
    stream = Stream().add("grad_norm/a.weight", norms(60, 1.0)).add("grad_norm/b.weight", broken(30, value=value))
    (found,) = [each for each in stream.judge() if each.phase is Phase.RAISED]
    assert (found.symptom, found.severity, found.scope.layer) == (Symptom.GRAD_EXPLODE, Severity.ERROR, "b.weight")
    assert found.detected_step == 31


@pytest.mark.parametrize("other", ["grad_norm/global", "overflow", "loss_scale"])
def test_it_is_left_to_the_rules_of_the_whole_net_where_they_have_what_they_need(other: str) -> None:
    stream = Stream().add("grad_norm/a.weight", broken(30)).add(other, np.ones(60))
    assert "grad-explode" not in dict(raised(stream.judge()))


@pytest.mark.parametrize("statistic", ["grad_unreduced_norm", "post_grad_norm", "grad_mean", "grad_max", "local_norm"])
def test_whatever_a_probe_records_of_a_gradient_can_tell(statistic: str) -> None:
    assert raised(Stream().add(f"{statistic}/a.weight", broken(30)).judge()) == [("grad-explode", 31)]


def test_a_count_of_nan_tells_where_no_norm_is_recorded() -> None:
    counts = np.zeros(60)
    assert raised(Stream().add("grad_nans/a.weight", counts).judge()) == []
    counts[30:] = 4096
    (found,) = Stream().add("grad_nans/a.weight", counts).judge()
    assert found.evidence[0].say() == "4096 values are NaN at step 31, says grad_nans/a.weight"


def test_of_several_figures_of_one_gradient_one_speaks() -> None:
    stream = Stream()
    for figure in ("max", "mean", "norm"):
        stream.add(f"grad_{figure}/a.weight", broken(*range(30, 60)))
    stream.add("grad_nans/a.weight", np.repeat([0.0, 9.0], 30))
    assert [each.scope.tag for each in stream.judge()] == ["grad_norm/a.weight"]


def test_a_layer_whose_gradients_are_numbers_again_for_twenty_points_has_recovered() -> None:
    assert cleared(Stream().add("grad_norm/a.weight", broken(20)).judge()) == [("grad-explode", 41)]


@pytest.mark.parametrize("cut", [1, 7, 25])
def test_gradients_are_judged_the_same_however_they_come(cut: int) -> None:
    stream = Stream().add("grad_norm/a.weight", broken(3, 4, 30)).add("grad_norm/b.weight", broken(10))
    assert stream.judge(cut=cut) == stream.judge()


# grad-vanish


def layers(first: float, last: float, n: int = 10) -> Stream:
    return (
        Stream().add("grad_norm/a.weight", norms(n, first), every=5).add("grad_norm/b.weight", norms(n, last), every=5)
    )


def test_a_layer_far_below_the_largest_rings_at_the_second_record() -> None:
    assert raised(layers(1e-7, 0.1).judge()) == [("grad-vanish", 6)]


def test_layers_within_a_factor_of_a_thousand_are_healthy() -> None:
    assert raised(layers(5e-3, 1.0).judge()) == []
    assert raised(layers(5e-5, 5e-3).judge()) == []  # both small: a small loss


def biased(weight: float, bias: float, n: int = 12) -> Stream:
    """A layer with these gradients, whose bias stands still, below one that learns."""
    stream = Stream().add("grad_norm/head.weight", norms(n, 1.0), every=5)
    stream.add("grad_norm/k.weight", norms(n, weight), every=5).add("grad_norm/k.bias", norms(n, bias), every=5)
    stream.add("weight_norm/k.weight", 2.0 + 1e-3 * np.arange(n), every=5)
    stream.add("weight_norm/k.bias", np.full(n, 0.5), every=5)
    return stream.add("update_ratio/k.bias", np.full(n, 1e-10), every=5)


def test_a_bias_before_a_normalisation_or_of_attention_s_keys_has_no_gradient_by_its_place() -> None:
    assert raised(biased(weight=0.3, bias=2e-9).judge()) == []


def test_where_the_weight_has_no_gradient_either_the_bias_is_told_too() -> None:
    symptoms = {symptom for symptom, _step in raised(biased(weight=3e-9, bias=2e-9).judge())}
    assert symptoms == {"grad-vanish", "weight-change-small"}


def test_a_net_that_has_learnt_everything_has_no_gradients() -> None:
    loss = np.concatenate((decay(60), np.full(200, 1e-4)))
    stream = Stream().add("loss", loss).add("grad_norm/global", np.concatenate((norms(60, 1.0), norms(200, 1e-9))))
    assert raised(stream.judge()) == []


# grad-zero


def test_a_gradient_of_zero_from_the_start_is_told_at_the_second_record() -> None:
    assert raised(Stream().add("grad_norm/a.weight", np.zeros(10), every=5).judge()) == [("grad-zero", 6)]


def test_a_gradient_that_becomes_zero_is_told_at_the_fifth_record() -> None:
    values = norms(12, 1.0)
    values[5:] = 0.0
    assert raised(Stream().add("grad_norm/a.weight", values, every=5).judge()) == [("grad-zero", 46)]


def test_a_layer_that_is_nearly_dead_and_passes_something_now_and_then_has_gradients() -> None:
    values = norms(24, 1.0)
    values[[10, 12, 13, 14, 19, 20, 21]] = 0.0
    assert raised(Stream().add("grad_norm/a.weight", values, every=5).judge()) == []


def test_what_is_left_of_one_blow_to_a_weight_is_no_second_one() -> None:
    one = [0.01, 0.01, 5000.0, 0.65, 0.1, 0.05, 0.01]
    assert raised(Stream().add("update_ratio/a.weight", one, every=5).judge()) == []
    two = [0.01, 0.01, 22.0, 1.6, 0.1, 0.05, 0.01]
    assert raised(Stream().add("update_ratio/a.weight", two, every=5).judge()) == [("weight-change-large", 16)]


def test_a_norm_that_moved_before_may_stay_once_by_the_rounding_of_a_small_step() -> None:
    norm = np.array([4.0, 4.1, 4.2, 4.3, 4.3, 4.3001, 4.3001, 4.3002])
    stream = (
        Stream()
        .add("weight_norm/a.weight", norm, every=5)
        .add("weight_norm/b.weight", 4 + 0.01 * np.arange(8), every=5)
    )
    assert raised(stream.judge()) == []


def test_what_moved_before_a_restart_does_not_say_that_others_move_after_it() -> None:
    once = 4 + 0.01 * np.arange(10)
    stream = Stream()
    for values in (once, np.repeat(once[:5], 2)):
        for name in ("a", "b"):
            stream.add(f"weight_norm/{name}.weight", values, every=5)
    assert raised(stream.judge()) == []


def test_a_parameter_that_is_declared_frozen_may_have_none() -> None:
    stream = Stream({"custom/frozen_params": "a"}).add("grad_norm/a.weight", np.zeros(10), every=5)
    assert raised(stream.judge()) == []


# weight-static


def test_one_layer_that_stays_while_others_move_is_told_at_the_second_record() -> None:
    stream = (
        Stream()
        .add("weight_norm/a.weight", np.full(10, 4.0), every=5)
        .add("weight_norm/b.weight", 4 + 0.01 * np.arange(10), every=5)
    )
    assert raised(stream.judge()) == [("weight-static", 6)]


def test_a_whole_net_that_stays_is_told_at_the_third_record() -> None:
    stream = Stream().add("weight_norm/a.weight", np.full(10, 4.0), every=5)
    assert raised(stream.judge()) == [("weight-static", 11)]


def test_gradient_accumulation_moves_weights_between_records() -> None:
    moved = 4 + 0.01 * np.floor(np.arange(20) * 5 / 20)
    stream = Stream({"custom/gradient_accumulation_steps": 20}).add("weight_norm/a.weight", moved, every=5)
    assert raised(stream.judge()) == []


def test_an_update_too_small_for_the_norm_to_show_is_an_update() -> None:
    stream = (
        Stream()
        .add("weight_norm/a.weight", np.full(10, 4.0), every=5)
        .add("update_ratio/a.weight", np.full(10, 2e-5), every=5)
    )
    assert raised(stream.judge()) == []


def test_a_frozen_backbone_may_stay_when_it_was_declared() -> None:
    stream = Stream({"custom/frozen_params": "a, c"}).add("weight_norm/a.weight", np.full(10, 4.0), every=5)
    assert raised(stream.judge()) == []


def test_static_clears_when_it_moves() -> None:
    values = np.concatenate((np.full(6, 4.0), 4 + 0.1 * np.arange(1, 6)))
    assert cleared(Stream().add("weight_norm/a.weight", values, every=5).judge()) == [("weight-static", 36)]


def histogram(step: int, mean: float, low: float = -1.0, high: float = 1.0) -> Histogram:
    stats = HistogramStats(step, 1.7e9 + step, low, high, mean, 100, 0, 0, 0)
    return Histogram(stats, np.array([low, 0.0]), np.array([1.0, 1.0]), np.array([50, 50]))


def test_equal_histograms_are_a_static_weight() -> None:
    engine = Engine(load_rules())
    subject = Subject(Role.PARAMETER, "a.weight", "weight")
    for step in (1, 100, 200, 300):
        engine.feed_histogram(0, "a.weight/auto", subject, histogram(step, 0.01))
        engine.feed_histogram(0, "b.weight/auto", subject, histogram(step, 0.01 * step))
    assert raised(engine.advance(all_come=True)) == [("weight-static", 200)]


# weight-change


def test_steps_of_the_size_of_the_weight_ring() -> None:
    assert raised(Stream().add("update_ratio/a.weight", [0.9, 0.8, 0.1, 0.1, 0.1], every=5).judge()) == [
        ("weight-change-large", 6)
    ]


def test_the_first_step_of_an_adaptive_optimiser_may_be_long() -> None:
    assert raised(Stream().add("update_ratio/a.weight", [3.0, 0.2, 0.05, 0.02], every=5).judge()) == []


def test_updates_below_float_resolution_ring_unless_the_rate_has_come_down() -> None:
    ratios = np.full(12, 1e-8) * 0.5
    assert raised(Stream().add("update_ratio/a.weight", ratios, every=5).judge()) == [("weight-change-small", 11)]
    faded = Stream().add("update_ratio/a.weight", ratios, every=5).add("learning_rate", np.geomspace(1e-3, 1e-6, 60))
    assert ("weight-change-small", 11) in raised(faded.judge())
    late = np.concatenate((np.full(12, 1e-3), ratios))
    ended = Stream().add("update_ratio/a.weight", late, every=5).add("learning_rate", np.geomspace(1e-3, 1e-6, 120))
    assert raised(ended.judge()) == []


# init-all-zero


def test_a_weight_that_is_zero_at_two_records_was_begun_with_zero() -> None:
    stream = (
        Stream().add("weight_norm/a.weight", [0.0, 0.0, 0.0], every=5).add("weight_norm/b.weight", [1, 2, 3], every=5)
    )
    assert ("init-all-zero", 6) in raised(stream.judge())


def test_biases_and_last_layers_that_move_at_once_may_begin_at_zero() -> None:
    stream = (
        Stream().add("weight_norm/a.bias", [0.0, 0.0, 0.1], every=5).add("weight_norm/b.weight", [0, 2, 3], every=5)
    )
    stream.add("weight_norm/c.weight", [1, 2, 3], every=5)
    assert "init-all-zero" not in dict(raised(stream.judge()))


# activations


def test_a_dead_layer_rings_at_the_second_record_and_a_sparse_one_at_the_third() -> None:
    assert raised(Stream().add("act_zero_frac/act", np.ones(10), every=5).judge()) == [("dead-relu", 6)]
    assert raised(Stream().add("act_zero_frac/act", np.full(10, 0.93), every=5).judge()) == [("dead-relu", 11)]


def test_four_fifths_of_zeros_are_healthy() -> None:
    assert raised(Stream().add("act_zero_frac/act", np.full(50, 0.82), every=5).judge()) == []


def test_three_records_in_three_steps_are_no_time() -> None:
    values = np.full(60, 0.5)
    values[20:24] = 0.95
    assert raised(Stream().add("act_zero_frac/act", values).judge()) == []


def test_a_dead_layer_that_lives_again_clears() -> None:
    values = np.concatenate((np.ones(5), np.full(5, 0.5)))
    assert cleared(Stream().add("act_zero_frac/act", values, every=5).judge()) == [("dead-relu", 36)]


def test_saturation() -> None:
    assert raised(Stream().add("act_sat_frac/act", np.full(10, 0.95), every=5).judge()) == [("act-saturated", 6)]
    assert raised(Stream().add("act_sat_frac/act", np.full(10, 0.75), every=5).judge()) == [("act-saturated", 11)]
    assert raised(Stream().add("act_sat_frac/act", np.full(10, 0.5), every=5).judge()) == []


# overflow, loss scale


def test_eight_overflows_in_a_row() -> None:
    flags = np.zeros(100)
    flags[50:60] = 1
    assert raised(Stream().add("overflow", flags).judge()) == [("overflow-streak", 58)]


def test_a_scale_that_does_not_answer_rings_sooner() -> None:
    stream = Stream().add("overflow", np.ones(100)).add("loss_scale", np.full(100, 2.0**30))
    assert raised(stream.judge()) == [("overflow-streak", 5)]


def test_the_search_for_a_scale_is_healthy() -> None:
    scale = 2.0 ** np.concatenate((24 - np.arange(12), np.full(88, 12)))
    flags = np.concatenate((np.ones(12), np.zeros(88)))
    assert raised(Stream().add("overflow", flags).add("loss_scale", scale).judge()) == []


def test_single_skips_are_healthy() -> None:
    flags = np.zeros(3000)
    flags[::500] = 1
    assert raised(Stream().add("overflow", flags).judge()) == []


def test_the_floor_of_the_loss_scale() -> None:
    scale = 2.0 ** np.concatenate((np.full(20, 12), 12 - np.arange(13), np.zeros(20)))
    assert ("scale-collapse", 33) in raised(Stream().add("loss_scale", scale).judge())


def test_a_scale_of_one_from_the_start_was_chosen() -> None:
    assert raised(Stream().add("loss_scale", np.ones(100)).judge(), Severity.WATCH) == []


# data


def test_figures_of_the_input() -> None:
    far = Stream().add("input_mean/data", np.full(6, 120.0)).add("input_std/data", np.full(6, 55.0))
    assert raised(far.judge(), Severity.WATCH) == [("data-scale-s", 3)]
    near = Stream().add("input_mean/data", np.full(6, 0.4)).add("input_std/data", np.full(6, 0.2))
    assert raised(near.judge(), Severity.WATCH) == []
    assert raised(Stream().add("input_nan/data", [0, 0, 3, 0]).judge()) == [("data-missing-s", 3)]


def labels(step: int, counts: list[int]) -> Histogram:
    stats = HistogramStats(step, 1.7e9, 0.0, 2.0, 0.4, sum(counts), 0, 0, 0)
    return Histogram(stats, np.array([0.0, 0.5, 1.0, 1.5, 2.0]), np.full(5, 0.5), np.array(counts))


def test_classes_of_very_unequal_size_are_listed_once_enough_labels_are_seen() -> None:
    subject = Subject(Role.PARAMETER, "labels", "value")
    for counts, expected in (([400, 0, 60, 0, 20], [("data-imbalance-s", 2)]), ([160, 0, 160, 0, 90], [])):
        engine = Engine(load_rules())
        for step in (1, 2):
            engine.feed_histogram(0, "labels", subject, labels(step, counts))
        assert raised(engine.advance(all_come=True), Severity.WATCH) == expected
        assert "data-labels" in engine.verdict().judged


# ranks


def ranks(two: FloatArray) -> Stream:
    one = 4 + 0.01 * np.arange(20)
    return Stream().add("weight_norm/a.weight", one, every=5).add("weight_norm/a.weight", two, every=5, rank=1)


def test_ranks_that_part_are_told_at_the_first_record_that_differs() -> None:
    two = 4 + 0.01 * np.arange(20)
    two[7:] += 0.003
    assert raised(ranks(two).judge()) == [("rank-differs", 36)]
    assert raised(ranks(two).judge(cut=5)) == [("rank-differs", 36)]


def test_ranks_that_agree_to_the_last_bits_are_healthy() -> None:
    assert raised(ranks((4 + 0.01 * np.arange(20)) * (1 + 1e-8)).judge()) == []


def test_a_rank_that_is_read_much_later_is_still_compared() -> None:
    stream = ranks(5 + 0.01 * np.arange(20))
    engine = Engine(load_rules())
    for rank, tag, steps, walls, values in stream.series:
        engine.feed(rank, tag, Subject(Role.PARAMETER, "a.weight", "weight_norm"), steps, walls, values)
        engine.advance(all_come=True)
        if rank == 0:
            assert "rank-differs" not in engine.verdict().judged
    assert "rank-differs" in engine.verdict().judged


def test_updates_of_half_a_weight_need_a_third_record_to_agree() -> None:
    assert raised(Stream().add("update_ratio/a.weight", [0.1, 0.56, 0.57, 0.1, 0.1], every=5).judge()) == []
    thrice = Stream().add("update_ratio/a.weight", [0.1, 0.56, 0.57, 0.6, 0.1], every=5)
    assert raised(thrice.judge()) == [("weight-change-large", 16)]
    assert raised(thrice.judge(cut=1)) == [("weight-change-large", 16)]


def test_at_the_end_of_a_decay_a_norm_may_stay_but_not_at_a_rate_of_zero() -> None:
    norm = np.concatenate((4 + 0.1 * np.arange(8), np.full(6, 4.8)))

    def judged(last: float) -> list[tuple[str, int]]:
        rates = np.concatenate((np.full(36, 0.1), np.full(30, last)))
        return raised(Stream().add("learning_rate", rates).add("weight_norm/a.weight", norm, every=5).judge())

    assert judged(1e-5) == []
    assert [name for name, _step in judged(0.0)] == ["weight-static"]
