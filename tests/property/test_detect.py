"""Rules on any stream: the same however it is cut, the same again, and never a crash."""

from __future__ import annotations

from typing import List, Tuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.detect.engine import Engine, load_rules
from mstui.detect.incidents import Incidents
from mstui.model.alerts import Detection
from tests.unit.detect.feeding import Stream, meaning

TAGS = (
    "loss", "loss/val", "accuracy/val", "learning_rate", "grad_norm/global", "loss_scale", "overflow",
    "grad_norm/a.weight", "grad_norm/b.weight", "weight_norm/a.weight", "weight_norm/b.weight", "update_ratio/a.weight",
    "update_ratio/b.weight", "act_zero_frac/act", "act_sat_frac/act", "input_mean/data",
)  # fmt: skip


def stream(seed: int, n: int, wildness: float) -> Stream:
    """A training with troubles of all kinds at random places."""
    rng = np.random.default_rng(seed)
    made = Stream({"planned_steps": n, "custom/gradient_accumulation_steps": int(rng.integers(1, 5))})
    for tag in TAGS:
        if rng.random() < 0.2:
            continue
        every = 1 if "/" not in tag or tag == "grad_norm/global" else int(rng.choice([1, 5, 10]))
        count = max(1, n // every)
        values = (
            np.exp(rng.normal(0, 0.3, count)) * np.exp(-3 * np.arange(count) / count) * float(rng.choice([1e-3, 1, 50]))
        )
        for _ in range(int(rng.poisson(wildness))):
            begin = int(rng.integers(count))
            end = begin + int(rng.integers(1, 40))
            values[begin:end] = rng.choice(
                [0.0, np.nan, np.inf, 1e6, 1e-9, -1.0, float(values[begin]), 0.99, 1.0, 128.0]
            )
        if tag == "overflow":
            values = (values > 1.2).astype(float)
        for rank in range(2 if tag.startswith("weight_norm") and rng.random() < 0.5 else 1):
            made.add(tag, values if rng.random() < 0.5 else values * (1 + 1e-3 * rank), every=every, rank=rank)
    return made


def essence(found: List[Detection]) -> List[Tuple[object, ...]]:
    return sorted(
        (each.detected_step, each.rule, each.symptom.value, each.scope, each.phase.value, int(each.severity), each.step)
        for each in found
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 400), st.sampled_from([0.0, 1.0, 3.0]), st.integers(1, 60))
def test_any_cut_says_the_same(seed: int, n: int, wildness: float, cut: int) -> None:
    made = stream(seed, n, wildness)
    assert essence(made.judge(cut=cut, end=True)) == essence(made.judge(end=True))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 300))
def test_a_replay_says_the_same_in_the_same_words(seed: int, n: int) -> None:
    made = stream(seed, n, 2.0)
    assert made.judge(end=True) == made.judge(end=True)


EXTREME = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-300, 1.7e308, -1.7e308, float("inf"), float("-inf"), float("nan"), 2.3]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(EXTREME, min_size=1, max_size=120), st.integers(0, 3))
def test_no_values_break_a_rule(values: List[float], turn: int) -> None:
    made = Stream()
    for place, tag in enumerate(TAGS):
        made.add(tag, np.roll(np.array(values), place * turn), every=1 + place % 3)
    found = made.judge(end=True)
    for each in found:
        for evidence in each.evidence:
            assert evidence.say()
    incidents = Incidents()
    incidents.take(found)
    assert all(incident.happenings for incident in incidents.all)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 200), st.integers(1, 30)), min_size=1, max_size=12), st.integers(0, 2**32 - 1)
)
def test_steps_in_any_order_are_taken(pieces: List[Tuple[int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    engine = Engine(load_rules())
    for begin, length in pieces:
        steps = begin + np.sort(rng.integers(0, 50, length))
        for tag in TAGS[:6]:
            engine.feed(0, tag, meaning(tag), steps, 1.7e9 + steps.astype(float), rng.normal(1, 1, length))
        engine.advance()
    engine.end()
    assert engine.verdict().judged
