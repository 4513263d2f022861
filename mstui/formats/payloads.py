"""Payloads decoded on demand: histograms, lineage, the data set's and the network's graph, tensors, texts.

Callers pass the bytes that a BlobRefs points to. Whatever is wrong with them is a PayloadError; sizes are bounded, and
texts are returned as they are, cut in length only: making them safe to show is the display's work.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from mstui.formats import protos
from mstui.formats.dialects import TENSORBOARD
from mstui.formats.histogram_wire import PayloadError, histogram, histogram_stats
from mstui.formats.tensorboard_tensor import DT_STRING, element_layout, tensor_head
from mstui.formats.wire import BYTES, FIXED32, FIXED64, Malformed, fields
from mstui.model.records import BlobKind, FloatArray
from mstui.model.runs import Fact

__all__ = [
    "DatasetOperation",
    "PayloadError",
    "dataset_operations",
    "graph_parameters",
    "histogram",
    "histogram_stats",
    "lineage_facts",
    "tensor",
    "text",
]

_FACT_CHARS = 1024
"""A longer text in a lineage is cut."""
_MOST_FACTS = 256
"""Facts taken from one payload."""
_DEEPEST = 16
"""Nesting followed in custom lineage."""
_MOST_OPERATIONS = 1024
"""Operations taken from one data set graph."""
_JSON_BYTES = 1 << 20
"""Metrics are a line of JSON; more than this is something else."""
_I64_END = 1 << 63
"""JSON may hold integers of thousands of digits; those are kept as (cut) text."""
_TEXTS = 64
"""Strings taken from one text tensor."""
_TEXT_CHARS = 65536


@dataclass(frozen=True)
class DatasetOperation:
    """One step of the input pipeline."""

    op_type: str
    """class of the operation ("Batch", "GeneratorDataset"); empty when it is not recorded"""
    depth: int
    """0 for the step that feeds the network, 1 for what feeds that, and so on"""
    parameters: Mapping[str, Fact]


def lineage_facts(kind: BlobKind, data: bytes) -> Mapping[str, Fact]:
    """What a lineage payload states, by MindSpore's field names. Raises PayloadError.

    Metrics of an evaluation are named "metric/<name>", custom lineage "custom/<key>", the model's file "model_path" and
    "model_size"; a data set graph gives "batch_size" and "dataset_operations".
    """
    if kind is BlobKind.TRAIN_LINEAGE:
        return _train_facts(_parse("TrainLineage", data))
    if kind is BlobKind.EVALUATION_LINEAGE:
        return _evaluation_facts(_parse("EvaluationLineage", data))
    if kind is BlobKind.CUSTOM_LINEAGE:
        facts: Dict[str, Fact] = {}
        _custom_facts(_parse("UserDefinedInfo", data), "custom/", facts, 0)
        return facts
    if kind is BlobKind.DATASET_GRAPH:
        return _dataset_facts(dataset_operations(data))
    message = f"{kind.value} is no lineage"
    raise PayloadError(message)


def dataset_operations(data: bytes) -> Tuple[DatasetOperation, ...]:
    """The input pipeline of a DATASET_GRAPH payload, from the network's end to the source. Raises PayloadError."""
    found: List[DatasetOperation] = []
    waiting = [(_parse("DatasetGraph", data), 0)]
    while waiting and len(found) < _MOST_OPERATIONS:
        node, depth = waiting.pop(0)
        found.append(_operation(node.parameter, depth))
        found.extend(_operation(operation.parameter, depth) for operation in node.operations)
        if node.HasField("sampler"):
            found.append(_operation(node.sampler.parameter, depth))
        waiting.extend((child, depth + 1) for child in node.children)
    return tuple(found[:_MOST_OPERATIONS])


def graph_parameters(data: bytes) -> Tuple[str, ...]:
    """Names of the network's parameters in its own order, from a GRAPH payload of MindSpore. Raises PayloadError."""
    graph = _parse("GraphProto", data)
    return tuple(_text(parameter.name) for parameter in graph.parameters)


def tensor(data: bytes, dialect_name: str = "mindspore") -> FloatArray:
    """A TENSOR payload as float64, in its own shape where the figures fill it, else flat. Raises PayloadError."""
    try:
        with np.errstate(all="ignore"):  # a signalling NaN is a value like any other
            numbers, dims = _tensorboard_tensor(data) if dialect_name == TENSORBOARD.name else _mindspore_tensor(data)
    except (Malformed, IndexError, ValueError) as reason:
        message = f"not a tensor: {reason}"
        raise PayloadError(message) from None
    # an empty tensor may claim any shape with a zero in it; the rest is bounded by the numbers that are there
    if all(extent > 0 for extent in dims) and len(dims) <= _DEEPEST and _product(dims) == len(numbers):
        return numbers.reshape(dims)
    return numbers


def text(data: bytes) -> Tuple[str, ...]:
    """The strings of a TEXT payload (TensorBoard's text plugin). Raises PayloadError."""
    try:
        found = [
            data[at : at + min(length, 4 * _TEXT_CHARS)].decode("utf-8", "backslashreplace")[:_TEXT_CHARS]
            for number, wire, at, length in fields(data, 0, len(data))
            if number == 8 and wire == BYTES
        ]
    except Malformed as reason:
        message = f"not a text: {reason}"
        raise PayloadError(message) from None
    return tuple(found[:_TEXTS])


def _parse(name: str, data: bytes) -> Any:
    try:
        return protos.parse(name, data)
    except Exception as reason:  # noqa: BLE001  (protobuf's DecodeError is imported only with protobuf itself)
        message = f"not a {name}: {reason}"
        raise PayloadError(message) from None


def _text(raw: bytes) -> str:
    return raw[: 4 * _FACT_CHARS].decode("utf-8", "backslashreplace")[:_FACT_CHARS]


def _shortest(number: float) -> float:
    """The shortest decimal that a float32 stands for: 0.1, not 0.10000000149011612."""
    return float(str(np.float32(number)))


def _fact(value: object, *, narrow: bool = False) -> Fact:
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, float):
        return _shortest(value) if narrow else value
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) < _I64_END):
        return value
    return str(value)[:_FACT_CHARS]


def _train_facts(lineage: Any) -> Dict[str, Fact]:
    facts: Dict[str, Fact] = {}
    for part in (lineage.hyper_parameters, lineage.train_dataset, lineage.algorithm):
        for descriptor, value in part.ListFields():
            facts[descriptor.name] = _fact(value, narrow=True)
    for descriptor, value in lineage.model.ListFields():
        facts[f"model_{descriptor.name}"] = _fact(value)
    return facts


def _evaluation_facts(lineage: Any) -> Dict[str, Fact]:
    facts: Dict[str, Fact] = {}
    for descriptor, value in lineage.valid_dataset.ListFields():
        facts[descriptor.name] = _fact(value)
    raw = lineage.metric
    try:
        metrics = json.loads(raw[:_JSON_BYTES]) if raw else {}
    except (ValueError, RecursionError):
        metrics = None
    if not isinstance(metrics, dict):
        facts["metric"] = _text(raw)
        return facts
    for name, value in list(metrics.items())[:_MOST_FACTS]:
        facts[f"metric/{str(name)[:_FACT_CHARS]}"] = _fact(value)
    return facts


def _custom_facts(info: Any, prefix: str, facts: Dict[str, Fact], depth: int) -> None:
    for entries in (info.map_int32, info.map_str, info.map_double):
        for entry in entries:
            if len(facts) >= _MOST_FACTS:
                return
            facts[(prefix + _text(entry.key))[:_FACT_CHARS]] = _fact(entry.value)
    if depth >= _DEEPEST:
        return
    for entry in info.map_dict:
        _custom_facts(entry.value, f"{prefix}{_text(entry.key)}/"[:_FACT_CHARS], facts, depth + 1)
    for child in info.user_info:
        _custom_facts(child, prefix, facts, depth + 1)


def _operation(parameter: Any, depth: int) -> DatasetOperation:
    found: Dict[str, Fact] = {}
    for entries in (parameter.map_str, parameter.map_bool, parameter.map_int, parameter.map_double):
        for entry in entries:
            if len(found) < _MOST_FACTS:
                found[_text(entry.key)] = _fact(entry.value)
    for entry in parameter.map_str_list:
        if len(found) < _MOST_FACTS:
            found[_text(entry.key)] = ", ".join(_text(part) for part in entry.value.str_value[:_TEXTS])[:_FACT_CHARS]
    return DatasetOperation(str(found.pop("op_type", "")), depth, found)


def _dataset_facts(operations: Tuple[DatasetOperation, ...]) -> Dict[str, Fact]:
    facts: Dict[str, Fact] = {}
    for operation in operations:
        if "batch_size" in operation.parameters and "batch_size" not in facts:
            facts["batch_size"] = operation.parameters["batch_size"]
    names = [operation.op_type for operation in reversed(operations) if operation.op_type]
    if names:
        facts["dataset_operations"] = " > ".join(names)[:_FACT_CHARS]
    return facts


def _mindspore_tensor(data: bytes) -> Tuple[FloatArray, Tuple[int, ...]]:
    proto = _parse("TensorProto", data)
    for numbers in (proto.float_data, proto.double_data, proto.int64_data, proto.int32_data, proto.uint64_data):
        if len(numbers):
            return np.array(numbers, dtype=np.float64), tuple(proto.dims)
    return np.empty(0, dtype=np.float64), tuple(proto.dims)


def _tensorboard_tensor(data: bytes) -> Tuple[FloatArray, Tuple[int, ...]]:
    head = tensor_head(data, 0, len(data))
    if head.dtype == DT_STRING:
        message = "it holds text"
        raise Malformed(message)
    pieces: List[FloatArray] = []
    for number, wire, at, length in fields(data, 0, len(data)):
        layout = ""
        if number == 4 and wire == BYTES:
            layout = element_layout(head.dtype)
        elif number in (5, 6) and wire in (BYTES, FIXED32, FIXED64):
            layout = "<f4" if number == 5 else "<f8"
        if layout:
            size = np.dtype(layout).itemsize
            pieces.append(np.frombuffer(data, dtype=layout, count=length // size, offset=at).astype(np.float64))
    return (np.concatenate(pieces) if pieces else np.empty(0, dtype=np.float64)), head.dims


def _product(dims: Tuple[int, ...]) -> int:
    product = 1
    for extent in dims:
        product *= extent
    return product
