"""Layer maps of files that MindSpore wrote: from scalars, from histograms, in the order of the network."""

from __future__ import annotations

import math
from pathlib import Path

from mstui.monitor import Monitor

SAMPLES = Path(__file__).parents[2] / "data" / "summary"
RUNS = Path(__file__).parents[3] / "sample_runs"


def monitor_of(path: Path) -> Monitor:
    monitor = Monitor(str(path), clock=lambda: 1_800_000_000.0)
    while monitor.run_once(1_800_000_000.0).more:
        pass
    return monitor


def test_scalars_of_each_parameter_make_a_map() -> None:
    found = monitor_of(RUNS / "healthy").fetch_layer_map(".", 0, "grad_norm", 30)
    assert found is not None
    assert found.source == "scalars"
    assert [row.parameter for row in found.rows] == [
        "fc1.weight",
        "fc1.bias",
        "fc2.weight",
        "fc2.bias",
        "head.weight",
        "head.bias",
    ]
    assert all(len(row.cells) == len(found.steps) <= 30 for row in found.rows)
    assert all(math.isfinite(cell) for row in found.rows for cell in row.cells)


def test_histograms_make_a_map_where_no_scalar_does() -> None:
    found = monitor_of(SAMPLES / "default_pynative").fetch_layer_map(".", 0, "", 8)
    assert found is not None
    assert found.source == "histograms"
    assert found.metric == "weight.abs_max"
    assert found.rows
    assert all(row.last > 0 for row in found.rows)


def test_the_recorded_graph_gives_the_order_of_the_network() -> None:
    """MindSpore sorts the values of graph mode by name; only the graph has the network's own order."""
    order = monitor_of(SAMPLES / "record_network")._layers._network_order(".", 0)
    parameters = [name for name in order if name.endswith((".weight", ".bias"))]
    assert parameters.index("fc1.weight") < parameters.index("fc2.weight")


def test_a_run_without_statistics_of_parameters_has_no_map() -> None:
    assert monitor_of(SAMPLES / "loss_scale").fetch_layer_map(".", 0, "", 8) is None
