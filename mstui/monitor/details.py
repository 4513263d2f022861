"""Opens one payload for a person: text, tensor, network graph, data set graph, lineage.

Reads the disk and may decode megabytes. Belongs in a worker thread.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

import numpy as np

from mstui.formats import payloads
from mstui.i18n import _
from mstui.model.details import PayloadDetails
from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind, FloatArray
from mstui.monitor.facts import LINEAGE_KINDS
from mstui.monitor.payload_reader import ReadRange
from mstui.store.blob_index import BlobPlaces

LARGEST_PAYLOAD = 64 << 20
"""Bytes that are decoded on request; more would cost seconds and hundreds of MiB, and nobody reads it in a terminal."""
HEAD = 64
"""Elements of a tensor that are shown."""


def describe(places: BlobPlaces, index: int, read_range: ReadRange, format_of: Callable[[str], str]) -> PayloadDetails:
    """Decode position `index` (negative from the newest) of `places`; what cannot be read is said in `problem`."""
    path = places.paths[int(places.files[index])]
    length = int(places.lengths[index])
    bare = PayloadDetails(places.kind, places.tag, int(places.steps[index]), float(places.wall_times[index]), length)
    if length > LARGEST_PAYLOAD:
        return replace(bare, problem=_("larger than {n} MiB, not decoded").format(n=LARGEST_PAYLOAD >> 20))
    data = read_range(path, int(places.offsets[index]), length)
    if data is None:
        return replace(bare, problem=_("the file has changed or cannot be read any more"))
    try:
        return _decode(bare, data, format_of(path))
    except payloads.PayloadError as error:
        return replace(bare, problem=_("cannot be decoded: {reason}").format(reason=error))


def _decode(bare: PayloadDetails, data: bytes, format_name: str) -> PayloadDetails:
    kind = bare.kind
    if kind is BlobKind.TEXT:
        return replace(bare, texts=payloads.text(data))
    if kind is BlobKind.TENSOR:
        values = payloads.tensor(data, format_name)
        flat = values.reshape(-1)
        stats = tensor_stats(flat, bare.step, bare.wall_time)
        return replace(bare, shape=values.shape, stats=stats, head=tuple(flat[:HEAD].tolist()))
    if kind is BlobKind.GRAPH:
        return replace(bare, texts=payloads.graph_parameters(data))
    if kind is BlobKind.DATASET_GRAPH:
        operations = payloads.dataset_operations(data)
        return replace(bare, texts=tuple(_operation(each) for each in operations))
    if kind in LINEAGE_KINDS:
        return replace(bare, facts=payloads.lineage_facts(kind, data))
    return bare


def _operation(operation: payloads.DatasetOperation) -> str:
    """`Batch(batch_size=32)`, indented by how far it is from the network."""
    settings = ", ".join(f"{name}={value}" for name, value in operation.parameters.items())
    return f"{'  ' * operation.depth}{operation.op_type or '?'}({settings})"


def tensor_stats(values: FloatArray, step: int, wall_time: float) -> HistogramStats:
    """The figures of a tensor, those of finite elements apart from the rest."""
    finite = values[np.isfinite(values)]
    low, high, mean = (
        (float(finite.min()), float(finite.max()), float(finite.mean())) if len(finite) else (float("nan"),) * 3
    )
    return HistogramStats(
        step,
        wall_time,
        low,
        high,
        mean,
        len(values),
        int(np.isnan(values).sum()),
        int((values == np.inf).sum()),
        int((values == -np.inf).sum()),
    )
