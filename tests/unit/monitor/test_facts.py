"""Facts of a run: what lineage says, and the plan that follows from it."""

from __future__ import annotations

from typing import Mapping, Optional

import pytest

from mstui.model.records import BlobKind
from mstui.model.runs import Fact
from mstui.monitor.facts import RunFacts, planned_steps, steps_per_epoch


@pytest.mark.parametrize(
    ("facts", "steps"),
    [
        ({}, None),
        ({"planned_steps": 5000}, 5000),
        ({"total_steps": "800"}, 800),
        ({"custom/total_steps": 900}, 900),
        ({"epoch": 3, "custom/steps_per_epoch": 40}, 120),
        ({"epoch": 12, "train_dataset_size": 1600, "batch_size": 32}, 600),
        ({"epoch": 12, "batch_size": 32}, None),
        ({"epoch": 3, "steps_per_epoch": 50}, 150),
        ({"planned_steps": 0, "epoch": 2, "steps_per_epoch": 10}, 20),
        ({"planned_steps": "soon"}, None),
        ({"planned_steps": True}, None),
        ({"planned_steps": float("inf")}, None),
    ],
    ids=str,
)
def test_planned_steps_are_declared_or_follow_from_lineage(facts: Mapping[str, Fact], steps: Optional[int]) -> None:
    assert planned_steps(facts) == steps


def test_steps_an_epoch_need_the_size_of_the_data_and_of_a_batch() -> None:
    assert steps_per_epoch({"train_dataset_size": 1600, "batch_size": 32}) == 50.0
    assert steps_per_epoch({"train_dataset_size": 1600}) is None


def test_a_payload_that_cannot_be_decoded_is_counted_and_changes_nothing() -> None:
    facts = RunFacts()
    facts.take(BlobKind.TRAIN_LINEAGE, b"\xff\xff\xff", 5.0)
    assert facts.undecodable == 1
    assert facts.ended_at == 0.0
    assert not facts.merged
