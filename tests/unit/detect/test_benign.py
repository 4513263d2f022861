"""Curves of healthy trainings, made of noise; bench/benign.py judges half a million points of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.detect.benign import FAMILIES, alarms

SEEDS = range(90_000, 90_002)
UNDECLARED = "gan"
"""rings while its tag does not say what it is"""


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != UNDECLARED])
def test_a_benign_family_rings_nothing(name: str) -> None:
    found = [each for seed in SEEDS for each in alarms(FAMILIES[name](np.random.default_rng(seed), 1500))]
    assert [(each.symptom.value, each.detected_step) for each in found] == []


def test_an_adversarial_curve_is_quiet_once_its_tag_says_so() -> None:
    curve = FAMILIES[UNDECLARED](np.random.default_rng(90_000), 1500)
    assert len(alarms(curve, "gan/d_loss")) <= 1
