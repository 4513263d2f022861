"""The bytes of the recorder are those that MindSpore's readers, and ours, understand."""

from __future__ import annotations

import math
from typing import Dict, List, Mapping

import numpy as np
import pytest

from mstui.formats import payloads
from mstui.formats.base import Decoded
from mstui.formats.decoders import mindspore_lineage, mindspore_summary
from mstui.model.records import BlobKind
from mstui.model.runs import Fact
from mstui.record import wire


def decoded(content: bytes, *, lineage: bool = False) -> Decoded:
    module = mindspore_lineage if lineage else mindspore_summary
    found: Decoded = module.FORMAT.make_decoder("f").decode(content, 0, at_end=True)
    assert found.consumed == len(content)
    assert not found.faults
    return found


def test_scalars_come_back_with_step_time_and_value() -> None:
    values = [("loss", 0.5), ("grad_norm/fc1.weight", math.inf), ("损失", math.nan), ("big", 1e300)]
    content = wire.version_event(1.0) + wire.summary_event(2.5, 70000, values, [], wire.TagBytes())
    found = decoded(content)
    assert found.version == "MindSpore.Event:1"
    (column,) = found.columns
    assert column.tags == ("loss", "grad_norm/fc1.weight", "损失", "big")
    assert column.steps.tolist() == [70000]
    assert column.wall_times.tolist() == [2.5]
    np.testing.assert_array_equal(column.values[:, 0], np.array([0.5, np.inf, np.nan, np.inf], np.float32))


@pytest.mark.parametrize("count", [0, 1, 4, 5, 10, 11, 880, 881, 5000])
def test_a_histogram_has_mindspores_buckets(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count).astype(np.float32)
    found = decoded(wire.summary_event(1.0, 1, [], [("weight/w", values)], wire.TagBytes()))
    (refs,) = found.blobs
    assert refs.kind is BlobKind.HISTOGRAM
    content = wire.summary_event(1.0, 1, [], [("weight/w", values)], wire.TagBytes())
    at, length = int(refs.offsets[0]), int(refs.lengths[0])
    read = payloads.histogram(content[at : at + length], "mindspore", 1, 1.0)
    assert read.counts.sum() == count
    assert len(read.counts) == wire.bucket_count(count)


def test_what_is_not_finite_is_counted_beside_the_buckets() -> None:
    values = np.array([1, 2, np.nan, np.inf, np.inf, -np.inf], np.float32)
    content = wire.summary_event(1.0, 1, [], [("w", values)], wire.TagBytes())
    (refs,) = decoded(content).blobs
    at, length = int(refs.offsets[0]), int(refs.lengths[0])
    read = payloads.histogram_stats(content[at : at + length], "mindspore", 1, 1.0)
    assert read.non_finite == 4
    assert read.mean == pytest.approx(1.5)


def lineage_facts(content: bytes) -> List[Mapping[str, Fact]]:
    found = []
    for refs in decoded(content, lineage=True).blobs:
        for at, length in zip(refs.offsets.tolist(), refs.lengths.tolist()):
            found.append(payloads.lineage_facts(refs.kind, content[at : at + length]))
    return found


def test_custom_lineage_keeps_texts_whole_numbers_and_fractions() -> None:
    (facts,) = lineage_facts(wire.custom_event(1.0, {"a": "text", "b": -7, "c": 0.25, "d": 2**40}))
    assert facts == {"custom/a": "text", "custom/b": -7, "custom/c": 0.25, "custom/d": float(2**40)}


def test_train_and_evaluation_lineage_have_mindspores_fields() -> None:
    known: Dict[str, wire.Fact] = {
        "optimizer": "Adam",
        "learning_rate": 0.5,
        "epochs": 3,
        "batch_size": 32,
        "network": "Net",
    }
    train, evaluation = lineage_facts(wire.train_event(1.0, known) + wire.evaluation_event(2.0, {"acc": 0.75}))
    assert train == {"optimizer": "Adam", "learning_rate": 0.5, "epoch": 3, "batch_size": 32, "network": "Net"}
    assert evaluation == {"metric/acc": 0.75}
