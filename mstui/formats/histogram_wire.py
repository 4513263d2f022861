"""Histograms from their wire bytes: MindSpore's, TensorBoard's HistogramProto, and the histogram plugin's tensor.

Decoded by hand: one histogram must cost well under a millisecond, and its figures without the buckets far less.
"""

from __future__ import annotations

import math
import struct
from typing import List, Tuple

import numpy as np

from mstui.formats.dialects import TENSORBOARD
from mstui.formats.tensorboard_tensor import DT_DOUBLE, DT_FLOAT, tensor_head
from mstui.formats.wire import BYTES, FIXED32, FIXED64, VARINT, Malformed, fields, read_varint, signed
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import FloatArray, IntArray

_F64 = struct.Struct("<d").unpack_from
_BUCKET = struct.Struct("<xxxdxd").unpack_from
"""a bucket as MindSpore writes it: its key and length, then left and width with their keys"""
_BUCKET_HEAD = 20
"""bytes of that before the count's key"""
_NO_FLOATS = np.empty(0, dtype=np.float64)
_NO_INTS = np.empty(0, dtype=np.int64)
_I64_MAX = float(1 << 62)
"""Counts beyond this are a lie; they are cut so that they fit an int64."""


class PayloadError(ValueError):
    """The bytes are not a payload of the expected kind."""


def histogram(data: bytes, dialect_name: str, step: int, wall_time: float) -> Histogram:
    """Decode the payload of a HISTOGRAM reference. Raises PayloadError."""
    try:
        if dialect_name != TENSORBOARD.name:
            return _mindspore(data, step, wall_time)
        with np.errstate(all="ignore"):  # infinite edges and signalling NaNs are the file's business
            return _from_tensor(data, step, wall_time) if data[:1] == b"\x08" else _from_proto(data, step, wall_time)
    except (Malformed, IndexError, struct.error, ValueError) as reason:
        message = f"not a histogram: {reason}"
        raise PayloadError(message) from None


def histogram_stats(data: bytes, dialect_name: str, step: int, wall_time: float) -> HistogramStats:
    """The figures of a HISTOGRAM reference's payload, without its buckets. Raises PayloadError."""
    if dialect_name == TENSORBOARD.name:
        return histogram(data, dialect_name, step, wall_time).stats
    try:
        return _mindspore_stats(data, _behind_buckets(data), step, wall_time)
    except (Malformed, IndexError, struct.error) as reason:
        message = f"not a histogram: {reason}"
        raise PayloadError(message) from None


def _behind_buckets(data: bytes) -> int:
    """Offset of the first field that is no bucket of less than 128 bytes."""
    position, size = 0, len(data)
    while position < size and data[position] == 0x0A and data[position + 1] < 0x80:
        position += 2 + data[position + 1]
    if position > size:
        message = "a bucket reaches beyond it"
        raise Malformed(message)
    return position


def _mindspore_stats(data: bytes, position: int, step: int, wall_time: float) -> HistogramStats:
    counts = [0, 0, 0, 0]  # nan, +inf, -inf, all
    edges = [math.nan, math.nan, math.nan]  # max, min, sum
    for number, wire, at, _ in fields(data, position, len(data)):
        if wire == FIXED64 and 5 <= number <= 7:
            edges[number - 5] = _F64(data, at)[0]
        elif wire == VARINT and 2 <= number <= 4:
            counts[number - 2] = signed(read_varint(data, at)[0])
        elif wire == VARINT and number == 8:
            counts[3] = signed(read_varint(data, at)[0])
    nan_count, pos_inf, neg_inf, count = counts
    maximum, minimum, total = edges
    finite = count - nan_count - pos_inf - neg_inf
    mean = total / finite if finite > 0 else math.nan
    return HistogramStats(step, wall_time, minimum, maximum, mean, count, nan_count, pos_inf, neg_inf)


def _mindspore(data: bytes, step: int, wall_time: float) -> Histogram:
    lefts: List[float] = []
    widths: List[float] = []
    counts: List[int] = []
    position, size = 0, len(data)
    while position < size and data[position] == 0x0A:
        length, inside = read_varint(data, position + 1)
        after = inside + length
        if after > size:
            message = "a bucket reaches beyond it"
            raise Malformed(message)
        plain = inside == position + 2 and length > _BUCKET_HEAD - 2 and data[inside] == 0x09
        if plain and data[inside + 9] == 0x11 and data[inside + 18] == 0x18:
            left, width = _BUCKET(data, position)
            count, behind = read_varint(data, position + _BUCKET_HEAD + 1)
            plain = behind == after
        else:
            plain = False
        if not plain:
            left, width, count = _odd_bucket(data, inside, after)
        lefts.append(left)
        widths.append(width)
        counts.append(signed(count))
        position = after
    for number, wire, at, length in fields(data, position, size):
        if number == 1 and wire == BYTES:
            left, width, count = _odd_bucket(data, at, at + length)
            lefts.append(left)
            widths.append(width)
            counts.append(signed(count))
    stats = _mindspore_stats(data, position, step, wall_time)
    return Histogram(stats, np.array(lefts), np.array(widths), np.array(counts, dtype=np.int64))


def _odd_bucket(data: bytes, start: int, end: int) -> Tuple[float, float, int]:
    """A bucket whose fields are not in the usual order, or not all there."""
    left, width, count = 0.0, 0.0, 0
    for number, wire, at, _ in fields(data, start, end):
        if number == 1 and wire == FIXED64:
            left = _F64(data, at)[0]
        elif number == 2 and wire == FIXED64:
            width = _F64(data, at)[0]
        elif number == 3 and wire == VARINT:
            count = read_varint(data, at)[0]
    return left, width, count


def _from_proto(data: bytes, step: int, wall_time: float) -> Histogram:
    """TensorBoard's HistogramProto: right edges and counts; the outermost edges may be +-1e308 or 1e20."""
    figures = [0.0, 0.0, 0.0, 0.0]  # min, max, num, sum: absent means zero in proto3
    limits: List[FloatArray] = []
    buckets: List[FloatArray] = []
    for number, wire, at, length in fields(data, 0, len(data)):
        if wire == FIXED64 and 1 <= number <= 4:
            figures[number - 1] = _F64(data, at)[0]
        elif number in (6, 7) and wire in (BYTES, FIXED64):
            into = limits if number == 6 else buckets
            into.append(np.frombuffer(data, dtype="<f8", count=length // 8, offset=at))
    minimum, maximum, number_of, total = figures
    edges = np.concatenate(limits) if limits else _NO_FLOATS
    counts = _whole(np.concatenate(buckets) if buckets else _NO_FLOATS)
    size = min(len(edges), len(counts))
    edges, counts = edges[:size], counts[:size]
    before = np.concatenate(([minimum], edges[:-1])) if size else edges
    lefts = np.clip(before, minimum, maximum) if minimum <= maximum else before
    rights = np.clip(edges, minimum, maximum) if minimum <= maximum else edges
    count = int(_whole(np.array([number_of]))[0])
    mean = total / number_of if number_of > 0 else math.nan
    if not count:
        minimum = maximum = math.nan
    stats = HistogramStats(step, wall_time, minimum, maximum, mean, count, 0, 0, 0)
    return Histogram(stats, lefts, rights - lefts, counts)


def _from_tensor(data: bytes, step: int, wall_time: float) -> Histogram:
    """The histogram plugin's [k, 3] tensor of left, right, count. It stores no sum, so there is no exact mean."""
    head = tensor_head(data, 0, len(data))
    pieces: List[FloatArray] = []
    for number, wire, at, length in fields(data, 0, len(data)):
        packed = wire in (BYTES, FIXED64, FIXED32)
        if packed and ((number == 4 and head.dtype == DT_DOUBLE) or number == 6):
            pieces.append(np.frombuffer(data, dtype="<f8", count=length // 8, offset=at))
        elif packed and ((number == 4 and head.dtype == DT_FLOAT) or number == 5):
            pieces.append(np.frombuffer(data, dtype="<f4", count=length // 4, offset=at).astype(np.float64))
    flat = np.concatenate(pieces) if pieces else _NO_FLOATS
    if len(flat) % 3:
        message = f"{len(flat)} numbers are no rows of three"
        raise Malformed(message)
    rows = flat.reshape(-1, 3)
    counts = _whole(rows[:, 2])
    filled = np.flatnonzero(counts)
    minimum = float(rows[filled[0], 0]) if len(filled) else math.nan
    maximum = float(rows[filled[-1], 1]) if len(filled) else math.nan
    stats = HistogramStats(step, wall_time, minimum, maximum, math.nan, int(counts.sum()), 0, 0, 0)
    return Histogram(stats, rows[:, 0].copy(), rows[:, 1] - rows[:, 0], counts)


def _whole(counts: FloatArray) -> IntArray:
    """TensorBoard stores counts as float64."""
    if not len(counts):
        return _NO_INTS
    return np.rint(np.clip(np.nan_to_num(counts, nan=0.0), 0.0, _I64_MAX)).astype(np.int64)
