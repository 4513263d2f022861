"""Evidence and probes on runs of any curves: they neither raise nor warn, and say yes, no or nothing."""

from __future__ import annotations

from typing import Callable, Dict, List, Optional

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.checks.evidence_base import observe
from mstui.checks.probe_base import probe_all, probes
from mstui.model.alerts import Symptom
from mstui.model.records import FloatArray
from mstui.model.runs import Fact
from tests.unit.checks.runs import STARTED, incident, made, spread_histogram

TAGS = (
    *("loss", "learning_rate", "grad_norm", "loss_scale", "overflow", "accuracy/train", "accuracy/val", "loss/val"),
    *("epoch", "step_time", "weight_norm/a", "weight_norm/b", "update_ratio/a", "update_ratio/b", "grad_norm/a"),
    *("grad_norm/b", "grad_zero_frac/a", "act_std/x", "act_std/y", "act_zero_frac/x", "act_sat_frac/x"),
    *("input_mean/x", "input_nan/x", "grad_nonfinite/a"),
)
SHAPES = ("noise", "zeros", "constant", "walk", "wild", "negative", "nan")
ODD = (float("nan"), float("inf"), float("-inf"), 0.0)


def curve(seed: int, shape: str, length: int, odd: int) -> List[float]:
    """A curve of one kind, with a value that is odd in it when `odd` says so."""
    random = np.random.default_rng(seed)
    kinds: Dict[str, Callable[[], FloatArray]] = {
        "noise": lambda: random.normal(1.0, 0.3, length),
        "zeros": lambda: np.zeros(length),
        "constant": lambda: np.full(length, random.normal()),
        "walk": lambda: np.cumsum(random.normal(0.0, 1.0, length)),
        "wild": lambda: 10.0 ** random.uniform(-40.0, 38.0, length),
        "negative": lambda: -np.abs(random.normal(0.0, 5.0, length)),
        "nan": lambda: np.full(length, np.nan),
    }
    values = kinds[shape]()
    if odd < len(ODD):
        values[int(random.integers(length))] = ODD[odd]
    return [float(each) for each in values]


CURVES = st.dictionaries(
    st.sampled_from(TAGS),
    st.builds(
        curve,
        st.integers(0, 10_000),
        st.sampled_from(SHAPES),
        st.sampled_from((1, 2, 3, 5, 9, 13, 30, 90)),
        st.integers(0, 2 * len(ODD)),
    ),
    max_size=len(TAGS),
)
FACTS: st.SearchStrategy[Dict[str, Fact]] = st.dictionaries(
    st.sampled_from(
        ("batch_size", "train_dataset_size", "custom/num_classes", "custom/steps_per_epoch", "planned_steps")
    ),
    st.sampled_from((0, 1, 7, 32, 10**6, -3, "many", float("nan"), True)),
)


@settings(max_examples=60, deadline=None)
@given(
    curves=CURVES,
    second=st.none() | CURVES,
    facts=FACTS,
    symptom=st.none() | st.sampled_from(list(Symptom)),
    onset=st.integers(0, 120),
    running=st.none() | st.booleans(),
    now=st.sampled_from((0.0, STARTED + 50.0, STARTED + 1e6)),
    spread=st.lists(st.floats(-1e3, 1e3), min_size=0, max_size=6),
)
def test_any_run_is_answered(
    curves: Dict[str, List[float]],
    second: Optional[Dict[str, List[float]]],
    facts: Dict[str, Fact],
    symptom: Optional[Symptom],
    onset: int,
    running: Optional[bool],
    now: float,
    spread: List[float],
) -> None:
    several = [spread_histogram(step, min(one, 0.0), max(one, 0.0)) for step, one in enumerate(spread, 1)]
    view = made(
        curves,
        ranks=None if second is None else {1: second},
        facts=facts,
        histograms={"fc.weight/auto": several} if several else None,
        about=None if symptom is None else incident(symptom, onset, layer="a"),
        running=running,
        now=now,
    )
    for each in observe(view).values():
        assert each.value in (True, False)
        assert "{" not in each.sentence
    found = probe_all(view)
    assert set(found) == set(probes())
    assert all("{" not in each.say() for each in found.values())
