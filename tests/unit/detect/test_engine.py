"""The engine: what it judges when, restarts, late points, histograms, events, thresholds, the verdict."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Mapping

import numpy as np
import pytest

from mstui.detect.base import Process, Subject
from mstui.detect.engine import Engine, load_rules
from mstui.detect.naming import Objective
from mstui.model.alerts import Phase, Severity, Symptom
from mstui.model.roles import Role
from tests.unit.detect.feeding import START, Stream, decay, meaning, raised

LOSS = Subject(Role.LOSS)
ROOT = Path(__file__).resolve().parents[3]


def feed(engine: Engine, steps: list[int], values: list[float], tag: str = "loss", rank: int = 0) -> None:
    numbers = np.array(steps, dtype=np.int64)
    engine.feed(rank, tag, meaning(tag), numbers, START + numbers.astype(float), np.array(values))


def test_a_step_is_judged_when_a_later_one_has_come() -> None:
    engine = Engine(load_rules())
    feed(engine, [1, 2, 3], [2.0, 1.9, float("nan")])
    assert raised(engine.advance()) == []
    feed(engine, [4], [1.0])
    assert raised(engine.advance()) == [("loss-nan", 3)]


def test_or_when_nothing_more_is_coming_for_now() -> None:
    engine = Engine(load_rules())
    feed(engine, [1, 2, 3], [2.0, 1.9, float("nan")])
    assert raised(engine.advance(all_come=True)) == [("loss-nan", 3)]


def test_the_last_value_of_a_step_holds() -> None:
    engine = Engine(load_rules())
    feed(engine, [1, 2, 2, 3], [2.0, float("nan"), 1.8, 1.7])
    feed(engine, [3], [1.6])
    assert raised(engine.advance(all_come=True)) == []
    assert engine.scene.series[0, "loss"].values.tolist() == [2.0, 1.8, 1.6]


def test_what_comes_after_its_step_was_judged_is_counted() -> None:
    engine = Engine(load_rules())
    feed(engine, [1, 2, 3], [2.0, 1.9, 1.8])
    engine.advance(all_come=True)
    feed(engine, [3, 4], [1.8, 1.7])
    engine.advance(all_come=True)
    assert engine.dropped == 1


def test_a_step_that_goes_back_begins_anew() -> None:
    engine = Engine(load_rules())
    feed(engine, [*range(1, 50)], decay(49).tolist())
    feed(engine, [*range(20, 60)], decay(60)[20:].tolist())
    engine.advance(all_come=True)
    series = engine.scene.series[0, "loss"]
    assert series.segments == [20]
    assert series.count == 40
    assert series.first_steps[0] == 20


def test_looks_at_other_series_never_reach_beyond_the_step() -> None:
    engine = Engine(load_rules())
    feed(engine, [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], "learning_rate")
    engine.advance(all_come=True)
    series = engine.scene.series[0, "learning_rate"]
    assert series.at(2) == 2.0
    assert series.at(0) is None
    assert series.upto(3, 2)[1].tolist() == [2.0, 3.0]
    assert series.between(1, 3).tolist() == [2.0, 3.0]


def test_memory_is_bounded() -> None:
    engine = Engine(load_rules())
    for begin in range(1, 40_000, 4000):
        steps = np.arange(begin, begin + 4000)
        engine.feed(0, "loss", LOSS, steps, START + steps.astype(float), np.full(4000, 1.0))
        engine.advance()
    assert len(engine.scene.series[0, "loss"].values) <= 4 * 1024


def test_thresholds_can_be_set_for_a_tag() -> None:
    def thresholds(rule: str, tag: str) -> Mapping[str, float]:
        return {"norm": 5.0} if (rule, tag) == ("grad-explode", "grad_norm/global") else {}

    values = [1.0] * 30 + [20.0] + [1.0] * 10
    for chosen, expected in ((thresholds, [("grad-explode", 31)]), (lambda _rule, _tag: {}, [])):
        engine = Engine(load_rules(), chosen)
        feed(engine, [*range(1, 42)], values, "grad_norm/global")
        assert raised(engine.advance(all_come=True)) == expected


def test_detections_come_in_the_order_of_their_steps() -> None:
    values = decay(60)
    values[40] = np.nan
    stream = Stream().add("loss", values).add("act_zero_frac/act", np.ones(12), every=5).add("overflow", np.ones(60))
    steps = [each.detected_step for each in stream.judge()]
    assert steps == sorted(steps)


def test_an_end_is_judged_once() -> None:
    engine, _found = Stream().add("loss", [2.3] * 60).engine()
    assert raised(engine.end()) != []
    assert engine.end() == ()


def test_only_a_loss_judges_the_rules_of_losses() -> None:
    engine, _found = Stream().add("loss", decay(300)).engine()
    engine.advance(all_come=True)
    verdict = engine.verdict()
    assert set(verdict.judged) >= {
        "loss-nonfinite",
        "loss-huge",
        "loss-zero",
        "loss-spike",
        "loss-diverge",
        "loss-progress",
    }
    missing = {each.rule: each for each in verdict.not_judged}
    assert {"overfit", "grad-vanish", "weight-static", "metric", "stall", "rank-differs"} <= set(missing)
    assert missing["overfit"].because.say() == "what it needs is not recorded"
    assert "held-out" in missing["overfit"].needs.say()


def test_a_short_curve_is_not_enough_to_judge_progress() -> None:
    engine, _found = Stream().add("loss", decay(20)).engine()
    engine.advance(all_come=True)
    missing = {each.rule: each.because.say() for each in engine.verdict().not_judged}
    assert missing["loss-progress"] == "not enough data yet"


def test_nothing_recorded_is_nothing_judged() -> None:
    engine = Engine(load_rules())
    assert engine.advance() == ()
    assert engine.clock(START, Process(running=True)) == ()
    assert engine.verdict().judged == ()
    assert engine.end() == ()


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.name)
def test_every_rule_names_its_thresholds_and_its_errors(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule.title
    assert rule.needs
    assert rule.symptoms
    assert all(each.unit and each.reason and each.source for each in rule.parameters)
    assert len({each.name for each in rule.parameters}) == len(rule.parameters)


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.name)
def test_no_threshold_cites_what_nobody_has(rule) -> None:  # type: ignore[no-untyped-def]
    """A published source, or a file of this repository."""
    for each in rule.parameters:
        assert not re.search(r"\.md\b|\bD\d\d\b|the labelled corpus|this project", each.source), each.name
        assert all((ROOT / path).exists() for path in re.findall(r"\bbench/\w+\.py", each.source)), each.name
        published = re.search(r"AUTOTRAINER|CANN|Megatron-LM|MindSpore|OLMo-core|SageMaker", each.source)
        assert each.source.startswith("mstui's own") or published, each.name


def test_every_symptom_has_a_rule() -> None:
    ruled = {symptom for rule in load_rules() for symptom in rule.symptoms}
    assert ruled == set(Symptom)


def test_rules_have_names_of_their_own() -> None:
    names = [rule.name for rule in load_rules()]
    assert len(set(names)) == len(names)


def test_severity_of_a_word_does_not_fall_while_it_is_open() -> None:
    values = np.concatenate((np.ones(5), np.full(5, 0.95)))
    found = Stream().add("act_zero_frac/act", values, every=5).judge()
    assert [(each.symptom, each.severity) for each in found] == [(Symptom.DEAD_RELU, Severity.ERROR)]


def test_what_comes_and_goes_for_ever_does_not_ring_for_ever() -> None:
    values = np.tile(np.concatenate((np.full(60, 1.0), [500.0])), 60)
    found = Stream().add("grad_norm/global", values).judge()
    assert len(raised(found)) == 13


def test_a_person_s_word_on_an_objective_wins_over_the_name() -> None:
    values = np.concatenate((decay(120), np.linspace(0.3, 4.0, 60)))
    for word, rings in ((Objective.ADVERSARIAL, False), (Objective.DESCENDING, True)):
        engine = Engine(load_rules(), objectives={"loss": word})
        feed(engine, [*range(1, 181)], values.tolist())
        assert ("loss-diverge" in dict(raised(engine.advance(all_come=True)))) is rings
        assert engine.objectives() == {"loss": word}


def test_a_loss_that_has_passed_zero_is_known_as_signed() -> None:
    engine = Engine(load_rules())
    feed(engine, [*range(1, 101)], np.linspace(2.0, -1.0, 100).tolist())
    engine.advance(all_come=True)
    assert engine.objectives() == {"loss": Objective.SIGNED}


def test_a_training_that_goes_on_after_its_end_may_end_again() -> None:
    engine, _found = Stream().add("loss", [2.3] * 10).engine()
    assert raised(engine.end()) == []
    feed(engine, [*range(11, 200)], [2.3] * 189)
    assert raised(engine.end()) != []


def test_what_a_restart_clears_comes_behind_what_it_clears_however_late_both_are_asked_for() -> None:
    values = [0.9] * 60 + [math.nan]
    for asked_between in (False, True):
        engine = Engine(load_rules())
        feed(engine, [*range(1, 62)], values)
        told = [*engine.advance()] if asked_between else []
        feed(engine, [*range(1, 41)], values[:40])
        told += engine.advance(all_come=True)
        turns = [(each.phase, each.step) for each in told if each.symptom is Symptom.LOSS_NAN]
        assert turns == [(Phase.RAISED, 61), (Phase.CLEARED, 61)]
