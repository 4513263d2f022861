from __future__ import annotations

import math
import struct
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest

from mstui.formats.base import Decoded
from mstui.formats.decoders.tensorboard import FORMAT
from mstui.model.records import BlobKind


def decode(*records: bytes) -> Decoded:
    return FORMAT.make_decoder("f").decode(b"".join(records), 0, at_end=True)


def values(got: Decoded) -> Dict[str, List[Tuple[int, float]]]:
    return {tag: list(zip(c.steps.tolist(), c.values[k].tolist())) for c in got.columns for k, tag in enumerate(c.tags)}


def meta(wire: Any, plugin: str) -> bytes:
    metadata: bytes = wire.field(9, wire.field(1, wire.field(1, plugin.encode())))
    return metadata


def tensor(wire: Any, dtype: int, content: bytes, dims: Tuple[int, ...] = ()) -> bytes:
    shape = b"".join(wire.field(2, b"\x08" + wire.varint(dim)) for dim in dims)
    inside: bytes = wire.field(8, b"\x08" + wire.varint(dtype) + wire.field(2, shape) + content)
    return inside


def one(wire: Any, step: int, tag: str, *parts: bytes) -> bytes:
    record: bytes = wire.record(wire.event(step, 9.0, [wire.field(1, tag.encode()) + b"".join(parts)]))
    return record


def test_simple_values_keep_their_width(wire: Any) -> None:
    got = decode(
        wire.version("brain.Event:2"), *(one(wire, s, "loss", b"\x15", struct.pack("<f", s)) for s in range(50))
    )
    assert values(got)["loss"] == [(s, float(s)) for s in range(50)]
    assert got.columns[0].values.dtype == np.float32
    assert got.version == "brain.Event:2"


@pytest.mark.parametrize(
    ("dtype", "content", "value", "kind"),
    [
        (1, b"\x2a\x04" + struct.pack("<f", 1.5), 1.5, np.float32),
        (1, b"\x2d" + struct.pack("<f", 1.5), 1.5, np.float32),
        (1, b"\x22\x04" + struct.pack("<f", 1.5), 1.5, np.float32),
        (2, b"\x32\x08" + struct.pack("<d", 1e300), 1e300, np.float64),
        (2, b"\x22\x08" + struct.pack("<d", 0.1), 0.1, np.float64),
        (3, b"\x3a\x01\x07", 7.0, np.float64),
        (3, b"\x38" + b"\xff" * 9 + b"\x01", -1.0, np.float64),
        (9, b"\x22\x08" + struct.pack("<q", -(2**40)), -(2.0**40), np.float64),
        (10, b"\x5a\x01\x01", 1.0, np.float64),
        (14, b"\x6a\x02\x80\x7f", 1.0, np.float64),
        (19, b"\x6a\x02\x80\x78", 1.0, np.float64),
        (14, b"\x22\x02\x80\x3f", 1.0, np.float64),
        (19, b"\x22\x02\x00\x3c", 1.0, np.float64),
        (23, b"\x8a\x01\x01\x05", 5.0, np.float64),
    ],
)
def test_scalars_that_are_encoded_as_tensors(wire: Any, dtype: int, content: bytes, value: float, kind: Any) -> None:
    for number in (1, 40):
        records = [one(wire, s, "x", tensor(wire, dtype, content), meta(wire, "scalars")) for s in range(number)]
        got = decode(*records)
        assert not got.faults
        assert values(got) == {"x": [(s, value) for s in range(number)]}
        assert got.columns[0].values.dtype == kind


def test_the_plugin_may_be_named_in_the_first_event_only(wire: Any) -> None:
    rows = struct.pack("<6d", 0, 1, 5, 1, 2, 6)
    body = tensor(wire, 2, wire.field(4, rows), (2, 3))
    got = decode(one(wire, 1, "h", body, meta(wire, "histograms")), *(one(wire, s, "h", body) for s in range(2, 30)))
    assert [(refs.kind, refs.tag, len(refs.steps)) for refs in got.blobs] == [(BlobKind.HISTOGRAM, "h", 29)]


def test_texts_histograms_images_and_what_is_only_counted(wire: Any) -> None:
    text = tensor(wire, 7, wire.field(8, b"hello"), (1,))
    got = decode(
        one(wire, 1, "note", text, meta(wire, "text")),
        one(wire, 1, "h", wire.field(5, struct.pack("<B", 0x09) + struct.pack("<d", 1.0))),
        one(wire, 1, "picture", text, meta(wire, "images")),
        one(wire, 1, "old picture", wire.field(4, b"\x08\x01")),
        one(wire, 1, "sound", wire.field(6, b"")),
        one(wire, 1, "odd", text, meta(wire, "pr_curves")),
        wire.record(wire.event(1, 9.0, [], wire.field(7, b"\x08\x01"))),
    )
    assert [(refs.kind, refs.tag) for refs in got.blobs] == [(BlobKind.TEXT, "note"), (BlobKind.HISTOGRAM, "h")]
    assert dict(got.skipped_values) == {"image": 2, "audio": 1, "other": 1, "session-log": 1}
    assert not got.faults


def test_a_malformed_tensor_is_a_fault_of_its_record(wire: Any) -> None:
    got = decode(one(wire, 1, "x", wire.field(8, b"\x22\x7f")), one(wire, 2, "y", b"\x15", bytes(4)))
    assert [fault.kind.value for fault in got.faults] == ["malformed"]
    assert values(got) == {"y": [(2, 0.0)]}
    assert not math.isnan(got.columns[0].wall_times[0])


def test_a_tag_that_changes_its_width_is_wide_as_a_whole(wire: Any) -> None:
    signalling = b"\x01\x00\x80\x7f"
    wide = tensor(wire, 2, b"\x32\x08" + struct.pack("<d", 0.1))
    got = decode(one(wire, 1, "x", b"\x15", signalling), one(wire, 2, "x", wide), one(wire, 3, "x", b"\x15", bytes(4)))
    (column,) = got.columns
    assert column.values.dtype == np.float64
    assert np.isnan(column.values[0, 0])
    assert column.values[0, 1:].tolist() == [0.1, 0.0]
