"""A payload opened for a person, from files that MindSpore wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import numpy as np
import pytest

from mstui.model.details import PayloadDetails
from mstui.model.records import BlobKind
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor
from mstui.monitor import details as details_module
from mstui.monitor.details import tensor_stats

SAMPLES = Path(__file__).parents[2] / "data" / "summary"
NOW = 1_800_000_000.0


def opened(sample: str, kind: BlobKind, index: int = -1) -> Optional[PayloadDetails]:
    """The newest payload of a kind in a sample."""
    monitor = Monitor(str(SAMPLES / sample), clock=lambda: NOW)
    while monitor.run_once(NOW).more:
        pass
    tag = next((info.tag for info in monitor.tags(".") if info.kind is kind), "")
    return monitor.fetch_details(SeriesKey(".", 0, tag), kind, index)


def test_a_tensor_tells_its_shape_and_figures() -> None:
    found = opened("edge_types", BlobKind.TENSOR)
    assert found is not None
    assert found.stats is not None
    assert found.stats.count == int(np.prod(found.shape))
    assert len(found.head) == min(found.stats.count, 64)


def test_a_network_graph_tells_its_parameters_in_order() -> None:
    found = opened("record_network", BlobKind.GRAPH)
    assert found is not None
    assert found.texts.index("fc1.weight") < found.texts.index("fc2.weight")


def test_a_data_set_graph_tells_its_operations_with_their_settings() -> None:
    found = opened("default_pynative", BlobKind.DATASET_GRAPH)
    assert found is not None
    assert any(text.strip().startswith("Batch(") and "batch_size" in text for text in found.texts)


def test_lineage_tells_its_facts() -> None:
    found = opened("default_pynative", BlobKind.TRAIN_LINEAGE)
    assert found is not None
    assert found.facts is not None
    assert found.facts["optimizer"]


def test_a_position_that_does_not_exist_is_nothing() -> None:
    assert opened("edge_types", BlobKind.TENSOR, index=99) is None
    assert opened("loss_scale", BlobKind.TEXT) is None


def test_a_payload_that_is_too_large_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(details_module, "LARGEST_PAYLOAD", 4)
    found = opened("edge_types", BlobKind.TENSOR)
    assert found is not None
    assert found.problem
    assert found.stats is None


def test_figures_of_a_tensor_leave_out_what_is_not_finite() -> None:
    stats = tensor_stats(np.array([1.0, np.nan, np.inf, -np.inf, 3.0]), 7, 0.0)
    assert (stats.minimum, stats.maximum, stats.mean) == (1.0, 3.0, 2.0)
    assert (stats.count, stats.nan_count, stats.pos_inf_count, stats.neg_inf_count) == (5, 1, 1, 1)


def test_a_tensor_without_a_finite_element_has_no_figures() -> None:
    stats = tensor_stats(np.array([np.nan]), 7, 0.0)
    assert np.isnan([stats.minimum, stats.maximum, stats.mean]).all()
