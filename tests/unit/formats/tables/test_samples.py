"""Every sample table with what a person reads in it."""

from __future__ import annotations

import math
from typing import Dict, List, Tuple

import pytest

from mstui.model.logs import EventKind
from mstui.model.roles import Role
from mstui.model.sources import SourceKind
from mstui.store.roles import classify
from tests.unit.formats.logs.reading import SAMPLES
from tests.unit.formats.tables.reading import claimed, read, sample

V1 = "msprobe/monitor_output/May06_10-00-00-rank0-1a2b3c4d"
PARAMETERS = (
    "embedding.word_embeddings.weight", "layers.0.self_attention.linear_qkv.weight", "layers.0.mlp.linear_fc1.weight",
)  # fmt: skip
FC1 = PARAMETERS[2]
nan = math.nan

# The five files of gradients and parameters hold the same figures: a step adds 0.0123 to the range, 0.01 to the norm.
RISING = {
    "min": [-0.0123, -0.0246, -0.0369, -0.0492, -0.0615],
    "max": [0.0131, 0.0262, 0.0393, 0.0524, 0.0655],
    "norm": [0.52, 0.53, 0.54, 0.55, 0.56],
    "mean": [1e-6] * 5,
    "nans": [0.0] * 5,
}
KINDS = {
    "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq", "param_origin": "param_origin", "param_updated": "weight",
    "grad_reduced": "grad", "grad_unreduced": "grad_unreduced",
}  # fmt: skip


def steps(values: List[float], first: int = 0) -> List[Tuple[int, float]]:
    return list(enumerate(values, first))


def shown(series: Dict[str, List[Tuple[int, float]]]) -> Dict[str, str]:
    return {tag: repr(points) for tag, points in series.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_layout_of_msprobe(kind: str) -> None:
    got = sample(f"{V1}/{kind}_0-4.csv")
    expected = {f"{KINDS[kind]}_{word}/{name}": steps(values) for name in PARAMETERS for word, values in RISING.items()}
    if kind.startswith("grad"):  # fc1 goes bad at step 3, with 4096 NaN
        for word in ("min", "max", "norm", "mean"):
            expected[f"{KINDS[kind]}_{word}/{FC1}"][3:] = [(3, nan), (4, nan)]
        expected[f"{KINDS[kind]}_nans/{FC1}"][3:] = [(3, 4096.0), (4, 4096.0)]
    assert shown(got.series) == shown(expected)
    assert (got.records, got.faults, got.skipped) == (15, [], {})


OTHERS: Dict[str, Dict[str, List[Tuple[int, float]]]] = {
    f"{V1}/actv_0-4.csv": {
        "act_min/layers.0.mlp.input": [(0, -3.1)], "act_max/layers.0.mlp.input": [(0, 3.2)],
        "act_norm/layers.0.mlp.input": [(0, 21.3)], "act_mean/layers.0.mlp.input": [(0, 0.001)],
        "act_nans/layers.0.mlp.input": [(0, 0.0)],
        "act_min/layers.0.mlp.output": [(0, -1.1)], "act_max/layers.0.mlp.output": [(0, 1.2)],
        "act_norm/layers.0.mlp.output": [(0, 11.3)], "act_mean/layers.0.mlp.output": [(0, 0.002)],
        "act_nans/layers.0.mlp.output": [(0, 0.0)],
    },
    "msprobe/monitor_v2_out/rank_0/weight_grad_step0-0.csv": {
        f"{subject}_{word}/{FC1}": [(0, value)]
        for subject in ("grad_unreduced", "grad")
        for word, value in (("min", -0.0123), ("max", 0.0131), ("mean", 1e-6), ("norm", 0.52), ("nans", 0.0))
    },
    "msprobe/grad_probe/rank0/grad_summary_0.csv": {
        "grad_zero_ratio/conv1.weight": [(0, 0.01)], "grad_max/conv1.weight": [(0, 0.12)],
        "grad_min/conv1.weight": [(0, -0.11)], "grad_norm/conv1.weight": [(0, 1.9)],
    },
    "msprobe/grad_probe/rank0/grad_summary_1_L1.csv": {
        "grad_max/conv1.weight": [(1, 0.12)], "grad_min/conv1.weight": [(1, -0.11)],
        "grad_norm/conv1.weight": [(1, 1.9)],
        "grad_max/fc.weight": [(1, nan)], "grad_min/fc.weight": [(1, nan)], "grad_norm/fc.weight": [(1, nan)],
    },
    "dump/statistic.csv": {
        "output_max/Default_network-Dense_fc-MatMul-op3": [(0, 3.1)],
        "output_min/Default_network-Dense_fc-MatMul-op3": [(0, -2.9)],
        "output_norm/Default_network-Dense_fc-MatMul-op3": [(0, 11.2)],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_tables(name: str) -> None:
    got = sample(name)
    assert shown(got.series) == shown(OTHERS[name])
    assert got.faults == []


def test_every_tag_of_the_samples_is_about_a_parameter_or_a_layer() -> None:
    for path in sorted(SAMPLES.rglob("*.csv")):
        got = read(str(path), path.read_bytes())
        assert got.series
        for tag in got.series:
            meaning = classify(tag)
            assert (meaning.role, f"{meaning.statistic}/{meaning.parameter}") == (Role.PARAMETER, tag)


def test_gradients_are_what_the_layer_map_shows_first() -> None:
    assert classify(f"grad_norm/{FC1}") == (Role.PARAMETER, FC1, "grad_norm")


def test_a_dump_says_when_and_its_folder_which_step() -> None:
    data = (SAMPLES / "dump/statistic.csv").read_bytes()
    got = read("/dump/rank_0/Net/2/17/statistic.csv", data)
    tag = "output_max/Default_network-Dense_fc-MatMul-op3"
    assert got.series[tag] == [(17, 3.1)]
    assert got.walls[tag] == [pytest.approx(1746525600.123456)]


def test_anomalies_are_events() -> None:
    name = "msprobe/monitor_output/anomaly_detected/rank0/anomaly.json"
    data = (SAMPLES / name).read_bytes()
    form = claimed(name, data)
    assert form is not None
    assert (form.name, form.kind) == ("msprobe-anomaly", SourceKind.LOG)
    part = form.make_decoder(name).decode(data, 0, at_end=True)
    assert part.consumed == len(data)
    (event,) = part.log_events
    assert (event.kind, event.step, event.rank_id, event.offset) == (EventKind.PROBE_ALERT, 3, 0, 3)
    assert event.fields == {
        "rule": "AnomalyNan", "tag": "0:layers.0.mlp.linear_fc1.weight/rank0/post_grad", "op": "norm", "value": "nan",
        "mean": "0.53",
    }  # fmt: skip
    assert event.text.startswith("Rule AnomalyNan reports anomaly signal")
    assert part.log_records is not None
    assert part.log_records.offsets.tolist() == [3]


def test_an_anomaly_that_is_half_written_waits() -> None:
    name = "msprobe/monitor_output/anomaly_detected/rank0/anomaly.json"
    data = (SAMPLES / name).read_bytes()
    form = claimed(name, data)
    assert form is not None
    decoder = form.make_decoder(name)
    half = decoder.decode(data[:300], 0, at_end=True)
    assert (half.consumed, half.log_events) == (0, ())
    assert len(decoder.decode(data, 0, at_end=True).log_events) == 1
