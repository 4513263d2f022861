from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, Tuple

import numpy as np
import pytest

from mstui.formats import payloads, protos
from mstui.formats.decoders import mindspore_lineage, mindspore_summary
from mstui.formats.payloads import PayloadError
from mstui.model.records import BlobKind


def blobs(path: Path, kind: BlobKind) -> Iterator[Tuple[str, int, bytes]]:
    known = mindspore_lineage.FORMAT if path.name.endswith("_lineage") else mindspore_summary.FORMAT
    data = path.read_bytes()
    for refs in known.make_decoder("f").decode(data, 0, at_end=True).blobs:
        if refs.kind is kind:
            for step, at, length in zip(refs.steps.tolist(), refs.offsets.tolist(), refs.lengths.tolist()):
                yield refs.tag, step, data[at : at + length]


def only(folder: Path, ending: str) -> Path:
    return min(path for path in folder.iterdir() if path.name.endswith(ending))


def test_edge_histograms_of_mindspores_own_writer(samples: Path) -> None:
    found = {
        tag: payloads.histogram(data, "mindspore", step, 5.0)
        for tag, step, data in blobs(only(samples / "edge_types", "_MS"), BlobKind.HISTOGRAM)
    }
    broken = found["h_naninf"]
    assert (broken.stats.nan_count, broken.stats.pos_inf_count, broken.stats.neg_inf_count) == (3, 2, 1)
    assert broken.counts.sum() == broken.stats.count - broken.stats.non_finite == 994
    nothing = found["h_allnan"]
    assert len(nothing.counts) == 0
    assert all(math.isnan(x) for x in (nothing.stats.minimum, nothing.stats.maximum, nothing.stats.mean))
    assert (found["h_const"].stats.minimum, found["h_const"].stats.maximum, found["h_const"].stats.mean) == (1, 1, 1)
    assert found["h_ok"].stats.abs_max == pytest.approx(3.046143)
    assert (found["h_ok"].stats.step, found["h_ok"].stats.wall_time) == (10, 5.0)
    rights = found["h_ok"].lefts + found["h_ok"].widths
    assert np.allclose(rights[:-1], found["h_ok"].lefts[1:])


def test_figures_without_buckets_are_those_with_them(samples: Path) -> None:
    seen = 0
    for folder in ("edge_types", "default_pynative"):
        for tag, step, data in blobs(only(samples / folder, "_MS"), BlobKind.HISTOGRAM):
            stats = payloads.histogram_stats(data, "mindspore", step, 1.0)
            assert repr(stats) == repr(payloads.histogram(data, "mindspore", step, 1.0).stats), tag
            seen += 1
    assert seen > 50


def test_facts_of_a_finished_training(samples: Path) -> None:
    path = only(samples / "default_pynative", "_lineage")
    ((_, _, data),) = blobs(path, BlobKind.TRAIN_LINEAGE)
    facts = payloads.lineage_facts(BlobKind.TRAIN_LINEAGE, data)
    assert facts["optimizer"] == "Momentum"
    assert facts["learning_rate"] == 0.05, "as it was written in the script, not as float32 holds it"
    assert (facts["epoch"], facts["batch_size"], facts["device_num"]) == (3, 64, 1)
    assert facts["network"] == "CNN"
    assert facts["model_path"] == '{"ckpt": null}'
    ((_, _, data),) = blobs(path, BlobKind.DATASET_GRAPH)
    facts = payloads.lineage_facts(BlobKind.DATASET_GRAPH, data)
    assert facts == {"batch_size": 64, "dataset_operations": "GeneratorDataset > Batch"}
    first, second = payloads.dataset_operations(data)
    assert (first.op_type, first.depth, second.op_type, second.depth) == ("Batch", 0, "GeneratorDataset", 1)
    assert first.parameters["num_parallel_workers"] == 2


def test_facts_of_an_evaluation_and_a_persons_own(samples: Path) -> None:
    ((_, _, data),) = blobs(
        samples / "full_graph" / "events.out.events.summary.1796033899.0.vm_lineage", BlobKind.EVALUATION_LINEAGE
    )
    facts = payloads.lineage_facts(BlobKind.EVALUATION_LINEAGE, data)
    assert (facts["metric/acc"], facts["valid_dataset_size"]) == (0.95, 320)
    ((_, _, data),) = blobs(only(samples / "full_graph", "_lineage"), BlobKind.CUSTOM_LINEAGE)
    facts = payloads.lineage_facts(BlobKind.CUSTOM_LINEAGE, data)
    assert facts == {"custom/exp_name": "digits-cnn", "custom/seed": 1, "custom/weight_decay": 0.0001}


@pytest.mark.parametrize("metric", [b"not json", b"[1]", b"[" * 100_000, b"\xff", b"1" * 5000])
def test_metrics_that_are_no_object_are_kept_as_text(metric: bytes) -> None:
    message = protos.message("EvaluationLineage")
    message.metric = metric
    facts = payloads.lineage_facts(BlobKind.EVALUATION_LINEAGE, message.SerializeToString())
    assert isinstance(facts["metric"], str)
    assert 0 < len(facts["metric"]) <= 1024


def test_hostile_metrics_are_bounded() -> None:
    message = protos.message("EvaluationLineage")
    message.metric = json.dumps(
        {f"m{k}": "x" * 5000 for k in range(200)} | {"big": 10**2000, "nest": {"a": [1]}}
    ).encode()
    facts = payloads.lineage_facts(BlobKind.EVALUATION_LINEAGE, message.SerializeToString())
    assert len(facts) <= 256
    assert all(len(str(value)) <= 1024 for value in facts.values())


def test_parameters_of_the_network_in_its_own_order(samples: Path) -> None:
    for _, _, data in blobs(only(samples / "record_network", "_MS"), BlobKind.GRAPH):
        names = payloads.graph_parameters(data)
        assert names[2:8] == ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias")


def test_tensors_keep_their_shape(samples: Path) -> None:
    found = {tag: payloads.tensor(data) for tag, _, data in blobs(only(samples / "edge_types", "_MS"), BlobKind.TENSOR)}
    assert {tag: array.shape for tag, array in found.items()} == {
        "t_f32": (2, 2), "t_i64": (1, 2), "t_bool": (2,), "t_f16": (2,), "t_f64": (1,),
    }  # fmt: skip


def test_a_tensor_that_lies_about_its_shape_is_flat() -> None:
    message = protos.message("TensorProto")
    message.dims.extend([2**40, 2**40])
    message.float_data.extend([1.0, 2.0])
    assert payloads.tensor(message.SerializeToString()).shape == (2,)


def test_tensorboards_histogram(wire: Any) -> None:
    doubles = b"".join(bytes([number << 3 | 1]) + struct.pack("<d", x) for number, x in enumerate((-1, 3, 6, 9), 1))
    data = doubles + wire.field(6, struct.pack("<3d", 0, 2, 1e308)) + wire.field(7, struct.pack("<3d", 1, 2, 3))
    got = payloads.histogram(data, "tensorboard", 4, 1.0)
    assert (got.lefts.tolist(), got.widths.tolist(), got.counts.tolist()) == ([-1, 0, 2], [1, 2, 1], [1, 2, 3])
    assert (got.stats.mean, got.stats.count, got.stats.step) == (1.5, 6, 4)
    assert payloads.histogram_stats(data, "tensorboard", 4, 1.0) == got.stats


def test_a_histogram_plugins_tensor(wire: Any) -> None:
    rows = struct.pack("<9d", 0, 1, 0, 1, 2, 5, 2, 4, 1)
    data = b"\x08\x02" + wire.field(2, wire.field(2, b"\x08\x03") * 2) + wire.field(4, rows)
    got = payloads.histogram(data, "tensorboard", 1, 1.0)
    assert (got.lefts.tolist(), got.widths.tolist(), got.counts.tolist()) == ([0, 1, 2], [1, 1, 2], [0, 5, 1])
    assert (got.stats.minimum, got.stats.maximum, got.stats.count) == (1, 4, 6)
    assert math.isnan(got.stats.mean), "it stores no sum"


def test_texts_of_a_text_tensor(wire: Any) -> None:
    assert payloads.text(wire.field(8, b"**a**") + wire.field(8, b"\xff")) == ("**a**", "\\xff")


@pytest.mark.parametrize("data", [b"\x0a\x7f", b"\xff" * 20, b"\x0b\x0b", b"\x08\x01\x2a\x7f"])
def test_what_is_no_payload_is_one_kind_of_error(data: bytes) -> None:
    for dialect in ("mindspore", "tensorboard"):
        with pytest.raises(PayloadError):
            payloads.histogram(data, dialect, 1, 1.0)
        with pytest.raises(PayloadError):
            payloads.histogram_stats(data, dialect, 1, 1.0)
        with pytest.raises(PayloadError):
            payloads.tensor(data, dialect)
    for kind in (BlobKind.TRAIN_LINEAGE, BlobKind.EVALUATION_LINEAGE, BlobKind.CUSTOM_LINEAGE, BlobKind.DATASET_GRAPH):
        with pytest.raises(PayloadError):
            payloads.lineage_facts(kind, data)
    with pytest.raises(PayloadError):
        payloads.graph_parameters(data)
    with pytest.raises(PayloadError):
        payloads.text(data)


def test_reading_does_not_import_protobuf_and_decoding_drops_mindspores_slow_switch() -> None:
    code = (
        "import os, sys\n"
        "os.environ['PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION'] = 'python'\n"
        "import mstui.formats.payloads as p, mstui.formats.decoders.mindspore_summary\n"
        "assert not any(m.startswith('google.protobuf') for m in sys.modules)\n"
        "p.graph_parameters(b'')\n"
        "assert 'PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION' not in os.environ\n"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


SIGNALLING = b"\x01\x00\x80\x7f"
"""A float32 NaN whose widening makes numpy warn; found by the fuzzer."""


def test_a_signalling_nan_is_a_value_and_no_warning(wire: Any) -> None:
    data = b"\x08\x01" + wire.field(5, SIGNALLING * 3)
    assert np.isnan(payloads.tensor(data, "tensorboard")).all()
    assert len(payloads.histogram(data, "tensorboard", 1, 1.0).lefts) == 1


def test_infinite_edges_are_no_warning(wire: Any) -> None:
    edges = wire.field(6, struct.pack("<3d", -math.inf, math.inf, math.inf)) + wire.field(7, bytes(24))
    assert len(payloads.histogram(edges, "tensorboard", 1, 1.0).counts) == 3
