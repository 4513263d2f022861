"""Bytes of MindSpore's summary files: framed events with scalars, histograms and lineage, encoded without protobuf.

MindSpore makes the training process decode protobuf in pure Python; a few fields written by hand are a hundred times
quicker there, and depend on no version of it. It encodes what the recorder writes and nothing else, and reads nothing.
"""

from __future__ import annotations

import json
import struct
from typing import List, Mapping, Sequence, Tuple, Union

import google_crc32c
import numpy as np
import numpy.typing as npt

Fact = Union[str, int, float]
VERSION = b"MindSpore.Event:1"
_CRC_DELTA = 0xA282EAD8
_U32 = 0xFFFFFFFF
_I32_END = 1 << 31
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EVENT_VERSION, _EVENT_SUMMARY = 3, 5
_TRAIN, _EVALUATION, _CUSTOM = 6, 7, 10
_SCALAR, _HISTOGRAM = 3, 9
_FEW, _SOME, _PER_BUCKET, _LARGE, _MOST_BUCKETS = 5, 10, 10, 880, 90
"""MindSpore's own numbers of buckets: 2 up to 5 finite values, 3 up to 10, one more for each 10 up to 880, then 90."""


def masked_crc(data: bytes) -> int:
    """CRC-32C in the masked form that stands in the files."""
    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + _CRC_DELTA) & _U32


def framed(payload: bytes) -> bytes:
    """One record: length, its checksum, payload, its checksum."""
    length = struct.pack("<Q", len(payload))
    return b"".join(
        (length, struct.pack("<I", masked_crc(length)), payload, struct.pack("<I", masked_crc(payload))),
    )


def varint(value: int) -> bytes:
    """A varint; a negative number as protobuf's int64."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def _bytes(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + varint(len(content)) + content


def _text(number: int, content: str) -> bytes:
    return _bytes(number, content.encode("utf-8", "replace"))


def _int(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + varint(value)


def _double(number: int, value: float) -> bytes:
    return _key(number, _FIXED64) + struct.pack("<d", value)


def _float(number: int, value: float) -> bytes:
    return _key(number, _FIXED32) + struct.pack("<f", _f32(value))


def _f32(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def version_event(wall_time: float) -> bytes:
    """The first record of a summary file."""
    return framed(_double(1, wall_time) + _bytes(_EVENT_VERSION, VERSION))


class TagBytes:
    """The bytes before a scalar's value, remembered a tag."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}

    def prefix(self, tag: str) -> bytes:
        """Everything of a value but its four last bytes."""
        found = self._known.get(tag)
        if found is None:
            inner = _text(1, tag) + _key(_SCALAR, _FIXED32)
            found = _key(1, _BYTES) + varint(len(inner) + 4) + inner
            self._known[tag] = found
        return found


def summary_event(
    wall_time: float,
    step: int,
    scalars: Sequence[Tuple[str, float]],
    histograms: Sequence[Tuple[str, npt.NDArray[np.float32]]],
    tags: TagBytes,
) -> bytes:
    """One framed event with these values, each tag at most once."""
    parts: List[bytes] = []
    with np.errstate(over="ignore"):
        packed = np.array([value for _, value in scalars], dtype=np.float64).astype("<f4").tobytes()
    for index, (tag, _) in enumerate(scalars):
        parts.append(tags.prefix(tag))
        parts.append(packed[4 * index : 4 * index + 4])
    parts.extend(_bytes(1, _text(1, tag) + _bytes(_HISTOGRAM, histogram(values))) for tag, values in histograms)
    return framed(_double(1, wall_time) + _int(2, step) + _bytes(_EVENT_SUMMARY, b"".join(parts)))


def bucket_count(finite: int) -> int:
    """How many buckets MindSpore makes of so many finite values."""
    if finite <= 0:
        return 0
    if finite <= _FEW:
        return 2
    if finite <= _SOME:
        return 3
    return finite // _PER_BUCKET + 1 if finite <= _LARGE else _MOST_BUCKETS


def histogram(values: npt.NDArray[np.float32]) -> bytes:
    """The Histogram message of a tensor: buckets and figures over what is finite, the rest counted."""
    flat = values.ravel().astype(np.float64)
    finite = flat[np.isfinite(flat)]
    counts = (
        _int(2, int(np.isnan(flat).sum())),
        _int(3, int((flat == np.inf).sum())),
        _int(4, int((flat == -np.inf).sum())),
    )
    buckets = b""
    figures = b""
    if len(finite):
        number, edges = np.histogram(finite, bins=bucket_count(len(finite)))
        buckets = b"".join(
            _bytes(1, _double(1, left) + _double(2, right - left) + _int(3, count))
            for left, right, count in zip(edges[:-1].tolist(), edges[1:].tolist(), number.tolist())
        )
        figures = _double(5, float(finite.max())) + _double(6, float(finite.min())) + _double(7, float(finite.sum()))
    return buckets + b"".join(counts) + figures + _int(8, len(flat))


def _entry(key: str, value: bytes) -> bytes:
    return _text(1, key) + value


def custom_event(wall_time: float, facts: Mapping[str, Fact]) -> bytes:
    """Custom lineage, one user_info a fact as MindSpore writes it. A whole number beyond 32 bits becomes a double."""
    infos = []
    for key, value in facts.items():
        if isinstance(value, str):
            infos.append(_bytes(1, _bytes(4, _entry(key, _text(2, value)))))
        elif isinstance(value, int) and -_I32_END <= value < _I32_END:
            infos.append(_bytes(1, _bytes(3, _entry(key, _int(2, value)))))
        else:
            infos.append(_bytes(1, _bytes(5, _entry(key, _double(2, float(value))))))
    return framed(_double(1, wall_time) + _bytes(_CUSTOM, b"".join(infos)))


def train_event(wall_time: float, facts: Mapping[str, Fact]) -> bytes:
    """Train lineage, which stands in a file only when a training has come to its end."""
    hyper: List[bytes] = []
    for number, name in ((1, "optimizer"), (3, "loss_function"), (5, "parallel_mode")):
        if name in facts:
            hyper.append(_text(number, str(facts[name])))
    if "learning_rate" in facts:
        hyper.append(_float(2, float(facts["learning_rate"])))
    hyper.extend(
        _int(number, int(facts[name]))
        for number, name in ((4, "epochs"), (6, "device_num"), (8, "batch_size"))
        if name in facts
    )
    train = _bytes(1, b"".join(hyper))
    if "train_dataset_size" in facts:
        train += _bytes(2, _int(2, int(facts["train_dataset_size"])))
    algorithm = b""
    if "network" in facts:
        algorithm += _text(1, str(facts["network"]))
    if "loss" in facts:
        algorithm += _float(2, float(facts["loss"]))
    if algorithm:
        train += _bytes(3, algorithm)
    return framed(_double(1, wall_time) + _bytes(_TRAIN, train))


def evaluation_event(wall_time: float, metrics: Mapping[str, float]) -> bytes:
    """Evaluation lineage: the metrics as JSON."""
    metric = json.dumps(dict(metrics))
    return framed(_double(1, wall_time) + _bytes(_EVALUATION, _text(2, metric)))
